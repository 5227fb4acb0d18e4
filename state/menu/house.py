"""Reads the house: its name, hours, services and rules of money."""

import re
from collections.abc import Mapping
from decimal import Decimal
from zoneinfo import ZoneInfo

from state.menu.faults import did_you_mean
from state.menu.form import Form
from state.menu.model import (
    Delivery,
    Limits,
    Payment,
    Pickup,
    Restaurant,
    Span,
    Tax,
    TipRule,
    Weekday,
)
from state.menu.serving import WEEKDAYS
from state.money import Cents

_PICKUP_MINUTES = 20
_DELIVERY_MINUTES = 45
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_E164 = re.compile(r"\+[1-9][0-9]{6,14}")
_IN_A_NUMBER = re.compile(r"[ ().-]")
_SIP = re.compile(r"sips?:([^\s@]+@)?[A-Za-z0-9][^\s@]*")
_CLOSED = "closed"
_PAYMENTS: tuple[Payment, ...] = ("cash", "card")


def read_house(form: Form) -> Restaurant:
    """Read the restaurant's own part of a menu; sets the currency for all that is read after it."""
    currency = _currency(form)
    service = form.form("service", "service")
    pickup = service.form("pickup", "pickup") if service else None
    delivery = service.form("delivery", "delivery") if service else None
    if service is not None and pickup is None and delivery is None:
        form.fault(service.line, "service has to name pickup, delivery or both")
    payment: tuple[Payment, ...] = form.words("payment", _PAYMENTS)
    if form.has("payment") and not payment:
        form.fault(form.line_of("payment"), "payment has to name cash, card or both")
    return Restaurant(
        id=_id(form),
        name=form.name() or "",
        currency=currency,
        timezone=_timezone(form),
        phone=form.text("phone"),
        transfer_to=_transfer_to(form),
        address=form.text("address"),
        hours=_hours(form),
        closed_on=form.days("closed_on"),
        facts={
            name: text
            for name, node, _ in form.entries("facts")
            if (text := form.text_of(node, f'the fact "{name}"'))
        },
        pickup=_pickup(pickup, service is None),
        delivery=_delivery(delivery),
        payment=payment or _PAYMENTS,
        tax=_tax(form.form("tax", "tax")),
        tip=_tip(form.form("tip", "tip")),
        limits=_limits(form.form("limits", "limits")),
    )


def _id(form: Form) -> str:
    text = form.text("id") or ""
    if text and not _ID.fullmatch(text):
        form.fault(
            form.line_of("id"),
            f'id has to be a short name of letters, digits, "-", "_" and ".", not "{text}"',
        )
    return text


def _transfer_to(form: Form) -> str | None:
    text = form.text("transfer_to")
    if text is None:
        return None
    number = _IN_A_NUMBER.sub("", text)
    if _E164.fullmatch(number):
        return number
    if _SIP.fullmatch(text):
        return text
    form.fault(
        form.line_of("transfer_to"),
        "transfer_to has to be a telephone number with its country (+12125550142) or a SIP address"
        f' (sip:desk@example.com), not "{text}"',
    )
    return None


def _currency(form: Form) -> str:
    # Babel costs some milliseconds to import, and only reading a menu needs it here.
    from babel.core import get_global
    from babel.numbers import get_currency_precision

    code = form.text("currency") or ""
    known = get_global("all_currencies")
    if code in known:
        form.reading.currency = code
        form.reading.decimals = get_currency_precision(code)
    elif code:
        hint = did_you_mean(code, known)
        form.fault(form.line_of("currency"), f'there is no currency "{code}"{hint}')
    return code


def _timezone(form: Form) -> str:
    name = form.text("timezone") or ""
    try:
        if name:
            ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        # Naming all zones reads a directory tree: only worth it for a fault.
        from zoneinfo import available_timezones

        hint = did_you_mean(name, available_timezones())
        form.fault(form.line_of("timezone"), f'there is no time zone "{name}"{hint}')
    return name


def _hours(form: Form) -> Mapping[Weekday, tuple[Span, ...]]:
    hours: dict[Weekday, tuple[Span, ...]] = dict.fromkeys(WEEKDAYS, ())
    week = form.form("hours", "hours")
    if week is None:
        return hours
    before = len(form.reading.faults)
    for day in WEEKDAYS:
        node = week.value(day)
        if node is None or node.kind == "nothing":
            continue
        if node.kind == "text" and node.text.strip().casefold() == _CLOSED:
            continue
        hours[day] = week.spans(node, day)
    for day, following in zip(WEEKDAYS, (*WEEKDAYS[1:], WEEKDAYS[0]), strict=True):
        _check_night(week, hours, day, following)
    if not any(hours.values()) and len(form.reading.faults) == before:
        form.fault(form.line_of("hours"), "hours never opens the house")
    return hours


def _pickup(form: Form | None, implied: bool) -> Pickup | None:
    if form is None:
        return Pickup(lead_minutes=_PICKUP_MINUTES) if implied else None
    return Pickup(lead_minutes=form.whole("lead_minutes", _PICKUP_MINUTES))


def _delivery(form: Form | None) -> Delivery | None:
    if form is None:
        return None
    return Delivery(
        lead_minutes=form.whole("lead_minutes", _DELIVERY_MINUTES),
        fee=form.money("fee") or Cents(0),
        minimum=form.money("minimum") or Cents(0),
        postcodes=form.texts("postcodes"),
    )


def _tax(form: Form | None) -> Tax:
    if form is None:
        return Tax()
    rates = {
        name: rate
        for name, node, _ in form.entries("rates")
        if (rate := form.number(node, f'the rate "{name}"', most=100, unit=" percent")) is not None
    }
    return Tax(
        mode=form.one_of("mode", ("added", "included"), "added"),
        rounding=form.one_of("rounding", ("per_rate", "per_line"), "per_rate"),
        rates=rates,
    )


def _tip(form: Form | None) -> TipRule:
    if form is None:
        return TipRule()
    maximum = form.percent("maximum")
    maximum = Decimal(30) if maximum is None else maximum
    listed = form.value("suggested")
    suggested: list[Decimal] = []
    for node in listed.items if listed and listed.kind == "list" else ():
        percent = form.number(node, "a suggested tip", most=100, unit=" percent")
        if percent is not None and percent > maximum:
            form.fault(node.line, f"a suggested tip of {percent} is above the maximum, {maximum}")
        elif percent is not None:
            suggested.append(percent)
    if listed is not None and listed.kind in ("text", "mapping"):
        form.fault(listed.line, "suggested has to be a list of percentages")
    return TipRule(
        base=form.one_of("base", ("subtotal", "total"), "subtotal"),
        suggested=tuple(suggested),
        maximum=maximum,
    )


def _limits(form: Form | None) -> Limits:
    if form is None:
        return Limits()
    total = form.money("total")
    if total == 0 and form.reading.decimals is not None:
        form.fault(form.line_of("total"), "a total of 0 would allow no order at all")
    return Limits(quantity=form.whole("quantity", 50), lines=form.whole("lines", 40), total=total)


def _check_night(
    week: Form, hours: Mapping[Weekday, tuple[Span, ...]], day: Weekday, following: Weekday
) -> None:
    """Compare what runs past midnight with the opening of the day after."""
    last = hours[day][-1] if hours[day] else None
    first = hours[following][0] if hours[following] else None
    if last is None or first is None or last.end > last.start:
        return
    if first.start < last.end:
        week.fault(
            week.line_of(following),
            f"{following} opens at {first.start:%H:%M}, but {day} only closes at {last.end:%H:%M}",
        )
