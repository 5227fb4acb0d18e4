"""The restaurant's page: the part of an order that clients can read and change."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, JsonValue

from rpc.gateway import Caller
from rpc.menu_forms import GetMenuRequest, MenuSection, MenuSections, MenuUnchanged
from rpc.menu_pages import meant, pages_of
from rpc.page import ObjectType, PageMethod, PageSpec, Session, StateObject, contract
from state.commands import (
    AddAllergy,
    AddItem,
    AddNote,
    CancelOrder,
    ChangeItem,
    ChangeNote,
    ChoosePayment,
    GiveFeedback,
    GuestCommand,
    OrderCommand,
    RemoveItem,
    RemoveNote,
    SetCustomer,
    SetFulfilment,
    SetTip,
    StaffCommand,
)
from state.commands.base import line_of
from state.commands.lines import Part
from state.context import OrderContext
from state.order import LinePart, OrderLine, OrderState, Stage
from state.shared import Applied, StateError
from state.stages import ORDERING
from state.view import OrderView, fulfilment_view, line_view, view

GUEST, STAFF = "guest", "staff"
"""The roles; the guest is the bound user."""

CONTRACT = Path(__file__).with_name("contract.json")
"""Where the contract is committed."""

Data = Mapping[str, JsonValue]


def order_contract() -> dict[str, Any]:
    """Return the contract as one JSON Schema."""
    return contract(ORDER_PAGE, "Bella Vista's RPC")


# -- the menu --------------------------------------------------------------------------------------


async def _menu(
    session: Session[OrderState, OrderContext], request: GetMenuRequest, caller: Caller
) -> BaseModel:
    context = session.shared.context
    return pages_of(context.menu).answer(request, context.now(), paused=context.house().paused)


# -- the objects -----------------------------------------------------------------------------------


def _items(order: OrderState) -> Iterable[StateObject]:
    return (_item(order, line) for line in order.order_items)


def _item(order: OrderState, line: OrderLine) -> StateObject:
    shown: dict[str, Any] = {**line_view(order, line)}
    data = {name: shown[name] for name in ("name", "quantity", "size", "modifications")}
    data |= {name: shown[name] for name in ("parts", "note") if shown[name]}
    return _object(order, line.id, f"lines/{line.id}", data)


def _notes(order: OrderState) -> Iterable[StateObject]:
    for note in order.notes:
        data: Data = {"title": note.title, "content": note.content}
        yield StateObject(note.id, data, note.created_at, note.updated_at)


def _order(order: OrderState) -> Iterable[StateObject]:
    changed = [
        order.opened_at,
        *(times.updated_at for times in order.times.values()),
        *(note.updated_at for note in order.notes),
    ]
    yield StateObject(order.order_id, {}, order.opened_at, max(changed))


def _customer(order: OrderState) -> Data:
    return {"name": order.customer_name, "phone": order.phone, "email": order.email}


def _fulfilment(order: OrderState) -> Data:
    there: Mapping[str, Any] = {}
    if order.fulfilment is not None:
        there = fulfilment_view(order.fulfilment)
    return {name: there.get(name) for name in ("kind", "when", "address")}


def _tip(order: OrderState) -> Data:
    tip = SetTip(**order.tip.model_dump()).written() if order.tip is not None else {}
    return {name: tip.get(name) for name in ("percentage", "amount")}


def _payment(order: OrderState) -> Data:
    return {"method": order.payment_method}


def _feedback(order: OrderState) -> Data:
    return {"rating": order.feedback_rating, "comment": order.feedback_comment}


def _object(order: OrderState, object_id: str, part: str, data: Data) -> StateObject:
    times = order.times.get(part)
    if times is None:
        return StateObject(object_id, data)
    return StateObject(object_id, data, times.created_at, times.updated_at)


def _added_to(applied: Applied[OrderState], command: AddItem, context: OrderContext) -> str:
    """Return the id of the line a command added or added to, also when answering a repeat after a restart."""
    before = {line.id: line for line in applied.before.order_items}
    for line in applied.state.order_items:
        if before.get(line.id) != line:
            return line.id
    return _same_line(applied.state, command, context)


def _same_line(order: OrderState, command: AddItem, context: OrderContext) -> str:
    """Find the line a command was applied to, by applying it again to the resulting order."""
    single = tuple(line.model_copy(update={"quantity": 1}) for line in order.order_items)
    open_again = order.model_copy(update={"stage": Stage.OPEN, "order_items": single})
    try:
        after = command.model_copy(update={"quantity": 1}).change(open_again, context)
    except StateError:  # the menu has changed meanwhile
        after = open_again
    for line, before in zip(after.order_items, single, strict=False):
        if line != before:
            return line.id
    # Otherwise it was the newest line.
    written = [line.id for line in order.order_items if f"lines/{line.id}" in order.times]
    return max(written, key=lambda line_id: order.times[f"lines/{line_id}"].updated_at)


def _again(order: OrderState) -> Iterable[AddAllergy | AddItem]:
    """Return the commands that order a placed order's items again; some choices may have to be made again.

    The allergies come first, so that each item is judged by them.
    """
    if order.stage in ORDERING or order.stage in (Stage.CANCELLED, Stage.FAILED):
        return
    for allergy in order.allergies:
        yield AddAllergy(name=allergy)
    for line in order.order_items:
        fields: dict[str, Any] = {"name": line.name, "quantity": line.quantity}
        fields |= {"size": line.size} if line.size else {}
        fields |= {"modifications": line.modifications} if line.modifications else {}
        fields |= {"parts": tuple(map(_part_again, line.parts))} if line.parts else {}
        fields |= {"note": line.note} if line.note else {}
        yield AddItem(**fields)


def _part_again(part: LinePart) -> Part:
    return Part(name=part.name, size=part.size, modifications=part.modifications)


def _part(
    name: str,
    data: Callable[[OrderState], Data],
    update: type[OrderCommand],
    create: type[OrderCommand] | None = None,
) -> ObjectType[OrderState, OrderContext]:
    def one(order: OrderState) -> Iterable[StateObject]:
        return (_object(order, name, name, data(order)),)

    return ObjectType(all=one, create=create, update=update)


ORDER_PAGE: PageSpec[OrderState, OrderContext] = PageSpec(
    noun="order",
    view=view,
    view_form=OrderView,
    user=GUEST,
    roles={GUEST: GuestCommand.__args__, STAFF: (*GuestCommand.__args__, *StaffCommand.__args__)},
    objects={
        "item": ObjectType(
            all=_items,
            find=lambda order, line_id: _item(order, line_of(order, line_id)),
            id_field="line_id",
            create=AddItem,
            update=ChangeItem,
            delete=RemoveItem,
            created=_added_to,
        ),
        "note": ObjectType(
            all=_notes, id_field="note_id", create=AddNote, update=ChangeNote, delete=RemoveNote
        ),
        "order": ObjectType(all=_order, delete=CancelOrder),
        "customer": _part("customer", _customer, SetCustomer),
        "fulfilment": _part("fulfilment", _fulfilment, SetFulfilment),
        "tip": _part("tip", _tip, SetTip),
        "payment": _part("payment", _payment, ChoosePayment),
        "feedback": _part("feedback", _feedback, GiveFeedback, create=GiveFeedback),
    },
    methods=(
        PageMethod(
            name="get_menu",
            request=GetMenuRequest,
            replies=(MenuSections, MenuSection, MenuUnchanged),
            answer=_menu,
            errors=(4004,),
            writes=False,
        ),
    ),
    resolve=meant,
    repeat=_again,
)
"""The declaration of the restaurant's page."""
