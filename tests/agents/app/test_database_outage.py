"""The database goes away in the middle of a call: the talk goes on, nothing is lost, nothing is doubled."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.testing import Clock, Conversation, Ids, ScriptedLLM, calls, says
from bella_vista.app import APP
from state.context import OrderContext
from state.shared import SharedState, SqlStore
from tests.agents.restaurant import FRIDAY_AT_SEVEN, bella_vista
from tests.postgres import Server
from tests.stored_orders import new_order, open_store

Away = Callable[[], AbstractContextManager[None]]
TIRAMISU = ("add_item", {"name": "Tiramisu", "quantity": 1})
MARGHERITA = ("add_item", {"name": "Margherita", "size": "large", "quantity": 2})


@pytest.fixture
def away(database: str, request: pytest.FixtureRequest) -> Away:
    """Takes the database away for a while: the file is moved, the server stopped."""

    @contextmanager
    def moved() -> Iterator[None]:
        file = Path(database.removeprefix("sqlite:///"))
        shutil.move(file, file.with_name("elsewhere"))
        try:
            yield
        finally:
            shutil.move(file.with_name("elsewhere"), file)

    @contextmanager
    def stopped() -> Iterator[None]:
        server: Server = request.getfixturevalue("postgresql")
        server.stop("fast")
        try:
            yield
        finally:
            server.start()

    return moved if database.startswith("sqlite") else stopped


async def begun(store: SqlStore) -> SharedState[Any, OrderContext]:
    zone = bella_vista().restaurant.zone
    clock = Clock(FRIDAY_AT_SEVEN.astimezone(zone))
    context = OrderContext(menu=bella_vista(), now=clock, new_id=Ids())
    return await new_order(store, context, "terminal")


async def test_talk_goes_on_while_the_database_is_away_and_storing_when_it_is_back(
    database: str, away: Away
) -> None:
    model = ScriptedLLM(
        [
            says("Welcome!"),
            calls(("set_customer", {"name": "Ada"}), say="Nice to meet you."),
            says("What would you like?"),
            calls("transfer_to_order_taker"),
            says("I cannot pass you on just now."),
            calls("transfer_to_order_taker"),
            calls(MARGHERITA),
            says("Two large Margheritas."),
            calls(TIRAMISU),
            says("I cannot note that just now."),
            calls(("find_on_menu", {"words": "diavola"})),
            says("It is hot."),
            calls(TIRAMISU),
            says("Still not."),
            calls(TIRAMISU),
            says("Noted."),
        ]
    )
    async with open_store(database, bella_vista().restaurant.id) as store:
        shared = await begun(store)
        async with Conversation(APP.call(shared), model) as talk:
            await talk.user_says("Ada here")
            with away():
                not_passed_on = await talk.user_says("I want to order")
            passed_on = await talk.user_says("Hello? Two large Margheritas")
            before = shared.version
            with away():
                refused = [await talk.user_says("and a tiramisu")]
                answered = await talk.user_says("What is on the Diavola?")
                refused.append(await talk.user_says("Once more: a tiramisu"))
                meanwhile = (shared.version, [line.name for line in talk.state.order_items])
            again = await talk.user_says("and now?")
        stored = await store.read(talk.state.order_id)

    for turn in refused:
        (used,) = turn.tools
        assert used.is_error
        assert "could not be stored just now" in used.output
        assert "Traceback" not in used.output
        assert turn.said
        assert len(turn.your_turns) == 1
    assert [used.is_error for used in answered.tools] == [False]
    assert (not_passed_on.handoffs, len(not_passed_on.refused)) == ([], 1)
    assert not_passed_on.said == ["I cannot pass you on just now."]
    assert passed_on.handoffs == [("greeter", "order_taker")]
    assert meanwhile == (before, ["Margherita"])
    assert [used.is_error for used in again.tools] == [False]
    assert [(line.name, line.quantity) for line in talk.state.order_items] == [
        ("Margherita", 2),
        ("Tiramisu", 1),
    ]
    assert stored.state == talk.state.model_dump_json()
    assert stored.version == shared.version == before + 1
    assert [entry.version for entry in stored.entries] == list(range(1, stored.version + 1))
