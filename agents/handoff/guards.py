"""Where livekit-agents 1.8.9 needs care: its event handlers, cancelled tools, interruptions."""

import asyncio
import inspect
import logging
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from livekit.agents import AgentSession, APIConnectOptions, RunContext
from livekit.agents.llm import LLM, ChatContext, ChatMessage, FallbackAdapter, LLMStream, Tool
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

    livekit-agents 1.8.9 writes the span of a model request from what the model sent, before an agent sees
    any of it. The agent's own spans hold what was let out.
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


def asked_once(
    model: LLM[Any],
    context: ChatContext,
    tools: list[Tool],
    options: APIConnectOptions,
    again: Callable[[Exception], bool],
) -> LLMStream:
    """Ask a model, and never again inside the stream once a part of its answer has arrived.

    livekit-agents 1.8.9 repeats a request inside its stream and sends the parts of both answers: a tool
    is called twice, words are said twice. Whoever asks can tell whether a part has been used.

    Args:
        model: What is asked. One that decides itself how often it asks, and a fallback adapter, may do so
            as long as nothing has arrived.
        context: What it is shown.
        tools: What it is offered.
        options: How it is asked, without what they say about asking again.
        again: Whether it is asked again after a failure; livekit closes a session after some that are final.
    """
    _keep_what_arrived(model)
    once = replace(options, max_retry=0)
    stream = model.chat(chat_ctx=context, tools=tools, conn_options=once)
    stream._retry_on_chunk_sent = False
    emit = type(stream)._emit_error
    itself = weakref.proxy(stream)  # no cycle: it is gone when it has ended

    def tell(api_error: Exception, recoverable: bool) -> None:
        emit(itself, api_error, recoverable=recoverable or again(api_error))

    stream._emit_error = tell  # type: ignore[method-assign]  # its task has not begun yet
    return stream


def _keep_what_arrived(model: LLM[Any]) -> None:
    if isinstance(model, FallbackAdapter):
        model._retry_on_chunk_sent = False
        for one in model._llm_instances:
            _keep_what_arrived(one)


def add_user_message(session: AgentSession[Any], text: str) -> None:
    """Add a message of the user's to the histories of a session and of its agent, and tell those who listen."""
    message = ChatMessage(role="user", content=[text])
    session.current_agent._chat_ctx.insert(message)
    session._conversation_item_added(message)
