"""An agent's comments on what the guest changed on the page: once each, when neither is speaking."""

from collections.abc import Callable, Sequence

from agents.telling import line_text, reading
from state.context import OrderContext
from state.money import shown
from state.order import OrderLine, OrderState, Stage
from state.pricing import price
from state.shared import Applied
from state.times import said_time

MAX_LISTED = 6
"""How many changes are listed one by one; more are summed up, since the page shows them all."""


READ_AGAIN = "I will read it back again before we place it."
RATE = "If you like, you can rate this call, from one to five stars."
"""Not a question: rating is optional."""


class PageComments:
    """Collects changes made on the page that no agent has spoken about yet, and words a comment on them.

    Several changes in a row are one: only the order before the first and after the last counts.

    Args:
        context: The menu and the clock.
    """

    def __init__(self, context: OrderContext) -> None:
        self._context = context
        self._before: OrderState | None = None
        self._now: OrderState | None = None
        self._ops: list[str] = []
        self._done: list[str] = []
        self._total: int | None = None
        self._heard = ""

    @property
    def waiting(self) -> bool:
        """Whether there is anything to comment on."""
        return self._before is not None or bool(self._done)

    def add(self, applied: Applied[OrderState]) -> None:
        """Add a change that the guest made on the page."""
        if self._before is None:
            self._before = applied.before
        if self._total is None:
            self._total = price(applied.before).total
        self._now = applied.state
        self._ops.extend(
            op for op in applied.ops if _STAGES.get(op) != applied.before.stage
        )  # a repeated step changes nothing

    def add_foreign(self, applied: Applied[OrderState]) -> None:
        """Add a change by another actor: neither it nor its price is reported as the guest's."""
        if self._before is not None:
            self._done += self._told(self._before, applied.before)
            self._before = self._now = None
        if self._total is not None:
            self._total = price(applied.state).total

    def agent_said(self, text: str) -> None:
        """Drop the changes if an agent's words name all that was added, or the step."""
        if self.waiting:
            self._heard = text
        if self._before is None or self._now is None:
            return
        old = {line.id for line in self._before.order_items}
        added = [line.name for line in self._now.order_items if line.id not in old]
        told = [*added]
        match self._now.stage:
            case Stage.REVIEW if "read_back" in self._ops:
                total = price(self._now).total
                told = [line.name for line in self._now.order_items]
                told.append(shown(total, self._now.currency))
            case Stage.CONFIRMED if self._ops[-1:] == ["confirm_order"]:
                told += ["like to pay"]
            case Stage.PLACED if "place_order" in self._ops:
                told += [f"number {self._now.order_number}"]
            case _:
                pass
        if told and all(words.casefold() in text.casefold() for words in told):
            self._drop()

    def discard(self) -> None:
        """Drop the changes: the guest has been told or shown how the order stands."""
        self._drop()

    def _drop(self) -> None:
        self._before = self._now = None
        self._ops, self._done, self._total = [], [], None
        self._heard = ""

    def take_comment(self, state: OrderState) -> str:
        """Return the comment and drop the changes; an empty text if they cancel out.

        Args:
            state: The present order.
        """
        order = state
        before, ops, changes, was = self._before, self._ops, self._done, self._total
        heard = self._heard
        self._drop()
        step = next((_STEPS[op] for op in reversed(ops) if op in _STEPS), None)
        if step is not None and (words := step(order, self._context)):
            return words
        if before is not None:
            changes = [*changes, *self._told(before, order)]
        taken_up = (
            before is not None and before.stage is not Stage.OPEN and order.stage is Stage.OPEN
        )
        if not changes:
            return f"Your order is open again. {READ_AGAIN}" if taken_up else ""
        told = f"I see you {_and(changes) if len(changes) <= MAX_LISTED else 'changed several things'}."
        if (total := price(order).total) != was:
            told += f" That makes {shown(total, order.currency)}."
        if taken_up:
            return joined(told, READ_AGAIN)
        if before is not None and before.stage is order.stage is Stage.OPEN:
            question = _still_to_say(before, order)
        else:
            question = _next_question(order, self._context)
        asked = any(words in question and words in heard for words in _ASKING)
        return told if asked else joined(told, question)

    def _told(self, before: OrderState, after: OrderState) -> list[str]:
        return [*_lines(before, after), *_terms(before, after, self._context)]


def _lines(before: OrderState, order: OrderState) -> list[str]:
    old = {line.id: line for line in before.order_items}
    new = {line.id: line for line in order.order_items}
    said = [f"added {_said(line)}" for line in order.order_items if line.id not in old]
    for line in order.order_items:
        was = old.get(line.id)
        if was is None or was == line:
            continue
        more = line.quantity - was.quantity
        if was.model_copy(update={"quantity": line.quantity}) == line:
            verb, many = ("added", more) if more > 0 else ("took off", -more)
            said.append(f"{verb} {_said(line.model_copy(update={'quantity': many}))}")
        else:
            said.append(f"changed it to {_said(line)}")
    said += [f"took off the {line.name}" for line in before.order_items if line.id not in new]
    return said


def _said(line: OrderLine) -> str:
    """Word a line as a person would: "a" for one, a number for more.

    A line's text starts with its count, as in ``2x large Margherita``.
    """
    count, _, rest = line_text(line).partition("x ")
    return f"{'a' if count == '1' else count} {rest}"


def _terms(before: OrderState, order: OrderState, context: OrderContext) -> list[str]:
    said: list[str] = []
    if order.customer_name != before.customer_name and order.customer_name:
        said.append("gave me your name")
    if (order.phone, order.email) != (before.phone, before.email):
        said.append("changed how we can reach you")
    if order.fulfilment is not None and order.fulfilment != before.fulfilment:
        ready = said_time(order.fulfilment.ready_at, context.now())
        said.append(f"chose {order.fulfilment.kind}, ready {ready}")
    said += [f"used {one.code}" for one in order.coupons if one not in before.coupons]
    said += [f"took off {one.code}" for one in before.coupons if one not in order.coupons]
    if order.tip != before.tip and order.tip is not None:
        tip = price(order).tip
        said.append(
            f"added a tip of {shown(tip, order.currency)}" if tip else "would rather not tip"
        )
    if order.payment_method is not None and order.payment_method != before.payment_method:
        said.append(f"chose to pay by {order.payment_method}")
    if len(order.notes) > len(before.notes):
        said.append("left a note")
    said += [f"noted an allergy to {one}" for one in order.allergies if one not in before.allergies]
    return said


def _read_back(order: OrderState, context: OrderContext) -> str:
    if order.stage is not Stage.REVIEW:
        return ""
    return f"This is what I have: {reading(order, context)} Is that right?"


def _confirmed(order: OrderState, context: OrderContext) -> str:
    if order.stage is not Stage.CONFIRMED:
        return ""
    return joined("Thank you, that is confirmed.", _next_question(order, context))


def _placed(order: OrderState, context: OrderContext) -> str:
    if order.stage is not Stage.PLACED:
        return ""
    when = ""
    if order.fulfilment is not None:
        when = f" It will be ready {said_time(order.fulfilment.ready_at, context.now())}."
    return f"Your order is placed, number {order.order_number}.{when} Thank you! {RATE}"


def _cancelled(order: OrderState, context: OrderContext) -> str:
    return "I have called the order off." if order.stage is Stage.CANCELLED else ""


_STEPS: dict[str, Callable[[OrderState, OrderContext], str]] = {
    "read_back": _read_back,
    "confirm_order": _confirmed,
    "place_order": _placed,
    "cancel_order": _cancelled,
    "give_feedback": lambda order, context: "Thank you for telling us.",
    "call_person": lambda order, context: "A member of staff will see that you want a person.",
}
"""The comment on each step of the order that the guest takes on the page."""


_STAGES = {"confirm_order": Stage.CONFIRMED, "place_order": Stage.PLACED}
"""The steps that change nothing when repeated, with the stage they lead to."""


_ASKING = ("like to pay", "add a tip", "place the order?", "What name", "read it back")
"""Phrases that identify a question an agent has just asked."""


def _next_question(order: OrderState, context: OrderContext) -> str:
    """Ask for the next step, so that the guest knows what answer is expected."""
    if order.stage is Stage.REVIEW:
        return "Is everything else right as I read it to you?"
    if order.stage is not Stage.CONFIRMED:
        return ""
    if order.payment_method is None:
        ways = " or ".join(context.menu.restaurant.payment)
        return f"How would you like to pay at handover: {ways}?"
    if order.tip is None and context.menu.restaurant.tip.maximum > 0:
        return "Would you like to add a tip?"
    return "Shall I place the order?"


def _still_to_say(before: OrderState, order: OrderState) -> str:
    """Ask for what is missing before the read-back, after the page has supplied some of it."""
    if not order.order_items or order.fulfilment is None:
        return ""
    if (before.fulfilment, before.customer_name) == (order.fulfilment, order.customer_name):
        return ""
    if order.fulfilment.kind == "delivery" and not order.fulfilment.address:
        return "What is the address, with its postcode?"
    if not order.customer_name:
        return "What name shall I put it under?"
    return "Anything else, or shall I read it back to you?"


def joined(*sentences: str) -> str:
    """Join the sentences that are not empty."""
    return " ".join(one for one in sentences if one)


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
