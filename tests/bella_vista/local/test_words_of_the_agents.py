"""What the local model says: its questions can be found again, and every refusal has its sentence."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bella_vista import page_comments
from bella_vista.local.english.sentences import line_words, say
from bella_vista.local.refusals import Refusals
from bella_vista.local.scene import Outcome
from bella_vista.local.topics import Topic, topic
from state.menu import load_menu

NOW = datetime.fromisoformat("2026-11-20T19:00:00-05:00")


@pytest.fixture(scope="module")
def refusals() -> Refusals:
    menu = load_menu(Path(__file__).parents[3] / "bella_vista" / "menu.yaml")
    return Refusals(menu, lambda: NOW)


@pytest.mark.parametrize(
    ("question", "about"),
    [
        (say("ask anything_else"), Topic.ANYTHING_ELSE),
        (say("ask wanted"), Topic.WANTED),
        (say("ask wanted more"), Topic.WANTED),
        (say("ask wanted change"), Topic.WANTED),
        (say("ask fulfilment"), Topic.FULFILMENT),
        (say("ask address"), Topic.ADDRESS),
        (say("ask postcode"), Topic.POSTCODE),
        (say("ask minimum"), Topic.MINIMUM),
        (say("ask when"), Topic.WHEN),
        (say("ask name"), Topic.NAME),
        (say("ask confirm"), Topic.CONFIRM),
        (say("ask place"), Topic.PLACE),
        (say("ask rating"), Topic.RATING),
        (say("ask comment"), Topic.COMMENT),
        (say("ask keep"), Topic.KEEP),
        (say("ask rating optional"), Topic.RATING),
        (page_comments.RATE, Topic.RATING),
        (page_comments.READ_AGAIN, Topic.READ_AGAIN),
        ("Anything else, or shall I read it back to you?", Topic.READ_AGAIN),
        ("Is everything else right as I read it to you?", Topic.CONFIRM),
    ],
)
def test_a_question_is_found_again_in_what_was_said(question: str, about: Topic) -> None:
    assert topic(f"Noted: one Cola. {question}") is about


def test_of_two_questions_the_last_one_counts() -> None:
    assert topic(f"{say('ask anything_else')} {say('ask confirm')}") is Topic.CONFIRM


@pytest.mark.parametrize(
    ("code", "facts", "said"),
    [
        ("sold_out", {"name": "Tartufo", "near": ["Ortolana"]}, "out of Tartufo"),
        (
            "not_on_menu",
            {"words": "unicorn pizza", "near": []},
            '"unicorn pizza" is not on our menu',
        ),
        (
            "ambiguous",
            {"words": "water", "possible": ["Still water", "Sparkling water"]},
            "Still water or",
        ),
        ("choice_missing", {"name": "Bistecca", "group": "side", "possible": ["a", "b"]}, "a or b"),
        ("choice_not_possible", {"name": "Cola", "words": "bacon", "possible": ["ice"]}, "bacon"),
        ("not_served_now", {"name": "Soup", "served": ["monday 11:30-15:00"]}, "is served Monday"),
        ("over_limit", {"what": "quantity", "name": "Cola", "limit": 20}, "at most 20 of Cola"),
        ("over_limit", {"what": "total", "limit": 50000}, "$500.00"),
        ("over_limit", {"what": "tip", "limit": 30}, "30 percent"),
        ("coupon_not_valid", {"code": "X", "why": "expired"}, "run out"),
        ("coupon_not_valid", {"code": "X", "why": "not_combinable", "there": ["Y"]}, "with Y"),
        ("coupon_not_valid", {"code": "X", "why": "unknown"}, "no code X"),
        ("not_valid", {"field": "phone"}, "digit by digit"),
        ("not_valid", {"field": "something new"}, "say it again"),
        (
            "not_possible",
            {"what": "delivery", "why": "below_minimum", "minimum": 2000, "short": 50},
            "$0.50",
        ),
        ("not_possible", {"what": "delivery", "why": "outside_area"}, "do not deliver there"),
        (
            "not_possible",
            {"what": "when", "why": "closed", "possible": ["2026-11-21T12:00:00-05:00"]},
            "tomorrow at 12 noon",
        ),
        ("missing", {"needs": ["items", "fulfilment"]}, "what you would like"),
        ("wrong_stage", {"stage": "placed"}, "with the kitchen"),
        ("not_found", {"kind": "line"}, "do not find"),
        ("unavailable", {"why": "locked"}, "nothing was changed"),
        ("internal", {}, "nothing was changed"),
    ],
)
def test_every_refusal_has_a_sentence_for_guests(
    refusals: Refusals, code: str, facts: dict[str, Any], said: str
) -> None:
    outcome = Outcome("add_item", {}, "", code=code, message="for the model only", facts=facts)

    assert said in refusals.say(outcome)
    assert "for the model" not in refusals.say(outcome)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"quantity": 2, "size": "large", "name": "Margherita"}, "two large Margheritas"),
        (
            {"quantity": 1, "name": "Latte", "modifications": ["no foam", "oat milk", "3 shots"]},
            "a Latte with oat milk and 3 shots without foam",
        ),
        (
            {"name": "Latte", "size": "grande", "modifications": ["iced", "oat"]},
            "a grande iced Latte with oat",
        ),
        (
            {"name": "Deal", "parts": ["Cola", "small Marinara"]},
            "a Deal with Cola and small Marinara",
        ),
    ],
)
def test_a_line_is_said_as_a_waiter_says_it(line: dict[str, Any], said: str) -> None:
    assert line_words(line) == said
