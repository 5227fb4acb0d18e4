"""The declaration of an application: what it adds by itself, and how a file that is run is found."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from pydantic import BaseModel

from agents.app.app import App, AppFaults
from agents.app.doctor.findings import Severity
from agents.app.doctor.models import check_models
from agents.app.join.client import RoomClient, SaidText
from agents.handoff import Agent, CallPolicy, Graph, Opening
from agents.testing import Conversation, ScriptedLLM, says
from state.shared import Command, SharedState
from tests.livekit import LiveKit, until

ROOT = Path(__file__).parents[3]
CARD = "4242 4242 4242 4242"


class Note(BaseModel, frozen=True):
    text: str = ""


class Desk(Agent[Note, None]):
    name = "desk"
    prompt = "You are a desk."
    opening = Opening(first="Greet.", handed_over="Go on.", come_back="Greet.", canned="Hello.")


GRAPH: Graph[Note] = Graph((Desk,), (), start="desk")


def app(**more: Any) -> App[Note, None]:
    return App(
        name="desk",
        noun="note",
        plural="notes",
        prefix="desk",
        state=Note,
        context=lambda environment: None,
        new=lambda context, new: Note(),
        graph=GRAPH,
        **more,
    )


async def heard_and_shown(application: App[Note, None]) -> tuple[list[str], str]:
    model = ScriptedLLM([says("Hello."), says(f"You said {CARD}?")])
    async with Conversation(application.call(SharedState(Note(), None)), model) as talk:
        turn = await talk.user_says(f"My card is {CARD}")
    return [*turn.heard, *turn.said], str(model.requests[-1].texts)


@pytest.mark.parametrize("policy", [None, lambda context: CallPolicy(trouble="Pardon?")])
async def test_card_numbers_are_redacted_in_every_application(policy: Any) -> None:
    words, shown = await heard_and_shown(app(policy=policy))

    assert words == ["My card is [card]", "You said [card]?"]
    assert "4242 4242" not in shown


async def test_a_number_told_in_two_turns_is_redacted_in_each_call_by_itself() -> None:
    application = app()
    for _ in range(2):
        model = ScriptedLLM([says("Hello."), says("Go on."), says("Thank you.")])
        async with Conversation(application.call(SharedState(Note(), None)), model) as talk:
            first = await talk.user_says("My card number is 4242 4242")
            second = await talk.user_says("and 4242 4242")
        assert "4242 4242" not in str([*first.heard, *second.heard])


async def test_redaction_can_be_turned_off() -> None:
    policy = CallPolicy[Note, None](redact_input=str, redact_output=str, safe_prefix=len)
    words, _ = await heard_and_shown(app(policy=lambda context: policy))

    assert words == [f"My card is {CARD}", f"You said {CARD}?"]


async def test_doctor_says_that_there_is_no_local_model() -> None:
    application = app()
    (found,) = await check_models(application, application.settings())

    assert found.mark is Severity.FAULT
    assert "DESK_MODEL" in found.found


class Renamed(Command[Note, None]):
    """Write something."""

    op: Literal["write"] = "write"

    def apply(self, state: Note, context: None) -> Note:
        return Note(text="x")


def test_all_faults_are_found_when_it_is_made() -> None:
    with pytest.raises(AppFaults) as found:
        App(
            name="Desk!",
            noun="note",
            plural="note",
            prefix="desk",
            state=Note,
            context=lambda environment: None,
            new=lambda context, new: Note(),
            graph=GRAPH,
            roles={"user": (Renamed, cast("Any", Note)), "a b": ()},
        )

    assert len(found.value.faults) == 4
    for word in ("Desk!", "plural", "'a b'", "Note"):
        assert word in str(found.value)


@pytest.mark.processes
def test_a_faulty_program_lists_its_faults_and_exits_with_2(tmp_path: Path) -> None:
    program = tmp_path / "my_desk.py"
    program.write_text(PROGRAM.replace('name="desk", noun', 'name="De sk", noun'), encoding="utf-8")

    done = run_program(program)

    assert done.returncode == 2
    assert done.stderr.startswith('name: "De sk"')
    assert len(done.stderr.splitlines()) == 1


def run_program(program: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(program)],
        cwd=program.parent,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
    )


@pytest.mark.processes
def test_a_faulty_graph_in_it_is_listed_with_its_place(tmp_path: Path) -> None:
    program = tmp_path / "my_desk.py"
    program.write_text(PROGRAM.replace('start="desk"', 'start="boss"'), encoding="utf-8")

    done = run_program(program)

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "my_desk.py:16, <module>: the call starts with 'boss', which is not an agent",
        "my_desk.py:16, <module>: desk is unreachable",
    ]


@pytest.mark.processes
def test_a_faulty_policy_in_it_is_listed_with_its_place(tmp_path: Path) -> None:
    program = tmp_path / "my_desk.py"
    policy = 'from agents.handoff import CallPolicy\nCallPolicy(trouble=" ", tool_limit_s=0)\n'
    program.write_text(f"{PROGRAM}{policy}", encoding="utf-8")

    done = run_program(program)

    assert done.returncode == 2
    line = len(program.read_text(encoding="utf-8").splitlines())
    assert done.stderr.splitlines() == [
        f"my_desk.py:{line}, <module>: trouble is blank: the user would hear nothing",
        f"my_desk.py:{line}, <module>: tool_limit_s has to be above 0",
    ]


FIRST = {
    "graph": (
        "from agents.handoff import Graph\nGraph((), (), start='desk')\n",
        "the call starts with 'desk', which is not an agent",
    ),
    "policy": (
        "from agents.handoff import CallPolicy\nCallPolicy(trouble=' ')\n",
        "trouble is blank: the user would hear nothing",
    ),
    "page": (
        "from rpc.page import PageSpec\n"
        "PageSpec(noun='De sk', view=print, roles={'user': ()}, user='user')\n",
        "The noun 'De sk' is not lower snake case",
    ),
}


@pytest.mark.processes
@pytest.mark.parametrize("name", FIRST)
def test_a_fault_of_a_module_that_is_imported_before_the_application_is_listed(
    tmp_path: Path, name: str
) -> None:
    text, fault = FIRST[name]
    (tmp_path / "parts.py").write_text(text, encoding="utf-8")
    program = tmp_path / "my_desk.py"
    program.write_text(f"import parts\n{PROGRAM}", encoding="utf-8")

    done = run_program(program)

    assert done.returncode == 2
    first, *_ = lines = done.stderr.splitlines()
    assert first.startswith("parts.py:2, <module>: "), lines
    assert fault in first
    assert all(line.startswith("parts.py:2, ") for line in lines)


@pytest.mark.processes
def test_another_error_of_the_program_keeps_its_traceback(tmp_path: Path) -> None:
    program = tmp_path / "my_desk.py"
    program.write_text(f"{PROGRAM}\n1 / 0\n", encoding="utf-8")

    done = run_program(program)

    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "Traceback" in done.stderr


PROGRAM = """
from pydantic import BaseModel
from agents.app.app import App
from agents.handoff import Agent, Graph, Opening

class Note(BaseModel, frozen=True):
    text: str = ""

class Desk(Agent[Note, None]):
    name = "desk"
    prompt = "You are a desk."
    opening = Opening(first="Greet.", handed_over="Go on.", come_back="Greet.", canned="Hello.")

APP = App(name="desk", noun="note", plural="notes", prefix="desk", state=Note,
    context=lambda environment: None, new=lambda context, new: Note(),
    graph=Graph((Desk,), (), start="desk"))

if __name__ == "__main__":
    print(APP.path, APP.command, sep=chr(10))
"""


@pytest.mark.processes
@pytest.mark.parametrize(
    ("arguments", "path", "command"),
    [
        (["my_desk.py"], "my_desk:APP", "python my_desk.py"),
        (["-m", "my_desk"], "my_desk:APP", "python -m my_desk"),
        (["sub/other_desk.py"], "other_desk:APP", "python sub/other_desk.py"),
        (["-m", "sub.other_desk"], "sub.other_desk:APP", "python -m sub.other_desk"),
    ],
)
def test_other_processes_find_a_file_that_is_run(
    tmp_path: Path, arguments: list[str], path: str, command: str
) -> None:
    (tmp_path / "sub").mkdir()
    for file in ("my_desk.py", "sub/other_desk.py"):
        (tmp_path / file).write_text(PROGRAM, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
    )

    assert done.stdout.splitlines() == [path, command], done.stderr


async def test_join_reads_the_active_agent_from_the_applications_attribute(
    livekit: LiveKit, room_name: str
) -> None:
    attributes = {"bella.active_agent": "greeter", "desk.active_agent": "clerk"}
    told: list[Any] = []
    client = RoomClient("note", "desk", told.append)
    async with livekit.joined(room_name, kind="agent", attributes=attributes) as agent:
        await client.room.connect(livekit.url, livekit.token(room_name, "user"))
        try:
            await until(lambda: client.agents, what="the agent")
            await agent.room.local_participant.send_text("Hello", topic="lk.transcription")
            await until(lambda: SaidText in map(type, told), what="its words")
        finally:
            await client.leave()

    assert [one for one in told if isinstance(one, SaidText)] == [SaidText("clerk", "Hello")]
