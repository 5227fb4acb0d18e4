"""A real LiveKit server for the tests, and clients in its rooms that write down what reaches them.

``livekit`` is the server, one per pytest process; ``room_name`` is the name of a new room::

    async def test_a_guest_is_greeted(livekit: LiveKit, room_name: str) -> None:
        async with livekit.joined(room_name) as guest:
            await until(lambda: guest.said)
"""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import aiohttp
from livekit import api, rtc

from agents.app.livekit_server import LocalServer
from agents.app.testing import livekit_program
from agents.handoff.livekit_workarounds import connect
from agents.testing import waiting

Kind = Literal["standard", "sip", "agent", "ingress", "egress"]

ROLE, STAFF = "bella.role", "staff"
"""The attribute that only a token gives, and what it says of the house's own people."""

NOTICES = ("your_turn_to_speak", "order_state_changed", "call_ended")
"""What a client offers to be called by, unless a test says otherwise."""

NOT_YET = (1400, 1401, 1501, 1502, 1503, 5003, 5004)
"""What a call is answered with while the agent is still arriving, or has not the time to answer."""

LONG_S = 30.0
"""How long anything may take on a machine that is busy, in seconds: all is well long before."""


async def until(condition: Callable[[], object], seconds: float = LONG_S, what: str = "") -> None:
    """Wait as ``agents.testing.until`` does, as long as a busy machine with a server may need."""
    await waiting.until(condition, seconds, what)


def new_identity(name: str = "guest") -> str:
    """Make an identity that cannot be guessed."""
    return f"{name}-{secrets.token_hex(16)}"


@dataclass(frozen=True, slots=True)
class Written:
    """One text on ``lk.transcription``, once it is whole.

    Args:
        text: All of it.
        by: Whose stream it was.
        attributes: As the stream carried them.
    """

    text: str
    by: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Called:
    """One RPC call that reached a client.

    Args:
        method: What was called.
        data: Its payload, read as JSON.
        by: Who called.
        at: When, by ``time.monotonic``.
    """

    method: str
    data: Any
    by: str
    at: float


class Client:
    """A participant in a room, and everything that has reached it since it joined.

    Args:
        room: The room, joined or about to be.
        identity: The participant's identity.
    """

    def __init__(self, room: rtc.Room, identity: str) -> None:
        self.room = room
        self.identity = identity
        self.written: list[Written] = []
        self.calls: list[Called] = []
        self.connection: list[str] = []
        """``reconnecting``, ``reconnected``, ``disconnected``, as they came."""
        self.gone: dict[str, str] = {}
        """Who has left the room meanwhile, and why: ``CLIENT_INITIATED``, ``PARTICIPANT_REMOVED`` and so on."""
        self._readers: set[asyncio.Task[None]] = set()
        room.register_text_stream_handler("lk.transcription", self._opened)
        for event in ("reconnecting", "reconnected", "disconnected"):
            room.on(event, lambda *_, event=event: self.connection.append(event))
        room.on("participant_disconnected", self._left)

    @property
    def said(self) -> list[str]:
        """What others have said: the whole texts, in their order."""
        return [one.text for one in self.written if one.by != self.identity]

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The turn notices."""
        return self.called("your_turn_to_speak")

    @property
    def changes(self) -> list[dict[str, Any]]:
        """The notices that the order has changed."""
        return self.called("order_state_changed")

    @property
    def ends(self) -> list[dict[str, Any]]:
        """The notices that a call has ended."""
        return self.called("call_ended")

    def what_happened(self) -> str:
        """Return everything that this client received, and the participants in the room."""
        heard = [f"{one.by} wrote {one.text!r}" for one in self.written]
        called = [f"{call.by} called {call.method} {call.data}" for call in self.calls]
        attributes = [f"agent {one.identity}: {dict(one.attributes)}" for one in self.agents()]
        there = [
            f"in the room: {[*self.room.remote_participants]}; have left: {self.gone}",
            f"connection: {self.connection or 'never interrupted'}",
        ]
        return "\n".join([*heard, *called, *attributes, *there])

    def called(self, method: str) -> list[dict[str, Any]]:
        """Return the payloads of the calls of one method, in their order."""
        return [call.data for call in self.calls if call.method == method]

    def offer(self, *methods: str) -> None:
        """Let these be called; each call is written down and answered with an empty text."""
        for method in methods:
            self.room.local_participant.register_rpc_method(method, self._called)

    def agents(self) -> list[rtc.RemoteParticipant]:
        """The agents in the room, the newest last."""
        agent = rtc.ParticipantKind.PARTICIPANT_KIND_AGENT
        found = [one for one in self.room.remote_participants.values() if one.kind == agent]
        return sorted(found, key=lambda one: one.joined_at.timestamp() if one.joined_at else 0)

    async def agent(self, seconds: float = LONG_S) -> str:
        """Wait for an agent; returns the identity of the newest."""
        await until(self.agents, seconds, "an agent in the room")
        return self.agents()[-1].identity

    async def attributes(self, *names: str, seconds: float = LONG_S) -> dict[str, str]:
        """Wait until the agent has all these attributes; returns its attributes."""
        await until(
            lambda: any(all(one.attributes.get(name) for name in names) for one in self.agents()),
            seconds,
            f"an agent with {', '.join(names)}",
        )
        return dict(self.agents()[-1].attributes)

    async def call_text(
        self, method: str, payload: str = "", *, to: str | None = None, timeout_s: float = LONG_S
    ) -> str:
        """Call a method with a payload as it is; returns the reply as it is.

        Args:
            method: What is called.
            payload: Sent unchanged.
            to: Whose it is; the newest agent's without it.
            timeout_s: How long the reply may take, in seconds.

        Raises:
            rtc.RpcError: The call failed.
        """
        return await self.room.local_participant.perform_rpc(
            destination_identity=to or await self.agent(),
            method=method,
            payload=payload,
            response_timeout=timeout_s,
        )

    async def call(
        self,
        method: str,
        payload: Mapping[str, Any] | None = None,
        *,
        to: str | None = None,
        timeout_s: float = LONG_S,
    ) -> dict[str, Any]:
        """Call a method with a JSON object; returns the reply's.

        Raises:
            rtc.RpcError: The call failed.
        """
        text = json.dumps(payload or {}, ensure_ascii=False)
        reply: dict[str, Any] = json.loads(
            await self.call_text(method, text, to=to, timeout_s=timeout_s)
        )
        return reply

    async def hello(self, seconds: float = LONG_S) -> dict[str, Any]:
        """Say hello until it is answered, as every client has to; returns the answer."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                return await self.call("hello", to=await self.agent(seconds))
            except rtc.RpcError as error:
                if error.code not in NOT_YET or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(0.1)

    async def write(self, text: str) -> None:
        """Write on ``lk.chat``."""
        await self.room.local_participant.send_text(text, topic="lk.chat")

    async def leave(self) -> None:
        """Leave the room as a page does that is closed; once is enough."""
        await self.room.disconnect()
        # Where the server has closed the room, that returns at once and livekit's own task goes on.
        listening: asyncio.Task[None] | None = getattr(self.room, "_task", None)
        if listening is not None:
            await asyncio.wait([listening], timeout=LONG_S)
        while self._readers:
            await asyncio.gather(*self._readers, return_exceptions=True)

    async def _called(self, data: rtc.RpcInvocationData) -> str:
        with suppress(ValueError):
            read = json.loads(data.payload)
            self.calls.append(Called(data.method, read, data.caller_identity, time.monotonic()))
        return ""

    def _left(self, participant: rtc.RemoteParticipant) -> None:
        reason = participant.disconnect_reason
        self.gone[participant.identity] = rtc.DisconnectReason.Name(reason) if reason else ""

    def _opened(self, reader: rtc.TextStreamReader, identity: str) -> None:
        task = asyncio.create_task(self._read(reader, identity))
        self._readers.add(task)
        task.add_done_callback(self._readers.discard)

    async def _read(self, reader: rtc.TextStreamReader, identity: str) -> None:
        text = await reader.read_all()
        self.written.append(Written(text, identity, dict(reader.info.attributes or {})))


def is_turn(client: Client, turn: int) -> bool:
    """Whether a client has been notified of this turn."""
    return any(one["your_turn"] and one["turn"] == turn for one in client.turns)


@dataclass
class LiveKit:
    """A running server, its keys, and the ways into its rooms.

    Args:
        server: Can be killed and started again; what was in its rooms is gone then.
    """

    server: LocalServer
    url: str = field(init=False)
    api_key: str = field(init=False)
    api_secret: str = field(init=False)

    def __post_init__(self) -> None:
        self.url, self.api_key, self.api_secret = (
            self.server.url,
            self.server.api_key,
            self.server.api_secret,
        )

    @property
    def environment(self) -> Mapping[str, str]:
        """The server's settings by LiveKit's names, for a process that a test starts."""
        return self.server.environment

    def token(
        self,
        room: str,
        identity: str,
        *,
        attributes: Mapping[str, str] | None = None,
        kind: Kind = "standard",
        metadata: str = "",
        grants: Mapping[str, Any] | None = None,
    ) -> str:
        """Mint a token for a room.

        Args:
            room: The room it opens.
            identity: Who its bearer is.
            attributes: Attributes that only a token can grant: ``{ROLE: STAFF}``, or a phone's ``sip.*``.
            kind: ``sip`` for a phone.
            metadata: The participant's metadata.
            grants: More of ``api.VideoGrants``: ``hidden``, ``can_publish_data=False`` and so on.
        """
        token = api.AccessToken(self.api_key, self.api_secret).with_identity(identity)
        token = token.with_grants(api.VideoGrants(room_join=True, room=room, **(grants or {})))
        if kind != "standard":
            token = token.with_kind(kind)
        return token.with_attributes(dict(attributes or {})).with_metadata(metadata).to_jwt()

    @asynccontextmanager
    async def joined(
        self,
        room: str,
        identity: str | None = None,
        *,
        staff: bool = False,
        hidden: bool = False,
        kind: Kind = "standard",
        attributes: Mapping[str, str] | None = None,
        grants: Mapping[str, Any] | None = None,
        offers: Sequence[str] = NOTICES,
    ) -> AsyncIterator[Client]:
        """Join a room for a while.

        Args:
            room: Which.
            identity: Who joins; somebody new without it.
            staff: Whether the token grants the role of staff.
            hidden: Whether the participant is hidden.
            kind: ``sip`` for a phone, ``agent`` for somebody who plays the agent.
            attributes: Further attributes of the token.
            grants: More of ``api.VideoGrants``.
            offers: The RPC methods registered from the start.
        """
        identity = identity or new_identity("staff" if staff else "guest")
        said = {**({ROLE: STAFF} if staff else {}), **(attributes or {})}
        allowed: dict[str, Any] = {"hidden": True} if hidden else {}
        if kind == "agent":  # as the server lets its agents do
            allowed["can_update_own_metadata"] = True
        allowed |= grants or {}
        token = self.token(room, identity, attributes=said, kind=kind, grants=allowed)
        client = Client(rtc.Room(), identity)
        await connect(client.room, self.url, token)
        try:
            client.offer(*offers)
            yield client
        finally:
            await client.leave()

    @asynccontextmanager
    async def connecting(self, room: str, identity: str) -> AsyncIterator[None]:
        """Have a participant in a room whose media and data connection is never made.

        On a busy machine everybody is one for some seconds. The server removes them after 15.
        """
        query = {"access_token": self.token(room, identity), "auto_subscribe": "1"}
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"{self.url}/rtc", params=query) as signalling,
        ):
            await signalling.receive_bytes()
            yield

    @asynccontextmanager
    async def api(self) -> AsyncIterator[api.LiveKitAPI]:
        """Talk to the server's API with its keys."""
        async with api.LiveKitAPI(self.url, self.api_key, self.api_secret) as server:
            yield server

    async def dispatch(
        self, room: str, metadata: Mapping[str, Any] | None = None, *, agent: str = "bella-vista"
    ) -> None:
        """Dispatch an agent, as a server that opens a room does."""
        request = api.CreateAgentDispatchRequest(
            agent_name=agent, room=room, metadata=json.dumps(metadata) if metadata else ""
        )
        async with self.api() as server:
            await server.agent_dispatch.create_dispatch(request)


@contextmanager
def livekit_server() -> Iterator[LiveKit]:
    """Run a server of the test's own."""
    with LocalServer(livekit_program()) as server:
        yield LiveKit(server)
