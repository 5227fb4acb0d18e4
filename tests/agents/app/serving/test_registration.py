"""What a worker does each time the LiveKit server takes it in."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest
from livekit import api

from agents.app.serving import lifecycle
from agents.app.serving.lifecycle import ShutdownMode
from agents.app.serving.worker import Worker
from tests.livekit import until


class PlayedWorker:
    """A worker that is taken in when the test says so."""

    settings = SimpleNamespace(
        agent_name="bella-vista", livekit_url="ws://127.0.0.1", health_host="127.0.0.1"
    )
    health_port = 8081
    active_jobs = ()
    given_up = None
    lost = None
    noun = "order"

    def __init__(self) -> None:
        self.told: dict[str, Callable[..., object]] = {}

    def on(self, event: str, callback: Callable[..., object]) -> None:
        """Record the listeners of an event."""
        self.told[event] = callback

    async def run(self) -> None:
        """Run until it is ended."""
        await asyncio.Event().wait()

    async def aclose(self) -> None:
        """Nothing runs beside it."""


async def test_waiting_guests_are_searched_for_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []

    async def serve_waiting_participants(sending: object, *, agent_name: str) -> int:
        looked.append(agent_name)
        if len(looked) == 2:
            raise TimeoutError  # a search that fails is not the last
        return 0

    monkeypatch.setattr(lifecycle, "serve_waiting_participants", serve_waiting_participants)
    monkeypatch.setattr(lifecycle, "_RECOVERY_EVERY_S", 0.0)
    worker = PlayedWorker()
    told: asyncio.Future[ShutdownMode] = asyncio.get_running_loop().create_future()
    run = lifecycle._WorkerRun(cast(Worker, worker), cast(api.LiveKitAPI, None), told)
    serving = asyncio.create_task(run(lambda: None))
    await until(lambda: worker.told)

    worker.told["worker_registered"]("AW_1", None)
    await until(lambda: len(looked) >= 4)

    told.set_result(ShutdownMode.CLOSE)
    assert await serving == 0


async def test_after_registering_again_waiting_users_are_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []

    async def serve_waiting_participants(sending: object, *, agent_name: str) -> int:
        looked.append(agent_name)
        return 0

    monkeypatch.setattr(lifecycle, "serve_waiting_participants", serve_waiting_participants)
    worker = PlayedWorker()
    told: asyncio.Future[ShutdownMode] = asyncio.get_running_loop().create_future()
    run = lifecycle._WorkerRun(cast(Worker, worker), cast(api.LiveKitAPI, None), told)
    serving = asyncio.create_task(run(lambda: None))
    await until(lambda: worker.told)

    worker.told["worker_registered"]("AW_1", None)
    await until(lambda: len(looked) == 1)
    worker.told["worker_registered"]("AW_2", None)
    await until(lambda: len(looked) == 2)

    told.set_result(ShutdownMode.CLOSE)
    assert await serving == 0
