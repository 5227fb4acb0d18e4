"""The lease store: the holder of each place, and the expiry of the lease.

With SQLite it is a file beside the states' database, on a server two tables with a connection of their own. It need
not be durable: commits do not wait for the disk, and an unusable file is deleted and recreated. A holder whose lease
is missing takes it again with its next renewal. The states' fences alone protect against double writes.
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

from state.shared.errors import JournalFault, LeaseHeld, LeaseLost
from state.shared.lease import Lease
from state.shared.sql import dialects
from state.shared.sql.connection import DatabaseConnection
from state.shared.sql.places import time_of
from state.shared.sql.tables import lease_metadata, leases, withdrawn, written

T = TypeVar("T")

logger = logging.getLogger(__name__)

STEADY_S = 60.0
"""A holder that held a place for at least this long, in seconds, does not count as a failed try."""

TRIES = 5

ENDING = ".leases"
"""The suffix of the lease file's name, after the name of the database."""

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
# Built once: building a statement takes longer than executing it.
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
    """The lease was changed by another process after it was read: retry."""


class Leases:
    """The leases of an owner.

    Args:
        address: The address of the states' database.
        owner: The owner; ``None`` reads all leases.
        now: Returns the present time, aware. Called after the row was read.
    """

    def __init__(self, address: str, owner: str | None, now: Callable[[], datetime]) -> None:
        self._address = _lease_address(dialects.parsed(address))
        self._owner = owner
        self._now = now
        self._held: dict[tuple[str, str], _Row] = {}
        """The leases taken here by place and holder, as last renewed."""
        self.db = self._new_connection()

    def _new_connection(self) -> DatabaseConnection:
        return DatabaseConnection(
            self._address,
            create=True,
            on_open=_ensure_tables,
            prepare=dialects.prepare_leases,
            fair=False,
        )

    def close(self) -> None:
        """Close the connection; the next request reopens it."""
        self.db.close()

    # -- taking and renewing -----------------------------------------------------------------------

    def take(
        self,
        place: str,
        holder: str,
        seconds: float,
        supersedes: str | None,
        tries: int | None = None,
    ) -> Lease:
        """Take the lease unless another holder's has not expired."""

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
            raise LeaseHeld
        self._held[place, holder] = row
        return _lease(row)

    def renew(self, place: str, holder: str, seconds: float) -> None:
        """Renew a lease.

        A lease that is missing, although it was not ended, is recreated by its holder.
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
            raise LeaseLost
        if known is not None:
            self._held[place, holder] = row

    def check(self, place: str, holder: str) -> None:
        """Check that a holder still holds a place.

        Raises:
            LeaseLost: It does not.
        """

        def mine(connection: Connection) -> bool:
            found = self._read(connection, place)
            if found is not None:
                return bool(found["holder"] == holder)
            known = (place, holder) in self._held
            return known and not self._is_withdrawn(connection, holder)

        if not self._run(mine):
            raise LeaseLost

    def leave(self, place: str, holder: str, *, done: bool) -> None:
        """Release a lease; a no-op if the caller no longer holds it.

        Args:
            place: The place.
            holder: The holder.
            done: Whether to delete the lease, so that nothing is known of the place.
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
        """End other holders' leases.

        Args:
            there: The places by owner and name.
            holder: End only this holder's leases and released ones; ``None`` ends every holder's.
        """

        def end(connection: Connection) -> None:
            for owner, place in there:
                found = self._read(connection, place, owner)
                if found is None:
                    continue
                if holder is None or found["holder"] in (None, holder):
                    # Before the row is deleted: otherwise its holder could recreate it in between.
                    self._withdraw(connection, owner, found["holder"])
                    if not connection.execute(_END, _as_read(found)).rowcount:
                        raise _Changed

        self._run(end)

    # -- reading -----------------------------------------------------------------------------------

    def at(self, owner: str | None, place: str) -> Lease | None:
        """Return a place's lease, which may be released or expired."""
        found = self._run(lambda connection: self._read(connection, place, owner))
        return None if found is None else _lease(found)

    def all(self) -> tuple[list[Lease], datetime]:
        """Return all leases and the present time."""

        def all(connection: Connection) -> tuple[list[Lease], datetime]:
            rows = connection.execute(self._owned(select(leases))).mappings().all()
            now = self._now()
            return [_lease(self._bounded(connection, row, now)) for row in rows], now

        return self._run(all)

    def matching(self, matches: Callable[[str], bool]) -> list[tuple[str, str]]:
        """List the leases with any text that matches, by owner and place."""

        def matching(connection: Connection) -> list[tuple[str, str]]:
            rows = connection.execute(self._owned(select(leases))).mappings().all()
            return [
                (row["owner"], row["place"])
                for row in rows
                if any(matches(text) for text in row.values() if isinstance(text, str))
            ]

        return self._run(matching)

    def try_write(self) -> None:
        """Write to the store and undo it."""
        its = {"of_owner": "", "digest": ""}
        row = {"owner": "", "holder": "", "at": ""}

        def try_write(connection: Connection) -> None:
            connection.execute(_READMIT, its)
            connection.execute(_WITHDRAW, row)
            connection.execute(_READMIT, its)

        self._run(try_write)

    # -- deleting ----------------------------------------------------------------------------------

    def drop(self, before: datetime) -> set[tuple[str, str]]:
        """Delete leases that expired before a time; return the remaining places by owner and name."""

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
        """Remove deleted data from the store's file or tables."""
        if self.db.is_sqlite:
            self._run(lambda connection: None)  # afterwards the file is usable
            self.db.run_outside_transaction("PRAGMA temp_store = MEMORY", "VACUUM")
            return
        tables = (f"VACUUM (FULL) {table.name}" for table in (leases, withdrawn))
        self.db.run_outside_transaction("SET statement_timeout = 0", *tables)

    def files(self) -> list[Path]:
        """List the existing files, with no write in progress."""
        self.close()
        return [path for path in self._files() if path.exists()]

    # -- the rows ----------------------------------------------------------------------------------

    def _read(self, connection: Connection, place: str, owner: str | None = None) -> _Row | None:
        here = {"of_owner": owner or self._owner, "at_place": place}
        row = connection.execute(_AT, here).mappings().first()
        return None if row is None else self._bounded(connection, row, self._now())

    def _bounded(self, connection: Connection, found: RowMapping, now: datetime) -> _Row:
        """Shorten a lease to the duration it was renewed for: it is longer if the clock was set back since."""
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
        """Run work; recreate an unusable file if needed.

        Each statement commits by itself and changes a lease only if it is as it was read. So the SQLite file is
        locked only while SQLite runs. On a busy machine a transaction that returns to Python in between would block
        all others until its thread is scheduled again.
        """

        def autocommitted(connection: Connection) -> T:
            _commit_each(connection)
            return work(connection)

        for attempt in range(TRIES):
            used = self._inode()
            try:
                return self.db.run(autocommitted, writes=False)
            except (IntegrityError, _Changed):  # another process was faster
                continue
            except ResourceClosedError:  # another process recreated the file meanwhile
                self.db.close()
            except JournalFault as fault:
                if attempt == TRIES - 1 or not self._is_unusable(fault):
                    raise
                self._recreate(fault, used)
        raise JournalFault(self.db.name, "too many others are writing")

    def _is_unusable(self, fault: JournalFault) -> bool:
        return self.db.file is not None and fault.why in dialects.FILE_FAULTS

    def _recreate(self, fault: JournalFault, used: tuple[int, int] | None) -> None:
        """Delete the file, so that the next request recreates it."""
        self.db.close()
        if self._inode() == used:  # else another process was faster; keep its file
            with suppress(OSError):
                for path in self._files():
                    path.unlink(missing_ok=True)
                logger.warning("recreated the lease store: %s", fault.message)
        self.db = self._new_connection()

    def _files(self) -> list[Path]:
        file = self.db.file
        return [] if file is None else [Path(f"{file}{end}") for end in ("-journal", "")]

    def _inode(self) -> tuple[int, int] | None:
        if self.db.file is None:
            return None
        try:
            found = self.db.file.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino


def _lease_address(url: URL) -> URL:
    """Return the address of a database's lease store."""
    file = dialects.file_of(url)
    if file is not None:
        return url.set(database=f"{file}{ENDING}")
    return url.set(database=None) if url.get_backend_name() == "sqlite" else url


def _ensure_tables(db: DatabaseConnection) -> None:
    """Find or create the store's tables. A SQLite file is checked as a whole: a power cut may have damaged it."""

    def ensure_tables(connection: Connection) -> None:
        _commit_each(connection)
        found = inspect(connection)
        for table in lease_metadata.sorted_tables:
            if not found.has_table(table.name):
                connection.execute(CreateTable(table, if_not_exists=True))
        if db.is_sqlite:
            result = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
            if result != "ok":
                raise JournalFault(db.name, "the database file is damaged")

    db.run(ensure_tables, writes=False)


def _commit_each(connection: Connection) -> None:
    """End SQLite's transaction before it takes a lock: from here on each statement commits itself."""
    driver = connection.connection.dbapi_connection
    if isinstance(driver, sqlite3.Connection):
        driver.commit()


def _change(connection: Connection, found: Mapping[str, Any], row: Mapping[str, Any]) -> None:
    """Change a lease, if it is as it was read."""
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
    """Return the latest possible expiry of a lease that was renewed by this clock."""
    return now + timedelta(seconds=row["lasts"] if row["holder"] is not None else 0.0)


def _lived(row: Mapping[str, Any], now: datetime) -> timedelta:
    """Return how long a holder has held a place; between two renewals, at most one renewal's duration counts."""
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
    died = before["holder"] is not None  # else the lease was released
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
