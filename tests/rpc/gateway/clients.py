"""Clients in a room that are called as livekit-agents 1.8.9 calls them, each as fast or as dead as a test wants."""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from livekit.rtc import RpcError

Code = RpcError.ErrorCode
WAY_S = 7.0
"""What livekit keeps of a deadline for the way, and how long it waits for a sign of life, in seconds."""


@dataclass
class Client:
    """One client: what it received, and when, in the loop's seconds; and what was sent, lost or not.

    Args:
        takes: How long its program works on a call, in seconds.
        away: Seconds on the way to it.
        gone: Whether it vanished without a word.
        deaf: Whether it lacks the method.
        fails: What it answers instead of nothing.
        loses_acks: Whether calls reach it and its acknowledgements are lost.
    """

    takes: float = 0.0
    away: float = 0.002
    gone: bool = False
    deaf: bool = False
    fails: int | None = None
    loses_acks: bool = False
    got: list[dict[str, Any]] = field(default_factory=list)
    at: list[float] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    def receive(self, payload: str) -> None:
        self.got.append(json.loads(payload))
        self.at.append(asyncio.get_running_loop().time())

    def leave(self) -> None:
        """Leave in a way that livekit notices."""
        self.gone = True
        self.left.set()

    def come(self) -> None:
        self.gone = False
        self.left.clear()


class Room:
    """The side that calls."""

    def __init__(self, **clients: Client) -> None:
        self.clients = clients
        self.calls: Counter[str] = Counter()
        self.most_at_once: Counter[str] = Counter()
        self.sizes: list[int] = []
        self.methods: set[str] = set()
        self.lost = False
        """Whether a call is never heard of again."""
        self._under_way: Counter[str] = Counter()

    async def perform_rpc(
        self,
        *,
        destination_identity: str,
        method: str,
        payload: str,
        response_timeout: float | None = None,
    ) -> str:
        self.calls[destination_identity] += 1
        self.methods.add(method)
        self.sizes.append(len(payload.encode()))
        self._under_way[destination_identity] += 1
        self.most_at_once[destination_identity] = max(
            self.most_at_once[destination_identity], self._under_way[destination_identity]
        )
        try:
            return await self._call(destination_identity, payload, response_timeout or 15.0)
        finally:
            self._under_way[destination_identity] -= 1

    async def _call(self, identity: str, payload: str, deadline_s: float) -> str:
        if self.lost:
            await asyncio.Event().wait()
        client = self.clients.get(identity)
        if client is None:
            raise await _later(WAY_S, Code.CONNECTION_TIMEOUT)
        try:
            await asyncio.sleep(client.away)
        except asyncio.CancelledError:  # what has left is not called back by that
            client.sent.append(json.loads(payload))
            raise
        if client.deaf and not client.gone:
            raise RpcError(Code.UNSUPPORTED_METHOD, "no such method")
        client.sent.append(json.loads(payload))
        if client.gone:
            raise await _later(WAY_S, Code.CONNECTION_TIMEOUT, client)
        client.receive(payload)
        if client.loses_acks:
            raise await _later(WAY_S, Code.CONNECTION_TIMEOUT, client)
        budget = max(1.0, deadline_s - WAY_S)
        if client.takes > budget:
            raise await _later(budget, Code.RESPONSE_TIMEOUT, client)
        if client.takes:
            await _later(client.takes, Code.APPLICATION_ERROR, client)
        if client.fails is not None:
            raise RpcError(client.fails, "no")
        if client.left.is_set():
            raise RpcError(Code.RECIPIENT_DISCONNECTED, "left")
        return ""


async def _later(seconds: float, code: int, client: Client | None = None) -> RpcError:
    """Return what a call ends with: at once when the client leaves."""
    if client is None:
        await asyncio.sleep(seconds)
        return RpcError(code, "later")
    try:
        async with asyncio.timeout(seconds):
            await client.left.wait()
    except TimeoutError:
        return RpcError(code, "later")
    return RpcError(Code.RECIPIENT_DISCONNECTED, "left")
