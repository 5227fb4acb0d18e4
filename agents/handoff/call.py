"""A call, which combines its owners, and the agents in it: the classes applications use."""

import functools
import logging
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeAlias, cast

from livekit.agents import NOT_GIVEN, AgentSession, FlushSentinel, ModelSettings, StopResponse
from livekit.agents.llm import ChatChunk, ChatContext, ChatItem, ChatMessage
from livekit.agents.llm import Tool as LivekitTool
from livekit.agents.types import TimedString
from livekit.agents.voice import (
    CloseEvent,
    ConversationItemAddedEvent,
    FunctionToolsExecutedEvent,
)
from livekit.rtc import AudioFrame

from agents.handoff.agent_base import AgentBase
from agents.handoff.call_base import CallBase
from agents.handoff.graph import Graph
from agents.handoff.handoffs import Handoffs
from agents.handoff.livekit_workarounds import (
    History,
    event_handler,
    keep_raw_replies_out_of_traces,
    mark_transcriptions,
)
from agents.handoff.model_requests import ModelRequests
from agents.handoff.policy import C, CallPolicy, S
from agents.handoff.replies import Replies, Spending
from agents.handoff.speech.push_to_talk import PushToTalk
from agents.handoff.speech.speech_output import SpeechOutput
from agents.handoff.speech.user_speech import UserSpeech
from agents.handoff.tool_use import ToolUse
from agents.handoff.user_turns import UserTurns
from state.shared import SharedState

logger = logging.getLogger(__name__)


class Call(CallBase[S, C]):
    """Everything the agents of one call share.

    Args:
        shared: The state and the one way to change it.
        graph: The agents and the handoffs between them.
        policy: The application's decisions about its calls.
        resumed: Whether it resumes an earlier conversation; by default true if the state has been
            changed before.
        turn: The number of user messages before this call.
        preamble: Spoken once before anything else, and repeated with the next reply if it was
            interrupted; empty for nothing.

    Raises:
        PolicyError: The policy's digest names a field that the state does not have.
    """

    def __init__(
        self,
        shared: SharedState[S, C],
        graph: Graph[S],
        policy: CallPolicy[S, C] | None = None,
        *,
        resumed: bool | None = None,
        turn: int = 0,
        preamble: str = "",
    ) -> None:
        super().__init__(shared, graph, policy or CallPolicy())
        self.resumed = shared.version > 0 if resumed is None else resumed
        """Whether this call resumes an earlier conversation."""
        self.replies = Replies(self, preamble)
        self.turns = UserTurns(
            self,
            self.replies,
            turn=turn,
            awaiting_transcript=lambda: self.user_speech.awaiting_transcript,
            on_message=lambda: self.handoffs.correct_speaker(),
        )
        self.requests = ModelRequests(self, self.replies, self.turns)
        self.speech_output = SpeechOutput(self, self.replies)
        self.user_speech = UserSpeech(self, self.replies, self.turns, self.speech_output)
        self.replies.speak_over_user_if(lambda: self.turns.written and self.user_speech.speaking)
        self.push_to_talk: PushToTalk | None = None
        """The turns that the user begins and ends by themselves; None in text, or before the session
        has started."""
        self.tools = ToolUse(self, self.replies, self.turns, self.user_speech)
        self.slow_tools = self.tools.slow_tools
        self.handoffs = Handoffs(self, self.replies, self.turns, self.tools)

    @property
    def turn(self) -> int:
        """The number of user messages so far; 0 during the greeting."""
        return self.turns.turn

    @property
    def spending(self) -> Spending:
        """Token usage of this call's models, as far as they report it."""
        return self.replies.spending

    def attach(self, session: "AgentSession[Call[S, C]]") -> None:
        """Subscribe to a session's events; call it once, before the session starts."""
        if self.policy.redact_output is not str:
            keep_raw_replies_out_of_traces()
        self._session = session
        session.on("speech_created", event_handler(self.turns.speech_created))
        session.on("conversation_item_added", event_handler(self._on_item))
        session.on("function_tools_executed", event_handler(self._on_tools_executed))
        session.on("agent_state_changed", event_handler(self.turns.state_changed))
        session.on("close", event_handler(self._on_close))

    def first_agent(self) -> AgentBase[S, C]:
        """Make the first agent: the graph's start, or the last active agent when resuming."""
        return self.handoffs.first_agent()

    def user_said(self, text: str) -> int:
        """Redact a user message and have it answered; returns the number of its turn.

        A reply under way is interrupted. Messages that arrive before the first agent has entered or
        during a handoff are queued for the next agent. After the end of the call they are ignored.
        """
        return self.turns.user_said(text)

    def accept_user_input(self, text: str, number: int | None = None) -> int:
        """Accept a user message that has been redacted already; otherwise like ``user_said``.

        Args:
            text: The message.
            number: The turn number it was stored under, if any; if that has been used meanwhile,
                the next one is taken.
        """
        return self.turns.accept(text, number)

    def answer(self, words: Iterable[str]) -> None:
        """Have messages answered that the user sent earlier and that are still unanswered."""
        self.turns.answer(words)

    def speak(
        self,
        words: str,
        *,
        about: str | None = None,
        version: int | None = None,
        by: str | None = None,
    ) -> None:
        """Have the active agent say a text verbatim, or the next agent if none is active right now.

        ``Said`` reports when the text has been spoken, with its topic and version, and whether the
        user interrupted it: an application need not search the agents' words.

        No model is requested. A session's own ``say`` needs a text-to-speech model where there is
        audio (livekit-agents 1.8.9); this takes the path of every other reply.

        Args:
            words: The text.
            about: Its topic, in the application's own terms.
            version: The version of the state it was made from; by default the current one if there
                is a topic, else none.
            by: The name of the agent that says it. It takes over first if it is the user's turn and
                the declared handoffs lead to it, without arguments and with the last one's condition
                met; otherwise the active agent says it.
        """
        if by is not None:
            self.handoffs.hand_over_to(by)  # then the next line queues the words for it
        self.replies.speak(words, about=about, version=version)

    def digest_changed(self) -> None:
        """Render the digest again, as something that it shows beside the state has changed."""
        self.requests.digest_changed()

    async def come_back(self) -> None:
        """Welcome back a user who has reconnected, once it is the user's turn."""
        await self.answered()
        agent = self.session.current_agent
        if self.ended is None and self.closing is None and isinstance(agent, AgentBase):
            how = agent.opening.come_back
            agent.opens_with(self.replies.request((), instructions=how, tool_choice="none"))

    async def answered(self) -> None:
        """Wait until it is the user's turn, or the call has ended."""
        await self.turns.wait_for_turn()

    async def aclose(self) -> None:
        """Cancel the call's background tasks, once it is stored which results the user was told."""
        await super().aclose()
        await self.slow_tools.aclose()

    def agent_entered(self, agent: AgentBase[S, C]) -> list[str]:
        """Make an agent the active one; returns the messages queued for it."""
        self.user_speech.agent_changes()
        self.handoffs.agent_entered(agent.name)
        self.slow_tools.resume()
        if self.push_to_talk is not None:
            self.push_to_talk.agent_entered()
        return self.turns.take_queued()

    def _on_item(self, event: ConversationItemAddedEvent) -> None:
        item = event.item
        if isinstance(item, ChatMessage) and item.role == "assistant":
            self.replies.said(item, self.turns.turn)
            self.turns.agent_spoke(interrupted=item.interrupted)

    def _on_tools_executed(self, event: FunctionToolsExecutedEvent) -> None:
        self.replies.pending_calls.forget(call.call_id for call in event.function_calls)
        self.handoffs.tools_executed(event)

    def _on_close(self, event: CloseEvent) -> None:
        self.end("failed" if event.error is not None else self.closing or "user_left")
        self.hang_up()


class Agent(AgentBase[S, C]):
    """An agent of a call. Subclass it and set the four class attributes.

    ``Graph.agent`` makes a fresh instance for every handoff.
    """

    prompt: str | Callable[[S, C, Call[S, C]], str]
    """Its instructions, or a static method that takes state, context and call and returns them. It is
    called for every model request and must not block."""

    _entered = False
    _handed_over = False
    _given_words = False
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
        self._given_words = self.call.opens_with_given_words
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
        if self._given_words and not queued:
            return
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

    async def transcription_node(
        self, text: AsyncIterable[str | TimedString], model_settings: ModelSettings
    ) -> AsyncIterator[str | TimedString]:
        """Pass on the words of a reply, marked as one utterance of this agent."""
        utterance = self.call.replies.begin_utterance()
        await mark_transcriptions(self.call.session, self.name, utterance)
        async for piece in text:
            yield piece

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
