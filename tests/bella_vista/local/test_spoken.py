"""The sentences that local speech recognition is made from: every word of menu and language is in them."""

import re
import subprocess
import sys

import pytest
import yaml

from agents.app.local_speech.language_models import plain
from bella_vista.local.english.lexicon import PHRASES
from bella_vista.local.english.talking import blocks
from bella_vista.local.spoken import KINDS, spoken_meaning, spoken_sentences
from bella_vista.menus import menu_file
from state.menu import Menu, read_menu
from tests.bella_vista.local.scoring import menu_of

MENUS = ("trattoria", "coffee-bar", "sushi")

NOT_SAID = frozenset("a e n u".split())
"""Words of the language that are letters for others: "a n d"."""


@pytest.fixture(scope="module", params=MENUS)
def menu(request: pytest.FixtureRequest) -> Menu:
    return menu_of(request.param)


@pytest.fixture(scope="module")
def said(menu: Menu) -> dict[str, list[str]]:
    return spoken_sentences(menu)


def words_of(texts: list[str]) -> set[str]:
    return {word for text in texts for word in plain(text).split()}


def test_every_word_of_the_menu_may_be_said(menu: Menu, said: dict[str, list[str]]) -> None:
    names = [name for dish in menu.dishes for name in (dish.name, *dish.aliases, *dish.sizes)]
    names += [word for dish in menu.dishes for word in (*dish.contains, *dish.diets)]
    names += [word for dish in menu.dishes for word in dish.allergens]
    names += [name for combo in menu.combos for name in (combo.name, *combo.aliases)]
    for group in menu.options.values():
        names += [name for one in group.choices for name in (one.name, *one.aliases)]
    for section in menu.sections:
        names += [section.name, *section.aliases]
    names += [*menu.restaurant.facts, menu.restaurant.name]

    assert words_of(names) - words_of(said["open"]) == set()


def test_every_word_of_the_language_may_be_said(said: dict[str, list[str]]) -> None:
    written = [phrase for phrase in PHRASES if re.search(r"\d", phrase)]
    phrases = [phrase for phrase in PHRASES if phrase not in NOT_SAID and phrase not in written]

    assert {phrase.split()[-1] for phrase in written} == {"1st", "2nd", "3rd", "4th", "5th"}
    assert words_of(phrases) - words_of(said["open"]) == set()


def test_each_kind_of_answer_has_its_own_sentences(said: dict[str, list[str]]) -> None:
    assert set(said) == {"open", *KINDS}
    for kind, word in (("yes_no", "yes"), ("rating", "stars"), ("amount", "percent")):
        share = sum(word in one.split() for one in said[kind]) / len(said[kind])
        anywhere = sum(word in one.split() for one in said["open"]) / len(said["open"])
        assert share > 2 * anywhere, kind


def test_nothing_but_words_is_in_a_sentence(said: dict[str, list[str]]) -> None:
    odd = {one for some in said.values() for one in some if re.search(r"[{}()|?\\_\d]", one)}

    assert odd == set()


def test_every_pattern_names_what_there_is(menu: Menu, said: dict[str, list[str]]) -> None:
    """A name in braces that is nowhere would raise; each block is made use of."""
    told = {block for block in blocks("spoken") if block not in ("open", *KINDS)}
    named = {
        name
        for lines in blocks("spoken").values()
        for line in lines
        for name in re.findall(r"\{([^}]+)\}", line)
    }

    assert told <= named


def test_only_the_wording_of_texts_that_mean_the_same_differs() -> None:
    meaning = spoken_meaning(menu_of("trattoria"))

    assert meaning("a large margherita please") == meaning("one large margherita")
    assert meaning("a large margherita") != meaning("two large margheritas")
    assert meaning("a large margherita") != meaning("a large marinara")
    assert meaning("blorp") != meaning("frobnicator")


@pytest.mark.processes
def test_the_same_menu_gives_the_same_sentences_in_every_process() -> None:
    program = (
        "import hashlib; from tests.bella_vista.local.scoring import menu_of;"
        "from bella_vista.local.spoken import spoken_sentences;"
        "said = spoken_sentences(menu_of('coffee-bar'));"
        "print(hashlib.sha256(repr(said).encode()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(found) == 1


def test_a_menu_of_one_dish_without_choices_has_sentences() -> None:
    given = yaml.safe_load(menu_file(None).read_text("utf-8"))
    given["sections"] = [{"name": "Bread", "dishes": [{"name": "Loaf", "price": "4.00"}]}]
    given["options"], given["combos"], given["suggestions"], given["coupons"] = {}, [], [], {}

    assert "loaf" in words_of(spoken_sentences(read_menu(yaml.safe_dump(given), "bare"))["open"])
