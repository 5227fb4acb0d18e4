"""An application under test: a context on a clock of the test's own, a database in its folder, rooms here.

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
from functools import cache
from pathlib import Path
from typing import Any, Generic

import pytest
from livekit import api, rtc
from livekit.agents.llm import LLM

from agents.app.app import App, Environment, NewState
from agents.app.clock import in_zone
from agents.app.job_metadata import JobMetadata
from agents.app.join.client import ClientEvent, RoomClient, SaidText, TurnNotice
from agents.app.livekit_server import HOW_TO_GET, LocalServer, find_program
from agents.app.models.choice import language_model, models_of_agents
from agents.app.parts import C, S
from agents.app.rooms.media import Media
from agents.app.rooms.process_context import ProcessContext
from agents.app.rooms.room_job import RoomJob
from agents.app.settings import AppSettings
from agents.app.states import new_state, open_store, resume_state
from agents.handoff import Call
from agents.handoff.livekit_workarounds import connect
from agents.testing import Clock, Conversation, Ids, ScriptedLLM, Step
from rpc.gateway import cap_incoming
from state.shared import SharedState, SqlStore

FRIDAY = datetime.fromisoformat("2026-11-20T19:00")
"""When a test takes place that names no time."""

LIMIT_S = 60.0
"""How long anything in a room may take before the test fails, in seconds."""


class AppUnderTest(Generic[S, C]):
    """An application under test. Its files are in one folder, and its clock advances only when told to.

    Args:
        app: The application.
        folder: Where its database is.
        at: The initial time, in ISO 8601; without an offset in the application's time zone.
        context: Replaces parts of the context, such as partners, by the test's doubles.
        settings: Settings of the application's own, by name. The environment and ``.env`` do not
            name its model, its database or its time.
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
        """The clock; it advances when the test says so."""
        return self._clock_of(None)

    def another_context(self) -> C:
        """Make another context on the same clock, as another process has it."""
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
        """Make a call about a state, as the console and rooms make it. Takes what ``shared`` takes."""
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
    async def room(self, *script: Step) -> AsyncIterator["RoomUnderTest"]:
        """Serve a room of a LiveKit server on this machine, and join it as its user.

        The room is served by this process, on this context and this database. Without the server's
        program the test is skipped; with ``CI=true`` it fails.

        Args:
            script: As ``conversation`` takes it; the greeting's included.
        """
        server, name = _livekit_server(), f"room-{secrets.token_hex(8)}"
        job = f"AJ_{secrets.token_hex(6)}"
        user = f"user-{secrets.token_hex(8)}"
        agent_room = rtc.Room()
        address = server.url.replace("ws", "http", 1)
        async with (
            self.store() as store,
            api.LiveKitAPI(address, server.api_key, server.api_secret) as service,
        ):
            process = ProcessContext(
                app=self.app,
                context=self.context,
                store=store,
                model=lambda: self._model(script),
                models=lambda: {} if script else self._models(),
                media=Media(None),
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
                metadata=JobMetadata.parse(f'{{"user": "{user}"}}', self.app.noun),
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
                await room.join(server.url, _token(server, name, user))
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
        """The notices that it is, or is no longer, the user's turn."""
        self._client = RoomClient(noun, prefix, self._tell)
        self._happened = asyncio.Event()

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

    async def agent_says(self, text: str) -> None:
        """Wait until an agent's words with this text in them have arrived, perhaps after the notice."""
        await self._until(lambda: any(text in one for one in self.said), f'"{text}"')

    async def join(self, url: str, token: str) -> None:
        """Join the room and wait for the greeting."""
        await connect(self._client.room, url, token)
        self._client.take_notices()
        self.hello = await self._client.meet()
        await self._turn(0)

    async def leave(self) -> None:
        """Leave the room."""
        await self._client.leave()

    def _tell(self, event: ClientEvent) -> None:
        if isinstance(event, SaidText):
            self.said.append(event.text)
        elif isinstance(event, TurnNotice):
            self.notices.append(event.data)
        self._happened.set()

    async def _turn(self, number: int) -> None:
        await self._until(
            lambda: any(one["your_turn"] and one["turn"] >= number for one in self.notices),
            f"turn {number}",
        )

    async def _until(self, fact: Callable[[], bool], what: str) -> None:
        try:
            async with asyncio.timeout(LIMIT_S):
                while not fact():
                    self._happened.clear()
                    await self._happened.wait()
        except TimeoutError:
            pytest.fail(f"{what} did not come; said: {self.said}; notices: {self.notices}")


def fixture_of(
    app: App[S, C],
    *,
    at: str | datetime = FRIDAY,
    context: Callable[[C], C] = lambda context: context,
    settings: Callable[[Path], Mapping[str, object]] = lambda folder: {},
) -> Any:
    """Make a pytest fixture that gives each test an ``AppUnderTest`` of its own; assign it to its name.

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
