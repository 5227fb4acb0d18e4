"""Runs a worker until it has to stop, then shuts it down without cutting calls off."""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from errno import EADDRINUSE
from functools import partial
from typing import Any

import aiohttp
from livekit import api

from agents.app.dispatch.dispatcher import AgentJob, Dispatcher, server_api
from agents.app.dispatch.replacement import (
    JobMonitor,
    recover_lost_calls,
    serve_waiting_participants,
)
from agents.app.serving.worker import Worker
from agents.app.terminal.signals import on_signals

logger = logging.getLogger(__name__)

SERVED, FAILED = 0, 1

_RECOVERY_EVERY_S = 5.0

_RECOVERIES_PER_SEARCH = 2
"""How often lost calls are searched for between two searches for waiting users."""

_SIGNAL_EVERY_S = 2.0
"""How often jobs are signalled that the worker is shutting down, in seconds."""

_CLOSE_LIMIT_S = 5.0
"""How long calls may take to end when the worker does not wait for them, in seconds."""

_NOT_CONNECTED = "failed to connect"
"""The start of livekit-agents 1.8.9's error after 16 connection attempts."""

_PRELOAD = "LIVEKIT_AGENTS_PRELOAD_LOCAL_INFERENCE"


class ShutdownMode(Enum):
    """How a worker shuts down."""

    DRAIN = auto()
    """Take no new calls and let every call end."""
    MOVE = auto()
    """Take no new calls and have other workers take over the present ones."""
    CLOSE = auto()
    """End the calls now; their states are stored."""


async def serve(
    worker: Worker,
    *,
    stop: "asyncio.Future[ShutdownMode] | None" = None,
    registered: Callable[[], None] | None = None,
) -> int:
    """Serve rooms until told to stop; returns the exit code.

    The first SIGTERM or SIGINT drains, the second ends the process at once.

    Args:
        worker: A worker with an entrypoint and checked settings.
        stop: Another way to stop the worker; signals then close it without waiting for calls.
        registered: Called each time the worker has registered with the LiveKit server.
    """
    if not worker.turn_detector:
        os.environ[_PRELOAD] = "0"
    async with server_api(worker.settings) as rooms:
        if not await _is_authorized(rooms):
            return FAILED
        run = _WorkerRun(worker, rooms, stop or asyncio.get_running_loop().create_future())
        first = ShutdownMode.CLOSE if stop else ShutdownMode.DRAIN
        with on_signals(partial(run.stop, first), "SIGTERM", "SIGINT"):
            return await run(registered)


class _WorkerRun:
    """One run of a worker, from start to shutdown."""

    def __init__(
        self, worker: Worker, rooms: api.LiveKitAPI, stop: "asyncio.Future[ShutdownMode]"
    ) -> None:
        self._worker = worker
        self._stop = stop
        self._dispatcher = Dispatcher(rooms, worker.given_up, worker.noun)
        self._monitor = JobMonitor(self._dispatcher)
        self._recovering: asyncio.Task[None] | None = None

    def stop(self, mode: ShutdownMode) -> None:
        """Shut down; a second call ends the process at once."""
        if self._stop.done():
            os._exit(FAILED)
        self._stop.set_result(mode)

    async def __call__(self, registered: Callable[[], None] | None) -> int:
        """Serve; returns the exit code."""
        worker = self._worker

        def on_registered(worker_id: str, _: object) -> None:
            logger.info(
                "worker registered",
                extra={
                    "worker_id": worker_id,
                    "agent_name": worker.settings.agent_name,
                    "url": worker.settings.livekit_url,
                    "health": f"http://{worker.settings.health_host}:{worker.health_port}/",
                },
            )
            # At each registration: users may have joined while the server was unreachable.
            if self._recovering is not None:
                self._recovering.cancel()
            self._recovering = asyncio.create_task(self._recover())
            if registered is not None:
                registered()

        worker.on("worker_started", lambda: self._monitor.attach(worker.pool))
        worker.on("worker_registered", on_registered)
        running = asyncio.create_task(worker.run())
        try:
            either: set[asyncio.Future[Any]] = {running, self._stop}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return self._failed(running)
            return await self._shut_down(running, self._stop.result())
        finally:
            if self._recovering is not None:
                self._recovering.cancel()
            await self._monitor.aclose()
            await worker.aclose()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    async def _shut_down(self, running: "asyncio.Task[None]", mode: ShutdownMode) -> int:
        calls = len(self._worker.active_jobs)
        logger.info("worker shutting down", extra={"mode": mode.name.lower(), "calls": calls})
        if mode is ShutdownMode.CLOSE:
            await self._monitor.aclose()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._worker.aclose(), _CLOSE_LIMIT_S)
                return SERVED
            os._exit(SERVED)  # the jobs end with this process
        draining = asyncio.create_task(self._drain(moving=mode is ShutdownMode.MOVE))
        await asyncio.wait([running, draining], return_when=asyncio.FIRST_COMPLETED)
        if not draining.done():
            draining.cancel()
            await asyncio.gather(draining, return_exceptions=True)
            return self._failed(running)
        draining.result()
        await self._monitor.aclose()
        await self._worker.aclose()
        logger.info("worker stopped")
        return SERVED

    async def _drain(self, *, moving: bool) -> None:
        worker = self._worker
        if not moving:
            signalling = asyncio.create_task(self._signal_jobs())
            try:
                async with asyncio.timeout(worker.settings.drain):
                    return await worker.drain(timeout=None)
            except TimeoutError:
                logger.warning("drain timeout exceeded", extra={"calls": len(worker.active_jobs)})
            finally:
                signalling.cancel()
        # Without another worker the calls end; their states are stored.
        ended = asyncio.create_task(worker.drain(timeout=None))
        await asyncio.gather(*(self._move(job) for job in worker.active_jobs))
        with suppress(TimeoutError):
            await asyncio.wait_for(ended, _CLOSE_LIMIT_S)

    async def _signal_jobs(self) -> None:
        """Signal the jobs to leave when their call is over; repeatedly, since new jobs may start."""
        while True:
            self._monitor.leave_when_over(self._worker.pool)
            await asyncio.sleep(_SIGNAL_EVERY_S)

    async def _move(self, job: Any) -> None:
        self._monitor.release(job.job.id)
        try:
            await self._dispatcher.move(AgentJob.of(job, self._worker.noun))
        except Exception:  # a failure for one call must not affect the others
            where = {"room": job.job.room.name, "job_id": job.job.id}
            logger.exception("call not moved to another worker", extra=where)

    async def _recover(self) -> None:
        """Serve waiting users and recover the calls of dead workers, repeatedly.

        A user may wait although workers are registered: livekit-server 1.13.5 drops a dispatch that no
        worker accepts in time.
        """
        while True:
            await self._serve_waiting()
            for _ in range(_RECOVERIES_PER_SEARCH):
                await self._recover_lost_calls()
                await asyncio.sleep(_RECOVERY_EVERY_S)

    async def _serve_waiting(self) -> None:
        try:
            name = self._worker.settings.agent_name
            await serve_waiting_participants(self._dispatcher, agent_name=name)
        except Exception:  # of any type: the worker has to go on serving new calls
            logger.exception("search for waiting participants failed")

    async def _recover_lost_calls(self) -> None:
        worker = self._worker
        if worker.lost is None:
            return
        try:
            lost = await worker.lost()
            agent_name = worker.settings.agent_name
            running = self._monitor.running(worker.pool)
            await recover_lost_calls(self._dispatcher, lost, agent_name=agent_name, running=running)
        except Exception:  # of any type: the worker has to go on serving new calls
            logger.exception("recovery of lost calls failed")

    def _failed(self, running: "asyncio.Task[None]") -> int:
        settings = self._worker.settings
        error = running.exception()
        if isinstance(error, OSError) and error.errno == EADDRINUSE:
            logger.error(
                "port already in use: %s, %s",
                settings.variable("health_port"),
                settings.variable("metrics_port"),
                extra={"health_port": settings.health_port, "metrics_port": settings.metrics_port},
            )
        elif isinstance(error, RuntimeError) and str(error).startswith(_NOT_CONNECTED):
            logger.error("LIVEKIT_URL: LiveKit server unreachable, giving up")
        else:
            logger.error("worker failed", exc_info=error)
        return FAILED


async def _is_authorized(rooms: api.LiveKitAPI) -> bool:
    """Whether the LiveKit server accepts the key; a server that does not answer may start later."""
    try:
        await rooms.room.list_rooms(api.ListRoomsRequest(names=["-"]))
    except api.TwirpError as error:
        if error.status in (401, 403):
            logger.error("LIVEKIT_API_KEY, LIVEKIT_API_SECRET: rejected by the LiveKit server")
            return False
        logger.warning("LiveKit server returned an error", extra={"code": error.code})
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        logger.warning("LIVEKIT_URL: LiveKit server unreachable, retrying", extra={"error": error})
    return True
