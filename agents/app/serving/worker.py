"""The AgentServer that accepts calls; ``lifecycle`` runs it.

A module that holds a server is imported by every process that serves its calls, so modules that
only the worker itself needs are imported when it runs.
"""

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from livekit.agents import NOT_GIVEN, AgentServer, JobExecutorType, JobProcess, NotGivenOr

from agents.app.serving.logs import log_as_job
from agents.app.settings import AppSettings
from agents.app.terminal.signals import LEAVE_WHEN_OVER

if TYPE_CHECKING:
    from agents.app.dispatch.dispatcher import GivenUp
    from agents.app.dispatch.replacement import LostCall

FindLost = Callable[[], Awaitable[Sequence["LostCall"]]]
"""Finds the calls of dead workers."""

Setup = Callable[[JobProcess], Any]
"""Prepares a process before its call; a module-level function, since other processes import it by
name."""

FULL = 0.7
"""The load of a worker at capacity: livekit-server 1.13.5 assigns no jobs to a worker that reports it
(its ``agents.target_load``), and LiveKit Cloud allows no other threshold."""

PRELOADED = "agents.app.serving.preloaded"
"""The module that every worker preloads."""

_SHUTDOWN_S, _INITIALIZE_S, _SESSION_END_S = 10.0, 30.0, 30.0


class Worker(AgentServer):
    """An AgentServer whose load is its number of calls, relative to its capacity.

    ``rtc_session`` registers its entrypoint. Nothing starts yet; missing settings are reported when the
    worker is run.

    Args:
        turn_detector: Whether calls use LiveKit's turn detector, so that its weights are loaded ahead:
            244 MB that all processes share.
        lost: Finds the calls of dead workers; called every few seconds.
        given_up: Called for a call whose agents keep failing.
        setup: Prepares a process before its call; a module-level function.
        preload: Modules that are imported once for all of its processes, including the caller's;
            none may start a thread.
        application: Its package, if there is one, whose log messages are kept whole.
    """

    def __init__(
        self,
        settings: AppSettings,
        *,
        turn_detector: bool = False,
        lost: FindLost | None = None,
        given_up: "GivenUp | None" = None,
        setup: Setup | None = None,
        preload: Sequence[str] = (),
        noun: str = "state",
        application: str | None = None,
    ) -> None:
        secret = settings.livekit_api_secret
        super().__init__(
            ws_url=settings.livekit_url,
            api_key=settings.livekit_api_key,
            api_secret=secret.get_secret_value() if secret else None,
            # livekit-agents 1.8.9 reports the machine's load by default: another busy process would
            # keep this worker from getting calls.
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
            setup_fnc=partial(_set_up, setup, application),
            preload_modules=[PRELOADED, *preload],
        )
        self.settings = settings
        self.turn_detector = turn_detector
        self.lost = lost
        self.given_up = given_up
        self.noun = noun
        self.application = application

    @property
    def health_port(self) -> int:
        """The port of its health check, once it has started."""
        return self.worker_info.http_port

    @property
    def pool(self) -> Any:
        """Its process pool: a private attribute of livekit-agents 1.8.9, new at each start."""
        return getattr(self, "_proc_pool", None)

    async def drain(self, timeout: NotGivenOr[int | None] = NOT_GIVEN) -> None:  # noqa: ASYNC109 - as in AgentServer
        """Take no new calls, and wait for the present ones to end.

        Args:
            timeout: How long, in seconds; ``None`` waits for ever.

        Raises:
            TimeoutError: Some calls have not ended.
        """
        # livekit-agents 1.8.9 joins its processes in a loop that does not yield while an ended process is
        # still in the pool. If two calls ended at once, the second one was never removed: the loop
        # blocked the event loop and used a whole processor.
        pool = self.pool
        for process in pool.processes:
            _yield_after_join(process)
        pool.on("process_created", _yield_after_join)
        await super().drain(timeout)

    def load(self) -> float:
        """Return the load: calls by capacity, up to ``FULL``."""
        return FULL * (len(self.active_jobs) / self.settings.calls)

    def _get_effective_load(self) -> float:
        # livekit-agents 1.8.9 overestimates the load of starting calls: if three users came at once, a
        # worker with a capacity of twenty calls would refuse one.
        starting: int = getattr(self, "_reserved_slots", 0)
        return FULL * ((len(self.active_jobs) + starting) / self.settings.calls)


def _yield_after_join(process: Any) -> None:
    join: Callable[[], Awaitable[None]] = process.join

    async def joined() -> None:
        await join()
        await asyncio.sleep(0)

    process.join = joined


def _set_up(setup: Setup | None, application: str | None, process: JobProcess) -> None:
    log_as_job(application)
    if process.executor_type is JobExecutorType.PROCESS:
        # A job without a handler ignores the signal. livekit-agents 1.8.9 does the same, except in
        # processes that are forked from one that has imported livekit.
        signal.signal(LEAVE_WHEN_OVER, signal.SIG_IGN)
        end_with_parent(_SHUTDOWN_S)
    if setup is not None:
        setup(process)


def end_with_parent(seconds: float) -> None:
    """End this process a while after the process that started it has ended, even if it hangs.

    In livekit-agents 1.8.9 a job shuts down when its worker dies. If a task swallows its cancellation,
    or a thread never ends, the job would stay in its room.

    Args:
        seconds: The time it has to shut down by itself.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        time.sleep(seconds)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent").start()
