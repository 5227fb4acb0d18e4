"""The ``understand`` command: how the local model understands lines, one JSON object each."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

from agents.app.clock import running_clock
from agents.app.faults import InputError
from agents.app.terminal.input import MAX_LINE, PipedLines
from agents.app.terminal.stdio import json_line, say
from bella_vista.local.understanding.meaning import LineSeen, OrderSeen
from bella_vista.local.understanding.understander import NO_ORDER, Understander, as_json
from bella_vista.menus import menu_file, read_menu
from bella_vista.settings import Settings
from state.contact import region_of
from state.privacy.redaction import Redactor


def understand_lines(
    settings: Settings, *, order: Path | None = None, explain: bool = False
) -> None:
    """Read lines from stdin to its end, and write how each would change the order.

    Args:
        settings: The menu, and the time that "at seven" is relative to.
        order: A JSON file with the fields of an order's view to start from; without it, a new order.
        explain: Whether stderr shows the readings that were weighed, and what each word cost.

    Raises:
        InputError: The menu or the order cannot be read.
    """
    menu = read_menu(menu_file(settings.menu))
    seen = NO_ORDER if order is None else read_order(order)
    now = running_clock(ZoneInfo(menu.restaurant.timezone), settings.at)
    understander = Understander(menu)
    tell: Callable[[str], object] | None = _tell if explain else None
    if sys.stdin is None:
        return
    for line in iter(PipedLines(sys.stdin.fileno()), None):
        redact = Redactor(lambda: region_of(menu.restaurant))
        if words := redact(line.strip()[:MAX_LINE]):
            if tell is not None:
                tell(f"> {words}")
            understood = understander.understand(words, order=seen, now=now(), explain=tell)
            say(json_line(as_json(understood)))


def read_order(file: Path) -> OrderSeen:
    """Read the fields of an order's view.

    Raises:
        InputError: The file cannot be read, is no JSON object, or has a line without a name.
    """
    try:
        fields = json.loads(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as wrong:
        raise InputError([f"{file}:{wrong.lineno}: {wrong.msg}"]) from wrong
    except (OSError, UnicodeDecodeError) as wrong:
        raise InputError([f"{file}: {wrong}"]) from wrong
    if not isinstance(fields, Mapping):
        raise InputError([f"{file}:1: an order is an object"])
    lines = fields.get("order_items", [])
    if not isinstance(lines, list):
        raise InputError([f"{file}:1: order_items is a list"])
    faults = [
        f"{file}:1: line {number} of order_items has no name"
        for number, line in enumerate(lines, start=1)
        if not isinstance(line, Mapping) or not isinstance(line.get("name"), str)
    ]
    if faults:
        raise InputError(faults)
    fulfilment = fields.get("fulfilment")
    kind = fulfilment.get("kind") if isinstance(fulfilment, Mapping) else None
    address = fulfilment.get("address") if isinstance(fulfilment, Mapping) else None
    return OrderSeen(
        items=tuple(_line(line, number) for number, line in enumerate(lines, start=1)),
        fulfilment=str(kind) if kind else None,
        address=str(address) if address else None,
        coupons=tuple(str(code) for code in fields.get("coupons") or ()),
        total=fields["total"] if isinstance(fields.get("total"), int) else None,
        tip=fields["tip"] if isinstance(fields.get("tip"), int) else None,
    )


def _line(line: Mapping[str, object], number: int) -> LineSeen:
    quantity, parts = line.get("quantity"), line.get("parts")
    return LineSeen(
        id=str(line.get("id") or f"L{number}"),
        quantity=quantity if isinstance(quantity, int) and quantity > 0 else 1,
        name=str(line["name"]),
        size=str(line["size"]) if line.get("size") else None,
        modifications=_words(line.get("modifications")),
        parts=tuple(_part(part) for part in (parts if isinstance(parts, list) else ()) if part),
    )


def _part(part: object) -> str:
    """Write a part of a combo as the order shows it: "large Cola (no ice)"."""
    if not isinstance(part, Mapping):
        return str(part)
    named = " ".join(str(part[key]) for key in ("size", "name") if part.get(key))
    changes = ", ".join(_words(part.get("modifications")))
    return f"{named} ({changes})" if changes else named


def _words(value: object) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list) else ()


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
