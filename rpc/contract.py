"""The contract: every method with its request, its reply and its errors, and every push, as JSON Schema.

``contract.json`` beside this is what it says; a test fails when they differ.
"""

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema

from rpc import wire
from rpc.gateway import ErrorObject, Rejected
from rpc.gateway.errors import STATE_CODES
from rpc.objects import COMMANDS

FILE = Path(__file__).with_name("contract.json")
"""Where it is committed."""

REQUEST_ERRORS: Mapping[int, str] = {
    kind.code: kind.type for kind in sorted(Rejected.__subclasses__(), key=lambda kind: kind.code)
}
"""The number of each ``type`` that says that it was no proper request."""

ERRORS: Mapping[int, str] = {
    **REQUEST_ERRORS,
    **{code: kind for kind, code in STATE_CODES.items()},
}
"""The number of every ``type``."""

ANY_CALL = (4000, 4001, 4003, 4013, 4029, 5000, 5004)
"""What every method can be refused as."""

_WRITE = (4004, 4005, 4009, 4010, 4011, 4022, 4028, 5003)


@dataclass(frozen=True, slots=True)
class Called:
    """What can be called.

    Args:
        request: The form of what is sent.
        replies: The forms of what is answered.
        callers: Who may.
        errors: As what it is refused beside ``ANY_CALL``.
        told: The codes that a reply of its own tells, with no ``RpcError``.
    """

    request: type[BaseModel]
    replies: tuple[type[BaseModel], ...]
    callers: tuple[str, ...] = ("guest", "staff")
    errors: tuple[int, ...] = ()
    told: tuple[int, ...] = ()


METHODS: Mapping[str, Called] = {
    "hello": Called(wire.HelloRequest, (wire.HelloReply,), errors=(5003,)),
    "say": Called(wire.SayRequest, (wire.SayReply,), ("guest",), (4011, 4022, 5003)),
    "get_order_state": Called(
        wire.GetOrderStateRequest, (wire.WholeOrder, wire.Unchanged, wire.OrderPatch)
    ),
    "get_menu": Called(
        wire.GetMenuRequest,
        (wire.MenuSections, wire.MenuSection, wire.MenuUnchanged),
        errors=(4004,),
    ),
    "order.apply": Called(wire.OrderApplyRequest, (wire.WholeOrder,), errors=_WRITE),
    "order.subscribe": Called(wire.OrderSubscribeRequest, (wire.WholeOrder,)),
    "order.unsubscribe": Called(wire.OrderUnsubscribeRequest, (wire.Done,)),
    "agent.state": Called(
        wire.AgentStateRequest,
        (wire.Created, wire.ReadOne, wire.Written, wire.Listed, wire.Failed),
        errors=(4005, 4028),
        told=tuple(STATE_CODES.values()),
    ),
}
"""Every method, by its name."""

PUSHES: Mapping[str, tuple[type[BaseModel], ...]] = {
    "order_state_changed": (wire.OrderStateChanged,),
    "your_turn_to_speak": (wire.YourTurnToSpeak, wire.TurnTakenBack),
    "call_ended": (wire.CallEnded,),
}
"""What a client is called with; what it answers is ignored."""


class _Plain(GenerateJsonSchema):
    """Leaves out titles that only repeat a field's name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def contract() -> dict[str, Any]:
    """Return the contract as one JSON Schema, whose definitions the methods point to."""
    modes: dict[type[BaseModel], JsonSchemaMode] = {ErrorObject: "serialization"}
    for called in METHODS.values():
        modes[called.request] = "validation"
        modes.update(dict.fromkeys(called.replies, "serialization"))
    for pushes in PUSHES.values():
        modes.update(dict.fromkeys(pushes, "serialization"))
    _, schema = models_json_schema([*modes.items()], schema_generator=_Plain)
    forms = {name: _finished(name, form) for name, form in schema["$defs"].items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Bella Vista's RPC",
        "protocol": wire.PROTOCOL,
        "features": [*wire.FEATURES],
        "methods": {
            name: {
                "description": _first(called.request.__doc__),
                "callers": [*called.callers],
                "request": _ref(called.request),
                "reply": _one_of(called.replies),
                "errors": sorted({*ANY_CALL, *called.errors}),
                "errors_in_reply": sorted(called.told),
            }
            for name, called in METHODS.items()
        },
        "pushes": {
            name: {"description": _first(pushes[0].__doc__), "payload": _one_of(pushes)}
            for name, pushes in PUSHES.items()
        },
        "objects": {
            kind: {operation: _ref(command) for operation, command in commands.items()}
            for kind, commands in COMMANDS.items()
        },
        "error": _ref(ErrorObject),
        "errors": {str(code): kind for code, kind in sorted(ERRORS.items())},
        "$defs": forms,
    }


def written() -> str:
    """Return the contract as it is committed."""
    return json.dumps(contract(), indent=2, ensure_ascii=False) + "\n"


def _finished(name: str, form: dict[str, Any]) -> dict[str, Any]:
    """Say what pydantic leaves open: a command is known by its ``op``, an error has most of its fields always."""
    fields = form.get("properties", {})
    required = set(form.get("required", ()))
    if "const" in fields.get("op", {}):
        fields["op"].pop("default", None)
        required.add("op")
    if name == ErrorObject.__name__:
        required |= fields.keys() - {"retry_after_ms", "version"}
    if required:
        form["required"] = [field for field in fields if field in required]
    if "description" in form:
        form["description"] = _first(form["description"])
    return form


def _first(text: str | None) -> str:
    """Return what a docstring says before its arguments."""
    return inspect.cleandoc(text or "").partition("\n\nArgs:")[0]


def _ref(form: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/$defs/{form.__name__}"}


def _one_of(forms: tuple[type[BaseModel], ...]) -> dict[str, Any]:
    return _ref(forms[0]) if len(forms) == 1 else {"anyOf": [*map(_ref, forms)]}
