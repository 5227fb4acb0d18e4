"""Statements executed directly on the driver, for the path of every change: lock states, insert rows.

Each is a single statement for any number of states and rows. A connection releases the GIL with each step of a
statement, and in a busy process it waits for the event loop to get it back: with one step for each row, a batch would
be as slow as its rows one by one.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Table

from state.shared.sql.dialects import as_known
from state.shared.sql.tables import entries

BATCH_ROWS = 64
"""How many states or rows one SQLite statement handles, so that few statement texts are kept prepared."""


class StateHead(NamedTuple):
    """The end of a state's rows, which its next row must follow.

    Args:
        owner: The state's owner.
        fence: The fencing number it is held by.
        version: The version of its last entry; 0 if there is none.
        position: The position of its last transcript row; 0 if there is none.
    """

    owner: str
    fence: int
    version: int
    position: int


def lock_heads(
    driver: Any, state_ids: Sequence[str], *, waits: bool, said: bool = True
) -> dict[str, StateHead]:
    """Look up and lock states within a writing transaction.

    In SQLite all of them are locked already. On a server they are locked in the order of their ids, so that two
    processes never deadlock, and states locked elsewhere are left out.

    Args:
        driver: The driver's connection.
        state_ids: The states.
        waits: Whether to wait for states locked elsewhere, up to the server's time limit.
        said: Whether the last transcript position is needed.

    Raises:
        DBAPIError, sqlite3.Error, UnicodeError: As raised by the driver.
    """
    wanted = sorted(set(state_ids))
    rows: list[Any] = []
    if isinstance(driver, sqlite3.Connection):
        if len(wanted) == 1:
            rows = driver.execute(_select_one("?", said), wanted).fetchall()
        else:
            for some in _batches(wanted):
                (found,) = driver.execute(_select_in(len(some), said), some).fetchone()
                rows += json.loads(found)
    else:
        if waits:  # first, so that the next statement sees what the previous lock holder wrote
            _execute(driver, _LOCK, [wanted])
        if len(wanted) == 1:
            rows = _execute(driver, _select_one("%s", said) + _SKIP_LOCKED, wanted).fetchall()
        else:
            rows = _execute(driver, _select_any(said) + _SKIP_LOCKED, [wanted]).fetchall()
    return {
        state_id: StateHead(owner, fence, version or 0, position or 0)
        for state_id, owner, fence, version, position in rows
    }


def insert(driver: Any, table: Table, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Insert rows; return whether none of them conflicted with an existing row.

    Args:
        driver: The driver's connection.
        table: The table.
        rows: The rows, each with a value for every column.

    Raises:
        DBAPIError, sqlite3.Error, UnicodeError: As raised by the driver.
    """
    values = list(map(_values(table), rows))
    done = 0
    if isinstance(driver, sqlite3.Connection):
        for some in _batches(values):
            together = list(chain.from_iterable(some))
            done += driver.execute(_insert(table, len(some)), together).rowcount
    elif len(values) == 1:
        done = _execute(driver, _insert_one(table), values[0]).rowcount
    else:
        # In psycopg's pipeline: one round trip, with the same prepared statement as for one row.
        try:
            with driver.cursor() as cursor:
                cursor.executemany(_insert_one(table), values)
                done = cursor.rowcount
        except driver.Error as error:
            raise as_known(error, driver) from error
    return done == len(rows)


def insert_next(row: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
    """Return a statement of SQLite that inserts an entry if it is its state's next one and its fence holds the state.

    Args:
        row: The entry, with a value for every column.

    Returns:
        The statement and its values.
    """
    state_id = row["state_id"]
    fits = (state_id, row["fence"], row["owner"], state_id, row["version"] - 1)
    return _NEXT, (*_values(entries)(row), *fits)


def _batches(items: Sequence[Any]) -> list[Sequence[Any]]:
    return [items[at : at + BATCH_ROWS] for at in range(0, len(items), BATCH_ROWS)]


def _execute(driver: Any, statement: str, values: Sequence[Any]) -> Any:
    """Execute on a server; errors are converted to SQLAlchemy's, which recognize a lost connection."""
    try:
        return driver.execute(statement, values)
    except driver.Error as error:
        raise as_known(error, driver) from error


# Cached: building a statement takes longer than executing it.


@cache
def _names(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns)


@cache
def _values(table: Table) -> "itemgetter[tuple[Any, ...]]":
    return itemgetter(*_names(table))


@cache
def _select_one(mark: str, said: bool) -> str:
    return f"SELECT {_head_columns(said)} FROM states WHERE states.state_id = {mark}"


@cache
def _select_in(count: int, said: bool) -> str:
    # A single result row: each row would be a step.
    return (
        f"SELECT json_group_array(json_array({_head_columns(said)})) FROM states"
        f" WHERE states.state_id IN ({', '.join('?' * count)})"
    )


@cache
def _select_any(said: bool) -> str:
    wanted = "states.state_id = ANY(%s) ORDER BY states.state_id"
    return f"SELECT {_head_columns(said)} FROM states WHERE {wanted}"


def _head_columns(said: bool) -> str:
    last = "(SELECT max(position) FROM moments WHERE moments.state_id = states.state_id)"
    return (
        "states.state_id, states.owner, states.fence,"
        " (SELECT max(version) FROM entries WHERE entries.state_id = states.state_id),"
        f" {last if said else 0}"
    )


_LOCK = "SELECT FROM states WHERE state_id = ANY(%s) ORDER BY state_id FOR UPDATE"
_SKIP_LOCKED = " FOR UPDATE OF states SKIP LOCKED"


@cache
def _insert(table: Table, count: int) -> str:
    row = f"({', '.join('?' * len(table.columns))})"
    return f"{_into(table)} VALUES {', '.join([row] * count)} ON CONFLICT DO NOTHING"


@cache
def _insert_one(table: Table) -> str:
    row = ", ".join(["%s"] * len(table.columns))
    return f"{_into(table)} VALUES ({row}) ON CONFLICT DO NOTHING"


def _into(table: Table) -> str:
    names = ", ".join(f'"{name}"' for name in _names(table))
    return f"INSERT INTO {table.name} ({names})"


_NEXT = (
    f"{_into(entries)} SELECT {', '.join('?' * len(entries.columns))} WHERE EXISTS"
    " (SELECT 1 FROM states WHERE state_id = ? AND fence = ? AND owner = ?)"
    " AND coalesce((SELECT max(version) FROM entries WHERE state_id = ?), 0) = ?"
    " ON CONFLICT DO NOTHING"
)
