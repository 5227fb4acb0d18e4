"""An application's own ``on_enter`` and ``on_exit``: they may do what they like and break nothing.

livekit-agents 1.8.9 only logs what they raise and waits for what hangs in them: the guest would hear nothing,
and a handoff would never end.
"""

import functools
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from agents.handoff.agent import Agent

logger = logging.getLogger(__name__)

Hook: TypeAlias = "Callable[[Agent[Any, Any]], Coroutine[Any, Any, None]]"


def guarded(agent: "type[Agent[Any, Any]]") -> None:
    """Guard the hooks that a class of agents brings along."""
    if "on_enter" in vars(agent):
        agent.on_enter = _entering(agent.on_enter)  # type: ignore[assignment, method-assign]
    if "on_exit" in vars(agent):
        agent.on_exit = _leaving(agent.on_exit)  # type: ignore[assignment, method-assign]


def _entering(own: Hook) -> Hook:
    @functools.wraps(own)
    async def on_enter(self: "Agent[Any, Any]") -> None:
        if self.takes_over():  # an on_enter further down, called by one that is guarded already
            await own(self)
            return
        await _harmless(own, self)
        self.make_sure_it_opened()

    return on_enter


def _leaving(own: Hook) -> Hook:
    @functools.wraps(own)
    async def on_exit(self: "Agent[Any, Any]") -> None:
        await _harmless(own, self)

    return on_exit


async def _harmless(own: Hook, agent: "Agent[Any, Any]") -> None:
    try:
        call = agent.call
        await call.limits.carried_out(own(agent), call.policy.tool_limit_s)
    except Exception:  # the handoff stands, and the guest is spoken to all the same
        logger.exception("an agent's own hook failed", extra={"agent": agent.name})
