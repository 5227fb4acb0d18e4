"""The commands as clients and models meet them: names, fields, words and bounds."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from state.commands import (
    GUEST_COMMANDS,
    ORDER_COMMANDS,
    STAFF_COMMANDS,
    OrderCommand,
    Reprice,
    SetFulfilment,
)

FORMS = {
    "set_customer": {"name", "phone", "email"},
    "add_item": {"name", "size", "quantity", "modifications", "parts", "note"},
    "change_item": {"line_id", "name", "size", "quantity", "modifications", "parts", "note"},
    "remove_item": {"line_id", "quantity"},
    "add_note": {"title", "content"},
    "change_note": {"note_id", "title", "content"},
    "remove_note": {"note_id"},
    "add_allergy": {"name"},
    "remove_allergy": {"name"},
    "set_fulfilment": {"kind", "when", "address"},
    "apply_coupon": {"code"},
    "remove_coupon": {"code"},
    "set_tip": {"percentage", "amount"},
    "choose_payment": {"method"},
    "read_back": set(),
    "confirm_order": set(),
    "place_order": set(),
    "reopen_order": set(),
    "cancel_order": set(),
    "give_feedback": {"rating", "comment"},
    "call_person": {"reason"},
    "accept_order": {"ready_at"},
    "start_preparing": set(),
    "mark_ready": set(),
    "complete_order": set(),
    "refuse_order": {"reason"},
    "mark_answered": set(),
}

COMMANDS = sorted(GUEST_COMMANDS | STAFF_COMMANDS, key=lambda command: command.__name__)


def op(command: type[OrderCommand]) -> str:
    return str(command.model_fields["op"].default)


def test_every_command_has_the_name_and_the_fields_that_others_rely_on() -> None:
    assert {op(command): set(command.model_fields) - {"op"} for command in COMMANDS} == FORMS


@pytest.mark.parametrize("command", COMMANDS, ids=op)
def test_every_command_has_a_description_for_models(command: type[OrderCommand]) -> None:
    assert (command.__doc__ or "").split(".")[0].strip()
    schema = command.model_json_schema()
    for name, field in schema["properties"].items():
        assert name == "op" or "description" in json.dumps(field), name
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    "said",
    [
        {"op": "add_item", "name": "Margherita", "quantity": 2, "modifications": ["no basil"]},
        {"op": "set_tip", "percentage": 15},
        {"op": "read_back"},
        {"op": "refuse_order", "reason": "no gas"},
    ],
)
def test_a_command_is_read_from_json_by_its_op(said: dict[str, Any]) -> None:
    command = ORDER_COMMANDS.validate_json(json.dumps(said))

    assert (
        command.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        | {"op": command.op}
        == said
    )


@pytest.mark.parametrize(
    "said",
    [
        {"op": "refund_all"},
        {"op": "__class__"},
        {"op": "hand_over", "target": "payment"},
        {"op": "reprice"},
        {"name": "Margherita"},
        {"op": "add_item"},
        {"op": "add_item", "name": "Cola", "modifications": "no ice"},
        {"op": "add_item", "name": "Cola", "modifications": ["x"] * 51},
        {"op": "add_item", "name": "x" * 81},
        {"op": "add_item", "name": "\u200b"},
        {"op": "add_item", "name": 7},
        {"op": "add_item", "name": "Cola", "note": "x" * 281},
        {"op": "add_item", "name": "Cola", "note": "x" * 1_000_000},
        {"op": "set_fulfilment", "kind": "pickup", "address": "x" * 281},
        {"op": "change_item", "quantity": 2},
        {"op": "change_item", "line_id": "L1"},
        {"op": "set_customer"},
        {"op": "place_order", "paid": True},
    ],
)
def test_an_unknown_op_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ORDER_COMMANDS.validate_json(json.dumps(said))


def test_a_guest_cannot_send_staff_commands() -> None:
    assert not GUEST_COMMANDS & STAFF_COMMANDS
    assert Reprice not in GUEST_COMMANDS | STAFF_COMMANDS


def test_the_schema_of_all_commands_is_one_union_by_op() -> None:
    schema = ORDER_COMMANDS.json_schema()

    assert set(schema["discriminator"]["mapping"]) == set(FORMS)


def test_a_command_is_written_with_what_was_said_even_if_that_was_nothing() -> None:
    assert SetFulfilment(kind="pickup").written() == {"op": "set_fulfilment", "kind": "pickup"}
    assert SetFulfilment(kind="delivery", address=None).written() == {
        "op": "set_fulfilment",
        "kind": "delivery",
        "address": None,
    }
