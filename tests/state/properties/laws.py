"""What may follow what on an order, written down a second time: from the design, not from the code."""

from collections.abc import Sequence
from typing import Any

import yaml

from state.commands import OrderCommand
from state.order import Fulfilment, OrderLine, OrderState
from state.pricing import price
from tests.state.bistro import CARD
from tests.state.properties.cards import Card, Wanted, Wish
from tests.state.properties.reckoning import reckon

MAY_BECOME = {
    "open": {"review", "cancelled"},
    "review": {"open", "confirmed", "cancelled"},
    "confirmed": {"open", "review", "placed", "cancelled"},
    "placed": {"accepted", "failed"},
    "accepted": {"preparing", "failed"},
    "preparing": {"ready", "failed"},
    "ready": {"completed", "failed"},
    "completed": set(),
    "cancelled": set(),
    "failed": set(),
}
ONLY_BY = {
    "review": "read_back",
    "confirmed": "confirm_order",
    "placed": "place_order",
    "accepted": "accept_order",
    "preparing": "start_preparing",
    "ready": "mark_ready",
    "completed": "complete_order",
    "cancelled": "cancel_order",
    "failed": "refuse_order",
}
STILL_ORDERING = {"open", "review", "confirmed"}
HOUSE: Card = yaml.safe_load(CARD)
LIMITS = HOUSE["restaurant"]["limits"]


class Law:
    """Watches one order from its beginning; any violation of an invariant fails."""

    def __init__(self) -> None:
        self._read: object = None
        self._agreed: object = None

    def follow(self, before: OrderState, after: OrderState, op: str) -> None:
        """One command was carried out."""
        was, now = before.stage.value, after.stage.value
        assert now == was or now in MAY_BECOME[was], f"{op}: {was} -> {now}"
        if now not in (was, "open"):
            assert ONLY_BY[now] == op, f"{op}: {was} -> {now}"
        if was != now == "open":
            assert op == "reopen_order" or heard(before) != heard(after)
        if was in ("review", "confirmed") and heard(before) != heard(after):
            assert now == "open", f"{op} changed what was read in {was}"
        if was not in STILL_ORDERING:
            assert _guests_own(before) == _guests_own(after), f"{op} after {was}"
        if now == was in ("cancelled", "failed", "completed") and op != "give_feedback":
            unspoken: Card = {"person_wanted": None, "person_reason": None, "times": {}}
            assert before.model_copy(update=unspoken) == after.model_copy(update=unspoken)
        self._follow_agreement(after, op, now)
        _check_lines(before, after)

    def _follow_agreement(self, after: OrderState, op: str, now: str) -> None:
        if op == "read_back":
            assert after.order_items
            assert after.fulfilment is not None
            assert after.fulfilment.kind == "pickup" or after.fulfilment.address
            self._read = heard(after)
        elif op == "confirm_order":
            assert heard(after) == self._read, "confirmed is not what was read"
            self._agreed = heard(after)
        elif op == "place_order" and now == "placed":
            assert heard(after) == self._agreed == self._read, "placed is not what was agreed"
            assert after.payment_method in HOUSE["restaurant"]["payment"]


def heard(order: OrderState) -> object:
    """What a guest says yes to; the time promised may move."""
    return order.order_items, _asked(order.fulfilment), order.coupons


def relied_on(order: OrderState, command: OrderCommand) -> object:
    """What a writer must have seen before giving this command."""
    match command.op:
        case "change_item" | "remove_item":
            return order.line(_field(command, "line_id"))
        case "set_customer":
            return order.customer_name, order.phone, order.email
        case "set_fulfilment":
            return _asked(order.fulfilment)
        case "set_tip":
            return order.tip
        case "choose_payment":
            return order.payment_method
        case "change_note" | "remove_note":
            return [note for note in order.notes if note.id == _field(command, "note_id")]
        case "read_back":
            return heard(order)
        case "confirm_order":
            return heard(order), order.stage
        case "place_order":
            return heard(order), order.tip
        case "reopen_order":
            return order.stage
        case "cancel_order":
            return order.order_items, _asked(order.fulfilment), order.stage
        case _:
            return None


def check_against_the_card(order: OrderState) -> None:
    """Every price on the order is the card's, and its bill is the one reckoned by hand."""
    lines = sorted(order.order_items, key=lambda line: int(line.id[1:]))
    tip: Any = 0
    if order.tip is not None:
        tip = order.tip.amount or 0
    bill = reckon(
        HOUSE,
        [wanted(line) for line in lines],
        [coupon.code for coupon in order.coupons],
        delivered=order.fulfilment is not None and order.fulfilment.kind == "delivery",
        tip=tip,
    )
    ours = price(order)
    assert tuple(line.unit_price for line in lines) == bill.units
    assert (ours.subtotal, ours.tax, ours.before_tip) == (bill.subtotal, bill.tax, bill.before_tip)
    assert {charge.code: charge.amount for charge in ours.discounts} == bill.discounts
    assert ours.total == ours.before_tip + ours.tip


def wanted(line: OrderLine) -> Wanted:
    """Read a line of the blue door's order as words again."""
    return Wanted(
        line.name,
        line.size,
        line.quantity,
        _wishes(line.modifications),
        tuple(Wanted(p.name, p.size, 1, _wishes(p.modifications)) for p in line.parts),
    )


def _wishes(modifications: Sequence[str]) -> tuple[Wish, ...]:
    return tuple(_wish(words) for words in modifications)


def _wish(words: str) -> Wish:
    rest, amount, portion = words, None, None
    for half in ("other half", "half"):
        if rest.startswith(f"{half} "):
            rest, portion = rest.removeprefix(f"{half} "), half
            break
    for word in ("no", "light", "extra"):
        if rest.startswith(f"{word} "):
            rest, amount = rest.removeprefix(f"{word} "), word
    if rest.endswith(" on the side"):
        rest, amount = rest.removesuffix(" on the side"), "on the side"
    groups = [name for name, group in HOUSE["options"].items() if rest in group["choices"]]
    return Wish(groups[0] if groups else None, rest, amount, portion)


def _check_lines(before: OrderState, after: OrderState) -> None:
    ids = [line.id for line in after.order_items]
    assert len(set(ids)) == len(ids) <= LIMITS["lines"]
    assert before.lines_given <= after.lines_given
    known = {line.id for line in before.order_items}
    for line in after.order_items:
        number = int(line.id[1:])
        assert line.id in known or before.lines_given < number <= after.lines_given
        assert 1 <= line.quantity <= LIMITS["quantity"]


def _asked(fulfilment: Fulfilment | None) -> object:
    return fulfilment and (fulfilment.kind, fulfilment.when, fulfilment.address, fulfilment.fee)


def _guests_own(order: OrderState) -> object:
    guest = order.customer_name, order.phone, order.email
    return heard(order), order.tip, order.payment_method, guest


def _field(command: OrderCommand, name: str) -> str:
    return str(getattr(command, name))
