"""A database worked on behind the store's back, SQLite or PostgreSQL, in plain SQL."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg

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
        for _ in range(1_000_000):
            if self(statement):
                return
            await asyncio.sleep(0)
        raise AssertionError(f"never came true: {statement}")

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
