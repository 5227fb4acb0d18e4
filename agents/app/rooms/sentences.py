"""Sentences about the call itself that are put together from facts, in English."""

from collections.abc import Mapping, Sequence
from textwrap import shorten

_CUT_OFF = "I am sorry, we were cut off while I was still at what you said last"
_MISSING = "Please tell me if anything of it is missing."
_LONGEST_QUOTE = 120

_EXPECTED: Mapping[str, str] = {
    "open": "Say what you would like.",
    "yes_no": "Answer yes or no.",
    "choice": "Choose one.",
    "rating": "Give one to five stars.",
    "amount": "Name an amount or a percentage.",
    "name": "Say your name, or what you would like.",
    "contact": "Say how we can reach you.",
}


def may_be_missing(messages: Sequence[str]) -> str:
    """Ask whether something of what the user said is missing, by name.

    Args:
        messages: What they said, one text each; an empty one when it was not kept.

    >>> may_be_missing(["a cola", "remove the salad"])
    'I am sorry, we were cut off while I was still at what you said last: "a cola" and "remove the salad". Please tell me if anything of it is missing.'
    >>> may_be_missing([""])
    'I am sorry, we were cut off while I was still at what you said last. Please tell me if anything of it is missing.'
    """
    quoted = [f'"{shorten(one, _LONGEST_QUOTE, placeholder=" ...")}"' for one in messages if one]
    named = f": {' and '.join(quoted)}" if quoted else ""
    return f"{_CUT_OFF}{named}. {_MISSING}"


def too_many(count: int) -> str:
    """Say that messages were not heard because they came too fast.

    >>> too_many(1)
    'I am sorry, one of your messages came too fast for me to read. Please send it again.'
    >>> too_many(12)
    'I am sorry, 12 of your messages came too fast for me to read. Please send them again, more slowly.'
    """
    missed = "one" if count == 1 else str(count)
    again = "it again" if count == 1 else "them again, more slowly"
    return (
        f"I am sorry, {missed} of your messages came too fast for me to read. Please send {again}."
    )


def your_turn(expects: str, choices: Sequence[str] = ()) -> str:
    """Say in words that it is the user's turn, for clients that read it out.

    >>> your_turn("choice", ["small", "large"]), your_turn("yes_no")
    ('Your turn. Choose one: small, large.', 'Your turn. Answer yes or no.')
    """
    if choices:
        return f"Your turn. Choose one: {', '.join(choices)}."
    return f"Your turn. {_EXPECTED.get(expects, _EXPECTED['open'])}"
