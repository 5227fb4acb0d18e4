"""Shows a few words about the call as attributes of this participant, for clients that only look.

Best effort: livekit-agents 1.8.9 says nothing when the server takes no attributes, and everybody in the room
can read them. The truth is what a client asks for.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

logger = logging.getLogger(__name__)

PAUSE_S = 0.25
"""The time between two updates, in seconds: what changes meanwhile goes out as one. livekit-server 1.13.5 tells everybody
in the room of each, and makes this participant a new token."""

_LATEST_S = 10.0
"""When an update is given up, in seconds."""


class Shown(Protocol):
    """Whose attributes they are: a room's ``local_participant``."""

    async def set_attributes(self, attributes: dict[str, str]) -> None:
        """Set these attributes beside the others there are."""
        ...


class Attributes:
    """The attributes of this participant: the latest wins, one update at a time, awaited by nobody.

    Has to be made inside a running event loop, and ends with ``aclose``.

    Args:
        participant: Whose they are.
        pause_s: The least time between two updates, in seconds.
        sleep: Waits that long.
    """

    def __init__(
        self,
        participant: Shown,
        *,
        pause_s: float = PAUSE_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._participant = participant
        self._pause_s = pause_s
        self._sleep = sleep
        self._wanted: dict[str, str] = {}
        self._shown: dict[str, str] = {}
        self._news = asyncio.Event()
        self._complained = False
        self._task = asyncio.get_running_loop().create_task(self._run(), name="showing attributes")

    def show(self, attributes: Mapping[str, str]) -> None:
        """Show these beside the others; an empty text takes one away. Waits for nobody, never raises."""
        self._wanted.update(attributes)
        self._news.set()

    def again(self) -> None:
        """Show all of them once more: this side was away, and what it set meanwhile may be lost."""
        self._shown = {}
        self._news.set()

    async def aclose(self) -> None:
        """Show nothing more."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            changed = {
                name: text for name, text in self._wanted.items() if self._shown.get(name) != text
            }
            if changed:
                await self._update(changed)
                await self._sleep(self._pause_s)

    async def _update(self, changed: dict[str, str]) -> None:
        shown = self._shown
        try:
            async with asyncio.timeout(_LATEST_S):
                await self._participant.set_attributes(changed)
        except Exception as error:  # they go out with the next change; the conversation goes on
            if not self._complained:
                self._complained = True
                logger.warning("attributes could not be set", extra={"error": type(error).__name__})
        else:
            shown.update(changed)
