"""A job's process dies: another goes on with the same order, the same agent and the same count of turns."""

import json
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from livekit import rtc

from tests.agents.app.rooms.restaurant_worker import (
    GREETING,
    WELCOME_BACK,
    Job,
    Restaurant,
    Worker,
    alone_with,
    answering,
    heard,
    hello_of_another,
    turn,
)
from tests.agents.app.serving.processes import LONG_S
from tests.livekit import Client, LiveKit, new_identity, until

pytestmark = pytest.mark.timeout(300)

SOON_S = 3.0
"""How soon another agent is sent for when one is lost, in seconds: it is not waited for the end of its lease."""

ADD = {"op": "add_item", "name": "Tiramisu", "quantity": 1}


async def nothing(guest: Client) -> None:
    """Kill it as soon as it has greeted."""


async def a_reply(guest: Client) -> None:
    """Kill it in the middle of its work on what the guest says."""
    await guest.call("say", {"text": "two large margheritas"})


async def an_answered_order(guest: Client) -> None:
    """Kill it when the guest has been answered."""
    await guest.call("say", {"text": "two large margheritas"})
    await turn(guest, 1)


Moment = Callable[[Client], Coroutine[Any, Any, None]]


@pytest.mark.parametrize("moment", [nothing, a_reply, an_answered_order])
async def test_the_next_agent_resumes_after_a_kill(
    restaurant: Restaurant, worker: Worker, room_name: str, moment: Moment
) -> None:
    async with restaurant.greeted(room_name) as (guest, hello):
        await moment(guest)
        job = await worker.job(room_name)
        before = await guest.hello()
        said = len(guest.said)
        job.kill()
        stored = await restaurant.order(hello["order_id"])

        again = await hello_of_another(guest, job)
        await alone_with(guest, job)
        await until(lambda: len(guest.said) > said, what="a word of the next agent")
        await guest.call("say", {"text": "what time do you close?"})
        await turn(guest, before["turn"] + 1)
        now = await restaurant.order(hello["order_id"])

    assert guest.gone == {job.agent: "PARTICIPANT_REMOVED"}
    assert worker.replaced_after_s(job) < SOON_S
    assert (again["order_id"], again["turn"]) == (hello["order_id"], before["turn"])
    assert again["version"] >= stored["version"]
    assert again["resume_code"] == hello["resume_code"]
    assert heard(guest, GREETING) == 1
    assert heard(guest, WELCOME_BACK) == 1
    if moment is a_reply:  # done by the one that died or by the next one, and once
        assert now["order_summary"].startswith("2x Margherita (")
    else:
        assert now["order_summary"] == stored["order_summary"]
        assert (again["version"], again["active_agent"]) == (
            stored["version"],
            stored["active_agent"],
        )


async def test_an_agent_that_dies_before_it_has_said_a_word_is_not_missed(
    restaurant: Restaurant, worker: Worker, room_name: str
) -> None:
    async with restaurant.livekit.joined(room_name) as guest:
        with restaurant.locked():
            await restaurant.send(room_name)
            job = await worker.job(room_name)
            job.kill()
        hello = await hello_of_another(guest, job)
        await turn(guest, 0)
        await alone_with(guest, job)

    assert hello["turn"] == 0
    assert len(guest.said) == 1
    assert await restaurant.lease(room_name) is not None


async def test_acknowledged_changes_are_there_and_a_known_key_gets_the_same_answer(
    restaurant: Restaurant, worker: Worker, room_name: str
) -> None:
    async with restaurant.greeted(room_name) as (guest, hello):
        job = await worker.job(room_name)
        first = await guest.call("order.apply", {"command": ADD, "key": "once"})
        job.kill()

        again = await hello_of_another(guest, job)
        second = await guest.call("order.apply", {"command": ADD, "key": "once"})
        order = await restaurant.order(hello["order_id"])

    assert again["version"] == first["version"]
    assert second["version"] == first["version"]
    assert second["order"]["order_items"] == first["order"]["order_items"]
    assert order["order_summary"].startswith("1x Tiramisu")


async def test_words_that_were_acknowledged_are_answered_by_the_next_and_ordered_once(
    restaurant: Restaurant, worker: Worker, room_name: str
) -> None:
    async with restaurant.greeted(room_name) as (guest, _):
        job = await worker.job(room_name)
        said = {"text": "one tiramisu, please", "key": "s1"}
        first = await guest.call("say", said)
        job.kill()

        again = await hello_of_another(guest, job)
        assert await guest.call("say", said) == first
        await turn(guest, 1)
        order = (await guest.call("get_order_state"))["order"]
        assert await guest.call("say", {"text": "what time do you close?"}) == {"turn": 2}

    assert again["turn"] == first["turn"] == 1
    assert order["order_summary"].startswith("1x Tiramisu (")


async def test_a_page_is_told_what_it_missed_and_its_later_changes(
    restaurant: Restaurant, worker: Worker, room_name: str
) -> None:
    async with restaurant.greeted(room_name) as (guest, _):
        job = await worker.job(room_name)
        job.kill()
        await hello_of_another(guest, job)
        await alone_with(guest, job)

        subscribed = await guest.call("order.subscribe")
        applied = await guest.call("order.apply", {"command": ADD})
        await until(lambda: guest.changes, what="the change")

    assert guest.changes[0]["base_version"] == subscribed["version"]
    assert guest.changes[-1]["version"] == applied["version"]


@pytest.fixture
async def handing_over(restaurant: Restaurant, tmp_path: Path) -> AsyncIterator[Worker]:
    """A worker whose Greeter hands the guest over, and whose next agent thinks for long."""
    script = tmp_path / "script.yaml"
    steps = [
        {"say": "Good evening."},
        {"calls": [{"name": "transfer_to_order_taker", "arguments": {}}]},
        {"say": "This comes too late.", "delay": 60},
    ]
    script.write_text(json.dumps(steps))
    async with restaurant.worker(
        BELLA_VISTA_MODEL=f"script:{script}", BELLA_VISTA_AGENT_NAME=f"{restaurant.agent}-slow"
    ) as worker:
        yield worker


async def test_an_agent_that_dies_during_a_handoff_has_handed_over_or_has_not(
    restaurant: Restaurant, handing_over: Worker, room_name: str
) -> None:
    async with restaurant.livekit.joined(room_name) as guest:
        await restaurant.livekit.dispatch(room_name, agent=f"{restaurant.agent}-slow")
        hello = await guest.hello()
        await turn(guest, 0)
        await guest.call("say", {"text": "I would like to order"})
        await guest.attributes("bella.active_agent")
        await until(
            lambda: guest.agents()[-1].attributes.get("bella.active_agent") == "order_taker",
            what="the handoff",
        )
        job = await handing_over.job(room_name)
        job.kill()
        again = await hello_of_another(guest, job)

    assert handing_over.replaced_after_s(job) < SOON_S
    assert (again["order_id"], again["active_agent"]) == (hello["order_id"], "order_taker")
    assert again["turn"] == 1
    assert guest.said[0] == "Good evening."


async def test_a_call_whose_agents_die_again_and_again_is_given_up_with_a_word(
    restaurant: Restaurant, worker: Worker, room_name: str
) -> None:
    async with restaurant.greeted(room_name) as (guest, hello):
        await guest.call("order.apply", {"command": ADD})
        dead: list[Job] = []
        for _ in range(4):
            agent, _hello = await answering(guest, *dead)
            dead.append(await worker.job_of(agent))
            dead[-1].kill()
        given_up = await worker.tells("call given up", room_name)
        await until(lambda: heard(guest, "this call cannot go on") == 1, what="a last word")
        # Words may arrive before the server announces who spoke, while a dead agent is still there.
        killed = {job.agent for job in dead}
        await until(
            lambda: {one.identity for one in guest.agents()} - killed, what="the last agent"
        )
        (last,) = {one.identity for one in guest.agents()} - killed
        with pytest.raises(rtc.RpcError) as refused:
            await guest.call("hello", to=last)
        await until(lambda: not guest.agents(), what="the end of the last agent")
        order = await restaurant.order(hello["order_id"])

    assert given_up["level"] == "error"
    assert refused.value.code == 4003
    assert order["person_wanted"] is True
    assert order["order_summary"].startswith("1x Tiramisu")
    replaced = worker.logged("replaced a lost agent", room_name)
    assert {line["job_id"] for line in replaced} == {job.id for job in dead[:3]}


async def test_a_guest_whose_call_cannot_be_stored_is_told_so(
    livekit: LiveKit, tmp_path: Path, room_name: str
) -> None:
    restaurant = Restaurant(livekit, tmp_path)
    async with restaurant.worker() as worker:
        restaurant.spoil()
        async with restaurant.called(room_name) as guest:
            await until(lambda: guest.said, LONG_S, "a word")
            await until(lambda: not guest.agents(), what="the agent's leaving")
            replaced = worker.logged("replaced a lost agent", room_name)

    # On a busy machine the guest may still be there when the worker looks for people who wait: they
    # are told once more.
    assert all("this call cannot go on" in one for one in guest.said), guest.said
    assert len(replaced) == 3
    assert any(
        "the file is no database" in line["message"]
        for line in worker.logged("call cannot be served", room_name)
    )


async def test_a_new_guest_waits_for_a_database_that_is_locked_and_is_served(
    restaurant: Restaurant, worker: Worker, room_name: str
) -> None:
    async with restaurant.livekit.joined(room_name) as guest:
        with restaurant.locked():
            await restaurant.send(room_name)
            # Each attempt waits for the lock as long as a write does: ten seconds.
            await worker.tells("room lease not acquired yet", room_name)
        assert (await guest.hello())["turn"] == 0
        await turn(guest, 0)

    assert len(guest.said) == 1
    assert not worker.logged("replaced a lost agent", room_name)


async def test_a_call_whose_worker_was_killed_is_continued_by_the_next_worker(
    livekit: LiveKit, tmp_path: Path, room_name: str
) -> None:
    restaurant = Restaurant(livekit, tmp_path)
    identity = new_identity()
    async with livekit.joined(room_name, identity) as guest:
        async with restaurant.worker() as first:
            await restaurant.send(room_name)
            hello = await guest.hello()
            await turn(guest, 0)
            await guest.call("say", {"text": "two large margheritas"})
            await turn(guest, 1)
            job = await first.job(room_name)
        # It is killed, and everything with it.
        async with restaurant.worker():
            again = await hello_of_another(guest, job)
            await alone_with(guest, job)
            await until(lambda: heard(guest, WELCOME_BACK), what="a word of the next agent")

    assert (again["order_id"], again["turn"]) == (hello["order_id"], 1)
    assert again["active_agent"] == "order_taker"
    assert heard(guest, GREETING) == 1
    assert heard(guest, WELCOME_BACK) == 1
