"""What the local model says: its questions can be found again, and every refusal has its sentence."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bella_vista import page_comments
from bella_vista.local import phrases
from bella_vista.local.answers import line_words
from bella_vista.local.phrases import Topic, topic
from bella_vista.local.refusals import Refusals
from bella_vista.local.scene import Outcome
from state.menu import load_menu

NOW = datetime.fromisoformat("2026-11-20T19:00:00-05:00")


@pytest.fixture(scope="module")
def refusals() -> Refusals:
    menu = load_menu(Path(__file__).parents[3] / "bella_vista" / "menu.yaml")
    return Refusals(menu, lambda: NOW)


@pytest.mark.parametrize(
    ("question", "about"),
    [
        (phrases.ANYTHING_ELSE, Topic.ANYTHING_ELSE),
        (phrases.WANTED, Topic.WANTED),
        (phrases.WHAT_ELSE, Topic.WANTED),
        (phrases.CHANGE, Topic.WANTED),
        (phrases.FULFILMENT, Topic.FULFILMENT),
        (phrases.ADDRESS, Topic.ADDRESS),
        (phrases.POSTCODE, Topic.POSTCODE),
        (phrases.MINIMUM, Topic.MINIMUM),
        (phrases.WHEN, Topic.WHEN),
        (phrases.NAME, Topic.NAME),
        (phrases.CONFIRM, Topic.CONFIRM),
        (phrases.PLACE, Topic.PLACE),
        (phrases.RATING, Topic.RATING),
        (phrases.COMMENT, Topic.COMMENT),
        (phrases.REALLY_CANCEL, Topic.KEEP),
        (phrases.RATE, Topic.RATING),
        (page_comments.RATE, Topic.RATING),
        (page_comments.READ_AGAIN, Topic.READ_AGAIN),
        ("Anything else, or shall I read it back to you?", Topic.READ_AGAIN),
        ("Is everything else right as I read it to you?", Topic.CONFIRM),
    ],
)
def test_a_question_is_found_again_in_what_was_said(question: str, about: Topic) -> None:
    assert topic(f"Noted: one Cola. {question}") is about


def test_of_two_questions_the_last_one_counts() -> None:
    assert topic(f"{phrases.ANYTHING_ELSE} {phrases.CONFIRM}") is Topic.CONFIRM


@pytest.mark.parametrize(
    ("code", "facts", "said"),
    [
        ("sold_out", {"name": "Tartufo", "near": ["Ortolana"]}, "out of Tartufo"),
        ("not_on_menu", {"words": "unicorn pizza", "near": []}, "do not have unicorn pizza"),
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
        ({"quantity": 2, "size": "large", "name": "Margherita"}, "two large Margherita"),
        (
            {"quantity": 1, "name": "Latte", "modifications": ["no foam", "oat milk", "3 shots"]},
            "one Latte with oat milk and 3 shots without foam",
        ),
        (
            {"name": "Deal", "parts": ["Cola", "small Marinara"]},
            "one Deal with Cola and small Marinara",
        ),
    ],
)
def test_a_line_is_said_as_a_waiter_says_it(line: dict[str, Any], said: str) -> None:
    assert line_words(line) == said
