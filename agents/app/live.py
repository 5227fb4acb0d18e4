"""Settings that staff change while calls run, as each process last read them."""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

if TYPE_CHECKING:
    from state.shared import SqlStore

logger = logging.getLogger(__name__)


class LiveSettings:
    """The live settings of an application in one process.

    Rules read ``values`` when they are applied; everything else about a call stays as it began.
    """

    def __init__(self) -> None:
        self.values: Mapping[str, JsonValue] = {}
        """By name; replaced as a whole, never edited."""

    async def refresh(self, store: "SqlStore") -> None:
        """Read them again; while the database does not answer they stay as they are."""
        from state.shared import StateError  # a command that needs no state should not wait for it

        try:
            values = await store.settings()
        except StateError as fault:
            logger.info("live settings not read: %s", fault.message)
            return
        if values != self.values:
            self.values = values
