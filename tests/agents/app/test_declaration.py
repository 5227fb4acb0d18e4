"""An application's declaration: what is wrong with it is told at once, and what it leaves out works."""

import pickle
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from agents.app.app import App, AppFaults, Environment, NewState, load_app
from agents.app.cli import main
from agents.app.parts import CommandLine, ListedState, Stored
from agents.app.settings import AppSettings
from agents.app.state_pages import listing
from agents.app.states import (
    StateFaults,
    list_states,
    new_state,
    open_store,
    resume_state,
    show_state,
)
from agents.handoff import Agent, Graph, Opening
from agents.testing import Conversation, ScriptedLLM, calls, says
from rpc.testing import FakePage
from state.shared import Command


class Loan(BaseModel):
    """A borrowed book."""

    model_config = ConfigDict(frozen=True)

    loan_id: str
    title: str | None = None
    pages: int = 0


class Borrow(Command[Loan, str]):
    """Borrow a book by its title."""

    op: Literal["borrow"] = "borrow"
    title: str = Field(max_length=40)

    def apply(self, state: Loan, context: str) -> Loan:
        """Set the title."""
        return state.model_copy(update={"title": self.title})


class Clerk(Agent[Loan, str]):
    """The only agent of the library."""

    name = "clerk"
    prompt = "You lend books."
    opening = Opening("Greet.", "Greet.", "Greet.", "Hello!")
    offers = (Borrow,)


LIBRARY: App[Loan, str] = App(
    name="city-library",
    noun="loan",
    plural="loans",
    prefix="library",
    command_line=CommandLine(help="A library's desk."),
    state=Loan,
    context=lambda environment: "Main Street",
    new=lambda context, new: Loan(loan_id=new.id),
    graph=Graph((Clerk,), (), start="clerk"),
    model=lambda context, settings: ScriptedLLM([says("Which book?"), says("It is yours.")]),
)


def declared(**changed: Any) -> App[Loan, str]:
    fields = {
        "name": "library",
        "noun": "loan",
        "plural": "loans",
        "prefix": "library",
        "state": Loan,
        "context": lambda environment: "Main Street",
        "new": lambda context, new: Loan(loan_id=new.id),
        "graph": Graph((Clerk,), (), start="clerk"),
    }
    return App(**{**fields, **changed})


class Thawed(BaseModel):
    """A state that could be edited in place."""

    title: str = ""


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(AppFaults) as caught:
        declared(
            name="City Library", noun="the loan", plural="the loan", state=Thawed, schema=3,
            migrate={1: lambda form: form}, settings=dict, rooms=Stored(), models={"nobody": None},
            roles={"reader": (Stored,)},
        )  # fmt: skip

    told = [fault.partition(":")[0] for fault in caught.value.faults]
    assert set(told) >= {"name", "noun", "plural", "settings", "rooms", "models"}
    assert "roles, objects, methods: Stored in roles is not a Command. Leave it out." in (
        caught.value.faults
    )
    rooms = "rooms: has to be Rooms(...), of agents.app.parts, not an object of Stored"
    assert rooms in caught.value.faults
    assert any("Thawed" in fault and "frozen" in fault for fault in caught.value.faults)
    assert any("migrate[2] is missing" in fault for fault in caught.value.faults)


def test_the_plural_does_not_replace_a_command() -> None:
    with pytest.raises(AppFaults, match='plural: "console" is a command already'):
        declared(plural="console")


def test_the_settings_are_named_after_the_application() -> None:
    assert LIBRARY.settings.variable("database") == "CITY_LIBRARY_DATABASE"
    assert LIBRARY.settings.read().agent_name == "city-library"
    assert issubclass(LIBRARY.settings, AppSettings)


def test_other_processes_find_it_by_name() -> None:
    path = LIBRARY.path

    assert path.endswith(":LIBRARY")
    assert load_app(path) is LIBRARY
    assert pickle.loads(pickle.dumps(LIBRARY)) is LIBRARY


def test_one_that_no_module_holds_cannot_be_served_elsewhere() -> None:
    with pytest.raises(AppFaults, match="no variable that holds the application library"):
        _ = declared().path


async def test_a_conversation_needs_nothing_beside_the_declaration() -> None:
    context = LIBRARY.context(Environment.of(LIBRARY.settings.read()))
    async with open_store(LIBRARY, None, LIBRARY.owner_of(context)) as store:
        shared = await new_state(LIBRARY, store, context, "terminal")
        script = [says("Which book?"), calls(("borrow", {"title": "Emma"})), says("Here it is.")]
        async with Conversation(LIBRARY.call(shared), ScriptedLLM(script)) as talk:
            await talk.user_says("Emma, and my card is 4111 1111 1111 1111")
        resumed = await resume_state(LIBRARY, store, context, shared.state_id)
        (listed,) = await list_states(LIBRARY, store, 5)

    assert resumed.state == Loan(loan_id=shared.state_id, title="Emma")
    assert (listed.number, listed.state) == ("101", resumed.state)


async def test_a_state_that_cannot_be_continued_is_refused_with_its_reason() -> None:
    returned = Stored[Loan, str](
        refuse_resume=lambda loan, context: "was returned" if loan.title == "Emma" else None
    )
    library = declared(stored=returned)
    context = library.context(Environment.of(library.settings.read()))
    async with open_store(library, None, library.owner_of(context)) as store:
        shared = await new_state(library, store, context, "terminal")
        await shared.apply(Borrow(title="Emma"), actor="clerk")
        with pytest.raises(StateFaults, match=f"Loan {shared.state_id} was returned"):
            await resume_state(library, store, context, shared.state_id)
        await shared.apply(Borrow(title="Persuasion"), actor="clerk")  # it is still held

    assert shared.state.title == "Persuasion"


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(LIBRARY, arguments)
    return int(ended.value.code or 0)


def test_its_command_line_speaks_of_its_noun(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    help_text = capsys.readouterr().out
    assert "A library's desk." in help_text
    assert "..." not in help_text.partition("Commands:")[2]  # typer cuts a long sentence
    assert all(word in help_text for word in ("console", "dev", "join", "replay", "loans", "graph"))

    assert run("console", "--help") == 0
    assert "--loan" in capsys.readouterr().out

    assert run("loans", "list") == 0
    assert capsys.readouterr().out == "There are no loans.\n"

    assert run("loans", "list", "--limit", "0") == 2
    assert "'--limit': has to be a whole number from 1 to 10000" in capsys.readouterr().err

    assert run("graph", "--format", "png") == 2
    assert "'--format': has to be one of mermaid, dot, text" in capsys.readouterr().err

    assert run("loans", "show", "101") == 2
    assert capsys.readouterr().err == "There is no loan 101.\n"


def test_a_page_without_a_declaration_of_its_own_has_the_whole_state() -> None:
    view = LIBRARY.page_spec.view(Loan(loan_id="l-1", title="Emma"), 4, "clerk")

    assert view == {
        "loan_id": "l-1", "title": "Emma", "pages": 0, "version": 4, "active_agent": "clerk"
    }  # fmt: skip
    assert LIBRARY.page_spec.changed_method == "loan_state_changed"


class Plain(Agent[Any, str]):
    """An agent of any state."""

    name = "plain"
    prompt = "You lend books."
    opening = Opening("Greet.", "Greet.", "Greet.", "Hello!")


class Nameless(BaseModel):
    """A state that does not hold its own id."""

    model_config = ConfigDict(frozen=True)

    title: str = ""


@pytest.mark.parametrize("view", [None, lambda state, version, agent: {"title": state.title}])
async def test_every_view_has_the_states_id(view: Any) -> None:
    library = declared(
        state=Nameless,
        new=lambda context, new: Nameless(),
        graph=Graph((Plain,), (), start="plain"),
        view=view,
    )
    async with open_store(library, None, "library") as store:
        shared = await new_state(library, store, "Main Street", "terminal")
        _, shown = await show_state(library, store, shared.state_id)
    page = FakePage(library.page_spec, shared, agent="library")

    assert shown["loan_id"] == shared.state_id
    assert (await page.call("get_loan_state"))["loan"]["loan_id"] == page.session.state_id


def test_a_view_that_names_its_id_is_left_as_it_is() -> None:
    assert LIBRARY.view_of(Loan(loan_id="l-1"), 0, None, "another")["loan_id"] == "l-1"


def test_the_view_is_summed_up_field_by_field() -> None:
    view = LIBRARY.view_of(Loan(loan_id="l-1", title="Emma", pages=3), 4, "clerk")

    summary = LIBRARY.summary_of(view)

    assert summary.title == "Loan l-1"
    assert [row.text for row in summary.rows] == ["title: Emma", "pages: 3"]


def test_a_new_state_is_told_how_its_user_talks() -> None:
    seen: list[NewState] = []

    def begin(context: str, new: NewState) -> Loan:
        seen.append(new)
        return Loan(loan_id=new.id)

    declared(new=begin).new("Main Street", NewState("l-1", "101", "phone"))

    assert seen == [NewState("l-1", "101", "phone")]


def test_the_module_is_found_however_the_class_is_written() -> None:
    declaration: dict[str, Any] = {
        "name": "library",
        "noun": "loan",
        "plural": "loans",
        "prefix": "library",
        "state": Loan,
        "context": lambda environment: "Main Street",
        "new": lambda context, new: Loan(loan_id=new.id),
        "graph": Graph((Clerk,), (), start="clerk"),
    }

    assert App[Loan, str](**declaration).module == App(**declaration).module == __name__


def test_a_list_never_cuts_an_id() -> None:
    ids = ["abcd-efgh-jkmn", "pqrs-tuvw-xyz2"]
    one, two = (
        ListedState(
            state_id, "101", 3, "clerk", Loan(loan_id=state_id, title="War and Peace " * 20)
        )
        for state_id in ids
    )

    text = listing(LIBRARY, [one, two])

    heads, *lines = text.splitlines()
    assert heads.split() == ["No.", "Loan", "Agent", "What"]
    assert [line.split()[:3] for line in lines] == [["101", state_id, "clerk"] for state_id in ids]
    assert all(len(line) <= 100 and line.endswith("…") for line in lines)
