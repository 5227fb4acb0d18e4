"""The place of one job in one room: taken before connecting, renewed while the call lives, given up at its end."""

import asyncio
import logging
from collections.abc import Callable

from state.shared import JournalFault, Lease, LeaseHeld, LeaseLost, SqlStore, StateError

logger = logging.getLogger(__name__)

LASTS_S, RENEWED_S = 2.0, 0.5
"""How long a place is held unless it is renewed, and how often it is, in seconds."""

WATCHED_S = 2 * RENEWED_S
"""How long a place that another agent holds is watched for a renewal before it is taken, in seconds."""

PATIENCE_S = 20.0
"""How long a place is waited for whose database is locked or does not answer, in seconds."""


def place_of(agent: str, room: str) -> str:
    """Name the place of an agent in a room: two houses on one database do not take each other's.

    >>> place_of("bella-vista", "table-7")
    'bella-vista/table-7'
    """
    return f"{agent}/{room}"


def room_of(place: str, agent: str) -> str | None:
    """Return the room of a place, if it is this agent's."""
    name, _, room = place.partition("/")
    return room if name == agent else None


class Seat:
    """One job's place.

    Args:
        store: Keeps the leases, and with the orders what goes on where.
        place: The place in the room, as ``place_of`` names it.
        holder: The job's id.
        supersedes: The job whose place it is: dead, or leaving.
        tries: How many were lost there before, as whoever sent this job has counted; ``None`` when it supersedes nobody.
        lost: Called when somebody else has it.
    """

    def __init__(
        self,
        store: SqlStore,
        place: str,
        holder: str,
        *,
        supersedes: str | None,
        tries: int | None,
        lost: Callable[[], None],
    ) -> None:
        self._store = store
        self._place = place
        self._holder = holder
        self._supersedes = supersedes
        self._tries = tries
        self._lost = lost
        self._lease: Lease | None = None
        self._renewing: asyncio.Task[None] | None = None
        self._held_until = float("inf")
        self._renewable = True
        self._given_up = False

    @property
    def overdue(self) -> bool:
        """Whether this process stood still for so long that somebody else may have the place by now."""
        return asyncio.get_running_loop().time() > self._held_until

    @property
    def place(self) -> str:
        """The place's name."""
        return self._place

    @property
    def lease(self) -> Lease:
        """What was known of the place when it was taken."""
        if self._lease is None:
            raise RuntimeError("the place has not been taken")
        return self._lease

    async def take(self) -> bool:
        """Take the place; returns whether it could be had.

        A living holder renews it. So a place that another agent holds is watched before it is taken, even if
        the time of that agent seems to be over: the clock may have been set forward. A database that cannot be
        used for the moment is waited for: it would be no other agent's sooner.

        Raises:
            JournalFault: The database cannot be used.
        """
        loop = asyncio.get_running_loop()
        patient_until = loop.time() + PATIENCE_S
        watched_from: float | None = None
        seen: Lease | None = None
        while True:
            try:
                there = await self._store.lease_at(self._place)
                if seen is not None and there is not None and there.until > seen.until:
                    return False
                seen = there
                if self._is_anothers(there):
                    watched_from = watched_from or loop.time()
                    if loop.time() < watched_from + WATCHED_S:
                        await asyncio.sleep(RENEWED_S / 2)
                        continue
                self._lease = await self._store.take_place(
                    self._place,
                    self._holder,
                    seconds=LASTS_S,
                    supersedes=self._supersedes,
                    tries=self._tries,
                )
            except LeaseHeld:
                watched_from = watched_from or loop.time()
                if loop.time() > watched_from + WATCHED_S + LASTS_S + RENEWED_S:
                    return False
                await asyncio.sleep(RENEWED_S / 2)
            except JournalFault as fault:
                if not fault.passing or loop.time() > patient_until:
                    raise
                logger.warning("the room's place cannot be taken yet: %s", fault.message)
                await asyncio.sleep(RENEWED_S)
            else:
                if self._given_up:  # meanwhile: nothing would renew it
                    await self._store.leave_place(self._place, self._holder, done=False)
                    return False
                self._held_until = loop.time() + LASTS_S
                self._renewing = loop.create_task(self._renew())
                return True

    def _is_anothers(self, lease: Lease | None) -> bool:
        return lease is not None and lease.holder not in (None, self._holder, self._supersedes)

    async def settle(self, order_id: str, guest: str) -> None:
        """Write down which order is taken here, and from whom; an agent elsewhere that has it loses it.

        A database that cannot be used for the moment is waited for.
        """
        loop = asyncio.get_running_loop()
        patient_until = loop.time() + PATIENCE_S
        while True:
            try:
                await self._store.assign(self._place, self._holder, state_id=order_id, guest=guest)
            except LeaseLost:
                self._lost()
                raise
            except JournalFault as fault:
                if not fault.passing or loop.time() > patient_until:
                    raise
                logger.warning("the room's place cannot be settled yet: %s", fault.message)
                await asyncio.sleep(RENEWED_S)
            else:
                return

    async def begin_anew(self) -> None:
        """Close what went on here and keep the place: whoever comes next begins anew.

        A database that cannot be used leaves the place as it is.
        """
        if self._renewing is None or self._given_up:
            return
        self._renewing.cancel()
        await asyncio.gather(self._renewing, return_exceptions=True)
        try:
            await self._store.leave_place(self._place, self._holder, done=True)
        except StateError as fault:
            logger.warning("what went on at a place could not be closed: %s", fault.message)
            if not self._given_up:
                self._renewing = asyncio.get_running_loop().create_task(self._renew())
            return
        try:
            taken = await self.take()
        except JournalFault:
            taken = False
        if not taken and not self._given_up:  # another agent was faster
            self._lost()

    async def leave(self, *, done: bool) -> None:
        """Give the place up.

        Args:
            done: Whether the call came to its end, so that the next guest in this room begins anew.
        """
        self._given_up = True
        if self._renewing is None:
            return
        self._renewing.cancel()
        await asyncio.gather(self._renewing, return_exceptions=True)
        self._renewing = None
        try:
            await self._store.leave_place(self._place, self._holder, done=done)
        except StateError as fault:  # the lease runs out by itself
            logger.warning("a place could not be given up: %s", fault.message)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEWED_S)
            if not await self.renew():
                return

    async def renew(self) -> bool:
        """Hold the place for some time more; returns whether nobody else has it."""
        now = asyncio.get_running_loop().time()
        try:
            await self._store.renew(self._place, self._holder, seconds=LASTS_S)
        except LeaseLost:
            self._lost()
            return False
        except StateError as fault:  # it is ours as long as nobody else takes it
            if self._renewable:
                logger.warning("a place cannot be renewed: %s", fault.message)
            self._renewable = False
        else:
            self._held_until = now + LASTS_S
            self._renewable = True
        return True
