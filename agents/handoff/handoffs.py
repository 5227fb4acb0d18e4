"""Handoffs: decided one at a time, and reverted if livekit does not carry them out."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from livekit.agents import RunContext, ToolError
from livekit.agents.llm import LLM, ChatItem
from livekit.agents.tts import TTS
from livekit.agents.voice import FunctionToolsExecutedEvent, SpeechHandle
from pydantic import BaseModel, JsonValue

from agents.handoff.agent_base import AgentBase
from agents.handoff.call_base import AnyCall, PendingHandoff
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
from agents.handoff.graph import BACK, Condition, Handoff
from agents.handoff.livekit_workarounds import (
    allow_interruptions,
    is_cancelled,
    on_failed_start,
)
from agents.handoff.replies import Replies
from agents.handoff.tool_use import ToolUse
from agents.handoff.tools import drop_nulls
from agents.handoff.user_turns import UserTurns
from state.shared import HandOver, Misuse, Refused, StateError, TakenOver

logger = logging.getLogger(__name__)

MAX_TRAIL = 16
"""How many handoffs can be undone by ways back."""

Models: TypeAlias = Mapping[str, LLM[Any] | Callable[[], LLM[Any]]]
"""Language models of agents, or functions that make them, by the agent's name. A function is called
once in a call, when its agent first takes over."""


class Handoffs:
    """Makes the agents of one call and hands the user over from one to the next."""

    def __init__(self, call: AnyCall, replies: Replies, turns: UserTurns, tools: ToolUse) -> None:
        self._call, self._replies, self._turns, self._tools = call, replies, turns, tools
        self._tts_by_agent: Mapping[str, TTS[Any]] = {}
        self._llm_by_agent: dict[str, LLM[Any] | Callable[[], LLM[Any]]] = {}

    def use_models(self, llm_by_agent: Models) -> None:
        """Give agents language models of their own.

        Raises:
            ValueError: A name is no agent's.
        """
        agents = self._call.graph.agents
        if unknown := ", ".join(name for name in llm_by_agent if name not in agents):
            raise ValueError(f"llm_by_agent has models for agents that do not exist: {unknown}")
        self._llm_by_agent = dict(llm_by_agent)

    def use_tts(self, tts_by_agent: Mapping[str, TTS[Any]]) -> None:
        """Give agents text-to-speech models of their own."""
        self._tts_by_agent = tts_by_agent

    def first_agent(self) -> AgentBase[Any, Any]:
        """Make the first agent: the graph's start, or the last active agent when resuming."""
        graph, active = self._call.graph, self._call.active
        active.starts_with(active.name if active.name in graph.agents else graph.start)
        arguments = active.arrival.arguments if active.arrival is not None else None
        return self._make_agent(active.name, with_arguments((), arguments))

    def _make_agent(self, name: str, carried: Sequence[ChatItem]) -> AgentBase[Any, Any]:
        agent = self._call.graph.agent(name, carried)
        if (tts := self._tts_by_agent.get(name)) is not None:
            agent.update_options(tts=tts)
        if (model := self._model_of(name)) is not None:
            agent.update_options(llm=model)
        return agent

    def _model_of(self, name: str) -> LLM[Any] | None:
        given = self._llm_by_agent.get(name)
        if given is None or isinstance(given, LLM):
            return given
        try:
            model: object = given()
            if not isinstance(model, LLM):
                raise TypeError(f"it returned {type(model).__name__}, not a language model")
        except Exception:  # the agent speaks with the call's model, and the next one tries again
            logger.exception("model of agent %s not made, using the call's", name)
            return None
        self._llm_by_agent[name] = model
        return model

    async def decide(
        self, handoff: Handoff[Any], raw: dict[str, object], context: RunContext[Any]
    ) -> AgentBase[Any, Any]:
        """Decide one transfer call: return the next agent, or tell the model why not.

        Transfers are decided one at a time, after every other tool of their reply; the first that
        is allowed wins. After that an interruption does not undo it (livekit-agents 1.8.9 activates
        the returned agent after the reply and its tools).
        """
        active = self._call.active
        async with self._tools.final_tools_lock:
            self._replies.decides_transfer(context.speech_handle)
            allow_interruptions(context, allow=False)
            try:
                return await self._decide(
                    handoff, raw, context.function_call.call_id, context.speech_handle
                )
            # Deciding runs the application's condition, carry and agent: the model is told of errors.
            except (Exception, asyncio.CancelledError) as error:
                if active.pending is None:
                    allow_interruptions(context, allow=True)
                if is_cancelled(error):
                    raise
                failure = self._call.describe_failure(error, NOT_HANDED_OVER, handoff.tool_name)
                reason = error.reason if isinstance(error, Refused) else code_of(error)
                target = handoff.target
                if target == BACK and active.trail:
                    target = active.trail[-1]
                self._refused(handoff.source, target, reason)
                raise ToolError(failure) from error

    async def _decide(
        self, handoff: Handoff[Any], raw: dict[str, object], call_id: str, speech: SpeechHandle
    ) -> AgentBase[Any, Any]:
        call, active = self._call, self._call.active
        reply = self._replies.reply_of(call_id)
        await self._tools.wait_for_siblings(reply, call_id)
        if call.closing is not None:
            raise CallEnding("The call is about to end.")
        if handoff.source != active.name:
            raise HandoffTaken(f"The user is with {active.name} now.")
        target, trail = self._destination(handoff)
        arguments = _validated(raw, handoff.arguments)
        if handoff.condition is not None:
            # Checked now without waiting, and again when it is committed.
            missing = handoff.condition(call.shared.state)
            if isinstance(missing, Refused):
                raise missing
            if missing is not None:
                raise Misuse(
                    f"the condition of {handoff.source} -> {handoff.target} returned"
                    f" {type(missing).__name__}, not Refused or None"
                )
        if active.hops >= call.policy.handoffs_per_turn:
            raise TooManyHandoffs("The user has been handed around enough. Answer yourself.")
        history = list(call.session.current_agent.chat_ctx.items)
        carried = with_arguments(handoff.carry(history), arguments)
        agent = self._make_agent(target, carried)
        more: dict[str, object] = {} if arguments is None else {"arguments": arguments}
        if call.graph.has_ways_back:
            more["trail"] = trail
        handover = HandOver(source=handoff.source, target=target).model_copy(update=more)
        if speech.interrupted:  # livekit may ignore a handoff of this reply
            raise Interrupted("The user spoke on before that.")
        with active.commit():
            await self._journal(handover, actor=handoff.source, provided=handoff.condition)
            if speech.done():  # interrupted by force, and livekit has stopped waiting for its tools
                self.correct_speaker()
                raise Interrupted("The user spoke on meanwhile.")
            pending = PendingHandoff(handoff.source, handover, call_id)
            active.hands_over(pending)
            speech.add_done_callback(lambda _: self._drop_if_not_accepted(pending))
            return agent

    def _destination(self, handoff: Handoff[Any]) -> tuple[str, tuple[str, ...]]:
        """Return the agent that a handoff leads to, and the trail of ways back from that agent.

        Raises:
            NoWayBack: It leads back, and no agent has handed the user over.
        """
        trail = self._call.active.trail
        if handoff.target != BACK:
            return handoff.target, (*trail, handoff.source)[-MAX_TRAIL:]
        if not trail:
            raise NoWayBack(
                "No agent has handed the user over to you. Continue with them yourself."
            )
        return trail[-1], trail[:-1]

    def hand_over_to(self, target: str) -> None:
        """Begin to hand the user over without a model request, if that is possible now.

        From then on ``Call.speak`` queues its texts, and the next agent says them as its opening. If
        the handoff cannot be stored, the active agent stays and says them.
        """
        call, active = self._call, self._call.active
        try:
            path = self._path_to(target)
        except Exception:  # a condition is the application's own
            logger.exception("handoff to %s not made: a condition failed", target)
            return
        if not path or call.closing is not None or not call.can_speak or not self._turns.is_quiet:
            return
        trail = active.trail
        more = {"trail": (*trail, *(one.source for one in path))[-MAX_TRAIL:]}
        handover = HandOver(source=active.name, target=target).model_copy(
            update=more if call.graph.has_ways_back else {}
        )
        pending = PendingHandoff(active.name, handover, None)
        self._turns.withdraw()
        active.hands_over(pending)
        call.spawn(self._hand_over_along(path, pending))

    def _path_to(self, target: str) -> tuple[Handoff[Any], ...]:
        """Return the fewest handoffs that lead to an agent now, without arguments; empty for none.

        Only the last one's condition has to hold: no agent on the way takes over.
        """
        call = self._call
        paths: list[tuple[Handoff[Any], ...]] = [()]
        reached = {call.active.name}
        for path in paths:
            source = path[-1].target if path else call.active.name
            for handoff in call.graph.leaving(source):
                if handoff.target in reached or handoff.target == BACK:
                    continue
                if handoff.arguments is not None:
                    continue
                if handoff.target == target:
                    if handoff.condition is not None and handoff.condition(call.shared.state):
                        continue
                    return (*path, handoff)
                reached.add(handoff.target)
                paths.append((*path, handoff))
        return ()

    async def _hand_over_along(self, path: Sequence[Handoff[Any]], pending: PendingHandoff) -> None:
        call, session = self._call, self._call.session
        try:
            async with self._tools.final_tools_lock:
                carried: Sequence[ChatItem] = list(session.current_agent.chat_ctx.items)
                for handoff in path:
                    carried = handoff.carry(carried)
                agent = self._make_agent(pending.target, with_arguments(carried, None))
                with call.active.commit():
                    await self._journal(
                        pending.handover, actor=pending.source, provided=path[-1].condition
                    )
                pending.accepted = True
                session.update_agent(agent)
                on_failed_start(session, self._not_started)
        except Exception as error:  # a carry and a condition are the application's own
            logger.warning(
                "handoff not made",
                extra={"source": pending.source, "target": pending.target, "code": code_of(error)},
                exc_info=None if isinstance(error, StateError | TimeoutError) else error,
            )
            if isinstance(error, TakenOver):
                call.close_after_reply("failed")
            self._drop(pending)
            await self._turns.answer_queued()  # first, as it interrupts what is being said
            self._replies.speak_queued()
            self._turns.recheck()

    async def _journal(
        self, handover: HandOver, *, actor: str, provided: Condition[Any] | None = None
    ) -> None:
        async with self._call.time_limits.timeout(None):
            await self._call.shared.apply(handover, actor=actor, provided=provided)

    def agent_entered(self, agent: str) -> None:
        """Make an agent the active one."""
        pending = self._call.active.enter(agent)
        self._turns.agent_entered()
        if pending is not None:
            told = pending.handover.arguments or {}
            self._call.emit(HandedOver(self._turns.turn, pending.source, pending.target, told))

    def tools_executed(self, event: FunctionToolsExecutedEvent) -> None:
        """Note whether livekit accepted the handoff, or a forced interruption dropped it."""
        pending = self._call.active.pending
        if event.has_agent_handoff:
            event.cancel_tool_reply()  # one reply: the next agent's
            if pending is not None:
                pending.accepted = True
                # Called once livekit has begun to change agents, which it does after this event.
                asyncio.get_running_loop().call_soon(
                    on_failed_start, self._call.session, self._not_started
                )
        elif pending is not None and pending.call_id in [c.call_id for c in event.function_calls]:
            self._drop(pending)

    def _not_started(self) -> None:
        """End the call: the old agent is gone, and the next one cannot be started."""
        logger.error("next agent could not be started, ending the call")
        self._call.end("failed")

    def _drop_if_not_accepted(self, pending: PendingHandoff) -> None:
        """Drop a handoff whose reply is over without livekit having accepted it."""
        if self._call.active.pending is pending and not pending.accepted:
            self._drop(pending)

    def _drop(self, pending: PendingHandoff) -> None:
        """Cancel a handoff: the old agent goes on."""
        self._call.active.stays()
        self._refused(pending.source, pending.target, Interrupted.code)
        self.correct_speaker()
        self._call.spawn(self._turns.answer_queued())

    def _refused(self, source: str, target: str, reason: str) -> None:
        self._call.emit(HandoffRefused(self._turns.turn, source, target, reason))

    def correct_speaker(self) -> None:
        """Journal the active agent if the journal names another; retried every turn."""
        if self._wrong_speaker() is not None:
            self._call.active.correction_started()
            self._call.spawn(self._correct())

    def _wrong_speaker(self) -> str | None:
        """Return the agent that the journal names, if that is not the active one."""
        named, active = self._call.shared.speaker, self._call.active
        return None if named == active.name or active.pending is not None else named

    async def _correct(self) -> None:
        active = self._call.active
        try:
            async with self._tools.final_tools_lock:
                if (wrong := self._wrong_speaker()) is not None:
                    arrived = active.arrival or HandOver(target=active.name)
                    await self._journal(
                        arrived.model_copy(update={"source": wrong}), actor=active.name
                    )
        except (StateError, TimeoutError) as error:
            logger.warning("active agent not journalled", extra={"code": code_of(error)})
        finally:
            active.correction_ended()
            self._turns.recheck()


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
