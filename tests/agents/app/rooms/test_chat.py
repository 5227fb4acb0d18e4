"""What is written on ``lk.chat``, as far as it is words."""

import asyncio
from typing import Any, cast

import pytest

from agents.app.rooms.chat import BURST, Chat
from agents.app.rooms.presence import Presence
from agents.app.words import Words, too_many
from rpc.page import LONGEST_SAID
from tests.agents.app.rooms.checked_client import served
from tests.agents.app.rooms.conftest import Calls
from tests.livekit import LiveKit, until


class Everybody:
    """A presence for which every writer is the user."""

    user = "guest"

    async def wait_for(self, identity: str) -> bool:
        """Say that they are present."""
        return True

    def claim(self, identity: str) -> bool:
        """Say that it is the guest."""
        return True


class Room:
    """A room with a chat sender."""

    def register_text_stream_handler(self, topic: str, handler: Any) -> None:
        """Record the reader."""
        self.handler = handler

    def write(self, text: str, identity: str = "guest") -> None:
        """Write a whole text."""
        self.handler(Text(text), identity)


class Info:
    """What a text stream says of itself."""

    stream_id = "stream"


class Text:
    """A text stream that is there at once."""

    info = Info

    def __init__(self, text: str) -> None:
        self._text = text

    async def read_all(self) -> str:
        """Return all of it."""
        return self._text


async def never_refuse(words: str, segment: str) -> None:
    """Fail the test."""
    pytest.fail("nothing was refused")


@pytest.mark.parametrize("nothing", ["", "  \n", "\u200b", " \u202e\u200b\x00 "])
async def test_a_message_without_words_is_ignored(nothing: str) -> None:
    heard: list[str] = []
    room, chat = (
        Room(),
        Chat(cast(Presence, Everybody()), heard.append, never_refuse, too_long=Words().too_long),
    )
    chat.follow(cast(Any, room))

    room.write(nothing)
    room.write("two\u200b colas")
    await until(lambda: heard)

    assert heard == ["two colas"]
    await chat.aclose()


async def test_texts_that_come_too_fast_are_counted_and_their_writer_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("agents.app.rooms.chat.TOLD_AFTER_S", 0.0)
    monkeypatch.setattr("agents.app.rooms.chat.PER_SECOND", 1e-9)
    heard: list[str] = []
    told: list[str] = []

    async def refuse(words: str, segment: str) -> None:
        assert segment == "too many stream"
        told.append(words)

    room, chat = (
        Room(),
        Chat(cast(Presence, Everybody()), heard.append, refuse, too_long=Words().too_long),
    )
    chat.follow(cast(Any, room))

    for number in range(BURST + 3):
        room.write(str(number))
        room.write(str(number), "a stranger")
    await until(lambda: told)
    room.write("one more")
    await until(lambda: len(told) == 2 and len(heard) == 2 * BURST)

    assert [one for one in heard if heard.count(one) == 2] == heard
    assert [*dict.fromkeys(heard)] == [str(number) for number in range(BURST)]
    assert told == [too_many(3), too_many(1)]
    assert [one.getMessage() for one in caplog.records] == [
        f"chat rate limit exceeded, messages dropped: {count}" for count in (3, 3, 1)
    ]
    await chat.aclose()


async def test_a_text_is_as_long_as_one_that_is_said_or_it_is_refused() -> None:
    heard: list[str] = []
    told: list[str] = []

    async def refuse(words: str, segment: str) -> None:
        told.append(words)

    room, chat = (
        Room(),
        Chat(cast(Presence, Everybody()), heard.append, refuse, too_long=Words().too_long),
    )
    chat.follow(cast(Any, room))

    for more in (0, 1):
        room.write("x" * (LONGEST_SAID + more))
    await until(lambda: told)

    assert heard == ["x" * LONGEST_SAID]
    assert told == [Words().too_long]
    await chat.aclose()


@pytest.mark.parametrize("text", ["x" * 70_000, "é" * 40_000, "no " * 2_000_000])
async def test_a_text_that_is_too_large_is_answered_and_nothing_of_it_is_kept(
    calls: Calls, livekit: LiveKit, room_name: str, text: str
) -> None:
    async with livekit.joined(room_name, staff=True) as staff:
        async with served(calls, livekit, room_name) as (ada, agent):
            await ada.client.write(text)
            await ada.heard("too long")
            assert (await ada.call("hello"))["turn"] == 0
            await ada.client.write("one tiramisu")
            await ada.turn(1)
            assert (await ada.order())["item_count"] == 1
            # A stream that does not say how large it is, and one of somebody else.
            await staff.write(text)
            writer = await ada.client.room.local_participant.stream_text(topic="lk.chat")
            for _ in range(7):
                await writer.write("y" * 10_000)
            await until(lambda: sum("too long" in one for one in ada.client.said) == 2)
            await writer.aclose()
            assert (await ada.call("hello"))["turn"] == 1
            assert agent.call._conversation is not None
        assert not any("too long" in one for one in staff.said)


class Unfinished(Text):
    """A text stream whose sender is gone before all of it was sent."""

    closed = False

    async def read_all(self) -> str:
        """Wait for the rest."""
        await asyncio.Event().wait()
        return self._text

    def close(self) -> None:
        """Note that it is no longer read."""
        self.closed = True


async def test_a_message_that_never_arrives_whole_does_not_hold_up_the_next(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("agents.app.rooms.chat.READ_S", 0.0)
    heard: list[str] = []
    room, unfinished = Room(), Unfinished("two col")
    chat = Chat(cast(Presence, Everybody()), heard.append, never_refuse, too_long="")
    chat.follow(cast(Any, room))

    room.handler(unfinished, "guest")
    room.write("two colas")
    await until(lambda: heard)

    assert heard == ["two colas"]
    assert unfinished.closed
    assert "chat message not read: TimeoutError" in caplog.text
    await chat.aclose()
