"""Saying hello and speaking: before anybody is known, twice, at once, during a handoff, and after the end."""

import asyncio

import pytest

from agents.app.rooms.process_context import RoomOutcome
from agents.app.rooms.silence import SilencePolicy
from tests.agents.app.rooms.checked_client import TIRAMISU, Checked, served
from tests.agents.app.rooms.conftest import Calls, Changed
from tests.livekit import LONG_S, LiveKit, until

GREETING = "welcome to Bella Vista"


async def test_a_hello_is_answered_before_the_room_has_told_of_the_guest(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with calls.agent(room_name) as agent:
        to = agent.room.local_participant.identity
        async with livekit.joined(room_name) as client:
            # livekit announces them up to three seconds later: the first call is answered all the same.
            answers = await asyncio.gather(*(client.call("hello", to=to) for _ in range(5)))
            assert all(one == answers[0] for one in answers)
            said = await client.call("say", {"text": "two large Margheritas"}, to=to)
            assert said == {"turn": 1}
            ada = Checked(client)
            await ada.heard("two large Margherita")
            assert sum(GREETING in one for one in client.said) <= 1
            assert (await ada.call("hello"))["turn"] == 1
            assert (await ada.order())["item_count"] == 2


async def test_a_repeated_hello_changes_nothing(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        first = await ada.call("hello")
        for _ in range(3):
            assert await ada.call("hello") == first
        await ada.say("what time do you close?")
        assert await ada.call("hello") == first | {"turn": 1}
        assert sum(GREETING in one for one in ada.client.said) == 1


async def test_staff_who_come_first_wait_for_the_guest(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with livekit.joined(room_name, staff=True) as staff, calls.agent(room_name):
        waiting = asyncio.create_task(staff.hello())
        told = await Checked(staff).refused("get_order_state")
        assert told["code"] == 4003
        async with livekit.joined(room_name) as client:
            hello = await client.hello()
            assert (await waiting)["order_id"] == hello["order_id"]
            assert (await waiting)["resume_code"] is None
            assert hello["resume_code"]


async def test_a_key_is_said_once(calls: Calls, livekit: LiveKit, room_name: str) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        asked = {"text": "one tiramisu", "key": "1"}
        answers = await asyncio.gather(*(ada.call("say", asked) for _ in range(6)))
        assert answers == [{"turn": 1}] * 6
        await ada.turn(1)
        assert await ada.call("say", asked) == {"turn": 1}
        told = await ada.refused("say", {"text": "two tiramisu", "key": "1"})
        assert told["code"] == 4011
        assert (await ada.order())["item_count"] == 1
        assert (await ada.call("hello"))["turn"] == 1


async def test_a_message_during_a_handoff_is_not_lost(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    words = ("two large Margheritas", "and a tiramisu", "and one cola", "and two garlic breads")
    async with served(calls, livekit, room_name) as (ada, _):
        for turn, text in enumerate(words, start=1):
            assert await ada.call("say", {"text": text}) == {"turn": turn}
        await ada.turn(len(words))
        order = await ada.order()
        count = {line["name"]: line["quantity"] for line in order["order_items"]}
        assert count == {"Margherita": 2, "Tiramisu": 1, "Cola": 1, "Garlic bread": 2}
        assert order["active_agent"] == "order_taker"
    named = [one.attributes.get("active_agent") for one in ada.client.written]
    assert [*dict.fromkeys(named)] == ["greeter", "order_taker"]


async def test_a_message_before_the_greeting_is_answered_after_it(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with livekit.joined(room_name) as client, calls.agent(room_name):
        await client.hello()
        ada = Checked(client)
        assert await ada.call("say", {"text": "one tiramisu"}) == {"turn": 1}
        await ada.turn(1)
        assert (await ada.order())["item_count"] == 1


async def test_after_the_end_nothing_is_changed_and_it_is_nobodys_turn(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        await ada.call("say", {"text": "goodbye"})
        await until(lambda: ada.client.ends)
        told = await ada.refused("order.apply", {"command": TIRAMISU})
        assert (told["code"], told["reason"]) == (4022, "call_over")
        assert (await ada.order())["order_items"] == []
        # After the end there is none.
        await until(lambda: [one["your_turn"] for one in ada.client.turns] == [True, False])


async def test_a_guest_who_never_speaks_is_asked_and_then_the_call_ends(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    patience = SilencePolicy(remind_after_s=0.2, reminders=2, end_after_s=0.2)
    house = changed(silence={"web_text": patience})
    async with (
        livekit.joined(room_name) as client,
        calls.agent(room_name, house=house),
    ):
        await client.hello()
        await until(lambda: client.ends)
        assert client.ends[0]["reason"] == "user_left"
        await Checked(client).heard("Goodbye!")
        assert [GREETING in one for one in client.said] == [True, False, False, False]
        assert sum("still there" in one for one in client.said) == 2
        await until(lambda: client.turns[-1]["your_turn"] is False)


async def test_changes_on_the_page_count_as_presence(
    calls: Calls,
    changed: Changed,
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = changed(
        silence={"web_text": SilencePolicy(remind_after_s=60.0, reminders=1, end_after_s=60.0)}
    )
    async with served(calls, livekit, room_name, house=house) as (ada, agent):
        assert agent.call._conversation is not None
        silence = agent.call._conversation._silence
        with monkeypatch.context() as patch:
            patch.setattr("agents.app.rooms.page.QUIET_S", LONG_S)
            first = silence.due_at
            await ada.apply(**TIRAMISU)
            second = silence.due_at
        assert first is not None
        assert second is not None
        assert second > first
        await ada.apply(**TIRAMISU)
        await ada.heard("I see you added 2 Tiramisu")
        # The agent that speaks up stops it, and it begins anew with the guest's turn.
        await until(lambda: [one["your_turn"] for one in ada.client.turns] == [True, False, True])
        await until(lambda: (silence.due_at or 0) > second)


async def test_an_agent_without_a_guest_leaves(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    house = changed(user_wait_s=0.3)
    async with (
        livekit.joined(room_name, staff=True),  # which is not waited for
        calls.agent(room_name, house=house) as agent,
    ):
        assert await asyncio.wait_for(asyncio.shield(agent.held), LONG_S) is RoomOutcome.NO_USER
