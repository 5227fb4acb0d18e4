"""Waits for a fact of a spoken call, and picks its events."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

from livekit.agents import AgentSession
from livekit.agents.voice.events import EventTypes

from agents.testing import Loudspeaker, SpokenConversation

_SESSION: tuple[EventTypes, ...] = ("user_state_changed", "agent_state_changed")


async def so(
    told_by: SpokenConversation[Any, Any] | Loudspeaker,
    fact: Callable[[], object],
    seconds: float = 10,
) -> None:
    """Wait until something is so; it is looked at after each event.

    Args:
        told_by: Whose events: a conversation's are those of its call, session and loudspeaker.
        fact: Becomes true with one of them.
        seconds: How long it may take.
    """
    changed = asyncio.Event()

    def tell(*_: object) -> None:
        changed.set()

    with ExitStack() as following:
        if isinstance(told_by, SpokenConversation):
            following.callback(told_by.call.subscribe(tell))
            for name in _SESSION:
                following.callback(_on(told_by.call.session, name, tell))
        loudspeaker = told_by if isinstance(told_by, Loudspeaker) else told_by.loudspeaker
        following.callback(loudspeaker.subscribe(tell))
        async with asyncio.timeout(seconds):
            while not fact():
                changed.clear()
                await changed.wait()


def _on(
    session: AgentSession[Any], name: EventTypes, tell: Callable[..., None]
) -> Callable[[], None]:
    session.on(name, tell)
    return partial(session.off, name, tell)


def of(talk: SpokenConversation[Any, Any], kind: type) -> list[Any]:
    return [event for event in talk.events if isinstance(event, kind)]
