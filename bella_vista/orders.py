"""Orders as the database keeps them: begun, continued, looked at, and moved on by the kitchen."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from platformdirs import user_data_path
from pydantic import JsonValue, ValidationError

from bella_vista.faults import Faulty
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
"""The form in which orders are stored; a program with a lower number does not read a higher one."""

HOUSE, STAFF = "house", "staff"
"""Who writes what no agent and no guest does."""

STEPS: Mapping[Stage, Callable[[], OrderCommand]] = {
    Stage.PLACED: AcceptOrder,
    Stage.ACCEPTED: StartPreparing,
    Stage.PREPARING: MarkReady,
    Stage.READY: CompleteOrder,
}
"""What the kitchen does next with an order that stands there."""

_SIGNS = "abcdefghjkmnpqrstuvwxyz23456789"
_FIRST_NUMBER, _NUMBERS = 101, 899
_LISTED = 10_000
"""Among so many of the newest orders one is found by its number."""


class OrderFaults(Faulty):
    """The database, or the order that was named, cannot be used."""

    @property
    def passing(self) -> bool:
        """Whether it may be over in some seconds, without anybody's doing anything."""
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
    """Say where orders are kept when nobody says otherwise: a file in the user's data directory."""
    file = user_data_path("bella-vista", appauthor=False) / "orders.db"
    return "sqlite:///" + quote(str(file), safe="/:\\")


def open_store(url: str, restaurant_id: str | None, *, create: bool = True) -> SqlStore:
    """Make ready to keep orders; nothing is opened yet.

    Args:
        url: The database.
        restaurant_id: Whose orders; ``None`` sees every restaurant's and begins none.
        create: Whether a database that is not there is made.
    """
    return SqlStore(url, owner=restaurant_id, schema=ORDER_SCHEMA, create=create)


async def new_order(
    store: SqlStore, context: OrderContext, channel: Channel, speaker: str
) -> SharedState[OrderState, OrderContext]:
    """Begin an order, under the restaurant's next number.

    Args:
        store: Keeps it.
        context: The menu it is taken from, and the clock.
        channel: How the guest talks to the house.
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

    with in_plain_words():
        stored = await store.create(order_id, begin, speaker=speaker)
        return SharedState.restored(stored, OrderState, context)


async def resume_order(
    store: SqlStore, context: OrderContext, order_id: str
) -> SharedState[OrderState, OrderContext]:
    """Go on with a stored order: whoever held it before writes no more.

    Where the menu has changed since, prices follow it, unless the guest has confirmed them.

    Args:
        store: Keeps it.
        context: The menu as it is now, and the clock.
        order_id: As a person types it: the id, or the number.

    Raises:
        OrderFaults: There is no such order here, it has ended, or the database cannot be used.
    """
    with in_plain_words():
        order_id = await _id_of(store, order_id)
        # Looked at before it is taken: one that has ended is not taken from whoever still holds it.
        _refuse_another(_order(await store.read(order_id)), context)
        shared = SharedState.restored(await store.take(order_id), OrderState, context)
        _refuse_another(shared.state, context)
        order = shared.state
        if order.menu_version != context.menu.version and order.stage in (Stage.OPEN, Stage.REVIEW):
            await shared.apply(Reprice(), actor=HOUSE)
    return shared


async def list_orders(store: SqlStore, limit: int) -> list[ListedOrder]:
    """List the newest orders first; one that cannot be read says why and hides no other.

    Raises:
        OrderFaults: The database cannot be used.
    """
    with in_plain_words():
        return [_listed(one) for one in await store.list(limit)]


async def show_order(store: SqlStore, order_id: str) -> tuple[OrderState, dict[str, JsonValue]]:
    """Read an order, as it is and as everybody outside sees it.

    Raises:
        OrderFaults: There is no such order, it cannot be read, or the database cannot be used.
    """
    with in_plain_words():
        stored = await store.read(await _id_of(store, order_id))
        order = _order(stored)
    return order, view(order, stored.version, stored.speaker)


async def show_talk(store: SqlStore, order_id: str) -> list[Moment]:
    """Read what was said about an order and is still kept, in its order.

    Raises:
        OrderFaults: There is no such order, or the database cannot be used.
    """
    with in_plain_words():
        return await store.said(await _id_of(store, order_id))


async def advance_order(store: SqlStore, order_id: str) -> OrderState:
    """Take the kitchen's next step with an order, beside whoever holds it; returns it as it is then.

    Raises:
        OrderFaults: There is no such order, it cannot be read, or the database cannot be used.
        StateError: It is not in the kitchen's hands, or the step could not be stored.
    """
    with in_plain_words():
        stored = await store.read(await _id_of(store, order_id))
        order = _order(stored)
    step = STEPS.get(order.stage)
    if step is None:
        raise wrong_stage(order, "There is no next step for the kitchen.")
    shared = SharedState.restored(stored, OrderState, kitchen_context(order))
    return (await shared.apply(step(), actor=STAFF)).state


async def wants_person(store: SqlStore, order_id: str, reason: str) -> None:
    """Have staff see that the guest of an order wants a person, beside whoever holds it.

    Args:
        store: Keeps it.
        order_id: Its id.
        reason: Why, for the staff.

    Raises:
        OrderFaults: There is no such order, it cannot be read, or the database cannot be used.
    """
    with in_plain_words():
        stored = await store.read(await _id_of(store, order_id))
        shared = SharedState.restored(stored, OrderState, kitchen_context(_order(stored)))
        await shared.apply(CallPerson(reason=reason), actor=HOUSE)


def new_order_id() -> str:
    """Make an id that can be read out and typed, and is never taken for a number.

    A letter in each group keeps it from looking like a piece of a card's or a telephone's.
    """
    groups: list[str] = []
    while len(groups) < 3:
        group = "".join(secrets.choice(_SIGNS) for _ in range(4))
        if not group.isdigit():
            groups.append(group)
    return "-".join(groups)


def order_number(ordinal: int) -> str:
    """Give a restaurant's order a number short enough to say: three digits, over again after 999.

    >>> order_number(1), order_number(899), order_number(900)
    ('101', '999', '101')
    """
    return str(_FIRST_NUMBER + (ordinal - 1) % _NUMBERS)


async def _id_of(store: SqlStore, typed: str) -> str:
    """Return the id of the order that a person names, by its id or by its number.

    Numbers begin again after 899 orders: the newest order of that number is meant.

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
    """What the kitchen's steps look at: the clock. They change nothing that is on a menu."""
    house = Restaurant(
        id=order.restaurant_id,
        name=order.restaurant_id,
        currency=order.currency,
        timezone="UTC",
        hours={},
    )
    return OrderContext(
        menu=Menu(version=order.menu_version, restaurant=house, sections=()),
        now=lambda: datetime.now(tz=order.opened_at.tzinfo or UTC),
        new_id=lambda: secrets.token_hex(16),
    )


@contextmanager
def in_plain_words() -> Iterator[None]:
    """Turn what is wrong with the database, or the order that was named, into a line for a person."""
    try:
        yield
    except UnknownState as error:
        raise OrderFaults([f"There is no order {error.facts['id']}."]) from error
    except OtherOwner as error:
        raise OrderFaults([f"Order {error.facts['id']} belongs to another restaurant."]) from error
    except StateError as error:
        raise OrderFaults([error.message]) from error
