"""The sentences about the call itself that are said in rooms, in English; applications replace them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """Sentences about the call itself.

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
        a_person: The caller's words when they press 0 on a telephone.
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
    a_person: str = "I would like to speak to a person."
