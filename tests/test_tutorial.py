"""The tutorial, recipes and conflicts as a reader types them: every file in an empty folder, every command run."""

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
"""The reader's application is at most this long, without blank lines."""

# Several runs of mypy and pytest, perhaps on a busy machine.
pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]


@dataclass
class Typed:
    """The reader's folder, the commands that ran in it, and the output the pages promise."""

    folder: Path
    ran: dict[str, str] = field(default_factory=dict)
    shown: list[tuple[str, str]] = field(default_factory=list)

    def follow(self, page: str) -> None:
        """Write a page's files and run its commands, from top to bottom."""
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
        """Run a command with the environment's programs and no key."""
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


def test_two_agents_take_a_hundred_lines(typed: Typed) -> None:
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


def test_the_page_about_conflicts_holds(typed: Typed) -> None:
    typed.follow("conflicts.md")
    tests = (typed.folder / "test_conflicts.py").read_text(encoding="utf-8").count("def test_")

    assert tests >= 5
    assert f"{tests} passed" in typed.run("pytest -q test_conflicts.py")
    typed.run("mypy --strict test_conflicts.py")


def test_the_readers_files_are_formatted_and_linted(typed: Typed) -> None:
    ruff = f"python -m ruff {{}} --config {ROOT / 'pyproject.toml'} ."

    typed.run(ruff.format("format --check"))
    sorted_as = """'lint.isort.known-first-party=["agents", "state"]'"""
    typed.run(ruff.format(f"check --ignore D,S101 --config {sorted_as}"))
