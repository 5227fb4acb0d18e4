"""The two statements that every change waits for, by the shortest way to the driver.

Each is one statement however many states and rows it is about. A connection gives the interpreter's lock away
with each step of a statement, and in a busy process it waits for a turn of the event loop to get it back: a
step for each row would make a group as slow as its rows one by one.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Integer, Table
from sqlalchemy.exc import DBAPIError

MOST = 64
"""So many states or rows go into one statement of SQLite, so that few texts of it are kept prepared."""

_FOUND = (
    "states.state_id, states.owner, states.fence,"
    " (SELECT max(version) FROM entries WHERE entries.state_id = states.state_id),"
    " (SELECT max(position) FROM moments WHERE moments.state_id = states.state_id)"
)
_LOCK = "SELECT FROM states WHERE state_id = ANY(%s) ORDER BY state_id FOR UPDATE"
_PRESENT = (
    f"SELECT {_FOUND} FROM states WHERE states.state_id = ANY(%s)"
    " ORDER BY states.state_id FOR UPDATE OF states SKIP LOCKED"
)


class Present(NamedTuple):
    """What a state's next row has to fit to.

    Args:
        owner: Whose it is.
        fence: The number it is held by.
        version: The version of its last entry; 0 when there is none.
        position: The position of the last moment; 0 when there is none.
    """

    owner: str
    fence: int
    version: int
    position: int


def present(connection: Connection, state_ids: Sequence[str], *, waits: bool) -> dict[str, Present]:
    """Look up and lock states, within a transaction that writes.

    SQLite has locked all of them by then. On a server they are locked in the order of their ids, so that
    no two of us wait for each other, and one that is locked elsewhere is left out.

    Args:
        connection: The connection.
        state_ids: Which.
        waits: Whether to wait for those that are locked elsewhere, as long as the server lets us.

    Raises:
        DBAPIError, sqlite3.Error, UnicodeError: As the driver raises it.
    """
    wanted = sorted(set(state_ids))
    driver = connection.connection.dbapi_connection
    rows: list[Any] = []
    if isinstance(driver, sqlite3.Connection):
        for some in _parts(wanted):
            cursor = driver.execute(_select(len(some)), some)
            rows += json.loads(cursor.fetchone()[0])
            cursor.close()
    else:
        if waits:  # first, so that the next statement sees what whoever held the lock has written
            _asked(driver, _LOCK, (wanted,))
        rows = _asked(driver, _PRESENT, (wanted,)).fetchall()
    return {
        state_id: Present(owner, fence, version or 0, position or 0)
        for state_id, owner, fence, version, position in rows
    }


def insert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Insert rows; returns whether none of them, nor its like, was there before.

    Args:
        connection: The connection.
        table: Where to.
        rows: Each with a value for every column.

    Raises:
        DBAPIError, sqlite3.Error, UnicodeError: As the driver raises it.
    """
    driver = connection.connection.dbapi_connection
    names = tuple(column.name for column in table.columns)
    done = 0
    if isinstance(driver, sqlite3.Connection):
        for some in _parts(rows):
            cursor = driver.execute(
                _insert(table, len(some)), [row[name] for row in some for name in names]
            )
            done += cursor.rowcount
            cursor.close()
    elif rows:
        columns = tuple([row[name] for row in rows] for name in names)
        done = _asked(driver, _insert_columns(table), columns).rowcount
    return done == len(rows)


def _parts(items: Sequence[Any]) -> list[Sequence[Any]]:
    return [items[at : at + MOST] for at in range(0, len(items), MOST)]


def _asked(driver: Any, statement: str, values: tuple[Any, ...]) -> Any:
    """Ask a server; what goes wrong comes as from SQLAlchemy, which knows when a connection is lost."""
    from psycopg import Error

    try:
        return driver.execute(statement, values)
    except Error as error:
        raise DBAPIError(None, None, error, connection_invalidated=driver.closed) from error


# Built once: building a statement takes longer than carrying it out.


@cache
def _select(count: int) -> str:
    # One row for all of them: each row would be a step.
    return (
        f"SELECT json_group_array(json_array({_FOUND})) FROM states"
        f" WHERE states.state_id IN ({', '.join('?' * count)})"
    )


@cache
def _insert(table: Table, count: int) -> str:
    row = f"({', '.join('?' * len(table.columns))})"
    return f"{_into(table)} VALUES {', '.join([row] * count)} ON CONFLICT DO NOTHING"


@cache
def _insert_columns(table: Table) -> str:
    kinds = ", ".join(f"%s::{_kind(column.type)}[]" for column in table.columns)
    return f"{_into(table)} SELECT * FROM unnest({kinds}) ON CONFLICT DO NOTHING"


def _into(table: Table) -> str:
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    return f"INSERT INTO {table.name} ({names})"


def _kind(kind: object) -> str:
    if isinstance(kind, BigInteger):
        return "bigint"
    return "integer" if isinstance(kind, Integer) else "text"
