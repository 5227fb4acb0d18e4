"""Lost calls: who notices that an agent is gone while its guest is not, and sends for another.

livekit-agents 1.8.9 and livekit-server 1.13.5 do neither: a job whose process dies is not dispatched again, and
its participant stands in the room as a ghost for some twenty seconds. So the ghost is removed, and the room gets a
dispatch that names the dead job, so that the next one may take its order at once.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
from livekit import api
from livekit.agents import JobContext
from livekit.agents.job import RunningJobInfo
from livekit.protocol.models import ParticipantInfo

from bella_vista.job import JobMetadata, MetadataFaults

logger = logging.getLogger(__name__)

GivenUp = Callable[[str, JobMetadata], Awaitable[None]]
"""Is told of a call that nobody goes on with: the room, and its metadata, whose ``supersedes`` is the last job."""

MOST_TRIES = 3
"""How many agents in a row may be sent to a call whose agents are lost."""

LIVED_S = 120.0
"""A call that an agent has held this long, in seconds, was no reason to die: the count begins anew."""

_ARRIVED_S = 10.0
"""An agent that is not in its room was never there, if it is younger than this, in seconds; else it had left."""

_PATIENCE_S = 3.0
"""How long the server may take to answer, in seconds."""

_ATTEMPTS, _PAUSE_S = 3, 0.3
_QUIET_LOOKS, _LOOK_EVERY_S = 80, 0.1
_AGENT_STATE = "lk.agent.state"
_QUIET = ("", "listening", "idle")
_GUESTS = (ParticipantInfo.STANDARD, ParticipantInfo.SIP, ParticipantInfo.CONNECTOR)


@dataclass(frozen=True, slots=True)
class LostPlace:
    """A place in a room that an agent held until its worker died.

    Args:
        room: The room's name.
        job_id: The dead agent's job.
        order_id: The order it held.
        guest: The guest's identity, where it was known.
        tries: How many agents in a row were lost there.
    """

    room: str
    job_id: str
    order_id: str | None = None
    guest: str | None = None
    tries: int = 0


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
        tries = 0 if self.lived_s >= LIVED_S else self.metadata.tries
        return self.metadata.model_copy(update={"supersedes": self.job_id, "tries": tries + 1})


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
        self._given_up = given_up

    async def replace(self, place: Place) -> None:
        """Send another agent to a call whose agent is lost, unless that has been tried too often."""
        metadata = place.next_metadata
        if metadata.tries > MOST_TRIES:
            logger.error(
                "a call was given up: its agents are lost again and again",
                extra={"room": place.room, "job_id": place.job_id, "tries": MOST_TRIES},
            )
            await self._remove(place)
            if self._given_up is not None:
                given_up = metadata.model_copy(update={"tries": MOST_TRIES})
                await self._given_up(place.room, given_up)
            return
        await self.send(place, metadata)
        logger.warning(
            "a lost agent is replaced",
            extra={"room": place.room, "job_id": place.job_id, "tries": metadata.tries},
        )

    async def move(self, place: Place) -> None:
        """Let another worker's agent take over a call, when its agent is not in the middle of a sentence."""
        for _ in range(_QUIET_LOOKS):
            if await self._quiet(place):
                break
            await asyncio.sleep(_LOOK_EVERY_S)
        await self.send(place, place.metadata.model_copy(update={"supersedes": place.job_id}))
        logger.info("a call moves on", extra={"room": place.room, "job_id": place.job_id})

    async def send(self, place: Place, metadata: JobMetadata) -> None:
        """Remove an agent from a room and send another one there.

        Raises:
            api.TwirpError: The server refuses.
            aiohttp.ClientError: It cannot be reached.
            TimeoutError: It does not answer.
        """
        await self._remove(place)
        request = api.CreateAgentDispatchRequest(
            agent_name=place.agent_name, room=place.room, metadata=metadata.text()
        )
        await _often(lambda: self._server.agent_dispatch.create_dispatch(request))

    async def is_lost(self, place: Place) -> bool:
        """Whether an agent whose process is gone has left a guest, or a guest's place, behind.

        One that had left its room before it died had ended its call; its participant is no longer there.
        """
        there = await self.participants(place.room)
        if any(one.identity == place.identity for one in there):
            return True
        return place.lived_s < _ARRIVED_S and _somebody(there) and not _agents(there)

    async def participants(self, room: str) -> Sequence[ParticipantInfo]:
        """List who is in a room; nobody, when there is no such room.

        Raises:
            api.TwirpError: The server refuses.
            aiohttp.ClientError: It cannot be reached.
            TimeoutError: It does not answer.
        """
        request = api.ListParticipantsRequest(room=room)
        try:
            listed = await _often(lambda: self._server.room.list_participants(request))
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
            await _often(lambda: self._server.room.remove_participant(request))
        except api.TwirpError as error:
            if error.code != api.TwirpErrorCode.NOT_FOUND:
                raise


class Watch:
    """Watches the jobs of one worker, and has the lost ones replaced.

    Args:
        sending: Sends the others.
    """

    def __init__(self, sending: Sending) -> None:
        self._sending = sending
        self._over: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def attach(self, pool: Any) -> None:
        """Begin to watch, once the worker has started.

        Args:
            pool: The worker's processes. It is a private attribute of livekit-agents 1.8.9, and nothing public tells
                a job that was killed from one that ended.
        """
        try:
            pool.on("process_job_launched", self._job_launched)
            pool.on("process_closed", self._process_closed)
        except AttributeError:
            logger.error("lost calls are not replaced: livekit-agents has changed")

    def give_over(self, job_id: str) -> None:
        """Forget a job whose call another one has taken over."""
        self._over.add(job_id)

    async def aclose(self) -> None:
        """Replace nobody any more, and finish what has begun."""
        self._closed = True
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _job_launched(self, process: Any) -> None:
        info: RunningJobInfo | None = process.running_job
        if info is not None:
            logger.info("a call begins", extra=_where(info))

    def _process_closed(self, process: Any) -> None:
        info: RunningJobInfo | None = process.running_job
        if info is None:
            return
        code = getattr(process, "exitcode", 0)
        logger.info("a call is over", extra={**_where(info), "exit_code": code})
        if code == 0 or self._closed or info.job.id in self._over:
            return
        task = asyncio.create_task(self._lost(info))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _lost(self, info: RunningJobInfo) -> None:
        try:
            place = Place.of(info)
            if await self._sending.is_lost(place):
                await self._sending.replace(place)
        except MetadataFaults:
            return
        except Exception:  # whatever becomes of one call, the worker's others go on
            logger.exception("a lost agent could not be replaced", extra=_where(info))


async def replace_this_job(
    ctx: JobContext,
    metadata: JobMetadata,
    *,
    lived_s: float,
    given_up: GivenUp | None = None,
) -> None:
    """Have this job replaced, from within: for an entrypoint that cannot go on.

    To livekit-agents 1.8.9 a job whose entrypoint raises has ended well, and nobody comes in its place.
    The job leaves its room and ends; the caller has nothing to do but return.

    Args:
        ctx: The job.
        metadata: What it was sent with.
        lived_s: How long it has had the call, in seconds.
        given_up: Is told when that has been tried too often.
    """
    place = Place(
        ctx.job.room.name,
        ctx.job.id,
        ctx.local_participant_identity,
        ctx.job.agent_name,
        metadata,
        lived_s,
    )
    try:
        await Sending(ctx.api, given_up).replace(place)
    except (api.TwirpError, aiohttp.ClientError, TimeoutError):
        logger.exception(
            "a failed agent could not be replaced",
            extra={"room": place.room, "job_id": place.job_id},
        )
    ctx.shutdown("replaced")


async def sweep(
    server: api.LiveKitAPI,
    lost: Iterable[LostPlace],
    *,
    agent_name: str,
    given_up: GivenUp | None = None,
) -> int:
    """Send agents to the calls that dead workers have left; returns to how many.

    A room that is gone needs nobody, nor does one without a guest, or where another agent is.

    Args:
        server: The LiveKit server's API.
        lost: The places whose holders are gone.
        agent_name: The name by which agents are sent for.
        given_up: Is told of a call whose agents are lost again and again.
    """
    sending = Sending(server, given_up)
    sent = 0
    for one in lost:
        identity = default_identity(one.job_id)
        metadata = JobMetadata(order_id=one.order_id, guest=one.guest, tries=one.tries)
        place = Place(one.room, one.job_id, identity, agent_name, metadata, lived_s=0)
        try:
            there = await sending.participants(one.room)
            if not _somebody(there) or _agents(there, but=identity):
                continue
            await sending.replace(place)
            sent += 1
        except (api.TwirpError, aiohttp.ClientError, TimeoutError):
            where = {"room": one.room, "job_id": one.job_id}
            logger.exception("a call that a dead worker left could not be taken up", extra=where)
    return sent


def _where(info: RunningJobInfo) -> dict[str, str]:
    return {"room": info.job.room.name, "job_id": info.job.id}


def _somebody(there: Sequence[ParticipantInfo]) -> bool:
    return any(one.kind in _GUESTS for one in there)


def _agents(there: Sequence[ParticipantInfo], *, but: str = "") -> bool:
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
