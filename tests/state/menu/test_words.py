"""Words compared with names, and said in numbers."""

import pytest

from state.menu.finding import _rank
from state.menu.matching import Fit, alike, fit, joined
from state.menu.words import plural


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("olive", "olives"),
        ("Cherry", "Cherries"),
        ("bay leaf tray", "bay leaf trays"),
        ("y", "ys"),
        ("peach", "peaches"),
        ("Dish", "Dishes"),
        ("box", "boxes"),
        ("quartz", "quartzes"),
        ("glass", "glasses"),
        ("hibiscus", "hibiscuses"),
        ("fries", "fries"),
        ("tomato", "tomatoes"),
        ("Potato", "Potatoes"),
        ("avocado", "avocados"),
        ("glass of milk", "glasses of milk"),
        ("peach with cream", "peaches with cream"),
        ("cherry in syrup of plums", "cherries in syrup of plums"),
        ("cup of cream of mushroom", "cups of cream of mushroom"),
    ],
)
def test_several_of_a_thing(one: str, several: str) -> None:
    assert plural(one) == several


NOTHING: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("said", "name", "implied", "head", "fits"),
    [
        ("onion soup", "onion soup", "", None, Fit(0.0, 0, True)),
        ("onion", "onion soup", "", None, Fit(0.0, 1, True)),
        ("onion", "onion soup", "", "soup", Fit(0.0, 1, False)),
        ("soup", "onion soup", "", "soup", Fit(0.0, 1, True)),
        ("soup", "onion soup", "soup", None, None),
        ("onion soup", "onion", "soup", None, Fit(0.0, 0, True)),
        ("soup", "soup", "soup", None, Fit(0.0, 0, True)),
        ("cold onion soup", "onion soup", "", None, None),
        ("tira misu", "tiramisu", "", None, Fit(0.0, 0, True)),
    ],
)
def test_words_match_a_name(
    said: str, name: str, implied: str, head: str | None, fits: Fit | None
) -> None:
    assert fit(tuple(said.split()), tuple(name.split()), frozenset(implied.split()), head) == fits


def test_the_worst_slip_of_several_counts() -> None:
    two = fit(("margherta", "calzonne"), ("margherita", "calzone"), NOTHING)
    one = fit(("margherta", "calzone"), ("margherita", "calzone"), NOTHING)

    assert one is not None
    assert two is not None
    assert one.slip == 100.0 - alike("margherta", "margherita")
    assert two.slip == 100.0 - min(alike("margherta", "margherita"), alike("calzonne", "calzone"))


def test_a_slip_in_a_name_written_together_counts_as_well() -> None:
    slipped = fit(("tira", "masu"), ("tiramisu",), NOTHING)

    assert slipped is not None
    assert slipped == Fit(100.0 - joined(("tira", "masu"), ("tiramisu",)), 0, True)
    assert slipped.slip > 0


def test_whole_names_go_before_parts_and_both_before_slips() -> None:
    fits = [Fit(0.0, 0, True), Fit(0.0, 2, True), Fit(5.0, 0, True), Fit(5.0, 1, True)]

    ranks = [_rank(one) for one in fits]

    assert ranks == sorted(ranks)
    assert len(set(ranks)) == 4
    assert _rank(Fit(0.0, 1, True)) == _rank(Fit(0.0, 3, True))
    assert ranks[0][0] < ranks[1][0] < ranks[2][0] == ranks[3][0]
