"""Orders that consoles of earlier releases have stored are opened, shown, continued and erased by this one.

``journals`` has each database as SQL text, named by its layout; all orders in them have schema 1. Their states are
never rewritten when the order's model changes: a migration has to carry them over.
"""

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from agents.app.states import StateFaults, show_transcript
from bella_vista.app import APP
from bella_vista.forgetting import forget_guest
from bella_vista.menus import OWN
from bella_vista.orders import advance_order
from bella_vista.traces import contact_of
from state.commands import AddItem
from state.context import OrderContext
from state.menu import load_menu
from state.order import OrderState, Stage
from state.shared import SqlStore, read_state
from tests.stored_orders import list_orders, new_order, open_store, resume_order, show_order

JOURNALS = Path(__file__).parent / "journals"
PLACED, OPEN = "3pz8-4jcv-2ge2", "ca4r-92ab-ap3f"


def restored(name: str, folder: Path) -> str:
    file = folder / "orders.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript((JOURNALS / f"{name}.sql").read_text(encoding="utf-8"))
    return f"sqlite:///{file}"


def context() -> OrderContext:
    numbers = iter(range(100))
    return OrderContext(
        menu=load_menu(OWN),
        now=lambda: datetime(2026, 11, 20, 19, tzinfo=UTC),
        new_id=lambda: f"note-{next(numbers)}",
    )


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    """A restaurant of this release with the journal of the release before."""
    async with open_store(restored("layout_0006", tmp_path), "bella-vista") as store:
        yield store


@pytest.mark.parametrize("name", [file.stem for file in sorted(JOURNALS.iterdir())])
async def test_every_version_of_every_order_is_read_as_it_was_written(
    name: str, tmp_path: Path
) -> None:
    async with open_store(restored(name, tmp_path), "bella-vista") as store:
        listed = await list_orders(store, 10)
        stored = [await store.read(one.id) for one in listed]

    assert listed
    assert [one.fault for one in listed] == [None] * len(listed)
    for one in stored:
        states = [one.initial, *(entry.state for entry in one.entries)]
        assert len(states) > 3
        for state in states:
            read_state(OrderState, state, one.state_id, schema=APP.schema)


@pytest.mark.parametrize("name", [file.stem for file in sorted(JOURNALS.iterdir())])
async def test_an_open_order_is_continued(name: str, tmp_path: Path) -> None:
    url = restored(name, tmp_path)
    async with open_store(url, "bella-vista") as store:
        (open_one,) = [one for one in await list_orders(store, 10) if one.version == 4]
        order = await resume_order(store, context(), open_one.id)
        before = order.state
        assert [line.name for line in before.order_items] == ["Family pizza night", "Tiramisu"]
        await order.apply(AddItem(name="Arancini", quantity=3), actor="order_taker")

    async with open_store(url, "bella-vista") as store:
        again, _ = await show_order(store, open_one.id)
    assert again == order.state
    assert (again.order_items[:2], again.allergies) == (before.order_items, ("walnuts",))
    assert [line.name for line in again.order_items[2:]] == ["Arancini"]
    # What the lines hold is stamped on them when the order is taken up again.
    assert all(line.holds for line in again.order_items)


async def test_a_placed_order_is_shown_as_it_was_said(store: SqlStore) -> None:
    order, view = await show_order(store, "101")

    assert (order.order_id, order.stage, order.customer_name) == (PLACED, Stage.PLACED, "Ada")
    assert [line["allergens_met"] for line in view["order_items"]] == [
        [] for _ in order.order_items
    ]
    assert (view["version"], view["total"], view["tip"]) == (12, 2833, 215)
    assert order.tip is not None
    assert (order.tip.percentage, order.coupons[0].percent) == (Decimal(10), Decimal(5))
    assert [said.text for said in await show_transcript(APP, store, "101") if said.kind == "heard"][
        2:
    ] == ["coupon NEIGHBOR5", "that is all", "yes", "card, 10 percent tip", "yes"]


async def test_the_kitchen_takes_it_to_its_end_and_its_guest_is_erased(
    store: SqlStore, tmp_path: Path
) -> None:
    stages = [(await advance_order(store, PLACED)).stage for _ in range(4)]
    assert stages[-1] is Stage.COMPLETED
    with pytest.raises(StateFaults, match="cannot be continued"):
        await resume_order(store, context(), PLACED)

    async with open_store(f"sqlite:///{tmp_path}/orders.db", None) as office:
        guest = contact_of("ada@example.com", load_menu(OWN).restaurant)
        report = await forget_guest(APP, office, APP.settings.read(), guest, [])

    assert (report.erased, report.left) == ([PLACED], [])
    assert b"ada@example.com" not in (tmp_path / "orders.db").read_bytes()
    assert (await show_order(store, OPEN))[0].stage is Stage.OPEN


async def test_the_next_order_has_the_next_number(store: SqlStore) -> None:
    order = await new_order(store, context(), "terminal")

    assert order.state.order_number == "103"


def test_the_journals_are_of_the_first_schema() -> None:
    for file in JOURNALS.iterdir():
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(file.read_text(encoding="utf-8"))
            rows = [
                *connection.execute("SELECT schema, state FROM states"),
                *connection.execute("SELECT schema, state FROM entries"),
            ]
        assert {schema for schema, _ in rows} == {1}
        assert all(json.loads(state)["restaurant_id"] == "bella-vista" for _, state in rows)
