"""Subscribers are told of changes, and no change waits for a subscriber."""

import asyncio
import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpc.gateway.errors import RateLimited
from rpc.gateway.history import View, Views
from rpc.gateway.push import PAUSE_S, Subscribers
from tests.rpc.gateway.clients import Client, Room
from tests.virtual_time import in_virtual_time, played

METHOD = "number_state_changed"


class Shop:
    """A state with a list in it, and everything it ever looked like."""

    def __init__(self, keep: int = 32) -> None:
        self.version = 0
        self.view: View = {"version": 0, "lines": [], "note": None}
        self.at_version: dict[int, View] = {}
        self.views = Views(self._render, keep)

    def _render(self) -> tuple[int, View]:
        self.at_version[self.version] = copy.deepcopy(self.view)
        return self.version, copy.deepcopy(self.view)

    def change(self) -> None:
        self.version += 1
        lines: list[Any] = self.view["lines"]  # type: ignore[assignment]
        if self.version % 5 == 4:
            lines.pop(0)
        else:
            lines.insert(self.version % 3, {"id": f"L{self.version}", "n": self.version})
        del lines[8:]
        self.view["note"] = f"après {self.version}"
        self.view["version"] = self.version
        self.views.note()

    def write(self, note: str) -> None:
        self.version += 1
        self.view |= {"note": note, "version": self.version}
        self.views.note()


class Page:
    """What a client makes of its pushes, by the rule of the contract."""

    def __init__(self, version: int, view: View) -> None:
        self.version, self.view = version, copy.deepcopy(view)

    def takes(self, push: dict[str, Any]) -> bool:
        """Take a push in; False when there is a gap."""
        assert set(push) == {"base_version", "version", "patch"}
        if push["version"] <= self.version:
            return True
        if push["base_version"] != self.version:
            return False
        self.version, self.view = push["version"], apply(self.view, push["patch"])
        return True


def apply(document: Any, patch: list[dict[str, Any]]) -> Any:
    """RFC 6902, for add, remove and replace."""
    document = copy.deepcopy(document)
    for step in patch:
        assert step["op"] in ("add", "remove", "replace")
        if step["path"] == "":
            document = copy.deepcopy(step["value"])
            continue
        *way, last = [
            key.replace("~1", "/").replace("~0", "~") for key in step["path"].split("/")[1:]
        ]
        inside = document
        for key in way:
            inside = inside[int(key)] if isinstance(inside, list) else inside[key]
        if isinstance(inside, list) and step["op"] == "add":
            inside.insert(len(inside) if last == "-" else int(last), step["value"])
        elif step["op"] == "remove":
            del inside[int(last) if isinstance(inside, list) else last]
        elif isinstance(inside, list):
            inside[int(last)] = step["value"]
        else:
            assert step["op"] == "add" or last in inside
            inside[last] = step["value"]
    return document


def seen(shop: Shop, client: Client, start: int = 0) -> Page:
    """Take in all pushes; each must fit the one before and give the view of its version."""
    page = Page(start, shop.at_version[start])
    for push in client.got:
        assert push["version"] > page.version, "a push that tells nothing new"
        assert page.takes(push), "a gap"
        assert page.view == shop.at_version[page.version]
    return page


@in_virtual_time
async def test_a_thousand_changes_reach_each_client_at_its_own_pace() -> None:
    shop, slow, fast = Shop(keep=2_000), Client(takes=1.0), Client()
    gone, deaf, late = Client(gone=True), Client(deaf=True), Client(takes=5.0)
    room = Room(slow=slow, fast=fast, gone=gone, deaf=deaf, late=late)
    subscribers = Subscribers(room, shop.views, METHOD)
    for identity in room.clients:
        subscribers.subscribe(identity)

    told_at = {}
    for _ in range(1_000):
        shop.change()
        subscribers.changed()
        told_at[shop.version] = asyncio.get_running_loop().time()
        await asyncio.sleep(0.01)
    await asyncio.sleep(20)

    for client in (slow, fast, late):
        assert seen(shop, client).view == shop.view
    assert 1_000 * 0.01 / (PAUSE_S + 0.015) < len(fast.got) <= 1_000 * 0.01 / PAUSE_S + 1
    for version, changed_at in told_at.items():
        at = next(
            at for push, at in zip(fast.got, fast.at, strict=True) if push["version"] >= version
        )
        assert at - changed_at < PAUSE_S + 0.005
    assert len(slow.got) == 11
    assert len(late.got) == 5  # livekit gives each up after 3 seconds
    assert room.calls["gone"] == room.calls["deaf"] == 1
    assert set(room.most_at_once.values()) == {1}
    assert room.methods == {METHOD}
    await subscribers.aclose()


@in_virtual_time
async def test_changes_in_one_breath_are_one_push() -> None:
    shop, page = Shop(), Client()
    subscribers = Subscribers(Room(page=page), shop.views, "stay_changed")
    assert subscribers.subscribe("page") == (0, shop.view)

    for _ in range(20):
        shop.change()
        subscribers.changed()
    await asyncio.sleep(1)

    assert [(push["base_version"], push["version"]) for push in page.got] == [(0, 20)]
    assert seen(shop, page).view == shop.view
    await subscribers.aclose()


@in_virtual_time
async def test_nothing_is_sent_while_nothing_changed() -> None:
    shop, room = Shop(), Room(page=Client())
    subscribers = Subscribers(room, shop.views, METHOD)
    subscribers.subscribe("page")

    subscribers.changed()
    subscribers.returned("page")
    subscribers.returned("stranger")
    subscribers.left("stranger")
    await asyncio.sleep(1)

    assert not room.calls
    await subscribers.aclose()


@in_virtual_time
async def test_a_client_that_acknowledges_late_has_the_notice() -> None:
    shop, page = Shop(), Client(takes=60)
    subscribers = Subscribers(Room(page=page), shop.views, METHOD)
    subscribers.subscribe("page")

    for _ in range(3):
        shop.change()
        subscribers.changed()
        await asyncio.sleep(20)

    assert [(one["base_version"], one["version"]) for one in page.got] == [
        (0, 1),
        (1, 2),
        (2, 3),
    ]
    await subscribers.aclose()


@pytest.mark.parametrize("code", [1500, 1504, 2001])
@in_virtual_time
async def test_the_answer_of_a_client_is_ignored(code: int) -> None:
    shop, page = Shop(), Client(fails=code)
    subscribers = Subscribers(Room(page=page), shop.views, METHOD)
    subscribers.subscribe("page")

    for _ in range(2):
        shop.change()
        subscribers.changed()
        await asyncio.sleep(1)

    assert [one["base_version"] for one in page.got] == [0, 1]
    await subscribers.aclose()


@in_virtual_time
async def test_a_client_without_the_method_is_told_again_when_it_subscribes_again() -> None:
    shop, page = Shop(), Client(deaf=True)
    room = Room(page=page)
    subscribers = Subscribers(room, shop.views, METHOD)
    subscribers.subscribe("page")
    shop.change()
    subscribers.changed()
    await asyncio.sleep(1)
    page.deaf = False
    shop.change()
    subscribers.changed()
    subscribers.returned("page")
    await asyncio.sleep(1)
    assert room.calls["page"] == 1

    assert subscribers.subscribe("page")[0] == 2
    shop.change()
    subscribers.changed()
    await asyncio.sleep(1)

    assert seen(shop, page, start=2).version == 3
    await subscribers.aclose()


@in_virtual_time
async def test_a_returning_client_gets_what_it_missed() -> None:
    shop, page = Shop(), Client()
    room = Room(page=page)
    subscribers = Subscribers(room, shop.views, METHOD)
    subscribers.subscribe("page")
    page.leave()
    subscribers.left("page")
    for _ in range(3):
        shop.change()
        subscribers.changed()
        await asyncio.sleep(10)
    assert not room.calls

    page.come()
    subscribers.returned("page")
    await asyncio.sleep(1)

    assert [(one["base_version"], one["version"]) for one in page.got] == [(0, 3)]
    assert seen(shop, page).view == shop.view
    await subscribers.aclose()


@in_virtual_time
async def test_a_client_that_returns_during_a_failing_call_is_called_again() -> None:
    shop, page = Shop(), Client(gone=True)
    subscribers = Subscribers(Room(page=page), shop.views, METHOD)
    subscribers.subscribe("page")
    shop.change()
    subscribers.changed()
    await asyncio.sleep(3)

    page.gone = False
    subscribers.returned("page")
    await asyncio.sleep(5)

    assert seen(shop, page).version == 1
    await subscribers.aclose()


@in_virtual_time
async def test_a_client_that_leaves_during_a_notice_gets_it_again() -> None:
    shop, page = Shop(), Client(takes=2.0)
    subscribers = Subscribers(Room(page=page), shop.views, METHOD)
    subscribers.subscribe("page")
    shop.change()
    subscribers.changed()
    await asyncio.sleep(1)

    page.leave()
    await asyncio.sleep(1)
    page.come()
    subscribers.returned("page")
    await asyncio.sleep(5)

    assert [(one["base_version"], one["version"]) for one in page.got] == [(0, 1), (0, 1)]
    await subscribers.aclose()


@in_virtual_time
async def test_subscribing_again_starts_from_what_the_reply_told() -> None:
    shop, page = Shop(), Client(takes=2.0)
    subscribers = Subscribers(Room(page=page), shop.views, METHOD)
    subscribers.subscribe("page")
    shop.change()
    subscribers.changed()
    await asyncio.sleep(1)  # the first push is under way
    shop.change()

    assert subscribers.subscribe("page")[0] == 2
    await asyncio.sleep(5)
    shop.change()
    subscribers.changed()
    await asyncio.sleep(5)

    assert [(one["base_version"], one["version"]) for one in page.got] == [(0, 1), (2, 3)]
    await subscribers.aclose()


@in_virtual_time
async def test_an_unsubscribed_client_gets_no_notices() -> None:
    shop, page, other = Shop(), Client(takes=2.0), Client()
    room = Room(page=page, other=other)
    subscribers = Subscribers(room, shop.views, METHOD)
    subscribers.subscribe("page")
    subscribers.subscribe("other")
    shop.change()
    subscribers.changed()
    await asyncio.sleep(1)

    subscribers.unsubscribe("page")
    subscribers.unsubscribe("page")
    shop.change()
    subscribers.changed()
    await asyncio.sleep(5)

    assert len(page.got) == 1
    assert seen(shop, other).version == 2
    await subscribers.aclose()


@in_virtual_time
async def test_a_long_patch_is_sent_as_the_whole_view_and_a_too_long_view_as_a_gap() -> None:
    shop, page = Shop(keep=2), Client()
    room = Room(page=page)
    subscribers = Subscribers(room, shop.views, METHOD)
    subscribers.subscribe("page")

    def told(change: Callable[[], None]) -> None:
        change()
        subscribers.changed()

    for _ in range(4):
        shop.change()  # the first version is forgotten
    told(shop.change)
    await asyncio.sleep(1)
    told(lambda: shop.write("é" * 7_000))
    await asyncio.sleep(1)
    assert [step["path"] for step in page.got[0]["patch"]] == [""]
    assert seen(shop, page).view == shop.view

    told(lambda: shop.write("é" * 8_000))
    await asyncio.sleep(1)
    assert page.got[-1] == {"base_version": 7, "version": 7, "patch": []}
    assert not Page(6, shop.at_version[6]).takes(page.got[-1])

    told(lambda: shop.write("short"))
    await asyncio.sleep(1)
    healed = Page(7, shop.at_version[7])
    assert healed.takes(page.got[-1])
    assert healed.view == shop.view
    assert max(room.sizes) < 15_360
    await subscribers.aclose()


@in_virtual_time
async def test_pushes_stay_below_the_limit_of_old_clients() -> None:
    shop, page = Shop(), Client()
    room = Room(page=page)
    subscribers = Subscribers(room, shop.views, METHOD)
    subscribers.subscribe("page")
    for length in range(15_100, 15_400):
        shop.write("x" * length)
        subscribers.changed()
        await asyncio.sleep(1)

    assert max(room.sizes) == 15_359
    assert page.got[-1]["patch"] == []
    await subscribers.aclose()


@in_virtual_time
async def test_the_number_of_subscribers_is_limited_and_leavers_make_room() -> None:
    shop, room = Shop(), Room(a=Client(), b=Client(), c=Client(), d=Client())
    subscribers = Subscribers(room, shop.views, METHOD, most=3)
    for identity in "abc":
        subscribers.subscribe(identity)
    with pytest.raises(RateLimited):
        subscribers.subscribe("d")
    subscribers.subscribe("a")

    subscribers.left("b")
    subscribers.subscribe("d")
    subscribers.returned("b")
    shop.change()
    subscribers.changed()
    await asyncio.sleep(1)

    assert set(room.calls) == {"a", "c", "d"}
    await subscribers.aclose()


def test_a_view_that_fails_to_render_affects_no_caller(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        class Broken(Views):
            broken = True

            def since(self, version: int) -> Any:
                if self.broken:
                    raise ValueError("Ada's number is 5551234")
                return super().since(version)

        shop, page = Shop(), Client()
        broken = Broken(shop._render)
        subscribers = Subscribers(Room(page=page), broken, METHOD)
        subscribers.subscribe("page")
        for healed in (False, True):
            broken.broken = not healed
            shop.change()
            broken.note()
            subscribers.changed()
            await asyncio.sleep(1)

        assert seen(shop, page).version == 2
        await subscribers.aclose()

    played(story())
    assert "ValueError" in str([vars(record) for record in caplog.records])
    assert "5551234" not in str([vars(record) for record in caplog.records])


@in_virtual_time
async def test_a_call_that_livekit_loses_is_given_up() -> None:
    shop, page = Shop(), Client()
    room = Room(page=page)
    room.lost = True
    subscribers = Subscribers(room, shop.views, METHOD)
    subscribers.subscribe("page")
    shop.change()
    subscribers.changed()
    await asyncio.sleep(16)

    room.lost = False
    subscribers.returned("page")
    await asyncio.sleep(1)

    assert seen(shop, page).version == 1
    await subscribers.aclose()


@in_virtual_time
async def test_the_end_breaks_off_what_is_under_way() -> None:
    shop, page = Shop(), Client(gone=True)
    room = Room(page=page)
    subscribers = Subscribers(room, shop.views, METHOD)
    subscribers.subscribe("page")
    shop.change()
    subscribers.changed()
    await asyncio.sleep(1)

    before = asyncio.get_running_loop().time()
    await subscribers.aclose()
    subscribers.changed()
    assert subscribers.subscribe("page")[0] == 1
    shop.change()
    subscribers.changed()
    await asyncio.sleep(20)

    assert asyncio.get_running_loop().time() - before == pytest.approx(20)
    assert room.calls["page"] == 1


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("change"), st.integers(1, 4)),
        st.tuples(st.just("wait"), st.sampled_from([0.0, 0.001, 0.003, 0.5, 3.0, 8.0])),
        st.tuples(
            st.sampled_from(["subscribe", "unsubscribe", "leave", "vanish", "come"]), st.just(0)
        ),
    ),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(
    steps=STEPS,
    takes=st.sampled_from([0.0, 0.01, 1.0, 5.0]),
    away=st.sampled_from([0.0, 0.002, 0.4]),
    keep=st.sampled_from([1, 3, 32]),
    loses_acks=st.booleans(),
)
@in_virtual_time
async def test_a_page_that_reloads_after_gaps_ends_with_the_present_view(
    steps: list[tuple[str, float]], takes: float, away: float, keep: int, loses_acks: bool
) -> None:
    shop = Shop(keep)
    client = Client(takes=takes, away=away, loses_acks=loses_acks)
    room = Room(page=client)
    subscribers = Subscribers(room, shop.views, METHOD)
    page = Page(*subscribers.subscribe("page"))
    read = 0

    def take_in() -> None:
        nonlocal read
        for push in client.got[read:]:
            if not page.takes(push):
                page.__init__(*shop.views.present())  # type: ignore[misc]
        read = len(client.got)

    for name, value in steps:
        match name:
            case "change":
                for _ in range(int(value)):
                    shop.change()
                    subscribers.changed()
            case "wait":
                await asyncio.sleep(value)
            case "subscribe" if not client.gone:
                take_in()
                page = Page(*subscribers.subscribe("page"))
            case "unsubscribe":
                subscribers.unsubscribe("page")
            case "leave":
                client.leave()
                subscribers.left("page")
            case "vanish":
                client.gone = True
            case _:
                client.come()
                subscribers.returned("page")
    take_in()
    client.loses_acks = False
    client.come()
    page = Page(*subscribers.subscribe("page")) if len(steps) % 2 else page
    subscribers.returned("page")
    await asyncio.sleep(20)
    shop.change()
    subscribers.changed()
    await asyncio.sleep(20)
    take_in()

    versions = [push["version"] for push in client.got]
    assert versions == sorted(versions)
    assert room.most_at_once["page"] <= 1 + sum(name == "unsubscribe" for name, _ in steps)
    if len(steps) % 2 or ("unsubscribe", 0) not in steps:
        assert (page.version, page.view) == (shop.version, shop.view)
    await subscribers.aclose()
