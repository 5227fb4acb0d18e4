"""A worker at work: it takes calls until somebody says that it is enough, and leaves without cutting one off."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from errno import EADDRINUSE
from functools import partial
from typing import Any

import aiohttp
from livekit import api

from bella_vista.serving.replacing import Watch, serve_who_waits, sweep
from bella_vista.serving.sending import Place, Sending
from bella_vista.serving.worker import Worker

logger = logging.getLogger(__name__)

SERVED, FAILED = 0, 1

_SWEEP_EVERY_S = 5.0

_TELL_EVERY_S = 2.0
"""How often jobs are told that their worker is leaving, in seconds."""

_CLOSE_LIMIT_S = 5.0
"""How long calls may take to end when there is no time to wait for them, in seconds."""

_NOT_CONNECTED = "failed to connect"
"""What livekit-agents 1.8.9 says when it has tried 16 times."""

_PRELOAD = "LIVEKIT_AGENTS_PRELOAD_LOCAL_INFERENCE"


class Ending(Enum):
    """The ways in which a worker leaves."""

    DRAIN = auto()
    """Take no new call, let every call end."""
    MOVE = auto()
    """Take no new call, let other workers go on with the present ones."""
    CLOSE = auto()
    """End the calls now; their orders are stored."""


async def serve(
    worker: Worker,
    *,
    told: "asyncio.Future[Ending] | None" = None,
    registered: Callable[[], None] | None = None,
) -> int:
    """Serve rooms until somebody says that it is enough; returns the exit code.

    The first SIGTERM or SIGINT drains, the second ends the process at once.

    Args:
        worker: Has an entrypoint and settings that were checked.
        told: Another way to say that it is enough; signals then close the worker without waiting.
        registered: Is called when the LiveKit server has taken it in, each time.
    """
    if not worker.audio:
        os.environ[_PRELOAD] = "0"
    settings = worker.settings
    secret = settings.livekit_api_secret
    async with api.LiveKitAPI(
        settings.livekit_url,
        settings.livekit_api_key,
        secret.get_secret_value() if secret else None,
        timeout=aiohttp.ClientTimeout(total=10),
    ) as rooms:
        if not await _is_let_in(rooms):
            return FAILED
        run = _Run(worker, rooms, told or asyncio.get_running_loop().create_future())
        first = Ending.CLOSE if told else Ending.DRAIN
        with _signals(partial(run.tell, first)):
            return await run(registered or _nothing)


class _Run:
    """One worker's time, from its start to its end."""

    def __init__(
        self, worker: Worker, rooms: api.LiveKitAPI, told: "asyncio.Future[Ending]"
    ) -> None:
        self._worker = worker
        self._told = told
        self._sending = Sending(rooms, worker.given_up)
        self._watch = Watch(self._sending)
        self._sweeping: asyncio.Task[None] | None = None

    def tell(self, ending: Ending) -> None:
        """Say that it is enough; who says it twice gets no further than here."""
        if self._told.done():
            os._exit(FAILED)
        self._told.set_result(ending)

    async def __call__(self, registered: Callable[[], None]) -> int:
        """Serve; returns the exit code."""
        worker = self._worker

        def taken_in(worker_id: str, _: object) -> None:
            logger.info(
                "registered",
                extra={
                    "worker_id": worker_id,
                    "agent_name": worker.settings.agent_name,
                    "url": worker.settings.livekit_url,
                    "health": f"http://{worker.settings.health_host}:{worker.health_port}/",
                },
            )
            # Each time: while a server that was away came back, guests may have come as well.
            if self._sweeping is not None:
                self._sweeping.cancel()
            self._sweeping = asyncio.create_task(self._look_after())
            registered()

        worker.on("worker_started", lambda: self._watch.attach(worker.pool))
        worker.on("worker_registered", taken_in)
        running = asyncio.create_task(worker.run())
        try:
            either: set[asyncio.Future[Any]] = {running, self._told}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return self._failed(running)
            return await self._leave(running, self._told.result())
        finally:
            if self._sweeping is not None:
                self._sweeping.cancel()
            await self._watch.aclose()
            await worker.aclose()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    async def _leave(self, running: "asyncio.Task[None]", ending: Ending) -> int:
        calls = len(self._worker.active_jobs)
        logger.info("leaving", extra={"how": ending.name.lower(), "calls": calls})
        if ending is Ending.CLOSE:
            await self._watch.aclose()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._worker.aclose(), _CLOSE_LIMIT_S)
                return SERVED
            os._exit(SERVED)  # its jobs end with it
        draining = asyncio.create_task(self._drain(moving=ending is Ending.MOVE))
        await asyncio.wait([running, draining], return_when=asyncio.FIRST_COMPLETED)
        if not draining.done():
            draining.cancel()
            await asyncio.gather(draining, return_exceptions=True)
            return self._failed(running)
        draining.result()
        await self._watch.aclose()
        await self._worker.aclose()
        logger.info("left")
        return SERVED

    async def _drain(self, *, moving: bool) -> None:
        worker = self._worker
        if not moving:
            telling = asyncio.create_task(self._tell_jobs())
            try:
                async with asyncio.timeout(worker.settings.drain):
                    return await worker.drain(timeout=None)
            except TimeoutError:
                logger.warning(
                    "the time to drain is over", extra={"calls": len(worker.active_jobs)}
                )
            finally:
                telling.cancel()
        # Where no other worker is, nobody comes; the orders are stored either way.
        ended = asyncio.create_task(worker.drain(timeout=None))
        await asyncio.gather(*(self._move(job) for job in worker.active_jobs))
        with suppress(TimeoutError):
            await asyncio.wait_for(ended, _CLOSE_LIMIT_S)

    async def _tell_jobs(self) -> None:
        """Tell the jobs that this worker is leaving; again and again, since one may only just begin."""
        while True:
            self._watch.leave_when_over(self._worker.pool)
            await asyncio.sleep(_TELL_EVERY_S)

    async def _move(self, job: Any) -> None:
        self._watch.give_over(job.job.id)
        try:
            await self._sending.move(Place.of(job))
        except Exception:  # whatever becomes of one call, the others are moved
            where = {"room": job.job.room.name, "job_id": job.job.id}
            logger.exception("a call could not be moved", extra=where)

    async def _look_after(self) -> None:
        """Take up what was left while no worker was there, then what dead workers leave."""
        name = self._worker.settings.agent_name
        try:
            await serve_who_waits(self._sending, agent_name=name)
        except Exception:  # what was before must not keep this worker from serving
            logger.exception("who has waited for a worker could not be found out")
        await self._sweep()

    async def _sweep(self) -> None:
        worker = self._worker
        if worker.lost is None:
            return
        while True:
            try:
                lost = await worker.lost()
                await sweep(self._sending, lost, agent_name=worker.settings.agent_name)
            except Exception:  # what dead workers have left must not keep this one from serving
                logger.exception("what dead workers have left could not be found out")
            await asyncio.sleep(_SWEEP_EVERY_S)

    def _failed(self, running: "asyncio.Task[None]") -> int:
        settings = self._worker.settings
        error = running.exception()
        if isinstance(error, OSError) and error.errno == EADDRINUSE:
            logger.error(
                "BELLA_VISTA_HEALTH_PORT, BELLA_VISTA_METRICS_PORT: one of these ports is taken",
                extra={"health_port": settings.health_port, "metrics_port": settings.metrics_port},
            )
        elif isinstance(error, RuntimeError) and str(error).startswith(_NOT_CONNECTED):
            logger.error("LIVEKIT_URL: no LiveKit server answers there; given up")
        else:
            logger.error("the worker failed", exc_info=error)
        return FAILED


async def _is_let_in(rooms: api.LiveKitAPI) -> bool:
    """Ask the server whether it takes our key; a server that is not there yet may come."""
    try:
        await rooms.room.list_rooms(api.ListRoomsRequest(names=["-"]))
    except api.TwirpError as error:
        if error.status in (401, 403):
            logger.error("LIVEKIT_API_KEY, LIVEKIT_API_SECRET: the LiveKit server refuses this key")
            return False
        logger.warning("the LiveKit server is not well", extra={"code": error.code})
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        logger.warning(
            "LIVEKIT_URL: no LiveKit server answers there yet; trying on", extra={"error": error}
        )
    return True


def _nothing() -> None:
    pass


class _signals:
    """Has SIGTERM and SIGINT call something, for a while."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call

    def __enter__(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._call)

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().remove_signal_handler(number)
