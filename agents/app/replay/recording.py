"""Writes a conversation of the console as a conversation file, after each turn."""

import asyncio
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Generic

from pydantic import BaseModel, ValidationError

from agents.app.app import App, Environment
from agents.app.conversation_files.reading import conversation_form, parse_conversation
from agents.app.conversation_files.writing import OutputFile, block, flow
from agents.app.faults import InputError
from agents.app.parts import C, S
from agents.app.replay.running import shared_from
from agents.app.setting_values import LOCAL, SCRIPT
from agents.app.settings import AppSettings
from agents.handoff import Call, Ended, Event, HandedOver, Heard, ToolUsed, YourTurn


class ConversationRecorder(Generic[S, C]):
    """Records one conversation: the user's redacted words, agents, tools, handoffs, and the end.

    The file is complete after each turn; an interrupted turn is not in it. During a recording the
    application's clock stands still in each turn and shows whole minutes, so that the file can name
    the time of each turn and a replay has the same times.

    Args:
        path: The file; it must not exist.
        settings: The settings of the conversation.

    Raises:
        InputError: The file exists or cannot be written there.
    """

    def __init__(self, app: App[S, C], path: Path, settings: AppSettings) -> None:
        self.turns = 0
        """How many turns are in the file."""
        self.fault: OSError | None = None
        """The error because of which the last turns are not in the file."""
        self._app = app
        self._target = OutputFile(path, new=True)
        self._settings = settings
        self._clocks: list[_TurnClock] = []
        self._header: dict[str, Any] = {}
        self._turns: list[dict[str, Any]] = []
        self._shown_time: datetime | None = None
        self._unwritten: tuple[int, bytes] | None = None
        self._writing: asyncio.Task[None] | None = None

    def environment(self, environment: Environment) -> Environment:
        """Return an environment whose clocks stand still during a turn."""

        def clock(zone: tzinfo) -> Callable[[], datetime]:
            self._clocks.append(_TurnClock(environment.clock(zone)))
            return self._clocks[-1]

        return replace(environment, clock=clock)

    def start(self, call: Call[S, C]) -> None:
        """Record a call that has not started.

        Raises:
            InputError: A conversation file cannot start from its state.
        """
        shared = call.shared
        self._call = call
        self._shown_time = self._now()
        self._header = {**self._options(), **self._model()}
        if self._shown_time is not None:
            self._header["at"] = _time(self._shown_time)
        if shared.version:
            self._header[self._app.noun] = self._fields(also=("active_agent",))
            self._check_start(shared.context)
        self._turns = [{"tools": [], "handoff": []}]  # the greeting
        self._unsubscribe = call.subscribe(self._on_event)

    async def aclose(self) -> None:
        """Stop recording, and wait until the turns so far are written, or writing has failed."""
        self._unsubscribe()
        await self.written()

    async def written(self) -> None:
        """Wait until the turns so far are written, or writing has failed."""
        if self._writing is not None:
            await asyncio.wait((self._writing,))

    def outcome(self) -> str:
        """Return a line about the result of the recording."""
        path = self._target.path
        if self.fault is not None:
            why = self.fault.strerror or str(self.fault)
            return f"{path}: only {self.turns} turns were recorded: {why}"
        if not self.turns:
            return f"{path} was not written: there was no complete turn to record"
        return f"{self.turns} turn{'' if self.turns == 1 else 's'} recorded in {path}"

    # -- events ------------------------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        turn = self._turns[-1]
        match event:
            case Heard():
                self._turns.append(self._new_turn(event.text))
            case ToolUsed():
                turn["tools"].append(event.name)
                if event.name in self._call.graph.slow_actions and "user" in turn:
                    turn["results_told"] = True
            case HandedOver():
                turn["handoff"].append(event.target)
            case YourTurn() | Ended(reason="agent_ended"):
                turn["agent"] = self._call.speaker
                self._save()

    def _new_turn(self, words: str) -> dict[str, Any]:
        turn: dict[str, Any] = {"user": words}
        for clock in self._clocks:
            clock.advance()
        if (now := self._now()) != self._shown_time:
            turn["at"] = _time(now)
            self._shown_time = now
        return {**turn, "agent": None, "tools": [], "handoff": []}

    def _now(self) -> datetime | None:
        return self._clocks[0]() if self._clocks else None

    # -- the file ----------------------------------------------------------------------------------

    def _options(self) -> dict[str, Any]:
        values = self._settings.model_dump(mode="json", include={*self._app.command_line.options})
        for name in values:
            if isinstance(path := getattr(self._settings, name), Path):
                values[name] = self._relative_path(path)
        return {name: value for name, value in values.items() if value is not None}

    def _model(self) -> dict[str, str]:
        name = self._settings.model
        if name == LOCAL:
            return {}
        if name.startswith(SCRIPT):
            script = Path(name.removeprefix(SCRIPT)).expanduser()
            return {"model": f"{SCRIPT}{self._relative_path(script)}"}
        return {"model": name}

    def _relative_path(self, path: Path) -> str:
        """Return a path relative to the file's folder."""
        with suppress(ValueError):  # on another drive
            return Path(os.path.relpath(path, self._target.path.parent)).as_posix()
        return str(path.absolute())

    def _fields(self, also: Sequence[str] = ()) -> dict[str, Any]:
        shared = self._call.shared
        speaker = shared.speaker or self._call.speaker
        view = self._app.view_of(shared.state, shared.version, speaker)
        fields: dict[str, Any] = _reproducible(view, self._app.noun, self._app.replay.generated)
        return {**fields, **{name: view[name] for name in also if view.get(name) is not None}}

    def _check_start(self, context: C) -> None:
        path = self._target.path
        text = self._text([{"user": "hello"}], {})
        try:
            shared_from(self._app, parse_conversation(self._app, text, path), context)
        except InputError as error:
            why = "; ".join(fault.partition(": ")[2] for fault in error.faults)
            raise InputError(
                [f"a recording cannot start from this {self._app.noun}: {why}"]
            ) from None

    def _save(self) -> None:
        if len(self._turns) == 1 or isinstance(self.fault, FileExistsError):
            return
        text = self._text(self._turns[1:], self._fields())
        self._unwritten = len(self._turns) - 1, text.encode()
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._unwritten is not None:
            (turns, data), self._unwritten = self._unwritten, None
            try:
                await asyncio.to_thread(self._target.write, data)
            except OSError as error:
                self.fault = error
            else:
                self.turns, self.fault = turns, None

    def _text(self, turns: Sequence[Mapping[str, Any]], end: Mapping[str, Any]) -> str:
        greeting = self._turns[0] if self._turns else {}
        document = {
            **self._header,
            "greeting": {name: value for name, value in greeting.items() if value},
            "turns": [_without_empty(turn) for turn in turns],
            "end": dict(end),
        }
        _drop_unknown(document, conversation_form(self._app))
        text = ""
        for key, value in document.items():
            if key == "turns":
                text += "turns:\n"
                text += "".join(f"  - {block(turn, '    ')[4:]}" for turn in value)
            elif key in (self._app.noun, "end") and value:
                text += f"{key}:\n{block(value, '  ')}"
            elif value or value == 0:
                text += f"{key}: {flow(value)}\n"
        return text


class _TurnClock:
    """A clock that shows the whole minute in which the turn began."""

    def __init__(self, running: Callable[[], datetime]) -> None:
        self._running = running
        self.advance()

    def __call__(self) -> datetime:
        return self._now

    def advance(self) -> None:
        self._now = self._running().replace(second=0, microsecond=0)


def _time(moment: datetime | None) -> str:
    return moment.isoformat(timespec="minutes") if moment is not None else ""


def _without_empty(turn: Mapping[str, Any]) -> dict[str, Any]:
    """Return a turn as a file holds it: without an empty list of handoffs."""
    return {
        name: value
        for name, value in turn.items()
        if value is not None and not (name == "handoff" and not value)
    }


def _reproducible(value: Any, noun: str, generated: Collection[str]) -> Any:
    """Return the fields that another run reproduces: no ids, times and versions, and no unset fields."""
    if isinstance(value, Mapping):
        own = {"id", "version", "display", "active_agent", f"{noun}_number", *generated}
        return {
            name: _reproducible(inner, noun, generated)
            for name, inner in value.items()
            if inner is not None and name not in own and not name.endswith(("_id", "_at", "_times"))
        }
    if isinstance(value, list | tuple):
        return [_reproducible(inner, noun, generated) for inner in value]
    return value


def _drop_unknown(document: dict[str, Any], form: type[BaseModel]) -> None:
    """Remove the fields of the state that the application's conversation files do not have."""
    for _ in range(100):
        try:
            form.model_validate(document)
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                *steps, last = fault["loc"]
                inner: Any = document
                with suppress(KeyError, IndexError, TypeError):
                    for step in steps:
                        inner = inner[step]
                    del inner[last]
        else:
            return
