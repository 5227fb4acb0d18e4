"""Errors of a shared state.

* StateError
  * Refused        the state's rules do not allow it; applications subclass it
  * Stale          what the command touches has changed since the version its writer has seen
  * KeyReused      the idempotency key was used before for another request
  * Busy           other writers did not finish in time
  * NotStored      the journal could not write the change
    * Unstorable   no journal can ever store the change
  * OutcomeUnknown the journal does not answer whether it wrote the change
  * TakenOver      another process holds this state now; this one never writes again
  * LeaseHeld      another holder has the lease
  * LeaseLost      the caller no longer holds the lease
  * UnknownState   the journal has no state with this id
  * OtherOwner     the state belongs to another owner
  * JournalFault   the journal cannot be opened or read and needs a person's attention
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import JsonValue

CHARACTERS = "it holds characters that the database cannot store"
"""The fault of a text that no database takes, such as one with a lone surrogate."""

_CODE = re.compile(r"[a-z][a-z0-9_]*")


class StateError(Exception):
    """A command was not carried out; the state is unchanged.

    Args:
        message: An English reason that a model or a developer can act on.
        facts: The reason as data, for callers that build their own sentence.
    """

    code: str = "state_error"
    """The error as an identifier that models, pages and scripts read. Subclasses set their own."""
    retryable: ClassVar[bool] = False
    """Whether the same request may succeed later, as it is or after a reload."""

    def __init__(self, message: str, **facts: JsonValue) -> None:
        super().__init__(message)
        self.message = message
        self.facts: Mapping[str, JsonValue] = facts
        """The message's content as data."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling although the constructor takes keyword facts."""
        return (_restore, (type(self), self.message, dict(self.facts), self.code))


def _restore(
    kind: type[StateError], message: str, facts: dict[str, JsonValue], code: str
) -> StateError:
    error = kind.__new__(kind)
    StateError.__init__(error, message, **facts)
    error.code = code
    return error


class Misuse(TypeError):
    """An application's function breaks its contract; the message is a fixed text without values."""


class Refused(StateError):
    """The state's rules do not allow the command.

    Args:
        message: An English sentence that a model can act on: ``"There is no room that night."``
        reason: The ``code`` of this error, in lower snake case: ``"no_room"``. By default its class's, which
            subclasses set; that of ``Refused`` is ``refused``.
        facts: The reason as data.

    Raises:
        ValueError: The reason is not in lower snake case: perhaps the sentence was given in its place.
    """

    code = "refused"

    def __init__(self, message: str, *, reason: str | None = None, **facts: JsonValue) -> None:
        super().__init__(message, **facts)
        if reason is None:
            return
        if not _CODE.fullmatch(reason):
            raise ValueError(
                f"reason={reason!r} is not in lower snake case: Refused takes the sentence first, and the"
                " reason as a code, as in Refused('There is no room.', reason='no_room')"
            )
        self.code = reason

    @property
    def reason(self) -> str:
        """The reason as an identifier: the code, unless a subclass is more specific."""
        return self.code


class Stale(StateError):
    """A part that the command touches has changed since the version its writer has seen."""

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
    """The idempotency key was used for another request."""

    code = "key_reused"

    def __init__(self) -> None:
        super().__init__("This key was used before for something else. Take a new key.")


class Busy(StateError):
    """Other writers did not finish within this writer's time limit."""

    code = "unavailable"
    retryable = True

    def __init__(self, waited_s: float) -> None:
        super().__init__(
            "Another writer did not finish in time. Nothing was changed; try again.",
            waited_s=waited_s,
        )


class NotStored(StateError):
    """The change could not be stored, so it did not happen."""

    code = "unavailable"
    retryable = True

    def __init__(self, why: str) -> None:
        super().__init__(
            f"This could not be stored just now ({why}), so nothing was changed. Try again in a moment.",
            why=why,
        )


class Unstorable(NotStored):
    """The change can never be stored: a value in it cannot be written, or would not read back as it is.

    Such a change is refused without a journal, too.
    """

    code = "unstorable"
    retryable = False

    def __init__(self, why: str) -> None:
        StateError.__init__(
            self,
            f"This can never be stored ({why}), so nothing was changed. Do not try the same again.",
            why=why,
        )


class OutcomeUnknown(StateError):
    """The journal does not answer whether it stored the change.

    The state stays as it was. Once the journal answers again, its entries are loaded before anything else is
    written.
    """

    code = "outcome_unknown"
    retryable = True

    def __init__(self) -> None:
        super().__init__(
            "It is not known whether this was stored: the database stopped answering meanwhile."
            " Look at the present state before you try it again."
        )


class TakenOver(StateError):
    """Another process has taken this state; this process can no longer write it."""

    code = "taken_over"

    def __init__(self) -> None:
        super().__init__("Another process has taken over. Nothing was changed here.")


class LeaseHeld(StateError):
    """Another holder's lease has not expired."""

    code = "held"

    def __init__(self) -> None:
        super().__init__("Another holder has the lease on this place.")


class LeaseLost(StateError):
    """The lease was lost: another holder has it, it was closed, or its state moved to another place."""

    code = "lost"

    def __init__(self) -> None:
        super().__init__("The lease on this place is lost: another holder has it, or it was ended.")


class UnknownState(StateError):
    """The journal has no state with this id."""

    code = "not_found"

    def __init__(self, state_id: str) -> None:
        super().__init__(f"There is no {state_id} in this database.", id=state_id)


class OtherOwner(StateError):
    """The state belongs to another owner."""

    code = "other_owner"

    def __init__(self, state_id: str) -> None:
        super().__init__(f"{state_id} belongs to another owner.", id=state_id)


class JournalFault(StateError):
    """The journal, or a row of it, cannot be used.

    Args:
        what: The database or the row.
        why: The reason, in a few words that can be spoken.
        passing: Whether it may pass within seconds without intervention.
        remedy: A sentence for the application's developer, if they can mend it.
    """

    code = "journal_fault"

    def __init__(self, what: str, why: str, *, passing: bool = False, remedy: str = "") -> None:
        message = f"{what} cannot be used: {why}. {remedy}".rstrip()
        super().__init__(message, what=what, why=why)
        self.why = why
        self.passing = passing

    def not_stored(self) -> NotStored:
        """Return the error for a writer whose change was not written because of this fault."""
        return Unstorable(self.why) if self.why == CHARACTERS else NotStored(self.why)
