"""Stored orders: started, resumed, listed, shown, and moved on by the kitchen."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from platformdirs import user_data_path
from pydantic import JsonValue, ValidationError

from agents.app.faults import InputError
from state.commands import (
    AcceptOrder,
    CallPerson,
    CompleteOrder,
    MarkReady,
    OrderCommand,
    Reprice,
    StartPreparing,
)
from state.context import OrderContext
from state.menu import Menu, Restaurant
from state.opening import open_order
from state.order import Channel, OrderState, Stage
from state.shared import (
    JournalFault,
    Listed,
    Moment,
    OtherOwner,
    SharedState,
    SqlStore,
    StateError,
    Stored,
    UnknownState,
)
from state.stages import ENDED, wrong_stage
from state.view import view

ORDER_SCHEMA = 1
"""The schema version of stored orders; a program does not read a higher one than its own."""

SYSTEM, STAFF = "house", "staff"
"""The actors of changes that neither an agent nor the guest makes."""

STEPS: Mapping[Stage, Callable[[], OrderCommand]] = {
    Stage.PLACED: AcceptOrder,
    Stage.ACCEPTED: StartPreparing,
    Stage.PREPARING: MarkReady,
    Stage.READY: CompleteOrder,
}
"""The kitchen's next command at each stage."""

_SIGNS = "abcdefghjkmnpqrstuvwxyz23456789"
_FIRST_NUMBER, _NUMBERS = 101, 899
_LISTED = 10_000
"""How many of the newest orders are searched for a number."""


class OrderFaults(InputError):
    """The database or the named order cannot be used."""

    @property
    def passing(self) -> bool:
        """Whether the fault is transient: it may be over in some seconds without any action."""
        return isinstance(self.__cause__, JournalFault) and self.__cause__.passing


@dataclass(frozen=True, slots=True)
class ListedOrder:
    """One order in a list.

    Args:
        order_id: Its id.
        version: Its present version.
        order: The order; ``None`` when it cannot be read.
        fault: Why it cannot be read.
    """

    order_id: str
    version: int
    order: OrderState | None
    fault: str | None = None


def default_database() -> str:
    """Return the default database: a file in the user's data directory."""
    file = user_data_path("bella-vista", appauthor=False) / "orders.db"
    return "sqlite:///" + quote(str(file), safe="/:\\")


def open_store(url: str, restaurant_id: str | None, *, create: bool = True) -> SqlStore:
    """Create a store of orders; nothing is opened yet.

    Args:
        url: The database's URL.
        restaurant_id: The restaurant whose orders it holds; ``None`` reads every restaurant's and
            starts none.
        create: Whether a missing database is created.
    """
    return SqlStore(url, owner=restaurant_id, schema=ORDER_SCHEMA, create=create)


async def new_order(
    store: SqlStore, context: OrderContext, channel: Channel, speaker: str
) -> SharedState[OrderState, OrderContext]:
    """Start an order under the restaurant's next number.

    Args:
        store: The store.
        context: The menu and the clock.
        channel: How the guest talks to us.
        speaker: The agent that speaks first.

    Raises:
        OrderFaults: The database cannot be used.
    """
    order_id = new_order_id()

    def begin(ordinal: int) -> str:
        return open_order(
            context.menu,
            order_id=order_id,
            order_number=order_number(ordinal),
            channel=channel,
            now=context.now(),
        ).model_dump_json()

    with as_order_faults():
        stored = await store.create(order_id, begin, speaker=speaker)
        return SharedState.restored(stored, OrderState, context)


async def resume_order(
    store: SqlStore, context: OrderContext, order_id: str
) -> SharedState[OrderState, OrderContext]:
    """Resume a stored order: its previous holder can no longer write.

    If the menu has changed, prices follow it, unless the guest has confirmed them.

    Args:
        store: The store.
        context: The present menu and the clock.
        order_id: The id, or the number.

    Raises:
        OrderFaults: There is no such order, it has ended, or the database cannot be used.
    """
    with as_order_faults():
        order_id = await _id_of(store, order_id)
        # Checked before it is taken over: an order that has ended stays with its holder.
        _refuse_another(_order(await store.read(order_id)), context)
        shared = SharedState.restored(await store.take(order_id), OrderState, context)
        _refuse_another(shared.state, context)
        order = shared.state
        if order.menu_version != context.menu.version and order.stage in (Stage.OPEN, Stage.REVIEW):
            await shared.apply(Reprice(), actor=SYSTEM)
    return shared


async def list_orders(store: SqlStore, limit: int) -> list[ListedOrder]:
    """List orders, newest first; an unreadable one has a reason and hides no other.

    Raises:
        OrderFaults: The database cannot be used.
    """
    with as_order_faults():
        return [_listed(one) for one in await store.list(limit)]


async def show_order(store: SqlStore, order_id: str) -> tuple[OrderState, dict[str, JsonValue]]:
    """Read an order and its public view.

    Raises:
        OrderFaults: There is no such order, it cannot be read, or the database cannot be used.
    """
    with as_order_faults():
        stored = await store.read(await _id_of(store, order_id))
        order = _order(stored)
    return order, view(order, stored.version, stored.speaker)


async def show_transcript(store: SqlStore, order_id: str) -> list[Moment]:
    """Read the stored transcript of an order.

    Raises:
        OrderFaults: There is no such order, or the database cannot be used.
    """
    with as_order_faults():
        return await store.said(await _id_of(store, order_id))


async def advance_order(store: SqlStore, order_id: str) -> OrderState:
    """Execute the kitchen's next step on an order, also while a call holds it; returns the order.

    Raises:
        OrderFaults: There is no such order, it cannot be read, or the database cannot be used.
        StateError: The order is not in the kitchen, or the step could not be stored.
    """
    with as_order_faults():
        stored = await store.read(await _id_of(store, order_id))
        order = _order(stored)
    step = STEPS.get(order.stage)
    if step is None:
        raise wrong_stage(order, "There is no next step for the kitchen.")
    shared = SharedState.restored(stored, OrderState, kitchen_context(order))
    return (await shared.apply(step(), actor=STAFF)).state


async def flag_for_staff(store: SqlStore, order_id: str, reason: str) -> None:
    """Flag an order for staff because its guest needs a person, also while a call holds it.

    Args:
        store: The store.
        order_id: Its id.
        reason: Why, for the staff.

    Raises:
        OrderFaults: There is no such order, it cannot be read, or the database cannot be used.
    """
    with as_order_faults():
        stored = await store.read(await _id_of(store, order_id))
        shared = SharedState.restored(stored, OrderState, kitchen_context(_order(stored)))
        await shared.apply(CallPerson(reason=reason), actor=SYSTEM)


def new_order_id() -> str:
    """Create an id that can be read out and typed, and is never mistaken for a number.

    A letter in each group keeps it from looking like a part of a card or telephone number.
    """
    groups: list[str] = []
    while len(groups) < 3:
        group = "".join(secrets.choice(_SIGNS) for _ in range(4))
        if not group.isdigit():
            groups.append(group)
    return "-".join(groups)


def order_number(ordinal: int) -> str:
    """Return an order's number, short enough to say: three digits, starting over after 999.

    >>> order_number(1), order_number(899), order_number(900)
    ('101', '999', '101')
    """
    return str(_FIRST_NUMBER + (ordinal - 1) % _NUMBERS)


async def _id_of(store: SqlStore, typed: str) -> str:
    """Resolve an order's id or number to its id.

    Numbers repeat after 899 orders: the newest order with the number is meant.

    Raises:
        OrderFaults: Several restaurants have an order of that number.
    """
    typed = typed.strip().lower()
    if not typed.isdecimal():
        return typed
    newest: dict[str, str] = {}
    for one in await store.list(_LISTED):
        if order_number(one.ordinal) == typed:
            newest.setdefault(one.owner, one.state_id)
    if len(newest) > 1:
        known = ", ".join(f"{state_id} ({owner})" for owner, state_id in newest.items())
        raise OrderFaults([f"Several restaurants have an order {typed}: {known}."])
    return next(iter(newest.values()), typed)


def _order(stored: Stored) -> OrderState:
    try:
        return OrderState.model_validate_json(stored.state)
    except ValidationError:
        raise JournalFault(f"Order {stored.state_id}", _OTHER_FORM) from None


def _listed(one: Listed) -> ListedOrder:
    if one.state is None:
        return ListedOrder(one.state_id, one.version, None, one.fault.why if one.fault else None)
    try:
        order = OrderState.model_validate_json(one.state)
    except ValidationError:
        return ListedOrder(one.state_id, one.version, None, _OTHER_FORM)
    return ListedOrder(one.state_id, one.version, order)


_OTHER_FORM = "it does not have the form of an order of this program"


def _refuse_another(order: OrderState, context: OrderContext) -> None:
    if order.restaurant_id != context.menu.restaurant.id:
        raise OtherOwner(order.order_id)
    if order.stage in ENDED:
        raise OrderFaults(
            [f"Order {order.order_id} is {order.stage.value}: it cannot be continued."]
        )


def kitchen_context(order: OrderState) -> OrderContext:
    """Return a context for the kitchen's steps, which only need the clock and no menu."""
    restaurant = Restaurant(
        id=order.restaurant_id,
        name=order.restaurant_id,
        currency=order.currency,
        timezone="UTC",
        hours={},
    )
    return OrderContext(
        menu=Menu(version=order.menu_version, restaurant=restaurant, sections=()),
        now=lambda: datetime.now(tz=order.opened_at.tzinfo or UTC),
        new_id=lambda: secrets.token_hex(16),
    )


@contextmanager
def as_order_faults() -> Iterator[None]:
    """Convert state errors into ``OrderFaults`` with a line for the person who named the order."""
    try:
        yield
    except UnknownState as error:
        raise OrderFaults([f"There is no order {error.facts['id']}."]) from error
    except OtherOwner as error:
        raise OrderFaults([f"Order {error.facts['id']} belongs to another restaurant."]) from error
    except StateError as error:
        raise OrderFaults([error.message]) from error
