"""Scores the understander: how many lines come out exact, asked about, or wrong without a word.

``python -m tests.bella_vista.local.scoring FILE...`` reads files of lines: ``menu`` and ``lines``, each
``say`` with ``end`` (the whole order after it), and ``order``, ``ask`` and ``answers`` where they matter.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bella_vista.local.understanding.meaning import Draft, LineSeen, OrderSeen, Understanding
from bella_vista.local.understanding.understander import Understander
from state.combos import covered_size
from state.errors import ChoiceMissing, OrderError
from state.menu import Dish, Menu, load_menu

ROOT = Path(__file__).parents[3]
AFTERNOON = datetime(2026, 11, 20, 15, 0)  # noqa: DTZ001 - set into each house's own zone
EXACT, ASKED, SILENT = "exact", "asked", "silent"


@cache
def menu_of(name: str) -> Menu:
    """Load a menu by its path or its name among the tests."""
    if "/" in name:
        return load_menu(ROOT / name)
    if name == "trattoria":
        return load_menu(ROOT / "bella_vista" / "menu.yaml")
    return load_menu(ROOT / "tests" / "menus" / f"{name}.yaml")


@cache
def understander_of(name: str) -> Understander:
    """Build the understander of a menu once."""
    return Understander(menu_of(name))


def lines_of(path: Path, half: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the lines of a file, or the even or odd half of them, with their menu."""
    at = 0
    for part in yaml.safe_load_all(path.read_text("utf-8")):
        for line in part["lines"]:
            if half == "all" or (half == "even") == (at % 2 == 0):
                yield part["menu"], line
            at += 1


def seen(menu: Menu, lines: Sequence[Mapping[str, Any]]) -> OrderSeen:
    """Write an order as a model sees it."""
    return OrderSeen(
        items=tuple(
            LineSeen(
                id=f"L{number}",
                quantity=line["quantity"],
                name=line["name"],
                size=line.get("size") or _usual(menu, line["name"]),
                modifications=tuple(line.get("modifications") or ()),
                parts=tuple(_part_shown(part) for part in line.get("parts") or ()),
            )
            for number, line in enumerate(lines, start=1)
        )
    )


def _usual(menu: Menu, name: str) -> str | None:
    dish = menu.dish(name)
    return dish.implied_size if dish is not None else None


def _part_shown(part: Mapping[str, Any]) -> str:
    named = " ".join(word for word in (part.get("size"), part["name"]) if word)
    changes = ", ".join(part.get("modifications") or ())
    return f"{named} ({changes})" if changes else named


def key(menu: Menu, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Reduce a line to what tells it from others; what a combo always has need not be written."""
    parts = [_part(menu, one) for one in given.get("parts") or ()]
    combo = menu.combo(given["name"])
    for part in combo.parts if combo is not None else ():
        name = part.dishes[0]
        if len(part.dishes) == 1 and all(one[0] != name for one in parts):
            parts.append(_part(menu, {"name": name}))
    return given["name"], *_made(menu, given), tuple(sorted(parts)), given.get("note") or ""


def _part(menu: Menu, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Reduce a part of a combo; without a size it has the one that the combo's price covers."""
    dish = menu.dish(given["name"])
    size = given.get("size") or (covered_size(dish) if dish is not None else None)
    return given["name"], *_made(menu, {**given, "size": size})


def _as_the_menu_writes(menu: Menu, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write what a writer meant as the menu does.

    Of two halves the second is the other one; what cannot lie beside by the menu is a note.
    """
    dish = menu.dish(given["name"])
    changes = [str(one) for one in given.get("modifications") or ()]
    halves = [at for at, one in enumerate(changes) if one.startswith("half ")]
    if len(halves) == 2 and not any(one.startswith("other half") for one in changes):
        changes[halves[1]] = f"other {changes[halves[1]]}"
    notes = [given["note"]] if given.get("note") else []
    for at, one in enumerate(changes):
        plain = one.removesuffix(" on the side")
        if dish is not None and plain != one and not _fits(menu, dish, None, one):
            changes[at] = plain
            notes.append(one)
    return {**given, "modifications": changes, "note": "; ".join(notes)}


def _made(menu: Menu, given: Mapping[str, Any]) -> tuple[Any, ...]:
    dish = menu.dish(given["name"])
    changes = tuple(given.get("modifications") or ())
    if dish is None:
        return "", tuple(sorted(changes))
    try:
        size = menu.size(dish, given.get("size"))
    except OrderError:
        size = given.get("size")
    try:
        changes = tuple(
            one.words
            for one in menu.choose(dish, size or dish.sizes[0] if dish.sizes else None, changes)
        )
    except OrderError:
        pass
    return size or "", tuple(sorted(changes))


def after(menu: Menu, order: Sequence[Mapping[str, Any]], drafts: Sequence[Draft]) -> Counter[Any]:
    """Carry commands out on an order."""
    lines = {f"L{number}": dict(line) for number, line in enumerate(order, start=1)}
    fresh: list[dict[str, Any]] = []
    for draft in drafts:
        given = dict(draft.fields)
        if draft.op == "add_item":
            fresh.append(given)
        elif draft.op == "change_item":
            line = lines.get(str(given.pop("line_id")))
            if line is not None:
                line.update(given)
                if "name" in given:
                    _keep_what_fits(menu, line, given)
        elif draft.op == "remove_item":
            line = lines.get(str(given["line_id"]))
            if line is not None:
                line["quantity"] = line["quantity"] - given.get("quantity", line["quantity"])
        elif draft.op == "cancel_order":
            lines.clear()
    counted: Counter[Any] = Counter()
    for line in (*lines.values(), *fresh):
        if line["quantity"] > 0:
            counted[key(menu, line)] += line["quantity"]
    return counted


def _keep_what_fits(menu: Menu, line: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Keep the size and the choices of a line that became another dish, where that can have them."""
    dish = menu.dish(line["name"])
    size = line.get("size")
    try:
        size = menu.size(dish, size) if dish is not None else None
    except OrderError:
        size = None
    if "size" not in given:
        line["size"] = size
    if "modifications" not in given:
        old = line.get("modifications") or ()
        line["modifications"] = [one for one in old if dish and _fits(menu, dish, size, one)]


def _fits(menu: Menu, dish: Dish, size: str | None, words: str) -> bool:
    try:
        menu.choose(dish, size or (dish.sizes[0] if dish.sizes else None), [words])
    except ChoiceMissing:
        return True
    except OrderError:
        return False
    return True


def expected(menu: Menu, end: Sequence[Mapping[str, Any]]) -> Counter[Any]:
    """Count the lines of an order."""
    counted: Counter[Any] = Counter()
    for line in end:
        counted[key(menu, _as_the_menu_writes(menu, line))] += line["quantity"]
    return counted


def verdict(name: str, line: Mapping[str, Any], result: Understanding) -> str:
    """Say whether a line came out exact, was asked about, or is wrong without a word."""
    menu = menu_of(name)
    come = after(menu, line.get("order") or (), result.commands)
    # A waiter who has to ask changes nothing yet.
    meant = expected(menu, line.get("end", line.get("order") if line.get("ask") else ()) or ())
    told = result.question is not None or bool(result.not_understood)
    kinds = [asked.kind for asked in result.answers]
    right = come == meant
    if line.get("answers"):
        right = right and (line["answers"] in kinds or line["answers"] == "small_talk")
        told = told or not kinds
    if line.get("ask"):
        return EXACT if right and told else ASKED if told or not result.commands else SILENT
    if right and result.question is None:
        return EXACT
    if told or not (result.commands or result.answers or result.intents):
        return ASKED
    return SILENT


def understood(name: str, line: Mapping[str, Any]) -> Understanding:
    """Understand a line upon its order."""
    menu = menu_of(name)
    now = AFTERNOON.replace(tzinfo=menu.restaurant.zone)
    order = seen(menu, line.get("order") or ())
    return understander_of(name).understand(line["say"], order=order, now=now)


def main(arguments: Sequence[str]) -> int:
    """Print a table of the files' menus, and the lines that are not exact if that is wanted."""
    parser = argparse.ArgumentParser(prog="scoring", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--half", choices=("even", "odd", "all"), default="all")
    parser.add_argument("--show", action="store_true", help="print every line that is not exact")
    given = parser.parse_args(arguments)
    scores: dict[str, Counter[str]] = {}
    for path in given.files:
        for name, line in lines_of(path, given.half):
            result = understood(name, line)
            said = verdict(name, line, result)
            kind = f"{name}{' on an order' if line.get('order') else ''}"
            scores.setdefault(kind, Counter())[said] += 1
            scores.setdefault("all", Counter())[said] += 1
            if given.show and said != EXACT:
                _show(path, name, line, result, said)
    for name, counted in sorted(scores.items()):
        total = sum(counted.values())
        row = "".join(
            f"{counted[kind]:6d} {100 * counted[kind] / total:5.1f} %"
            for kind in (EXACT, ASKED, SILENT)
        )
        _say(f"{name:32s}{total:6d}{row}")
    return 0


def _show(path: Path, name: str, line: Mapping[str, Any], result: Understanding, said: str) -> None:
    _say(f"{said.upper():7s} {path.name} [{name}] {line['say']}")
    menu = menu_of(name)
    if line.get("order"):
        _say(f"    on    {[_short(one) for one in line['order']]}")
    _say(
        f"    wants {[_short(one) for one in line.get('end') or ()]}"
        f"{' ask' if line.get('ask') else ''} {line.get('answers') or ''}"
    )
    come = after(menu, line.get("order") or (), result.commands)
    _say(f"    comes {[f'{n} {k}' for k, n in come.items()]}")
    question = result.question
    asks = (
        [
            (q.code, {k: v for k, v in q.facts.items() if k != "said"})
            for q in (question, *question.rest)
        ]
        if question
        else []
    )
    _say(
        f"    asks  {asks} {list(result.not_understood)} {[a.kind for a in result.answers]} {result.intents}"
    )


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _short(line: Mapping[str, Any]) -> str:
    return " ".join(str(value) for value in line.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
