"""Staff: the login, the orders as they come, commands, and the events of a board that is open."""

import asyncio
import itertools
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher

from agents.app.faults import InputError
from agents.app.forgetting import forget_state
from agents.app.states import new_state, resume_state
from agents.app.web.staff import LOGIN_S, MAX_LOGINS, hash_password
from bella_vista.app import APP
from state.commands import (
    AddItem,
    CallPerson,
    CancelOrder,
    ChoosePayment,
    ConfirmOrder,
    GiveFeedback,
    PlaceOrder,
    ReadBack,
    SetCustomer,
    SetFulfilment,
)
from state.order import OrderState
from state.shared import SharedState
from tests.agents.app.serving.processes import clean_environment
from tests.agents.app.web.conftest import HASH, PASSWORD, Serve, Site
from tests.livekit import until

AT = "2026-11-20T19:00"


@asynccontextmanager
async def kitchen(serve: Serve, **settings: object) -> AsyncIterator[tuple[Site, Any]]:
    """A web server with staff, and one of them, logged in."""
    async with serve(staff_password_hash=HASH, at=AT, **settings) as site, site.browser() as cook:
        await cook.post("/api/staff/login", json={"password": PASSWORD})
        yield site, cook


async def order_of(site: Site) -> SharedState[OrderState, Any]:
    """An order that a call holds."""
    return await new_state(site.server._app, site.store, site.server._context, "web_text")


async def placed(site: Site) -> SharedState[OrderState, Any]:
    """An order that was placed."""
    shared = await order_of(site)
    for command in (
        AddItem(name="Tiramisu", quantity=1),
        SetFulfilment(kind="pickup"),
        ChoosePayment(method="cash"),
        ReadBack(),
        ConfirmOrder(),
        PlaceOrder(),
    ):
        await shared.apply(command, actor="guest")
    return shared


async def spoil(site: Site, state_id: str, **columns: str) -> None:
    """Damage the stored changes of an order."""
    changed = ", ".join(f"{name} = '{value}'" for name, value in columns.items())

    def damage(database: Any) -> None:
        database.db.run(
            lambda connection: connection.exec_driver_sql(
                f"UPDATE entries SET {changed} WHERE state_id = '{state_id}'"
            ),
            writes=True,
        )

    await site.store._access.in_states(damage)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/staff/login"),
        ("POST", "/api/staff/logout"),
        ("GET", "/api/staff/orders"),
        ("GET", "/api/staff/events"),
        ("POST", "/api/staff/orders/x"),
        ("PUT", "/api/staff/house"),
        ("GET", "/staff"),
    ],
)
async def test_without_a_password_there_is_no_staff(
    serve: Serve, method: str, path: str, tmp_path: Path
) -> None:
    (tmp_path / "index.html").write_text("")
    (tmp_path / "staff.html").write_text("")
    async with serve(web_page=tmp_path) as site, site.browser() as browser:
        answer = await browser.request(method, path)

    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/staff/orders"),
        ("GET", "/api/staff/events"),
        ("POST", "/api/staff/orders/x"),
        ("PUT", "/api/staff/house"),
    ],
)
@pytest.mark.parametrize("cookie", ["", "staff", "staff.aaaaaa.bbbbbbbbbbb"])
async def test_nobody_else_is_staff(serve: Serve, method: str, path: str, cookie: str) -> None:
    async with serve(staff_password_hash=HASH) as site, site.browser() as browser:
        await browser.post("/api/token")
        (guest,) = [one.value for one in browser.cookies.jar]
        answers = [
            await browser.request(method, path, headers={"cookie": f"bella_staff={one}"})
            for one in (cookie, guest)
        ]

    for answer in answers:
        assert (answer.status_code, answer.json()["error"]["type"]) == (401, "unauthorized")


async def test_the_login_sets_a_cookie_of_its_own(serve: Serve) -> None:
    async with serve(staff_password_hash=HASH) as site, site.browser() as cook:
        wrong = await cook.post("/api/staff/login", json={"password": "another one"})
        right = await cook.post("/api/staff/login", json={"password": PASSWORD})
        listed = await cook.get("/api/staff/orders")
        left = await cook.post("/api/staff/logout")
        after = await cook.get("/api/staff/orders")

    assert (wrong.status_code, wrong.headers.get("set-cookie")) == (401, None)
    assert right.status_code == 204
    assert "HttpOnly" in right.headers["set-cookie"]
    assert "SameSite=strict" in right.headers["set-cookie"]
    assert (listed.status_code, listed.json()["orders"]) == (200, [])
    assert (left.status_code, after.status_code) == (204, 401)


async def test_with_another_password_old_logins_are_over(serve: Serve) -> None:
    async with kitchen(serve) as (_, cook):
        cookie = cook.cookies["bella_staff"]
    another = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash("another one")
    async with serve(staff_password_hash=another) as site, site.browser() as browser:
        answer = await browser.get("/api/staff/orders", headers={"cookie": f"bella_staff={cookie}"})

    assert answer.status_code == 401


async def test_only_so_many_logins_wait_for_their_check(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = threading.Event()
    async with serve(staff_password_hash=HASH) as site:
        desk = site.server._staff
        assert desk is not None
        monkeypatch.setattr(desk, "_is_password", lambda password: checked.wait(60))
        async with AsyncExitStack() as stack:
            cooks = [
                await stack.enter_async_context(site.browser(f"192.0.2.{n}")) for n in range(4)
            ]
            turns = itertools.cycle(cooks)

            def login() -> Any:
                return next(turns).post("/api/staff/login", json={"password": PASSWORD})

            waiting = [asyncio.create_task(login()) for _ in range(MAX_LOGINS)]
            await until(lambda: desk._pending_logins == MAX_LOGINS, what="the logins")
            refused = await login()
            checked.set()
            answers = await asyncio.gather(*waiting)
            again = await login()

    assert (refused.status_code, refused.json()["error"]["type"]) == (429, "too_many_requests")
    assert int(refused.headers["retry-after"]) >= 1
    assert {answer.status_code for answer in answers} == {204}
    assert again.status_code == 204


async def test_passwords_cannot_be_tried_at_will(serve: Serve) -> None:
    async with serve(staff_password_hash=HASH) as site, site.browser() as browser:
        tried = [
            (await browser.post("/api/staff/login", json={"password": f"guess {n}"})).status_code
            for n in range(8)
        ]
        right = await browser.post("/api/staff/login", json={"password": PASSWORD})

    assert tried == [401] * 5 + [429] * 3
    assert right.status_code == 429


@pytest.mark.parametrize(
    "body", [{}, {"password": 7}, {"password": PASSWORD, "more": 1}, {"password": "x" * 300}]
)
async def test_a_login_without_a_password_is_refused(serve: Serve, body: Any) -> None:
    async with serve(staff_password_hash=HASH) as site, site.browser() as browser:
        answer = await browser.post("/api/staff/login", json=body)

    assert answer.status_code == 400


async def test_staff_see_orders_and_bring_them_to_the_end(serve: Serve) -> None:
    async with kitchen(serve) as (site, cook):
        shared = await placed(site)
        path = f"/api/staff/orders/{shared.state_id}"
        listed = (await cook.get("/api/staff/orders")).json()["orders"]
        accepted = await cook.post(
            path, json={"op": "accept_order", "ready_at": "2026-11-20T19:40:00-05:00"}
        )
        for op in ("start_preparing", "mark_ready", "complete_order"):
            done = await cook.post(path, json={"op": op})
        await shared.refresh()  # as the call's agent does

    assert [order["stage"] for order in listed] == ["placed"]
    assert accepted.status_code == 200
    assert accepted.json()["order"]["stage"] == "accepted"
    assert accepted.json()["order"]["fulfilment"]["ready_at"] == "2026-11-20T19:40:00-05:00"
    assert done.json()["order"]["stage"] == "completed"
    assert done.json()["version"] == done.json()["order"]["version"] == shared.version
    assert shared.state.stage == "completed"


async def test_staff_see_why_a_person_is_wanted_and_a_guest_does_not(serve: Serve) -> None:
    async with kitchen(serve) as (site, cook):
        shared = await placed(site)
        async with watched(site) as board:
            first = (await board.next("snapshot"))[1]["orders"]
            await shared.apply(CallPerson(reason="a cake for twelve"), actor="guest")
            _, told = await board.next("order")
        listed = (await cook.get("/api/staff/orders")).json()["orders"]
        path = f"/api/staff/orders/{shared.state_id}"
        accepted = (await cook.post(path, json={"op": "accept_order"})).json()["order"]
        await shared.refresh()
        seen = APP.view_of(shared.state, shared.version, None)

    assert [order["person_reason"] for order in first] == [None]
    for order in (told, *listed, accepted):
        assert (order["person_wanted"], order["person_reason"]) == (True, "a cake for twelve")
    assert "person_reason" not in seen
    assert {*accepted} == {*seen, "person_reason"}


async def test_what_staff_alone_see_replaces_no_field_of_the_view(serve: Serve) -> None:
    web = replace(APP.web, for_staff=lambda order: {"stage": "made up", "table": 7})
    async with kitchen(serve, app=replace(APP, web=web)) as (site, cook):
        await placed(site)
        (order,) = (await cook.get("/api/staff/orders")).json()["orders"]

    assert (order["stage"], order["table"]) == ("placed", 7)


async def test_what_the_order_does_not_allow_is_refused_with_its_reason(serve: Serve) -> None:
    async with kitchen(serve) as (site, cook):
        shared = await placed(site)
        path = f"/api/staff/orders/{shared.state_id}"
        answers = {
            name: await cook.post(f"/api/staff/orders/{order}", json=body)
            for name, order, body in (
                ("too early", shared.state_id, {"op": "complete_order"}),
                ("no such order", "aaaa-bbbb-cccc", {"op": "accept_order"}),
                ("no such command", shared.state_id, {"op": "eat_order"}),
                ("no command", shared.state_id, {}),
                ("a wrong field", shared.state_id, {"op": "accept_order", "when": "now"}),
                ("without a version", shared.state_id, {"op": "cancel_order"}),
                ("a wrong version", shared.state_id, {"op": "cancel_order", "version": "2"}),
                (
                    "an old version",
                    shared.state_id,
                    {"op": "set_tip", "percentage": 9, "version": 0},
                ),
            )
        }
        refused = await cook.post(path, json={"op": "refuse_order", "reason": "no more flour"})

    told = {
        name: (answer.status_code, answer.json()["error"]["type"])
        for name, answer in answers.items()
    }
    assert told == {
        "too early": (409, "wrong_stage"),
        "no such order": (404, "not_found"),
        "no such command": (400, "unknown_operation"),
        "no command": (400, "invalid_params"),
        "a wrong field": (400, "invalid_params"),
        "without a version": (400, "precondition_required"),
        "a wrong version": (400, "bad_request"),
        "an old version": (409, "wrong_stage"),
    }
    assert all(answer.json()["error"]["detail"] for answer in answers.values())
    assert refused.json()["order"]["stage"] == "failed"


async def test_a_command_that_is_sent_again_with_its_key_counts_once(serve: Serve) -> None:
    async with kitchen(serve) as (site, cook):
        shared = await placed(site)
        path = f"/api/staff/orders/{shared.state_id}"
        first = await cook.post(path, json={"op": "accept_order", "key": "k1"})
        again = await cook.post(path, json={"op": "accept_order", "key": "k1"})
        other = await cook.post(path, json={"op": "start_preparing", "key": "k1"})

    assert first.json() == again.json()
    assert (other.status_code, other.json()["error"]["type"]) == (409, "key_reused")


async def test_staff_pause_orders_and_say_what_is_sold_out(serve: Serve) -> None:
    async with kitchen(serve) as (site, cook), serve(at=AT) as elsewhere:
        async with elsewhere.browser() as guest, watched(site) as board:
            await board.next("snapshot")
            before = (await guest.get("/api/menu")).json()
            sold_out = await cook.put("/api/staff/house", json={"sold_out": ["tiramisu"]})
            paused = await cook.put("/api/staff/house", json={"paused": True})
            _, told = await board.next("house")
            after = (await guest.get("/api/menu")).json()  # of another process
            listed = (await cook.get("/api/staff/orders")).json()["house"]
            wrong = await cook.put("/api/staff/house", json={"sold_out": ["Sushi"]})
            none = await cook.put("/api/staff/house", json={"open": True})

    assert sold_out.json() == {"paused": False, "sold_out": ["Tiramisu"]}
    assert paused.json() == listed == {"paused": True, "sold_out": ["Tiramisu"]}
    assert told == sold_out.json()
    assert (before["house"]["paused"], after["house"]["paused"]) == (False, True)
    assert before["menu_version"] != after["menu_version"]
    assert (wrong.status_code, wrong.json()["error"]["reason"]) == (409, "not_on_menu")
    assert none.status_code == 400


async def test_what_two_members_of_staff_set_at_two_servers_at_once_is_kept(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kitchen(serve) as (site, cook), kitchen(serve) as (_, waiter):
        store = site.store.replace_setting
        others: list[Any] = []

        async def late(name: str, seen: Any, value: Any) -> bool:
            if not others:
                sent = {"add_sold_out": ["Cannoli"]}
                others.append(await waiter.put("/api/staff/house", json=sent))
            return await store(name, seen, value)

        monkeypatch.setattr(site.store, "replace_setting", late)
        own = await cook.put("/api/staff/house", json={"add_sold_out": ["tiramisu"]})
        listed = (await waiter.get("/api/staff/orders")).json()["house"]
        back = await waiter.put("/api/staff/house", json={"remove_sold_out": ["Cannoli"]})

    assert others[0].json()["sold_out"] == ["Cannoli"]
    assert own.json() == listed == {"paused": False, "sold_out": ["Cannoli", "Tiramisu"]}
    assert back.json()["sold_out"] == ["Tiramisu"]


async def test_a_setting_that_others_keep_changing_is_given_up(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kitchen(serve) as (site, cook):

        async def never(name: str, seen: Any, value: Any) -> bool:
            return False

        monkeypatch.setattr(site.store, "replace_setting", never)
        answer = await cook.put("/api/staff/house", json={"paused": True})

    assert (answer.status_code, answer.json()["error"]["type"]) == (503, "unavailable")
    assert int(answer.headers["retry-after"]) >= 1


async def test_a_board_is_told_what_staff_set_at_another_server(serve: Serve) -> None:
    async with kitchen(serve) as (site, _), kitchen(serve) as (_, waiter):
        async with watched(site) as board:
            await board.next("snapshot")
            await waiter.put("/api/staff/house", json={"paused": True})
            _, told = await board.next("house")

    assert told == {"paused": True, "sold_out": []}


async def test_an_erased_order_leaves_the_boards(serve: Serve) -> None:
    async with kitchen(serve) as (site, _):
        app = site.server._app
        shared = await order_of(site)
        await shared.apply(SetCustomer(name="Ada"), CancelOrder(), actor="guest")
        other = await placed(site)
        async with watched(site) as board:
            _, snapshot = await board.next("snapshot")
            await forget_state(app, site.store, site.settings, shared.state_id, [])
            _, removed = await board.next("removed")
            await other.apply(GiveFeedback(rating=5), actor="guest")
            kind, after = await board.next("removed", "order")

    assert [one["customer_name"] for one in snapshot["orders"]] == [None, "Ada"]
    assert removed == {"order_id": shared.state_id}
    assert (kind, after["order_id"]) == ("order", other.state_id)


async def test_a_live_setting_is_changed_once_and_in_the_event_loop(serve: Serve) -> None:
    threads: list[threading.Thread] = []

    def change(context: Any, present: Any, sent: Any) -> Any:
        threads.append(threading.current_thread())
        return sent

    app = replace(APP, web=replace(APP.web, live={"house": change}))
    async with kitchen(serve, app=app) as (_, cook):
        reply = await cook.put("/api/staff/house", json={"paused": True})

    assert reply.json() == {"paused": True}
    assert threads == [threading.current_thread()]


async def test_staff_have_the_role_that_the_application_names(serve: Serve) -> None:
    app = replace(APP, web=replace(APP.web, staff_role="guest"))
    async with kitchen(serve, app=app) as (site, cook):
        order = await placed(site)
        path = f"/api/staff/orders/{order.state_id}"
        refused = await cook.post(path, json={"op": "accept_order", "ready_at": AT})
        given = await cook.post(path, json={"op": "give_feedback", "rating": 4})

    assert refused.json()["error"]["detail"] == "Only the role staff can do this."
    assert given.status_code == 200, given.text


class Stream:
    """The events that a board is sent."""

    def __init__(self, events: AsyncIterator[str]) -> None:
        self._events = events

    async def next(self, *kinds: str) -> tuple[str, Any]:
        """Wait for an event of one of these kinds."""
        async with asyncio.timeout(30):
            async for text in self._events:
                name, _, data = text.partition("\n")
                if (kind := name.removeprefix("event: ")) in kinds:
                    return kind, json.loads(data.removeprefix("data: "))
        raise AssertionError("the stream has ended")


@asynccontextmanager
async def watched(site: Site) -> AsyncIterator[Stream]:
    """Look at the board."""
    assert site.server._staff is not None
    events = site.server._staff.board.events(dict, lambda: True)
    try:
        yield Stream(events)
    finally:
        await events.aclose()  # type: ignore[attr-defined]


async def test_a_board_is_told_of_each_change_whoever_made_it(serve: Serve) -> None:
    async with kitchen(serve) as (site, cook):
        old = await placed(site)
        async with watched(site) as board, watched(site) as other:
            snapshot = (await board.next("snapshot"))[1]
            await other.next("snapshot")
            new = await order_of(site)
            _, begun = await board.next("order")
            await new.apply(AddItem(name="Tiramisu", quantity=2), actor="guest")
            _, changed = await board.next("order")
            await cook.post(f"/api/staff/orders/{old.state_id}", json={"op": "accept_order"})
            _, accepted = await board.next("order")
            same = [(await other.next("order"))[1] for _ in range(3)]

    assert [order["order_id"] for order in snapshot["orders"]] == [old.state_id]
    assert (begun["order_id"], begun["version"]) == (new.state_id, 0)
    assert (changed["order_id"], changed["version"], changed["item_count"]) == (new.state_id, 1, 2)
    assert (accepted["order_id"], accepted["stage"]) == (old.state_id, "accepted")
    assert same == [begun, changed, accepted]


async def test_a_stream_ends_with_the_server_and_polls_only_while_somebody_looks(
    serve: Serve,
) -> None:
    async with kitchen(serve) as (site, _):
        board = site.server._staff.board  # type: ignore[union-attr]
        async with watched(site) as stream:
            await stream.next("snapshot")
            polled = board._polling is not None
            await site.server.end_streams()
            with pytest.raises(AssertionError, match="has ended"):
                await stream.next("order")
        after = board._polling

    assert polled
    assert after is None


async def test_a_reader_that_is_too_slow_begins_anew(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.web.board._QUEUE_SIZE", 2)
    async with kitchen(serve) as (site, _):
        board = site.server._staff.board  # type: ignore[union-attr]
        async with watched(site) as stream:
            await stream.next("snapshot")
            for number in range(4):
                board.send("order", number)
            with pytest.raises(AssertionError, match="has ended"):
                await stream.next("order")

    assert board._listeners == set()


async def test_an_order_that_cannot_be_read_hides_no_other(serve: Serve) -> None:
    async with kitchen(serve) as (site, cook):
        damaged, sound = await placed(site), await placed(site)

        await spoil(site, damaged.state_id, state="{}")
        listed = (await cook.get("/api/staff/orders")).json()["orders"]

    assert [order["order_id"] for order in listed] == [sound.state_id]


@pytest.mark.parametrize("part", ["view", "state"])
async def test_an_order_that_cannot_be_shown_does_not_stop_an_open_board(
    serve: Serve, part: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with kitchen(serve) as (site, cook), watched(site) as board:
        await board.next("snapshot")
        app, faulty = site.server._app, await order_of(site)
        await board.next("order")
        if part == "view":
            render = app.view

            def view(state: OrderState, version: int, agent: str | None) -> Any:
                if state.order_id == faulty.state_id:
                    raise RuntimeError("Ada's order")
                return render(state, version, agent) if render is not None else {}

            monkeypatch.setitem(vars(app), "view", view)
        else:
            await spoil(site, faulty.state_id, state="{}")
        await faulty.apply(AddItem(name="Tiramisu", quantity=1), actor="guest")
        if part == "state":
            await spoil(site, faulty.state_id, state="{}")
        sound = await placed(site)
        shown = {sound.state_id: 0}
        while shown[sound.state_id] < sound.version:
            _, view_of = await board.next("order")
            assert view_of["order_id"] != faulty.state_id or part == "state"
            shown[view_of["order_id"]] = view_of["version"]
        listed = (await cook.get("/api/staff/orders")).json()["orders"]

    assert [order["order_id"] for order in listed] == [sound.state_id]
    told = [one for one in caplog.records if one.getMessage() == "state not shown to staff"]
    assert [one.__dict__["state_id"] for one in told] == [faulty.state_id]


async def test_the_events_end_with_the_login(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    async with kitchen(serve) as (site, cook):
        desk = site.server._staff
        assert desk is not None
        reading = asyncio.create_task(cook.get("/api/staff/events"))
        await until(lambda: desk.board._polling is not None, what="the stream")
        later = desk._signer.get_timestamp() + LOGIN_S + 1
        monkeypatch.setattr(desk._signer, "get_timestamp", lambda: later)
        desk.board.send("order", "for staff alone")
        answer = await asyncio.wait_for(reading, 60)
        again = await cook.get("/api/staff/events")

    assert answer.status_code == 200
    assert answer.text.startswith("event: snapshot")
    assert "for staff alone" not in answer.text
    assert again.status_code == 401


async def test_the_events_end_when_staff_log_out(serve: Serve) -> None:
    async with kitchen(serve) as (site, cook):
        desk = site.server._staff
        assert desk is not None
        cookie = {"cookie": f"bella_staff={cook.cookies['bella_staff']}"}
        reading = asyncio.create_task(cook.get("/api/staff/events"))
        await until(lambda: desk.board._polling is not None, what="the stream")
        await cook.post("/api/staff/logout")
        answer = await asyncio.wait_for(reading, 60)
        async with site.browser() as other:
            copied = await other.get("/api/staff/orders", headers=cookie)

    assert answer.text.startswith("event: snapshot")
    assert copied.status_code == 401


async def test_an_accepted_order_stays_on_the_board_until_it_is_done(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.web.board.MAX_SHOWN", 2)
    async with kitchen(serve) as (site, cook):
        done, accepted = await placed(site), await placed(site)
        for op in ("accept_order", "start_preparing", "mark_ready", "complete_order"):
            await cook.post(f"/api/staff/orders/{done.state_id}", json={"op": op})
        await cook.post(f"/api/staff/orders/{accepted.state_id}", json={"op": "accept_order"})
        newer = [await order_of(site) for _ in range(2)]
        listed = (await cook.get("/api/staff/orders")).json()["orders"]
        async with watched(site) as board:
            _, snapshot = await board.next("snapshot")
            waiting = await placed(site)  # grows old while the board is open
            at: dict[str, int] = {}
            while at.get(waiting.state_id) != waiting.version:
                _, order = await board.next("order")
                at[order["order_id"]] = order["version"]
            newest = [await order_of(site) for _ in range(2)]
            while newest[0].state_id not in at or newest[1].state_id not in at:
                _, order = await board.next("order")
                at[order["order_id"]] = order["version"]
            stages = []
            for order_id in (accepted.state_id, waiting.state_id):
                ops = ("accept_order", "start_preparing", "mark_ready", "complete_order")
                for op in ops[order_id == accepted.state_id :]:
                    await cook.post(f"/api/staff/orders/{order_id}", json={"op": op})
                    _, order = await board.next("order")
                    stages.append((order["order_id"], order["stage"]))
            now = {
                one["order_id"] for one in (await cook.get("/api/staff/orders")).json()["orders"]
            }

    shown = [newer[1].state_id, newer[0].state_id, accepted.state_id]
    assert [order["order_id"] for order in listed] == shown
    assert [order["order_id"] for order in snapshot["orders"]] == shown
    steps = ("accepted", "preparing", "ready", "completed")
    assert stages == [
        *((accepted.state_id, stage) for stage in steps[1:]),
        *((waiting.state_id, stage) for stage in steps),
    ]
    assert now == {one.state_id for one in newest}


async def test_a_guest_who_wants_a_person_stays_on_the_board_until_they_are_answered(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.web.board.MAX_SHOWN", 2)

    async def listed(cook: Any) -> list[str]:
        orders = (await cook.get("/api/staff/orders")).json()["orders"]
        return [order["order_id"] for order in orders]

    async with kitchen(serve) as (site, cook):
        begun = await order_of(site)
        await begun.apply(CallPerson(reason="a cake for twelve"), actor="guest")
        cancelled = await order_of(site)
        await cancelled.apply(CancelOrder(), actor="guest", seen=0)
        await cancelled.apply(CallPerson(reason="my money"), actor="guest")
        newer = [(await order_of(site)).state_id for _ in range(2)]
        before = await listed(cook)
        async with watched(site) as board:
            _, snapshot = await board.next("snapshot")
            wanting = await order_of(site)  # grows old while the board is open
            await wanting.apply(CallPerson(reason="a wedding"), actor="guest")
            while (await board.next("order"))[1]["order_id"] != wanting.state_id:
                pass
            newest = [(await order_of(site)).state_id for _ in range(2)]
            during = await listed(cook)
            answers = [
                await cook.post(f"/api/staff/orders/{one}", json={"op": "mark_answered"})
                for one in (begun.state_id, cancelled.state_id, wanting.state_id)
            ]
            told = [await board.next("order") for _ in range(5)]
            after = await listed(cook)

    assert before == [newer[1], newer[0], cancelled.state_id, begun.state_id]
    assert [order["order_id"] for order in snapshot["orders"]] == before
    assert during == [newest[1], newest[0], wanting.state_id, cancelled.state_id, begun.state_id]
    assert [answer.json()["order"]["person_wanted"] for answer in answers] == [False] * 3
    assert not any(order["person_wanted"] for _, order in told)
    assert after == [newest[1], newest[0]]


async def test_a_guest_goes_on_while_staff_change_their_order(serve: Serve) -> None:
    async with kitchen(serve) as (site, cook):
        begun = await order_of(site)
        app, context = site.server._app, site.server._context
        shared = await resume_state(app, site.store, context, begun.state_id)
        told = await cook.post(
            f"/api/staff/orders/{shared.state_id}",
            json={"op": "add_note", "title": "A", "content": "b"},
        )
        applied = await shared.apply(AddItem(name="Tiramisu", quantity=1), actor="guest")

    assert told.status_code == 200
    assert applied.version == 2
    assert [note.title for note in applied.state.notes] == ["A"]


def test_a_hash_that_is_none_is_named_at_start(serve: Serve) -> None:
    async def begin() -> None:
        async with serve(staff_password_hash="secret"):
            pass

    with pytest.raises(InputError, match="BELLA_VISTA_STAFF_PASSWORD_HASH"):
        asyncio.run(begin())


@pytest.mark.processes
@pytest.mark.parametrize(("typed", "code"), [(PASSWORD, 0), ("short", 2), ("", 2)])
def test_the_hash_is_made_by_a_command(tmp_path: Path, typed: str, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bella_vista", "staff-password"],
        input=f"{typed}\n",
        env=clean_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == code
    if code == 0:
        assert PasswordHasher().verify(done.stdout.strip(), typed)
        assert PASSWORD not in done.stdout
    else:
        assert "8 to 200 characters" in done.stderr


def test_every_hash_has_its_own_salt() -> None:
    assert hash_password(PASSWORD) != hash_password(PASSWORD)
