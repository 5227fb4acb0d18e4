"""The server of the restaurant's calls, named ``server``.

Jobs run in processes of their own, which import this module by its name. What a call needs is imported with
``PRELOAD``, once for all of them: a worker itself only gives calls out, and is up the sooner.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from livekit.agents import JobContext, JobProcess

from bella_vista.serving.worker import make_server
from bella_vista.settings import read_settings
from bella_vista.speech_models import missing_for_speech

if TYPE_CHECKING:
    from bella_vista.job import JobMetadata
    from bella_vista.serving.replacing import LostPlace

PRELOAD = (
    "bella_vista.rooms.job",
    "bella_vista.local.model",
    "state.shared.sql.database",
    "phonenumbers",
    "email_validator",
    "babel.numbers",
)
"""What every call needs."""

_settings = read_settings()


def prepare(process: JobProcess) -> None:
    """Ready a process: its call should wait neither for an import nor for a menu to be read."""
    for name in PRELOAD:  # where processes are forked, all of it is there
        import_module(name)
    from bella_vista.rooms.job import ready

    ready(process)


async def lost_places() -> "Sequence[LostPlace]":
    """Find the rooms in which a call did not end and nobody serves any more."""
    from bella_vista.rooms.lost import lost_places

    return await lost_places(_settings)


async def tell_staff(room: str, metadata: "JobMetadata") -> None:
    """Leave word for the staff that a guest's call broke off and that nobody goes on with it."""
    from bella_vista.rooms.lost import tell_staff

    await tell_staff(_settings, room, metadata)


server = make_server(
    _settings,
    audio=not missing_for_speech(_settings),
    lost=lost_places,
    given_up=tell_staff,
    setup=prepare,
    preload=(__name__, *PRELOAD),
)


@server.rtc_session(agent_name=_settings.agent_name)
async def entrypoint(ctx: JobContext) -> None:
    """Serve one room: take its place, join it, and talk to its guest until the call is over."""
    from bella_vista.rooms.job import serve_room

    await serve_room(ctx)
