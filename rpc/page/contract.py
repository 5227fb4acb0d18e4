"""A page's contract as JSON Schema: every method with its request, reply and errors, and every push."""

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, Field, JsonValue, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from rpc.gateway import ErrorObject, Rejected
from rpc.gateway.errors import STATE_CODES
from rpc.page import forms
from rpc.page.spec import PageSpec

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

CALL_OVER = STATE_CODES["refused"]
"""The code of every write after the end of the call."""

_WRITE = (4004, 4005, 4009, 4010, 4011, 4022, 4028, 5003)


@dataclass(frozen=True, slots=True)
class MethodForm:
    """The contract of one method.

    Args:
        request: The model of the request.
        replies: The models of the possible replies.
        callers: The roles that may call it.
        errors: The error codes it can raise, in addition to ``ANY_CALL``.
        in_reply: The codes that its reply carries instead of raising an ``RpcError``.
    """

    request: type[BaseModel]
    replies: tuple[type[BaseModel], ...]
    callers: tuple[str, ...]
    errors: tuple[int, ...] = ()
    in_reply: tuple[int, ...] = ()


def method_forms(spec: PageSpec[Any, Any]) -> dict[str, MethodForm]:
    """Return the contract of every method, by its name."""
    noun, every, whole = spec.noun, tuple(spec.roles), spec.whole_state
    found = {
        "hello": MethodForm(forms.HelloRequest, (spec.hello_reply,), every, (5003,)),
        "say": MethodForm(forms.SayRequest, (forms.SayReply,), (spec.user,), (4011, 4022, 5003)),
        "get_transcript": MethodForm(forms.GetTranscriptRequest, (forms.Transcript,), (spec.user,)),
        "refuse_recording": MethodForm(forms.RefuseRecordingRequest, (forms.Done,), (spec.user,)),
        **_turn_forms(spec),
        f"get_{noun}_state": MethodForm(
            forms.GetStateRequest, (whole, forms.Unchanged, forms.StatePatch), every
        ),
    }
    for method in spec.methods:
        allowed = every if method.roles is None else method.roles
        callers = tuple(role for role in every if role in allowed)
        errors = {*method.errors, *((CALL_OVER,) if method.writes else ())}
        found[method.name] = MethodForm(
            method.request, method.replies, callers, tuple(sorted(errors))
        )
    if spec.ops:
        found[f"{noun}.apply"] = MethodForm(forms.ApplyRequest, (whole,), every, _WRITE)
    found[f"{noun}.subscribe"] = MethodForm(forms.SubscribeRequest, (whole,), every)
    found[f"{noun}.unsubscribe"] = MethodForm(forms.UnsubscribeRequest, (forms.Done,), every)
    if spec.objects:
        found["agent.state"] = MethodForm(
            forms.AgentStateRequest,
            (forms.Created, forms.ReadOne, forms.Written, forms.Listed, forms.Failed),
            every,
            (4005, 4028),
            tuple(STATE_CODES.values()),
        )
    return found


def _turn_forms(spec: PageSpec[Any, Any]) -> dict[str, MethodForm]:
    """Return the contracts of the methods of push-to-talk."""
    requests: dict[str, tuple[type[BaseModel], type[BaseModel]]] = {
        "start_turn": (forms.StartTurnRequest, forms.TurnReply),
        "end_turn": (forms.EndTurnRequest, forms.TurnReply),
        "cancel_turn": (forms.CancelTurnRequest, forms.TurnReply),
        "set_microphone": (forms.SetMicrophoneRequest, forms.MicrophoneReply),
    }
    return {
        name: MethodForm(request, (reply,), (spec.user,), (4022, 5003))
        for name, (request, reply) in requests.items()
    }


def push_forms(spec: PageSpec[Any, Any]) -> dict[str, tuple[type[BaseModel], ...]]:
    """Return the forms of the methods that the agent calls on a client, whose answer is ignored."""
    return {
        spec.changed_method: (forms.StateChanged,),
        "your_turn_to_speak": (forms.YourTurnToSpeak, forms.TurnTakenBack),
        "call_ended": (forms.CallEnded,),
    }


class _NoFieldTitles(GenerateJsonSchema):
    """Omits titles that only repeat a field's name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def contract(spec: PageSpec[Any, Any], title: str) -> dict[str, Any]:
    """Return the contract as one JSON Schema; the methods refer to its definitions."""
    methods, pushes = method_forms(spec), push_forms(spec)
    requests = {method.request for method in methods.values()} | {*spec.ops.values()}
    shown = {form for method in methods.values() for form in method.replies} | {ErrorObject}
    shown |= {form for those in pushes.values() for form in those}
    schemas, whole = TypeAdapter.json_schemas(
        [
            *((form, "validation", TypeAdapter[Any](form)) for form in requests),
            *((form, "serialization", TypeAdapter[Any](form)) for form in shown),
            *(
                (name, "validation" if name == "command" else "serialization", form)
                for name, form in _filled_in(spec).items()
            ),
        ],
        schema_generator=_NoFieldTitles,
    )
    schema_of: dict[Any, Any] = {form: schema for (form, _), schema in schemas.items()}

    def one_of(those: Sequence[type[BaseModel]]) -> dict[str, Any]:
        refs = [schema_of[form] for form in those]
        return refs[0] if len(refs) == 1 else {"anyOf": refs}

    told: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "protocol": forms.PROTOCOL,
        "features": [*spec.all_features, forms.RECORDED, forms.PUSH_TO_TALK],
        "methods": {
            name: {
                "description": _first(method.request.__doc__),
                "callers": [*method.callers],
                "request": schema_of[method.request],
                "reply": one_of(method.replies),
                "errors": sorted({*ANY_CALL, *method.errors}),
                "errors_in_reply": sorted(method.in_reply),
            }
            for name, method in methods.items()
        },
        "pushes": {
            name: {"description": _first(those[0].__doc__), "payload": one_of(those)}
            for name, those in pushes.items()
        },
        "objects": {
            kind: {operation: schema_of[command] for operation, command in one.commands.items()}
            for kind, one in spec.objects.items()
        },
        "error": schema_of[ErrorObject],
        "errors": {str(code): kind for code, kind in sorted(ERRORS.items())},
        "$defs": {name: _finished(form) for name, form in whole["$defs"].items()},
    }
    return _in_words_of(spec, _with(schema_of, told))


def _filled_in(spec: PageSpec[Any, Any]) -> dict[str, TypeAdapter[Any]]:
    """Return the models with the page's own forms in place of ``Filled`` marks."""
    steps = Annotated[forms.Add | forms.Remove | forms.Replace, Field(discriminator="op")]
    found: dict[str, Any] = {
        "operation": forms.Operation,
        "patch": tuple[steps, ...],
        "view": spec.view_form or dict[str, JsonValue],
    }
    if commands := tuple(spec.ops.values()):
        found["command"] = Annotated[Union[commands], Field(discriminator="op")]  # noqa: UP007
    if types := tuple(spec.objects):
        found["object_type"] = Literal[types]
    return {name: TypeAdapter(form) for name, form in found.items()}


def _with(schema_of: Mapping[Any, Any], schema: Any) -> Any:
    """Return a schema in which each ``Filled`` mark is replaced by its schema."""
    if isinstance(schema, list):
        return [_with(schema_of, one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if forms.FILLED in schema:
        beside = {name: one for name, one in schema.items() if name != forms.FILLED}
        return _sorted(schema_of[schema[forms.FILLED]] | beside)
    return {name: _with(schema_of, one) for name, one in schema.items()}


def _sorted(schema: Any) -> Any:
    """Return a schema without properties with its keys in order, as pydantic sorts all others."""
    if isinstance(schema, list):
        return [_sorted(one) for one in schema]
    if isinstance(schema, dict):
        return {name: _sorted(schema[name]) for name in sorted(schema)}
    return schema


def _in_words_of(spec: PageSpec[Any, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Return the contract with the application's words, and the forms under the names of their titles."""
    words = {
        "{noun}": spec.noun,
        "{Noun}": "".join(word.capitalize() for word in spec.noun.split("_")),
        "{user}": spec.user,
        "{keyed}": " or ".join(name for name, one in spec.objects.items() if one.id_field)
        or "object",
    }
    text = json.dumps(told, ensure_ascii=False)
    for name, form in told["$defs"].items():
        if "{Noun}" in (title := form.get("title", "")):
            text = text.replace(f'"#/$defs/{name}"', f'"#/$defs/{title}"')
            text = text.replace(f'"{name}": {{', f'"{title}": {{')
    for mark, word in words.items():
        text = text.replace(mark, word)
    done: dict[str, Any] = json.loads(text)
    return {**done, "$defs": dict(sorted(done["$defs"].items()))}


def _finished(form: dict[str, Any]) -> dict[str, Any]:
    """Mark fields as required that pydantic leaves optional: a command's ``op``, and most of an error's."""
    fields = form.get("properties", {})
    required = set(form.get("required", ()))
    if "const" in fields.get("op", {}):
        fields["op"].pop("default", None)
        required.add("op")
    if form.get("title") == ErrorObject.__name__:
        required |= fields.keys() - {"retry_after_ms", "version"}
    if required:
        form["required"] = [field for field in fields if field in required]
    if "description" in form:
        form["description"] = _first(form["description"])
    return form


def _first(text: str | None) -> str:
    """Return a docstring up to its arguments."""
    return inspect.cleandoc(text or "").partition("\n\nArgs:")[0]
