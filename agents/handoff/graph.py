"""The graph of agents and handoffs: declared once, checked before the first call, and drawn."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any, Final, Generic

from livekit.agents import RunContext
from livekit.agents.llm import ChatItem, RawFunctionTool
from pydantic import BaseModel

from agents.handoff.agent_base import (
    AgentBase,
    describe_tool,
    faults_of_agent,
    faults_of_needs_answer,
    named_tools,
    offers_of,
)
from agents.handoff.carry import Carry, digest
from agents.handoff.policy import S
from agents.handoff.tools import TRANSFER_BACK, SlowAction, Tool, parameters, raw_tool, tool_name
from state.documents.program_faults import report_faults
from state.shared import Refused

sys.excepthook = report_faults

Condition = Callable[[S], Refused | None]
"""Returns None if it holds, else a refusal: a code, facts and an English reason."""

BACK: Final = "back"
"""The target of a handoff to the agent that handed the user over."""

_NO_ARGUMENTS: dict[str, Any] = {
    "type": "object",
    "properties": {},
    "required": [],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Handoff(Generic[S]):
    """One edge of the graph: an agent may hand the user over to another.

    Args:
        source: The name of the agent that hands over.
        target: The name of the agent that takes over; ``BACK`` for the one that handed the user over
            to the source. Like a browser's, a way back undoes one handoff.
        when: For the model, in the imperative: when to do it.
        condition: A condition on the state; if it does not hold, the handoff is refused with its reason.
        satisfied_by: Commands that can satisfy the condition; the source must offer one of them.
        carry: The context policy: which part of the conversation the target starts with.
        arguments: A pydantic model of the data that the source's model passes to the target. Its
            fields are the arguments of the transfer tool; the target is shown them once.
    """

    source: str
    target: str
    when: str
    condition: Condition[S] | None = None
    satisfied_by: tuple[Tool, ...] = ()
    carry: Carry = field(default_factory=digest)
    arguments: type[BaseModel] | None = None

    @property
    def tool_name(self) -> str:
        """The name of the transfer tool."""
        return TRANSFER_BACK if self.target == BACK else f"transfer_to_{self.target}"


class GraphError(ValueError):
    """The declaration is invalid; ``faults`` and the message list every fault, one a line."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults: tuple[str, ...] = tuple(faults)
        """Everything that is wrong, one sentence each."""


class Graph(Generic[S]):
    """The agents of a call and the handoffs between them.

    Args:
        agents: The classes, each with a unique name; ``back`` is reserved.
        handoffs: The edges.
        start: The name of the agent that opens a call.

    Raises:
        GraphError: An agent or a tool is incomplete, or its name is taken or refused by providers;
            ``needs_answer`` lists a tool that no agent offers; a handoff names an unknown agent,
            leads to its own source or is declared twice; an agent is unreachable; a condition
            cannot be satisfied by a command its source offers.
    """

    def __init__(
        self,
        agents: Sequence[type[AgentBase[S, Any]]],
        handoffs: Sequence[Handoff[S]],
        *,
        start: str,
    ) -> None:
        if strange := [
            *_strange("agents", agents, _is_agent),
            *_strange("handoffs", handoffs, _is_handoff),
        ]:
            raise GraphError(strange)
        named = [agent for agent in agents if isinstance(getattr(agent, "name", None), str)]
        self.agents: Mapping[str, type[AgentBase[Any, Any]]] = {
            agent.name: agent for agent in named
        }
        self.handoffs = tuple(handoffs)
        self.start = start
        faults = [fault for agent in agents for fault in self._faults_of_agent(agent)]
        faults += [*faults_of_needs_answer(agents), *_double_names(named), *self._faults()]
        if faults:
            raise GraphError(faults)
        self.has_ways_back = any(handoff.target == BACK for handoff in self.handoffs)
        """Whether a handoff leads back to the agent that handed over."""
        self._transfers: dict[str, tuple[RawFunctionTool[Any, Any], ...]] = {
            name: tuple(_transfer_tool(handoff) for handoff in self.leaving(name))
            for name in self.agents
        }

    def leaving(self, source: str) -> tuple[Handoff[S], ...]:
        """The handoffs an agent can request, in the order declared."""
        return tuple(handoff for handoff in self.handoffs if handoff.source == source)

    def sources(self, target: str) -> tuple[str, ...]:
        """The agents that can hand the user over to this one, ways back not counted."""
        return tuple(handoff.source for handoff in self.handoffs if handoff.target == target)

    def offers(self, name: str) -> tuple[Tool, ...]:
        """The commands, reads and actions an agent's model may call."""
        return tuple(offers_of(self.agents[name]))

    @property
    def slow_actions(self) -> Mapping[str, type[SlowAction]]:
        """The slow actions that any agent offers, by name."""
        offered = (tool for name in self.agents for tool in self.offers(name))
        return {tool_name(tool): tool for tool in offered if issubclass(tool, SlowAction)}

    def transfers(self, source: str) -> tuple[RawFunctionTool[Any, Any], ...]:
        """The transfer tools of an agent, made once."""
        return self._transfers[source]

    def agent(self, name: str, carried: Sequence[ChatItem] = ()) -> AgentBase[Any, Any]:
        """Make a fresh instance of an agent; a reused one would keep its old history."""
        return self.agents[name](self._transfers[name], carried)

    def _faults_of_agent(self, agent: type[AgentBase[Any, Any]]) -> Iterator[str]:
        leaving = self.leaving(getattr(agent, "name", ""))
        return faults_of_agent(agent, [handoff.tool_name for handoff in leaving])

    def _faults(self) -> list[str]:
        faults = []
        if self.start not in self.agents:
            faults.append(f"the call starts with {self.start!r}, which is not an agent")
        seen: set[tuple[str, str]] = set()
        for handoff in self.handoffs:
            edge = f"{handoff.source} -> {handoff.target}"
            known = {*self.agents, BACK}
            missing = [name for name in (handoff.source, handoff.target) if name not in known]
            faults += [f"{edge}: {name!r} is not an agent" for name in missing]
            if handoff.target == BACK and not self.sources(handoff.source):
                faults.append(f"{edge}: no handoff leads to {handoff.source}")
            if handoff.source == handoff.target:
                faults.append(f"{edge}: an agent cannot hand over to itself")
            if (handoff.source, handoff.target) in seen:
                faults.append(f"{edge}: declared twice")
            seen.add((handoff.source, handoff.target))
            if not handoff.when.strip():
                faults.append(f"{edge}: its when is empty: tell the model when to hand over")
            if not isinstance(handoff.satisfied_by, Sequence) or isinstance(
                handoff.satisfied_by, str
            ):
                faults.append(
                    f"{edge}: satisfied_by is not a tuple of tools: {describe_tool(handoff.satisfied_by)}"
                )
            elif handoff.source in self.agents and handoff.satisfied_by:
                offered = named_tools(offers_of(self.agents[handoff.source]))
                if names := [tool for tool in handoff.satisfied_by if isinstance(tool, str)]:
                    told = ", ".join(map(repr, names))
                    faults.append(f"{edge}: satisfied_by takes the classes of tools, not {told}")
                elif not any(tool in offered for tool in handoff.satisfied_by):
                    ops = ", ".join(describe_tool(tool) for tool in handoff.satisfied_by)
                    faults.append(
                        f"{edge}: {handoff.source} offers none of the commands in satisfied_by ({ops})"
                    )
            for what in ("condition", "carry"):
                given = getattr(handoff, what)
                if not (callable(given) or (given is None and what == "condition")):
                    faults.append(f"{edge}: its {what} is not a function: {given!r}")
            if not _is_model(handoff.arguments):
                faults.append(
                    f"{edge}: its arguments are not a pydantic model: {handoff.arguments!r}"
                )
            if handoff.condition is not None and not handoff.satisfied_by:
                faults.append(f"{edge}: it has a condition and no satisfied_by")
        faults += [f"{name} is unreachable" for name in self.agents if name not in self._reached()]
        return faults

    def _reached(self) -> set[str]:
        reached: set[str] = set()
        to_visit = [self.start]
        while to_visit:
            name = to_visit.pop()
            if name not in reached:
                reached.add(name)
                targets = [handoff.target for handoff in self.leaving(name)]
                to_visit += [target for target in targets if target != BACK]
        return reached


def _is_agent(given: object) -> bool:
    return isinstance(given, type) and issubclass(given, AgentBase)


def _is_handoff(given: object) -> bool:
    texts = ("source", "target", "when")
    return isinstance(given, Handoff) and all(isinstance(getattr(given, one), str) for one in texts)


_FORMS = {
    "agents": "the classes of agents",
    "handoffs": "Handoff(...), with the names of agents and a text",
}


def _strange(name: str, given: object, fits: Callable[[object], bool]) -> Iterator[str]:
    """Find the objects that are no agent class, or no handoff between names."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        yield f"{name} is not a tuple: {shorten(describe_tool(given), 80)}"
        return
    for one in given:
        if not fits(one):
            yield f"{name} takes {_FORMS[name]}, not {shorten(describe_tool(one), 80)}"


def _is_model(given: object) -> bool:
    return given is None or (isinstance(given, type) and issubclass(given, BaseModel))


def _double_names(agents: Sequence[type[AgentBase[Any, Any]]]) -> list[str]:
    names = [agent.name for agent in agents]
    return [
        f"two agents are called {name!r}" for name in dict.fromkeys(names) if names.count(name) > 1
    ]


def _transfer_tool(handoff: Handoff[Any]) -> RawFunctionTool[Any, Any]:
    async def transfer(raw_arguments: dict[str, object], context: RunContext[Any]) -> Any:
        return await context.userdata.handoffs.decide(handoff, raw_arguments, context)

    schema, strict = _NO_ARGUMENTS, True
    if handoff.arguments is not None:
        schema, strict = parameters(handoff.arguments)
    return raw_tool(handoff.tool_name, handoff.when, schema, transfer, strict=strict)


def mermaid(graph: Graph[Any]) -> str:
    """Draw the graph for Markdown pages; ways back are dotted."""
    lines = ["flowchart LR", f"    start(( )) --> {graph.start}"]
    lines += [f"    {name}[{_title(name)}]" for name in graph.agents]
    for handoff in graph.handoffs:
        arrow, label = "-.->" if handoff.target == BACK else "-->", _label(handoff)
        shown = f'{arrow}|"{label}"|' if label else arrow
        lines += [f"    {handoff.source} {shown} {target}" for target in _targets(graph, handoff)]
    return "\n".join(lines)


def dot(graph: Graph[Any]) -> str:
    """Draw the graph for Graphviz; ways back are dashed."""
    lines = [
        "digraph agents {",
        "  rankdir=LR;",
        "  start [shape=point];",
        f"  start -> {graph.start};",
    ]
    lines += [f'  {name} [label="{_title(name)}", shape=box];' for name in graph.agents]
    for handoff in graph.handoffs:
        style = ", style=dashed" if handoff.target == BACK else ""
        lines += [
            f'  {handoff.source} -> {target} [label="{_label(handoff)}"{style}];'
            for target in _targets(graph, handoff)
        ]
    return "\n".join([*lines, "}"])


def outline(graph: Graph[Any]) -> str:
    """Describe the graph as text: each agent, what it offers and its handoffs."""
    lines: list[str] = []
    for name in graph.agents:
        lines.append(f"{_title(name)}{' (opens the call)' if name == graph.start else ''}")
        lines.append(
            f"  offers  {', '.join(tool_name(tool) for tool in graph.offers(name)) or 'nothing'}"
        )
        for handoff in graph.leaving(name):
            back = "back to " if handoff.target == BACK else ""
            targets = " or ".join(_title(target) for target in _targets(graph, handoff))
            condition = _condition(handoff)
            lines.append(f"  -> {back}{targets}{f', when {condition}' if condition else ''}")
    return "\n".join(lines)


def _targets(graph: Graph[Any], handoff: Handoff[Any]) -> tuple[str, ...]:
    return graph.sources(handoff.source) if handoff.target == BACK else (handoff.target,)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _label(handoff: Handoff[Any]) -> str:
    back = BACK if handoff.target == BACK else ""
    return ", ".join(part for part in (back, _condition(handoff)) if part)


def _condition(handoff: Handoff[Any]) -> str:
    if handoff.condition is None:
        return ""
    return getattr(handoff.condition, "__name__", "").removeprefix("can_").replace("_", " ")
