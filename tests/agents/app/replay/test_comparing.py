from decimal import Decimal
from typing import Any

import pytest

from agents.app.replay.comparing import differences
from bella_vista.order_fields import OrderFields
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
def test_what_is_so_holds(expected: dict[str, Any], actual: dict[str, Any]) -> None:
    assert list(differences(expected, actual)) == []


@pytest.mark.parametrize(
    ("expected", "actual", "told"),
    [
        ({"total": 1}, {"total": 2}, ["total is 2, not 1"]),
        ({"total": 1, "tip": 0}, {"total": 2, "tip": 3}, ["total is 2, not 1", "tip is 3, not 0"]),
        ({"email": None}, {"email": "a@b.org"}, ['email is "a@b.org", not null']),
        ({"email": ""}, {"email": None}, ['email is null, not ""']),
        ({"fulfilment": {"kind": "pickup"}}, {"fulfilment": None}, ["fulfilment is null, not "]),
        ({"fulfilment": {"kind": "a"}}, {"fulfilment": {"kind": "b"}}, ['fulfilment.kind is "b"']),
        ({"allergies": ["nuts"]}, {"allergies": []}, ['allergies has no "nuts"']),
        (
            {"allergies": []},
            {"allergies": ["nuts"]},
            ['allergies has "nuts", which was not expected'],
        ),
        ({"order_items": [PLAIN, PLAIN]}, {"order_items": [PLAIN, NO_BASIL]}, ["has no", "has {"]),
        ({"order_items": [PLAIN]}, {"order_items": [PLAIN, PLAIN]}, ["which was not expected"]),
    ],
)
def test_what_is_not_so_is_told(
    expected: dict[str, Any], actual: dict[str, Any], told: list[str]
) -> None:
    found = list(differences(expected, actual))

    assert len(found) == len(told)
    assert all(part in line for part, line in zip(told, found, strict=True))
