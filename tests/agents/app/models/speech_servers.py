"""Servers on this machine that speak Deepgram's and Cartesia's protocols, well or badly, as they are told."""

import base64
import json
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import WSMsgType, web
from livekit import rtc

from agents.testing import is_loud, tone
from tests.agents.app.models.openai.server import listening

KEY = "dg-0123456789-secret"


class SpeechServer:
    """Hears one sentence in each stretch of sound, and speaks a tone for every text.

    Args:
        sentences: What it hears, in their order.
    """

    def __init__(self, *sentences: str) -> None:
        self.sentences = list(sentences)
        self.refuses = False
        """Whether it refuses every connection."""
        self.asked: list[dict[str, str]] = []
        """The query of each connection."""
        self.keys: list[str | None] = []
        self.texts: list[dict[str, Any]] = []
        """What it was asked to say."""
        self.port = 0
        self._open: set[web.WebSocketResponse] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator["SpeechServer"]:
        routes = web.get("/v1/listen", self._listen), web.get("/tts/websocket", self._speak)
        async with listening(*routes) as self.port:
            try:
                yield self
            finally:
                for socket in tuple(self._open):
                    await socket.close()

    async def _opened(self, request: web.Request, key: str | None) -> web.WebSocketResponse:
        self.asked.append(dict(request.query))
        self.keys.append(key)
        if self.refuses:
            raise web.HTTPUnauthorized(text="no such key")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._open.add(socket)
        return socket

    async def _listen(self, request: web.Request) -> web.WebSocketResponse:
        socket = await self._opened(request, request.headers.get("Authorization"))
        quiet_s, loud = 0.0, False
        async for message in socket:
            if message.type == WSMsgType.BINARY:
                samples = array("h", message.data)
                frame = rtc.AudioFrame(message.data, 16_000, 1, len(samples))
                if is_loud(frame):
                    if not loud:
                        await socket.send_json({"type": "SpeechStarted"})
                    quiet_s, loud = 0.0, True
                elif loud:
                    quiet_s += frame.duration
                    if quiet_s >= 0.2:
                        loud = False
                        await socket.send_json(_result(self.sentences.pop(0)))
            elif json.loads(message.data)["type"] == "CloseStream":
                await socket.close()
        self._open.discard(socket)
        return socket

    async def _speak(self, request: web.Request) -> web.WebSocketResponse:
        socket = await self._opened(request, request.headers.get("X-API-Key"))
        async for message in socket:
            asked = json.loads(message.data)
            self.texts.append(asked)
            context = asked.get("context_id")
            if text := asked.get("transcript", "").strip():
                for frame in tone(200, len(text) * 0.004, rate=24_000):
                    data = base64.b64encode(bytes(frame.data)).decode()
                    await socket.send_json({"type": "chunk", "data": data, "context_id": context})
            if not asked.get("continue"):
                await socket.send_json({"type": "done", "done": True, "context_id": context})
        self._open.discard(socket)
        return socket


def _result(text: str) -> dict[str, Any]:
    heard = {"transcript": text, "confidence": 0.98, "words": []}
    return {
        "type": "Results",
        "is_final": True,
        "speech_final": True,
        "start": 0.0,
        "duration": 1.0,
        "metadata": {"request_id": "r1"},
        "channel": {"alternatives": [heard]},
    }
