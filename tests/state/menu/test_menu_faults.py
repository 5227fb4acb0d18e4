import contextlib
from pathlib import Path

import pytest

from state.menu import Fault, MenuFaults, load_menu, read_menu

GOOD = """\
restaurant:
  id: r
  name: R
  currency: USD
  timezone: UTC
  hours:
    monday: ["10:00-14:00", "17:00-01:00"]
    tuesday: closed
  tax: {rates: {food: "7"}}
sizes:
  small: [little]
  large: [big]
coupons:
  TEN: {percent: 10}
options:
  crust:
    choose: 1
    default: thin
    choices: {thin: "0", pan: {price: {small: "1.00", large: "2.00"}}}
  toppings:
    choose: 0-3
    amounts: {extra: 2}
    choices:
      ham: "2.00"
      olives: {price: "1.00", aliases: [black ones]}
sections:
  - name: Pizza
    dishes:
      - name: Margherita
        price: {small: "9.00", large: "13.50"}
        with: [basil]
        extra: {basil: "0.50"}
        options: [crust, toppings]
  - name: Drinks
    dishes:
      - {name: Cola, price: "2.00"}
combos:
  - name: Deal
    price: "10.00"
    parts: [{from: [Margherita]}, {choose: 1, from: [Cola]}]
suggestions:
  - {after: Pizza, offer: Cola}
"""


def faults(text: str) -> tuple[Fault, ...]:
    with pytest.raises(MenuFaults) as caught:
        read_menu(text, "menu.yaml")
    return caught.value.faults


def test_the_menu_these_tests_break_is_sound() -> None:
    assert read_menu(GOOD, "menu.yaml").dishes


@pytest.mark.parametrize(
    ("written", "instead", "says"),
    [
        # Keys and kinds of values
        (
            "    dishes:\n      - name: Marg",
            "    dishs:\n      - name: Marg",
            'did you mean "dishes"',
        ),
        (
            "with: [basil]",
            "wiht: [basil]",
            'the dish "Margherita" has no key "wiht" - did you mean "with"',
        ),
        ("- name: Margherita", "- nme: Margherita", 'a dish needs "name"'),
        (
            '{name: Cola, price: "2.00"}',
            '{name: Cola, price: "2.00", description: Sweet, cold.}',
            'has no key "cold." - a text with a comma needs quotes',
        ),
        ('{name: Cola, price: "2.00"}', "{name: Cola}", 'the dish "Cola" needs "price"'),
        ('{name: Cola, price: "2.00"}', "Cola", "a dish has to be a mapping"),
        ("with: [basil]", "with: {basil: 1}", "with has to be a text or a list"),
        ("with: [basil]", "with: [[basil]]", "a value of with has to be a text"),
        ("with: [basil]", "with: [basil, Basil]", '"Basil" is twice in with'),
        ("name: R\n", 'name: ""\n', "name is empty"),
        ("name: R\n", "name:\n", 'restaurant needs "name"'),
        ('{name: Cola, price: "2.00"}', '{name: "...", price: "2.00"}', "no letter or digit"),
        (
            '{name: Cola, price: "2.00"}',
            '{name: Cola, price: "2.00", available: maybe}',
            "true or false",
        ),
        (
            '{name: Cola, price: "2.00"}',
            '{name: Cola, price: "2.00", minimum_age: 0}',
            "from 1 to 120",
        ),
        (
            '{name: Cola, price: "2.00"}',
            '{name: Cola, price: "2.00", minimum_age: old}',
            "whole number",
        ),
        # Money
        ('price: "2.00"}', 'price: "-2.00"}', "price cannot be negative"),
        ('price: "2.00"}', 'price: "2,00"}', "digits and a point only"),
        ('price: "2.00"}', "price: $2}", "digits and a point only"),
        ('price: "2.00"}', "price: 1e3}", "digits and a point only"),
        ('price: "2.00"}', "price: .inf}", "digits and a point only"),
        ('price: "2.00"}', 'price: "2.005"}', "USD has 2 decimals"),
        ('price: "2.00"}', "price: [2]}", "has to be an amount of money"),
        ('price: "2.00"}', "price: {}}", "price names no size"),
        ('{small: "9.00"', "{small: cheap", "price for small has to be an amount"),
        # The restaurant
        ("currency: USD", "currency: USX", 'no currency "USX" - did you mean "USD"'),
        ("currency: USD", "currency: JPY", "JPY has no decimals"),
        ("timezone: UTC", "timezone: Amerika/New_York", 'did you mean "America/New_York"'),
        ("timezone: UTC", "timezone: ../etc/passwd", "no time zone"),
        ("timezone: UTC", "timezone: America", "no time zone"),
        ("id: r\n", "id: a b\n", "id has to be a short name"),
        ("tuesday: closed", "tusday: closed", 'did you mean "tuesday"'),
        ("tuesday: closed", "tuesday: shut", "tuesday has to be hours"),
        ("tuesday: closed", "tuesday: 17:30", 'not "17:30"'),
        ("tuesday: closed", 'tuesday: "25:00-26:00"', "tuesday has to be hours"),
        ("tuesday: closed", 'tuesday: "10:60-11:00"', "tuesday has to be hours"),
        ("tuesday: closed", 'tuesday: ["10:00-12:00", "11:00-13:00"]', "overlaps"),
        ("tuesday: closed", 'tuesday: "00:30-12:00"', "but monday only closes at 01:00"),
        ('["10:00-14:00", "17:00-01:00"]', "closed", "hours never opens"),
        ('rates: {food: "7"}', 'rates: {food: "107"}', "from 0 to 100 percent"),
        ('rates: {food: "7"}', "rates: {food: much}", "from 0 to 100 percent"),
        ('rates: {food: "7"}', "mode: extra", "mode has to be added or included"),
        ("  tax:", "  closed_on: [2026-13-01]\n  tax:", "a date like 2026-12-25"),
        ("  tax:", "  closed_on: [tomorrow]\n  tax:", "a date like 2026-12-25"),
        ("  tax:", "  payment: [cheque]\n  tax:", "cash or card"),
        ("  tax:", "  service: {}\n  tax:", "pickup, delivery or both"),
        ("  tax:", "  service: {delivery: {fee: '-1'}}\n  tax:", "fee cannot be negative"),
        ("  tax:", "  service: {pickup: {lead_minutes: -5}}\n  tax:", "lead_minutes has to be"),
        ("  tax:", "  tip: {suggested: [40]}\n  tax:", "above the maximum, 30"),
        ("  tax:", "  tip: {maximum: 101}\n  tax:", "from 0 to 100 percent"),
        ("  tax:", "  limits: {quantity: 0}\n  tax:", "quantity has to be from 1"),
        ("  tax:", "  limits: {total: '0'}\n  tax:", "no order at all"),
        ("  tax:", "  facts: [parking]\n  tax:", "facts has to be a mapping"),
        # Sizes and coupons
        ("large: [big]", "large: [big, LITTLE]", 'both the size "small" and "large"'),
        ("{percent: 10}", "{percent: 10, amount: '1'}", 'either "percent" or "amount"'),
        ("{percent: 10}", "{minimum: '1'}", 'either "percent" or "amount"'),
        ("{percent: 10}", "{percent: 0}", "above 0"),
        ("{percent: 10}", "{amount: '0'}", "takes nothing off"),
        ("{percent: 10}", "{percent: 10, until: 2026-02-30}", "until has to be a date"),
        # Groups
        ("choose: 0-3", "choose: 3-0", "ends below its start"),
        ("choose: 0-3", "choose: some", "a number or a range"),
        ("choose: 0-3", "choose: 0", "no choice at all"),
        ("choose: 0-3", "choose: 3", "asks for 3 of only 2 choices"),
        ("default: thin", "default: thick", 'no choice of crust "thick" - did you mean "thin"'),
        ("amounts: {extra: 2}", "amounts: {no: 2}", '"no" cannot be an amount'),
        ("amounts: {extra: 2}", "amounts: {extra: -2}", "has to be a number"),
        ("amounts: {extra: 2}", "portions: [third]", "portions has to be half"),
        ("aliases: [black ones]", "aliases: [ham]", '"ham" means both "ham" and "olives"'),
        ('ham: "2.00"', "ham: [1]", "has to be a price or a mapping"),
        ('ham: "2.00"', 'ham: {prise: "2.00"}', 'did you mean "price"'),
        (
            '{small: "1.00", large: "2.00"}',
            '{small: "1.00"}',
            'no price for "large" of "Margherita"',
        ),
        (
            '{small: "1.00", large: "2.00"}',
            '{small: "1", large: "2", larg: "3"}',
            'did you mean "large"',
        ),
        # What names refer to
        ("options: [crust, toppings]", "options: [crust, topings]", 'did you mean "toppings"'),
        (
            "with: [basil]",
            "with: [basil]\n        tax: fod",
            'no tax rate "fod" - did you mean "food"',
        ),
        (
            "with: [basil]",
            "with: [basil]\n        default_size: huge",
            'no size of "Margherita" "huge"',
        ),
        ('price: "2.00"}', 'price: "2.00", default_size: can}', 'no size of "Cola" "can"'),
        ('extra: {basil: "0.50"}', 'extra: {basel: "0.50"}', 'did you mean "basil"'),
        ('extra: {basil: "0.50"}', 'extra: {basil: {small: "0.50"}}', 'no price for "large"'),
        ("from: [Margherita]", "from: [Margarita]", 'did you mean "Margherita"'),
        ("after: Pizza", "after: Piza", 'did you mean "Pizza"'),
        ("offer: Cola", "offer: Pizza", 'no dish or combo "Pizza"'),
        # Names that collide
        ("name: Cola", "name: margherita", 'another dish or combo "margherita" in line'),
        ("- name: Deal", "- name: Cola", 'another dish or combo "Cola"'),
        ("- name: Drinks", "- name: pizza", 'another section "pizza"'),
        ('ham: "2.00"', 'basil: "1"\n      extra basil: "2.00"', "needs another name"),
        (
            'ham: "2.00"',
            'ham: "2.00"\n      ham: "3.00"',
            '"ham" is here twice (before in line',
        ),
        ('ham: "2.00"', 'ham: "2.00"\n      Ham: "3.00"', '"Ham" is twice'),
        ("name: Cola,", "name: Cola, name: Cola,", '"name" is here twice'),
        # Whole parts
        (
            'choices: {thin: "0", pan: {price: {small: "1.00", large: "2.00"}}}',
            "choices: {}",
            'the group "crust" has no choices',
        ),
        (
            "parts: [{from: [Margherita]}, {choose: 1, from: [Cola]}]",
            "parts: []",
            'the combo "Deal" has no parts',
        ),
        ("from: [Margherita]", "from: []", "from names no dish"),
        ("from: [Margherita]", "choose: 0, from: [Margherita]", "choose has to be from 1"),
        (
            "    dishes:\n      - {name: Cola",
            "    dishes: []\n  - name: X\n    dishes:\n      - {name: Cola",
            "has no dishes",
        ),
    ],
)
def test_a_fault_has_its_line(written: str, instead: str, says: str) -> None:
    assert GOOD.count(written) >= 1
    at = GOOD.index(written)
    broken = GOOD[:at] + instead + GOOD[at + len(written) :]
    first = GOOD.count("\n", 0, at) + 1
    last = first + max(written.count("\n"), instead.count("\n"))

    found = [fault for fault in faults(broken) if says in fault.message]

    assert found, [str(fault) for fault in faults(broken)]
    # A fault between two parts may be noted at either of them; all others are where the change is.
    elsewhere = ("no price for", "needs another name", "decimals", "hours never", "only closes")
    if not any(word in found[0].message for word in elsewhere):
        assert first <= found[0].line <= last, str(found[0])


def test_all_faults_are_listed_at_once_in_the_order_of_the_file() -> None:
    broken = (
        GOOD.replace("currency: USD", "currency: XXQ")
        .replace("choose: 0-3", "choose: 9")
        .replace("options: [crust, toppings]", "options: [crost, toppings]")
        .replace('{name: Cola, price: "2.00"}', '{name: Cola, price: "-2", colour: brown}')
        .replace("offer: Cola", "offer: Kola")
    )

    found = faults(broken)

    assert [fault.line for fault in found] == sorted(fault.line for fault in found)
    assert len(found) == 6
    for says in ("currency", "asks for 9", '"crost"', "negative", '"colour"', '"Kola"'):
        assert any(says in fault.message for fault in found)


def test_a_fault_reads_as_file_line_and_message() -> None:
    fault = faults("restaurant: 5\nsections: []\n")[0]

    assert str(fault) == "menu.yaml:1: restaurant has to be a mapping of keys to values"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "empty"),
        ("# only a comment\n", 1, "empty"),
        ("~", 1, "empty"),
        ("- a list\n", 1, "mapping"),
        ("just words", 1, "mapping"),
        ("a: 1\n\tb: 2\n", 2, "tab"),
        ("a: b: c\n", 1, "colon"),
        ("a: [1, 2\n", 2, "not valid YAML"),
        ("a: 'open\n", 2, "not valid YAML"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("a: *missing\n", 1, "refers to nothing"),
        ("a: &x [*x]\n", 1, "contains itself"),
        ("a: &x {b: *x}\n", 1, "contains itself"),
        ("ok: 1\nbad: \x07\n", 2, "control character"),
        ("a: !!python/object/apply:os.system [ls]\n", 1, "needs"),
        ("? [a, b]\n: 1\n", 1, "plain text"),
        ("a: " + "[" * 200_000, 1, "levels deep"),
        ("a: " + "{b: " * 5_000, 1, "levels deep"),
        ("- " * 5_000, 1, "levels deep"),
        ("%YAML 9.9\n---\na: 1\n", 1, "not valid YAML"),
    ],
)
def test_a_file_that_is_no_menu_is_one_fault(text: str, line: int, says: str) -> None:
    found = faults(text)

    assert any(says in fault.message and fault.line == line for fault in found), found


def test_aliases_that_would_grow_without_end_are_refused() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )

    assert "too large" in faults(bomb)[-1].message


def test_a_file_that_cannot_be_read_is_a_fault_too(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("a: 1\nname: Café\n".encode("latin-1"))

    for path, line, says in (
        (tmp_path / "nowhere.yaml", 0, "no such file"),
        (tmp_path, 0, "directory"),
        (latin, 2, "UTF-8"),
        (latin / "below.yaml", 0, "cannot be read"),
        (Path("nul\0l"), 0, "cannot be read"),
    ):
        with pytest.raises(MenuFaults) as caught:
            load_menu(path)
        (fault,) = caught.value.faults
        assert (fault.source, fault.line) == (str(path), line)
        assert says in fault.message


def test_too_large_a_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_text("#" * 5_000_000)

    with pytest.raises(MenuFaults, match="too large"):
        load_menu(path)


def read_or_refuse(text: str) -> None:
    """Reads, or raises nothing but a list of faults."""
    with contextlib.suppress(MenuFaults):
        read_menu(text, "menu.yaml")


@pytest.mark.parametrize("cut", range(0, len(GOOD), 37))
def test_half_a_file_never_does_worse_than_be_refused(cut: int) -> None:
    read_or_refuse(GOOD[:cut])


def test_a_line_that_is_gone_never_does_worse_than_be_refused() -> None:
    lines = GOOD.splitlines(keepends=True)
    for gone in range(len(lines)):
        read_or_refuse("".join(lines[:gone] + lines[gone + 1 :]))


@pytest.mark.parametrize("value", ["5", "[1, {a: [b]}]", "{a: {b: [c]}}", '""', "~", "2026-01-01"])
def test_nonsense_behind_any_key_never_does_worse_than_be_refused(value: str) -> None:
    for number, line in enumerate(GOOD.splitlines()):
        key, colon, _ = line.partition(":")
        if colon:
            lines: list[str] = list(GOOD.splitlines())
            lines[number] = f"{key}: {value}"
            read_or_refuse("\n".join(lines))


TRANSFERS = {
    "+1 212 555 0101": "+12125550101",
    "+49 (30) 90-12": "+49309012",
    "sip:desk@example.com": "sip:desk@example.com",
    "sips:desk@example.com:5061;transport=tls": "sips:desk@example.com:5061;transport=tls",
    "sip:example.com": "sip:example.com",
}


@pytest.mark.parametrize("written", TRANSFERS)
def test_a_caller_can_be_transferred_to_a_number_or_a_sip_address(written: str) -> None:
    text = GOOD.replace("  name: R\n", f"  name: R\n  transfer_to: '{written}'\n")
    assert read_menu(text, "menu.yaml").restaurant.transfer_to == TRANSFERS[written]


@pytest.mark.parametrize(
    "written",
    [
        "212 555 0101",
        "+",
        "+0123456789",
        "+123",
        "+1234567890123456",
        "tel:+12125550101",
        "sip:",
        "sip:a b@c",
        "http://a",
        "desk@example.com",
    ],
)
def test_nothing_else_can_be_dialled(written: str) -> None:
    text = GOOD.replace("  name: R\n", f"  name: R\n  transfer_to: '{written}'\n")
    (fault,) = faults(text)
    assert fault.line == 4
    assert "transfer_to has to be a telephone number with its country" in fault.message


@pytest.mark.parametrize(
    ("written", "instead", "key"),
    [
        ("  crust:\n", "  crust:\n    name: base\n", "name"),
        ("{percent: 10}", "{percent: 10, code: ELEVEN}", "code"),
        ("{price: {small:", "{name: deep, price: {small:", "name"),
        ('name: Cola, price: "2.00"', 'name: Cola, section: Wine, price: "2.00"', "section"),
        ('name: Cola, price: "2.00"', 'name: Cola, price: "2.00", prices: "3.00"', "prices"),
        ("with: [basil]", "contains: [basil]", "contains"),
        ("restaurant:\n", "version: a1b2\nrestaurant:\n", "version"),
    ],
)
def test_a_field_that_is_no_key_cannot_be_written(written: str, instead: str, key: str) -> None:
    broken = GOOD.replace(written, instead, 1)

    at = broken.index(instead) + instead.index(f"{key}:")
    found = [fault for fault in faults(broken) if f'has no key "{key}"' in fault.message]

    assert [fault.line for fault in found] == [broken.count("\n", 0, at) + 1]


def test_valid_values_of_a_faulty_part_are_checked_against_the_rest() -> None:
    broken = GOOD.replace('{small: "9.00"', '{small: "nine"').replace(
        '{small: "1.00", large: "2.00"}', '{small: "1.00"}'
    )

    found = [fault.message for fault in faults(broken)]

    assert len(found) == 2
    assert 'price for small has to be an amount of money like "9.50"' in found[0] + found[1]
    assert '"pan" of crust has no price for "large" of "Margherita"' in found[0] + found[1]


def test_a_list_is_not_called_empty_because_its_entries_are_faulty() -> None:
    broken = GOOD.replace('{name: Cola, price: "2.00"}', "Cola").replace(
        "from: [Cola]", "from: Pizza"
    )
    at = broken.index("- Cola")

    (fault,) = faults(broken.replace("offer: Cola", "offer: Deal"))

    assert fault.line == broken.count("\n", 0, at) + 1
    assert fault.message == "a dish has to be a mapping of keys to values"
