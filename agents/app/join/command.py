"""The ``join`` command: a conversation in a room, or a single RPC call there."""

import asyncio
import logging
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from livekit import rtc

from agents.app.app import AnyApp
from agents.app.join.client import AGENT_LIMIT_S, LINK_BROKEN, NoAgent, RoomClient
from agents.app.join.displays import JsonDisplay, PlainDisplay, RoomDisplay
from agents.app.join.room_access import RoomAccess, Unreachable, new_identity, new_room
from agents.app.join.sound import Sound
from agents.app.join.visit import NoSpeech, Visit
from agents.app.settings import AppSettings
from agents.app.terminal.input import InputLines, piped, typed
from agents.app.terminal.logs import log_to_file, log_to_stderr
from agents.app.terminal.stdio import discard_stdout, print_error, say

FAILED = 1

_FORBIDDEN = 4003


def run_join(
    app: AnyApp,
    settings: AppSettings,
    *,
    room: str | None,
    identity: str | None,
    resume_code: str | None,
    events: bool,
    again: str,
    sound: tuple[Path | None, Path | None] | None = None,
) -> int:
    """Have a conversation in a room as a user; returns the exit code.

    Args:
        app: The application.
        settings: The server, the keys, and the agent name.
        room: The room; a new one without it.
        identity: The user's identity; a new one without it.
        resume_code: Resumes a state from another room.
        events: Whether to write JSON lines.
        again: This command as it was called, for the hint how to resume.
        sound: The files that are the user's microphone and loudspeaker, to speak; ``None`` in a
            file's place is the machine's own.

    Raises:
        InputError: The server rejects the keys, or a sound file or device cannot be used.
    """
    typing = sys.stdin is not None and sys.stdin.isatty()
    on_screen = typing and sys.stdout.isatty() and not events
    if on_screen:
        log_to_file(app.name, settings.secrets)
    else:
        log_to_stderr(settings.secrets)
    _silence_token_logs()
    display, lines = _display_and_input(app, events=events, on_screen=on_screen)

    async def converse() -> int:
        aloud = Sound(*sound) if sound is not None else None
        visit = Visit(
            app,
            RoomAccess(settings),
            display,
            lines,
            typed=typing,
            room=room or new_room(),
            identity=identity or new_identity(),
            sound=aloud,
        )
        reason = await visit.run(fresh=room is None, resume_code=resume_code, again=again)
        if visit.output_error is not None:
            discard_stdout()
            return 0 if isinstance(visit.output_error, BrokenPipeError) else FAILED
        return FAILED if reason == "failed" else 0

    return _run_and_report(app, settings, converse(), named=room is None or identity is not None)


def run_call(
    app: AnyApp,
    settings: AppSettings,
    method: str,
    payload: str,
    *,
    room: str | None,
    identity: str | None,
    resume_code: str | None,
) -> int:
    """Make one RPC call and print its reply; returns the exit code.

    Args:
        app: The application.
        settings: The server, the keys, and the agent name.
        method: The method.
        payload: The payload, sent unchanged.
        room: The room; without it a new one, with a new call.
        identity: The caller's identity; a new one without it.
        resume_code: Resumes a state from another room.

    Raises:
        KeysRefused: The server rejects the keys.
    """
    log_to_stderr(settings.secrets)
    _silence_token_logs()
    name, caller = room or new_room(), identity or new_identity()

    async def call() -> int:
        access = RoomAccess(settings)
        client = RoomClient(app.noun, app.prefix, lambda news: None)
        if room is None:
            await access.open(name)
        await access.join(client.room, name, caller)
        try:
            client.take_notices()
            if not client.agents:
                await access.dispatch_agent(name, caller, resume_code)
            try:
                await client.meet()
            except rtc.RpcError:
                pass  # the agent rejects this user; the call itself still gets a reply
            say(await client.call(method, payload))
        finally:
            await client.leave()
        return 0

    return _run_and_report(app, settings, call(), named=room is None or identity is not None)


def _run_and_report(
    app: AnyApp, settings: AppSettings, doing: Coroutine[Any, Any, int], *, named: bool
) -> int:
    """Run a call or a conversation; returns the exit code.

    Args:
        app: The application.
        settings: The server, the keys, and the agent name.
        doing: The call or the conversation.
        named: Whether the identity was chosen, or the room is new and so has no other user.
    """
    try:
        return asyncio.run(doing)
    except Unreachable as error:
        print_error(str(error), f"Is it running? `{app.command} doctor` shows what is wrong.")
    except NoSpeech:
        print_error(
            "The agent has no speech: set a provider's keys, or start it with",
            f"  {app.command} dev --speech",
        )
    except NoAgent:
        print_error(
            f"No agent named {settings.agent_name} answered within {AGENT_LIMIT_S:g} seconds.",
            f"Start one for {settings.livekit_url}: {app.command} dev",
        )
    except rtc.RpcError as error:
        print_error(f"{error.code} {error.message}")
        if error.data:
            print_error(error.data)
        if error.code == _FORBIDDEN and not named:
            print_error(
                "A room belongs to one user, and each `join` without --identity is a new one."
                " Give every call to this room the same --identity NAME, from the first on."
            )
        if error.code == rtc.RpcError.ErrorCode.UNSUPPORTED_METHOD:
            print_error(f"The agent has no such method. `{app.command} schema rpc` lists them.")
        if error.code in LINK_BROKEN:
            print_error("The agent no longer answers.")
    return FAILED


def _silence_token_logs() -> None:
    # livekit 1.1.21 logs the response to a rejected token as an error that contains the token.
    logging.getLogger("livekit").setLevel(logging.CRITICAL)


def _display_and_input(
    app: AnyApp, *, events: bool, on_screen: bool
) -> tuple[RoomDisplay, InputLines]:
    if events:
        return JsonDisplay(app, sys.stdout), piped()
    display = PlainDisplay(app, sys.stdout, answers_here=on_screen)
    return display, typed(display.typed) if on_screen else piped()
