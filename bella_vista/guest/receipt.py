"""The receipt of an order from its public view, which is all that a client knows."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from bella_vista.terminal.receipt import STAGES, Row
from state.order import Stage
from state.privacy.text import clean


def rows(view: Mapping[str, Any]) -> tuple[Row, ...]:
    """Return a view as rows."""
    return (*_lines(view), *_sums(view), *_facts(view))


def stage_of(view: Mapping[str, Any]) -> str:
    """Return an order's stage in words.

    >>> stage_of({"stage": "review"})
    'read back, not confirmed yet'
    """
    try:
        return STAGES[Stage(str(view.get("stage")))]
    except ValueError:
        return clean(str(view.get("stage")))


def _lines(view: Mapping[str, Any]) -> Iterator[Row]:
    display = view["display"]
    for line in view["order_items"]:
        size = f", {line['size']}" if line["size"] else ""
        amount = display["order_items"][line["id"]]["line_total"]
        yield Row(clean(f"{line['quantity']} x {line['name']}{size}"), clean(amount), "line")
        if line["modifications"]:
            yield Row(clean(", ".join(line["modifications"])), kind="detail")
        for part in line["parts"]:
            size = f", {part['size']}" if part["size"] else ""
            chosen = f": {', '.join(part['modifications'])}" if part["modifications"] else ""
            yield Row(clean(f"{part['name']}{size}{chosen}"), kind="detail")
        if line["note"]:
            yield Row(clean(f'"{line["note"]}"'), kind="detail")
    if not view["order_items"]:
        yield Row("Nothing ordered yet")


def _sums(view: Mapping[str, Any]) -> Iterator[Row]:
    if not view["order_items"]:
        return
    display = view["display"]
    yield Row("Subtotal", clean(display["subtotal"]), "sum")
    for discount in view["discounts"]:
        yield Row(
            clean(discount["name"]), f"-{clean(display['discounts'][discount['code']])}", "sum"
        )
    for fee in view["fees"]:
        yield Row(clean(fee["name"]), clean(display["fees"][fee["code"]]), "sum")
    if view["tax"]:
        yield Row("Tax", clean(display["tax"]), "sum")
    if view["tip"]:
        yield Row("Tip", clean(display["tip"]), "sum")
    yield Row("Total", clean(display["total"]), "total")


def _facts(view: Mapping[str, Any]) -> Iterator[Row]:
    if (fulfilment := view["fulfilment"]) is not None:
        name = "Pickup" if fulfilment["kind"] == "pickup" else "Delivery"
        where = f" to {clean(fulfilment['address'])}" if fulfilment["address"] else ""
        soon = "" if fulfilment["when"] else ", as soon as possible"
        at = fulfilment["when"] or fulfilment["ready_at"]
        yield Row(f"{name}{where}{soon}" + (f": {_moment(at)}" if at else ""))
    if view["payment_method"]:
        yield Row(f"To be paid by {clean(view['payment_method'])} at handover")
    guest = [clean(text) for key in ("customer_name", "phone", "email") if (text := view[key])]
    if guest:
        yield Row(f"For {', '.join(guest)}")
    if view["allergies"]:
        yield Row(clean(f"Allergies: {', '.join(view['allergies'])}"))
    for note in view["notes"]:
        yield Row(clean(f"Note, {note['title']}: {note['content']}"))


def _moment(text: str) -> str:
    moment = datetime.fromisoformat(text)
    return f"{moment:%a} {moment.day} {moment:%b %H:%M}"
