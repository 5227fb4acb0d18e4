"""Agents can be talked to in plain lines, without an application around them."""

import io
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from agents.handoff import talk
from agents.testing import ScriptedLLM, calls, says
from tests.agents.hotel import hotel

ROOT = Path(__file__).parents[3]
BOOKED = (
    says("Good evening!"),
    calls(("add_nights", {"nights": 2}), "transfer_to_concierge"),
    says("Tonight there is Tosca."),
)


async def test_words_and_handoffs_are_shown_in_order() -> None:
    out = io.StringIO()

    reason = await talk(hotel(), ScriptedLLM(BOOKED), lines=["", "two nights, and a show"], out=out)

    assert reason == "input_ended"
    assert out.getvalue().splitlines() == [
        "reception: Good evening!",
        "you: two nights, and a show",
        "[reception hands over to concierge]",
        "concierge: Tonight there is Tosca.",
    ]


async def test_refused_calls_are_shown_with_their_reason() -> None:
    out = io.StringIO()
    model = ScriptedLLM(
        [says("Good evening!"), calls(("add_nights", {"nights": 99})), says("Not that long.")]
    )

    await talk(hotel(), model, lines=["99 nights"], out=out)

    assert "[add_nights: Nothing was changed. not_valid:" in out.getvalue()


async def test_nothing_is_read_after_a_voice_has_ended_the_call() -> None:
    model = ScriptedLLM([says("Good evening!"), calls("end_call"), says("Goodbye!")])
    lines = iter(["bye", "are you still there?"])

    assert await talk(hotel(), model, lines=lines, out=io.StringIO()) == "agent_ended"
    assert next(lines) == "are you still there?"


@pytest.mark.processes
def test_lines_come_from_the_standard_input_when_none_are_given() -> None:
    program = """
        import asyncio
        from agents.handoff import talk
        from agents.testing import ScriptedLLM, says
        from tests.agents.hotel import hotel

        model = ScriptedLLM([says("Good evening!"), says("Gladly."), says("And that.")])
        asyncio.run(talk(hotel(), model))
    """

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        input="a room, ple\xe4se\n\nand a view",
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
        capture_output=True,
        timeout=50,
        check=True,
    )

    assert done.stdout.splitlines() == [
        "reception: Good evening!",
        "you: a room, ple\xe4se",
        "reception: Gladly.",
        "you: and a view",
        "reception: And that.",
    ]
