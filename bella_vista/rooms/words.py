"""What is said in a room as it stands, in English, and how a turn is told to who cannot see it."""

from collections.abc import Mapping, Sequence
from textwrap import shorten

ORDER_NOT_FOUND = "I am sorry, I could not find the order you wanted to go on with."
_CUT_OFF = "I am sorry, we were cut off while I was still at what you said last"
_MISSING = "Please tell me if anything of it is missing."
_LONGEST_QUOTE = 120
MOVED_ON = "Your order goes on in another place now, so I leave this one. Goodbye!"
TOO_LONG = "I am sorry, that was too long for me to read. Please say it in fewer words."
NOT_SET_UP = "I am sorry, this call could not be set up. Please try again in a moment."
BROKEN_OFF = (
    "I am sorry, something is wrong here and this call cannot go on. What you have ordered so far is kept. "
    "Please try again later."
)
STILL_THERE = "Are you still there? Take your time."
NOBODY_THERE = "I do not hear anything, so I will hang up now. Your order is kept. Goodbye!"
A_PERSON = "I would like to speak to a person."

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
    """Ask whether something of what the guest said is missing, by name.

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
    """Tell somebody who listens to the screen that it is his turn.

    >>> your_turn("choice", ["small", "large"]), your_turn("yes_no")
    ('Your turn. Choose one: small, large.', 'Your turn. Answer yes or no.')
    """
    if choices:
        return f"Your turn. Choose one: {', '.join(choices)}."
    return f"Your turn. {_EXPECTED.get(expects, _EXPECTED['open'])}"
