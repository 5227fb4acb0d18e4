"""A guest who says nothing."""

import asyncio

from bella_vista.rooms.patience import Patience, Silence

AT_ONCE = Patience(asks_after_s=0.0, asks=2, ends_after_s=0.0)
NEVER = Patience(asks_after_s=1000.0, asks=1, ends_after_s=1000.0)


async def a_moment() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def test_he_is_asked_as_often_as_is_polite_and_then_the_call_ends() -> None:
    happened: list[str] = []
    silence = Silence(AT_ONCE, lambda: happened.append("asked"), lambda: happened.append("ended"))
    for _ in range(3):
        silence.begins()
        await a_moment()
    assert happened == ["asked", "asked", "ended"]


async def test_who_speaks_is_asked_anew_later() -> None:
    happened: list[str] = []
    silence = Silence(AT_ONCE, lambda: happened.append("asked"), lambda: happened.append("ended"))
    for _ in range(5):
        silence.begins()
        await a_moment()
        silence.broken()
        silence.stops()
    assert happened == ["asked"] * 5


async def test_nobody_is_asked_while_a_voice_speaks_or_he_is_away() -> None:
    happened: list[str] = []
    silence = Silence(AT_ONCE, lambda: happened.append("asked"), lambda: happened.append("ended"))
    silence.begins()
    silence.stops()
    silence.broken()
    await a_moment()
    assert happened == []


async def test_the_time_starts_again_with_everything_he_does() -> None:
    silence = Silence(NEVER, lambda: None, lambda: None)
    silence.begins()
    before = silence.due_at
    await asyncio.sleep(0.001)
    silence.broken()
    assert before is not None
    assert silence.due_at is not None
    assert silence.due_at > before
    silence.stops()
    assert silence.due_at is None
