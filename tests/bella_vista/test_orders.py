"""An order is stored, found again, continued by one at a time, and moved on by the kitchen."""

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from agents.app.states import default_database, new_id
from bella_vista.app import APP
from bella_vista.orders import advance_order
from state.commands import (
    AcceptOrder,
    AddAllergy,
    AddItem,
    AddNote,
    ApplyCoupon,
    CancelOrder,
    ChoosePayment,
    ConfirmOrder,
    GiveFeedback,
    OrderCommand,
    Part,
    PlaceOrder,
    ReadBack,
    RefuseOrder,
    SetCustomer,
    SetFulfilment,
    SetTip,
)
from state.context import OrderContext
from state.errors import WrongStage
from state.order import OrderState, Stage
from state.shared import HandOver, SharedState, SqlStore, Stale, TakenOver
from tests.state.bistro import CARD, Bistro, card
from tests.stored_orders import (
    StateFaults,
    list_orders,
    new_order,
    open_store,
    resume_order,
    show_order,
)

PLACED: tuple[OrderCommand, ...] = (
    SetCustomer(name="Ada", phone="+1 212 555 0199", email="ada@example.com"),
    AddItem(
        name="Margherita",
        size="large",
        quantity=2,
        modifications=("no basil", "half extra ham", "pan"),
        note="well done",
    ),
    AddItem(
        name="Dinner for two",
        quantity=1,
        parts=(
            Part(name="Margherita", size="small"),
            Part(name="Funghi", size="large"),
            Part(name="House red"),
            Part(name="House red"),
        ),
    ),
    SetFulfilment(kind="delivery", address="12 Carmine Street, 10014"),
    ApplyCoupon(code="TEN"),
    AddAllergy(name="walnuts"),
    AddNote(title="door", content="ring twice"),
    ReadBack(),
    ConfirmOrder(),
    ChoosePayment(method="card"),
    SetTip(percentage=Decimal(10)),
    PlaceOrder(),
)
SHORT: tuple[OrderCommand, ...] = (
    AddItem(name="Margherita", size="large", quantity=2),
    SetFulfilment(kind="pickup"),
)

Order = SharedState[OrderState, OrderContext]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/orders.db"


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    async with open_store(url, "blue-door") as store:
        yield store


@pytest.fixture
async def kitchen(url: str) -> AsyncIterator[SqlStore]:
    """Sees every restaurant's orders."""
    async with open_store(url, None) as store:
        yield store


async def begun(store: SqlStore, *commands: OrderCommand, bistro: Bistro | None = None) -> Order:
    order = await new_order(store, (bistro or Bistro()).context, "terminal")
    for command in commands:
        await order.apply(command, actor="order_taker")
    return order


class TestNewOrders:
    async def test_an_order_begins_empty_with_a_number_that_can_be_said(
        self, store: SqlStore
    ) -> None:
        first, second = await begun(store), await begun(store)

        assert (first.state.order_number, second.state.order_number) == ("101", "102")
        assert (first.version, first.speaker, first.state.stage) == (0, "greeter", Stage.OPEN)
        assert (first.state.restaurant_id, first.state.channel) == ("blue-door", "terminal")
        assert first.state.order_id != second.state.order_id

    async def test_an_order_comes_back_exactly_as_it_was(self, store: SqlStore) -> None:
        order = await begun(store, *PLACED)
        await order.apply(GiveFeedback(rating=5, comment="Grüße"), actor="feedback")

        stored = await store.read(order.state.order_id)

        assert OrderState.model_validate_json(stored.state) == order.state
        assert order.state.stage is Stage.PLACED

    def test_an_id_is_never_taken_for_a_number(self) -> None:
        ids = {new_id() for _ in range(5000)}

        assert len(ids) == 5000
        for order_id in ids:
            assert re.fullmatch(r"([a-z2-9]{4}-){2}[a-z2-9]{4}", order_id)
            assert not any(group.isdigit() for group in order_id.split("-"))


class TestGoingOn:
    async def test_the_same_order_goes_on_with_the_voice_that_spoke_last(
        self, store: SqlStore, url: str
    ) -> None:
        bistro = Bistro()
        order = await begun(store, *SHORT, bistro=bistro)
        await order.apply(HandOver(source="greeter", target="order_taker"), actor="greeter")
        await store.close()

        async with open_store(url, "blue-door") as again:
            resumed = await resume_order(again, bistro.context, f" {order.state.order_id.upper()} ")
            await resumed.apply(ReadBack(), actor="order_taker")

        assert (resumed.version, resumed.speaker) == (4, "order_taker")
        assert resumed.state.order_items == order.state.order_items
        assert resumed.state.stage is Stage.REVIEW

    async def test_the_previous_holder_cannot_write(self, store: SqlStore) -> None:
        bistro = Bistro()
        order = await begun(store, *SHORT, bistro=bistro)

        resumed = await resume_order(store, bistro.context, order.state.order_id)

        with pytest.raises(TakenOver):
            await order.apply(ReadBack(), actor="order_taker")
        await resumed.apply(ReadBack(), actor="order_taker")

    async def test_prices_follow_a_menu_that_has_changed(self, store: SqlStore) -> None:
        order = await begun(store, *SHORT)
        dearer = Bistro(card(CARD.replace('large: "13.50"', 'large: "15.00"')))

        resumed = await resume_order(store, dearer.context, order.state.order_id)

        assert [line.unit_price for line in resumed.state.order_items] == [1500]
        assert resumed.state.menu_version == dearer.menu.version
        assert resumed.version == 3

    async def test_a_confirmed_order_keeps_its_price(self, store: SqlStore) -> None:
        order = await begun(store, *SHORT, ReadBack(), ConfirmOrder())
        dearer = Bistro(card(CARD.replace('large: "13.50"', 'large: "15.00"')))

        resumed = await resume_order(store, dearer.context, order.state.order_id)

        assert [line.unit_price for line in resumed.state.order_items] == [1350]
        assert resumed.version == order.version

    async def test_the_same_menu_changes_nothing(self, store: SqlStore) -> None:
        bistro = Bistro()
        order = await begun(store, *SHORT, bistro=bistro)

        resumed = await resume_order(store, bistro.context, order.state.order_id)

        assert (resumed.version, resumed.state) == (order.version, order.state)

    async def test_an_order_that_was_placed_goes_on_for_its_rating(self, store: SqlStore) -> None:
        bistro = Bistro()
        order = await begun(store, *PLACED, bistro=bistro)

        resumed = await resume_order(store, bistro.context, order.state.order_id)
        await resumed.apply(GiveFeedback(rating=4), actor="feedback")

        assert resumed.state.feedback_rating == 4

    @pytest.mark.parametrize(
        ("commands", "stage"),
        [
            ((CancelOrder(),), "cancelled"),
            ((*PLACED, RefuseOrder(reason="The oven is cold.")), "failed"),
        ],
    )
    async def test_one_that_has_ended_does_not_go_on_and_is_not_taken(
        self, store: SqlStore, commands: tuple[OrderCommand, ...], stage: str
    ) -> None:
        bistro = Bistro()
        order = await begun(store, *commands, bistro=bistro)

        with pytest.raises(StateFaults, match=f"is {stage}: it cannot be continued"):
            await resume_order(store, bistro.context, order.state.order_id)
        await order.apply(HandOver(target="greeter"), actor="greeter")

    async def test_one_that_was_completed_does_not_go_on(
        self, store: SqlStore, kitchen: SqlStore
    ) -> None:
        bistro = Bistro()
        order = await begun(store, *PLACED, bistro=bistro)
        for _ in range(4):
            await advance_order(kitchen, order.state.order_id)

        with pytest.raises(StateFaults, match="is completed"):
            await resume_order(store, bistro.context, order.state.order_id)

    async def test_one_that_is_not_there_does_not_go_on(self, store: SqlStore) -> None:
        with pytest.raises(StateFaults, match="There is no order abcd"):
            await resume_order(store, Bistro().context, "abcd")

    async def test_another_restaurants_order_does_not_go_on(
        self, store: SqlStore, url: str, kitchen: SqlStore
    ) -> None:
        order = await begun(store, *SHORT)
        other = Bistro(card(CARD.replace("id: blue-door", "id: red-door")))
        async with open_store(url, "red-door") as others:
            for theirs, whose in ((others, "owner"), (kitchen, "restaurant")):
                with pytest.raises(StateFaults, match=f"belongs to another {whose}"):
                    await resume_order(theirs, other.context, order.state.order_id)

        await order.apply(ReadBack(), actor="order_taker")

    async def test_a_broken_database_is_one_line(self, tmp_path: Path) -> None:
        tmp_path.joinpath("orders.db").write_bytes(b"no database " * 100)
        bistro = Bistro()

        async with open_store(f"sqlite:///{tmp_path}/orders.db", "blue-door") as store:
            for ask in (
                new_order(store, bistro.context, "terminal"),
                resume_order(store, bistro.context, "abcd"),
                list_orders(store, 5),
                show_order(store, "abcd"),
                advance_order(store, "abcd"),
            ):
                with pytest.raises(StateFaults, match="the file is no database"):
                    await ask


class TestTheKitchen:
    async def test_takes_one_step_after_the_other(self, store: SqlStore, kitchen: SqlStore) -> None:
        order = await begun(store, *PLACED)

        stages = [(await advance_order(kitchen, order.state.order_id)).stage for _ in range(4)]

        assert stages == [Stage.ACCEPTED, Stage.PREPARING, Stage.READY, Stage.COMPLETED]
        stored = await store.read(order.state.order_id)
        assert [entry.actor for entry in stored.entries[-4:]] == ["staff"] * 4
        assert stored.speaker == "greeter"

    @pytest.mark.parametrize("commands", [SHORT, (CancelOrder(),)])
    async def test_does_nothing_with_an_order_that_is_not_its(
        self, store: SqlStore, kitchen: SqlStore, commands: tuple[OrderCommand, ...]
    ) -> None:
        order = await begun(store, *commands)

        with pytest.raises(WrongStage, match="no next step for the kitchen"):
            await advance_order(kitchen, order.state.order_id)

        assert (await store.read(order.state.order_id)).version == order.version

    async def test_does_not_take_the_order_from_the_guests_call(
        self, store: SqlStore, kitchen: SqlStore
    ) -> None:
        order = await begun(store, *PLACED)
        seen = order.version

        await advance_order(kitchen, order.state.order_id)
        await order.apply(GiveFeedback(rating=5), actor="feedback", seen=seen)

        assert (order.state.stage, order.state.feedback_rating) == (Stage.ACCEPTED, 5)

    async def test_a_writer_with_an_older_stage_gets_a_conflict(
        self, store: SqlStore, kitchen: SqlStore
    ) -> None:
        order = await begun(store, *PLACED)
        seen = order.version

        await advance_order(kitchen, order.state.order_id)

        with pytest.raises(Stale):
            await order.apply(AcceptOrder(), actor="page", seen=seen)

    async def test_two_of_it_at_once_take_one_step(self, store: SqlStore, url: str) -> None:
        order = await begun(store, *PLACED)
        async with open_store(url, None) as one, open_store(url, None) as other:
            outcomes = await asyncio.gather(
                advance_order(one, order.state.order_id),
                advance_order(other, order.state.order_id),
                return_exceptions=True,
            )

        steps = len([outcome for outcome in outcomes if isinstance(outcome, OrderState)])
        stored = await store.read(order.state.order_id)
        assert stored.version == order.version + steps
        assert steps in (1, 2)
        assert all(isinstance(outcome, OrderState | WrongStage) for outcome in outcomes)


class TestLooking:
    async def test_the_newest_order_is_first(self, store: SqlStore, kitchen: SqlStore) -> None:
        first = await begun(store, *PLACED)
        second = await begun(store)

        listed = await list_orders(kitchen, 10)

        assert [one.id for one in listed] == [second.state.order_id, first.state.order_id]
        assert [one.state for one in listed] == [second.state, first.state]
        assert [one.version for one in listed] == [0, len(PLACED)]
        assert len(await list_orders(kitchen, 1)) == 1

    async def test_one_that_is_damaged_says_so_and_hides_no_other(
        self, store: SqlStore, kitchen: SqlStore, tmp_path: Path
    ) -> None:
        first = await begun(store)
        await begun(store)
        with closing(sqlite3.connect(tmp_path / "orders.db")) as connection:
            connection.execute(
                "UPDATE states SET state = '{}' WHERE state_id = ?", (first.state.order_id,)
            )
            connection.commit()

        listed = await list_orders(kitchen, 10)

        assert [one.state is None for one in listed] == [False, True]
        assert listed[1].fault == "it is damaged"
        with pytest.raises(StateFaults, match="it is damaged"):
            await show_order(kitchen, first.state.order_id)

    async def test_a_state_that_is_not_an_order_is_reported(
        self, store: SqlStore, kitchen: SqlStore
    ) -> None:
        await store.create("strange", lambda ordinal: '{"name": "4111 1111"}')

        listed = await list_orders(kitchen, 10)

        assert listed[0].state is None
        with pytest.raises(StateFaults) as fault:
            await show_order(kitchen, "strange")
        assert "it does not fit this program (" in str(fault.value)
        assert "declare schema=3 with migrate={2: " in str(fault.value)
        assert "4111" not in str(fault.value)

    async def test_an_order_with_a_field_of_another_name_is_not_continued_without_it(
        self, store: SqlStore, kitchen: SqlStore
    ) -> None:
        order = (await begun(store)).state
        text = order.model_copy(update={"order_id": "strange"}).model_dump_json()
        text = text.replace('"person_wanted"', '"wants_person"')
        await store.create("strange", lambda ordinal: text)

        why = r"it does not fit this program \(wants_person: unknown\)"
        with pytest.raises(StateFaults, match=why):
            await resume_order(store, Bistro().context, "strange")
        with pytest.raises(StateFaults, match=why):
            await advance_order(kitchen, "strange")

        assert (await store.read("strange")).entries == ()

    async def test_an_order_is_shown_as_everybody_outside_sees_it(
        self, store: SqlStore, kitchen: SqlStore
    ) -> None:
        order = await begun(store, *PLACED)

        shown, seen = await show_order(kitchen, order.state.order_id)

        assert shown == order.state
        assert (seen["version"], seen["active_agent"]) == (len(PLACED), "greeter")
        assert seen["order_id"] == order.state.order_id


def test_without_a_word_orders_lie_in_the_users_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "50% of a home?"))

    async def begin() -> None:
        async with open_store(default_database(APP), "blue-door") as store:
            await begun(store)

    asyncio.run(begin())

    assert (tmp_path / "50% of a home?" / "bella-vista" / "orders.db").is_file()
