"""The root of everything a shared state can answer instead of doing what it was asked.

* StateError
  * Refused        the rules of the state say no; each application draws its own tree below it
  * Stale          what the command touches has changed after the version its writer has seen
  * KeyReused      the idempotency key was used before, for something else
  * Busy           another writer kept its turn for too long
  * NotStored      the journal could not write it down
  * OutcomeUnknown the journal was asked to write it down and does not say whether it did
  * TakenOver      another process holds this state now; this one never writes again
  * LeaseHeld           another holder is at work at this place
  * LeaseLost           this place is not ours any more
  * UnknownState   the journal has no state of this id
  * OtherOwner     the journal has it, and it belongs to somebody else
  * JournalFault   the journal itself cannot be opened or read: a person has to look at it
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import JsonValue


class StateError(Exception):
    """Why a command was not carried out; the state is as it was.

    Args:
        message: An English reason that a model or a developer can act on.
        facts: The same in data, for whoever makes a sentence of their own from it.
    """

    code: ClassVar[str] = "state_error"
    """What went wrong, in one word: what models, pages and scripts read. A class of your own sets its own."""
    retryable: ClassVar[bool] = False
    """Whether the same may be asked again, as it is or after another look, with some hope."""

    def __init__(self, message: str, **facts: JsonValue) -> None:
        super().__init__(message)
        self.message = message
        self.facts: Mapping[str, JsonValue] = facts
        """What the sentence says, in data."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Survive pickling although the constructor takes keyword facts."""
        return (_restore, (type(self), self.message, dict(self.facts)))


def _restore(kind: type[StateError], message: str, facts: dict[str, JsonValue]) -> StateError:
    error = kind.__new__(kind)
    StateError.__init__(error, message, **facts)
    return error


class Refused(StateError):
    """The rules of the state do not allow the command.

    A refusal of your own is a class below this one that sets ``code``; without one it reads ``refused``.
    """

    code = "refused"

    @property
    def reason(self) -> str:
        """What a listener is told in one word: the code, unless an error knows something closer."""
        return self.code


class Stale(StateError):
    """What the command touches has changed after the version its writer has seen."""

    code = "version_conflict"
    retryable = True

    def __init__(self, seen: int, version: int) -> None:
        why = (
            f"This was decided on version {seen}, and it has changed since: version {version} is the"
            if seen < version
            else f"There is no version {seen} yet: version {version} is the"
        )
        super().__init__(
            f"{why} present one. Look at it again, then decide.",
            seen=seen,
            version=version,
        )


class KeyReused(StateError):
    """The idempotency key belongs to another request."""

    code = "key_reused"

    def __init__(self) -> None:
        super().__init__("This key was used before for something else. Take a new key.")


class Busy(StateError):
    """Another writer kept its turn for longer than this one was willing to wait."""

    code = "unavailable"
    retryable = True

    def __init__(self, waited_s: float) -> None:
        super().__init__(
            "Somebody else is writing and did not finish in time. Nothing was changed; try again.",
            waited_s=waited_s,
        )


class NotStored(StateError):
    """The change could not be written down, so it did not happen."""

    code = "unavailable"
    retryable = True

    def __init__(self, why: str) -> None:
        super().__init__(
            f"This could not be stored just now ({why}), so nothing was changed. Try again in a moment.",
            why=why,
        )


class OutcomeUnknown(StateError):
    """The journal was asked to write the change down, and does not say whether it did.

    The state stays as it was until the journal answers again; what it has is taken in then, before
    anything else is written.
    """

    code = "outcome_unknown"
    retryable = True

    def __init__(self) -> None:
        super().__init__(
            "It is not known whether this was stored: the database stopped answering meanwhile."
            " Look at the present state before you try it again."
        )


class TakenOver(StateError):
    """Another process has taken this state; the one that asks may not write any more."""

    code = "taken_over"

    def __init__(self) -> None:
        super().__init__("Another process has taken over. Nothing was changed here.")


class LeaseHeld(StateError):
    """Somebody else works at this place, and his time is not over; who asks leaves it to him."""

    code = "held"

    def __init__(self) -> None:
        super().__init__("Somebody else is at work at this place. Leave it to them.")


class LeaseLost(StateError):
    """The place is not ours any more: another holder has it, it was closed, or its state went elsewhere."""

    code = "lost"

    def __init__(self) -> None:
        super().__init__("This place is somebody else's now, or nobody's. Leave it.")


class UnknownState(StateError):
    """The journal has no state of this id."""

    code = "not_found"

    def __init__(self, state_id: str) -> None:
        super().__init__(f"There is no {state_id} in this database.", id=state_id)


class OtherOwner(StateError):
    """The state is there, but it is somebody else's."""

    code = "other_owner"

    def __init__(self, state_id: str) -> None:
        super().__init__(f"{state_id} belongs to somebody else.", id=state_id)


class JournalFault(StateError):
    """The journal, or a row of it, cannot be used as it is.

    Args:
        what: The database or the row.
        why: What is wrong with it, in a few words that can be spoken.
        passing: Whether it may be over in some seconds, without anybody's doing anything.
    """

    code = "journal_fault"

    def __init__(self, what: str, why: str, *, passing: bool = False) -> None:
        super().__init__(f"{what} cannot be used: {why}.", what=what, why=why)
        self.why = why
        self.passing = passing
