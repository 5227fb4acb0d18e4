"""What people in the room write: whole texts, in their order, from whoever is the guest."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from livekit import rtc

from bella_vista.rooms.attendance import Attendance
from bella_vista.rooms.words import TOO_LONG, too_many
from rpc.gateway import is_too_large
from rpc.gateway.rates import Rates
from rpc.wire import LONGEST_SAID
from state.text import clean

logger = logging.getLogger(__name__)

TOPIC = "lk.chat"

AT_ONCE, PER_SECOND = 40, 4.0
"""How many texts somebody may write at once, and how many more each second; what is beyond is not heard."""

TOLD_AFTER_S = 1.0
"""How long texts that were not heard are counted before their writer is told of them, in seconds."""


class Chat:
    """Reads ``lk.chat``, and gives what the guest wrote to the call.

    livekit-agents 1.8.9 has a reader of its own, which drops what comes before it knows of the guest, and what
    comes during a handoff.

    Args:
        attendance: Who may be the guest.
        hear: Takes in what he wrote.
        refuse: Tells the guest of texts of theirs that were not taken in; gets the words, and an id of their own.
    """

    def __init__(
        self,
        attendance: Attendance,
        hear: Callable[[str], None],
        refuse: Callable[[str, str], Awaitable[None]],
    ) -> None:
        self._attendance = attendance
        self._hear = hear
        self._refuse = refuse
        self._rates = Rates(at_once=AT_ONCE, per_second=PER_SECOND)
        self._last: dict[str, asyncio.Task[None]] = {}
        self._dropped: dict[str, int] = {}
        """How many texts were not heard, by those who are not told yet."""
        self._tasks: set[asyncio.Task[None]] = set()

    def follow(self, room: rtc.Room) -> None:
        """Read what is written in a room; call it before the room is connected."""
        room.register_text_stream_handler(TOPIC, self._opened)

    async def aclose(self) -> None:
        """Read nothing more."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _opened(self, reader: rtc.TextStreamReader, identity: str) -> None:
        if not identity:
            return
        if self._rates.take(identity) is not None:
            self._drop(reader.info.stream_id, identity)
            return
        task = self._spawn(self._read(reader, identity, self._last.get(identity)))
        self._last[identity] = task
        task.add_done_callback(lambda done: self._ended(done, identity))

    def _drop(self, stream_id: str, identity: str) -> None:
        known = self._dropped.get(identity, 0)
        self._dropped[identity] = known + 1
        if not known:
            self._spawn(self._tell_dropped(stream_id, identity))

    async def _tell_dropped(self, stream_id: str, identity: str) -> None:
        await asyncio.sleep(TOLD_AFTER_S)
        count = self._dropped.pop(identity)
        logger.warning("texts came too fast and were not heard: %d", count)
        if identity == self._attendance.guest:
            await self._refuse(too_many(count), f"too many {stream_id}")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def _read(
        self, reader: rtc.TextStreamReader, identity: str, before: "asyncio.Task[None] | None"
    ) -> None:
        text: str | None
        try:
            text = clean(await reader.read_all(), lines=True)
            if len(text) > LONGEST_SAID:  # ``say`` takes no more either
                text = None
        except rtc.StreamError as error:
            if not is_too_large(error):
                raise
            text = None
        if before is not None:
            await asyncio.wait((before,))
        # One who is not known yet may have just come, and is the guest if nobody else is.
        if text == "" or not await self._attendance.look_for(identity):
            return
        if not self._attendance.claim(identity):
            return
        if text is None:
            await self._refuse(TOO_LONG, f"too long {reader.info.stream_id}")
        else:
            self._hear(text)

    def _ended(self, task: "asyncio.Task[None]", identity: str) -> None:
        self._rates.done(identity)
        if self._last.get(identity) is task:
            del self._last[identity]

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.warning("a text could not be read: %s", type(error).__name__)
