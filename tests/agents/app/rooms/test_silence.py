"""A guest who says nothing."""

import asyncio

from agents.app.rooms.silence import SilencePolicy, SilenceTimer

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
