"""Publishes call information as attributes of the agent's participant.

Best effort: livekit-agents 1.8.9 does not report when the server rejects attributes, and everyone in the room
can read them. Clients that need the exact state ask for it by RPC.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

logger = logging.getLogger(__name__)

PAUSE_S = 0.25
"""The minimum time between two updates, in seconds; changes in between are sent as one update. For each update
livekit-server 1.13.5 notifies everyone in the room and issues this participant a new token."""

_GIVE_UP_S = 10.0
"""The timeout of an update, in seconds."""


class Participant(Protocol):
    """The participant whose attributes are set: a room's ``local_participant``."""

    async def set_attributes(self, attributes: dict[str, str]) -> None:
        """Merge these attributes into the existing ones."""
        ...


class Attributes:
    """Attributes of this participant, updated in the background, one update at a time; the latest values win.

    Create it inside a running event loop; close it with ``aclose``.

    Args:
        participant: The participant.
        sleep: Used to wait between two updates.
    """

    def __init__(
        self,
        participant: Participant,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._participant = participant
        self._sleep = sleep
        self._wanted: dict[str, str] = {}
        self._shown: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._warned = False
        self._task = asyncio.get_running_loop().create_task(self._run(), name="update attributes")

    def show(self, attributes: Mapping[str, str]) -> None:
        """Set these attributes beside the others; an empty text removes one. Returns at once, never raises."""
        self._wanted.update(attributes)
        self._changed.set()

    def again(self) -> None:
        """Send all attributes again after a reconnect, because updates may have been lost."""
        self._shown = {}
        self._changed.set()

    async def aclose(self) -> None:
        """Stop updating."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            changed = {
                name: text for name, text in self._wanted.items() if self._shown.get(name) != text
            }
            if changed:
                await self._update(changed)
                await self._sleep(PAUSE_S)

    async def _update(self, changed: dict[str, str]) -> None:
        shown = self._shown
        try:
            async with asyncio.timeout(_GIVE_UP_S):
                await self._participant.set_attributes(changed)
        except Exception as error:  # sent again with the next change; the conversation goes on
            if not self._warned:
                self._warned = True
                logger.warning("attributes could not be set", extra={"error": type(error).__name__})
        else:
            shown.update(changed)
