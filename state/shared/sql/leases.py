"""Places that one at a time may work at, one transaction for each request.

A row stands there from the first taking until what went on has ended, so that what is not there any more
begins anew. An answer that got lost does no harm: everything here may be asked again.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    Connection,
    RowMapping,
    Select,
    bindparam,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from state.shared.errors import Held, JournalFault, Lost, OtherOwner, TakenOver, UnknownState
from state.shared.lease import Lease
from state.shared.sql.connection import Link
from state.shared.sql.tables import leases, states, written

STEADY_S = 60.0
"""Who held a place for so long, in seconds, counts as no try that failed."""

TRIES = 5

_HERE = (leases.c.owner == bindparam("of_owner")) & (leases.c.place == bindparam("at_place"))
_MINE = _HERE & (leases.c.holder == bindparam("held_by"))
# Built once: building a statement takes longer than carrying it out.
_AT = select(leases).where(_HERE)
_AT_LOCKED = _AT.with_for_update()
_BEGIN = insert(leases)
_TAKE = (
    update(leases)
    .where(_HERE)
    .values(
        holder=bindparam("new_holder"),
        since=bindparam("new_since"),
        until=bindparam("new_until"),
        tries=bindparam("new_tries"),
    )
)
_STATE = (
    select(states.c.owner, states.c.fence)
    .where(states.c.state_id == bindparam("id"))
    .with_for_update()
)
# Only its owner settles on a state, so that all these are his.
_ELSEWHERE = delete(leases).where(
    leases.c.state_id == bindparam("id"), leases.c.place != bindparam("at_place")
)
_SETTLE = (
    update(leases)
    .where(_MINE)
    .values(state_id=bindparam("new_state"), guest=bindparam("new_guest"))
)
_RENEW = update(leases).where(_MINE).values(until=bindparam("new_until"))
_LEAVE = update(leases).where(_MINE).values(holder=None, until=bindparam("new_until"))
_CLOSE = delete(leases).where(_MINE)


class Leases:
    """An owner's places in a database.

    Args:
        link: The connection to it.
        owner: Whose places; ``None`` only lists everybody's.
        now: The present time, aware. It is asked once the row is nobody else's to change.
    """

    def __init__(self, link: Link, owner: str | None, now: Callable[[], datetime]) -> None:
        self._link = link
        self._owner = owner
        self._now = now

    def take(
        self,
        place: str,
        holder: str,
        seconds: float,
        supersedes: str | None,
        tries: int | None = None,
    ) -> Lease:
        """Hold a place from now on, unless somebody else does whose time is not over."""

        def take(connection: Connection) -> Lease:
            here = {"of_owner": self._owner, "at_place": place}
            found = connection.execute(_AT_LOCKED, here).mappings().one_or_none()
            now = self._now()
            row: dict[str, Any] = {
                "owner": self._owner,
                "place": place,
                "holder": holder,
                "since": written(now),
                "until": written(now + timedelta(seconds=seconds)),
                "state_id": None,
                "guest": None,
                "tries": 0,
            }
            if found is None:
                connection.execute(_BEGIN, row)
                return _lease(row)
            before = _lease(found)
            if before.holder == holder:
                row |= {"since": found["since"], "tries": before.tries}
            elif before.holder in (None, supersedes) or before.until <= now:
                row["tries"] = _tries_after(before) if tries is None else tries
            else:
                raise Held
            row |= {"state_id": before.state_id, "guest": before.guest}
            changed = {f"new_{name}": row[name] for name in ("holder", "since", "until", "tries")}
            connection.execute(_TAKE, here | changed)
            return _lease(row)

        for _ in range(TRIES):
            try:
                return self._link.run(take, writes=True)
            except IntegrityError:  # a server: somebody else began it at the same moment
                continue
        raise JournalFault(self._link.name, "too many others are writing")

    def settle(
        self, place: str, holder: str, state_id: str, guest: str | None, fence: int | None
    ) -> None:
        """Write down what is worked on at a place; wherever else it was, it is not any more.

        Args:
            place: The place.
            holder: Who holds it.
            state_id: The state.
            guest: Whom it is for.
            fence: The number the state is held by; ``None`` does not hold it.
        """

        def settle(connection: Connection) -> None:
            # The state's row keeps everybody else who wants to settle on it waiting.
            state = connection.execute(_STATE, {"id": state_id}).one_or_none()
            if state is None:
                raise UnknownState(state_id)
            if state.owner != self._owner:
                raise OtherOwner(state_id)
            if fence is not None and state.fence > fence:
                raise TakenOver
            here = {"of_owner": self._owner, "at_place": place}
            connection.execute(_ELSEWHERE, {"id": state_id, "at_place": place})
            settled = here | {"held_by": holder, "new_state": state_id, "new_guest": guest}
            if not connection.execute(_SETTLE, settled).rowcount:
                raise Lost

        self._link.run(settle, writes=True)

    def renew(self, place: str, holder: str, seconds: float) -> None:
        """Hold a place for some time more.

        It does not wait for a disk of this machine: what a power cut takes away was held by somebody whom
        it took away as well.
        """

        def renew(connection: Connection) -> None:
            until = written(self._now() + timedelta(seconds=seconds))
            if not connection.execute(_RENEW, self._mine(place, holder, new_until=until)).rowcount:
                raise Lost

        self._link.run(renew, writes=True, lasting=False)

    def leave(self, place: str, holder: str, *, done: bool) -> None:
        """Hold a place no longer; who does not hold it any more leaves nothing."""

        def leave(connection: Connection) -> None:
            if done:
                connection.execute(_CLOSE, self._mine(place, holder))
            else:
                now = written(self._now())
                connection.execute(_LEAVE, self._mine(place, holder, new_until=now))

        self._link.run(leave, writes=True)

    def lost(self) -> list[Lease]:
        """List the places whose holders' time is over, who was first over it first."""

        def lost(connection: Connection) -> list[Lease]:
            over = self._owned(select(leases)).where(leases.c.until <= written(self._now()))
            rows = connection.execute(over.order_by(leases.c.until)).mappings()
            return [_lease(row) for row in rows]

        return self._link.run(lost, writes=False)

    def at(self, place: str) -> Lease | None:
        """Read what is known of a place."""
        here = {"of_owner": self._owner, "at_place": place}
        return self._one(lambda connection: connection.execute(_AT, here).mappings().one_or_none())

    def of(self, state_id: str) -> Lease | None:
        """Read where a state is worked on."""
        there = self._owned(select(leases)).where(leases.c.state_id == state_id)
        return self._one(lambda connection: connection.execute(there).mappings().one_or_none())

    def _one(self, find: Callable[[Connection], RowMapping | None]) -> Lease | None:
        found = self._link.run(find, writes=False)
        return None if found is None else _lease(found)

    def _mine(self, place: str, holder: str, **values: str) -> dict[str, str | None]:
        return {"of_owner": self._owner, "at_place": place, "held_by": holder, **values}

    def _owned(self, rows: Select[Any]) -> Select[Any]:
        return rows if self._owner is None else rows.where(leases.c.owner == self._owner)


def _tries_after(before: Lease) -> int:
    died = before.holder is not None  # else he has left it
    stayed = before.until - before.since >= timedelta(seconds=STEADY_S)
    return died + (0 if stayed else before.tries)


def _lease(row: RowMapping | Mapping[str, Any]) -> Lease:
    return Lease(
        owner=row["owner"],
        place=row["place"],
        holder=row["holder"],
        since=datetime.fromisoformat(row["since"]),
        until=datetime.fromisoformat(row["until"]),
        state_id=row["state_id"],
        guest=row["guest"],
        tries=row["tries"],
    )
