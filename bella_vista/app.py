"""The worker's server, named ``server``.

Jobs run in processes of their own, which import this module by name. What a call needs is
imported through ``PRELOAD``, once for all of them; the worker itself needs none of it and starts
faster.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from livekit.agents import JobContext, JobProcess

from agents.app.models.speech import missing_for_speech
from agents.app.serving.worker import make_server
from bella_vista.settings import Settings

if TYPE_CHECKING:
    from agents.app.job_metadata import JobMetadata
    from agents.app.serving.replacement import LostCall

PRELOAD = (
    "bella_vista.rooms.job",
    "bella_vista.local.model",
    "state.shared.sql.database",
    "phonenumbers",
    "email_validator",
    "babel.numbers",
)
"""The modules that every call needs."""

_settings = Settings.read()


def prepare(process: JobProcess) -> None:
    """Prepare a process, so that its call waits neither for an import nor for the menu."""
    for name in PRELOAD:  # forked processes have all of it already
        import_module(name)
    from bella_vista.rooms.job import prepare_process

    prepare_process(process)


async def lost_calls() -> "Sequence[LostCall]":
    """Find the rooms with a call that did not end and whose agent no longer renews its lease."""
    from bella_vista.rooms.lost import find_lost_calls

    return await find_lost_calls(_settings)


async def tell_staff(room: str, metadata: "JobMetadata") -> None:
    """Flag a call for the staff that failed and is not continued."""
    from bella_vista.rooms.lost import tell_staff

    await tell_staff(_settings, room, metadata)


server = make_server(
    _settings,
    audio=not missing_for_speech(_settings),
    lost=lost_calls,
    given_up=tell_staff,
    setup=prepare,
    preload=(__name__, *PRELOAD),
)


@server.rtc_session(agent_name=_settings.agent_name)
async def entrypoint(ctx: JobContext) -> None:
    """Serve one room: acquire its lease, join it, and serve its guest until the call is over."""
    from bella_vista.rooms.job import serve_room

    await serve_room(ctx)
