"""What guests say, line by line, on menus of many kinds, and what it has to mean.

The lines stand in ``lines/*.yaml``. Each is ``say`` with any of: ``does`` (the commands, in a short
notation; ``any`` where several readings are right), ``either`` (another right reading), ``answers``,
``asks`` (the code of a question; ``any`` where asking is right too), ``note`` (of one of the commands),
``intents``; and what it is said upon: ``order`` (lines), ``after`` (a line whose question is still open),
``topic`` (a dish that was asked about) and ``expects``.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from bella_vista.local.understanding.meaning import Draft, LineSeen, OrderSeen, Understanding
from bella_vista.local.understanding.understander import Understander, as_json
from state.menu import Menu, load_menu

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
KEYS = frozenset(
    "say after topic order expects does either asks answers intents note unheard".split()
)
AFTERNOON = datetime(2026, 11, 20, 15, 0)  # noqa: DTZ001 - set into each house's own zone


@cache
def menu(name: str) -> Menu:
    return load_menu(ROOT / name if "/" in name else HERE / "menus" / f"{name}.yaml")


@cache
def understander(name: str) -> Understander:
    return Understander(menu(name))


def spoken_lines() -> Iterator[Any]:
    for path in sorted((HERE / "lines").glob("*.yaml")):
        for part in yaml.safe_load_all(path.read_text("utf-8")):
            for line in part["lines"]:
                assert KEYS.issuperset(line), f"{path}: {line}"
                yield pytest.param(
                    part["menu"], line, id=f"{Path(part['menu']).stem}-{line['say']}"
                )


def told(draft: Draft) -> str:
    """Write a command the way the lines do."""
    given = draft.fields
    if draft.op == "add_item":
        return f"{given['quantity']} {named(given)}{parts(given)}"
    if draft.op == "change_item":
        said = [f"{key} {given[key]}" for key in ("name", "size", "quantity") if key in given]
        if "modifications" in given:
            said.append(f"with {', '.join(given['modifications'])}".strip())
        return f"change {given['line_id']}: {'; '.join(said)}{parts(given)}"
    if draft.op == "remove_item":
        count = f"{given['quantity']} of " if "quantity" in given else ""
        return f"remove {count}{given['line_id']}"
    if draft.op == "call_person":
        return draft.op
    return " ".join([draft.op, *(f"{key}={value}" for key, value in given.items())])


def named(given: Any) -> str:
    size = f" ({given['size']})" if given.get("size") else ""
    changes = f" - {', '.join(given['modifications'])}" if given.get("modifications") else ""
    return f"{given['name']}{size}{changes}"


def parts(given: Any) -> str:
    return f" | {'; '.join(named(part) for part in given['parts'])}" if given.get("parts") else ""


def order(lines: list[str]) -> OrderSeen:
    """Read lines like ``2 Margherita (large) - no basil``; what a combo has follows a bar."""
    seen = []
    for number, text in enumerate(lines, start=1):
        text, _, chosen = text.partition(" | ")
        match = re.fullmatch(r"(\d+) ([^(]+?)(?: \(([^)]*)\))?(?: - (.*))?", text)
        assert match is not None, text
        changes = tuple(match[4].split(", ")) if match[4] else ()
        had = tuple(chosen.split("; ")) if chosen else ()
        seen.append(LineSeen(f"L{number}", int(match[1]), match[2], match[3], changes, had))
    return OrderSeen(items=tuple(seen))


def understood(name: str, line: Any) -> Understanding:
    now = AFTERNOON.replace(tzinfo=menu(name).restaurant.zone)
    pending = None
    if "after" in line:
        pending = understander(name).understand(line["after"], now=now).question
        assert pending is not None, "the line before has to leave a question open"
    return understander(name).understand(
        line["say"],
        pending=pending,
        order=order(line.get("order", [])),
        expects=line.get("expects"),
        now=now,
        topic=line.get("topic"),
    )


@pytest.mark.parametrize(("name", "line"), list(spoken_lines()))
def test_a_line_means_what_the_guest_means(name: str, line: Any) -> None:
    result = understood(name, line)

    question = result.question
    codes = [one.code for one in (question, *question.rest)] if question else []
    does = [told(draft) for draft in result.commands]
    if line.get("does") != "any":
        assert does in (line.get("does", []), line.get("either")), codes
    if line.get("answers") != "any":
        assert [asked.kind for asked in result.answers] == line.get("answers", [])
    if line.get("asks") is None:
        assert codes == []
    elif line["asks"] != "any":
        assert line["asks"] in codes
    assert "note" not in line or line["note"] in [d.fields.get("note") for d in result.commands]
    assert set(line.get("intents", [])) <= set(result.intents)
    assert line.get("unheard", list(result.not_understood)) == list(result.not_understood)
    if "any" not in (line.get("does"), line.get("asks"), line.get("answers")):
        shown = as_json(result)
        assert (shown["question"] is None) == (question is None)
