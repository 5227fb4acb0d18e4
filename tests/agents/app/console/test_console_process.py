"""The console as its own process: what it leaves behind when it ends, and how that goes on."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agents.app.clock import running_clock
from agents.testing import Ids
from state.commands import CancelOrder
from state.context import OrderContext
from state.menu import load_menu
from state.shared import Moment
from tests.bella_vista.small_restaurant import MENU
from tests.commands import main
from tests.stored_orders import new_order, open_store

ROOT = Path(__file__).parents[4]
SCRIPT = """
- say: Good evening.
- calls: [{name: set_customer, arguments: {name: Ada}}, {name: transfer_to_order_taker}]
- calls: [{name: add_item, arguments: {name: Tiramisu, quantity: 2}}]
- say: Two Tiramisu.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "first.yaml").write_text(SCRIPT)
    (tmp_path / "again.yaml").write_text("- say: Welcome back.\n")
    return tmp_path


def console(folder: Path, *options: str, script: str = "first.yaml") -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "bella_vista", "console", "--events"),
            *("--model", f"script:{script}", "--database", f"sqlite:///{folder}/orders.db"),
            *("--menu", str(MENU), "--at", "2026-11-20T19:00", *options),
        ],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(process: "subprocess.Popen[str]", *words: str) -> tuple[list[dict[str, Any]], str]:
    out, err = process.communicate("".join(f"{line}\n" for line in words))
    return [json.loads(line) for line in out.splitlines()], err


@contextmanager
def in_the_middle(process: "subprocess.Popen[str]", *words: str) -> Iterator[list[dict[str, Any]]]:
    """Leave the process at the guest's turn after these words; the events so far."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(f"{line}\n" for line in words))
    process.stdin.flush()
    events: list[dict[str, Any]] = []
    while not events or (events[-1]["type"], events[-1].get("turn")) != ("your_turn", len(words)):
        events.append(json.loads(process.stdout.readline()))
    try:
        yield events
    finally:
        process.kill()
        process.communicate()


@pytest.mark.processes
def test_a_killed_console_loses_nothing_that_was_said_to_be_done(folder: Path) -> None:
    killed = console(folder)
    with in_the_middle(killed, "Ada, two tiramisu") as events:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    order_id = events[0]["order_id"]
    acknowledged = [event["state"] for event in events if event["type"] == "state"][-1]

    again, _ = said(console(folder, "--order", order_id, script="again.yaml"))

    assert again[0] == {
        "type": "ready",
        "order_id": order_id,
        "version": acknowledged["version"],
        "agent": "order_taker",
    }
    assert again[1]["agent"] == "order_taker"
    assert again[-1] == {"type": "end", "reason": "input_ended", "order": acknowledged}


@pytest.mark.processes
def test_ctrl_c_ends_with_the_order_as_it_stands(folder: Path) -> None:
    left = console(folder)
    with in_the_middle(left, "Ada, two tiramisu"):
        left.send_signal(signal.SIGINT)
        # Not communicate(), which would end the input as well.
        assert left.stdout is not None
        assert left.stderr is not None
        end, err = json.loads(left.stdout.read()), left.stderr.read()

        assert left.wait() == 0
    assert (end["type"], end["reason"]) == ("end", "user_left")
    assert end["order"]["item_count"] == 2
    assert err == ""


@pytest.mark.parametrize(("setting", "kept"), [("on", True), ("off", False)])
@pytest.mark.processes
def test_the_transcript_is_kept_unless_it_is_switched_off(
    folder: Path, setting: str, kept: bool
) -> None:
    (folder / ".env").write_text(f"BELLA_VISTA_TRANSCRIPT={setting}\n")
    events, err = said(console(folder), "Ada, two tiramisu")

    order_id = events[0]["order_id"]
    talk = [(event.get("agent", "user"), event["text"]) for event in events if "text" in event]

    async def written() -> list[tuple[str, str]]:
        async with open_store(f"sqlite:///{folder}/orders.db", None) as store:
            moments = await store.said(order_id)
        return [(one.who, one.text) for one in moments if one.kind in ("heard", "said")]

    assert err == ""
    assert len(talk) == 3
    assert asyncio.run(written()) == (talk if kept else [])
    everything = b"".join(file.read_bytes() for file in folder.glob("orders.db*"))
    assert (b"Ada, two tiramisu" in everything) is kept


@pytest.mark.processes
def test_old_talk_is_dropped_when_a_call_begins(folder: Path) -> None:
    (folder / ".env").write_text("BELLA_VISTA_TRANSCRIPT_DAYS=7\n")
    order_id = asyncio.run(cancelled_order(folder))

    async def written(*moments: Moment) -> list[str]:
        async with open_store(f"sqlite:///{folder}/orders.db", None) as store:
            await store.record(order_id, *moments)
            return [moment.text for moment in await store.said(order_id)]

    # Age is counted from the last talk that is itself more than a day old.
    days = [datetime.now(UTC) - timedelta(hours=hours) for hours in (25 + 24 * 7 + 1, 24 * 7, 25)]
    asyncio.run(written(*(Moment(0, "said", "greeter", f"{day:%d}", day) for day in days)))

    said(console(folder))

    assert asyncio.run(written()) == [f"{day:%d}" for day in days[1:]]


async def cancelled_order(folder: Path) -> str:
    menu = load_menu(MENU)
    zone = ZoneInfo(menu.restaurant.timezone)
    context = OrderContext(menu=menu, now=running_clock(zone), new_id=Ids())
    async with open_store(f"sqlite:///{folder}/orders.db", menu.restaurant.id) as store:
        shared = await new_order(store, context, "terminal")
        await shared.apply(CancelOrder(), actor="greeter")
    return shared.state.order_id


@pytest.mark.usefixtures("clean_folder", "logs_as_before")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--order", "no-such-order"], "There is no order no-such-order."),
        (["--order", "CANCELLED"], "Order CANCELLED is cancelled: it cannot be continued."),
        (["--order", "CANCELLED", "--menu", "other.yaml"], "CANCELLED belongs to another owner."),
        (["--order", "101", "--menu", "other.yaml"], "Order CANCELLED belongs to another owner."),
        (["--order", "102", "--menu", "other.yaml"], "There is no order 102."),
        (["--database", "sqlite:////dev/null/orders.db"], "The database"),
        (["--database", "oracle"], "--database: is not the address of a stored database"),
    ],
    ids=[
        *("unknown", "finished", "another restaurant's", "another restaurant's by its number"),
        *("an unknown number", "no database there", "no database at all"),
    ],
)
def test_an_order_that_cannot_be_resumed_is_one_clear_line(
    folder: Path, options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    order_id = asyncio.run(cancelled_order(folder))
    other = MENU.read_text().replace("id: corner-table", "id: other-table")
    (folder / "other.yaml").write_text(other)
    here = ["--menu", str(MENU), "--database", f"sqlite:///{folder}/orders.db"]
    given = [option.replace("CANCELLED", order_id) for option in options]

    with pytest.raises(SystemExit) as left:
        main(["console", "--model", "script:again.yaml", *here, *given])

    assert left.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert told.replace("CANCELLED", order_id) in shown.err
    assert shown.err.count("\n") == 1
