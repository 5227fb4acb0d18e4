"""Calls that broke off in rooms: what dead workers have left is found, and the staff is told what nobody takes up."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from bella_vista.job import JobMetadata
from bella_vista.menus import served_menu
from bella_vista.orders import default_database, open_store, wants_person
from bella_vista.rooms.seat import RENEWED_S, place_of, room_of
from bella_vista.serving.replacing import LostPlace
from bella_vista.settings import Settings
from state.shared import Lease, SqlStore

TAKEN_UP_FOR = timedelta(hours=6)
"""For how long a call that was left is taken up when its guest is there again: as long as LiveKit's tokens last."""

_GIVEN_UP = "given up"

_TRIED = "a place to try"
"""No room's place, which is taken to see whether any can be."""

_LOOK_AGAIN_S = 3 * RENEWED_S
"""How long those who live may take to renew their places once they can, in seconds."""


async def lost_places(settings: Settings) -> Sequence[LostPlace]:
    """Find the rooms in which a call did not end and nobody serves any more."""
    async with _store(settings) as store:
        lost = await _lost(store)
    now = datetime.now(UTC)
    return [
        LostPlace(
            room,
            lease.holder or "",
            lease.state_id,
            guest=lease.guest,
            tries=lease.tries if lease.holder else 0,
            lived_s=(lease.until - lease.since).total_seconds(),
            silent_s=(now - lease.until).total_seconds(),
        )
        for lease in lost
        if now - lease.until < TAKEN_UP_FOR
        and (room := room_of(lease.place, settings.agent_name)) is not None
    ]


async def _lost(store: SqlStore) -> list[Lease]:
    """List the places whose holders are silent though they could be heard.

    Where nothing can be written nobody can renew his place, and nobody is taken for dead: it is tried first. When
    a database that was locked or full is itself again, those who live are given the time to renew.
    """
    await store.take_place(_TRIED, _TRIED, seconds=0.0)
    await store.leave_place(_TRIED, _TRIED, done=True)
    silent = {(one.place, one.holder) for one in await store.lost_places()}
    if any(holder is not None for _, holder in silent):
        await asyncio.sleep(_LOOK_AGAIN_S)
    return [one for one in await store.lost_places() if (one.place, one.holder) in silent]


async def tell_staff(settings: Settings, room: str, metadata: JobMetadata) -> None:
    """Leave word for the staff that a guest's call broke off and that nobody goes on with it."""
    async with _store(settings) as store:
        order_id = metadata.order_id
        place = place_of(settings.agent_name, room)
        if order_id is None and (lease := await store.lease_at(place)) is not None:
            order_id = lease.state_id
        if order_id is not None:
            await wants_person(store, order_id, "The call broke off and could not be continued.")
        # Nobody takes it up again: the next guest in a room of this name begins anew.
        await store.take_place(place, _GIVEN_UP, seconds=1.0, supersedes=metadata.supersedes)
        await store.leave_place(place, _GIVEN_UP, done=True)


def _store(settings: Settings) -> SqlStore:
    return open_store(settings.database or default_database(), _restaurant(settings.menu))


@cache
def _restaurant(menu: Path | None) -> str:
    return served_menu(menu).restaurant.id
