"""The documentation tells the truth: its code runs, its pictures are drawn, its links lead somewhere."""

import re
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
