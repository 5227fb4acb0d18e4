"""A restaurant with calls in this process, and one with a worker, in rooms of a real server."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from livekit import api, rtc

from agents.app.job_metadata import JobMetadata
from agents.app.rooms.media import Media
from agents.app.rooms.process_context import ProcessContext, RoomOutcome
from agents.app.rooms.room_job import RoomJob
from agents.app.rooms.transfer import PhoneServer
from agents.handoff.livekit_workarounds import connect
from bella_vista.app import APP
from bella_vista.local.model import LocalLLM
from bella_vista.menus import menu_file
from rpc.gateway import cap_incoming
from state.context import OrderContext
from state.menu import load_menu
from state.order import OrderState
from tests.agents.app.rooms.restaurant_worker import Restaurant, Worker
from tests.livekit import LONG_S, ROLE, Client, LiveKit
from tests.stored_orders import open_store

NOW = datetime(2026, 11, 20, 18, tzinfo=UTC)


@dataclass
class Agent:
    """One call under way, and what serves it."""

    call: RoomJob[OrderState, OrderContext]
    room: rtc.Room
    held: "asyncio.Task[RoomOutcome]"

    def sees(self, client: Client) -> str | None:
        """The role in a participant's attributes, as the agent sees it."""
        there = self.room.remote_participants.get(client.identity)
        return there.attributes.get(ROLE) if there is not None else None


@dataclass
class Calls:
    """Starts calls in rooms, as a job does."""

    livekit: LiveKit
    house: ProcessContext[OrderState, OrderContext]

    @asynccontextmanager
    async def agent(
        self,
        room_name: str,
        *,
        job: str = "",
        house: ProcessContext[OrderState, OrderContext] | None = None,
        phones: PhoneServer | None = None,
        **metadata: Any,
    ) -> AsyncIterator[Agent]:
        """Have an agent in a room for a while."""
        job = job or f"AJ_{uuid4().hex[:12]}"
        room = rtc.Room()
        async with api.LiveKitAPI(
            self.livekit.url.replace("ws", "http", 1),
            self.livekit.api_key,
            self.livekit.api_secret,
        ) as server:
            call = RoomJob(
                house or self.house,
                room,
                server.room,
                name=room_name,
                job=job,
                metadata=JobMetadata.parse(json.dumps(metadata), "order"),
                phones=phones,
            )
            assert await call.acquire_lease()
            call.attach()
            cap_incoming(room)
            token = self.livekit.token(
                room_name,
                f"agent-{job}",
                kind="agent",
                grants={"can_update_own_metadata": True, "agent": True},
            )
            await connect(room, self.livekit.url, token)
            held = asyncio.create_task(call.run())
            try:
                yield Agent(call, room, held)
            finally:
                await call.aclose()
                await asyncio.wait((held,), timeout=LONG_S)
                await room.disconnect()


@asynccontextmanager
async def house_of(
    database: str, **restaurant: str
) -> AsyncIterator[ProcessContext[OrderState, OrderContext]]:
    """Bella Vista with the local model and no speech.

    Args:
        database: Where its orders are.
        restaurant: What else its menu says of it.
    """
    menu = load_menu(menu_file(None))
    menu = menu.model_copy(update={"restaurant": menu.restaurant.model_copy(update=restaurant)})

    def now() -> datetime:
        return NOW

    context = OrderContext(menu=menu, now=now, new_id=lambda: str(uuid4()))
    async with open_store(database, menu.restaurant.id) as store:
        yield ProcessContext(
            app=APP,
            agent="bella-vista",
            context=context,
            store=store,
            model=lambda: LocalLLM(menu, now=now),
            media=Media(None),
            secret="a-secret-of-the-tests-that-is-long-enough",
            grace_s=30.0,
        )


@pytest.fixture
async def house(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ProcessContext[OrderState, OrderContext]]:
    """Bella Vista with the local model, a database of its own, however slow the disk is, and no speech."""
    monkeypatch.setattr("state.shared.sql.thread.ANSWER_S", LONG_S)
    monkeypatch.setattr("rpc.page.session.SAY_S", LONG_S)
    monkeypatch.setattr("state.shared.sql.thread.WAIT_S", LONG_S)
    async with house_of(f"sqlite:///{tmp_path}/orders.db") as house:
        yield house


@pytest.fixture
def calls(livekit: LiveKit, house: ProcessContext[OrderState, OrderContext]) -> Calls:
    """The calls of this restaurant."""
    return Calls(livekit, house)


@pytest.fixture(scope="session")
def restaurant(livekit: LiveKit, tmp_path_factory: pytest.TempPathFactory) -> Restaurant:
    """A restaurant whose calls run in processes of their own."""
    return Restaurant(livekit, tmp_path_factory.mktemp("restaurant"))


@pytest.fixture(scope="session")
def running(restaurant: Restaurant) -> Iterator[Worker]:
    """The process of its worker, with a grace time longer than a reconnect takes on a busy machine."""
    with restaurant.starting(BELLA_VISTA_IDLE="2", BELLA_VISTA_GRACE="5") as worker:
        yield worker


@pytest.fixture
async def worker(running: Worker) -> Worker:
    """Its worker, taken in by the server."""
    await running.registered()
    return running


Changed = Callable[..., ProcessContext[OrderState, OrderContext]]


@pytest.fixture
def changed(house: ProcessContext[OrderState, OrderContext]) -> Changed:
    """Change the restaurant's set-up."""
    return lambda **how: replace(house, **how)
