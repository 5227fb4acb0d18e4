"""An application gives single agents language models of their own: in console, replay, rooms and tests."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from livekit.agents.llm import LLM
from pydantic import BaseModel

from agents.app.app import App, AppFaults
from agents.app.cli import main
from agents.app.conversation_files.reading import load_conversation
from agents.app.replay.running import run_conversation
from agents.app.testing import AppUnderTest, fixture_of
from agents.handoff import Agent, Graph, Handoff, Opening
from agents.testing import ScriptedLLM, Step, calls, says

OPENING = Opening(first="Greet.", handed_over="Go on.", come_back="Greet.", canned="Hello.")


class Note(BaseModel, frozen=True):
    note_id: str


class Desk(Agent[Note, None]):
    name = "desk"
    prompt = "You are the desk."
    opening = OPENING


class Poet(Agent[Note, None]):
    name = "poet"
    prompt = "You are the poet."
    opening = OPENING


GRAPH: Graph[Note] = Graph(
    (Desk, Poet), (Handoff("desk", "poet", when="They want a poem."),), start="desk"
)

closed: list[str] = []


class Closing(ScriptedLLM):
    """A scripted model that says when it is closed."""

    async def aclose(self) -> None:
        closed.append(self.script[-1].say or "")
        await super().aclose()


def playing(*script: Step) -> Callable[[None, Any], LLM[Any]]:
    return lambda context, settings: Closing(script)


def app(**more: Any) -> App[Note, None]:
    declared: dict[str, Any] = {
        "graph": GRAPH,
        "model": playing(says("Hello, what is it?"), calls("transfer_to_poet")),
        "models": {"poet": playing(says("Roses are red."), says("Violets are blue."))},
    }
    return App(
        name="desk",
        noun="note",
        plural="notes",
        prefix="desk",
        state=Note,
        context=lambda environment: None,
        new=lambda context, new: Note(note_id=new.id),
        **{**declared, **more},
    )


APP = app()
note = fixture_of(APP)
Under = AppUnderTest[Note, None]

POEM = ["Hello, what is it?", "Roses are red.", "Violets are blue."]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_DATABASE", f"sqlite:///{tmp_path}/notes.db")
    closed.clear()


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two lines on standard input; logging stays as pytest has set it up."""
    monkeypatch.setattr("agents.app.console.command.log_to_stderr", lambda secrets: None)
    (tmp_path / "typed").write_text("A poem\nMore\n")
    with (tmp_path / "typed").open() as lines:
        monkeypatch.setattr("sys.stdin", lines)
        yield


@pytest.mark.usefixtures("typed")
def test_two_models_in_the_console(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(APP, ["console", "--events"])

    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    said = [(one["agent"], one["text"]) for one in events if one["type"] == "said"]
    assert ended.value.code == 0
    assert said == [("desk", POEM[0]), ("poet", POEM[1]), ("poet", POEM[2])]
    assert closed == ["", POEM[2]]


@pytest.mark.usefixtures("typed")
def test_a_script_answers_for_all_agents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(
        "[{say: Yes?}, {calls: [{name: transfer_to_poet}]}, {say: One.}, {say: All from one script.}]"
    )

    with pytest.raises(SystemExit) as ended:
        main(APP, ["console", "--events", "--model", f"script:{script}"])

    assert ended.value.code == 0
    assert "All from one script." in capsys.readouterr().out
    assert closed == []


@pytest.mark.parametrize("own", [True, False])
async def test_a_conversation_file_is_answered_by_each_agents_model(
    tmp_path: Path, own: bool
) -> None:
    file = tmp_path / "poem.yaml"
    script = "script: [{say: Yes?}, {calls: [{name: transfer_to_poet}]}, {say: Roses are red.}]\n"
    more = "  - user: More\n    said: Violets are blue\n"
    file.write_text(
        f"{'' if own else script}turns:\n  - user: A poem\n    said: Roses are red\n{more if own else ''}"
    )

    assert (await run_conversation(APP, load_conversation(APP, file))).text == ""
    assert bool(closed) is own


async def test_two_models_in_a_test(note: Under) -> None:
    async with note.conversation() as talk:
        await talk.user_says("A poem")
        await talk.user_says("More")

    assert [text for turn in talk.turns for text in turn.said] == POEM


@pytest.mark.processes
@pytest.mark.timeout(300)
async def test_two_models_in_a_room(note: Under) -> None:
    async with note.room() as room:
        await room.user_says("A poem")
        await room.user_says("More")
        for text in POEM:
            await room.agent_says(text)

    assert closed == ["", POEM[2]]


async def test_an_agent_whose_function_returns_none_has_the_calls_model(tmp_path: Path) -> None:
    one = app(
        model=playing(says("Yes?"), calls("transfer_to_poet"), says("Roses are grey.")),
        models={"poet": lambda context, settings: None},
    )

    async with AppUnderTest(one, tmp_path).conversation() as talk:
        turn = await talk.user_says("A poem")

    assert turn.said == ["Roses are grey."]


def test_a_model_of_an_unknown_agent_is_a_fault() -> None:
    wrong = {"painter": playing(says("Look."))}
    with pytest.raises(AppFaults, match="there is no agent painter: there are desk, poet"):
        app(models=wrong)
    late = app(models=wrong, graph=lambda: GRAPH)
    with pytest.raises(AppFaults, match="there is no agent painter"):
        _ = late.agents


@pytest.mark.usefixtures("typed")
def test_an_agent_whose_model_cannot_be_made_speaks_with_the_calls_model(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def broken(context: None, settings: Any) -> LLM[Any]:
        raise RuntimeError("no such model")

    model = playing(
        says("Hello, what is it?"), calls("transfer_to_poet"), says("A poem."), says("Another.")
    )
    with pytest.raises(SystemExit) as ended:
        main(app(model=model, models={"poet": broken}), ["console", "--events"])

    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert ended.value.code == 0
    assert [one["text"] for one in said if one["type"] == "said" and one["agent"] == "poet"] == [
        "A poem.",
        "Another.",
    ]
    assert [one.message for one in caplog.records] == [
        "model of agent poet not made, using the call's"
    ]
