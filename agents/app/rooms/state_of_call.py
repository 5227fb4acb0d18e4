"""The state of a call: the user's last one in this room, the one of their resume code, or a new one."""

import base64
import hashlib
import hmac
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

from pydantic import JsonValue

from agents.app.app import AnyApp, App
from agents.app.declaration import attempt
from agents.app.job_metadata import JobMetadata
from agents.app.parts import C, Channel, S
from agents.app.rooms.room_lease import retried
from agents.app.states import StateFaults, new_state, resume_state
from agents.app.transcript import MomentKind, group_by_call, is_users
from agents.app.words import may_be_missing
from rpc.page import Spoken, SpokenLine
from state.shared import Lease, Moment, SharedState, SqlStore, StateError


@dataclass(frozen=True)
class PriorCall:
    """An interrupted call, read from its transcript so that another process can continue it.

    Each change is stored with the last turn that it acts on. Unanswered messages after that turn are
    acted on now, as if they had just been said. Unanswered messages up to that turn may have been
    acted on in part, so they are never acted on again: the user is asked, with a quotation, whether
    anything is missing.

    Args:
        turn: The number of the user's last message.
        spoken: The messages that clients sent with keys.
        unanswered: The messages without a reply that no change has acted on yet, in order.
        in_doubt: The messages that may have been acted on only in part; an empty text where the
            words were not stored.
        recording_refused: Whether the user does not want to be recorded.
        lines: The words of user and agents, in order.
    """

    turn: int = 0
    spoken: tuple[Spoken, ...] = ()
    unanswered: tuple[str, ...] = ()
    in_doubt: tuple[str, ...] = ()
    recording_refused: bool = False
    lines: tuple[SpokenLine, ...] = ()


async def read_prior_call(store: SqlStore, state_id: str) -> PriorCall:
    """Read the earlier calls about a state; without a stored transcript the result is empty.

    Args:
        store: The store of the states.
        state_id: A state that no other process can write to any more.

    Raises:
        JournalFault: The database cannot be used.
    """
    moments = await store.said(state_id)
    entries = (await store.read(state_id)).entries
    acted = max((entry.turn or 0 for entry in entries), default=0)
    waiting = _since_last_reply(moments)
    words = {one.turn: one.text for one in waiting if one.kind == MomentKind.USER_WORDS}
    turns = dict.fromkeys(one.turn for one in waiting if one.kind == MomentKind.USER_SPOKE)
    still_to_do = [turn for turn in turns if turn > acted and turn in words]
    return PriorCall(
        # The transcript is deleted after some time, the journal is not.
        turn=max((acted, *(moment.turn for moment in moments))),
        spoken=tuple(
            Spoken(**json.loads(one.text)) for one in moments if one.kind == MomentKind.CLIENT_KEY
        ),
        unanswered=tuple(words[turn] for turn in still_to_do),
        in_doubt=tuple(words.get(turn, "") for turn in turns if turn not in still_to_do),
        recording_refused=any(one.kind == MomentKind.NOT_RECORDED for one in moments),
        lines=tuple(_lines(moments)),
    )


def _since_last_reply(moments: Sequence[Moment]) -> Sequence[Moment]:
    """Return the moments after the last complete reply; none if no reply is recorded.

    A message that was stored before it was heard may precede the reply to an earlier message.
    """
    at = max(
        (at for at, one in enumerate(moments) if one.kind == MomentKind.ALL_ANSWERED), default=None
    )
    if at is None:
        return ()
    began = max(
        (i for i, one in enumerate(moments[:at]) if one.kind == MomentKind.CALL_STARTED), default=0
    )
    overtaken = (one for one in moments[began:at] if one.turn > moments[at].turn)
    return [*overtaken, *moments[at + 1 :]]


def _lines(moments: Sequence[Moment]) -> Iterator[SpokenLine]:
    for call in group_by_call(moments):
        for one in call.words:
            agent = None if is_users(one) else one.who
            cut = one.kind == MomentKind.INTERRUPTED
            yield SpokenLine(one.turn, agent, one.text, cut, one.utterance)


logger = logging.getLogger(__name__)

_LARGEST_LAST = 8_000
"""The largest last state that a hello returns, in bytes: an RPC reply must be below 15,000 bytes."""


@dataclass(frozen=True)
class Opened(Generic[S, C]):
    """The state of a call.

    Args:
        resumed: Whether it continues an earlier call.
        prior: The earlier calls about it.
        preamble: A text to be said first.
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
    """Open the state of a call; retries while the database is locked or does not answer.

    A resume code proves ownership. A state that is named by its id, or that was served in this room
    before, is resumed only for its own user; for others it does not exist.

    Args:
        app: The application.
        store: The store of the states.
        context: The context of the rules.
        metadata: The dispatch's metadata.
        lease: The room's lease from the last call here.
        user: The user's identity.
        channel: How the user talks to the agents.
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
    # Read after the takeover: before it another process may still reply and write.
    prior = await read_prior_call(store, shared.state_id)
    preamble = may_be_missing(prior.in_doubt) if prior.in_doubt else ""
    return Opened(shared, resumed=True, prior=prior, preamble=preamble)


async def _named(
    app: AnyApp,
    store: SqlStore,
    metadata: JobMetadata,
    lease: Lease,
    user: str,
    secret: str,
) -> str | None:
    if metadata.supersedes is not None and lease.open and lease.user == user:
        # A lost job may have served another state than the one it was dispatched for.
        return lease.state_id
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
    """Return the commands that recreate a user's last state; none if it is missing or unreadable."""
    repeat = app.page_spec.repeat
    if repeat is None:
        return ()
    try:
        state_id = await store.leases.last(user)
        if state_id is None:
            return ()
        state = (await store.read(state_id)).read(app.state_type)
    except StateError as fault:
        logger.warning("last state of the user not read: %s", fault.message)
        return ()
    none: list[dict[str, JsonValue]] = []
    written = attempt("page.repeat", none, lambda: [one.written() for one in repeat(state)])
    return written if len(json.dumps(written).encode()) <= _LARGEST_LAST else ()


_SIGNATURE = 26
"""The length of the signature, in letters of five bits each: 130 bits."""


def resume_code(state_id: str, secret: str, application: str) -> str:
    """Make the code with which a user resumes a state in another room: its id and a signature.

    Nothing is stored: the signature is an HMAC of the id with the server's API secret. Changing that
    secret invalidates all codes.

    Args:
        state_id: The state's id.
        secret: The server's API secret.
        application: The application's name: the codes of others are invalid.

    >>> code = resume_code("abcd-efgh-jkmn", "s", "clinic")
    >>> state_of("not-a-code", "s", "clinic"), state_of(code, "s", "clinic")
    (None, 'abcd-efgh-jkmn')
    """
    return f"{state_id}.{_signature(state_id, secret, application)}"


def state_of(code: str, secret: str, application: str) -> str | None:
    """Return the id of the state a code was made for; ``None`` when the code is invalid."""
    state_id, _, signature = code.strip().lower().partition(".")
    if not state_id or not signature.isascii():
        return None
    right = hmac.compare_digest(signature, _signature(state_id, secret, application))
    return state_id if right else None


def _signature(state_id: str, secret: str, application: str) -> str:
    signed = f"{application} resume code 1\0{state_id}"
    digest = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode().lower()[:_SIGNATURE]
