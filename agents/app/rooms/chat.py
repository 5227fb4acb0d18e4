"""Chat messages in the room: whole texts, in order, from the user."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from livekit import rtc

from agents.app.background import BackgroundTasks
from agents.app.rooms.presence import Presence
from agents.app.words import too_many
from rpc.gateway import is_too_large
from rpc.gateway.rates import Rates
from rpc.page import LONGEST_SAID
from state.privacy.text import clean

logger = logging.getLogger(__name__)

TOPIC = "lk.chat"

BURST, PER_SECOND = 40, 4.0
"""The rate limit of a participant's messages: a burst, and messages per second; the rest is
dropped."""

READ_S = 30.0
"""How long a message may take to arrive, in seconds: later ones wait for it."""

TOLD_AFTER_S = 1.0
"""How long dropped messages are counted before their sender is told, in seconds."""


class Chat:
    """Reads ``lk.chat`` and passes the user's messages to the call.

    livekit-agents 1.8.9 has a reader too, which loses messages that arrive before the user is
    known to it or during a handoff.

    Args:
        presence: Knows who may be the user.
        hear: Receives each message.
        refuse: Tells the user of messages that were not accepted; gets the text and a unique
            segment id.
        too_long: Said when a message was too long.
    """

    def __init__(
        self,
        presence: Presence,
        hear: Callable[[str], None],
        refuse: Callable[[str, str], Awaitable[None]],
        *,
        too_long: str,
    ) -> None:
        self._too_long = too_long
        self._presence = presence
        self._hear = hear
        self._refuse = refuse
        self._rates = Rates(at_once=BURST, per_second=PER_SECOND)
        self._last: dict[str, asyncio.Task[None]] = {}
        self._dropped: dict[str, int] = {}
        """Dropped messages by sender, until the sender is told."""
        self._background = BackgroundTasks("chat message not read")

    def follow(self, room: rtc.Room) -> None:
        """Subscribe to a room's chat; call it before the room is connected."""
        room.register_text_stream_handler(TOPIC, self._opened)

    async def aclose(self) -> None:
        """Stop reading."""
        await self._background.aclose()

    def _opened(self, reader: rtc.TextStreamReader, identity: str) -> None:
        if not identity:
            return
        if self._rates.take(identity) is not None:
            self._drop(reader.info.stream_id, identity)
            return
        task = self._background.spawn(self._read(reader, identity, self._last.get(identity)))
        self._last[identity] = task
        task.add_done_callback(lambda done: self._ended(done, identity))

    def _drop(self, stream_id: str, identity: str) -> None:
        known = self._dropped.get(identity, 0)
        self._dropped[identity] = known + 1
        if not known:
            self._background.spawn(self._tell_dropped(stream_id, identity))

    async def _tell_dropped(self, stream_id: str, identity: str) -> None:
        await asyncio.sleep(TOLD_AFTER_S)
        count = self._dropped.pop(identity)
        logger.warning("chat rate limit exceeded, messages dropped: %d", count)
        if identity == self._presence.user:
            await self._refuse(too_many(count), f"too many {stream_id}")

    async def _read(
        self, reader: rtc.TextStreamReader, identity: str, before: "asyncio.Task[None] | None"
    ) -> None:
        text: str | None
        try:
            async with asyncio.timeout(READ_S):
                text = clean(await reader.read_all(), lines=True)
            if len(text) > LONGEST_SAID:  # ``say`` takes no more either
                text = None
        except TimeoutError:  # its sender may have lost the connection
            reader.close()
            raise
        except rtc.StreamError as error:
            if not is_too_large(error):
                raise
            text = None
        if before is not None:
            await asyncio.wait((before,))
        # An unknown sender may have just joined, and becomes the user if there is none yet.
        if text == "" or not await self._presence.wait_for(identity):
            return
        if not self._presence.claim(identity):
            return
        if text is None:
            await self._refuse(self._too_long, f"too long {reader.info.stream_id}")
        else:
            self._hear(text)

    def _ended(self, task: "asyncio.Task[None]", identity: str) -> None:
        self._rates.done(identity)
        if self._last.get(identity) is task:
            del self._last[identity]
