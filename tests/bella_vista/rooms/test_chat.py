"""What is written on ``lk.chat``, as far as it is words."""

from typing import Any, cast

import pytest

from bella_vista.rooms.attendance import Attendance
from bella_vista.rooms.chat import Chat
from tests.livekit import until


class Everybody:
    """An attendance for which whoever writes is the guest."""

    async def look_for(self, identity: str) -> bool:
        """Say that he is there."""
        return True

    def claim(self, identity: str) -> bool:
        """Say that it is he."""
        return True


class Room:
    """A room in which somebody writes."""

    def register_text_stream_handler(self, topic: str, handler: Any) -> None:
        """Keep who reads."""
        self.handler = handler

    def write(self, text: str) -> None:
        """Write a whole text."""
        self.handler(Text(text), "guest")


class Text:
    """A text stream that is there at once."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def read_all(self) -> str:
        """Return all of it."""
        return self._text


@pytest.mark.parametrize("nothing", ["", "  \n", "\u200b", " \u202e\u200b\x00 "])
async def test_what_holds_no_words_is_nothing_that_was_said(nothing: str) -> None:
    heard: list[str] = []
    room, chat = Room(), Chat(cast(Attendance, Everybody()), heard.append)
    chat.follow(cast(Any, room))

    room.write(nothing)
    room.write("two\u200b colas")
    await until(lambda: heard)

    assert heard == ["two colas"]
    await chat.aclose()
