"""Whom a worker sends to the calls that others have left, and how often."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from livekit import api
from livekit.protocol.models import ParticipantInfo, Room

from agents.app.dispatch.dispatcher import STARTS_S, Dispatcher
from agents.app.dispatch.replacement import LostCall, recover_lost_calls
from agents.app.serving import lifecycle

AGENT = "bella-vista"
LOST = [LostCall("hall", "AJ_dead", user="ada"), LostCall("bar", "AJ_gone", user="bob")]


class Server:
    """A LiveKit server with a guest in each of two rooms."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.there = {"hall": "ada", "bar": "bob"}
        self.room = SimpleNamespace(
            list_rooms=self._rooms,
            list_participants=self._participants,
            remove_participant=self._remove,
        )
        self.agent_dispatch = SimpleNamespace(create_dispatch=self._dispatch)

    async def _rooms(self, request: Any) -> Any:
        return SimpleNamespace(rooms=[Room(name=name) for name in self.there])

    async def _participants(self, request: Any) -> Any:
        guest = ParticipantInfo(identity=self.there[request.room], kind=ParticipantInfo.STANDARD)
        return SimpleNamespace(participants=[guest])

    async def _remove(self, request: Any) -> None: ...

    async def _dispatch(self, request: Any) -> None:
        self.sent.append(request.room)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def sending(server: Server) -> Dispatcher:
    return Dispatcher(cast(api.LiveKitAPI, server))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr("agents.app.dispatch.dispatcher.time.monotonic", lambda: now[0])
    return now


async def test_while_an_agent_starts_no_other_is_sent(
    server: Server, sending: Dispatcher, clock: list[float]
) -> None:
    assert await recover_lost_calls(sending, LOST[:1], agent_name=AGENT) == 1
    for _ in range(3):  # it takes its time to start on a busy machine, and has no lease yet
        clock[0] += STARTS_S / 4
        await recover_lost_calls(sending, LOST, agent_name=AGENT)

    assert server.sent == ["hall", "bar"]


async def test_one_that_never_came_is_followed_by_another(
    server: Server, sending: Dispatcher, clock: list[float]
) -> None:
    await recover_lost_calls(sending, LOST, agent_name=AGENT)
    clock[0] += STARTS_S

    assert await recover_lost_calls(sending, LOST, agent_name=AGENT) == 2
    assert server.sent == ["hall", "bar"] * 2


async def test_one_that_was_sent_and_died_is_replaced_at_once(
    server: Server, sending: Dispatcher, clock: list[float]
) -> None:
    """The worker sees its own processes die, and waits for nothing then."""
    from agents.app.dispatch.dispatcher import AgentJob
    from agents.app.job_metadata import JobMetadata

    await recover_lost_calls(sending, LOST[:1], agent_name=AGENT)

    died = AgentJob("hall", "AJ_next", "agent-AJ_next", AGENT, JobMetadata(), 1.0)
    await sending.replace(died)

    assert server.sent == ["hall", "hall"]


@pytest.mark.parametrize(
    ("job", "slow_s", "lost_s"),
    [("AJ_elsewhere", 2.9, 3.1), ("AJ_here", 9.9, 10.1), ("", 4.9, 5.1)],
)
async def test_an_agent_that_is_only_slow_is_not_replaced(
    server: Server, sending: Dispatcher, job: str, slow_s: float, lost_s: float
) -> None:
    """One whose process is alive in this worker may wait long for a processor."""
    here = {"AJ_here"}
    slow = [LostCall("hall", job, user="ada", silent_s=slow_s)]
    assert await recover_lost_calls(sending, slow, agent_name=AGENT, running=here) == 0
    assert server.sent == []

    lost = [LostCall("hall", job, user="ada", silent_s=lost_s)]
    assert await recover_lost_calls(sending, lost, agent_name=AGENT, running=here) == 1
    assert server.sent == ["hall"]


@pytest.mark.parametrize(
    ("alive", "sent"), [("AJ_here", []), ("AJ_another", ["hall"]), (None, ["hall"])]
)
async def test_a_worker_waits_longer_for_the_processes_that_it_sees_alive(
    server: Server, alive: str | None, sent: list[str]
) -> None:
    async def lost() -> list[LostCall]:
        return [LostCall("hall", "AJ_here", user="ada", silent_s=5.0)]

    job = None if alive is None else SimpleNamespace(job=SimpleNamespace(id=alive))
    worker = SimpleNamespace(
        given_up=None,
        noun="order",
        settings=SimpleNamespace(agent_name=AGENT),
        lost=lost,
        pool=SimpleNamespace(processes=[SimpleNamespace(running_job=job)]),
    )
    stop: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    run = lifecycle._WorkerRun(cast(Any, worker), cast(api.LiveKitAPI, server), stop)

    await run._recover_lost_calls()

    assert server.sent == sent
