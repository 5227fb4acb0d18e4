"""``agent.state``: create, read, update, delete and list the parts of the state as objects."""

import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal, get_args

from rpc.gateway import BadParams, Caller, Forbidden, Rejected, UnknownOperation, error_object, part
from rpc.gateway.answers import fitted
from rpc.gateway.request_log import fault_of
from rpc.page.forms import (
    AgentStateRequest,
    Created,
    Failed,
    Listed,
    ObjectView,
    Operation,
    ReadOne,
    Written,
)
from rpc.page.session import C, S, Session
from rpc.page.spec import AnyCommand, PageSpec, StateObject
from state.shared import Applied, Command, Refused, StateError

logger = logging.getLogger(__name__)

OPERATIONS: tuple[Operation, ...] = get_args(Operation)

LARGEST_LIST = 14_300
"""The largest total size of the objects in one reply, in bytes."""

Reply = Created | ReadOne | Written | Listed | Failed


class NotFound(Refused):
    """There is no object with this id."""

    code = "not_found"


async def answer(
    spec: PageSpec[S, C], session: Session[S, C], request: AgentStateRequest, caller: Caller
) -> Reply:
    """Carry out a request; errors of the state are returned in the envelope.

    Raises:
        Rejected: The request is not valid.
    """
    operation = _operation(request.operation)
    objects = _Objects(spec, session)
    kind = objects.type(request.object_type)
    try:
        match operation:
            case "list":
                return objects.list(kind, request)
            case "read":
                return objects.read(objects.named(kind), request)
            case "create" | "update" | "delete":
                return await objects.write(operation, objects.named(kind), request, caller)
    except Rejected:
        raise
    except Exception as error:  # the envelope reports internal errors too
        if not isinstance(error, StateError):
            fault = fault_of(error)
            logger.error("agent.state failed: %s", fault["fault"], extra=fault)
        return failed(operation, error, session.shared.version)


def failed(operation: Operation, error: Exception, version: int) -> Failed:
    """Return the envelope for an error, cut to the size limits."""
    fault = fitted(error_object(error, version))
    return Failed(operation=operation, message=fault.detail, version=version, error=fault)


class _Objects:
    """The objects of one session."""

    def __init__(self, spec: PageSpec[Any, Any], session: Session[Any, Any]) -> None:
        self._session = session
        self._spec = spec
        self._types = self._spec.objects

    # -- the operations ----------------------------------------------------------------------------

    def read(self, kind: str, request: AgentStateRequest) -> ReadOne:
        _no_data(request)
        self._needs_id(kind, request)
        found = self._view(kind, self._find(kind, request.object_id))
        return ReadOne(
            message=f"This is {self._called(kind, found.id)}.",
            version=self._session.shared.version,
            object=found,
        )

    def list(self, kind: str | None, request: AgentStateRequest) -> Listed:
        _no_data(request)
        found = {one.id: one for one in self._all(kind)}
        ids = [*found]
        start = 0
        if request.cursor is not None:
            if request.cursor not in found:
                raise wrong("cursor", "gone", "Its object is gone: start again without a cursor.")
            start = ids.index(request.cursor) + 1
        page: dict[str, ObjectView] = {}
        room = LARGEST_LIST
        for object_id in ids[start:]:
            room -= len(found[object_id].model_dump_json().encode()) + len(object_id.encode()) + 4
            if room < 0 and page:
                break
            page[object_id] = found[object_id]
        shown = start + len(page)
        return Listed(
            message=f"Listed {len(page)} {'object' if len(page) == 1 else 'objects'}.",
            version=self._session.shared.version,
            objects=page,
            count=len(page),
            cursor=ids[shown - 1] if shown < len(ids) else None,
        )

    async def write(
        self,
        operation: Literal["create", "update", "delete"],
        kind: str,
        request: AgentStateRequest,
        caller: Caller,
    ) -> Created | Written:
        form = self._types[kind].commands.get(operation)
        if form is None:
            raise self._instead(operation, kind)
        if form not in self._spec.roles.get(caller.role or "", ()):
            raise not_allowed(self._spec, form)
        fields = dict(request.data or {})
        if operation == "create":
            if request.object_id is not None:
                raise wrong("object_id", "not_taken", "The server assigns ids: leave it out.")
        else:
            self._needs_id(kind, request)
        id_field = self._types[kind].id_field
        for name in fields.keys() & {"op", id_field or "op"}:
            raise wrong(f"data.{name}", "extra_forbidden", "`operation` and `object_id` say this.")
        if operation != "create" and id_field is not None:
            fields[id_field] = request.object_id
        command = part(form, fields, at="data")
        if operation != "create" and not self._session.is_settled(caller, request.key):
            self._find(kind, request.object_id)  # raises if there is none
        applied = await self._session.write(
            command, caller, version=request.version, key=request.key
        )
        if operation == "create":
            object_id = self._made(kind, applied, command)
            return Created(
                message=f"Created {self._called(kind, object_id)}.",
                version=applied.version,
                object_id=object_id,
            )
        done = "Updated" if operation == "update" else "Deleted"
        return Written(
            operation=operation,
            message=f"{done} {self._called(kind, request.object_id)}.",
            version=applied.version,
        )

    # -- the objects -------------------------------------------------------------------------------

    def _all(self, kind: str | None) -> Iterator[ObjectView]:
        state = self._session.shared.state
        for name, objects in self._types.items() if kind is None else [(kind, self._types[kind])]:
            for one in objects.all(state):
                if kind is not None or self._is_listed(name, one):
                    yield self._view(name, one)

    def _is_listed(self, kind: str, one: StateObject) -> bool:
        """Whether a list of everything has this object."""
        if self._types[kind].id_field is not None:
            return True
        return kind != self._spec.noun and any(value is not None for value in one.data.values())

    def _find(self, kind: str, object_id: str | None) -> StateObject:
        objects, state = self._types[kind], self._session.shared.state
        if objects.find is not None:
            return objects.find(state, object_id or "")
        there = [*objects.all(state)]
        for one in there:
            if object_id == one.id or (objects.id_field is None and object_id in (None, kind)):
                return one
        ids = [one.id for one in there]
        possible = f"There are: {', '.join(ids)}." if ids else "There is none."
        raise NotFound(
            f"The {self._spec.noun} has no {kind} {object_id or ''!r}. {possible}",
            kind=kind,
            id=object_id or "",
            possible=[*ids],
        )

    def _view(self, kind: str, one: StateObject) -> ObjectView:
        return ObjectView(
            id=one.id,
            type=kind,
            created_at=_iso(one.created_at),
            updated_at=_iso(one.updated_at),
            data=self._session.views.present()[1] if kind == self._spec.noun else one.data,
        )

    def _made(self, kind: str, applied: Applied[Any], command: Command[Any, Any]) -> str:
        """Return the id of the object a command created or added to, also when answering a repeat after a restart."""
        objects = self._types[kind]
        if objects.created is not None:
            return objects.created(applied, command, self._session.shared.context)
        if objects.id_field is None:
            return kind
        before = {one.id: one for one in objects.all(applied.before)}
        after = [*objects.all(applied.state)]
        return next((one.id for one in after if before.get(one.id) != one), after[-1].id)

    def _called(self, kind: str, object_id: str | None) -> str:
        return f"{kind} {object_id}" if self._types[kind].id_field else f"the {kind}"

    # -- invalid requests --------------------------------------------------------------------------

    def type(self, word: str | None) -> str | None:
        if word is None or word in self._types:
            return word
        raise wrong(
            "object_type",
            "literal_error",
            f"There is no such type. Types: {', '.join(self._types)}.",
        )

    def named(self, kind: str | None) -> str:
        if kind is None:
            raise wrong("object_type", "missing", f"Say which: {', '.join(self._types)}.")
        return kind

    def _needs_id(self, kind: str, request: AgentStateRequest) -> None:
        if self._types[kind].id_field is not None and request.object_id is None:
            raise wrong("object_id", "missing", f"Say which {kind}.")

    def _instead(self, operation: Operation, kind: str) -> UnknownOperation:
        commands = self._types[kind].commands
        possible = [one for one in OPERATIONS if one in ("read", "list") or one in commands]
        a_kind = f"{'An' if kind[0] in 'aeiou' else 'A'} {kind}"
        if kind == self._spec.noun:
            use = f"{kind}.apply"
            detail = f"{a_kind} cannot be {operation}d as a whole: change its parts, or use {use}."
        elif operation == "create" and "update" in commands:
            use = "update"
            detail = f"There always is one {kind}: use update."
        else:
            use = next((one for one in ("update", "create") if one in commands), "read")
            detail = f"{a_kind} cannot be {operation}d. Possible: {', '.join(possible)}."
        return UnknownOperation(detail, possible=[*possible], use=use)


def not_allowed(spec: PageSpec[Any, Any], kind: type[AnyCommand]) -> Forbidden:
    """Return the error for a command that the caller's role may not send."""
    return Forbidden.unless(spec.allowed(kind), "do")


def wrong(field: str, code: str, detail: str) -> BadParams:
    """Return a ``BadParams`` for one field, in the same form as a validation error.

    Args:
        field: The field's path, with dots.
        code: The error as an identifier.
        detail: An English sentence that says what to do.
    """
    return BadParams(
        f"{field}: {detail}",
        field=field,
        errors=[{"path": field, "code": code, "detail": detail.rstrip(".")}],
    )


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _operation(word: str) -> Operation:
    for operation in OPERATIONS:
        if operation == word:
            return operation
    raise UnknownOperation(
        f"There is no such operation. There are: {', '.join(OPERATIONS)}.", possible=[*OPERATIONS]
    )


def _no_data(request: AgentStateRequest) -> None:
    if request.data:
        raise wrong("data", "not_taken", f"To {request.operation} takes no data.")
