"""Does something in the middle of every commit of a change: the row is written, the lock held, nothing committed yet."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from state.shared.sql import dialects


def functions_with(hook: Callable[[Any], object]) -> Mapping[str, Callable[..., Any]]:
    """Return functions by which those of ``dialects`` are replaced.

    Args:
        hook: Called with the driver's connection before each commit.
    """
    commit, execute_at_once = dialects.commit, dialects.execute_at_once

    def committing(driver: Any) -> None:
        hook(driver)
        commit(driver)

    def at_once(driver: sqlite3.Connection, statement: str, values: Sequence[Any] = ()) -> int:
        if statement.startswith("BEGIN"):
            return execute_at_once(driver, statement, values)
        execute_at_once(driver, "BEGIN IMMEDIATE")
        rows = execute_at_once(driver, statement, values)
        committing(driver)
        return rows

    return {"commit": committing, "execute_at_once": at_once}


@contextmanager
def before_commit(hook: Callable[[Any], object]) -> Iterator[None]:
    """Have the hook called before each commit of a change."""
    with pytest.MonkeyPatch.context() as patch:
        for name, function in functions_with(hook).items():
            patch.setattr(dialects, name, function)
        yield
