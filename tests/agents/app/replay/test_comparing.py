from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import AwareDatetime, BaseModel

from agents.app.replay.comparing import differences, time_fields
from bella_vista.order_fields import OrderFields
from state.menu.words import same_words
from state.order import OrderState
from state.view import view
from tests.bella_vista.small_restaurant import restaurant

PLAIN = {"name": "Margherita", "size": "large", "modifications": []}
NO_BASIL = {"name": "Margherita", "size": "large", "modifications": ["no basil"]}


def test_fields_are_those_of_the_view() -> None:
    order = restaurant().state

    assert OrderFields.model_fields.keys() == view(order, 0, "greeter").keys()


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({}, {"total": 1}),
        ({"total": 1}, {"total": 1, "tip": 2}),
        ({"tip_percentage": Decimal(15)}, {"tip_percentage": 15}),
        ({"tip_percentage": Decimal("7.5")}, {"tip_percentage": 7.5}),
        ({"email": None}, {"email": None}),
        ({"allergies": ["nuts", "milk"]}, {"allergies": ["milk", "nuts"]}),
        ({"order_items": [PLAIN, NO_BASIL]}, {"order_items": [NO_BASIL, PLAIN]}),
        # The first could be either of the two: it has to make way for the second.
        ({"order_items": [{"name": "Margherita"}, PLAIN]}, {"order_items": [PLAIN, NO_BASIL]}),
        ({"fulfilment": {"kind": "pickup"}}, {"fulfilment": {"kind": "pickup", "when": None}}),
        (
            {"fulfilment": {"when": "2026-11-20T19:30"}},
            {"fulfilment": {"when": "2026-11-20T19:30:00-05:00"}},
        ),
        (
            {"fulfilment": {"when": "2026-11-21T00:30Z"}},
            {"fulfilment": {"when": "2026-11-20T19:30:00-05:00"}},
        ),
    ],
)
def test_equal_values_have_no_difference(expected: dict[str, Any], actual: dict[str, Any]) -> None:
    assert list(differences(expected, actual, time_fields(OrderState))) == []


@pytest.mark.parametrize(
    ("expected", "actual", "told"),
    [
        ({"total": 1}, {"total": 2}, ["total: expected 1, got 2"]),
        (
            {"total": 1, "tip": 0},
            {"total": 2, "tip": 3},
            ["total: expected 1, got 2", "tip: expected 0, got 3"],
        ),
        ({"email": None}, {"email": "a@b.org"}, ['email: expected null, got "a@b.org"']),
        ({"email": ""}, {"email": None}, ['email: expected "", got null']),
        ({"eggs": 1}, {}, ["eggs: expected 1, there is none"]),
        (
            {"fulfilment": {"kind": "pickup"}},
            {"fulfilment": None},
            ["fulfilment: expected {kind: pickup}, got null"],
        ),
        (
            {"fulfilment": {"kind": "a"}},
            {"fulfilment": {"kind": "b"}},
            ["fulfilment.kind: expected a, got b"],
        ),
        ({"allergies": ["nuts"]}, {"allergies": []}, ["allergies: expected nuts, there is none"]),
        ({"allergies": []}, {"allergies": ["nuts"]}, ["allergies: not expected: nuts"]),
        # Of two that have the same name, the one with fewer differences is compared.
        (
            {"order_items": [{**PLAIN, "size": "small"}, NO_BASIL]},
            {"order_items": [PLAIN, {**NO_BASIL, "size": "medium"}]},
            [
                "order_items[Margherita].size: expected small, got large",
                "order_items[Margherita].size: expected large, got medium",
            ],
        ),
        (
            {"order_items": [PLAIN]},
            {"order_items": [{"name": "Cola"}]},
            [
                "order_items: expected {name: Margherita, size: large}, there is none",
                "order_items: not expected: {name: Cola}",
            ],
        ),
        (
            {"order_items": [PLAIN]},
            {"order_items": [PLAIN, PLAIN]},
            ["order_items: not expected: {name: Margherita, size: large}"],
        ),
    ],
)
def test_differences_are_reported_field_by_field(
    expected: dict[str, Any], actual: dict[str, Any], told: list[str]
) -> None:
    assert [str(one) for one in differences(expected, actual)] == told


def test_an_application_says_which_texts_are_the_same() -> None:
    expected = {"lines": [{"name": "Bowl", "with": ["2 salmon", "no egg"]}], "note": "Cut in half"}
    actual = {"lines": [{"name": "Bowl", "with": ["no egg", "2 salmons"]}], "note": "cut in half"}
    assert [str(one) for one in differences(expected, actual, same=same_words)] == []
    assert len(list(differences(expected, actual))) == 3
    actual["lines"][0]["with"] = ["egg", "2 salmons"]  # type: ignore[index]
    assert len(list(differences(expected, actual, same=same_words))) == 2


class Slot(BaseModel, frozen=True):
    start: datetime
    kind: str


class Booking(BaseModel, frozen=True):
    promised_at: datetime | None = None
    reminders: tuple[AwareDatetime, ...] = ()
    slots: dict[str, Slot] = {}
    note: str = ""


def test_the_fields_that_hold_times_are_found_by_their_types() -> None:
    assert time_fields(Booking) == {"promised_at", "reminders", "start"}


TIME, LONG = "2026-11-20T19:00+01:00", "2026-11-20T19:00:00+01:00"


def test_two_texts_of_one_time_differ_only_where_the_field_holds_none() -> None:
    def booking(time: str) -> dict[str, Any]:
        slots = {"a": {"start": time, "kind": "check"}}
        return {"promised_at": time, "reminders": [time], "slots": slots, "note": time}

    found = differences(booking(TIME), booking(LONG), time_fields(Booking))

    assert [one.field for one in found] == ["note"]
