"""The documentation tells the truth: its code runs, its pictures are drawn, its links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.handoff import mermaid
from agents.roster import restaurant_graph

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.joinpath("docs").rglob("*.md")])


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


async def test_the_example_of_a_test_passes() -> None:
    (example,) = blocks("docs/testing.md", "python")
    names: dict[str, Any] = {}
    exec(compile(example, "docs/testing.md", "exec"), names)

    await names["test_the_greeter_keeps_the_name_and_hands_over"]()


def test_the_architecture_shows_the_graph_as_it_is() -> None:
    (picture,) = blocks("docs/architecture.md", "mermaid")

    assert picture.strip() == mermaid(restaurant_graph()).strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if not target.startswith(("http", "mailto:")):
            assert (page.parent / target).exists(), target


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "adr"
    listed = set(re.findall(r"\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text("utf-8")))

    assert listed == {path.name for path in folder.glob("0*.md")}


def test_every_page_is_found_from_the_index() -> None:
    folder = ROOT / "docs"
    linked = set(re.findall(r"\]\(([^)#\s]+)", (folder / "README.md").read_text("utf-8")))
    pages = {str(page.relative_to(folder)) for page in folder.rglob("*.md")}

    assert {page for page in pages if not page.startswith("adr/0")} - linked == {"README.md"}


def test_the_conversation_in_the_readme_is_what_the_console_says(tmp_path: Path) -> None:
    (shown,) = blocks("README.md", "text")
    lines = [line.removeprefix("You: ") for line in shown.splitlines() if line.startswith("You: ")]

    done = subprocess.run(
        [
            *(sys.executable, "-m", "bella_vista", "console", "--at", "2026-11-20T19:00:00"),
            *("--menu", "bella_vista/menu.yaml", "--model", "local"),
            *("--database", f"sqlite:///{tmp_path}/orders.db"),
        ],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=50,
        check=True,
    )

    assert " ".join(shown.split()) in " ".join(done.stdout.split())
