"""What a stranger gets wrong in a declaration: named at once, with what to do, before a user comes."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest
import typer
from livekit.agents import JobContext, JobProcess
from pydantic import BaseModel
from pydantic_settings import SettingsConfigDict

from agents.app.app import App, AppFaults, Environment
from agents.app.cli import main
from agents.app.parts import (
    CommandLine,
    Forgetting,
    Phone,
    Replay,
    Rooms,
    Stored,
    Terminal,
    WorkerProcesses,
)
from agents.app.rooms.job import serve_room
from agents.app.rooms.rejection import RejectReason
from agents.app.serving.app_worker import _prepare
from agents.app.settings import AppSettings
from agents.app.testing import AppUnderTest
from agents.app.words import Words
from agents.handoff import Agent, CallPolicy, Graph, Handoff, Opening
from agents.testing import ScriptedLLM, says
from state.shared import Command, Refused


class Loan(BaseModel, frozen=True):
    title: str = ""


class Shown(BaseModel, frozen=True):
    version: str = ""


class Note(BaseModel, frozen=True):
    text: str = ""


class Borrow(Command[Loan, None]):
    """Borrow a book."""

    op: Literal["borrow"] = "borrow"
    title: str

    def apply(self, state: Loan, context: None) -> Loan:
        return Loan(title=self.title)


class Write(Command[Note, None]):
    """Write a note."""

    op: Literal["write"] = "write"

    def apply(self, state: Note, context: None) -> Note:
        return state


class Desk(Agent[Loan, None]):
    name = "desk"
    prompt = "You lend books."
    opening = Opening(first="Greet.", handed_over="Go on.", come_back="Greet.", canned="Hello.")
    offers = (Borrow,)


class Clerk(Agent[Any, None]):
    name = "clerk"
    prompt = "You write notes."
    opening = Opening(first="Greet.", handed_over="Go on.", come_back="Greet.", canned="Hello.")
    offers = (Write,)


class NoPrefix(AppSettings):
    pass


class Prefixed(AppSettings):
    model_config = SettingsConfigDict(env_prefix="DESK_")


GRAPH: Graph[Loan] = Graph((Desk,), (), start="desk")

GIVEN: Mapping[str, Any] = {
    "name": "library",
    "noun": "loan",
    "plural": "loans",
    "prefix": "library",
    "state": Loan,
    "context": lambda environment: None,
    "new": lambda context, new: Loan(),
    "graph": GRAPH,
    "model": lambda context, settings: ScriptedLLM([says("Which book?")]),
}


async def later(*arguments: object) -> None:
    """An async function where a plain one is needed."""


WRONG: Mapping[str, tuple[str, Any, str]] = {
    "unknown": ("polcy", None, "polcy: App has no such argument: did you mean policy?"),
    "name": ("name", "My Library", 'name: "My Library" has to be words in lower case'),
    "no name": ("name", None, "name: has to be a text, not None"),
    "long name": ("name", "a" * 65, "has to be words in lower case"),
    "noun": ("noun", 5, "noun: has to be a text, not 5"),
    "taken noun": ("noun", "model", 'noun: "model" is an option, a key of conversation files'),
    "plural": ("plural", "doctor", 'plural: "doctor" is a command already'),
    "same plural": ("plural", "loan", 'plural: has to differ from the noun "loan"'),
    "prefix": ("prefix", "A B", 'prefix: "A B" has to be one word in lower case'),
    "state": ("state", Loan(), "state: has to be a class or a function (), not an object of Loan"),
    "other state": ("state", dict, "state: has to be a pydantic model, not dict"),
    "state's field": ("state", Shown, 'state: every view has its own "version": rename the field'),
    "schema": ("schema", "2", "schema: has to be a whole number, not '2'"),
    "no schema": ("schema", 0, "schema=0 is not a version: the first one is 1"),
    "no migration": ("schema", 2, "migrate[1] is missing: nothing leads from schema 1 to 2"),
    "migrate": ("migrate", [later], "migrate: has to be a mapping, not an object of list"),
    "migration": ("migrate", {1: later}, "is async: it has to return at once"),
    "context": ("context", None, "context: has to be a function (Environment), not None"),
    "async context": ("context", later, "context: later ("),
    "context's arguments": ("context", lambda: None, "has to take (Environment)"),
    "new": ("new", Loan, "new: Loan has to take (context, NewState)"),
    "graph": ("graph", Desk, "graph: has to be Graph(...), of agents.handoff.graph, not Desk"),
    "graphs": ("graph", (Desk,), "graph: has to be Graph(...)"),
    "policy": ("policy", CallPolicy(), "policy: has to be a function (context) or None"),
    "view": ("view", lambda state: {}, "has to take (state, int, str | None)"),
    "roles": ("roles", [Borrow], "roles: has to be a mapping, not an object of list"),
    "no tuple": ("roles", {"user": Borrow}, "roles['user']: has to be a list or tuple, not Borrow"),
    "op": ("roles", {"user": ("borrow",)}, "roles['user'][0]: has to be a class, not 'borrow'"),
    "role": ("roles", {1: (Borrow,)}, "roles[1]: has to be a text, not 1"),
    "role's name": ("roles", {"User": (Borrow,)}, "The role 'User' is not lower snake case"),
    "other command": (
        "roles",
        {"user": (Write,)},
        "roles['user']: Write is for the state Note, not Loan",
    ),
    "objects": ("objects", {"x": Borrow}, "objects['x']: has to be ObjectType(...), of rpc.page"),
    "methods": ("methods", (later,), "methods[0]: has to be PageMethod(...), of rpc.page"),
    "page": ("page", "page", "page: has to be a function () or None, not 'page'"),
    "model": ("model", ScriptedLLM([]), "model: has to be a function (context, Settings) or None"),
    "models": (
        "models",
        {"desk": 1},
        "models['desk']: has to be a function (context, Settings), not 1",
    ),
    "whose model": ("models", {"boss": later}, "models: there is no agent boss: there are desk"),
    "settings": ("settings", Prefixed(), "settings: has to be a class below AppSettings"),
    "no prefix": ("settings", NoPrefix, "settings: NoPrefix has no prefix of the environment"),
    "commands": ("commands", 5, "commands: has to be a function (App[S, C]) or None, not 5"),
    "title": ("title", "Library", "title: has to be a function (context) or None, not 'Library'"),
    "part": ("rooms", Stored(), "rooms: has to be Rooms(...), of agents.app.parts"),
    "class of a part": ("rooms", Rooms, "rooms: has to be Rooms(...), of agents.app.parts"),
    "stored": (
        "stored",
        Stored(refuse_resume=lambda state: None),  # type: ignore[arg-type, misc]
        "has to take (state, context)",
    ),
    "identifying": (
        "forgetting",
        Forgetting(identifying="title"),  # type: ignore[arg-type]
        "forgetting.identifying: has to be a list or tuple, not 'title'",
    ),
    "misspelt": (
        "forgetting",
        Forgetting(identifying=("titel",)),
        "forgetting.identifying: no field is called titel",
    ),
    "words": (
        "rooms",
        Rooms(words="Hello"),  # type: ignore[arg-type]
        "rooms.words: has to be Words(...), of agents.app.words, not 'Hello'",
    ),
    "number": (
        "phone",
        Phone(transfer_to="+1"),  # type: ignore[arg-type]
        "phone.transfer_to: has to be a function (context), not '+1'",
    ),
    "zone": (
        "terminal",
        Terminal(zone="UTC"),  # type: ignore[arg-type]
        "terminal.zone: has to be a function (state, context) or None, not 'UTC'",
    ),
    "option": (
        "command_line",
        CommandLine(options={"menu": ("FILE", "The menu.")}),
        "command_line.options: AppSettings has no field menu",
    ),
    "option's help": (
        "command_line",
        CommandLine(options={"menu": "The menu."}),  # type: ignore[dict-item]
        "command_line.options['menu']: has to be a list or tuple, not 'The menu.'",
    ),
    "replay": (
        "replay",
        Replay(settings={}),  # type: ignore[arg-type]
        "replay.settings: has to be a function (Path), not an object of dict",
    ),
    "preload": (
        "worker",
        WorkerProcesses(preload="x"),
        "worker.preload: has to be a list or tuple",
    ),
}


@pytest.mark.parametrize(("name", "given", "told"), WRONG.values(), ids=WRONG)
def test_an_argument_that_does_not_fit_is_named(name: str, given: Any, told: str) -> None:
    with pytest.raises(AppFaults) as found:
        App(**{**GIVEN, name: given})

    assert [fault for fault in found.value.faults if told in fault], found.value.faults


def test_what_is_missing_is_named_with_all_that_is_wrong_besides() -> None:
    with pytest.raises(AppFaults) as found:
        App(name="library", noun="loan", plural="loans", state=Loan, titel=None)  # type: ignore[call-arg]

    assert [fault.partition(":")[0] for fault in found.value.faults] == [
        "titel", "prefix", "context", "new", "graph"
    ]  # fmt: skip
    assert "context: is missing: a function (Environment)" in found.value.faults


def test_arguments_without_names_are_refused() -> None:
    with pytest.raises(AppFaults, match="App takes named arguments only"):
        App("library", "loan")  # type: ignore[call-arg]


def test_one_wrong_noun_is_one_fault_and_two_wrong_kinds_are_two() -> None:
    with pytest.raises(AppFaults) as noun:
        App(**{**GIVEN, "noun": "Loan", "roles": {"user": (Borrow,)}})
    with pytest.raises(AppFaults) as kinds:
        App(**{**GIVEN, "objects": {"x": Borrow}, "methods": (later,)})

    assert len(noun.value.faults) == 1
    assert len(kinds.value.faults) == 2


def test_a_page_is_declared_in_one_way() -> None:
    with pytest.raises(AppFaults, match="page: replaces roles: give only one of them"):
        App(**{**GIVEN, "page": lambda: None, "roles": {"user": (Borrow,)}})


def test_an_agent_offers_commands_of_the_applications_state() -> None:
    graph: Graph[Any] = Graph((Clerk,), (), start="clerk")
    with pytest.raises(
        AppFaults, match="graph: clerk offers: Write is for the state Note, not Loan"
    ):
        App(**{**GIVEN, "graph": graph})


def test_a_part_of_an_argument_is_named_with_its_key() -> None:
    assert App(**GIVEN).agents is GRAPH  # what is right is accepted
    with pytest.raises(AppFaults) as found:
        App(**{**GIVEN, "command_line": CommandLine(schemas={"desk": 1, "tools": dict})})  # type: ignore[dict-item]

    assert found.value.faults == ("command_line.schemas['desk']: has to be a function (), not 1",)


# -- functions that fail ---------------------------------------------------------------------------


def broken(*arguments: object) -> Any:
    raise KeyError("LIBRARY_SHELVES")


def refused(*arguments: object) -> Any:
    raise Refused("There is no room.")


PLACE = rf"KeyError: 'LIBRARY_SHELVES' \(.*{Path(__file__).name}:\d+, broken\)"

SHOWN_BY = ("console", "doctor", "replay")
"""The commands that make everything a call needs."""

FAILING: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "context": ({"context": broken}, f"context: {PLACE}"),
    "new": ({"new": broken}, f"new: {PLACE}"),
    "no state": ({"new": lambda context, new: {}}, r"new: it returned an object of dict, not Loan"),
    "policy": ({"policy": broken}, f"policy: {PLACE}"),
    "no policy": ({"policy": lambda context: None}, "policy: it returned None, not CallPolicy"),
    "digest": (
        {"policy": lambda context: CallPolicy(digest=("titel",))},
        "policy: digest names fields that Loan does not have: titel",
    ),
    "blank": ({"policy": lambda context: CallPolicy(trouble="")}, "policy: trouble is blank"),
    "graph": ({"graph": broken}, f"graph: {PLACE}"),
    "other command": (
        {"graph": lambda: Graph((Clerk,), (), start="clerk")},
        "graph: clerk offers: Write is for the state Note, not Loan",
    ),
    "other state": (
        {"state": lambda: Note},
        "graph: desk offers: Borrow is for the state Loan, not Note",
    ),
    "misspelt": (
        {"state": lambda: Loan, "forgetting": Forgetting(identifying=("titel",))},
        "forgetting.identifying: no field is called titel",
    ),
    "no graph": ({"graph": lambda: Desk}, "graph: it returned Desk, not Graph"),
    "handoff": (
        {"graph": lambda: Graph((Desk,), (Handoff("desk", "boss", "Now."),), start="desk")},
        "graph: desk -> boss: 'boss' is not an agent",
    ),
    "state": ({"state": broken}, f"state: {PLACE}"),
    "no model": ({"state": lambda: dict}, "state: has to be a pydantic model, not dict"),
    "model": ({"model": broken}, f"model: {PLACE}"),
    "no LLM": ({"model": lambda context, settings: Desk}, "model: it returned Desk, not LLM"),
    "owner": ({"owner": broken}, f"owner: {PLACE}"),
    "view": ({"view": broken}, f"view.*: {PLACE}"),
    "no view": (
        {"view": lambda state, version, agent: None},
        "view: it returned None, not Mapping",
    ),
    "invalid": (
        {"new": lambda context, new: Loan(title=None)},  # pyright: ignore[reportArgumentType]
        r"new: ValidationError: Loan: title has to be a text \(",
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("sys.stdin", None)
    monkeypatch.setenv("LIVEKIT_URL", "ws://127.0.0.1:9")
    monkeypatch.setenv("LIVEKIT_API_KEY", "devkey")
    monkeypatch.setenv("LIVEKIT_API_SECRET", "s" * 32)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talk.yaml").write_text("turns: [{user: Hello}]\n", encoding="utf-8")


def run(application: App[Any, Any], *arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(application, arguments)
    return int(ended.value.code or 0)


@pytest.mark.parametrize("changed", FAILING.values(), ids=FAILING)
def test_a_function_that_fails_is_named_with_its_place_by_the_console(
    changed: tuple[Mapping[str, Any], str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(App(**{**GIVEN, **changed[0]}), "console")

    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    (line,) = said.err.splitlines()
    assert re.match(changed[1], line), line


@pytest.mark.parametrize(
    "arguments",
    [("console",), ("replay", "talk.yaml"), ("graph",), ("start",)],
    ids=lambda one: one[0],
)
def test_all_faults_of_what_is_imported_late_are_told_at_once(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    late = {"state": lambda: dict, "graph": lambda: Desk, "page": broken}

    assert run(App(**{**GIVEN, **late}), *arguments) == 2

    told = [line.partition(":")[0] for line in capsys.readouterr().err.splitlines()]
    assert told == ["page", "state", "graph"]


@pytest.mark.parametrize("changed", FAILING.values(), ids=FAILING)
def test_doctor_names_it_and_goes_on(
    changed: tuple[Mapping[str, Any], str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(App(**{**GIVEN, **changed[0]}), "doctor")

    said = capsys.readouterr()
    assert (code, said.err) == (1, "")
    assert re.search(f"fault +(context: |application: )?{changed[1]}", said.out), said.out
    assert re.search("database: .*the first call creates it", said.out), said.out


def test_doctor_says_that_an_application_can_be_made(capsys: pytest.CaptureFixture[str]) -> None:
    run(App(**GIVEN), "doctor")

    assert "ok       application: its agents and a loan can be made" in capsys.readouterr().out


def own_commands(name: str) -> Callable[[Any], typer.Typer]:
    def make(application: Any) -> typer.Typer:
        commands = typer.Typer()
        commands.command(name)(lambda: None)
        return commands

    return make


@pytest.mark.parametrize("name", ["console", "loans"])
def test_an_own_command_does_not_replace_another(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(App(**{**GIVEN, "commands": own_commands(name)}), "graph") == 2
    assert capsys.readouterr().err == f'commands: "{name}" is a command already\n'


@pytest.mark.parametrize(
    ("changed", "arguments"),
    [
        ({"commands": broken}, ("graph",)),
        ({"terminal": Terminal(text=lambda state: None)}, ("loans", "show", "101")),  # type: ignore[arg-type,return-value]
        ({"terminal": Terminal(listing=lambda states: None)}, ("loans", "list")),  # type: ignore[arg-type,return-value]
        ({"view": lambda state, version, agent: {"x": {1}}}, ("loans", "show", "101", "--json")),
        ({"command_line": CommandLine(state_commands=broken)}, ("graph",)),
        ({"command_line": CommandLine(schemas={"desk": broken})}, ("schema", "desk")),
        ({"page": broken}, ("schema", "rpc")),
        ({"replay": Replay(fields=broken)}, ("schema", "conversation")),
        ({"replay": Replay(fields=broken)}, ("replay", "talk.yaml")),
        ({"replay": Replay(settings=broken)}, ("replay", "talk.yaml")),
        ({"replay": Replay(settings=lambda folder: {"databse": folder})}, ("replay", "talk.yaml")),
        ({"context": broken}, ("replay", "talk.yaml")),
        ({"new": broken}, ("replay", "talk.yaml")),
        ({"context": broken}, ("start",)),
        ({"policy": broken}, ("start",)),
        ({"new": refused}, ("start",)),
        ({"worker": WorkerProcesses(preload=("no.such.module",))}, ("start",)),
    ],
)
def test_every_command_names_the_function_that_fails(
    changed: Mapping[str, Any], arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    if "loans" in arguments:
        run(App(**GIVEN), "console")
        capsys.readouterr()

    code = run(App(**{**GIVEN, **changed}), *arguments)

    said = capsys.readouterr()
    name = next(iter(changed))
    assert (code, said.out) == (2, "")
    assert [line for line in said.err.splitlines() if line.startswith(name)], said.err
    assert "Traceback" not in said.err


def test_a_view_that_becomes_no_json_ends_the_call_with_its_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(App, "view_of", lambda *shown: {"x": {1}})

    assert run(App(**GIVEN), "console", "--events") == 2
    assert "view: TypeError: Object of type set is not JSON serializable" in capsys.readouterr().err


def test_secrets_in_what_a_function_raises_are_redacted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEKIT_API_SECRET", "open-sesame")

    def context(environment: Environment) -> None:
        raise ValueError(f"cannot use {environment.settings.livekit_api_secret.get_secret_value()}")

    application = App(**{**GIVEN, "context": context})
    with pytest.raises(AppFaults, match=r"cannot use \[secret\]"):
        application.make_context(Environment.of(application.settings.read()))


# -- in a room -------------------------------------------------------------------------------------


async def test_a_call_that_cannot_be_served_is_rejected_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rejected: list[Any] = []

    async def reject(ctx: object, reason: RejectReason, words: Words) -> None:
        rejected.append(reason.sentence(words))

    monkeypatch.setattr("agents.app.rooms.job.reject_call", reject)
    process = SimpleNamespace(userdata={})
    application = App(**{**GIVEN, "policy": broken})

    _prepare(application, (), cast("JobProcess", process))  # keeps the process for its user
    await serve_room(cast("JobContext", SimpleNamespace(proc=process)), application)

    assert rejected == [Words().not_set_up]
    first, second = (record.getMessage() for record in caplog.records)
    assert re.fullmatch(f"calls cannot be served: policy: {PLACE}", first)
    assert re.fullmatch(f"call cannot be served: policy: {PLACE}", second)


@pytest.mark.processes
async def test_functions_that_fail_in_a_room_cost_neither_the_call_nor_the_turn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    policy: CallPolicy[Loan, None] = CallPolicy(expects=lambda state, agent, refusal: "choice")
    application = App(
        **{
            **GIVEN,
            "policy": lambda context: policy,
            "rooms": Rooms(attributes=broken, choices=broken, terms=broken),
        }
    )
    async with AppUnderTest(application, tmp_path).room(says("Hello."), says("Emma?")) as room:
        await room.user_says("Emma")
        await room.agent_says("Emma?")

    failed = {vars(record).get("function") for record in caplog.records}
    assert failed >= {"rooms.attributes", "rooms.choices"}
    assert room.notices[-1]["expects"] == "choice"
