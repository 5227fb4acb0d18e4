"""What people in the room write: whole texts, in their order, from whoever is the guest."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from livekit import rtc

from bella_vista.rooms.attendance import Attendance
from rpc.gateway import is_too_large
from rpc.gateway.rates import Rates
from state.text import clean

logger = logging.getLogger(__name__)

TOPIC = "lk.chat"
LONGEST = 1_000
"""How much of one text is heard, in characters."""

AT_ONCE, PER_SECOND = 10, 2.0
"""How many texts somebody may write at once, and how many more each second; what is beyond is not heard."""


class Chat:
    """Reads ``lk.chat``, and gives what the guest wrote to the call.

    livekit-agents 1.8.9 has a reader of its own, which drops what comes before it knows of the guest, and what
    comes during a handoff.

    Args:
        attendance: Who may be the guest.
        hear: Takes in what he wrote.
        refuse: Answers a text of theirs that was too large to be taken in; gets the stream's id.
    """

    def __init__(
        self,
        attendance: Attendance,
        hear: Callable[[str], None],
        refuse: Callable[[str], Awaitable[None]],
    ) -> None:
        self._attendance = attendance
        self._hear = hear
        self._refuse = refuse
        self._rates = Rates(at_once=AT_ONCE, per_second=PER_SECOND)
        self._last: dict[str, asyncio.Task[None]] = {}
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
        if not identity or self._rates.take(identity) is not None:
            return
        work = self._read(reader, identity, self._last.get(identity))
        task = asyncio.get_running_loop().create_task(work)
        self._last[identity] = task
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(done, identity))

    async def _read(
        self, reader: rtc.TextStreamReader, identity: str, before: "asyncio.Task[None] | None"
    ) -> None:
        text: str | None
        try:
            text = clean((await reader.read_all())[:LONGEST], lines=True)
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
            await self._refuse(reader.info.stream_id)
        else:
            self._hear(text)

    def _ended(self, task: "asyncio.Task[None]", identity: str) -> None:
        self._rates.done(identity)
        self._tasks.discard(task)
        if self._last.get(identity) is task:
            del self._last[identity]
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.warning("a text could not be read: %s", type(error).__name__)
