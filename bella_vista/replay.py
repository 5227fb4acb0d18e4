"""The ``replay`` command: runs conversations from files and reports what does not hold."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from livekit.agents.llm import LLM
from pydantic import ValidationError

from agents.app.app import AnyApp
from agents.app.clock import in_zone
from agents.app.faults import InputError
from agents.app.models.choice import language_model, reply_limit_of, scripted
from agents.app.setting_values import LOCAL, SCRIPT, check_model
from agents.app.terminal.logs import log_to_stderr
from agents.app.terminal.streams import print_error, say
from agents.handoff import Call
from agents.roster import restaurant_call
from agents.testing import Clock, Conversation, ConversationError, Ids, ScriptError, Turn
from bella_vista.conversations.beginning import commands_to, what_must_follow
from bella_vista.conversations.form import Facts, OrderFields
from bella_vista.conversations.holding import differences
from bella_vista.conversations.reading import (
    ConversationFaults,
    ConversationFile,
    load_conversation,
)
from bella_vista.menus import menu_file
from bella_vista.settings import Settings
from state.context import OrderContext
from state.menu import Menu, MenuFaults, load_menu
from state.menu.faults import Fault
from state.opening import open_order
from state.order import OrderState
from state.shared import SharedState, StateError
from state.view import view

EVENING = datetime.fromisoformat("2026-11-20T19:00:00")
"""The time of a conversation whose file names none: a Friday."""

TURN_LIMIT_S = 20.0
"""How long a turn may take before it counts as hanging, in seconds, beside the waits for a
provider."""

REQUESTS_PER_TURN = 12


@dataclass(frozen=True)
class Defaults:
    """What a conversation runs with where its file does not say.

    Args:
        app: The application.
        menu: The menu's file.
        model: The language model.
        model_wins: Whether the model overrides the file's, so that it can be tried with another
            one.
        at: The time.
        settings: The settings of a provider's model; read again if not given.
    """

    app: AnyApp
    menu: Path
    model: str = LOCAL
    model_wins: bool = False
    at: datetime = EVENING
    settings: Settings | None = None


def replay(app: AnyApp, files: Sequence[Path], settings: Settings, *, model: str | None) -> int:
    """Run every conversation; returns 0 when all hold, 1 when one does not, 2 when a file is faulty.

    Args:
        app: The application.
        files: The conversations.
        settings: What they run with where they do not say.
        model: The model given by option, which overrides the files'.
    """
    log_to_stderr(settings.secrets)
    setting = Defaults(
        app=app,
        menu=menu_file(settings.menu),
        model=settings.model,
        model_wins=model is not None,
        at=settings.at or EVENING,
        settings=settings,
    )
    codes = [_hold(path, setting) for path in files]
    return max(codes, default=0)


def _hold(path: Path, setting: Defaults) -> int:
    try:
        wrong = asyncio.run(run_conversation(load_conversation(path), setting))
    except (InputError, MenuFaults) as error:
        print_error(*map(str, error.faults))
        return 2
    say(f"{'failed' if wrong else 'ok'} {path}")
    for line in wrong:
        say(f"  {line}")
    return 1 if wrong else 0


async def run_conversation(file: ConversationFile, setting: Defaults) -> list[str]:
    """Run a conversation; returns everything that does not hold, each with file and line.

    Raises:
        ConversationFaults: The file names a model that does not exist, or an order that is not
            possible.
        MenuFaults: Its menu is faulty.
    """
    said = file.conversation
    menu = load_menu(file.path.parent / said.menu if said.menu else setting.menu)
    zone = ZoneInfo(menu.restaurant.timezone)
    clock = Clock(in_zone(said.at or setting.at, zone))
    shared = _shared(file, OrderContext(menu=menu, now=clock, new_id=Ids()))
    model = _model(file, setting, menu, clock)
    call = restaurant_call(shared, think_limit_s=reply_limit_of(model))
    try:
        return [str(fault) async for fault in _faults(file, call, model)]
    finally:
        await model.aclose()


async def _faults(
    file: ConversationFile, call: Call[OrderState, OrderContext], model: LLM[Any]
) -> AsyncIterator[Fault]:
    said = file.conversation
    reached = "the greeting"
    try:
        # A turn may take several requests, each up to the model's reply limit.
        patience_s = TURN_LIMIT_S + REQUESTS_PER_TURN * (reply_limit_of(model) or 0.0)
        async with Conversation(call, model, patience_s=patience_s) as talk:
            for fault in _untrue(said.greeting, talk.greeting, call):
                yield file.fault("greeting", f"the greeting: {fault}")
            for number, (turn, line) in enumerate(zip(said.turns, file.turn_lines, strict=True), 1):
                reached = f'turn {number} ("{_short(turn.user)}")'
                if call.ended is not None:
                    ended = f"{reached}: the call had ended before ({call.ended})"
                    yield Fault(str(file.path), line, ended)
                    break
                answer = await talk.user_says(turn.user)
                for fault in _untrue(turn, answer, call):
                    yield Fault(str(file.path), line, f"{reached}: {fault}")
            for fault in _differences(said.end, call):
                yield file.fault("end", f"the end: {fault}")
    except ConversationError as error:
        yield file.fault("turns", f"{reached}: {error}")
    except ScriptError as error:
        yield file.fault("script", f"the script does not fit: {error}")


def _untrue(facts: Facts, turn: Turn, call: Call[OrderState, OrderContext]) -> Iterator[str]:
    yield from _differences(facts.state, call)
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


def _differences(fields: OrderFields | None, call: Call[OrderState, OrderContext]) -> Iterator[str]:
    if fields is not None:
        shown = view(call.state, call.shared.version, call.shared.speaker or call.speaker)
        yield from differences(fields.given, shown)


def _sequence(what: str, expected: Sequence[str], actual: Sequence[str]) -> Iterator[str]:
    if list(expected) != list(actual):
        yield f"{what} is [{', '.join(actual)}], not [{', '.join(expected)}]"


def _short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


# -- setup -----------------------------------------------------------------------------------------


def _shared(file: ConversationFile, context: OrderContext) -> SharedState[OrderState, OrderContext]:
    fields = file.conversation.order or OrderFields()
    order = open_order(
        context.menu,
        order_id="replayed",
        order_number="1",
        channel=fields.channel or "terminal",
        now=context.now(),
    )
    version = 0
    try:
        for command in commands_to(fields):
            order = command.apply(order, context)
            version += 1
    except StateError as error:
        raise _no_such_order(file, f"{error.code}: {error.message}") from None
    except ValidationError as error:
        why = "; ".join(fault["msg"] for fault in error.errors())
        raise _no_such_order(file, why) from None
    speaker = fields.active_agent
    wrong = list(differences(what_must_follow(fields), view(order, version, speaker)))
    if wrong:
        raise _no_such_order(file, "; ".join(wrong))
    return SharedState(order, context, version=version, speaker=speaker)


def _no_such_order(file: ConversationFile, why: str) -> ConversationFaults:
    message = f"no such order to start from is possible: {why}"
    return ConversationFaults([file.fault("order", message)])


def _model(file: ConversationFile, setting: Defaults, menu: Menu, clock: Clock) -> LLM[Any]:
    said = file.conversation
    if setting.model_wins:
        return _named(setting.app, setting.model, menu, clock, setting.settings)
    if said.model is None:
        if said.script:
            return scripted(said.script)
        return _named(setting.app, setting.model, menu, clock, setting.settings)
    try:
        name = check_model(said.model)
    except ValueError as error:
        raise ConversationFaults([file.fault("model", str(error))]) from None
    if name.startswith(SCRIPT):
        name = f"{SCRIPT}{file.path.parent / name.removeprefix(SCRIPT)}"
    return _named(setting.app, name, menu, clock, setting.settings)


def _named(app: AnyApp, name: str, menu: Menu, clock: Clock, settings: Settings | None) -> LLM[Any]:
    context = OrderContext(menu=menu, now=clock, new_id=Ids())
    return language_model(app, context, settings or Settings.read(), name=name)
