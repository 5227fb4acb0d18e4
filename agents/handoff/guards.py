"""Where livekit-agents 1.8.9 needs care: its event handlers, cancelled tools, interruptions."""

import asyncio
import inspect
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from livekit.agents import AgentSession, RunContext
from livekit.agents.telemetry import gen_ai

logger = logging.getLogger(__name__)

E = TypeVar("E")

_ONE_EVENT = inspect.Signature(
    [inspect.Parameter("event", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
)


def handler(handle: Callable[[E], None]) -> Callable[[E], None]:
    """Make a handler of livekit's events that never raises.

    livekit passes a handler's TypeError on into its own work, and inspects a handler's signature at
    every event: given ready it costs a quarter.
    """

    def handler(event: E) -> None:
        try:
            handle(event)
        except Exception:  # the conversation goes on without what this handler would have noted
            logger.exception("an event was not taken in")

    handler.__signature__ = _ONE_EVENT  # type: ignore[attr-defined]  # functions take any attribute
    return handler


def is_cancelled(error: BaseException) -> bool:
    """Whether somebody cancels the task we are in, and not only something that it waited for."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def keep_raw_replies_out_of_traces() -> None:
    """Have traces hold a model's words only as they were let out.

    livekit-agents 1.8.9 writes the span of a model request from what the model sent, before a voice sees
    any of it. The voice's own spans hold what was let out.
    """
    gen_ai.set_capture_content(False)


def allow_interruptions(context: RunContext[Any], *, allow: bool) -> None:
    """Let the guest interrupt the reply a tool belongs to, or not."""
    try:
        if allow:
            context.speech_handle.allow_interruptions = True
        else:
            context.disallow_interruptions()
    except RuntimeError:  # interrupted already: the transfer is decided all the same
        logger.debug("the reply was interrupted before its transfer was decided")


def is_closing(session: AgentSession[Any]) -> bool:
    """Whether a session has begun to close, which livekit tells only when it has ended."""
    return session._is_closing()
