"""One connection to a database: opened when it is needed, made anew after a failure, broken off on request."""

import os
import random
import socket
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, NullPool, Transaction, create_engine, event
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from state.shared.errors import JournalFault, OutcomeUnknown
from state.shared.sql import dialects

T = TypeVar("T")

ASKS_S = (0.004, 0.012)
"""After how long a process that waits to write asks again, in seconds: at random between these."""


class Link:
    """A connection that is made when it is needed, and made anew after a failure.

    Args:
        address: The URL, as people write it.
        create: Whether a database file that is not there may be made, for nobody else to read.
        settle: Looks at what a fresh connection finds, before anything else is done with it. What it
            raises closes the connection.
        prepare: Sets a fresh connection of the driver up.
        fair: Whether each of many processes that wait to write asks as often as the others. Only where nothing
            but the beginning of a transaction waits for a lock: with SQLite's write-ahead file.

    Raises:
        JournalFault: The address is none.
    """

    def __init__(
        self,
        address: str | URL,
        *,
        create: bool,
        settle: "Callable[[Link], None]",
        prepare: Callable[[Any, object], None] = dialects.prepare,
        fair: bool = True,
    ) -> None:
        self._url = dialects.parsed(address)
        self._prepare = prepare
        self._fair = fair
        self._in_turn = False
        self._patient = True
        """Whether SQLite itself waits for a lock on this connection."""
        self._broken_off = False
        self._may_create = create
        self._settle = settle
        self.file = dialects.file_of(self._url)
        """The file of a SQLite database that lies in one."""
        self._inode: tuple[int, int] | None = None
        self._engine: Engine | None = None
        self._connection: Connection | None = None
        self._settled = False
        self._writes = False
        self._begins = True
        self._driver: Any = None
        self._breaking = threading.Lock()

    @property
    def name(self) -> str:
        """The database as an error names it, without its password."""
        return dialects.name_of(self._url)

    @property
    def is_sqlite(self) -> bool:
        """Whether it is SQLite."""
        return self._url.get_backend_name() == "sqlite"

    def close(self) -> None:
        """Let go of the connection; the next transaction makes it again."""
        connection, self._connection, self._settled = self._connection, None, False
        with self._breaking:
            self._driver = None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.close()

    def run(
        self,
        work: Callable[[Connection], T],
        *,
        writes: bool,
        happened: Callable[[Connection], bool] | None = None,
    ) -> T:
        """Do some work in one transaction.

        A connection that was lost while nobody used it is made anew, once.

        Args:
            work: What to do. A broken constraint is raised as it is.
            writes: Whether it changes anything. Who only reads waits for no writer.
            happened: Finds out, when the answer to the commit was lost, whether it was carried out. It
                has to wait for a transaction that is still being committed.

        Raises:
            JournalFault: It was not done, and why.
            OutcomeUnknown: It may have been done, and the database does not answer.
        """

        def begin(connection: Connection) -> Transaction:
            self._writes = writes
            return connection.begin()

        return self._tried(begin, work, happened)

    def write(self, work: Callable[[Any], T], happened: Callable[[Connection], bool]) -> T:
        """Do some work in one transaction, by the shortest way to the driver.

        SQLAlchemy's way takes longer than what SQLite has to do for a change.

        Args:
            work: What to do, with the driver's own connection.
            happened: As in ``run``.

        Raises:
            JournalFault: It was not done, and why.
            OutcomeUnknown: It may have been done, and the database does not answer.
        """

        def begin(connection: Connection) -> _Direct:
            self._writes = True
            self._begin_driver()
            return _Direct(self._driver)

        return self._tried(begin, lambda connection: work(self._driver), happened)

    def _tried(
        self,
        begin: "Callable[[Connection], Transaction | _Direct]",
        work: Callable[[Connection], T],
        happened: Callable[[Connection], bool] | None,
    ) -> T:
        used_before = self._settled
        try:
            try:
                return self._transaction(begin, work, happened)
            except DBAPIError as error:
                if not (used_before and error.connection_invalidated):
                    raise
                self.close()
            return self._transaction(begin, work, happened)
        except (IntegrityError, OutcomeUnknown):
            raise
        except (DBAPIError, sqlite3.Error, OSError, UnicodeError) as error:
            if not isinstance(error, UnicodeError):
                self.close()
            raise self._fault(error) from error

    def outside(self, *statements: str) -> list[Any]:
        """Carry out statements that allow no transaction around them; returns the last one's first row.

        Raises:
            JournalFault: One of them failed.
        """
        try:
            connection = self._open().execution_options(isolation_level="AUTOCOMMIT")
            self._begins = False
            if isinstance(self._driver, sqlite3.Connection):
                self._wait_itself(self._driver, True)
            try:
                cursors = [connection.exec_driver_sql(statement) for statement in statements]
                return list(cursors[-1].first() or ()) if cursors[-1].returns_rows else []
            finally:
                self._begins = True
                self.close()
        except (DBAPIError, sqlite3.Error, OSError) as error:
            raise self._fault(error) from error

    def _fault(self, error: Exception) -> JournalFault:
        why = dialects.why(error)
        return JournalFault(self.name, why, passing=why in dialects.PASSING)

    def break_off(self) -> None:
        """Make what is under way fail; called from another thread.

        libpq waits for ever for a server that keeps the connection and says nothing (libpq 18).
        """
        with self._breaking:
            driver, self._broken_off = self._driver, True
            if isinstance(driver, sqlite3.Connection):
                driver.interrupt()
            elif driver is not None:
                with suppress(Exception), socket.socket(fileno=os.dup(driver.fileno())) as wire:
                    wire.shutdown(socket.SHUT_RDWR)

    def _transaction(
        self,
        begin: "Callable[[Connection], Transaction | _Direct]",
        work: Callable[[Connection], T],
        happened: Callable[[Connection], bool] | None,
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
            if happened is None or not self._happened(happened, error):
                raise self._fault(error) from error
        except BaseException:  # no transaction may stay open for the next one to stumble over
            self.close()
            raise
        return result

    def _happened(self, happened: Callable[[Connection], bool], error: DBAPIError) -> bool:
        """Look on a new connection whether a commit whose answer was lost was carried out."""
        try:
            return self.run(happened, writes=False)
        except JournalFault:
            raise OutcomeUnknown from error

    def _open(self) -> Connection:
        if self._connection is not None and self._inode is not None and self._inode != self._seen():
            self.close()  # the file was moved away or replaced: what is written there would be lost
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
        with self._breaking:
            self._driver = connection.connection.dbapi_connection
        self._patient, self._in_turn = True, self._fair and _has_write_ahead_file(self._driver)
        self._inode = self._seen()
        try:
            self._settle(self)
        except BaseException:  # nobody may use what was not looked at to the end
            self.close()
            raise
        self._settled = True
        return connection

    def _begin_driver(self) -> None:
        # PostgreSQL's driver begins by itself.
        driver = self._driver
        if not self._begins or not isinstance(driver, sqlite3.Connection):
            return
        if not self._writes:
            self._wait_itself(driver, True)
            driver.execute("BEGIN").close()
        elif self._in_turn:
            self._wait_itself(driver, False)
            self._begin_in_turn(driver)
        else:
            driver.execute("BEGIN IMMEDIATE").close()

    def _wait_itself(self, driver: sqlite3.Connection, patient: bool) -> None:
        if patient is not self._patient:
            driver.execute(f"PRAGMA busy_timeout={dialects.BUSY_S * 1000 if patient else 0:.0f}")
            self._patient = patient

    def _begin_in_turn(self, driver: sqlite3.Connection) -> None:
        """Begin a transaction that writes, and ask for the lock at short intervals.

        SQLite 3.40 asks ever more seldom, down to ten times a second: where many processes write, one that has
        waited for long comes off worst against those that have just come.
        """
        until = time.monotonic() + dialects.BUSY_S
        self._broken_off = False
        while True:
            try:
                driver.execute("BEGIN IMMEDIATE").close()
                return
            except sqlite3.OperationalError as error:
                over = self._broken_off or time.monotonic() >= until
                if over or dialects.why(error) != dialects.LOCKED:
                    raise
            time.sleep(random.uniform(*ASKS_S))

    def _seen(self) -> tuple[int, int] | None:
        if self.file is None:
            return None
        try:
            found = os.stat(self.file)
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _make_file(self, file: Path) -> None:
        """Make the file, and its folders, for nobody else to read."""
        if file.exists():
            return
        if self._inode is not None:
            raise JournalFault(self.name, "the database file is gone")
        if not self._may_create:
            raise JournalFault(self.name, "there is no such file")
        for folder in reversed([file.parent, *file.parent.parents]):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))


class _Direct:
    """A transaction of the driver's own, as SQLAlchemy's ``Transaction`` ends."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    def commit(self) -> None:
        """Commit it."""
        try:
            dialects.commit(self._driver)
        except self._driver.Error as error:
            raise dialects.as_known(error, self._driver) from error

    def rollback(self) -> None:
        """Undo it."""
        try:
            self._driver.rollback()
        except self._driver.Error as error:
            raise dialects.as_known(error, self._driver) from error


def _has_write_ahead_file(driver: Any) -> bool:
    return isinstance(driver, sqlite3.Connection) and driver.execute(
        "PRAGMA journal_mode"
    ).fetchone() == ("wal",)


def _engine(url: URL) -> Engine:
    try:
        return create_engine(
            url,
            poolclass=NullPool,
            connect_args=dialects.driver_settings(url),
            hide_parameters=True,  # an error that is logged must not tell what a guest said
        )
    except ImportError as error:
        raise JournalFault(
            dialects.name_of(url),
            "its driver is not installed (python -m pip install 'psycopg[binary]')",
        ) from error
