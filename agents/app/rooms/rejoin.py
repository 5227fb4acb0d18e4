"""Detects that the user has rejoined the room since their last call ended."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from agents.app.rooms.presence import Presence

SETTLED_S = 10.0
"""How long after the agent's reconnect the new connections of others are ignored, in seconds."""


class RejoinDetector:
    """Compares the user's connection with the one they had when their last call ended.

    A page that calls hello again without rejoining keeps its connection. After a reconnect of the
    agent, the others may have new connections although none of them left.

    Args:
        presence: Tracks the user's connection.
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
        self._recording: asyncio.Task[None] | None = None
        self._reconnected_at = float("-inf")

    @property
    def is_settled(self) -> bool:
        """Whether the agent has been connected long enough for new connections to mean rejoins."""
        return asyncio.get_running_loop().time() - self._reconnected_at > SETTLED_S

    def agent_reconnecting(self) -> None:
        """The agent is reconnecting."""
        self._reconnected_at = float("inf")

    def agent_reconnected(self) -> None:
        """The agent has reconnected."""
        self._reconnected_at = asyncio.get_running_loop().time()

    def record_connection(self) -> None:
        """Record the user's connection, to compare later ones with it.

        The server is asked only after the agent's reconnect: a user may leave and rejoin before it
        answers.
        """
        known = self._presence.known_connection if self.is_settled else None
        self._recording = self._spawn(self._record(known))

    async def has_rejoined(self) -> bool:
        """Whether the user's connection differs from the recorded one."""
        if self._recording is None:
            return False
        if not self.is_settled:
            self.record_connection()
        await asyncio.wait((self._recording,))
        return await self._presence.connection() != self._connection

    async def _record(self, known: str | None) -> None:
        self._connection = known or await self._presence.connection()
