"""A call, the session's ``userdata``: combines its owners, and is their interface for applications."""

from collections.abc import Iterable

from livekit.agents import AgentSession
from livekit.agents.llm import ChatMessage
from livekit.agents.voice import (
    CloseEvent,
    ConversationItemAddedEvent,
    FunctionToolsExecutedEvent,
)

from agents.handoff.agent_base import AgentBase
from agents.handoff.call_base import CallBase
from agents.handoff.consent import Consent
from agents.handoff.graph import Graph
from agents.handoff.handoffs import Handoffs
from agents.handoff.livekit_workarounds import event_handler, keep_raw_replies_out_of_traces
from agents.handoff.model_requests import ModelRequests
from agents.handoff.policy import C, CallPolicy, S
from agents.handoff.replies import Replies, Spending
from agents.handoff.slow_tools import SlowTools
from agents.handoff.speech import SpeechOutput, UserSpeech
from agents.handoff.tool_use import ToolUse
from agents.handoff.user_turns import UserTurns
from state.shared import SharedState


class Call(CallBase[S, C]):
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
        consent = Consent(self, self.turns)
        self.slow_tools = SlowTools(self, self.replies, self.turns, self.user_speech, consent)
        self.tools = ToolUse(self, self.replies, self.turns, consent, self.slow_tools)
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
        self.replies.speak(words, about=about, version=version)

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
        """Cancel the call's background tasks; what the user has been told is stored first."""
        await super().aclose()
        await self.slow_tools.aclose()

    def agent_entered(self, agent: AgentBase[S, C]) -> list[str]:
        """Make an agent the active one; returns the messages queued for it."""
        self.user_speech.agent_changes()
        self.handoffs.agent_entered(agent.name)
        self.slow_tools.resume()
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
