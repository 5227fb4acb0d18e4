"""The parts of an order that writers can get in each other's way on, by name."""

from collections.abc import Iterator
from datetime import datetime

from state.order import Fulfilment, OrderState, Times

LINES = "lines"
CUSTOMER = "customer"
FULFILMENT = "fulfilment"
COUPONS = "coupons"
TIP = "tip"
PAYMENT = "payment"
NOTES = "notes"
ALLERGIES = "allergies"
FEEDBACK = "feedback"
PERSON = "person"
STAGE = "stage"

_TIMED = frozenset({LINES, CUSTOMER, FULFILMENT, TIP, PAYMENT, FEEDBACK})


def changed_parts(before: OrderState, after: OrderState) -> tuple[str, ...]:
    """Name what differs between two states of one order: ``lines/L1``, ``customer``, ``stage``."""
    return tuple(_changed(before, after))


def read_back_again(parts: tuple[str, ...]) -> bool:
    """Whether a change of these parts undoes what the guest has heard or confirmed."""
    return any(part.partition("/")[0] in (LINES, FULFILMENT, COUPONS) for part in parts)


def times_after(
    before: OrderState, after: OrderState, parts: tuple[str, ...], now: datetime
) -> dict[str, Times]:
    """Return when each part was set and last changed, once ``after`` has followed ``before``.

    Notes carry their own times; lines that are gone leave none.
    """
    gone = {line.id for line in before.order_items} - {line.id for line in after.order_items}
    times = {
        part: when for part, when in before.times.items() if part.rpartition("/")[2] not in gone
    }
    for part in parts:
        kind, _, line_id = part.partition("/")
        if kind in _TIMED and line_id not in gone:
            known = times.get(part)
            times[part] = Times(created_at=known.created_at if known else now, updated_at=now)
    return times


def _changed(before: OrderState, after: OrderState) -> Iterator[str]:
    if before.order_items is not after.order_items:
        were = {line.id: line for line in before.order_items}
        for line in after.order_items:
            was = were.pop(line.id, None)
            if was is not line and was != line:
                yield f"{LINES}/{line.id}"
        yield from (f"{LINES}/{line_id}" for line_id in were)
    if before.notes is not after.notes:
        noted = {note.id: note for note in before.notes}
        for note in after.notes:
            if noted.pop(note.id, None) != note:
                yield f"{NOTES}/{note.id}"
        yield from (f"{NOTES}/{note_id}" for note_id in noted)
    if before.coupons is not after.coupons:
        one, other = set(_codes(before)), set(_codes(after))
        yield from (f"{COUPONS}/{code}" for code in sorted(one ^ other))
    if _guest(before) != _guest(after):
        yield CUSTOMER
    if _asked_for(before.fulfilment) != _asked_for(after.fulfilment):
        yield FULFILMENT
    if before.tip != after.tip:
        yield TIP
    if before.payment_method != after.payment_method:
        yield PAYMENT
    if before.allergies != after.allergies:
        yield ALLERGIES
    if _feedback(before) != _feedback(after):
        yield FEEDBACK
    if before.person_wanted != after.person_wanted or before.person_reason != after.person_reason:
        yield PERSON
    if before.stage is not after.stage:
        yield STAGE


def _codes(order: OrderState) -> list[str]:
    return [coupon.code for coupon in order.coupons]


def _guest(order: OrderState) -> tuple[str | None, ...]:
    return order.customer_name, order.phone, order.email


def _feedback(order: OrderState) -> tuple[int | None, str | None]:
    return order.feedback_rating, order.feedback_comment


def _asked_for(fulfilment: Fulfilment | None) -> tuple[object, ...]:
    """Leave out the time promised: it moves with the clock and is nobody's wish."""
    if fulfilment is None:
        return ()
    asked = fulfilment
    return asked.kind, asked.when, asked.address, asked.fee, asked.minimum
