"""The common part of one call: its state, graph and policy, its session, events, tasks and end."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, Generic, TypeVar

from livekit.agents import AgentSession
from pydantic import BaseModel

from agents.handoff.events import Ended, EndReason, Event, EventListeners
from agents.handoff.graph import Graph
from agents.handoff.policy import CallPolicy, hide_partial
from agents.handoff.time_limits import TimeLimits
from state.privacy import Redactor, in_passing, redact
from state.shared import SharedState

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


class CallCore(Generic[S, C]):
    """Holds what every owner in a call needs, and ends the call.

    Args:
        shared: The state and the one way to change it.
        graph: The agents and the handoffs between them.
        policy: The application's decisions about its calls.

    Raises:
        ValueError: The policy's digest names a field that the state does not have.
    """

    def __init__(
        self, shared: SharedState[S, C], graph: Graph[S], policy: CallPolicy[S, C]
    ) -> None:
        self.shared = shared
        self.graph = graph
        if policy.redact_input is redact:  # the default: a number may be told in several turns
            policy = replace(policy, redact_input=Redactor())
            if policy.redact_partial is hide_partial:
                policy = replace(policy, redact_partial=in_passing)
        self.policy: CallPolicy[S, C] = policy
        if unknown := policy.unknown_fields(shared.state):
            raise ValueError(
                f"digest names fields that {type(shared.state).__name__} does not have:"
                f" {', '.join(unknown)}"
            )
        self.time_limits = TimeLimits()
        self.closing: EndReason | None = None
        """Why the call will end after the reply under way."""
        self.ended: EndReason | None = None
        """Why the call is over, or None."""
        self._session: AgentSession[Any] | None = None
        self._listeners = EventListeners()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._at_end: list[Callable[[], None]] = []

    @property
    def session(self) -> AgentSession[Any]:
        """The session the call runs in; its ``userdata`` is the ``Call``."""
        if self._session is None:
            raise RuntimeError("the call has no session yet: attach() it first")
        return self._session

    @property
    def has_session(self) -> bool:
        """Whether the call has a session."""
        return self._session is not None

    def attach(self, session: AgentSession[Any]) -> None:
        """Set the session the call runs in."""
        self._session = session

    # -- events and background tasks --------------------------------------------------------------

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
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

    async def aclose(self) -> None:
        """Cancel the background tasks."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- the end ----------------------------------------------------------------------------------

    @property
    def listening(self) -> bool:
        """Whether user input is still accepted."""
        return self.ended is None and not self.time_limits.hung_up

    def close_after_reply(self, reason: EndReason) -> None:
        """End the call after the reply under way."""
        self.closing = reason

    def user_spoke_on(self) -> None:
        """Withdraw an end that an agent has decided; any other end stands."""
        if self.closing == "agent_ended":
            self.closing = None

    def at_end(self, callback: Callable[[], None]) -> None:
        """Have a function called once the call is over, in the order of these calls."""
        self._at_end.append(callback)

    def end(self, reason: EndReason) -> None:
        """Mark the call as over and emit ``Ended``; only the first reason counts."""
        if self.ended is not None:
            return
        self.ended = reason
        self._listeners.emit(Ended(reason))
        for callback in self._at_end:
            callback()
