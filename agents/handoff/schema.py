"""From a pydantic model to the JSON Schema that strict function calling takes.

The rules are OpenAI's for structured outputs: every property is required and nothing else is allowed,
what may be left out is nullable instead, there are no defaults and no ``oneOf``, and nothing stands
beside a reference. References are resolved here, so that none is left.
"""

from typing import Any

from pydantic import BaseModel

_DROPPED = frozenset(
    {"title", "default", "examples", "discriminator", "minLength", "maxLength", "const"}
)


def strict_parameters(
    model: type[BaseModel], *, without: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Return the strict schema of a model's fields.

    Args:
        model: The arguments as a pydantic model.
        without: Fields that are not an argument, such as the name the tool already has.
    """
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    properties = {
        name: part for name, part in schema.get("properties", {}).items() if name not in without
    }
    required = set(schema.get("required", ()))
    return _object(properties, required, definitions, schema.get("description"), top=True)


def _object(
    properties: dict[str, Any],
    required: set[str],
    definitions: dict[str, Any],
    description: str | None,
    *,
    top: bool = False,
) -> dict[str, Any]:
    strict = {
        name: _strict(part, definitions)
        if name in required
        else _nullable(_strict(part, definitions))
        for name, part in properties.items()
    }
    made: dict[str, Any] = {
        "type": "object",
        "properties": strict,
        "required": list(strict),
        "additionalProperties": False,
    }
    if description and not top:
        made["description"] = description
    return made


def _strict(part: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in part:
        target = definitions[part["$ref"].rsplit("/", 1)[-1]]
        beside = {name: value for name, value in part.items() if name != "$ref"}
        return _strict({**target, **beside}, definitions)
    if len(part.get("allOf", ())) == 1:
        beside = {name: value for name, value in part.items() if name != "allOf"}
        return _strict({**part["allOf"][0], **beside}, definitions)
    if part.get("type") == "object" and "properties" in part:
        return _object(
            part["properties"], set(part.get("required", ())), definitions, part.get("description")
        )
    made = {name: value for name, value in part.items() if name not in _DROPPED}
    if "const" in part:
        made["enum"] = [part["const"]]
    for many in ("anyOf", "oneOf"):
        if many in made:
            made["anyOf"] = [_strict(one, definitions) for one in made.pop(many)]
    if "items" in made:
        made["items"] = _strict(made["items"], definitions)
    return made


def _nullable(part: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in part:
        if not any(one.get("type") == "null" for one in part["anyOf"]):
            return {**part, "anyOf": [*part["anyOf"], {"type": "null"}]}
        return part
    if "enum" in part and None not in part["enum"]:
        part = {**part, "enum": [*part["enum"], None]}
    kind = part.get("type")
    if isinstance(kind, str) and kind != "null":
        return {**part, "type": [kind, "null"]}
    return part
