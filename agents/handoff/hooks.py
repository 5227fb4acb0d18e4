"""An application's own ``on_enter`` and ``on_exit``: they may do what they like and break nothing.

livekit-agents 1.8.9 only logs what they raise and waits for what hangs in them: the guest would hear nothing,
and a handoff would never end.
"""

import functools
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from agents.handoff.voice import Voice

logger = logging.getLogger(__name__)

Hook: TypeAlias = "Callable[[Voice[Any, Any]], Coroutine[Any, Any, None]]"


def guarded(voice: "type[Voice[Any, Any]]") -> None:
    """Guard the hooks that a class of voices brings along."""
    if "on_enter" in vars(voice):
        voice.on_enter = _entering(voice.on_enter)  # type: ignore[assignment, method-assign]
    if "on_exit" in vars(voice):
        voice.on_exit = _leaving(voice.on_exit)  # type: ignore[assignment, method-assign]


def _entering(own: Hook) -> Hook:
    @functools.wraps(own)
    async def on_enter(self: "Voice[Any, Any]") -> None:
        if self.takes_over():  # an on_enter further down, called by one that is guarded already
            await own(self)
            return
        await _harmless(own, self)
        self.make_sure_it_opened()

    return on_enter


def _leaving(own: Hook) -> Hook:
    @functools.wraps(own)
    async def on_exit(self: "Voice[Any, Any]") -> None:
        await _harmless(own, self)

    return on_exit


async def _harmless(own: Hook, voice: "Voice[Any, Any]") -> None:
    try:
        call = voice.call
        await call.limits.carried_out(own(voice), call.manners.tool_limit_s)
    except Exception:  # the handoff stands, and the guest is spoken to all the same
        logger.exception("a voice's own hook failed", extra={"voice": voice.name})
