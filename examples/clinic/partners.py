"""The clinic's partners: an insurer that takes its time, and a service that sends text messages.

The classes beside the protocols stand in for real partners, so that the clinic runs without an account.
Every request has a key: a partner that gets the same key twice acts once.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Protocol

logger = logging.getLogger(__name__)


class Insurer(Protocol):
    """Knows who is insured."""

    async def plan(self, member_id: str, birth_date: date, *, key: str) -> str | None:
        """Return a member's plan, ``None`` if there is no such member; takes 10 to 30 seconds."""
        ...


class Messages(Protocol):
    """Sends text messages."""

    async def send(self, phone: str, text: str, *, key: str) -> None:
        """Send a message; any exception means that it was not accepted."""
        ...


@dataclass(frozen=True)
class DemoInsurer:
    """Knows a few members and answers after so many seconds."""

    members: Mapping[str, str]
    seconds: float

    async def plan(self, member_id: str, birth_date: date, *, key: str) -> str | None:
        """Look the member up."""
        await asyncio.sleep(self.seconds)
        return self.members.get(member_id)


class DemoMessages:
    """Sends nothing; logs that it would have, without number and text."""

    async def send(self, phone: str, text: str, *, key: str) -> None:
        """Log the key."""
        logger.info("text message sent", extra={"key": key})
