"""What the local model takes for a line, on a menu of 100 dishes and on one of 500 with 60 choices each."""

import random
from collections.abc import Sequence
from itertools import product

import yaml

from bella_vista.local.understanding.understander import Understander
from state.menu import Menu, read_menu
from tests.bella_vista.local.generating import line_of
from tests.bella_vista.local.scoring import ROOT, menu_of
from tests.benchmarks.measuring import Samples, Spread, Watch, processor
from tests.benchmarks.report import Table, ms

MEDIAN_MS, P99_MS, LARGE_MS, TEXT_MS, BUILT_MS = 2.0, 10.0, 5.0, 50.0, 300.0
"""Budgets: a line on 100 dishes, a line on 500, 1,000 characters of anything, and the build of an index."""

DISHES, CHOICES = 500, 60
_FIRST = "amber cedar coral fable gable haven ivory jasper linen maple north olive pearl quill raven".split()
_SECOND = (
    "arbor basin cliff dune ember fjord grove hill inlet knoll ledge meadow orchard ridge".split()
)
_KINDS = "curry roast soup".split()

TEXTS = (
    "two large margheritas, one without basil and a coke, " * 20,
    "no not a the one other half " * 40,
    "lorem ipsum dolor sit amet " * 40,
    "a" * 1000,
    "?,. " * 250,
)


def measure(lines: int) -> list[Table]:
    """Understand generated orders and long texts, and build the index of a large menu."""
    table = Table(
        "The local model's reading of a line, processor time, ms",
        ("median", "p99"),
        note=f"Orders are generated from the menu, no two alike. The large menu has {DISHES} dishes with"
        f" {CHOICES} choices each.",
    )
    usual, large, taken = menu_of("trattoria"), large_menu(), Samples()
    readers = {}
    for name, menu in (("100 dishes", usual), ("500 dishes", large)):
        with Watch(taken, f"built, {name}"):
            readers[name] = Understander(menu)
        for say in _orders(menu, lines):
            with Watch(taken, name):
                readers[name].understand(say)
    for text in TEXTS:
        with Watch(taken, "text"):
            readers["100 dishes"].understand(text[:1000])
    _add(table, "a line on 100 dishes", taken, "100 dishes", MEDIAN_MS)
    _add(table, "a line on 100 dishes, p99", taken, "100 dishes", P99_MS, p99=True)
    _add(table, "a line on 500 dishes", taken, "500 dishes", LARGE_MS)
    _add(table, "1,000 characters of anything, the slowest", taken, "text", TEXT_MS, p99=True)
    _add(table, "the index of 500 dishes, built", taken, "built, 500 dishes", BUILT_MS)
    return [table]


def large_menu() -> Menu:
    """Make a menu of 500 dishes with 60 choices each."""
    given = yaml.safe_load((ROOT / "tests" / "menus" / "corner-table.yaml").read_text("utf-8"))
    names = [" ".join(words) for words in product(_FIRST, _SECOND, _KINDS)][:DISHES]
    toppings = [" ".join(words) for words in product(_SECOND, _FIRST)][:CHOICES]
    choices = dict.fromkeys(toppings, "1.00")
    dishes = [
        {"name": name.capitalize(), "price": "9.00", "options": ["toppings"]} for name in names
    ]
    given["options"] = {"toppings": {"choose": "0-10", "choices": choices}}
    given["sections"] = [{"name": "Everything", "dishes": dishes}]
    given["combos"], given["suggestions"] = [], []
    return read_menu(yaml.safe_dump(given), "large")


def _orders(menu: Menu, count: int) -> Sequence[str]:
    chance = random.Random(1)
    return [line_of(menu, chance.randrange)[0] for _ in range(count)]


def _add(
    table: Table, name: str, taken: Samples, what: str, budget: float, *, p99: bool = False
) -> None:
    spread = Spread.of(taken[processor(what)])
    measured = spread.p99 if p99 else spread.median
    table.add(
        name,
        ms(spread.median, 2),
        ms(spread.p99, 2),
        measured=round(measured * 1000, 2),
        budget=budget,
    )
