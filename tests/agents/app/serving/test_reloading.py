import os
import re
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from agents.app.testing import livekit_program
from tests.agents.app.serving.processes import (
    LONG_S,
    ROOT,
    Deployment,
    Running,
    alive,
    answer,
    clean_environment,
    descendants,
    living,
    started,
)
from tests.livekit import until

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]

READY, AGAIN = "The worker is ready", "The new worker is ready"
CHANGING = """
import sys
from pathlib import Path
from types import SimpleNamespace
from agents.app.serving import reloading
from bella_vista.settings import Settings

here = Path.cwd()
reloading.watched_files = lambda *_: reloading.Watched([here / "code"], [here / ".env"])
sys.exit(reloading.run_dev(SimpleNamespace(path="changing", module="sys", settings=Settings)))
"""


class Workshop:
    """A folder with a module under development, and ``dev`` serving it."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.module = deployment.folder / "code" / "changing.py"
        self.module.parent.mkdir()
        shutil.copy(ROOT / "tests/agents/app/serving/small_app.py", self.module)

    def change(self, old: str, new: str) -> None:
        text = self.module.read_text()
        assert old in text
        self.module.write_text(text.replace(old, new))

    @asynccontextmanager
    async def dev(self) -> AsyncIterator[Running]:
        path = os.pathsep.join((str(self.module.parent), str(ROOT)))
        environment = self.deployment.environment(PYTHONPATH=path)
        with started(("-c", CHANGING), environment, self.deployment.folder) as running:
            await running.says(READY)
            yield running


@pytest.fixture
def workshop(deployment: Deployment) -> Workshop:
    return Workshop(deployment)


async def gone(pids: set[int]) -> None:
    await until(lambda: not living(pids), LONG_S, "the end of all processes")


async def test_a_changed_file_moves_the_call_to_the_new_code_without_a_disconnect(
    workshop: Workshop, room_name: str
) -> None:
    deployment = workshop.deployment
    async with workshop.dev() as dev:
        await deployment.send(room_name, order_id="abcd")
        async with deployment.livekit.joined(room_name) as guest:
            first = await answer(guest)

            workshop.change('CODE = "first"', 'CODE = "second"')
            second = await answer(guest, but=first["job"])
            await until(lambda: not alive(first["pid"]), LONG_S, "the end of the old worker")

            await until(lambda: len(guest.agents()) == 1, LONG_S, "the old agent's leaving")
            assert "disconnected" not in guest.connection
        assert AGAIN in dev.text

    assert second["code"] == "second"
    assert second["metadata"] == {**first["metadata"], "supersedes": first["job"]}


async def test_a_change_that_does_not_run_leaves_the_old_worker_and_its_calls(
    workshop: Workshop, room_name: str
) -> None:
    deployment = workshop.deployment
    async with workshop.dev() as dev:
        await deployment.send(room_name)
        async with deployment.livekit.joined(room_name) as guest:
            told = await answer(guest)
            workshop.change('CODE = "first"', 'CODE = "second')
            await dev.says("The new worker did not start. The old one keeps running.")
            assert "SyntaxError" in dev.text
            assert await answer(guest) == told

            (deployment.folder / ".env").write_text("BELLA_VISTA_CALLS=none\n")
            workshop.change('CODE = "second', 'CODE = "third"')
            await dev.says("The new worker did not start. The old one keeps running.", times=2)
            assert "BELLA_VISTA_CALLS: " in dev.text
            assert await answer(guest) == told

            (deployment.folder / ".env").write_text("BELLA_VISTA_CALLS=3\n")
            assert (await answer(guest, but=told["job"]))["code"] == "third"


async def test_a_worker_that_died_is_replaced(workshop: Workshop, room_name: str) -> None:
    async with workshop.dev() as dev:
        (worker,) = children(dev.pid)
        os.kill(worker, signal.SIGKILL)
        await dev.says(AGAIN)
        await workshop.deployment.send(room_name)
        async with workshop.deployment.livekit.joined(room_name) as guest:
            await answer(guest)


def children(pid: int) -> list[int]:
    return [child.pid for child in psutil.Process(pid).children()]


async def test_ctrl_c_ends_dev_and_all_that_it_has_started(
    workshop: Workshop, room_name: str
) -> None:
    async with workshop.dev() as dev:
        await workshop.deployment.send(room_name)
        async with workshop.deployment.livekit.joined(room_name) as guest:
            told = await answer(guest)
            started_by_it = descendants(dev.pid)
            dev.signal(signal.SIGINT)

            assert await dev.ends() == 0
            await gone(started_by_it)
            await until(lambda: not guest.agents(), LONG_S, "the agent's leaving")

    assert told["pid"] in started_by_it
    assert "Traceback" not in dev.text


async def test_nothing_outlives_a_killed_dev(tmp_path: Path) -> None:
    command = ("-m", "bella_vista", "dev", "--server", str(livekit_program()))
    with started(command, clean_environment(tmp_path), tmp_path) as dev:
        await dev.says(READY)
        join = next(line for line in dev.lines if line.endswith("-m bella_vista join"))
        started_by_it = descendants(dev.pid)
        dev.signal(signal.SIGKILL)
        await gone(started_by_it)

    assert re.match(r"  LIVEKIT_URL=ws://127\.0\.0\.1:\d+ LIVEKIT_API_KEY=\S+ ", join)
    assert len(started_by_it) > 3
