"""A worker: it registers with a LiveKit server, takes calls, and leaves without cutting one off."""

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from enum import Enum, auto
from errno import EADDRINUSE
from functools import partial
from typing import Any

import aiohttp
from livekit import api
from livekit.agents import AgentServer, JobProcess

from bella_vista.serving.logs import log_as_job
from bella_vista.serving.replacing import LostPlace, Watch, serve_who_waits, sweep
from bella_vista.serving.sending import GivenUp, Place, Sending
from bella_vista.settings import Settings

logger = logging.getLogger(__name__)

SERVED, FAILED = 0, 1

FindLost = Callable[[], Awaitable[Sequence[LostPlace]]]
"""Finds the places in rooms that dead workers have left."""

Setup = Callable[[JobProcess], Any]
"""Readies a process before its call; a function of a module, for it goes to other processes by its name."""

_SWEEP_EVERY_S = 5.0

FULL = 0.7
"""The load of a worker that has all the calls it takes: livekit-server 1.13.5 sends nobody more who says so much
(its ``agents.target_load``), and LiveKit Cloud allows no other threshold."""

_CLOSE_LIMIT_S = 5.0
"""How long calls may take to end when there is no time to wait for them, in seconds."""

_SHUTDOWN_S, _INITIALIZE_S, _SESSION_END_S = 10.0, 30.0, 30.0
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


class Worker(AgentServer):
    """An AgentServer whose load is the calls it has, of those that it takes.

    Args:
        settings: What a person has set.
        audio: Whether any call may carry audio, so that models for it are loaded ahead.
        lost: Finds the places in rooms that dead workers have left.
        given_up: Is told of a call whose agents are lost again and again.
        setup: Readies a process before its call.
        preload: Modules that are imported once for all of its processes.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        audio: bool,
        lost: FindLost | None,
        given_up: GivenUp | None,
        setup: Setup | None,
        preload: Sequence[str],
    ) -> None:
        secret = settings.livekit_api_secret
        super().__init__(
            ws_url=settings.livekit_url,
            api_key=settings.livekit_api_key,
            api_secret=secret.get_secret_value() if secret else None,
            # livekit-agents 1.8.9 takes the machine's load for its own: beside a busy neighbour it took no call.
            load_fnc=self.load,
            load_threshold=FULL,
            num_idle_processes=settings.idle,
            host=settings.health_host,
            port=settings.health_port,
            prometheus_port=settings.metrics_port,
            drain_timeout=round(settings.drain),
            shutdown_process_timeout=_SHUTDOWN_S,
            initialize_process_timeout=_INITIALIZE_S,
            session_end_timeout=_SESSION_END_S,
            setup_fnc=partial(_set_up, setup),
            preload_modules=list(preload),
        )
        self.settings = settings
        self.audio = audio
        self.lost = lost
        self.given_up = given_up

    @property
    def health_port(self) -> int:
        """Where it says that it is well, once it has started."""
        return self.worker_info.http_port

    @property
    def pool(self) -> Any:
        """Its processes: a private attribute of livekit-agents 1.8.9, made anew at each start."""
        return getattr(self, "_proc_pool", None)

    def load(self) -> float:
        """Tell how busy it is: its calls, of those that it takes, up to ``FULL``."""
        return FULL * (len(self.active_jobs) / self.settings.calls)

    def _get_effective_load(self) -> float:
        # livekit-agents 1.8.9 takes a call that is about to begin for a whole idle process's share, as long as
        # there is no other: of three guests who come at once, a worker with room for twenty would refuse one.
        beginning: int = getattr(self, "_reserved_slots", 0)
        return FULL * ((len(self.active_jobs) + beginning) / self.settings.calls)


def make_server(
    settings: Settings,
    *,
    audio: bool = False,
    lost: FindLost | None = None,
    given_up: GivenUp | None = None,
    setup: Setup | None = None,
    preload: Sequence[str] = (),
) -> Worker:
    """Make the server of a module that workers run; its entrypoint is told to it by ``rtc_session``.

    Nothing starts, and nothing need be set: what is missing is told when somebody wants to serve.

    Args:
        settings: What a person has set.
        audio: Whether any call may carry audio, so that models for it are loaded ahead.
        lost: Finds the places in rooms that dead workers have left; asked every few seconds.
        given_up: Is told of a call whose agents are lost again and again.
        setup: Readies a process before its call; a function of a module.
        preload: Modules that are imported once for all of its processes, this one among them; none starts a thread.
    """
    return Worker(settings, audio=audio, lost=lost, given_up=given_up, setup=setup, preload=preload)


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
            if self._sweeping is None:
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
            try:
                async with asyncio.timeout(worker.settings.drain):
                    return await worker.drain(timeout=None)
            except TimeoutError:
                logger.warning(
                    "the time to drain is over", extra={"calls": len(worker.active_jobs)}
                )
        # Where no other worker is, nobody comes; the orders are stored either way.
        ended = asyncio.create_task(worker.drain(timeout=None))
        await asyncio.gather(*(self._move(job) for job in worker.active_jobs))
        with suppress(TimeoutError):
            await asyncio.wait_for(ended, _CLOSE_LIMIT_S)

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


def _set_up(setup: Setup | None, process: JobProcess) -> None:
    log_as_job()
    if setup is not None:
        setup(process)


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
