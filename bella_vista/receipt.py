"""The receipt of an order, from its view: in the console, for a guest in a room, and for staff."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from agents.app.terminal.summary import Phase, Row, Summary
from state.order import Stage
from state.privacy import clean
from state.stages import ENDED, ORDERING

STAGES = {
    Stage.OPEN: "open",
    Stage.REVIEW: "read back, not confirmed yet",
    Stage.CONFIRMED: "confirmed, not placed yet",
    Stage.PLACED: "placed",
    Stage.ACCEPTED: "accepted by the kitchen",
    Stage.PREPARING: "being prepared",
    Stage.READY: "ready",
    Stage.COMPLETED: "completed",
    Stage.CANCELLED: "cancelled",
    Stage.FAILED: "failed",
}


def summary(view: Mapping[str, Any]) -> Summary:
    """Return the summary of an order's view; of a stage it does not know it shows the name."""
    phase: Phase = "settled"
    try:
        stage = Stage(str(view["stage"]))
    except ValueError:
        status = clean(str(view["stage"]))
    else:
        status = STAGES[stage]
        phase = "ended" if stage in ENDED else "open" if stage in ORDERING else "settled"
    return Summary(
        f"Order {clean(str(view['order_number']))}",
        (*_lines(view), *_sums(view), *_facts(view)),
        line=clean(str(view["order_summary"])),
        status=status,
        phase=phase,
        empty=not view["order_items"],
    )


def _lines(view: Mapping[str, Any]) -> Iterator[Row]:
    amounts = view["display"]["order_items"]
    for line in view["order_items"]:
        name = clean(f"{line['quantity']} x {_named(line)}")
        yield Row(name, clean(amounts[line["id"]]["line_total"]), "line")
        yield from (Row(clean(detail), kind="detail") for detail in _details(line))
    if not view["order_items"]:
        yield Row("Nothing ordered yet")


def _named(dish: Mapping[str, Any]) -> str:
    return f"{dish['name']}, {dish['size']}" if dish["size"] else str(dish["name"])


def _details(line: Mapping[str, Any]) -> Iterator[str]:
    if line["modifications"]:
        yield ", ".join(line["modifications"])
    for part in line["parts"]:
        chosen = ", ".join(part["modifications"])
        yield f"{_named(part)}: {chosen}" if chosen else _named(part)
    if line["note"]:
        yield f'"{line["note"]}"'
    if line["allergens_met"]:
        yield f"allergy: {', '.join(line['allergens_met'])}"


def _sums(view: Mapping[str, Any]) -> Iterator[Row]:
    if not view["order_items"]:
        return
    display = view["display"]
    discounts, fees, tax, tip = view["discounts"], view["fees"], view["tax"], view["tip"]
    charged = sum(fee["amount"] for fee in fees) - sum(one["amount"] for one in discounts)
    tax_added = view["total"] == view["subtotal"] + charged + tax + (tip or 0)
    tip_known = tip or view["tip_percentage"] is not None
    if discounts or fees or tax or tip_known:
        yield Row("Subtotal", clean(display["subtotal"]), "sum")
    for one in discounts:
        amount = clean(display["discounts"][one["code"]])
        yield Row(clean(one["name"]), f"-{amount}", "sum")
    for one in fees:
        yield Row(clean(one["name"]), clean(display["fees"][one["code"]]), "sum")
    if tax and tax_added:
        yield Row("Tax", clean(display["tax"]), "sum")
    if tip_known:
        share = view["tip_percentage"]
        yield Row(f"Tip, {share:g} %" if share else "Tip", clean(display["tip"]), "sum")
    yield Row("Total", clean(display["total"]), "total")
    if tax and not tax_added:
        yield Row("of which tax", clean(display["tax"]), "sum")


def _facts(view: Mapping[str, Any]) -> Iterator[Row]:
    if (fulfilment := view["fulfilment"]) is not None:
        yield Row(clean(_fulfilment(fulfilment)))
    if view["payment_method"]:
        yield Row(f"To be paid by {clean(view['payment_method'])} at handover")
    guest = [clean(text) for key in ("customer_name", "phone", "email") if (text := view[key])]
    if guest:
        yield Row(f"For {', '.join(guest)}")
    if view["allergies"]:
        yield Row(clean(f"Allergies: {', '.join(view['allergies'])}"))
    for note in view["notes"]:
        yield Row(clean(f"Note, {note['title']}: {note['content']}"))
    if view["feedback_rating"] is not None:
        yield Row(f"Rated {view['feedback_rating']} of 5")
    if why := view.get("ended_reason"):
        yield Row(clean(f"Refused: {why}"))
    if view["person_wanted"]:
        yield Row("A person has been asked to help")


def _fulfilment(fulfilment: Mapping[str, Any]) -> str:
    name = "Pickup" if fulfilment["kind"] == "pickup" else "Delivery"
    where = f" to {fulfilment['address']}" if fulfilment["address"] else ""
    if fulfilment["when"]:
        return f"{name}{where}, {_moment(fulfilment['when'])}"
    ready_at = f": {_moment(fulfilment['ready_at'])}" if fulfilment["ready_at"] else ""
    return f"{name}{where}, as soon as possible{ready_at}"


def _moment(text: str) -> str:
    moment = datetime.fromisoformat(text)
    return f"{moment:%a} {moment.day} {moment:%b %H:%M}"
