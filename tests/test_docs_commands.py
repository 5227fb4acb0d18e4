"""Every command in the documentation runs as it is written, as far as it can without a key, a network or a server.

Those of the pages that are typed from top to bottom are run by the tests named in ``TYPED``.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from agents.app.cli import command_line
from bella_vista.app import APP

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.joinpath("docs").rglob("*.md")])
RUNNABLE = ("make ", ".venv/bin/python ", "printf ")

STOPS_AT = {
    ".venv/bin/python -m bella_vista console --model openai": "OPENAI_API_KEY",
    ".venv/bin/python -m bella_vista dev": "LIVEKIT_URL",
    ".venv/bin/python -m bella_vista start": "LIVEKIT_URL",
}
"""Commands that need a key or a server, and the setting whose absence they report with exit code 2."""

TYPED = {
    "tutorial.md": "test_tutorial.py",
    "your-own-application.md": "test_your_own_application.py",
}
"""Pages that are typed from top to bottom, and their tests."""

NOT_RUN = (
    *("git clone . ../mutants", "mutmut "),
    *("sudo apt install ", "flite "),
    *("LIVEKIT_URL=... ", "python -m bella_vista join --speech"),
)
"""Commands of tools that are no dependency, and of users in a room, which tests of rooms run."""

pytestmark = [pytest.mark.processes, pytest.mark.timeout(120)]


def blocks() -> Iterator[tuple[Path, str]]:
    """Yield each ``sh`` block with its page."""
    for page in PAGES:
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            yield page, block


def commands() -> list[str]:
    """Return every line of every block, without its comment."""
    found: dict[str, None] = {}
    for page, block in blocks():
        for line in block.splitlines():
            command = re.sub(r"\s+#.*", "", line).strip()
            if command and (page.name not in TYPED or command.startswith("make ")):
                found[command] = None
    return list(found)


def spans() -> list[str]:
    """Return the commands named in running text and tables, as the words after the program."""
    names = tuple(f"{name} " for name in named_commands())
    found: dict[str, None] = {}
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for span in re.findall(r"`([^`\n]+)`", text):
            _, program, rest = span.partition("python -m bella_vista ")
            words = rest if program else span
            if program or words.startswith(names):
                found[words.partition(" > ")[0]] = None
    return list(found)


def named_commands() -> list[str]:
    group = get_command(command_line(APP))
    assert isinstance(group, TyperGroup)
    return list(group.commands)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader's folder: the environment, a menu, a conversation, a stored order with the number 101."""
    made = tmp_path_factory.mktemp("reader")
    (made / "bella-vista").symlink_to(ROOT)
    python = made / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    menus = (ROOT / "docs" / "menus.md").read_text(encoding="utf-8")
    smallest = menus.partition("```yaml\n")[2].partition("```")[0]
    (made / "my-menu.yaml").write_text(smallest, encoding="utf-8")
    page = (ROOT / "docs" / "conversations.md").read_text(encoding="utf-8")
    evening = page.partition("```yaml\n")[2].partition("```")[0]
    (made / "conversations").mkdir()
    (made / "conversations" / "evening.yaml").write_text(evening, encoding="utf-8")
    done = run(made, "printf 'Hi, I am Ada\\n' | .venv/bin/python -m bella_vista console")
    assert done.returncode == 0, done.stderr
    return made


def run(folder: Path, command: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a shell that has no keys and no other settings."""
    kept = ("PATH", "LANG", "LC_ALL", "TMPDIR", "COVERAGE_PROCESS_START")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "BELLA_VISTA_AT": "2026-11-20T19:00:00",
        **settings,
    }
    return subprocess.run(
        ["sh", "-ec", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("command", commands())
def test_a_command_runs_as_it_is_written(folder: Path, command: str) -> None:
    if command.startswith(NOT_RUN):
        return
    assert command.startswith(RUNNABLE), "say in this test how it is run"
    # Installing, serving and testing take minutes: make only prints what it would do.
    in_clone = re.sub(r"^make (?!-C )", "make -C bella-vista ", command)
    # Without any setting of a LiveKit server, `dev` would run one until it is stopped.
    settings = {"LIVEKIT_API_KEY": "a-key"} if command in STOPS_AT else {}
    done = run(folder, re.sub(r"^make ", "make --dry-run ", in_clone), **settings)

    if (missing := STOPS_AT.get(command)) is not None:
        assert done.returncode == 2
        assert missing in done.stderr
    else:
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_every_command_that_stops_is_in_the_documentation() -> None:
    assert set(STOPS_AT) <= set(commands())


@pytest.mark.parametrize("words", spans())
def test_a_command_in_a_sentence_exists_with_its_options(words: str) -> None:
    found = get_command(command_line(APP))
    left = re.split(r"[\s,]+", words)
    assert left[0] == "COMMAND" or left[0] in named_commands()
    while isinstance(found, TyperGroup) and left and left[0] in found.commands:
        found = found.commands[left.pop(0)]
    options = {name for parameter in found.params for name in parameter.opts} | {"--help"}

    assert {word for word in left if word.startswith("--")} <= options


def test_every_make_target_in_a_sentence_exists() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    targets = {shlex.split(span)[1] for span in re.findall(r"`(make [^`\n]+)`", text)}

    done = run(ROOT, f"make --dry-run {shlex.join(sorted(targets))}")

    assert "docs" in targets
    assert done.returncode == 0, done.stderr
