"""Guards an application's ``on_enter`` and ``on_exit``, which may raise or hang.

livekit-agents 1.8.9 only logs what they raise and waits for them if they hang: the user would hear
nothing, and a handoff would never end.
"""

import functools
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from agents.handoff.agent import Agent

logger = logging.getLogger(__name__)

Hook: TypeAlias = "Callable[[Agent[Any, Any]], Coroutine[Any, Any, None]]"


def guard_hooks(agent: "type[Agent[Any, Any]]") -> None:
    """Wrap the ``on_enter`` and ``on_exit`` that a class of agents defines."""
    if "on_enter" in vars(agent):
        agent.on_enter = _guard_on_enter(agent.on_enter)  # type: ignore[assignment, method-assign]
    if "on_exit" in vars(agent):
        agent.on_exit = _guard_on_exit(agent.on_exit)  # type: ignore[assignment, method-assign]


def _guard_on_enter(own: Hook) -> Hook:
    @functools.wraps(own)
    async def on_enter(self: "Agent[Any, Any]") -> None:
        if self.take_over():  # a base class's on_enter, called by a guarded one
            await own(self)
            return
        await _run_safely(own, self)
        self.ensure_opened()

    return on_enter


def _guard_on_exit(own: Hook) -> Hook:
    @functools.wraps(own)
    async def on_exit(self: "Agent[Any, Any]") -> None:
        await _run_safely(own, self)

    return on_exit


async def _run_safely(own: Hook, agent: "Agent[Any, Any]") -> None:
    try:
        call = agent.call
        await call.time_limits.run_with_timeout(own(agent), call.policy.tool_limit_s)
    except Exception:  # the handoff stands, and the agent opens all the same
        logger.exception("agent hook failed", extra={"agent": agent.name})
