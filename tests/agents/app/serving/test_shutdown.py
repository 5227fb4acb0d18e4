import os
import signal
from pathlib import Path

import pytest

from tests.agents.app.serving.processes import (
    LONG_S,
    Deployment,
    alive,
    answer,
    clean_environment,
    descendants,
    living,
    started,
)
from tests.agents.app.serving.small_app import SPEAKING
from tests.livekit import until

pytestmark = pytest.mark.timeout(300)


async def test_a_worker_that_is_told_to_stop_cuts_no_call_and_takes_none(
    deployment: Deployment,
) -> None:
    old, new = f"{deployment.agent}-old", f"{deployment.agent}-new"

    async with deployment.worker() as worker:
        await deployment.send(old)
        async with (
            deployment.livekit.joined(old) as guest,
            deployment.livekit.joined(new) as another,
        ):
            told = await answer(guest)
            worker.signal(signal.SIGTERM)
            await worker.says("worker shutting down")
            await deployment.send(new)
            with pytest.raises(AssertionError, match="no agent answers"):
                await answer(another, seconds=3)
            assert await answer(guest) == told
            assert worker.process.poll() is None

            await guest.call("leave")

            assert await worker.ends() == 0


async def test_a_stop_signal_to_all_processes_of_a_worker_cuts_no_call(
    deployment: Deployment, room_name: str
) -> None:
    # As systemd sends it by default, to every process of a service.
    async with deployment.worker() as worker:
        await deployment.send(room_name)
        async with deployment.livekit.joined(room_name) as guest:
            told = await answer(guest)
            children = descendants(worker.pid)

            os.killpg(worker.pid, signal.SIGTERM)

            await worker.says("worker shutting down")
            assert await answer(guest) == told
            await guest.call("leave")

            assert await worker.ends() == 0
            await until(lambda: not living(children), LONG_S, "the end of its processes")
    exits = [one["exit_code"] for one in worker.logged() if one["message"] == "job process exited"]
    assert exits == [0], worker.text


async def test_a_second_signal_ends_a_worker_at_once(
    deployment: Deployment, room_name: str
) -> None:
    async with deployment.worker() as worker:
        await deployment.send(room_name)
        async with deployment.livekit.joined(room_name) as guest:
            told = await answer(guest)
            children = descendants(worker.pid)
            worker.signal(signal.SIGINT)
            await worker.says("worker shutting down")

            worker.signal(signal.SIGINT)

            assert await worker.ends() == 1
            await until(lambda: not living(children), LONG_S, "the end of its processes")
    assert told["pid"] in children


async def test_when_the_time_to_drain_is_over_another_worker_goes_on_with_the_call(
    deployment: Deployment, room_name: str
) -> None:
    async with deployment.worker(BELLA_VISTA_DRAIN="1") as worker:
        await deployment.send(room_name, order_id="abcd")
        async with deployment.livekit.joined(room_name) as guest:
            told = await answer(guest)
            async with deployment.worker():
                worker.signal(signal.SIGTERM)
                following = await answer(guest, but=told["job"])
                code = await worker.ends()

    assert code == 0
    assert following["metadata"] == {**told["metadata"], "supersedes": told["job"]}
    assert "drain timeout exceeded" in worker.text


async def test_a_worker_exits_after_the_drain_timeout_without_another_worker(
    deployment: Deployment, room_name: str
) -> None:
    async with deployment.worker(BELLA_VISTA_DRAIN="0") as worker:
        await deployment.send(room_name, locale=SPEAKING)
        async with deployment.livekit.joined(room_name) as guest:
            await answer(guest)

            worker.signal(signal.SIGTERM)

            assert await worker.ends() == 0


STUCK_JOB = """
import multiprocessing, os, sys, threading
from livekit.agents import JobExecutorType, JobProcess
from agents.app.serving import worker

def never_end():
    worker._SHUTDOWN_S = 0
    process = JobProcess(executor_type=JobExecutorType.PROCESS, user_arguments=None, http_proxy=None)
    worker._set_up(None, None, process)
    print("job", os.getpid(), file=sys.stderr, flush=True)
    threading.Event().wait()

multiprocessing.get_context("fork").Process(target=never_end).start()
threading.Event().wait()
"""


async def test_a_job_that_does_not_shut_down_ends_soon_after_its_worker_is_killed(
    tmp_path: Path,
) -> None:
    with started(("-c", STUCK_JOB), clean_environment(tmp_path)) as worker:
        await worker.says("job ")
        job = int(worker.lines[-1].split()[1])

        worker.signal(signal.SIGKILL)
        await worker.ends()

        await until(lambda: not alive(job), LONG_S, "the end of the job")
