"""The base class of agents: instructions, tools, opening, and the model request."""

import asyncio
import functools
import logging
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Coroutine,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

from livekit.agents import NOT_GIVEN, APIError, FlushSentinel, ModelSettings, StopResponse
from livekit.agents.llm import (
    LLM,
    ChatChunk,
    ChatContext,
    ChatItem,
    ChatMessage,
    ChoiceDelta,
    RawFunctionTool,
)
from livekit.agents.llm import Tool as LivekitTool
from livekit.agents.utils import is_given
from livekit.rtc import AudioFrame
from pydantic import BaseModel

from agents.handoff.call import Call
from agents.handoff.declaration import AgentBase, Opening
from agents.handoff.failures import why_model_failed
from agents.handoff.graph import TRANSFER_BACK
from agents.handoff.livekit_workarounds import History, request_once
from agents.handoff.model_reply import Reply, ToolCallSorter, ToolGroups
from agents.handoff.output_redactor import OutputRedactor, replace_lone_surrogates
from agents.handoff.request import (
    data_message,
    ends_with_user,
    recent_items,
    replace_instructions,
    verbatim_text,
    with_digest,
)
from agents.handoff.tools import Action, Read, Tool, tool_name
from state.shared import Command

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


class Agent(AgentBase[S, C]):
    """An agent of a call. Subclass it and set the four class attributes.

    ``Graph.agent`` makes a fresh instance for every handoff.
    """

    name: ClassVar[str]
    """In lower snake case; transfers to it are called ``transfer_to_<name>``."""
    prompt: str | Callable[[S, C, Call[S, C]], str]
    """Its instructions, or a static method that takes state, context and call and returns them. It is
    called for every model request and must not block."""
    offers: tuple[type[Command[S, C]] | type[Read[S, C]] | type[Action], ...] = ()
    """The commands, reads and actions its model may call; commands and reads of this state."""
    opening: ClassVar[Opening]
    """The instructions for its first reply."""
    model_settings: ClassVar[Mapping[str, Any]] = {}
    """Settings of its model requests, such as ``temperature``: the ``extra_kwargs`` of its model's
    ``chat``."""
    needs_answer: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Commands and actions, by ``op``, that need the user's answer first: refused in the turn in
    which one of the tools listed has succeeded. One that lists itself is refused until the user has
    spoken after it was first called with the same arguments."""

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        _guard_hooks(cls)

    def __init__(
        self, transfers: Sequence[RawFunctionTool[Any, Any]], carried: Sequence[ChatItem] = ()
    ) -> None:
        self._transfers: frozenset[str] = frozenset(tool.info.name for tool in transfers)
        self._final_tools = self._transfers | {
            tool_name(tool) for tool in self.offers if issubclass(tool, Action) and tool.goes_last
        }
        self._own_tools = self._transfers | {tool_name(tool) for tool in self.offers}
        self._awaited_tools = self._own_tools - self._final_tools
        self._is_opening = False
        self._opened = False
        self._entry: _Entry | None = None
        # Cache: a request's tools depend only on the tools offered and on whether transfers are.
        self._known_tools: list[LivekitTool] = []
        self._grouped: dict[
            tuple[tuple[Tool, ...] | None, frozenset[str]], tuple[list[LivekitTool], ToolGroups]
        ] = {}
        self._digest_message: tuple[str, ChatMessage] | None = None
        prompt: Any = cast(Any, type(self)).prompt  # a function is not bound to the agent
        self._render_prompt = cast(
            "Callable[[S, C, Call[S, C]], str] | None", prompt if callable(prompt) else None
        )
        super().__init__(transfers, carried)

    @property
    def call(self) -> Call[S, C]:
        """The call this agent takes part in."""
        # Agent.session is untyped in livekit-agents 1.8.9, hence the cast. It raises RuntimeError
        # outside a session; Agent's constructor reads every property and expects AttributeError.
        try:
            session = self.session
        except RuntimeError as error:
            raise AttributeError(str(error)) from error
        return cast(Call[S, C], session.userdata)

    @property
    def state(self) -> S:
        """The current state; the same object for every agent of the call."""
        return self.call.state

    def offers_now(self, state: S) -> Sequence[Tool]:
        """Return the tools the model is offered in this state; all of them unless overridden."""
        return self.offers

    # livekit-agents 1.8.9 stores an agent's history here and replaces it when the agent's tools or
    # chat context are updated: every value is converted to a History.
    @property
    def _chat_ctx(self) -> ChatContext:
        return self._history

    @_chat_ctx.setter
    def _chat_ctx(self, given: ChatContext) -> None:
        self._history = History(given.items)

    # -- opening ----------------------------------------------------------------------------------

    async def on_enter(self) -> None:
        """Become the active agent and open.

        A subclass may override it. An exception is logged; if the agent has said nothing by then,
        the default opening runs.
        """
        self.take_over()
        call, entry = self.call, self._entry or _Entry(handed_over=False)
        queued, entry.queued = entry.queued, []
        self._opened = True
        try:
            self._open(call, handed_over=entry.handed_over, queued=queued)
        except Exception:  # livekit would only log this and leave the user in silence
            logger.exception("agent opening failed", extra={"agent": self.name})
            self._is_opening = False
            call.turns.queue_again(queued)
            call.speak(self.opening.canned)
        call.replies.speak_queued()

    def take_over(self) -> bool:
        """Become the active agent; returns whether it was active already."""
        if self._entry is not None:
            return True
        call = self.call
        handed_over = call.handing_over
        self._entry = _Entry(handed_over, call.agent_entered(self))
        return False

    def ensure_opened(self) -> None:
        """Run the default opening if ``on_enter`` did not open; queued user messages are kept."""
        call = self.call
        if self._opened or self._entry is None or call.ended is not None:
            return
        if not call.turns.speaking and not call.turns.answered:
            call.core.spawn(Agent.on_enter(self))
        else:
            call.active.opened(self.name)
            if self._entry.queued:
                call.turns.answer(self._entry.queued)

    def _open(self, call: Call[S, C], *, handed_over: bool, queued: list[str]) -> None:
        if call.active.has_opened(self.name) or (call.resumed and not handed_over):
            how = self.opening.come_back
        else:
            how = self.opening.handed_over if handed_over else self.opening.first
        call.active.opened(self.name)
        # Unanswered messages may be acted on with this agent's own tools, never with a transfer:
        # the user need not repeat what they told the previous agent.
        unanswered = handed_over and (bool(queued) or ends_with_user(self.chat_ctx.items))
        self._is_opening = True
        if queued and not handed_over:
            # The user spoke before the first agent was there: greet first, then answer.
            call.turns.queue_again(queued)
            speech = call.replies.request((), instructions=how, tool_choice="none")
            speech.add_done_callback(call.turns.answer_after)
        else:
            choice = NOT_GIVEN if unanswered else "none"
            speech = call.replies.request(queued, instructions=how, tool_choice=choice)
        speech.add_done_callback(self._opening_ended)

    def welcome_back(self) -> None:
        """Remind a user who has reconnected where the conversation stands."""
        self._is_opening = True
        speech = self.call.replies.request(
            (), instructions=self.opening.come_back, tool_choice="none"
        )
        speech.add_done_callback(self._opening_ended)

    def _opening_ended(self, _: object) -> None:
        self._is_opening = False

    # -- speech -----------------------------------------------------------------------------------

    async def on_user_turn_completed(self, turn_ctx: ChatContext, new_message: ChatMessage) -> None:
        """Pass a finished spoken turn to the call, which answers spoken and typed input alike.

        Raises:
            StopResponse: Always, so that livekit does not reply as well.
        """
        self.call.user_speech.turn_ended(new_message.text_content or "")
        raise StopResponse

    async def tts_node(
        self, text: AsyncIterable[str], model_settings: ModelSettings
    ) -> AsyncIterator[AudioFrame]:
        """Synthesize the reply. Text whose synthesis fails is still shown."""
        async for frame in self.call.speech_output.speak(self, text, model_settings):
            yield frame

    # -- the model --------------------------------------------------------------------------------

    async def llm_node(
        self, chat_ctx: ChatContext, tools: list[LivekitTool], model_settings: ModelSettings
    ) -> AsyncIterator[ChatChunk | str | FlushSentinel]:
        """Request a reply from the model, with the state's digest, and sort its tool calls.

        Transfers and other final tools are passed on last. Calls to tools that were not offered are
        dropped, calls with truncated arguments are marked. If the model fails or returns nothing, a
        fallback sentence is spoken.
        """
        call = self.call
        if (text := verbatim_text(chat_ctx.items)) is not None:
            yield text
            return
        # Yielded with the reply's own first words, never before: a reply that says something and
        # then calls tools or is interrupted would count as an answer to messages it has not acted
        # on.
        preamble = f"{call.replies.preamble} ".lstrip()
        reply = call.replies.start(self.name)
        call.replies.shows(None)  # a fallback sentence is about no version
        redactor = OutputRedactor(call.policy.redact_output, call.policy.safe_prefix)
        sorter: ToolCallSorter | None = None
        try:
            instructions = self._rendered_prompt(call)
        except Exception:  # an application's fault is no model's, and must not end in silence
            logger.exception("agent prompt failed", extra={"agent": self.name})
            yield f"{preamble}{self._fallback_text(call)}"
            return
        try:
            offered, groups = self._offered(call, tools, model_settings)
            sorter = ToolCallSorter(
                call.replies.pending_calls, reply, groups, call.policy.redact_output
            )
            items = recent_items(chat_ctx.items, call.policy.remembers)
            if instructions is not None:
                replace_instructions(items, instructions)
            shown = with_digest(items, self._data_message(call.replies.digest))
            call.replies.shows(reply.seen)
            async with aclosing(self._request(call, shown, offered)) as chunks:
                async for chunk in chunks:
                    if chunk.usage is not None:
                        call.replies.spending.report(chunk.usage)
                    redacted = _redact_chunk(chunk, reply, sorter, redactor)
                    if preamble and reply.spoke:
                        yield preamble
                        preamble = ""
                    if redacted:
                        yield redacted
            if rest := redactor.flush():
                yield rest
        except Exception as error:  # a model failure must never end in silence
            if call.core.time_limits.hung_up:  # the call has been hung up: no apology
                return
            self._log_failure(call, error)
            if reply.spoke:  # separate the fallback sentence from what was said
                yield f"{_flush_safely(redactor)} "
            if not reply.spoke:
                call.replies.shows(None)
            if sorter is None or not sorter.stream_failed():
                yield f"{preamble}{self._fallback_text(call)}"
            return
        if sorter.final:
            yield ChatChunk(
                id=f"last_{id(reply)}",
                delta=ChoiceDelta(role="assistant", tool_calls=sorter.final),
            )
        elif not reply.spoke and not sorter.forwarded:
            call.replies.shows(None)
            yield f"{preamble}{self._fallback_text(call)}"

    def _rendered_prompt(self, call: Call[S, C]) -> str | None:
        """Render the instructions of one request; None if they never change."""
        if self._render_prompt is None:
            return None
        text: object = self._render_prompt(call.shared.state, call.shared.context, call)
        if not isinstance(text, str) or not text.strip():
            raise TypeError(f"the prompt of {self.name} returned a blank text or none")
        return replace_lone_surrogates(text)

    def _data_message(self, digest: str) -> ChatMessage:
        if self._digest_message is None or self._digest_message[0] != digest:
            self._digest_message = (digest, data_message(digest))
        return self._digest_message[1]

    async def _request(
        self, call: Call[S, C], context: ChatContext, offered: list[LivekitTool]
    ) -> AsyncGenerator[ChatChunk]:
        """Stream the model's answer; retry after a failure as long as nothing of it has arrived.

        A model's ``retries`` attribute, if it has one, overrides the session's ``max_retry``.
        """
        model = self._model(call)
        if not isinstance(model, LLM):
            raise TypeError("an agent needs a text LLM (livekit.agents.llm.LLM)")
        options = call.session.conn_options.llm_conn_options
        max_retries: int = getattr(model, "retries", options.max_retry)
        turn, failed = call.turn, 0

        def should_retry(error: Exception) -> bool:
            # If the user has spoken again, another reply answers them.
            retryable = isinstance(error, APIError) and error.retryable
            return retryable and failed < max_retries and call.turn == turn

        # One limit for all attempts: what counts is how long the user hears nothing.
        async with call.core.time_limits.idle_timeout(call.policy.think_limit_s) as idle:
            while True:
                arrived = False
                try:
                    async with request_once(
                        model, context, offered, options, should_retry, self.model_settings
                    ) as stream:
                        async for chunk in stream:
                            arrived = arrived or chunk.has_response()
                            idle.stop()
                            yield chunk
                            idle.start()
                    return
                except APIError as error:
                    if arrived or not should_retry(error):
                        raise
                    logger.warning(
                        "model request failed, retrying: %s: %s",
                        model.model,
                        why_model_failed(error),
                    )
                await asyncio.sleep(options._interval_for_retry(failed))
                failed += 1

    def _model(self, call: Call[S, C]) -> object:
        own = self.llm
        return own if is_given(own) else call.session.llm

    def _offered(
        self, call: Call[S, C], tools: list[LivekitTool], settings: ModelSettings
    ) -> tuple[list[LivekitTool], ToolGroups]:
        """Select the tools of a request and the groups their calls are sorted into."""
        # With tool_choice "none" livekit still sends the tools, and silently drops any call.
        none = settings is not None and settings.tool_choice == "none"
        offers = None if none else tuple(self.offers_now(call.state))
        transfers = self._transfers
        if self._is_opening or call.active.hops >= call.policy.handoffs_per_turn:
            transfers = frozenset()
        elif not call.active.trail:
            transfers -= {TRANSFER_BACK}
        if tools != self._known_tools:
            self._known_tools, self._grouped = tools.copy(), {}
        if (found := self._grouped.get((offers, transfers))) is None:
            found = self._grouped[offers, transfers] = self._group_tools(tools, offers, transfers)
        offered, groups = found
        return offered.copy(), groups

    def _group_tools(
        self,
        tools: list[LivekitTool],
        offers: tuple[Tool, ...] | None,
        transfers: frozenset[str],
    ) -> tuple[list[LivekitTool], ToolGroups]:
        known = {tool.id: tool for tool in tools}
        offered = {}
        if offers is not None:
            shown = {tool_name(tool) for tool in offers} | transfers
            hidden = self._own_tools - shown
            offered = {name: tool for name, tool in known.items() if name not in hidden}
        return list(offered.values()), ToolGroups(
            offered=offered.keys(),
            withheld=known.keys() - offered.keys(),
            final=self._final_tools,
            awaited=self._awaited_tools,
        )

    def _log_failure(self, call: Call[S, C], error: Exception) -> None:
        # A provider's error may contain the conversation or a key: log only its kind.
        known = isinstance(error, APIError | TimeoutError)
        logger.error(
            "model request failed: %s: %s",
            getattr(self._model(call), "model", "no model"),
            why_model_failed(error),
            exc_info=None if known else error,
            extra={"agent": self.name},
        )

    def _fallback_text(self, call: Call[S, C]) -> str:
        return self.opening.canned if self._is_opening else call.replies.apology


@dataclass
class _Entry:
    """How an agent became active, and what the user said in the meantime."""

    handed_over: bool
    queued: list[str] = field(default_factory=list)


def _redact_chunk(
    chunk: ChatChunk, reply: Reply, sorter: ToolCallSorter, redactor: OutputRedactor
) -> ChatChunk | str | None:
    """Sort a chunk's tool calls and return the part of it that may be released, if any.

    Text is yielded as a plain string: livekit-agents 1.8.9 inspects every chunk, even an empty one.
    """
    delta, text = chunk.delta, ""
    if delta is not None:
        if content := delta.content:
            reply.spoke = reply.spoke or not content.isspace()
            text = redactor.feed(content)
        if delta.tool_calls:
            sorter.sort(delta)
            if delta.tool_calls:  # release all text before a tool call
                text += redactor.flush()
        if delta.tool_calls or delta.extra:
            delta.content = text
            return chunk
        if chunk.usage is not None:
            delta.content = text
    return text if chunk.usage is None else chunk


def _flush_safely(redactor: OutputRedactor) -> str:
    """Release the text that was held back of a reply that failed."""
    try:
        return redactor.flush()
    except Exception:  # text that cannot be redacted is withheld; redaction may be what failed
        return ""


_Hook: TypeAlias = Callable[[Agent[Any, Any]], Coroutine[Any, Any, None]]


def _guard_hooks(agent: type[Agent[Any, Any]]) -> None:
    """Wrap the ``on_enter`` and ``on_exit`` that a class of agents defines, which may raise or hang.

    livekit-agents 1.8.9 only logs what they raise and waits for them if they hang: the user would
    hear nothing, and a handoff would never end.
    """
    if "on_enter" in vars(agent):
        agent.on_enter = _guard_on_enter(agent.on_enter)  # type: ignore[assignment, method-assign]
    if "on_exit" in vars(agent):
        agent.on_exit = _guard_on_exit(agent.on_exit)  # type: ignore[assignment, method-assign]


def _guard_on_enter(own: _Hook) -> _Hook:
    @functools.wraps(own)
    async def on_enter(self: Agent[Any, Any]) -> None:
        if self.take_over():  # a base class's on_enter, called by a guarded one
            await own(self)
            return
        await _run_safely(own, self)
        self.ensure_opened()

    return on_enter


def _guard_on_exit(own: _Hook) -> _Hook:
    @functools.wraps(own)
    async def on_exit(self: Agent[Any, Any]) -> None:
        await _run_safely(own, self)

    return on_exit


async def _run_safely(own: _Hook, agent: Agent[Any, Any]) -> None:
    try:
        call = agent.call
        await call.core.time_limits.run_with_timeout(own(agent), call.policy.tool_limit_s)
    except Exception:  # the handoff stands, and the agent opens all the same
        logger.exception("agent hook failed", extra={"agent": agent.name})
