"""The stages of an order and their transitions."""

from datetime import datetime
from decimal import Decimal

import pytest

from state.commands import (
    AcceptOrder,
    AddItem,
    ApplyCoupon,
    CancelOrder,
    ChangeItem,
    ChoosePayment,
    CompleteOrder,
    ConfirmOrder,
    MarkReady,
    OrderCommand,
    PlaceOrder,
    ReadBack,
    RefuseOrder,
    RemoveCoupon,
    RemoveItem,
    ReopenOrder,
    SetCustomer,
    SetFulfilment,
    SetTip,
    StartPreparing,
)
from state.errors import Missing, NotPossible, NotServed, NotValid, OrderError, WrongStage
from state.order import OrderState, Stage
from state.stages import (
    FOLLOWS,
    ORDERING,
    can_give_feedback,
    can_order,
    can_pay,
    can_place,
    can_read_back,
    meets_minimum,
    needs,
)
from tests.state.bistro import Bistro

HERE = "5 Bleecker St, New York 10012"


def filled(bistro: Bistro, *more: OrderCommand) -> OrderState:
    return bistro.order(
        SetCustomer(name="Ada"),
        AddItem(name="Margherita", size="large", quantity=2),
        SetFulfilment(kind="pickup"),
        *more,
    )


def confirmed(bistro: Bistro) -> OrderState:
    return filled(bistro, ReadBack(), ConfirmOrder())


def placed(bistro: Bistro) -> OrderState:
    return bistro.after(confirmed(bistro), ChoosePayment(method="card"), PlaceOrder())


def at(stage: Stage) -> OrderState:
    return filled(Bistro()).model_copy(update={"stage": stage})


def code(refusal: OrderError | None) -> str | None:
    return refusal.code if refusal is not None else None


def test_an_order_goes_all_the_way() -> None:
    bistro = Bistro()
    order = placed(bistro)
    assert order.stage is Stage.PLACED

    stages = []
    for step in (AcceptOrder(), StartPreparing(), MarkReady(), CompleteOrder()):
        order = bistro.after(order, step)
        stages.append(order.stage.value)

    assert stages == ["accepted", "preparing", "ready", "completed"]


STEPS: list[tuple[OrderCommand, frozenset[Stage]]] = [
    (ReadBack(), ORDERING),
    (ConfirmOrder(), frozenset({Stage.REVIEW, Stage.CONFIRMED})),
    (PlaceOrder(), frozenset({Stage.CONFIRMED, Stage.PLACED})),
    (ReopenOrder(), ORDERING),
    (CancelOrder(), ORDERING),
    (AcceptOrder(), frozenset({Stage.PLACED})),
    (StartPreparing(), frozenset({Stage.ACCEPTED})),
    (MarkReady(), frozenset({Stage.PREPARING})),
    (CompleteOrder(), frozenset({Stage.READY})),
    (
        RefuseOrder(reason="no gas"),
        frozenset({Stage.PLACED, Stage.ACCEPTED, Stage.PREPARING, Stage.READY}),
    ),
    (AddItem(name="Cola"), ORDERING),
    (ChangeItem(line_id="L1", quantity=3), ORDERING),
    (RemoveItem(line_id="L1"), ORDERING),
    (SetCustomer(name="Bo"), ORDERING),
    (SetFulfilment(kind="delivery"), ORDERING),
    (SetTip(amount=100), ORDERING),
    (ChoosePayment(method="cash"), ORDERING),
    (ApplyCoupon(code="TEN"), ORDERING),
]


@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize(("command", "possible"), STEPS)
def test_a_step_is_taken_from_where_it_may_be_and_from_nowhere_else(
    command: OrderCommand, possible: frozenset[Stage], stage: Stage
) -> None:
    bistro = Bistro()
    order = bistro.after(filled(bistro), ChoosePayment(method="card")).model_copy(
        update={"stage": stage}
    )

    if stage in possible:
        bistro.after(order, command)
    else:
        with pytest.raises(WrongStage) as refused:
            bistro.after(order, command)
        assert refused.value.facts["stage"] == stage.value
        assert refused.value.facts["possible"] == [s.value for s in Stage if s in FOLLOWS[stage]]


@pytest.mark.parametrize("stage", [Stage.REVIEW, Stage.CONFIRMED])
@pytest.mark.parametrize(
    ("command", "undone"),
    [
        (AddItem(name="Cola"), True),
        (ChangeItem(line_id="L1", quantity=3), True),
        (RemoveItem(line_id="L1"), True),
        (ApplyCoupon(code="TEN"), True),
        (SetFulfilment(kind="pickup", when="2026-11-21T19:30"), True),
        (SetTip(amount=100), False),
        (ChoosePayment(method="cash"), False),
        (SetCustomer(name="Bo"), False),
        (ChangeItem(line_id="L1", quantity=2), False),
        (SetFulfilment(kind="pickup"), False),
    ],
)
def test_a_change_after_the_read_back_reopens_the_order(
    command: OrderCommand, undone: bool, stage: Stage
) -> None:
    order = filled(Bistro()).model_copy(update={"stage": stage})

    after = Bistro().after(order, command)

    assert after.stage is (Stage.OPEN if undone else stage)


def test_taking_a_coupon_off_undoes_the_reading() -> None:
    bistro = Bistro()
    order = filled(bistro, ApplyCoupon(code="TEN"), ReadBack())

    assert bistro.after(order, RemoveCoupon(code="TEN")).stage is Stage.OPEN


@pytest.mark.parametrize(
    ("commands", "missing"),
    [
        ((), ["items", "fulfilment"]),
        ((AddItem(name="Cola"),), ["fulfilment"]),
        ((SetFulfilment(kind="pickup"),), ["items"]),
        ((AddItem(name="Cola"), SetFulfilment(kind="delivery")), ["address"]),
    ],
)
def test_an_order_is_read_back_once_it_is_complete(
    commands: tuple[OrderCommand, ...], missing: list[str]
) -> None:
    bistro = Bistro()

    with pytest.raises(Missing) as refused:
        bistro.order(*commands, ReadBack())

    assert refused.value.facts == {"needs": missing, "stage": "open"}


def test_a_delivery_below_the_minimum_is_not_read_back() -> None:
    with pytest.raises(NotPossible) as refused:
        Bistro().order(
            AddItem(name="Cola"), SetFulfilment(kind="delivery", address=HERE), ReadBack()
        )

    assert refused.value.facts == {
        "what": "delivery",
        "why": "below_minimum",
        "minimum": 2000,
        "short": 1800,
        "possible": ["pickup"],
    }


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ((), ("items", "fulfilment", "name")),
        ((AddItem(name="Cola"),), ("fulfilment", "name")),
        ((AddItem(name="Cola"), SetFulfilment(kind="delivery")), ("address", "name")),
        ((AddItem(name="Cola"), SetFulfilment(kind="delivery", address=HERE)), ("minimum", "name")),
        ((AddItem(name="Cola"), SetFulfilment(kind="pickup")), ("name", "read_back")),
        (
            (AddItem(name="Cola"), SetFulfilment(kind="pickup"), SetCustomer(name="")),
            ("read_back",),
        ),
    ],
)
def test_a_waiter_asks_for_what_is_missing_in_this_order(
    commands: tuple[OrderCommand, ...], expected: tuple[str, ...]
) -> None:
    assert needs(Bistro().order(*commands)) == expected


def test_after_the_reading_a_waiter_asks_for_yes_payment_tip_and_rating() -> None:
    bistro = Bistro()
    order = filled(bistro, ReadBack())
    assert needs(order) == ("confirmation",)

    order = bistro.after(order, ConfirmOrder())
    assert needs(order) == ("payment", "tip")
    order = bistro.after(order, ChoosePayment(method="cash"))
    assert needs(order) == ("tip", "placing")
    order = bistro.after(order, SetTip(percentage=Decimal("0")))
    assert needs(order) == ("placing",)
    order = bistro.after(order, PlaceOrder())
    assert needs(order) == ("rating",)
    assert needs(order.model_copy(update={"feedback_rating": 5})) == ()
    assert needs(order.model_copy(update={"stage": Stage.CANCELLED})) == ()


def test_conditions_answer_the_same_to_voices_and_clients() -> None:
    assert code(can_order(at(Stage.PLACED))) == "wrong_stage"
    assert code(can_read_back(at(Stage.OPEN))) is None
    assert code(can_pay(at(Stage.CONFIRMED))) is None
    assert code(can_pay(at(Stage.PLACED))) == "wrong_stage"
    assert code(can_place(at(Stage.CONFIRMED))) == "missing"
    assert code(can_place(at(Stage.OPEN))) == "wrong_stage"
    assert code(can_give_feedback(at(Stage.READY))) is None

    empty = can_pay(Bistro().order())
    assert empty is not None
    assert empty.facts["needs"] == ["items", "fulfilment"]
    unread = can_pay(at(Stage.OPEN))
    assert unread is not None
    assert unread.facts["needs"] == ["read_back"]


def test_an_order_is_placed_only_when_it_is_known_how_it_is_paid() -> None:
    bistro = Bistro()

    with pytest.raises(Missing) as refused:
        bistro.after(confirmed(bistro), PlaceOrder())

    assert refused.value.facts == {"needs": ["payment"], "stage": "confirmed"}


def test_placing_twice_places_once() -> None:
    bistro = Bistro()
    order = placed(bistro)

    assert bistro.after(order, PlaceOrder()) == order


def test_the_time_promised_moves_with_the_clock_until_it_is_placed() -> None:
    bistro = Bistro()
    order = filled(bistro)

    def minutes(order: OrderState) -> int:
        assert order.fulfilment is not None
        return order.fulfilment.ready_at.hour * 60 + order.fulfilment.ready_at.minute - 19 * 60

    assert minutes(order) == 20
    bistro.wait(minutes=5)
    order = bistro.after(order, ReadBack(), ConfirmOrder(), ChoosePayment(method="cash"))
    assert minutes(order) == 25
    bistro.wait(minutes=3)
    order = bistro.after(order, PlaceOrder())
    assert minutes(order) == 28


def test_a_promise_that_has_become_much_later_is_read_back_again() -> None:
    bistro = Bistro()
    order = bistro.after(confirmed(bistro), ChoosePayment(method="cash"))
    bistro.wait(hours=7)

    with pytest.raises(Missing) as refused:
        bistro.after(order, PlaceOrder())
    assert refused.value.facts["needs"] == ["read_back"]
    assert refused.value.facts["ready_at"] == "2026-11-21T17:50:00-05:00"

    order = bistro.after(order, ReadBack())
    assert order.stage is Stage.REVIEW
    assert bistro.after(order, ConfirmOrder(), PlaceOrder()).stage is Stage.PLACED


def test_a_time_asked_for_is_kept_or_asked_for_again() -> None:
    bistro = Bistro()
    order = filled(bistro, SetFulfilment(kind="pickup", when="2026-11-20T19:30"))
    bistro.wait(minutes=15)
    with pytest.raises(NotPossible):
        bistro.after(order, ReadBack())

    bistro = Bistro()
    order = filled(bistro, SetFulfilment(kind="pickup", when="2026-11-20T19:30"), ReadBack())
    order = bistro.after(order, ConfirmOrder(), ChoosePayment(method="cash"))
    bistro.wait(minutes=15)
    on_time = bistro.after(order, PlaceOrder()).fulfilment
    assert on_time is not None
    assert on_time.ready_at.isoformat() == "2026-11-20T19:35:00-05:00"
    bistro.wait(minutes=60)
    with pytest.raises(NotValid):
        bistro.after(order, PlaceOrder())


def test_lunch_that_is_over_when_it_is_read_back_is_not_promised() -> None:
    bistro = Bistro(now=datetime.fromisoformat("2026-11-20T14:05:00-05:00"))
    order = bistro.order(AddItem(name="Soup of the day"), SetFulfilment(kind="pickup"))
    bistro.wait(minutes=10)

    with pytest.raises(NotServed):
        bistro.after(order, ReadBack())


def test_the_kitchen_can_say_when_it_will_be_ready() -> None:
    bistro = Bistro()

    order = bistro.after(placed(bistro), AcceptOrder(ready_at="2026-11-20T19:45"))
    assert order.fulfilment is not None
    assert order.fulfilment.ready_at.isoformat() == "2026-11-20T19:45:00-05:00"

    for never in ("2026-11-20T18:00", "asap"):
        with pytest.raises(NotValid):
            bistro.after(placed(bistro), AcceptOrder(ready_at=never))


def test_an_order_without_a_fulfilment_is_accepted_all_the_same() -> None:
    bare = Bistro().order().model_copy(update={"stage": Stage.PLACED})

    assert Bistro().after(bare, AcceptOrder(ready_at="2026-11-20T19:45")).stage is Stage.ACCEPTED


def test_a_refused_order_has_failed_and_says_why() -> None:
    bistro = Bistro()

    order = bistro.after(placed(bistro), RefuseOrder(reason="The oven broke."))

    assert (order.stage, order.ended_reason) == (Stage.FAILED, "The oven broke.")


def test_a_cancelled_order_still_shows_what_it_was() -> None:
    bistro = Bistro()

    order = bistro.after(filled(bistro), CancelOrder())

    assert (order.stage, len(order.order_items)) == (Stage.CANCELLED, 1)


@pytest.mark.parametrize("steps", [(ReadBack(),), (ReadBack(), ConfirmOrder())])
def test_an_order_taken_up_again_is_open(steps: tuple[OrderCommand, ...]) -> None:
    bistro = Bistro()
    order = bistro.order(AddItem(name="Cola"), SetFulfilment(kind="pickup"), *steps)

    assert bistro.after(order, ReopenOrder()).stage is Stage.OPEN


def test_the_kitchens_time_is_stored_in_the_restaurants_zone() -> None:
    bistro = Bistro()
    order = placed(bistro)

    order = bistro.after(order, AcceptOrder(ready_at="2026-11-21T00:45:00+00:00"))

    assert order.fulfilment is not None
    assert order.fulfilment.ready_at.isoformat() == "2026-11-20T19:45:00-05:00"


def test_an_order_that_is_not_a_delivery_has_no_minimum() -> None:
    assert meets_minimum(Bistro().order(AddItem(name="Water"))) is None
