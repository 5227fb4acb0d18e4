"""What an order is without its guest."""

from typing import Any, get_args

import pytest
from pydantic import BaseModel

from state.commands import (
    AddAllergy,
    AddItem,
    AddNote,
    GuestCommand,
    Part,
    SetCustomer,
    SetFulfilment,
    StaffCommand,
)
from state.forgetting import (
    FORGOTTEN,
    KEPT,
    KEPT_TEXTS,
    command_with_words_cut,
    with_words_cut,
    without_guest,
)
from state.order import Fulfilment, OrderLine, OrderState
from state.pricing import price
from state.view import view
from tests.state.bistro import Bistro

GOES: dict[type[BaseModel], set[str]] = {
    OrderState: {
        *("customer_name", "phone", "email", "notes", "allergies"),
        *("feedback_comment", "person_reason", "ended_reason"),
    },
    OrderLine: {"note"},
    Fulfilment: {"address"},
}
HERS = (
    SetCustomer(name="Ada", phone="+12125550199", email="ada@example.com"),
    AddItem(name="Margherita", size="large", quantity=2, modifications=("no basil",), note="hot"),
    AddItem(
        name="Dinner for two",
        quantity=1,
        parts=(
            Part(name="Margherita", size="small"),
            *(Part(name="Funghi"), Part(name="House red", quantity=2)),
        ),
    ),
    SetFulfilment(kind="delivery", address="12 Carmine Street, 10014"),
    AddAllergy(name="walnuts"),
    AddNote(title="door", content="ring twice"),
)


@pytest.mark.parametrize("part", KEPT, ids=lambda part: part.__name__)
def test_of_every_field_it_is_known_whether_it_stays(part: type[BaseModel]) -> None:
    assert KEPT[part] | GOES[part] == set(part.model_fields)
    assert not KEPT[part] & GOES[part]


def test_the_bill_stays_and_the_guest_goes() -> None:
    order = Bistro().order(*HERS)

    left = without_guest(order)

    assert price(left) == price(order)
    gone: dict[str, object] = {
        "customer_name": None,
        "phone": None,
        "email": None,
        "notes": [],
        "allergies": [],
    }
    seen, before = view(left, 1, None), view(order, 1, None)
    assert {name: seen[name] for name in gone} == gone
    same = set(seen) - set(gone) - {"order_items", "fulfilment"}
    assert {name: seen[name] for name in same} == {name: before[name] for name in same}
    assert [line.note for line in left.order_items] == [None, None]
    assert [line.modifications for line in left.order_items] == [
        line.modifications for line in order.order_items
    ]
    assert without_guest(left) == left
    assert OrderState.model_validate_json(left.model_dump_json()) == left


def commands() -> list[Any]:
    return [*get_args(GuestCommand), *get_args(StaffCommand)]


def free_texts(schema: dict[str, Any]) -> bool:
    """Whether a field takes any text: no choice between a few, no pattern, no number, no time."""
    options = [schema, *schema.get("anyOf", [])]
    return any(
        option.get("type") == "string"
        and not {"const", "enum", "pattern", "format"} & option.keys()
        for option in options
    )


def test_no_text_that_stays_in_a_command_can_be_anybodys_words() -> None:
    """A command with an id that the order has not, or a time that is none, is refused and never stored."""
    checked = {"line_id", "note_id", "when", "ready_at"}
    for command in commands():
        for name, schema in command.model_json_schema()["properties"].items():
            if free_texts(schema) and name not in checked:
                assert name not in KEPT_TEXTS, f"{command.__name__}.{name}"


def test_only_the_words_that_are_meant_are_cut_elsewhere() -> None:
    order = Bistro().order(*HERS)
    note = {"op": "add_note", "title": "door", "content": "ring twice"}

    def cut(text: str) -> str:
        return text.replace("ring", FORGOTTEN)

    left = with_words_cut(order, cut)

    assert left.notes[0].content == f"{FORGOTTEN} twice"
    assert left.model_copy(update={"notes": order.notes}) == order
    assert command_with_words_cut(note, cut) == {**note, "content": f"{FORGOTTEN} twice"}
