"""``understand``: the order it starts from, and its explanation."""

import json
from pathlib import Path

import pytest

from agents.app.faults import InputError
from bella_vista.understand import read_order


def test_the_fields_of_a_view_are_read(tmp_path: Path) -> None:
    file = tmp_path / "order.json"
    line = {
        "id": "L7",
        "name": "Rocket meal",
        "quantity": 2,
        "parts": [{"name": "Cola", "size": "large", "modifications": ["no ice"]}],
    }
    file.write_text(json.dumps({"order_items": [line], "fulfilment": {"kind": "pickup"}}))

    order = read_order(file)

    assert order.fulfilment == "pickup"
    assert [(one.id, one.quantity, one.name, one.parts) for one in order.items] == [
        ("L7", 2, "Rocket meal", ("large Cola (no ice)",))
    ]


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("{", "order.json:1: "),
        ("[]", "order.json:1: an order is an object"),
        ('{"order_items": {}}', "order.json:1: order_items is a list"),
        ('{"order_items": [{"quantity": 1}]}', "line 1 of order_items has no name"),
    ],
)
def test_an_order_that_cannot_be_read_is_told(tmp_path: Path, written: str, fault: str) -> None:
    file = tmp_path / "order.json"
    file.write_text(written)

    with pytest.raises(InputError, match=r".") as told:
        read_order(file)

    assert fault in told.value.faults[0]
