"""Pickup or delivery, coupons, tip and payment."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from state.commands import (
    AddItem,
    ApplyCoupon,
    ChoosePayment,
    ReadBack,
    RemoveCoupon,
    SetFulfilment,
    SetTip,
)
from state.errors import (
    CouponNotValid,
    Missing,
    NotFound,
    NotPossible,
    NotServed,
    NotValid,
    OverLimit,
)
from state.money import Cents
from state.order import Fulfilment, OrderState, Stage, Tip
from state.pricing import price
from tests.state.bistro import CARD, Bistro, card

HERE = "5 Bleecker St, New York 10012"


def arranged(bistro: Bistro | None = None, **fields: Any) -> OrderState:
    return (bistro or Bistro()).order(SetFulfilment.model_validate(fields))


def test_as_soon_as_possible_is_after_the_lead_time() -> None:
    fulfilment = arranged(kind="pickup").fulfilment

    assert fulfilment is not None
    assert fulfilment.when is None
    assert fulfilment.ready_at.isoformat() == "2026-11-20T19:20:00-05:00"


def test_an_order_at_a_closed_restaurant_is_ready_after_it_opens() -> None:
    bistro = Bistro(now=datetime.fromisoformat("2026-11-21T04:00:00-05:00"))

    fulfilment = arranged(bistro, kind="pickup").fulfilment

    assert fulfilment is not None
    assert fulfilment.ready_at.isoformat() == "2026-11-21T17:50:00-05:00"


def test_a_time_without_offset_is_the_restaurant_s() -> None:
    fulfilment = arranged(kind="pickup", when="2026-11-21T18:30").fulfilment

    assert fulfilment is not None
    assert fulfilment.when is not None
    assert fulfilment.when.isoformat() == "2026-11-21T18:30:00-05:00"
    assert fulfilment.ready_at == fulfilment.when


def test_a_time_with_an_offset_is_shown_as_the_restaurant_s() -> None:
    fulfilment = arranged(kind="pickup", when="2026-11-22T00:30:00+01:00").fulfilment

    assert fulfilment is not None
    assert fulfilment.when is not None
    assert fulfilment.when.isoformat() == "2026-11-21T18:30:00-05:00"


@pytest.mark.parametrize(
    ("when", "why"),
    [
        ("half past seven", "not_a_time"),
        ("2026-13-01T10:00", "not_a_time"),
        ("0001-01-01T00:00+14:00", "not_a_time"),
        ("2026-11-21", "no_time_of_day"),
        ("20261121", "no_time_of_day"),
        ("2026-11-20T18:00", "past"),
        ("2127-03-14T02:30", "too_far_ahead"),
        ("2027-03-14T02:30", "no_such_time"),
    ],
)
def test_an_invalid_or_past_time_is_refused(when: str, why: str) -> None:
    with pytest.raises(NotValid) as refused:
        arranged(kind="pickup", when=when)

    assert (refused.value.facts["field"], refused.value.facts["why"]) == ("when", why)


@pytest.mark.parametrize(
    ("when", "why", "possible"),
    [
        ("2026-11-20T19:10", "too_soon", ["2026-11-20T19:20:00-05:00"]),
        ("2026-11-23T19:00", "closed", ["2026-11-24T11:30:00-05:00"]),
    ],
)
def test_an_impossible_time_is_refused_with_a_possible_one(
    when: str, why: str, possible: list[str]
) -> None:
    with pytest.raises(NotPossible) as refused:
        arranged(kind="pickup", when=when)

    assert (refused.value.facts["why"], refused.value.facts["possible"]) == (why, possible)


def test_omitted_fields_stay_and_null_fields_are_removed() -> None:
    bistro = Bistro()
    order = arranged(bistro, kind="delivery", when="2026-11-21T19:30", address=HERE)

    same = bistro.after(order, SetFulfilment(kind="delivery"))
    assert same.fulfilment == order.fulfilment

    soon = bistro.after(order, SetFulfilment(kind="delivery", when="asap")).fulfilment
    assert soon is not None
    assert (soon.when, soon.address) == (None, HERE)
    again = bistro.after(order, SetFulfilment.model_validate({"kind": "delivery", "when": None}))
    assert again.fulfilment == soon

    fetched = bistro.after(order, SetFulfilment(kind="pickup")).fulfilment
    assert fetched is not None
    assert (fetched.kind, fetched.address, fetched.fee) == ("pickup", None, 0)


def test_a_delivery_is_arranged_before_its_address_is_known() -> None:
    fulfilment = arranged(kind="delivery").fulfilment

    assert fulfilment is not None
    assert (fulfilment.address, fulfilment.fee, fulfilment.minimum) == (None, 350, 2000)


@pytest.mark.parametrize(
    "address",
    [
        HERE,
        "10099 Broadway, New York, NY 10014",
        "12 W 3rd St, NY 10012-1234",
        "New York 10012, 5 Bleecker St",
    ],
)
def test_delivery_is_limited_to_the_listed_postcodes(address: str) -> None:
    fulfilment = arranged(kind="delivery", address=address).fulfilment

    assert fulfilment is not None
    assert fulfilment.address == address


def test_a_spelled_postcode_is_written_in_digits() -> None:
    spelled = "5 Bleecker St, apartment two, one double oh one two"
    fulfilment = arranged(kind="delivery", address=spelled).fulfilment

    assert fulfilment is not None
    assert fulfilment.address == "5 Bleecker St, apartment two, 10012"


def test_an_address_outside_the_area_can_be_fetched() -> None:
    bistro = Bistro()
    order = bistro.order(SetFulfilment(kind="pickup"))

    with pytest.raises(NotPossible) as refused:
        bistro.after(order, SetFulfilment(kind="delivery", address="10012 Main St, Albany 12207"))

    assert refused.value.facts == {
        "what": "delivery",
        "why": "outside_area",
        "possible": ["pickup"],
        "postcodes": ["10012", "10014"],
    }


def test_an_address_without_its_postcode_is_asked_for_again() -> None:
    with pytest.raises(Missing) as refused:
        arranged(kind="delivery", address="5 Bleecker St")

    assert refused.value.facts["needs"] == ["postcode"]
    assert refused.value.facts["address"] == "5 Bleecker St"


@pytest.mark.parametrize("address", ["10012", " 10012. ", "one double oh one two"])
def test_a_postcode_alone_is_no_address(address: str) -> None:
    with pytest.raises(Missing) as refused:
        arranged(kind="delivery", address=address)

    assert refused.value.facts["needs"] == ["address"]


def test_without_listed_postcodes_delivery_is_unlimited() -> None:
    bistro = Bistro(card(CARD.replace(', postcodes: ["10012", "10014"]', "")))

    fulfilment = arranged(bistro, kind="delivery", address="behind the church").fulfilment

    assert fulfilment is not None
    assert fulfilment.address == "behind the church"


def test_a_service_that_is_not_offered_is_refused_with_the_possible_ones() -> None:
    delivery = '    delivery: {lead_minutes: 45, fee: "3.50", minimum: "20.00", postcodes: ["10012", "10014"]}\n'
    bistro = Bistro(card(CARD.replace(delivery, "")))

    with pytest.raises(NotPossible) as refused:
        arranged(bistro, kind="delivery", address=HERE)

    assert (refused.value.facts["why"], refused.value.facts["possible"]) == (
        "not_offered",
        ["pickup"],
    )


def test_a_new_time_has_to_suit_what_is_ordered() -> None:
    bistro = Bistro()
    order = bistro.order(
        SetFulfilment(kind="pickup", when="2026-11-24T12:30"), AddItem(name="Soup of the day")
    )

    with pytest.raises(NotServed) as refused:
        bistro.after(order, SetFulfilment(kind="pickup", when="2026-11-24T19:30"))

    assert refused.value.facts["name"] == "Soup of the day"


@pytest.mark.parametrize("kind", ["teleport", "", None, "PICKUP"])
def test_a_kind_the_form_does_not_know_is_refused(kind: Any) -> None:
    with pytest.raises(ValidationError):
        SetFulfilment(kind=kind)


def test_a_coupon_is_found_however_it_is_spelled_and_counts_once() -> None:
    order = Bistro().order(
        AddItem(name="Water", quantity=4), ApplyCoupon(code="t e n"), ApplyCoupon(code="Ten")
    )

    assert [coupon.code for coupon in order.coupons] == ["TEN"]
    assert price(order).discount == 100


@pytest.mark.parametrize(
    ("there", "code", "facts"),
    [
        ((), "FREE", {"code": "FREE", "why": "unknown"}),
        ((), "old", {"code": "OLD", "why": "expired", "until": "2026-11-19"}),
        (("ALONE",), "TEN", {"code": "TEN", "why": "not_combinable", "there": ["ALONE"]}),
        (
            ("TEN", "FIVE"),
            "ALONE",
            {"code": "ALONE", "why": "not_combinable", "there": ["TEN", "FIVE"]},
        ),
    ],
)
def test_a_coupon_that_does_not_count_says_why(
    there: tuple[str, ...], code: str, facts: dict[str, Any]
) -> None:
    bistro = Bistro()
    order = bistro.order(*(ApplyCoupon(code=one) for one in there))

    with pytest.raises(CouponNotValid) as refused:
        bistro.after(order, ApplyCoupon(code=code))

    assert refused.value.facts == facts


def test_a_coupon_counts_on_its_last_day_until_midnight_there() -> None:
    late = Bistro(now=datetime.fromisoformat("2026-11-21T04:59:00+00:00"))
    later = Bistro(now=datetime.fromisoformat("2026-11-21T05:01:00+00:00"))

    assert late.order(ApplyCoupon(code="TODAY")).coupons
    with pytest.raises(CouponNotValid):
        later.order(ApplyCoupon(code="TODAY"))


def test_a_coupon_can_wait_for_its_minimum() -> None:
    bistro = Bistro()
    order = bistro.order(ApplyCoupon(code="BIG"), AddItem(name="Water", quantity=8))
    assert price(order).discount == 0

    assert price(bistro.after(order, AddItem(name="Water", quantity=4))).discount == 1500


def test_a_coupon_can_be_taken_off() -> None:
    bistro = Bistro()
    order = bistro.order(ApplyCoupon(code="ALONE"))

    assert (
        bistro.after(order, RemoveCoupon(code="alone"), ApplyCoupon(code="TEN")).coupons[0].code
        == "TEN"
    )
    with pytest.raises(NotFound) as refused:
        bistro.after(order, RemoveCoupon(code="TEN"))
    assert refused.value.facts == {"kind": "coupon", "id": "TEN", "possible": ["ALONE"]}


@pytest.mark.parametrize(
    ("fields", "tip"),
    [
        ({"percentage": 15}, Tip(percentage=Decimal(15))),
        ({"percentage": 12.5}, Tip(percentage=Decimal("12.5"))),
        ({"percentage": 0}, Tip(percentage=Decimal(0))),
        ({"amount": 300}, Tip(amount=Cents(300))),
        ({"amount": 0}, Tip(amount=Cents(0))),
    ],
)
def test_a_tip_is_a_percentage_or_an_amount(fields: dict[str, Any], tip: Tip) -> None:
    order = Bistro().order(AddItem(name="Water", quantity=10), SetTip.model_validate(fields))

    assert order.tip == tip


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"percentage": 10, "amount": 300},
        {"percentage": -10},
        {"percentage": 900},
        {"percentage": float("nan")},
        {"percentage": float("inf")},
        {"percentage": "15"},
        {"percentage": True},
        {"percentage": 12.345},
        {"amount": -1},
        {"amount": 3.5},
        {"amount": "300"},
        {"amount": True},
        {"amount": 10**30},
    ],
)
def test_an_invalid_tip_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SetTip.model_validate(fields)


@pytest.mark.parametrize("fields", [{"percentage": 31}, {"amount": 751}])
def test_a_tip_above_the_limit_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(OverLimit) as refused:
        Bistro().order(AddItem(name="Water", quantity=10), SetTip.model_validate(fields))

    assert refused.value.facts == {"what": "tip", "limit": 30, "limit_amount": 750}


def test_a_tip_can_be_named_before_anything_is_ordered() -> None:
    assert Bistro().order(SetTip(amount=Cents(300))).tip == Tip(amount=Cents(300))


def test_a_tip_slipped_in_before_anything_was_ordered_is_not_read_back_beyond_the_limit() -> None:
    pickup = SetFulfilment(kind="pickup")
    bistro = Bistro()
    order = bistro.order(SetTip(amount=Cents(90_000)), AddItem(name="Water", quantity=10), pickup)

    with pytest.raises(OverLimit) as refused:
        bistro.after(order, ReadBack())

    assert refused.value.facts == {"what": "tip", "limit": 30, "limit_amount": 750}
    assert bistro.after(order, SetTip(amount=Cents(750)), ReadBack()).stage is Stage.REVIEW


def test_a_tip_is_a_number_on_the_wire() -> None:
    assert SetTip(percentage=Decimal("12.5")).model_dump(mode="json", exclude_none=True) == {
        "op": "set_tip",
        "percentage": 12.5,
    }
    assert (
        SetTip(percentage=Decimal("15")).model_dump_json(exclude_none=True)
        == '{"op":"set_tip","percentage":15}'
    )


def test_the_payment_method_is_one_that_is_accepted() -> None:
    assert Bistro().order(ChoosePayment(method="card")).payment_method == "card"

    cash_only = Bistro(card(CARD.replace("payment: [cash, card]", "payment: [cash]")))
    with pytest.raises(NotPossible) as refused:
        cash_only.order(ChoosePayment(method="card"))
    assert refused.value.facts == {"what": "payment", "why": "not_offered", "possible": ["cash"]}


def test_a_pickup_costs_nothing_and_has_no_minimum() -> None:
    assert arranged(kind="pickup").fulfilment == Fulfilment(
        kind="pickup", ready_at=datetime.fromisoformat("2026-11-20T19:20:00-05:00")
    )


def test_an_address_can_be_taken_back() -> None:
    bistro = Bistro()
    order = arranged(bistro, kind="delivery", address=HERE)

    order = bistro.after(order, SetFulfilment(kind="delivery", address=None))

    assert order.fulfilment is not None
    assert order.fulfilment.address is None


def test_a_coupon_is_taken_off_however_it_is_spelled() -> None:
    bistro = Bistro()
    order = bistro.order(ApplyCoupon(code="TEN"))

    assert bistro.after(order, RemoveCoupon(code="t-e n")).coupons == ()


def test_a_percentage_in_words_is_told_to_be_a_number() -> None:
    with pytest.raises(ValidationError, match="Value error, has to be a number"):
        SetTip.model_validate({"percentage": "15"})
