"""A state with nothing in it but a number, and a room where it can be called."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from livekit import rtc
from pydantic import BaseModel, JsonValue

from rpc.gateway import AnyMethod, Caller, Gateway, Limits, Method, Mutes, Request
from rpc.testing import FakeRoom

GUEST, STAFF = "guest", "staff"
GUESTS, HOUSE = ("ada",), ("sam",)


class Add(Request):
    """Raises the number."""

    by: int
    why: str = ""


class Nothing(Request):
    """Asks for no more than an answer."""


class Number(BaseModel):
    """The number."""

    number: int


class Text(BaseModel):
    """Any text."""

    text: str


async def add(request: Add, caller: Caller) -> Number:
    return Number(number=request.by + 1)


async def greet(request: Nothing, caller: Caller) -> Text:
    return Text(text=caller.role or "nobody")


ADD = Method("add", Add, add)
GREET = Method("greet", Nothing, greet, anybody=True)


def answering(answer: Callable[[Nothing, Caller], Any]) -> AnyMethod:
    """Make a method that does as it is told."""
    return Method("do", Nothing, answer)


@dataclass
class Shop:
    """A gateway, its room, and a fixed clock."""

    room: FakeRoom
    gateway: Gateway
    seconds: list[float] = field(default_factory=lambda: [0.0])

    async def call(self, who: str, method: str, payload: object = "", **options: Any) -> Any:
        """Call and return what came: the reply, read, or the error."""
        text = payload if isinstance(payload, str) else json.dumps(payload)
        try:
            return json.loads(await self.room.call(who, method, text, **options))
        except rtc.RpcError as error:
            return error


async def no_wait(room: FakeRoom, delay: float) -> None:
    """Answer refused calls in the next tick of the event loop."""
    await asyncio.sleep(0)


@asynccontextmanager
async def shop(
    *methods: AnyMethod,
    limits: Limits | None = None,
    mute_s: float = 10.0,
    find: Any = None,
    sleep: Callable[[FakeRoom, float], Awaitable[None]] = no_wait,
) -> AsyncIterator[Shop]:
    """Open a room with a guest, a member of staff and a stranger in it."""
    async with FakeRoom() as room:
        seconds = [0.0]

        def is_there(identity: str) -> bool:
            there = room.remote_participants.get(identity)
            return there is not None and there.kind != rtc.ParticipantKind.PARTICIPANT_KIND_AGENT

        gateway = Gateway(
            methods or (ADD, GREET),
            role_of=lambda who: GUEST if who in GUESTS else STAFF if who in HOUSE else None,
            is_there=is_there,
            version=lambda: 7,
            limits=limits,
            mutes=Mutes(room.service, room.name, seconds=mute_s, sleep=room.clock.sleep),
            find=find,
            clock=lambda: seconds[0],
            sleep=lambda delay: sleep(room, delay),
        )
        gateway.install(room.local_participant)
        for who in (*GUESTS, *HOUSE, "zoe"):
            room.join(who)
        try:
            yield Shop(room, gateway, seconds)
        finally:
            await gateway.aclose()


def data_of(error: rtc.RpcError) -> dict[str, JsonValue]:
    """Read the object that an error carries."""
    read: dict[str, JsonValue] = json.loads(error.data or "null")
    return read
