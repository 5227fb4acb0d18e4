"""One typed state, many readers, one writer at a time, everything written down first.

Knows no restaurant and no livekit: any pydantic model can be the state.
"""

from state.shared.command import WHOLE, Command, HandOver, overlap
from state.shared.errors import Busy, KeyReused, NotStored, Refused, Stale, StateError, TakenOver
from state.shared.journal import Entry, Journal, VersionTaken, to_the_end
from state.shared.shared_state import Applied, SharedState, Subscriber

__all__ = [
    "WHOLE",
    "Applied",
    "Busy",
    "Command",
    "Entry",
    "HandOver",
    "Journal",
    "KeyReused",
    "NotStored",
    "Refused",
    "SharedState",
    "Stale",
    "StateError",
    "Subscriber",
    "TakenOver",
    "VersionTaken",
    "overlap",
    "to_the_end",
]
