"""A silent guest is reminded, then the call ends; a call that stalls is given up."""

import asyncio

import pytest

from agents.app.rooms.silence import SilencePolicy, SilenceTimer, StallTimer
from agents.testing import until

AT_ONCE = SilencePolicy(remind_after_s=0.0, reminders=2, end_after_s=0.0)
NEVER = SilencePolicy(remind_after_s=1000.0, reminders=1, end_after_s=1000.0)


async def a_moment() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def test_after_the_last_reminder_the_call_ends() -> None:
    happened: list[str] = []
    silence = SilenceTimer(
        AT_ONCE, lambda: happened.append("asked"), lambda: happened.append("ended")
    )
    for _ in range(3):
        silence.start()
        await a_moment()
    assert happened == ["asked", "asked", "ended"]


async def test_words_reset_the_reminders() -> None:
    happened: list[str] = []
    silence = SilenceTimer(
        AT_ONCE, lambda: happened.append("asked"), lambda: happened.append("ended")
    )
    for _ in range(5):
        silence.start()
        await a_moment()
        silence.reset()
        silence.stop()
    assert happened == ["asked"] * 5


async def test_no_reminder_while_an_agent_speaks_or_the_guest_is_away() -> None:
    happened: list[str] = []
    silence = SilenceTimer(
        AT_ONCE, lambda: happened.append("asked"), lambda: happened.append("ended")
    )
    silence.start()
    silence.stop()
    silence.reset()
    await a_moment()
    assert happened == []


async def test_every_activity_restarts_the_timer() -> None:
    silence = SilenceTimer(NEVER, lambda: None, lambda: None)
    silence.start()
    before = silence.due_at
    await asyncio.sleep(0.001)
    silence.reset()
    assert before is not None
    assert silence.due_at is not None
    assert silence.due_at > before
    silence.stop()
    assert silence.due_at is None


async def test_a_call_in_which_nothing_happens_is_given_up() -> None:
    happened: list[str] = []
    stall = StallTimer(0.0, lambda: False, lambda: happened.append("given up"))
    stall.start()
    stall.stop()  # the user's turn
    await a_moment()
    assert happened == []
    stall.start()
    await a_moment()
    assert happened == ["given up"]


async def test_a_call_in_which_someone_speaks_has_not_stalled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    happened: list[str] = []
    speaking = [True, True, False]
    stall = StallTimer(0.0, lambda: speaking.pop(0), lambda: happened.append("given up"))
    stall.start()
    await a_moment()
    assert happened == []
    await until(lambda: happened)
    assert speaking == []

    monkeypatch.setattr(
        "agents.app.rooms.silence.LONGEST_SPEECH_S", -1.0
    )  # longer than any reply takes
    stall = StallTimer(0.0, lambda: True, lambda: happened.append("given up"))
    stall.start()
    await until(lambda: len(happened) == 2)
