"""Decides handoffs, one at a time, and reverts those that livekit does not carry out."""

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from livekit.agents import RunContext, ToolError
from livekit.agents.voice import FunctionToolsExecutedEvent, SpeechHandle
from pydantic import BaseModel, JsonValue

from agents.handoff.carry import with_arguments
from agents.handoff.events import HandedOver, HandoffRefused
from agents.handoff.failures import (
    NOT_HANDED_OVER,
    CallEnding,
    HandoffTaken,
    Interrupted,
    NoWayBack,
    TooManyHandoffs,
    code_of,
)
from agents.handoff.graph import BACK
from agents.handoff.livekit_workarounds import allow_interruptions, is_cancelled
from agents.handoff.tools import drop_nulls
from state.shared import HandOver, Refused, StateError

if TYPE_CHECKING:
    from agents.handoff.agent import Agent
    from agents.handoff.call import Call
    from agents.handoff.graph import Condition, Handoff

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")

MAX_TRAIL = 16
"""How many handoffs can be undone by ways back."""


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


class Transfers(Generic[S, C]):
    """The handoffs of one call.

    Args:
        call: The call they happen in.
    """

    def __init__(self, call: "Call[S, C]") -> None:
        self.hops = 0
        """How many handoffs the last user message has caused."""
        self.pending: PendingHandoff | None = None
        self._arrival = call.shared.handover
        self._correcting = 0
        self._commit_ended = asyncio.Event()
        self._commit_ended.set()
        self._call = call

    @property
    def under_way(self) -> bool:
        """Whether a handoff is pending, or one is being reverted."""
        return self.pending is not None or self._correcting > 0

    @property
    def arrival(self) -> HandOver | None:
        """The handoff by which the active agent took over, if it was one."""
        arrived = self._arrival
        return arrived if arrived is not None and arrived.target == self._call.speaker else None

    @property
    def trail(self) -> tuple[str, ...]:
        """Where ways back lead from the active agent: who handed over, the last one last."""
        call = self._call
        known = (self.arrival.trail if self.arrival is not None else None) or ()
        trail = [name for name in known if name in call.graph.agents]
        while trail and trail[-1] == call.speaker:  # an agent between has left the graph
            del trail[-1]
        return tuple(trail)

    @property
    def committing(self) -> bool:
        """Whether a handoff is between its conditions and pending: no reply should start now."""
        return not self._commit_ended.is_set()

    def user_spoke(self) -> None:
        """Count the handoffs of a new user message."""
        self.hops = 0

    async def commit_ended(self) -> None:
        """Wait until the handoff being committed is pending or has failed."""
        await self._commit_ended.wait()

    async def decide(
        self, handoff: "Handoff[S]", raw: dict[str, object], context: RunContext[Any]
    ) -> "Agent[S, C]":
        """Decide one transfer call: return the next agent, or tell the model why not.

        Transfers are decided one at a time, after every other tool of their reply; the first that
        is allowed wins. After that an interruption does not undo it (livekit-agents 1.8.9 activates
        the returned agent after the reply and its tools).
        """
        call = self._call
        async with call.tools.final_tools_lock:
            allow_interruptions(context, allow=False)
            try:
                return await self._decide(
                    handoff, raw, context.function_call.call_id, context.speech_handle
                )
            except (Exception, asyncio.CancelledError) as error:
                if self.pending is None:
                    allow_interruptions(context, allow=True)
                if is_cancelled(error):
                    raise
                failure = call.describe_failure(error, NOT_HANDED_OVER, handoff.tool_name)
                reason = error.reason if isinstance(error, Refused) else code_of(error)
                target = handoff.target
                if target == BACK and self.trail:
                    target = self.trail[-1]
                call.emit(HandoffRefused(call.turn, handoff.source, target, reason))
                raise ToolError(failure) from error

    async def _decide(
        self, handoff: "Handoff[S]", raw: dict[str, object], call_id: str, speech: SpeechHandle
    ) -> "Agent[S, C]":
        call = self._call
        reply = call.reply_of(call_id)
        await call.tools.wait_for_siblings(reply, call_id)
        if call.closing is not None:
            raise CallEnding("The call is about to end.")
        if handoff.source != call.speaker:
            raise HandoffTaken(f"The user is with {call.speaker} now.")
        target, trail = self._destination(handoff)
        arguments = _validated(raw, handoff.arguments)
        if handoff.condition is not None:
            # Checked now without waiting, and again when it is committed.
            missing = handoff.condition(call.shared.state)
            if missing is not None:
                raise missing
        if self.hops >= call.policy.handoffs_per_turn:
            raise TooManyHandoffs("The user has been handed around enough. Answer yourself.")
        history = list(call.session.current_agent.chat_ctx.items)
        carried = with_arguments(handoff.carry(history), arguments)
        agent = call.make_agent(target, carried)
        more: dict[str, object] = {} if arguments is None else {"arguments": arguments}
        if call.graph.has_ways_back:
            more["trail"] = trail
        handover = HandOver(source=handoff.source, target=target).model_copy(update=more)
        if speech.interrupted:  # livekit may ignore a handoff of this reply
            raise Interrupted("The user spoke on before that.")
        self._commit_ended.clear()
        try:
            return await self._commit(agent, handover, handoff.condition, call_id, speech)
        finally:
            self._commit_ended.set()

    def _destination(self, handoff: "Handoff[S]") -> tuple[str, tuple[str, ...]]:
        """Return the agent that a handoff leads to, and where ways back lead from there.

        Raises:
            NoWayBack: It leads back, and no agent has handed the user over.
        """
        trail = self.trail
        if handoff.target != BACK:
            return handoff.target, (*trail, handoff.source)[-MAX_TRAIL:]
        if not trail:
            raise NoWayBack(
                "No agent has handed the user over to you. Continue with them yourself."
            )
        return trail[-1], trail[:-1]

    async def _commit(
        self,
        agent: "Agent[S, C]",
        handover: HandOver,
        condition: "Condition[S] | None",
        call_id: str,
        speech: SpeechHandle,
    ) -> "Agent[S, C]":
        source = self._call.speaker
        await self._journal(handover, actor=source, provided=condition)
        if speech.done():  # interrupted by force, and livekit has stopped waiting for its tools
            self.correct_speaker()
            raise Interrupted("The user spoke on meanwhile.")
        self.hops += 1
        self.pending = pending = PendingHandoff(source, handover, call_id)
        speech.add_done_callback(lambda _: self._drop_if_not_accepted(pending))
        return agent

    async def _journal(
        self, handover: HandOver, *, actor: str, provided: "Condition[S] | None" = None
    ) -> None:
        call = self._call
        async with call.time_limits.timeout(None):
            await call.shared.apply(handover, actor=actor, provided=provided)

    def agent_entered(self) -> None:
        """Clear the pending handoff: the next agent has entered."""
        pending, self.pending = self.pending, None
        if pending is not None:
            self._arrival = pending.handover
            self._call.emit(
                HandedOver(
                    self._call.turn,
                    pending.source,
                    pending.target,
                    pending.handover.arguments or {},
                )
            )

    def tools_executed(self, event: FunctionToolsExecutedEvent) -> None:
        """Note whether livekit accepted the handoff, or a forced interruption dropped it."""
        pending = self.pending
        if event.has_agent_handoff:
            event.cancel_tool_reply()  # one reply: the next agent's
            if pending is not None:
                pending.accepted = True
        elif pending is not None and pending.call_id in (c.call_id for c in event.function_calls):
            self._drop(pending)

    def _drop_if_not_accepted(self, pending: PendingHandoff) -> None:
        """Drop a handoff whose reply is over without livekit having accepted it."""
        if self.pending is pending and not pending.accepted:
            self._drop(pending)

    def _drop(self, pending: PendingHandoff) -> None:
        """Cancel a handoff: the old agent goes on."""
        call = self._call
        self.pending = None
        call.emit(HandoffRefused(call.turn, pending.source, pending.target, Interrupted.code))
        self.correct_speaker()
        call.spawn(call.answer_queued())

    def correct_speaker(self) -> None:
        """Journal the active agent if the journal names another; retried every turn."""
        call = self._call
        if call.shared.speaker not in (None, call.speaker) and self.pending is None:
            self._correcting += 1
            call.spawn(self._correct())

    async def _correct(self) -> None:
        call = self._call
        try:
            async with call.tools.final_tools_lock:
                wrong = call.shared.speaker
                if wrong not in (None, call.speaker) and self.pending is None:
                    arrived = self.arrival or HandOver(target=call.speaker)
                    await self._journal(
                        arrived.model_copy(update={"source": wrong}), actor=call.speaker
                    )
        except (StateError, TimeoutError) as error:
            logger.warning("active agent not journalled", extra={"code": code_of(error)})
        finally:
            self._correcting -= 1
            call.turns.recheck()


def _validated(
    raw: dict[str, object], model: type[BaseModel] | None
) -> dict[str, JsonValue] | None:
    """Return the arguments of a transfer call as JSON; None if it takes none.

    Raises:
        ValidationError: They do not fit their model.
    """
    if model is None:
        return None
    made = model.model_validate(drop_nulls(raw, model))
    return made.model_dump(mode="json", exclude_none=True)
