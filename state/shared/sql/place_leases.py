"""Leases on places, with the states that are worked on there."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, overload

from state.shared.errors import JournalFault, LeaseLost
from state.shared.lease import Lease
from state.shared.sql.access import StoreAccess

if TYPE_CHECKING:
    from state.shared.sql.leases import Leases
    from state.shared.sql.places import PlaceRow

logger = logging.getLogger(__name__)

_TRIES = 5


class PlaceLeases:
    """The leases of one owner's places: ``SqlStore.leases``.

    The lease store has the holder of a place and the expiry; its state and user are stored with the states.
    """

    def __init__(self, access: StoreAccess) -> None:
        self._access = access

    async def take(
        self,
        place: str,
        holder: str,
        *,
        seconds: float,
        supersedes: str | None = None,
        tries: int | None = None,
    ) -> Lease:
        """Take the lease on a place; of two concurrent requests one succeeds.

        A lease is granted only while states can be written. If the caller holds it already, it is renewed. The
        returned lease names the state the place works on if the work there has not finished: the caller continues it.

        Args:
            place: The place, by any name.
            holder: The holder, by a name that is never used again.
            seconds: How long the lease lasts unless it is renewed.
            supersedes: A holder known to be dead or leaving; its lease need not have expired.
            tries: How many holders died there before, if the dispatcher has counted; else it is counted here.

        Raises:
            LeaseHeld: Another holder's lease has not expired.
            JournalFault: The database cannot be used. It is safe to retry.
        """
        self._access.demand_owner("a place")
        await self._access.in_places(lambda places: places.check_connection(writes=True))
        lease = await self._access.in_leases(
            lambda leases: leases.take(place, holder, seconds, supersedes, tries)
        )
        # After taking the lease: until then the previous holder may have assigned a state.
        return await self._access.in_places(lambda places: _joined(lease, places.at(place)))

    async def assign(self, place: str, holder: str, *, state_id: str, user: str | None) -> None:
        """Record which state a place works on, and for whom. The state is removed from any other place.

        Args:
            place: The place.
            holder: The holder of its lease.
            state_id: The state it works on from now on.
            user: The user it is for.

        Raises:
            LeaseLost: The caller no longer holds the lease.
            TakenOver: The state was held here, and another process holds it now.
            UnknownState: There is no such state.
            OtherOwner: It belongs to another owner.
            JournalFault: The database cannot be used. It is safe to retry.
        """
        self._access.demand_owner("a place")
        fence = self._access.fences.get(state_id)

        def assign(before: "PlaceRow | None") -> "asyncio.Future[list[PlaceRow] | None]":
            return self._access.in_places(
                lambda places: places.assign(place, holder, state_id, user, fence, before)
            )

        for _ in range(_TRIES):
            before = await self._access.in_places(lambda places: places.at(place))
            # A holder that takes the lease after this check and assigns a state changes the row read before it.
            await self._access.in_leases(lambda leases: leases.check(place, holder))
            if await _end_other_leases(assign(before), self._access) is not None:
                return
        raise JournalFault(f"The place {place}", "too many others are writing")

    async def renew(self, place: str, holder: str, *, seconds: float) -> None:
        """Renew the lease on a place, however late, unless another holder has taken it.

        Args:
            place: The place.
            holder: The holder.
            seconds: How long the lease lasts from now on.

        Raises:
            LeaseLost: The caller no longer holds the lease.
            JournalFault: The database cannot be used; the lease is unchanged.
        """
        self._access.demand_owner("a place")
        await self._access.in_leases(lambda leases: leases.renew(place, holder, seconds))

    async def release(self, place: str, holder: str, *, done: bool) -> None:
        """Release the lease on a place. A no-op if the caller no longer holds it.

        Args:
            place: The place.
            holder: The holder.
            done: Whether the work there has finished: the next holder starts over, and nothing about the user is
                kept there. Otherwise the next holder continues it.

        Raises:
            JournalFault: The database cannot be used. It is safe to retry.
        """
        self._access.demand_owner("a place")
        if done:
            try:
                await self.finish(place, holder)
            except LeaseLost:
                return
        await self._access.in_leases(lambda leases: leases.leave(place, holder, done=done))

    async def finish(self, place: str, holder: str) -> None:
        """Record that the work at a place has finished, and keep the lease: the next work there starts over.

        Raises:
            LeaseLost: The caller no longer holds the lease.
            JournalFault: The database cannot be used. It is safe to retry.
        """
        self._access.demand_owner("a place")
        before = await self._access.in_places(lambda places: places.at(place))
        # A holder that takes the lease after this check and assigns a state changes the row read before it.
        await self._access.in_leases(lambda leases: leases.check(place, holder))
        if before is not None:
            await self._access.in_places(lambda places: places.close(before))

    async def lost(self) -> "list[Lease]":
        """List the places with unfinished work whose lease has expired or was released, oldest first.

        Raises:
            JournalFault: The database cannot be used.
        """
        known = await self._access.in_places(lambda places: places.all())
        leases, now = await self._access.in_leases(lambda leases: leases.all())
        leased = {(lease.owner, lease.place) for lease in leases}
        if any((one.owner, one.place) not in leased for one in known):
            # Work that finished between the two reads has neither a lease nor a state by now.
            still = set(await self._access.in_places(lambda places: places.all()))
            known = [one for one in known if one in still]
        return _expired(leases, known, now)

    async def at(self, place: str) -> Lease | None:
        """Return the lease on a place with its state; ``None`` if there is neither.

        Raises:
            JournalFault: The database cannot be used.
        """
        self._access.demand_owner("a place")
        lease = await self._access.in_leases(lambda leases: leases.at(self._access.owner, place))
        return await self._access.in_places(lambda places: _joined(lease, places.at(place)))

    async def of(self, state_id: str) -> Lease | None:
        """Return the lease on the place where a state is worked on; ``None`` if there is none.

        Raises:
            JournalFault: The database cannot be used.
        """
        there = await self._access.in_places(lambda places: places.of(state_id))
        if there is None:
            return None
        return await self._access.in_leases(
            lambda leases: _joined(leases.at(there.owner, there.place), there)
        )

    async def last(self, user: str) -> str | None:
        """Return the id of the state that was last worked on for a user, also after the work has finished.

        It is forgotten with the state's transcript.

        Args:
            user: The user, as ``assign`` was told.

        Raises:
            JournalFault: The database cannot be used.
        """
        self._access.demand_owner("a user")
        return await self._access.in_places(lambda places: places.last(user))


@overload
def _joined(lease: Lease, place: "PlaceRow | None") -> Lease: ...
@overload
def _joined(lease: Lease | None, place: "PlaceRow") -> Lease: ...
@overload
def _joined(lease: Lease | None, place: "PlaceRow | None") -> Lease | None: ...
def _joined(lease: Lease | None, place: "PlaceRow | None") -> Lease | None:
    """Combine the lease with the state of its place.

    If the lease is missing it has expired, and the last holder is the one that assigned the state.
    """
    if place is None:
        return lease
    if lease is None:
        lease = Lease(place.place, place.owner, place.holder or None, place.at, place.at)
    return replace(lease, state_id=place.state_id, user=place.user)


def _expired(leases: Sequence[Lease], places: "Sequence[PlaceRow]", now: datetime) -> list[Lease]:
    """List the places whose lease has expired, the longest expired first."""
    known = {(one.owner, one.place): one for one in places}
    over: list[Lease] = []
    for lease in leases:
        place = known.pop((lease.owner, lease.place), None)
        if lease.holder is None or lease.until <= now:
            over.append(_joined(lease, place))
    over += [_joined(None, place) for place in known.values()]
    return sorted(over, key=lambda lease: lease.until)


async def _end_other_leases(
    settled: "asyncio.Future[list[PlaceRow] | None]", access: StoreAccess
) -> "list[PlaceRow] | None":
    """Wait until a state is assigned; holders that worked on it elsewhere lose their leases in any case."""
    ends: list[asyncio.Future[None]] = []

    def end(settled: "asyncio.Future[list[PlaceRow] | None]") -> None:
        if not settled.cancelled() and settled.exception() is None:
            ends.extend(
                access.start_in_leases(partial(_end_lease, one)) for one in settled.result() or ()
            )
        for one in ends:
            one.add_done_callback(_log_failure)

    settled.add_done_callback(end)
    elsewhere = await asyncio.shield(settled)
    if ends:
        await asyncio.wait(ends)
    return elsewhere


def _end_lease(place: "PlaceRow", leases: "Leases") -> None:
    leases.end([(place.owner, place.place)], place.holder)


def _log_failure(ended: "asyncio.Future[None]") -> None:
    if not ended.cancelled() and (fault := ended.exception()) is not None:
        # The holder of that lease finds out with its next write, which raises ``TakenOver``.
        logger.warning("ending the lease of another place failed: %s", fault)
