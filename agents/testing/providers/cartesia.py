"""Cartesia's text-to-speech and speech-to-text over WebSocket."""

import base64
import json
from typing import Any

from aiohttp import WSMsgType, web

from agents.testing.providers.connection import (
    Progress,
    Refused,
    SpeechDetector,
    pieces_of,
    whole_number,
)
from agents.testing.providers.script import Speech

_MESSAGE = frozenset(
    "context_id transcript continue model_id voice output_format language add_timestamps"
    " add_phoneme_timestamps use_normalized_timestamps max_buffer_delay_ms generation_config"
    " pronunciation_dict_id".split()
)


class Cartesia:
    """The stand-in for Cartesia."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def routes(self) -> list[web.RouteDef]:
        """Return what it serves."""
        return [
            web.get("/voices", self._voices),
            web.get("/tts/websocket", self._speak),
            web.post("/tts/bytes", self._bytes),
            web.get("/stt/turns/websocket", self._listen),
        ]

    def _admit(self, request: web.Request, body: dict[str, Any] | None = None) -> None:
        self._progress.request("cartesia", request, request.headers.get("X-API-Key", ""), body)

    async def _voices(self, request: web.Request) -> web.Response:
        self._admit(request)
        if "Cartesia-Version" not in request.headers:
            raise self._progress.refuse("cartesia", "Cartesia-Version is missing")
        return web.json_response({"data": [], "has_more": False})

    async def _bytes(self, request: web.Request) -> web.Response:
        body = await request.json()
        self._admit(request, body)
        try:
            rate = self._checked({**body, "context_id": "bytes"})
        except Refused as refused:
            raise self._progress.refuse("cartesia", str(refused), refused.status) from None
        speech = self._progress.speech(body["transcript"])
        return web.Response(body=b"".join(pieces_of(speech, rate)), content_type="audio/pcm")

    async def _speak(self, request: web.Request) -> web.WebSocketResponse:
        self._admit(request)
        if "cartesia_version" not in request.query:
            raise self._progress.refuse("cartesia", "cartesia_version is missing")
        socket = await self._progress.accept("cartesia", request)
        ended: set[str] = set()
        failed: set[str] = set()
        async for message in socket:
            body = json.loads(message.data)
            self._progress.request("cartesia", request, request.headers.get("X-API-Key", ""), body)
            context = body.get("context_id", "")
            if context in failed:  # sent before the client could know
                continue
            if body.get("cancel"):
                ended.add(context)
                continue
            try:
                rate = self._checked(body)
                if context in ended:
                    raise Refused(f"context {context} has ended")
            except Refused as refused:
                self._progress.faults.append(f"cartesia: {refused}")
                error = {"type": "error", "error": str(refused), "status_code": refused.status}
                await socket.send_json({**error, "context_id": context})
                failed.add(context)
                continue
            text = body["transcript"]
            if text.strip():
                speech = self._progress.speech(text)
                if not await self._sound(socket, context, text, speech, rate, body):
                    failed.add(context)
                    continue
            if not body.get("continue"):
                ended.add(context)
                done = {"type": "done", "done": True, "status_code": 200, "context_id": context}
                await socket.send_json(done)
        return socket

    async def _sound(
        self,
        socket: web.WebSocketResponse,
        context: str,
        text: str,
        speech: Speech,
        rate: int,
        body: dict[str, Any],
    ) -> bool:
        """Speak a text; return whether its context goes on."""
        await self._progress.pause(speech.delay_s)
        if speech.stray:
            stray = next(pieces_of(Speech(seconds=0.1), rate))
            await socket.send_json(_chunk("another-context", stray))
        for piece in pieces_of(speech, rate):
            await socket.send_json(_chunk(context, piece))
        match speech.ends:
            case "nothing":
                await self._progress.closing.wait()
                return False
            case "error":
                error = {"type": "error", "error": "overloaded", "status_code": 500}
                await socket.send_json({**error, "context_id": context})
                return False
            case "closed":
                await socket.close(code=speech.code)
                return False
        if body.get("add_timestamps"):
            words = text.split()
            each = (speech.seconds or 0.0) / max(1, len(words))
            times = {
                "words": words,
                "start": [at * each for at in range(len(words))],
                "end": [(at + 1) * each for at in range(len(words))],
            }
            stamps = {"type": "timestamps", "context_id": context, "word_timestamps": times}
            await socket.send_json(stamps)
        return True

    def _checked(self, body: dict[str, Any]) -> int:
        """Return the sample rate of a request for speech that the real service would accept."""
        if unknown := sorted(body.keys() - _MESSAGE):
            raise Refused(f"unknown key {unknown[0]}")
        for name in ("context_id", "transcript", "model_id", "voice", "output_format"):
            if name not in body:
                raise Refused(f"{name} is missing")
        if not body["transcript"]:
            raise Refused("transcript is empty")
        if not self._progress.names.has_model("cartesia", body["model_id"]):
            raise Refused(f"no model {body['model_id']} here")
        voice = body["voice"]
        if voice.get("mode") == "id" and not self._progress.names.has_voice(
            "cartesia", voice["id"]
        ):
            raise Refused(f"no voice {voice['id']} here", status=404)
        form = body["output_format"]
        if (form.get("container"), form.get("encoding")) != ("raw", "pcm_s16le"):
            raise Refused("only raw pcm_s16le is spoken")
        return whole_number(
            {"sample_rate": str(form.get("sample_rate"))}, "sample_rate", 8_000, 48_000
        )

    async def _listen(self, request: web.Request) -> web.WebSocketResponse:
        self._admit(request)
        try:
            if request.query.get("encoding") != "pcm_s16le":
                raise Refused("only pcm_s16le is understood")
            rate = whole_number(dict(request.query), "sample_rate", 8_000, 48_000)
            detector = SpeechDetector(rate, self._progress.quiet_s)
        except Refused as refused:
            raise self._progress.refuse("cartesia", str(refused)) from None
        socket = await self._progress.accept("cartesia", request)
        await socket.send_json(_turn("connected"))
        async for message in socket:
            if message.type == WSMsgType.BINARY:
                try:
                    found = detector.hear(message.data)
                except Refused as refused:
                    self._progress.faults.append(f"cartesia: {refused}")
                    await socket.close(code=1008)
                    break
                if found == "began":
                    await socket.send_json(_turn("turn.start"))
                elif found == "ended":
                    await self._end(socket)
            elif json.loads(message.data).get("type") == "close":
                if detector.end():
                    await self._end(socket)
                await socket.close()
        return socket

    async def _end(self, socket: web.WebSocketResponse) -> None:
        utterance = self._progress.utterance()
        if utterance is None:
            return
        for text in utterance.interim:
            await socket.send_json(_turn("turn.update", transcript=text))
        await self._progress.pause(utterance.delay_s)
        if utterance.closes is not None:
            await socket.close(code=utterance.closes)
            return
        for _ in range(utterance.finals):
            await socket.send_json(_turn("turn.end", transcript=utterance.text))


def _chunk(context: str, sound: bytes) -> dict[str, Any]:
    data = base64.b64encode(sound).decode()
    return {"type": "chunk", "data": data, "done": False, "status_code": 206, "context_id": context}


def _turn(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "request_id": "request-1", **more}
