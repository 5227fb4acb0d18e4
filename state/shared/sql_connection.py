"""One connection to a database: how it is opened and prepared, and what is wrong when it fails.

Imported in the journal's own thread only: SQLAlchemy takes its time.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError

from state.shared.errors import JournalFault

BUSY_S = 2.0
"""How long another process may keep a SQLite database locked, in seconds."""


_NO_ADDRESS = (
    "its address has to be sqlite:///path, sqlite:////absolute/path or postgresql://user@host/name"
)
_WHY = {
    "SQLITE_BUSY": "another program has locked the database",
    "SQLITE_LOCKED": "another program has locked the database",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "the database can only be read",
    "SQLITE_CANTOPEN": "the database file cannot be opened",
    "SQLITE_NOTADB": "the file is no database",
    "SQLITE_CORRUPT": "the database file is damaged",
    "SQLITE_IOERR": "the disk does not answer",
    "SQLITE_PERM": "this user may not open the database",
    "SQLITE_ERROR": "the database does not hold what was expected",
}


class Link:
    """A connection that is made when it is needed, and made anew after a failure.

    Args:
        address: The URL, as people write it.
        create: Whether a database file that is not there may be made, for nobody else to read.
        settle: Looks at what a fresh connection finds, before anything else is done with it. What it
            raises closes the connection.

    Raises:
        JournalFault: The address is none.
    """

    def __init__(self, address: str, *, create: bool, settle: "Callable[[Link], None]") -> None:
        self._url = _url(address)
        self._may_create = create
        self._settle = settle
        self._file = _file(self._url)
        self._inode: tuple[int, int] | None = None
        self._engine: Engine | None = None
        self._connection: Connection | None = None
        self._writes = False

    @property
    def name(self) -> str:
        """The database as an error names it, without its password."""
        return _name(self._url)

    def close(self) -> None:
        """Let go of the connection; the next transaction makes it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.close()

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[Connection]:
        """One transaction; what stops it becomes a fault that says why, but for a broken constraint.

        Args:
            writes: Whether it changes anything. Who only reads waits for no writer.
        """
        try:
            connection = self._open()
            self._writes = writes
            with connection.begin():
                yield connection
        except IntegrityError:
            raise
        except (DBAPIError, sqlite3.Error, OSError) as error:
            self.close()
            raise JournalFault(self.name, _why(error)) from error

    def _open(self) -> Connection:
        if self._connection is not None and self._inode is not None and self._inode != self._seen():
            self.close()  # the file was moved away or replaced: what is written there would be lost
        if self._connection is not None:
            return self._connection
        if self._file is not None:
            self._make_file(self._file)
        if self._engine is None:
            self._engine = _engine(self._url)
            if self._engine.name == "sqlite":
                event.listen(self._engine, "connect", _prepare_sqlite)
                event.listen(self._engine, "begin", self._begin_sqlite)
        connection = self._connection = self._engine.connect()
        self._inode = self._seen()
        try:
            self._settle(self)
        except JournalFault:
            self.close()
            raise
        return connection

    def _begin_sqlite(self, connection: Connection) -> None:
        # To the driver itself: this is on the way of every commit.
        driver = connection.connection.dbapi_connection
        if isinstance(driver, sqlite3.Connection):
            driver.execute("BEGIN IMMEDIATE" if self._writes else "BEGIN").close()

    def _seen(self) -> tuple[int, int] | None:
        if self._file is None:
            return None
        try:
            found = self._file.stat()
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


def _engine(url: URL) -> Engine:
    sqlite = url.get_backend_name() == "sqlite"
    try:
        return create_engine(
            url, poolclass=NullPool, connect_args={"timeout": BUSY_S} if sqlite else {}
        )
    except ImportError as error:
        raise JournalFault(
            _name(url), "its driver is not installed (python -m pip install 'psycopg[binary]')"
        ) from error


def _prepare_sqlite(connection: sqlite3.Connection, record: object) -> None:
    # Transactions are ours to begin: the driver would start them late and without the lock.
    connection.isolation_level = None
    # Damaged text must come as far as its checksum.
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    with suppress(sqlite3.OperationalError):  # a database that is only read may keep its mode
        connection.execute("PRAGMA journal_mode=WAL").close()
    connection.execute("PRAGMA synchronous=FULL").close()


def _name(url: URL) -> str:
    return f"The database {_file(url) or url.render_as_string(hide_password=True)}"


def _url(address: str) -> URL:
    try:
        url = make_url(address)
    except ArgumentError:
        raise JournalFault("The database", _NO_ADDRESS) from None
    if url.get_backend_name() == "sqlite" and not url.host:
        return url
    if url.drivername in ("postgres", "postgresql"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "postgresql":
        return url
    raise JournalFault("The database", _NO_ADDRESS)


def _file(url: URL) -> Path | None:
    """The file of a SQLite database that lies in one."""
    name = url.database or ""
    if url.get_backend_name() != "sqlite" or not name or name.startswith((":memory:", "file:")):
        return None
    return Path(name)


def _why(error: DBAPIError | sqlite3.Error | OSError) -> str:
    """Say in a few words what is wrong, without the statement and the values in it."""
    cause = getattr(error, "orig", error)
    if isinstance(cause, OSError) and cause.strerror:
        return f"the database file cannot be used ({cause.strerror.lower()})"
    code = getattr(cause, "sqlite_errorname", None) or ""
    return next(
        (why for begins, why in _WHY.items() if code.startswith(begins)),
        "the database does not answer",
    )
