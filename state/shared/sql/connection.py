"""One database connection: opened when needed, reopened after a failure, interrupted on request."""

import os
import random
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, NullPool, Transaction, create_engine, event
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from state.shared.errors import CHARACTERS, JournalFault, NotStored, OutcomeUnknown
from state.shared.journal import WITHDRAWN, Gate
from state.shared.sql import dialects
from state.shared.sql.rows import LOCKED

T = TypeVar("T")

LOCK_RETRY_S = (0.004, 0.012)
"""Delay before a process that waits for the write lock asks again, in seconds: random between these at first."""

LOCK_AGING_S = 0.25
"""After waiting this long, in seconds, it asks twice as often; after twice this time, three times as often; and so on."""

LEAST_RETRY_S = 0.001
"""The shortest delay before it asks again, in seconds."""


class DatabaseConnection:
    """A connection that is opened when needed and reopened after a failure.

    Args:
        address: The database URL.
        create: Whether a missing database file may be created, readable by this user alone.
        on_open: Checks a new connection before it is used. If it raises, the connection is closed.
        prepare: Configures a new connection of the driver.
        fair: Whether all processes that wait for the write lock ask for it equally often. Only where no other
            statement waits for a lock: with SQLite's write-ahead log.

    Raises:
        JournalFault: The address is not valid.
    """

    def __init__(
        self,
        address: str | URL,
        *,
        create: bool,
        on_open: "Callable[[DatabaseConnection], None]",
        prepare: Callable[[Any, object], None] = dialects.prepare,
        fair: bool = True,
    ) -> None:
        self._url = dialects.parsed(address)
        self._prepare = prepare
        self._fair = fair
        self.polls_lock = False
        """Whether this process asks for SQLite's write lock at short intervals."""
        self._busy_timeout = True
        """Whether SQLite itself waits for a lock on this connection."""
        self._interrupted = False
        self.lock_until = 0.0
        """Until when the work in progress may wait for SQLite's write lock, on the monotonic clock."""
        self.lock_asked_at = 0.0
        """When SQLite's write lock was last asked for, on the monotonic clock."""
        self.waits_for_lock = False
        """Whether it is waiting for SQLite's write lock."""
        self._may_create = create
        self._on_open = on_open
        self.file = dialects.file_of(self._url)
        """The database file, if SQLite uses one."""
        self._opened_file_id: tuple[int, int] | None = None
        self._engine: Engine | None = None
        self._connection: Connection | None = None
        self._ready = False
        self._writes = False
        self._opens_transactions = True
        self._driver: Any = None
        self._driver_lock = threading.Lock()

    @property
    def name(self) -> str:
        """The database's name for errors, without its password."""
        return dialects.name_of(self._url)

    @property
    def is_sqlite(self) -> bool:
        """Whether it is SQLite."""
        return self._url.get_backend_name() == "sqlite"

    def close(self) -> None:
        """Close the connection; the next transaction reopens it."""
        connection, self._connection, self._ready = self._connection, None, False
        with self._driver_lock:
            self._driver = None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.close()

    def run(
        self,
        work: Callable[[Connection], T],
        *,
        writes: bool,
        committed: Callable[[Connection], bool] | None = None,
    ) -> T:
        """Run work in one transaction.

        A connection that was lost while idle is reopened once.

        Args:
            work: The work. An integrity error is raised as it is.
            writes: Whether it writes. A transaction that only reads waits for no writer.
            committed: Checks whether the transaction was committed if the answer to the commit is lost. It must wait
                for a commit still in progress.

        Raises:
            JournalFault: It was not done, and why.
            OutcomeUnknown: It may have been done; the database does not answer.
        """

        def begin(connection: Connection) -> Transaction:
            self._writes = writes
            return connection.begin()

        return self._run_with_reconnect(begin, work, committed)

    def write(self, work: Callable[[Any], T], committed: Callable[[Connection], bool]) -> T:
        """Run work in one transaction on the driver's own connection.

        SQLAlchemy's overhead exceeds the time SQLite needs for a change.

        Args:
            work: The work; it gets the driver's connection.
            committed: As in ``run``.

        Raises:
            JournalFault: It was not done, and why.
            OutcomeUnknown: It may have been done; the database does not answer.
        """

        def begin(connection: Connection) -> _DriverTransaction:
            self._writes = True
            self._begin_driver()
            return _DriverTransaction(self._driver)

        return self._run_with_reconnect(begin, lambda connection: work(self._driver), committed)

    def write_in_one_step(
        self,
        statement: str,
        values: Sequence[Any],
        gate: Gate | None,
        committed: Callable[[Connection], bool],
    ) -> bool:
        """Run a statement that writes at most one row as a transaction of its own; return whether it wrote it.

        SQLite takes its lock, writes, commits and releases the lock while this process does nothing else with the
        row, so a process without a processor does not hold the lock.

        Args:
            statement: The statement.
            values: Its values.
            gate: Allows withdrawing the row as long as the write lock is not granted.
            committed: As in ``run``.

        Raises:
            NotStored: It was withdrawn.
            JournalFault: It was not done, and why.
            OutcomeUnknown: It may have been done; the database does not answer.
        """
        try:
            self._open()
        except (DBAPIError, sqlite3.Error, OSError) as error:
            self.close()
            raise self._fault(error) from error
        try:
            written = self._ask_for_write_lock(self._driver, statement, values, gate)
        except (sqlite3.Error, UnicodeError) as error:
            if isinstance(error, UnicodeError):
                raise self._fault(error) from error
            self.close()
            locked = dialects.why(error) == LOCKED
            if locked or not self._was_committed(committed, error):
                raise self._fault(error) from error
            return True
        return written == 1

    def _run_with_reconnect(
        self,
        begin: "Callable[[Connection], Transaction | _DriverTransaction]",
        work: Callable[[Connection], T],
        committed: Callable[[Connection], bool] | None,
    ) -> T:
        used_before = self._ready
        try:
            try:
                return self._transaction(begin, work, committed)
            except DBAPIError as error:
                if not (used_before and error.connection_invalidated):
                    raise
                self.close()
            return self._transaction(begin, work, committed)
        except (IntegrityError, OutcomeUnknown):
            raise
        except (DBAPIError, sqlite3.Error, OSError, UnicodeError) as error:
            if not isinstance(error, UnicodeError):
                self.close()
            raise self._fault(error) from error

    def run_outside_transaction(self, *statements: str) -> list[Any]:
        """Run statements that cannot run in a transaction; return the first row of the last one.

        Raises:
            JournalFault: One of them failed.
        """
        try:
            connection = self._open().execution_options(isolation_level="AUTOCOMMIT")
            self._opens_transactions = False
            if isinstance(self._driver, sqlite3.Connection):
                self._set_busy_timeout(self._driver, True)
            try:
                cursors = [connection.exec_driver_sql(statement) for statement in statements]
                return list(cursors[-1].first() or ()) if cursors[-1].returns_rows else []
            finally:
                self._opens_transactions = True
                self.close()
        except (DBAPIError, sqlite3.Error, OSError) as error:
            raise self._fault(error) from error

    def _fault(self, error: Exception) -> JournalFault:
        why = dialects.why(error)
        what = "A text" if why == CHARACTERS else self.name
        return JournalFault(what, why, passing=why in dialects.PASSING)

    def interrupt(self) -> None:
        """Make the operation in progress fail. Called from another thread.

        libpq waits forever for a server that keeps the connection open and does not answer (libpq 18).
        """
        with self._driver_lock:
            driver, self._interrupted = self._driver, True
            if isinstance(driver, sqlite3.Connection):
                driver.interrupt()
            elif driver is not None:
                with suppress(Exception), socket.socket(fileno=os.dup(driver.fileno())) as wire:
                    wire.shutdown(socket.SHUT_RDWR)

    def _transaction(
        self,
        begin: "Callable[[Connection], Transaction | _DriverTransaction]",
        work: Callable[[Connection], T],
        committed: Callable[[Connection], bool] | None,
    ) -> T:
        connection = self._open()
        transaction = begin(connection)
        try:
            result = work(connection)
        except BaseException:
            try:
                transaction.rollback()
            except SQLAlchemyError:
                self.close()
            raise
        try:
            transaction.commit()
        except DBAPIError as error:
            self.close()
            if committed is None or not self._was_committed(committed, error):
                raise self._fault(error) from error
        except BaseException:  # do not leave a transaction open
            self.close()
            raise
        return result

    def _was_committed(self, committed: Callable[[Connection], bool], error: Exception) -> bool:
        """Check on a new connection whether a commit took effect although its answer was lost."""
        try:
            return self.run(committed, writes=False)
        except JournalFault:
            raise OutcomeUnknown from error

    def _open(self) -> Connection:
        if (
            self._connection is not None
            and self._opened_file_id is not None
            and self._opened_file_id != self._file_id()
        ):
            self.close()  # the file was moved or replaced: anything written to it would be lost
        if self._connection is not None:
            return self._connection
        if self.file is not None:
            self._make_file(self.file)
        if self._engine is None:
            self._engine = _engine(self._url)
            event.listen(self._engine, "connect", self._prepare)
            if self.is_sqlite:
                event.listen(self._engine, "begin", lambda connection: self._begin_driver())
        connection = self._connection = self._engine.connect()
        with self._driver_lock:
            self._driver = connection.connection.dbapi_connection
        self._busy_timeout = True
        self.polls_lock = self._fair and _uses_write_ahead_log(self._driver)
        self._opened_file_id = self._file_id()
        try:
            self._on_open(self)
        except BaseException:  # never use a connection that was not fully checked
            self.close()
            raise
        self._ready = True
        return connection

    def _begin_driver(self) -> None:
        # PostgreSQL's driver begins transactions itself.
        driver = self._driver
        if not self._opens_transactions or not isinstance(driver, sqlite3.Connection):
            return
        if not self._writes:
            self._set_busy_timeout(driver, True)
            driver.execute("BEGIN").close()
        elif self.polls_lock:
            self._ask_for_write_lock(driver, "BEGIN IMMEDIATE")
        else:
            driver.execute("BEGIN IMMEDIATE").close()

    def _set_busy_timeout(self, driver: sqlite3.Connection, on: bool) -> None:
        if on is not self._busy_timeout:
            driver.execute(f"PRAGMA busy_timeout={dialects.BUSY_S * 1000 if on else 0:.0f}").close()
            self._busy_timeout = on

    def _ask_for_write_lock(
        self,
        driver: sqlite3.Connection,
        statement: str,
        values: Sequence[Any] = (),
        gate: Gate | None = None,
    ) -> int:
        """Run a statement that needs the write lock, asking for it at short intervals; return its row count.

        SQLite 3.40 backs off to ten attempts a second. Where many processes write, the one that has waited
        longest then loses against those that have just arrived. Here it asks more often than they do.
        """
        self._set_busy_timeout(driver, False)
        began = self.lock_asked_at = time.monotonic()
        until = max(self.lock_until, began + dialects.BUSY_S)
        self._interrupted = False
        try:
            while True:
                if gate is not None and not gate.begin():
                    raise NotStored(WITHDRAWN)
                try:
                    return dialects.execute_at_once(driver, statement, values)
                except sqlite3.OperationalError as error:
                    if dialects.why(error) != LOCKED:
                        raise
                    if gate is not None:
                        gate.reopen()
                    if self._interrupted or self.lock_asked_at >= until:
                        raise
                self.waits_for_lock = True
                age = (self.lock_asked_at - began) / LOCK_AGING_S
                time.sleep(max(random.uniform(*LOCK_RETRY_S) / (1 + age), LEAST_RETRY_S))
                self.lock_asked_at = time.monotonic()
        finally:
            self.waits_for_lock = False

    def _file_id(self) -> tuple[int, int] | None:
        if self.file is None:
            return None
        try:
            found = os.stat(self.file)
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _make_file(self, file: Path) -> None:
        """Create the file and its folders, readable by this user alone."""
        if file.exists():
            return
        if self._opened_file_id is not None:
            raise JournalFault(self.name, dialects.GONE)
        if not self._may_create:
            raise JournalFault(self.name, "there is no such file")
        for folder in reversed([file.parent, *file.parent.parents]):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))


class _DriverTransaction:
    """A transaction of the driver, with the methods of SQLAlchemy's ``Transaction``."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    def commit(self) -> None:
        """Commit the transaction."""
        try:
            dialects.commit(self._driver)
        except self._driver.Error as error:
            raise dialects.as_known(error, self._driver) from error

    def rollback(self) -> None:
        """Roll the transaction back."""
        try:
            self._driver.rollback()
        except self._driver.Error as error:
            raise dialects.as_known(error, self._driver) from error


def _uses_write_ahead_log(driver: Any) -> bool:
    return isinstance(driver, sqlite3.Connection) and driver.execute(
        "PRAGMA journal_mode"
    ).fetchone() == ("wal",)


def _engine(url: URL) -> Engine:
    try:
        return create_engine(
            url,
            poolclass=NullPool,
            connect_args=dialects.driver_settings(url),
            hide_parameters=True,  # logged errors must not contain a user's words
        )
    except ImportError as error:
        raise JournalFault(
            dialects.name_of(url),
            "psycopg is not installed (python -m pip install 'typed-handoffs[postgres]')",
        ) from error
