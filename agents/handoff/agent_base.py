"""Agents as an application declares them, and the checks of them before the first call."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeAlias, cast

from livekit import agents as livekit_agents
from livekit.agents.llm import ChatContext, ChatItem, RawFunctionTool
from livekit.agents.llm import Tool as LivekitTool
from livekit.agents.voice import SpeechHandle

from agents.handoff.model_output import ToolGroups, replace_lone_surrogates
from agents.handoff.policy import C, S
from agents.handoff.tools import (
    TRANSFER_BACK,
    Action,
    Read,
    SlowAction,
    Tool,
    tool_name,
    tool_of,
)
from state.shared import FRAMEWORK_COMMANDS, Command

_ToolCache: TypeAlias = tuple[
    list[LivekitTool],
    dict[tuple[tuple[Tool, ...] | None, frozenset[str]], tuple[list[LivekitTool], ToolGroups]],
]
"""An agent's tools in its last request, and its selections of them: these depend only on its
``offers_now`` and on whether transfers are offered."""

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The pattern of tool names that every provider accepts."""

_AGENT_NAME = re.compile(r"[a-z][a-z0-9_]{0,51}")
"""In lower snake case; ``transfer_to_<name>`` has to be a valid tool name as well."""


@dataclass(frozen=True)
class Opening:
    """The instructions for an agent's first reply.

    Args:
        first: When it opens the call.
        handed_over: When another agent has just handed the user over to it.
        come_back: When it has spoken in this call before, or the call resumes an earlier one.
        canned: Spoken verbatim when the model cannot open.
    """

    first: str
    handed_over: str
    come_back: str
    canned: str


class AgentBase(livekit_agents.Agent, Generic[S, C]):
    """An agent as its call and its graph know it. Applications subclass ``Agent``.

    Args:
        transfers: The tools of its handoffs.
        carried: The part of the conversation it starts with.
    """

    name: ClassVar[str]
    """In lower snake case; transfers to it are called ``transfer_to_<name>``."""
    prompt: Any
    offers: tuple[type[Command[S, C]] | type[Read[S, C]] | type[Action], ...] = ()
    """The commands, reads and actions its model may call; commands and reads of this state."""
    opening: ClassVar[Opening]
    """The instructions for its first reply."""
    model_settings: ClassVar[Mapping[str, Any]] = {}
    """Settings of its model requests, such as ``temperature``: the ``extra_kwargs`` of its model's
    ``chat``."""
    needs_answer: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Commands and actions, by ``op``, that need the user's answer first. Each is refused in the
    turn in which one of its listed tools has succeeded. A tool that lists itself is refused until
    the user has spoken after its first call with the same arguments."""

    _tool_cache: ClassVar[_ToolCache]

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        cls._tool_cache = ([], {})

    def __init__(
        self, transfers: Sequence[RawFunctionTool[Any, Any]], carried: Sequence[ChatItem] = ()
    ) -> None:
        self.is_opening = False
        """Whether its opening is under way."""
        self._transfers: frozenset[str] = frozenset(tool.info.name for tool in transfers)
        self._own_tools = self._transfers | {tool_name(tool) for tool in self.offers}
        self._final_tools = self._transfers | {
            tool_name(tool) for tool in self.offers if issubclass(tool, Action) and tool.goes_last
        }
        prompt: Any = cast(Any, type(self)).prompt  # a function is not bound to the agent
        self._render_prompt: Callable[..., object] | None = prompt if callable(prompt) else None
        super().__init__(
            id=self.name,
            instructions="" if self._render_prompt is not None else cast(str, prompt),
            tools=[*(tool_of(tool) for tool in self.offers), *transfers],
            chat_ctx=ChatContext(list(carried)),
        )

    def offers_now(self, state: S) -> Sequence[Tool]:
        """Return the tools the model is offered in this state; all of them unless overridden."""
        return self.offers

    def instructions_of(self, call: Any) -> str | None:
        """Render the instructions of one request; None if they never change."""
        if self._render_prompt is None:
            return None
        text = self._render_prompt(call.shared.state, call.shared.context, call)
        if not isinstance(text, str) or not text.strip():
            raise TypeError(f"the prompt of {self.name} returned a blank text or none")
        return replace_lone_surrogates(text)

    def tool_groups(
        self,
        tools: list[LivekitTool],
        offers: tuple[Tool, ...] | None,
        *,
        may_transfer: bool,
        may_go_back: bool,
    ) -> tuple[list[LivekitTool], ToolGroups]:
        """Select the tools of a request and the groups their calls are sorted into.

        Args:
            tools: The tools of the session.
            offers: The agent's own tools that are offered; None for no tools at all.
            may_transfer: Whether transfers are offered.
            may_go_back: Whether a way back is offered.
        """
        transfers = self._transfers if may_transfer else frozenset()
        if not may_go_back:
            transfers -= {TRANSFER_BACK}
        known_tools, grouped = self._tool_cache
        if tools != known_tools:
            grouped = {}
            type(self)._tool_cache = (tools.copy(), grouped)
        if (found := grouped.get((offers, transfers))) is None:
            known = {tool.id: tool for tool in tools}
            shown = {tool_name(tool) for tool in offers or ()} | transfers
            hidden = known.keys() if offers is None else self._own_tools - shown
            offered = {name: tool for name, tool in known.items() if name not in hidden}
            found = grouped[offers, transfers] = (
                list(offered.values()),
                ToolGroups(
                    offered=offered.keys(),
                    withheld=known.keys() - offered.keys(),
                    final=self._final_tools,
                    awaited=self._own_tools - self._final_tools,
                ),
            )
        return found[0].copy(), found[1]

    def opens_with(self, speech: SpeechHandle) -> None:
        """Mark a reply as the opening: until it has ended the agent cannot transfer."""
        self.is_opening = True
        speech.add_done_callback(self._opening_ended)

    def _opening_ended(self, _: SpeechHandle) -> None:
        self.is_opening = False


def faults_of_agent(agent: type[AgentBase[Any, Any]], transfers: Sequence[str]) -> Iterator[str]:
    """Find the faults by which an agent cannot be reached, cannot open, or cannot use its tools."""
    own = ("name", "prompt", "opening")
    yield from (f"{agent.__name__} has no {what}" for what in own if not hasattr(agent, what))
    yield from _faults_of_prompt(agent)
    opening: object = getattr(agent, "opening", None)
    if opening is not None and not (isinstance(opening, Opening) and opening.canned.strip()):
        yield f"{agent.__name__}: its opening has to be Opening(...) with a canned sentence"
    name = getattr(agent, "name", "unnamed")
    if not isinstance(name, str) or not _AGENT_NAME.fullmatch(name):
        yield (
            f"{agent.__name__} is called {name!r}: an agent's name is in lower snake case, and no"
            " longer than 52 characters"
        )
    if name == "back":
        yield f"{agent.__name__} is called 'back', which is where a way back leads"
    offered = offers_of(agent)
    if not isinstance(offered, Sequence):
        yield f"{agent.__name__}: offers is not a tuple of tools: {describe_tool(offered)}"
        return
    for tool in offered:
        yield from (f"{agent.__name__}: {fault}" for fault in _faults_of_tool(tool))
    names = [tool_name(tool) for tool in named_tools(offered)]
    for op in dict.fromkeys(names):
        if names.count(op) > 1:
            yield f"{agent.__name__} offers {op} twice"
        if op in transfers:
            yield f"{agent.__name__}: {op} is the name of a tool and of a handoff"


def _faults_of_prompt(agent: type[AgentBase[Any, Any]]) -> Iterator[str]:
    prompt: Any = getattr(agent, "prompt", "")
    if not callable(prompt):
        if not isinstance(prompt, str | property):
            yield f"{agent.__name__}: its prompt is neither a text nor a function: {prompt!r}"
        return
    if inspect.iscoroutinefunction(prompt):
        yield f"{agent.__name__}: its prompt is an async function: it may not wait"
    try:
        inspect.signature(prompt).bind(None, None, None)
    except (TypeError, ValueError):
        yield f"{agent.__name__}: its prompt has to take state, context and call"


def faults_of_needs_answer(agents: Sequence[type[AgentBase[Any, Any]]]) -> Iterator[str]:
    """Find entries of ``needs_answer`` without effect: it protects commands and actions, by ``op``."""
    anywhere = {tool_name(tool) for agent in agents for tool in named_tools(offers_of(agent))}
    for agent in agents:
        needs_answer: Mapping[str, Sequence[str]] = agent.needs_answer
        if not isinstance(needs_answer, Mapping):
            yield f"{agent.__name__}: needs_answer is not a mapping: {needs_answer!r}"
            continue
        for op, earlier_ops in needs_answer.items():
            if op not in _protectable(agent):
                yield (
                    f"{agent.__name__}: needs_answer lists {op}, which is not a command or action it"
                    " offers"
                )
            if isinstance(earlier_ops, str):
                yield f"{agent.__name__}: needs_answer of {op} is not a tuple of ops: {earlier_ops!r}"
                continue
            for earlier in earlier_ops:
                if earlier not in anywhere:
                    yield (
                        f"{agent.__name__}: needs_answer of {op} lists {earlier!r}, which is not a"
                        " tool that any agent offers"
                    )


def offers_of(agent: type[AgentBase[Any, Any]]) -> Any:
    """Return an agent's ``offers``, whatever its type."""
    # Agents of any state are checked here, so the type variables need not be resolved.
    return agent.offers  # pyright: ignore[reportGeneralTypeIssues]


def named_tools(given: object) -> tuple[Tool, ...]:
    """Return the tools that have a name."""
    return tuple(tool for tool in given if _is_named(tool)) if isinstance(given, Sequence) else ()


def describe_tool(given: object) -> str:
    """Name an object that should have been a tool."""
    if _is_tool(given) and _is_named(given):
        return tool_name(given)
    return given.__name__ if isinstance(given, type) else repr(given)


def _faults_of_tool(tool: Any) -> Iterator[str]:
    if not _is_tool(tool):
        yield f"{describe_tool(tool)} is not a tool: tools are subclasses of Command, Read or Action"
        return
    if issubclass(tool, SlowAction):
        yield from _faults_of_slow(tool)
    if issubclass(tool, FRAMEWORK_COMMANDS):
        yield f"{describe_tool(tool)} is reserved for the framework: declare a Handoff instead"
    if not _is_named(tool):
        yield f"{tool.__name__} has no default op, which is the tool's name"
    elif not _TOOL_NAME.fullmatch(tool_name(tool)):
        yield (
            f"{tool.__name__} is called {tool_name(tool)!r}: providers take letters, digits,"
            " - and _, and at most 64 of them"
        )
    elif not (tool.__doc__ or "").strip():
        yield f"{tool_name(tool)} has no docstring to tell the model what it is for"
    for method in sorted(getattr(tool, "__abstractmethods__", ())):
        yield f"{describe_tool(tool)} does not implement {method}"
    for method in ("apply", "touches", "changes", "answer"):
        if inspect.iscoroutinefunction(getattr(tool, method, None)):
            yield f"{describe_tool(tool)}: {method} is an async function: it may not wait"
    if issubclass(tool, Action) and _returns_text(tool.run):
        yield f"{describe_tool(tool)}: run has to be an async function"


def _returns_text(run: Any) -> bool:
    """Whether a function is a plain one that returns no awaitable, as far as it says so."""
    if (
        inspect.iscoroutinefunction(run)
        or not inspect.isfunction(run)
        or hasattr(run, "__wrapped__")
    ):
        return False
    return run.__annotations__.get("return", str) in (str, "str")


def _faults_of_slow(tool: type[SlowAction]) -> Iterator[str]:
    wait = getattr(tool, "wait", "")
    if not isinstance(wait, str) or not wait.strip():
        yield f"{describe_tool(tool)} is slow and has no wait, which the user is told at once"
    if not tool.limit_s > 0:
        yield f"{describe_tool(tool)}: limit_s has to be above 0"
    if tool.goes_last:
        yield f"{describe_tool(tool)} is slow and cannot go last"


def _is_tool(given: object) -> bool:
    return isinstance(given, type) and issubclass(given, Command | Read | Action)


def _is_named(given: Any) -> bool:
    return _is_tool(given) and isinstance(given.model_fields["op"].default, str)


def _protectable(agent: type[AgentBase[Any, Any]]) -> set[str]:
    offered = named_tools(offers_of(agent))
    return {tool_name(tool) for tool in offered if issubclass(tool, Command | Action)}
