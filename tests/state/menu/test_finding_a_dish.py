from pathlib import Path

import pytest

from state.errors import Ambiguous, ChoiceMissing, ChoiceNotPossible, NotOnMenu
from state.menu import Combo, Dish, Menu, load_menu, read_menu

ROOT = Path(__file__).parents[3]
CORNER = load_menu(ROOT / "tests/menus/corner-table.yaml")
KEBAB = load_menu(ROOT / "tests/menus/kebab.yaml")
SUSHI = load_menu(ROOT / "tests/menus/sushi.yaml")
COFFEE = load_menu(ROOT / "tests/menus/coffee-bar.yaml")
CURRY = load_menu(ROOT / "tests/menus/curry-house.yaml")
TACOS = load_menu(ROOT / "tests/menus/taqueria.yaml")
BELLA = load_menu(ROOT / "bella_vista/menu.yaml")


def menu(*sections: str) -> Menu:
    return read_menu(
        "restaurant: {id: r, name: R, currency: USD, timezone: UTC, hours: {monday: '10:00-20:00'}}\n"
        f"sections: [{', '.join(sections)}]\n",
        "here",
    )


def everything(card: Menu) -> list[Dish | Combo]:
    return [*card.dishes, *card.combos]


def meant(card: Menu, words: str) -> list[str]:
    try:
        return [card.item(words).name]
    except Ambiguous as error:
        return [str(name) for name in error.facts["possible"]]  # type: ignore[union-attr]


def dish(card: Menu, name: str) -> Dish:
    found = card.dish(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("card", "said", "meant"),
    [
        (CORNER, "Margherita", "Margherita"),
        (CORNER, "MARGHERITAS", "Margherita"),
        (CORNER, "a margherita pizza please", "Margherita"),
        (CORNER, "margarita", "Margherita"),
        (CORNER, "Margaritta", "Margherita"),
        (CORNER, "plain pizzas", "Margherita"),
        (CORNER, "coke", "Cola"),
        (CORNER, "Coca-Cola", "Cola"),
        (CORNER, "cocacola", "Cola"),
        (CORNER, "tiramisù", "Tiramisu"),
        (CORNER, "tira misu", "Tiramisu"),
        (CORNER, "tiramasu", "Tiramisu"),
        (CORNER, "the soup", "Soup of the day"),
        (CORNER, "lemmonade", "Lemonade"),
        (CORNER, "a lunch for 2", "Lunch for two"),
        (CORNER, "dessert", "Tiramisu"),
        (KEBAB, "doner", "Döner kebab"),
        (KEBAB, "Doner Kebap", "Döner kebab"),
        (KEBAB, "vegetarian doner", "Veggie döner"),
        (KEBAB, "cay", "Tea"),
        (KEBAB, "uludag", "Uludağ Gazoz"),
        (SUSHI, "salmon", "Salmon bowl"),
        (SUSHI, "kappa-maki", "Cucumber roll"),
        (SUSHI, "tea", "Green tea"),
        (COFFEE, "cafe latte", "Caffè latte"),
        (COFFEE, "capuccino", "Cappuccino"),
        (CURRY, "popadoms", "Poppadom"),
        (CURRY, "two for a banquet", "Banquet for two"),
        (TACOS, "al pastor", "Taco al pastor"),
        (TACOS, "fish tacos", "Taco de pescado"),
        (BELLA, "penne arrabbiata", "Penne all'arrabbiata"),
        (BELLA, "4 cheese pizza", "Quattro formaggi"),
        (BELLA, "aubergine parmigiana", "Eggplant parmigiana"),
        (BELLA, "garlic bred", "Garlic bread"),
        (BELLA, "house red wine", "House red"),
        (BELLA, "spagetti carbonarra", "Spaghetti carbonara"),
        (BELLA, "diet coke", "Diet cola"),
    ],
)
def test_a_guest_need_not_say_it_as_it_is_written(card: Menu, said: str, meant: str) -> None:
    assert card.item(said).name == meant


@pytest.mark.parametrize("card", [CORNER, KEBAB, SUSHI, COFFEE, CURRY, TACOS, BELLA])
def test_every_name_on_the_card_means_itself(card: Menu) -> None:
    for item in everything(card):
        assert card.item(item.name) is item
        assert card.item(f" the {item.name.upper()}, please ").name == item.name


@pytest.mark.parametrize("card", [CORNER, KEBAB, SUSHI, COFFEE, CURRY, TACOS, BELLA])
def test_every_alias_means_its_dish_or_makes_the_voice_ask(card: Menu) -> None:
    for item in everything(card):
        for alias in item.aliases:
            assert item.name in meant(card, alias)


@pytest.mark.parametrize("said", ["pizza", "Pizzas", "a pizza"])
def test_a_section_s_word_that_is_also_a_dish_s_alias_means_the_dish(said: str) -> None:
    assert CORNER.item(said).name == "Pizza your way"


def test_a_section_s_word_asks_which_of_its_dishes() -> None:
    with pytest.raises(Ambiguous) as caught:
        CURRY.item("a curry")

    assert caught.value.facts["possible"] == [
        *("Tikka masala", "Korma", "Madras", "Balti", "Chana masala", "Saag paneer"),
    ]


def test_a_name_goes_before_another_dish_s_alias() -> None:
    card = menu(
        "{name: S, dishes: [{name: Cola, price: '1'}, {name: Pepsi, aliases: [cola], price: '1'}]}"
    )

    assert card.item("cola").name == "Cola"


def test_an_alias_of_several_dishes_asks_which() -> None:
    with pytest.raises(Ambiguous) as caught:
        BELLA.item("house wine")

    assert caught.value.facts == {"words": "house wine", "possible": ["House red", "House white"]}


@pytest.mark.parametrize(
    ("card", "said", "some"),
    [
        (BELLA, "chicken", {"Chicken parmigiana", "Chicken piccata"}),
        (BELLA, "spaghetti", {"Spaghetti pomodoro", "Kids spaghetti"}),
        (BELLA, "sparkling", {"Sparkling water", "Prosecco"}),
        (BELLA, "beer", {"Peroni", "Brooklyn IPA", "Alcohol-free beer"}),
        (BELLA, "salad", {"Caesar salad", "House salad"}),
        (COFFEE, "bagel", {"Sesame bagel", "Everything bagel"}),
        (TACOS, "taco", {"Taco al pastor", "Taco de carnitas"}),
        (SUSHI, "a roll", {"California roll", "Dragon roll"}),
    ],
)
def test_a_part_of_several_names_asks_which(card: Menu, said: str, some: set[str]) -> None:
    with pytest.raises(Ambiguous) as caught:
        card.item(said)

    assert some <= set(caught.value.facts["possible"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "said", ["unicorn pizza", "large margherita", "margherita with ham", "margherita no basil"]
)
def test_words_that_say_more_than_a_name_are_not_taken_for_it(said: str) -> None:
    with pytest.raises(NotOnMenu) as caught:
        CORNER.item(said)

    assert caught.value.facts["words"] == said
    assert caught.value.facts["near"]


@pytest.mark.parametrize(
    "said", ["pad thai", "burger", "pepper", "ham", "", "   ", "!!!", "🍕", "a", "the", "x" * 5000]
)
def test_dishes_that_are_not_on_the_menu_are_never_guessed(said: str) -> None:
    with pytest.raises(NotOnMenu):
        CORNER.item(said)


def test_a_content_of_a_dish_is_not_the_dish() -> None:
    card = menu("{name: Sweets, dishes: [{name: Coffee ice cream, price: '4'}]}")

    assert card.item("ice cream").name == "Coffee ice cream"
    with pytest.raises(NotOnMenu) as caught:
        card.item("a coffee")
    assert caught.value.facts["near"] == ["Coffee ice cream"]


def test_similar_dishes_are_named() -> None:
    with pytest.raises(NotOnMenu) as caught:
        BELLA.item("marg")

    assert "Margherita" in caught.value.facts["near"]  # type: ignore[operator]


def test_sold_out_dishes_are_found_so_that_the_voice_can_say_so() -> None:
    assert not CORNER.item("lemonade").available


@pytest.mark.parametrize(
    ("card", "said", "first"),
    [
        (CORNER, "desserts", "Desserts"),
        (CORNER, "what is vegetarian?", "Margherita"),
        (CORNER, "something with basil", "Margherita"),
        (BELLA, "vegan pizza", "Marinara"),
        (BELLA, "capers", "Beef carpaccio"),
        (BELLA, "tiramsu", "Tiramisu"),
        (BELLA, "gluten free dessert", "Panna cotta"),
        (KEBAB, "halloumi", None),
    ],
)
def test_the_menu_is_searched_by_what_guests_care_about(
    card: Menu, said: str, first: str | None
) -> None:
    found = card.find(said)

    assert (found[0].name if found else None) == first


def test_a_search_gives_no_more_than_was_asked_for() -> None:
    assert len(BELLA.find("pizza", 3)) == 3
    assert BELLA.find("pizza", 0) == ()
    assert BELLA.find("what do you have") == ()


@pytest.mark.parametrize(
    ("card", "name", "said", "size"),
    [
        (CORNER, "Margherita", "large", "large"),
        (CORNER, "Margherita", "BIG", "large"),
        (CORNER, "Margherita", "the large size", "large"),
        (CORNER, "Margherita", "smal", "small"),
        (CORNER, "Cola", "bottles", "bottle"),
        (CORNER, "Cola", None, "can"),
        (CORNER, "Cola", "", "can"),
        (CORNER, "Cola", "regular", "can"),
        (CORNER, "Tiramisu", None, None),
        (CORNER, "Tiramisu", "regular", None),
        (COFFEE, "Caffè latte", "12-ounce", "tall"),
        (COFFEE, "Caffè latte", "sixteen ounces", "grande"),
        (COFFEE, "Espresso", None, "short"),
        (KEBAB, "Baklava", "five", "five pieces"),
        (KEBAB, "Baklava", "2 pieces", "two pieces"),
        (CURRY, "Cobra", "half", "half pint"),
        (CURRY, "Cobra", "pint", "pint"),
        (SUSHI, "Sashimi set", "deluxe", "premium"),
        (TACOS, "Horchata", "normal", None),
    ],
)
def test_sizes_are_understood(card: Menu, name: str, said: str | None, size: str | None) -> None:
    assert card.size(dish(card, name), said) == size


def test_a_size_that_has_to_be_named_is_asked_for() -> None:
    with pytest.raises(ChoiceMissing) as caught:
        CORNER.size(dish(CORNER, "Margherita"), None)

    assert caught.value.facts == {
        "name": "Margherita",
        "group": "size",
        "possible": ["small", "large"],
    }


@pytest.mark.parametrize(
    ("name", "said"), [("Margherita", "gigantic"), ("Tiramisu", "large"), ("Margherita", "regular")]
)
def test_a_size_that_does_not_exist_is_refused(name: str, said: str) -> None:
    with pytest.raises(ChoiceNotPossible) as caught:
        CORNER.size(dish(CORNER, name), said)

    assert caught.value.facts["words"] == said
    assert caught.value.facts["possible"] == list(dish(CORNER, name).sizes)
