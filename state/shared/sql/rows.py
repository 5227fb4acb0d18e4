"""Rows that are written in batches: changes of states, and transcripts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from state.shared.errors import JournalFault, StateError
from state.shared.journal import Entry, Moment

LOCKED = "another program has locked the database"
UNANSWERED = "the database does not answer"
"""Why a row was not written, in words that can be spoken."""


@dataclass(frozen=True, slots=True)
class EntryRow:
    """The next version of a state.

    Args:
        fence: The fencing number it is held by; ``None`` writes under the present holder's.
    """

    state_id: str
    fence: int | None
    entry: Entry

    size: ClassVar[int] = 1
    """The number of rows."""

    def error_for(self, fault: JournalFault) -> StateError:
        """Return the error for its writer when the database has a fault."""
        return fault.not_stored()


@dataclass(frozen=True, slots=True)
class TranscriptRows:
    """Transcript rows, appended to a state's transcript.

    Args:
        fence: The fencing number it is held by; ``None`` writes under any holder.
        moments: The rows, at least one. Those withdrawn before they are written are left out.
    """

    state_id: str
    fence: int | None
    moments: Sequence[Moment]

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.moments)

    def error_for(self, fault: JournalFault) -> StateError:
        """Return the error for its writer when the database has a fault."""
        return fault


Row: TypeAlias = EntryRow | TranscriptRows
"""Rows that can be written in one transaction with others."""

RowResult: TypeAlias = Exception | None
"""The result of one row of a batch: ``None`` if it is stored, else the error."""


class RetryAlone(Exception):
    """It was not stored with the batch and must be retried alone."""


class LockNotGranted(Exception):
    """It was not stored, because the write lock was not granted in time; those with time left are retried.

    Args:
        error: The error for its writer if its time is over.
    """

    def __init__(self, error: StateError) -> None:
        super().__init__(error)
        self.error = error
