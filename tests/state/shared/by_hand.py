"""A database worked on behind the store's back, SQLite or PostgreSQL, in plain SQL."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg

from agents.testing import until
from tests.state.shared.patience import LONG_S

ACTIVITY = (
    "SELECT pid, state, wait_event_type, wait_event, query FROM pg_stat_activity"
    " WHERE datname = current_database()"
)

WAITING = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
"""Who waits on a PostgreSQL server for a lock."""


class Hand:
    """One connection of one's own, each statement for itself unless a ``BEGIN`` says otherwise."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    def __call__(self, statement: str) -> "list[tuple[Any, ...]]":
        """Carry a statement out; returns the rows it found, if it is one that finds any."""
        cursor = self._driver.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []

    async def until(self, statement: str) -> None:
        """Ask until a statement finds rows."""
        await until(lambda: self(statement), LONG_S, statement)

    def what_happened(self) -> str:
        """Return what a server is doing in this database."""
        if isinstance(self._driver, sqlite3.Connection):
            return "SQLite does not tell"
        return "\n".join(map(str, self(ACTIVITY)))

    def cut(self) -> None:
        """Have a server drop every other connection to this database."""
        self(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def lease_store(address: str) -> str:
    """Return the address of the leases of a database."""
    return f"{address}.leases" if address.startswith("sqlite") else address


@contextmanager
def by_hand(address: str) -> "Iterator[Hand]":
    driver: Any
    if address.startswith("sqlite"):
        driver = sqlite3.connect(address.removeprefix("sqlite:///"), isolation_level=None)
    else:
        driver = psycopg.connect(address, autocommit=True)
    with closing(driver):
        yield Hand(driver)
