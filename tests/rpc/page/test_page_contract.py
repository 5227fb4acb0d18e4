"""The contract of a second application: its own names and words, and what its methods really answer."""

import json
import re
from dataclasses import replace
from typing import Any, Literal

import pytest
from pydantic import TypeAdapter

from rpc.page import contract, method_forms
from rpc.page.contract import ANY_CALL
from rpc.testing import FakeTurns
from tests.rpc.page.workshop import (
    DRIVER_1,
    MANAGER,
    MECHANIC,
    SPEC,
    RepairCommand,
    Workshop,
)

TOLD = contract(SPEC, "The workshop's RPC")


def test_it_has_the_names_of_the_application() -> None:
    assert TOLD["title"] == "The workshop's RPC"
    assert TOLD["features"] == [*SPEC.all_features, "recorded", "push_to_talk"]
    assert [*TOLD["methods"]] == [method.name for method in Workshop().methods.methods()]
    assert [*TOLD["pushes"]] == ["repair_state_changed", "your_turn_to_speak", "call_ended"]
    assert TOLD["methods"]["say"]["callers"] == ["driver"]
    assert TOLD["methods"]["get_hours"]["callers"] == ["mechanic", "manager"]
    assert TOLD["methods"]["repair.apply"]["callers"] == ["driver", "mechanic", "manager"]
    assert TOLD["methods"]["get_hours"]["errors"] == sorted({*ANY_CALL, 4022})
    assert {
        *("GetRepairStateRequest", "WholeRepair", "RepairPatch", "RepairApplyRequest"),
        *("RepairSubscribeRequest", "RepairUnsubscribeRequest", "RepairStateChanged"),
    } <= TOLD["$defs"].keys()
    assert TOLD["objects"]["job"] == {
        "create": {"$ref": "#/$defs/AddJob"},
        "update": {"$ref": "#/$defs/ChangeJob"},
        "delete": {"$ref": "#/$defs/RemoveJob"},
    }


@pytest.mark.parametrize("word", ["{", "order", "guest", "filled", "Noun", "food", "restaurant"])
def test_it_has_no_word_of_another(word: str) -> None:
    texts = re.findall(r'"((?:[^"\\]|\\.)*)"', json.dumps(TOLD))

    assert [text for text in texts if word in text] == []


def test_every_reference_leads_to_a_form_and_every_form_is_used() -> None:
    named = set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(TOLD)))

    assert named == set(TOLD["$defs"])


def test_a_view_without_a_model_is_any_object() -> None:
    told = contract(replace(SPEC, view_form=None), "x")

    assert told["$defs"]["WholeRepair"]["properties"]["repair"] == {
        "additionalProperties": {"$ref": "#/$defs/JsonValue"},
        "type": "object",
    }


def test_a_noun_of_two_words_makes_names_of_two_words() -> None:
    told = contract(replace(SPEC, noun="car_repair"), "x")

    assert "GetCarRepairStateRequest" in told["$defs"]
    assert "car_repair_id" in told["$defs"]["HelloReply"]["properties"]


def test_a_command_may_have_the_name_of_a_form_of_the_page() -> None:
    class Add(RepairCommand):
        """A command like a step of a patch."""

        op: Literal["add"] = "add"

        def apply(self, state: Any, context: Any) -> Any:
            """Change nothing."""
            return state

    told = contract(replace(SPEC, roles={**SPEC.roles, "boss": (Add,)}), "x")

    named = set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(told)))
    assert named == set(told["$defs"])
    forms = [form for form in told["$defs"].values() if form.get("title") == "Add"]
    assert len(forms) == 2


CALLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("hello", {}, DRIVER_1),
    ("say", {"text": "hello"}, DRIVER_1),
    ("get_transcript", {}, DRIVER_1),
    ("get_repair_state", {}, DRIVER_1),
    ("repair.apply", {"command": {"op": "add_job", "work": "oil"}}, DRIVER_1),
    ("get_repair_state", {"since": 1}, DRIVER_1),
    ("repair.apply", {"command": {"op": "add_job", "work": "oil"}}, MECHANIC),
    ("get_repair_state", {"since": 1}, DRIVER_1),
    ("get_hours", {}, MANAGER),
    ("set_microphone", {"mode": "open"}, DRIVER_1),
    ("start_turn", {}, DRIVER_1),
    ("end_turn", {}, DRIVER_1),
    ("start_turn", {}, DRIVER_1),
    ("cancel_turn", {}, DRIVER_1),
    ("repair.subscribe", {}, DRIVER_1),
    ("repair.unsubscribe", {}, DRIVER_1),
    (
        "agent.state",
        {"operation": "create", "object_type": "job", "data": {"work": "tyres"}},
        DRIVER_1,
    ),
    ("agent.state", {"operation": "read", "object_type": "car"}, DRIVER_1),
    ("agent.state", {"operation": "list"}, DRIVER_1),
    ("agent.state", {"operation": "read", "object_type": "job", "object_id": "J9"}, DRIVER_1),
    (
        "agent.state",
        {"operation": "update", "object_type": "car", "data": {"plate": "B 1"}},
        DRIVER_1,
    ),
)


async def test_every_reply_has_one_form_and_every_form_is_replied() -> None:
    turns = FakeTurns()
    page = Workshop(turns=lambda: turns)
    forms = method_forms(SPEC)
    replied: set[str] = set()
    for method, payload, who in CALLS:
        reply = await page.call(method, payload, who)
        fitting = [form for form in forms[method].replies if fits(form, reply)]
        assert len(fitting) == 1, (method, payload, reply)
        replied.add(fitting[0].__name__)

    assert replied == {form.__name__ for method in forms.values() for form in method.replies}


def fits(form: type[Any], reply: dict[str, Any]) -> bool:
    try:
        read = TypeAdapter(form).validate_json(json.dumps(reply), strict=True)
    except ValueError:
        return False
    return read.model_dump(mode="json", by_alias=True) == reply  # type: ignore[no-any-return]


@pytest.mark.parametrize("who", [DRIVER_1, MECHANIC, MANAGER])
@pytest.mark.parametrize("name", method_forms(SPEC))
async def test_the_contract_names_the_roles(name: str, who: str) -> None:
    payloads: dict[str, dict[str, Any]] = {
        "say": {"text": "x"},
        "agent.state": {"operation": "list"},
        "set_microphone": {"mode": "open"},
    }
    payload = payloads.get(name, {})
    if name == "repair.apply":
        payload = {"command": {"op": "add_job", "work": "oil"}}

    if who.removesuffix("-1") in TOLD["methods"][name]["callers"]:
        turns = FakeTurns()
        turns.start()
        await Workshop(turns=lambda: turns).call(name, payload, who)
    else:
        assert (await Workshop().refused(name, payload, who))["code"] == 4003
