"""``forget`` of an application that says nothing, little, or much about what is kept."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from agents.app.app import App
from agents.app.cli import main
from agents.app.console.command import ConsoleConversation
from agents.app.console.plain import PlainConsole
from agents.app.forgetting import ErasureReport, forget_state
from agents.app.parts import Forgetting
from agents.app.states import StateFaults, new_state, open_store, resume_state
from agents.app.terminal.input import InputLines
from agents.app.transcript import CallRecord
from agents.handoff import Agent, Graph, Opening
from agents.testing import ScriptedLLM, calls, says
from state.shared import Command, Moment, Refused, SharedState

SECRET = "Zoë Özdemir"


class Note(BaseModel, frozen=True):
    note_id: str
    text: str = ""
    author: str = ""
    open: bool = True


class Write(Command[Note, None]):
    """Write something."""

    op: Literal["write"] = "write"
    text: str
    author: str

    def apply(self, state: Note, context: None) -> Note:
        return state.model_copy(update={"text": self.text, "author": self.author})


class Close(Command[Note, None]):
    """Close the note."""

    op: Literal["close"] = "close"

    def apply(self, state: Note, context: None) -> Note:
        return state.model_copy(update={"open": False})


class Desk(Agent[Note, None]):
    name = "desk"
    prompt = "You are a desk."
    opening = Opening(first="Greet.", handed_over="Go on.", come_back="Greet.", canned="Hello.")
    offers = (Write,)


def app(forgetting: Forgetting[Note, None] | None = None) -> App[Note, None]:
    return App(
        name="desk",
        noun="note",
        plural="notes",
        prefix="desk",
        state=Note,
        context=lambda environment: None,
        new=lambda context, new: Note(note_id=new.id),
        graph=Graph((Desk,), (), start="desk"),
        forgetting=forgetting or Forgetting(),
    )


APP = app()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/notes.db"


async def written(application: App[Note, None], url: str, author: str = SECRET) -> str:
    async with open_store(application, url, "desk") as store:
        note = await new_state(application, store, None, "terminal")
        await note.apply(
            Write(text="ring twice", author=author), actor="desk", key=f"by {author}", seen=0
        )
        await store.record(note.state_id, Moment(1, "heard", "user", f"I am {author}"))
    return note.state_id


async def forgotten(
    application: App[Note, None], url: str, note_id: str, *logs: Path
) -> ErasureReport:
    async with open_store(application, url, None) as office:
        return await forget_state(application, office, application.settings(), note_id, logs)


def bytes_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.glob("notes.db*"))


async def test_nothing_is_kept_unless_the_application_says_so(url: str, tmp_path: Path) -> None:
    note_id = await written(APP, url)
    assert b"ring twice" in bytes_in(tmp_path)

    report = await forgotten(APP, url, note_id)

    assert (report.erased, report.left, report.lines) == ([note_id], [], 1)
    for piece in ("ring twice", "Özdemir", "\\u00d6zdemir"):
        assert piece.encode() not in bytes_in(tmp_path)
    async with open_store(APP, url, None) as office:
        stored = await office.read(note_id)
    assert stored.read(Note) == Note(note_id=note_id)
    assert [entry.commands for entry in stored.entries] == [({"op": "write"},)]
    assert stored.entries[0].key is None


@pytest.mark.parametrize("keep", [None, lambda note: note.model_copy(update={"author": ""})])
async def test_a_state_whose_migration_raises_is_forgotten_too(
    url: str, tmp_path: Path, keep: Any
) -> None:
    def broken(form: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("no such field")

    note_id = await written(APP, url)
    application = replace(app(Forgetting(keep=keep)), schema=2, migrate={1: broken})

    report = await forgotten(application, url, note_id)

    assert (report.erased, report.left) == ([note_id], [])
    assert SECRET.encode() not in bytes_in(tmp_path)
    async with open_store(APP, url, None) as store:  # what is left fits the form it is stored as
        assert (await store.read(note_id)).read(Note).author == ""


async def test_a_text_that_another_state_holds_too_is_no_trace(url: str) -> None:
    note_id, other = await written(APP, url), await written(APP, url)

    report = await forgotten(APP, url, note_id)

    assert (report.erased, report.left) == ([note_id], [])
    async with open_store(APP, url, None) as office:
        assert (await office.read(other)).read(Note).author == SECRET


async def test_bytes_that_no_row_holds_are_named(url: str, tmp_path: Path) -> None:
    note_id = await written(APP, url)
    rest = tmp_path / "notes.db-journal"
    rest.write_bytes("\0\0I am Zoë Özdemir\0".encode())

    report = await forgotten(APP, url, note_id)

    assert report.left == [f"{rest}: a trace is left in it"]
    assert list(report.failed())[-1].startswith("Not everything is erased")


async def test_a_state_whose_user_is_still_needed_is_left_as_it_is(
    url: str, tmp_path: Path
) -> None:
    async def close(shared: SharedState[Note, None]) -> None:
        raise Refused("It is still being read.")

    log = tmp_path / "console.log"
    log.write_text(f"WARNING {SECRET}\n")
    application = app(Forgetting(close=close, identifying=("author",)))
    note_id = await written(application, url)

    report = await forgotten(application, url, note_id, log)

    assert (report.erased, report.refused) == ([], {note_id: "It is still being read."})
    assert log.read_text() == f"WARNING {SECRET}\n"
    async with open_store(application, url, None) as office:
        assert (await office.read(note_id)).read(Note).author == SECRET


async def test_an_open_state_is_closed_and_its_kept_part_stays(url: str, tmp_path: Path) -> None:
    async def close(shared: SharedState[Note, None]) -> None:
        await shared.apply(Close(), actor="staff")

    log = tmp_path / "console.log"
    log.write_text(f"WARNING {SECRET}: ring twice\n", encoding="utf-8")
    keep = Forgetting[Note, None](
        keep=lambda note: note.model_copy(update={"author": ""}),
        close=close,
        identifying=("author",),
    )
    application = app(keep)
    note_id = await written(application, url)

    first = await forgotten(application, url, note_id, log)
    again = await forgotten(application, url, note_id, log)

    assert (first.erased, first.left, first.in_logs) == ([note_id], [], 1)
    assert (again.erased, again.left, again.texts) == ([note_id], [], 0)
    assert log.read_text() == f"WARNING {'*' * len(SECRET.encode())}: ring twice\n"
    async with open_store(application, url, None) as office:
        left = (await office.read(note_id)).read(Note)
    assert left == Note(note_id=note_id, text="ring twice", open=False)


async def test_a_state_that_is_not_there_is_wrong_use(url: str) -> None:
    await written(APP, url)

    with pytest.raises(StateFaults, match="There is no note abcd"):
        await forgotten(APP, url, "abcd")


@pytest.mark.parametrize("named", ["id", "number"])
def test_the_command_reports_what_it_did(
    named: str, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_DATABASE", url)
    note_id = asyncio.run(written(APP, url))

    with pytest.raises(SystemExit) as ended:
        main(APP, ["notes", "forget", note_id if named == "id" else "101"])

    said = capsys.readouterr()
    assert (ended.value.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == f"Note {note_id}: its user was erased."
    assert lines[-1].startswith("Searched afterwards: all rows of the database,")
    assert "Zo" not in said.out


def test_help_names_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(APP, ["notes", "--help"])

    shown: Any = capsys.readouterr().out
    assert "Erase the user of a note" in shown


class Typing(InputLines):
    """Types a line, erases the state in another process, types on, and waits for the end of the call."""

    def __init__(self, *lines: str, erase: Callable[[], Awaitable[object]]) -> None:
        super().__init__(lambda: None)
        self._typed = [*lines]
        self._erase = erase
        self._left = asyncio.Event()

    async def following(self) -> str | None:
        if len(self._typed) == 1:
            await self._erase()
        if not self._typed:
            await self._left.wait()
        return None if self.left else self._typed.pop(0)

    def leave(self) -> None:
        super().leave()
        self._left.set()


class Silent(Typing):
    """Erases the state in another process, and types nothing."""

    async def following(self) -> str | None:
        await self._erase()
        await self._left.wait()
        return None


@pytest.mark.parametrize("writes", [True, False])
async def test_a_conversation_whose_state_is_erased_ends_with_a_true_sentence(
    url: str, tmp_path: Path, writes: bool
) -> None:
    said = StringIO()
    on = calls(("write", {"text": "ring", "author": SECRET})) if writes else says("And then?")
    script = [says("Hello."), says("I see."), on, says("Goodbye.")]
    async with open_store(APP, url, "desk") as store:
        note = await new_state(APP, store, None, "terminal")
        await note.apply(Write(text="ring twice", author=SECRET), actor="desk")
        call = APP.call(note)
        front = PlainConsole(APP, call, said, resume_command="desk console")
        lines = Typing(
            f"I am {SECRET}", f"Still {SECRET}", erase=partial(forgotten, APP, url, note.state_id)
        )
        talk = ConsoleConversation(
            call, ScriptedLLM(script), front, lines, typed=True,
            store=store,
        )  # fmt: skip
        record = CallRecord(call, store, channel="terminal", lost=talk.state_lost)
        reason = await talk.run()
        await record.aclose()

    assert (reason, talk.lost) == ("failed", "erased")
    assert said.getvalue().splitlines()[-1] == (
        f"Note {note.state_id} was erased while you talked: nothing of it is kept."
    )
    for piece in ("ring twice", SECRET, json.dumps(SECRET)[1:-1]):
        assert piece.encode() not in bytes_in(tmp_path)


async def test_a_user_who_says_nothing_is_told_that_their_state_was_erased(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.console.command.WATCH_S", 0.01)
    said = StringIO()
    async with open_store(APP, url, "desk") as store:
        note = await new_state(APP, store, None, "terminal")
        call = APP.call(note)
        talk = ConsoleConversation(
            call,
            ScriptedLLM([says("Hello.")]),
            PlainConsole(APP, call, said, resume_command="desk console"),
            Silent(erase=partial(forgotten, APP, url, note.state_id)),
            typed=True,
            store=store,
        )
        record = CallRecord(call, store, channel="terminal", lost=talk.state_lost)
        reason = await talk.run()
        await record.aclose()

    assert (reason, talk.lost) == ("failed", "erased")
    assert said.getvalue().splitlines()[-1].startswith(f"Note {note.state_id} was erased while you")


async def test_a_conversation_whose_state_another_process_takes_says_so(
    url: str, tmp_path: Path
) -> None:
    said = StringIO()

    async def take() -> None:
        async with open_store(APP, url, "desk") as another:
            await resume_state(APP, another, None, note.state_id)

    async with open_store(APP, url, "desk") as store:
        note = await new_state(APP, store, None, "terminal")
        call = APP.call(note)
        talk = ConsoleConversation(
            call,
            ScriptedLLM([says("Hello."), says("I see."), says("And then?")]),
            PlainConsole(APP, call, said, resume_command="desk console"),
            Typing("One", "Two", erase=take),
            typed=True,
            store=store,
        )
        record = CallRecord(call, store, channel="terminal", lost=talk.state_lost)
        await talk.run()
        await record.aclose()

    assert said.getvalue().splitlines()[-1].startswith("Another process has taken over")
