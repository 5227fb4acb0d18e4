"""Shared by all stand-ins: the record of requests, keys, refusals, and sound in pieces."""

import asyncio
import hmac
import math
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

from aiohttp import web

from agents.testing.providers.names import Names
from agents.testing.providers.script import Provider, Scenario, Speech, Utterance
from agents.testing.tones import tone

LOUD = 1000
"""The amplitude above which a sample is no silence, of 32,767."""

_MESSAGE_BYTES = 2**24
"""The longest message over a WebSocket."""

PIECE_S = 0.1
"""The length of one piece of sound that is sent, in seconds."""


@dataclass(frozen=True)
class Asked:
    """One request, or one message over a WebSocket.

    Args:
        provider: The provider it was sent to.
        path: The path of its address.
        key: The key it came with, without the scheme.
        query: The parameters of its address.
        body: Its JSON object; empty for a connection.
    """

    provider: Provider
    path: str
    key: str
    query: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)


class Refused(Exception):
    """The real service would refuse this request; the message says why.

    Args:
        reason: Why.
        status: The HTTP status of the refusal.
    """

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


class Progress:
    """Where a scenario is, what was asked, and what was refused."""

    def __init__(
        self,
        scenario: Scenario,
        key: str | None,
        second_per_character: float,
        names: Names,
        quiet_s: float,
    ) -> None:
        self.scenario = scenario
        self.quiet_s = quiet_s
        self.key = key
        self.names = names
        self.refuses: dict[Provider, int] = {}
        self.asked: list[Asked] = []
        self.faults: list[str] = []
        self.closing = asyncio.Event()
        self._sockets: dict[Provider, WeakSet[web.WebSocketResponse]] = {}
        self._second_per_character = second_per_character
        self._heard = self._spoken = 0

    def request(
        self, provider: Provider, request: web.Request, key: str, body: dict[str, Any] | None = None
    ) -> None:
        """Record a request.

        Raises:
            aiohttp.web.HTTPException: The key is wrong, or the provider refuses everything.
        """
        query = {name: ",".join(request.query.getall(name)) for name in request.query}
        self.asked.append(Asked(provider, request.path, key, query, body or {}))
        if status := self.refuses.get(provider):
            raise _error(status, "refused by the scenario")
        if not key or (self.key is not None and not hmac.compare_digest(key, self.key)):
            raise _error(401, "no such key")

    def refuse(self, provider: Provider, reason: str, status: int = 400) -> web.HTTPException:
        """Record what the real service would refuse and return the refusal to be raised."""
        self.faults.append(f"{provider}: {reason}")
        return _error(status, reason)

    async def accept(self, provider: Provider, request: web.Request) -> web.WebSocketResponse:
        """Open a WebSocket, which ``break_off`` can close."""
        socket = web.WebSocketResponse(max_msg_size=_MESSAGE_BYTES)
        await socket.prepare(request)
        self._sockets.setdefault(provider, WeakSet()).add(socket)
        return socket

    async def break_off(self, provider: Provider, code: int) -> None:
        """Close a provider's WebSockets."""
        for socket in tuple(self._sockets.get(provider, ())):
            if not socket.closed:
                await socket.close(code=code)

    def utterance(self) -> Utterance | None:
        """Return what the next stretch of sound says; ``None`` after the last."""
        self._heard += 1
        if self._heard > len(self.scenario.hears):
            self.faults.append("more was said than the scenario hears")
            return None
        return self.scenario.hears[self._heard - 1]

    async def pause(self, seconds: float) -> None:
        """Wait so many seconds, or until the server closes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.closing.wait()

    def speech(self, text: str) -> Speech:
        """Return how the next text is spoken."""
        self._spoken += 1
        speaks = self.scenario.speaks
        given = speaks[self._spoken - 1] if self._spoken <= len(speaks) else Speech()
        if given.seconds is not None:
            return given
        return given.model_copy(update={"seconds": len(text) * self._second_per_character})


def _error(status: int, reason: str) -> web.HTTPException:
    known = {
        one.status_code: one
        for kind in (web.HTTPClientError, web.HTTPServerError)
        for one in kind.__subclasses__()
    }
    kind = known.get(status)
    if kind is None:
        raise ValueError(f"{status} is no status of an error")
    return kind(text=reason)


def pieces_of(speech: Speech, asked_rate: int) -> Iterator[bytes]:
    """Yield the sound of a text as 16-bit samples, in pieces of `PIECE_S`."""
    rate = speech.rate or asked_rate
    left = speech.seconds or 0.0
    while left > 1e-6:
        length = min(left, PIECE_S)
        left -= length
        if speech.silent:
            yield bytes(2 * round(rate * length))
        else:
            yield b"".join(bytes(frame.data) for frame in tone(200, length, rate=rate))


class SpeechDetector:
    """Finds where a stretch of sound begins and ends.

    Args:
        rate: The sample rate, in hertz.
        ends_after_s: How much silence ends a stretch, in seconds.
    """

    def __init__(self, rate: int, ends_after_s: float) -> None:
        self._rate = rate
        self._ends_after_s = ends_after_s
        self._quiet_s = 0.0
        self.loud = False

    def hear(self, data: bytes) -> str | None:
        """Take a piece of sound; return ``began`` or ``ended`` if one did in it.

        Raises:
            Refused: These are no 16-bit samples.
        """
        if len(data) % 2:
            raise Refused("a piece of sound has half a sample")
        samples = array("h", data)
        if max(map(abs, samples), default=0) > LOUD:
            self._quiet_s, before, self.loud = 0.0, self.loud, True
            return None if before else "began"
        self._quiet_s += len(samples) / self._rate
        over = self.loud and self._quiet_s >= self._ends_after_s - 1e-6
        return "ended" if over and self.end() else None

    def end(self) -> bool:
        """End the stretch of sound under way; return whether there was one."""
        was, self.loud, self._quiet_s = self.loud, False, 0.0
        return was


def whole_number(query: dict[str, str], name: str, lowest: int, highest: int) -> int:
    """Return a parameter that must be a whole number within limits.

    Raises:
        Refused: It is missing or is none.
    """
    text = query.get(name, "")
    value = int(text) if text.isdecimal() else math.nan
    if not lowest <= value <= highest:
        raise Refused(f"{name} is {text or 'missing'}, not {lowest} to {highest}")
    return int(value)
