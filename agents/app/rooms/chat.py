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
"""How long a message may take to arrive, in seconds; later messages wait for it."""

TOLD_AFTER_S = 1.0
"""How long dropped messages are counted before their sender is notified, in seconds."""


class Chat:
    """Reads ``lk.chat`` and passes the user's messages to the call.

    livekit-agents 1.8.9 has its own reader. It loses messages that arrive before it knows the user,
    or during a handoff.

    Args:
        presence: Decides which participant is the user.
        hear: Called with each message.
        refuse: Notifies the user of messages that were not accepted; called with the text and a
            unique segment id.
        too_long: The text for a message that was too long.
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
        self._last_read: dict[str, asyncio.Task[None]] = {}
        self._dropped: dict[str, int] = {}
        """Dropped messages by sender, until the sender is notified."""
        self._background = BackgroundTasks("chat message not read")

    def follow(self, room: rtc.Room) -> None:
        """Subscribe to a room's chat; call it before the room is connected."""
        room.register_text_stream_handler(TOPIC, self._on_stream)

    async def aclose(self) -> None:
        """Stop reading."""
        await self._background.aclose()

    def _on_stream(self, reader: rtc.TextStreamReader, identity: str) -> None:
        if not identity:
            return
        if self._rates.take(identity) is not None:
            self._count_dropped(reader.info.stream_id, identity)
            return
        task = self._background.spawn(self._read(reader, identity, self._last_read.get(identity)))
        self._last_read[identity] = task
        task.add_done_callback(lambda done: self._on_read(done, identity))

    def _count_dropped(self, stream_id: str, identity: str) -> None:
        known = self._dropped.get(identity, 0)
        self._dropped[identity] = known + 1
        if not known:
            self._background.spawn(self._notify_dropped(stream_id, identity))

    async def _notify_dropped(self, stream_id: str, identity: str) -> None:
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
            if len(text) > LONGEST_SAID:  # the limit of the method ``say``
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
        # A sender who has just joined may be unknown yet, and is bound as the user if none is.
        if text == "" or not await self._presence.wait_for(identity):
            return
        if not self._presence.claim(identity):
            return
        if text is None:
            await self._refuse(self._too_long, f"too long {reader.info.stream_id}")
        else:
            self._hear(text)

    def _on_read(self, task: "asyncio.Task[None]", identity: str) -> None:
        self._rates.done(identity)
        if self._last_read.get(identity) is task:
            del self._last_read[identity]
