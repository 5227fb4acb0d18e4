"""Computes the time an order is for and when it will be ready."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import JsonValue

from state.contact import is_postcode, postcode_in, with_written_postcode
from state.context import OrderContext
from state.errors import Missing, NotPossible, NotValid
from state.hours import earliest, in_time, lead_time
from state.kitchen import Kitchen
from state.menu import Combo, Dish, Restaurant
from state.money import Cents
from state.order import Fulfilment, OrderState

PATIENCE = timedelta(minutes=30)
"""How much the promised time may slip after the read-back before the order is read back again."""

_AT_ONCE = frozenset({"asap", "now", "as soon as possible"})
_DAY_ONLY = re.compile(r"\d{4}-?\d\d-?\d\d|\d{4}-?W\d\d(-?\d)?")


def order_time(order: OrderState, context: OrderContext) -> datetime:
    """Return the time an order is for: the requested one, or else the earliest possible.

    Raises:
        NotPossible: The restaurant never opens again.
    """
    fulfilment, restaurant = order.fulfilment, context.menu.restaurant
    if fulfilment is not None and fulfilment.when is not None:
        return fulfilment.when
    if fulfilment is not None:
        return earliest(restaurant, fulfilment.kind, context.now())
    return earliest(
        restaurant, "delivery" if restaurant.pickup is None else "pickup", context.now()
    )


def arranged(
    kind: Literal["pickup", "delivery"],
    when: str | datetime | None,
    address: str | None,
    order: OrderState,
    context: OrderContext,
) -> Fulfilment:
    """Make the fulfilment of an order, if the restaurant offers it.

    A delivery can be arranged without an address, which is then required before the read-back.

    Raises:
        NotPossible: The restaurant does not offer it, or not at that address or time.
        NotValid: The time is not valid.
        Missing: The address has no postcode, and the restaurant needs one.
        NotServed: An item on the order is not served at that time.
    """
    restaurant = context.menu.restaurant
    lead_time(restaurant, kind)
    if isinstance(when, str):
        when = moment_of(when, restaurant)
    if when is not None:
        when = in_time(restaurant, kind, when, context.now())
    delivery = restaurant.delivery if kind == "delivery" else None
    fulfilment = Fulfilment(
        kind=kind,
        when=when,
        address=_address(address, restaurant) if delivery is not None else None,
        ready_at=when if when is not None else earliest(restaurant, kind, context.now()),
        fee=delivery.fee if delivery is not None else Cents(0),
        minimum=delivery.minimum if delivery is not None else Cents(0),
    )
    _refuse_unserved(order.model_copy(update={"fulfilment": fulfilment}), context)
    return fulfilment


def read_in_time(order: OrderState, context: OrderContext) -> Fulfilment | None:
    """Return the fulfilment with the time that can be promised now, at which all items are served.

    Raises:
        OrderError: The requested time has become impossible, an item is sold out or not served then,
            or no orders are taken just now.
    """
    refuse_paused(context)
    fulfilment = order.fulfilment
    if fulfilment is None:
        return None
    refuse_sold_out(order, context)
    _refuse_unserved(order, context)
    return fulfilment.model_copy(update={"ready_at": _promise(fulfilment, context)})


def placed_in_time(order: OrderState, context: OrderContext) -> Fulfilment | None:
    """Return the fulfilment with the promised time if the order is placed now.

    Raises:
        Missing: The time has slipped by more than ``PATIENCE``, so the guest has to agree first.
        NotPossible: The requested time is no longer possible.
        NotValid: The requested time is past.
    """
    fulfilment = order.fulfilment
    if fulfilment is None:
        return None
    soonest = earliest(context.menu.restaurant, fulfilment.kind, context.now())
    if soonest - fulfilment.ready_at <= PATIENCE:
        return fulfilment.model_copy(update={"ready_at": max(fulfilment.ready_at, soonest)})
    _promise(fulfilment, context)
    raise Missing(
        f"Meanwhile it can only be ready on {soonest:%A at %H:%M}. Read the order back again.",
        needs=["read_back"],
        stage=order.stage.value,
        ready_at=soonest.isoformat(),
    )


def moment_of(text: str, restaurant: Restaurant, field: str = "when") -> datetime | None:
    """Parse a time in ISO 8601; without an offset it is the restaurant's local time.

    ``None`` means as soon as possible.

    Raises:
        NotValid: It is not a time, is only a day, or is skipped by the change to daylight saving time.
    """
    if text.strip().casefold() in _AT_ONCE:
        return None
    if _DAY_ONLY.fullmatch(text.strip()):
        raise _no_time("A day alone is not enough: ask at what time.", field, "no_time_of_day")
    try:
        moment = datetime.fromisoformat(text.strip()).replace(microsecond=0)
        if moment.tzinfo is not None:
            return moment.astimezone(restaurant.zone)
        local = moment.replace(tzinfo=restaurant.zone)
        shown = local.astimezone(UTC).astimezone(restaurant.zone)
    except (ValueError, OverflowError):
        raise _no_time(
            "This is not a time as 2026-11-20T19:30 is one.", field, "not_a_time"
        ) from None
    if shown.replace(tzinfo=None) != moment:
        raise _no_time("The clocks change then: this time does not exist.", field, "no_such_time")
    return local


def _promise(fulfilment: Fulfilment, context: OrderContext) -> datetime:
    restaurant = context.menu.restaurant
    if fulfilment.when is None:
        return earliest(restaurant, fulfilment.kind, context.now())
    return in_time(restaurant, fulfilment.kind, fulfilment.when, context.now())


def refuse_paused(context: OrderContext) -> None:
    """Refuse an order while staff take none.

    Raises:
        NotPossible: Staff have paused orders.
    """
    if context.house().paused:
        name = context.menu.restaurant.name
        raise NotPossible(
            f"{name} takes no orders just now. Tell the guest to try again later.",
            what="order",
            why="paused",
            possible=[],
        )


def refuse_sold_out(order: OrderState, context: OrderContext) -> None:
    """Refuse an order with an item that was sold out after the read-back.

    Raises:
        SoldOut: An item is sold out now.
    """
    if context.house().sold_out:
        for item, kitchen in _items(order, context):
            kitchen.refuse_sold_out(item)


def _refuse_unserved(order: OrderState, context: OrderContext) -> None:
    for item, kitchen in _items(order, context):
        kitchen.refuse_unserved(item)


def _items(order: OrderState, context: OrderContext) -> Iterator[tuple[Dish | Combo, Kitchen]]:
    kitchen = Kitchen(context.menu, lambda: order_time(order, context))
    for line in order.order_items:
        for item in kitchen.items_of(line):
            yield item, kitchen


def _address(address: str | None, restaurant: Restaurant) -> str | None:
    """Return the address, if the restaurant delivers there."""
    if not address:
        return None
    postcodes: tuple[str, ...] = (
        restaurant.delivery.postcodes if restaurant.delivery is not None else ()
    )
    if not postcodes:
        return address
    address = with_written_postcode(address, postcodes)
    found, has_postcode = postcode_in(address, postcodes)
    if found is not None:
        if is_postcode(address, found):
            raise Missing(
                "This is a postcode alone: ask for street and number, then give the whole address.",
                needs=["address"],
                address=address,
            )
        return address
    possible: list[JsonValue] = [*postcodes]
    if not has_postcode:
        raise Missing(
            "The restaurant has to know the postcode: ask for it, then give the whole address.",
            needs=["postcode"],
            address=address,
            possible=possible,
        )
    raise NotPossible(
        f"This address lies outside the area: the restaurant delivers to {', '.join(postcodes)}."
        " Offer pickup.",
        what="delivery",
        why="outside_area",
        possible=["pickup"] if restaurant.pickup is not None else [],
        postcodes=possible,
    )


def _no_time(message: str, field: str, why: str) -> NotValid:
    return NotValid(message, field=field, why=why)
