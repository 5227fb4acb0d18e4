"""What is written in groups: a change of a state, and what was said about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from state.shared.errors import JournalFault, NotStored, StateError
from state.shared.journal import Entry, Moment


@dataclass(frozen=True, slots=True)
class EntryRow:
    """The next version of a state.

    Args:
        state_id: The state.
        fence: The number it is held by; ``None`` writes under whoever holds it.
        entry: What to write.
    """

    state_id: str
    fence: int | None
    entry: Entry

    size: ClassVar[int] = 1
    """How many rows it is."""

    def error_for(self, fault: JournalFault) -> StateError:
        """Return what its writer is told when the database has a fault."""
        return NotStored(fault.why)


@dataclass(frozen=True, slots=True)
class TranscriptRows:
    """What was said in a call, after what was written before.

    Args:
        state_id: The state it was said about.
        fence: The number that state is held by; ``None`` writes whoever holds it.
        moments: What was said; at least one. What is withdrawn before it is written is left out.
    """

    state_id: str
    fence: int | None
    moments: Sequence[Moment]

    @property
    def size(self) -> int:
        """How many rows it is."""
        return len(self.moments)

    def error_for(self, fault: JournalFault) -> StateError:
        """Return what its writer is told when the database has a fault."""
        return fault


Row: TypeAlias = EntryRow | TranscriptRows
"""What may be written in one transaction with others."""

RowResult: TypeAlias = Exception | None
"""What came of one of a group: ``None`` when it is stored, else why it is not."""


class RetryAlone(Exception):
    """It was not stored with the others, and may be alone."""
