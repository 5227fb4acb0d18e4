"""Lost calls: who notices that an agent is gone while its guest is not, and has another sent.

livekit-agents 1.8.9 and livekit-server 1.13.5 do neither: a job whose process dies is not dispatched again, and
its participant stands in the room as a ghost for some twenty seconds. So the ghost is removed, and the room gets a
dispatch that names the dead job, so that the next one may take its order at once.
"""

import asyncio
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from livekit.agents import JobContext
from livekit.agents.job import RunningJobInfo
from livekit.protocol.models import ParticipantInfo

from bella_vista.job import JobMetadata, MetadataFaults
from bella_vista.serving.sending import (
    UNANSWERED,
    GivenUp,
    Place,
    Sending,
    agents,
    default_identity,
    somebody,
)
from bella_vista.serving.worker import LEAVE_WHEN_OVER

logger = logging.getLogger(__name__)

_ON_ITS_WAY_S = 3.0
"""How long a dispatch may be on its way to a worker, in seconds."""

_SENT_S = 5.0
"""How long whoever was sent to a place that its agent has left may take to get there, in seconds."""

_SILENT_S = 3.0
"""An agent that is in its room and not heard of may only be slow, for this long, in seconds."""


@dataclass(frozen=True, slots=True)
class LostPlace:
    """A place in a room that an agent held until its worker died, or that it left to another.

    Args:
        room: The room's name.
        job_id: The dead agent's job; empty when it has left.
        order_id: The order it held.
        guest: The guest's identity, where it was known.
        tries: How many agents in a row were lost there.
        lived_s: How long the last one had it, in seconds.
        silent_s: For how long the agent has not been heard of since it should have been, in seconds.
    """

    room: str
    job_id: str
    order_id: str | None = None
    guest: str | None = None
    tries: int = 0
    lived_s: float = 0.0
    silent_s: float = 60.0


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

    def leave_when_over(self, pool: Any) -> None:
        """Tell every job that its agent is not to stay when its call is over.

        Args:
            pool: The worker's processes.
        """
        for process in getattr(pool, "processes", ()):
            if process.running_job is not None and process.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, LEAVE_WHEN_OVER)

    async def aclose(self) -> None:
        """Replace nobody any more, and finish what has begun."""
        self._closed = True
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _job_launched(self, process: Any) -> None:
        info: RunningJobInfo | None = process.running_job
        if info is not None:
            logger.info("a call begins", extra={**_where(info), "pid": process.pid})

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
    except UNANSWERED:
        logger.exception(
            "a failed agent could not be replaced",
            extra={"room": place.room, "job_id": place.job_id},
        )
    ctx.shutdown("replaced")


async def sweep(sending: Sending, lost: Sequence[LostPlace], *, agent_name: str) -> int:
    """Send agents to the calls that dead workers have left; returns to how many.

    A room that is gone needs nobody, nor does one without its guest, or where another agent is.

    Args:
        sending: Sends the agents.
        lost: The places whose holders have not been heard of.
        agent_name: The name by which agents are sent for.
    """
    rooms = await sending.rooms([one.room for one in lost])
    sent = 0
    for one in lost:
        if one.room not in rooms or one.job_id in sending.given_up:
            continue
        if sending.is_on_its_way(one.room):
            continue
        identity = default_identity(one.job_id)
        metadata = JobMetadata(order_id=one.order_id, user=one.guest, tries=one.tries)
        place = Place(one.room, one.job_id, identity, agent_name, metadata, one.lived_s)
        try:
            there = await sending.participants(one.room)
            if not _waits(one.guest, there) or agents(there, but=identity):
                continue
            if agents(there) and one.silent_s < _SILENT_S:
                continue
            if not one.job_id and one.silent_s < _SENT_S:
                continue
            await sending.replace(place)
            sent += 1
        except UNANSWERED:
            where = {"room": one.room, "job_id": one.job_id}
            logger.exception("a call that a dead worker left could not be taken up", extra=where)
    return sent


def _waits(guest: str | None, there: Sequence[ParticipantInfo]) -> bool:
    """Whether a call's guest is there; where nobody knows who he is, anybody may be he."""
    return any(one.identity == guest for one in there) if guest else somebody(there)


async def serve_who_waits(sending: Sending, *, agent_name: str) -> int:
    """Send agents to guests who came while no worker was there; returns to how many.

    Args:
        sending: Sends the agents.
        agent_name: The name by which agents are sent for.
    """
    sent = 0
    before = await sending.unserved(agent_name)
    if not before:
        return sent
    await asyncio.sleep(_ON_ITS_WAY_S)
    waiting = await sending.unserved(agent_name)
    for room, metadata in (waiting[one] for one in waiting if one in before):
        try:
            await sending.dispatch(room, agent_name, metadata)
            sent += 1
            logger.info("somebody has waited for a worker", extra={"room": room})
        except UNANSWERED:
            logger.exception("somebody who waits could not be served", extra={"room": room})
    return sent


def _where(info: RunningJobInfo) -> dict[str, str]:
    return {"room": info.job.room.name, "job_id": info.job.id}
