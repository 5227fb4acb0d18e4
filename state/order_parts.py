"""The named parts of an order, by which conflicts between writers are detected."""

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import zip_longest
from weakref import ref

from state.order import Fulfilment, OrderState, Stage, Times

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

_last: dict[int, tuple["ref[OrderState]", "ref[OrderState]", tuple[str, ...]]] = {}


def changed_parts(before: OrderState, after: OrderState) -> tuple[str, ...]:
    """Return the parts that differ between two states of an order: ``lines/L1``, ``customer``, ``stage``."""
    if (found := _last.get(id(after))) is not None and found[0]() is before and found[1]() is after:
        return found[2]
    return tuple(_changed(before, after))


def note_parts(before: OrderState, after: OrderState, parts: tuple[str, ...]) -> None:
    """Cache the result for the next call of ``changed_parts`` with the same states."""
    _last.clear()
    _last[id(after)] = ref(before), ref(after), parts


def read_back_again(parts: tuple[str, ...]) -> bool:
    """Whether an order has to be read back again after a change of these parts."""
    return any(part.partition("/")[0] in (LINES, FULFILMENT, COUPONS) for part in parts)


def times_after(
    before: OrderState, after: OrderState, stage: Stage, parts: tuple[str, ...], now: datetime
) -> dict[str, Times]:
    """Return the times at which each part was set and last changed, the present change included.

    Notes have times of their own; those of removed lines are dropped. The time at which a stage was
    reached is kept under `stage_part`.
    """
    times = dict(before.times)
    if not isinstance(now.tzinfo, timezone):
        # A state keeps times with fixed offsets: it would convert others, and be built twice.
        now = now.replace(tzinfo=timezone(now.utcoffset() or timedelta()))
    for part in parts:
        kind, _, line_id = part.partition("/")
        if kind == LINES and after.line(line_id) is None:
            times.pop(part, None)
        elif kind in _TIMED:
            known = times.get(part)
            times[part] = _updated(known, now)
    if before.stage is not stage:
        reached = stage_part(stage)
        times[reached] = _updated(times.get(reached), now)
    return times


def stage_part(stage: Stage) -> str:
    """Return the name under which an order keeps when it reached a stage.

    >>> stage_part(Stage.PLACED)
    'stage/placed'
    """
    return f"{STAGE}/{stage.value}"


def _updated(known: Times | None, now: datetime) -> Times:
    return Times(created_at=known.created_at if known else now, updated_at=now)


def _changed(before: OrderState, after: OrderState) -> Iterator[str]:
    if before.order_items is not after.order_items:
        # Most lines are the same object in the same place.
        moved = [
            (was, line)
            for was, line in zip_longest(before.order_items, after.order_items)
            if was is not line
        ]
        were = {was.id: was for was, _ in moved if was is not None}
        for _, line in moved:
            if line is not None:
                known = were.pop(line.id, None)
                if known is not line and known != line:
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
    """Return the fulfilment without the promised time, which changes with the clock."""
    if fulfilment is None:
        return ()
    asked = fulfilment
    return asked.kind, asked.when, asked.address, asked.fee, asked.minimum
