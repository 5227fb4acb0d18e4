"""Recognizes in a sentence of ours what it asked for: a model remembers nothing but the conversation it is shown."""

import re
from enum import StrEnum
from functools import cache, lru_cache

from bella_vista.local.english.talking import blocks


class Topic(StrEnum):
    """The subject of the last question."""

    NOTHING = ""
    ANYTHING_ELSE = "anything_else"
    READ_AGAIN = "read_again"
    SUGGESTION = "suggestion"
    WANTED = "wanted"
    FULFILMENT = "fulfilment"
    ADDRESS = "address"
    POSTCODE = "postcode"
    MINIMUM = "minimum"
    WHEN = "when"
    NAME = "name"
    CONFIRM = "confirm"
    PAYMENT = "payment"
    TIP = "tip"
    PLACE = "place"
    RATING = "rating"
    COMMENT = "comment"
    KEEP = "keep"


EXPECTS: dict[Topic, str] = {
    **dict.fromkeys((Topic.CONFIRM, Topic.PLACE, Topic.KEEP), "yes_no"),
    **dict.fromkeys((Topic.ADDRESS, Topic.POSTCODE), "address"),
    Topic.SUGGESTION: "open",
    Topic.FULFILMENT: "fulfilment",
    Topic.WHEN: "time",
    Topic.NAME: "name",
    Topic.PAYMENT: "choice",
    Topic.TIP: "amount",
    Topic.RATING: "rating",
    Topic.COMMENT: "comment",
}
"""The kind of answer that each question waits for; the rest is open."""


@lru_cache(maxsize=4_096)
def topic(text: str) -> Topic:
    """Find what a sentence of ours asked for; the last question counts.

    >>> topic("Noted: a Cola. Anything else?"), topic("Goodbye!")
    (<Topic.ANYTHING_ELSE: 'anything_else'>, <Topic.NOTHING: ''>)
    """
    found = [(one.end(), subject) for asks, subject in _asks() for one in asks.finditer(text)]
    return max(found, key=lambda one: one[0])[1] if found else Topic.NOTHING


@cache
def _asks() -> tuple[tuple[re.Pattern[str], Topic], ...]:
    """Return how each question of ours is recognized: by its words around the facts in it."""
    found: list[tuple[re.Pattern[str], Topic]] = []
    for name, lines in blocks("sentences").items():
        puts, _, about = name.partition(" ")
        subject = about.split(" ")[0]
        if puts in ("ask", "again") and subject in {*Topic}:
            for line in lines:
                parts = re.split(r"\{\w+(?::\w+)?\}", line)
                words = ".{1,200}?".join(map(re.escape, parts))
                found.append((re.compile(words), Topic(subject)))
    return tuple(found)
