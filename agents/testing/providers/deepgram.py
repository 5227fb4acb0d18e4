"""Deepgram's speech-to-text over WebSocket: ``/v1/listen``, and ``/v2/listen`` for Flux."""

import json
from typing import Any

from aiohttp import WSMsgType, web

from agents.testing.providers.connection import Progress, Refused, SpeechDetector, whole_number
from agents.testing.providers.script import Utterance

_LISTEN = frozenset(
    "model language punctuate smart_format no_delay interim_results encoding vad_events sample_rate"
    " channels endpointing filler_words profanity_filter numerals mip_opt_out diarize keywords"
    " keyterm utterance_end_ms dictation replace search redact tag".split()
)
_FLUX = frozenset(
    "model sample_rate encoding mip_opt_out eager_eot_threshold eot_threshold eot_timeout_ms keyterm"
    " tag language_hint numerals profanity_filter redact".split()
)


class Deepgram:
    """The stand-in for Deepgram."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def routes(self) -> list[web.RouteDef]:
        """Return what it serves."""
        return [
            web.get("/v1/projects", self._projects),
            web.get("/v1/listen", self._listen),
            web.get("/v2/listen", self._flux),
        ]

    def _admit(self, request: web.Request) -> None:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        self._progress.request("deepgram", request, key if scheme == "Token" else "")

    async def _projects(self, request: web.Request) -> web.Response:
        self._admit(request)
        return web.json_response({"projects": []})

    async def _listen(self, request: web.Request) -> web.WebSocketResponse:
        return await self._serve(request, _Results(), _LISTEN, ("nova", "base", "enhanced"))

    async def _flux(self, request: web.Request) -> web.WebSocketResponse:
        return await self._serve(request, _Turns(), _FLUX, ("flux-",))

    async def _serve(
        self,
        request: web.Request,
        form: "_Results | _Turns",
        known: frozenset[str],
        models: tuple[str, ...],
    ) -> web.WebSocketResponse:
        self._admit(request)
        query = dict(request.query)
        try:
            if unknown := sorted(query.keys() - known):
                raise Refused(f"unknown parameter {unknown[0]}")
            model = query.get("model", "")
            if not model.startswith(models) or not self._progress.names.has_model(
                "deepgram", model
            ):
                raise Refused(f"no model {model} here")
            if query.get("encoding") != "linear16":
                raise Refused("only linear16 is understood")
            if "keyterm" in query and model.startswith(("nova-2", "base", "enhanced")):
                raise Refused("keyterm needs nova-3 or flux")
            rate = whole_number(query, "sample_rate", 8_000, 48_000)
            detector = SpeechDetector(rate, self._progress.quiet_s)
        except Refused as refused:
            raise self._progress.refuse("deepgram", str(refused)) from None
        socket = await self._progress.accept("deepgram", request)
        async for message in socket:
            if message.type == WSMsgType.BINARY:
                try:
                    found = detector.hear(message.data)
                except Refused as refused:
                    self._progress.faults.append(f"deepgram: {refused}")
                    await socket.close(code=1008, message=b"DATA-0000")
                    break
                if found == "began":
                    await form.begin(socket)
                elif found == "ended":
                    await self._end(socket, form)
                continue
            kind = json.loads(message.data).get("type")
            if kind in ("Finalize", "CloseStream"):
                if detector.end():
                    await self._end(socket, form)
                if kind == "CloseStream":
                    await socket.close()
            elif kind not in ("KeepAlive", "Configure"):
                self._progress.faults.append(f"deepgram: unknown message {kind}")
        return socket

    async def _end(self, socket: web.WebSocketResponse, form: "_Results | _Turns") -> None:
        utterance = self._progress.utterance()
        if utterance is None:
            return
        for text in utterance.interim:
            await form.interim(socket, text)
        await self._progress.pause(utterance.delay_s)
        if utterance.closes is not None:
            await socket.close(code=utterance.closes)
            return
        await form.final(socket, utterance)


class _Results:
    async def begin(self, socket: web.WebSocketResponse) -> None:
        await socket.send_json({"type": "SpeechStarted", "channel": [0], "timestamp": 0.0})

    async def interim(self, socket: web.WebSocketResponse, text: str) -> None:
        await socket.send_json(_result(text, final=False))

    async def final(self, socket: web.WebSocketResponse, utterance: Utterance) -> None:
        for _ in range(utterance.finals):
            await socket.send_json(_result(utterance.text, final=True))


class _Turns:
    def __init__(self) -> None:
        self._turn = 0

    async def begin(self, socket: web.WebSocketResponse) -> None:
        await socket.send_json(self._info("StartOfTurn", ""))

    async def interim(self, socket: web.WebSocketResponse, text: str) -> None:
        await socket.send_json(self._info("Update", text))

    async def final(self, socket: web.WebSocketResponse, utterance: Utterance) -> None:
        for _ in range(utterance.finals):
            await socket.send_json(self._info("EndOfTurn", utterance.text))
        self._turn += 1

    def _info(self, event: str, text: str) -> dict[str, Any]:
        return {
            "type": "TurnInfo",
            "event": event,
            "request_id": "request-1",
            "turn_index": self._turn,
            "transcript": text,
            "words": _words(text),
            "audio_window_start": 0.0,
            "audio_window_end": 1.0,
            "end_of_turn_confidence": 0.9,
        }


def _result(text: str, *, final: bool) -> dict[str, Any]:
    return {
        "type": "Results",
        "channel_index": [0, 1],
        "is_final": final,
        "speech_final": final,
        "start": 0.0,
        "duration": 1.0,
        "metadata": {"request_id": "request-1"},
        "channel": {
            "alternatives": [{"transcript": text, "confidence": 0.98, "words": _words(text)}]
        },
    }


def _words(text: str) -> list[dict[str, Any]]:
    return [
        {
            "word": word.lower(),
            "punctuated_word": word,
            "start": at * 0.3,
            "end": at * 0.3 + 0.25,
            "confidence": 0.98,
        }
        for at, word in enumerate(text.split())
    ]
