"""The keys of a telephone."""

import asyncio

import pytest

from agents.app.rooms.phone import DtmfDigits
from agents.app.words import Words


async def pressed(keys: str) -> list[str]:
    said: list[str] = []
    pad = DtmfDigits(said.append, pause_s=0.0, a_person=Words().a_person)
    for key in keys:
        pad.press(key)
    for _ in range(3):
        await asyncio.sleep(0)
    return said


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("5", ["5"]),
        ("42", ["42"]),
        ("5#", ["5"]),
        ("5#4#", ["5", "4"]),
        ("0", [Words().a_person]),
        ("0#", [Words().a_person]),
        ("10", ["10"]),
        ("####", []),
        ("**", []),
        ("4*2", ["42"]),
        ("A", []),
        ("", []),
    ],
)
async def test_pressed_keys_are_one_message_of_the_guest(keys: str, said: list[str]) -> None:
    assert await pressed(keys) == said


async def test_no_more_is_taken_in_than_a_number_has() -> None:
    (said,) = await pressed("1" * 500)
    assert len(said) == 20


async def test_a_pause_ends_a_number() -> None:
    said: list[str] = []
    pad = DtmfDigits(said.append, pause_s=0.0, a_person=Words().a_person)
    pad.press("4")
    for _ in range(3):
        await asyncio.sleep(0)
    pad.press("2")
    pad.cancel()
    assert said == ["4"]
