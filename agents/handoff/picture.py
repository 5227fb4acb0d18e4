"""Pictures of a graph, all drawn from its declaration."""

from typing import Any

from agents.handoff.graph import Graph, Handoff
from agents.handoff.tools import tool_name


def mermaid(graph: Graph[Any]) -> str:
    """Draw the graph for Markdown pages."""
    lines = ["flowchart LR", f"    start(( )) --> {graph.start}"]
    lines += [f"    {name}[{_title(name)}]" for name in graph.agents]
    lines += [
        f'    {handoff.source} -->|"{label}"| {handoff.target}'
        if (label := _label(handoff))
        else f"    {handoff.source} --> {handoff.target}"
        for handoff in graph.handoffs
    ]
    return "\n".join(lines)


def dot(graph: Graph[Any]) -> str:
    """Draw the graph for Graphviz."""
    lines = [
        "digraph agents {",
        "  rankdir=LR;",
        "  start [shape=point];",
        f"  start -> {graph.start};",
    ]
    lines += [f'  {name} [label="{_title(name)}", shape=box];' for name in graph.agents]
    lines += [
        f'  {handoff.source} -> {handoff.target} [label="{_label(handoff)}"];'
        for handoff in graph.handoffs
    ]
    return "\n".join([*lines, "}"])


def outline(graph: Graph[Any]) -> str:
    """Describe the graph in words: each agent, what it offers and where it can lead."""
    lines: list[str] = []
    for name in graph.agents:
        lines.append(f"{_title(name)}{' (opens the call)' if name == graph.start else ''}")
        lines.append(
            f"  offers  {', '.join(tool_name(tool) for tool in graph.offers(name)) or 'nothing'}"
        )
        for handoff in graph.leaving(name):
            label = _label(handoff)
            lines.append(f"  -> {_title(handoff.target)}{f', when {label}' if label else ''}")
    return "\n".join(lines)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _label(handoff: Handoff[Any]) -> str:
    if handoff.condition is None:
        return ""
    return getattr(handoff.condition, "__name__", "").removeprefix("can_").replace("_", " ")
