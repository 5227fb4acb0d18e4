"""The rules of OpenAI's strict function calling, from its guide to structured outputs.

Where the guide and older models differ, the stricter rule is used here: no lengths of texts, no looking
ahead in patterns, and only the formats that are named.
"""

import re
from collections.abc import Iterator
from typing import Any

NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
TOOLS, PROPERTIES, DEPTH, ENUM_VALUES, CHARACTERS = 128, 5000, 10, 1000, 120_000
LONG_ENUM, LONG_ENUM_CHARACTERS = 250, 15_000
DESCRIPTION = 1024

TYPES = {"string", "number", "boolean", "integer", "object", "array", "null"}
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
ANYWHERE = {"type", "description", "enum", "anyOf"}
BY_TYPE = {
    "string": {"pattern", "format"},
    "number": {"multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
    "integer": {"multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties"},
    "boolean": set[str](),
    "null": set[str](),
}


def offences(tools: list[dict[str, Any]]) -> list[str]:
    """Return every rule that the tools of one request break."""
    found = [f"{len(tools)} tools"] if len(tools) > TOOLS else []
    names = [tool["function"]["name"] for tool in tools]
    found += [f"{name} twice" for name in set(names) if names.count(name) > 1]
    for tool in tools:
        found += [f"{tool['function'].get('name')}: {fault}" for fault in _tool(tool)]
    return found


def _tool(tool: dict[str, Any]) -> Iterator[str]:
    if set(tool) != {"type", "function"} or tool["type"] != "function":
        yield f"is no function: {sorted(tool)}"
    function = tool["function"]
    if set(function) != {"name", "description", "parameters", "strict"}:
        yield f"has {sorted(function)}"
    if not NAME.match(function["name"]):
        yield "has no name that is taken"
    if not 0 < len(function["description"]) <= DESCRIPTION:
        yield f"has a description of {len(function['description'])} characters"
    if function["strict"] is not True:
        yield "is not strict"
    root = function["parameters"]
    if root.get("type") != "object" or "anyOf" in root:
        yield "takes no object"
    yield from _schema(root, "arguments", 1)
    yield from _sizes(root)


def _schema(part: dict[str, Any], where: str, depth: int) -> Iterator[str]:
    types = part.get("type", [])
    types = {types} if isinstance(types, str) else set(types)
    if not types and "anyOf" not in part:
        yield f"{where} is of any kind"
    if types - TYPES:
        yield f"{where} is of the types {types}"
    allowed = ANYWHERE.union(*(BY_TYPE[one] for one in types & TYPES))
    if set(part) - allowed:
        yield f"{where} uses {sorted(set(part) - allowed)}"
    if part.get("format") not in (None, *FORMATS):
        yield f"{where} has the format {part['format']}"
    if "(?" in part.get("pattern", ""):
        yield f"{where} looks around in {part['pattern']}"
    if "enum" in part and (None in part["enum"]) != ("null" in types):
        yield f"{where} may be null and may not be"
    if depth > DEPTH:
        yield f"{where} is too deep"
    if "object" in types:
        if part.get("additionalProperties") is not False:
            yield f"{where} allows more than it has"
        if sorted(part.get("required", ())) != sorted(part.get("properties", {})):
            yield f"{where} does not require all it has"
        for name, one in part.get("properties", {}).items():
            yield from _schema(one, f"{where}.{name}", depth + 1)
    if "array" in types:
        yield from _schema(part.get("items", {}), f"{where}[]", depth + 1)
    for one in part.get("anyOf", ()):
        yield from _schema(one, where, depth)


def _sizes(root: dict[str, Any]) -> Iterator[str]:
    properties = values = characters = 0
    for part in _parts(root):
        enum = part.get("enum", ())
        text = sum(len(value) for value in enum if isinstance(value, str))
        if len(enum) > LONG_ENUM and text > LONG_ENUM_CHARACTERS:
            yield f"an enum of {text} characters"
        properties += len(part.get("properties", ()))
        values += len(enum)
        characters += text + sum(map(len, part.get("properties", ())))
    if properties > PROPERTIES or values > ENUM_VALUES or characters > CHARACTERS:
        yield f"is too big: {properties} properties, {values} values, {characters} characters"


def _parts(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield part
    for one in (*part.get("properties", {}).values(), *part.get("anyOf", ())):
        yield from _parts(one)
    if "items" in part:
        yield from _parts(part["items"])
