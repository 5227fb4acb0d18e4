"""The order as objects: eight kinds, five operations, one envelope."""

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc.page.objects import OPERATIONS, failed
from rpc.restaurant import ORDER_PAGE
from state.commands import OrderCommand
from state.context import OrderContext
from state.errors import NotOnMenu, OrderError
from state.order import Stage
from state.shared import Busy, NotStored, OutcomeUnknown, SharedState, TakenOver, Unstorable
from tests.rpc.counter import COOK, Counter, Refusal
from tests.state.bistro import FRIDAY_AT_SEVEN, Bistro
from tests.state.properties.doings import DISHES, TERMS, WORDS
from tests.state.properties.effort import tried

ITEM: dict[str, Any] = {
    "name": "Margherita",
    "quantity": 2,
    "size": "large",
    "modifications": ["no basil"],
}
COMMANDS: Mapping[str, Mapping[Any, Any]] = {
    kind: objects.commands for kind, objects in ORDER_PAGE.objects.items()
}
TYPES = tuple(COMMANDS)
NOTE = {"title": "the bell", "content": "it is broken"}
SENT: dict[str, dict[str, Any]] = {
    "item": ITEM,
    "note": NOTE,
    "customer": {"name": "Ada", "phone": "+12125550142", "email": "ada@example.com"},
    "fulfilment": {"kind": "delivery", "when": None, "address": "5 Bleecker St 10012"},
    "tip": {"percentage": 15, "amount": None},
    "payment": {"method": "card"},
    "feedback": {"rating": 5, "comment": "Splendid"},
}
"""What each kind is set to here."""


async def full(*, placed: bool = False) -> tuple[Counter, dict[str, str]]:
    """An order with one of everything, and the ids of the item and the note."""
    counter = Counter()
    ids = {kind: kind for kind in TYPES} | {"order": "o-1"}
    for kind in ("item", "note"):
        made = await counter.state("create", kind, data=SENT[kind])
        ids[kind] = made["object_id"]
    for kind in ("customer", "fulfilment", "tip", "payment"):
        await counter.state("update", kind, data=SENT[kind])
    if placed:
        for op in ("read_back", "confirm_order", "place_order"):
            await counter.apply(op)
        await counter.state("create", "feedback", data=SENT["feedback"])
    return counter, ids


# -- the table --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in TYPES if "create" in COMMANDS[kind]])
async def test_create(kind: str) -> None:
    counter, _ = await full(placed=kind == "feedback")
    version = counter.shared.version

    made = await counter.state("create", kind, data=SENT[kind])

    assert made["status"] == "success"
    assert made["operation"] == "create"
    assert made["version"] == counter.shared.version == version + 1
    assert made["object_id"] in made["message"]
    assert made.keys() == {"status", "operation", "message", "version", "object_id"}
    read = await counter.state("read", kind, made["object_id"])
    assert read["object"]["id"] == made["object_id"]


@pytest.mark.parametrize("kind", TYPES)
async def test_read(kind: str) -> None:
    counter, ids = await full(placed=kind == "feedback")

    read = await counter.state("read", kind, ids[kind])

    assert (read["status"], read["operation"]) == ("success", "read")
    assert read["version"] == counter.shared.version
    thing = read["object"]
    assert (thing["id"], thing["type"]) == (ids[kind], kind)
    assert thing["created_at"] == thing["updated_at"] == FRIDAY_AT_SEVEN.isoformat()
    whole = (await counter.call("get_order_state"))["order"]
    assert thing["data"] == (whole if kind == "order" else SENT[kind])
    assert thing.keys() == {"id", "type", "created_at", "updated_at", "data"}
    if kind not in ("item", "note"):
        assert await counter.state("read", kind) == read
    assert (await counter.state("list", kind))["objects"] == {ids[kind]: thing}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("item", {"quantity": 3}),
        ("note", {"content": "it works again"}),
        ("customer", {"name": "Eve"}),
        ("fulfilment", {"kind": "pickup"}),
        ("tip", {"amount": 0}),
        ("payment", {"method": "cash"}),
        ("feedback", {"rating": 1}),
    ],
)
async def test_update(kind: str, data: dict[str, Any]) -> None:
    counter, ids = await full(placed=kind == "feedback")
    version = counter.shared.version
    counter.bistro.wait(minutes=1)

    done = await counter.state("update", kind, ids[kind], data)

    assert (done["status"], done["operation"]) == ("success", "update")
    assert done["version"] == version + 1
    read = (await counter.state("read", kind, ids[kind]))["object"]
    assert data.items() <= read["data"].items()
    assert read["created_at"] == FRIDAY_AT_SEVEN.isoformat()
    assert read["updated_at"] == counter.bistro.now.isoformat() != read["created_at"]


@pytest.mark.parametrize("kind", ["item", "note"])
async def test_delete(kind: str) -> None:
    counter, ids = await full()

    done = await counter.state("delete", kind, ids[kind], key="k")

    assert (done["status"], done["operation"]) == ("success", "delete")
    assert (await counter.state("list", kind))["count"] == 0
    version = done["version"] - 1
    assert await counter.state("delete", kind, ids[kind], key="k", version=version) == done
    again = await counter.state("delete", kind, ids[kind])
    assert (again["status"], again["error"]["type"]) == ("error", "not_found")


async def test_deleting_the_order_calls_it_off() -> None:
    counter, _ = await full()

    await counter.state("delete", "order")

    assert counter.order.stage is Stage.CANCELLED
    assert counter.order.order_items


async def test_some_of_a_line_can_be_taken_off() -> None:
    counter, ids = await full()

    await counter.state("delete", "item", ids["item"], {"quantity": 1})

    assert counter.order.item_count == 1


@pytest.mark.parametrize(
    ("kind", "operation"),
    [
        (kind, operation)
        for kind in TYPES
        for operation in ("create", "update", "delete")
        if operation not in COMMANDS[kind]
    ],
)
async def test_an_impossible_operation_is_refused_with_the_possible_ones(
    kind: str, operation: str
) -> None:
    counter, ids = await full()

    refused = await counter.refused(
        "agent.state", {"operation": operation, "object_type": kind, "data": {}, "version": 0}
    )

    assert refused["code"] == 4005
    assert {"read", "list"} <= set(refused["facts"]["possible"])
    assert operation not in refused["facts"]["possible"]
    use = "order.apply" if kind == "order" else "update"
    assert refused["facts"]["use"] == use
    assert use in refused["detail"]
    assert ids


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_every_kind_answers_every_operation_in_its_form(operation: str, kind: str) -> None:
    counter, ids = await full()
    possible = operation in ("read", "list") or operation in COMMANDS[kind]
    payload = {"operation": operation, "object_type": kind}

    try:
        answer = await counter.call("agent.state", payload)
    except Refusal as refused:
        answer = refused.told

    if not possible:
        assert answer["code"] == 4005
    elif operation == "list" or (operation == "read" and kind not in ("item", "note")):
        assert (answer["status"], answer["operation"]) == ("success", operation)
    else:
        assert answer["code"] == (4028 if kind == "order" else 4001)
    assert ids


# -- what a request has to say ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation", ["reset", "agent.reset", "__proto__", "__class__", "constructor", "", "CREATE"]
)
async def test_there_is_no_such_operation(operation: str) -> None:
    refused = await Counter().refused(
        "agent.state", {"operation": operation, "object_type": "item"}
    )

    assert (refused["code"], refused["facts"]["possible"]) == (4005, [*OPERATIONS])


@pytest.mark.parametrize("kind", ["pizza", "__proto__", "", "lines"])
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_there_is_no_such_kind(operation: str, kind: str) -> None:
    refused = await Counter().refused("agent.state", {"operation": operation, "object_type": kind})

    assert (refused["code"], refused["facts"]["field"]) == (4001, "object_type")


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({}, "operation"),
        ({"operation": None}, "operation"),
        ({"operation": "read"}, "object_type"),
        ({"operation": "create", "data": ITEM}, "object_type"),
        ({"operation": "read", "object_type": "item"}, "object_id"),
        ({"operation": "update", "object_type": "note", "data": NOTE}, "object_id"),
        ({"operation": "delete", "object_type": "item", "version": 2}, "object_id"),
        ({"operation": "read", "object_type": "item", "object_id": ""}, "object_id"),
        ({"operation": "read", "object_type": "item", "object_id": 1}, "object_id"),
        ({"operation": "create", "object_type": "item"}, "data.name"),
        ({"operation": "create", "object_type": "item", "data": {"name": None}}, "data.name"),
        ({"operation": "create", "object_type": "item", "data": [ITEM]}, "data"),
        (
            {"operation": "create", "object_type": "item", "data": ITEM, "object_id": "L9"},
            "object_id",
        ),
        ({"operation": "read", "object_type": "tip", "data": {"amount": 1}}, "data"),
        ({"operation": "list", "object_type": "item", "cursor": "L9"}, "cursor"),
        ({"operation": "list", "stage": "placed"}, "stage"),
    ],
)
async def test_an_error_names_the_wrong_field(payload: dict[str, Any], field: str) -> None:
    refused = await (await full())[0].refused("agent.state", payload)

    assert (refused["code"], refused["facts"]["field"]) == (4001, field)


@pytest.mark.parametrize(
    "field",
    [
        "unit_price",
        "total",
        "stage",
        "paid",
        "order_items",
        "op",
        "line_id",
        "note_id",
        "__proto__",
    ],
)
@pytest.mark.parametrize("kind", [kind for kind in SENT if kind != "feedback"])
async def test_a_field_that_is_not_the_guests_is_refused_by_name(kind: str, field: str) -> None:
    counter, ids = await full()

    refused = await counter.refused(
        "agent.state",
        {
            "operation": "update",
            "object_type": kind,
            "object_id": ids[kind],
            "data": {**SENT[kind], field: 0},
            "version": counter.shared.version,
        },
    )

    assert (refused["code"], refused["facts"]["field"]) == (4001, f"data.{field}")


@pytest.mark.parametrize(
    ("kind", "operation"),
    [
        ("item", "update"),
        ("item", "delete"),
        ("order", "delete"),
        ("customer", "update"),
        ("fulfilment", "update"),
        ("tip", "update"),
        ("payment", "update"),
    ],
)
async def test_a_version_is_demanded(kind: str, operation: str) -> None:
    counter, ids = await full()
    payload: dict[str, Any] = {"operation": operation, "object_type": kind, "object_id": ids[kind]}
    if operation == "update":
        payload["data"] = SENT[kind]

    refused = await counter.refused("agent.state", payload)

    assert refused["code"] == 4028


# -- what the order answers ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "object_id",
    ["L9", "../../etc", "o-2", "7d0f3c52-5f0e-4c6b-9f5e-0a2b7b0f6c11", "customers", "L1'"],
)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("operation", ["read", "update", "delete"])
async def test_a_missing_object_is_not_found(operation: str, kind: str, object_id: str) -> None:
    if operation not in ("read", *COMMANDS[kind]):
        return
    counter, _ = await full()
    before = counter.shared.state
    data = SENT.get(kind) if operation == "update" else None

    answers = [
        await counter.state(operation, kind, object_id, data, version=version)
        for version in ((None,) if operation == "read" else (0, 1, counter.shared.version, 99))
    ]

    assert counter.shared.state is before
    for answer in answers:
        assert (answer["status"], answer["operation"]) == ("error", operation)
        assert answer["version"] == counter.shared.version
        assert answer["message"] == answer["error"]["detail"]
        assert (answer["error"]["code"], answer["error"]["type"]) == (4004, "not_found")
        assert answer.keys() == {"status", "operation", "message", "version", "error"}


async def test_a_stale_writer_is_told_the_present_version() -> None:
    counter, ids = await full()

    answer = await counter.state("update", "item", ids["item"], {"quantity": 9}, version=0)

    assert answer["error"]["code"] == 4009
    assert answer["error"]["type"] == "version_conflict"
    assert answer["error"]["retryable"] is True
    assert answer["error"]["version"] == answer["version"] == counter.shared.version


async def test_refusals_of_the_rules_are_in_the_envelope() -> None:
    counter, ids = await full(placed=True)

    unicorn = await counter.state("create", "item", data={"name": "Water"})
    late = await counter.state("update", "customer", data={"name": "Eve"})
    again = await Counter().state("create", "item", data={"name": "unicorn"})

    assert (unicorn["error"]["code"], late["error"]["code"]) == (4010, 4010)
    assert (again["error"]["code"], again["error"]["reason"]) == (4022, "not_on_menu")
    assert ids


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (Busy(5.0), 5003, True),
        (NotStored("disk full: /var/secret"), 5003, True),
        (Unstorable("it holds a number that is too long"), 4022, False),
        (TakenOver(), 5003, True),
        (OutcomeUnknown(), 5004, True),
        (KeyError("a secret"), 5000, False),
    ],
)
async def test_trouble_comes_in_the_envelope_too(
    error: Exception,
    code: int,
    retryable: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    counter, _ = await full()

    async def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(counter.shared, "apply", fail)

    answer = await counter.state("create", "item", data=ITEM)

    assert answer["status"] == "error"
    assert (answer["error"]["code"], answer["error"]["retryable"]) == (code, retryable)
    assert "secret" not in f"{answer} {caplog.text} {[vars(one) for one in caplog.records]}"
    told = [vars(one)["error"] for one in caplog.records if one.name == "rpc.page.objects"]
    assert told == (["KeyError"] if code == 5000 else [])


def test_an_error_with_a_whole_menu_in_its_facts_still_fits() -> None:
    near = [f"dish {number} \u2603" * 3 for number in range(2000)]
    told = failed("create", NotOnMenu(" ".join(near), words="x", near=[*near]), 3)

    assert len(told.model_dump_json().encode()) < 15_360
    assert told.error.facts["words"] == "x"


# -- what an object is --------------------------------------------------------------------------------


async def test_a_part_that_is_not_set_yet_has_no_times() -> None:
    counter = Counter()

    for kind in ("customer", "fulfilment", "tip", "payment", "feedback"):
        thing = (await counter.state("read", kind))["object"]
        assert thing["created_at"] is thing["updated_at"] is None
        assert set(thing["data"].values()) == {None}
        assert thing["data"].keys() == SENT[kind].keys()
    assert (await counter.state("list"))["objects"] == {}


async def test_a_list_of_everything_has_what_is_there() -> None:
    counter, ids = await full()

    everything = await counter.state("list")

    kinds = [thing["type"] for thing in everything["objects"].values()]
    assert kinds == ["item", "note", "customer", "fulfilment", "tip", "payment"]
    assert everything["count"] == 6
    assert all(thing["id"] == name for name, thing in everything["objects"].items())
    await counter.state("update", "tip", data={"amount": 0})
    assert "tip" in (await counter.state("list"))["objects"]  # no tip is an answer
    assert ids


async def test_a_note_has_a_uuid() -> None:
    bistro = Bistro()
    context = OrderContext(menu=bistro.menu, now=lambda: bistro.now, new_id=lambda: str(uuid4()))
    counter = Counter(shared=SharedState(bistro.order(), context))

    made = await counter.state("create", "note", data=NOTE)

    assert UUID(made["object_id"])


async def test_more_of_the_same_goes_to_the_line_that_is_there() -> None:
    counter, ids = await full()
    await counter.state("create", "item", data={"name": "Cola"})

    more = await counter.state("create", "item", data={**ITEM, "quantity": 1}, key="k")
    again = await counter.state("create", "item", data={**ITEM, "quantity": 1}, key="k")

    assert more["object_id"] == ids["item"]
    assert again == more
    assert counter.order.order_items[0].quantity == 3


@tried(40)
@given(st.lists(st.one_of(DISHES, DISHES, TERMS, WORDS), min_size=3, max_size=20))
def test_data_that_was_read_can_be_sent_back(todo: list[OrderCommand]) -> None:
    async def follow() -> None:
        counter = Counter()
        for command in todo:
            try:
                await counter.shared.apply(command, actor="order_taker")
            except OrderError:
                continue
        for kind in ("item", "note", "customer", "fulfilment", "tip", "payment"):
            for name, thing in (await counter.state("list", kind))["objects"].items():
                if thing["created_at"] is None:
                    continue
                before = (await counter.call("get_order_state"))["order"]
                done = await counter.state("update", kind, name, thing["data"])
                assert done["status"] == "success", done
                after = (await counter.call("get_order_state"))["order"]
                same = {"version", "notes"}
                assert {k: v for k, v in after.items() if k not in same} == {
                    k: v for k, v in before.items() if k not in same
                }
                assert (await counter.state("read", kind, name))["object"]["data"] == thing["data"]

    asyncio.run(follow())


@tried(40)
@given(st.lists(DISHES, min_size=1, max_size=12))
def test_an_item_read_from_one_order_can_be_put_on_another(todo: list[OrderCommand]) -> None:
    async def follow() -> None:
        one, other = Counter(), Counter()
        for command in todo:
            try:
                await one.shared.apply(command, actor="order_taker")
            except OrderError:
                continue
        for name, thing in (await one.state("list", "item"))["objects"].items():
            made = await other.state("create", "item", data=thing["data"])
            read = await other.state("read", "item", made["object_id"])
            assert read["object"]["data"] == thing["data"], name

    asyncio.run(follow())


async def test_a_long_list_goes_on_by_its_cursor() -> None:
    counter, _ = await full()
    while (await counter.state("create", "note", data={"title": "x", "content": "y"}))[
        "status"
    ] == "success":
        continue
    found: list[str] = []
    pages = 0
    cursor = None
    while pages == 0 or cursor:
        page = await counter.state("list", cursor=cursor)
        assert page["count"] == len(page["objects"])
        found += page["objects"]
        cursor = page["cursor"]
        pages += 1

    notes = [note.id for note in counter.order.notes]
    assert found == ["L1", *notes, "customer", "fulfilment", "tip", "payment"]
    assert pages > 1
    await counter.state("delete", "note", notes[0])
    refused = await counter.refused("agent.state", {"operation": "list", "cursor": notes[0]})
    assert (refused["code"], refused["facts"]["field"]) == (4001, "cursor")


async def test_staff_may_use_it_too() -> None:
    counter, ids = await full()

    assert (await counter.state("read", "item", ids["item"], who=COOK))["status"] == "success"
