"""How a call's handoffs are decided, one at a time, and what becomes of one that livekit does not take."""

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from livekit.agents import RunContext, ToolError
from livekit.agents.voice import FunctionToolsExecutedEvent, SpeechHandle
from pydantic import BaseModel

from agents.handoff.events import HandedOver, HandoffRefused
from agents.handoff.failures import (
    NOT_HANDED_OVER,
    CallEnding,
    HandoffTaken,
    Interrupted,
    TooManyHandoffs,
    code_of,
)
from agents.handoff.guards import allow_interruptions, is_cancelled
from state.shared import HandOver, Refused, StateError

if TYPE_CHECKING:
    from agents.handoff.agent import Agent
    from agents.handoff.call import Call
    from agents.handoff.graph import Condition, Handoff

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


@dataclass(eq=False)
class Pending:
    """A handoff that has been decided, until the next agent has entered.

    Args:
        source: Who hands over.
        target: Who takes over.
        call_id: The transfer call that it was asked for by.
        taken: Whether livekit has begun to bring the next agent in.
    """

    source: str
    target: str
    call_id: str
    taken: bool = False


class Transfers(Generic[S, C]):
    """The handoffs of one call.

    Args:
        call: The call they happen in.
    """

    def __init__(self, call: "Call[S, C]") -> None:
        self.hops = 0
        """How many handoffs the guest's last words have caused."""
        self.pending: Pending | None = None
        self._correcting = 0
        self._settled = asyncio.Event()
        self._settled.set()
        self._call = call

    @property
    def under_way(self) -> bool:
        """Whether a handoff has not been heard yet, or one is being taken back."""
        return self.pending is not None or self._correcting > 0

    @property
    def being_written(self) -> bool:
        """Whether a handoff is past its conditions, and not yet pending: nobody should begin to answer now."""
        return not self._settled.is_set()

    async def settled(self) -> None:
        """Wait until a handoff that is being written down is pending, or was given up."""
        await self._settled.wait()

    async def decide(self, handoff: "Handoff[S]", context: RunContext[Any]) -> "Agent[S, C]":
        """Decide one transfer call: return the next agent, or tell the model why not.

        Transfers are decided one at a time, after every other tool of their reply; the first that is
        allowed wins. From there on an interruption does not undo it (livekit-agents 1.8.9 applies the
        returned agent after the reply and its tools).
        """
        call = self._call
        async with call.tools.last_things:
            allow_interruptions(context, allow=False)
            try:
                return await self._decide(
                    handoff, context.function_call.call_id, context.speech_handle
                )
            except (Exception, asyncio.CancelledError) as error:
                if self.pending is None:
                    allow_interruptions(context, allow=True)
                if is_cancelled(error):
                    raise
                failure = call.failure(error, NOT_HANDED_OVER, handoff.tool_name)
                reason = error.reason if isinstance(error, Refused) else code_of(error)
                call.tell(HandoffRefused(call.turn, handoff.source, handoff.target, reason))
                raise ToolError(failure) from error

    async def _decide(
        self, handoff: "Handoff[S]", call_id: str, speech: SpeechHandle
    ) -> "Agent[S, C]":
        call = self._call
        reply = call.reply_of(call_id)
        await call.tools.after_siblings(reply, call_id)
        if call.closing is not None:
            raise CallEnding("The call is about to end.")
        if handoff.source != call.speaker:
            raise HandoffTaken(f"The guest is with {call.speaker} now.")
        if handoff.condition is not None:
            # Asked first without waiting, and once more when it is written down.
            missing = handoff.condition(call.shared.state)
            if missing is not None:
                raise missing
        if self.hops >= call.policy.handoffs_per_turn:
            raise TooManyHandoffs("The guest has been handed around enough. Answer yourself.")
        history = list(call.session.current_agent.chat_ctx.items)
        agent = call.make_agent(handoff.target, handoff.carry(history))
        if speech.interrupted:  # livekit may take no handoff from this reply any more
            raise Interrupted("The guest spoke on before that.")
        self._settled.clear()
        try:
            return await self._take(agent, handoff, call_id, speech)
        finally:
            self._settled.set()

    async def _take(
        self, agent: "Agent[S, C]", handoff: "Handoff[S]", call_id: str, speech: SpeechHandle
    ) -> "Agent[S, C]":
        await self._write_down(
            handoff.source, handoff.target, actor=handoff.source, provided=handoff.condition
        )
        if speech.done():  # interrupted by force, and livekit has stopped waiting for its tools
            self.correct_speaker()
            raise Interrupted("The guest spoke on meanwhile.")
        self.hops += 1
        self.pending = pending = Pending(handoff.source, handoff.target, call_id)
        speech.add_done_callback(lambda _: self._drop_untaken(pending))
        return agent

    async def _write_down(
        self, source: str, target: str, *, actor: str, provided: "Condition[S] | None" = None
    ) -> None:
        call = self._call
        async with call.limits.within(None):
            await call.shared.apply(
                HandOver(source=source, target=target), actor=actor, provided=provided
            )

    def arrived(self) -> None:
        """The next agent has entered: nothing is pending any more."""
        pending, self.pending = self.pending, None
        if pending is not None:
            self._call.tell(HandedOver(self._call.turn, pending.source, pending.target))

    def tools_executed(self, event: FunctionToolsExecutedEvent) -> None:
        """Livekit takes the next agent in, or a forced interruption threw the handoff away."""
        pending = self.pending
        if event.has_agent_handoff:
            event.cancel_tool_reply()  # one reply: the next agent's
            if pending is not None:
                pending.taken = True
        elif pending is not None and pending.call_id in (c.call_id for c in event.function_calls):
            self._drop(pending)

    def _drop_untaken(self, pending: Pending) -> None:
        """The reply a transfer was asked for in is over, and livekit has not taken the next agent."""
        if self.pending is pending and not pending.taken:
            self._drop(pending)

    def _drop(self, pending: Pending) -> None:
        """The old agent goes on."""
        call = self._call
        self.pending = None
        call.tell(HandoffRefused(call.turn, pending.source, pending.target, Interrupted.code))
        self.correct_speaker()
        call.spawn(call.answer_late())

    def correct_speaker(self) -> None:
        """Write down who speaks where the journal says otherwise; it is tried again in each turn."""
        call = self._call
        if call.shared.speaker not in (None, call.speaker) and self.pending is None:
            self._correcting += 1
            call.spawn(self._correct())

    async def _correct(self) -> None:
        call = self._call
        try:
            async with call.tools.last_things:
                wrong = call.shared.speaker
                if wrong not in (None, call.speaker) and self.pending is None:
                    await self._write_down(wrong, call.speaker, actor=call.speaker)
        except (StateError, TimeoutError) as error:
            logger.warning("who speaks was not written down", extra={"code": code_of(error)})
        finally:
            self._correcting -= 1
            call.turns.look_again()
