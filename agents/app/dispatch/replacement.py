"""Replaces lost agents: detects that an agent is gone while its user is still in the room.

livekit-agents 1.8.9 and livekit-server 1.13.5 do not dispatch a job again whose process died, and its
participant stays in the room for about twenty seconds. So this module removes the participant and
creates a dispatch that names the dead job: the next job may then take over its state at once.
"""

import asyncio
import logging
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from livekit.agents import JobContext
from livekit.agents.job import RunningJobInfo
from livekit.protocol.models import ParticipantInfo

from agents.app.dispatch.dispatcher import (
    UNANSWERED,
    AgentJob,
    Dispatcher,
    GivenUp,
    default_identity,
    has_agent,
    has_user,
)
from agents.app.job_metadata import JobMetadata, MetadataFaults
from agents.app.terminal.signals import LEAVE_WHEN_OVER

logger = logging.getLogger(__name__)

_IN_FLIGHT_S = 3.0
"""How long a dispatch may take to reach a worker, in seconds."""

_ARRIVAL_S = 5.0
"""How long the successor of an agent that has left may take to join, in seconds."""

_SILENT_S = 3.0
"""How long an agent that does not renew its lease counts as slow rather than lost, in seconds."""

_HUNG_S = 10.0
"""The same for an agent whose process is alive, in seconds: on an overloaded machine it may only be
waiting for a processor, and its successor would wait longer."""


@dataclass(frozen=True, slots=True)
class LostCall:
    """A call whose agent died, or left it to another agent.

    Args:
        job_id: The dead agent's job; empty when the agent has left.
        user: The user's identity, if known.
        tries: How many agents in a row were lost in this call.
        lived_s: How long the last one served it, in seconds.
        silent_s: How long ago its lease expired, in seconds.
    """

    room: str
    job_id: str
    state_id: str | None = None
    user: str | None = None
    tries: int = 0
    lived_s: float = 0.0
    silent_s: float = 60.0


class JobMonitor:
    """Watches the job processes of one worker, and replaces lost agents.

    Args:
        dispatcher: Dispatches the replacements.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._released: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def attach(self, pool: Any) -> None:
        """Start watching, once the worker has started.

        Args:
            pool: The worker's process pool: a private attribute of livekit-agents 1.8.9, whose
                public API does not distinguish a killed job from one that ended.
        """
        try:
            pool.on("process_job_launched", self._job_launched)
            pool.on("process_closed", self._process_closed)
        except AttributeError:
            logger.error("lost agents cannot be replaced: unknown version of livekit-agents")

    def release(self, job_id: str) -> None:
        """Stop watching a job whose call another job has taken over."""
        self._released.add(job_id)

    def leave_when_over(self, pool: Any) -> None:
        """Signal every job to leave its room when its call is over."""
        for process in getattr(pool, "processes", ()):
            if process.running_job is not None and process.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, LEAVE_WHEN_OVER)

    @staticmethod
    def running(pool: Any) -> set[str]:
        """Return the ids of the jobs whose processes are alive."""
        jobs = (process.running_job for process in getattr(pool, "processes", ()))
        return {info.job.id for info in jobs if info is not None}

    async def aclose(self) -> None:
        """Stop replacing agents, and finish the replacements under way."""
        self._closed = True
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _job_launched(self, process: Any) -> None:
        info: RunningJobInfo | None = process.running_job
        if info is not None:
            logger.info("job started", extra={**_where(info), "pid": process.pid})

    def _process_closed(self, process: Any) -> None:
        info: RunningJobInfo | None = process.running_job
        if info is None:
            return
        code = getattr(process, "exitcode", 0)
        logger.info("job process exited", extra={**_where(info), "exit_code": code})
        if code == 0 or self._closed or info.job.id in self._released:
            return
        task = asyncio.create_task(self._replace_lost(info))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _replace_lost(self, info: RunningJobInfo) -> None:
        try:
            job = AgentJob.of(info, self._dispatcher.noun)
            if await self._dispatcher.is_lost(job):
                await self._dispatcher.replace(job)
        except MetadataFaults:
            return
        except Exception:  # of any type: a failure for one call must not affect the others
            logger.exception("lost agent not replaced", extra=_where(info))


async def replace_this_job(
    ctx: JobContext,
    metadata: JobMetadata,
    *,
    lived_s: float,
    given_up: GivenUp | None = None,
) -> None:
    """Have this job replaced by another one, if its entrypoint cannot continue.

    livekit-agents 1.8.9 counts a job whose entrypoint raises an exception as successful, and
    dispatches no other. The job leaves its room and ends; the caller only has to return.

    Args:
        ctx: The job.
        metadata: Its dispatch's metadata.
        lived_s: How long it has served the call, in seconds.
        given_up: Called when the call is given up.
    """
    job = AgentJob(
        ctx.job.room.name,
        ctx.job.id,
        ctx.local_participant_identity,
        ctx.job.agent_name,
        metadata,
        lived_s,
    )
    try:
        await Dispatcher(ctx.api, given_up).replace(job)
    except UNANSWERED:
        logger.exception(
            "failed agent not replaced",
            extra={"room": job.room, "job_id": job.job_id},
        )
    ctx.shutdown("replaced")


async def recover_lost_calls(
    dispatcher: Dispatcher,
    lost: Sequence[LostCall],
    *,
    agent_name: str,
    running: Collection[str] = (),
) -> int:
    """Dispatch agents to the calls of dead workers; returns how many.

    A room that is gone, that its user has left, or that has another agent gets none.

    Args:
        dispatcher: Dispatches the agents.
        lost: The calls whose leases have expired.
        agent_name: The name that agents are dispatched by.
        running: The ids of the jobs whose processes are alive.
    """
    rooms = await dispatcher.rooms([one.room for one in lost])
    sent = 0
    for one in lost:
        if one.room not in rooms or one.job_id in dispatcher.given_up:
            continue
        if dispatcher.is_agent_starting(one.room):
            continue
        identity = default_identity(one.job_id)
        metadata = JobMetadata(
            state_id=one.state_id, user=one.user, tries=one.tries, noun=dispatcher.noun
        )
        job = AgentJob(one.room, one.job_id, identity, agent_name, metadata, one.lived_s)
        try:
            there = await dispatcher.participants(one.room)
            if not _is_user_waiting(one.user, there) or has_agent(there, but=identity):
                continue
            slow_s = _HUNG_S if one.job_id in running else _SILENT_S
            if one.silent_s < (slow_s if one.job_id else _ARRIVAL_S):
                continue
            await dispatcher.replace(job)
            sent += 1
        except UNANSWERED:
            where = {"room": one.room, "job_id": one.job_id}
            logger.exception("lost call not recovered", extra=where)
    return sent


def _is_user_waiting(user: str | None, there: Sequence[ParticipantInfo]) -> bool:
    """Whether a call's user is in the room; any user counts if the call's own is unknown."""
    return any(one.identity == user for one in there) if user else has_user(there)


async def serve_waiting_participants(dispatcher: Dispatcher, *, agent_name: str) -> int:
    """Dispatch agents to users who joined while there was no worker; returns how many.

    Args:
        dispatcher: Dispatches the agents.
        agent_name: The name that agents are dispatched by.
    """
    sent = 0
    before = await dispatcher.unserved(agent_name)
    if not before:
        return sent
    await asyncio.sleep(_IN_FLIGHT_S)
    waiting = await dispatcher.unserved(agent_name)
    for room, metadata in (waiting[one] for one in waiting if one in before):
        try:
            await dispatcher.dispatch(room, agent_name, metadata)
            sent += 1
            logger.info("dispatched an agent to a waiting participant", extra={"room": room})
        except UNANSWERED:
            logger.exception("no agent dispatched to a waiting participant", extra={"room": room})
    return sent


def _where(info: RunningJobInfo) -> dict[str, str]:
    return {"room": info.job.room.name, "job_id": info.job.id}
