"""What of a talk that broke off is still to be answered by whoever goes on with it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agents.testing import Ids
from bella_vista.clock import running_clock
from bella_vista.orders import new_order, open_store
from bella_vista.rooms.before import talk_before
from state.commands import AddItem, AddNote
from state.context import OrderContext
from state.menu import load_menu
from state.order import OrderState
from state.shared import HandOver, Moment, SharedState, SqlStore
from tests.bella_vista.terminal.restaurant import MENU

COLA = AddItem(name="Cola", quantity=1)
NOTE = AddNote(title="door", content="the left one")

Order = SharedState[OrderState, OrderContext]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    async with open_store(f"sqlite:///{tmp_path}/orders.db", load_menu(MENU).restaurant.id) as it:
        yield it


@pytest.fixture
async def order(store: SqlStore) -> Order:
    menu = load_menu(MENU)
    context = OrderContext(
        menu=menu, now=running_clock(ZoneInfo(menu.restaurant.timezone)), new_id=Ids()
    )
    return await new_order(store, context, "web_text", "greeter")


async def heard(store: SqlStore, order: Order, turn: int, text: str) -> None:
    """The guest says something, at the order's present version."""
    at = json.dumps({"version": order.version})
    said = Moment(turn, "spoke", "guest", at), Moment(turn, "heard", "guest", text)
    await store.record(order.state.order_id, *said)


async def unanswered(store: SqlStore, order: Order) -> str:
    return (await talk_before(store, order.state.order_id)).unanswered


async def test_what_the_guest_does_on_his_page_is_no_answer_to_his_words(
    store: SqlStore, order: Order
) -> None:
    await heard(store, order, 1, "a cola")
    await order.apply(NOTE, actor="guest")
    await order.apply(HandOver(source="greeter", target="order_taker"), actor="greeter")

    assert await unanswered(store, order) == "a cola"


async def test_words_that_a_voice_began_to_act_on_are_not_acted_on_again(
    store: SqlStore, order: Order
) -> None:
    await heard(store, order, 1, "a cola")
    await order.apply(COLA, actor="order_taker")
    await order.apply(NOTE, actor="guest")

    assert await unanswered(store, order) == ""


async def test_words_that_came_after_what_was_done_are_still_to_be_answered(
    store: SqlStore, order: Order
) -> None:
    await heard(store, order, 1, "a cola")
    await order.apply(COLA, actor="order_taker")
    await heard(store, order, 2, "a tiramisu")

    assert await unanswered(store, order) == "a tiramisu"


async def test_an_answer_that_was_cut_short_is_none_to_the_words_that_cut_it(
    store: SqlStore, order: Order
) -> None:
    await heard(store, order, 1, "what do you have")
    await heard(store, order, 2, "a cola")
    await store.record(order.state.order_id, Moment(2, "cut_short", "greeter", "We have"))
    await heard(store, order, 3, "a tiramisu")

    assert await unanswered(store, order) == "a cola a tiramisu"


async def test_what_was_answered_is_over(store: SqlStore, order: Order) -> None:
    await heard(store, order, 1, "when do you close")
    await store.record(order.state.order_id, Moment(1, "said", "greeter", "At ten."))

    assert await unanswered(store, order) == ""
