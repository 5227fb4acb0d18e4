"""The documentation is true: its code runs, its diagrams match the code, its links resolve."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from livekit.agents import AgentSession

from agents.app.conversation_files.reading import load_conversation
from agents.app.replay.running import run_conversation
from agents.handoff import mermaid
from agents.roster import restaurant_graph
from agents.testing import load_rules
from bella_vista.app import APP

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.joinpath("docs").rglob("*.md")])


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


async def test_the_example_of_a_test_passes() -> None:
    example, _ = blocks("docs/testing.md", "python")
    names: dict[str, Any] = {}
    exec(compile(example, "docs/testing.md", "exec"), names)

    await names["test_the_greeter_keeps_the_name_and_hands_over"]()


async def test_the_example_of_providers_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: dict[str, Any] = {}
    for example in blocks("docs/testing.md", "python"):
        exec(compile(example, "docs/testing.md", "exec"), names)
    *_, scenario = blocks("docs/testing.md", "yaml")
    tmp_path.joinpath("scenario.yaml").write_text(scenario, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    await names["test_the_plugin_asks_again_after_a_failure"]()


async def test_the_example_of_a_conversation_file_holds(tmp_path: Path) -> None:
    example, *_ = blocks("docs/conversations.md", "yaml")
    file = tmp_path / "example.yaml"
    file.write_text(example, encoding="utf-8")

    assert (await run_conversation(APP, load_conversation(APP, file))).text == ""


def test_the_examples_of_rules_are_files_of_rules(tmp_path: Path) -> None:
    example, conflict, handing_over, _ = blocks("docs/testing.md", "yaml")
    file = tmp_path / "rules.yaml"
    file.write_text(handing_over, encoding="utf-8")
    rules = load_rules(file)
    (asks,), (_, books) = rules["reception"], rules["tables"]
    found = asks.groups("A table for 4, please") or {}
    assert found == {"guests": "4"}
    assert asks.calls[0].filled(found) == {"guests": "4"}
    assert books.calls[0].filled({**found, "name": "Ada"}) == {"name": "Ada", "guests": "4"}

    file.write_text(example, encoding="utf-8")
    opens, greets, refuses = load_rules(file)["reception"]

    assert opens.say == "Good evening! Your name, please?"
    assert greets.groups("Well, I am Ada") == {"name": "Ada"}
    assert refuses.refused == "refused"

    file.write_text(conflict, encoding="utf-8")
    _, refuses = load_rules(file)["reception"]

    assert refuses.refused == "version_conflict"


def test_the_architecture_shows_the_graph_as_it_is() -> None:
    picture, _ = blocks("docs/architecture.md", "mermaid")

    assert picture.strip() == mermaid(restaurant_graph()).strip()


def members(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement.name
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id


@cache
def modules() -> tuple[ast.Module, ...]:
    return tuple(
        ast.parse(file.read_text(encoding="utf-8"))
        for package in ("agents", "bella_vista", "rpc", "state")
        for file in (ROOT / package).rglob("*.py")
    )


def defined() -> set[str]:
    """Return ``Class.member`` of all classes of the four packages, private ones included."""
    return {
        f"{node.name}.{member}"
        for module in modules()
        for node in module.body
        if isinstance(node, ast.ClassDef)
        for member in members(node.body)
    }


def test_every_log_message_in_the_operations_page_exists() -> None:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    table = page.partition("| `message` | Meaning |")[2].partition("\n\n")[0]
    first_cells = " ".join(row.split("|")[1] for row in table.splitlines() if "`" in row)
    messages = [message.strip(" .:,") for message in re.findall(r"`([^`]+)`", first_cells)]
    texts = "\n".join(
        node.value
        for module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )

    assert len(messages) > 8
    assert [message for message in messages if message not in texts] == []


def test_the_architecture_names_functions_that_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b[A-Z]\w+\.[a-z_]\w*\b(?!\.)", page)) - {"README.md"}

    livekits = {name for name in named if name.startswith("AgentSession.")}
    assert len(named) > 15
    assert named - livekits - defined() == set()
    assert all(hasattr(AgentSession, name.partition(".")[2]) for name in livekits)


def test_the_architecture_names_files_that_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    page = page.replace("<br/>", " ")
    named = set(re.findall(r"(?<![\w(./])(?:\w+/)+(?:\w+\.py)?(?![\w.])", page))

    assert len(named) > 20
    assert [
        name
        for name in named
        if not any((ROOT / at / name).exists() for at in ("", "agents/app", "agents/handoff"))
    ] == []


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text):
        if target.startswith(("http", "mailto:")):
            continue
        linked = page.parent / target if target else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


def test_every_setting_that_is_named_exists() -> None:
    known = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    named = {
        name
        for page in PAGES
        for name in re.findall(r"\bBELLA_VISTA_[A-Z_]*[A-Z]\b", page.read_text(encoding="utf-8"))
    }

    assert named
    assert {name for name in named if f"`{name}`" not in known} == set()


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "adr"
    listed = set(re.findall(r"\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text("utf-8")))

    assert listed == {path.name for path in folder.glob("0*.md")}


def test_every_page_is_found_from_the_index() -> None:
    folder = ROOT / "docs"
    linked = set(re.findall(r"\]\(([^)#\s]+)", (folder / "README.md").read_text("utf-8")))
    pages = {str(page.relative_to(folder)) for page in folder.rglob("*.md")}

    assert {page for page in pages if not page.startswith("adr/0")} - linked == {"README.md"}


@pytest.mark.processes
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
