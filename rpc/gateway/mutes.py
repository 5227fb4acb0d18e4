"""Temporarily mutes a flooding caller through the LiveKit server API.

Checks inside the agent cannot protect other callers: the flood's messages are queued before theirs, and its
refusals before their answers. The server drops the messages before they cost anything.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Protocol

from livekit.protocol.models import ParticipantInfo, ParticipantPermission
from livekit.protocol.room import RoomParticipantIdentity, UpdateParticipantRequest

logger = logging.getLogger(__name__)

TRIES = 3
"""How often unmuting is attempted."""

CLOSING_S = 2.0
"""How long closing waits for muted callers to be unmuted, in seconds."""


class _Failure(Enum):
    """Why a request to the server returned no participant."""

    NOT_FOUND = "not_found"
    REQUEST_FAILED = "request_failed"


class RoomService(Protocol):
    """The server API: ``livekit.api.LiveKitAPI().room`` implements it."""

    async def get_participant(self, get: RoomParticipantIdentity) -> ParticipantInfo:
        """Return a participant with their permissions."""
        ...

    async def update_participant(self, update: UpdateParticipantRequest) -> ParticipantInfo:
        """Update a participant; their permissions are replaced as a whole."""
        ...


class Mutes:
    """Mutes callers for a time by withdrawing their permission to publish data.

    The server silently drops what a muted participant sends: RPC calls, RPC answers, chat. Their microphone and all
    other permissions stay; permissions are read again before unmuting.

    Args:
        service: The server API.
        room: The room's name.
        seconds: How long a mute lasts. A client abandons queued messages after seven seconds.
        sleep: Used to wait.
    """

    def __init__(
        self,
        service: RoomService,
        room: str,
        *,
        seconds: float = 10.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._service = service
        self._room = room
        self._seconds = seconds
        self._sleep = sleep
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._waiting: set[asyncio.Future[None]] = set()
        self._closed = False

    async def warm_up(self, identity: str) -> None:
        """Send the server one request, so that the first mute does not block the event loop.

        The first request of livekit's client sets up its connection and blocks the event loop for some 85 ms.
        """
        await self._permission(identity)

    def muted(self, identity: str) -> bool:
        """Whether a participant is muted or about to be."""
        return identity in self._tasks

    def mute(self, identity: str, on_done: Callable[[], None]) -> None:
        """Mute a participant for a time. Returns at once; does nothing if they are muted already.

        Args:
            identity: The participant.
            on_done: Called when the mute is over, also if it failed.
        """
        if self._closed or identity in self._tasks:
            return
        task = asyncio.create_task(self._mute_for_a_time(identity), name="mute a caller")
        self._tasks[identity] = task

        def over(task: asyncio.Task[None]) -> None:
            del self._tasks[identity]
            on_done()

        task.add_done_callback(over)

    async def aclose(self) -> None:
        """Unmute everyone and accept no new mutes."""
        self._closed = True
        for waiting in self._waiting:
            waiting.cancel()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks.values(), timeout=CLOSING_S)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    async def _mute_for_a_time(self, identity: str) -> None:
        permission = await self._permission(identity)
        if not isinstance(permission, ParticipantPermission) or not permission.can_publish_data:
            return
        logger.warning("muted a caller above the rate limit", extra={"seconds": self._seconds})
        # A failed request may have taken effect, so unmute in any case; it is harmless.
        await self._set_can_publish_data(identity, permission, can_publish=False)
        await self._wait(self._seconds)
        await self._unmute(identity)

    async def _unmute(self, identity: str) -> None:
        for _ in range(TRIES):
            # Read again, so that changes made meanwhile are kept.
            permission = await self._permission(identity)
            if permission is _Failure.NOT_FOUND:
                return
            if isinstance(permission, ParticipantPermission) and (
                permission.can_publish_data
                or await self._set_can_publish_data(identity, permission, can_publish=True) is None
            ):
                return
            await self._wait(1.0)
        logger.error("unmuting a caller failed")

    async def _wait(self, seconds: float) -> None:
        """Wait, unless this object is closing."""
        if self._closed:
            return
        waiting = asyncio.ensure_future(self._sleep(seconds))
        self._waiting.add(waiting)
        try:
            await asyncio.wait((waiting,))
        finally:
            waiting.cancel()
            self._waiting.discard(waiting)

    async def _permission(self, identity: str) -> ParticipantPermission | _Failure:
        who = RoomParticipantIdentity(room=self._room, identity=identity)
        answer = await self._requested(self._service.get_participant(who))
        return answer if isinstance(answer, _Failure) else answer.permission

    async def _set_can_publish_data(
        self, identity: str, permission: ParticipantPermission, *, can_publish: bool
    ) -> _Failure | None:
        """Replace the permissions, changing only whether data may be sent; ``None`` on success."""
        changed = ParticipantPermission()
        changed.CopyFrom(permission)
        changed.can_publish_data = can_publish
        update = UpdateParticipantRequest(room=self._room, identity=identity, permission=changed)
        answer = await self._requested(self._service.update_participant(update))
        return answer if isinstance(answer, _Failure) else None

    async def _requested(self, request: Awaitable[ParticipantInfo]) -> ParticipantInfo | _Failure:
        try:
            return await request
        except Exception as error:  # a failed mute must not affect anything else
            if getattr(error, "code", None) == "not_found":
                return _Failure.NOT_FOUND
            # The error's text is not logged: a server with another secret repeats the whole token in it.
            logger.warning("LiveKit server request failed", extra={"error": type(error).__name__})
            return _Failure.REQUEST_FAILED
