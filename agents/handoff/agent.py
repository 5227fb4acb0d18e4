"""The base class of an application's agents: how they open, hear, think and speak in a call."""

import functools
import logging
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Sequence
from typing import Any, TypeAlias, cast

from livekit.agents import NOT_GIVEN, FlushSentinel, ModelSettings, StopResponse
from livekit.agents.llm import ChatChunk, ChatContext, ChatItem, ChatMessage
from livekit.agents.llm import Tool as LivekitTool
from livekit.rtc import AudioFrame

from agents.handoff.agent_base import AgentBase
from agents.handoff.call import Call
from agents.handoff.livekit_workarounds import History, name_in_transcriptions
from agents.handoff.policy import C, S

logger = logging.getLogger(__name__)


class Agent(AgentBase[S, C]):
    """An agent of a call. Subclass it and set the four class attributes.

    ``Graph.agent`` makes a fresh instance for every handoff.
    """

    prompt: str | Callable[[S, C, Call[S, C]], str]
    """Its instructions, or a static method that takes state, context and call and returns them. It is
    called for every model request and must not block."""

    _entered = False
    _handed_over = False
    _opened = False
    _queued: list[str]

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        _guard_hooks(cls)

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
        call = self.call
        queued, self._queued = self._queued, []
        self._opened = True
        try:
            self._open(call, handed_over=self._handed_over, queued=queued)
        except Exception:  # livekit would only log this and leave the user in silence
            logger.exception("agent opening failed", extra={"agent": self.name})
            self.is_opening = False
            call.turns.queue_again(queued)
            call.speak(self.opening.canned)
        call.replies.speak_queued()

    def take_over(self) -> bool:
        """Become the active agent; returns whether it was active already."""
        if self._entered:
            return True
        self._handed_over = self.call.handing_over
        name_in_transcriptions(self.call.session, self.name)
        self._queued = self.call.agent_entered(self)
        self._entered = True
        return False

    def ensure_opened(self) -> None:
        """Run the default opening if ``on_enter`` did not open; queued user messages are kept."""
        call = self.call
        if self._opened or not self._entered or call.ended is not None:
            return
        if not call.turns.speeches and not call.turns.answered:
            call.spawn(Agent.on_enter(self))
        else:
            call.active.opened(self.name)
            if self._queued:
                call.turns.answer(self._queued)

    def _open(self, call: Call[S, C], *, handed_over: bool, queued: list[str]) -> None:
        if call.active.has_opened(self.name) or (call.resumed and not handed_over):
            how = self.opening.come_back
        else:
            how = self.opening.handed_over if handed_over else self.opening.first
        call.active.opened(self.name)
        # Unanswered messages may be acted on with this agent's own tools, never with a transfer:
        # the user need not repeat what they told the previous agent.
        unanswered = handed_over and (bool(queued) or _ends_with_user(self.chat_ctx.items))
        if queued and not handed_over:
            # The user spoke before the first agent was there: greet first, then answer.
            call.turns.queue_again(queued)
            speech = call.replies.request((), instructions=how, tool_choice="none")
            speech.add_done_callback(call.turns.answer_after)
        else:
            choice = NOT_GIVEN if unanswered else "none"
            speech = call.replies.request(queued, instructions=how, tool_choice=choice)
        self.opens_with(speech)

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

    def llm_node(
        self, chat_ctx: ChatContext, tools: list[LivekitTool], model_settings: ModelSettings
    ) -> AsyncIterator[ChatChunk | str | FlushSentinel]:
        """Request a reply from the model, with the state's digest, and sort its tool calls.

        Transfers and other final tools are passed on last. Calls to tools that were not offered are
        dropped, calls with truncated arguments are marked. If the model fails or returns nothing, a
        fallback sentence is spoken.
        """
        return self.call.requests.reply(self, chat_ctx, tools, model_settings)


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
        await call.time_limits.run_with_timeout(own(agent), call.policy.tool_limit_s)
    except Exception:  # the handoff is not undone, and the agent opens all the same
        logger.exception("agent hook failed", extra={"agent": agent.name})


def _ends_with_user(items: Sequence[ChatItem]) -> bool:
    """Whether the last message is the user's."""
    last = next((item for item in reversed(items) if item.type == "message"), None)
    return last is not None and last.role == "user"
