from datetime import date, time
from decimal import Decimal
from pathlib import Path

import pytest

from state.menu import Menu, Served, Span, load_menu, read_menu

MENUS = Path(__file__).parents[2] / "menus"


@pytest.fixture(scope="module")
def corner() -> Menu:
    return load_menu(MENUS / "corner-table.yaml")


def menu(dishes: str = "{name: Soup, price: '4'}", top: str = "", house: str = "") -> Menu:
    text = (
        "restaurant:\n  id: r\n  name: R\n  currency: USD\n  timezone: UTC\n"
        f"  hours: {{monday: '10:00-20:00'}}\n{house}{top}"
        f"sections:\n  - name: Food\n    dishes: [{dishes}]\n"
    )
    return read_menu(text, "here")


@pytest.mark.parametrize("path", sorted(MENUS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_menu_among_the_tests_is_sound(path: Path) -> None:
    assert load_menu(path).dishes


def test_the_restaurant_is_read(corner: Menu) -> None:
    house = corner.restaurant

    assert (house.id, house.name, house.currency) == ("corner-table", "The Corner Table", "USD")
    assert house.zone.key == "America/New_York"
    assert house.hours["friday"][1] == Span(start=time(17, 30), end=time(1, 0))
    assert house.hours["monday"] == ()
    assert house.closed_on == (date(2026, 12, 25),)
    assert house.facts["parking"] == "Behind the house, free after six."
    assert house.pickup is not None
    assert house.pickup.lead_minutes == 20
    assert house.delivery is not None
    assert (house.delivery.fee, house.delivery.minimum) == (350, 2000)
    assert house.delivery.postcodes == ("10012", "10014")
    assert house.payment == ("cash", "card")
    assert dict(house.tax.rates) == {"food": Decimal("8.875"), "alcohol": Decimal(10)}
    assert house.tip.suggested == (Decimal(10), Decimal(15), Decimal(20))
    assert (house.limits.quantity, house.limits.lines, house.limits.total) == (20, 40, 40000)


def test_coupons_and_size_words_are_read(corner: Menu) -> None:
    assert corner.coupons["WELCOME10"].percent == 10
    assert corner.coupons["WELCOME10"].until == date(2026, 12, 31)
    assert corner.coupons["TWOOFF"].amount == 200
    assert corner.sizes["large"] == ("big",)


def test_groups_are_read_with_their_numbers_prices_and_amounts(corner: Menu) -> None:
    crust, toppings, shots = (corner.options[name] for name in ("crust", "toppings", "shots"))

    assert (crust.least, crust.most, crust.default) == (1, 1, "thin")
    assert (toppings.least, toppings.most, toppings.halves) == (0, 10, True)
    assert toppings.amounts == {"light": 1, "extra": 2}
    assert [choice.name for choice in toppings.choices] == ["mushrooms", "ham", "onions"]
    assert toppings.choices[2].price("large") == 150
    assert toppings.choices[1].price("large") == 200
    assert shots.counted


def test_a_dish_is_read_whole(corner: Menu) -> None:
    dish = corner.dish("margherita")

    assert dish is not None
    assert (dish.name, dish.section, dish.aliases) == (
        "Margherita",
        "Pizza",
        ("margarita", "plain pizza"),
    )
    assert dish.prices == {"small": 900, "large": 1350}
    assert dish.contains == ("tomato", "mozzarella", "basil")
    assert dish.extra == {"mozzarella": {None: 150}}
    assert (dish.options, dish.diets, dish.tax) == (("crust", "toppings"), ("vegetarian",), "food")
    assert dish.size_needed


def test_availability_minimum_age_and_serving_hours_are_read(corner: Menu) -> None:
    lemonade, red = corner.dish("Lemonade"), corner.dish("House red")
    lunch = corner.section("Lunch")

    assert lemonade is not None
    assert not lemonade.available
    assert red is not None
    assert red.minimum_age == 21
    assert lunch is not None
    assert lunch.served == (
        Served(
            days=("tuesday", "wednesday", "thursday", "friday"),
            spans=(Span(start=time(11, 30), end=time(14, 30)),),
        ),
    )


def test_combos_and_suggestions_are_read(corner: Menu) -> None:
    combo = corner.combo("lunch FOR two")

    assert combo is not None
    assert combo.price == 2400
    assert [(part.choose, part.dishes) for part in combo.parts] == [
        (2, ("Margherita", "Soup of the day")),
        (2, ("Cola", "Lemonade")),
    ]
    assert [(s.after, s.offer) for s in corner.suggestions] == [("Pizza", "Tiramisu")]


def test_a_section_in_a_combo_means_all_its_dishes() -> None:
    dishes = "{name: Soup, price: '4'}, {name: Stew, price: '6'}"
    combos = "combos: [{name: Two, price: '9', parts: [{choose: 2, from: food}]}]\n"

    assert menu(dishes, top=combos).combos[0].parts[0].dishes == ("Soup", "Stew")


def test_a_restaurant_without_a_service_key_offers_pickup() -> None:
    house = menu().restaurant

    assert house.pickup is not None
    assert house.pickup.lead_minutes == 20
    assert house.delivery is None


@pytest.mark.parametrize(
    ("written", "cents"),
    [
        ("9.10", 910),
        ("'9.1'", 910),
        ("9", 900),
        ("0.07", 7),
        ("1234567.89", 123456789),
        ("010.00", 1000),
    ],
)
def test_money_is_exactly_what_is_written(written: str, cents: int) -> None:
    assert menu(f"{{name: Soup, price: {written}}}").dishes[0].prices == {None: cents}


def test_yen_have_no_smaller_unit() -> None:
    sushi = load_menu(MENUS / "sushi.yaml")
    dish = sushi.dish("Nigiri set")

    assert dish is not None
    assert dish.prices["premium"] == 3900


def test_words_that_yaml_takes_for_something_else_are_still_words() -> None:
    read = menu(
        "{name: no, aliases: [on, 12, 1.50, ~x], price: '4', description: yes}",
        top="sizes: {on: off}\n",
        house="  phone: 2125550142\n",
    )

    assert read.dishes[0].name == "no"
    assert read.dishes[0].aliases == ("on", "12", "1.50", "~x")
    assert read.dishes[0].description == "yes"
    assert read.sizes == {"on": ("off",)}
    assert read.restaurant.phone == "2125550142"


@pytest.mark.parametrize(("word", "available"), [("yes", True), ("off", False), ("False", False)])
def test_yes_and_no_may_be_written_as_people_do(word: str, available: bool) -> None:
    assert menu(f"{{name: Soup, price: '4', available: {word}}}").dishes[0].available is available


def test_a_list_of_one_needs_no_brackets() -> None:
    dish = menu("{name: Soup, price: '4', aliases: broth, with: peas, allergens: celery}").dishes[0]

    assert (dish.aliases, dish.contains, dish.allergens) == (("broth",), ("peas",), ("celery",))


def test_a_name_refers_to_what_it_means_in_any_case() -> None:
    read = menu(
        "{name: Soup, price: {Small: '4', Large: '5'}, default_size: small, options: ROLL, tax: FOOD}",
        top="options: {Roll: {choose: 1, default: RYE, choices: {Rye: '0'}}}\n",
        house="  tax: {rates: {Food: '7'}}\n",
    )

    dish = read.dishes[0]
    assert (dish.default_size, dish.options, dish.tax) == ("Small", ("Roll",), "Food")
    assert read.options["Roll"].default == "Rye"


def test_a_group_that_says_no_number_allows_all_of_its_choices_or_its_one_default() -> None:
    read = menu(
        "{name: Soup, price: '4', options: [herbs, roll]}",
        top="options: {herbs: {choices: {dill: , chives: '0.20'}}, roll: {default: rye, choices: {rye: , corn: }}}\n",
    )

    assert (read.options["herbs"].least, read.options["herbs"].most) == (0, 2)
    assert (read.options["roll"].least, read.options["roll"].most) == (1, 1)
    assert read.options["herbs"].choices[0].price(None) == 0


def test_anchors_and_merges_save_writing() -> None:
    text = (
        "{name: Soup, price: &four '4', <<: &veg {diets: vegan, allergens: []}}, "
        "{<<: *veg, name: Stew, price: *four, diets: vegetarian}"
    )
    soup, stew = menu(text).dishes

    assert (soup.diets, stew.diets, stew.prices) == (("vegan",), ("vegetarian",), {None: 400})


def test_a_byte_order_mark_and_windows_lines_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "menu.yaml"
    text = (MENUS / "corner-table.yaml").read_text(encoding="utf-8")
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())

    assert load_menu(path).version == load_menu(MENUS / "corner-table.yaml").version


def test_the_version_changes_with_the_content_and_with_nothing_else() -> None:
    text = (MENUS / "corner-table.yaml").read_text(encoding="utf-8")
    version = read_menu(text, "a").version

    assert read_menu("# a comment\n" + text, "b").version == version
    assert read_menu(text.replace('"4.20"', '"4.30"'), "a").version != version
    assert len(version) == 12


def test_nothing_served_says_always_and_no_hours_mean_all_day(corner: Menu) -> None:
    read = menu("{name: Soup, price: '4', served: {days: friday}}")

    assert read.dishes[0].served == (
        Served(days=("friday",), spans=(Span(start=time(0), end=time(0)),)),
    )
    assert menu().dishes[0].served == ()


@pytest.mark.parametrize(
    ("written", "cents"), [("11", 1100), ("2.5", 250), ("0.1", 10), ("9.10", 910), ("'9.50'", 950)]
)
def test_money_needs_no_quotes_and_is_read_as_it_is_written(written: str, cents: int) -> None:
    read = menu(f"{{name: Soup, price: {written}}}", house="  tax: {rates: {food: 7%}}\n")

    assert read.dishes[0].prices == {None: cents}
    assert dict(read.restaurant.tax.rates) == {"food": Decimal(7)}
