"""The restaurant's commands, tools, settings and events, as pages."""

import inspect
import io
import json
from collections.abc import Iterator
from typing import Any, get_args

from typer.main import get_command

from agents.app.cli import command_line
from agents.app.console.event_lines import EventLines, event_data
from agents.app.settings import AppSettings
from agents.handoff import (
    Action,
    Event,
    HandedOver,
    HandoffRefused,
    Heard,
    Read,
    Said,
    Spent,
    StateChanged,
    Tool,
    ToolUsed,
    YourTurn,
    tool_name,
)
from agents.roster import restaurant_graph
from bella_vista.app import APP
from bella_vista.settings import Settings
from state.commands import GuestCommand, OrderCommand, Reprice, StaffCommand
from state.shared import FRAMEWORK_COMMANDS
from tests.agents.restaurant import restaurant
from tests.reference.docstrings import arguments, markdown, summary
from tests.reference.refusals import refusals
from tests.reference.schemas import field_table

_GUEST: tuple[type[OrderCommand], ...] = get_args(GuestCommand)
_STAFF: tuple[type[OrderCommand], ...] = get_args(StaffCommand)


# -- commands -------------------------------------------------------------------------------------


def commands_page() -> str:
    """Describe every command: what a model reads of it, its fields, who offers it, what it answers."""
    ours = (f"{_commands('The guest', _GUEST)}\n\n{_commands('The restaurant', _STAFF)}").strip()
    own = "\n\n".join(
        f"### `{tool_name(kind)}`\n\n{markdown(kind.__doc__ or '')}"
        for kind in (Reprice, *FRAMEWORK_COMMANDS)
    )
    return f"{ours}\n\n## The program itself\n\n{own}"


def _commands(who: str, commands: tuple[type[OrderCommand], ...]) -> str:
    return "\n\n".join([f"## {who}", *(_command(command) for command in commands)])


def _command(command: type[OrderCommand]) -> str:
    agents = [
        f"`{name}`"
        for name in restaurant_graph().agents
        if command in restaurant_graph().offers(name)
    ]
    codes = [f"`{code}`" for code in refusals(command)]
    facts = [
        f"Offered by: {', '.join(agents) or 'no agent'}.",
        f"Refused as: {', '.join(codes) or 'nothing'}.",
    ]
    if command.demands_version:
        facts.append("A client has to say which version it has seen.")
    if not command.within_limits:
        facts.append("Never refused for how long the order is.")
    said = markdown(command.__doc__ or "")
    return "\n\n".join(
        [f"### `{tool_name(command)}`", said, field_table(command), "\n".join(facts)]
    )


# -- tools ----------------------------------------------------------------------------------------


def tools_page() -> str:
    """Describe what each agent's model can call."""
    graph = restaurant_graph()
    parts: list[str] = []
    beside: dict[str, Tool] = {}
    for name, agent in graph.agents.items():
        offered = graph.offers(name)
        beside.update(
            {tool_name(tool): tool for tool in offered if issubclass(tool, Read | Action)}
        )
        parts.append(f"## {name}\n\n{summary(agent.__doc__ or '')}")
        parts.append(f"Tools: {', '.join(_link(tool) for tool in offered)}.")
        parts.append("\n".join(_transfers(name)))
        if agent.needs_answer:
            parts.append(
                "\n".join(
                    f"`{op}` is refused as `not_answered` in the turn in which"
                    f" {' or '.join(f'`{told}`' for told in after)} was called."
                    for op, after in agent.needs_answer.items()
                )
            )
    parts.append("## Beside the commands")
    for op, tool in beside.items():
        parts.append(f"### `{op}`\n\n{markdown(tool.__doc__ or '')}\n\n{field_table(tool)}")
    return "\n\n".join(parts)


def _link(tool: Tool) -> str:
    page = "" if issubclass(tool, Read | Action) else "commands.md"
    return f"[`{tool_name(tool)}`]({page}#{tool_name(tool)})"


def _transfers(agent: str) -> Iterator[str]:
    yield "| Handoff | When, as the model reads it | Condition | Brought about by |"
    yield "|---|---|---|---|"
    for handoff in restaurant_graph().leaving(agent):
        condition = handoff.condition.__name__ if inspect.isfunction(handoff.condition) else ""
        by = ", ".join(f"`{tool_name(tool)}`" for tool in handoff.satisfied_by)
        yield f"| `{handoff.tool_name}` | {handoff.when} | {f'`{condition}`' if condition else ''} | {by} |"


# -- settings -------------------------------------------------------------------------------------


def settings_page() -> str:
    """List every setting: its variable, its option, its default and its meaning."""
    said = arguments(AppSettings.__doc__ or "") | arguments(Settings.__doc__ or "")
    options = _options()
    rows = []
    for name, field in Settings.model_fields.items():
        default = "" if field.default is None else f"`{_default(field.default)}`"
        option = f"`--{name}`" if name in options else ""
        used = ", ".join(f"`{command}`" for command in options.get(name, ()))
        rows.append(
            f"| `{Settings.variable(name)}` | {option} | {default} | {said.get(name, '')} | {used} |"
        )
    head = ["| Variable | Option | Default | Meaning | Commands |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def _default(value: object) -> str:
    return (
        ("on" if value else "off")
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _options() -> dict[str, list[str]]:
    """Find out which commands have an option for which setting."""
    found: dict[str, list[str]] = {}

    def visit(command: Any, words: tuple[str, ...]) -> None:
        for name, inner in getattr(command, "commands", {}).items():
            visit(inner, (*words, name))
        for parameter in command.params:
            if getattr(parameter, "is_flag", False):  # a setting takes a value
                continue
            for option in parameter.opts:
                if option.startswith("--"):
                    found.setdefault(option[2:].replace("-", "_"), []).append(" ".join(words))

    visit(get_command(command_line(APP)), ())
    return found


# -- events ---------------------------------------------------------------------------------------

_EXAMPLES: tuple[Event, ...] = (
    Heard(1, "A large Margherita, please"),
    Said(1, "order_taker", "Gladly. Anything else?"),
    ToolUsed(1, "order_taker", "add_item", {"name": "Margherita"}, "Done.", is_error=False),
    HandedOver(1, "greeter", "order_taker"),
    HandoffRefused(2, "order_taker", "payment", "confirmation"),
    Spent(1, "order_taker", 3, 2400, 61, 1800),
    YourTurn(1, "order_taker", 3, "open"),
)


def events_page() -> str:
    """Show every line of ``--events``, and say what a listener of a call is told."""
    call = restaurant()
    written = io.StringIO()
    lines = EventLines(APP, call, written)
    lines.opens()
    opened = written.getvalue()
    shown = [("The first line.", _short(json.loads(opened)))]
    changed = StateChanged(1, 3, ("add_item",), call.state)
    for event in (*_EXAMPLES[:5], changed, *_EXAMPLES[5:]):
        data = event_data(APP, event, call.speaker)
        if data is None:
            raise LookupError(f"{type(event).__name__} has no line")
        shown.append((summary(type(event).__doc__ or ""), _short(data)))
    lines.closes("agent_ended")
    ended = written.getvalue().removeprefix(opened)
    shown.append(("The last line.", _short(json.loads(ended))))
    return "\n\n".join(
        f"## `{data['type']}`\n\n{meaning}\n\n```json\n{_json(data)}\n```"
        for meaning, data in shown
    )


def _short(data: dict[str, Any]) -> dict[str, Any]:
    """Leave the order's view out: it is long, and has a page of its own."""
    return {
        name: "..." if isinstance(value, dict) and "order_items" in value else value
        for name, value in data.items()
    }


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False).replace('"..."', "{...}")
