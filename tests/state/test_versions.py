"""Several writers on one order: no write is lost, and none relies on what it has not seen."""

import asyncio

import pytest

from state.commands import (
    GUEST_COMMANDS,
    STAFF_COMMANDS,
    AddAllergy,
    AddItem,
    AddNote,
    ApplyCoupon,
    CancelOrder,
    ChangeItem,
    ChangeNote,
    ChoosePayment,
    ConfirmOrder,
    GiveFeedback,
    OrderCommand,
    PlaceOrder,
    ReadBack,
    RemoveCoupon,
    RemoveItem,
    ReopenOrder,
    SetCustomer,
    SetFulfilment,
    SetTip,
)
from state.context import OrderContext
from state.errors import NotFound, WrongStage
from state.order import OrderState, Stage
from state.shared import KeyReused, SharedState, Stale
from tests.state.bistro import Bistro


def shared(*commands: OrderCommand) -> SharedState[OrderState, OrderContext]:
    """A new order over two lines, at version 0, so that everybody has seen all of it."""
    bistro = Bistro()
    order = bistro.order(AddItem(name="Cola"), AddItem(name="Water"), SetFulfilment(kind="pickup"))
    return SharedState(bistro.after(order, *commands), bistro.context)


def test_a_version_is_demanded_where_a_write_could_undo_another_s() -> None:
    demanding = {
        command.model_fields["op"].default
        for command in GUEST_COMMANDS | STAFF_COMMANDS
        if command.demands_version
    }

    assert demanding == {
        *("change_item", "remove_item", "set_customer", "set_fulfilment", "set_tip"),
        *("choose_payment", "remove_coupon", "confirm_order", "place_order", "reopen_order"),
        "cancel_order",
    }


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (ChangeItem(line_id="L1", quantity=2), ChangeItem(line_id="L2", quantity=2)),
        (ChangeItem(line_id="L1", quantity=2), SetCustomer(name="Ada")),
        (AddItem(name="House red"), AddItem(name="House red")),
        (AddItem(name="House red"), ChangeItem(line_id="L1", quantity=2)),
        (SetTip(amount=10), ChoosePayment(method="cash")),
        (AddNote(title="a", content="b"), AddAllergy(name="nuts")),
        (SetFulfilment(kind="delivery"), RemoveItem(line_id="L2")),
        (ApplyCoupon(code="TEN"), ApplyCoupon(code="FIVE")),
        (ReadBack(), SetFulfilment(kind="delivery")),
        (SetTip(amount=10), ReadBack()),
    ],
)
async def test_writers_on_different_parts_do_not_disturb_each_other(
    first: OrderCommand, second: OrderCommand
) -> None:
    order = shared()

    await order.apply(first, actor="page", seen=0)
    await order.apply(second, actor="agent", seen=0)

    assert order.version == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (ChangeItem(line_id="L1", quantity=2), ChangeItem(line_id="L1", quantity=3)),
        (ChangeItem(line_id="L1", quantity=2), RemoveItem(line_id="L1")),
        (AddItem(name="Cola"), ChangeItem(line_id="L1", quantity=5)),
        (SetCustomer(name="Ada"), SetCustomer(phone="212 555 0142")),
        (SetFulfilment(kind="delivery"), SetFulfilment(kind="pickup", when="2026-11-21T19:30")),
        (SetTip(amount=10), SetTip(amount=20)),
        (AddItem(name="House red"), ReadBack()),
        (RemoveItem(line_id="L1"), CancelOrder()),
        (ApplyCoupon(code="TEN"), RemoveCoupon(code="TEN")),
        (AddNote(title="a", content="b"), ChangeNote(note_id="id-1", title="c")),
    ],
)
async def test_a_writer_that_has_not_seen_a_change_is_refused(
    first: OrderCommand, second: OrderCommand
) -> None:
    order = shared()
    await order.apply(first, actor="page", seen=0)
    before = order.state

    with pytest.raises(Stale):
        await order.apply(second, actor="agent", seen=0)

    assert order.state is before


async def test_a_confirmation_is_for_the_order_as_read_back() -> None:
    order = shared()
    await order.apply(ReadBack(), actor="agent", seen=0)

    # The model cannot say yes to a reading that its guest has not heard yet.
    with pytest.raises(Stale):
        await order.apply(ConfirmOrder(), actor="agent", seen=0)
    await order.apply(AddItem(name="House red"), actor="page")
    with pytest.raises(Stale):
        await order.apply(ConfirmOrder(), actor="agent", seen=1)
    with pytest.raises(WrongStage):
        await order.apply(ConfirmOrder(), actor="agent", seen=2)


async def test_a_tip_after_the_reading_leaves_the_yes_but_is_heard_before_placing() -> None:
    order = shared(ReadBack())
    await order.apply(SetTip(amount=10), actor="page", seen=0)
    await order.apply(ConfirmOrder(), actor="agent", seen=0)
    await order.apply(ChoosePayment(method="card"), actor="agent", seen=2)

    with pytest.raises(Stale):
        await order.apply(PlaceOrder(), actor="agent", seen=0)
    await order.apply(PlaceOrder(), actor="agent", seen=3)

    assert order.state.stage is Stage.PLACED


async def test_a_reopened_order_is_not_reopened_on_an_old_sight() -> None:
    order = shared(ReadBack())
    await order.apply(ConfirmOrder(), actor="agent")

    with pytest.raises(Stale):
        await order.apply(ReopenOrder(), actor="page", seen=0)


async def test_a_missing_line_is_reported_before_a_conflict() -> None:
    order = shared()
    await order.apply(RemoveItem(line_id="L1"), actor="page", seen=0)

    with pytest.raises(NotFound):
        await order.apply(ChangeItem(line_id="L1", quantity=2), actor="agent", seen=0)


async def test_the_same_key_does_it_once_also_at_the_same_time() -> None:
    order = shared()
    command = AddItem(name="House red")

    answers = await asyncio.gather(
        *(order.apply(command, actor="page", key="k1") for _ in range(3))
    )

    assert [answer.version for answer in answers] == [1, 1, 1]
    assert order.state.item_count == 3
    with pytest.raises(KeyReused):
        await order.apply(AddItem(name="Cola"), actor="page", key="k1")
    removed = await order.apply(RemoveItem(line_id="L1"), actor="page", key="k2")
    assert await order.apply(RemoveItem(line_id="L1"), actor="page", key="k2") is removed


async def test_several_commands_happen_as_one_or_not_at_all() -> None:
    order = shared()

    with pytest.raises(NotFound):
        await order.apply(AddItem(name="House red"), RemoveItem(line_id="L9"), actor="agent")
    assert (order.version, order.state.item_count) == (0, 2)

    await order.apply(RemoveItem(line_id="L1"), AddItem(name="House red"), actor="agent")
    assert [line.id for line in order.state.order_items] == ["L2", "L3"]


async def test_a_rating_changed_elsewhere_is_not_overwritten_unseen() -> None:
    order = shared(ReadBack(), ConfirmOrder(), ChoosePayment(method="card"), PlaceOrder())
    await order.apply(GiveFeedback(rating=4), actor="page", seen=0)

    await order.apply(GiveFeedback(comment="Great."), actor="agent", seen=0)
    with pytest.raises(Stale):
        await order.apply(GiveFeedback(rating=1), actor="agent", seen=0)
