"""``agent.state``: create, read, update, delete and list the parts of the order as objects."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from pydantic import JsonValue

from rpc.gateway import Caller, Rejected, UnknownOperation, error_object, part
from rpc.gateway.answers import fitted
from rpc.order_session import OrderSession
from rpc.reading import wrong
from rpc.wire import (
    AgentStateRequest,
    Created,
    Failed,
    Listed,
    ObjectType,
    ObjectView,
    Operation,
    ReadOne,
    Written,
)
from state.commands import (
    AddItem,
    AddNote,
    CancelOrder,
    ChangeItem,
    ChangeNote,
    ChoosePayment,
    GiveFeedback,
    OrderCommand,
    RemoveItem,
    RemoveNote,
    SetCustomer,
    SetFulfilment,
    SetTip,
)
from state.commands.base import line_of, not_found
from state.context import OrderContext
from state.order import Note, OrderLine, OrderState, Stage
from state.shared import Applied, StateError
from state.view import fulfilment_view, line_view

logger = logging.getLogger(__name__)

OPERATIONS: tuple[Operation, ...] = get_args(Operation)
TYPES: tuple[ObjectType, ...] = get_args(ObjectType)

COMMANDS: Mapping[ObjectType, Mapping[Operation, type[OrderCommand]]] = {
    "item": {"create": AddItem, "update": ChangeItem, "delete": RemoveItem},
    "note": {"create": AddNote, "update": ChangeNote, "delete": RemoveNote},
    "order": {"delete": CancelOrder},
    "customer": {"update": SetCustomer},
    "fulfilment": {"update": SetFulfilment},
    "tip": {"update": SetTip},
    "payment": {"update": ChoosePayment},
    "feedback": {"create": GiveFeedback, "update": GiveFeedback},
}
"""The command of each writing operation; every type can be read and listed."""

LARGEST_LIST = 14_300
"""The largest total size of the objects in one reply, in bytes."""

_SINGLE: tuple[ObjectType, ...] = ("customer", "fulfilment", "tip", "payment", "feedback")
_ID_FIELD: Mapping[ObjectType, str] = {"item": "line_id", "note": "note_id"}

Reply = Created | ReadOne | Written | Listed | Failed


async def answer(order_session: OrderSession, request: AgentStateRequest, caller: Caller) -> Reply:
    """Carry out a request; errors of the state are returned in the envelope.

    Raises:
        Rejected: The request is not valid.
    """
    operation = _operation(request.operation)
    kind = _type(request.object_type)
    try:
        match operation:
            case "list":
                return _list(order_session, kind, request)
            case "read":
                return _read(order_session, _named(kind), request)
            case "create" | "update" | "delete":
                return await _write(order_session, operation, _named(kind), request, caller)
    except Rejected:
        raise
    except Exception as error:  # the envelope reports internal errors too
        if not isinstance(error, StateError):
            # Without the error's text: it may hold a guest's words.
            logger.error("agent.state failed", extra={"error": type(error).__name__})
        return failed(operation, error, order_session.shared.version)


def failed(operation: Operation, error: Exception, version: int) -> Failed:
    """Return the envelope for an error, cut to the size limits."""
    fault = fitted(error_object(error, version))
    return Failed(operation=operation, message=fault.detail, version=version, error=fault)


def object_view(order_session: OrderSession, kind: ObjectType, object_id: str | None) -> ObjectView:
    """Return one part of the order.

    Raises:
        NotFound: There is none with this id.
    """
    order = order_session.shared.state
    match kind:
        case "item":
            return _item(order, line_of(order, object_id or ""))
        case "note":
            for note in order.notes:
                if note.id == object_id:
                    return _note(note)
            not_found("note", object_id or "", [note.id for note in order.notes])
        case "order":
            if object_id not in (None, "order", order.order_id):
                not_found("order", object_id or "", [order.order_id])
            return _whole(order_session, order)
        case _:
            if object_id not in (None, kind):
                not_found(kind, object_id or "", [kind])
            return _part(order, kind)


# -- the operations -----------------------------------------------------------------------------------


def _read(order_session: OrderSession, kind: ObjectType, request: AgentStateRequest) -> ReadOne:
    _no_data(request)
    _needs_id(kind, request)
    found = object_view(order_session, kind, request.object_id)
    return ReadOne(
        message=f"This is {_called(kind, found.id)}.",
        version=order_session.shared.version,
        object=found,
    )


def _list(
    order_session: OrderSession, kind: ObjectType | None, request: AgentStateRequest
) -> Listed:
    _no_data(request)
    found = {one.id: one for one in _all(order_session, kind)}
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
        version=order_session.shared.version,
        objects=page,
        count=len(page),
        cursor=ids[shown - 1] if shown < len(ids) else None,
    )


async def _write(
    order_session: OrderSession,
    operation: Literal["create", "update", "delete"],
    kind: ObjectType,
    request: AgentStateRequest,
    caller: Caller,
) -> Created | Written:
    form = COMMANDS[kind].get(operation)
    if form is None:
        raise _instead(operation, kind)
    fields = dict(request.data or {})
    if operation == "create":
        if request.object_id is not None:
            raise wrong("object_id", "not_taken", "The server assigns ids: leave it out.")
    else:
        _needs_id(kind, request)
    id_field = _ID_FIELD.get(kind, "op")
    for name in fields.keys() & {"op", id_field}:
        raise wrong(f"data.{name}", "extra_forbidden", "`operation` and `object_id` say this.")
    if operation != "create" and kind in _ID_FIELD:
        fields[id_field] = request.object_id
    command = part(form, fields, at="data")
    if operation != "create" and kind not in _ID_FIELD:
        object_view(order_session, kind, request.object_id)  # raises if there is none
    applied = await order_session.write(command, caller, version=request.version, key=request.key)
    if operation == "create":
        object_id = _made(applied, command, kind, order_session.shared.context)
        return Created(
            message=f"Created {_called(kind, object_id)}.",
            version=applied.version,
            object_id=object_id,
        )
    done = "Updated" if operation == "update" else "Deleted"
    return Written(
        operation=operation,
        message=f"{done} {_called(kind, request.object_id)}.",
        version=applied.version,
    )


def _made(
    applied: Applied[OrderState], command: OrderCommand, kind: ObjectType, context: OrderContext
) -> str:
    """Return the id of the object a command created or added to, also when answering a repeat after a restart."""
    if kind == "note":
        return applied.state.notes[-1].id
    if kind != "item" or not isinstance(command, AddItem):
        return kind
    before = {line.id: line for line in applied.before.order_items}
    for line in applied.state.order_items:
        if before.get(line.id) != line:
            return line.id
    return _same_line(applied.state, command, context)


def _same_line(order: OrderState, command: AddItem, context: OrderContext) -> str:
    """Find the line a command went to, by applying it once more to the order as it left it."""
    single = tuple(line.model_copy(update={"quantity": 1}) for line in order.order_items)
    open_again = order.model_copy(update={"stage": Stage.OPEN, "order_items": single})
    try:
        after = command.model_copy(update={"quantity": 1}).change(open_again, context)
    except StateError:  # the menu has changed meanwhile
        after = open_again
    for line, before in zip(after.order_items, single, strict=False):
        if line != before:
            return line.id
    # Otherwise it was the line written last.
    written = [line.id for line in order.order_items if f"lines/{line.id}" in order.times]
    return max(written, key=lambda line_id: order.times[f"lines/{line_id}"].updated_at)


# -- the objects --------------------------------------------------------------------------------------


def _all(order_session: OrderSession, kind: ObjectType | None) -> Iterator[ObjectView]:
    order = order_session.shared.state
    if kind in (None, "item"):
        yield from (_item(order, line) for line in order.order_items)
    if kind in (None, "note"):
        yield from map(_note, order.notes)
    if kind == "order":
        yield _whole(order_session, order)
    for single in _SINGLE:
        if kind == single or (kind is None and _is_set(order, single)):
            yield _part(order, single)


def _item(order: OrderState, line: OrderLine) -> ObjectView:
    shown: Mapping[str, Any] = line_view(line)
    data = {name: shown[name] for name in ("name", "quantity", "size", "modifications")}
    data |= {name: shown[name] for name in ("parts", "note") if shown[name]}
    return _object(order, line.id, "item", f"lines/{line.id}", data)


def _note(note: Note) -> ObjectView:
    return ObjectView(
        id=note.id,
        type="note",
        created_at=note.created_at.isoformat(),
        updated_at=note.updated_at.isoformat(),
        data={"title": note.title, "content": note.content},
    )


def _whole(order_session: OrderSession, order: OrderState) -> ObjectView:
    changed = [
        order.opened_at,
        *(times.updated_at for times in order.times.values()),
        *(note.updated_at for note in order.notes),
    ]
    return ObjectView(
        id=order.order_id,
        type="order",
        created_at=order.opened_at.isoformat(),
        updated_at=max(changed).isoformat(),
        data=order_session.views.present()[1],
    )


def _part(order: OrderState, kind: ObjectType) -> ObjectView:
    data: dict[str, JsonValue]
    match kind:
        case "customer":
            data = {"name": order.customer_name, "phone": order.phone, "email": order.email}
        case "fulfilment":
            there: Mapping[str, Any] = {}
            if order.fulfilment is not None:
                there = fulfilment_view(order.fulfilment)
            data = {name: there.get(name) for name in ("kind", "when", "address")}
        case "tip":
            tip = SetTip(**order.tip.model_dump()).written() if order.tip is not None else {}
            data = {name: tip.get(name) for name in ("percentage", "amount")}
        case "payment":
            data = {"method": order.payment_method}
        case _:
            data = {"rating": order.feedback_rating, "comment": order.feedback_comment}
    return _object(order, kind, kind, kind, data)


def _is_set(order: OrderState, kind: ObjectType) -> bool:
    return any(value is not None for value in _part(order, kind).data.values())


def _object(
    order: OrderState, object_id: str, kind: ObjectType, named: str, data: dict[str, JsonValue]
) -> ObjectView:
    times = order.times.get(named)
    return ObjectView(
        id=object_id,
        type=kind,
        created_at=times.created_at.isoformat() if times else None,
        updated_at=times.updated_at.isoformat() if times else None,
        data=data,
    )


def _called(kind: ObjectType, object_id: str | None) -> str:
    return f"{kind} {object_id}" if kind in _ID_FIELD else f"the {kind}"


# -- invalid requests ---------------------------------------------------------------------------------


def _operation(word: str) -> Operation:
    for operation in OPERATIONS:
        if operation == word:
            return operation
    raise UnknownOperation(
        f"There is no such operation. There are: {', '.join(OPERATIONS)}.", possible=[*OPERATIONS]
    )


def _type(word: str | None) -> ObjectType | None:
    if word is None:
        return None
    for kind in TYPES:
        if kind == word:
            return kind
    raise wrong(
        "object_type", "literal_error", f"There is no such type. Types: {', '.join(TYPES)}."
    )


def _named(kind: ObjectType | None) -> ObjectType:
    if kind is None:
        raise wrong("object_type", "missing", f"Say which: {', '.join(TYPES)}.")
    return kind


def _needs_id(kind: ObjectType, request: AgentStateRequest) -> None:
    if kind in _ID_FIELD and request.object_id is None:
        raise wrong("object_id", "missing", f"Say which {kind}.")


def _no_data(request: AgentStateRequest) -> None:
    if request.data:
        raise wrong("data", "not_taken", f"To {request.operation} takes no data.")


def _instead(operation: Operation, kind: ObjectType) -> UnknownOperation:
    possible = [one for one in OPERATIONS if one in ("read", "list") or one in COMMANDS[kind]]
    if kind == "order":
        use = "order.apply"
        detail = (
            f"An order cannot be {operation}d as a whole: change its parts, or use order.apply."
        )
    elif operation == "create":
        use = "update"
        detail = f"There always is one {kind}: use update."
    else:
        use = "update" if "update" in possible else "create"
        detail = f"A {kind} cannot be {operation}d. Possible: {', '.join(possible)}."
    return UnknownOperation(detail, possible=[*possible], use=use)
