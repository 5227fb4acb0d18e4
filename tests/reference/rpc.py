"""The contract of the RPC as a page, each method with calls that were really made."""

import asyncio
import copy
import json
import re
from collections.abc import Iterator
from typing import Any

from rpc.page import ERRORS, SpokenLine
from rpc.page.objects import OPERATIONS
from rpc.restaurant import order_contract
from rpc.testing import FakeTurns
from tests.reference.schemas import form_table
from tests.rpc.counter import Counter, Refusal

_EXAMPLES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("hello", {}),
    ("say", {"text": "Two large Margheritas, please.", "key": "7c0f"}),
    ("say", {"text": ""}),
    ("get_transcript", {}),
    ("refuse_recording", {}),
    ("set_microphone", {"mode": "push_to_talk"}),
    ("start_turn", {}),
    ("end_turn", {}),
    ("end_turn", {}),
    ("start_turn", {}),
    ("cancel_turn", {}),
    ("agent.state", {"operation": "create", "object_type": "item", "data": {
        "name": "Margherita", "size": "large", "quantity": 2, "modifications": ["no basil"]},
        "key": "7c10"}),
    ("agent.state", {"operation": "read", "object_type": "item", "object_id": "L1"}),
    ("agent.state", {"operation": "update", "object_type": "item", "object_id": "L1",
        "data": {"quantity": 1}, "version": 1}),
    ("agent.state", {"operation": "update", "object_type": "item", "object_id": "L1",
        "data": {"quantity": 3}, "version": 1}),
    ("agent.state", {"operation": "list", "object_type": "tip"}),
    ("agent.state", {"operation": "delete", "object_type": "tip"}),
    ("get_order_state", {}),
    ("get_order_state", {"since": 1}),
    ("get_order_state", {"since": 2}),
    ("get_menu", {}),
    ("get_menu", {"section": "Salads"}),
    ("get_menu", {"section": "Sushi"}),
    ("order.apply", {"command": {"op": "set_fulfilment", "kind": "pickup"}, "version": 2}),
    ("order.apply", {"command": {"op": "add_item", "name": "Calzone"}}),
    ("order.apply", {"command": {"op": "cancel_order"}}),
    ("order.subscribe", {}),
    ("order.unsubscribe", {}),
)  # fmt: skip

_SAID = (
    SpokenLine(0, "greeter", "Welcome to Bella Vista! What can I do for you?"),
    SpokenLine(1, None, "Two large Margheritas, please."),
)


def rpc_page() -> str:
    """Describe every method, every push, every form and every code."""
    told = order_contract()
    examples = asyncio.run(_played())
    parts = [
        f"Protocol {told['protocol']}. Features: {', '.join(f'`{one}`' for one in told['features'])}.",
        "## Methods",
    ]
    for name, method in told["methods"].items():
        parts += _method(told, name, method, examples[name])
    parts.append("## Pushes")
    for name, push in told["pushes"].items():
        parts.append(f"### `{name}`")
        parts += [_form(told, form) for form in _names(push["payload"])]
    parts += ["## Objects", _objects(told), "## Codes", _codes(told), "## Forms"]
    shown = {form for method in told["methods"].values() for form in _forms_of(method)}
    shown |= {form for push in told["pushes"].values() for form in _names(push["payload"])}
    for name, form in told["$defs"].items():
        if form.get("type") == "object" and name not in shown and "op" not in form["properties"]:
            parts.append(f"### {name}\n\n{_said(form['description'])}\n\n{_table(form)}")
        elif "enum" in form:
            values = ", ".join(f"`{value}`" for value in form["enum"])
            parts.append(f"### {name}\n\n{_said(form['description'])}\n\nOne of: {values}.")
    return "\n\n".join(parts)


def _method(
    told: dict[str, Any], name: str, method: dict[str, Any], examples: list[str]
) -> Iterator[str]:
    yield f"### `{name}`"
    yield _said(method["description"])
    yield f"For: {', '.join(method['callers'])}."
    (request,) = _names(method["request"])
    yield f"Request:\n\n{_table(told['$defs'][request], told=False)}"
    yield "Reply:" if "$ref" in method["reply"] else "Reply, one of:"
    for form in _names(method["reply"]):
        yield _form(told, form)
    yield f"Refused as: {_listed(method['errors'])}."
    if method["errors_in_reply"]:
        yield f"In a reply, without an `RpcError`: {_listed(method['errors_in_reply'])}."
    yield from examples


def _listed(codes: list[int]) -> str:
    return ", ".join(f"{code} `{ERRORS[code]}`" for code in codes)


async def _played() -> dict[str, list[str]]:
    """Make all calls of the examples, one after the other, on one order."""
    turns = FakeTurns()
    counter = Counter(turns=lambda: turns)
    for line in _SAID:
        counter.session.lines.add(line)
    played: dict[str, list[str]] = {}
    for method, payload in _EXAMPLES:
        try:
            answer = _json(await counter.call(method, payload))
        except Refusal as refused:
            answer = f"RpcError {refused.code}, data {_json(refused.told)}"
        played.setdefault(method, []).append(f"```text\n> {_json(payload)}\n< {answer}\n```")
    return played


def _json(value: Any) -> str:
    """Write it in a line; an order's view is long, and has a table of its own."""
    text = json.dumps(_short(value), ensure_ascii=False)
    return text.replace('"..."', "{...}")


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        if "order_items" in value and "order_id" in value:
            return "..."
        return {name: _short(one) for name, one in value.items()}
    return value


def _form(told: dict[str, Any], name: str) -> str:
    form = told["$defs"][name]
    return f"`{name}`: {_said(form['description'])}\n\n{_table(form)}"


def _table(form: dict[str, Any], *, told: bool = True) -> str:
    """Return the fields, of what is told with where they may be ``null``; a command has a page of its own."""
    form = copy.deepcopy(form)
    for part in form["properties"].values():
        for one in part.get("anyOf", ()) if told else ():
            if one.get("type") == "null":
                one["type"] = "`null`"
        if "oneOf" in part:
            part.update(type="[command](commands.md)")
        elif "oneOf" in part.get("items", {}):
            patch = {"$ref": "#/$defs/Replace"} in part["items"]["oneOf"]
            part["items"]["type"] = "Add, Remove or Replace" if patch else "[command](commands.md)"
        elif "additionalProperties" in part and "anyOf" not in part:
            of = str(part["additionalProperties"].get("$ref", "")).rpartition("/")[2]
            part["type"] = f"object of {of}" if of not in ("", "JsonValue") else "object"
    return form_table(form) or "No fields."


def _names(form: dict[str, Any]) -> list[str]:
    return [one["$ref"].rpartition("/")[2] for one in form.get("anyOf", [form])]


def _forms_of(method: dict[str, Any]) -> list[str]:
    return [*_names(method["request"]), *_names(method["reply"])]


def _objects(told: dict[str, Any]) -> str:
    lines = [
        f"| `object_type` | {' | '.join(OPERATIONS)} |",
        f"|---|{'---|' * len(OPERATIONS)}",
    ]
    for kind, commands in told["objects"].items():
        cells = []
        for operation in OPERATIONS:
            if operation in commands:
                form = told["$defs"][commands[operation]["$ref"].rpartition("/")[2]]
                op = form["properties"]["op"]["const"]
                cells.append(f"[`{op}`](commands.md#{op})")
            else:
                cells.append("yes" if operation in ("read", "list") else "4005")
        lines.append(f"| `{kind}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def _codes(told: dict[str, Any]) -> str:
    lines = ["| Code | Type | The client |", "|---|---|---|"]
    lines += [f"| {code} | `{kind}` | {_TO_DO[kind]} |" for code, kind in told["errors"].items()]
    return "\n".join(lines)


_TO_DO = {
    "bad_json": "is wrong: sends one strict JSON object",
    "invalid_params": "is wrong: `facts.field` names the first field, `facts.errors` each",
    "forbidden": "stops",
    "not_found": "asks for the present order",
    "unknown_operation": "is wrong: `facts.possible` says what there is",
    "version_conflict": "asks for the present order, decides again",
    "wrong_stage": "asks for the present order; `facts.needs` says what comes first",
    "key_reused": "takes a new key",
    "too_large": "sends less",
    "refused": "acts on `reason`, which is a code of [errors](errors.md)",
    "precondition_required": "says which version it has seen",
    "rate_limited": "waits for `retry_after_ms`",
    "internal": "does not repeat the request, and asks for the present order: it is a fault of the agent",
    "unavailable": "sends the same request again after `retry_after_ms`",
    "outcome_unknown": "asks for the present order, or again with the same key",
}


def _said(text: str) -> str:
    return re.sub(r"``([^`]+)``", r"`\1`", " ".join(text.split()))
