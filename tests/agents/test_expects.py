"""Which answer an agent expects after changes on the page."""

from datetime import UTC, datetime

import pytest

from agents.telling import choices, expects
from bella_vista.menus import menu_file
from state.errors import ChoiceMissing, WrongStage
from state.menu import load_menu
from state.opening import open_order
from state.order import OrderState, Stage


def order(stage: Stage, **more: object) -> OrderState:
    new = open_order(
        load_menu(menu_file(None)),
        order_id="a",
        order_number="101",
        channel="web_text",
        now=datetime(2026, 11, 20, 18, tzinfo=UTC),
    )
    return new.model_copy(update={"stage": stage, "payment_method": "cash", **more})


@pytest.mark.parametrize("stage", [Stage.PLACED, Stage.READY, Stage.CANCELLED])
@pytest.mark.parametrize("speaker", ["greeter", "order_taker", "payment"])
def test_of_an_order_that_is_placed_or_over_nothing_is_asked(stage: Stage, speaker: str) -> None:
    assert expects(order(stage), speaker, None) == "open"


def test_a_tip_is_asked_for_while_it_can_be_given() -> None:
    assert expects(order(Stage.CONFIRMED), "payment", None) == "amount"
    assert expects(order(Stage.PLACED), "feedback", None) == "rating"


def test_the_stages_of_an_order_are_no_choice_of_the_guests() -> None:
    late = WrongStage("Too late.", stage="placed", needs=[], possible=["accepted", "failed"])
    size = ChoiceMissing("Which?", name="Cola", group="size", possible=["can", "bottle"])

    assert choices(late) == []
    assert choices(size) == ["can", "bottle"]
    assert expects(order(Stage.PLACED), "payment", late) == "open"
    assert expects(order(Stage.OPEN), "order_taker", size) == "choice"
