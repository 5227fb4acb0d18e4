"""The tutorial, recipes and conflicts as a reader types them: every file in an empty folder, every command run."""

import pytest

from tests.readers import ROOT, Typed

APPLICATION = ("stay.py", "hotel.py")
MOST_LINES = 100
"""The reader's application is at most this long, without blank lines."""

# Several runs of mypy and pytest, perhaps on a busy machine.
pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(900),
]


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
