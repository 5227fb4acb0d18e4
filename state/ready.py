"""When an order is for and when it will be ready, from the guest's wish, the clock and the restaurant's hours."""

import re
from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import JsonValue

from state.contact import postcode_in
from state.context import OrderContext
from state.errors import Missing, NotPossible, NotValid
from state.hours import earliest, in_time, lead_time
from state.kitchen import Kitchen
from state.menu import Restaurant
from state.money import Cents
from state.order import Fulfilment, OrderState

PATIENCE = timedelta(minutes=30)
"""How much later than it was read back an order may become ready without being read back again."""

_AT_ONCE = frozenset({"asap", "now", "as soon as possible"})
_DAY_ONLY = re.compile(r"\d{4}-?\d\d-?\d\d|\d{4}-?W\d\d(-?\d)?")


def order_time(order: OrderState, context: OrderContext) -> datetime:
    """Return the time an order is for: the one the guest asked for, else the earliest possible.

    Raises:
        NotPossible: The restaurant never opens again.
    """
    fulfilment, house = order.fulfilment, context.menu.restaurant
    if fulfilment is not None and fulfilment.when is not None:
        return fulfilment.when
    if fulfilment is not None:
        return earliest(house, fulfilment.kind, context.now())
    return earliest(house, "delivery" if house.pickup is None else "pickup", context.now())


def arranged(
    kind: Literal["pickup", "delivery"],
    when: str | datetime | None,
    address: str | None,
    order: OrderState,
    context: OrderContext,
) -> Fulfilment:
    """Arrange with the restaurant how and when the guest of this order gets the food.

    A delivery may be arranged before its address is known; it is then asked for before the order is
    read back.

    Raises:
        NotPossible: The restaurant does not offer it, not there, or not then.
        NotValid: The time is none.
        Missing: The address has no postcode, and the restaurant has to know it.
        NotServed: Something on the order is not served at that time.
    """
    house = context.menu.restaurant
    lead_time(house, kind)
    if isinstance(when, str):
        when = moment_of(when, house)
    if when is not None:
        when = in_time(house, kind, when, context.now())
    delivery = house.delivery if kind == "delivery" else None
    fulfilment = Fulfilment(
        kind=kind,
        when=when,
        address=_address(address, house) if delivery is not None else None,
        ready_at=when if when is not None else earliest(house, kind, context.now()),
        fee=delivery.fee if delivery is not None else Cents(0),
        minimum=delivery.minimum if delivery is not None else Cents(0),
    )
    _refuse_unserved(order.model_copy(update={"fulfilment": fulfilment}), context)
    return fulfilment


def read_in_time(order: OrderState, context: OrderContext) -> Fulfilment | None:
    """Return the fulfilment with the time that can be promised now, everything on it served then.

    Raises:
        OrderError: The time asked for has become impossible, or a dish is not served then.
    """
    fulfilment = order.fulfilment
    if fulfilment is None:
        return None
    _refuse_unserved(order, context)
    return fulfilment.model_copy(update={"ready_at": _promise(fulfilment, context)})


def placed_in_time(order: OrderState, context: OrderContext) -> Fulfilment | None:
    """Return the fulfilment with the time at which the kitchen will be ready, placed now.

    Raises:
        Missing: It would be so much later than the guest was told that they have to agree first.
        NotPossible: The time asked for cannot be met any more.
        NotValid: It is past.
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


def moment_of(text: str, house: Restaurant, field: str = "when") -> datetime | None:
    """Read a time as it is written for machines; without an offset it is the restaurant's.

    ``None`` means as soon as possible.

    Raises:
        NotValid: It is no time, only a day, or one that the change of clocks leaves out.
    """
    if text.strip().casefold() in _AT_ONCE:
        return None
    if _DAY_ONLY.fullmatch(text.strip()):
        raise _no_time("A day alone is not enough: ask at what time.", field, "no_time_of_day")
    try:
        moment = datetime.fromisoformat(text.strip()).replace(microsecond=0)
        if moment.tzinfo is not None:
            return moment.astimezone(house.zone)
        local = moment.replace(tzinfo=house.zone)
        shown = local.astimezone(UTC).astimezone(house.zone)
    except (ValueError, OverflowError):
        raise _no_time(
            "This is not a time as 2026-11-20T19:30 is one.", field, "not_a_time"
        ) from None
    if shown.replace(tzinfo=None) != moment:
        raise _no_time("The clocks change then: this time does not exist.", field, "no_such_time")
    return local


def _promise(fulfilment: Fulfilment, context: OrderContext) -> datetime:
    house = context.menu.restaurant
    if fulfilment.when is None:
        return earliest(house, fulfilment.kind, context.now())
    return in_time(house, fulfilment.kind, fulfilment.when, context.now())


def _refuse_unserved(order: OrderState, context: OrderContext) -> None:
    kitchen = Kitchen(context.menu, lambda: order_time(order, context))
    for line in order.order_items:
        for name in (line.name, *(part.name for part in line.parts)):
            item = context.menu.combo(name) or context.menu.dish(name)
            if item is not None:
                kitchen.refuse_unserved(item)


def _address(address: str | None, house: Restaurant) -> str | None:
    """Return the address if the restaurant delivers there."""
    if not address:
        return None
    postcodes: tuple[str, ...] = house.delivery.postcodes if house.delivery is not None else ()
    if not postcodes:
        return address
    found, has_postcode = postcode_in(address, postcodes)
    if found is not None:
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
        possible=["pickup"] if house.pickup is not None else [],
        postcodes=possible,
    )


def _no_time(message: str, field: str, why: str) -> NotValid:
    return NotValid(message, field=field, why=why)
