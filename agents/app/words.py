"""The sentences about the call itself that are said in rooms, in English."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten

_REFUSES = re.compile(
    r"(n[o']t|never|stop|without|no|off|against|refuse|object|delete|erase|mind)\b.{0,40}\brecord"
    r"|\brecord\w*\b.{0,20}\b(off|not|stop|no)\b",
    re.IGNORECASE,
)
_FOR_THE_RECORD = re.compile(r"\b(for|off) the record\b", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(is|are|am|was|will|do|does|did|you)\b( \w+)? ?\b(this|it|calls?|i|we|you|line|chat|are"
    r"|conversations?|everything)( (guys|even|still|actually|really|also|all|be|being|going|to|ever|now))*"
    r" (recorded(?! that)|taped|recording(?! (is|says))|taping"
    r"|record( the| these| your| phone)* (this|calls?|me|us|everything|conversations?))\b",
    re.IGNORECASE,
)

ABOUT_RECORDING_WORDS = 10
"""The longest message about recordings that says nothing else, in words."""

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


@dataclass(frozen=True)
class Words:
    """Sentences about the call itself that an application may replace.

    Args:
        not_found: The state that was asked for does not exist, or is not theirs.
        unreadable: The state exists and cannot be read; a new one was started.
        moved: The state is served in another room now.
        erased: The state was erased while the call went on.
        broken_off: The call keeps failing and cannot go on.
        user_silent: The user has been silent for too long; the call ends.
        still_there: Asks a silent user whether they are there.
        not_set_up: The call cannot be served.
        too_long: A message was too long.
        recorded: The call is recorded; said before it is.
        not_recorded: Answers a user who refuses the recording.
        is_recorded: Answers a user who asks whether the call is recorded, if it is.
        is_not_recorded: Answers them if it is not.
        a_person: The caller's words when they press 0 on a telephone.
        not_put_through: The caller could not be put through to a person.
        transfer_lost: A caller was being put through, or was talking to a person, when the agent
            was lost.
        noted: Said after ``not_put_through`` once the wish is stored for staff.
        take_or_leave: Asks the person that was called whether they accept the caller.
        taken: Tells the person that the caller is connected.
        caller_gone: Tells them that the caller has hung up.
        person_gone: Tells the caller that the person has hung up.
    """

    not_found: str = "I am sorry, I could not find what you wanted to go on with."
    unreadable: str = "I am sorry, I cannot open what we have agreed so far, so we start again. Nothing of it is lost."
    moved: str = "This goes on in another place now, so I leave this one. Goodbye!"
    erased: str = "What we have agreed so far was just erased, so I end this call here. Goodbye!"
    broken_off: str = (
        "I am sorry, something is wrong here and this call cannot go on. What we have agreed so far"
        " is kept. Please try again later."
    )
    user_silent: str = "I do not hear anything, so I will hang up now. Everything is kept. Goodbye!"
    still_there: str = "Are you still there? Take your time."
    not_set_up: str = "I am sorry, this call could not be set up. Please try again in a moment."
    too_long: str = "I am sorry, that was too long for me to read. Please say it in fewer words."
    recorded: str = 'This call is recorded. If you do not want that, say "do not record me".'
    not_recorded: str = (
        "All right, this call is not recorded, and what was recorded is deleted. Please go on."
    )
    is_recorded: str = (
        'Yes, this call is recorded. If you do not want that, say "do not record me".'
    )
    is_not_recorded: str = "No, the sound of this call is not recorded."
    a_person: str = "I would like to speak to a person."
    not_put_through: str = "I am sorry, no one can take your call just now."
    transfer_lost: str = "I am sorry, the connection to a person broke off."
    noted: str = "I have noted that you would like to speak to a person."
    take_or_leave: str = "Press 1 to take the call. Press 2 or hang up if you cannot."
    taken: str = "Thank you, you are connected."
    caller_gone: str = "The caller has hung up. Goodbye!"
    person_gone: str = "They have hung up. Is there anything else that I can do for you?"


def may_be_missing(messages: Sequence[str]) -> str:
    """Ask whether any of the user's messages was missed, and quote them.

    Args:
        messages: The messages, one text each; an empty text for one that was not kept.

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


def refuses_recording(text: str) -> bool:
    """Whether a user says, in English, that they do not want to be recorded.

    >>> [refuses_recording(one) for one in ("Please don't record me.", "stop the recording")]
    [True, True]
    >>> [refuses_recording(one) for one in ("No, for the record: two", "Is this recorded?")]
    [False, False]
    """
    return _REFUSES.search(_FOR_THE_RECORD.sub("", text)) is not None


def asks_recording(text: str) -> bool:
    """Whether a user asks, in English, if the call is recorded.

    >>> [asks_recording(one) for one in ("Is this call recorded?", "Are you recording this?")]
    [True, True]
    >>> [asks_recording(one) for one in ("Is this a recording?", "Did you record my order?")]
    [False, False]
    """
    return _ASKS.search(text) is not None
