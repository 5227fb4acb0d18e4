"""A call, the session's ``userdata``: the shared state, the active agent, what is pending."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, TypeVar

from livekit.agents import NOT_GIVEN, AgentSession
from livekit.agents.llm import LLM, ChatItem, ChatMessage
from livekit.agents.tts import TTS
from livekit.agents.voice import (
    AgentStateChangedEvent,
    CloseEvent,
    ConversationItemAddedEvent,
    FunctionToolsExecutedEvent,
    SpeechCreatedEvent,
    SpeechHandle,
)
from pydantic import BaseModel

from agents.handoff.agent import Agent
from agents.handoff.carry import with_arguments
from agents.handoff.events import (
    Ended,
    EndReason,
    Event,
    EventListeners,
    Heard,
    Listener,
    Said,
    Spent,
    StateChanged,
    TurnWithdrawn,
    YourTurn,
)
from agents.handoff.failures import (
    failure_text,
)
from agents.handoff.graph import Graph
from agents.handoff.livekit_workarounds import (
    add_user_message,
    current_speech,
    event_handler,
    is_closing,
    keep_raw_replies_out_of_traces,
)
from agents.handoff.output_redactor import (
    replace_lone_surrogates,
    without_framework_marks,
    without_instruction_tags,
)
from agents.handoff.policy import CallPolicy, hide_partial
from agents.handoff.reply import Replies, Reply
from agents.handoff.request import SAY, one_line, unanswered_hint
from agents.handoff.slow_tools import SlowTools
from agents.handoff.speech_output import SpeechOutput
from agents.handoff.spending import Spending
from agents.handoff.time_limits import TimeLimits
from agents.handoff.tool_use import ToolUse
from agents.handoff.transfers import Transfers
from agents.handoff.turns import TurnTracker
from agents.handoff.user_speech import UserSpeech
from state.privacy import Redactor, in_passing, redact
from state.shared import (
    FRAMEWORK_COMMANDS,
    Applied,
    HandOver,
    Refused,
    SharedState,
    TakenOver,
)

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")

_NO_CHANGE = frozenset(kind.model_fields["op"].default for kind in FRAMEWORK_COMMANDS)
"""The ops of commands that change no state."""


@dataclass(frozen=True, slots=True)
class _Basis:
    """What words are made from: a version of the state, and a topic if they were given one."""

    version: int | None = None
    about: str | None = None


_NO_BASIS = _Basis()


class Call(Generic[S, C]):
    """Everything the agents of one call share.

    Args:
        shared: The state and the one way to change it.
        graph: The agents and the handoffs between them.
        policy: The application's decisions about its calls.
        resumed: Whether it resumes an earlier conversation; by default, whether the state has been
            changed before.
        turn: The number of user messages before this call.
        preamble: Spoken once before anything else, and repeated with the next reply if it was
            interrupted; empty for nothing.

    Raises:
        ValueError: The policy's digest names a field that the state does not have.
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
        self.shared = shared
        self.graph = graph
        policy = policy or CallPolicy()
        if policy.redact_input is redact:  # the default: a number may be told in several turns
            policy = replace(policy, redact_input=Redactor())
            if policy.redact_partial is hide_partial:
                policy = replace(policy, redact_partial=in_passing)
        self.policy: CallPolicy[S, C] = policy
        if unknown := self.policy.unknown_fields(shared.state):
            raise ValueError(
                f"digest names fields that {type(shared.state).__name__} does not have:"
                f" {', '.join(unknown)}"
            )
        self.replies = Replies()
        self.spending = Spending()
        """Token usage of this call's models, as far as they report it."""
        self.speaker: str = shared.speaker or graph.start
        """The name of the active agent, or of the first one."""
        self.visited: set[str] = set()
        self.queued: list[str] = []
        self.requested_turn = 0
        """The last turn that was passed to a reply request or to the next agent."""
        self.last_refusal: Refused | None = None
        self.changes = 0
        """The number of state changes in this call, the framework's own not counted."""
        self._resumed = shared.version > 0 if resumed is None else resumed
        self._preamble = preamble
        self._session: AgentSession[Call[S, C]] | None = None
        self._has_agent = False
        self.time_limits = TimeLimits()
        self.tools = ToolUse(self)
        self.transfers = Transfers(self)
        self.slow_tools = SlowTools(self)
        self.user_speech = UserSpeech(self)
        """Transcripts of the user's speech, where there is audio."""
        self.speech_output = SpeechOutput()
        self.reply_hint: Callable[[], str] = str
        """Returns instructions for the reply that is about to be requested; empty for none."""
        self.speech_lost: Callable[[], None] | None = None
        """Called when speech input or output has failed and the user cannot read text."""
        self.tts_by_agent: Mapping[str, TTS[Any]] = {}
        """Per-agent text-to-speech models."""
        self._llm_by_agent: dict[str, LLM[Any] | Callable[[], LLM[Any]]] = {}
        self._queued_speech: list[tuple[str, _Basis]] = []
        self._basis_of: dict[SpeechHandle, _Basis] = {}
        self.closing: EndReason | None = None
        """Why the call will end after the reply under way."""
        self._ended: EndReason | None = None
        self._listeners = EventListeners()
        self._waiters: list[asyncio.Future[None]] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._digest: tuple[int, str] | None = None
        self._unsubscribe = shared.subscribe(self._state_changed)
        self.turns = TurnTracker(
            more_pending=lambda: self.transfers.under_way or bool(self.queued),
            on_user_turn=self._give_turn,
            on_turn_withdrawn=lambda: self.emit(TurnWithdrawn(self.turn)),
            on_no_reply=self._speak_fallback,
            awaiting_transcript=lambda: self.user_speech.awaiting_transcript,
            turn=turn,
        )

    # -- state of the call -----------------------------------------------------------------------

    @property
    def state(self) -> S:
        """The current state; the same object for every agent."""
        return self.shared.state

    @property
    def turn(self) -> int:
        """The number of user messages so far; 0 during the greeting."""
        return self.turns.turn

    @property
    def resumed(self) -> bool:
        """Whether this call resumes an earlier conversation."""
        return self._resumed

    @property
    def handover(self) -> HandOver | None:
        """The handoff by which the active agent took over, with its arguments, if it was one."""
        return self.transfers.arrival

    @property
    def handoff_target(self) -> str | None:
        """The agent that takes over once the pending handoff has happened."""
        pending = self.transfers.pending
        return pending.target if pending is not None else None

    @property
    def handing_over(self) -> bool:
        """Whether a handoff is pending, so that no agent can answer right now."""
        return self.transfers.pending is not None

    @property
    def ended(self) -> EndReason | None:
        """Why the call is over, or None."""
        return self._ended

    @property
    def apology(self) -> str:
        """The fallback sentence for a model that fails or returns nothing."""
        return self.policy.trouble if self.closing is None else self.policy.farewell

    @property
    def digest(self) -> str:
        """The state as a model request shows it, rendered once per version."""
        if self._digest is None or self._digest[0] != self.shared.version:
            self._digest = (
                self.shared.version,
                replace_lone_surrogates(
                    without_instruction_tags(
                        one_line(self.policy.render_digest(self.shared.state, self.shared.version))
                    )
                ),
            )
        return self._digest[1]

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every event; returns a function that unsubscribes it."""
        return self._listeners.subscribe(listener)

    # -- the session ------------------------------------------------------------------------------

    def attach(self, session: "AgentSession[Call[S, C]]") -> None:
        """Subscribe to a session's events; call it once, before the session starts."""
        if self.policy.redact_output is not str:
            keep_raw_replies_out_of_traces()
        self._session = session
        session.on("speech_created", event_handler(self._on_speech_created))
        session.on("conversation_item_added", event_handler(self._on_item))
        session.on("function_tools_executed", event_handler(self._on_tools_executed))
        session.on("agent_state_changed", event_handler(self._on_agent_state))
        session.on("close", event_handler(self._on_close))

    @property
    def session(self) -> "AgentSession[Call[S, C]]":
        """The session this call runs in."""
        if self._session is None:
            raise RuntimeError("the call has no session yet: attach() it first")
        return self._session

    def first_agent(self) -> Agent[S, C]:
        """Make the first agent: the graph's start, or the last active agent when resuming."""
        name = self.speaker if self.speaker in self.graph.agents else self.graph.start
        self.speaker = name
        arrival = self.handover
        arguments = arrival.arguments if arrival is not None else None
        return self.make_agent(name, with_arguments((), arguments))

    def use_models(self, llm_by_agent: "Mapping[str, LLM[Any] | Callable[[], LLM[Any]]]") -> None:
        """Give agents language models of their own.

        Args:
            llm_by_agent: A model, or a function that makes one, by the agent's name. A function is
                called once in a call, when its agent first takes over.

        Raises:
            ValueError: A name is no agent's.
        """
        unknown = ", ".join(name for name in llm_by_agent if name not in self.graph.agents)
        if unknown:
            raise ValueError(f"llm_by_agent has models for agents that do not exist: {unknown}")
        self._llm_by_agent = dict(llm_by_agent)

    def use_speech(
        self,
        *,
        tts_by_agent: Mapping[str, TTS[Any]],
        lost: Callable[[], None] | None,
        heard_after_s: float,
        turn_end_timeout_s: float,
    ) -> None:
        """Set up a call with audio.

        Args:
            tts_by_agent: Per-agent text-to-speech models.
            lost: Called when speech input or output has failed; None leaves it as it is.
            heard_after_s: How long after playout a reply has been heard, in seconds.
            turn_end_timeout_s: How long final transcripts wait for the end of their turn, in
                seconds.
        """
        self.tts_by_agent = tts_by_agent
        self.speech_lost = lost or self.speech_lost
        self.turns.playout_lag_s = heard_after_s
        self.user_speech.turn_end_timeout_s = turn_end_timeout_s

    def _model_of(self, name: str) -> LLM[Any] | None:
        given = self._llm_by_agent.get(name)
        if given is None or isinstance(given, LLM):
            return given
        try:
            model: object = given()
            if not isinstance(model, LLM):
                raise TypeError(f"it returned {type(model).__name__}, not a language model")
        except Exception:  # the agent speaks with the call's model, and the next one tries again
            logger.exception("agent model not made, using the call's", extra={"agent": name})
            return None
        self._llm_by_agent[name] = model
        return model

    def make_agent(self, name: str, carried: Sequence[ChatItem] = ()) -> Agent[S, C]:
        """Make a fresh agent for one handoff.

        Args:
            name: Which.
            carried: The part of the conversation it starts with.
        """
        agent = self.graph.agent(name, carried)
        if (tts := self.tts_by_agent.get(name)) is not None:
            agent.update_options(tts=tts)
        if (model := self._model_of(name)) is not None:
            agent.update_options(llm=model)
        return agent

    def user_said(self, text: str) -> int:
        """Redact a user message and have it answered; returns the number of its turn.

        A reply under way is interrupted. Messages that arrive before the first agent has entered or
        during a handoff are queued for the next agent. After the end of the call they are ignored.
        """
        if not self.listening:
            return self.turn
        return self.accept_user_input(self.policy.redact_input(replace_lone_surrogates(text)))

    @property
    def listening(self) -> bool:
        """Whether user input is still accepted."""
        return self._ended is None and not self.time_limits.hung_up

    def accept_user_input(self, text: str, number: int | None = None) -> int:
        """Accept a user message that has been redacted already; otherwise like ``user_said``.

        Args:
            text: The message.
            number: The turn number it was stored under, if any; if that has been used meanwhile,
                the next one is taken.
        """
        if not self.listening:
            return self.turn
        turn = self.turns.user_spoke(number)
        self.transfers.user_spoke()
        self.emit(Heard(turn, text))
        self.queued.append(text)
        if self._has_agent and not self.handing_over:
            self._answer_when_quiet()
        self.transfers.correct_speaker()
        return turn

    def answer(self, words: Iterable[str]) -> None:
        """Have messages answered that the user sent earlier and that are still unanswered."""
        self.queued.extend(words)
        self._answer_when_quiet()

    def queue_again(self, words: Sequence[str]) -> None:
        """Queue messages before all others: those that an agent took and could not answer."""
        self.queued[:0] = words

    def _answer_when_quiet(self) -> None:
        if self.turns.speaking:
            self.spawn(self.answer_queued())
        else:
            self._answer()

    def speak(self, words: str, *, about: str | None = None, version: int | None = None) -> None:
        """Have the active agent say a text verbatim, or the next agent if none is active right now.

        ``Said`` tells when it has been said, with its topic and version, and whether the user
        interrupted it: an application need not search what agents say.

        No model is requested. A session's own ``say`` needs a text-to-speech model where there is
        audio (livekit-agents 1.8.9); this takes the path of every other reply.

        Args:
            words: The text.
            about: Its topic, in the application's own terms.
            version: The version of the state it was made from; by default the current one if there
                is a topic, else none.
        """
        if version is None and about is not None:
            version = self.shared.version
        self._speak(words, _Basis(version, about))

    def _speak(self, words: str, basis: "_Basis") -> None:
        if not self._has_agent or self.handing_over:
            self._queued_speech.append((words, basis))
            return
        try:
            speech = self.session.generate_reply(
                instructions=f"{SAY}{replace_lone_surrogates(words)}", tool_choice="none"
            )
        except RuntimeError:  # the session is closing
            logger.debug("nothing spoken: the session is closing")
        else:
            self._based_on(speech, basis)

    def speak_queued(self) -> None:
        """Say the texts that were queued while no agent was active."""
        queued_speech, self._queued_speech = self._queued_speech, []
        for words, basis in queued_speech:
            self._speak(words, basis)

    def shows(self, version: int | None) -> None:
        """Note which version the words of the present reply are made from; None for no version."""
        if (speech := current_speech()) is not None:
            self._based_on(speech, _Basis(version))

    def _based_on(self, speech: SpeechHandle, basis: "_Basis") -> None:
        if speech not in self._basis_of:
            speech.add_done_callback(self._reply_ended)
        self._basis_of[speech] = basis

    def _reply_ended(self, speech: SpeechHandle) -> None:
        basis = self._basis_of.pop(speech, _NO_BASIS)
        words = any(item.text_content for item in speech.chat_items if item.type == "message")
        self.slow_tools.reply_ended(speech, spoken=words and basis.version is not None)

    @property
    def preamble(self) -> str:
        """Text to be spoken before anything else, until all of it has been spoken."""
        return self._preamble

    async def come_back(self) -> None:
        """Welcome back a user who has reconnected, once it is the user's turn."""
        await self.answered()
        agent = self.session.current_agent
        if self._ended is None and self.closing is None and isinstance(agent, Agent):
            agent.welcome_back()

    async def answered(self) -> None:
        """Wait until it is the user's turn, or the call has ended."""
        while not self.turns.is_user_turn and self._ended is None:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    async def quiet(self) -> None:
        """Wait until it is the user's turn and they are not speaking, or the call has ended."""
        await self.answered()
        while self._ended is None and self.user_speech.awaiting_transcript:
            await self.user_speech.accepted()
            await self.answered()

    def describe_failure(self, error: BaseException, lead: str, tool: str) -> str:
        """Record why a tool call failed and return the text the model is told."""
        if isinstance(error, Refused):
            self.last_refusal = error
        if isinstance(error, TakenOver):
            self.close_after_reply("failed")
        return replace_lone_surrogates(failure_text(error, lead, tool))

    def close_after_reply(self, reason: EndReason) -> None:
        """End the call after the reply under way.

        If the user speaks before that, an ``agent_ended`` is withdrawn; any other reason stands.
        """
        self.closing = reason

    def end(self, reason: EndReason) -> None:
        """Mark the call as over and emit ``Ended``; only the first reason counts."""
        if self._ended is not None:
            return
        self._emit_spent()
        self._ended = reason
        self._listeners.emit(Ended(reason))
        self.slow_tools.cancel()
        self._unsubscribe()
        self._wake_waiters()

    def hang_up(self) -> None:
        """Ignore further input, cancel running tools and model requests; a commit still finishes.

        Call it before closing the session: livekit-agents 1.8.9 would wait for all of them.
        """
        self.time_limits.hang_up()

    async def aclose(self) -> None:
        """Cancel the call's background tasks."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- the active agent and its replies ---------------------------------------------------------

    def agent_entered(self, agent: Agent[S, C]) -> "list[str]":
        """Make an agent the active one; returns the messages queued for it."""
        self.user_speech.agent_changes()
        self._has_agent = True
        self.turns.agent_entered()
        self.speaker = agent.name
        self.last_refusal = None
        self.transfers.agent_entered()
        self.slow_tools.resume()
        return self._take_queued()

    def opened(self, agent: str) -> None:
        """Note that an agent has opened in this call, so that it comes back the next time."""
        self.visited.add(agent)

    def command_applied(self) -> None:
        """Forget the last refusal: a command of an agent's model has been applied since."""
        self.last_refusal = None

    def request_reply(
        self, words: Sequence[str], *, instructions: str = "", **how: Any
    ) -> SpeechHandle:
        """Have the active agent reply.

        Args:
            words: The user's messages since the last request, one text each, in order; may be
                empty.
            instructions: Instructions for this reply only.
            how: Further arguments of ``AgentSession.generate_reply``.

        Raises:
            RuntimeError: The session is closing.
        """
        if words and self.closing == "agent_ended":
            self.closing = None
        said = [text for one in words if (text := without_framework_marks(one))]
        if how.get("tool_choice") != "none":
            history = self.session.current_agent.chat_ctx.items
            instructions = f"{instructions} {unanswered_hint(history, len(said))}".strip()
        agent = self.session.current_agent
        if isinstance(agent, Agent):
            instructions = f"{instructions} {self.slow_tools.present(agent)}".strip()
        instructions = f"{instructions} {self.reply_hint()}".strip()
        speech = self.session.generate_reply(
            user_input=said[-1] if said else NOT_GIVEN,
            instructions=instructions or NOT_GIVEN,
            **how,
        )
        self._based_on(speech, _NO_BASIS)
        self.slow_tools.told_by(speech)
        # livekit-agents 1.8.9 takes one message per reply. Earlier ones are added to the history
        # now: the reply reads the history in its own task and appends its message after them.
        for text in said[:-1]:
            add_user_message(self.session, text)
        return speech

    def _answer(self) -> None:
        try:
            self.request_reply(self._take_queued())
        except RuntimeError:  # the session is closing
            logger.warning("user input after session close ignored")

    def _take_queued(self) -> list[str]:
        queued, self.queued = self.queued, []
        self.requested_turn = self.turn
        return queued

    def answer_after(self, speech: SpeechHandle) -> None:
        """Answer what is queued, now that a reply has ended."""
        self.spawn(self.answer_queued())

    async def answer_queued(self) -> None:
        """Interrupt the reply under way, then answer what the next agent has not taken.

        Waits until every reply has ended. livekit-agents 1.8.9 adds a reply's tool results to the
        history only then, and two replies at once would both act on the user's last message. A
        reply that cannot be interrupted is deciding on a transfer; livekit says so only while the
        reply is playing, not while only its tools are running.
        """
        while (
            not self.handing_over
            and self.queued
            and not self.time_limits.hung_up
            and self._ended is None
        ):
            try:
                self.session.interrupt()
            except RuntimeError:
                if not self.turns.speaking:  # the session is closing
                    return
            if self.turns.speaking:
                await self.turns.reply_ended()
                continue
            if self.transfers.committing:  # its reply has ended without it
                await self.transfers.commit_ended()
                continue
            if not self.handing_over and self.queued and not self.time_limits.hung_up:
                self._answer()

    def reply_of(self, call_id: str) -> Reply:
        """Return the reply of a tool call; a new one with the current state if none is known."""
        return self.replies.take(call_id) or self.new_reply(self.speaker)

    def new_reply(self, agent: str) -> Reply:
        """Start a reply of an agent: it is shown the current state and the user messages so far."""
        return Reply(agent, self.shared.version, self.requested_turn)

    # -- livekit's events -------------------------------------------------------------------------

    def _on_speech_created(self, event: SpeechCreatedEvent) -> None:
        self.turns.speech_created(event.speech_handle)

    def _on_item(self, event: ConversationItemAddedEvent) -> None:
        item = event.item
        if isinstance(item, ChatMessage) and item.role == "assistant":
            text = item.text_content or ""
            # An interrupted reply's text is only what was played. Without audio it is unknown
            # whether it was delivered: livekit-agents 1.8.9 adds the item before it sends the text.
            known = not item.interrupted or self.session.output.audio is not None
            if known and self._preamble in text:
                self._preamble = ""
            speech = current_speech()
            basis = self._basis_of.get(speech, _NO_BASIS) if speech is not None else _NO_BASIS
            self.emit(
                Said(
                    self.turn,
                    self.speaker,
                    text,
                    item.interrupted,
                    version=basis.version,
                    about=basis.about,
                )
            )
            self.turns.agent_spoke(interrupted=item.interrupted)

    def _on_agent_state(self, event: AgentStateChangedEvent) -> None:
        self.turns.state_changed(event.new_state)

    def _on_tools_executed(self, event: FunctionToolsExecutedEvent) -> None:
        self.replies.forget(call.call_id for call in event.function_calls)
        self.transfers.tools_executed(event)

    def _on_close(self, event: CloseEvent) -> None:
        self.end("failed" if event.error is not None else self.closing or "user_left")
        self.hang_up()

    # -- events -----------------------------------------------------------------------------------

    def _state_changed(self, applied: Applied[S]) -> None:
        if not _NO_CHANGE.issuperset(applied.ops):
            self.changes += 1
        self.emit(StateChanged(self.turn, applied.version, applied.ops, applied.state))

    def _give_turn(self) -> None:
        self.replies.forget_all()
        if self.closing is not None:
            self.end(self.closing)
            return
        self._emit_spent()
        self.emit(YourTurn(self.turn, self.speaker, self.shared.version, self._expected()))
        self._wake_waiters()

    def _emit_spent(self) -> None:
        cost = self.spending.take_unreported()
        if cost is not None:
            self.emit(Spent(turn=self.turn, agent=self.speaker, **asdict(cost)))

    def _expected(self) -> str:
        try:
            return self.policy.expects(self.shared.state, self.speaker, self.last_refusal)
        except Exception:  # it is the user's turn all the same
            logger.exception("policy.expects failed")
            return "open"

    def _speak_fallback(self) -> None:
        session = self._session
        if self._ended is not None or session is None:
            return
        if self.time_limits.hung_up or is_closing(session):  # nothing can be said any more
            return
        if self.turns.last_interrupted and self.closing is None:
            # Interrupted by sounds without words: the user's earlier message is still unanswered.
            self._answer()
        else:
            self._speak(self.apology, _NO_BASIS)

    def _wake_waiters(self) -> None:
        waiters, self._waiters = self._waiters, []
        for one in waiters:
            if not one.done():
                one.set_result(None)

    def emit(self, event: Event) -> None:
        """Notify the listeners of an event; nothing follows ``Ended``."""
        if self._ended is None:
            self._listeners.emit(event)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a coroutine in the background; ``aclose`` cancels it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
