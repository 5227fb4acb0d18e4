"""An agent for each user who joins with a token: one, and none for a token that nobody uses."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Any

import httpx2
import pytest
from livekit import api, rtc

from agents.app.web.arrivals import Arrivals
from agents.app.web.cookies import Visitor
from tests.agents.app.web.conftest import Serve, Site
from tests.livekit import LONG_S, LiveKit, livekit_server


@asynccontextmanager
async def watching(
    serve: Serve, livekit: LiveKit, **settings: object
) -> AsyncIterator[tuple[Site, httpx2.AsyncClient]]:
    """A web server of a LiveKit server, which waits for users, and a browser."""
    own = {**livekit.environment, "agent_name": f"agent-{token_hex(4)}", **settings}
    async with serve(**own) as site, site.browser() as browser:
        waiting = asyncio.create_task(site.server.arrivals.run())
        try:
            yield site, browser
        finally:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)


@asynccontextmanager
async def joined(reply: httpx2.Response) -> AsyncIterator[rtc.Room]:
    """Join a room with a token, as a page does."""
    told, room = reply.json(), rtc.Room()
    await room.connect(told["server_url"], told["participant_token"])
    try:
        yield room
    finally:
        await room.disconnect()


async def dispatches(livekit: LiveKit, site: Site, room: str) -> list[Any]:
    """What a room was sent."""
    async with livekit.api() as server:
        try:
            found = await server.agent_dispatch.list_dispatch(room)
        except api.TwirpError:
            return []
    return [one for one in found if one.agent_name == site.settings.agent_name]


async def sent(livekit: LiveKit, site: Site, room: str) -> list[Any]:
    """Wait for a dispatch; returns all of them, after time enough for a second one."""
    found: list[Any] = []
    async with asyncio.timeout(LONG_S):
        while not found:
            found = await dispatches(livekit, site, room)
    for _ in range(3):
        await site.server.arrivals._poll()
    return await dispatches(livekit, site, room)


async def test_a_token_that_nobody_uses_creates_nothing(serve: Serve, livekit: LiveKit) -> None:
    async with watching(serve, livekit) as (site, browser):
        told = (await browser.post("/api/token")).json()
        for _ in range(3):
            await site.server.arrivals._poll()
        async with livekit.api() as server:
            names = api.ListRoomsRequest(names=[told["room_name"]])
            rooms = (await server.room.list_rooms(names)).rooms
        order = await browser.get("/api/order")

    assert [*rooms] == []
    assert order.status_code == 404


async def test_who_joins_is_sent_one_agent_for_them_alone(serve: Serve, livekit: LiveKit) -> None:
    async with watching(serve, livekit) as (site, browser):
        reply = await browser.post("/api/token")
        async with joined(reply):
            found = await sent(livekit, site, reply.json()["room_name"])

    assert len(found) == 1
    assert found[0].metadata == f'{{"user":"{reply.json()["participant_identity"]}"}}'


@pytest.mark.parametrize("used", [0, 1])
async def test_however_often_a_page_asks_there_is_one_agent(
    serve: Serve, livekit: LiveKit, used: int
) -> None:
    async with watching(serve, livekit) as (site, browser):
        asked = []
        for _ in range(2):  # at once: neither has the other's cookie
            async with site.browser() as same:
                asked.append(await same.post("/api/token", json={}))
                browser.cookies.update(same.cookies)
        first, unused = asked[used], asked[1 - used]
        room = first.json()["room_name"]
        async with joined(first):
            await sent(livekit, site, room)
            again = await browser.post("/api/token")
            reports = await asyncio.gather(*(browser.post("/api/agent") for _ in range(5)))
            found = await sent(livekit, site, room)
            others = await dispatches(livekit, site, unused.json()["room_name"])

    assert unused.json()["room_name"] != room
    assert again.json()["room_name"] == room
    assert {report.status_code for report in reports} == {202}
    assert len(found) == 1
    assert others == []


async def test_a_page_that_reports_a_missing_agent_gets_one(serve: Serve, livekit: LiveKit) -> None:
    async with serve(**livekit.environment) as site, site.browser() as browser:
        reply = await browser.post("/api/token")
        room = reply.json()["room_name"]
        early = await browser.post("/api/agent")
        async with joined(reply):  # nothing waits for users here: only the report brings one
            reports = [await browser.post("/api/agent") for _ in range(3)]
            found = await dispatches(livekit, site, room)

    assert [one.status_code for one in (early, *reports)] == [202] * 4
    assert len(found) == 1


async def test_where_an_agent_is_no_other_is_sent(serve: Serve, livekit: LiveKit) -> None:
    async with serve(**livekit.environment) as site, site.browser() as browser:
        reply = await browser.post("/api/token")
        room = reply.json()["room_name"]
        async with joined(reply), livekit.joined(room, kind="agent"):
            report = await browser.post("/api/agent")
            found = await dispatches(livekit, site, room)

    assert report.status_code == 202
    assert found == []


async def test_another_guests_cookie_brings_no_agent_here(serve: Serve, livekit: LiveKit) -> None:
    async with serve(**livekit.environment) as site, site.browser() as ada, site.browser() as bob:
        reply = await ada.post("/api/token")
        await bob.post("/api/token")
        async with joined(reply):
            await bob.post("/api/agent")
            found = await dispatches(livekit, site, reply.json()["room_name"])

    assert found == []


async def test_a_token_opens_no_other_room(serve: Serve, livekit: LiveKit) -> None:
    async with serve(**livekit.environment) as site, site.browser() as ada, site.browser() as bob:
        hers, his = await ada.post("/api/token"), await bob.post("/api/token")
        told, room = his.json(), rtc.Room()
        async with joined(hers):
            await room.connect(told["server_url"], told["participant_token"])
            name, others = room.name, [*room.remote_participants]
            await room.disconnect()

    assert name == told["room_name"]
    assert others == []


@pytest.mark.timeout(300)
async def test_who_joins_after_the_server_was_away_is_served(serve: Serve) -> None:
    with livekit_server() as own:
        async with watching(serve, own) as (site, browser):
            reply = await browser.post("/api/token")
            own.server.stop()
            await site.server.arrivals._poll()
            own.server.start()
            async with joined(reply):
                found = await sent(own, site, reply.json()["room_name"])

    assert len(found) == 1


async def test_of_many_awaited_users_the_oldest_are_forgotten(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.web.arrivals.MAX_AWAITED", 3)
    async with serve() as site:
        for number in range(5):
            async with site.browser(f"192.0.2.{number}") as browser:
                await browser.post("/api/token")

    assert len(site.server.arrivals._awaited) == 3


class OneRoom:
    """A LiveKit server with one room, in which something happens after it was asked for."""

    noun = "order"

    def __init__(self, room: str, then: Callable[[], None]) -> None:
        self._room = room
        self._then = then

    async def rooms(self, names: Sequence[str]) -> set[str]:
        """Return the rooms that are there."""
        asyncio.get_running_loop().call_soon(self._then)
        return {self._room}


async def test_a_user_who_is_forgotten_while_rooms_are_read_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agents.app.web.arrivals.MAX_AWAITED", 1)
    first, second = Visitor.new(), Visitor.new()
    server: Any = OneRoom(first.room, lambda: arrivals.expect(second))
    arrivals = Arrivals(server, "agent")
    arrivals.expect(first)
    again = await arrivals._poll()

    assert again
    assert [*arrivals._awaited] == [second.room]
