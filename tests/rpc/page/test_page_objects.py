"""The objects of a second application: with an id, single, and the state as a whole."""

from dataclasses import replace
from typing import Any

import pytest

from state.shared import Refused
from tests.rpc.page.workshop import (
    DRIVER_1,
    MANAGER,
    MECHANIC,
    NOON,
    SPEC,
    Context,
    Repair,
    Workshop,
)


async def with_job() -> Workshop:
    page = Workshop()
    await page.state("create", "job", data={"work": "oil", "hours": 2})
    return page


async def test_an_object_with_an_id_is_created_read_changed_listed_and_deleted() -> None:
    page = Workshop()

    made = await page.state("create", "job", data={"work": "Oil", "hours": 2})
    assert (made["object_id"], made["message"]) == ("J1", "Created job J1.")
    read = await page.state("read", "job", "J1")
    assert read["object"] == {
        "id": "J1",
        "type": "job",
        "created_at": None,
        "updated_at": None,
        "data": {"work": "oil", "hours": 2},
    }
    done = await page.state("update", "job", "J1", {"hours": 3})
    assert (done["status"], done["message"]) == ("success", "Updated job J1.")
    assert (await page.state("list", "job"))["objects"]["J1"]["data"]["hours"] == 3
    assert (await page.state("delete", "job", "J1"))["message"] == "Deleted job J1."
    assert (await page.state("list", "job"))["count"] == 0


async def test_an_object_that_a_command_added_to_counts_as_created() -> None:
    page = await with_job()
    await page.state("create", "job", data={"work": "tyres"})

    made = await page.state("create", "job", data={"work": "oil"}, key="k")

    assert made["object_id"] == "J1"
    await page.state("create", "job", data={"work": "brakes"})
    assert await page.state("create", "job", data={"work": "oil"}, key="k") == made


async def test_a_single_object_has_the_id_of_its_type() -> None:
    page = Workshop()
    assert (await page.state("read", "car"))["object"]["created_at"] is None
    assert (await page.state("list"))["count"] == 0

    done = await page.state("update", "car", "car", {"plate": "B 1"})

    assert done["message"] == "Updated the car."
    assert (await page.state("read", "car"))["object"]["created_at"] == NOON.isoformat()
    assert [*(await page.state("list"))["objects"]] == ["car"]


async def test_the_whole_state_is_the_object_of_the_noun() -> None:
    page = await with_job()
    whole = (await page.call("get_repair_state"))["repair"]

    for object_id in (None, "repair", "r-1"):
        found = (await page.state("read", "repair", object_id))["object"]
        assert (found["id"], found["data"]) == ("r-1", whole)
    assert [*(await page.state("list", "repair"))["objects"]] == ["r-1"]
    assert [*(await page.state("list"))["objects"]] == ["J1"]
    refused = await page.refused("agent.state", {"operation": "create", "object_type": "repair"})
    assert refused["detail"] == (
        "A repair cannot be created as a whole: change its parts, or use repair.apply."
    )
    await page.state("delete", "repair", who=MANAGER)
    assert page.shared.state.cancelled


@pytest.mark.parametrize(
    ("operation", "kind", "who", "only"),
    [
        ("update", "job", MECHANIC, "Only the roles driver and manager can do this."),
        ("update", "car", MECHANIC, "Only the roles driver and manager can do this."),
        ("delete", "repair", DRIVER_1, "Only the role manager can do this."),
    ],
)
async def test_an_operation_needs_the_role_of_its_command(
    operation: str, kind: str, who: str, only: str
) -> None:
    page = await with_job()
    payload = {"operation": operation, "object_type": kind, "data": {"hours": "x"}, "version": 1}

    refused = await page.refused("agent.state", payload, who)

    assert (refused["code"], refused["detail"]) == (4003, only)
    assert (await page.state("read", "job", "J1", who=who))["status"] == "success"


@pytest.mark.parametrize("operation", ["read", "update", "delete"])
@pytest.mark.parametrize("version", [None, 0, 1, 2])
async def test_a_missing_object_is_reported_before_a_version(
    operation: str, version: int | None
) -> None:
    page = await with_job()
    await page.state("update", "job", "J1", {"hours": 4})
    data = {"hours": 3} if operation == "update" else None

    told = await page.state(operation, "job", "J9", data, version=version)

    assert (told["status"], told["error"]["code"]) == ("error", 4004)
    assert told["error"]["detail"] == "The repair has no job 'J9'. There are: J1."
    assert told["error"]["facts"] == {"kind": "job", "id": "J9", "possible": ["J1"]}


async def test_an_application_finds_its_objects_itself_if_it_wants() -> None:
    class Gone(Refused):
        code = "not_found"

    def find(state: Repair, object_id: str) -> Any:
        raise Gone(f"Nobody knows {object_id}.")

    objects = {**SPEC.objects, "job": replace(SPEC.objects["job"], find=find)}
    page = Workshop(replace(SPEC, objects=objects))

    told = await page.state("read", "job", "J9")

    assert (told["error"]["code"], told["message"]) == (4004, "Nobody knows J9.")


async def test_an_application_names_what_was_created_itself_if_it_wants() -> None:
    def created(applied: Any, command: Any, context: Context) -> str:
        return f"{command.work} of {len(context.known)}"

    objects = {**SPEC.objects, "job": replace(SPEC.objects["job"], created=created)}

    made = await Workshop(replace(SPEC, objects=objects)).state(
        "create", "job", data={"work": "oil"}
    )

    assert made["object_id"] == "oil of 3"


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({"operation": "read"}, "object_type"),
        ({"operation": "read", "object_type": "item"}, "object_type"),
        ({"operation": "read", "object_type": "job"}, "object_id"),
        ({"operation": "create", "object_type": "job", "object_id": "J1"}, "object_id"),
        (
            {
                "operation": "update",
                "object_type": "job",
                "object_id": "J1",
                "data": {"job_id": "J2"},
            },
            "data.job_id",
        ),
        ({"operation": "list", "data": {"x": 1}}, "data"),
        ({"operation": "list", "cursor": "J9"}, "cursor"),
    ],
)
async def test_a_wrong_field_is_named(payload: dict[str, Any], field: str) -> None:
    refused = await (await with_job()).refused("agent.state", payload)

    assert (refused["code"], refused["facts"]["field"]) == (4001, field)
    if field == "object_type":
        assert "job, repair, car" in refused["detail"]


async def test_an_impossible_operation_is_refused_with_the_possible_ones() -> None:
    page = Workshop()

    for operation, possible in (("create", "use update"), ("delete", "read, update, list")):
        refused = await page.refused("agent.state", {"operation": operation, "object_type": "car"})
        assert refused["code"] == 4005
        assert possible in refused["detail"]
        assert refused["facts"]["use"] == "update"


async def test_a_repeated_removal_is_answered_as_the_first_and_a_late_one_is_too_late() -> None:
    page = await with_job()
    first = await page.state("delete", "job", "J1", key="k")

    assert await page.state("delete", "job", "J1", key="k", version=1) == first
    assert (await page.state("delete", "job", "J1"))["error"]["code"] == 4004
    page.session.end()
    for object_id in ("J1", "J9"):
        late = await page.state("delete", "job", object_id)
        assert late["error"]["reason"] == "call_over"
    assert await page.state("delete", "job", "J1", key="k", version=1) == first
