"""An agent: instructions, tools, and how it opens. Everything else is the framework's."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from livekit import agents as livekit_agents
from livekit.agents import NOT_GIVEN, APIError, FlushSentinel, ModelSettings, StopResponse
from livekit.agents.llm import LLM, ChatChunk, ChatContext, ChatItem, ChatMessage, ChoiceDelta
from livekit.agents.llm import Tool as LivekitTool
from livekit.rtc import AudioFrame
from pydantic import BaseModel

from agents.handoff.failures import why_model_failed
from agents.handoff.guards import asked_once
from agents.handoff.history import History
from agents.handoff.hooks import guarded
from agents.handoff.outgoing import Outgoing
from agents.handoff.reply import Reply
from agents.handoff.request import as_data, ends_with_guest, recent, to_be_said, with_digest
from agents.handoff.sorting import CallSorter, Sorts
from agents.handoff.speech_output import spoken
from agents.handoff.tools import Action, Read, Tool, tool_name, tool_of
from state.shared import Command

if TYPE_CHECKING:
    from agents.handoff.call import Call
    from agents.handoff.graph import Graph

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


@dataclass(frozen=True)
class Opening:
    """What an agent is told when it begins to speak.

    Args:
        first: When the call begins with it.
        handed_over: When another agent has just handed the guest over to it.
        come_back: When it has spoken in this call before, or the call goes on after a break.
        canned: Said as it stands when the model cannot open.
    """

    first: str
    handed_over: str
    come_back: str
    canned: str


class Agent(livekit_agents.Agent, Generic[S, C]):
    """One speaker of a call. Subclass it and set the four class attributes.

    An instance serves one stay of the guest; ``Graph.agent`` makes a fresh one for each.
    """

    name: ClassVar[str]
    """In lower snake case; transfers to it are called ``transfer_to_<name>``."""
    prompt: ClassVar[str]
    """Its instructions."""
    offers: tuple[type[Command[S, C]] | type[Read[S, C]] | type[Action], ...] = ()
    """The commands, reads and actions its model may call; commands and reads of this state."""
    opening: ClassVar[Opening]
    """How it begins to speak."""
    needs_answer: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Commands by ``op`` that answer what the guest was told after others of these ``op``: refused until
    the guest has spoken since."""

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        guarded(cls)

    def __init__(self, graph: "Graph[Any]", carried: Sequence[ChatItem] = ()) -> None:
        self._transfers: frozenset[str] = frozenset(
            tool.info.name for tool in graph.transfers(self.name)
        )
        self._last = self._transfers | {
            tool_name(tool) for tool in self.offers if issubclass(tool, Action) and tool.goes_last
        }
        self._own = self._transfers | {tool_name(tool) for tool in self.offers}
        self._awaited = self._own - self._last
        self._opens = False
        self._opened = False
        self._taken: _Taken | None = None
        # What decides a request's tools changes with the stage at most, and they are many.
        self._known: list[LivekitTool] = []
        self._sorted: dict[
            tuple[tuple[Tool, ...] | None, bool], tuple[list[LivekitTool], Sorts]
        ] = {}
        self._data: tuple[str, ChatMessage] | None = None
        super().__init__(
            id=self.name,
            instructions=self.prompt,
            tools=[*(tool_of(tool) for tool in self.offers), *graph.transfers(self.name)],
            chat_ctx=ChatContext(list(carried)),
        )

    @property
    def call(self) -> "Call[S, C]":
        """The call this agent speaks in."""
        # Agent.session is untyped in livekit-agents 1.8.9: this is the one cast for all of us. It raises
        # RuntimeError outside a session, which Agent's constructor, reading every property, cannot bear.
        try:
            session = self.session
        except RuntimeError as error:
            raise AttributeError(str(error)) from error
        return cast("Call[S, C]", session.userdata)

    @property
    def state(self) -> S:
        """The present state; the same object for every agent of the call."""
        return self.call.state

    def offers_now(self, state: S) -> Sequence[Tool]:
        """Which of its tools the model is shown in this state; all of them unless overridden."""
        return self.offers

    # livekit-agents 1.8.9 keeps an agent's history here, and replaces it when the agent's tools or its history
    # are set: whatever it is given becomes a history of ours.
    @property
    def _chat_ctx(self) -> ChatContext:
        return self._history

    @_chat_ctx.setter
    def _chat_ctx(self, given: ChatContext) -> None:
        self._history = History(given.items)

    # -- opening ----------------------------------------------------------------------------------

    async def on_enter(self) -> None:
        """Take over from whoever spoke before, and open.

        A subclass may do more, or open in its own way: what it raises is logged, and an agent that has
        said nothing then opens as any other.
        """
        self.takes_over()
        call, taken = self.call, self._taken or _Taken(handed_over=False)
        late, taken.late = taken.late, []
        self._opened = True
        try:
            self._open(call, handed_over=taken.handed_over, late=late)
        except (
            Exception
        ):  # a mute agent is worse than a canned one, and livekit would only log this
            logger.exception("an agent could not open", extra={"agent": self.name})
            self._opens = False
            call.late[:0] = late
            call.speak(self.opening.canned)
        call.speak_unsaid()

    def takes_over(self) -> bool:
        """Become the one who speaks; returns whether this agent was that already."""
        if self._taken is not None:
            return True
        call = self.call
        handed_over = call.handing_over
        self._taken = _Taken(handed_over, call.entered(self))
        return False

    def make_sure_it_opened(self) -> None:
        """Open, unless that has been done, and nothing that the guest said meanwhile is lost by it."""
        call = self.call
        if self._opened or self._taken is None or call.ended is not None:
            return
        if not call.turns.speaking and not call.turns.answered:
            call.spawn(Agent.on_enter(self))
        else:
            call.visited.add(self.name)
            if self._taken.late:
                call.answer(self._taken.late)

    def _open(self, call: "Call[S, C]", *, handed_over: bool, late: list[str]) -> None:
        if self.name in call.visited or (call.resumed and not handed_over):
            how = self.opening.come_back
        else:
            how = self.opening.handed_over if handed_over else self.opening.first
        call.visited.add(self.name)
        # Words that nobody has answered may be acted on, by this agent's own tools and never by another
        # handoff: what was said to the Greeter need not be said again.
        unanswered = handed_over and (bool(late) or ends_with_guest(self.chat_ctx.items))
        self._opens = True
        if late and not handed_over:
            # The first words of a call: they are answered as any others, once the guest has been greeted.
            call.late[:0] = late
            speech = call.ask((), instructions=how, tool_choice="none")
            speech.add_done_callback(lambda _: call.spawn(call.answer_late()))
        else:
            choice = NOT_GIVEN if unanswered else "none"
            speech = call.ask(late, instructions=how, tool_choice=choice)
        speech.add_done_callback(self._has_opened)

    def welcome_back(self) -> None:
        """Say where the guest and this agent were, to one who has been away."""
        self._opens = True
        speech = self.call.ask((), instructions=self.opening.come_back, tool_choice="none")
        speech.add_done_callback(self._has_opened)

    def _has_opened(self, _: object) -> None:
        self._opens = False

    # -- speech -----------------------------------------------------------------------------------

    async def on_user_turn_completed(self, turn_ctx: ChatContext, new_message: ChatMessage) -> None:
        """Give the call what the guest has said aloud: it answers spoken and typed words alike.

        Raises:
            StopResponse: Always, so that livekit does not answer too.
        """
        self.call.hearing.turn_ended(new_message.text_content or "")
        raise StopResponse

    async def tts_node(
        self, text: AsyncIterable[str], model_settings: ModelSettings
    ) -> AsyncIterator[AudioFrame]:
        """Say words aloud; those that cannot be spoken are shown all the same."""
        async for frame in spoken(self, text, model_settings):
            yield frame

    # -- the model --------------------------------------------------------------------------------

    async def llm_node(
        self, chat_ctx: ChatContext, tools: list[LivekitTool], model_settings: ModelSettings
    ) -> AsyncIterator[ChatChunk | str | FlushSentinel]:
        """Ask the model, showing it the state, and sort the calls it makes.

        Transfers go last. Calls that were not offered are dropped, cut arguments are marked. A model
        that fails or has nothing to say is spoken for.
        """
        call = self.call
        if (words := to_be_said(chat_ctx.items)) is not None:
            yield words
            return
        # Said with a reply's own words and never before: a reply that has said something, and then calls tools or
        # is interrupted, would seem to have answered what it has not yet acted on.
        first = f"{call.first_words} ".lstrip()
        reply = call.new_reply(self.name)
        outgoing = Outgoing(call.policy.redact_output, call.policy.safe_prefix)
        sorter: CallSorter | None = None
        try:
            offered, sorts = self._offered(call, tools, model_settings)
            sorter = CallSorter(call.replies, reply, sorts, call.policy.redact_output)
            items = recent(chat_ctx.items, call.policy.remembers)
            shown = with_digest(items, self._as_data(call.digest))
            async with aclosing(self._ask(call, shown, offered)) as chunks:
                async for chunk in chunks:
                    if chunk.usage is not None:
                        call.spending.report(chunk.usage)
                    redact_output = _redacted(chunk, reply, sorter, outgoing)
                    if first and reply.spoke:
                        yield first
                        first = ""
                    if redact_output:
                        yield redact_output
            if rest := outgoing.rest():
                yield rest
        except Exception as error:  # every failure of a model ends in words, never in silence
            if call.limits.over:  # it was hung up, and nobody is left to hear an apology
                return
            self._log_failure(call, error)
            if reply.spoke:  # what follows is another sentence
                yield f"{_last_words(outgoing)} "
            if sorter is None or not sorter.broken_off():
                yield f"{first}{self._trouble(call)}"
            return
        if sorter.last:
            yield ChatChunk(
                id=f"last_{id(reply)}",
                delta=ChoiceDelta(role="assistant", tool_calls=sorter.last),
            )
        elif not reply.spoke and not sorter.passed_on:
            yield f"{first}{self._trouble(call)}"

    def _as_data(self, digest: str) -> ChatMessage:
        if self._data is None or self._data[0] != digest:
            self._data = (digest, as_data(digest))
        return self._data[1]

    async def _ask(
        self, call: "Call[S, C]", context: ChatContext, offered: list[LivekitTool]
    ) -> AsyncGenerator[ChatChunk]:
        """Ask the model, and ask it again after a failure as long as nothing of its answer has arrived.

        A model that has ``retries`` says by them how often that is done; for any other the session does.
        """
        model = call.session.llm
        if not isinstance(model, LLM):
            raise TypeError("an agent needs a language model that answers in text")
        options = call.session.conn_options.llm_conn_options
        most: int = getattr(model, "retries", options.max_retry)
        turn, failed = call.turn, 0

        def again(error: Exception) -> bool:
            # A guest who has spoken on is answered by another reply.
            retryable = isinstance(error, APIError) and error.retryable
            return retryable and failed < most and call.turn == turn

        # All attempts together: what counts is how long the guest hears nothing.
        async with call.limits.silence(call.policy.think_limit_s) as silence:
            while True:
                arrived = False
                try:
                    async with asked_once(model, context, offered, options, again) as stream:
                        async for chunk in stream:
                            arrived = arrived or chunk.has_response()
                            silence.ends()
                            yield chunk
                            silence.begins()
                    return
                except APIError as error:
                    if arrived or not again(error):
                        raise
                    logger.warning(
                        "the model %s failed and is asked again: %s",
                        model.model,
                        why_model_failed(error),
                    )
                await asyncio.sleep(options._interval_for_retry(failed))
                failed += 1

    def _offered(
        self, call: "Call[S, C]", tools: list[LivekitTool], settings: ModelSettings
    ) -> tuple[list[LivekitTool], Sorts]:
        """Choose what a request offers, and say which calls are which in its reply."""
        # tool_choice "none" would still send the tools, and a call made anyway is dropped in silence.
        none = settings is not None and settings.tool_choice == "none"
        offers = None if none else tuple(self.offers_now(call.state))
        transfers = not self._opens and call.transfers.hops < call.policy.handoffs_per_turn
        if tools != self._known:
            self._known, self._sorted = tools.copy(), {}
        if (found := self._sorted.get((offers, transfers))) is None:
            found = self._sorted[offers, transfers] = self._sort(tools, offers, transfers=transfers)
        offered, sorts = found
        return offered.copy(), sorts

    def _sort(
        self, tools: list[LivekitTool], offers: tuple[Tool, ...] | None, *, transfers: bool
    ) -> tuple[list[LivekitTool], Sorts]:
        known = {tool.id: tool for tool in tools}
        offered = {}
        if offers is not None:
            shown = {tool_name(tool) for tool in offers} | (self._transfers if transfers else set())
            hidden = self._own - shown
            offered = {name: tool for name, tool in known.items() if name not in hidden}
        return list(offered.values()), Sorts(
            offered=offered.keys(),
            withheld=known.keys() - offered.keys(),
            last=self._last,
            awaited=self._awaited,
        )

    def _log_failure(self, call: "Call[S, C]", error: Exception) -> None:
        # What a provider answers may hold what was said to it, or a key: of that only the kind is told.
        told = isinstance(error, APIError | TimeoutError)
        logger.error(
            "the model %s failed: %s",
            getattr(call.session.llm, "model", "that is none"),
            why_model_failed(error),
            exc_info=None if told else error,
            extra={"agent": self.name},
        )

    def _trouble(self, call: "Call[S, C]") -> str:
        return self.opening.canned if self._opens else call.apology


@dataclass
class _Taken:
    """How an agent came to speak: whether it was handed the guest, and what the guest said meanwhile."""

    handed_over: bool
    late: list[str] = field(default_factory=list)


def _redacted(
    chunk: ChatChunk, reply: Reply, sorter: CallSorter, outgoing: Outgoing
) -> ChatChunk | str | None:
    """Sort a part of a reply and let out of it what can be judged, if that is anything.

    Words leave by themselves: livekit-agents 1.8.9 looks for more in a chunk, and at an empty one too.
    """
    delta, words = chunk.delta, ""
    if delta is not None:
        if content := delta.content:
            reply.spoke = reply.spoke or not content.isspace()
            words = outgoing(content)
        if delta.tool_calls:
            sorter.sort(delta)
            if delta.tool_calls:  # all words before a tool is called
                words += outgoing.rest()
        if delta.tool_calls or delta.extra:
            delta.content = words
            return chunk
        if chunk.usage is not None:
            delta.content = words
    return words if chunk.usage is None else chunk


def _last_words(outgoing: Outgoing) -> str:
    """Let out what was held back of a reply that broke off."""
    try:
        return outgoing.rest()
    except Exception:  # what cannot be judged stays inside: it may be what broke the reply off
        return ""
