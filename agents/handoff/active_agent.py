"""The active agent of one call, and the handoff that is pending."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from agents.handoff.graph import Graph
from state.shared import HandOver, Refused, SharedState


@dataclass(eq=False)
class PendingHandoff:
    """A handoff that has been decided, until the next agent has entered.

    Args:
        source: The agent that hands over.
        handover: Its journal entry.
        call_id: The id of the transfer call.
        accepted: Whether livekit has begun to activate the next agent.
    """

    source: str
    handover: HandOver
    call_id: str
    accepted: bool = False

    @property
    def target(self) -> str:
        """The agent that takes over."""
        return self.handover.target


class ActiveAgent:
    """Knows which agent is active, how it took over, and whether a handoff is pending.

    Args:
        shared: The call's state.
        graph: Its agents.
    """

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
        """Where ways back lead from the active agent: the agents that handed over, the last one last."""
        arrival = self.arrival
        known = (arrival.trail if arrival is not None else None) or ()
        trail = [name for name in known if name in self._agents]
        while trail and trail[-1] == self.name:  # an agent between has left the graph
            del trail[-1]
        return tuple(trail)

    # -- agents -----------------------------------------------------------------------------------

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

    # -- handoffs ---------------------------------------------------------------------------------

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
        """Count it no longer."""
        self._correcting -= 1

    # -- refusals ---------------------------------------------------------------------------------

    def refused(self, refusal: Refused) -> None:
        """Note why a tool call was refused."""
        self.last_refusal = refusal

    def command_applied(self) -> None:
        """Forget the last refusal: a command of an agent's model has been applied since."""
        self.last_refusal = None
