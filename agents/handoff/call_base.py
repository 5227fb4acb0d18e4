"""The part of a call that all its owners use: state, active agent, session, events, tasks, end."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeAlias

from livekit.agents import AgentSession

from agents.handoff.events import Ended, EndReason, Event, EventListeners, Listener
from agents.handoff.failures import TimeLimits, failure_text
from agents.handoff.graph import Graph
from agents.handoff.livekit_workarounds import is_closing
from agents.handoff.model_output import replace_lone_surrogates
from agents.handoff.policy import C, CallPolicy, PolicyError, S, hide_partial
from agents.handoff.tools import TelephoneLine
from state.privacy import Redactor, redact, redact_partial
from state.shared import HandOver, Refused, SharedState, TakenOver

logger = logging.getLogger(__name__)

_NOT_REDACTED = (
    "The message could not be checked for numbers that must not be stored, so it was dropped."
)


@dataclass(eq=False)
class PendingHandoff:
    """A handoff that has been decided, until the next agent has entered.

    Args:
        source: The agent that hands over.
        handover: Its journal entry.
        call_id: The id of the transfer call; None if no model asked for the handoff.
        accepted: Whether livekit has begun to activate the next agent.
    """

    source: str
    handover: HandOver
    call_id: str | None
    accepted: bool = False

    @property
    def target(self) -> str:
        """The agent that takes over."""
        return self.handover.target


class ActiveAgent:
    """Knows which agent is active, how it took over, and whether a handoff is pending."""

    def __init__(self, shared: SharedState[Any, Any], graph: Graph[Any]) -> None:
        self.name: str = shared.speaker or graph.start
        """The name of the active agent, or of the first one."""
        self.entered = False
        """Whether an agent has entered."""
        self.hops = 0
        """How many handoffs the last user message has caused."""
        self.pending: PendingHandoff | None = None
        self.last_refusal: Refused | None = None
        """Why a tool call of this agent was refused, until one of its commands is applied."""
        self._agents = graph.agents
        self._arrival = shared.handover
        self._opened: set[str] = set()
        self._correcting = 0
        self._commit_ended = asyncio.Event()
        self._commit_ended.set()

    @property
    def can_reply(self) -> bool:
        """Whether an agent has entered, and is not handing over."""
        return self.entered and self.pending is None

    @property
    def handoff_under_way(self) -> bool:
        """Whether a handoff is pending, or one is being reverted."""
        return self.pending is not None or self._correcting > 0

    @property
    def arrival(self) -> HandOver | None:
        """The handoff by which the active agent took over, if it was one."""
        arrived = self._arrival
        return arrived if arrived is not None and arrived.target == self.name else None

    @property
    def trail(self) -> tuple[str, ...]:
        """The agents that handed over, the latest last: a way back leads to the latest."""
        arrival = self.arrival
        known = (arrival.trail if arrival is not None else None) or ()
        trail = [name for name in known if name in self._agents]
        while trail and trail[-1] == self.name:  # an agent between has left the graph
            del trail[-1]
        return tuple(trail)

    def starts_with(self, name: str) -> None:
        """Set the agent that opens the call."""
        self.name = name

    def enter(self, name: str) -> PendingHandoff | None:
        """Make an agent the active one; returns the handoff by which it takes over, if any."""
        self.entered = True
        self.name = name
        self.last_refusal = None
        pending, self.pending = self.pending, None
        if pending is not None:
            self._arrival = pending.handover
        return pending

    def opened(self, name: str) -> None:
        """Note that an agent has opened in this call, so that it comes back the next time."""
        self._opened.add(name)

    def has_opened(self, name: str) -> bool:
        """Whether an agent has opened in this call."""
        return name in self._opened

    def user_spoke(self) -> None:
        """Count the handoffs of a new user message."""
        self.hops = 0

    @property
    def committing(self) -> bool:
        """Whether a handoff is between its conditions and pending: no reply should start now."""
        return not self._commit_ended.is_set()

    @contextmanager
    def commit(self) -> Iterator[None]:
        """Mark a handoff as being committed."""
        self._commit_ended.clear()
        try:
            yield
        finally:
            self._commit_ended.set()

    async def commit_ended(self) -> None:
        """Wait until the handoff being committed is pending or has failed."""
        await self._commit_ended.wait()

    def hands_over(self, pending: PendingHandoff) -> None:
        """Make a handoff the pending one."""
        self.hops += 1
        self.pending = pending

    def stays(self) -> None:
        """Drop the pending handoff: livekit does not carry it out."""
        self.pending = None

    def correction_started(self) -> None:
        """Count a correction of the journal's active agent as under way."""
        self._correcting += 1

    def correction_ended(self) -> None:
        """Count a correction as ended."""
        self._correcting -= 1

    def refused(self, refusal: Refused | None) -> None:
        """Note why a tool call was refused; None once a command has been applied since."""
        self.last_refusal = refusal


class CallBase(Generic[S, C]):
    """A call without its owners. Applications use ``Call``."""

    def __init__(
        self, shared: SharedState[S, C], graph: Graph[S], policy: CallPolicy[S, C]
    ) -> None:
        self.shared = shared
        self.graph = graph
        if policy.redact_input is redact:  # the default: a number may be told in several turns
            policy = replace(policy, redact_input=Redactor())
            if policy.redact_partial is hide_partial:
                policy = replace(policy, redact_partial=redact_partial)
        self.policy: CallPolicy[S, C] = policy
        if unknown := policy.unknown_fields(shared.state):
            state = type(shared.state).__name__
            raise PolicyError(
                [f"digest names fields that {state} does not have: {', '.join(unknown)}"]
            )
        self.active = ActiveAgent(shared, graph)
        self.time_limits = TimeLimits()
        self.closing: EndReason | None = None
        """Why the call will end after the reply under way."""
        self.ended: EndReason | None = None
        """Why the call is over, or None."""
        self.user_holds = False
        """Whether the user has a push-to-talk turn that is not committed: no agent speaks meanwhile."""
        self.line: TelephoneLine | None = None
        """The user's telephone line, if they can be put through from it."""
        self._session: AgentSession[Any] | None = None
        self._listeners = EventListeners()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._at_end: list[Callable[[], None]] = []

    @property
    def state(self) -> S:
        """The current state; the same object for every agent."""
        return self.shared.state

    @property
    def speaker(self) -> str:
        """The name of the active agent, or of the first one."""
        return self.active.name

    @property
    def handover(self) -> HandOver | None:
        """The handoff by which the active agent took over, with its arguments, if it was one."""
        return self.active.arrival

    @property
    def handing_over(self) -> bool:
        """Whether a handoff is pending, so that no agent can answer right now."""
        return self.active.pending is not None

    @property
    def opens_with_given_words(self) -> bool:
        """Whether the next agent opens with words it was given, so that its model need not be asked."""
        pending = self.active.pending
        return pending is not None and pending.call_id is None

    @property
    def last_refusal(self) -> Refused | None:
        """Why a tool call of the active agent was refused, until a command is applied."""
        return self.active.last_refusal

    @property
    def listening(self) -> bool:
        """Whether user input is still accepted."""
        return self.ended is None and not self.time_limits.hung_up

    @property
    def session(self) -> AgentSession[Self]:
        """The session this call runs in."""
        if self._session is None:
            raise RuntimeError("the call has no session yet: attach() it first")
        return self._session

    @property
    def can_speak(self) -> bool:
        """Whether a reply can still be requested."""
        return self.listening and self._session is not None and not is_closing(self._session)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every event; returns a function that unsubscribes it."""
        return self._listeners.subscribe(listener)

    def emit(self, event: Event) -> None:
        """Notify the listeners of an event; nothing follows ``Ended``."""
        if self.ended is None:
            self._listeners.emit(event)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a coroutine in the background; ``aclose`` cancels it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def redact_input(self, text: str) -> str:
        """Redact a user message.

        Raises:
            Refused: The policy's function raised an exception: the message must not be used.
        """
        try:
            return self.policy.redact_input(replace_lone_surrogates(text))
        except Exception as error:  # of whatever kind: it is the application's own
            logger.exception("policy.redact_input failed: a user message was dropped")
            raise Refused(_NOT_REDACTED, reason="not_redacted") from error

    def describe_failure(self, error: BaseException, lead: str, tool: str) -> str:
        """Record why a tool call failed and return the text the model is told."""
        if isinstance(error, Refused):
            self.active.refused(error)
        if isinstance(error, TakenOver):
            self.close_after_reply("failed")
        return replace_lone_surrogates(failure_text(error, lead, tool))

    def close_after_reply(self, reason: EndReason) -> None:
        """End the call after the reply under way.

        If the user speaks before that, an ``agent_ended`` is withdrawn; any other reason is kept.
        """
        self.closing = reason

    def user_spoke_on(self) -> None:
        """Withdraw an end that an agent has decided."""
        if self.closing == "agent_ended":
            self.closing = None

    def at_end(self, callback: Callable[[], None]) -> None:
        """Have a function called when the call ends, before ``Ended``."""
        self._at_end.append(callback)

    def end(self, reason: EndReason) -> None:
        """Mark the call as over and emit ``Ended``; only the first reason counts."""
        callbacks, self._at_end = self._at_end, []
        for callback in callbacks:
            callback()
        if self.ended is None:
            self.ended = reason
            self._listeners.emit(Ended(reason))

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


AnyCall: TypeAlias = CallBase[Any, Any]
