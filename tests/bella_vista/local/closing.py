"""Plays what guests say at the end of an order, and finds what was not written down.

``python -m tests.bella_vista.local.closing`` prints how many of the lines hold, by the moment they are said at.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from agents.app.models.choice import language_model
from agents.testing import Conversation
from bella_vista.app import APP
from bella_vista.menus import menu_file
from bella_vista.settings import Settings
from state.context import OrderContext
from state.menu import load_menu
from state.opening import open_order
from state.shared import SharedState

FILE = Path(__file__).parent / "figure" / "closing" / "lines.yaml"
ORDERED = [("Margherita", 1), ("Cola", 2), ("Tiramisu", 1)]
BEFORE = {
    "more": ("A large margherita, two colas and a tiramisu, please",),
    "review": (
        "A large margherita, two colas and a tiramisu, please",
        "that's all, pickup, the name is Ada",
    ),
    "payment": (
        "A large margherita, two colas and a tiramisu, please",
        "that's all, pickup, the name is Ada",
        "yes, that's right",
    ),
}
_NOW = datetime(2026, 11, 20, 23, tzinfo=UTC)  # early evening where the restaurant is
_LOST = ("not on our menu", "did not get", "did not follow", "cannot be had")


def lines() -> list[dict[str, Any]]:
    """Return the lines, each with what a waiter writes down."""
    found: list[dict[str, Any]] = yaml.safe_load(FILE.read_text("utf-8"))
    return found


async def faults_of(line: Mapping[str, Any]) -> list[str]:
    """Say a line at its moment; returns the differences from what a waiter writes down."""
    menu = load_menu(menu_file(None))
    ids = count(1)
    context = OrderContext(menu=menu, now=lambda: _NOW, new_id=lambda: f"id-{next(ids)}")
    state = open_order(menu, order_id="a", order_number="101", channel="web_text", now=_NOW)
    call = APP.call(SharedState(state, context, state_id="a"))
    model = language_model(APP, context, Settings(model="local"))
    async with Conversation(call, model) as talk:
        for words in BEFORE[line["at"]]:
            await talk.user_says(words)
        answer = await talk.user_says(line["say"])
    view = APP.view_of(call.state, call.shared.version, call.speaker)
    return [*_differences(line, view, " ".join(answer.said))]


def _differences(line: Mapping[str, Any], view: Mapping[str, Any], said: str) -> Iterator[str]:
    items = [(one["name"], one["quantity"]) for one in view["order_items"]]
    if items != ORDERED:
        yield f"the food is {items}"
    if line.get("done") and "nything else" in said:
        yield "it asks whether there is anything else"
    if "yes" in line and line["yes"] != (view["stage"] in ("confirmed", "placed")):
        yield f"the stage is {view['stage']}"
    if "name" in line and str(view["customer_name"]).casefold() != line["name"].casefold():
        yield f"the name is {view['customer_name']}"
    if "kind" in line and (view["fulfilment"] or {}).get("kind") != line["kind"]:
        yield f"the way is {view['fulfilment']}"
    if view["payment_method"] != line.get("method"):
        yield f"it is paid by {view['payment_method']}"
    given = view["tip_percentage"]
    if "tip_percentage" in line and (given is None or float(given) != line["tip_percentage"]):
        yield f"the tip is {given} %"
    if "tip_cents" in line and view["tip"] != line["tip_cents"]:
        yield f"the tip is {view['tip']}"
    if any(words in said for words in _LOST):
        yield "it did not understand"


async def _count() -> None:
    held: Counter[str] = Counter()
    for number, line in enumerate(lines()):
        half = "even" if number % 2 == 0 else "odd"
        held[f"{half} {line['at']}"] += not await faults_of(line)
    for name, times in sorted(held.items()):
        sys.stdout.write(f"{name}: {times}\n")


if __name__ == "__main__":
    asyncio.run(_count())
