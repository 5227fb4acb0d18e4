"""The ``replay`` command: runs conversations from files and reports what does not hold."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from livekit.agents.llm import LLM
from pydantic import BaseModel, ValidationError

from agents.app.app import App, Environment, NewState
from agents.app.clock import in_zone
from agents.app.faults import InputError
from agents.app.models.choice import language_model, models_of_agents, reply_limit_of, scripted
from agents.app.replay.comparing import differences
from agents.app.replay.form import Facts, Fields
from agents.app.replay.reading import ConversationFaults, ConversationFile, load_conversation
from agents.app.setting_values import SCRIPT, check_model
from agents.app.settings import AppSettings
from agents.app.terminal.logs import log_to_stderr
from agents.app.terminal.streams import print_error, say
from agents.handoff import Call
from agents.testing import Clock, Conversation, ConversationError, Ids, ScriptError, Turn
from state.documents.faults import Fault
from state.shared import SharedState, StateError

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")

EVENING = datetime.fromisoformat("2026-11-20T19:00:00")
"""The time of a conversation whose file names none: a Friday."""

TURN_LIMIT_S = 20.0
"""How long a turn may take before it counts as hanging, in seconds, beside the waits for a
provider."""

REQUESTS_PER_TURN = 12

_TIMES = frozenset({"ready_at", "created_at", "updated_at"})


def replay(
    app: App[S, C], files: Sequence[Path], settings: AppSettings, *, model: str | None
) -> int:
    """Run every conversation; returns 0 when all hold, 1 when one does not, 2 when a file is faulty.

    Args:
        app: The application.
        files: The conversations.
        settings: What they run with where they do not say.
        model: The model given by option, which overrides the files'.
    """
    log_to_stderr(settings.secrets)
    codes = [_hold(app, path, settings, model is not None) for path in files]
    return max(codes, default=0)


def _hold(app: App[S, C], path: Path, settings: AppSettings, model_wins: bool) -> int:
    try:
        file = load_conversation(app, path)
        wrong = asyncio.run(run_conversation(app, file, settings, model_wins=model_wins))
    except InputError as error:
        print_error(*error.faults)
        return 2
    say(f"{'failed' if wrong else 'ok'} {path}")
    for line in wrong:
        say(f"  {line}")
    return 1 if wrong else 0


async def run_conversation(
    app: App[S, C],
    file: ConversationFile,
    settings: AppSettings | None = None,
    *,
    model_wins: bool = False,
) -> list[str]:
    """Run a conversation; returns everything that does not hold, each with file and line.

    Args:
        app: The application.
        file: The conversation.
        settings: What it runs with where it does not say; read if not given.
        model_wins: Whether the settings' model overrides the file's, so that it can be tried with
            another one.

    Raises:
        ConversationFaults: The file names a model that does not exist, or a state to start from
            that is not possible.
        InputError: What the file or the settings name is faulty.
    """
    said = file.conversation
    settings = settings or app.settings.read()
    named = {option: getattr(said, option) for option in app.command_line.options}
    settings = settings.model_copy(
        update={name: file.path.parent / one for name, one in named.items() if one is not None}
    )
    at = said.at or settings.at or EVENING
    ids = Ids()
    context = app.context(Environment(settings, lambda zone: Clock(in_zone(at, zone)), ids))
    shared = _shared(app, file, context)
    model, own = _models(app, file, context, settings, model_wins)
    reply_limit_s = reply_limit_of(model, *own.values())
    call = app.call(shared, think_limit_s=reply_limit_s)
    # A turn may take several requests, each up to the models' reply limit.
    patience_s = TURN_LIMIT_S + REQUESTS_PER_TURN * (reply_limit_s or 0.0)
    talk = Conversation(call, model, llm_by_agent=own, patience_s=patience_s)
    try:
        return [str(fault) async for fault in _faults(app, file, talk)]
    finally:
        for one in (model, *own.values()):
            await one.aclose()


async def _faults(
    app: App[S, C], file: ConversationFile, conversation: Conversation[S, C]
) -> AsyncIterator[Fault]:
    said, call = file.conversation, conversation.call
    reached = "the greeting"
    try:
        async with conversation as talk:
            for fault in _untrue(app, said.greeting, talk.greeting, call):
                yield file.fault("greeting", f"the greeting: {fault}")
            for number, (turn, line) in enumerate(zip(said.turns, file.turn_lines, strict=True), 1):
                reached = f'turn {number} ("{_short(turn.user)}")'
                if call.ended is not None:
                    ended = f"{reached}: the call had ended before ({call.ended})"
                    yield Fault(str(file.path), line, ended)
                    break
                answer = await talk.user_says(turn.user)
                for fault in _untrue(app, turn, answer, call):
                    yield Fault(str(file.path), line, f"{reached}: {fault}")
            for fault in _differences(app, said.end, call):
                yield file.fault("end", f"the end: {fault}")
    except ConversationError as error:
        yield file.fault("turns", f"{reached}: {error}")
    except ScriptError as error:
        yield file.fault("script", f"the script does not fit: {error}")


def _untrue(app: App[S, C], facts: Facts, turn: Turn, call: Call[S, C]) -> Iterator[str]:
    yield from _differences(app, facts.state, call)
    if facts.agent is not None and call.speaker != facts.agent:
        yield f"the agent is {call.speaker}, not {facts.agent}"
    if facts.tools is not None:
        yield from _sequence("tools", facts.tools, [tool.name for tool in turn.tools])
    if facts.handoff is not None:
        yield from _sequence("handoff", facts.handoff, [target for _, target in turn.handoffs])
    words = " ".join(" ".join(turn.said).split())
    for text in facts.said:
        if text.casefold() not in words.casefold():
            yield f'no agent said "{text}"; said was "{_short(words, 300)}"'
    for text in facts.not_said:
        if text.casefold() in words.casefold():
            yield f'an agent said "{text}"; said was "{_short(words, 300)}"'


def _differences(app: App[S, C], fields: Fields | None, call: Call[S, C]) -> Iterator[str]:
    if fields is not None:
        speaker = call.shared.speaker or call.speaker
        shown = app.view_of(call.state, call.shared.version, speaker)
        yield from differences(fields.given, shown)


def _sequence(what: str, expected: Sequence[str], actual: Sequence[str]) -> Iterator[str]:
    if list(expected) != list(actual):
        yield f"{what} is [{', '.join(actual)}], not [{', '.join(expected)}]"


def _short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


# -- setup -----------------------------------------------------------------------------------------


def _shared(app: App[S, C], file: ConversationFile, context: C) -> SharedState[S, C]:
    said = file.conversation
    given = said.start.given if said.start is not None else {}
    channel = said.channel or given.get("channel") or "terminal"
    state = app.new(context, NewState("replayed", "1", channel))
    version = 0
    try:
        if said.start is not None and app.replay.start_from is not None:
            for command in app.replay.start_from(said.start):
                state = command.apply(state, context)
                version += 1
        elif given:
            fields = {
                name: given[name] for name in given.keys() & app.state_type.model_fields.keys()
            }
            state = app.state_type.model_validate_json(
                json.dumps({**state.model_dump(mode="json"), **fields}, default=str)
            )
    except StateError as error:
        raise _no_such_state(app, file, f"{error.code}: {error.message}") from None
    except ValidationError as error:
        why = "; ".join(fault["msg"] for fault in error.errors())
        raise _no_such_state(app, file, why) from None
    speaker: str | None = given.get("active_agent")
    wrong = list(differences(comparable(given, app.noun), app.view_of(state, version, speaker)))
    if wrong:
        raise _no_such_state(app, file, "; ".join(wrong))
    return SharedState(state, context, version=version, speaker=speaker, state_id="replayed")


def comparable(value: Any, noun: str) -> Any:
    """Return the fields that can be compared with the state that was made to start from.

    Ids, numbers, versions and times are generated for every state, whatever the file says.
    """
    if isinstance(value, Mapping):
        own = {f"{noun}_id", f"{noun}_number", "id", "version", *_TIMES}
        return {name: comparable(inner, noun) for name, inner in value.items() if name not in own}
    if isinstance(value, list | tuple):
        return [comparable(inner, noun) for inner in value]
    return value


def _no_such_state(app: App[S, C], file: ConversationFile, why: str) -> ConversationFaults:
    message = f"no such {app.noun} to start from is possible: {why}"
    return ConversationFaults([file.fault(app.noun, message)])


def _models(
    app: App[S, C], file: ConversationFile, context: C, settings: AppSettings, model_wins: bool
) -> tuple[LLM[Any], dict[str, LLM[Any]]]:
    """Build the call's model, and those of single agents."""
    said = file.conversation
    name: str | None = None
    if not model_wins and said.model is not None:
        try:
            name = check_model(said.model)
        except ValueError as error:
            raise ConversationFaults([file.fault("model", str(error))]) from None
        if name.startswith(SCRIPT):
            name = f"{SCRIPT}{file.path.parent / name.removeprefix(SCRIPT)}"
    elif not model_wins and said.script:
        return scripted(said.script), {}
    model = language_model(app, context, settings, name=name)
    return model, models_of_agents(app, context, settings, name=name)
