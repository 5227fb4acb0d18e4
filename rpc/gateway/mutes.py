"""Takes a caller who does not stop off the line for a while, at the server.

No gate inside the agent can keep the others' times: what a flood sends stands before theirs on the way in, and
each refusal before their answers on the way out. The server can drop it before it costs anybody anything.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import Enum
from typing import Protocol

from livekit.protocol.models import ParticipantInfo, ParticipantPermission
from livekit.protocol.room import RoomParticipantIdentity, UpdateParticipantRequest

logger = logging.getLogger(__name__)

TRIES = 3
"""How often it is tried to give somebody his voice back."""

ASKED_S = 2.0
"""How long a refused call waits for the request to mute its caller, in seconds."""

CLOSING_S = 2.0
"""How long closing waits for those who are still muted to be given their voice back, in seconds."""


class _Answer(Enum):
    """What came of asking the server, when it is no participant."""

    GONE = "gone"
    NONE = "none"


class RoomService(Protocol):
    """What is asked of the server: ``livekit.api.LiveKitAPI().room`` is one."""

    async def get_participant(self, get: RoomParticipantIdentity) -> ParticipantInfo:
        """Return a participant with all he may do."""
        ...

    async def update_participant(self, update: UpdateParticipantRequest) -> ParticipantInfo:
        """Change a participant; his permissions are replaced whole."""
        ...


class Mutes:
    """Who may not send any data at the moment, and for how long.

    What he sends meanwhile - calls, answers, chat - is dropped by the server without a word; his microphone
    stays. Everything else he may do is left as it is, and read anew before he gets his voice back.

    Args:
        service: The server's.
        room: The room's name.
        seconds: How long, in seconds. A client gives up on what it has queued after seven.
        sleep: How to wait.
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
        self._asking: dict[str, asyncio.Event] = {}
        self._waiting: set[asyncio.Future[None]] = set()
        self._closed = False

    async def warm_up(self, identity: str) -> None:
        """Ask the server once for somebody, so that the first mute need not stand still.

        The first request of livekit's client builds its connection and holds the event loop up for some 85 ms.
        """
        await self._permission(identity)

    def muted(self, identity: str) -> bool:
        """Whether somebody is muted, or about to be."""
        return identity in self._tasks

    def mute(self, identity: str, after: Callable[[], None]) -> None:
        """Mute somebody for a while; returns at once, and does nothing for one who is muted.

        Args:
            identity: Who.
            after: Called when it is over, also when it could not be done.
        """
        if self._closed or identity in self._tasks:
            return
        asked = self._asking[identity] = asyncio.Event()
        task = asyncio.create_task(self._spell(identity, asked), name="mute a caller")
        self._tasks[identity] = task

        def over(task: asyncio.Task[None]) -> None:
            asked.set()
            del self._tasks[identity], self._asking[identity]
            after()

        task.add_done_callback(over)

    async def until_asked(self, identity: str) -> None:
        """Wait until the server has answered a request to mute a participant, for ``ASKED_S`` at most.

        Answers that are sent meanwhile delay that request: they cost the server as much as the calls.
        """
        asked = self._asking.get(identity)
        if asked is not None and not asked.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(ASKED_S):
                    await asked.wait()

    async def aclose(self) -> None:
        """Give everybody his voice back, and mute nobody any more."""
        self._closed = True
        for waiting in self._waiting:
            waiting.cancel()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks.values(), timeout=CLOSING_S)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    async def _spell(self, identity: str, asked: asyncio.Event) -> None:
        permission = await self._permission(identity)
        if not isinstance(permission, ParticipantPermission) or not permission.can_publish_data:
            return
        logger.warning("a caller does not stop and is muted", extra={"seconds": self._seconds})
        # Whether it was done is not known when it failed; giving back what was not taken does no harm.
        await self._allow(identity, permission, data=False)
        asked.set()
        await self._wait(self._seconds)
        await self._give_back(identity)

    async def _give_back(self, identity: str) -> None:
        for _ in range(TRIES):
            # Read anew: somebody else may have changed it meanwhile, and that is not undone.
            permission = await self._permission(identity)
            if permission is _Answer.GONE:
                return
            if isinstance(permission, ParticipantPermission) and (
                permission.can_publish_data
                or await self._allow(identity, permission, data=True) is None
            ):
                return
            await self._wait(1.0)
        logger.error("a muted caller could not be given his voice back")

    async def _wait(self, seconds: float) -> None:
        """Wait, unless this is closing: then there is no time."""
        if self._closed:
            return
        waiting = asyncio.ensure_future(self._sleep(seconds))
        self._waiting.add(waiting)
        try:
            await asyncio.wait((waiting,))
        finally:
            waiting.cancel()
            self._waiting.discard(waiting)

    async def _permission(self, identity: str) -> ParticipantPermission | _Answer:
        who = RoomParticipantIdentity(room=self._room, identity=identity)
        asked = await self._asked(self._service.get_participant(who))
        return asked if isinstance(asked, _Answer) else asked.permission

    async def _allow(
        self, identity: str, permission: ParticipantPermission, *, data: bool
    ) -> _Answer | None:
        """Replace his permissions by these, but for whether he may send data; nothing when it is done."""
        changed = ParticipantPermission()
        changed.CopyFrom(permission)
        changed.can_publish_data = data
        update = UpdateParticipantRequest(room=self._room, identity=identity, permission=changed)
        asked = await self._asked(self._service.update_participant(update))
        return asked if isinstance(asked, _Answer) else None

    async def _asked(self, request: Awaitable[ParticipantInfo]) -> ParticipantInfo | _Answer:
        try:
            return await request
        except Exception as error:  # whatever a server does, a mute harms nothing else
            if getattr(error, "code", None) == "not_found":
                return _Answer.GONE
            # Its text stays out of the log: a server that knows another secret repeats the whole token.
            logger.warning("the server was not asked", extra={"error": type(error).__name__})
            return _Answer.NONE
