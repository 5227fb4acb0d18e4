"""Brings an agent to each user who joins with a token, once, and again when none is there."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from livekit import api

from agents.app.dispatch.dispatcher import (
    STARTS_S,
    UNANSWERED,
    Dispatcher,
    has_agent,
)
from agents.app.job_metadata import JobMetadata
from agents.app.web.cookies import Visitor
from agents.app.web.tokens import TOKEN_S

logger = logging.getLogger(__name__)

POLL_S = 0.15
"""How often the server is asked which users have joined, in seconds."""

SLOW_POLL_S = 2.0
"""The same while every token was given out more than ``FRESH_S`` ago, or no server answers."""

FRESH_S = 60.0
"""How long a token is expected to be used soon, in seconds."""

MOST = 2_000
"""How many users are awaited at once; the longest awaited are forgotten first."""

_IN_FLIGHT_S = 5.0
"""How long a dispatch may take to reach a worker, in seconds."""

_AT_ONCE = 20
"""How many rooms are looked into at once."""

_ACTIVE = (api.JobStatus.JS_PENDING, api.JobStatus.JS_RUNNING)


@dataclass(frozen=True, slots=True)
class _Awaited:
    identity: str
    since: float


class Arrivals:
    """Waits for the users that were given tokens, and dispatches an agent to each.

    Nothing is created for a user who does not come. The agents themselves replace those that are
    lost, and an agent that finds another one serving its room leaves it; so all this has to do is to
    bring one where there is none.

    Args:
        dispatcher: Asks and tells the LiveKit server.
        agent_name: The name that agents are dispatched by.
        count: Called after each dispatch.
    """

    def __init__(
        self, dispatcher: Dispatcher, agent_name: str, count: Callable[[], None] = lambda: None
    ) -> None:
        self._count = count
        self._dispatcher = dispatcher
        self._agent_name = agent_name
        self._awaited: dict[str, _Awaited] = {}
        """By room, the longest awaited first."""
        self._come: dict[str, None] = {}
        """The identities that were seen in their rooms, the latest last."""
        self._wake = asyncio.Event()
        self._at_once = asyncio.Semaphore(_AT_ONCE)
        self._looking: dict[str, asyncio.Task[bool]] = {}

    def expect(self, visitor: Visitor) -> None:
        """Bring an agent as soon as a user is in their room."""
        self._awaited.pop(visitor.room, None)
        self._awaited[visitor.room] = _Awaited(visitor.identity, time.monotonic())
        while len(self._awaited) > MOST:
            del self._awaited[next(iter(self._awaited))]
        self._wake.set()

    def has_come(self, visitor: Visitor) -> bool:
        """Whether a user was seen in their room."""
        return visitor.identity in self._come

    async def bring(self, visitor: Visitor) -> None:
        """Bring an agent now if the user is in their room and none is there, else when they come.

        Raises:
            api.TwirpError: The server refuses, or another one of ``UNANSWERED``: it does not answer.
        """
        if not await self._looked(visitor.room, visitor.identity):
            self.expect(visitor)

    async def run(self) -> None:
        """Wait for users until cancelled."""
        try:
            while True:
                if not self._awaited:
                    self._wake.clear()
                    await self._wake.wait()
                self._wake.clear()
                pause_s = POLL_S if await self._poll() else SLOW_POLL_S
                if pause_s > POLL_S:  # a new token ends the pause
                    try:
                        async with asyncio.timeout(pause_s):
                            await self._wake.wait()
                    except TimeoutError:
                        continue
                else:
                    await asyncio.sleep(pause_s)
        finally:
            for task in self._looking.values():
                task.cancel()
            await asyncio.gather(*self._looking.values(), return_exceptions=True)

    async def _poll(self) -> bool:
        """Look into the rooms of awaited users; returns whether to look again soon."""
        now = time.monotonic()
        for room, one in list(self._awaited.items()):
            if now - one.since > TOKEN_S:
                del self._awaited[room]
        try:
            there = await self._rooms([*self._awaited])
        except UNANSWERED as error:
            logger.warning("LiveKit server unreachable, retrying", extra={"error": error})
            return False
        found = [room for room in there if room in self._awaited]
        await asyncio.gather(*(self._serve(room) for room in found))
        return any(now - one.since < FRESH_S for one in self._awaited.values())

    async def _rooms(self, names: Sequence[str]) -> set[str]:
        if not names:
            return set()
        return await self._dispatcher.rooms(names)

    async def _serve(self, room: str) -> None:
        awaited = self._awaited.get(room)
        if awaited is None:  # forgotten meanwhile: there were too many
            return
        try:
            if await self._looked(room, awaited.identity) and self._awaited.get(room) is awaited:
                del self._awaited[room]
        except UNANSWERED as error:
            logger.warning("no agent dispatched yet", extra={"room": room, "error": error})

    async def _looked(self, room: str, identity: str) -> bool:
        """Look into a room once at a time; returns whether its user is there and has an agent."""
        task = self._looking.get(room)
        if task is None:
            task = self._looking[room] = asyncio.create_task(self._look(room, identity))
            task.add_done_callback(partial(self._looked_into, room))
        return await asyncio.shield(task)

    def _looked_into(self, room: str, task: "asyncio.Task[bool]") -> None:
        del self._looking[room]
        if not task.cancelled():
            task.exception()  # the callers have it

    async def _look(self, room: str, identity: str) -> bool:
        async with self._at_once:
            there = await self._dispatcher.participants(room)
            if not any(one.identity == identity for one in there):
                return False
            self._come.pop(identity, None)
            self._come[identity] = None
            while len(self._come) > MOST:
                del self._come[next(iter(self._come))]
            if has_agent(there) or await self._is_on_its_way(room):
                return True
            metadata = JobMetadata(user=identity, noun=self._dispatcher.noun)
            await self._dispatcher.dispatch(room, self._agent_name, metadata.text())
            self._count()
            logger.info("dispatched an agent", extra={"room": room})
            return True

    async def _is_on_its_way(self, room: str) -> bool:
        """Whether an agent that was dispatched a moment ago has yet to arrive."""
        now = time.time()
        for dispatch in await self._dispatcher.dispatches(room):
            if dispatch.agent_name != self._agent_name:
                continue
            jobs = dispatch.state.jobs
            if not jobs and abs(now - dispatch.state.created_at / 1e9) < _IN_FLIGHT_S:
                return True
            for job in jobs:
                began = max(job.state.started_at, dispatch.state.created_at) / 1e9
                if job.state.status in _ACTIVE and abs(now - began) < STARTS_S:
                    return True
        return False
