"""A wait that is given up names what it waited for, and what happened meanwhile."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from agents.testing import Conversation, ConversationError, ScriptedLLM, calls, says, until
from tests.agents.hotel import hotel

ROOT = Path(__file__).parents[3]


class Clerk:
    """Somebody with a report of their own."""

    name = "Ada"

    def gone(self) -> bool:
        return False

    def what_happened(self) -> str:
        return "rang the bell\nwaited"


def absent(_: Clerk, *, room: int) -> bool:
    return room < 0


async def given_up(condition: Callable[[], object], what: str = "") -> str:
    with pytest.raises(ConversationError) as given_up:
        await until(condition, seconds=0, what=what)
    return str(given_up.value)


async def test_the_condition_is_told_as_it_is_written_with_the_values_it_compared() -> None:
    counts = {"keys": 3, "guests": 1}

    told = await given_up(
        lambda: (
            counts["keys"] == 4  # as many as there are rooms
            and sum(counts.values()) > 100
        )
    )

    assert told.splitlines() == [
        "counts['keys'] == 4 and sum(counts.values()) > 100 did not come about within 0 s",
        "  counts['keys'] = 3",
        "  sum(counts.values()) = 4",
        "  counts = {'keys': 3, 'guests': 1}",
    ]


async def test_a_part_that_cannot_be_read_is_told_as_its_error() -> None:
    notices: list[str] = []

    told = await given_up(lambda: notices and notices[-1] == "turn")

    assert "  notices[-1] = IndexError: list index out of range" in told


async def test_objects_tell_what_happened_to_them() -> None:
    clerk = Clerk()
    happened = "rang the bell", "waited"

    for told in (
        await given_up(lambda: clerk.name == "Grace"),
        await given_up(clerk.gone),
        await given_up(partial(absent, clerk, room=7)),
    ):
        assert [line for line in happened if f"    {line}" in told.splitlines()] == [*happened]
    assert "  room = 7" in told.splitlines()


async def test_a_name_of_its_own_stands_before_the_condition() -> None:
    told = await given_up(lambda: False, "the key of room 7")

    assert told.splitlines() == [
        "the key of room 7 did not come about within 0 s",
        "  waited for: False",
    ]


async def test_a_long_value_shows_its_end() -> None:
    log = "a" * 10_000 + "the last line"

    told = await given_up(lambda: log.endswith("door"))

    assert "the last line" in told
    assert len(told) < 5_000


async def test_a_conversation_tells_its_events_and_a_model_its_requests() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls(("set_guest", {"name": "Ada"})), says("Noted.")]
    )

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("Ada here")
        by_talk = await given_up(lambda: talk.state.nights == 2)
        with pytest.raises(ConversationError) as of_model:
            await until(lambda: len(model.requests) == 4)

    assert "  talk.state.nights = 0" in by_talk.splitlines()
    assert "    turn 1: Heard(turn=1, text='Ada here')" in by_talk.splitlines()
    assert f"```text\n{of_model.value}\n```" in (ROOT / "docs/testing.md").read_text()
