"""What staff set while a call runs reaches its page and its talk."""

import pytest

from agents.app.live import LiveSettings
from agents.app.rooms.process_context import ProcessContext
from bella_vista.house import house_of
from state.context import OrderContext
from state.order import OrderState
from tests.agents.app.rooms.checked_client import TIRAMISU, served
from tests.agents.app.rooms.conftest import Calls, Changed
from tests.agents.app.rooms.restaurant_worker import turn
from tests.livekit import LONG_S, LiveKit, is_turn, until


@pytest.fixture
def attentive(
    calls: Calls, changed: Changed, house: ProcessContext[OrderState, OrderContext]
) -> Calls:
    """Calls of a restaurant whose staff may set the house."""
    live, usual = LiveSettings(), house.context
    context = OrderContext(
        menu=usual.menu,
        now=usual.now,
        new_id=usual.new_id,
        house=house_of(live),
        refresh=live.refresh,
    )
    return Calls(calls.livekit, changed(context=context, live=live))


async def test_what_is_sold_out_now_cannot_be_ordered_in_a_call_that_runs(
    attentive: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(attentive, livekit, room_name) as (ada, agent):
        before = (await ada.call("get_menu"))["menu_version"]
        await ada.apply(**TIRAMISU)
        store, live = agent.call._process.store, agent.call._process.live
        await store.set_settings({"house": {"sold_out": ["Tiramisu"]}})
        await until(lambda: live.values, what="the staff's settings")

        refused = await ada.refused("order.apply", {"command": dict(TIRAMISU)})
        menu = await ada.call("get_menu", {"version": before})
        said = await ada.call("say", {"text": "one more tiramisu please"})
        await until(lambda: is_turn(ada.client, said["turn"]))
        order = await ada.order()

    assert (refused["code"], refused["reason"]) == (4022, "sold_out")
    assert menu["menu_version"] != before
    assert order["item_count"] == 1
    assert any("out of Tiramisu" in text for text in ada.client.said), ada.client.said


async def test_what_was_sold_out_a_moment_ago_cannot_be_ordered(
    attentive: Calls, livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.rooms.room_job.STAFF_POLL_S", LONG_S)
    async with served(attentive, livekit, room_name) as (ada, agent):
        await ada.apply(**TIRAMISU)
        await agent.call._process.store.set_settings({"house": {"sold_out": ["Tiramisu"]}})
        by_hand = await ada.refused("order.apply", {"command": dict(TIRAMISU)})
        await agent.call._process.store.set_settings({"house": {"sold_out": ["Cannoli"]}})
        said = await ada.call("say", {"text": "two cannoli please"})
        await until(lambda: is_turn(ada.client, said["turn"]))
        order = await ada.order()

    assert (by_hand["code"], by_hand["reason"]) == (4022, "sold_out")
    assert order["item_count"] == 1
    assert any("out of Cannoli" in text for text in ada.client.said), ada.client.said


async def test_while_orders_are_paused_the_agent_says_so(
    attentive: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(attentive, livekit, room_name) as (ada, agent):
        await ada.apply(**TIRAMISU)
        store, live = agent.call._process.store, agent.call._process.live
        await store.set_settings({"house": {"paused": True}})
        await until(lambda: live.values, what="the staff's settings")

        house = (await ada.call("get_menu"))["house"]
        for words in ("that is all", "pickup please", "Ada", "yes"):
            said = await ada.call("say", {"text": words})
            await turn(ada.client, said["turn"])
        order = await ada.order()

    assert house["paused"]
    assert order["stage"] == "open"
    assert any("no orders just now" in text for text in ada.client.said), ada.client.said


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("a panna cotta, please", ["Panna cotta", "Cola"]),
        ("take it off", ["Cola"]),
        ("and one more cola", ["Tiramisu", "Cola"]),
    ],
)
async def test_a_guest_is_told_that_a_dish_of_theirs_has_been_sold_out(
    attentive: Calls,
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    left: list[str],
) -> None:
    monkeypatch.setattr("agents.app.rooms.room_job.STAFF_POLL_S", 0.1)
    async with served(attentive, livekit, room_name) as (ada, agent):
        await ada.say("a tiramisu")
        await ada.say("and a cola")
        store = agent.call._process.store
        await store.set_settings({"house": {"sold_out": ["Lasagna", "Tiramisu"]}})
        await ada.heard("I am sorry, the Tiramisu has just been sold out.")
        await ada.turn()
        await ada.say(words)
        order = await ada.order()

    assert [one["name"] for one in order["order_items"]] == left
    assert not any("Lasagna" in text for text in ada.client.said)
