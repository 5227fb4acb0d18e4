"""A fake agent in a room: says what a test tells it to, and counts what it is asked."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from livekit import rtc

from agents.handoff import Call
from state.commands import AddItem
from state.context import OrderContext
from state.order import OrderState
from state.view import view
from tests.agents.restaurant import restaurant
from tests.livekit import Client, LiveKit

WORDS = {"a Margherita": "Noted.", "bye": "Goodbye!"}
"""What is answered to what; everything else is repeated."""

CODE = "order-code-1"


@dataclass
class PlayedAgent:
    """An agent in a room.

    Args:
        client: Its connection.
        call: What the order is about.
        turn: How often the guest has spoken.
    """

    client: Client
    call: Call[OrderState, OrderContext]
    turn: int = 0
    guest: str | None = None
    heard: list[str] = field(default_factory=list)
    failures: list[rtc.RpcError] = field(default_factory=list)
    """What ``say`` is answered with first, after the words were taken in or not."""
    deaf: bool = False
    """Whether the words of a call that fails are lost as well."""
    beginning: list[rtc.RpcError] = field(default_factory=list)
    """What ``hello`` is answered with first."""
    answers: bool = True
    stays: bool = False
    """Whether the agent stays in the room after the end, and tells of the end."""
    kept: dict[str, int] = field(default_factory=dict)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def answer(self, *methods: str) -> None:
        """Let these be called."""
        known = {
            "hello": self.hello,
            "say": self.say,
            "order.subscribe": self.order,
            "get_order_state": self.order,
            "order.apply": self.refuse,
        }
        for name in methods or known:
            self.client.room.local_participant.register_rpc_method(name, _telling(known[name]))

    async def hello(self, caller: str, data: dict[str, Any]) -> dict[str, Any]:
        if self.beginning:
            raise self.beginning.pop(0)
        self.guest = self.guest or caller
        if caller != self.guest:
            raise rtc.RpcError(4003, "This call is another guest's.", '{"code": 4003}')
        self._later(self._greet())
        return {
            "protocol": 1,
            "agent": "bella-vista",
            "features": [],
            "order_id": self.call.state.order_id,
            "version": self.call.shared.version,
            "active_agent": "greeter",
            "turn": self.turn,
            "resume_code": CODE,
        }

    async def say(self, caller: str, data: dict[str, Any]) -> dict[str, Any]:
        if self.failures:
            if not self.deaf:
                self._take_in(data)
            raise self.failures.pop(0)
        return {"turn": self._take_in(data)}

    def _take_in(self, data: dict[str, Any]) -> int:
        if data["key"] not in self.kept:
            self.turn += 1
            self.kept[data["key"]] = self.turn
            self.heard.append(data["text"])
            if self.answers:
                self._later(self._reply(data["text"]))
        return self.kept[data["key"]]

    async def order(self, caller: str, data: dict[str, Any]) -> dict[str, Any]:
        shared = self.call.shared
        return {
            "version": shared.version,
            "order": view(shared.state, shared.version, self.call.speaker),
        }

    async def refuse(self, caller: str, data: dict[str, Any]) -> dict[str, Any]:
        raise rtc.RpcError(4022, "We do not have that.", '{"code": 4022, "reason": "not_on_menu"}')

    async def say_aloud(self, text: str) -> None:
        """Write on ``lk.transcription``."""
        writer = await self.client.room.local_participant.stream_text(topic="lk.transcription")
        await writer.write(text)
        await writer.aclose()

    async def your_turn(self) -> None:
        """Notify the guest that it is their turn."""
        await self.notify(
            "your_turn_to_speak",
            {
                "turn": self.turn,
                "your_turn": True,
                "active_agent": "greeter",
                "version": self.call.shared.version,
                "expects": "open",
            },
        )

    async def notify(self, method: str, notice: dict[str, Any]) -> None:
        assert self.guest is not None
        while True:
            try:
                await self.client.call_text(method, json.dumps(notice), to=self.guest)
            except rtc.RpcError as error:
                if error.code == rtc.RpcError.ErrorCode.CONNECTION_TIMEOUT:
                    continue  # the client is busy
            return  # delivered, or the guest has left

    async def _greet(self) -> None:
        await self.say_aloud("Good evening!")
        await self.your_turn()

    async def _reply(self, text: str) -> None:
        if text == "a Margherita":
            base = self.call.shared.version
            await self.call.shared.apply(
                AddItem(name="Margherita", size="large", quantity=1), actor="active_agent"
            )
            moved = {"base_version": base, "version": self.call.shared.version, "patch": []}
            await self.notify("order_state_changed", moved)
        await self.say_aloud(WORDS.get(text, f"You said: {text}"))
        if text == "bye" and self.stays:
            await self.notify("call_ended", {"reason": "agent_ended", "resume_code": CODE})
        elif text == "bye":
            await self.client.leave()
        else:
            await self.your_turn()

    def _later(self, doing: Any) -> None:
        task = asyncio.create_task(doing)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


Answer = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


def _telling(answer: Answer) -> Callable[[rtc.RpcInvocationData], Awaitable[str]]:
    async def handler(data: rtc.RpcInvocationData) -> str:
        return json.dumps(await answer(data.caller_identity, json.loads(data.payload or "{}")))

    return handler


@asynccontextmanager
async def played_agent(
    livekit: LiveKit, room: str, *, listens: bool = True, turn: int = 0
) -> AsyncIterator[PlayedAgent]:
    """Play the agent of a room for a while.

    Args:
        livekit: The server.
        room: The room.
        listens: Whether it answers calls from the start.
        turn: How often the guest has spoken before.
    """
    identity = f"agent-{secrets.token_hex(4)}"
    async with livekit.joined(room, identity, kind="agent", offers=()) as client:
        played = PlayedAgent(client, restaurant(), turn=turn)
        if listens:
            played.answer()
        try:
            yield played
        finally:
            for task in tuple(played.tasks):
                task.cancel()
            await asyncio.gather(*played.tasks, return_exceptions=True)
