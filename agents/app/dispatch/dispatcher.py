"""Replaces agents in rooms: removes the old agent's participant, then creates a dispatch."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import aiohttp
from livekit import api
from livekit.agents.job import RunningJobInfo
from livekit.protocol.models import ParticipantInfo

from agents.app.job_metadata import JobMetadata
from agents.app.settings import AppSettings

logger = logging.getLogger(__name__)

GivenUp = Callable[[str, JobMetadata], Awaitable[None]]
"""Callback for a call that is given up: the room, and metadata whose ``supersedes`` is the last
job."""

UNANSWERED = (api.TwirpError, aiohttp.ClientError, TimeoutError)
"""The errors of a LiveKit server that refuses a request, cannot be reached, or does not answer."""

MAX_TRIES = 3
"""How many agents in a row may fail in a call before it is given up."""

LIVED_S = 120.0
"""How long an agent must have served a call for the count of failures to be reset, in seconds."""

_ARRIVED_S = 10.0
"""The age up to which an absent agent counts as not having joined its room, in seconds; an older one
has left it."""

STARTS_S = 20.0
"""How long a dispatched agent may take to join on a busy machine, in seconds."""

_TIMEOUT_S = 3.0
"""The timeout of a request to the server, in seconds."""

_ATTEMPTS, _PAUSE_S = 3, 0.3
_ROOMS_AT_ONCE = 100
_MOVE_POLLS, _POLL_S = 80, 0.1
_AGENT_STATE = "lk.agent.state"
_QUIET_STATES = ("", "listening", "idle")
_USERS = (ParticipantInfo.STANDARD, ParticipantInfo.SIP, ParticipantInfo.CONNECTOR)


@dataclass(frozen=True, slots=True)
class AgentJob:
    """An agent's job in a room, running or lost.

    Args:
        job_id: The agent's job.
        identity: The agent's identity in the room.
        agent_name: The name it was dispatched by.
        lived_s: How long it has served the call, in seconds.
    """

    room: str
    job_id: str
    identity: str
    agent_name: str
    metadata: JobMetadata
    lived_s: float

    @classmethod
    def of(cls, info: RunningJobInfo, noun: str = "state") -> "AgentJob":
        """Describe a job of this worker.

        Raises:
            MetadataFaults: Its metadata is invalid, so it never served a call.
        """
        return cls(
            info.job.room.name,
            info.job.id,
            info.accept_arguments.identity or default_identity(info.job.id),
            info.job.agent_name,
            JobMetadata.parse(info.job.metadata, noun),
            max(0.0, time.time() - info.launched_at) if info.launched_at else 0.0,
        )

    @property
    def next_metadata(self) -> JobMetadata:
        """The metadata of the agent that replaces this one after a failure."""
        return self._metadata(lost=1)

    @property
    def metadata_when_moved(self) -> JobMetadata:
        """The metadata of the agent that takes over from this one while it still runs."""
        return self._metadata(lost=0)

    def _metadata(self, lost: int) -> JobMetadata:
        before = 0 if self.lived_s >= LIVED_S else self.metadata.tries
        return self.metadata.model_copy(
            update={"supersedes": self.job_id or None, "tries": before + lost}
        )


def server_api(settings: AppSettings) -> api.LiveKitAPI:
    """Return a client of the LiveKit server's API; the caller closes it."""
    limit = aiohttp.ClientTimeout(total=10)
    return api.LiveKitAPI(settings.livekit_url, *settings.livekit_keys, timeout=limit)


def default_identity(job_id: str) -> str:
    """Return the identity that livekit-agents 1.8.9 gives an agent by default."""
    return f"agent-{job_id}"


class Dispatcher:
    """Dispatches agents to rooms in place of others.

    Its methods raise one of ``UNANSWERED`` after a few retries.

    Args:
        given_up: Called for a call whose agents keep failing.
    """

    def __init__(
        self, server: api.LiveKitAPI, given_up: GivenUp | None = None, noun: str = "state"
    ) -> None:
        self.noun = noun
        self._server = server
        self._on_given_up = given_up
        self.given_up: set[str] = set()
        """The ids of the jobs whose calls were given up."""
        self._dispatched_at: dict[str, float] = {}

    async def replace(self, job: AgentJob) -> None:
        """Dispatch another agent to a call whose agent is lost.

        After ``MAX_TRIES`` failures in a row the call is given up: one more agent is dispatched,
        and only informs the user.
        """
        if job.metadata.tries > MAX_TRIES:
            return
        metadata = job.next_metadata
        if metadata.tries > MAX_TRIES:
            logger.error(
                "call given up after repeated agent failures",
                extra={"room": job.room, "job_id": job.job_id, "tries": MAX_TRIES},
            )
            self.given_up.add(job.job_id)
            try:
                await self.replace_participant(job, metadata)
            finally:
                await self._notify_given_up(job, metadata)
            return
        await self.replace_participant(job, metadata)
        logger.warning(
            "replaced a lost agent",
            extra={"room": job.room, "job_id": job.job_id, "tries": metadata.tries},
        )

    async def _notify_given_up(self, job: AgentJob, metadata: JobMetadata) -> None:
        if self._on_given_up is None:
            return
        try:
            await self._on_given_up(job.room, metadata.model_copy(update={"tries": MAX_TRIES}))
        except Exception:  # of any type: the cause of the failures may affect this too
            where = {"room": job.room, "job_id": job.job_id}
            logger.exception("staff not notified of a call that was given up", extra=where)

    async def move(self, job: AgentJob) -> None:
        """Move a call to an agent of another worker once its agent is not speaking."""
        for _ in range(_MOVE_POLLS):
            if await self._is_agent_quiet(job):
                break
            await asyncio.sleep(_POLL_S)
        await self.replace_participant(job, job.metadata_when_moved)
        logger.info(
            "moved a call to another worker", extra={"room": job.room, "job_id": job.job_id}
        )

    async def replace_participant(self, job: AgentJob, metadata: JobMetadata) -> None:
        """Remove an agent from a room and dispatch another one."""
        await self._remove(job)
        await self.dispatch(job.room, job.agent_name, metadata.text())
        self._dispatched_at[job.room] = time.monotonic()

    def is_agent_starting(self, room: str) -> bool:
        """Whether an agent dispatched to a room may still be starting."""
        return time.monotonic() - self._dispatched_at.get(room, float("-inf")) < STARTS_S

    async def is_lost(self, job: AgentJob) -> bool:
        """Whether a call still needs an agent after the process of its agent has ended.

        It does if the agent's participant is still in the room: an agent that had ended its call
        had left. It also does if the agent never joined, and its user waits.
        """
        there = await self.participants(job.room)
        if any(one.identity == job.identity for one in there):
            return True
        return job.lived_s < _ARRIVED_S and has_user(there) and not has_agent(there)

    async def rooms(self, names: Sequence[str]) -> set[str]:
        """Return the names of those rooms that exist."""
        existing: set[str] = set()
        for begin in range(0, len(names), _ROOMS_AT_ONCE):
            request = api.ListRoomsRequest(names=names[begin : begin + _ROOMS_AT_ONCE])
            listed = await _with_retries(partial(self._server.room.list_rooms, request))
            existing.update(room.name for room in listed.rooms)
        return existing

    async def unserved(self, agent_name: str) -> Mapping[str, tuple[str, str]]:
        """Find dispatches without a job, in rooms where a participant waits for an agent.

        A new dispatch may not have reached a worker yet, so call this twice. livekit-server 1.13.5
        does not send a dispatch to workers that register later.

        Returns:
            By dispatch id, the room's name and the dispatch's metadata.
        """
        found: dict[str, tuple[str, str]] = {}
        listed = await _with_retries(partial(self._server.room.list_rooms, api.ListRoomsRequest()))
        for room in listed.rooms:
            there = await self.participants(room.name)
            if not has_user(there) or has_agent(there):
                continue
            dispatches = await self.dispatches(room.name)
            ours = [one for one in dispatches if one.agent_name == agent_name]
            if ours and not any(one.state.jobs for one in ours):
                found[ours[-1].id] = (room.name, ours[-1].metadata)
        return found

    async def dispatches(self, room: str) -> Sequence[api.AgentDispatch]:
        """List the dispatches of a room."""
        listed = await _with_retries(partial(self._server.agent_dispatch.list_dispatch, room))
        return list(listed)

    async def dispatch(self, room: str, agent_name: str, metadata: str) -> None:
        """Dispatch an agent to a room."""
        request = api.CreateAgentDispatchRequest(
            agent_name=agent_name, room=room, metadata=metadata
        )
        await _with_retries(partial(self._server.agent_dispatch.create_dispatch, request))

    async def participants(self, room: str) -> Sequence[ParticipantInfo]:
        """List the participants of a room; none if the room does not exist."""
        request = api.ListParticipantsRequest(room=room)
        try:
            listed = await _with_retries(partial(self._server.room.list_participants, request))
        except api.TwirpError as error:
            if error.code == api.TwirpErrorCode.NOT_FOUND:
                return ()
            raise
        return list(listed.participants)

    async def _is_agent_quiet(self, job: AgentJob) -> bool:
        there = await self.participants(job.room)
        agent = next((one for one in there if one.identity == job.identity), None)
        return agent is None or agent.attributes.get(_AGENT_STATE, "") in _QUIET_STATES

    async def _remove(self, job: AgentJob) -> None:
        request = api.RoomParticipantIdentity(room=job.room, identity=job.identity)
        try:
            await _with_retries(partial(self._server.room.remove_participant, request))
        except api.TwirpError as error:
            if error.code != api.TwirpErrorCode.NOT_FOUND:
                raise


def has_user(there: Sequence[ParticipantInfo]) -> bool:
    """Whether a user is among the participants."""
    return any(one.kind in _USERS for one in there)


def has_agent(there: Sequence[ParticipantInfo], *, but: str = "") -> bool:
    """Whether an agent is among the participants, except for one identity."""
    return any(one.kind == ParticipantInfo.AGENT and one.identity != but for one in there)


async def _with_retries(ask: Callable[[], Awaitable[Any]]) -> Any:
    """Send a request with a few retries: the server may be busy or restarting."""
    for attempt in range(_ATTEMPTS):
        last = attempt == _ATTEMPTS - 1
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                return await ask()
        except api.TwirpError as error:
            if last or error.code != api.TwirpErrorCode.UNAVAILABLE:
                raise
        except (aiohttp.ClientError, TimeoutError):
            if last:
                raise
        await asyncio.sleep(_PAUSE_S)
    raise RuntimeError("unreachable: every attempt returns or raises")
