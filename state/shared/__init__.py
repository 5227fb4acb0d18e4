"""One typed state with many readers and one writer at a time; every change is journalled before it counts.

Independent of any application and of livekit: the state can be any pydantic model.
"""

from state.shared.basis import Basis
from state.shared.command import (
    FRAMEWORK_COMMANDS,
    WHOLE,
    Command,
    EndTool,
    HandOver,
    StartTool,
    overlap,
)
from state.shared.errors import (
    Busy,
    JournalFault,
    KeyReused,
    LeaseHeld,
    LeaseLost,
    Misuse,
    NotStored,
    OtherOwner,
    OutcomeUnknown,
    Refused,
    Stale,
    StateError,
    TakenOver,
    UnknownState,
    Unstorable,
)
from state.shared.journal import (
    Entry,
    Gate,
    Journal,
    Listed,
    Moment,
    StoredState,
    VersionTaken,
    to_the_end,
    withdrawable_changes,
)
from state.shared.lease import Lease
from state.shared.reading import read_state
from state.shared.schema import Migration, schema_faults
from state.shared.serialization import write_state
from state.shared.shapes import model_faults
from state.shared.shared_state import Applied, SharedState, Subscriber
from state.shared.sql import Eraser, PlaceLeases, SqlStore
from state.shared.validation import explained

__all__ = [
    "WHOLE",
    "Applied",
    "Basis",
    "Busy",
    "Command",
    "Entry",
    "Eraser",
    "Gate",
    "FRAMEWORK_COMMANDS",
    "EndTool",
    "HandOver",
    "StartTool",
    "Journal",
    "JournalFault",
    "KeyReused",
    "Lease",
    "LeaseHeld",
    "LeaseLost",
    "Listed",
    "Migration",
    "Misuse",
    "Moment",
    "NotStored",
    "OtherOwner",
    "OutcomeUnknown",
    "PlaceLeases",
    "Refused",
    "SharedState",
    "SqlStore",
    "Stale",
    "StateError",
    "StoredState",
    "Subscriber",
    "TakenOver",
    "UnknownState",
    "Unstorable",
    "VersionTaken",
    "explained",
    "model_faults",
    "overlap",
    "read_state",
    "schema_faults",
    "write_state",
    "to_the_end",
    "withdrawable_changes",
]
