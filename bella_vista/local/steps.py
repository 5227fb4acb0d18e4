"""What an order asks for next, whichever agent speaks: the guest may have gone on by himself on his page."""

from decimal import Decimal

from bella_vista.local.answers import line_words, so_far
from bella_vista.local.phrases import (
    ANYTHING_ELSE,
    CONFIRM,
    PLACE,
    WANTED,
    Topic,
    joined,
    listed,
)
from bella_vista.local.policy import Situation, ToolCall, call
from bella_vista.local.reports import fulfilment_words, warnings


def standing(now: Situation) -> str:
    """Say where the order stands, and ask for what comes next."""
    if now.stage == "review":
        return reading(now)
    return joined(so_far(now.order) if now.items else "", next_question(now))


def next_question(now: Situation) -> str:
    """Ask for what the order's stage waits for."""
    match now.stage:
        case "review":
            return CONFIRM
        case "confirmed":
            return money_question(now)
        case _:
            return ANYTHING_ELSE if now.items else WANTED


def reading(now: Situation) -> str:
    """Read the order back, with everything the guest says yes to."""
    order = now.order
    allergies = [str(one) for one in order.get("allergies") or ()]
    age = [line["name"] for line in now.items if line.get("minimum_age")]
    return joined(
        f"So that is {listed([line_words(line) for line in now.items])}.",
        fulfilment_words(order),
        f"Noted: an allergy to {listed(allergies)}." if allergies else "",
        warnings(now.items),
        now.answers.not_mentioned(allergies),
        f"For the {listed(age)} we ask for proof of age." if age else "",
        f"The total is {order['total']}.",
        CONFIRM,
    )


def money_question(now: Situation) -> str:
    """Ask how it is paid, then for the tip, then whether it shall be placed."""
    order = now.order
    methods = now.menu.restaurant.payment
    at = "pick it up" if (order.get("fulfilment") or {}).get("kind") == "pickup" else "get it"
    if not order.get("payment"):
        return f"How would you like to pay when you {at}: {listed(methods, 'or')}?"
    rule = now.menu.restaurant.tip
    if order.get("tip") is None and rule.maximum > 0:
        said = [_percent(one) for one in rule.suggested]
        hint = f", say {listed(said, 'or')} percent" if said else ""
        return f"Would you like to add a tip{hint}?"
    return f"That is {order.get('total')} in all, by {order['payment']} when you {at}. {PLACE}"


def no_tip(now: Situation) -> list[ToolCall]:
    """Take down that the guest would rather not tip, when he was asked."""
    declined = now.topic is Topic.TIP and now.meant("no", "nothing", "done")
    if declined and not any(draft.op == "set_tip" for draft in now.heard.commands):
        return [call("set_tip", percentage=0)]
    return []


def placed_words(now: Situation) -> str:
    """Say the order's number, when it is ready, and what it comes to."""
    order = now.order
    ready = (order.get("fulfilment") or {}).get("ready")
    waits = now.stage in ("placed", "accepted", "preparing")
    when = f" It will be ready {ready}." if ready and waits else ""
    return f"Your order is {now.stage}, number {order.get('number')}.{when} The total is {order.get('total')}."


def _percent(value: Decimal) -> str:
    return f"{value.normalize():f}"
