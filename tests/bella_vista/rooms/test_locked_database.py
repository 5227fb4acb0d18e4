"""While another program holds the database, a client's write gets our own answer, and never livekit's 1502."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from rpc.gateway import gateway
from tests.agents.app.rooms.checked_client import TIRAMISU, Checked, served, state
from tests.agents.app.rooms.conftest import Calls
from tests.livekit import LiveKit

DEFAULT_S = 15.0
"""How long a client of livekit waits unless it says otherwise, in seconds; the agent has 8 of them."""

NOTE = state("create", "note", data={"title": "door", "content": "blue"})


@contextmanager
def locked(folder: Path) -> "Iterator[None]":
    """Hold the write lock of the orders."""
    with closing(sqlite3.connect(folder / "orders.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


async def error_of(ada: Checked, method: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Call a method that fails, as a client with livekit's default timeout."""
    if method != "agent.state":
        return await ada.refused(method, payload, timeout_s=DEFAULT_S)
    reply = await ada.call(method, payload, timeout_s=DEFAULT_S)
    error: dict[str, Any] = reply["error"]
    return error


@pytest.mark.parametrize(
    ("method", "payload"),
    [
        ("order.apply", {"command": TIRAMISU}),
        ("agent.state", NOTE),
        ("say", {"text": "a tiramisu"}),
    ],
)
async def test_a_write_is_not_stored_and_may_be_retried(
    calls: Calls,
    livekit: LiveKit,
    room_name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    payload: dict[str, Any],
) -> None:
    monkeypatch.setattr(gateway, "STOPPING_S", 7.0)  # enough for any machine to answer in
    monkeypatch.setattr(gateway, "STOPPING_SHARE", 1.0)
    payload = {**payload, "key": "k"}
    async with served(calls, livekit, room_name) as (ada, _):
        with locked(tmp_path):
            error = await error_of(ada, method, payload)
        assert (error["code"], error["retryable"]) == (5003, True)
        assert (await ada.order())["version"] == 0

        first = await ada.call(method, payload)
        assert await ada.call(method, payload) == first
        if method == "say":
            await ada.turn(1)
        order = await ada.order()
        lines = [line["quantity"] for line in order["order_items"]]
        assert [*lines, *(1 for _ in order["notes"])] == [1]
