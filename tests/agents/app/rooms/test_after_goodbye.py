"""After the agent's goodbye: reading the order, and starting another call."""

import asyncio
import signal
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from livekit import api
from livekit.rtc import SimulateScenarioKind

from agents.app.rooms.media import Media
from agents.app.rooms.presence import Presence
from agents.app.rooms.process_context import ProcessContext, RoomOutcome
from agents.testing import ToneTTS
from bella_vista.orders import advance_order
from state.context import OrderContext
from state.order import OrderState
from state.shared import JournalFault
from tests.agents.app.rooms.checked_client import LARGE, TIRAMISU, Checked, placed, served
from tests.agents.app.rooms.conftest import Agent, Calls, Changed
from tests.agents.app.rooms.restaurant_worker import Restaurant, Worker, turn
from tests.agents.app.rooms.test_speech import speech
from tests.livekit import LONG_S, Client, LiveKit, is_turn, new_identity, until
from tests.speaking import speaking

GREETING = "welcome to Bella Vista"
DAIRY = {"op": "add_allergy", "name": "dairy"}


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
        await until(lambda: ada.client.agents()[-1].attributes["lk.agent.state"] == "idle")
        # A hello of the same connection begins nothing.
        assert (await ada.call("hello"))["order_id"] == hello["order_id"]
        assert greetings(ada.client) == 1


@asynccontextmanager
async def reloading(
    calls: Calls, livekit: LiveKit, room_name: str, **how: Any
) -> AsyncIterator[tuple[Agent, str, dict[str, Any]]]:
    """Have an agent whose guest has ordered, said goodbye and closed the page.

    Gives the agent, the guest's identity, and the answer to their first hello.
    """
    identity = new_identity()
    async with calls.agent(room_name, **how) as agent:
        async with livekit.joined(room_name, identity) as page:
            first = await page.hello()
            await until(lambda: is_turn(page, 0))
            await page.call("order.apply", {"command": LARGE})
            await goodbye(Checked(page))
            # A page that closes before its answer is sent is told again when it is back.
            talk = agent.call._conversation
            assert talk is not None
            await talk.page.end_delivered()
        yield agent, identity, first


async def agent_stays(agent: Agent) -> None:
    """See that it is still there when all of its call has ended."""
    talk = agent.call._conversation
    assert talk is not None
    await until(lambda: talk._finishing, what="the end of the conversation")
    if talk.call.ended == "agent_ended":
        place = agent.call._room_lease
        async with asyncio.timeout(LONG_S):
            while True:  # until its place is closed, and its own
                lease = await place._store.leases.at(place.name)
                if lease is not None and not lease.open:
                    break
                await asyncio.sleep(0.02)
    assert not agent.held.done()


async def test_a_page_that_is_loaded_again_after_the_goodbye_begins_another_call(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with reloading(calls, livekit, room_name) as (agent, identity, first):
        async with livekit.joined(room_name, identity) as page:
            again = await page.hello()
            assert again["order_id"] != first["order_id"]
            assert (again["turn"], again["active_agent"]) == (0, "greeter")
            assert again["resume_code"] != first["resume_code"]
            await until(lambda: is_turn(page, 0) and greetings(page))
            assert greetings(page) == 1
            assert await page.call("say", {"text": "one tiramisu"}) == {"turn": 1}
            await until(lambda: is_turn(page, 1))
            order = (await page.call("get_order_state"))["order"]
            assert order["order_summary"].startswith("1x Tiramisu (")
            assert page.ends == []
            await goodbye(Checked(page))
        assert not agent.held.done()


async def test_the_next_call_offers_what_was_ordered_last(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    identity = new_identity()
    async with calls.agent(room_name):
        async with livekit.joined(room_name, identity) as page:
            first = await page.hello()
            await until(lambda: is_turn(page, 0))
            await page.call("order.apply", {"command": DAIRY})
            before = await placed(Checked(page))
            await goodbye(Checked(page))
        async with livekit.joined(room_name, identity) as page:
            again = await page.hello()
            for command in again["last_order"]:
                await page.call("order.apply", {"command": command})
            after = await page.call("get_order_state")
        async with livekit.joined(room_name, staff=True) as cook:
            seen = await cook.hello()

    assert first["last_order"] == []
    # A dish is judged by the allergies that are there when it is added.
    assert again["last_order"] == [DAIRY, {**LARGE, "modifications": []}]
    assert after["order"]["order_items"] == before["order_items"]
    assert after["order"]["order_items"][0]["allergens_met"] == ["milk"]
    assert after["order"]["allergies"] == ["dairy"]
    assert again["order_id"] != first["order_id"]
    assert seen["last_order"] == []


async def test_a_page_that_is_loaded_again_before_the_server_answers_begins_another_call(
    calls: Calls, livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, reloaded = Presence.connection, asyncio.Event()

    async def late(presence: Presence) -> str | None:
        await reloaded.wait()
        return await asked(presence)

    monkeypatch.setattr(Presence, "connection", late)
    async with (
        reloading(calls, livekit, room_name) as (_, identity, first),
        livekit.joined(room_name, identity) as page,
    ):
        reloaded.set()
        assert (await page.hello())["order_id"] != first["order_id"]


async def by_say(guest: Client) -> None:
    assert await guest.call("say", {"text": "one tiramisu", "key": "new"}) == {"turn": 1}
    assert await guest.call("say", {"text": "one tiramisu", "key": "new"}) == {"turn": 1}


async def by_chat(guest: Client) -> None:
    await guest.write("one tiramisu")


@pytest.mark.parametrize("speak", [by_say, by_chat])
@pytest.mark.parametrize("at_once", [True, False])
async def test_words_after_the_goodbye_start_another_call(
    calls: Calls,
    livekit: LiveKit,
    room_name: str,
    speak: Callable[[Client], Awaitable[None]],
    at_once: bool,
) -> None:
    async with served(calls, livekit, room_name) as (ada, agent):
        first = await ada.call("hello")
        said = {"text": "goodbye", "key": "bye"}
        assert await ada.call("say", said) == {"turn": 1}
        await until(lambda: ada.client.ends)
        if not at_once:
            await agent_stays(agent)
        # What was heard before the end begins nothing when it is sent once more.
        assert await ada.call("say", said) == {"turn": 1}
        await speak(ada.client)
        await until(lambda: greetings(ada.client) == 2 or "iramisu" in ada.client.said[-1])
        await until(lambda: ada.client.turns[-1]["your_turn"] and ada.client.turns[-1]["turn"] == 1)
        again = await ada.call("hello")
        assert (again["order_id"] != first["order_id"], again["turn"]) == (True, 1)
        order = await ada.order()
        assert (order["order_id"], order["item_count"]) == (again["order_id"], 1)
        assert (await ada.apply(**LARGE))["item_count"] == 3
        assert len(ada.client.ends) == 1
        await goodbye(ada)
        await until(lambda: len(ada.client.ends) == 2)
        assert ada.client.ends[-1]["resume_code"] == again["resume_code"]


async def test_a_microphone_that_is_spoken_into_begins_another_call(
    calls: Calls,
    changed: Changed,
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agents.app.rooms.room_job.OWN_GOODBYE_S", 0.0)
    tone = ToneTTS(character_s=0.004)
    house = changed(media=Media(lambda: speech(tone)))
    async with (
        livekit.joined(room_name) as guest,
        speaking(guest.room) as ada,
        calls.agent(room_name, house=house) as agent,
    ):
        first = await guest.hello()
        await until(lambda: is_turn(guest, 0))
        await goodbye(Checked(guest))
        await agent_stays(agent)
        before = agent.call._conversation
        # Between two short sounds a busy server may see neither.
        ada.speaks_on()
        await until(lambda: agent.call._conversation not in (before, None))
        again = await guest.hello()
        assert again["order_id"] != first["order_id"]
        assert (await guest.call("get_order_state"))["order"]["channel"] == "web_voice"


async def test_the_answer_to_the_goodbye_begins_no_other_call(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    house = changed(media=Media(lambda: speech(ToneTTS())))
    async with served(calls, livekit, room_name, house=house) as (ada, agent):
        await goodbye(ada)
        guest = agent.call.user
        assert guest is not None
        agent.room.emit("active_speakers_changed", [guest])
        await agent_stays(agent)
        assert greetings(ada.client) == 1


async def test_a_page_that_reconnects_or_says_hello_again_begins_nothing(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, agent):
        first = await ada.call("hello")
        await goodbye(ada)
        await agent_stays(agent)
        for how in (SimulateScenarioKind.SIMULATE_SIGNAL_RECONNECT,):
            await ada.client.room.simulate_scenario(how)
            await until(lambda: "reconnected" in ada.client.connection)
            again = await ada.client.hello()
            assert (again["order_id"], again["turn"]) == (first["order_id"], 1)
        assert greetings(ada.client) == 1


async def test_when_the_agents_own_connection_was_lost_a_new_one_of_the_guest_begins_nothing(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with reloading(calls, livekit, room_name) as (agent, identity, first):
        agent.room.emit("reconnected")
        async with livekit.joined(room_name, identity) as page:
            assert (await page.hello())["order_id"] == first["order_id"]
            assert (await page.hello())["order_id"] == first["order_id"]


async def test_the_agent_leaves_when_its_guest_has_been_away_for_the_grace_time(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    house = changed(grace_s=0.3)
    async with reloading(calls, livekit, room_name, house=house) as (agent, _, _):
        assert await asyncio.wait_for(asyncio.shield(agent.held), LONG_S) is RoomOutcome.COMPLETED
        place = agent.call._room_lease.name
        lease = await house.store.leases.at(place)
        assert lease is not None
        assert lease.holder is not None  # no other agent takes it
        assert not lease.open  # and the next agent there begins anew
        await agent.call.aclose()
        assert await house.store.leases.at(place) is None


async def test_staff_are_told_of_the_end_and_of_a_guest_who_is_gone(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    house = changed(grace_s=0.3)
    async with livekit.joined(room_name, staff=True) as cook:
        async with livekit.joined(room_name) as bob, calls.agent(room_name, house=house):
            await bob.hello()
            await cook.hello()
            await cook.call("order.subscribe")
            await until(lambda: is_turn(bob, 0))
            await goodbye(Checked(bob))
            await until(lambda: cook.ends)
            told = await Checked(cook).refused("order.apply", {"command": TIRAMISU})
            assert (told["code"], told["reason"]) == (4022, "call_over")
        assert cook.ends == [{"reason": "agent_ended"}]
        other = f"{room_name}-other"
        async with (
            livekit.joined(other, staff=True) as maid,
            calls.agent(other, house=house) as agent,
        ):
            async with livekit.joined(other) as guest:
                await guest.hello()
                await maid.hello()
                await maid.call("order.subscribe")
                await until(lambda: is_turn(guest, 0))
            assert (
                await asyncio.wait_for(asyncio.shield(agent.held), LONG_S) is RoomOutcome.COMPLETED
            )
            assert maid.ends == [{"reason": "user_left"}]


async def test_changes_by_staff_after_the_goodbye_are_shown(
    calls: Calls, house: ProcessContext[OrderState, OrderContext], livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        await ada.call("order.subscribe")
        order = await placed(ada)
        await goodbye(ada)
        await advance_order(house.store, order["order_id"])
        await until(lambda: ada.client.changes[-1]["version"] > order["version"])
        assert (await ada.order())["stage"] == "accepted"


async def test_after_an_end_for_silence_the_same_order_continues(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, agent):
        first = await ada.call("hello")
        await ada.apply(**LARGE)
        assert agent.call._conversation is not None
        agent.call._conversation._end_silent_call()
        await until(lambda: ada.client.ends)
        assert ada.client.ends == [{"reason": "user_left", "resume_code": first["resume_code"]}]
        await agent_stays(agent)
        await ada.call("say", {"text": "and a tiramisu"})
        await ada.heard("Tiramisu")
        order = await ada.order()
        assert (order["order_id"], order["item_count"]) == (first["order_id"], 3)


async def test_an_order_that_goes_on_in_another_room_ends_the_call_here(
    calls: Calls, livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.rooms.departure.NOTIFY_S", LONG_S)
    other = f"{room_name}-other"
    async with served(calls, livekit, room_name) as (ada, first):
        code = (await ada.call("hello"))["resume_code"]
        async with livekit.joined(other) as phone, calls.agent(other, resume_code=code):
            await phone.hello()
            assert await asyncio.wait_for(first.held, LONG_S) is RoomOutcome.SUPERSEDED
            await until(lambda: ada.client.ends)
            assert ada.client.ends == [{"reason": "moved", "resume_code": code}]
            assert phone.ends == []


async def test_a_replaced_agent_tells_of_no_end(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with livekit.joined(room_name) as guest:
        async with calls.agent(room_name, job="AJ_first") as first:
            await guest.hello()
            await until(lambda: is_turn(guest, 0))
            async with calls.agent(room_name, job="AJ_second", supersedes="AJ_first"):
                assert await asyncio.wait_for(first.held, LONG_S) is RoomOutcome.SUPERSEDED
                await first.call.aclose()
                await first.room.disconnect()
                await until(lambda: len(guest.agents()) == 1)
                await guest.hello()
        assert guest.ends == []


async def test_a_lost_agents_successor_goes_on_with_the_second_call(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with livekit.joined(room_name) as guest:
        async with calls.agent(f"{room_name}-before"), livekit.joined(f"{room_name}-before") as old:
            code = (await old.hello())["resume_code"]
        async with calls.agent(room_name, job="AJ_first", resume_code=code) as agent:
            first = await guest.hello()
            await until(lambda: is_turn(guest, 0))
            await goodbye(Checked(guest))
            await guest.call("say", {"text": "two large margheritas"})
            second = await guest.hello()
            assert second["order_id"] != first["order_id"]
            await until(lambda: guest.turns[-1]["your_turn"] and guest.turns[-1]["turn"] == 1)
            successor = agent.call.successor_metadata
            assert (successor.state_id, successor.resume_code) == (second["order_id"], None)
            # A worker that finds a job dead knows only what it was sent with.
            async with calls.agent(
                room_name, job="AJ_second", supersedes="AJ_first", resume_code=code
            ):
                assert await asyncio.wait_for(agent.held, LONG_S) is RoomOutcome.SUPERSEDED
                await agent.room.disconnect()
                await until(lambda: len(guest.agents()) == 1)
                assert (await guest.hello())["order_id"] == second["order_id"]


async def test_an_agent_that_only_stays_leaves_at_once_when_its_worker_does(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, agent):
        agent.call.leave_when_over()
        await ada.say("two large margheritas")  # the call goes on
        await goodbye(ada)
        assert await asyncio.wait_for(asyncio.shield(agent.held), LONG_S) is RoomOutcome.COMPLETED
    other = f"{room_name}-other"
    async with served(calls, livekit, other) as (ada, agent):
        await goodbye(ada)
        await agent_stays(agent)
        agent.call.leave_when_over()
        assert await asyncio.wait_for(asyncio.shield(agent.held), LONG_S) is RoomOutcome.COMPLETED


async def test_a_guest_who_reloads_after_the_goodbye_is_served_in_the_same_job(
    livekit: LiveKit, restaurant: Restaurant, worker: Worker, room_name: str
) -> None:
    identity = new_identity()
    async with livekit.api() as server:
        await server.room.create_room(api.CreateRoomRequest(name=room_name, departure_timeout=90))
    async with restaurant.greeted(room_name, identity) as (page, first):
        await page.call("say", {"text": "two large margheritas"})
        await turn(page, 1)
        await goodbye(Checked(page))
    await restaurant.closed(room_name)  # all of the first call has ended
    async with livekit.joined(room_name, identity) as page:
        second = await page.hello()
        assert second["order_id"] != first["order_id"]
        await page.call("say", {"text": "one tiramisu"})
        await turn(page, 1)
        await goodbye(Checked(page))
        # The second session of a job is closed as the first one was.
        await page.call("say", {"text": "two cola"})
        await until(lambda: page.turns[-1]["your_turn"] and page.turns[-1]["turn"] == 1)
        third = await page.hello()
    await worker.tells("job process exited", room_name)
    assert len(worker.logged("job started", room_name)) == 1
    assert worker.logged("job process exited", room_name)[0]["exit_code"] == 0
    orders = [await restaurant.order(one["order_id"]) for one in (first, second, third)]
    assert [order["order_summary"].partition(" (")[0] for order in orders] == [
        "2x Margherita",
        "1x Tiramisu",
        "2x Cola",
    ]


@pytest.mark.timeout(300)
async def test_a_worker_that_leaves_does_not_wait_for_agents_that_only_stay(
    livekit: LiveKit, tmp_path: Path, room_name: str
) -> None:
    restaurant = Restaurant(livekit, tmp_path)
    async with (
        restaurant.worker(BELLA_VISTA_IDLE="2") as worker,
        restaurant.called(room_name) as stays,
        restaurant.called(f"{room_name}-2") as talks,
    ):
        for guest in (stays, talks):
            await guest.hello()
            await turn(guest, 0)
        await goodbye(Checked(stays))
        worker.signal(signal.SIGTERM)
        await worker.tells("job process exited", room_name)
        assert worker.running.process.poll() is None
        await talks.call("say", {"text": "two large margheritas"})
        await turn(talks, 1)
        await goodbye(Checked(talks))
        assert await worker.ends() == 0
        assert worker.logged("replaced a lost agent") == []


async def test_an_end_that_cannot_be_recorded_does_not_prevent_the_next_call(
    calls: Calls,
    house: ProcessContext[OrderState, OrderContext],
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served(calls, livekit, room_name) as (ada, agent):
        first = await ada.call("hello")

        async def fails(*_: object, **__: object) -> None:
            raise JournalFault("orders.db", "it is locked")

        monkeypatch.setattr(house.store.leases, "finish", fails)
        await goodbye(ada)
        talk = agent.call._conversation
        assert talk is not None
        await until(lambda: talk._finishing)
        assert await ada.call("say", {"text": "one tiramisu"}) == {"turn": 1}
        assert (await ada.call("hello"))["order_id"] != first["order_id"]
        monkeypatch.undo()
        await goodbye(ada)


async def test_the_end_is_stored_before_it_is_told(
    calls: Calls,
    house: ProcessContext[OrderState, OrderContext],
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An agent that replaces this one when it is killed must not go on with the order."""
    async with served(calls, livekit, room_name) as (ada, agent):
        talk = agent.call._conversation
        assert talk is not None
        done: list[str] = []
        finish, ended = house.store.leases.finish, talk.page.ended

        async def store(place: str, holder: str) -> None:
            await finish(place, holder)
            done.append("stored")

        def tell(*what: Any, **how: Any) -> None:
            done.append("told")
            ended(*what, **how)

        monkeypatch.setattr(house.store.leases, "finish", store)
        monkeypatch.setattr(talk.page, "ended", tell)
        await goodbye(ada)

        assert done == ["stored", "told"]
        monkeypatch.undo()


async def test_an_end_that_is_long_in_being_stored_is_told_meanwhile(
    calls: Calls,
    house: ProcessContext[OrderState, OrderContext],
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agents.app.rooms.room_job.END_STORED_S", 0.1)
    async with served(calls, livekit, room_name) as (ada, agent):
        first = await ada.call("hello")
        finish, may = house.store.leases.finish, asyncio.Event()

        async def late(place: str, holder: str) -> None:
            await may.wait()
            await finish(place, holder)

        monkeypatch.setattr(house.store.leases, "finish", late)
        await goodbye(ada)
        await ada.client.write("one tiramisu")
        await until(lambda: agent.call._next_call_requested.is_set())
        assert agent.call._conversation is not None
        may.set()
        # The next call's place is not closed by the end of the last one.
        await ada.turn(1)
        order = await ada.order()
        assert (order["order_id"] != first["order_id"], order["item_count"]) == (True, 1)
        lease = await house.store.leases.at(agent.call._room_lease.name)
        assert lease is not None
        assert lease.state_id == order["order_id"]


async def test_an_agent_whose_place_another_one_takes_between_two_calls_withdraws(
    calls: Calls,
    house: ProcessContext[OrderState, OrderContext],
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served(calls, livekit, room_name) as (ada, agent):
        finish = house.store.leases.finish

        async def taken(place: str, holder: str) -> None:
            await house.store.leases.take(place, "AJ_other", seconds=LONG_S, supersedes=holder)
            await finish(place, holder)

        monkeypatch.setattr(house.store.leases, "finish", taken)
        await ada.call("say", {"text": "goodbye"})
        assert await asyncio.wait_for(asyncio.shield(agent.held), LONG_S) is RoomOutcome.SUPERSEDED
        assert [one["reason"] for one in ada.client.ends] == ["agent_ended"]
        monkeypatch.undo()


async def test_a_hello_does_not_wait_for_a_call_that_cannot_begin(
    calls: Calls,
    livekit: LiveKit,
    room_name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agents.app.rooms.room_job.HELLO_S", 0.2)
    async with served(calls, livekit, room_name) as (ada, agent):
        first = await ada.call("hello")
        await goodbye(ada)
        await agent_stays(agent)
        with locked(tmp_path / "orders.db"):
            await ada.client.write("one cola")
            await until(lambda: agent.call._next_call_requested.is_set())
            await say_hello_in_vain(ada)
        again = await ada.client.hello()
        assert again["order_id"] != first["order_id"]
        await ada.turn(1)
        order = await ada.order()
        assert (order["order_id"], order["item_count"]) == (again["order_id"], 1)


async def test_a_page_that_is_loaded_again_is_not_kept_waiting_either(
    calls: Calls,
    livekit: LiveKit,
    room_name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agents.app.rooms.room_job.HELLO_S", 0.2)
    async with reloading(calls, livekit, room_name) as (agent, identity, first):
        await agent_stays(agent)
        async with livekit.joined(room_name, identity) as page:
            with locked(tmp_path / "orders.db"):
                await page.agent()
                for _ in range(2):
                    await say_hello_in_vain(Checked(page))
            assert (await page.hello())["order_id"] != first["order_id"]


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Keep a database locked for a while."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def say_hello_in_vain(ada: Checked) -> None:
    """See that a hello is answered, and says to try again."""
    told = await ada.refused("hello")
    assert (told["code"], told["type"], told["retryable"]) == (5003, "unavailable", True)
    assert "hello again" in told["detail"]
    assert told["retry_after_ms"] > 0


async def test_requests_of_the_previous_call_do_not_change_the_new_order(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, _):
        said = {"text": "one tiramisu", "key": "said"}
        done = {"command": TIRAMISU, "key": "done"}
        assert await ada.call("say", said) == {"turn": 1}
        await ada.turn(1)
        first = await ada.call("order.apply", done)
        bye = {"text": "goodbye", "key": "bye"}
        assert await ada.call("say", bye) == {"turn": 2}
        await until(lambda: ada.client.ends)
        assert await ada.call("say", {"text": "a cola", "key": "new"}) == {"turn": 1}
        await ada.turn(1)
        order = await ada.order()

        for method, asked, answer in (
            ("say", said, {"turn": 1}),
            ("say", bye, {"turn": 2}),
            ("order.apply", done, first),
        ):
            assert await ada.call(method, asked) == answer
        assert (await ada.refused("say", {**said, "text": "a beer"}))["code"] == 4011
        assert await ada.order() == order
        assert (await ada.call("hello"))["turn"] == 1
        assert len(ada.client.ends) == 1
