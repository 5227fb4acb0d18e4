"""The differences between SQLite and PostgreSQL: connection setup and error messages."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from state.shared.errors import CHARACTERS, JournalFault
from state.shared.sql.rows import LOCKED, UNANSWERED

BUSY_S = 2.0
"""How long to wait for a lock held by another program, in seconds; for SQLite's write lock see ``thread.LOCK_S``."""

STATEMENT_S = 4.0
"""PostgreSQL's timeout for one statement, and for an idle transaction, in seconds."""

CONNECT_S = 3
"""The timeout for connecting to a PostgreSQL server, in seconds."""

NOT_EXPECTED = "the database does not hold what was expected"

_NO_ADDRESS = (
    "its address has to be sqlite:///file.db, sqlite:////absolute/file.db or"
    " postgresql://user:password@host/name"
)
_SQLITE_WHY = {
    "SQLITE_BUSY": LOCKED,
    "SQLITE_LOCKED": LOCKED,
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "the database can only be read",
    "SQLITE_CANTOPEN": "the database file cannot be opened",
    "SQLITE_NOTADB": "the file is no database",
    "SQLITE_CORRUPT": "the database file is damaged",
    "SQLITE_IOERR": "the disk does not answer",
    "SQLITE_PERM": "this user may not open the database",
    "SQLITE_INTERRUPT": "the database took too long",
    "SQLITE_ERROR": NOT_EXPECTED,
    "SQLITE_CONSTRAINT": NOT_EXPECTED,
}
# PostgreSQL's SQLSTATE codes (appendix A of its manual); the longest matching prefix applies.
_POSTGRESQL_WHY = {
    "08": "the connection to the database broke",
    "22021": CHARACTERS,
    "22P05": CHARACTERS,
    "23": NOT_EXPECTED,
    "25P": "the connection to the database broke",
    "25006": "the database can only be read",
    "28": "the database did not accept the user or the password",
    "3D000": "there is no such database on the server",
    "40": LOCKED,
    "42501": "this user may not use the database",
    "42": NOT_EXPECTED,
    "53100": "the disk is full",
    "53300": "the database server takes no more connections",
    "55P03": LOCKED,
    "57014": "the database took too long",
    "57P03": "the database server is starting or stopping",
    "57P": "the connection to the database broke",
    "58030": "the disk does not answer",
    "XX": "the database is damaged",
}

PASSING = frozenset(
    {LOCKED, UNANSWERED} | {_POSTGRESQL_WHY[code] for code in ("08", "53300", "57014", "57P03")}
)
"""Faults that often pass within seconds: another program holds a lock, or a server restarts."""

GONE = "the database file is gone"

FILE_FAULTS = frozenset(
    {GONE}
    | {
        _SQLITE_WHY[f"SQLITE_{name}"]
        for name in ("CORRUPT", "NOTADB", "IOERR", "ERROR", "READONLY", "CANTOPEN", "PERM")
    }
)
"""Faults of a SQLite file that a new file does not have. A request alone causes none of them."""

# libpq's messages when there is no connection yet and hence no error code (libpq 18, English).
_NOT_CONNECTED = {
    "password authentication failed": _POSTGRESQL_WHY["28"],
    "no password supplied": _POSTGRESQL_WHY["28"],
    "no pg_hba.conf entry": _POSTGRESQL_WHY["28"],
    'FATAL:  role "': _POSTGRESQL_WHY["28"],
    'FATAL:  database "': _POSTGRESQL_WHY["3D000"],
    "too many clients": _POSTGRESQL_WHY["53300"],
    "remaining connection slots": _POSTGRESQL_WHY["53300"],
    "too many connections for": _POSTGRESQL_WHY["53300"],
    "the database system is": _POSTGRESQL_WHY["57P03"],
    "could not translate host name": "there is no machine of the database server's name",
    "failed to resolve host": "there is no machine of the database server's name",
}


def parsed(address: str | URL) -> URL:
    """Parse a database URL.

    Raises:
        JournalFault: It is not valid.
    """
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):  # such as a port that is not a number
        raise JournalFault("The database", _NO_ADDRESS) from None
    if url.get_backend_name() == "sqlite" and not url.host:
        return url
    if url.drivername in ("postgres", "postgresql"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername == "postgresql+psycopg":
        return url
    raise JournalFault("The database", _NO_ADDRESS)


def file_of(url: URL) -> Path | None:
    """Return the database file, if SQLite uses one."""
    name = url.database or ""
    if url.get_backend_name() != "sqlite" or not name or name.startswith((":memory:", "file:")):
        return None
    return Path(name)


def name_of(url: URL) -> str:
    """Return a database's name for errors, without its password."""
    if url.get_backend_name() == "sqlite":
        return f"The database {file_of(url) or url.database or 'in memory'}"
    # An unescaped @ in a password leaves part of it before the host.
    host = (url.host or "").rpartition("@")[2]
    port = f":{url.port}" if url.port else ""
    return f"The database postgresql://{host}{port}/{url.database or ''}"


def driver_settings(url: URL) -> dict[str, Any]:
    """Return the driver's connection settings; those in the URL take precedence."""
    if url.get_backend_name() == "sqlite":
        return {"timeout": BUSY_S}
    # The kernel detects a server that vanished, instead of waiting for it.
    wanted = {
        "connect_timeout": CONNECT_S,
        "keepalives_idle": 10,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": int(STATEMENT_S * 1000),
    }
    return {name: value for name, value in wanted.items() if name not in url.query}


def prepare(connection: Any, record: object) -> None:
    """Configure a new driver connection: a listener for SQLAlchemy's ``connect`` event."""
    if isinstance(connection, sqlite3.Connection):
        _prepare_sqlite(connection)
    else:
        _prepare_postgresql(connection)


def _take_over_transactions(connection: sqlite3.Connection) -> None:
    # We begin transactions ourselves: the driver would begin them late and without the lock.
    connection.isolation_level = None
    # Damaged text must be read, so that the checksum detects it.
    connection.text_factory = lambda raw: raw.decode(errors="replace")


def _prepare_sqlite(connection: sqlite3.Connection) -> None:
    _take_over_transactions(connection)
    with suppress(sqlite3.OperationalError):  # a read-only database may keep its mode
        connection.execute("PRAGMA journal_mode=WAL").close()
    connection.execute("PRAGMA synchronous=FULL").close()
    # Deleted data must not stay readable in the file; not every build ensures that by default.
    connection.execute("PRAGMA secure_delete=ON").close()


def prepare_leases(connection: Any, record: object) -> None:
    """Configure a new connection to the lease store: commits there wait for no disk."""
    if isinstance(connection, sqlite3.Connection):
        _take_over_transactions(connection)
        # No WAL: if only the database file is deleted, the files beside it would damage the next one.
        connection.execute("PRAGMA journal_mode=DELETE").close()
        connection.execute("PRAGMA synchronous=OFF").close()
        connection.execute("PRAGMA secure_delete=ON").close()
    else:
        _limit_times(connection)
        connection.execute("SELECT set_config('synchronous_commit', 'off', false)")
        connection.commit()


def _limit_times(connection: Any) -> None:
    # A process suspended while it holds a row lock must not block all others.
    limit = f"{STATEMENT_S * 1000:.0f}"
    connection.execute(
        "SELECT set_config('statement_timeout', %s, false), set_config('lock_timeout', %s, false),"
        " set_config('idle_in_transaction_session_timeout', %s, false)",
        (limit, f"{BUSY_S * 1000:.0f}", limit),
    )


def _prepare_postgresql(connection: Any) -> None:
    _limit_times(connection)
    # An acknowledged commit must be on the server's disk, whatever its settings say.
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false)"
        " WHERE current_setting('synchronous_commit') = 'off'"
    )
    connection.commit()


def commit(driver: Any) -> None:
    """Commit through the driver."""
    driver.commit()


def execute_at_once(driver: sqlite3.Connection, statement: str, values: Sequence[Any] = ()) -> int:
    """Execute a statement of SQLite as a transaction of its own, or one that begins one; return its row count."""
    return driver.execute(statement, values).rowcount


def as_known(error: Exception, driver: Any) -> DBAPIError:
    """Convert a driver's error to SQLAlchemy's, which tells whether the connection was lost."""
    lost = not isinstance(driver, sqlite3.Connection) and bool(driver.closed)
    return DBAPIError(None, None, error, connection_invalidated=lost)


def why(error: Exception) -> str:
    """Describe an error in a few words, without the statement and its values."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, OSError) and cause.strerror:
        return f"the database file cannot be used ({cause.strerror.lower()})"
    if isinstance(cause, UnicodeError):
        return CHARACTERS
    known, code = _SQLITE_WHY, getattr(cause, "sqlite_errorname", None)
    if code is None:
        known, code = _POSTGRESQL_WHY, getattr(cause, "sqlstate", None)
    if code is None and type(cause).__name__ == "DataError":  # psycopg: NUL in a text
        return CHARACTERS
    fits = [begins for begins in known if (code or "").startswith(begins)]
    if fits:
        return known[max(fits, key=len)]
    said = str(cause)
    return next((short for begins, short in _NOT_CONNECTED.items() if begins in said), UNANSWERED)


def is_deadlock(error: BaseException | None) -> bool:
    """Whether the server ended a transaction because of a deadlock."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) == "40P01"
