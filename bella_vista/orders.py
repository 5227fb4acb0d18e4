"""Operations of staff and the kitchen on stored orders, and the hooks of resumed ones."""

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from pydantic import JsonValue

from agents.app.parts import CallSummary
from agents.app.states import STAFF, SYSTEM, as_state_faults, id_of
from bella_vista.settings import NOUN
from state.commands import (
    AcceptOrder,
    CallPerson,
    CompleteOrder,
    MarkReady,
    OrderCommand,
    Reprice,
    SetCustomer,
    StartPreparing,
)
from state.commands.reprice import is_stale
from state.context import OrderContext
from state.hours import takes_calls
from state.menu import Hours, Menu, Restaurant
from state.order import OrderState, Stage
from state.shared import Refused, SharedState, SqlStore
from state.stages import ENDED, wrong_stage

STEPS: Mapping[Stage, Callable[[], OrderCommand]] = {
    Stage.PLACED: AcceptOrder,
    Stage.ACCEPTED: StartPreparing,
    Stage.PREPARING: MarkReady,
    Stage.READY: CompleteOrder,
}
"""The kitchen's next command at each stage."""


async def advance_order(store: SqlStore, order_id: str) -> OrderState:
    """Execute the kitchen's next step on an order, also while a call holds it; returns the order.

    Raises:
        StateFaults: There is no such order, it cannot be read, or the database cannot be used.
        StateError: The order is not in the kitchen, or the step could not be stored.
    """
    with as_state_faults(NOUN):
        stored = await store.read(await id_of(NOUN, store, order_id))
        order = stored.read(OrderState)
    step = STEPS.get(order.stage)
    if step is None:
        raise wrong_stage(order, "There is no next step for the kitchen.")
    shared = SharedState.restored(stored, OrderState, kitchen_context(order))
    return (await shared.apply(step(), actor=STAFF)).state


def waits_for_staff(order: OrderState) -> bool:
    """Whether the kitchen or the counter has the order and is not done with it, or its guest wants a person."""
    return order.stage in STEPS or order.person_wanted


def for_staff(order: OrderState) -> dict[str, JsonValue]:
    """Return what staff alone see of an order: why a person is wanted, as the agent or the guest has put it."""
    return {"person_reason": order.person_reason if order.person_wanted else None}


def refuse_resume(order: OrderState, context: OrderContext) -> str | None:
    """Return the reason why the guest cannot continue an order; ``None`` if they can."""
    if order.restaurant_id != context.menu.restaurant.id:
        return "belongs to another restaurant"
    return f"is {order.stage.value}" if order.stage in ENDED else None


async def flag_for_staff(shared: SharedState[OrderState, OrderContext], reason: str) -> None:
    """Flag an order for staff because its guest needs a person, also while a call holds it."""
    await shared.apply(CallPerson(reason=reason), actor=SYSTEM)


def person_there(context: OrderContext) -> bool:
    """Whether a person answers callers who are put through now."""
    return takes_calls(context.menu.restaurant, context.now())


def sum_up(order: OrderState, context: OrderContext, reason: str) -> CallSummary:
    """Sum up a call for the member of staff to whom its guest is put through."""
    from agents.telling import line_text
    from bella_vista.orders_pages import order_page

    lines = ", ".join(line_text(line) for line in order.order_items)
    parts = [
        f"This is the automatic assistant of {context.menu.restaurant.name}.",
        f"{order.customer_name or 'A guest'} would like to speak to you: {reason.rstrip('.')}.",
        f"Order {order.order_number}, {order.stage.value}: {lines}." if lines else "No order yet.",
        f"Allergies: {', '.join(order.allergies)}." if order.allergies else "",
    ]
    return CallSummary(" ".join(filter(None, parts)), order_page(order))


async def keep_number(shared: SharedState[OrderState, OrderContext], number: str) -> None:
    """Store the caller's telephone number, if it is valid and the order has none."""
    if shared.state.phone is None:
        with suppress(Refused, ValueError):  # withheld, or not a telephone number
            await shared.apply(SetCustomer(phone=number), actor=SYSTEM, key="sip.phoneNumber")


async def reprice(shared: SharedState[OrderState, OrderContext]) -> None:
    """Re-price an order if the menu has changed, unless its guest has confirmed it."""
    if is_stale(shared.state, shared.context.menu):
        await shared.apply(Reprice(), actor=SYSTEM)


def kitchen_context(order: OrderState) -> OrderContext:
    """Return a context for the kitchen's steps, which only need the clock and no menu."""
    restaurant = Restaurant(
        id=order.restaurant_id,
        name=order.restaurant_id,
        currency=order.currency,
        timezone="UTC",
        hours=Hours(),
    )
    return OrderContext(
        menu=Menu(version=order.menu_version, restaurant=restaurant),
        now=lambda: datetime.now(tz=order.opened_at.tzinfo or UTC),
        new_id=lambda: secrets.token_hex(16),
    )
