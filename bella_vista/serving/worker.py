"""What takes calls from a LiveKit server; ``working`` is what it does.

A module that holds a server is imported by every process that serves its calls: what only the worker itself does is
imported when it works.
"""

import signal
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from livekit.agents import AgentServer, JobExecutorType, JobProcess

from bella_vista.serving.logs import log_as_job
from bella_vista.settings import Settings

if TYPE_CHECKING:
    from bella_vista.serving.replacing import LostPlace
    from bella_vista.serving.sending import GivenUp

FindLost = Callable[[], Awaitable[Sequence["LostPlace"]]]
"""Finds the places in rooms that dead workers have left."""

Setup = Callable[[JobProcess], Any]
"""Readies a process before its call; a function of a module, for it goes to other processes by its name."""

FULL = 0.7
"""The load of a worker that has all the calls it takes: livekit-server 1.13.5 sends nobody more who says so much
(its ``agents.target_load``), and LiveKit Cloud allows no other threshold."""

LEAVE_WHEN_OVER = signal.SIGTERM
"""Tells a job that its worker is leaving, so that its agent does not stay when its call is over."""

_SHUTDOWN_S, _INITIALIZE_S, _SESSION_END_S = 10.0, 30.0, 30.0


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
        given_up: "GivenUp | None",
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
    given_up: "GivenUp | None" = None,
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


def _set_up(setup: Setup | None, process: JobProcess) -> None:
    log_as_job()
    if process.executor_type is JobExecutorType.PROCESS:
        # A job that does not handle it goes on. livekit-agents 1.8.9 has its processes ignore it as well, but not
        # those that are forked from one in which livekit is imported.
        signal.signal(LEAVE_WHEN_OVER, signal.SIG_IGN)
    if setup is not None:
        setup(process)
