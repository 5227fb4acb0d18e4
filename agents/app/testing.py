"""An application under test: a clock of its own, a database in the test's folder, rooms on this machine.

``fixture_of`` makes a pytest fixture of it::

    hotel = fixture_of(APP, at="2026-11-22T10:00")


    async def test_the_name_is_kept(hotel: AppUnderTest[Stay, Hotel]) -> None:
        async with hotel.conversation(says("Your name?"), calls(("set_guest", ADA)), says("Yes?")) as talk:
            await talk.user_says("Ada")
        assert talk.state.guest == "Ada"
"""

import asyncio
import atexit
import os
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, tzinfo
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic

import pytest
from aiohttp import ClientSession
from livekit import api, rtc
from livekit.agents.llm import LLM

from agents.app.app import App, Environment, NewState
from agents.app.clock import in_zone
from agents.app.job_metadata import JobMetadata
from agents.app.join.client import ClientEvent, RoomClient, SaidText, TurnNotice
from agents.app.livekit_server import HOW_TO_GET, LocalServer, find_program
from agents.app.models.choice import language_model, models_of_agents
from agents.app.models.speech import SpeechModels, language_models_of, speech_models
from agents.app.models.speech_settings import missing_for_speech
from agents.app.models.turn_taking import turn_taking
from agents.app.parts import C, S
from agents.app.rooms.media import Media
from agents.app.rooms.process_context import ProcessContext
from agents.app.rooms.room_job import RoomJob
from agents.app.settings import AppSettings, SettingsFaults
from agents.app.states import new_state, open_store, resume_state
from agents.handoff import Call
from agents.handoff.livekit_workarounds import connect
from agents.testing import Clock, Conversation, Ids, ScriptedLLM, Step, silence
from rpc.gateway import cap_incoming
from state.shared import SharedState, SqlStore

FRIDAY = datetime.fromisoformat("2026-11-20T19:00")
"""The default time of a test."""

LIMIT_S = 60.0
"""How long anything in a room may take before the test fails, in seconds."""

_RATE = 48_000
"""The sample rate of a user's microphone, in hertz."""

_PAUSE_S = 1.0
"""The silence after a user's speech, in seconds."""


class AppUnderTest(Generic[S, C]):
    """An application under test. Its files are in one folder, and its clock advances only when told to.

    Args:
        app: The application.
        folder: Where its database is.
        at: The initial time, in ISO 8601; without an offset in the application's time zone.
        context: Replaces parts of the context, such as clients of other services, by the test's
            doubles.
        settings: Settings by name. Model, database and time are never read from the environment or
            ``.env``.
    """

    def __init__(
        self,
        app: App[S, C],
        folder: Path,
        *,
        at: str | datetime = FRIDAY,
        context: Callable[[C], C] = lambda context: context,
        **settings: object,
    ) -> None:
        self.app = app
        self.folder = folder
        self.settings: AppSettings = app.settings.read(
            **{"model": "local", "database": f"sqlite:///{folder}/{app.plural}.db", **settings}
        )
        self._at = datetime.fromisoformat(at) if isinstance(at, str) else at
        self._doubles = context
        self._clock: Clock | None = None
        self._ids = Ids()
        self.context: C = self.another_context()
        """The context of the rules."""

    @property
    def clock(self) -> Clock:
        """The clock; it advances only when the test advances it."""
        return self._clock_of(None)

    def another_context(self) -> C:
        """Make another context on the same clock, like that of another process."""
        return self._doubles(
            self.app.make_context(Environment(self.settings, self._clock_of, self._ids))
        )

    def state(self) -> S:
        """Make a new state, with the noun and 1 as its id, such as ``visit-1``."""
        new = NewState(f"{self.app.noun}-1", "101", "terminal")
        return self.app.make_state(self.context, new)

    def shared(self, state: S | None = None, *, agent: str | None = None) -> SharedState[S, C]:
        """Share a state without a database.

        Args:
            state: The state; a new one without it.
            agent: The agent that was last active.
        """
        return SharedState(state or self.state(), self.context, speaker=agent)

    def call(self, state: S | None = None, *, agent: str | None = None) -> Call[S, C]:
        """Make a call as the console and rooms make it; arguments as for ``shared``."""
        return self.app.call(self.shared(state, agent=agent))

    def conversation(
        self,
        *script: Step,
        state: S | SharedState[S, C] | None = None,
        agent: str | None = None,
        model: LLM[Any] | None = None,
    ) -> Conversation[S, C]:
        """Make a conversation: a context manager with ``user_says``.

        Args:
            script: The replies of a scripted model; without them the application's own model answers.
            state: The state to start from, shared already or not; a new one without it.
            agent: The agent that was last active.
            model: Another model.
        """
        shared = state if isinstance(state, SharedState) else self.shared(state, agent=agent)
        own = {} if script or model else self._models()
        return Conversation(self.app.call(shared), model or self._model(script), llm_by_agent=own)

    def store(self) -> SqlStore:
        """Open the database: an async context manager. Two of them are like two processes."""
        return open_store(self.app, self.settings.database, self.app.owner_of(self.context))

    async def stored(self, store: SqlStore, state_id: str | None = None) -> SharedState[S, C]:
        """Start a state in the database, or resume one by its id."""
        if state_id is None:
            return await new_state(self.app, store, self.context, "terminal")
        return await resume_state(self.app, store, self.context, state_id)

    @asynccontextmanager
    async def room(self, *script: Step, spoken: bool = False) -> AsyncIterator["RoomUnderTest"]:
        """Serve a room of a LiveKit server on this machine, and join it as its user.

        The room is served by this process, on this context and this database. Without the server's
        program the test is skipped; with ``CI=true`` it fails.

        Args:
            script: As ``conversation`` takes it; the greeting's included.
            spoken: Whether the user has a microphone. The application's settings name the speech
                models, such as the stand-ins of ``agents.testing.providers``.
        """
        server, name = _livekit_server(), f"room-{secrets.token_hex(8)}"
        job = f"AJ_{secrets.token_hex(6)}"
        user = f"user-{secrets.token_hex(8)}"
        agent_room = rtc.Room()
        address = server.url.replace("ws", "http", 1)
        async with (
            self.store() as store,
            api.LiveKitAPI(address, server.api_key, server.api_secret) as service,
            ClientSession() as http,
        ):
            process = ProcessContext(
                app=self.app,
                context=self.context,
                store=store,
                model=lambda: self._model(script),
                models=lambda: {} if script else self._models(),
                media=self._speech(http) if spoken else Media(None),
                secret=secrets.token_hex(32),
                grace_s=self.settings.grace,
                agent=self.settings.agent_name,
            )
            served = RoomJob(
                process,
                agent_room,
                service.room,
                name=name,
                job=job,
                metadata=JobMetadata(
                    user=user,
                    channel="web_voice" if spoken else "web_text",
                    noun=self.app.noun,
                ),
            )
            room = RoomUnderTest(self.app.noun, self.app.prefix)
            running: asyncio.Task[Any] | None = None
            try:
                await served.acquire_lease()
                served.attach()
                cap_incoming(agent_room)
                await connect(
                    agent_room, server.url, _token(server, name, f"agent-{job}", agent=True)
                )
                running = asyncio.create_task(served.run())
                await room.join(server.url, _token(server, name, user), microphone=spoken)
                yield room
            finally:
                await room.leave()
                await served.aclose()
                if running is not None:
                    await asyncio.wait((running,), timeout=LIMIT_S)
                await agent_room.disconnect()

    def _clock_of(self, zone: tzinfo | None) -> Clock:
        if self._clock is None:
            at = self._at.astimezone() if zone is None else in_zone(self._at, zone)
            self._clock = Clock(at)
        return self._clock

    def _model(self, script: tuple[Step, ...]) -> LLM[Any]:
        return (
            ScriptedLLM(script) if script else language_model(self.app, self.context, self.settings)
        )

    def _speech(self, http: ClientSession) -> Media:
        if missing := missing_for_speech(self.settings):
            pytest.fail(f"no speech: not set: {', '.join(missing)}")
        models = language_models_of(self.app, self.context, self.settings)

        def build() -> SpeechModels:
            built = speech_models(self.settings, language_models=models, http=http)
            if built is None:
                raise SettingsFaults(["speech is not configured"])
            return built

        return Media(build, partial(turn_taking, self.settings))

    def _models(self) -> dict[str, LLM[Any]]:
        return models_of_agents(self.app, self.context, self.settings)


class RoomUnderTest:
    """A user in a room that is served by the test's own process."""

    def __init__(self, noun: str, prefix: str) -> None:
        self.hello: Mapping[str, Any] = {}
        """The agent's reply to ``hello``."""
        self.said: list[str] = []
        """The agents' words, oldest first."""
        self.notices: list[Mapping[str, Any]] = []
        """The turn notices, oldest first."""
        self._client = RoomClient(noun, prefix, self._on_event)
        self._changed = asyncio.Event()
        self._microphone: rtc.AudioSource | None = None

    async def call(self, method: str, **fields: object) -> dict[str, Any]:
        """Call a method of the application's page.

        Raises:
            rtc.RpcError: The call was refused.
        """
        return await self._client.ask(method, **fields)

    async def user_says(self, text: str) -> None:
        """Say something and wait until it is the user's turn again."""
        reply = await self.call("say", text=text, key=secrets.token_hex(8))
        await self._turn(reply["turn"])

    async def user_speaks(self, samples: bytes, rate: int) -> None:
        """Say something aloud in a spoken call, and wait until it is the user's turn again.

        Args:
            samples: 16 bit samples of one channel.
            rate: How many of them a second has.
        """
        if self._microphone is None:
            pytest.fail("the user has no microphone: room(spoken=True)")
        turn = self.notices[-1]["turn"]
        resampler = rtc.AudioResampler(rate, _RATE)
        sound = rtc.AudioFrame(samples, rate, 1, len(samples) // 2)
        for frame in (*resampler.push(sound), *resampler.flush(), *silence(_PAUSE_S, rate=_RATE)):
            await self._microphone.capture_frame(frame)
        await self._turn(turn + 1)

    async def agent_says(self, text: str) -> None:
        """Wait until an agent has said this text, which may arrive after the turn notice."""
        await self._until(lambda: any(text in one for one in self.said), f'"{text}"')

    async def join(self, url: str, token: str, *, microphone: bool = False) -> None:
        """Join the room, with a microphone or without, and wait for the greeting."""
        await connect(self._client.room, url, token)
        if microphone:
            self._microphone = rtc.AudioSource(_RATE, 1, queue_size_ms=100)
            track = rtc.LocalAudioTrack.create_audio_track("microphone", self._microphone)
            options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
            await self._client.room.local_participant.publish_track(track, options)
        self._client.take_notices()
        self.hello = await self._client.meet()
        await self._turn(0)

    async def leave(self) -> None:
        """Leave the room."""
        await self._client.leave()
        if self._microphone is not None:
            await self._microphone.aclose()

    def _on_event(self, event: ClientEvent) -> None:
        if isinstance(event, SaidText):
            self.said.append(event.text)
        elif isinstance(event, TurnNotice):
            self.notices.append(event.data)
        self._changed.set()

    async def _turn(self, number: int) -> None:
        await self._until(
            lambda: any(one["your_turn"] and one["turn"] >= number for one in self.notices),
            f"turn {number}",
        )

    async def _until(self, fact: Callable[[], bool], what: str) -> None:
        try:
            async with asyncio.timeout(LIMIT_S):
                while not fact():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pytest.fail(f"{what} did not come; said: {self.said}; notices: {self.notices}")


def fixture_of(
    app: App[S, C],
    *,
    at: str | datetime = FRIDAY,
    context: Callable[[C], C] = lambda context: context,
    settings: Callable[[Path], Mapping[str, object]] = lambda folder: {},
) -> Any:
    """Make a pytest fixture that gives each test its own ``AppUnderTest``; assign it to a name.

    Args:
        app: The application.
        at: The initial time.
        context: Replaces parts of the context by the test's doubles.
        settings: Returns settings of the application's own, for the test's folder.
    """

    @pytest.fixture
    def app_under_test(tmp_path: Path) -> AppUnderTest[S, C]:
        return AppUnderTest(app, tmp_path, at=at, context=context, **settings(tmp_path))

    return app_under_test


def livekit_program() -> Path:
    """Find a LiveKit server's program; without one the test is skipped, and with ``CI=true`` it fails."""
    if program := find_program():
        return program
    missing = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
    missing(f"there is no livekit-server here: {HOW_TO_GET}")


@cache
def _livekit_server() -> LocalServer:
    server = LocalServer(livekit_program())
    server.start()
    atexit.register(server.stop)
    return server


def _token(server: LocalServer, room: str, identity: str, *, agent: bool = False) -> str:
    grants = api.VideoGrants(room_join=True, room=room, can_update_own_metadata=agent, agent=agent)
    token = api.AccessToken(server.api_key, server.api_secret).with_identity(identity)
    token = token.with_grants(grants).with_ttl(timedelta(hours=1))
    return (token.with_kind("agent") if agent else token).to_jwt()
