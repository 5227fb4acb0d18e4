"""The tutorial, its recipes and conflicts, typed as their reader types them: every file into an empty folder, every command."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^(?:\*\*`(?P<file>[\w.]+)`\*\*[^\n]*\n\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)
APPLICATION = ("stay.py", "hotel.py")
MOST_LINES = 100
"""How long the reader's application may get; blank lines are not counted."""

# Two runs of mypy and some of pytest, each on its own and perhaps on a busy machine.
pytestmark = pytest.mark.timeout(300)


@dataclass
class Typed:
    """The reader's folder, and what the pages let him do."""

    folder: Path
    ran: dict[str, str] = field(default_factory=dict)
    shown: list[tuple[str, str]] = field(default_factory=list)

    def follow(self, page: str) -> None:
        """Do what a page says, from top to bottom."""
        command = ""
        for block in BLOCK.finditer((ROOT / "docs" / page).read_text(encoding="utf-8")):
            if block["file"]:
                file = self.folder / block["file"]
                before = file.read_text(encoding="utf-8") + "\n\n" if file.exists() else ""
                file.write_text(before + block["text"], encoding="utf-8")
            elif block["kind"] == "sh" and any(self.folder.iterdir()):
                command = block["text"].strip()
                self.ran[command] = self.run(command)
            elif block["kind"] == "text":
                self.shown.append((self.ran[command], block["text"]))

    def run(self, command: str) -> str:
        """Run a command as in the reader's shell: the environment's programs, no key."""
        own = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        own["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        own["MYPY_CACHE_DIR"] = str(ROOT / ".mypy_cache" / "readers")
        own.pop("PYTHONPATH", None)
        done = subprocess.run(
            ["sh", "-ec", command], cwd=self.folder, env=own, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Typed:
    reader = Typed(tmp_path_factory.mktemp("hotel"))
    reader.follow("tutorial.md")
    return reader


def test_every_command_of_the_tutorial_succeeds(typed: Typed) -> None:
    commands = " ".join(typed.ran)

    assert all(tool in commands for tool in ("pytest", "mypy --strict", "python main.py"))
    assert "3 passed" in typed.ran["pytest -q"]


def test_the_tutorial_shows_what_the_terminal_shows(typed: Typed) -> None:
    assert typed.shown
    for came, promised in typed.shown:
        assert came == promised


def test_two_voices_take_a_hundred_lines(typed: Typed) -> None:
    written = [
        line
        for file in APPLICATION
        for line in (typed.folder / file).read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]

    assert 50 < len(written) <= MOST_LINES


def test_every_recipe_works_on_the_hotel_of_the_tutorial(typed: Typed) -> None:
    typed.follow("recipes.md")
    recipes = (typed.folder / "test_recipes.py").read_text(encoding="utf-8").count("def test_")

    assert recipes >= 7
    assert f"{recipes} passed" in typed.run("pytest -q test_recipes.py")
    typed.run("mypy --strict *.py")


def test_what_is_said_of_conflicts_holds(typed: Typed) -> None:
    typed.follow("conflicts.md")
    tests = (typed.folder / "test_conflicts.py").read_text(encoding="utf-8").count("def test_")

    assert tests >= 5
    assert f"{tests} passed" in typed.run("pytest -q test_conflicts.py")
    typed.run("mypy --strict test_conflicts.py")


def test_the_readers_files_are_written_as_ours_are(typed: Typed) -> None:
    ruff = f"python -m ruff {{}} --config {ROOT / 'pyproject.toml'} ."

    typed.run(ruff.format("format --check"))
    typed.run(ruff.format("check --ignore D,I,S101"))
