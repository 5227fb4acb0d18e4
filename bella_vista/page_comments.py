"""Words the agents' comments on changes that the guest made on the page, and on the kitchen's answer."""

from collections.abc import Callable, Sequence

from agents.app.parts import Changes, Comment
from agents.telling import NO_PROMISE, allergy_warnings, line_text, reading
from bella_vista.house import stored_house
from state.context import OrderContext
from state.money import shown
from state.order import OrderLine, OrderState, Stage
from state.pricing import price
from state.stages import ORDERING
from state.times import said_time

MAX_LISTED = 6
"""How many changes are listed one by one; more are summed up, since the page shows them all."""

CHANGED, REOPENED, HOUSE = "changes", "reopened", "house"
"""The topics besides those of the steps, which are their commands."""

READ_AGAIN = "I will read it back again before we place it."
RATE = "If you like, you can rate this call, from one to five stars."
"""Not a question: rating is optional."""


def comment(changes: Changes[OrderState, OrderContext]) -> Comment | None:
    """Word the comment on changes made on the page: a step of the order, or all changed parts.

    Several changes in a row are one: only the order before the first and after the last counts.
    """
    order, context = changes.state, changes.context
    step = next(reversed(_steps(changes)), None)
    agent = _agent_for(order)
    if step is not None and (words := _STEPS[step](order, context)):
        return Comment(step, words, agent)
    stretches = changes.stretches
    before, after = stretches[-1]
    own = after == order  # no other writer has changed the order since
    said = [
        words for old, new in stretches for words in (*_lines(old, new), *_terms(old, new, context))
    ]
    taken_up = own and before.stage is not Stage.OPEN and order.stage is Stage.OPEN
    if not said:
        words = f"Your order is open again. {READ_AGAIN}"
        return Comment(REOPENED, words, agent) if taken_up else None
    told = f"I see you {_and(said) if len(said) <= MAX_LISTED else 'changed several things'}."
    if warned := _warning(stretches, context):
        told += f" {warned}"
    if own and (total := price(order).total) != price(before).total:
        told += f" That makes {shown(total, order.currency)}."
    if taken_up:
        question = READ_AGAIN
    elif own and before.stage is order.stage is Stage.OPEN:
        question = _still_to_say(before, order)
    else:
        question = _next_question(order, context)
        if order.stage is Stage.CONFIRMED and question == _next_question(stretches[0][0], context):
            question = ""  # an agent has asked for it already
    return Comment(CHANGED, joined(told, question), agent)


def staff_comment(changes: Changes[OrderState, OrderContext]) -> Comment | None:
    """Word what staff have done: with a placed order, or with the dishes of one that is not placed."""
    order, context = changes.state, changes.context
    if order.stage in ORDERING:
        return _house_comment(changes)
    if not changes.applied:
        return None
    before = changes.applied[0].before
    match order.stage:
        case Stage.ACCEPTED | Stage.PREPARING if before.stage is Stage.PLACED:
            words = joined("The kitchen has accepted your order.", _promise(before, order, context))
        case Stage.READY if before.stage is not Stage.READY:
            words = "Your order is ready."
        case Stage.FAILED if before.stage is not Stage.FAILED:
            reason = (order.ended_reason or "").rstrip(".")
            refused = "I am sorry, the restaurant cannot make your order after all."
            words = joined(refused, f"The reason: {reason}." if reason else "")
        case _:
            return None
    return Comment(order.stage.value, words)


def _agent_for(order: OrderState) -> str | None:
    """Name the agent for what comes next; none for an order without lines, or one that is over."""
    if not order.order_items or order.stage in (Stage.CANCELLED, Stage.FAILED):
        return None
    if order.stage in (Stage.OPEN, Stage.REVIEW):
        return "order_taker"
    return "payment" if order.stage is Stage.CONFIRMED else "feedback"


def _house_comment(changes: Changes[OrderState, OrderContext]) -> Comment | None:
    """Say which dishes of the order have been sold out, and whether orders have been paused."""
    if changes.live is None or not changes.state.order_items:
        return None
    was, is_now = (stored_house(live.get("house")) for live in changes.live)
    held = {name for line in changes.state.order_items for name in line.names}
    gone = [f"the {name}" for name in is_now.sold_out if name in held and name not in was.sold_out]
    words = ""
    if gone:
        verb = "has" if len(gone) == 1 else "have"
        words = f"I am sorry, {_and(gone)} {verb} just been sold out. What would you like instead?"
    if is_now.paused and not was.paused:
        words = joined("I am sorry, the restaurant has just paused orders.", words)
    elif was.paused and not is_now.paused:
        words = joined("The restaurant takes orders again.", words)
    return Comment(HOUSE, words, _agent_for(changes.state) if gone else None)


def _promise(before: OrderState, order: OrderState, context: OrderContext) -> str:
    """Say when the order will be ready, and whether that differs from what the guest was promised."""
    if before.fulfilment is None or order.fulfilment is None:
        return ""
    promised, ready = before.fulfilment.ready_at, order.fulfilment.ready_at
    now = context.now()
    said = f"It will be ready {said_time(ready, now)}"
    if said_time(promised, now) == said_time(ready, now):
        return f"{said}."
    return f"{said}, {'later' if ready > promised else 'earlier'} than we promised."


def _steps(changes: Changes[OrderState, OrderContext]) -> list[str]:
    """List the steps the guest took, without those that changed nothing when repeated."""
    return [
        op
        for one in changes.applied
        for op in one.ops
        if op in _STEPS and _REPEATED.get(op) != one.before.stage
    ]


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
    """Word a line as a person would: "a" or "an" for one, a number for more.

    A line's text starts with its count, as in ``2x large Margherita``.
    """
    count, _, rest = line_text(line).partition("x ")
    one = "an" if rest[:1].casefold() in "aeiou8" else "a"
    return f"{one if count == '1' else count} {rest}"


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
    said += [
        f"took the allergy to {one} off" for one in before.allergies if one not in order.allergies
    ]
    return said


def _warning(stretches: Sequence[tuple[OrderState, OrderState]], context: OrderContext) -> str:
    """Return the allergy warnings for new lines and new allergies."""
    said: dict[str, None] = {}
    for before, after in stretches:
        known = set(allergy_warnings(before, context))
        said |= dict.fromkeys(one for one in allergy_warnings(after, context) if one not in known)
    if any(set(after.allergies) - set(before.allergies) for before, after in stretches):
        said[NO_PROMISE] = None
    return " ".join(said)


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


_STEPS: dict[str, Callable[[OrderState, OrderContext], str]] = {
    "read_back": _read_back,
    "confirm_order": _confirmed,
    "place_order": _placed,
    "cancel_order": lambda order, context: (
        "I have called the order off." if order.stage is Stage.CANCELLED else ""
    ),
    "give_feedback": lambda order, context: "Thank you for telling us.",
    "call_person": lambda order, context: "A member of staff will see that you want a person.",
}
"""The comment on each step of the order that the guest takes on the page."""


_REPEATED = {"confirm_order": Stage.CONFIRMED, "place_order": Stage.PLACED}
"""The steps that change nothing when repeated, with the stage they lead to."""


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
    """Ask for the data missing before the read-back, after the page has supplied a part of it."""
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
