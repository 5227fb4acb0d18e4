"""Who works at a place, until when, and on what: so that two never do it at once."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Lease:
    """What is known of a place, for as long as what goes on there has not ended.

    The lease store knows who holds it, the database what is worked on there. Where the lease is gone, the holder is
    whoever settled there last, and ``since`` and ``until`` are when that was.

    A place is wherever one agent at a time may work on a state, by any name an application gives it.

    Args:
        place: Its name, used once by each owner.
        owner: Whose place it is.
        holder: Who works there, by a name that nobody else has; ``None`` when he left it for another.
        since: When he took it, aware.
        until: When his time is over unless he renews it, aware.
        state_id: The state that is worked on there; ``None`` as long as nobody has said.
        guest: Whom it is worked on for, as the application knows him.
        tries: How many holders in a row died soon: 0 when somebody begins anew.
    """

    place: str
    owner: str
    holder: str | None
    since: datetime
    until: datetime
    state_id: str | None = None
    guest: str | None = None
    tries: int = 0

    @property
    def open(self) -> bool:
        """Whether a state is worked on there that whoever comes next goes on with."""
        return self.state_id is not None
