"""Why something was not done, in the words a guest hears."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from bella_vista.local.english.sentences import refused, say
from bella_vista.local.english.talking import words_of
from bella_vista.local.scene import Outcome
from state.menu import Menu
from state.money import Cents, shown
from state.times import said_time

_TROUBLE = ("unavailable", "timeout", "internal", "taken_over", "version_conflict")
_OF_THE_MODEL = ("already_handing_over", "not_answered", "sibling_failed", "too_many_handoffs")
"""Codes that are the model's own business."""


class Refusals:
    """Says refusals of one restaurant.

    Args:
        menu: For its currency.
        now: The present time, aware, in the restaurant's zone.
    """

    def __init__(self, menu: Menu, now: Callable[[], datetime]) -> None:
        self._menu = menu
        self._now = now

    def say(self, outcome: Outcome) -> str:
        """Say why a tool did not do what it was asked, and what is possible."""
        facts, code = {**outcome.facts}, outcome.code
        facts["name"] = facts.get("name") or outcome.arguments.get("name") or "that"
        match code:
            case _ if code in _TROUBLE:
                return say("trouble")
            case _ if code in _OF_THE_MODEL:
                return ""
            case "choice_missing":
                group = str(facts.get("group") or "one")
                facts["group"] = "plain" if group in words_of("no nouns") else group
            case "choice_not_possible":
                return say("choice_refused", **{"words": "that", **facts})
            case "over_limit" if facts.get("what") == "tip" and not facts.get("limit"):
                return say("over_limit no tip")
            case "not_found":
                return say("not_found line")
            case "not_served_now":
                facts["served"] = [with_days(str(one)) for one in facts.get("served") or ()]
            case "missing":
                needs = [str(one) for one in facts.get("needs") or ()]
                if needs == ["postcode"]:
                    return ""  # it is asked for at once
                facts["what"] = needs[0] if needs else None
            case "wrong_stage":
                facts["why"] = _OVER.get(str(facts.get("stage")), "placed")
        return refused(code, self._in_words(facts))

    def _in_words(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Put amounts and times into words."""
        for name in ("short", "minimum", *(["limit"] if facts.get("what") == "total" else [])):
            if name in facts:
                amount = Cents(int(str(facts[name])))
                facts[name] = shown(amount, self._menu.restaurant.currency)
        if facts.get("why") in ("too_soon", "closed"):
            times = [datetime.fromisoformat(str(one)) for one in facts.get("possible") or ()]
            facts["possible"] = [said_time(one, self._now()) for one in times[:1]]
        return facts


_OVER = {
    **dict.fromkeys(("cancelled", "failed"), "closed"),
    **dict.fromkeys(("open", "review", "confirmed"), ""),
}


def with_days(text: str) -> str:
    """Write the names of days as English does.

    >>> with_days("monday, tuesday 11:30-15:00")
    'Monday, Tuesday 11:30-15:00'
    """
    for day in words_of("days"):
        text = text.replace(day, day.capitalize())
    return text
