"""The state a call is about: the one the user had here, the one of their resume code, or a new one."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from pydantic import JsonValue

from agents.app.app import AnyApp, App
from agents.app.declaration import attempt
from agents.app.job_metadata import JobMetadata
from agents.app.parts import C, Channel, S
from agents.app.rooms.prior_call import PriorCall, read_prior_call
from agents.app.rooms.resume_codes import state_of
from agents.app.rooms.room_lease import retried
from agents.app.states import StateFaults, new_state, resume_state
from agents.app.words import may_be_missing
from state.shared import Lease, SharedState, SqlStore, StateError

logger = logging.getLogger(__name__)

_LARGEST_LAST = 8_000
"""The largest last state that a hello repeats, in bytes: a reply has to stay below fifteen thousand."""


@dataclass(frozen=True)
class Opened(Generic[S, C]):
    """The state a call is about.

    Args:
        shared: The state.
        resumed: Whether the user has talked about it before.
        prior: What was said then.
        preamble: The text that the user has to be told first.
    """

    shared: SharedState[S, C]
    resumed: bool = False
    prior: PriorCall = PriorCall()
    preamble: str = ""


async def open_for(
    app: App[S, C],
    store: SqlStore,
    context: C,
    metadata: JobMetadata,
    lease: Lease,
    *,
    user: str,
    channel: Channel,
    secret: str,
) -> Opened[S, C]:
    """Open the order of a call; retries while the database is locked or does not answer.

    A resume code proves ownership. A state that is only named, or that was served in this room
    before, is resumed only for its own user; to others it does not exist.

    Args:
        app: The application.
        store: Keeps the states.
        context: The context of the rules.
        metadata: The dispatch's metadata.
        lease: The room's lease from the last call here.
        user: The user's identity.
        channel: How the user talks to us.
        secret: Signs resume codes.

    Raises:
        StateFaults: The database cannot be used.
    """
    asked = metadata.resume_code is not None or metadata.state_id is not None

    async def attempt() -> Opened[S, C]:
        preamble = app.rooms.words.not_found if asked else ""
        state_id = await _named(app, store, metadata, lease, user, secret)
        if state_id is not None:
            try:
                return await _resumed(app, store, context, state_id)
            except StateFaults as fault:
                if fault.unreadable:
                    preamble = app.rooms.words.unreadable
                elif fault.passing:
                    raise
                level = logging.ERROR if fault.unreadable else logging.INFO
                logger.log(level, "state could not be resumed: %s", "; ".join(fault.faults))
        return Opened(await new_state(app, store, context, channel), preamble=preamble)

    return await retried(attempt, "state not opened yet, retrying: %s")


async def _resumed(app: App[S, C], store: SqlStore, context: C, state_id: str) -> Opened[S, C]:
    shared = await resume_state(app, store, context, state_id)
    # Read only after taking the state over: until then another process may still answer and write.
    prior = await read_prior_call(store, shared.state_id)
    told = may_be_missing(prior.in_doubt) if prior.in_doubt else ""
    return Opened(shared, resumed=True, prior=prior, preamble=told)


async def _named(
    app: AnyApp,
    store: SqlStore,
    metadata: JobMetadata,
    lease: Lease,
    user: str,
    secret: str,
) -> str | None:
    if metadata.supersedes is not None and lease.open and lease.user == user:
        return (
            lease.state_id
        )  # a lost job may have served another state than the one it was dispatched for
    if metadata.resume_code is not None:
        return state_of(metadata.resume_code, secret, app.name)
    if metadata.state_id is not None:
        state_id = metadata.state_id.strip().lower()
        known = await store.leases.of(state_id)
        return state_id if known is None or known.user in (None, user) else None
    if lease.open and lease.state_id is not None and lease.user == user:
        return lease.state_id
    return None


async def last_of(app: App[S, C], store: SqlStore, user: str) -> Sequence[dict[str, JsonValue]]:
    """Return the commands that do a user's last state again; none if they had none, or it cannot be read."""
    repeat = app.page_spec.repeat
    if repeat is None:
        return ()
    try:
        state_id = await store.leases.last(user)
        if state_id is None:
            return ()
        state = (await store.read(state_id)).read(app.state_type)
    except StateError as fault:
        logger.warning("user's last state not read: %s", fault.message)
        return ()
    none: list[dict[str, JsonValue]] = []
    written = attempt("page.repeat", none, lambda: [one.written() for one in repeat(state)])
    return written if len(json.dumps(written).encode()) <= _LARGEST_LAST else ()
