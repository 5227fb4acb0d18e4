"""What SQLite and PostgreSQL each need: how a connection is prepared, and what their errors mean."""

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from state.shared.errors import JournalFault

BUSY_S = 2.0
"""How long another program may keep a lock that is needed here, in seconds."""

STATEMENT_S = 4.0
"""How long a PostgreSQL server may work on one statement, or wait for our next one, in seconds."""

CONNECT_S = 3
"""How long making a connection to a PostgreSQL server may take, in seconds."""

LOCKED = "another program has locked the database"
NOT_EXPECTED = "the database does not hold what was expected"
UNANSWERED = "the database does not answer"

_NO_ADDRESS = (
    "its address has to be sqlite:///path, sqlite:////absolute/path or postgresql://user@host/name"
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
# PostgreSQL's SQLSTATE codes, appendix A of its manual; the longest that fits is meant.
_POSTGRESQL_WHY = {
    "08": "the connection to the database broke",
    "22021": "it holds characters that the database cannot store",
    "22P05": "it holds characters that the database cannot store",
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
"""What is often over in some seconds: somebody else works long, or a server starts anew."""

NOT_ITS_FAULT = PASSING | {_SQLITE_WHY["SQLITE_FULL"], _SQLITE_WHY["SQLITE_INTERRUPT"]}
"""What another file in a SQLite database's place would not mend."""

# What libpq says when there is no connection yet, so that no code can come with it (libpq 18, English).
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
    """Read a database's address as people write it.

    Raises:
        JournalFault: It is none.
    """
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):  # a port that is no number
        raise JournalFault("The database", _NO_ADDRESS) from None
    if url.get_backend_name() == "sqlite" and not url.host:
        return url
    if url.drivername in ("postgres", "postgresql"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername == "postgresql+psycopg":
        return url
    raise JournalFault("The database", _NO_ADDRESS)


def file_of(url: URL) -> Path | None:
    """Return the file of a SQLite database that lies in one."""
    name = url.database or ""
    if url.get_backend_name() != "sqlite" or not name or name.startswith((":memory:", "file:")):
        return None
    return Path(name)


def name_of(url: URL) -> str:
    """Name a database as an error does, without its password."""
    if url.get_backend_name() == "sqlite":
        return f"The database {file_of(url) or url.database or 'in memory'}"
    # An @ in a password that was not escaped leaves a piece of it before the host.
    host = (url.host or "").rpartition("@")[2]
    port = f":{url.port}" if url.port else ""
    return f"The database postgresql://{host}{port}/{url.database or ''}"


def driver_settings(url: URL) -> dict[str, Any]:
    """Return what the driver is told when it connects; what the address says itself stands."""
    if url.get_backend_name() == "sqlite":
        return {"timeout": BUSY_S}
    # A server that vanished without a word is noticed by the kernel, not by waiting for it.
    wanted = {
        "connect_timeout": CONNECT_S,
        "keepalives_idle": 10,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": int(STATEMENT_S * 1000),
    }
    return {name: value for name, value in wanted.items() if name not in url.query}


def prepare(connection: Any, record: object) -> None:
    """Set a fresh connection of the driver up, as SQLAlchemy's event ``connect`` hands it over."""
    if isinstance(connection, sqlite3.Connection):
        _prepare_sqlite(connection)
    else:
        _prepare_postgresql(connection)


def _take_over_transactions(connection: sqlite3.Connection) -> None:
    # Transactions are ours to begin: the driver would start them late and without the lock.
    connection.isolation_level = None
    # Damaged text must come as far as its checksum.
    connection.text_factory = lambda raw: raw.decode(errors="replace")


def _prepare_sqlite(connection: sqlite3.Connection) -> None:
    _take_over_transactions(connection)
    with suppress(sqlite3.OperationalError):  # a database that is only read may keep its mode
        connection.execute("PRAGMA journal_mode=WAL").close()
    connection.execute("PRAGMA synchronous=FULL").close()
    # What is deleted must not be read in the file any more; not every build does that by itself.
    connection.execute("PRAGMA secure_delete=ON").close()


def prepare_leases(connection: Any, record: object) -> None:
    """Set a fresh connection to the lease store up: no commit there waits for a disk."""
    if isinstance(connection, sqlite3.Connection):
        _take_over_transactions(connection)
        # No write-ahead file: if only the database's file is deleted, those beside it spoil the next one.
        connection.execute("PRAGMA journal_mode=DELETE").close()
        connection.execute("PRAGMA synchronous=OFF").close()
        connection.execute("PRAGMA secure_delete=ON").close()
    else:
        _limit_times(connection)
        connection.execute("SELECT set_config('synchronous_commit', 'off', false)")
        connection.commit()


def _limit_times(connection: Any) -> None:
    # A process that was stopped while it held a row's lock must not keep everybody else from it.
    limit = f"{STATEMENT_S * 1000:.0f}"
    connection.execute(
        "SELECT set_config('statement_timeout', %s, false), set_config('lock_timeout', %s, false),"
        " set_config('idle_in_transaction_session_timeout', %s, false)",
        (limit, f"{BUSY_S * 1000:.0f}", limit),
    )


def _prepare_postgresql(connection: Any) -> None:
    _limit_times(connection)
    # What is acknowledged has to be on the server's disk, whatever its settings say.
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false)"
        " WHERE current_setting('synchronous_commit') = 'off'"
    )
    connection.commit()


def commit(driver: Any) -> None:
    """Commit a transaction by the driver itself."""
    driver.commit()


def as_known(error: Exception, driver: Any) -> DBAPIError:
    """Return a driver's error as SQLAlchemy raises it, so that a connection that was lost can be told."""
    lost = not isinstance(driver, sqlite3.Connection) and bool(driver.closed)
    return DBAPIError(None, None, error, connection_invalidated=lost)


def why(error: Exception) -> str:
    """Say in a few words what is wrong, without the statement and the values in it."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, OSError) and cause.strerror:
        return f"the database file cannot be used ({cause.strerror.lower()})"
    if isinstance(cause, UnicodeError):
        return _POSTGRESQL_WHY["22021"]
    known, code = _SQLITE_WHY, getattr(cause, "sqlite_errorname", None)
    if code is None:
        known, code = _POSTGRESQL_WHY, getattr(cause, "sqlstate", None)
    if code is None and type(cause).__name__ == "DataError":  # psycopg: NUL in a text
        return _POSTGRESQL_WHY["22021"]
    fits = [begins for begins in known if (code or "").startswith(begins)]
    if fits:
        return known[max(fits, key=len)]
    said = str(cause)
    return next((short for begins, short in _NOT_CONNECTED.items() if begins in said), UNANSWERED)


def is_deadlock(error: BaseException | None) -> bool:
    """Whether a server ended a transaction because it and another one waited for each other."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) == "40P01"
