from datetime import datetime
from pathlib import Path

import pytest
from pydantic import BaseModel

from agents.app.app import App
from agents.app.conversation_files.reading import ConversationFaults, load_conversation
from agents.app.replay.running import run_conversation
from agents.handoff import Agent, Graph, Opening
from bella_vista.app import APP
from bella_vista.settings import Settings
from tests.bella_vista.small_restaurant import MENU

SCRIPT = """
script:
- say: Good evening.
- calls: [{name: set_customer, arguments: {name: Ada}}]
- say: Hello Ada.
"""


async def held(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    run = await run_conversation(APP, load_conversation(APP, path), Settings(menu=MENU))
    return [str(failure).removeprefix(f"{tmp_path}/") for failure in run.failures]


async def test_a_fact_that_holds_has_no_failure(tmp_path: Path) -> None:
    text = SCRIPT + "turns: [{user: I am Ada, said: hello ADA, state: {customer_name: Ada}}]\n"

    assert await held(tmp_path, text) == []


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ("agent: payment", ["agent: expected payment, got greeter"]),
        ("tools: []", ["tools: expected [], got [set_customer]"]),
        ("handoff: payment", ["handoff: expected [payment], got []"]),
        ("said: goodbye", ['said: expected "goodbye", no agent said it']),
        ("not_said: ada", ['not_said: an agent said "ada"']),
        (
            "state: {customer_name: Bo}, agent: payment",
            ["agent: expected payment, got greeter", "customer_name: expected Bo, got Ada"],
        ),
    ],
)
async def test_a_fact_that_does_not_hold_is_reported_with_its_turn_and_its_events(
    tmp_path: Path, facts: str, told: list[str]
) -> None:
    text = f"{SCRIPT}turns:\n- {{user: I am Ada, {facts}}}\n"

    (failure,) = await held(tmp_path, text)

    assert failure.splitlines() == [
        'c.yaml:7: turn 1 of 1 ("I am Ada")',
        *(f"  {line}" for line in told),
        "  what happened:",
        "    tool set_customer {name: Ada} returned: Done.",
        "    greeter: Hello Ada.",
    ]


async def test_greeting_and_end_have_facts_of_their_own(tmp_path: Path) -> None:
    text = SCRIPT + "greeting: {said: bonsoir}\nturns: [{user: I am Ada}]\nend: {stage: placed}\n"

    assert await held(tmp_path, text) == [
        'c.yaml:6: the greeting\n  said: expected "bonsoir", no agent said it\n'
        "  what happened:\n    greeter: Good evening.",
        "c.yaml:8: the end\n  stage: expected placed, got open\n  what happened:\n    user: I am Ada\n"
        "      tool set_customer {name: Ada} returned: Done.\n      greeter: Hello Ada.",
    ]


async def test_the_end_shows_each_turn_that_no_other_failure_shows(tmp_path: Path) -> None:
    script = "script: [{say: Good evening.}, {say: Yes.}, {say: No.}]\n"
    turns = "turns: [{user: Open?, said: maybe}, {user: Closed?}]\nend: {stage: placed}\n"

    turn, end = await held(tmp_path, script + turns)

    assert turn.endswith("  what happened:\n    greeter: Yes.")
    assert end.endswith("  what happened:\n    user: Closed?\n      greeter: No.")


async def test_the_clock_advances_to_the_time_of_a_turn(tmp_path: Path) -> None:
    note = "{calls: [{name: add_note, arguments: {title: bell, content: ring twice}}]}"
    text = f"""
script: [{{say: hi}}, {note}, {{say: a}}, {note}, {{say: b}}]
order: {{active_agent: order_taker}}
turns:
- user: ring twice
  state: {{notes: [{{created_at: "2026-11-20T19:00"}}]}}
- user: ring again
  at: "2026-11-20T19:40"
end: {{notes: [{{created_at: "2026-11-20T19:00"}}, {{created_at: "2026-11-20T19:40"}}]}}
"""

    assert await held(tmp_path, text) == []


@pytest.mark.parametrize(
    "turns", ["[{user: a}, {user: b}]", "[{user: a}, {user: b}, {user: c}, {user: d}]"]
)
async def test_a_script_that_does_not_fit_fails(tmp_path: Path, turns: str) -> None:
    script = "script: [{say: hi}, {say: a}, {say: b}, {say: c}]\n"

    lines = await held(tmp_path, f"{script}turns: {turns}\n")

    assert len(lines) == 1
    assert lines[0].startswith("c.yaml:1: ")
    assert "the script does not fit: " in lines[0]


async def test_a_call_that_has_ended_takes_no_further_turn(tmp_path: Path) -> None:
    script = "script: [{say: hi}, {calls: [{name: end_call}], say: Goodbye.}]\n"

    lines = await held(tmp_path, script + "turns:\n- user: bye\n- user: wait\n")

    assert lines == ['c.yaml:4: turn 2 of 2 ("wait")\n  the call had ended before (agent_ended)']


@pytest.mark.parametrize(
    ("order", "why"),
    [
        ("{order_items: [{name: Unicorn}]}", "not_on_menu"),
        ("{order_items: [{name: Tiramisu}], total: 1}", "total: expected 1, got 708"),
        ("{stage: placed}", "missing"),
        ("{order_items: [{quantity: 2}]}", "is missing"),
        ("{item_count: 3}", "item_count: expected 3, got 0"),
    ],
)
async def test_an_order_that_cannot_be_is_a_fault(tmp_path: Path, order: str, why: str) -> None:
    text = f"{SCRIPT}turns: [{{user: hello}}]\norder: {order}\n"

    with pytest.raises(ConversationFaults) as caught:
        await held(tmp_path, text)

    assert why in caught.value.faults[0].lower()
    assert ":7: no such order to start from is possible" in caught.value.faults[0]


@pytest.mark.parametrize(
    "stage",
    [
        *("open", "review", "confirmed", "placed", "accepted", "preparing", "ready"),
        *("completed", "cancelled", "failed"),
    ],
)
async def test_an_order_can_start_in_every_stage(tmp_path: Path, stage: str) -> None:
    text = f"""
script: [{{say: Good evening}}, {{say: Hello}}]
order:
  stage: {stage}
  customer_name: Ada
  phone: "+12125550142"
  order_items: [{{name: Margherita, size: small, quantity: 2, modifications: no basil}}]
  fulfilment: {{kind: pickup}}
  coupons: TWOOFF
  tip_percentage: 10
  payment_method: cash
  allergies: [nuts]
  notes: [{{title: bell, content: please ring twice}}]
  person_wanted: true
  active_agent: feedback
turns: [{{user: hello, agent: feedback}}]
end: {{stage: {stage}, subtotal: 1800, tip: 180, active_agent: feedback, person_wanted: true}}
"""

    assert await held(tmp_path, text) == []


async def test_a_model_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ConversationFaults, match=":2: there is no model"):
        await held(tmp_path, "turns: [{user: hello}]\nmodel: oracle\n")


async def test_a_script_may_stand_in_a_file_beside_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "steps.yaml").write_text("[{say: Good evening}, {say: Hello there}]\n")

    text = "turns: [{user: hello, said: hello there}]\nmodel: script:steps.yaml\n"

    assert await held(tmp_path, text) == []


class Booking(BaseModel, frozen=True):
    promised_at: datetime | None = None


class Desk(Agent[Booking, None]):
    name = "desk"
    prompt = "You are a desk."
    opening = Opening(first="Greet.", handed_over="Go on.", come_back="Greet.", canned="Hello.")


@pytest.mark.parametrize("key", ["booking", "end"])
async def test_a_time_of_an_applications_own_may_be_written_without_its_seconds(
    tmp_path: Path, key: str
) -> None:
    time = datetime.fromisoformat("2026-11-20T19:00+01:00")
    application: App[Booking, None] = App(
        name="desk",
        noun="booking",
        plural="bookings",
        prefix="desk",
        state=Booking,
        context=lambda environment: None,
        new=lambda context, new: Booking(promised_at=time),
        graph=Graph((Desk,), (), start="desk"),
    )
    path = tmp_path / "c.yaml"
    path.write_text(
        f'{key}: {{promised_at: "2026-11-20T19:00+01:00"}}\n'
        "script: [{say: Hello.}, {say: Yes.}]\nturns: [{user: Hello}]\n"
    )

    run = await run_conversation(application, load_conversation(application, path))

    assert run.text == ""
