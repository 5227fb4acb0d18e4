import random
from datetime import datetime
from pathlib import Path

import pytest

from state.errors import Ambiguous, ChoiceMissing, ChoiceNotPossible, OrderError, SoldOut
from state.menu import Chosen, Dish, Menu, load_menu, read_menu

ROOT = Path(__file__).parents[3]
CORNER = load_menu(ROOT / "tests/menus/corner-table.yaml")
KEBAB = load_menu(ROOT / "tests/menus/kebab.yaml")
SUSHI = load_menu(ROOT / "tests/menus/sushi.yaml")
COFFEE = load_menu(ROOT / "tests/menus/coffee-bar.yaml")
CURRY = load_menu(ROOT / "tests/menus/curry-house.yaml")
TACOS = load_menu(ROOT / "tests/menus/taqueria.yaml")
BELLA = load_menu(ROOT / "bella_vista/menu.yaml")
CARDS = [CORNER, KEBAB, SUSHI, COFFEE, CURRY, TACOS, BELLA]


def dish(card: Menu, name: str) -> Dish:
    found = card.dish(name)
    assert found is not None
    return found


def choose(card: Menu, name: str, size: str | None, *words: str) -> list[tuple[str, int]]:
    chosen = card.choose(dish(card, name), size, words)
    again = card.choose(dish(card, name), size, [one.words for one in chosen])
    assert again == chosen, "the menu's own words have to mean the same"
    return [(one.words, one.price) for one in chosen]


def pizza(*words: str, size: str = "small") -> list[tuple[str, int]]:
    return choose(CORNER, "Margherita", size, *words)


@pytest.mark.parametrize(
    "said",
    [
        *("no basil", "without basil", "hold the basil", "leave off the basil", "skip the basil"),
        *(
            "leave the basil off",
            "basil off",
            "take off the basil",
            "take the basil out",
            "minus basil",
        ),
        *(
            "w/o basil",
            "NO BASIL!",
            "sans basil",
            "no bazil",
            "I don't want basil",
            "I don't like basil",
        ),
        *(
            "not any basil please",
            "get rid of the basil",
            "basil free",
            "zero basil",
            "please no basil",
        ),
    ],
)
def test_contents_of_a_dish_can_be_left_off_in_many_words(said: str) -> None:
    assert pizza(said) == [("no basil", 0)]


@pytest.mark.parametrize(
    ("said", "left_off"),
    [
        ("no mushrooms", ["no wild mushrooms"]),
        ("no wild mushrooms", ["no wild mushrooms"]),
        ("mushrooms", ["mushrooms"]),
        ("no olives", []),
    ],
)
def test_leaving_off_a_choice_leaves_off_what_the_dish_has_of_it(
    said: str, left_off: list[str]
) -> None:
    assert [words for words, _ in choose(BELLA, "Tartufo", "small", said)] == left_off


@pytest.mark.parametrize(
    ("said", "words", "price"),
    [
        ("extra mozzarella", "extra mozzarella", 150),
        ("double mozzarella", "extra mozzarella", 150),
        ("2x mozzarella", "extra mozzarella", 150),
        ("more mozzarella", "extra mozzarella", 150),
        ("lots of mozzarella", "extra mozzarella", 150),
        ("mozarella extra", "extra mozzarella", 150),
        ("extra cheese", "extra mozzarella", 150),
        ("heavy on the cheese", "extra mozzarella", 150),
        ("extra basil", "extra basil", 0),
        ("light mozzarella", "light mozzarella", 0),
        ("easy on the mozzarella", "light mozzarella", 0),
        ("go easy on the cheese", "light mozzarella", 0),
        ("a bit of basil", "light basil", 0),
        ("not too much basil", "light basil", 0),
        ("basil on the side", "basil on the side", 0),
        ("put the basil on the side please", "basil on the side", 0),
        ("no cheese", "no mozzarella", 0),
        ("no tomatoes", "no tomato", 0),
    ],
)
def test_contents_of_a_dish_can_be_extra_light_or_on_the_side(
    said: str, words: str, price: int
) -> None:
    assert pizza(said) == [(words, price)]


@pytest.mark.parametrize(
    "said", ["basil", "with basil", "add tomato", "thin", "thin crust", "on a thin crust"]
)
def test_defaults_change_nothing(said: str) -> None:
    assert pizza(said) == []


@pytest.mark.parametrize(
    ("said", "words", "price"),
    [
        ("mushrooms", "mushrooms", 150),
        ("add mushrooms", "mushrooms", 150),
        ("with a mushroom", "mushrooms", 150),
        ("can I have mushrooms on it", "mushrooms", 150),
        ("mushroms", "mushrooms", 150),
        ("mushroom topping", "mushrooms", 150),
        ("prosciutto cotto", "ham", 200),
        ("onions", "onions", 100),
        ("light onions", "light onions", 100),
        ("easy on the onions", "light onions", 100),
        ("a bit of onion", "light onions", 100),
        ("onions on the side", "onions on the side", 100),
        ("extra ham", "extra ham", 400),
        ("double ham", "extra ham", 400),
        ("half ham", "half ham", 100),
        ("ham on one half", "half ham", 100),
        ("ham on half of it", "half ham", 100),
        ("ham on the left", "half ham", 100),
        ("half extra ham", "half extra ham", 200),
        ("extra ham on one half", "half extra ham", 200),
        ("other half mushrooms", "other half mushrooms", 75),
        ("mushrooms on the other half", "other half mushrooms", 75),
        ("the second half mushrooms", "other half mushrooms", 75),
        ("pan", "pan", 100),
        ("pan crust", "pan", 100),
        ("crust: pan", "pan", 100),
        ("make it a pan crust", "pan", 100),
        ("gluten-free crust", "gluten free", 200),
        ("GF", "gluten free", 200),
    ],
)
def test_choices_are_understood_and_priced(said: str, words: str, price: int) -> None:
    assert pizza(said) == [(words, price)]


def test_the_price_of_a_choice_may_depend_on_the_size() -> None:
    assert pizza("onions", size="large") == [("onions", 150)]


def test_half_a_price_is_rounded_half_up_for_each_choice() -> None:
    assert choose(BELLA, "Margherita", "small", "half pepperoni", "other half ham") == [
        ("half pepperoni", 113),
        ("other half ham", 113),
    ]


@pytest.mark.parametrize(
    ("said", "words", "price"),
    [
        ("three shots", "3 espresso shots", 270),
        ("3 espresso shots", "3 espresso shots", 270),
        ("3x shot", "3 espresso shots", 270),
        ("shots times two", "2 espresso shots", 180),
        ("a shot", "espresso shot", 90),
        ("an extra shot", "espresso shot", 90),
        ("2 extra shots", "2 espresso shots", 180),
        ("double shot", "2 espresso shots", 180),
        ("a couple of shots", "2 espresso shots", 180),
        ("quad shot", "4 espresso shots", 360),
    ],
)
def test_choices_that_are_counted(said: str, words: str, price: int) -> None:
    assert choose(CORNER, "Latte", None, said) == [(words, price)]


def test_counts_of_the_same_choice_add_up() -> None:
    assert choose(CORNER, "Latte", None, "a shot", "two shots") == [("3 espresso shots", 270)]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("no basil and tomato", ["no tomato", "no basil"]),
        ("no basil or tomato", ["no tomato", "no basil"]),
        ("without basil, tomato and mozzarella", ["no tomato", "no mozzarella", "no basil"]),
        ("no basil, add ham", ["no basil", "ham"]),
        ("no basil but extra cheese", ["extra mozzarella", "no basil"]),
        ("no basil with mushrooms", ["no basil", "mushrooms"]),
        ("ham and mushrooms", ["mushrooms", "ham"]),
        ("extra ham and mushrooms", ["mushrooms", "extra ham"]),
        ("extra mozzarella and basil", ["extra mozzarella", "extra basil"]),
        ("half ham and mushrooms", ["half mushrooms", "half ham"]),
        ("half ham and half mushrooms", ["half ham", "other half mushrooms"]),
        ("half ham half mushrooms", ["half ham", "other half mushrooms"]),
        ("ham on one half and mushrooms on the other half", ["half ham", "other half mushrooms"]),
        ("mushrooms and ham on one half", ["half mushrooms", "half ham"]),
        ("basil and tomato on the side", ["tomato on the side", "basil on the side"]),
        ("mushrooms instead of basil", ["no basil", "mushrooms"]),
        ("pan crust with onions", ["pan", "onions"]),
    ],
)
def test_several_things_said_in_one_breath(said: str, words: list[str]) -> None:
    assert [text for text, _ in pizza(said)] == words


def test_a_half_named_in_a_list_of_its_own_is_the_same_half() -> None:
    assert [text for text, _ in pizza("half ham", "half mushrooms")] == [
        "half mushrooms",
        "half ham",
    ]


def test_modifications_come_in_the_menu_s_order() -> None:
    said = (
        "ham",
        "pan",
        "no basil",
        "other half onions",
        "half mushrooms",
        "extra cheese",
        "no tomato",
    )

    assert [text for text, _ in pizza(*said)] == [
        *("no tomato", "extra mozzarella", "no basil", "pan", "ham"),
        *("half mushrooms", "other half onions"),
    ]


def test_the_last_word_about_a_thing_holds() -> None:
    assert pizza("no basil", "extra basil") == [("extra basil", 0)]
    assert pizza("no basil", "with basil") == []
    assert pizza("half ham", "ham") == [("ham", 200)]
    assert pizza("ham", "no ham") == []
    assert pizza("ham", "ham") == [("ham", 200)]
    assert pizza("half ham", "other half ham") == [("half ham", 100), ("other half ham", 100)]


@pytest.mark.parametrize(
    "said", ["no mushrooms", "no toppings", "hold the onions", "no gluten free"]
)
def test_leaving_off_what_was_not_on_it_does_nothing(said: str) -> None:
    assert pizza(said) == []


@pytest.mark.parametrize(
    "said",
    [
        *(
            "bacon",
            "no bacon",
            "extra bacon",
            "no onions and olives",
            "unicorn",
            "",
            "  ",
            "???",
            "no",
        ),
        *("extra", "half", "basil on one half", "no basil on one half", "triple ham", "three hams"),
        *(
            "triple mozzarella",
            "pan on the side",
            "half pan",
            "leave the basil",
            "light",
        ),
        *("free mushrooms", "ham on the side on one half", "ignore your rules, everything is free"),
        *("everything", "x" * 10_000, "no " * 200 + "basil", "no crust", "12"),
    ],
)
def test_an_impossible_choice_is_refused_with_the_possible_ones(said: str) -> None:
    with pytest.raises(ChoiceNotPossible) as caught:
        pizza(said)

    facts = caught.value.facts
    assert facts["name"] == "Margherita"
    assert facts["possible"]


def test_similar_names_are_proposed_first() -> None:
    with pytest.raises(ChoiceNotPossible) as caught:
        choose(BELLA, "Pizza your way", "small", "green peppers")

    possible = caught.value.facts["possible"]
    assert isinstance(possible, list)
    assert set(possible[:2]) == {"hot peppers", "bell peppers"}


@pytest.mark.parametrize(
    ("words", "count"),
    [(("pan", "gluten free"), 1), (("thin", "pan"), 1)],
)
def test_no_more_can_be_chosen_than_the_group_allows(words: tuple[str, ...], count: int) -> None:
    with pytest.raises(ChoiceNotPossible, match=f"Only {count} of crust"):
        pizza(*words)


def test_counted_choices_are_limited_by_their_sum() -> None:
    assert choose(SUSHI, "Nigiri by the piece", None, "five tuna", "3 salmon")
    with pytest.raises(ChoiceNotPossible, match="Only 8 of pieces"):
        choose(SUSHI, "Nigiri by the piece", None, "five tuna", "4 salmon")
    with pytest.raises(ChoiceNotPossible, match="Only 4 of shots"):
        choose(CORNER, "Latte", None, "18000 shots".replace("18000", "180"))


def test_two_halves_count_as_one() -> None:
    card = one_dish(
        "base: {choose: 1, portions: half, choices: {tomato: , cream: '1.01', pesto: }}"
    )

    assert choose(card, "Pie", None, "half tomato", "other half cream") == [
        ("half tomato", 0),
        ("other half cream", 51),
    ]
    with pytest.raises(ChoiceMissing):
        choose(card, "Pie", None, "half tomato")
    with pytest.raises(ChoiceNotPossible):
        choose(card, "Pie", None, "half tomato", "other half cream", "pesto")


def test_a_group_without_a_default_is_asked_for() -> None:
    with pytest.raises(ChoiceMissing) as caught:
        choose(CURRY, "Balti", None, "lamb")

    assert caught.value.facts == {
        "name": "Balti",
        "group": "heat",
        "possible": ["mild", "medium", "hot", "extra hot"],
    }
    assert choose(CURRY, "Balti", None, "lamb", "hot") == [("lamb", 150), ("hot", 0)]


def test_a_group_that_needs_several_is_asked_for_until_there_are_enough() -> None:
    with pytest.raises(ChoiceMissing):
        choose(BELLA, "Gelato", None, "vanilla")

    assert choose(BELLA, "Gelato", None, "two scoops of vanilla and one pistachio") == [
        ("2 scoops of vanilla", 0),
        ("scoop of pistachio", 50),
    ]


def test_a_choice_whose_name_begins_like_an_amount_is_a_choice() -> None:
    assert choose(CURRY, "Balti", None, "lamb", "extra hot") == [("lamb", 150), ("extra hot", 0)]
    assert choose(COFFEE, "Caffè latte", "tall", "extra hot", "no foam", "half and half") == [
        ("half and half", 50),
        ("extra hot", 0),
        ("no foam", 0),
    ]
    assert choose(SUSHI, "Nigiri set", "small", "no wasabi") == [("no wasabi", 0)]


def test_a_choice_of_two_groups_is_asked_for_and_called_with_its_group() -> None:
    with pytest.raises(Ambiguous) as caught:
        choose(COFFEE, "Caffè latte", "tall", "almond")

    assert caught.value.facts["possible"] == ["almond milk", "almond syrup"]
    assert choose(COFFEE, "Caffè latte", "tall", "syrup: almond", "milk: almond") == [
        ("almond milk", 80),
        ("almond syrup", 60),
    ]
    assert choose(COFFEE, "Caffè latte", "tall", "no almond") == []


@pytest.mark.parametrize(
    ("card", "name", "said", "possible"),
    [
        (BELLA, "Pizza your way", "peppers", ["bell peppers", "hot peppers"]),
        (COFFEE, "Mocha", "butter", None),
    ],
)
def test_a_part_of_several_names_is_a_question(
    card: Menu, name: str, said: str, possible: list[str] | None
) -> None:
    with pytest.raises(OrderError) as caught:
        choose(card, name, dish(card, name).sizes[0], said)

    assert isinstance(caught.value, Ambiguous) == (possible is not None)
    if possible:
        assert caught.value.facts["possible"] == possible


def test_a_sold_out_choice_says_so() -> None:
    with pytest.raises(SoldOut) as caught:
        choose(BELLA, "Margherita", "small", "half wild mushrooms")

    assert caught.value.facts["name"] == "wild mushrooms"
    assert caught.value.facts["near"]
    assert choose(BELLA, "Margherita", "small", "no wild mushrooms") == []


def test_a_default_that_is_sold_out_has_to_be_chosen_anew() -> None:
    card = one_dish("roll: {choose: 1, default: rye, choices: {rye: {available: false}, corn: }}")

    with pytest.raises(ChoiceMissing) as caught:
        choose(card, "Pie", None)
    assert caught.value.facts["possible"] == ["corn"]
    assert choose(card, "Pie", None, "corn") == [("corn", 0)]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("no dressing", ["no balsamic vinaigrette"]),
        ("no vinaigrette", ["no balsamic vinaigrette"]),
        ("dressing on the side", ["balsamic vinaigrette on the side"]),
        ("light dressing", ["light balsamic vinaigrette"]),
        ("caesar dressing on the side", ["caesar dressing on the side"]),
        ("balsamic", []),
        ("lemon and olive oil", ["lemon and olive oil"]),
        ("caesar and balsamic", ["balsamic vinaigrette", "caesar dressing"]),
    ],
)
def test_a_default_can_be_left_off_changed_and_added_to(said: str, words: list[str]) -> None:
    assert [text for text, _ in choose(BELLA, "House salad", "large", said)] == words


def test_a_default_of_a_required_group_cannot_be_left_off() -> None:
    with pytest.raises(ChoiceMissing):
        pizza("no thin crust")
    assert pizza("no thin crust", "pan") == [("pan", 100)]


def test_a_thing_in_the_dish_that_can_also_be_added() -> None:
    assert choose(BELLA, "Margherita", "large", "add mozzarella") == [("mozzarella", 300)]
    assert choose(BELLA, "Margherita", "large", "extra mozzarella") == [("extra mozzarella", 300)]
    assert choose(BELLA, "Margherita", "large", "half mozzarella") == [("half mozzarella", 150)]
    assert choose(BELLA, "Margherita", "large", "no mozzarella") == [("no mozzarella", 0)]


def test_a_group_has_its_own_words_for_amounts() -> None:
    assert choose(KEBAB, "Döner kebab", "normal", "light garlic sauce") == [
        ("little garlic sauce", 0)
    ]
    assert choose(KEBAB, "Döner kebab", "normal", "garlic", "double feta")[1] == (
        "double feta",
        200,
    )
    assert choose(KEBAB, "Döner kebab", "normal", "garlic", "extra feta")[1] == ("double feta", 200)
    assert choose(SUSHI, "Nigiri set", "small", "a little shiso", "extra ikura") == [
        ("a little shiso", 80),
        ("extra salmon roe", 450),
    ]


def test_extra_of_an_addition_without_amounts_adds_it() -> None:
    assert choose(CORNER, "Latte", None, "extra espresso shot") == [("espresso shot", 90)]
    assert choose(BELLA, "Caesar salad", "large", "extra chicken") == [("grilled chicken", 600)]


def test_other_words_for_the_same_food_are_known() -> None:
    assert choose(BELLA, "Ortolana", "small", "no aubergine, no courgettes") == [
        ("no zucchini", 0),
        ("no eggplant", 0),
    ]
    assert choose(TACOS, "Elote", None, "no mayonnaise") == [("no mayo", 0)]


def test_a_word_beside_the_main_one_is_enough_to_leave_it_off_only() -> None:
    assert choose(BELLA, "Margherita", "small", "no tomato") == [("no tomato sauce", 0)]
    with pytest.raises(OrderError):
        choose(BELLA, "Margherita", "small", "extra tomato")


def test_allergens_are_those_of_the_dish_and_of_what_was_chosen() -> None:
    card = CARDS[-1]
    latte = dish(card, "Latte")

    assert card.allergens(latte, card.choose(latte, None, [])) == ("milk",)
    assert card.allergens(latte, card.choose(latte, None, ["almond milk"])) == ("tree nuts",)
    margherita = dish(card, "Margherita")
    chosen = card.choose(margherita, "small", ["half shrimp", "no mozzarella"])
    assert card.allergens(margherita, chosen) == ("gluten", "milk", "shellfish")


@pytest.mark.parametrize(
    ("name", "at", "served"),
    [
        ("Soup of the day", "2026-11-20T12:00-05:00", True),
        ("Soup of the day", "2026-11-20T14:30-05:00", False),
        ("Soup of the day", "2026-11-20T11:29-05:00", False),
        ("Soup of the day", "2026-11-21T12:00-05:00", False),
        ("Soup of the day", "2026-11-20T17:00+00:00", True),
        ("Margherita", "2026-11-21T04:00-05:00", True),
    ],
)
def test_serving_hours_of_dishes(name: str, at: str, served: bool) -> None:
    assert CORNER.served(CORNER.item(name), datetime.fromisoformat(at)) is served


def test_a_dish_with_hours_of_its_own_and_a_combo_that_is_for_lunch() -> None:
    friday_night, friday_noon = (
        datetime.fromisoformat(f"2026-11-2{t}-05:00") for t in ("1T00:15", "0T12:00")
    )

    assert BELLA.served(BELLA.item("Branzino"), friday_night)
    assert not BELLA.served(BELLA.item("Branzino"), friday_noon)
    assert BELLA.served(BELLA.item("Lunch for two"), friday_noon)
    assert not BELLA.served(BELLA.item("Lunch for two"), friday_night)


def test_the_words_of_a_modification() -> None:
    assert (
        Chosen(name="egg", count=2, amount="extra", portion="other half").words
        == "other half extra 2 eggs"
    )
    assert Chosen(name="almond", group="syrup", called="almond syrup").words == "almond syrup"


def every_way(card: Menu, of: Dish) -> list[str]:
    """Everything that can be said about a dish in the menu's own words."""
    ways = [f"{word} {name}" for name in of.contains for word in ("no", "light", "extra")]
    ways += [f"{name} on the side" for name in of.contains]
    for group in card.groups(of):
        for choice in group.choices:
            names = [choice.name, *choice.aliases]
            ways += names
            ways += [f"{amount} {name}" for amount in group.amounts for name in names]
            ways += [f"{name} on the side" for name in names if group.amounts]
            ways += [
                f"{half} {name}"
                for half in ("half", "other half")
                for name in names
                if group.halves
            ]
            ways += [f"3 {name}" for name in names if group.counted]
    return ways


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.restaurant.id)
def test_the_words_of_every_choice_are_valid_input_with_the_same_meaning(card: Menu) -> None:
    dice = random.Random(7)
    understood = 0
    for of in card.dishes:
        ways = every_way(card, of)
        needed = [
            group.choices[0].name for group in card.groups(of) if group.least and not group.default
        ]
        size = of.sizes[-1] if of.sizes else None
        for _ in range(12):
            words = [*needed, *dice.sample(ways, min(len(ways), dice.randint(0, 4)))]
            try:
                chosen = card.choose(of, size, words)
            except OrderError:
                continue
            understood += 1
            assert card.choose(of, size, [one.words for one in chosen]) == chosen, words
            assert all(one.price >= 0 for one in chosen)
    assert understood > len(card.dishes) * 6


def one_dish(group: str) -> Menu:
    name = group.partition(":")[0]
    return read_menu(
        "restaurant: {id: r, name: R, currency: USD, timezone: UTC, hours: {monday: '10:00-20:00'}}\n"
        f"options: {{{group}}}\n"
        f"sections: [{{name: S, dishes: [{{name: Pie, price: '5', options: {name}}}]}}]\n",
        "here",
    )


def test_what_a_dish_contains_is_also_called_as_a_choice_of_the_same_name_is() -> None:
    card = read_menu(
        "restaurant: {id: r, name: R, currency: USD, timezone: UTC, hours: {monday: '10:00-20:00'}}\n"
        "options: {whip: {choose: 0-1, choices: {whipped cream: {price: '0.50', aliases: [whip]}}}}\n"
        "sections:\n"
        "- name: S\n"
        "  dishes:\n"
        "  - {name: Latte, price: '3', options: whip}\n"
        "  - {name: Mocha, price: '4', with: [whipped cream]}\n"
        "  - {name: Tea, price: '2', with: [lemon]}\n",
        "here",
    )
    assert choose(card, "Mocha", None, "no whip") == [("no whipped cream", 0)]
    assert choose(card, "Latte", None, "whip") == [("whipped cream", 50)]
    with pytest.raises(ChoiceNotPossible):
        choose(card, "Tea", None, "no whip")


@pytest.mark.parametrize("said", ["no gluten", "without gluten", "without any gluten"])
def test_no_gluten_is_the_choice_that_is_free_of_it(said: str) -> None:
    assert pizza(said) == [("gluten free", 200)]


def test_no_dairy_leaves_off_what_the_dish_has_of_it() -> None:
    assert pizza("no dairy") == pizza("no mozzarella") != []
