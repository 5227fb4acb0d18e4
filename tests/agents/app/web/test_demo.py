"""The page, the agents and a LiveKit server in one program, until Ctrl-C."""

import asyncio
import os
import pty
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import psutil  # type: ignore[import-untyped]
import pytest

from agents.app.testing import livekit_program
from tests.agents.app.serving.processes import clean_environment
from tests.agents.app.web.test_command import address, visiting
from tests.sounds import speech_program
from tests.speaking import speaking

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]

IN_TERMINAL = "import os, sys; os.login_tty(0); os.execvp(sys.argv[1], sys.argv[1:])"


def program(module: str, folder: Path) -> list[str]:
    """The demonstration's command line."""
    database = f"sqlite:///{folder}/states.db"
    return [
        *(sys.executable, "-m", module, "web", "--server", str(livekit_program())),
        *("--port", "0", "--database", database),
    ]


def is_healthy(line: str) -> bool:
    """Whether the server that a line names answers."""
    word, _, url = line.strip().partition(" ")
    assert word == "ready", line
    with urllib.request.urlopen(f"{url}healthz", timeout=30) as answer:
        return bool(answer.status == 200)


@contextmanager
def ended(process: "subprocess.Popen[str]") -> Iterator[None]:
    """Leave nothing of a process behind, whatever happens."""
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def started(module: str, tmp_path: Path) -> subprocess.Popen[str]:
    """Start a demonstration in a session of its own."""
    return subprocess.Popen(
        program(module, tmp_path),
        env=clean_environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("module", ["bella_vista", "examples.clinic"])
def test_it_is_ready_with_its_agents_and_ends_with_all_of_them(module: str, tmp_path: Path) -> None:
    process = started(module, tmp_path)
    with ended(process):
        assert process.stdout is not None
        assert is_healthy(process.stdout.readline())
        os.killpg(process.pid, signal.SIGINT)
        rest, log = process.communicate(timeout=120)

    assert process.returncode == 0, log
    assert rest == ""  # the address was the last line
    assert "worker registered" in log
    assert "worker shutting down" in log
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("killed", "told"),
    [
        ("livekit-server", "The LiveKit server has ended by SIGKILL: the demonstration ends."),
        ("agents.app.serving", "The agents' process has ended by SIGKILL: the demonstration ends."),
    ],
)
def test_it_ends_with_a_sentence_when_a_process_of_it_is_killed(
    killed: str, told: str, tmp_path: Path
) -> None:
    process = started("bella_vista", tmp_path)
    with ended(process):
        assert process.stdout is not None
        assert is_healthy(process.stdout.readline())
        (child,) = (
            one
            for one in psutil.Process(process.pid).children()
            if killed in " ".join(one.cmdline())
        )
        child.kill()
        _, log = process.communicate(timeout=120)

    assert process.returncode == 1, log
    assert told in log
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("variables", "spoken", "told"),
    [
        ({}, True, "Speech-to-text: local; text-to-speech: local."),
        (
            {"BELLA_VISTA_LANGUAGE": "de"},
            False,
            "Calls are typed, not spoken: BELLA_VISTA_LANGUAGE: local speech-to-text is English only",
        ),
    ],
)
async def test_calls_are_spoken_if_this_machine_can_hear_and_speak(
    tmp_path: Path, variables: dict[str, str], spoken: bool, told: str
) -> None:
    speech_program("espeak-ng")
    process = await asyncio.create_subprocess_exec(
        *program("bella_vista", tmp_path),
        env=clean_environment(tmp_path, **variables),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with httpx2.AsyncClient(base_url=await address(process), timeout=30) as browser:
            token = (await browser.post("/api/token", json={})).json()
            async with visiting(token) as guest, speaking(guest.room):
                hello = await guest.hello(60)
        process.send_signal(signal.SIGINT)
        _, log = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

    assert ("push_to_talk" in hello["features"]) is spoken
    assert told in log.decode()


def test_ctrl_c_in_a_terminal_does_not_make_make_fail(tmp_path: Path) -> None:
    command = " ".join(program("bella_vista", tmp_path))
    (tmp_path / "Makefile").write_text(f"demo:\n\t@{command}\n")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", IN_TERMINAL, "make", "-f", str(tmp_path / "Makefile")],
        env=in_terminal(clean_environment(tmp_path)),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        text=True,
    )
    os.close(slave)
    shown = ""
    try:
        with ended(process):
            while "ready http" not in shown or not shown.endswith("\n"):
                shown += os.read(master, 65_536).decode()
            os.write(master, b"\x03")
            with suppress(OSError):  # the terminal is closed
                while piece := os.read(master, 65_536):
                    shown += piece.decode()
            code = process.wait(120)
    finally:
        os.close(master)

    assert code == 0, shown
    assert "***" not in shown  # what make says of a recipe that failed


def in_terminal(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment for programs in a terminal."""
    return {**environment, "TERM": "dumb"}


def test_without_a_server_program_it_says_so(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bella_vista", "web", "--server", str(tmp_path / "none")]
    done = subprocess.run(
        command,
        env=clean_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 2
    assert "none" in done.stderr
    assert "Traceback" not in done.stderr
