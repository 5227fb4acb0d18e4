"""What a failing test leaves running is ended, so that it fails no other."""

import asyncio
import subprocess
import sys

import pytest

from tests import children

pytestmark = pytest.mark.processes

SLEEPS = (sys.executable, "-c", "print('up', flush=True); input()")


@pytest.mark.parametrize("session", [False, True], ids=["same session", "its own session"])
def test_a_process_is_ended_and_its_pipes_are_closed(session: bool) -> None:
    process = subprocess.Popen(
        SLEEPS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=session
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"

    (left,) = children.end()

    assert str(process.pid) in left
    assert process.returncode is not None
    assert (process.stdin.closed, process.stdout.closed) == (True, True)


async def test_a_process_of_an_event_loop_is_ended_and_its_transport_closed() -> None:
    process = await asyncio.create_subprocess_exec(
        *SLEEPS, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"up\n"

    assert await children.end_awaited() == [f"process {process.pid}"]

    assert process.returncode is not None
    assert process._transport.is_closing()  # type: ignore[attr-defined]


def test_a_process_that_has_ended_is_not_reported() -> None:
    with subprocess.Popen((sys.executable, "-c", "pass")):
        pass

    assert children.end() == []


def test_the_processes_of_shared_fixtures_are_not_recorded() -> None:
    with (
        children.recorded(False),
        subprocess.Popen(SLEEPS, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as shared,
    ):
        assert children.end() == []
        assert shared.poll() is None
        shared.communicate(b"\n")
