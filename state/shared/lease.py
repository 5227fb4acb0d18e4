"""Leases: one holder per place at a time."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease on a place such as a room, kept until the work there has finished.

    The lease store knows the holder and the times; the database knows the state. If the lease itself is missing, the
    holder is the last one assigned in the database, and ``since`` and ``until`` are the time of that.

    A place is where at most one agent at a time works on a state; the application chooses its name.

    Args:
        place: The place's name, unique for each owner.
        owner: The owner.
        holder: The holder's unique name; ``None`` if the holder released the lease for a successor.
        since: When the holder took the lease, aware.
        until: When the lease expires unless it is renewed, aware.
        state_id: The state the place works on; ``None`` until one is assigned.
        user: The user the work is for, as the application identifies them.
        tries: How many holders in a row died early; 0 for a new start.
    """

    place: str
    owner: str
    holder: str | None
    since: datetime
    until: datetime
    state_id: str | None = None
    user: str | None = None
    tries: int = 0

    @property
    def open(self) -> bool:
        """Whether a state is assigned that the next holder continues with."""
        return self.state_id is not None
