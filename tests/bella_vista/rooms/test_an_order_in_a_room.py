"""A call in a room: from the hello to the placed order."""

from tests.agents.app.rooms.conftest import Calls
from tests.livekit import LiveKit, is_turn, until


async def test_a_guest_orders_by_text(calls: Calls, livekit: LiveKit, room_name: str) -> None:
    async with livekit.joined(room_name) as guest, calls.agent(room_name):
        hello = await guest.hello()
        assert hello["turn"] == 0
        await until(lambda: guest.said)
        assert "welcome to Bella Vista" in guest.said[0]
        await until(lambda: guest.turns)
        assert (await guest.call("say", {"text": "two large margheritas"}))["turn"] == 1
        await until(lambda: is_turn(guest, 1))
        order = (await guest.call("get_order_state"))["order"]
        assert order["order_summary"].startswith("2x Margherita")
        assert [one["your_turn"] for one in guest.turns] == [True, False, True]
