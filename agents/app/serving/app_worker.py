"""The worker of an application: it finds lost calls, prepares job processes, and serves rooms."""

import logging
from collections.abc import Sequence
from functools import partial
from importlib import import_module

from livekit.agents import JobContext, JobProcess

from agents.app.app import AnyApp
from agents.app.faults import InputError
from agents.app.importing import later
from agents.app.models.choice import model_modules
from agents.app.models.speech_settings import REALTIME_NOTE, missing_for_speech, model_hears
from agents.app.serving.worker import PRELOADED, Worker
from agents.app.settings import AppSettings

logger = logging.getLogger(__name__)

PRELOAD = (
    "agents.app.rooms.job",
    "state.shared.sql.database",
    "state.shared.sql.leases",
)
"""The modules that every call needs. Forked processes inherit them; none may start a thread."""


def make_app_worker(app: AnyApp, settings: AppSettings) -> Worker:
    """Make the worker of an application; nothing starts yet."""
    if model_hears(settings):
        logger.warning(REALTIME_NOTE)
    modules = (*PRELOAD, *app.worker.preload, *model_modules(settings))
    worker = Worker(
        settings,
        turn_detector=settings.turn_detector != "off" and not missing_for_speech(settings),
        lost=partial(later("agents.app.rooms.lost:find_lost_calls"), app, settings),
        given_up=partial(later("agents.app.rooms.lost:flag_abandoned_call"), app, settings),
        setup=partial(_prepare, app, modules),
        preload=(app.module, *modules),
        noun=app.noun,
        application=app.package,
    )
    # Pickled by name: every job process imports the module that declares the application.
    worker.rtc_session(partial(_serve_room, app), agent_name=settings.agent_name)
    return worker


# These import their dependencies when they run, so that the worker itself starts faster.


def _prepare(app: AnyApp, modules: Sequence[str], process: JobProcess) -> None:
    for name in (PRELOADED, *modules):  # forked processes have imported them already
        import_module(name)
    from agents.app.rooms.job import prepare_process

    try:
        prepare_process(app, process)
    except InputError as error:  # the process stays: it has to inform the users of its calls
        logger.error("calls cannot be served: %s", "; ".join(error.faults))


async def _serve_room(app: AnyApp, ctx: JobContext) -> None:
    from agents.app.rooms.job import serve_room

    await serve_room(ctx, app)
