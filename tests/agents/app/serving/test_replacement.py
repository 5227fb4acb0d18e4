import json
import os
import signal

import pytest

from tests.agents.app.serving.processes import LONG_S, Deployment, Running, answer
from tests.agents.app.serving.small_app import FRAGILE, POISON
from tests.livekit import until

pytestmark = pytest.mark.timeout(300)


async def test_a_killed_agent_is_replaced_and_its_ghost_is_gone(
    shared_deployment: Deployment, one_worker: Running, room_name: str
) -> None:
    await one_worker.says("registered")
    await shared_deployment.send(room_name, user="ada", channel="web_text")
    async with shared_deployment.livekit.joined(room_name, "ada") as guest:
        first = await answer(guest)

        os.kill(first["pid"], signal.SIGKILL)
        second = await answer(guest, but=first["job"])
        await until(lambda: len(guest.agents()) == 1, LONG_S, "the end of the ghost")

    # The server would have let the ghost stand for long, and told another reason.
    assert guest.gone == {f"agent-{first['job']}": "PARTICIPANT_REMOVED"}
    assert second["metadata"] == {
        **first["metadata"],
        "supersedes": first["job"],
        "tries": 1,
    }


async def test_an_agent_that_cannot_go_on_has_itself_replaced(
    shared_deployment: Deployment, one_worker: Running, room_name: str
) -> None:
    await one_worker.says("registered")
    await shared_deployment.send(room_name, locale=FRAGILE)
    async with shared_deployment.livekit.joined(room_name) as guest:
        first = await answer(guest)
        await guest.call("fail")
        second = await answer(guest, but=first["job"])

    assert (second["metadata"]["supersedes"], second["metadata"]["tries"]) == (first["job"], 1)


async def test_an_agent_that_has_left_is_not_replaced(
    shared_deployment: Deployment, one_worker: Running, room_name: str
) -> None:
    await one_worker.says("registered")
    await shared_deployment.send(room_name)
    async with shared_deployment.livekit.joined(room_name) as guest:
        told = await answer(guest)
        await guest.call("leave")
        await until(lambda: ended(one_worker, told["job"]), LONG_S, "the end of the job")
        await until(lambda: not guest.agents(), LONG_S, "the agent's leaving")
        with pytest.raises(AssertionError, match="no agent answers"):
            await answer(guest, but=told["job"], seconds=1)


def ended(worker: Running, job: str) -> bool:
    return any(
        line["message"] == "job process exited" and line["job_id"] == job
        for line in worker.logged()
    )


async def test_a_call_that_kills_every_agent_is_given_up(
    shared_deployment: Deployment, one_worker: Running, room_name: str
) -> None:
    await one_worker.says("registered")
    async with shared_deployment.livekit.joined(room_name):
        await shared_deployment.send(room_name, locale=POISON, order_id="abcd")
        await until(shared_deployment.given_up.exists, LONG_S, "that the staff are told")
    sent = [line for line in one_worker.logged() if line["message"] == "replaced a lost agent"]

    room, metadata = json.loads(shared_deployment.given_up.read_text())
    assert (room, metadata["state_id"], metadata["tries"]) == (room_name, "abcd", 3)
    assert [line["tries"] for line in sent if line["room"] == room_name] == [1, 2, 3]


async def test_calls_of_a_dead_worker_are_recovered_by_the_next(deployment: Deployment) -> None:
    rooms = [
        f"{deployment.agent}-{name}" for name in ("waiting", "served", "gone", "left", "staff")
    ]
    lost = [
        {"room": room, "job_id": f"AJ_{room}", "state_id": "abcd", "tries": 1} for room in rooms
    ]
    # Its agent has just moved it to another, which is starting.
    lost[3] |= {"job_id": "", "silent_s": 0.5}
    # Its guest has left, and somebody else is there.
    lost[4] |= {"user": "ada"}

    async with (
        deployment.livekit.joined(rooms[3]),
        deployment.livekit.joined(rooms[4], staff=True),
        deployment.livekit.joined(rooms[0]) as guest,
        deployment.livekit.joined(rooms[1]) as other,
        deployment.livekit.joined(rooms[0], f"agent-AJ_{rooms[0]}", kind="agent") as ghost,
        deployment.livekit.joined(rooms[1], "agent-AJ_another", kind="agent"),
        deployment.worker(TEST_LOST=json.dumps(lost)) as worker,
    ):
        told = await answer(guest)
        await until(lambda: "disconnected" in ghost.connection, what="the end of the ghost")
        # The server announces a participant without tracks within three seconds.
        await until(other.agents, what="the agent that is announced")
        served = [agent.identity for agent in other.agents()]

    assert told["metadata"]["supersedes"] == f"AJ_{rooms[0]}"
    assert (told["metadata"]["state_id"], told["metadata"]["tries"]) == ("abcd", 2)
    assert served == ["agent-AJ_another"]
    replaced = [line for line in worker.logged() if line["message"] == "replaced a lost agent"]
    assert {line["room"] for line in replaced} == {rooms[0]}


async def test_a_guest_who_came_before_any_worker_is_served(
    deployment: Deployment, room_name: str
) -> None:
    async with deployment.livekit.joined(room_name, "ada") as guest:
        await deployment.send(room_name, user="ada", channel="web_text")
        with deployment.starting():
            told = await answer(guest)

    assert told["metadata"]["user"] == "ada"
    assert told["metadata"]["channel"] == "web_text"
