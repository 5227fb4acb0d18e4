"""From a pydantic model to the JSON Schema of strict function calling.

The rules are OpenAI's for structured outputs: every property is required and no others are allowed,
optional ones are nullable instead, there are no defaults and no ``oneOf``, and nothing stands
beside a ``$ref``. All references are resolved here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

_KEPT = frozenset(
    {
        *("type", "enum", "description", "pattern", "format", "multipleOf"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
    }
)
"""What strict calling supports besides objects, arrays and ``anyOf``. Everything else, such as a
string's length, is still checked by pydantic when the call is made."""

_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)

_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


class NotStrict(Exception):
    """Strict calling cannot express a field.

    These are mappings with free keys, values of any type, tuples of different types, and models
    that contain themselves.
    """


def parameters(
    model: type[BaseModel], *, without: frozenset[str] = frozenset()
) -> tuple[dict[str, Any], bool]:
    """Return the schema of a model's fields, and whether it is strict.

    If strict calling cannot express a field, the schema is pydantic's own and the call is not
    strict; the arguments are validated all the same.

    Args:
        model: The arguments as a pydantic model.
        without: Fields that are not an argument, such as ``op``.
    """
    try:
        return strict_parameters(model, without=without), True
    except NotStrict:
        pass
    schema = model.model_json_schema()
    for name in ("title", "description"):
        schema.pop(name, None)
    schema["properties"] = {
        name: part for name, part in schema["properties"].items() if name not in without
    }
    schema["required"] = [name for name in schema.get("required", ()) if name not in without]
    return schema, False


def strict_parameters(
    model: type[BaseModel], *, without: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Return the strict schema of a model's fields.

    Args:
        model: The arguments as a pydantic model.
        without: Fields that are not an argument, such as ``op``.

    Raises:
        NotStrict: Strict calling cannot express a field.
    """
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    if "$ref" in schema:  # a model that contains itself
        raise NotStrict
    properties = {
        name: part for name, part in schema.get("properties", {}).items() if name not in without
    }
    required = set(schema.get("required", ()))
    return _object(properties, required, _Definitions(definitions), None)


@dataclass(frozen=True)
class _Definitions:
    """The definitions of a schema by name, and which of them are being resolved."""

    parts: Mapping[str, dict[str, Any]]
    inside: tuple[str, ...] = ()

    def resolve(self, reference: str) -> "tuple[dict[str, Any], _Definitions]":
        name = reference.rsplit("/", 1)[-1]
        if name in self.inside:
            raise NotStrict
        return self.parts[name], replace(self, inside=(*self.inside, name))


def _object(
    properties: dict[str, Any],
    required: set[str],
    definitions: _Definitions,
    description: str | None,
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
    if description:
        made["description"] = description
    return made


def _strict(part: dict[str, Any], definitions: _Definitions) -> dict[str, Any]:
    if "$ref" in part:
        target, within = definitions.resolve(part["$ref"])
        beside = {name: value for name, value in part.items() if name != "$ref"}
        return _strict({**target, **beside}, within)
    if len(part.get("allOf", ())) == 1:
        beside = {name: value for name, value in part.items() if name != "allOf"}
        return _strict({**part["allOf"][0], **beside}, definitions)
    if part.get("type") == "object":
        if "properties" not in part or part.get("additionalProperties"):
            raise NotStrict
        return _object(
            part["properties"], set(part.get("required", ())), definitions, part.get("description")
        )
    made = {name: value for name, value in part.items() if _is_kept(name, value)}
    if "const" in part:
        made["enum"] = [part["const"]]
    for many in ("anyOf", "oneOf"):
        if many in part:
            made["anyOf"] = [_strict(one, definitions) for one in part[many]]
    if part.get("type") == "array":
        if "prefixItems" in part or not part.get("items"):
            raise NotStrict
        made["items"] = _strict(part["items"], definitions)
    if "enum" in made and "type" not in made:
        made["type"] = sorted({_JSON_TYPES[type(value)] for value in made["enum"]})
    if not {"type", "anyOf"} & made.keys():
        raise NotStrict
    return made


def _is_kept(name: str, value: Any) -> bool:
    if name == "pattern":
        return "(?" not in value  # lookaround is not supported
    if name == "format":
        return value in _FORMATS
    return name in _KEPT


def _nullable(part: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in part:
        if not any(one.get("type") == "null" for one in part["anyOf"]):
            return {**part, "anyOf": [*part["anyOf"], {"type": "null"}]}
        return part
    if "enum" in part and None not in part["enum"]:
        part = {**part, "enum": [*part["enum"], None]}
    kind = part.get("type")
    kinds = [kind] if isinstance(kind, str) else kind
    if kinds and "null" not in kinds:
        return {**part, "type": [*kinds, "null"]}
    return part
