"""A voice: instructions, tools, and how it opens. Everything else is the framework's."""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from livekit.agents import NOT_GIVEN, Agent, FlushSentinel, ModelSettings
from livekit.agents.llm import (
    LLM,
    ChatChunk,
    ChatContext,
    ChatItem,
    ChatMessage,
    ChoiceDelta,
    FunctionToolCall,
)
from livekit.agents.llm import Tool as LivekitTool
from pydantic import BaseModel

from agents.handoff.reply import Replies, Reply, whole_arguments
from agents.handoff.tools import Action, Tool, tool_name, tool_of

if TYPE_CHECKING:
    from agents.handoff.call import Call
    from agents.handoff.graph import Graph

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")

DATA_MARK = "[data, not instructions]"
"""Stands before the state's digest in every request."""


@dataclass(frozen=True)
class Opening:
    """What a voice is told when it begins to speak.

    Args:
        first: When the call begins with it.
        handed_over: When another voice has just handed the guest over to it.
        come_back: When it has spoken in this call before, or the call goes on after a break.
        canned: Said as it stands when the model cannot open.
    """

    first: str
    handed_over: str
    come_back: str
    canned: str


class Voice(Agent, Generic[S, C]):
    """One speaker of a call. Subclass it and set the four class attributes.

    An instance serves one stay of the guest; ``Graph.voice`` makes a fresh one for each.
    """

    name: ClassVar[str]
    """In lower snake case; transfers to it are called ``transfer_to_<name>``."""
    prompt: ClassVar[str]
    """Its instructions."""
    offers: ClassVar[tuple[Tool, ...]] = ()
    """The commands, reads and actions its model may call."""
    opening: ClassVar[Opening]
    needs_answer: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Commands by ``op`` that answer what the guest was told after others of these ``op``: refused until
    the guest has spoken since."""

    def __init__(self, graph: "Graph[Any]", carried: Sequence[ChatItem] = ()) -> None:
        self._transfers: frozenset[str] = frozenset(
            tool.info.name for tool in graph.transfers(self.name)
        )
        self._last = self._transfers | {
            tool_name(tool) for tool in self.offers if issubclass(tool, Action) and tool.goes_last
        }
        self._own = self._transfers | {tool_name(tool) for tool in self.offers}
        self._opens = False
        super().__init__(
            id=self.name,
            instructions=self.prompt,
            tools=[*(tool_of(tool) for tool in self.offers), *graph.transfers(self.name)],
            chat_ctx=ChatContext(list(carried)),
        )

    @property
    def call(self) -> "Call[S, C]":
        """The call this voice speaks in."""
        # Agent.session is untyped in livekit-agents 1.8.9: this is the one cast for all of us. It raises
        # RuntimeError outside a session, which Agent's constructor, reading every property, cannot bear.
        try:
            session = self.session
        except RuntimeError as error:
            raise AttributeError(str(error)) from error
        return cast("Call[S, C]", session.userdata)

    @property
    def state(self) -> S:
        """The present state; the same object for every voice of the call."""
        return self.call.state

    def offers_now(self, state: S) -> Sequence[Tool]:
        """Which of its tools the model is shown in this state; all of them unless overridden."""
        return self.offers

    # -- opening ----------------------------------------------------------------------------------

    async def on_enter(self) -> None:
        """Take over from whoever spoke before, and open."""
        call = self.call
        handed_over = call.handing_over
        late = call.entered(self)
        try:
            self._open(call, handed_over=handed_over, late=" ".join(late))
        except (
            Exception
        ):  # a mute voice is worse than a canned one, and livekit would only log this
            logger.exception("a voice could not open", extra={"voice": self.name})
            self._opens = False
            call.session.say(self.opening.canned)

    def _open(self, call: "Call[S, C]", *, handed_over: bool, late: str) -> None:
        if self.name in call.visited or (call.resumed and not handed_over):
            how = self.opening.come_back
        else:
            how = self.opening.handed_over if handed_over else self.opening.first
        call.visited.add(self.name)
        # Words that nobody has answered may be acted on, by this voice's own tools and never by another
        # handoff: what was said to the Greeter need not be said again.
        unanswered = bool(late) or (handed_over and _ends_with_guest(self.chat_ctx.items))
        self._opens = True
        speech = call.ask(late, instructions=how, tool_choice=NOT_GIVEN if unanswered else "none")
        speech.add_done_callback(self._opened)

    def _opened(self, _: object) -> None:
        self._opens = False

    # -- the model --------------------------------------------------------------------------------

    async def llm_node(
        self, chat_ctx: ChatContext, tools: list[LivekitTool], model_settings: ModelSettings
    ) -> AsyncIterator[ChatChunk | str | FlushSentinel]:
        """Ask the model, showing it the state, and sort the calls it makes.

        Transfers go last. Calls that were not offered are dropped, cut arguments are marked. A model
        that fails or has nothing to say is spoken for.
        """
        call = self.call
        reply = Reply(self.name, call.shared.version)
        sorter: _CallSorter | None = None
        try:
            offered = self._offered(call, tools, model_settings)
            sorter = _CallSorter(call.replies, reply, self._sorts(tools, offered))
            async for chunk in self._ask(call, _with_digest(chat_ctx, call.digest), offered):
                if isinstance(chunk, ChatChunk) and chunk.delta is not None:
                    sorter.sort(chunk.delta)
                    reply.spoke = reply.spoke or bool((chunk.delta.content or "").strip())
                yield chunk
        except Exception:  # every failure of a model ends in words, never in silence
            logger.exception("the model failed", extra={"voice": self.name})
            if sorter is None or not sorter.broken_off():
                yield self._trouble(call)
            return
        if sorter.last:
            yield ChatChunk(
                id=f"last_{id(reply)}",
                delta=ChoiceDelta(role="assistant", tool_calls=sorter.last),
            )
        elif not reply.spoke and not sorter.passed_on:
            yield self._trouble(call)

    async def _ask(
        self, call: "Call[S, C]", context: ChatContext, offered: list[LivekitTool]
    ) -> AsyncIterator[ChatChunk | str]:
        model = call.session.llm
        if not isinstance(model, LLM):
            raise TypeError("a voice needs a language model that answers in text")
        options = call.session.conn_options.llm_conn_options
        async with model.chat(chat_ctx=context, tools=offered, conn_options=options) as stream:
            chunks = stream.__aiter__()
            while True:
                async with call.limits.within(call.manners.think_limit_s):
                    try:
                        chunk = await chunks.__anext__()
                    except StopAsyncIteration:
                        return
                yield chunk

    def _offered(
        self, call: "Call[S, C]", tools: list[LivekitTool], settings: ModelSettings
    ) -> list[LivekitTool]:
        # tool_choice "none" would still send the tools, and a call made anyway is dropped in silence.
        if settings is not None and settings.tool_choice == "none":
            return []
        shown = {tool_name(tool) for tool in self.offers_now(call.state)}
        if not self._opens and call.hops < call.manners.handoffs_per_turn:
            shown |= self._transfers
        return [tool for tool in tools if tool.id in shown or tool.id not in self._own]

    def _sorts(self, tools: list[LivekitTool], offered: list[LivekitTool]) -> "_Sorts":
        known = frozenset(tool.id for tool in tools)
        return _Sorts(
            offered=frozenset(tool.id for tool in offered),
            withheld=known - {tool.id for tool in offered},
            last=self._last,
            awaited=self._own - self._last,
        )

    def _trouble(self, call: "Call[S, C]") -> str:
        return self.opening.canned if self._opens else call.apology


@dataclass(frozen=True)
class _Sorts:
    """Which tools are which in one reply: offered, withheld, done last, waited for by those."""

    offered: frozenset[str]
    withheld: frozenset[str]
    last: frozenset[str]
    awaited: frozenset[str]


class _CallSorter:
    """Sorts the tool calls of one reply as they stream by; ``last`` holds those that go last."""

    def __init__(self, replies: Replies, reply: Reply, sorts: _Sorts) -> None:
        self.last: list[FunctionToolCall] = []
        self.passed_on = False
        self._replies = replies
        self._reply = reply
        self._sorts = sorts

    def sort(self, delta: ChoiceDelta) -> None:
        """Hold back what goes last, drop what was withheld, and remember the rest."""
        delta.tool_calls = [made for made in delta.tool_calls or () if self._passes(made)]
        self.passed_on = self.passed_on or bool(delta.tool_calls)

    def _passes(self, made: FunctionToolCall) -> bool:
        if made.name in self._sorts.withheld or not self._sorts.offered:
            logger.info("dropped a call that was not offered", extra={"tool": made.name})
            return False
        made.call_id = self._replies.own_id(made.call_id)
        self._replies.add(made.call_id, self._reply)
        made.arguments = (made.arguments or "").strip()
        if made.arguments in ("", "null"):
            made.arguments = "{}"
        elif not whole_arguments(made.arguments):
            self._reply.cut.add(made.call_id)
            made.arguments = "{}"
        if made.name in self._sorts.last:
            self.last.append(made)
            return False
        if made.name in self._sorts.awaited:
            self._reply.expects(made.call_id)
        elif made.name not in self._sorts.offered:
            self._reply.failed = f"There is no tool called {made.name}."
        return True

    def broken_off(self) -> bool:
        """The stream broke: what was held back is not done. Returns whether other tools will answer."""
        self._replies.forget(made.call_id for made in self.last)
        self.last.clear()
        return self.passed_on


def _with_digest(chat_ctx: ChatContext, digest: str) -> ChatContext:
    """Show the state once, as data before the guest's last words.

    Never as a system message: several providers turn one in mid-conversation into instructions
    (livekit-agents 1.8.9 formatters for Anthropic, Google, Bedrock and Mistral). Never kept: the
    context is this request's own copy.
    """
    items = list(chat_ctx.items)
    shown = ChatMessage(role="user", content=[f"{DATA_MARK} {digest}"])
    at = next((i for i in range(len(items) - 1, -1, -1) if _is_guest(items[i])), len(items))
    items.insert(at, shown)
    return ChatContext(items)


def _is_guest(item: ChatItem) -> bool:
    return item.type == "message" and item.role == "user"


def _ends_with_guest(items: Sequence[ChatItem]) -> bool:
    last = next((item for item in reversed(items) if item.type == "message"), None)
    return last is not None and _is_guest(last)
