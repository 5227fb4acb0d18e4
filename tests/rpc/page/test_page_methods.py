"""The methods of a second application: its own names, roles and words, the same promises."""

import json
from dataclasses import replace
from typing import Any

import pytest

from rpc.gateway import Caller, Request, Subscribers
from rpc.gateway.patches import patched
from rpc.page import PageMethod, Session
from rpc.page.contract import contract
from rpc.page.session import MOST_KEYS
from rpc.testing import CallRefused, FakePage, FakeRoom
from tests.rpc.page.workshop import (
    DRIVER_1,
    MANAGER,
    MECHANIC,
    SPEC,
    AddJob,
    Context,
    Hours,
    Repair,
    Workshop,
)

BRAKES = {"op": "add_job", "work": "Brakes"}


async def test_hello_names_the_state_by_its_noun() -> None:
    page = Workshop(agent="workshop", speaker="reception")

    assert await page.call("hello") == {
        "protocol": 1,
        "agent": "workshop",
        "features": [*SPEC.all_features],
        "repair_id": "r-1",
        "version": 0,
        "active_agent": "reception",
        "turn": 0,
        "resume_code": "a-code",
    }


@pytest.mark.parametrize("who", [MECHANIC, MANAGER])
async def test_only_the_user_gets_the_resume_code(who: str) -> None:
    assert (await Workshop().call("hello", who=who))["resume_code"] is None


async def test_a_reply_holds_the_state_under_its_noun() -> None:
    page = Workshop()

    applied = await page.call("repair.apply", {"command": BRAKES})

    assert [*applied] == ["version", "repair"]
    assert applied["repair"]["jobs"] == [{"id": "J1", "work": "brakes", "hours": 1}]
    assert await page.call("get_repair_state") == applied
    assert await page.call("repair.subscribe") == applied
    assert await page.call("get_repair_state", {"since": 1}) == {"version": 1, "unchanged": True}
    await page.apply("change_job", job_id="J1", hours=2)
    assert await page.call("get_repair_state", {"since": 1}) == {
        "version": 2,
        "base_version": 1,
        "patch": [
            {"op": "replace", "path": "/version", "value": 2},
            {"op": "replace", "path": "/jobs/0/hours", "value": 2},
        ],
    }


async def test_commands_of_a_page_are_resolved_before_they_are_applied() -> None:
    page = Workshop()

    await page.apply("add_job", work="TYRES")
    await page.state("create", "job", data={"work": "Oil"})

    assert [job.work for job in page.shared.state.jobs] == ["tyres", "oil"]


# -- roles -----------------------------------------------------------------------------------------


async def test_each_role_sends_its_own_commands() -> None:
    page = Workshop()
    actors: list[str] = []
    page.shared.subscribe(lambda applied: actors.append(applied.actor))

    await page.apply("add_job", work="oil")
    await page.apply("add_job", work="oil", who=MECHANIC)
    await page.apply("finish", who=MANAGER)

    assert actors == ["driver", "mechanic", "manager"]


@pytest.mark.parametrize(
    ("op", "who", "only"),
    [
        ("finish", DRIVER_1, "Only the roles mechanic and manager can do this."),
        ("cancel", DRIVER_1, "Only the role manager can do this."),
        ("cancel", MECHANIC, "Only the role manager can do this."),
        ("set_car", MECHANIC, "Only the roles driver and manager can do this."),
    ],
)
async def test_a_command_of_another_role_is_forbidden(op: str, who: str, only: str) -> None:
    refused = await Workshop().refused("repair.apply", {"command": {"op": op}, "version": 0}, who)

    assert (refused["code"], refused["detail"], refused["version"]) == (4003, only, 0)


@pytest.mark.parametrize("who", [DRIVER_1, MECHANIC, MANAGER])
async def test_an_unknown_command_is_told_what_the_role_may_send(who: str) -> None:
    refused = await Workshop().refused("repair.apply", {"command": {"op": "paint"}}, who)

    assert (refused["code"], refused["facts"]["field"]) == (4005, "command.op")
    assert refused["facts"]["possible"] == [*SPEC.ops_of[who.removesuffix("-1")]]


@pytest.mark.parametrize("payload", ["", "[", '{"least": "x"}'])
async def test_a_method_of_another_role_is_forbidden_for_any_payload(payload: str) -> None:
    page = Workshop()

    refused = await page.refused("get_hours", payload)

    assert (refused["code"], refused["detail"]) == (
        4003,
        "Only the roles mechanic and manager can call this.",
    )
    assert await page.call("get_hours", who=MECHANIC) == {"hours": 0}


async def test_only_the_user_speaks() -> None:
    page = Workshop()

    for who in (MECHANIC, MANAGER):
        refused = await page.refused("say", {"text": "hello"}, who)
        assert (refused["code"], refused["detail"]) == (4003, "Only the role driver can call this.")
    await page.call("say", {"text": "hello"})

    assert page.conversation.heard == ["hello"]


async def test_a_caller_without_a_role_is_told_nothing() -> None:
    page = Workshop()

    for method in ("hello", "say", "get_repair_state", "get_hours", "repair.apply", "agent.state"):
        refused = await page.refused(method, who="nobody-1")
        assert refused["code"] == 4003
        assert "version" not in refused


async def test_a_state_error_of_a_method_is_told_as_such() -> None:
    refused = await Workshop().refused("get_hours", {"least": 3}, MECHANIC)

    assert (refused["code"], refused["reason"], refused["facts"]) == (
        4022,
        "unknown_work",
        {"hours": 0},
    )


# -- keys ------------------------------------------------------------------------------------------


async def test_a_key_belongs_to_the_user_or_to_one_other_caller() -> None:
    page = Workshop(
        callers={DRIVER_1: "driver", "driver-2": "driver", MECHANIC: "mechanic", "m-2": "mechanic"}
    )
    asked = {"command": BRAKES, "key": "k"}

    first = await page.call("repair.apply", asked)

    assert await page.call("repair.apply", asked, "driver-2") == first
    for version, who in ((2, MECHANIC), (2, MECHANIC), (3, "m-2"), (3, "m-2")):
        assert (await page.call("repair.apply", asked, who))["version"] == version


async def test_a_key_of_an_ended_call_is_answered_as_it_was() -> None:
    page, second = Workshop(), Workshop()
    asked = {"command": BRAKES, "key": "k"}
    first = await page.call("repair.apply", asked)
    page.session.end()
    refused = await page.refused("repair.apply", {"command": BRAKES})
    assert refused["detail"].startswith("The call is over. The repair can still be read;")

    page.methods.open(second.session, second)

    assert await page.call("repair.apply", asked) == first
    assert second.shared.version == 0


class AddOil(Request):
    """Add oil."""

    key: str | None = None


async def _add_oil(session: Session[Repair, Context], request: AddOil, caller: Caller) -> Hours:
    key = session.own_key(caller, request.key) if request.key else None
    applied = await session.shared.apply(AddJob(work="oil"), actor="mechanic", key=key)
    return Hours(hours=sum(job.hours for job in applied.state.jobs))


ADDS_OIL = replace(
    SPEC,
    methods=(
        *SPEC.methods,
        PageMethod(name="add_oil", request=AddOil, replies=(Hours,), answer=_add_oil),
    ),
)


async def test_a_method_that_writes_is_refused_after_the_end_and_one_that_reads_is_not() -> None:
    page = Workshop(ADDS_OIL)
    keyed = {"key": "k"}
    first = await page.call("add_oil", keyed, MECHANIC)
    page.session.end()

    refused = await page.refused("add_oil", who=MECHANIC)
    other = await page.refused("add_oil", {"key": "another"}, MECHANIC)

    assert (refused["code"], refused["reason"]) == (other["code"], other["reason"])
    assert (refused["code"], refused["reason"]) == (4022, "call_over")
    assert await page.call("add_oil", keyed, MECHANIC) == first
    assert await page.call("get_hours", who=MECHANIC) == {"hours": 1}
    assert page.shared.version == 1


async def test_a_methods_key_of_an_ended_call_changes_nothing_in_the_next() -> None:
    page, second = Workshop(ADDS_OIL), Workshop(ADDS_OIL)
    first = await page.call("add_oil", {"key": "k"}, MECHANIC)
    page.session.end()
    page.methods.open(second.session, second)

    assert await page.call("add_oil", {"key": "k"}, MECHANIC) == first
    assert (page.shared.version, second.shared.version) == (1, 0)


def test_the_contract_names_the_refusal_of_every_method_that_writes() -> None:
    told = contract(ADDS_OIL, "Workshop")["methods"]

    assert 4022 in told["add_oil"]["errors"]
    assert 4022 in told["repair.apply"]["errors"]


async def test_keys_of_say_are_remembered_up_to_a_limit() -> None:
    page = Workshop()
    said = {"text": "hello", "key": "first"}
    await page.call("say", said)
    for number in range(MOST_KEYS - 1):
        await page.call("say", {"text": "hello", "key": str(number)})

    assert await page.call("say", said) == {"turn": 1}
    await page.call("say", {"text": "hello", "key": "one more"})
    assert (await page.call("say", said))["turn"] > 1


# -- versions and pushes ---------------------------------------------------------------------------


async def test_a_version_is_demanded_in_the_words_of_the_application() -> None:
    page = Workshop()
    await page.apply("add_job", work="oil")

    refused = await page.refused(
        "repair.apply", {"command": {"op": "change_job", "job_id": "J1", "hours": 2}}
    )

    assert (refused["code"], refused["facts"]) == (4028, {"field": "version"})
    assert refused["detail"].startswith("Say which version of the repair you have seen")


async def test_before_it_is_open_the_noun_is_named() -> None:
    refused = await Workshop(open_at_once=False).refused("get_repair_state")

    assert refused["detail"].startswith("No repair is open yet.")


async def test_changes_are_pushed_under_the_noun() -> None:
    page = Workshop()
    async with FakeRoom() as room:
        client = room.join(DRIVER_1)
        client.has("repair_state_changed")
        subscribers = Subscribers(room.agent, page.session.views, SPEC.changed_method)
        page.methods.open(page.session, subscribers)
        page.gateway.install(room.agent)
        started = json.loads(await room.call(DRIVER_1, "repair.subscribe"))

        await room.call(DRIVER_1, "repair.apply", {"command": BRAKES})
        page.session.views.note()
        subscribers.changed()
        await room.clock.advance(0)

        (pushed,) = client.named("repair_state_changed")
        assert patched(started["repair"], pushed["patch"]) == page.session.views.present()[1]
        await subscribers.aclose()
        await page.gateway.aclose()


async def test_the_test_kit_says_that_a_call_was_not_refused() -> None:
    page: FakePage[Any, Any] = Workshop()

    with pytest.raises(AssertionError, match="it was answered"):
        await page.refused("get_repair_state")
    with pytest.raises(CallRefused) as told:
        await page.call("repair.apply", {"command": {}})
    assert (told.value.code, told.value.told["type"]) == (4001, "invalid_params")
