import io
import json
from typing import get_args

from agents.app.console.event_lines import WRITTEN, EventLines
from agents.app.terminal.stdio import json_line
from agents.handoff import (
    Ended,
    Event,
    HandedOver,
    HandoffRefused,
    Heard,
    Said,
    StateChanged,
    ToolUsed,
    TurnWithdrawn,
    YourTurn,
)
from bella_vista.app import APP
from state.commands import AddItem
from tests.bella_vista.small_restaurant import restaurant


def test_every_event_is_written_or_left_out_on_purpose() -> None:
    assert set(WRITTEN) == set(get_args(Event))


def test_every_event_has_the_form_that_scripts_read() -> None:
    call = restaurant(AddItem(name="Tiramisu"), speaker="order_taker")
    out = io.StringIO()
    lines = EventLines(APP, call, out)

    lines.opens()
    for event in (
        Heard(1, "hello"),
        Said(1, "greeter", "good evening"),
        ToolUsed(1, "greeter", "set_customer", {"name": "Ada"}, "Done.", False),
        HandedOver(1, "greeter", "order_taker"),
        HandedOver(1, "order_taker", "payment", {"tip": 10}),
        HandoffRefused(1, "order_taker", "payment", "not_confirmed"),
        StateChanged(1, 1, ("add_item",), call.state),
        TurnWithdrawn(1),
        YourTurn(1, "order_taker", 1, "open"),
        Ended("input_ended"),
    ):
        lines.tell(event)
    lines.closes("input_ended")

    told = [json.loads(line) for line in out.getvalue().splitlines()]
    order = told[7].pop("state")
    assert order["order_items"][0]["name"] == "Tiramisu"
    assert order["active_agent"] == "order_taker"
    assert told[-1].pop("order") == order
    assert told == [
        {"type": "ready", "order_id": "an-order", "version": 1, "agent": "order_taker"},
        {"type": "heard", "turn": 1, "text": "hello"},
        {"type": "said", "turn": 1, "agent": "greeter", "text": "good evening"},
        {
            "type": "tool",
            "turn": 1,
            "agent": "greeter",
            "name": "set_customer",
            "arguments": {"name": "Ada"},
            "output": "Done.",
            "is_error": False,
        },
        {"type": "handoff", "turn": 1, "source": "greeter", "target": "order_taker"},
        {
            "type": "handoff",
            "turn": 1,
            "source": "order_taker",
            "target": "payment",
            "arguments": {"tip": 10},
        },
        {
            "type": "handoff_refused",
            "turn": 1,
            "source": "order_taker",
            "target": "payment",
            "reason": "not_confirmed",
        },
        {"type": "state", "turn": 1, "version": 1, "commands": ["add_item"]},
        {"type": "your_turn", "turn": 1, "agent": "order_taker", "version": 1, "expects": "open"},
        {"type": "end", "reason": "input_ended"},
    ]


def test_half_a_surrogate_pair_harms_no_reader() -> None:
    assert json_line({"text": "\ud83c"}).encode() == b'{"text": "?"}'


def test_a_number_without_end_is_still_json() -> None:
    assert json.loads(json_line({"by": float("nan")})) == {"by": "NaN"}


def test_an_event_is_one_line_to_every_reader() -> None:
    line = json_line({"text": "a\u2028b\x85c\nd"})

    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": "a\u2028b\x85c\nd"}
