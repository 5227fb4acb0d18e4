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
from sqlalchemy.exc import IntegrityError, ResourceClosedError
from sqlalchemy.schema import CreateTable

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
_AS_READ = (
    _HERE
    & leases.c.holder.is_not_distinct_from(bindparam("old_holder"))
    & (leases.c.until == bindparam("old_until"))
)
_NEW: Mapping[str, Any] = {
    name: bindparam(f"new_{name}") for name in ("holder", "since", "until", "tries", "lasts")
}
# Built once: building a statement takes longer than carrying it out.
_AT = select(leases).where(_HERE)
_BEGIN = insert(leases)
_CHANGE = update(leases).where(_AS_READ).values(dict(_NEW))
_RENEW = update(leases).where(_MINE).values(dict(_NEW))
_END = delete(leases).where(_AS_READ)
_CLOSE = delete(leases).where(_MINE)
_ITS = (withdrawn.c.owner == bindparam("of_owner")) & (withdrawn.c.holder == bindparam("digest"))
_IS_WITHDRAWN = select(withdrawn.c.at).where(_ITS)
_WITHDRAW = insert(withdrawn)
_READMIT = delete(withdrawn).where(_ITS)

_Row = dict[str, Any]


class _Changed(Exception):
    """Somebody else changed a lease after it was read: look again."""


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
        return Link(
            self._address,
            create=True,
            settle=_settle,
            prepare=dialects.prepare_leases,
            fair=False,
        )

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
            found = self._read(connection, place)
            now = self._now()
            row = {"owner": self._owner, "place": place, "holder": holder, "lasts": seconds}
            if found is None:
                row |= _span(now, now, seconds) | {"tries": tries or 0}
                connection.execute(_BEGIN, row)
            elif found["holder"] == holder:
                row |= _renewed(found, now, seconds) | {"tries": found["tries"]}
                _change(connection, found, row)
            elif found["holder"] in (None, supersedes) or _until(found) <= now:
                row |= _span(now, now, seconds)
                row["tries"] = _tries_after(found) if tries is None else tries
                _change(connection, found, row)
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
        known = self._held.get((place, holder))

        def renew(connection: Connection) -> _Row | None:
            last = known or self._read(connection, place)
            if last is None:
                return None
            row = last | _renewed(last, self._now(), seconds) | {"holder": holder, "lasts": seconds}
            if connection.execute(_RENEW, mine | _new(row)).rowcount:
                return row
            if known is None or self._read(connection, place) is not None:
                return None
            if self._is_withdrawn(connection, holder):
                return None
            connection.execute(_BEGIN, row)
            return row

        row = self._run(renew)
        if row is None:
            self._held.pop((place, holder), None)
            raise Lost
        if known is not None:
            self._held[place, holder] = row

    def check(self, place: str, holder: str) -> None:
        """See that a place is still a holder's.

        Raises:
            Lost: It is not.
        """

        def mine(connection: Connection) -> bool:
            found = self._read(connection, place)
            if found is not None:
                return bool(found["holder"] == holder)
            known = (place, holder) in self._held
            return known and not self._is_withdrawn(connection, holder)

        if not self._run(mine):
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
            found = self._read(connection, place)
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
                found = self._read(connection, place, owner)
                if found is None:
                    continue
                if holder is None or found["holder"] in (None, holder):
                    # Before it is gone: in between its holder would begin it anew.
                    self._withdraw(connection, owner, found["holder"])
                    if not connection.execute(_END, _as_read(found)).rowcount:
                        raise _Changed

        self._run(end)

    # -- looking -----------------------------------------------------------------------------------

    def at(self, owner: str | None, place: str) -> Lease | None:
        """Read who holds a place, or who left it."""
        found = self._run(lambda connection: self._read(connection, place, owner))
        return None if found is None else _lease(found)

    def every(self) -> tuple[list[Lease], datetime]:
        """Read all leases; returns the present time with them."""

        def every(connection: Connection) -> tuple[list[Lease], datetime]:
            rows = connection.execute(self._owned(select(leases))).mappings().all()
            now = self._now()
            return [_lease(self._bounded(connection, row, now)) for row in rows], now

        return self._run(every)

    def matching(self, look: Callable[[str], bool]) -> list[tuple[str, str]]:
        """List the leases with a text that a function says yes to, by owner and place."""

        def matching(connection: Connection) -> list[tuple[str, str]]:
            rows = connection.execute(self._owned(select(leases))).mappings().all()
            return [
                (row["owner"], row["place"])
                for row in rows
                if any(look(text) for text in row.values() if isinstance(text, str))
            ]

        return self._run(matching)

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
            self._run(lambda connection: None)  # whatever is there can be used then
            self.link.outside("PRAGMA temp_store = MEMORY", "VACUUM")
            return
        tables = (f"VACUUM (FULL) {table.name}" for table in (leases, withdrawn))
        self.link.outside("SET statement_timeout = 0", *tables)

    def files(self) -> list[Path]:
        """Name the files that are there, with nothing on its way into them."""
        self.close()
        return [path for path in self._files() if path.exists()]

    # -- the rows ----------------------------------------------------------------------------------

    def _read(self, connection: Connection, place: str, owner: str | None = None) -> _Row | None:
        here = {"of_owner": owner or self._owner, "at_place": place}
        row = connection.execute(_AT, here).mappings().first()
        return None if row is None else self._bounded(connection, row, self._now())

    def _bounded(self, connection: Connection, found: RowMapping, now: datetime) -> _Row:
        """Give a lease no more time than it was renewed for, as it has when the clock was set back since."""
        row = dict(found)
        latest = _latest(row, now)
        if _until(row) <= latest:
            return row
        bounded = row | _renewed(row, now, (latest - now).total_seconds())
        _change(connection, row, bounded)
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

    def _run(self, work: Callable[[Connection], T]) -> T:
        """Do some work, if need be in a file that is made anew.

        Each statement is for itself, and changes a lease only if it is as it was read. So with SQLite the file is
        locked while SQLite is at work and no longer. On a busy machine a transaction that comes back to Python
        in the middle keeps everybody else waiting until its thread is given the processor again.
        """

        def each_for_itself(connection: Connection) -> T:
            _commit_each(connection)
            return work(connection)

        for attempt in range(TRIES):
            used = self._inode()
            try:
                return self.link.run(each_for_itself, writes=False)
            except (IntegrityError, _Changed):  # somebody else was faster
                continue
            except (
                ResourceClosedError
            ):  # another process made the file anew while this one opened it
                self.link.close()
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

    def settle(connection: Connection) -> None:
        _commit_each(connection)
        found = inspect(connection)
        for table in lease_metadata.sorted_tables:
            if not found.has_table(table.name):
                connection.execute(CreateTable(table, if_not_exists=True))
        if link.is_sqlite:
            said = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
            if said != "ok":
                raise JournalFault(link.name, "the database file is damaged")

    link.run(settle, writes=False)


def _commit_each(connection: Connection) -> None:
    """End a transaction of SQLite that has no lock yet: from here on each statement commits itself."""
    driver = connection.connection.dbapi_connection
    if isinstance(driver, sqlite3.Connection):
        driver.commit()


def _change(connection: Connection, found: Mapping[str, Any], row: Mapping[str, Any]) -> None:
    """Change a lease that is as it was read."""
    if not connection.execute(_CHANGE, _as_read(found) | _new(row)).rowcount:
        raise _Changed


def _as_read(found: Mapping[str, Any]) -> _Row:
    return {
        "of_owner": found["owner"],
        "at_place": found["place"],
        "old_holder": found["holder"],
        "old_until": found["until"],
    }


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
