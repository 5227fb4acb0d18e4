"""Reading the order: whole, unchanged, or what has changed."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from rpc.gateway.patches import patched
from state.commands import AddAllergy, AddItem, AddNote, OrderCommand, RemoveNote, SetFulfilment
from state.errors import OrderError
from state.shared import HandOver
from state.view import OrderView, view
from tests.rpc.counter import ADA, COOK, Counter
from tests.state.properties.doings import GUEST, STAFF, next_step
from tests.state.properties.effort import tried

doings = st.lists(st.one_of(GUEST, STAFF, st.none(), st.none()), min_size=3, max_size=25)


def gone(note_id: str) -> RemoveNote:
    return RemoveNote(note_id=note_id)


async def done(counter: Counter, command: OrderCommand) -> None:
    try:
        await counter.shared.apply(command, actor="order_taker")
    except OrderError:
        return


async def test_before_anything_is_said_the_order_is_empty() -> None:
    counter = Counter()

    whole = await counter.call("get_order_state")

    assert whole == {"version": 0, "order": view(counter.order, 0, "greeter")}
    assert whole == await counter.call("get_order_state", "  ")
    assert whole == await counter.call("get_order_state", {"since": None})


async def test_a_known_version_is_not_sent_again() -> None:
    counter = Counter()
    await counter.apply("add_item", name="Water")

    reply = await counter.call("get_order_state", {"since": 1})

    assert reply == {"version": 1, "unchanged": True}


async def test_a_version_of_the_future_or_the_far_past_gets_the_whole() -> None:
    counter = Counter()
    for _ in range(40):
        await done(counter, AddItem(name="Water", note="x"))
    await counter.apply("add_item", name="Cola")
    for _ in range(40):
        await counter.shared.apply(HandOver(target="order_taker"), actor="greeter")

    whole = await counter.call("get_order_state")

    for since in (0, whole["version"] - 33, whole["version"] + 1, 2**53):
        assert await counter.call("get_order_state", {"since": since}) == whole
    assert "patch" in await counter.call("get_order_state", {"since": whole["version"] - 1})


async def test_a_handoff_is_a_change() -> None:
    counter = Counter()

    await counter.shared.apply(HandOver(source="greeter", target="payment"), actor="greeter")

    reply = await counter.call("get_order_state", {"since": 0})
    assert reply == {
        "version": 1,
        "base_version": 0,
        "patch": [
            {"op": "replace", "path": "/version", "value": 1},
            {"op": "replace", "path": "/active_agent", "value": "payment"},
        ],
    }


async def test_where_a_patch_would_be_longer_the_whole_order_comes() -> None:
    counter = Counter()
    await counter.shared.apply(*[AddNote(title="x", content="y")] * 60, actor="greeter")
    notes = [note.id for note in counter.order.notes]
    await counter.shared.apply(*map(gone, notes), actor="greeter")

    whole = await counter.call("get_order_state")

    assert await counter.call("get_order_state", {"since": 1}) == whole
    assert "patch" in await counter.call("get_order_state", {"since": 0})


@tried(40)
@given(doings)
def test_patches_lead_from_each_version_to_the_present_one(
    todo: list[OrderCommand | None],
) -> None:
    async def follow() -> None:
        counter = Counter()
        seen: dict[int, Any] = {}
        for doing in todo:
            whole = await counter.call("get_order_state")
            TypeAdapter(OrderView).validate_python(whole["order"], strict=False)
            seen[whole["version"]] = whole["order"]
            await done(counter, doing or next_step(counter.order))
        present = await counter.call("get_order_state")
        for version, before in seen.items():
            reply = await counter.call("get_order_state", {"since": version})
            if "patch" in reply:
                assert reply["base_version"] == version
                assert patched(before, reply["patch"]) == present["order"]
            else:
                assert reply == present or reply["unchanged"]

    asyncio.run(follow())


async def test_the_longest_order_still_fits_into_a_reply() -> None:
    counter = Counter()
    await done(counter, SetFulfilment(kind="pickup"))
    for number in range(200):
        await done(counter, AddNote(title=f"{number}" * 20, content="\u00e9\u2603" * 140))
    for number in range(200):
        await done(counter, AddAllergy(name=f"nut {number}" + "\u2603" * 60))
    whole = await counter.text("get_order_state")

    assert 14_000 < len(whole.encode()) < 15_360
    assert (
        len(
            (
                await counter.text("agent.state", {"operation": "read", "object_type": "order"})
            ).encode()
        )
        < 15_360
    )
    one = await counter.text("agent.state", {"operation": "list", "object_type": "order"})
    assert len(one.encode()) < 15_360
    found: dict[str, Any] = {}
    cursor = None
    while True:
        page = await counter.state("list", cursor=cursor)
        assert page["count"] == len(page["objects"])
        found |= page["objects"]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert len([one for one in found.values() if one["type"] == "note"]) == len(counter.order.notes)


async def test_a_subscription_starts_with_the_present_order() -> None:
    counter = Counter()
    await counter.apply("add_item", name="Water")

    assert await counter.call("order.subscribe") == await counter.call("get_order_state")
    await counter.call("order.subscribe", who=COOK)
    assert counter.subscribed == [ADA, COOK]

    assert await counter.call("order.unsubscribe") == {"ok": True}
    assert await counter.call("order.unsubscribe") == {"ok": True}
    assert counter.subscribed == [COOK]


async def test_an_allergy_that_is_noted_changes_the_lines_that_hold_it() -> None:
    counter = Counter()
    await counter.apply("add_item", name="Margherita", size="small")
    await counter.apply("add_item", name="Water")

    reply = await counter.apply("add_allergy", name="lactose")

    assert [line["allergens_met"] for line in reply["order"]["order_items"]] == [["milk"], []]
    changed = await counter.call("get_order_state", {"since": 2})
    assert {"op": "add", "path": "/order_items/0/allergens_met/0", "value": "milk"} in changed[
        "patch"
    ]
