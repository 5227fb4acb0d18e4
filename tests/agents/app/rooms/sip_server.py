"""A LiveKit server's API with SIP: what livekit-sip would do is played, the rest is the real server's.

It records every SIP request. A person who is called is a participant of kind SIP in the room they
were called into; they act as the test says.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
from aiohttp import web
from google.protobuf.message import Message
from livekit import api

from tests.livekit import Client, LiveKit
from tests.speaking import Speaking, speaking

CODES = {"*": 10, "#": 11}


class Person:
    """Somebody whose telephone rang, while they are on the line."""

    def __init__(self, client: Client, voice: Speaking) -> None:
        self.client, self.voice = client, voice

    async def press(self, key: str) -> None:
        """Press a key."""
        code = CODES.get(key) or int(key)
        await self.client.room.local_participant.publish_dtmf(code=code, digit=key)

    async def hang_up(self) -> None:
        """Leave."""
        await self.client.leave()


class SipServer:
    """The API.

    Args:
        livekit: The real server.
    """

    def __init__(self, livekit: LiveKit) -> None:
        self._livekit = livekit
        self.asked: list[Message] = []
        """The SIP requests, and those that move a participant."""
        self.answers = True
        """Whether a person who is called answers; else their telephone rings on."""
        self.status: int | None = None
        """The SIP status with which calls and transfers fail, if they do."""
        self.moves = False
        """Whether participants can be moved, as LiveKit Cloud does and livekit-server does not."""
        self.transferred: Callable[[], object] = lambda: None
        """Called before a transfer is answered."""
        self.refers = api.SIPTransferStatus.STS_TRANSFER_SUCCESSFUL
        self.person: Person | None = None
        """The person, once they have answered."""
        self.ringing = asyncio.Event()
        """Set while a telephone rings."""
        self.url = ""
        self._people = AsyncExitStack()

    def of(self, kind: type[Any]) -> list[Any]:
        """Return the requests of one kind."""
        return [one for one in self.asked if isinstance(one, kind)]

    async def _create(self, body: bytes) -> Message:
        request = api.CreateSIPParticipantRequest.FromString(body)
        self.asked.append(request)
        self.ringing.set()
        if not self.answers:
            await asyncio.Event().wait()
        self._fail()
        self.person = await self._joins(request.room_name, request.participant_identity)
        return api.SIPParticipantInfo(
            participant_identity=request.participant_identity, room_name=request.room_name
        )

    async def _transfer(self, body: bytes) -> Message:
        self.asked.append(api.TransferSIPParticipantRequest.FromString(body))
        if not self.answers:
            await asyncio.Event().wait()
        self._fail()
        done = self.transferred()
        if asyncio.iscoroutine(done):
            await done
        return api.TransferSIPParticipantResponse(status=self.refers)

    async def _move(self, body: bytes) -> Message:
        request = api.MoveParticipantRequest.FromString(body)
        self.asked.append(request)
        if self.person is None:
            raise _Fault("not_found", "no such participant")
        await self.person.client.leave()
        self.person = await self._joins(request.destination_room, request.identity)
        return api.MoveParticipantResponse()

    async def _joins(self, room: str, identity: str) -> Person:
        client = await self._people.enter_async_context(
            self._livekit.joined(room, identity, kind="sip", offers=())
        )
        return Person(client, await self._people.enter_async_context(speaking(client.room)))

    def _fail(self) -> None:
        if self.status is not None:
            meta = {"sip_status_code": str(self.status), "sip_status": "refused"}
            raise _Fault("unavailable", "the call failed", meta)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a request, or pass it on to the real server."""
        body = await request.read()
        own = {
            "CreateSIPParticipant": self._create,
            "TransferSIPParticipant": self._transfer,
            **({"MoveParticipant": self._move} if self.moves else {}),
        }
        play = own.get(request.path.rpartition("/")[2])
        if play is None:
            return await self._pass_on(request, body)
        try:
            answer = await play(body)
        except _Fault as fault:
            return web.Response(
                status=503, body=json.dumps(fault.told), content_type="application/json"
            )
        return web.Response(body=answer.SerializeToString(), content_type="application/protobuf")

    async def _pass_on(self, request: web.Request, body: bytes) -> web.StreamResponse:
        real = self._livekit.url.replace("ws", "http", 1)
        headers = {name: request.headers[name] for name in ("Authorization", "Content-Type")}
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{real}{request.path}", data=body, headers=headers) as answer,
        ):
            return web.Response(
                status=answer.status, body=await answer.read(), content_type=answer.content_type
            )

    async def aclose(self) -> None:
        """Have everybody hang up."""
        await self._people.aclose()


class _Fault(Exception):
    def __init__(self, code: str, message: str, meta: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.told = {"code": code, "msg": message, "meta": meta or {}}


@asynccontextmanager
async def sip_server(livekit: LiveKit) -> AsyncIterator[SipServer]:
    """Run the API on loopback for a while."""
    server = SipServer(livekit)
    application = web.Application()
    application.router.add_post("/twirp/{method:.*}", server.answer)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await server.aclose()
        await runner.cleanup()
