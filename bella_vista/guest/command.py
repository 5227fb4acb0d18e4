"""``python -m bella_vista join``: a visit to a room, or one call there."""

import asyncio
import logging
import sys
from collections.abc import Coroutine
from typing import Any

from livekit import rtc

from bella_vista.guest.client import AGENT_LIMIT_S, LINK_BROKEN, NoAgent, RoomClient
from bella_vista.guest.entrance import Entrance, Unreachable, new_identity, new_room
from bella_vista.guest.fronts import Front, JsonFront, PlainFront
from bella_vista.guest.visit import Visit
from bella_vista.settings import ServingSettings
from bella_vista.terminal.guest import piped, typed
from bella_vista.terminal.lines import Lines
from bella_vista.terminal.logs import log_to_file, log_to_stderr
from bella_vista.terminal.streams import complain, nobody_reads, say

FAILED = 1


def run_guest(
    settings: ServingSettings,
    *,
    room: str | None,
    identity: str | None,
    resume_code: str | None,
    events: bool,
    again: str,
) -> int:
    """Talk in a room as a guest; returns the exit code.

    Args:
        settings: The server, the keys, and the agent's name.
        room: The room; a fresh one without it.
        identity: Who the guest is there; somebody new without it.
        resume_code: Continues an order from another room.
        events: Whether to write JSON lines.
        again: How this command was called, for telling how to go on.

    Raises:
        KeysRefused: The server does not know the keys.
    """
    typing = sys.stdin is not None and sys.stdin.isatty()
    on_screen = typing and sys.stdout.isatty() and not events
    if on_screen:
        log_to_file(settings.secrets)
    else:
        log_to_stderr(settings.secrets)
    _keep_tokens_out_of_logs()
    front, lines = _front(events=events, on_screen=on_screen)

    async def visiting() -> int:
        visit = Visit(
            Entrance(settings),
            front,
            lines,
            typed=typing,
            room=room or new_room(),
            identity=identity or new_identity(),
        )
        reason = await visit.hold(fresh=room is None, resume_code=resume_code, again=again)
        if visit.unheard is not None:
            nobody_reads()
            return 0 if isinstance(visit.unheard, BrokenPipeError) else FAILED
        return FAILED if reason == "failed" else 0

    return _in_plain_words(settings, visiting())


def run_call(
    settings: ServingSettings,
    method: str,
    payload: str,
    *,
    room: str | None,
    identity: str | None,
    resume_code: str | None,
) -> int:
    """Make one call and print its reply; returns the exit code.

    Args:
        settings: The server, the keys, and the agent's name.
        method: What is called.
        payload: Sent as it stands, right or wrong.
        room: The room; a fresh one, with a fresh call in it, without it.
        identity: Who calls; somebody new without it.
        resume_code: Continues an order from another room.

    Raises:
        KeysRefused: The server does not know the keys.
    """
    log_to_stderr(settings.secrets)
    _keep_tokens_out_of_logs()
    name, caller = room or new_room(), identity or new_identity()

    async def calling() -> int:
        entrance = Entrance(settings)
        client = RoomClient(lambda news: None)
        if room is None:
            await entrance.open(name)
        await entrance.join(client.room, name, caller)
        try:
            client.take_notices()
            if not client.agents:
                await entrance.send_for_agent(name, caller, resume_code)
            try:
                await client.meet()
            except rtc.RpcError:
                pass  # not this agent's guest: what it answers to the call itself is what is asked for
            say(await client.call(method, payload))
        finally:
            await client.leave()
        return 0

    return _in_plain_words(settings, calling())


def _in_plain_words(settings: ServingSettings, doing: Coroutine[Any, Any, int]) -> int:
    try:
        return asyncio.run(doing)
    except Unreachable as error:
        complain(
            str(error), "Is it running? `python -m bella_vista doctor` looks at what is wrong."
        )
    except NoAgent:
        complain(
            f"No agent named {settings.agent_name} answered within {AGENT_LIMIT_S:g} seconds.",
            f"Start one for {settings.livekit_url}: python -m bella_vista dev",
        )
    except rtc.RpcError as error:
        complain(f"{error.code} {error.message}")
        if error.data:
            complain(error.data)
        if error.code in LINK_BROKEN:
            complain("Nobody answers there any more.")
    return FAILED


def _keep_tokens_out_of_logs() -> None:
    # livekit 1.1.21 logs, as an error, what a server answers to a token it refuses: the whole token is in it.
    logging.getLogger("livekit").setLevel(logging.CRITICAL)


def _front(*, events: bool, on_screen: bool) -> tuple[Front, Lines]:
    if events:
        return JsonFront(sys.stdout), piped()
    front = PlainFront(sys.stdout, answers_here=on_screen)
    return front, typed(front.typed) if on_screen else piped()
