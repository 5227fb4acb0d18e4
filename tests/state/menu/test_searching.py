"""What a word finds, on cards that are read afresh for each question."""

import pytest

from state.errors import Ambiguous, NotOnMenu
from state.menu import Menu, read_menu

HEAD = 'restaurant: {id: r, name: R, currency: USD, timezone: America/New_York, hours: {monday: "10:00-12:00"}}\n'

LEMON = (
    HEAD
    + """
sections:
  - {name: Hot, dishes: [{name: Broth, price: "1", description: With a slice of lemon.}]}
  - {name: Cold, dishes: [{name: Gazpacho, price: "1", with: [lemon]}]}
  - {name: Raw, dishes: [{name: Tartare, price: "1", diets: [lemon]}]}
  - {name: Fish, aliases: [lemon things], dishes: [{name: Sole, price: "1"}]}
  - {name: Sweet, dishes: [{name: Sorbet, aliases: [lemon ice], price: "1"}, {name: Lemon tart, price: "1"}]}
combos:
  - {name: Two courses, price: "2", description: A lemon to finish., parts: [{choose: 1, from: [Broth]}]}
  - {name: Three courses, price: "2", parts: [{choose: 1, from: [Lemon tart]}]}
  - {name: Four courses, aliases: [lemon feast], price: "2", parts: [{choose: 1, from: [Broth]}]}
  - {name: Lemon courses, price: "2", parts: [{choose: 1, from: [Broth]}]}
"""
)


@pytest.fixture
def lemon() -> Menu:
    return read_menu(LEMON, "here")


def found(menu: Menu, words: str, limit: int = 20) -> list[str]:
    return [thing.name for thing in menu.find(words, limit)]


def test_a_heading_counts_most_then_names_aliases_diets_contents_and_descriptions(
    lemon: Menu,
) -> None:
    assert found(lemon, "lemon") == [
        *("Fish", "Lemon tart", "Lemon courses", "Sorbet", "Four courses", "Sole"),
        *("Tartare", "Gazpacho", "Three courses", "Broth", "Two courses"),
    ]


@pytest.mark.parametrize("words", ["deal", "a meal", "combo"])
def test_all_combos_are_found_as_deals_and_meals(lemon: Menu, words: str) -> None:
    assert found(lemon, words) == ["Two courses", "Three courses", "Four courses", "Lemon courses"]


def test_a_slip_of_spelling_finds_the_same_behind_what_was_said_exactly() -> None:
    menu = read_menu(
        HEAD + "sections: [{name: S, dishes: [{name: Gaspacho, price: '1'},"
        " {name: Soup, price: '1', diets: [gazpacho]}]}]",
        "here",
    )

    assert found(menu, "gazpacho") == ["Gaspacho", "Soup"]
    assert found(menu, "gaspacho") == ["Gaspacho", "Soup"]


def test_a_description_is_found_after_a_slip_in_a_name(lemon: Menu) -> None:
    assert found(lemon, "lemmon") == found(lemon, "lemon")


def test_half_of_the_words_have_to_match(lemon: Menu) -> None:
    assert found(lemon, "lemon unicorn") == found(lemon, "lemon")
    assert found(lemon, "lemon unicorn dragon") == []
    assert found(lemon, "unicorn") == []


def test_dishes_that_match_more_words_come_first(lemon: Menu) -> None:
    assert found(lemon, "a tart with lemon")[:3] == ["Lemon tart", "Three courses", "Fish"]


BEEF = (
    HEAD
    + """
sections:
  - name: Burgers
    aliases: [patties]
    dishes:
      - {name: Smoky burger, aliases: [usual], price: "1", with: [bacon, pickles]}
      - {name: Bacon burger, aliases: [usual], price: "1"}
  - name: Sides
    dishes:
      - {name: Onion rings, price: "1"}
      - {name: Ice cream, aliases: [coffee ice cream], price: "1"}
      - {name: Orange juice, price: "1"}
combos:
  - {name: Family feast, aliases: [feast], price: "9", parts: [{choose: 1, from: [Onion rings]}]}
"""
)


@pytest.fixture
def beef() -> Menu:
    return read_menu(BEEF, "here")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("smoky", "Smoky burger"),
        ("smoky patty", "Smoky burger"),
        ("smoky with bacon and pickles", "Smoky burger"),
        ("feast", "Family feast"),
        ("family deal", "Family feast"),
        ("the  FAMILY feast menu", "Family feast"),
    ],
)
def test_what_may_stand_beside_a_name_does_not_make_it_another(
    beef: Menu, words: str, meant: str
) -> None:
    assert beef.item(words).name == meant


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("the usual", '"the usual" could be Smoky burger or Bacon burger. Ask which one.'),
        ("usual", '"usual" could be Smoky burger or Bacon burger. Ask which one.'),
        ("patties", '"patties" could be Smoky burger or Bacon burger. Ask which one.'),
    ],
)
def test_words_that_several_answer_to_are_said_back(beef: Menu, words: str, says: str) -> None:
    with pytest.raises(Ambiguous) as refused:
        beef.item(words)

    assert refused.value.message == says
    assert refused.value.facts == {"words": words, "possible": ["Smoky burger", "Bacon burger"]}


@pytest.mark.parametrize("words", ["coffee", "juice with bacon"])
def test_a_word_that_only_tells_the_kind_is_not_taken_for_the_dish(beef: Menu, words: str) -> None:
    with pytest.raises(NotOnMenu):
        beef.item(words)


def test_what_is_near_is_named_from_the_nearest(beef: Menu) -> None:
    with pytest.raises(NotOnMenu) as refused:
        beef.item("union wings")
    assert refused.value.facts["near"] == ["Onion rings"]

    with pytest.raises(NotOnMenu) as refused:
        beef.item("orange ring")
    assert refused.value.facts["near"] == ["Orange juice", "Onion rings"]


def test_a_name_as_it_is_written_means_itself_where_another_has_the_same_words() -> None:
    rolls = "{name: Roll, price: '1'}, {name: Rolls, price: '5'}"
    menu = read_menu(HEAD + f"sections: [{{name: S, dishes: [{rolls}]}}]", "here")

    assert [menu.item(name).name for name in ("Roll", "ROLLS", " rolls ")] == [
        *("Roll", "Rolls", "Rolls")
    ]


def test_a_name_of_two_words_as_it_is_written_means_itself() -> None:
    rolls = "{name: Egg roll, price: '1'}, {name: Egg rolls, price: '5'}"
    menu = read_menu(HEAD + f"sections: [{{name: S, dishes: [{rolls}]}}]", "here")

    assert menu.item("egg  rolls").name == "Egg rolls"


def card(dishes: str) -> Menu:
    """A card with one section."""
    return read_menu(
        HEAD + f"sections: [{{name: All, aliases: [little bites], dishes: [{dishes}]}}]", "here"
    )


def test_what_is_near_comes_with_the_nearest_first() -> None:
    menu = card(
        "{name: Bean stew, price: '1'}, {name: Ample chicken wrap, price: '1'},"
        " {name: Crispy chicken wrap, price: '1'}, {name: Beef wrap, price: '1'}"
    )

    with pytest.raises(NotOnMenu) as refused:
        menu.item("spicy chicken wrap")

    assert refused.value.facts["near"] == ["Crispy chicken wrap", "Ample chicken wrap"]


def test_a_word_of_a_heading_asks_which_of_its_dishes() -> None:
    menu = card("{name: Olives, price: '1'}, {name: Nuts, price: '1'}")

    with pytest.raises(Ambiguous) as refused:
        menu.item("bites")

    assert refused.value.facts == {"words": "bites", "possible": ["Olives", "Nuts"]}
    assert refused.value.message == '"bites" could be Olives or Nuts. Ask which one.'


@pytest.mark.parametrize(
    ("sold_out", "possible"),
    [
        ((), ["Red roll", "Green roll", "Blue roll"]),
        (("Green",), ["Red roll", "Blue roll"]),
        (("Red", "Green", "Blue"), ["Red roll", "Green roll", "Blue roll"]),
    ],
)
def test_of_several_only_those_that_are_to_be_had_are_asked_about(
    sold_out: tuple[str, ...], possible: list[str]
) -> None:
    menu = card(
        ", ".join(
            f"{{name: {colour} roll, aliases: [roll], price: '1', available: {colour not in sold_out}}}"
            for colour in ("Red", "Green", "Blue")
        )
    )

    with pytest.raises(Ambiguous) as refused:
        menu.item("roll")

    assert refused.value.facts["possible"] == possible


def test_what_was_said_exactly_is_found_before_a_slip_in_a_better_place() -> None:
    menu = card("{name: Gaspacho, price: '1'}, {name: Cold soup, aliases: [gazpacho], price: '1'}")

    assert found(menu, "gazpacho") == ["Cold soup", "Gaspacho"]


def test_a_size_of_two_words_may_be_misspelt() -> None:
    menu = card("{name: Tea, price: {small: '1', extra large: '3'}}")
    tea = menu.dishes[0]

    assert menu.size(tea, "extra lagre") == "extra large"
    assert menu.size(tea, "extralarge") == "extra large"


def test_a_long_name_is_found_behind_short_ones() -> None:
    menu = card(
        "{name: Tea, price: '1'},"
        " {name: Slow roasted tomato soup with basil bread, price: '1'}, {name: Milk, price: '1'}"
    )

    said = "slow rosted tomato soup with basil bread"
    assert menu.item(said).name == "Slow roasted tomato soup with basil bread"


def test_a_heading_with_a_slip_asks_which_of_its_dishes() -> None:
    noodles = "{name: Glass noodles, price: '1'}, {name: Egg noodles, price: '1'}"
    menu = read_menu(HEAD + f"sections: [{{name: Noodles, dishes: [{noodles}]}}]", "here")

    with pytest.raises(Ambiguous) as refused:
        menu.item("noodels")

    assert refused.value.facts == {
        "words": "noodels",
        "possible": ["Glass noodles", "Egg noodles"],
    }


def test_a_name_goes_before_another_s_alias_and_an_alias_before_a_part_of_a_name() -> None:
    menu = card(
        "{name: Zero, aliases: [cola, special], price: '1'}, {name: Cola, price: '1'},"
        " {name: Special soup, price: '1'}"
    )

    assert menu.item("colas").name == "Cola"
    assert menu.item("specials").name == "Zero"


@pytest.mark.parametrize("words", ["family menu", "family special", "family meal deal"])
def test_a_combo_may_be_called_one(beef: Menu, words: str) -> None:
    assert beef.item(words).name == "Family feast"
