"""Runs a conversation from its file and finds the expectations that do not hold."""

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeAlias

from livekit.agents.llm import LLM
from pydantic import ValidationError

from agents.app.app import AnyApp, App, Environment, NewState
from agents.app.clock import in_zone
from agents.app.conversation_files.form import Facts
from agents.app.conversation_files.reading import ConversationFaults, ConversationFile, load_script
from agents.app.conversation_files.writing import flow
from agents.app.declaration import AppFaults, named_faults
from agents.app.importing import missing_extra
from agents.app.models.choice import language_model, models_of_agents, reply_limit_of, scripted
from agents.app.parts import C, Fields, S
from agents.app.replay.comparing import differences, time_fields
from agents.app.setting_values import LOCAL, OPENAI_MODELS, SCRIPT, check_model
from agents.app.settings import AppSettings, SettingsFaults
from agents.handoff import Call, HandedOver, HandoffRefused, Said, ToolUsed
from agents.testing import Clock, Conversation, ConversationError, Ids, ScriptError, Turn
from state.shared import SharedState, StateError, explained

_Models: TypeAlias = tuple[LLM[Any], dict[str, LLM[Any]]]

EVENING = datetime.fromisoformat("2026-11-20T19:00:00")
"""The default time of a conversation: a Friday evening."""

TURN_LIMIT_S = 20.0
"""How long a turn may take before it counts as hung, in seconds, in addition to the waits for a
provider."""

REQUESTS_PER_TURN = 12


@dataclass(frozen=True)
class Failure:
    """The expectations that do not hold at one place of a conversation.

    Args:
        line: The line of that place in the file.
        place: The greeting, a turn, or the end.
        faults: The differences from the expectations, one line each.
        happened: The events of the turn, one line each; at the end, of each turn that had no fault.
    """

    source: str
    line: int
    place: str
    faults: tuple[str, ...]
    happened: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return it in lines, for a terminal and for reports."""
        lines = [f"{self.source}:{self.line}: {self.place}", *(f"  {one}" for one in self.faults)]
        if self.happened:
            lines += ["  what happened:", *(f"    {one}" for one in self.happened)]
        return "\n".join(lines)


@dataclass(frozen=True)
class Run:
    """One run of a conversation.

    Args:
        failures: The expectations that do not hold.
        seconds: How long it took, in seconds.
        model_calls: How many requests to models were reported; the local model reports none.
    """

    failures: tuple[Failure, ...]
    seconds: float
    model_calls: int = 0

    @property
    def text(self) -> str:
        """The expectations that do not hold, as text; empty if all hold."""
        return "\n".join(map(str, self.failures))


async def run_conversation(
    app: App[S, C],
    file: ConversationFile,
    settings: AppSettings | None = None,
    *,
    model_wins: bool = False,
) -> Run:
    """Run a conversation.

    Args:
        app: The application.
        file: The conversation.
        settings: Used where the file does not set its own; read if not given.
        model_wins: Whether the settings' model overrides the file's, so that it can be tried with
            another one.

    Raises:
        ConversationFaults: The file names a model that does not exist, or a state to start from
            that is not possible.
        InputError: A file that the conversation or the settings name is faulty.
    """
    began = time.monotonic()
    with _started(app, file, settings, model_wins) as start:
        model, own = start.models()
        reply_limit_s = reply_limit_of(model, *own.values())
        call = app.call(start.shared, think_limit_s=reply_limit_s)
        # A turn may take several requests, each up to the models' reply limit.
        patience_s = TURN_LIMIT_S + REQUESTS_PER_TURN * (reply_limit_s or 0.0)
        talk = Conversation(call, model, llm_by_agent=own, patience_s=patience_s)
        try:
            failures = await _failures(app, file, talk, start.set)
        finally:
            for one in (model, *own.values()):
                await one.aclose()
    calls = call.spending.total.model_calls
    return Run(tuple(failures), time.monotonic() - began, calls)


def check_conversation(
    app: App[S, C],
    file: ConversationFile,
    settings: AppSettings,
    *,
    model_wins: bool = False,
) -> None:
    """Check the start of a conversation, without running it. Arguments as ``run_conversation``.

    Raises:
        ConversationFaults: As for ``run_conversation``.
        InputError: A file that the conversation or the settings name is faulty.
    """
    with _started(app, file, settings, model_wins):
        pass


def model_name(file: ConversationFile, settings: AppSettings, *, model_wins: bool) -> str | None:
    """Return the name of the model that answers; ``None`` for the script in the file itself.

    Raises:
        ConversationFaults: There is no such model.
    """
    form = file.conversation
    if model_wins:
        return settings.model
    if form.model is None:
        return None if form.script else settings.model
    try:
        name = check_model(form.model)
    except ValueError as error:
        raise ConversationFaults([file.fault("model", str(error))]) from None
    if name.startswith(SCRIPT):
        return f"{SCRIPT}{file.path.parent / name.removeprefix(SCRIPT)}"
    return name


# -- one run ---------------------------------------------------------------------------------------


async def _failures(
    app: App[S, C],
    file: ConversationFile,
    conversation: Conversation[S, C],
    set_clock: Callable[[datetime], None],
) -> list[Failure]:
    form, call = file.conversation, conversation.call
    failures: list[Failure] = []
    held: list[str] = []  # the events of the turns without a fault
    place, line = "the greeting", file.lines.get("greeting", 1)

    def check(faults: Iterator[str], happened: Iterable[str] = ()) -> bool:
        if found := tuple(faults):
            failures.append(Failure(str(file.path), line, place, found, tuple(happened)))
        return not found

    try:
        async with conversation as talk:
            check(_unmet(app, form.greeting, talk.greeting, call), _event_lines(talk.greeting))
            for number, turn in enumerate(form.turns, 1):
                line = file.turn_lines[number - 1]
                place = f'turn {number} of {len(form.turns)} ("{_short(turn.user, 40)}")'
                if call.ended is not None:
                    check(iter((f"the call had ended before ({call.ended})",)))
                    break
                if turn.at is not None:
                    set_clock(turn.at)
                answer = await talk.user_says(turn.user)
                if turn.results_told:
                    await talk.results_told()
                happened = list(_event_lines(answer))
                if check(_unmet(app, turn, answer, call), happened):
                    held += [f"user: {_short(turn.user)}", *(f"  {one}" for one in happened)]
            place, line = "the end", file.lines.get("end", 1)
            check(_differences(app, form.end, call), held)
    except ConversationError as error:
        why, *happened = str(error).splitlines()
        failures.append(Failure(str(file.path), line, place, (why,), tuple(happened)))
    except ScriptError as error:
        line = file.lines.get("script", 1)
        failures.append(
            Failure(str(file.path), line, place, (f"the script does not fit: {error}",))
        )
    return failures


def _unmet(app: App[S, C], facts: Facts, turn: Turn, call: Call[S, C]) -> Iterator[str]:
    if facts.agent is not None and call.speaker != facts.agent:
        yield f"agent: expected {facts.agent}, got {call.speaker}"
    if facts.tools is not None:
        yield from _sequence("tools", facts.tools, [tool.name for tool in turn.tools])
    if facts.handoff is not None:
        yield from _sequence("handoff", facts.handoff, [target for _, target in turn.handoffs])
    words = " ".join(" ".join(turn.said).split())
    for text in facts.said:
        if text.casefold() not in words.casefold():
            yield f'said: expected "{text}", no agent said it'
    for text in facts.not_said:
        if text.casefold() in words.casefold():
            yield f'not_said: an agent said "{text}"'
    yield from _differences(app, facts.state, call)


def _differences(app: App[S, C], fields: Fields | None, call: Call[S, C]) -> Iterator[str]:
    if fields is not None:
        speaker = call.shared.speaker or call.speaker
        shown = app.view_of(call.state, call.shared.version, speaker)
        yield from map(
            str, differences(fields.given, shown, time_fields(app.state_type), app.replay.same)
        )


def _sequence(what: str, expected: Sequence[str], actual: Sequence[str]) -> Iterator[str]:
    if list(expected) != list(actual):
        yield f"{what}: expected {flow(list(expected))}, got {flow(list(actual))}"


def _event_lines(turn: Turn) -> Iterator[str]:
    for event in turn.events:
        match event:
            case Said():
                cut = " (interrupted)" if event.interrupted else ""
                yield f"{event.agent}: {_short(event.text)}{cut}"
            case ToolUsed():
                outcome = "failed" if event.is_error else "returned"
                called = f"{event.name} {flow(event.arguments)}"
                yield f"tool {_short(called)} {outcome}: {_short(event.output)}"
            case HandedOver():
                yield f"handoff: {event.source} -> {event.target}"
            case HandoffRefused():
                yield f"handoff refused: {event.source} -> {event.target} ({event.reason})"


def _short(text: str, most: int = 300) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most]} …"


# -- setup -----------------------------------------------------------------------------------------


@dataclass
class _Start(Generic[S, C]):
    """The state, the models and the clocks that a run starts with.

    Args:
        models: Builds the call's model, and those of single agents.
        clocks: The clocks that were made for the application, with their zones.
    """

    shared: SharedState[S, C]
    models: Callable[[], "_Models"]
    clocks: list[tuple[Clock, tzinfo]]

    def set(self, moment: datetime) -> None:
        """Set the clocks."""
        for clock, zone in self.clocks:
            clock.set(in_zone(moment, zone))


@contextmanager
def _started(
    app: App[S, C], file: ConversationFile, settings: AppSettings | None, model_wins: bool
) -> Iterator[_Start[S, C]]:
    form = file.conversation
    settings = settings or app.settings.read()
    with TemporaryDirectory(prefix=f"{app.name}-") as folder:
        named = {option: getattr(form, option) for option in app.command_line.options}
        settings = settings.model_copy(
            update={
                **_settings_of_a_run(app, settings, Path(folder)),
                **{
                    name: file.path.parent / value if isinstance(value, Path) else value
                    for name, value in named.items()
                    if value is not None
                },
            }
        )
        at = form.at or settings.at or EVENING
        clocks: list[tuple[Clock, tzinfo]] = []

        def clock(zone: tzinfo) -> Clock:
            clocks.append((Clock(in_zone(at, zone)), zone))
            return clocks[-1][0]

        context = app.make_context(Environment(settings, clock, Ids()))
        models = _models(app, file, context, settings, model_wins)
        yield _Start(shared_from(app, file, context), models, clocks)


def _settings_of_a_run(app: AnyApp, settings: AppSettings, folder: Path) -> Mapping[str, Any]:
    with named_faults("replay.settings", settings.secrets):
        own = app.replay.settings(folder)
        unknown = own.keys() - type(settings).model_fields.keys()
    if unknown:  # without this check the run would use the real files
        names = ", ".join(sorted(unknown))
        raise AppFaults([f"replay.settings: {app.settings.__name__} has no field {names}"])
    return own


def shared_from(app: App[S, C], file: ConversationFile, context: C) -> SharedState[S, C]:
    """Return the state that a conversation starts from.

    Raises:
        ConversationFaults: No state can have these fields.
    """
    form = file.conversation
    given = form.start.given if form.start is not None else {}
    channel = form.channel or given.get("channel") or "terminal"
    state = app.make_state(context, NewState("replayed", "1", channel))
    version = 0
    try:
        if form.start is not None and app.replay.start_from is not None:
            with named_faults("replay.start_from", but=(StateError, ValidationError)):
                for command in app.replay.start_from(form.start):
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
        why = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {explained(fault)}" for fault in error.errors()
        )
        raise _no_such_state(app, file, why) from None
    speaker: str | None = given.get("active_agent")
    wanted = comparable(given, app.noun, app.replay.generated)
    shown = app.view_of(state, version, speaker)
    wrong = list(differences(wanted, shown, time_fields(app.state_type), app.replay.same))
    if wrong:
        raise _no_such_state(app, file, "; ".join(map(str, wrong)))
    return SharedState(state, context, version=version, speaker=speaker, state_id="replayed")


def comparable(value: Any, noun: str, generated: Collection[str]) -> Any:
    """Return the fields of a file that can be compared with the state that was made from them.

    Ids, numbers and versions are generated for every state; an application names other such fields.
    """
    if isinstance(value, Mapping):
        own = {f"{noun}_id", f"{noun}_number", "id", "version", *generated}
        return {
            name: comparable(inner, noun, generated)
            for name, inner in value.items()
            if name not in own
        }
    if isinstance(value, list | tuple):
        return [comparable(inner, noun, generated) for inner in value]
    return value


def _no_such_state(app: App[S, C], file: ConversationFile, why: str) -> ConversationFaults:
    message = f"no such {app.noun} to start from is possible: {why}"
    return ConversationFaults([file.fault(app.noun, message)])


def _models(
    app: App[S, C], file: ConversationFile, context: C, settings: AppSettings, model_wins: bool
) -> "Callable[[], _Models]":
    """Return a function that builds the models; their requirements are checked at once."""
    name = model_name(file, settings, model_wins=model_wins)
    if name is None:
        return lambda: (scripted(file.conversation.script), {})
    if name.startswith(SCRIPT):
        steps = load_script(Path(name.removeprefix(SCRIPT)).expanduser())
        return lambda: (scripted(steps), {})
    if name in OPENAI_MODELS and (message := missing_extra("openai", ("openai",))):
        raise SettingsFaults([f"--model {name}: {message}"])
    if name in OPENAI_MODELS and settings.model != name:
        type(settings).read(model=name)  # it needs a key or an address
    if name == LOCAL and app.model is None:
        language_model(app, context, settings, name=name)
    return lambda: (
        language_model(app, context, settings, name=name),
        models_of_agents(app, context, settings, name=name),
    )
