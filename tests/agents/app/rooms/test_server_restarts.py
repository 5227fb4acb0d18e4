"""The LiveKit server goes away and comes back: the guest, the agent and the order are together again."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from livekit import api, rtc

from tests import children
from tests.agents.app.rooms.restaurant_worker import GREETING, Restaurant, Worker, heard, turn
from tests.livekit import NOT_YET, NOTICES, Client, LiveKit, livekit_server, new_identity, until

pytestmark = pytest.mark.timeout(300)

BACK_S = 60.0
"""How long everybody may take to be back, in seconds: livekit 1.1.21 tries again after longer and longer pauses."""


@pytest.fixture(scope="module")
def mortal() -> Iterator[LiveKit]:
    """A server that only these tests have, so that they may kill it."""
    with livekit_server() as running:
        yield running


@pytest.fixture(scope="module")
def restaurant(mortal: LiveKit, tmp_path_factory: pytest.TempPathFactory) -> Restaurant:
    """A restaurant at that server."""
    return Restaurant(mortal, tmp_path_factory.mktemp("restaurant"))


@pytest.fixture(scope="module")
def running(restaurant: Restaurant) -> Iterator[Worker]:
    """Its worker's process."""
    with restaurant.starting() as worker:
        yield worker


@asynccontextmanager
async def called_by_token(restaurant: Restaurant, room: str) -> AsyncIterator[Client]:
    """Have a guest in a room whose token dispatches the agent, again when the room is created anew."""
    server, identity = restaurant.livekit, new_identity()
    agents = [api.RoomAgentDispatch(agent_name=restaurant.agent)]
    token = (
        api.AccessToken(server.api_key, server.api_secret)
        .with_identity(identity)
        .with_grants(api.VideoGrants(room_join=True, room=room))
        .with_room_config(api.RoomConfiguration(agents=agents))
    )
    guest = Client(rtc.Room(), identity)
    await guest.room.connect(server.url, token.to_jwt())
    try:
        guest.offer(*NOTICES)
        yield guest
    finally:
        await guest.leave()


async def say(guest: Client, text: str, key: str) -> int:
    """Say something as a client does that has lost its connection: again, until it is taken in."""
    deadline = asyncio.get_running_loop().time() + BACK_S
    while True:
        try:
            return int((await guest.call("say", {"text": text, "key": key}))["turn"])
        except rtc.RpcError as error:
            if error.code not in NOT_YET or asyncio.get_running_loop().time() > deadline:
                raise


@pytest.mark.parametrize("dispatched", ["by the house", "by the guest's token"])
@pytest.mark.processes
async def test_after_a_restart_the_first_words_are_answered_and_nothing_is_said_twice(
    restaurant: Restaurant, running: Worker, room_name: str, dispatched: str
) -> None:
    await running.registered()
    times = len(running.logged("worker registered"))
    server = restaurant.livekit.server
    by_token = dispatched == "by the guest's token"
    joined = called_by_token if by_token else Restaurant.called
    async with joined(restaurant, room_name) as guest:
        hello = await guest.hello()
        await turn(guest, 0)
        await guest.call("say", {"text": "two large margheritas"})
        await turn(guest, 1)

        server.kill()
        with children.recorded(False):  # the server outlives this test
            await asyncio.to_thread(server.start)
        await until(lambda: "reconnected" in guest.connection, BACK_S, "the guest's connection")
        first = await say(guest, "one tiramisu", "first")
        await turn(guest, 2, BACK_S)
        await guest.write("one house salad")
        await turn(guest, 3, BACK_S)
        await running.registered(times + 1)
        order = await restaurant.order(hello["order_id"])

    assert first == 2
    assert heard(guest, GREETING) == 1
    assert [heard(guest, f"Noted: {what}") for what in ("two", "a Tira", "a House")] == [1] * 3
    assert len({one.by for one in guest.written}) == 1
    assert order["order_summary"].startswith("2x Margherita, 1x Tiramisu, 1x House salad (")
