"""The console in a real terminal, as its own process."""

import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path

import pytest

from tests.bella_vista.small_restaurant import MENU

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[4]
SCRIPT = """
- say: Good evening, this is the automatic assistant.
- calls: [{name: set_customer, arguments: {name: Ada}}, {name: transfer_to_order_taker}]
- calls: [{name: add_item, arguments: {name: Tiramisu}}]
- say: One Tiramisu, Ada.
"""


class Terminal:
    """A terminal with a console in it."""

    def __init__(self, process: "subprocess.Popen[bytes]", master: int) -> None:
        self.process = process
        self._master = master
        self.shown = ""

    def until(self, text: str) -> None:
        """Read until a text is on the screen."""
        while text not in self.shown:
            assert self._read(), f"{text!r} never came: {self.shown}"

    def until_after(self, first: str, then: str) -> None:
        """Read until a text is on the screen after another."""
        self.until(first)
        while then not in self.shown.partition(first)[2]:
            assert self._read(), f"{then!r} never came after {first!r}: {self.shown}"

    def until_asked(self, times: int) -> None:
        """Read until the guest has been asked so often: a key pressed before that may be lost."""
        while self.shown.count("You: ") < times:
            assert self._read(), f"there was no prompt: {self.shown}"

    def types(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def ends(self) -> int:
        """Read to the end; returns the exit code."""
        while self._read():
            pass
        return self.process.wait()

    def _read(self) -> bool:
        try:
            read = os.read(self._master, 65536)
        except OSError:  # the other side is closed
            return False
        self.shown += read.decode().replace("\r\n", "\n")
        return bool(read)


@contextmanager
def terminal(folder: Path, *program: str, **environment: str) -> Iterator[Terminal]:
    (folder / "script.yaml").write_text(SCRIPT)
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    restaurant = (
        "-m",
        "bella_vista",
        "console",
        "--menu",
        str(MENU),
        "--model",
        "script:script.yaml",
    )
    process = subprocess.Popen(
        [
            *(sys.executable, *(program or restaurant)),
            *("--database", f"sqlite:///{folder}/orders.db"),
        ],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            **environment,
        },
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def test_a_guest_orders_and_leaves_with_ctrl_d(tmp_path: Path) -> None:
    with terminal(tmp_path) as screen:
        screen.until_asked(1)
        screen.types("Ada, a tiramisu\n")
        screen.until("One Tiramisu, Ada.")
        screen.until_asked(2)
        screen.types("\x04")

        assert screen.ends() == 0
        assert "1 x Tiramisu" in screen.shown
        assert "Go on with: " in screen.shown
        assert "Traceback" not in screen.shown


def test_ctrl_c_at_the_prompt_ends_with_the_order(tmp_path: Path) -> None:
    with terminal(tmp_path) as screen:
        screen.until_asked(1)
        screen.types("half a wor")
        screen.until("half a wor")
        screen.process.send_signal(signal.SIGINT)

        assert screen.ends() == 0
        assert "Traceback" not in screen.shown


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_a_plain_terminal_gets_plain_text(tmp_path: Path, environment: dict[str, str]) -> None:
    with terminal(tmp_path, **environment) as screen:
        screen.until_asked(1)
        screen.types("Ada, a tiramisu\n")
        screen.until_asked(2)
        screen.types("\x04")

        assert screen.ends() == 0
        assert "\x1b[" not in screen.shown.replace("\x1b[K", "").replace("\x1b[?1034h", "")


UNASKED = """
import asyncio, signal
from pydantic import BaseModel
from agents.app.app import App
from agents.handoff import Agent, Graph, Opening
from agents.testing import ScriptedLLM, says

class Note(BaseModel, frozen=True):
    text: str = ""

class Desk(Agent[Note, None]):
    name = "desk"
    prompt = "You are a desk."
    opening = Opening(first="Greet.", handed_over="Go on.", come_back="Greet.", canned="Hello.")

    async def on_enter(self) -> None:
        words = "The result is here."
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self.call.speak, words)

APP = App(name="desk", noun="note", plural="notes", prefix="desk", state=Note,
    model=lambda context, settings: ScriptedLLM([says("Hello."), says("The whole sentence.")]),
    context=lambda environment: None, new=lambda context, new: Note(),
    graph=Graph((Desk,), (), start="desk"))

if __name__ == "__main__":
    APP.cli()
"""


@pytest.mark.parametrize("environment", [{}, {"TERM": "dumb"}], ids=str)
def test_what_is_typed_is_shown_again_below_an_unprompted_reply(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "desk.py").write_text(UNASKED)
    with terminal(tmp_path, "desk.py", "console", **environment) as screen:
        screen.until_asked(1)
        screen.types("half a sen")
        screen.until("half a sen")
        screen.process.send_signal(signal.SIGUSR1)
        screen.until_after("The result is here.", "You: half a sen")
        screen.types("tence\n")
        screen.until_after("The whole sentence.", "You: ")
        screen.types("\x04")

        assert screen.ends() == 0
