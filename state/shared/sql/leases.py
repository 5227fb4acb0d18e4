"""The lease store: who holds which place until when, in a database that nobody waits for.

With SQLite it is a file beside the states' database, on a server two tables of their own connection. Nothing in it
has to last: a commit waits for no disk, and a file that cannot be used is deleted and made anew. Whoever held a
place and finds nobody there holds it again with the next renewal. What must not be written twice is protected by
the states' fence alone.
"""

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    URL,
    Connection,
    RowMapping,
    Select,
    bindparam,
    delete,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from state.shared.errors import Held, JournalFault, Lost
from state.shared.lease import Lease
from state.shared.sql import dialects
from state.shared.sql.connection import Link
from state.shared.sql.places import time_of
from state.shared.sql.tables import lease_metadata, leases, withdrawn, written

T = TypeVar("T")

logger = logging.getLogger(__name__)

STEADY_S = 60.0
"""Who held a place for so long, in seconds, counts as no try that failed."""

TRIES = 5

ENDING = ".leases"
"""What the name of the file with the leases has after that of the database."""

_HERE = (leases.c.owner == bindparam("of_owner")) & (leases.c.place == bindparam("at_place"))
_MINE = _HERE & (leases.c.holder == bindparam("held_by"))
_NEW: Mapping[str, Any] = {
    name: bindparam(f"new_{name}") for name in ("holder", "since", "until", "tries", "lasts")
}
# Built once: building a statement takes longer than carrying it out.
_AT = select(leases).where(_HERE)
_AT_LOCKED = _AT.with_for_update()
_BEGIN = insert(leases)
_CHANGE = update(leases).where(_HERE).values(dict(_NEW))
_RENEW = update(leases).where(_MINE).values(dict(_NEW))
_END = delete(leases).where(_HERE)
_CLOSE = delete(leases).where(_MINE)
_ITS = (withdrawn.c.owner == bindparam("of_owner")) & (withdrawn.c.holder == bindparam("digest"))
_IS_WITHDRAWN = select(withdrawn.c.at).where(_ITS)
_WITHDRAW = insert(withdrawn)
_READMIT = delete(withdrawn).where(_ITS)

_Row = dict[str, Any]


class Leases:
    """An owner's leases.

    Args:
        address: The address of the states' database.
        owner: Whose; ``None`` reads everybody's.
        now: The present time, aware. It is asked once the row is nobody else's to change.
    """

    def __init__(self, address: str, owner: str | None, now: Callable[[], datetime]) -> None:
        self._address = _beside(dialects.parsed(address))
        self._owner = owner
        self._now = now
        self._held: dict[tuple[str, str], _Row] = {}
        """The leases that were taken here, by place and holder, as they were renewed last."""
        self.link = self._new_link()

    def _new_link(self) -> Link:
        return Link(self._address, create=True, settle=_settle, prepare=dialects.prepare_leases)

    def close(self) -> None:
        """Let go of the connection; the next request opens it again."""
        self.link.close()

    # -- taking and holding ------------------------------------------------------------------------

    def take(
        self,
        place: str,
        holder: str,
        seconds: float,
        supersedes: str | None,
        tries: int | None = None,
    ) -> Lease:
        """Hold a place from now on, unless somebody else does whose time is not over."""

        def take(connection: Connection) -> _Row | None:
            here = {"of_owner": self._owner, "at_place": place}
            found = self._read(connection, _AT_LOCKED, here)
            now = self._now()
            row = {"owner": self._owner, "place": place, "holder": holder, "lasts": seconds}
            if found is None:
                row |= _span(now, now, seconds) | {"tries": tries or 0}
                connection.execute(_BEGIN, row)
            elif found["holder"] == holder:
                row |= _renewed(found, now, seconds) | {"tries": found["tries"]}
                connection.execute(_CHANGE, here | _new(row))
            elif found["holder"] in (None, supersedes) or _until(found) <= now:
                row |= _span(now, now, seconds)
                row["tries"] = _tries_after(found) if tries is None else tries
                connection.execute(_CHANGE, here | _new(row))
                self._withdraw(connection, self._owner, found["holder"])
            else:
                return None
            connection.execute(_READMIT, {"of_owner": self._owner, "digest": _digest(holder)})
            return row

        row = self._run(take)
        if row is None:
            raise Held
        self._held[place, holder] = row
        return _lease(row)

    def renew(self, place: str, holder: str, seconds: float) -> None:
        """Hold a place for some time more.

        A lease that is not there any more, though nobody has ended it, is begun anew by whoever has held it.
        """
        mine = {"of_owner": self._owner, "at_place": place, "held_by": holder}

        def renew(connection: Connection) -> _Row | None:
            known = self._held.get((place, holder))
            last = known or self._read(connection, _AT_LOCKED, mine)
            if last is None:
                return None
            row = last | _renewed(last, self._now(), seconds) | {"lasts": seconds}
            if connection.execute(_RENEW, mine | _new(row | {"holder": holder})).rowcount:
                return row
            if known is None or self._read(connection, _AT_LOCKED, mine) is not None:
                return None
            if self._is_withdrawn(connection, holder):
                return None
            connection.execute(_BEGIN, row)
            return row

        row = self._run(renew)
        if row is None:
            self._held.pop((place, holder), None)
            raise Lost
        if (place, holder) in self._held:
            self._held[place, holder] = row

    def check(self, place: str, holder: str) -> None:
        """See that a place is still a holder's.

        Raises:
            Lost: It is not.
        """

        def mine(connection: Connection) -> bool:
            _each_for_itself(connection)
            found = connection.execute(_AT, {"of_owner": self._owner, "at_place": place}).first()
            if found is not None:
                return bool(found.holder == holder)
            known = (place, holder) in self._held
            return known and not self._is_withdrawn(connection, holder)

        if not self._run(mine, writes=False):
            raise Lost

    def leave(self, place: str, holder: str, *, done: bool) -> None:
        """Hold a place no longer; who does not hold it any more leaves nothing.

        Args:
            place: The place.
            holder: Who holds it.
            done: Whether nothing is known of the place from then on.
        """
        mine = {"of_owner": self._owner, "at_place": place, "held_by": holder}

        def leave(connection: Connection) -> None:
            found = self._read(connection, _AT_LOCKED, mine)
            if found is None or found["holder"] != holder:
                return
            if done:
                connection.execute(_CLOSE, mine)
            else:
                left = found | _renewed(found, self._now(), 0.0) | {"holder": None}
                connection.execute(_RENEW, mine | _new(left))

        self._held.pop((place, holder), None)
        self._run(leave)

    def end(self, there: Sequence[tuple[str, str]], holder: str | None = None) -> None:
        """End leases of others, who have to leave.

        Args:
            there: The places, by owner and name.
            holder: Whose leases, or nobody's; ``None`` ends them whoever has them.
        """

        def end(connection: Connection) -> None:
            for owner, place in there:
                here = {"of_owner": owner, "at_place": place}
                found = self._read(connection, _AT_LOCKED, here)
                if found is None:
                    continue
                if holder is None or found["holder"] in (None, holder):
                    connection.execute(_END, here)
                    self._withdraw(connection, owner, found["holder"])

        self._run(end)

    # -- looking -----------------------------------------------------------------------------------

    def at(self, owner: str | None, place: str) -> Lease | None:
        """Read who holds a place, or who left it."""

        def at(connection: Connection) -> _Row | None:
            _each_for_itself(connection)
            return self._read(connection, _AT, {"of_owner": owner, "at_place": place})

        found = self._run(at, writes=False)
        return None if found is None else _lease(found)

    def every(self) -> tuple[list[Lease], datetime]:
        """Read all leases; returns the present time with them."""

        def every(connection: Connection) -> tuple[list[_Row], datetime]:
            _each_for_itself(connection)
            rows = connection.execute(self._owned(select(leases))).mappings().all()
            return [dict(row) for row in rows], self._now()

        def bounded(connection: Connection) -> tuple[list[_Row], datetime]:
            rows = connection.execute(self._owned(select(leases).with_for_update())).mappings()
            now = self._now()
            return [self._bounded(connection, row, now) for row in rows.all()], now

        rows, now = self._run(every, writes=False)
        if any(_until(row) > _latest(row, now) for row in rows):
            rows, now = self._run(bounded)
        return [_lease(row) for row in rows], now

    def matching(self, look: Callable[[str], bool]) -> list[tuple[str, str]]:
        """List the leases with a text that a function says yes to, by owner and place."""

        def matching(connection: Connection) -> list[tuple[str, str]]:
            _each_for_itself(connection)
            rows = connection.execute(self._owned(select(leases))).mappings().all()
            return [
                (row["owner"], row["place"])
                for row in rows
                if any(look(text) for text in row.values() if isinstance(text, str))
            ]

        return self._run(matching, writes=False)

    def write(self) -> None:
        """Write something and take it back."""
        its = {"of_owner": "", "digest": ""}
        row = {"owner": "", "holder": "", "at": ""}

        def write(connection: Connection) -> None:
            connection.execute(_READMIT, its)
            connection.execute(_WITHDRAW, row)
            connection.execute(_READMIT, its)

        self._run(write)

    # -- taking out --------------------------------------------------------------------------------

    def drop(self, before: datetime) -> set[tuple[str, str]]:
        """Delete what was over before a time; returns the places that are left, by owner and name."""

        def drop(connection: Connection) -> set[tuple[str, str]]:
            for table, at in ((leases, leases.c.until), (withdrawn, withdrawn.c.at)):
                old = delete(table).where(at < written(before))
                if self._owner is not None:
                    old = old.where(table.c.owner == self._owner)
                connection.execute(old)
            left = connection.execute(self._owned(select(leases))).mappings()
            return {(row["owner"], row["place"]) for row in left}

        return self._run(drop)

    def wipe(self) -> None:
        """Leave nothing of what was deleted in the store's own file or tables."""
        if self.link.is_sqlite:
            self._run(lambda connection: None, writes=False)  # whatever is there can be used then
            self.link.outside("PRAGMA temp_store = MEMORY", "VACUUM")
            return
        tables = (f"VACUUM (FULL) {table.name}" for table in (leases, withdrawn))
        self.link.outside("SET statement_timeout = 0", *tables)

    def files(self) -> list[Path]:
        """Name the files that are there, with nothing on its way into them."""
        self.close()
        return [path for path in self._files() if path.exists()]

    # -- the rows ----------------------------------------------------------------------------------

    def _read(
        self, connection: Connection, statement: Select[Any], here: Mapping[str, Any]
    ) -> _Row | None:
        found = connection.execute(
            statement, {"of_owner": here["of_owner"], "at_place": here["at_place"]}
        )
        row = found.mappings().first()
        if row is None:
            return None
        return dict(row) if statement is _AT else self._bounded(connection, row, self._now())

    def _bounded(self, connection: Connection, found: RowMapping, now: datetime) -> _Row:
        """Give a lease no more time than it was renewed for, as it has when the clock was set back since."""
        row = dict(found)
        latest = _latest(row, now)
        if _until(row) <= latest:
            return row
        bounded = row | _renewed(row, now, (latest - now).total_seconds())
        here = {"of_owner": row["owner"], "at_place": row["place"]}
        connection.execute(_CHANGE, here | _new(bounded))
        return bounded

    def _withdraw(self, connection: Connection, owner: str | None, holder: str | None) -> None:
        if holder is not None:
            its = {"of_owner": owner, "digest": _digest(holder)}
            connection.execute(_READMIT, its)
            row = {"owner": owner, "holder": its["digest"], "at": written(self._now())}
            connection.execute(_WITHDRAW, row)

    def _is_withdrawn(self, connection: Connection, holder: str) -> bool:
        its = {"of_owner": self._owner, "digest": _digest(holder)}
        return connection.execute(_IS_WITHDRAWN, its).first() is not None

    def _owned(self, rows: Select[Any]) -> Select[Any]:
        return rows if self._owner is None else rows.where(leases.c.owner == self._owner)

    # -- the file ----------------------------------------------------------------------------------

    def _run(self, work: Callable[[Connection], T], *, writes: bool = True) -> T:
        """Do some work in one transaction, if need be in a file that is made anew."""
        for attempt in range(TRIES):
            used = self._inode()
            try:
                return self.link.run(work, writes=writes)
            except IntegrityError:  # a server: somebody else began the row at the same moment
                continue
            except JournalFault as fault:
                if attempt == TRIES - 1 or not self._is_spoilt(fault):
                    raise
                self._begin_anew(fault, used)
        raise JournalFault(self.link.name, "too many others are writing")

    def _is_spoilt(self, fault: JournalFault) -> bool:
        return self.link.file is not None and fault.why not in dialects.NOT_ITS_FAULT

    def _begin_anew(self, fault: JournalFault, used: tuple[int, int] | None) -> None:
        """Delete the file, so that the next request makes it anew."""
        self.link.close()
        if self._inode() == used:  # else another process was faster, and its file is left alone
            with suppress(OSError):
                for path in self._files():
                    path.unlink(missing_ok=True)
                logger.warning("the leases are begun anew: %s", fault.message)
        self.link = self._new_link()

    def _files(self) -> list[Path]:
        file = self.link.file
        return [] if file is None else [Path(f"{file}{end}") for end in ("-journal", "")]

    def _inode(self) -> tuple[int, int] | None:
        if self.link.file is None:
            return None
        try:
            found = self.link.file.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino


def _beside(url: URL) -> URL:
    """Return the address of the lease store of a database."""
    file = dialects.file_of(url)
    if file is not None:
        return url.set(database=f"{file}{ENDING}")
    return url.set(database=None) if url.get_backend_name() == "sqlite" else url


def _settle(link: Link) -> None:
    """Find the store's tables, or make them. A SQLite file is read through: a power cut may have damaged it."""

    def there(connection: Connection) -> bool:
        _each_for_itself(connection)
        found = inspect(connection)
        return all(found.has_table(table.name) for table in lease_metadata.sorted_tables)

    def whole(connection: Connection) -> bool:
        _each_for_itself(connection)
        return bool(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one() == "ok")

    if not link.run(there, writes=False):
        link.run(lease_metadata.create_all, writes=True)
    elif link.is_sqlite and not link.run(whole, writes=False):
        raise JournalFault(link.name, "the database file is damaged")


def _each_for_itself(connection: Connection) -> None:
    """With SQLite: have each statement be a transaction, in one that began without a lock.

    The file is locked only while SQLite is at work then, and not until this thread is given the processor again
    for the end of a transaction. On a machine with little of it all others wait for that.
    """
    driver = connection.connection.dbapi_connection
    if isinstance(driver, sqlite3.Connection):
        driver.commit()


def _until(row: Mapping[str, Any]) -> datetime:
    return time_of(row["until"])


def _latest(row: Mapping[str, Any], now: datetime) -> datetime:
    """Return the latest time at which a lease may end that was not renewed by another clock."""
    return now + timedelta(seconds=row["lasts"] if row["holder"] is not None else 0.0)


def _lived(row: Mapping[str, Any], now: datetime) -> timedelta:
    """Return how long a holder has had a place: between two renewals no more than one is good for."""
    lasts = timedelta(seconds=row["lasts"])
    until = _until(row)
    if row["holder"] is None:
        return until - time_of(row["since"])
    renewed = until - lasts
    return (renewed - time_of(row["since"])) + min(max(now - renewed, timedelta()), lasts)


def _renewed(row: Mapping[str, Any], now: datetime, seconds: float) -> dict[str, str]:
    return _span(now - _lived(row, now), now, seconds)


def _span(since: datetime, now: datetime, seconds: float) -> dict[str, str]:
    return {"since": written(since), "until": written(now + timedelta(seconds=seconds))}


def _tries_after(before: Mapping[str, Any]) -> int:
    died = before["holder"] is not None  # else the place was left
    stayed = _until(before) - time_of(before["since"]) >= timedelta(seconds=STEADY_S)
    return died + (0 if stayed else int(before["tries"]))


def _new(row: Mapping[str, Any]) -> _Row:
    return {f"new_{name}": row[name] for name in _NEW}


def _digest(holder: str) -> str:
    return hashlib.blake2b(holder.encode(errors="replace"), digest_size=16).hexdigest()


def _lease(row: Mapping[str, Any]) -> Lease:
    return Lease(
        owner=row["owner"],
        place=row["place"],
        holder=row["holder"],
        since=time_of(row["since"]),
        until=_until(row),
        tries=int(row["tries"]),
    )
