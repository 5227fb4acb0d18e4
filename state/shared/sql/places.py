"""The state of each place, and the state's user: stored with the states and as durable as they are.

The lease store knows the holder of a place. A row names the holder that wrote it, so that a holder that lost
the place meanwhile does not overwrite its successor's row.
"""

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, RowMapping, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from state.shared.errors import OtherOwner, TakenOver, UnknownState
from state.shared.sql.connection import DatabaseConnection
from state.shared.sql.tables import first_layout, last_states, places, states, written


class PlaceRow(NamedTuple):
    """A place and the state it works on.

    Args:
        user: The user it is for.
        holder: The holder that assigned the state.
        at: When it was assigned, aware.
    """

    owner: str
    place: str
    state_id: str
    user: str | None
    holder: str
    at: datetime


_HERE = (places.c.owner == bindparam("of_owner")) & (places.c.place == bindparam("at_place"))
# Built once: building a statement takes longer than executing it.
_AT = select(places).where(_HERE)
_AT_LOCKED = _AT.with_for_update()
_STATE = (
    select(states.c.owner, states.c.fence)
    .where(states.c.state_id == bindparam("id"))
    .with_for_update()
)
# Only a state's owner assigns it, so all these rows are the owner's.
_ELSEWHERE = select(places).where(
    places.c.state_id == bindparam("id"), places.c.place != bindparam("at_place")
)
_LEAVE_THOSE = delete(places).where(
    places.c.state_id == bindparam("id"), places.c.place != bindparam("at_place")
)
_BEGIN = insert(places)
_CHANGE = (
    update(places)
    .where(_HERE)
    .values(
        state_id=bindparam("new_state"),
        user=bindparam("new_user"),
        holder=bindparam("new_holder"),
        at=bindparam("new_at"),
    )
)
_ITS_LAST = (last_states.c.owner == bindparam("of_owner")) & (
    last_states.c.user == bindparam("of_user")
)
_LAST = select(last_states.c.state_id).where(_ITS_LAST)
_NO_LONGER_LAST = delete(last_states).where(_ITS_LAST)
_IS_LAST = insert(last_states)
_NOBODYS_LAST = delete(last_states).where(last_states.c.state_id == bindparam("id"))
_CLOSE = delete(places).where(_HERE & (places.c.holder == bindparam("assigned_by")))
_OF = select(places).where(places.c.state_id == bindparam("id"))
_AS_IT_IS = update(first_layout).values(layout=first_layout.c.layout)
_END = delete(places).where(places.c.state_id == bindparam("id"))


class Places:
    """The places of an owner.

    Args:
        db: The connection to the states' database.
        owner: The owner; ``None`` reads all places.
        now: Returns the present time, aware.
    """

    def __init__(
        self, db: DatabaseConnection, owner: str | None, now: Callable[[], datetime]
    ) -> None:
        self._db = db
        self._owner = owner
        self._now = now

    def check_connection(self, *, writes: bool) -> None:
        """Check that the database exists with the present layout, and is writable if needed."""
        self._db.run(lambda connection: None, writes=writes)

    def try_write(self) -> None:
        """Write to the database without changing anything."""
        self._db.run(lambda connection: connection.execute(_AS_IT_IS), writes=True)

    def at(self, place: str) -> PlaceRow | None:
        """Return the row of a place."""
        here = {"of_owner": self._owner, "at_place": place}
        return self._db.run(
            lambda connection: _one(connection.execute(_AT, here).mappings().first()), writes=False
        )

    def of(self, state_id: str) -> PlaceRow | None:
        """Return the row of the place where a state is worked on."""
        owned = _OF if self._owner is None else _OF.where(places.c.owner == self._owner)
        return self._db.run(
            lambda connection: _one(connection.execute(owned, {"id": state_id}).mappings().first()),
            writes=False,
        )

    def all(self) -> list[PlaceRow]:
        """Return all places."""
        owned = select(places)
        if self._owner is not None:
            owned = owned.where(places.c.owner == self._owner)
        return self._db.run(
            lambda connection: [_place(row) for row in connection.execute(owned).mappings()],
            writes=False,
        )

    def assign(
        self,
        place: str,
        holder: str,
        state_id: str,
        user: str | None,
        fence: int | None,
        before: PlaceRow | None,
    ) -> list[PlaceRow] | None:
        """Record the state a place works on; return the other places the state was removed from.

        Returns ``None`` and changes nothing if the place has changed since ``before``.

        Args:
            place: The place.
            holder: The holder; it held the place after ``before`` was read.
            state_id: The state.
            user: The user it is for.
            fence: The fencing number the state is held by here; ``None`` if it is not.
            before: The place as it was read.
        """

        def assign(connection: Connection) -> list[PlaceRow] | None:
            # Locking the state's row makes others wait that want to assign the same state.
            state = connection.execute(_STATE, {"id": state_id}).one_or_none()
            if state is None:
                raise UnknownState(state_id)
            if state.owner != self._owner:
                raise OtherOwner(state_id)
            if fence is not None and state.fence > fence:
                raise TakenOver
            here = {"of_owner": self._owner, "at_place": place}
            present = _one(connection.execute(_AT_LOCKED, here).mappings().first())
            if _holder_of(present) != _holder_of(before):
                return None
            there = {"id": state_id, "at_place": place}
            elsewhere = [_place(row) for row in connection.execute(_ELSEWHERE, there).mappings()]
            if elsewhere:
                connection.execute(_LEAVE_THOSE, there)
            at = written(self._now())
            if present is None:
                row = {"owner": self._owner, "place": place, "state_id": state_id}
                connection.execute(_BEGIN, {**row, "user": user, "holder": holder, "at": at})
            else:
                new = {"new_state": state_id, "new_user": user, "new_holder": holder}
                connection.execute(_CHANGE, {**here, **new, "new_at": at})
            if user is not None:
                connection.execute(_NO_LONGER_LAST, {"of_owner": self._owner, "of_user": user})
                last = {"owner": self._owner, "user": user, "state_id": state_id, "at": at}
                connection.execute(_IS_LAST, last)
            return elsewhere

        try:
            return self._db.run(assign, writes=True)
        except IntegrityError:  # on a server: another process created the row at the same moment
            return None

    def last(self, user: str) -> str | None:
        """Return the state that was last assigned for a user."""
        its = {"of_owner": self._owner, "of_user": user}
        return self._db.run(lambda connection: connection.scalar(_LAST, its), writes=False)

    def close(self, before: PlaceRow) -> None:
        """Delete a place's row, unless another holder has assigned a state since."""
        here = {"of_owner": before.owner, "at_place": before.place, "assigned_by": before.holder}
        self._db.run(lambda connection: connection.execute(_CLOSE, here), writes=True)

    def drop(self, before: datetime, but: Collection[tuple[str, str]]) -> None:
        """Delete places assigned before a time, except for some, and users' last states from before it."""
        old = [one for one in self.all() if one.at < before and (one.owner, one.place) not in but]
        for one in old:
            self.close(one)
        forgotten = delete(last_states).where(last_states.c.at < written(before))
        if self._owner is not None:
            forgotten = forgotten.where(last_states.c.owner == self._owner)
        self._db.run(lambda connection: connection.execute(forgotten), writes=True)


def release(connection: Connection, state_id: str) -> list[tuple[str, str]]:
    """Remove a state from its place and its user within a transaction; return the place by owner and name."""
    there = connection.execute(_OF, {"id": state_id}).mappings().all()
    connection.execute(_END, {"id": state_id})
    connection.execute(_NOBODYS_LAST, {"id": state_id})
    return [(row["owner"], row["place"]) for row in there]


def _holder_of(place: PlaceRow | None) -> str | None:
    return None if place is None else place.holder


def _one(row: RowMapping | None) -> PlaceRow | None:
    return None if row is None else _place(row)


def _place(row: RowMapping) -> PlaceRow:
    return PlaceRow(
        owner=row["owner"],
        place=row["place"],
        state_id=row["state_id"],
        user=row["user"],
        holder=row["holder"],
        at=time_of(row["at"]),
    )


def time_of(text: Any) -> datetime:
    """Parse a stored time; a damaged one counts as long ago."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return datetime.fromtimestamp(0, UTC)
