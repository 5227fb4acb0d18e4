"""What one job does: its process is readied, then it serves one room from its start to its end."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

from livekit.agents import JobContext, JobProcess
from livekit.agents.llm import LLM

from agents.roster import restaurant_graph
from bella_vista.clock import running_clock
from bella_vista.faults import Faulty
from bella_vista.job import JobMetadata, MetadataFaults
from bella_vista.menus import served_menu
from bella_vista.models import language_model, patience_of
from bella_vista.orders import default_database, open_store
from bella_vista.rooms.call import RoomCall
from bella_vista.rooms.house import House, Outcome
from bella_vista.rooms.lost import tell_staff
from bella_vista.rooms.media import Media
from bella_vista.rooms.phone import end_line, is_telephone
from bella_vista.rooms.refusing import Why, refuse_politely
from bella_vista.serving.replacing import replace_this_job
from bella_vista.serving.sending import MOST_TRIES
from bella_vista.serving.worker import LEAVE_WHEN_OVER
from bella_vista.setting_values import LOCAL
from bella_vista.settings import Settings, SettingsFaults, read_settings
from bella_vista.speech_models import Speech, missing_for_speech, speech_models
from rpc.gateway import cap_incoming
from state.context import OrderContext
from state.menu import Menu
from state.shared import StateError

logger = logging.getLogger(__name__)

_HOUSE = "house"


@dataclass(frozen=True)
class Prepared:
    """What a process has ready before its call comes.

    Args:
        settings: What a person has set.
        menu: The menu that is served.
        now: The restaurant's clock.
        local: The local model, where it is the one that is asked: it takes a moment to learn the menu.
    """

    settings: Settings
    menu: Menu
    now: Callable[[], datetime]
    local: LLM[Any] | None


def ready(process: JobProcess) -> None:
    """Ready a process: its call should not wait for a menu to be read."""
    settings = read_settings()
    menu = served_menu(settings.menu)
    now = running_clock(ZoneInfo(menu.restaurant.timezone), settings.at)
    local = language_model(LOCAL, menu, now) if settings.model == LOCAL else None
    process.userdata[_HOUSE] = Prepared(settings, menu, now, local)


async def serve_room(ctx: JobContext) -> None:
    """Take the room's place, join it, and talk to its guest until the call is over."""
    prepared: Prepared = ctx.proc.userdata[_HOUSE]
    try:
        metadata = JobMetadata.parse(ctx.job.metadata)
    except MetadataFaults as wrong:
        logger.error("the dispatch's metadata is wrong: %s", "; ".join(map(str, wrong.faults)))
        await refuse_politely(ctx, Why.METADATA, transfer_to=prepared.menu.restaurant.transfer_to)
        return
    if metadata.tries > MOST_TRIES:
        await refuse_politely(
            ctx, Why.BROKEN, user=metadata.user, transfer_to=prepared.menu.restaurant.transfer_to
        )
        return
    await _Job(ctx, prepared, metadata).run()


class _Job:
    """One job, from its start to its end."""

    def __init__(self, ctx: JobContext, prepared: Prepared, metadata: JobMetadata) -> None:
        self._ctx = ctx
        self._settings = prepared.settings
        self._transfer_to = prepared.menu.restaurant.transfer_to
        self._began = time.monotonic()
        self._house = _house(prepared, metadata.locale)
        self._call = RoomCall(
            self._house,
            ctx.room,
            ctx.api.room,
            name=ctx.job.room.name,
            job=ctx.job.id,
            metadata=metadata,
        )
        self._holding: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Join, and leave the talking to a task: an entrypoint that does not return is waited for at the end."""
        ctx = self._ctx
        ctx.add_shutdown_callback(self._close)
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not in a thread
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(LEAVE_WHEN_OVER, self._call.leave_when_over)
        try:
            if not await self._call.take_place():
                logger.info("another agent serves this room", extra={"room": ctx.job.room.name})
                ctx.shutdown("another agent is here")
                return
            self._call.follow()
            cap_incoming(ctx.room)
            await ctx.connect()
        except Exception as error:  # whatever it is, the guest gets another agent
            await self._broken(error)
            return
        self._holding = asyncio.create_task(self._hold())

    async def _hold(self) -> None:
        try:
            outcome = await self._call.hold()
        except Exception as error:  # whatever it is, the guest gets another agent
            await self._broken(error)
            return
        if outcome is Outcome.FAILED:
            await self._replace()
        else:
            logger.info("the call has ended: %s", outcome.value)
            await self._hang_up(outcome)
            self._ctx.shutdown(outcome.value)

    async def _hang_up(self, outcome: Outcome) -> None:
        """A telephone stays on the line until somebody lays it down."""
        guest = self._call.guest
        if outcome not in (Outcome.OVER, Outcome.UNSPOKEN) or guest is None:
            return
        if is_telephone(guest):
            to = self._transfer_to if outcome is Outcome.UNSPOKEN else None
            await end_line(self._ctx.api, self._ctx.job.room.name, guest.identity, transfer_to=to)

    async def _broken(self, error: Exception) -> None:
        if isinstance(error, Faulty):
            logger.error("the call cannot be served: %s", "; ".join(map(str, error.faults)))
        elif isinstance(error, StateError):
            logger.error("the call cannot be served: %s", error.message)
        else:
            logger.error("the call broke", exc_info=error)
        await self._replace()

    async def _replace(self) -> None:
        lived_s = time.monotonic() - self._began
        await replace_this_job(
            self._ctx,
            self._call.metadata_of_successor,
            lived_s=lived_s,
            given_up=partial(tell_staff, self._settings),
        )

    async def _close(self, reason: str) -> None:
        await self._call.aclose()
        if self._holding is not None:
            await asyncio.gather(self._holding, return_exceptions=True)
        await self._house.store.close()


def _speech(settings: Settings, menu: Menu, locale: str | None) -> Speech:
    if locale is not None:
        settings = settings.model_copy(update={"language": locale})
    dishes = [dish.name for section in menu.sections for dish in section.dishes]
    speech = speech_models(settings, agents=restaurant_graph().agents, terms=dishes)
    if speech is None:
        raise SettingsFaults(["there is no speech"])
    return speech


def _house(prepared: Prepared, locale: str | None) -> House:
    settings, menu, now = prepared.settings, prepared.menu, prepared.now
    secret = settings.livekit_api_secret
    missing = missing_for_speech(settings)
    if missing:
        logger.info("rooms are text only: %s not set", ", ".join(missing))
    return House(
        context=OrderContext(menu=menu, now=now, new_id=lambda: str(uuid4())),
        store=open_store(settings.database or default_database(), menu.restaurant.id),
        model=lambda: prepared.local or language_model(settings.model, menu, now, settings),
        media=Media(None if missing else lambda: _speech(settings, menu, locale)),
        secret=secret.get_secret_value() if secret is not None else "",
        grace_s=settings.grace,
        words=settings.transcript,
        words_days=settings.transcript_days,
        agent=settings.agent_name,
        patience_of=patience_of,
    )
