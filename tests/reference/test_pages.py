"""The reference says what the code does, of everything there is."""

import re
import textwrap
from dataclasses import fields
from pathlib import Path

import pytest

from agents.app import parts
from agents.app.app import App
from agents.app.settings import AppSettings
from agents.handoff import CallPolicy, failures, parameters_of, tool_name
from agents.roster import AGENTS, restaurant_graph
from bella_vista.settings import Settings
from state import errors
from state.commands import GUEST_COMMANDS, STAFF_COMMANDS, AddItem, PlaceOrder
from state.shared import OutcomeUnknown, StateError
from tests.reference.book import MARK, PAGES, as_it_is, as_it_should_be
from tests.reference.docstrings import arguments, markdown
from tests.reference.names import ROOT, package_page
from tests.reference.refusals import refusals
from tests.typing import hotel_stay

TOO_OLD = "The page and the code differ: run `make docs`, and look at what changed."


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_as_the_code_is(page: str) -> None:
    assert as_it_is(page) == as_it_should_be(page), TOO_OLD


@pytest.mark.parametrize(
    "package", ["state.shared", "agents.handoff", "agents.testing", "agents.testing.providers"]
)
def test_every_public_name_of_the_framework_has_its_entry(package: str) -> None:
    page = package_page(package)
    module = __import__(package, fromlist=["__all__"])

    for name in module.__all__:
        assert f"### `{name}`" in page or f"## `{package}.{name}`" in page


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/framework/")])
def test_a_page_of_the_framework_shows_no_private_name(page: str) -> None:
    shown = re.findall(
        r"```python\n(.*?)```|^- `(.+?)`: ", as_it_is(page), re.DOTALL | re.MULTILINE
    )

    assert re.findall(r"(?<![\w{}])_[A-Za-z]\w*", str(shown)) == []


def test_the_page_of_app_has_each_of_its_parts() -> None:
    page = as_it_is("docs/framework/agents.app.md")

    for part in vars(parts).values():
        if isinstance(part, type) and part.__module__ == parts.__name__:
            assert f"### `{part.__name__}`" in page
    for field in fields(App):
        assert f"- `{field.name}`: " in page or field.name == "module"


def test_the_reference_names_every_command_every_tool_and_every_argument() -> None:
    commands, tools = as_it_is("docs/reference/commands.md"), as_it_is("docs/reference/tools.md")

    for command in GUEST_COMMANDS | STAFF_COMMANDS:
        assert f"### `{tool_name(command)}`" in commands
    for agent in AGENTS:
        assert f"## {agent.name}" in tools
        for tool in agent.offers:
            assert f"[`{tool_name(tool)}`]" in tools
            for argument in parameters_of(tool)["properties"]:
                assert f"| `{argument}` |" in commands + tools
    for handoff in restaurant_graph().handoffs:
        assert f"`{handoff.tool_name}`" in tools


def test_every_setting_is_in_the_reference_with_a_meaning_and_in_the_example() -> None:
    page, example = (
        as_it_is("docs/reference/settings.md"),
        (ROOT / ".env.example").read_text(encoding="utf-8"),
    )

    for name in Settings.model_fields:
        assert f"`{Settings.variable(name)}`" in page
        assert f"#{Settings.variable(name)}=" in example
    told = [set(arguments(form.__doc__ or "")) for form in (AppSettings, Settings)]
    assert told[0] == set(AppSettings.model_fields)
    assert told[0] | told[1] == set(Settings.model_fields)


def test_the_errors_page_quotes_what_a_model_reads() -> None:
    page = as_it_is("docs/reference/errors.md")
    unknown = failures.failure_text(OutcomeUnknown(), failures.NOT_DONE, "book")

    for lead in (failures.NOT_DONE, failures.NOT_HANDED_OVER, failures.NOT_FINISHED):
        assert f"| `{lead}` |" in page
    assert f"| `{unknown.partition(' outcome_unknown:')[0]}` |" in page


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind in (StateError, *StateError.__subclasses__())
        if kind.__module__ == StateError.__module__  # the others are an application's own
    ],
)
def test_the_reference_shows_what_code_an_error_of_the_framework_has(
    kind: type[StateError],
) -> None:
    _, _, after = package_page("state.shared").partition(f"### `{kind.__name__}`")
    entry = after.partition("\n### ")[0]

    assert re.search(rf"- `code(: str)? = '{kind.code}'`", entry)
    assert ("- `retryable = True`" in entry) == kind.retryable


def test_the_reference_shows_every_default_of_the_manners() -> None:
    _, _, after = package_page("agents.handoff").partition("### `CallPolicy`")
    shape = after.partition("```\n\n")[0]

    assert "..." not in shape.replace(
        "redact_partial: Callable[[str], str] = lambda text: '...'", ""
    )
    assert CallPolicy.trouble in shape
    for field in fields(CallPolicy):
        assert f"\n    {field.name}: " in shape


def test_every_refusal_of_the_order_is_made_by_some_command() -> None:
    possible = {code for command in GUEST_COMMANDS | STAFF_COMMANDS for code in refusals(command)}
    named = {
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.OrderError)
    }

    assert possible == named - {errors.OrderError.code}


def test_refusals_are_found_through_what_a_command_calls() -> None:
    assert {"sold_out", "choice_missing", "over_limit"} <= set(refusals(AddItem))
    assert set(refusals(PlaceOrder)) == {
        *("wrong_stage", "missing", "not_possible", "not_valid", "sold_out")
    }


def test_every_page_has_a_generator() -> None:
    marked = {
        str(page.relative_to(ROOT))
        for page in (ROOT / "docs").rglob("*.md")
        if MARK in page.read_text(encoding="utf-8")
    }

    assert marked == set(PAGES)


async def test_the_example_of_the_shared_state_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = as_it_is("docs/framework/state.shared.md")
    (example,) = re.findall(r"```python\n(.*?)```", page.partition(MARK)[0], re.DOTALL)
    body = textwrap.indent(f"{example}\nreturn applied", "    ")
    names = dict(vars(hotel_stay))
    monkeypatch.chdir(tmp_path)

    exec(compile(f"async def example():\n{body}", "state.shared.md", "exec"), names)
    applied = await names["example"]()

    assert (applied.version, applied.state.nights, applied.ops) == (1, 2, ("book_nights",))


def test_a_docstring_becomes_markdown() -> None:
    text = """Do it.

    Args:
        what: The ``thing``, which
            is long.

    Raises:
        Refused: Not now.
    """

    assert markdown(text) == (
        "Do it.\n\nArguments:\n\n- `what`: The `thing`, which is long.\n\n"
        "Raises:\n\n- `Refused`: Not now."
    )
    assert not re.search(r"``\w", markdown(text))
