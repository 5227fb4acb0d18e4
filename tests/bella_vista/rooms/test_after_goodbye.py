"""After the agent's goodbye: what can be read, who begins another call, and who does not."""

import asyncio

import pytest

from bella_vista.rooms.house import Outcome
from tests.bella_vista.rooms.checked import LARGE, TIRAMISU, Checked, placed, served
from tests.bella_vista.rooms.conftest import Agent, Calls, Changed
from tests.livekit import LONG_S, Client, LiveKit, is_turn, new_identity, until

GREETING = "welcome to Bella Vista"


async def goodbye(ada: Checked) -> None:
    """Say goodbye and wait until the client is told that the call is over."""
    await ada.call("say", {"text": "goodbye"})
    await until(lambda: ada.client.ends, what="the end of the call")


def greetings(client: Client) -> int:
    return sum(GREETING in one for one in client.said)


async def test_the_order_can_be_read_and_not_changed_for_as_long_as_the_agent_stays(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, agent):
        hello = await ada.call("hello")
        assert "call_ended" in hello["features"]
        added = {"command": LARGE, "key": "once"}
        first = await ada.call("order.apply", added)
        await goodbye(ada)
        assert ada.client.ends == [{"reason": "agent_ended", "resume_code": hello["resume_code"]}]
        for _ in range(2):
            order = await ada.order()
            assert (order["order_id"], order["item_count"]) == (hello["order_id"], 2)
            assert (await ada.call("get_menu"))["sections"]
            assert (await ada.state("list", "item"))["count"] == 1
            assert (await ada.state("read", "order"))["object"]["data"]["item_count"] == 2
            assert (await ada.call("order.subscribe"))["order"]["item_count"] == 2
            told = await ada.refused("order.apply", {"command": TIRAMISU})
            assert (told["code"], told["reason"]) == (4022, "call_over")
            made = await ada.state("create", "item", data={"name": "Tiramisu"})
            assert (made["status"], made["error"]["code"]) == ("error", 4022)
            assert made["error"]["reason"] == "call_over"
            # A change that was acknowledged before is still answered as it was.
            assert await ada.call("order.apply", added) == first
            await agent_stays(agent)
        # A hello of the same connection begins nothing.
        assert (await ada.call("hello"))["order_id"] == hello["order_id"]
        assert greetings(ada.client) == 1


async def agent_stays(agent: Agent) -> None:
    """See that it does not leave when its last words have been said."""
    await asyncio.wait((agent.held,), timeout=0.7)
    assert not agent.held.done()


async def test_a_page_that_is_loaded_again_after_the_goodbye_begins_another_call(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    identity = new_identity()
    async with calls.agent(room_name) as agent:
        async with livekit.joined(room_name, identity) as page:
            first = await page.hello()
            await until(lambda: is_turn(page, 0))
            await page.call("say", {"text": "two large margheritas"})
            await until(lambda: is_turn(page, 1))
            await goodbye(Checked(page))
        async with livekit.joined(room_name, identity) as page:
            again = await page.hello()
            assert again["order_id"] != first["order_id"]
            assert (again["turn"], again["active_agent"]) == (0, "greeter")
            assert again["resume_code"] != first["resume_code"]
            await until(lambda: is_turn(page, 0))
            assert greetings(page) == 1
            assert await page.call("say", {"text": "one tiramisu"}) == {"turn": 1}
            await until(lambda: is_turn(page, 1))
            order = (await page.call("get_order_state"))["order"]
            assert order["order_summary"].startswith("1x Tiramisu (")
            assert page.ends == []
            await goodbye(Checked(page))
        assert not agent.held.done()
