"""The clinic's partners: an insurer that takes its time, and a service that sends text messages.

Both are protocols; the classes beside them stand in for the real ones, so that the clinic runs without
an account. Every request has a key: a partner that gets the same key twice acts once.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Protocol

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Cover:
    """What an insurer says of a member: the plan, or ``None`` for nobody it knows."""

    plan: str | None


class Insurer(Protocol):
    """Checks who is insured. Takes ten to thirty seconds."""

    async def check(self, member_id: str, birth_date: date, *, key: str) -> Cover:
        """Ask about a member; raises any exception if the insurer cannot be reached."""
        ...


class Messages(Protocol):
    """Sends text messages."""

    async def send(self, phone: str, text: str, *, key: str) -> None:
        """Send a message once; raises any exception if it was not accepted."""
        ...


class DemoInsurer:
    """Knows a few members and answers slowly.

    Args:
        members: Plans by member number.
        seconds: How long it takes to answer.
    """

    def __init__(self, members: Mapping[str, str], seconds: float) -> None:
        self._members = members
        self._seconds = seconds

    async def check(self, member_id: str, birth_date: date, *, key: str) -> Cover:
        """Answer after a while."""
        await asyncio.sleep(self._seconds)
        return Cover(self._members.get(member_id))


class DemoMessages:
    """Sends nothing; logs that it would have, without number and text."""

    def __init__(self) -> None:
        self._sent: set[str] = set()

    async def send(self, phone: str, text: str, *, key: str) -> None:
        """Note the key."""
        if key not in self._sent:
            self._sent.add(key)
            logger.info("text message sent", extra={"key": key})
