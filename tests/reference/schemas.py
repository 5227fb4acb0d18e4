"""A model's fields as rows of a table: name, kind and limits, whether they are needed, meaning."""

import json
from typing import Any

from pydantic import BaseModel


def field_table(model: type[BaseModel]) -> str:
    """Return the fields of a command, a read or an action as a table; of nested models too."""
    schema = model.model_json_schema()
    nested = schema.get("$defs", {})
    tables = [form_table(schema) or "No fields."]
    for name, part in nested.items():
        if part.get("type") == "object":
            tables.append(f"{name}: {part.get('description', '')}\n\n{form_table(part)}")
    return "\n\n".join(tables)


def form_table(schema: dict[str, Any]) -> str:
    """Return the fields of an object's schema as a table; nothing when it has none."""
    rows = [
        f"| `{name}` | {_kind(part)} | {'yes' if name in schema.get('required', ()) else 'no'} |"
        f" {_meaning(part)} |"
        for name, part in schema.get("properties", {}).items()
        if name != "op"
    ]
    if not rows:
        return ""
    return "\n".join(["| Field | Value | Needed | Meaning |", "|---|---|---|---|", *rows])


def _meaning(part: dict[str, Any]) -> str:
    said = [part.get("description"), *(one.get("description") for one in part.get("anyOf", ()))]
    return next((text for text in said if text), "").replace("|", "\\|")


def _kind(part: dict[str, Any]) -> str:
    if "$ref" in part:
        return str(part["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in part:
        kinds = [_kind(one) for one in part["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in part or "const" in part:
        possible = part.get("enum", [part.get("const")])
        return ", ".join(
            f"`{one if isinstance(one, str) else json.dumps(one)}`" for one in possible
        )
    if part.get("type") == "array":
        return f"list of {_kind(part['items'])}{_bounds('', part.get('maxItems'), ', at most ')}"
    name = {"string": "text", "integer": "whole number", "boolean": "yes or no"}.get(
        part.get("type", ""), part.get("type", "anything")
    )
    if part.get("type") == "string":
        longest = _bounds("", part.get("maxLength"), ", at most ", " characters")
        return f"{name}{', not empty' if part.get('minLength') else ''}{longest}"
    least = part.get("minimum", part.get("exclusiveMinimum"))
    most = part.get("maximum", part.get("exclusiveMaximum"))
    if least is not None and most is not None:
        return f"{name} from {least:g} to {_plain(most)}"
    return f"{name}{_bounds('', least, ' from ')}{_bounds('', most, ' up to ')}"


def _bounds(text: str, bound: float | None, before: str, after: str = "") -> str:
    return text if bound is None else f"{text}{before}{_plain(bound)}{after}"


def _plain(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.10g}"
