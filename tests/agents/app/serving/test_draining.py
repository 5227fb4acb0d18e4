"""A worker that drains lets its event loop run, however its calls end."""

import asyncio
from typing import Any, cast

import pytest
from livekit.agents import JobExecutorType
from livekit.agents.ipc.job_proc_executor import ProcJobExecutor
from livekit.agents.ipc.proc_pool import ProcPool

from agents.app.serving.worker import Worker
from agents.app.settings import AppSettings


class Process(ProcJobExecutor):
    """A process that serves a call until it is ended; livekit-agents has all the rest."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self._supervise_atask = asyncio.create_task(self._over())
        self._running_job = cast("Any", object())

    async def _over(self) -> None:
        await self.over.wait()


def pool_of(*processes: Process) -> ProcPool:
    """A pool whose processes have started, each with a call."""
    unused = cast("Any", None)
    pool = ProcPool(
        initialize_process_fnc=unused,
        job_entrypoint_fnc=unused,
        session_end_fnc=None,
        simulation_end_fnc=None,
        num_idle_processes=0,
        initialize_timeout=1,
        close_timeout=1,
        session_end_timeout=1,
        inference_executor=None,
        job_executor_type=JobExecutorType.PROCESS,
        mp_ctx=unused,
        memory_warn_mb=0,
        memory_limit_mb=0,
        http_proxy=None,
        loop=asyncio.get_running_loop(),
    )
    for process in processes:
        pool.processes.append(process)
        watching = asyncio.create_task(pool._monitor_process_task(process))
        pool._monitor_tasks.add(watching)
    return pool


@pytest.mark.timeout(30, method="signal")
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_calls_that_end_at_once_end_the_drain(
    order: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = [Process(), Process()]
    worker = Worker(AppSettings())
    monkeypatch.setattr(worker, "_proc_pool", pool_of(*processes), raising=False)
    monkeypatch.setattr(worker, "_job_lifecycle_tasks", set(), raising=False)
    monkeypatch.setattr(worker, "_msg_chan", asyncio.Queue(), raising=False)

    async def status() -> None: ...

    monkeypatch.setattr(worker, "_update_worker_status", status)
    draining = asyncio.create_task(worker.drain(timeout=None))
    for _ in range(5):
        await asyncio.sleep(0)
    for number in order:
        processes[number].over.set()

    await draining

    assert worker.pool.processes == []
