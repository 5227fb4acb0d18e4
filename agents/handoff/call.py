"""One call: the shared state, who speaks, what is pending. It is the session's ``userdata``."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from livekit.agents import AgentSession, RunContext, ToolError
from livekit.agents.llm import ChatMessage, ToolResult
from livekit.agents.voice import (
    AgentStateChangedEvent,
    CloseEvent,
    ConversationItemAddedEvent,
    FunctionToolsExecutedEvent,
    SpeechCreatedEvent,
)
from pydantic import BaseModel, ValidationError

from agents.handoff.events import (
    Ended,
    EndReason,
    Event,
    HandedOver,
    HandoffRefused,
    Heard,
    Listener,
    Said,
    StateChanged,
    ToolUsed,
    TurnWithdrawn,
    YourTurn,
)
from agents.handoff.graph import Graph, Handoff
from agents.handoff.reply import Replies, Reply
from agents.handoff.tools import Action, Read, Tool, given, refusal_text, tool_name
from agents.handoff.turns import TurnKeeper
from agents.handoff.voice import Voice
from state.shared import Applied, Command, HandOver, Refused, SharedState, StateError, TakenOver

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")

NOT_DONE = "Nothing was changed."
NOT_HANDED_OVER = "Not handed over."


@dataclass(frozen=True)
class Manners(Generic[S, C]):
    """How an application's calls go; everything has a working default.

    Args:
        digest: The state as every model request shows it: short text, as data. Takes state and version.
        told: What a model is told of a change it made.
        expects: What kind of answer a voice waits for; takes the state, who speaks and the last refusal.
        let_in: What may enter of what a guest says; the place to take secrets out of it.
        trouble: Said when the model fails or has nothing to say.
        tool_limit_s: How long a tool may work, in seconds; its commit is not counted.
        think_limit_s: How long a model may be silent within a reply, in seconds.
        handoffs_per_turn: How many handoffs one thing the guest said may cause.
    """

    digest: Callable[[S, int], str] = lambda state, version: state.model_dump_json(
        exclude_none=True
    )
    told: Callable[[Applied[S], Command[S, C]], str] = lambda applied, command: "Done."
    expects: Callable[[S, str, Refused | None], str] = lambda state, speaker, refusal: "open"
    let_in: Callable[[str], str] = str
    trouble: str = "I am sorry, I lost the thread for a moment. Could you say that again?"
    tool_limit_s: float = 10.0
    think_limit_s: float = 30.0
    handoffs_per_turn: int = 3


@dataclass(frozen=True)
class _Pending:
    source: str
    target: str
    call_id: str


class Call(Generic[S, C]):
    """Everything the voices of one call share.

    Args:
        shared: The state and the one way to change it.
        graph: The voices and who may hand over to whom.
        manners: What the application decides about its calls.
    """

    def __init__(
        self, shared: SharedState[S, C], graph: Graph[S], manners: Manners[S, C] | None = None
    ) -> None:
        self.shared = shared
        self.graph = graph
        self.manners: Manners[S, C] = manners or Manners()
        self.replies = Replies()
        self.speaker = shared.speaker or graph.start
        self.visited: set[str] = set()
        self.late: list[str] = []
        self.hops = 0
        self.last_refusal: Refused | None = None
        self._resumed = shared.version > 0
        self._session: AgentSession[Call[S, C]] | None = None
        self._pending: _Pending | None = None
        self._transferring = asyncio.Lock()
        self._closing: EndReason | None = None
        self._ended: EndReason | None = None
        self._listeners: list[Listener] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._digest: tuple[int, str] | None = None
        self._done_in: dict[str, int] = {}
        self._unsubscribe = shared.subscribe(self._state_changed)
        self.turns = TurnKeeper(
            more_to_come=lambda: self._pending is not None or bool(self.late),
            give=self._give_turn,
            withdraw=lambda: self._tell(TurnWithdrawn(self.turn)),
            silent=self._break_silence,
        )

    # -- what everybody may ask ------------------------------------------------------------------

    @property
    def state(self) -> S:
        """The present state; the same object for every voice."""
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
    def handing_over(self) -> bool:
        """Whether a handoff is under way, so that nobody is there to answer just now."""
        return self._pending is not None

    @property
    def ended(self) -> EndReason | None:
        """Why the call is over, when it is."""
        return self._ended

    @property
    def digest(self) -> str:
        """The state as a model request shows it, rendered once per version."""
        if self._digest is None or self._digest[0] != self.shared.version:
            self._digest = (
                self.shared.version,
                self.manners.digest(self.shared.state, self.shared.version),
            )
        return self._digest[1]

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell somebody everything that happens; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # -- the session ------------------------------------------------------------------------------

    def attach(self, session: "AgentSession[Call[S, C]]") -> None:
        """Follow a session's events; call it once, before the session starts."""
        self._session = session
        session.on("speech_created", self._on_speech_created)
        session.on("conversation_item_added", self._on_item)
        session.on("function_tools_executed", self._on_tools_executed)
        session.on("agent_state_changed", self._on_agent_state)
        session.on("close", self._on_close)

    @property
    def session(self) -> "AgentSession[Call[S, C]]":
        """The session this call runs in."""
        if self._session is None:
            raise RuntimeError("the call has no session yet: attach() it first")
        return self._session

    def first_voice(self) -> Voice[S, C]:
        """Make the voice that speaks first: the start, or the one that spoke last when resuming."""
        name = self.speaker if self.speaker in self.graph.voices else self.graph.start
        self.speaker = name
        return self.graph.voice(name)

    def hear(self, text: str) -> int:
        """Take in what the guest says and have it answered; returns the number of this turn.

        A reply under way is interrupted. Words that come while a handoff is under way are kept and
        answered by the next voice. After the end nothing is taken in.
        """
        if self._ended is not None:
            return self.turn
        text = self.manners.let_in(text)
        turn = self.turns.guest_spoke()
        self.hops = 0
        self._tell(Heard(turn, text))
        self.late.append(text)
        if self._pending is None:
            if self.turns.speaking:
                self._spawn(self._answer_late())
            else:
                self._answer()
        return turn

    async def answered(self) -> None:
        """Wait until it is the guest's turn, or the call has ended."""
        if self.turns.given or self._ended is not None:
            return
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        await waiting

    def close_after_reply(self, reason: EndReason) -> None:
        """End the call once what is being said has been said."""
        self._closing = reason

    def end(self, reason: EndReason) -> None:
        """Say that the call is over; only the first reason counts."""
        if self._ended is not None:
            return
        self._ended = reason
        self._unsubscribe()
        self._tell(Ended(reason))
        self._release()

    async def aclose(self) -> None:
        """Let go of everything that still runs beside the conversation."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- tools ------------------------------------------------------------------------------------

    async def use(self, tool: Tool, raw: dict[str, object], context: RunContext[Any]) -> Any:
        """Carry out one tool call, tell the truth about it, and never raise anything but ToolError."""
        call_id = context.function_call.call_id
        reply = self.replies.of(call_id) or Reply(self.speaker, self.shared.version)
        output, failure = "", "cancelled"
        try:
            output = await self._carry_out(tool, raw, reply, cut=call_id in reply.cut)
            failure = ""
        except StateError as error:
            if isinstance(error, Refused):
                self.last_refusal = error
            if isinstance(error, TakenOver):
                self.close_after_reply("failed")
            failure = refusal_text(NOT_DONE, error.code, error.message, dict(error.facts))
        except ValidationError as error:
            failure = refusal_text(NOT_DONE, "not_valid", _what_is_wrong(error), {})
        except TimeoutError:
            failure = refusal_text(
                NOT_DONE, "timeout", "It took too long and was given up.", {"tool": tool_name(tool)}
            )
        except (
            Exception
        ):  # a tool's fault must not end the call: the model is told that nothing happened
            logger.exception("a tool failed", extra={"tool": tool_name(tool)})
            failure = refusal_text(NOT_DONE, "internal", "Something went wrong inside.", {})
        finally:
            reply.answered(call_id, failure or None)
            self._tell(
                ToolUsed(
                    turn=self.turn,
                    voice=reply.voice,
                    name=tool_name(tool),
                    arguments=raw,
                    output=failure or output,
                    is_error=bool(failure),
                )
            )
        if failure:
            raise ToolError(failure)
        if issubclass(tool, Action) and tool.after_speech and reply.spoke:
            return ToolResult(output, reply_required=False)
        return output

    async def _carry_out(
        self, tool: Tool, raw: dict[str, object], reply: Reply, *, cut: bool
    ) -> str:
        if cut:
            raise Refused(
                "The arguments did not arrive whole. Make the call again.", tool=tool_name(tool)
            )
        if issubclass(tool, Command):
            command = tool.model_validate({"op": tool_name(tool), **given(raw)})
            self._refuse_unasked(command.op, reply.voice)
            async with asyncio.timeout(self.manners.tool_limit_s):
                applied = await self.shared.apply(command, actor=reply.voice, seen=reply.seen)
            self.last_refusal = None
            self._done_in[command.op] = self.turn
            return self.manners.told(applied, command)
        if issubclass(tool, Read):
            return tool.model_validate({"op": tool_name(tool), **given(raw)}).answer(
                self.shared.state, self.shared.context
            )
        action = tool.model_validate({"op": tool_name(tool), **given(raw)})
        async with asyncio.timeout(self.manners.tool_limit_s):
            return await action.run(self)

    def _refuse_unasked(self, op: str, voice: str) -> None:
        """Refuse what is an answer of the guest's while the guest has not been asked."""
        for told in self.graph.voices[voice].needs_answer.get(op, ()):
            if self._done_in.get(told) == self.turn:
                raise NotAnswered(
                    f"The guest has not answered yet to what {told} brought. Tell it, and wait.",
                    needs=told,
                )

    # -- handoffs ---------------------------------------------------------------------------------

    async def transfer(self, handoff: Handoff[S], context: RunContext[Any]) -> Voice[S, C]:
        """Decide one transfer call: return the next voice, or tell the model why not.

        Transfers are decided one at a time, after every other tool of their reply; the first that is
        allowed wins. From there on an interruption does not undo it (livekit-agents 1.8.9 applies the
        returned agent after the reply and its tools).
        """
        call_id = context.function_call.call_id
        _allow_interruptions(context, allow=False)
        try:
            async with self._transferring:
                return await self._decide(handoff, call_id)
        except StateError as error:
            if self._pending is None:
                _allow_interruptions(context, allow=True)
            if isinstance(error, Refused):
                self.last_refusal = error
            reason = (
                str(error.facts.get("needs", error.code)) if error.code == "missing" else error.code
            )
            self._tell(HandoffRefused(self.turn, handoff.source, handoff.target, reason))
            raise ToolError(
                refusal_text(NOT_HANDED_OVER, error.code, error.message, dict(error.facts))
            ) from error

    async def _decide(self, handoff: Handoff[S], call_id: str) -> Voice[S, C]:
        reply = self.replies.of(call_id)
        if reply is not None:
            await reply.siblings()
        if self._pending is not None:
            raise _HandoffTaken(
                f"The guest is already being handed over to {self._pending.target}."
            )
        if handoff.source != self.speaker:
            raise _HandoffTaken(f"The guest is with {self.speaker} now.")
        if reply is not None and call_id in reply.cut:
            raise Refused("The arguments did not arrive whole. Make the call again.")
        if reply is not None and reply.failed is not None:
            raise _SiblingFailed(
                f"Something else in this reply was not done; tell the guest. {reply.failed}"
            )
        if (
            handoff.condition is not None
            and (missing := handoff.condition(self.shared.state)) is not None
        ):
            raise missing
        if self.hops >= self.manners.handoffs_per_turn:
            raise _TooManyHandoffs("The guest has been handed around enough. Answer yourself.")
        voice = self.graph.voice(handoff.target, handoff.carry(self._history()))
        await self.shared.apply(
            HandOver(source=handoff.source, target=handoff.target), actor=handoff.source
        )
        self.hops += 1
        self._pending = _Pending(handoff.source, handoff.target, call_id)
        return voice

    def _history(self) -> list[Any]:
        return list(self.session.current_agent.chat_ctx.items)

    def entered(self, voice: Voice[S, C]) -> "list[str]":
        """A voice has taken over: nothing is pending any more. Returns what the guest said meanwhile."""
        pending, self._pending = self._pending, None
        self.turns.voice_entered()
        self.speaker = voice.name
        self.last_refusal = None
        if pending is not None:
            self._tell(HandedOver(self.turn, pending.source, pending.target))
        late, self.late = self.late, []
        return late

    def _handoff_dropped(self, pending: _Pending) -> None:
        """A forced interruption threw the handoff away: the old voice goes on."""
        self._pending = None
        self._tell(HandoffRefused(self.turn, pending.source, pending.target, "interrupted"))
        self._spawn(self._back_to(pending))

    async def _back_to(self, pending: _Pending) -> None:
        try:
            await self.shared.apply(
                HandOver(source=pending.target, target=pending.source), actor=pending.source
            )
        except StateError as error:
            logger.warning("a dropped handoff was not written down", extra={"code": error.code})
        await self._answer_late()

    def _answer(self) -> None:
        words, self.late = " ".join(self.late), []
        self.session.generate_reply(user_input=words)

    async def _answer_late(self) -> None:
        """Break off what is being said, then answer, unless the next voice has taken the words along.

        The interruption is waited for: until then the model would not be shown what its tools have done
        (livekit-agents 1.8.9 adds that to the history when the interrupted reply has ended).
        """
        while self._pending is None and self.late and self._ended is None:
            try:
                await self.session.interrupt()
            except (
                RuntimeError
            ):  # a transfer is being decided on: livekit refuses to interrupt that
                if (
                    not self.turns.speaking
                ):  # or the session is closing: nobody will answer any more
                    return
                await asyncio.gather(*(speech.wait_for_playout() for speech in self.turns.speeches))
                continue
            if self._pending is None and self.late:
                self._answer()

    # -- livekit's events: plain functions that never raise, since livekit passes a TypeError on ------

    def _on_speech_created(self, event: SpeechCreatedEvent) -> None:
        self.turns.speech_created(event.speech_handle)

    def _on_item(self, event: ConversationItemAddedEvent) -> None:
        item = event.item
        if isinstance(item, ChatMessage) and item.role == "assistant":
            self._tell(Said(self.turn, self.speaker, item.text_content or "", item.interrupted))
            self.turns.spoke(interrupted=item.interrupted)

    def _on_agent_state(self, event: AgentStateChangedEvent) -> None:
        self.turns.state_changed(event.new_state)

    def _on_tools_executed(self, event: FunctionToolsExecutedEvent) -> None:
        ids = [call.call_id for call in event.function_calls]
        self.replies.forget(ids)
        if event.has_agent_handoff:
            event.cancel_tool_reply()  # one reply: the next voice's
        elif self._pending is not None and self._pending.call_id in ids:
            self._handoff_dropped(self._pending)

    def _on_close(self, event: CloseEvent) -> None:
        self.end("failed" if event.error is not None else self._closing or "guest_left")

    # -- telling ----------------------------------------------------------------------------------

    def _state_changed(self, applied: Applied[S]) -> None:
        self._tell(StateChanged(self.turn, applied.version, applied.ops, applied.state))

    def _give_turn(self) -> None:
        if self._closing is not None:
            self.end(self._closing)
            return
        expects = self.manners.expects(self.shared.state, self.speaker, self.last_refusal)
        self._tell(YourTurn(self.turn, self.speaker, self.shared.version, expects))
        self._release()

    def _break_silence(self) -> None:
        if self._ended is None and self._session is not None:
            try:
                self._session.say(self.manners.trouble)
            except RuntimeError:  # the session is closing: nobody is left to hear it
                logger.debug("nothing was said, and the session is closing")

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.done():
                one.set_result(None)

    def _tell(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:  # a listener's fault must not reach the conversation
                logger.exception("a listener failed")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class NotAnswered(Refused):
    """The guest has to be told something, and to answer, before this."""

    code = "not_answered"


class _HandoffTaken(Refused):
    code = "already_handing_over"


class _SiblingFailed(Refused):
    code = "sibling_failed"


class _TooManyHandoffs(Refused):
    code = "too_many_handoffs"


def _allow_interruptions(context: RunContext[Any], *, allow: bool) -> None:
    try:
        if allow:
            context.speech_handle.allow_interruptions = True
        else:
            context.disallow_interruptions()
    except RuntimeError:  # interrupted already: the transfer is decided all the same
        logger.debug("the reply was interrupted before its transfer was decided")


def _what_is_wrong(error: ValidationError) -> str:
    """Say what is wrong with the arguments without repeating them: they may hold what must not spread."""
    return "; ".join(
        f"{'.'.join(str(step) for step in fault['loc'][-2:]) or 'arguments'}: {fault['msg']}"
        for fault in error.errors(include_input=False, include_url=False, include_context=False)
    )
