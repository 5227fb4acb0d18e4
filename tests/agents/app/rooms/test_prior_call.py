"""What of an interrupted call the next agent still has to answer."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agents.app.clock import running_clock
from agents.app.rooms.state_of_call import PriorCall, read_prior_call
from agents.testing import Ids
from rpc.page import SpokenLine
from state.commands import AddItem, AddNote
from state.context import OrderContext
from state.menu import load_menu
from state.order import OrderState
from state.shared import HandOver, Moment, SharedState, SqlStore
from tests.bella_vista.small_restaurant import MENU
from tests.stored_orders import new_order, open_store

COLA = AddItem(name="Cola", quantity=1)
NOTE = AddNote(title="door", content="the left one")

Order = SharedState[OrderState, OrderContext]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    async with open_store(f"sqlite:///{tmp_path}/orders.db", load_menu(MENU).restaurant.id) as it:
        yield it


@pytest.fixture
async def new(store: SqlStore) -> Order:
    """A new order, and no talk about it."""
    menu = load_menu(MENU)
    context = OrderContext(
        menu=menu, now=running_clock(ZoneInfo(menu.restaurant.timezone)), new_id=Ids()
    )
    return await new_order(store, context, "web_text")


@pytest.fixture
async def order(store: SqlStore, new: Order) -> Order:
    """A new order, and a talk about it in which nothing has been said."""
    await answered(store, new, 0)
    return new


async def heard(store: SqlStore, order: Order, turn: int, text: str) -> None:
    """The guest says something."""
    said = Moment(turn, "spoke", "guest", ""), Moment(turn, "heard", "guest", text)
    await store.record(order.state.order_id, *said)


async def answered(store: SqlStore, order: Order, turn: int) -> None:
    """It is the guest's turn, and nothing is left to be answered."""
    await store.record(order.state.order_id, Moment(turn, "answered", "house", ""))


async def before(store: SqlStore, order: Order) -> PriorCall:
    """What is left to be answered; without the lines."""
    return replace(await read_prior_call(store, order.state.order_id), lines=())


async def test_what_was_said_is_read_in_order_under_who_said_it(
    store: SqlStore, order: Order
) -> None:
    await heard(store, order, 1, "a cola")
    cut = Moment(1, "cut_short", "order_taker", "One cola, it", utterance="U_1")
    spent = Moment(1, "spent", "order_taker", '{"model_calls": 1}')
    await store.record(order.state.order_id, cut, spent, Moment(2, "heard", "user", "a large one"))

    assert (await read_prior_call(store, order.state.order_id)).lines == (
        SpokenLine(1, None, "a cola"),
        SpokenLine(1, "order_taker", "One cola, it", interrupted=True, utterance="U_1"),
        SpokenLine(2, None, "a large one"),
    )


async def test_a_change_on_the_page_does_not_answer_the_guests_words(
    store: SqlStore, order: Order
) -> None:
    await heard(store, order, 1, "a cola")
    await order.apply(NOTE, actor="guest")
    await order.apply(HandOver(source="greeter", target="order_taker"), actor="greeter")

    assert await before(store, order) == PriorCall(turn=1, unanswered=("a cola",))


async def test_words_that_a_voice_began_to_act_on_are_in_doubt_and_not_acted_on_again(
    store: SqlStore, order: Order
) -> None:
    await heard(store, order, 1, "a cola and a tiramisu")
    await order.apply(COLA, actor="order_taker", turn=1)
    await order.apply(NOTE, actor="guest")

    assert await before(store, order) == PriorCall(turn=1, in_doubt=("a cola and a tiramisu",))


async def test_words_that_came_while_something_was_being_done_are_still_to_be_answered(
    store: SqlStore, order: Order
) -> None:
    await heard(store, order, 1, "a cola")
    await heard(store, order, 2, "a tiramisu")
    await order.apply(COLA, actor="order_taker", turn=1)
    await heard(store, order, 3, "and a coffee")

    assert await before(store, order) == PriorCall(
        turn=3, unanswered=("a tiramisu", "and a coffee"), in_doubt=("a cola",)
    )


async def test_messages_shown_to_one_reply_are_acted_on_together(
    store: SqlStore, order: Order
) -> None:
    await heard(store, order, 1, "a cola")
    await heard(store, order, 2, "and a tiramisu")
    await order.apply(COLA, actor="order_taker", turn=2)

    assert await before(store, order) == PriorCall(turn=2, in_doubt=("a cola", "and a tiramisu"))


async def test_an_answer_that_was_cut_short_is_no_answer_to_what_has_come_since(
    store: SqlStore, order: Order
) -> None:
    await heard(store, order, 1, "what do you have")
    await heard(store, order, 2, "a cola")
    await heard(store, order, 3, "a tiramisu")
    await store.record(order.state.order_id, Moment(3, "cut_short", "greeter", "We have"))

    talk = await before(store, order)
    assert talk.unanswered == ("what do you have", "a cola", "a tiramisu")


async def test_a_reply_does_not_answer_messages_that_still_wait(
    store: SqlStore, order: Order
) -> None:
    await heard(store, order, 1, "a cola")
    await heard(store, order, 2, "a tiramisu")
    await order.apply(COLA, actor="order_taker", turn=1)
    await store.record(order.state.order_id, Moment(2, "said", "order_taker", "One cola."))

    assert (await before(store, order)).unanswered == ("a tiramisu",)


async def test_answered_messages_are_done(store: SqlStore, order: Order) -> None:
    await heard(store, order, 1, "a cola")
    await order.apply(COLA, actor="order_taker", turn=1)
    await heard(store, order, 2, "when do you close")
    await store.record(order.state.order_id, Moment(2, "said", "greeter", "At ten."))
    await answered(store, order, 2)

    assert await before(store, order) == PriorCall(turn=2)


async def test_words_that_were_not_kept_are_in_doubt(store: SqlStore, order: Order) -> None:
    await store.record(order.state.order_id, Moment(1, "spoke", "guest", ""))

    assert await before(store, order) == PriorCall(turn=1, in_doubt=("",))


async def test_turns_are_counted_on_where_the_talk_is_forgotten(
    store: SqlStore, order: Order
) -> None:
    await order.apply(COLA, actor="order_taker", turn=7)
    await store.eraser.rewrite(order.state.order_id, lambda state, commands: (state, commands))

    assert await before(store, order) == PriorCall(turn=7)


async def test_a_talk_of_a_release_that_kept_no_answers_is_not_gone_through_again(
    store: SqlStore, new: Order
) -> None:
    await heard(store, new, 1, "a cola")
    await heard(store, new, 2, "a tiramisu")

    assert await before(store, new) == PriorCall(turn=2)
