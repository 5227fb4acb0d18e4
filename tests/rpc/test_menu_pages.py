"""The menu in pages: complete, within the size limit, and every entry can be ordered as sent."""

from pathlib import Path
from typing import Any

import pytest

from rpc.menu_pages import COMBOS, LARGEST_PAGE, ONLY_SIZE
from state.menu import Menu, load_menu, read_menu
from tests.rpc.counter import Counter
from tests.state.bistro import CARD, Bistro, card

ROOT = Path(__file__).parents[2]
MENUS = [*sorted((ROOT / "tests/menus").glob("*.yaml")), ROOT / "bella_vista/menu.yaml"]


async def pages(counter: Counter, section: str | None = None) -> list[dict[str, Any]]:
    """Everything of a section, or the names of all sections, page by page."""
    found: list[dict[str, Any]] = []
    cursor = None
    while not found or cursor is not None:
        text = await counter.text("get_menu", {"section": section, "cursor": cursor})
        assert len(text.encode()) < LARGEST_PAGE
        page = await counter.call("get_menu", {"section": section, "cursor": cursor})
        assert page["menu_version"] == counter.bistro.menu.version
        found.append(page)
        cursor = page["cursor"]
    return found


async def dishes(counter: Counter, section: str) -> list[dict[str, Any]]:
    """All dishes of a section, those in pieces put together."""
    found: list[dict[str, Any]] = []
    for page in await pages(counter, section):
        assert page["section"]["name"] == section
        for dish in page["section"]["dishes"]:
            if not dish["continued"]:
                found.append(dish)
                continue
            assert found[-1]["name"] == dish["name"]
            for option in dish["options"]:
                if option["name"] == found[-1]["options"][-1]["name"]:
                    found[-1]["options"][-1]["choices"] += option["choices"]
                else:
                    found[-1]["options"].append(option)
    return found


async def names(counter: Counter) -> list[str]:
    return [name for page in await pages(counter) for name in page["sections"]]


@pytest.mark.parametrize("file", MENUS, ids=lambda file: file.stem)
async def test_everything_on_a_menu_is_on_its_pages(file: Path) -> None:
    menu = load_menu(file)
    counter = Counter(menu)

    sections = await names(counter)

    assert sections == [section.name for section in menu.sections] + [COMBOS] * bool(menu.combos)
    for section in menu.sections:
        shown = await dishes(counter, section.name)
        for dish, seen in zip(section.dishes, shown, strict=True):
            assert (seen["name"], seen["available"]) == (dish.name, dish.available)
            assert seen["sizes"] == {size or ONLY_SIZE: cost for size, cost in dish.prices.items()}
            assert (seen["with"], seen["allergens"]) == ([*dish.contains], [*dish.allergens])
            for group, option in zip(menu.groups(dish), seen["options"], strict=True):
                assert (option["name"], option["min"], option["max"]) == (
                    group.name,
                    group.least,
                    group.most,
                )
                for choice, chosen in zip(group.choices, option["choices"], strict=True):
                    assert chosen["name"] == choice.name
                    assert chosen["prices"] == {
                        size or ONLY_SIZE: choice.price(size) for size in dish.prices
                    }


@pytest.mark.parametrize(
    ("menu", "methods", "delivers", "tips", "base"),
    [
        ("kebab", ["cash"], True, [5.0, 10.0], "total"),
        ("coffee-bar", ["card"], False, [10.0, 15.0, 20.0], "subtotal"),
    ],
)
async def test_the_house_tells_how_it_is_paid_and_how_food_is_handed_over(
    menu: str, methods: list[str], delivers: bool, tips: list[float], base: str
) -> None:
    house = (await pages(Counter(load_menu(ROOT / f"tests/menus/{menu}.yaml"))))[0]["house"]

    assert (house["payment_methods"], house["tips"], house["tip_base"]) == (methods, tips, base)
    assert (house["lead_minutes"]["delivery"] is not None) == delivers


@pytest.mark.parametrize("file", MENUS, ids=lambda file: file.stem)
async def test_the_house_tells_where_it_is_and_its_number(file: Path) -> None:
    menu = load_menu(file)
    house = (await pages(Counter(menu)))[0]["house"]

    assert (house["phone"], house["address"]) == (menu.restaurant.phone, menu.restaurant.address)


@pytest.mark.parametrize("file", MENUS, ids=lambda file: file.stem)
async def test_a_dish_can_be_ordered_by_what_its_page_says(file: Path) -> None:
    menu = load_menu(file)
    bistro = Bistro(menu)
    ordered = 0
    for section in menu.sections:
        for dish in await dishes(Counter(menu), section.name):
            needed = [
                choice["name"]
                for option in dish["options"]
                if option["default"] is None
                for choice in [one for one in option["choices"] if one["available"]][
                    : option["min"]
                ]
            ]
            if not dish["available"]:
                continue
            for size, price in dish["sizes"].items():
                counter = Counter(menu)
                data = {"name": dish["name"], "size": size, "modifications": needed}
                made = await counter.state("create", "item", data=data)
                if made["status"] == "error":
                    assert made["error"]["reason"] == "not_served_now", (data, made)
                    continue
                more = sum(
                    choice["prices"][size]
                    for option in dish["options"]
                    for choice in option["choices"]
                    if choice["name"] in needed and option["default"] is None
                )
                assert counter.order.order_items[0].base_price == price
                assert counter.order.order_items[0].unit_price <= price + more
                ordered += 1
    assert ordered
    assert bistro.menu is menu


async def test_a_combo_can_be_ordered_by_what_its_page_says() -> None:
    counter = Counter()
    (combo, lunch) = await dishes(counter, COMBOS)

    assert combo["parts"] == [
        {"choose": 2, "dishes": ["Margherita", "Funghi"]},
        {"choose": 2, "dishes": ["House red"]},
    ]
    assert (combo["sizes"], combo["minimum_age"]) == ({ONLY_SIZE: 2400}, 21)
    assert combo["allergens"] == ["gluten", "milk"]
    assert lunch["minimum_age"] is None
    parts = [{"name": combo["parts"][0]["dishes"][0], "quantity": 2}]
    data = {"name": combo["name"], "size": ONLY_SIZE, "parts": parts}
    made = await counter.state("create", "item", data=data)
    await counter.state("update", "item", made["object_id"], {**data, "quantity": 2})
    assert counter.order.order_items[0].line_total == 4800


async def test_sold_out_dishes_are_marked() -> None:
    calzone = (await dishes(Counter(), "Pizza"))[2]

    assert (calzone["name"], calzone["available"]) == ("Calzone", False)


async def test_a_known_menu_is_not_sent_again() -> None:
    counter = Counter()
    version = counter.bistro.menu.version

    assert await counter.call("get_menu", {"version": version}) == {
        "menu_version": version,
        "unchanged": True,
    }
    assert "sections" in await counter.call("get_menu", {"version": "another"})


@pytest.mark.parametrize("section", ["pizza", "PIZZA", "Pizza"])
async def test_a_section_is_found_in_any_case(section: str) -> None:
    reply = await Counter().call("get_menu", {"section": section})

    assert reply["section"]["name"] == "Pizza"


async def test_there_is_no_such_section() -> None:
    counter = Counter()

    refused = await counter.refused("get_menu", {"section": "Sushi"})

    assert (refused["code"], refused["type"]) == (4004, "not_found")
    assert refused["facts"]["possible"] == await names(counter)
    nothing = Counter(card(CARD.partition("combos:")[0]))
    assert (await nothing.refused("get_menu", {"section": COMBOS}))["code"] == 4004
    assert COMBOS not in await names(nothing)


@pytest.mark.parametrize(
    "cursor",
    ["", "1", "x", "VERSION.", "VERSION.99", "VERSION.-1", "old.0", "VERSION.²", "VERSION.x"],
)
async def test_a_cursor_of_no_page_is_refused(cursor: str) -> None:
    counter = Counter()
    cursor = cursor.replace("VERSION", counter.bistro.menu.version)

    refused = await counter.refused("get_menu", {"section": "Pizza", "cursor": cursor})

    assert (refused["code"], refused["facts"]["field"]) == (4001, "cursor")


@pytest.mark.parametrize("field", ["section", "cursor", "version"])
@pytest.mark.parametrize("value", [5, "x" * 300, ["Pizza"]])
async def test_requests_are_validated(field: str, value: Any) -> None:
    refused = await Counter().refused("get_menu", {field: value})

    assert (refused["code"], refused["facts"]["field"]) == (4001, field)


def large_menu(dish_count: int, choices: int) -> Menu:
    toppings = ", ".join(f'topping {n} of the house: "1.00"' for n in range(choices))
    lines = [
        CARD.partition("options:")[0],
        f"options:\n  everything: {{choose: 0-9, choices: {{{toppings}}}}}\nsections:\n  - name: All\n    dishes:",
    ]
    for number in range(dish_count):
        lines.append(
            f'      - {{name: Dish {number}, description: "{"é" * 150}", price: {{small: "1.00",'
            f' large: "2.00"}}, options: [everything], allergens: [milk]}}'
        )
    lines.append('  - name: Combos\n    dishes: [{name: Water, price: "1.00"}]')
    lines.append(
        'combos:\n  - {name: Two, price: "3.00", parts: [{choose: 1, from: [Dish 0]},'
        " {choose: 1, from: [Water]}]}"
    )
    return read_menu("\n".join(lines), "large.yaml")


async def test_three_hundred_dishes_come_in_pages() -> None:
    counter = Counter(large_menu(300, 12))

    shown = await dishes(counter, "All")

    assert [dish["name"] for dish in shown] == [f"Dish {number}" for number in range(300)]
    assert len(await pages(counter, "All")) > 10


async def test_a_dish_with_more_choices_than_a_page_holds_comes_in_pieces() -> None:
    counter = Counter(large_menu(2, 400))

    shown = await dishes(counter, "All")

    assert [len(dish["options"][0]["choices"]) for dish in shown] == [400, 400]
    assert [dish["name"] for dish in shown] == ["Dish 0", "Dish 1"]


async def test_combos_are_found_beside_a_section_of_their_name() -> None:
    counter = Counter(large_menu(1, 1))
    shown = await names(counter)

    assert shown == ["All", "Combos", "Combos for one price"]
    assert [dish["name"] for dish in await dishes(counter, shown[1])] == ["Water"]
    assert [dish["name"] for dish in await dishes(counter, shown[2])] == ["Two"]
