"""Whether the user has joined the room again since their last call ended."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from agents.app.rooms.presence import Presence

SETTLED_S = 10.0
"""How long after the agent's own reconnect new connections of others are ignored, in seconds."""


class RejoinDetector:
    """Compares the user's connection with the one they had when their last call ended.

    A page that only says hello again keeps its connection. After the agent's own connection was
    lost, the others may have new connections too, without anyone having left.

    Args:
        presence: Knows the user's connection.
        spawn: Starts a background task.
    """

    def __init__(
        self,
        presence: Presence,
        spawn: "Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]",
    ) -> None:
        self._presence = presence
        self._spawn = spawn
        self._connection: str | None = None
        self._noting: asyncio.Task[None] | None = None
        self._reconnected_at = float("-inf")

    @property
    def is_settled(self) -> bool:
        """Whether the agent has been connected long enough for new connections to mean rejoins."""
        return asyncio.get_running_loop().time() - self._reconnected_at > SETTLED_S

    def agent_reconnecting(self) -> None:
        """The agent's own connection is lost for the moment."""
        self._reconnected_at = float("inf")

    def agent_reconnected(self) -> None:
        """The agent's own connection is back."""
        self._reconnected_at = asyncio.get_running_loop().time()

    def note_connection(self) -> None:
        """Note the user's connection, to compare later ones with.

        The server is asked only after the agent's own reconnect: while it answers, a user may leave
        and join again.
        """
        known = self._presence.known_connection if self.is_settled else None
        self._noting = self._spawn(self._note(known))

    async def has_rejoined(self) -> bool:
        """Whether the user has another connection than the one that was noted."""
        if self._noting is None:
            return False
        if not self.is_settled:
            self.note_connection()
        await asyncio.wait((self._noting,))
        return await self._presence.connection() != self._connection

    async def _note(self, known: str | None) -> None:
        self._connection = known or await self._presence.connection()
