"""A page's declaration: every fault is found when it is made, and every name comes from the noun."""

from dataclasses import replace
from typing import Any, Literal

import pytest

from rpc.gateway import Request
from rpc.page import ObjectType, PageFaults, PageMethod, PageSpec, Shown, method_forms
from state.shared import Command
from tests.rpc.page.workshop import (
    DRIVER,
    SPEC,
    AddJob,
    Cancel,
    Finish,
    Hours,
    RepairCommand,
    SetCar,
    Workshop,
    car,
    get_hours,
    jobs,
)

TURNS = ("start_turn", "end_turn", "cancel_turn", "set_microphone")


class Twice(Finish):
    """Another command of the same name."""


class Nameless(RepairCommand):
    """A command without a name."""

    def apply(self, state: Any, context: Any) -> Any:
        """Change nothing."""
        return state


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"noun": "Repair"}, "The noun 'Repair' is not lower snake case."),
        ({"noun": "version"}, "A reply has a field 'version' of its own"),
        ({"user": "user"}, "The user's role 'user' is not in roles"),
        ({"roles": {"driver": DRIVER, "the boss": (Finish, Cancel)}}, "The role 'the boss' is not"),
        ({"roles": {**SPEC.roles, "boss": (Twice,)}}, "Twice and Finish have the same op 'finish'"),
        ({"roles": {**SPEC.roles, "boss": (Nameless,)}}, "Nameless has no op"),
        ({"roles": {"driver": DRIVER}, "methods": ()}, "No role may send Cancel, which deletes"),
        ({"objects": {"a job": ObjectType(all=jobs)}}, "The object type 'a job' is not"),
        (
            {"objects": {"car": ObjectType(all=car, id_field="plate_id", update=SetCar)}},
            "SetCar has no field 'plate_id' for the id of 'car'",
        ),
        (
            {"methods": (*SPEC.methods, *SPEC.methods)},
            "There is more than one method 'get_hours'",
        ),
        ({"methods": (replace(SPEC.methods[0], name="say"),)}, "more than one method 'say'"),
        (
            {"methods": (replace(SPEC.methods[0], name="get hours"),)},
            "The method 'get hours' is not lower snake case",
        ),
        (
            {"methods": (replace(SPEC.methods[0], name="car."),)},
            "The method 'car.' is not lower snake case",
        ),
        (
            {"methods": (replace(SPEC.methods[0], roles=("guest",)),)},
            "The method 'get_hours' is for 'guest', which is not in roles",
        ),
    ],
)
def test_a_fault_is_named(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(PageFaults) as found:
        replace(SPEC, **changes)

    assert [one for one in found.value.faults if fault in one], found.value.faults


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(PageFaults) as found:
        replace(SPEC, noun="A Repair", user="boss", methods=(*SPEC.methods, *SPEC.methods))

    assert len(found.value.faults) == 3
    assert str(found.value) == "\n".join(found.value.faults)


def test_the_methods_are_named_by_the_noun() -> None:
    assert [method.name for method in Workshop().methods.methods()] == [
        "hello",
        "say",
        "get_transcript",
        "refuse_recording",
        *TURNS,
        "get_repair_state",
        "get_hours",
        "repair.apply",
        "repair.subscribe",
        "repair.unsubscribe",
        "agent.state",
    ]
    assert SPEC.changed_method == "repair_state_changed"


def test_a_page_serves_no_more_than_is_declared() -> None:
    plain: PageSpec[Any, Any] = PageSpec(noun="repair", view=SPEC.view, roles={"user": ()})
    page = Workshop(plain)

    assert [method.name for method in page.methods.methods()] == [
        "hello",
        "say",
        "get_transcript",
        "refuse_recording",
        *TURNS,
        "get_repair_state",
        "repair.subscribe",
        "repair.unsubscribe",
    ]
    assert plain.all_features == (
        "say",
        "repair.subscribe",
        "get_transcript",
        "patches",
        "your_turn_to_speak",
        "call_ended",
    )


def test_the_features_are_in_the_order_of_the_methods() -> None:
    assert SPEC.all_features == (
        "say",
        "get_hours",
        "repair.apply",
        "repair.subscribe",
        "get_transcript",
        "agent.state",
        "patches",
        "your_turn_to_speak",
        "call_ended",
        "keys",
    )


def test_the_commands_of_an_earlier_role_come_first() -> None:
    assert [*SPEC.ops_of["manager"]] == [
        *("add_job", "change_job", "remove_job", "set_car"),
        *("finish", "cancel"),
    ]
    assert SPEC.ops_of["mechanic"] == {"add_job": AddJob, "finish": Finish}


class Ask(Request):
    """A request."""


class Yes(Shown):
    """A reply."""


def test_roles_and_commands_of_a_set_have_an_order_all_the_same() -> None:
    sets = {role: frozenset(kinds) for role, kinds in SPEC.roles.items()}
    method = replace(SPEC.methods[0], roles=frozenset(("manager", "mechanic")))

    spec = replace(SPEC, roles=sets, methods=(method,))

    assert [*spec.ops] == ["add_job", "change_job", "remove_job", "set_car", "finish", "cancel"]
    assert spec.ops_of == SPEC.ops_of
    assert method_forms(spec)["get_hours"].callers == ("mechanic", "manager")


def test_one_command_class_may_be_in_several_roles() -> None:
    class Ring(Command[Any, Any]):
        """Ring."""

        op: Literal["ring"] = "ring"

        def apply(self, state: Any, context: Any) -> Any:
            """Change nothing."""
            return state

    method: PageMethod[Any, Any] = PageMethod(
        name="ask", request=Ask, replies=(Yes, Hours), answer=get_hours
    )
    spec: PageSpec[Any, Any] = PageSpec(
        noun="call",
        view=SPEC.view,
        roles={"user": [Ring], "porter": {Ring}},
        methods=(method,),
    )

    assert spec.allowed(Ring) == ("user", "porter")
