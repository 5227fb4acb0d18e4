"""The entrypoint of a job: the process prepares, then serves one room until the call is over."""

import asyncio
import logging
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from livekit.agents import JobContext, JobProcess
from livekit.agents.llm import LLM

from agents.app.app import App, Environment
from agents.app.declaration import attempt
from agents.app.dispatch.dispatcher import MAX_TRIES
from agents.app.dispatch.replacement import replace_this_job
from agents.app.faults import InputError
from agents.app.job_metadata import JobMetadata, MetadataFaults
from agents.app.live import LiveSettings
from agents.app.models.choice import language_model, models_of_agents
from agents.app.models.speech import (
    SpeechModels,
    language_models_of,
    load_recognizer,
    prepare_speech,
    speech_models,
)
from agents.app.models.speech_settings import (
    LOCAL_SPEECH_NOTE,
    REALTIME_NOTE,
    missing_for_speech,
    model_hears,
    uses_local,
)
from agents.app.models.turn_taking import turn_taking
from agents.app.parts import C, S
from agents.app.recordings import Recordings, recordings_folder
from agents.app.rooms.lost import flag_abandoned_call
from agents.app.rooms.media import Media
from agents.app.rooms.phone import end_line, is_telephone
from agents.app.rooms.process_context import ProcessContext, RoomOutcome
from agents.app.rooms.rejection import RejectReason, reject_call
from agents.app.rooms.room_job import RoomJob
from agents.app.rooms.transfer import PhoneServer
from agents.app.setting_values import LOCAL
from agents.app.settings import AppSettings, SettingsFaults
from agents.app.states import open_store
from agents.app.terminal.signals import LEAVE_WHEN_OVER
from agents.app.turn_metrics import report_turn
from rpc.gateway import cap_incoming
from state.shared import StateError

if TYPE_CHECKING:
    from agents.app.local_speech.language_models import LanguageModels
    from agents.app.local_speech.recognizer import Recognizer

T = TypeVar("T")

logger = logging.getLogger(__name__)

_PREPARED = "prepared"


@dataclass(frozen=True)
class Prepared(Generic[C]):
    """The data that a process loads before its call.

    Args:
        local: The local model if it is configured, since building it may take a while.
        live: The settings that staff change while calls run.
        language_models: The language models of local speech-to-text, if it is configured.
        recognizer: Its recogniser.
    """

    settings: AppSettings
    context: C
    local: LLM[Any] | None
    live: LiveSettings
    language_models: "LanguageModels | None" = None
    recognizer: "Recognizer | None" = None


def prepare_process(app: App[S, C], process: JobProcess) -> None:
    """Load the application's data in a process, so that its call does not wait for them.

    Raises:
        InputError: A call cannot be served; lists everything that is known to be wrong.
    """
    settings = app.settings.read()
    environment = Environment.of(settings)
    context = app.make_context(environment)
    app.rehearse(context)
    local = language_model(app, context, settings) if settings.model == LOCAL else None
    heard = language_models_of(app, context, settings)
    prepare_speech(settings)
    process.userdata[_PREPARED] = Prepared(
        settings, context, local, environment.live, heard, load_recognizer(heard)
    )


async def serve_room(ctx: JobContext, app: App[S, C]) -> None:
    """Acquire the room's lease, join the room, and serve its user until the call is over.

    Args:
        ctx: The job, not connected.
        app: The application.
    """
    words = app.rooms.words
    if _PREPARED not in ctx.proc.userdata:
        try:
            prepare_process(app, ctx.proc)
        except InputError as error:
            logger.error("call cannot be served: %s", "; ".join(error.faults))
            await reject_call(ctx, RejectReason.APPLICATION, words)
            return
    prepared: Prepared[C] = ctx.proc.userdata[_PREPARED]
    transfer_to = _transfer_to(app, prepared)
    try:
        metadata = JobMetadata.parse(ctx.job.metadata, app.noun)
    except MetadataFaults as wrong:
        logger.error("invalid job metadata: %s", "; ".join(map(str, wrong.faults)))
        await reject_call(ctx, RejectReason.METADATA, words, transfer_to=transfer_to)
        return
    if metadata.tries > MAX_TRIES:
        await reject_call(
            ctx, RejectReason.BROKEN, words, user=metadata.user, transfer_to=transfer_to
        )
        return
    await _Job(ctx, app, prepared, metadata).run()


def _transfer_to(app: App[S, C], prepared: Prepared[C]) -> str | None:
    return attempt("phone.transfer_to", None, app.phone.transfer_to, prepared.context)


def _phone_server(ctx: JobContext, settings: AppSettings) -> PhoneServer:
    trunk = settings.sip_outbound_trunk if settings.transfer == "warm" else None
    return PhoneServer(ctx.api, ctx._info.url, *settings.livekit_keys, trunk=trunk)


class _Job(Generic[S, C]):
    """One job, from its start to its end."""

    def __init__(
        self, ctx: JobContext, app: App[S, C], prepared: Prepared[C], metadata: JobMetadata
    ) -> None:
        self._app = app
        self._ctx = ctx
        self._settings = prepared.settings
        self._transfer_to = _transfer_to(app, prepared)
        self._began = time.monotonic()
        self._process = _process_context(app, prepared, metadata.locale)
        self._room_job = RoomJob(
            self._process,
            ctx.room,
            ctx.api.room,
            name=ctx.job.room.name,
            job=ctx.job.id,
            metadata=metadata,
            phones=_phone_server(ctx, prepared.settings),
        )
        self._serving: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Join the room and serve it in a task, since livekit's shutdown waits for the entrypoint."""
        ctx = self._ctx
        ctx.add_shutdown_callback(self._close)
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not possible in a thread
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(LEAVE_WHEN_OVER, self._room_job.leave_when_over)
        if await self._replaced_on_failure(self._join()):
            self._serving = asyncio.create_task(self._serve())

    async def _join(self) -> bool:
        """Join the room; returns whether this job holds its lease."""
        ctx = self._ctx
        if not await self._room_job.acquire_lease():
            logger.info(
                "room lease held by another agent, not joining", extra={"room": ctx.job.room.name}
            )
            ctx.shutdown("room lease held by another agent")
            return False
        self._room_job.attach()
        cap_incoming(ctx.room)
        await ctx.connect()
        return True

    async def _serve(self) -> None:
        outcome = await self._replaced_on_failure(self._room_job.run())
        if outcome is None:
            return
        if outcome is RoomOutcome.FAILED:
            await self._replace()
        else:
            logger.info("call ended: %s", outcome.value)
            await self._hang_up(outcome)
            self._ctx.shutdown(outcome.value)

    async def _hang_up(self, outcome: RoomOutcome) -> None:
        """End a phone caller's line, which would stay open until they hang up."""
        user = self._room_job.user
        if outcome not in (RoomOutcome.COMPLETED, RoomOutcome.NO_SPEECH) or user is None:
            return
        if is_telephone(user):
            to = self._transfer_to if outcome is RoomOutcome.NO_SPEECH else None
            await end_line(self._ctx.api, self._ctx.job.room.name, user.identity, transfer_to=to)

    async def _replaced_on_failure(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return the result of a part of the job; if it fails, replace the job and return ``None``."""
        try:
            return await work
        except Exception as error:  # of any type: the user gets another agent
            await self._on_failure(error)
            return None

    async def _on_failure(self, error: Exception) -> None:
        if isinstance(error, InputError):
            logger.error("call cannot be served: %s", "; ".join(map(str, error.faults)))
        elif isinstance(error, StateError):
            logger.error("call cannot be served: %s", error.message)
        else:
            logger.error("call failed", exc_info=error)
        await self._replace()

    async def _replace(self) -> None:
        lived_s = time.monotonic() - self._began
        await replace_this_job(
            self._ctx,
            self._room_job.successor_metadata,
            lived_s=lived_s,
            given_up=partial(flag_abandoned_call, self._app, self._settings),
        )

    async def _close(self, reason: str) -> None:
        await self._room_job.aclose()
        if self._serving is not None:
            await asyncio.gather(self._serving, return_exceptions=True)
        await self._process.store.close()


def _speech(app: App[S, C], prepared: Prepared[C], locale: str | None) -> SpeechModels:
    settings, context = prepared.settings, prepared.context
    if locale is not None:
        settings = settings.model_copy(update={"language": locale})
    terms: Sequence[str] = attempt("rooms.terms", (), app.rooms.terms, context)
    speech = speech_models(
        settings,
        agents=app.agents.agents,
        terms=terms,
        language_models=prepared.language_models,
        recognizer=prepared.recognizer,
    )
    if speech is None:
        raise SettingsFaults(
            [f"speech is not configured: {', '.join(missing_for_speech(settings))}"]
        )
    return speech


def _process_context(
    app: App[S, C], prepared: Prepared[C], locale: str | None
) -> ProcessContext[S, C]:
    settings, context = prepared.settings, prepared.context
    missing = missing_for_speech(settings)
    if missing:
        logger.info("rooms are text only, settings not set: %s", ", ".join(missing))
    else:
        if uses_local(settings):
            logger.warning(LOCAL_SPEECH_NOTE)
        if model_hears(settings):
            logger.warning(REALTIME_NOTE)
    return ProcessContext(
        app=app,
        context=context,
        store=open_store(app, settings.database, app.owner_of(context)),
        model=lambda: prepared.local or language_model(app, context, settings),
        models=lambda: models_of_agents(app, context, settings),
        media=Media(
            None if missing else lambda: _speech(app, prepared, locale),
            partial(turn_taking, settings),
        ),
        secret=settings.livekit_keys[1],
        grace_s=settings.grace,
        transcript=settings.transcript,
        transcript_days=settings.transcript_days,
        agent=settings.agent_name,
        live=prepared.live,
        recordings=_recordings(app, settings, app.owner_of(context)),
        measured=report_turn,
    )


def _recordings(app: App[S, C], settings: AppSettings, owner: str) -> Recordings | None:
    if not settings.record_calls:
        return None
    return Recordings(recordings_folder(app, settings.database, settings.recordings), owner)
