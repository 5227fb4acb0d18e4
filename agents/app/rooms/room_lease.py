"""A job's lease on a room: acquired before connecting, renewed during the call, then released."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agents.app.states import StateFaults
from state.shared import JournalFault, Lease, LeaseHeld, LeaseLost, SqlStore, StateError

logger = logging.getLogger(__name__)

T = TypeVar("T")

LEASE_S, RENEW_EVERY_S = 2.0, 0.5
"""How long a lease lasts unless it is renewed, and how often it is renewed, in seconds."""

WATCH_S = 2 * RENEW_EVERY_S
"""How long a lease of another agent is watched for a renewal before it is taken over, in
seconds."""

DATABASE_WAIT_S = 20.0
"""How long to retry while the database is locked or does not answer, in seconds."""


def lease_name(agent: str, room: str) -> str:
    """Name the lease of an agent in a room; two applications on one database use different names.

    >>> lease_name("bella-vista", "table-7")
    'bella-vista/table-7'
    """
    return f"{agent}/{room}"


def leased_room(name: str, agent: str) -> str | None:
    """Return the room of a lease, if the lease is this agent's."""
    owner, _, room = name.partition("/")
    return room if owner == agent else None


async def retried(attempt: Callable[[], Awaitable[T]], failed: str) -> T:
    """Retry an attempt while the database is locked or does not answer; returns its result.

    Args:
        attempt: The attempt.
        failed: The log message of a failed attempt, with ``%s`` for the fault.

    Raises:
        StateFaults: The database cannot be used.
        JournalFault: The database cannot be used.
    """
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + DATABASE_WAIT_S
    while True:
        try:
            return await attempt()
        except (StateFaults, JournalFault) as fault:
            if not fault.passing or loop.time() > give_up_at:
                raise
            logger.warning(failed, fault)
            await asyncio.sleep(RENEW_EVERY_S)


class RoomLease:
    """One job's lease on a room.

    Args:
        store: The store of the leases; they also record the state that is served in each room.
        name: The lease's name, from ``lease_name``.
        holder: The job's id.
        supersedes: The dead or leaving job whose lease this one may take over.
        tries: How many agents in a row were lost in this call, counted by the dispatcher; ``None``
            without ``supersedes``.
        lost: Called when another agent has the lease.
    """

    def __init__(
        self,
        store: SqlStore,
        name: str,
        holder: str,
        *,
        supersedes: str | None,
        tries: int | None,
        lost: Callable[[], None],
    ) -> None:
        self._store = store
        self._name = name
        self._holder = holder
        self._supersedes = supersedes
        self._tries = tries
        self._lost = lost
        self._lease: Lease | None = None
        self._renewing: asyncio.Task[None] | None = None
        self._held_until = float("inf")
        self._renewable = True
        self._released = False

    @property
    def may_have_expired(self) -> bool:
        """Whether another agent may hold the lease by now, because this process was suspended."""
        return asyncio.get_running_loop().time() > self._held_until

    @property
    def name(self) -> str:
        """The lease's name."""
        return self._name

    @property
    def lease(self) -> Lease:
        """The lease at the time of its acquisition."""
        if self._lease is None:
            raise RuntimeError("the lease has not been acquired")
        return self._lease

    async def acquire(self) -> bool:
        """Acquire the lease; returns whether it is ours.

        The lease of another agent is watched for a renewal before it is taken over, even if it seems
        to have expired: the clock may have been set forward. This retries while the database is
        temporarily unusable, since no other agent could acquire the lease sooner.

        Raises:
            JournalFault: The database cannot be used.
        """
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + DATABASE_WAIT_S
        watching_since: float | None = None
        seen: Lease | None = None
        while True:
            try:
                there = await self._store.leases.at(self._name)
                if seen is not None and there is not None and there.until > seen.until:
                    return False
                seen = there
                ours = (None, self._holder, self._supersedes)
                if there is not None and there.holder not in ours:
                    watching_since = watching_since or loop.time()
                    if loop.time() < watching_since + WATCH_S:
                        await asyncio.sleep(RENEW_EVERY_S / 2)
                        continue
                self._lease = await self._store.leases.take(
                    self._name,
                    self._holder,
                    seconds=LEASE_S,
                    supersedes=self._supersedes,
                    tries=self._tries,
                )
            except LeaseHeld:
                watching_since = watching_since or loop.time()
                if loop.time() > watching_since + WATCH_S + LEASE_S + RENEW_EVERY_S:
                    return False
                await asyncio.sleep(RENEW_EVERY_S / 2)
            except JournalFault as fault:
                if not fault.passing or loop.time() > give_up_at:
                    raise
                logger.warning("room lease not acquired yet, retrying: %s", fault.message)
                await asyncio.sleep(RENEW_EVERY_S)
            else:
                if self._released:  # while it was being acquired: no task would renew it
                    await self._store.leases.release(self._name, self._holder, done=False)
                    return False
                self._held_until = loop.time() + LEASE_S
                if self._renewing is not None:  # the task of an earlier acquisition
                    self._renewing.cancel()
                self._renewing = loop.create_task(self._renew())
                return True

    async def record_state(self, state_id: str, user: str) -> None:
        """Record the state that is served in this room, and its user.

        Another agent that serves the state loses it. This retries while the database is temporarily
        unusable.
        """
        leases = self._store.leases
        try:
            await retried(
                lambda: leases.assign(self._name, self._holder, state_id=state_id, user=user),
                "state not recorded yet, retrying: %s",
            )
        except LeaseLost:
            self._lost()
            raise

    async def reset(self) -> None:
        """Close the recorded call and keep the lease: the next call in this room starts a new state.

        Without a usable database the call stays recorded.
        """
        try:
            await self._store.leases.finish(self._name, self._holder)
        except LeaseLost:
            if not self._released:
                self._lost()
        except StateError as fault:
            logger.warning("end of call not recorded: %s", fault.message)

    async def release(self, *, done: bool) -> None:
        """Release the lease.

        Args:
            done: Whether the call is complete, so that the next user in this room starts a new
                state.
        """
        self._released = True
        if self._renewing is None:
            return
        self._renewing.cancel()
        await asyncio.gather(self._renewing, return_exceptions=True)
        self._renewing = None
        try:
            await self._store.leases.release(self._name, self._holder, done=done)
        except StateError as fault:  # the lease expires on its own
            logger.warning("room lease could not be released: %s", fault.message)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_EVERY_S)
            if not await self.renew():
                return

    async def renew(self) -> bool:
        """Renew the lease once; returns ``False`` if another agent has it."""
        now = asyncio.get_running_loop().time()
        try:
            await self._store.leases.renew(self._name, self._holder, seconds=LEASE_S)
        except LeaseLost:
            self._lost()
            return False
        except StateError as fault:  # this job holds it until another agent takes it over
            if self._renewable:
                logger.warning("room lease could not be renewed: %s", fault.message)
            self._renewable = False
        else:
            self._held_until = now + LEASE_S
            self._renewable = True
        return True
