"""Every method in a real room does what the contract says, and its replies have the forms of the contract."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import yaml

from agents.app.rooms.process_context import ProcessContext
from bella_vista.menus import menu_file
from state.context import OrderContext
from state.menu import load_menu
from state.order import OrderState
from tests.agents.app.rooms.checked_client import (
    CONTRACT,
    LARGE,
    TIRAMISU,
    Checked,
    misfit,
    patched,
    placed,
    served,
)
from tests.agents.app.rooms.conftest import Calls, Changed
from tests.livekit import LiveKit, until

MENUS = [menu_file(None), *sorted((Path(__file__).parents[2] / "menus").glob("*.yaml"))]
WRITTEN = {file: yaml.safe_load(file.read_text(encoding="utf-8")) for file in MENUS}

SENT: dict[str, dict[str, Any]] = {
    "item": {
        "name": "Margherita",
        "quantity": 2,
        "size": "large",
        "modifications": ["extra mozzarella", "no basil"],
    },
    "note": {"title": "the bell", "content": "it is broken"},
    "customer": {"name": "Ada", "phone": "+12125550142", "email": "ada@example.com"},
    "fulfilment": {"kind": "delivery", "when": None, "address": "5 Bleecker St 10012"},
    "tip": {"percentage": 15, "amount": None},
    "payment": {"method": "card"},
    "feedback": {"rating": 5, "comment": "Splendid"},
}
"""What each part is set to, and what it reads as afterwards."""

PARTS = ("customer", "fulfilment", "tip", "payment")


async def test_the_parts_of_an_order_are_made_read_changed_and_listed(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        assert (await ada.state("list"))["objects"] == {}
        ids = {kind: kind for kind in PARTS}
        for kind in ("item", "note"):
            made = await ada.state("create", kind, data=SENT[kind])
            ids[kind] = made["object_id"]
        for kind in PARTS:
            version = (await ada.order())["version"]
            done = await ada.state("update", kind, kind, data=SENT[kind], version=version)
            assert done["version"] == version + 1, kind

        for kind, object_id in ids.items():
            read = (await ada.state("read", kind, object_id))["object"]
            assert (read["id"], read["type"]) == (object_id, kind)
            assert read["data"] == SENT[kind], kind
            assert read["created_at"]
            assert read["updated_at"]
            listed = await ada.state("list", kind)
            assert (listed["objects"], listed["count"]) == ({object_id: read}, 1)
        everything = await ada.state("list")
        assert sorted(one["type"] for one in everything["objects"].values()) == sorted(ids)
        assert everything["count"] == len(ids)

        order = await ada.order()
        whole = (await ada.state("list", "order"))["objects"]
        assert whole == {order["order_id"]: (await ada.state("read", "order"))["object"]}
        assert whole[order["order_id"]]["data"] == order
        assert order["order_items"][0]["modifications"] == SENT["item"]["modifications"]
        assert order["fulfilment"]["address"] == SENT["fulfilment"]["address"]

        for kind, data in (("item", {"quantity": 1}), ("note", {"content": "it rings"})):
            version = (await ada.order())["version"]
            await ada.state("update", kind, ids[kind], data=data, version=version)
            changed = (await ada.state("read", kind, ids[kind]))["object"]
            assert changed["data"] == SENT[kind] | data
        for kind in ("item", "note"):
            version = (await ada.order())["version"]
            await ada.state("delete", kind, ids[kind], version=version)
            assert (await ada.state("list", kind))["count"] == 0
            gone = await ada.state("read", kind, ids[kind])
            assert gone["error"]["type"] == "not_found"
        order = await ada.order()
        assert (order["order_items"], order["notes"]) == ([], [])


async def test_an_impossible_operation_is_refused_with_the_possible_ones(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        before = await ada.client.call_text("get_order_state")
        instead = {"operation": "create", "object_type": "feedback", "data": {"rating": 5}}
        assert (await ada.call("agent.state", instead))["error"]["code"] == 4010
        for kind, operations, use in (
            *((part, ("create", "delete"), "update") for part in PARTS),
            ("order", ("create", "update"), "order.apply"),
            ("feedback", ("delete",), "update"),
        ):
            for operation in operations:
                asked = {"operation": operation, "object_type": kind, "data": {}, "version": 0}
                told = await ada.refused("agent.state", asked)
                assert (told["code"], told["facts"]["use"]) == (4005, use), (operation, kind)
        for kind in CONTRACT["objects"]:
            for operation in ("read", "list"):
                object_id = {"item": "L1", "note": "n"}.get(kind) if operation == "read" else None
                answer = await ada.state(operation, kind, object_id)
                missing = operation == "read" and kind in ("item", "note")
                assert (answer["status"] == "error") == missing, (operation, kind)
        assert await ada.client.call_text("get_order_state") == before


async def test_deleting_the_order_calls_it_off_and_feedback_comes_after_it_was_placed(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        await placed(ada)
        made = await ada.state("create", "feedback", data={"rating": 4})
        assert made["object_id"] == "feedback"
        version = (await ada.order())["version"]
        await ada.state("update", "feedback", "feedback", data=SENT["feedback"], version=version)
        read = await ada.state("read", "feedback")
        assert read["object"]["data"] == SENT["feedback"]
        assert (await ada.order())["feedback_rating"] == 5
    async with served(calls, livekit, f"{room_name}-other") as (ada, _):
        await ada.apply(**LARGE)
        assert (await ada.state("delete", "order", version=1))["status"] == "success"
        assert (await ada.order())["stage"] == "cancelled"


async def test_notes_are_kept_as_documented(calls: Calls, livekit: LiveKit, room_name: str) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        first, second = [
            (await ada.state("create", "note", data={"title": title, "content": "x"}))["object_id"]
            for title in ("one", "two")
        ]
        assert UUID(first) != UUID(second)
        await ada.state("create", "item", data=SENT["item"])
        note = (await ada.state("read", "note", first))["object"]
        assert note["created_at"] == note["updated_at"]
        assert note["created_at"].startswith("2026-11-20T")
        await ada.state("update", "note", first, data={"title": "uno"})
        changed = (await ada.state("read", "note", first))["object"]
        assert changed["data"] == {"title": "uno", "content": "x"}
        assert changed["created_at"] == note["created_at"]
        listed = await ada.state("list", "note")
        assert [*listed["objects"]] == [first, second]
        assert (await ada.state("list"))["count"] == 3
        assert (await ada.state("delete", "note", first))["status"] == "success"
        assert [*(await ada.state("list", "note"))["objects"]] == [second]


async def test_a_list_goes_on_by_its_cursor(calls: Calls, livekit: LiveKit, room_name: str) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        made = []
        for number in range(68):
            data = {"title": f"{number}", "content": "x"}
            made.append((await ada.state("create", "note", data=data))["object_id"])
        found: list[str] = []
        pages = 0
        cursor = None
        while pages == 0 or cursor is not None:
            page = await ada.state("list", "note", cursor=cursor)
            found += page["objects"]
            pages, cursor = pages + 1, page["cursor"]
        assert found == made
        assert pages > 1
        gone = await ada.refused(
            "agent.state", {"operation": "list", "object_type": "note", "cursor": "L1"}
        )
        assert gone["facts"]["field"] == "cursor"


async def test_a_conflict_names_the_present_version(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        seen = {0: await ada.order()}
        await ada.apply(**LARGE, modifications=["half ham"])
        for op, fields in (
            ("add_item", {"name": "Tiramisu", "quantity": 1}),
            ("set_fulfilment", {"kind": "pickup"}),
            ("apply_coupon", {"code": "NEIGHBOR5"}),
            ("add_note", {"title": "a/b~c", "content": "~1/~0"}),
            ("remove_item", {"line_id": "L1", "quantity": 1}),
            ("remove_item", {"line_id": "L1"}),
            ("set_tip", {"percentage": 18}),
        ):
            order = await ada.step(op, **fields)
            seen[order["version"]] = order
        await ada.say("I am Ada, and a glass of house red please")  # a handoff among others
        whole = await ada.call("get_order_state")
        assert whole["order"]["active_agent"] == "order_taker"
        patches = 0
        for version, order in seen.items():
            reply = await ada.call("get_order_state", {"since": version})
            if "patch" in reply:
                patches += 1
                assert (reply["base_version"], reply["version"]) == (version, whole["version"])
                assert patched(order, reply["patch"]) == whole["order"]
            else:
                assert reply == whole
        assert patches >= 4
        same = await ada.call("get_order_state", {"since": whole["version"]})
        assert same == {"version": whole["version"], "unchanged": True}
        for unknown in (whole["version"] + 1, 2**53):
            assert await ada.call("get_order_state", {"since": unknown}) == whole


class Follower:
    """A page's copy of the order: it applies what fits, drops what it has, and heals what it missed."""

    def __init__(self, client: Checked) -> None:
        self.checked = client
        self.version = -1
        self.order: Any = None
        self.read = 0
        self.applied = 0
        self.healed = 0

    async def start(self) -> None:
        """Subscribe."""
        answer = await self.checked.call("order.subscribe")
        self.version, self.order = answer["version"], answer["order"]

    async def follow(self, *, missing: bool = False) -> None:
        """Take in what was pushed, or act as if it had not come."""
        pushes = self.checked.client.changes[self.read :]
        self.read += len(pushes)
        for push in pushes if not missing else ():
            form = CONTRACT["pushes"]["order_state_changed"]["payload"]
            assert misfit(push, form) is None
            if push["base_version"] == self.version:
                self.order = patched(self.order, push["patch"])
                self.version = push["version"]
                self.applied += 1
            elif push["version"] > self.version:
                reply = await self.checked.call("get_order_state", {"since": self.version})
                whole = reply.get("order") or patched(self.order, reply["patch"])
                self.version, self.order = reply["version"], whole
                self.healed += 1


async def test_pushes_keep_a_copy_up_to_date_and_a_gap_is_healed(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with (
        livekit.joined(room_name, staff=True) as staff,
        served(calls, livekit, room_name) as (ada, _),
    ):
        await staff.hello()
        page, kitchen = Follower(ada), Follower(Checked(staff))
        for copy in (page, kitchen):
            await copy.start()
            assert copy.version == 0
        for step in range(5):
            order = await ada.apply(**(LARGE if step % 2 else TIRAMISU))
            for copy in (page, kitchen):
                await copy.checked.pushed(order["version"])
            await page.follow()
            assert (page.version, page.order) == (order["version"], order)
            await kitchen.follow(missing=step == 2)
        assert kitchen.order == page.order == await ada.order()
        assert (page.applied, page.healed) == (5, 0)
        assert (kitchen.applied, kitchen.healed) == (3, 1)

        assert await Checked(staff).call("order.unsubscribe") == {"ok": True}
        told = len(staff.changes)
        order = await ada.apply(**TIRAMISU)
        await until(lambda: ada.client.changes[-1]["version"] == order["version"])
        assert (await staff.call("get_order_state"))["version"] == order["version"]
        assert len(staff.changes) == told


async def test_a_burst_of_changes_ends_with_the_newest(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, agent):
        copy = Follower(ada)
        await copy.start()
        for _ in range(20):
            await ada.client.call("order.apply", {"command": TIRAMISU})
        await until(lambda: ada.client.changes[-1:] and ada.client.changes[-1]["version"] == 20)
        await copy.follow()
        assert copy.order == await ada.order()
        assert copy.healed == 0
        await until(lambda: ada.client.agents()[-1].attributes.get("bella.version") == "20")
        attributes = await ada.client.attributes("bella.active_agent", "bella.stage")
        assert (attributes["bella.active_agent"], attributes["bella.stage"]) == ("greeter", "open")
        assert agent.room.isconnected()


@pytest.mark.parametrize("file", MENUS, ids=[file.stem for file in MENUS])
async def test_a_page_can_read_the_whole_menu(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str, file: Path
) -> None:
    written = WRITTEN[file]
    house = with_menu(changed, calls.house, file)
    async with livekit.joined(room_name) as client, calls.agent(room_name, house=house):
        await client.hello()
        ada = Checked(client)
        menu = await ada.call("get_menu")
        wanted = [section["name"] for section in written["sections"]]
        assert menu["sections"][: len(wanted)] == wanted
        assert len(menu["sections"]) == len(wanted) + bool(written.get("combos"))
        found: dict[str, list[dict[str, Any]]] = {}
        for section in menu["sections"]:
            cursor = None
            while section not in found or cursor is not None:
                asked = {"section": section, **({"cursor": cursor} if cursor else {})}
                page = await ada.call("get_menu", asked)
                assert page["menu_version"] == menu["menu_version"]
                assert page["section"]["name"] == section
                dishes = found.setdefault(section, [])
                dishes += [one for one in page["section"]["dishes"] if not one["continued"]]
                cursor = page["cursor"]
        for section in written["sections"]:
            shown = {dish["name"]: dish for dish in found[section["name"]]}
            assert [*shown] == [dish["name"] for dish in section["dishes"]]
            for dish in section["dishes"]:
                priced = dish.get("price")
                sizes = [*priced] if isinstance(priced, dict) else ["regular"]
                assert [*shown[dish["name"]]["sizes"]] == sizes, dish["name"]
                assert shown[dish["name"]]["available"] is dish.get("available", True)
        if written.get("combos"):
            names = [combo["name"] for combo in written["combos"]]
            assert [one["name"] for one in found[menu["sections"][-1]]] == names
        known = await ada.call("get_menu", {"version": menu["menu_version"]})
        assert known == {"menu_version": menu["menu_version"], "unchanged": True}


def with_menu(
    changed: Changed, house: ProcessContext[OrderState, OrderContext], file: Path
) -> ProcessContext[OrderState, OrderContext]:
    """The same restaurant with another menu."""
    return changed(
        context=OrderContext(
            menu=load_menu(file), now=house.context.now, new_id=house.context.new_id
        )
    )
