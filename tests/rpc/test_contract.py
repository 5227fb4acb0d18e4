"""The committed contract is what the code says, and what the methods do."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter
from typing_extensions import is_typeddict

from rpc import menu_forms
from rpc.gateway import ErrorObject
from rpc.page import ERRORS, Shown, forms, method_forms
from rpc.page.contract import ANY_CALL
from rpc.restaurant import CONTRACT, ORDER_PAGE, order_contract
from rpc.testing import FakeTurns
from state.commands import GUEST_COMMANDS, STAFF_COMMANDS, OrderCommand
from state.view import OrderView, view
from tests.rpc.counter import COOK, Counter, Refusal
from tests.rpc.test_apply import placed
from tests.state.bistro import Bistro
from tests.state.properties.doings import GUEST, STAFF, tossed_about
from tests.state.properties.effort import tried

METHODS = method_forms(ORDER_PAGE)
doings = st.lists(st.one_of(GUEST, GUEST, STAFF, st.none(), st.none()), min_size=5, max_size=30)


def test_the_committed_contract_is_what_the_code_says() -> None:
    written = json.dumps(order_contract(), indent=2, ensure_ascii=False) + "\n"
    assert CONTRACT.read_text(encoding="utf-8") == written, (
        "Run `python -m bella_vista schema rpc > rpc/contract.json`, and look at what changed."
    )


def test_it_names_every_method_every_command_and_every_error() -> None:
    told = order_contract()
    methods = {method.name for method in Counter().methods.methods()}

    assert set(told["methods"]) == methods == set(METHODS)
    forms = set(told["$defs"])
    assert {kind.__name__ for kind in GUEST_COMMANDS | STAFF_COMMANDS} <= forms
    assert set(ERRORS) == {
        *(4000, 4001, 4003, 4004, 4005, 4009, 4010, 4011, 4013, 4022, 4028, 4029),
        *(5000, 5003, 5004),
    }
    for method in told["methods"].values():
        assert set(method["errors"]) <= set(ERRORS)


def test_every_reference_leads_to_a_form_and_every_form_is_used() -> None:
    told = order_contract()
    named = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(told)))

    assert named == set(told["$defs"])


OPTIONAL = ("AnswerTimes", "YourTurnToSpeak", "CallEnded")
"""Pushes that leave out what there is not."""


def test_a_request_refuses_what_it_does_not_know_and_a_reply_has_all_its_fields() -> None:
    for name, form in order_contract()["$defs"].items():
        if form.get("type") != "object":
            continue
        assert form["additionalProperties"] is False, name
        model = getattr(menu_forms, name, getattr(forms, name, None))
        complete = is_typeddict(model) or (isinstance(model, type) and issubclass(model, Shown))
        if complete and name not in OPTIONAL:
            assert form["required"] == [*form["properties"]], name
        if "op" in form["properties"] and name not in ("Add", "Remove", "Replace"):
            assert "op" in form["required"]


@tried(60)
@given(doings, st.integers(0, 10**9), st.none() | st.just("payment"))
def test_the_view_of_any_order_has_its_form(
    todo: list[OrderCommand | None], version: int, speaker: str | None
) -> None:
    seen = view(tossed_about(Bistro(), todo), version, speaker)

    form: TypeAdapter[OrderView] = TypeAdapter(OrderView)
    read = form.validate_json(json.dumps(seen), strict=True)
    assert form.dump_python(read, mode="json") == json.loads(json.dumps(seen))


def fits(value: Any, forms: tuple[type[BaseModel], ...]) -> bool:
    """Whether a reply has exactly one of the forms it may have, with every field."""
    for form in forms:
        try:
            read = TypeAdapter(form).validate_json(json.dumps(value), strict=True)
        except ValueError:
            continue
        if form.__name__ == "MenuSection" or read.model_dump(mode="json", by_alias=True) == value:
            return True
    return False


async def test_every_reply_has_its_form() -> None:
    turns = FakeTurns()
    counter = await placed(Counter(turns=lambda: turns))
    replied: set[str] = set()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("hello", {}),
        ("say", {"text": "hello"}),
        ("get_transcript", {}),
        ("get_order_state", {}),
        ("get_order_state", {"since": 0}),
        ("get_order_state", {"since": counter.shared.version}),
        ("get_order_state", {"since": counter.shared.version - 1}),
        ("get_menu", {}),
        ("get_menu", {"version": counter.bistro.menu.version}),
        ("order.apply", {"command": {"op": "call_person", "reason": "x"}}),
        ("set_microphone", {"mode": "open"}),
        ("start_turn", {}),
        ("order.subscribe", {}),
        ("order.unsubscribe", {}),
        ("agent.state", {"operation": "list"}),
        ("agent.state", {"operation": "read", "object_type": "order"}),
        ("agent.state", {"operation": "read", "object_type": "item", "object_id": "L1"}),
        ("agent.state", {"operation": "read", "object_type": "item", "object_id": "L9"}),
        ("agent.state", {"operation": "create", "object_type": "feedback", "data": {"rating": 5}}),
        (
            "agent.state",
            {"operation": "update", "object_type": "feedback", "data": {"comment": "x"}},
        ),
    ]
    for method, payload in calls:
        reply = await counter.call(method, payload)
        forms = [form for form in METHODS[method].replies if fits(reply, (form,))]
        assert len(forms) == 1, (method, payload, reply)
        replied.add(forms[0].__name__)

    possible = {form.__name__ for called in METHODS.values() for form in called.replies}
    assert replied == possible - {"MenuSection"}


async def test_a_section_has_its_form() -> None:
    section = (await Counter().call("get_menu", {"section": "Pizza"}))["section"]
    form = order_contract()["$defs"]

    for name, part in (
        ("SectionView", section),
        ("DishView", section["dishes"][0]),
        ("OptionView", section["dishes"][0]["options"][0]),
        ("ChoiceView", section["dishes"][0]["options"][0]["choices"][0]),
    ):
        assert [*part] == form[name]["required"]


@pytest.mark.parametrize("name", METHODS)
async def test_the_contracts_roles_are_those_of_the_methods(name: str) -> None:
    payload: dict[str, Any]
    payload = {"say": {"text": "x"}, "agent.state": {"operation": "list"}}.get(name, {})
    if name == "order.apply":
        payload = {"command": {"op": "add_item", "name": "Water"}}

    try:
        await Counter().call(name, payload, COOK)
        allowed = True
    except Refusal as refusal:
        allowed = refusal.code != 4003

    assert allowed == ("staff" in METHODS[name].callers)
    assert "guest" in METHODS[name].callers


async def test_an_error_has_its_form() -> None:
    counter = Counter()
    answers = [
        await counter.refused("get_menu", {"section": "x"}),
        await counter.refused("say", {"text": ""}),
        (await counter.state("read", "item", "L1"))["error"],
    ]
    form = order_contract()["$defs"]["ErrorObject"]

    for answer in answers:
        assert set(form["required"]) <= set(answer) <= set(form["properties"])
        ErrorObject.model_validate(answer)
        assert ERRORS[answer["code"]] == answer["type"]


def test_every_call_can_be_refused_as_no_proper_request() -> None:
    assert {4000, 4001, 4003, 4013, 4029} <= set(ANY_CALL)
