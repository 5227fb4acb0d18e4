"""Dispatches an agent for each user who joins with a token, and again if the room has none."""

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
"""How often the server is polled for users who have joined, in seconds."""

SLOW_POLL_S = 2.0
"""The same while every token is older than ``FRESH_S``, or the server does not answer."""

FRESH_S = 60.0
"""How long after a token was issued its user is likely to join, in seconds."""

MAX_AWAITED = 2_000
"""The most users that are awaited at once; the oldest are dropped first."""

_IN_FLIGHT_S = 5.0
"""How long a dispatch may take to reach a worker, in seconds."""

_MAX_CONCURRENT = 20
"""The most rooms that are checked at once."""

_ACTIVE_STATUSES = (api.JobStatus.JS_PENDING, api.JobStatus.JS_RUNNING)


@dataclass(frozen=True, slots=True)
class _AwaitedUser:
    identity: str
    since: float


class Arrivals:
    """Waits for users with tokens to join their rooms, and dispatches an agent to each.

    Nothing is created for a user who does not join. A room that has an agent needs none: workers
    replace lost agents, and an agent leaves a room that another one serves.

    Args:
        dispatcher: Sends the requests to the LiveKit server.
        agent_name: The name that agents are dispatched by.
        count: Called after each dispatch.
    """

    def __init__(
        self, dispatcher: Dispatcher, agent_name: str, count: Callable[[], None] = lambda: None
    ) -> None:
        self._count = count
        self._dispatcher = dispatcher
        self._agent_name = agent_name
        self._awaited: dict[str, _AwaitedUser] = {}
        """By room, the oldest first."""
        self._joined: dict[str, None] = {}
        """The identities that were seen in their rooms, the latest last."""
        self._wake = asyncio.Event()
        self._concurrency = asyncio.Semaphore(_MAX_CONCURRENT)
        self._checks: dict[str, asyncio.Task[bool]] = {}

    def expect(self, visitor: Visitor) -> None:
        """Have an agent dispatched as soon as a user is in their room."""
        self._awaited.pop(visitor.room, None)
        self._awaited[visitor.room] = _AwaitedUser(visitor.identity, time.monotonic())
        while len(self._awaited) > MAX_AWAITED:
            del self._awaited[next(iter(self._awaited))]
        self._wake.set()

    def has_joined(self, visitor: Visitor) -> bool:
        """Whether a user was seen in their room."""
        return visitor.identity in self._joined

    async def request_agent(self, visitor: Visitor) -> None:
        """Dispatch an agent if the user is in a room without one, else as soon as they join.

        Raises:
            api.TwirpError: The server refuses. Other errors of ``UNANSWERED``: it does not answer.
        """
        if not await self._check_once(visitor.room, visitor.identity):
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
            for task in self._checks.values():
                task.cancel()
            await asyncio.gather(*self._checks.values(), return_exceptions=True)

    async def _poll(self) -> bool:
        """Check the rooms of awaited users; returns whether to poll again soon."""
        now = time.monotonic()
        for room, one in list(self._awaited.items()):
            if now - one.since > TOKEN_S:
                del self._awaited[room]
        try:
            existing = await self._existing_rooms([*self._awaited])
        except UNANSWERED as error:
            logger.warning("LiveKit server unreachable, retrying", extra={"error": error})
            return False
        awaited = [room for room in existing if room in self._awaited]
        await asyncio.gather(*(self._check_awaited(room) for room in awaited))
        return any(now - one.since < FRESH_S for one in self._awaited.values())

    async def _existing_rooms(self, names: Sequence[str]) -> set[str]:
        if not names:
            return set()
        return await self._dispatcher.rooms(names)

    async def _check_awaited(self, room: str) -> None:
        awaited = self._awaited.get(room)
        if awaited is None:  # dropped meanwhile: there were too many
            return
        try:
            if (
                await self._check_once(room, awaited.identity)
                and self._awaited.get(room) is awaited
            ):
                del self._awaited[room]
        except UNANSWERED as error:
            logger.warning("agent not dispatched, retrying", extra={"room": room, "error": error})

    async def _check_once(self, room: str, identity: str) -> bool:
        """Check a room; concurrent callers share one check.

        Returns:
            Whether its user is there and has an agent, or one was dispatched.
        """
        task = self._checks.get(room)
        if task is None:
            task = self._checks[room] = asyncio.create_task(self._check_room(room, identity))
            task.add_done_callback(partial(self._on_checked, room))
        return await asyncio.shield(task)

    def _on_checked(self, room: str, task: "asyncio.Task[bool]") -> None:
        del self._checks[room]
        if not task.cancelled():
            task.exception()  # mark it as retrieved: the callers get it, unless all were cancelled

    async def _check_room(self, room: str, identity: str) -> bool:
        async with self._concurrency:
            participants = await self._dispatcher.participants(room)
            if not any(one.identity == identity for one in participants):
                return False
            self._joined.pop(identity, None)
            self._joined[identity] = None
            while len(self._joined) > MAX_AWAITED:
                del self._joined[next(iter(self._joined))]
            if has_agent(participants) or await self._is_agent_starting(room):
                return True
            metadata = JobMetadata(user=identity, noun=self._dispatcher.noun)
            await self._dispatcher.dispatch(room, self._agent_name, metadata.text())
            self._count()
            logger.info("dispatched an agent", extra={"room": room})
            return True

    async def _is_agent_starting(self, room: str) -> bool:
        """Whether an agent that was just dispatched has yet to join."""
        now = time.time()
        for dispatch in await self._dispatcher.dispatches(room):
            if dispatch.agent_name != self._agent_name:
                continue
            jobs = dispatch.state.jobs
            if not jobs and abs(now - dispatch.state.created_at / 1e9) < _IN_FLIGHT_S:
                return True
            for job in jobs:
                started_at = max(job.state.started_at, dispatch.state.created_at) / 1e9
                if job.state.status in _ACTIVE_STATUSES and abs(now - started_at) < STARTS_S:
                    return True
        return False
