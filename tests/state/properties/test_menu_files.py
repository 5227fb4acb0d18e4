"""Any sound card is read as it is written; any other is refused with file and line, and in no other way."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from state.menu import Fault, Menu, MenuFaults, load_menu, menu_schema, read_menu
from tests.state.properties.cards import DECIMALS, Card, cards, menu_of
from tests.state.properties.effort import tried
from tests.state.properties.every_key import EVERY_KEY, places
from tests.state.properties.reckoning import minor

Place = tuple[str | int, ...]
FORMS: Any = menu_schema()["definitions"]

_odd: st.SearchStrategy[object] = st.sampled_from(
    [
        *(None, True, False, 0, -1, 1.5, 10**400, -(10**30), float("inf"), float("nan"), "", " "),
        *("no", "~", "1e999", "9" * 5000, "-0.01", "0x10", "1_000", "١٢", "12,50", "\u202e9.00"),
        *(
            "\ud7ff\U0001f355",
            "a\u0000b",
            "Margherita",
            "*anchor",
            "&a [*a]",
            "<<",
            "=",
            "!!python",
        ),
        *([], {}, [[]], [None], [{}], {"a": {"b": {}}}, {1: 2}, {None: None}, ["x"] * 300),
        *(
            "1.2.3",
            ".",
            "9..1",
            "2026-02-30",
            "25:00-26:00",
            "00:00-24:00",
            "99999999999-1",
            "0-99999",
            "1-0",
        ),
    ]
)
values = _odd | st.text(max_size=20) | st.integers() | st.floats() | st.binary(max_size=8)

BARE: Card = {
    "restaurant": {
        "id": "r",
        "name": "R",
        "currency": "USD",
        "timezone": "UTC",
        "hours": {"monday": "10:00-14:00"},
    },
    "sections": [{"name": "All", "dishes": [{"name": "Soup", "price": "1"}]}],
}
NAMED = ("facts", "rates", "sizes", "coupons", "options", "choices", "amounts", "extra", "price")
"""Where the keys are names that the house gives."""
NUMBERS = [
    *(place for place in places(EVERY_KEY) if place[-1] in ("fee", "total", "percent", "maximum")),
    *((*place, "small") for place in places(EVERY_KEY) if place[-2:] == ("ham", "price")),
]


def read(text: str) -> Menu | MenuFaults:
    """Read a menu; every fault of one that is refused names the file and a line of it."""
    try:
        return read_menu(text, "card.yaml")
    except MenuFaults as refusal:
        found = refusal
    assert found.faults
    for fault in found.faults:
        assert fault.source == "card.yaml"
        assert 1 <= fault.line <= len(text.splitlines()) + 1
        assert str(fault) == f"card.yaml:{fault.line}: {fault.message}"
    return found


def dumped(card: Any, **style: Any) -> str:
    return str(yaml.dump(card, Dumper=yaml.SafeDumper, **{"sort_keys": False, **style}))


def damaged(place: Place, change: Any) -> Card:
    """The card with every key, changed at one place."""
    card: Any = json.loads(json.dumps(EVERY_KEY))
    inner = card
    for step in place[:-1]:
        inner = inner[step]
    change(inner, place[-1])
    changed: Card = card
    return changed


@tried(100)
@given(st.sampled_from(NUMBERS), st.text("0129.,-+eE_% ", max_size=7))
def test_a_number_that_is_none_is_refused(place: Place, written: str) -> None:
    def put(inner: Any, step: Any) -> None:
        inner[step] = written

    found = read(dumped(damaged(place, put)))

    if not written.strip().removesuffix("%").strip().replace(".", "", 1).isdecimal():
        assert isinstance(found, MenuFaults)


@tried(50)
@given(st.integers(0, 10**6), st.integers(0, 5), st.sampled_from(sorted(DECIMALS)))
def test_a_price_is_kept_to_the_last_coin_or_refused(whole: int, part: int, currency: str) -> None:
    card: Any = json.loads(json.dumps(BARE))
    card["restaurant"]["currency"] = currency
    price = f"{whole}.{'0' * (part - 1)}5" if part else str(whole)
    card["sections"][0]["dishes"][0]["price"] = price

    found = read(dumped(card))

    if part > DECIMALS[currency]:
        assert isinstance(found, MenuFaults)
    else:
        assert isinstance(found, Menu)
        assert found.dishes[0].prices == {None: minor(card, price)}


@tried(20)
@given(cards(), st.booleans(), st.booleans(), st.sampled_from([None, "'", '"']))
def test_a_sound_card_is_read_as_it_is_written(
    card: Card, flow: bool, unicode: bool, quotes: str | None
) -> None:
    style = {"default_flow_style": flow, "allow_unicode": unicode, "default_style": quotes}
    menu = menu_of(card)

    # However it is laid out: the version is made of what it says.
    assert read_menu(dumped(card, **style), "again.yaml") == menu
    assert says(menu) == meant(card)


def says(menu: Menu) -> Any:
    """What a menu says, in the form of ``meant``."""
    return {
        "rates": dict(menu.restaurant.tax.rates),
        "tax": (menu.restaurant.tax.mode, menu.restaurant.tax.rounding),
        "tip": (menu.restaurant.tip.base, menu.restaurant.tip.maximum),
        "coupons": {
            code: (rule.percent, rule.amount, rule.minimum, rule.combinable)
            for code, rule in menu.coupons.items()
        },
        "choices": {
            (group.name, choice.name): dict(choice.prices)
            for group in menu.options.values()
            for choice in group.choices
        },
        "defaults": {group.name: group.default for group in menu.options.values()},
        "dishes": [
            (dish.name, dict(dish.prices), dish.contains, dish.options, dish.default_size, dish.tax)
            for dish in menu.dishes
        ],
        "extra": [
            {word: dict(costs) for word, costs in dish.extra.items()} for dish in menu.dishes
        ],
        "combos": [
            (combo.name, combo.price, [(part.choose, part.dishes) for part in combo.parts])
            for combo in menu.combos
        ],
    }


def meant(card: Card) -> Any:
    """The content of a menu file, read independently."""
    house = card["restaurant"]
    dishes = card["sections"][0]["dishes"]

    def prices(written: Any) -> Any:
        if isinstance(written, dict):
            return {size: minor(card, price) for size, price in written.items()}
        return {None: minor(card, written)}

    def rule(written: Card) -> Any:
        percent = Decimal(written["percent"]) if "percent" in written else None
        amount = minor(card, written["amount"]) if "amount" in written else None
        return percent, amount, minor(card, written["minimum"]), True

    return {
        "rates": {name: Decimal(rate) for name, rate in house["tax"]["rates"].items()},
        "tax": (house["tax"]["mode"], house["tax"]["rounding"]),
        "tip": (house["tip"]["base"], Decimal(house["tip"]["maximum"])),
        "coupons": {code: rule(written) for code, written in card["coupons"].items()},
        "choices": {
            (name, choice): prices(more["price"])
            for name, group in card["options"].items()
            for choice, more in group["choices"].items()
        },
        "defaults": {name: group.get("default") for name, group in card["options"].items()},
        "dishes": [
            (
                *(dish["name"], prices(dish["price"]), tuple(dish["with"]), tuple(dish["options"])),
                *(dish.get("default_size"), dish.get("tax")),
            )
            for dish in dishes
        ],
        "extra": [{word: prices(cost) for word, cost in dish["extra"].items()} for dish in dishes],
        "combos": [
            (
                *(combo["name"], minor(card, combo["price"])),
                [(part["choose"], tuple(part["from"])) for part in combo["parts"]],
            )
            for combo in card["combos"]
        ],
    }


def test_the_card_that_is_damaged_here_is_sound_and_has_every_key() -> None:
    assert isinstance(read(dumped(EVERY_KEY)), Menu)
    written = {str(step) for place in places(EVERY_KEY) for step in place}
    for kind, about in FORMS.items():
        assert set(about["properties"]) <= written, kind


@tried(150)
@given(st.sampled_from(places(EVERY_KEY)), values)
def test_any_value_anywhere_is_read_or_refused_with_its_line(place: Place, value: object) -> None:
    def put(inner: Any, step: Any) -> None:
        inner[step] = value

    read(dumped(damaged(place, put), allow_unicode=True))


@tried(40)
@given(st.sampled_from(places(EVERY_KEY)), st.text("abcxyzé -", min_size=1, max_size=9), values)
def test_an_unknown_key_is_refused_in_its_line(place: Place, name: str, value: object) -> None:
    key = f"zz{name}"
    assume(isinstance(place[-1], str) and not {*place[-2:-1]} & {*NAMED, "mozzarella"})

    def add(inner: Any, step: Any) -> None:
        inner[key] = value

    text = dumped(damaged(place, add), default_flow_style=False, allow_unicode=True)
    found = read(text)

    line = next(n for n, line in enumerate(text.splitlines(), 1) if line.lstrip(" -?'")[:2] == "zz")
    assert isinstance(found, MenuFaults)
    assert line in [fault.line for fault in found.faults if " has no key " in fault.message]


@tried(60)
@given(st.sampled_from(places(EVERY_KEY)))
def test_a_needed_key_that_is_missing_is_refused(place: Place) -> None:
    def drop(inner: Any, step: Any) -> None:
        del inner[step]

    found = read(dumped(damaged(place, drop)))

    kind = {1: "Menu", 2: str(place[0]).capitalize()}.get(len(place), "")
    if kind in ("Menu", "Restaurant") and place[-1] in FORMS[kind]["required"]:
        assert isinstance(found, MenuFaults)
        assert any(f'needs "{place[-1]}"' in fault.message for fault in found.faults)


@tried(20)
@given(cards(), st.data())
def test_two_dishes_with_one_name_are_refused_at_the_line_of_the_second(
    card: Card, data: st.DataObject
) -> None:
    dishes = card["sections"][0]["dishes"]
    twin = dict(data.draw(st.sampled_from(dishes)))
    twin["name"] = data.draw(st.sampled_from([str.upper, str.lower, str.title]))(twin["name"])
    dishes.append(twin)
    text = dumped(card, default_flow_style=False)

    found = read(text)

    assert isinstance(found, MenuFaults)
    line = max(n for n, line in enumerate(text.splitlines(), 1) if f"name: {twin['name']}" in line)
    assert line in [fault.line for fault in found.faults if "another" in fault.message]


@tried(90)
@given(st.data())
def test_a_text_that_was_torn_is_read_or_refused(data: st.DataObject) -> None:
    text = dumped(EVERY_KEY, allow_unicode=True)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 30)))
        signs = st.text(alphabet="[]{}:,-*&!|>'\"#%@`\n\t \u0085\u2028\ufeff~<=?a1.é", max_size=6)
        text = text[:start] + data.draw(signs | st.text(max_size=6)) + text[end:]

    read(text)


@tried(40)
@given(raw=st.binary(max_size=60), at=st.integers(0, 3000))
def test_a_file_of_any_bytes_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes, at: int
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "torn.yaml"
    whole = dumped(EVERY_KEY, allow_unicode=True).encode()
    path.write_bytes(whole[:at] + raw + whole[at + len(raw) :])
    refused: tuple[Fault, ...] = ()
    try:
        load_menu(path)
    except MenuFaults as refusal:
        refused = refusal.faults
    assert all(fault.source == str(path) and fault.line >= 1 for fault in refused)
