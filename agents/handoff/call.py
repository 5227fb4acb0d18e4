"""One call: the shared state, who speaks, what is pending. It is the session's ``userdata``."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Generic, TypeVar

from livekit.agents import NOT_GIVEN, AgentSession
from livekit.agents.llm import ChatItem, ChatMessage
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
from agents.handoff.guards import (
    add_user_message,
    handler,
    is_closing,
    keep_raw_replies_out_of_traces,
)
from agents.handoff.hearing import Hearing
from agents.handoff.limits import Limits
from agents.handoff.outgoing import encodable, without_mark, without_tag
from agents.handoff.policy import CallPolicy
from agents.handoff.reply import Replies, Reply
from agents.handoff.request import SAY, about_several, one_line
from agents.handoff.speech_output import SpeechOutput
from agents.handoff.spending import Spending
from agents.handoff.tool_use import ToolUse
from agents.handoff.transfers import Transfers
from agents.handoff.turns import TurnTracker
from state.shared import Applied, HandOver, Refused, SharedState, TakenOver

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")

HAND_OVER = HandOver.model_fields["op"].default


class Call(Generic[S, C]):
    """Everything the agents of one call share.

    Args:
        shared: The state and the one way to change it.
        graph: The agents and who may hand over to whom.
        policy: What the application decides about its calls.
        resumed: Whether it goes on with a conversation that began before it; a state that has been changed
            is taken for one when nothing is said.
        turn: The number of things the guest had said before it.
        first_words: Said before anything else is, once, and again by who speaks next when it was cut short; nothing
            when empty.
    """

    def __init__(
        self,
        shared: SharedState[S, C],
        graph: Graph[S],
        policy: CallPolicy[S, C] | None = None,
        *,
        resumed: bool | None = None,
        turn: int = 0,
        first_words: str = "",
    ) -> None:
        self.shared = shared
        self.graph = graph
        self.policy: CallPolicy[S, C] = policy or CallPolicy()
        self.replies = Replies()
        self.spending = Spending()
        """What the models of this call cost, as far as they say so."""
        self.speaker: str = shared.speaker or graph.start
        """The name of the agent that speaks, or that will speak first."""
        self.visited: set[str] = set()
        self.late: list[str] = []
        self.taken_up = 0
        """The last turn whose words a reply has been asked for, or the next agent is told."""
        self.last_refusal: Refused | None = None
        self.changes = 0
        """How often the state has changed in this call, handoffs not counted."""
        self._resumed = shared.version > 0 if resumed is None else resumed
        self._first_words = first_words
        self._session: AgentSession[Call[S, C]] | None = None
        self._entered = False
        self.limits = Limits()
        self.tools = ToolUse(self)
        self.transfers = Transfers(self)
        self.hearing = Hearing(self)
        """What the guest says aloud, where there is audio."""
        self.tts = SpeechOutput()
        self.speech_lost: Callable[[], None] | None = None
        """Called when the user cannot be heard or spoken to any more, where nobody reads what is said."""
        self.tts_by_agent: Mapping[str, TTS[Any]] = {}
        """The text-to-speech models of agents that have their own."""
        self._unsaid: list[str] = []
        self.closing: EndReason | None = None
        """Why the call ends once what is being said has been said."""
        self._ended: EndReason | None = None
        self._audience = EventListeners()
        self._waiting: list[asyncio.Future[None]] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._digest: tuple[int, str] | None = None
        self._unsubscribe = shared.subscribe(self._state_changed)
        self.turns = TurnTracker(
            more_to_come=lambda: self.transfers.under_way or bool(self.late),
            give=self._give_turn,
            withdraw=lambda: self.tell(TurnWithdrawn(self.turn)),
            silent=self._break_silence,
            awaits_words=lambda: self.hearing.awaits_words,
            turn=turn,
        )

    # -- what everybody may ask ------------------------------------------------------------------

    @property
    def state(self) -> S:
        """The present state; the same object for every agent."""
        return self.shared.state

    @property
    def turn(self) -> int:
        """The number of things the guest has said; 0 during the greeting."""
        return self.turns.turn

    @property
    def resumed(self) -> bool:
        """Whether this call goes on with a state that others worked on before it."""
        return self._resumed

    @property
    def going_to(self) -> str | None:
        """Who takes over when the handoff under way has happened."""
        pending = self.transfers.pending
        return pending.target if pending is not None else None

    @property
    def handing_over(self) -> bool:
        """Whether a handoff is under way, so that nobody is there to answer just now."""
        return self.transfers.pending is not None

    @property
    def ended(self) -> EndReason | None:
        """Why the call is over, when it is."""
        return self._ended

    @property
    def apology(self) -> str:
        """What is said for a model that fails or has nothing to say."""
        return self.policy.trouble if self.closing is None else self.policy.farewell

    @property
    def digest(self) -> str:
        """The state as a model request shows it, rendered once per version."""
        if self._digest is None or self._digest[0] != self.shared.version:
            self._digest = (
                self.shared.version,
                encodable(
                    without_tag(
                        one_line(self.policy.digest(self.shared.state, self.shared.version))
                    )
                ),
            )
        return self._digest[1]

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell somebody everything that happens; returns what ends that."""
        return self._audience.listen(listener)

    # -- the session ------------------------------------------------------------------------------

    def attach(self, session: "AgentSession[Call[S, C]]") -> None:
        """Follow a session's events; call it once, before the session starts."""
        if self.policy.redact_output is not str:
            keep_raw_replies_out_of_traces()
        self._session = session
        session.on("speech_created", handler(self._on_speech_created))
        session.on("conversation_item_added", handler(self._on_item))
        session.on("function_tools_executed", handler(self._on_tools_executed))
        session.on("agent_state_changed", handler(self._on_agent_state))
        session.on("close", handler(self._on_close))

    @property
    def session(self) -> "AgentSession[Call[S, C]]":
        """The session this call runs in."""
        if self._session is None:
            raise RuntimeError("the call has no session yet: attach() it first")
        return self._session

    def first_agent(self) -> Agent[S, C]:
        """Make the agent that speaks first: the start, or the one that spoke last when resuming."""
        name = self.speaker if self.speaker in self.graph.agents else self.graph.start
        self.speaker = name
        return self.make_agent(name)

    def make_agent(self, name: str, carried: Sequence[ChatItem] = ()) -> Agent[S, C]:
        """Make a fresh agent for one stay of the guest.

        Args:
            name: Which.
            carried: What it knows of the talk so far.
        """
        agent = self.graph.agent(name, carried)
        if (tts := self.tts_by_agent.get(name)) is not None:
            agent.update_options(tts=tts)
        return agent

    def hear(self, text: str) -> int:
        """Take in what the guest says and have it answered; returns the number of this turn.

        A reply under way is interrupted. Words that come while nobody is there to answer them - before the
        first agent has entered, or during a handoff - are kept for the next one. After the end nothing
        is taken in.
        """
        if not self.listening:
            return self.turn
        return self.take_in(self.policy.redact_input(encodable(text)))

    @property
    def listening(self) -> bool:
        """Whether what the user says is still taken in."""
        return self._ended is None and not self.limits.over

    def take_in(self, text: str, number: int | None = None) -> int:
        """Take in words that have been let in already; all else is as ``hear`` does it.

        Args:
            text: The words.
            number: The number of this turn, where they were stored under one; the next one is taken when this
                has been given to others meanwhile.
        """
        if not self.listening:
            return self.turn
        turn = self.turns.guest_spoke(number)
        self.transfers.hops = 0
        self.tell(Heard(turn, text))
        self.late.append(text)
        if self._entered and not self.handing_over:
            self._answer_when_quiet()
        self.transfers.correct_speaker()
        return turn

    def answer(self, words: Iterable[str]) -> None:
        """Have messages answered that the user sent before and that nobody has taken up."""
        self.late.extend(words)
        self._answer_when_quiet()

    def _answer_when_quiet(self) -> None:
        if self.turns.speaking:
            self.spawn(self.answer_late())
        else:
            self._answer()

    def speak(self, words: str) -> None:
        """Have the present agent say something as it stands, or the next one when nobody is there to say it.

        No model is asked for it. A session's own ``say`` needs a text-to-speech model where there is audio
        (livekit-agents 1.8.9); this goes the way of every other reply.
        """
        if not self._entered or self.handing_over:
            self._unsaid.append(words)
            return
        try:
            self.session.generate_reply(instructions=f"{SAY}{encodable(words)}", tool_choice="none")
        except RuntimeError:  # the session is closing: nobody is left to hear it
            logger.debug("nothing was said, and the session is closing")

    def speak_unsaid(self) -> None:
        """Have said what nobody was there to say."""
        unsaid, self._unsaid = self._unsaid, []
        for words in unsaid:
            self.speak(words)

    @property
    def first_words(self) -> str:
        """What has to be said before anything else, until all of it has been said."""
        return self._first_words

    async def come_back(self) -> None:
        """Tell a guest who has been away where he and the present agent were, when it is his turn."""
        await self.answered()
        agent = self.session.current_agent
        if self._ended is None and self.closing is None and isinstance(agent, Agent):
            agent.welcome_back()

    async def answered(self) -> None:
        """Wait until it is the guest's turn, or the call has ended."""
        while not self.turns.given and self._ended is None:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting

    def failure(self, error: BaseException, lead: str, tool: str) -> str:
        """Take note of why something was not done, and say it for the model."""
        if isinstance(error, Refused):
            self.last_refusal = error
        if isinstance(error, TakenOver):
            self.close_after_reply("failed")
        return encodable(failure_text(error, lead, tool))

    def close_after_reply(self, reason: EndReason) -> None:
        """End the call once what is being said has been said.

        A guest who speaks on before that takes an agent's ending back; any other reason stands.
        """
        self.closing = reason

    def end(self, reason: EndReason) -> None:
        """Say that the call is over; only the first reason counts."""
        if self._ended is not None:
            return
        self._tell_spent()
        self._ended = reason
        self._audience.tell(Ended(reason))
        self._unsubscribe()
        self._release()

    def hang_up(self) -> None:
        """Take in nothing more, and give up what tools and models are at; a commit still ends.

        Done before the session closes: livekit-agents 1.8.9 would wait for all of them.
        """
        self.limits.hang_up()

    async def aclose(self) -> None:
        """Let go of everything that still runs beside the conversation."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- who speaks -------------------------------------------------------------------------------

    def entered(self, agent: Agent[S, C]) -> "list[str]":
        """An agent has taken over. Returns what the guest said meanwhile."""
        self.hearing.agent_changes()
        self._entered = True
        self.turns.agent_entered()
        self.speaker = agent.name
        self.last_refusal = None
        self.transfers.arrived()
        return self._take_late()

    def ask(self, words: Sequence[str], *, instructions: str = "", **how: Any) -> SpeechHandle:
        """Have the present agent reply.

        Args:
            words: What the user said since the last request: one message each, in order, or nothing.
            instructions: What it is told for this reply only.
            how: Further arguments of ``AgentSession.generate_reply``.

        Raises:
            RuntimeError: The session is closing.
        """
        if words and self.closing == "agent_ended":
            self.closing = None
        said = [text for one in words if (text := without_mark(one))]
        if how.get("tool_choice") != "none":
            history = self.session.current_agent.chat_ctx.items
            instructions = f"{instructions} {about_several(history, len(said))}".strip()
        speech = self.session.generate_reply(
            user_input=said[-1] if said else NOT_GIVEN,
            instructions=instructions or NOT_GIVEN,
            **how,
        )
        # livekit-agents 1.8.9 takes one message. Those before it get their places now: the reply reads the history
        # in a task of its own, and adds its message behind them.
        for text in said[:-1]:
            add_user_message(self.session, text)
        return speech

    def _answer(self) -> None:
        try:
            self.ask(self._take_late())
        except RuntimeError:  # the session is closing: nobody will answer any more
            logger.warning("the guest spoke into the end of the session")

    def _take_late(self) -> list[str]:
        late, self.late = self.late, []
        self.taken_up = self.turn
        return late

    async def answer_late(self) -> None:
        """Break off what is being said, then answer, unless the next agent has taken the words along.

        Every reply's end is waited for: until then the model would not be shown what its tools have done
        (livekit-agents 1.8.9 adds that to the history when the reply has ended), and two replies at once would
        both act on what the guest said before. One that livekit does not interrupt decides on a transfer; it
        says so only while that reply is heard, and not while nothing but its tools are at work.
        """
        while not self.handing_over and self.late and not self.limits.over and self._ended is None:
            try:
                self.session.interrupt()
            except RuntimeError:
                if not self.turns.speaking:  # the session is closing: nobody will answer any more
                    return
            if self.turns.speaking:
                await self.turns.reply_ends()
                continue
            if self.transfers.being_written:  # its reply was passed over instead
                await self.transfers.settled()
                continue
            if not self.handing_over and self.late and not self.limits.over:
                self._answer()

    def reply_of(self, call_id: str) -> Reply:
        """Return the reply that a tool call was made in; of one that no agent has seen, what holds now."""
        return self.replies.take(call_id) or self.new_reply(self.speaker)

    def new_reply(self, agent: str) -> Reply:
        """Begin a reply of an agent: it is shown the state and the guest's words as they are now."""
        return Reply(agent, self.shared.version, self.taken_up)

    # -- livekit's events -------------------------------------------------------------------------

    def _on_speech_created(self, event: SpeechCreatedEvent) -> None:
        self.turns.speech_created(event.speech_handle)

    def _on_item(self, event: ConversationItemAddedEvent) -> None:
        item = event.item
        if isinstance(item, ChatMessage) and item.role == "assistant":
            text = item.text_content or ""
            # Of a reply that was cut short only what was heard stands here. Where it is read nobody knows whether
            # that has left: livekit-agents 1.8.9 takes note of it before it is sent.
            known = not item.interrupted or self.session.output.audio is not None
            if known and self._first_words in text:
                self._first_words = ""
            self.tell(Said(self.turn, self.speaker, text, item.interrupted))
            self.turns.spoke(interrupted=item.interrupted)

    def _on_agent_state(self, event: AgentStateChangedEvent) -> None:
        self.turns.state_changed(event.new_state)

    def _on_tools_executed(self, event: FunctionToolsExecutedEvent) -> None:
        self.replies.forget(call.call_id for call in event.function_calls)
        self.transfers.tools_executed(event)

    def _on_close(self, event: CloseEvent) -> None:
        self.end("failed" if event.error is not None else self.closing or "user_left")
        self.hang_up()

    # -- telling ----------------------------------------------------------------------------------

    def _state_changed(self, applied: Applied[S]) -> None:
        if applied.ops != (HAND_OVER,):
            self.changes += 1
        self.tell(StateChanged(self.turn, applied.version, applied.ops, applied.state))

    def _give_turn(self) -> None:
        self.replies.forget_all()
        if self.closing is not None:
            self.end(self.closing)
            return
        self._tell_spent()
        self.tell(YourTurn(self.turn, self.speaker, self.shared.version, self._expected()))
        self._release()

    def _tell_spent(self) -> None:
        cost = self.spending.untold()
        if cost is not None:
            self.tell(Spent(turn=self.turn, agent=self.speaker, **asdict(cost)))

    def _expected(self) -> str:
        try:
            return self.policy.expects(self.shared.state, self.speaker, self.last_refusal)
        except Exception:  # it is the guest's turn all the same
            logger.exception("what is expected of the guest is not known")
            return "open"

    def _break_silence(self) -> None:
        session = self._session
        if self._ended is not None or session is None:
            return
        if self.limits.over or is_closing(session):  # it was broken off for good
            return
        if self.turns.broken_off and self.closing is None:
            # By sounds of the guest's that brought no more words: what he said before still waits.
            self._answer()
        else:
            self.speak(self.apology)

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.done():
                one.set_result(None)

    def tell(self, event: Event) -> None:
        """Tell everybody who listens; nothing follows the end."""
        if self._ended is None:
            self._audience.tell(event)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done beside the conversation; ``aclose`` ends it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
