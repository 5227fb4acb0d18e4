"""The RPC contract as JSON Schema: every method with its request, reply and errors, and every push.

``contract.json`` is the committed copy; a test fails when they differ.
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
"""Where the contract is committed."""

REQUEST_ERRORS: Mapping[int, str] = {
    kind.code: kind.type for kind in sorted(Rejected.__subclasses__(), key=lambda kind: kind.code)
}
"""The ``type`` of each request error, by its code."""

ERRORS: Mapping[int, str] = {
    **REQUEST_ERRORS,
    **{code: kind for kind, code in STATE_CODES.items()},
}
"""Every error ``type``, by its code."""

ANY_CALL = (4000, 4001, 4003, 4013, 4029, 5000, 5004)
"""The codes that every method can return."""

_WRITE = (4004, 4005, 4009, 4010, 4011, 4022, 4028, 5003)


@dataclass(frozen=True, slots=True)
class MethodContract:
    """What the contract says about one method.

    Args:
        request: The model of the request.
        replies: The models of the possible replies.
        callers: The roles that may call it.
        errors: The error codes it can raise, in addition to ``ANY_CALL``.
        in_reply: The codes that its reply carries instead of raising an ``RpcError``.
    """

    request: type[BaseModel]
    replies: tuple[type[BaseModel], ...]
    callers: tuple[str, ...] = ("guest", "staff")
    errors: tuple[int, ...] = ()
    in_reply: tuple[int, ...] = ()


METHODS: Mapping[str, MethodContract] = {
    "hello": MethodContract(wire.HelloRequest, (wire.HelloReply,), errors=(5003,)),
    "say": MethodContract(wire.SayRequest, (wire.SayReply,), ("guest",), (4011, 4022, 5003)),
    "get_order_state": MethodContract(
        wire.GetOrderStateRequest, (wire.WholeOrder, wire.Unchanged, wire.OrderPatch)
    ),
    "get_menu": MethodContract(
        wire.GetMenuRequest,
        (wire.MenuSections, wire.MenuSection, wire.MenuUnchanged),
        errors=(4004,),
    ),
    "order.apply": MethodContract(wire.OrderApplyRequest, (wire.WholeOrder,), errors=_WRITE),
    "order.subscribe": MethodContract(wire.OrderSubscribeRequest, (wire.WholeOrder,)),
    "order.unsubscribe": MethodContract(wire.OrderUnsubscribeRequest, (wire.Done,)),
    "agent.state": MethodContract(
        wire.AgentStateRequest,
        (wire.Created, wire.ReadOne, wire.Written, wire.Listed, wire.Failed),
        errors=(4005, 4028),
        in_reply=tuple(STATE_CODES.values()),
    ),
}
"""Every method, by its name."""

PUSHES: Mapping[str, tuple[type[BaseModel], ...]] = {
    "order_state_changed": (wire.OrderStateChanged,),
    "your_turn_to_speak": (wire.YourTurnToSpeak, wire.TurnTakenBack),
    "call_ended": (wire.CallEnded,),
}
"""The methods the agent calls on a client; the client's answer is ignored."""


class _NoFieldTitles(GenerateJsonSchema):
    """Omits titles that only repeat a field's name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def contract() -> dict[str, Any]:
    """Return the contract as one JSON Schema; the methods refer to its definitions."""
    modes: dict[type[BaseModel], JsonSchemaMode] = {ErrorObject: "serialization"}
    for method in METHODS.values():
        modes[method.request] = "validation"
        modes.update(dict.fromkeys(method.replies, "serialization"))
    for pushes in PUSHES.values():
        modes.update(dict.fromkeys(pushes, "serialization"))
    _, schema = models_json_schema([*modes.items()], schema_generator=_NoFieldTitles)
    forms = {name: _finished(name, form) for name, form in schema["$defs"].items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Bella Vista's RPC",
        "protocol": wire.PROTOCOL,
        "features": [*wire.FEATURES],
        "methods": {
            name: {
                "description": _first(method.request.__doc__),
                "callers": [*method.callers],
                "request": _ref(method.request),
                "reply": _one_of(method.replies),
                "errors": sorted({*ANY_CALL, *method.errors}),
                "errors_in_reply": sorted(method.in_reply),
            }
            for name, method in METHODS.items()
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
    """Return the text of ``contract.json``."""
    return json.dumps(contract(), indent=2, ensure_ascii=False) + "\n"


def _finished(name: str, form: dict[str, Any]) -> dict[str, Any]:
    """Mark as required what pydantic leaves optional: a command's ``op``, and most fields of an error."""
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
