"""Settings that staff change while calls run, as last read by this process."""

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

if TYPE_CHECKING:
    from state.shared import SqlStore

logger = logging.getLogger(__name__)


READ_S = 1.0
"""How long reading them may take, in seconds: a change of a state waits for it."""


class LiveSettings:
    """The live settings of an application in one process.

    Rules read ``values`` when they are applied. A command whose rules read them refreshes them in
    ``Command.prepare``.
    """

    def __init__(self) -> None:
        self.values: Mapping[str, JsonValue] = {}
        """By name; replaced as a whole, never edited."""
        self._store: SqlStore | None = None

    def read_from(self, store: "SqlStore") -> None:
        """Set the store that ``refresh`` reads them from."""
        self._store = store

    async def refresh(self) -> None:
        """Read the settings again; without a store or an answer of the database they stay unchanged."""
        from state.shared import StateError  # late: commands without a state start faster

        if self._store is None:
            return
        try:
            async with asyncio.timeout(READ_S):
                values = await self._store.settings()
        except (StateError, TimeoutError) as fault:
            why = fault.message if isinstance(fault, StateError) else "timeout"
            logger.info("live settings not read, keeping the previous values: %s", why)
            return
        if values != self.values:
            self.values = values
