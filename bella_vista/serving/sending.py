"""Agents sent to rooms in the place of others: the one that is gone is removed, and the next is told its job."""

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

from bella_vista.job import JobMetadata

logger = logging.getLogger(__name__)

GivenUp = Callable[[str, JobMetadata], Awaitable[None]]
"""Is told of a call that nobody goes on with: the room, and its metadata, whose ``supersedes`` is the last job."""

UNANSWERED = (api.TwirpError, aiohttp.ClientError, TimeoutError)
"""What comes of a server that refuses, cannot be reached, or does not answer."""

MOST_TRIES = 3
"""How many agents in a row may be sent to a call whose agents are lost."""

LIVED_S = 120.0
"""A call that an agent has held this long, in seconds, was no reason to die: the count begins anew."""

_ARRIVED_S = 10.0
"""An agent that is not in its room was never there, if it is younger than this, in seconds; else it had left."""

STARTS_S = 20.0
"""How long an agent that was sent may take to be there on a busy machine, in seconds."""

_PATIENCE_S = 3.0
"""How long the server may take to answer, in seconds."""

_ATTEMPTS, _PAUSE_S = 3, 0.3
_ROOMS_AT_ONCE = 100
_QUIET_LOOKS, _LOOK_EVERY_S = 80, 0.1
_AGENT_STATE = "lk.agent.state"
_QUIET = ("", "listening", "idle")
_GUESTS = (ParticipantInfo.STANDARD, ParticipantInfo.SIP, ParticipantInfo.CONNECTOR)


@dataclass(frozen=True, slots=True)
class Place:
    """A place that an agent holds or held in a room.

    Args:
        room: The room's name.
        job_id: The agent's job.
        identity: Who it is in the room.
        agent_name: The name it was sent for by.
        metadata: What it was sent with.
        lived_s: How long it has had the call, in seconds.
    """

    room: str
    job_id: str
    identity: str
    agent_name: str
    metadata: JobMetadata
    lived_s: float

    @classmethod
    def of(cls, info: RunningJobInfo) -> "Place":
        """Find out the place of a job of this worker.

        Raises:
            MetadataFaults: It was sent with what nobody understands, so it never had a call.
        """
        return cls(
            info.job.room.name,
            info.job.id,
            info.accept_arguments.identity or default_identity(info.job.id),
            info.job.agent_name,
            JobMetadata.parse(info.job.metadata),
            max(0.0, time.time() - info.launched_at) if info.launched_at else 0.0,
        )

    @property
    def next_metadata(self) -> JobMetadata:
        """What the agent that comes after a lost one is sent with."""
        return self._metadata(lost=1)

    @property
    def metadata_when_moved(self) -> JobMetadata:
        """What the agent is sent with that takes over from a living one."""
        return self._metadata(lost=0)

    def _metadata(self, lost: int) -> JobMetadata:
        before = 0 if self.lived_s >= LIVED_S else self.metadata.tries
        return self.metadata.model_copy(
            update={"supersedes": self.job_id or None, "tries": before + lost}
        )


def default_identity(job_id: str) -> str:
    """Tell who an agent is in its room unless it chose to be somebody else, as livekit-agents 1.8.9 does it."""
    return f"agent-{job_id}"


class Sending:
    """Sends agents to rooms in the place of others.

    Args:
        server: The LiveKit server's API.
        given_up: Is told of a call whose agents are lost again and again.
    """

    def __init__(self, server: api.LiveKitAPI, given_up: GivenUp | None = None) -> None:
        self._server = server
        self._tell = given_up
        self.given_up: set[str] = set()
        """The jobs whose calls were given up."""
        self._sent: dict[str, float] = {}

    async def replace(self, place: Place) -> None:
        """Send another agent to a call whose agent is lost, unless that has been tried too often.

        Then one more is sent, whose ``tries`` are more than ``MOST_TRIES``: it only tells the guest.
        """
        if place.metadata.tries > MOST_TRIES:
            return
        metadata = place.next_metadata
        if metadata.tries > MOST_TRIES:
            logger.error(
                "a call was given up: its agents are lost again and again",
                extra={"room": place.room, "job_id": place.job_id, "tries": MOST_TRIES},
            )
            self.given_up.add(place.job_id)
            try:
                await self.send(place, metadata)
            finally:
                await self._tell_staff(place, metadata)
            return
        await self.send(place, metadata)
        logger.warning(
            "a lost agent is replaced",
            extra={"room": place.room, "job_id": place.job_id, "tries": metadata.tries},
        )

    async def _tell_staff(self, place: Place, metadata: JobMetadata) -> None:
        if self._tell is None:
            return
        try:
            await self._tell(place.room, metadata.model_copy(update={"tries": MOST_TRIES}))
        except Exception:  # what broke the call may be what keeps the word from being left
            where = {"room": place.room, "job_id": place.job_id}
            logger.exception("the staff could not be told of a call that was given up", extra=where)

    async def move(self, place: Place) -> None:
        """Let another worker's agent take over a call, when its agent is not in the middle of a sentence."""
        for _ in range(_QUIET_LOOKS):
            if await self._quiet(place):
                break
            await asyncio.sleep(_LOOK_EVERY_S)
        await self.send(place, place.metadata_when_moved)
        logger.info("a call moves on", extra={"room": place.room, "job_id": place.job_id})

    async def send(self, place: Place, metadata: JobMetadata) -> None:
        """Remove an agent from a room and send another one there.

        Raises:
            api.TwirpError: The server refuses.
            aiohttp.ClientError: It cannot be reached.
            TimeoutError: It does not answer.
        """
        await self._remove(place)
        await self.dispatch(place.room, place.agent_name, metadata.text())
        self._sent[place.room] = time.monotonic()

    def is_on_its_way(self, room: str) -> bool:
        """Whether an agent that was sent to a room may still be starting."""
        return time.monotonic() - self._sent.get(room, float("-inf")) < STARTS_S

    async def is_lost(self, place: Place) -> bool:
        """Whether an agent whose process is gone has left a guest, or a guest's place, behind.

        One that had left its room before it died had ended its call; its participant is no longer there.
        """
        there = await self.participants(place.room)
        if any(one.identity == place.identity for one in there):
            return True
        return place.lived_s < _ARRIVED_S and somebody(there) and not agents(there)

    async def rooms(self, names: Sequence[str]) -> set[str]:
        """Find out which of these rooms there are.

        Raises:
            api.TwirpError: The server refuses.
            aiohttp.ClientError: It cannot be reached.
            TimeoutError: It does not answer.
        """
        there: set[str] = set()
        for begin in range(0, len(names), _ROOMS_AT_ONCE):
            request = api.ListRoomsRequest(names=names[begin : begin + _ROOMS_AT_ONCE])
            listed = await _often(partial(self._server.room.list_rooms, request))
            there.update(room.name for room in listed.rooms)
        return there

    async def unserved(self, agent_name: str) -> Mapping[str, tuple[str, str]]:
        """Find the dispatches in whose rooms somebody waits for an agent, and that no worker has got.

        One that has just been made may be on its way to a worker: look twice. livekit-server 1.13.5 gives a
        dispatch to no worker that registers later.

        Returns:
            By each dispatch's id, the room's name and the metadata that its agent was asked for with.

        Raises:
            api.TwirpError: The server refuses.
            aiohttp.ClientError: It cannot be reached.
            TimeoutError: It does not answer.
        """
        found: dict[str, tuple[str, str]] = {}
        listed = await _often(partial(self._server.room.list_rooms, api.ListRoomsRequest()))
        for room in listed.rooms:
            there = await self.participants(room.name)
            if not somebody(there) or agents(there):
                continue
            asked = await _often(partial(self._server.agent_dispatch.list_dispatch, room.name))
            ours = [one for one in asked if one.agent_name == agent_name]
            if ours and not any(one.state.jobs for one in ours):
                found[ours[-1].id] = (room.name, ours[-1].metadata)
        return found

    async def dispatch(self, room: str, agent_name: str, metadata: str) -> None:
        """Send an agent to a room.

        Raises:
            api.TwirpError: The server refuses.
            aiohttp.ClientError: It cannot be reached.
            TimeoutError: It does not answer.
        """
        request = api.CreateAgentDispatchRequest(
            agent_name=agent_name, room=room, metadata=metadata
        )
        await _often(partial(self._server.agent_dispatch.create_dispatch, request))

    async def participants(self, room: str) -> Sequence[ParticipantInfo]:
        """List who is in a room; nobody, when there is no such room.

        Raises:
            api.TwirpError: The server refuses.
            aiohttp.ClientError: It cannot be reached.
            TimeoutError: It does not answer.
        """
        request = api.ListParticipantsRequest(room=room)
        try:
            listed = await _often(partial(self._server.room.list_participants, request))
        except api.TwirpError as error:
            if error.code == api.TwirpErrorCode.NOT_FOUND:
                return ()
            raise
        return list(listed.participants)

    async def _quiet(self, place: Place) -> bool:
        there = await self.participants(place.room)
        agent = next((one for one in there if one.identity == place.identity), None)
        return agent is None or agent.attributes.get(_AGENT_STATE, "") in _QUIET

    async def _remove(self, place: Place) -> None:
        request = api.RoomParticipantIdentity(room=place.room, identity=place.identity)
        try:
            await _often(partial(self._server.room.remove_participant, request))
        except api.TwirpError as error:
            if error.code != api.TwirpErrorCode.NOT_FOUND:
                raise


def somebody(there: Sequence[ParticipantInfo]) -> bool:
    """Whether a guest is among them."""
    return any(one.kind in _GUESTS for one in there)


def agents(there: Sequence[ParticipantInfo], *, but: str = "") -> bool:
    """Whether an agent is among them, but for one."""
    return any(one.kind == ParticipantInfo.AGENT and one.identity != but for one in there)


async def _often(ask: Callable[[], Awaitable[Any]]) -> Any:
    """Ask a server that may be busy or just restarting, a few times."""
    for attempt in range(_ATTEMPTS):
        last = attempt == _ATTEMPTS - 1
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return await ask()
        except api.TwirpError as error:
            if last or error.code != api.TwirpErrorCode.UNAVAILABLE:
                raise
        except (aiohttp.ClientError, TimeoutError):
            if last:
                raise
        await asyncio.sleep(_PAUSE_S)
    raise RuntimeError("it has been asked, and neither answered nor failed")
