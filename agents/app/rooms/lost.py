"""Finds calls whose worker died, and flags abandoned calls for staff."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from agents.app.app import AnyApp, Environment
from agents.app.dispatch.replacement import LostCall
from agents.app.job_metadata import JobMetadata
from agents.app.rooms.room_lease import RENEW_EVERY_S, lease_name, leased_room
from agents.app.settings import AppSettings
from agents.app.states import as_state_faults, open_store
from state.shared import Lease, SharedState, SqlStore

RECOVERED_FOR = timedelta(hours=6)
"""For how long a lost call is recovered when its user returns: as long as LiveKit's tokens are
valid."""

_GIVEN_UP = "given up"

_PROBE = "write probe"
"""The name of a lease that belongs to no room; it tests whether leases can be written."""

_RECHECK_S = 3 * RENEW_EVERY_S
"""How long live agents may take to renew their leases once the database works, in seconds."""


async def find_lost_calls(app: AnyApp, settings: AppSettings) -> Sequence[LostCall]:
    """Find the rooms with an unfinished call whose agent no longer renews its lease."""
    async with _open_store(app, settings) as store:
        lost = await _expired_leases(store)
    now = datetime.now(UTC)
    return [
        LostCall(
            room,
            lease.holder or "",
            lease.state_id,
            user=lease.user,
            tries=lease.tries if lease.holder else 0,
            lived_s=(lease.until - lease.since).total_seconds(),
            silent_s=(now - lease.until).total_seconds(),
        )
        for lease in lost
        if now - lease.until < RECOVERED_FOR
        and (room := leased_room(lease.place, settings.agent_name)) is not None
    ]


async def _expired_leases(store: SqlStore) -> list[Lease]:
    """List the leases that expired although the database could be written to.

    A write is tried first: without it no agent can renew, so none counts as dead. After a locked
    or full database has recovered, live agents get time to renew.
    """
    await store.leases.take(_PROBE, _PROBE, seconds=0.0)
    await store.leases.release(_PROBE, _PROBE, done=True)
    silent = {(one.place, one.holder) for one in await store.leases.lost()}
    if any(holder is not None for _, holder in silent):
        await asyncio.sleep(_RECHECK_S)
    return [one for one in await store.leases.lost() if (one.place, one.holder) in silent]


async def flag_abandoned_call(
    app: AnyApp, settings: AppSettings, room: str, metadata: JobMetadata
) -> None:
    """Flag a call for staff that failed and is not continued."""
    async with _open_store(app, settings) as store:
        state_id = metadata.state_id
        name = lease_name(settings.agent_name, room)
        if state_id is None and (lease := await store.leases.at(name)) is not None:
            state_id = lease.state_id
        if state_id is not None and app.stored.given_up is not None:
            await _flag_state(app, settings, store, state_id)
        # So the call is not recovered again, and the next user in this room starts a new state.
        await store.leases.take(name, _GIVEN_UP, seconds=1.0, supersedes=metadata.supersedes)
        await store.leases.release(name, _GIVEN_UP, done=True)


async def _flag_state(app: AnyApp, settings: AppSettings, store: SqlStore, state_id: str) -> None:
    """Have the application flag a state; a call may hold it."""
    with as_state_faults(app.noun):
        stored = await store.read(state_id)
        context = app.make_context(Environment.of(settings))
        shared: SharedState[Any, Any] = SharedState.restored(stored, app.state_type, context)
        if app.stored.given_up is not None:
            await app.stored.given_up(shared, "The call broke off and could not be continued.")


def _open_store(app: AnyApp, settings: AppSettings) -> SqlStore:
    return open_store(app, settings.database, _owner_of_states(app, settings))


_owners: dict[str, str] = {}


def _owner_of_states(app: AnyApp, settings: AppSettings) -> str:
    """Return the owner of the states; cached, since a context has to be made for it."""
    if app.name not in _owners:
        _owners[app.name] = app.owner_of(app.make_context(Environment.of(settings)))
    return _owners[app.name]
