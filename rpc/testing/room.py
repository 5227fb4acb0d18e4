"""A fake room without a server: its participants, their calls, and the calls they receive."""

import json
from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID

from livekit import api, rtc

from rpc.testing.agent import FakeAgent, participant_info
from rpc.testing.client import FakeClient, Received, spoken
from rpc.testing.clock import FakeClock
from rpc.testing.service import FakeService

ACK_S, RESPONSE_S, LEAST_S = 7.0, 15.0, 1.0
"""livekit 1.1.21's timeouts: for the acknowledgement, the default for an answer, and the least for an answer."""

OLD_REPLY_BYTES = 15_360
"""The largest reply for a client of the first RPC version."""

MESSAGE_BYTES, DATA_BYTES = 256, 15_360
"""Where livekit truncates an error's message and data."""

_Code = rtc.RpcError.ErrorCode


class RoomError(AssertionError):
    """The room saw something the test did not expect."""


class FakeRoom(rtc.Room):
    """A fake room as a context manager; fails if the agent makes a call the test did not expect.

    It is livekit's own ``Room`` and ``LocalParticipant`` without the native side: calls go through livekit's
    interceptor chain, method registry and deadlines. Create it inside a running event loop.

    Args:
        stream_bytes: The limit of incoming streams in bytes; a longer payload never reaches the agent.
    """

    def __init__(self, *, stream_bytes: int = 65_536) -> None:
        super().__init__()
        self.clock = FakeClock()
        """The clients' clock; deadlines of calls to the agent are livekit's and in real time."""
        self.agent = FakeAgent("agent-1", self._carry)
        """The agent's participant; the same object as ``local_participant``."""
        self._permissions: dict[str, api.ParticipantPermission] = {}
        self.service = FakeService(self._permissions.get)
        """The fake of ``LiveKitAPI().room``."""
        self.clients: dict[str, FakeClient] = {}
        """Everyone in the room, including hidden participants, by identity."""
        self._info.name = "a-room"
        self._local_participant = self.agent
        self._connection_state = rtc.ConnectionState.CONN_CONNECTED
        self._stream_bytes = stream_bytes
        self._joined: dict[str, rtc.RemoteParticipant] = {}
        self._unexpected: list[str] = []
        self._calls = 0

    def isconnected(self) -> bool:
        """Whether the room is connected."""
        return self._connection_state == rtc.ConnectionState.CONN_CONNECTED

    def join(
        self,
        identity: str,
        *,
        kind: "rtc.ParticipantKind.ValueType" = rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD,
        attributes: Mapping[str, str] | None = None,
        hidden: bool = False,
        seen: bool = True,
        can_publish_data: bool = True,
    ) -> FakeClient:
        """Add a participant.

        Args:
            identity: The identity.
            kind: A person, a phone, another agent.
            attributes: The attributes in the token.
            hidden: Whether the participant is hidden; calls from it come without an identity.
            seen: Whether the agent is notified at once; a server takes up to three seconds.
            can_publish_data: Whether the participant may make and answer calls.
        """
        client = self.clients[identity] = FakeClient(identity)
        self._permissions[identity] = api.ParticipantPermission(
            can_subscribe=True, can_publish=True, can_publish_data=can_publish_data, hidden=hidden
        )
        if not hidden:
            self._joined[identity] = rtc.RemoteParticipant(
                participant_info(
                    identity,
                    kind=kind,
                    attributes=dict(attributes or {}),
                    can_publish_data=can_publish_data,
                )
            )
            if seen:
                self.see(identity)
        return client

    def see(self, identity: str) -> None:
        """Announce a joined participant to the agent."""
        self._remote_participants[identity] = self._joined[identity]
        self.emit("participant_connected", self._joined[identity])

    def leave(self, identity: str) -> None:
        """Remove a participant; the agent is notified."""
        del self.clients[identity], self._permissions[identity]
        self._joined.pop(identity, None)
        gone = self._remote_participants.pop(identity, None)
        if gone is not None:
            self.emit("participant_disconnected", gone)

    def permission_of(self, identity: str) -> api.ParticipantPermission:
        """Return a participant's permissions on the server, which the test may edit in place."""
        return self._permissions[identity]

    async def call(
        self,
        identity: str,
        method: str,
        payload: str | Mapping[str, Any] = "",
        *,
        response_timeout: float = RESPONSE_S,
    ) -> str:
        """Call the agent as a participant in the room; return its reply.

        Args:
            identity: The caller.
            method: The method.
            payload: The payload, as text or as a mapping to serialize.
            response_timeout: The handler's deadline, in real seconds.

        Raises:
            RpcError: As the caller would receive it; 1501 if calls or answers get lost.
            RoomError: No participant has this identity.
        """
        if identity not in self.clients:
            raise RoomError(f"there is no participant {identity} in the room")
        permission = self._permissions[identity]
        if not permission.can_publish_data:
            raise rtc.RpcError._built_in(_Code.CONNECTION_TIMEOUT)
        caller = "" if permission.hidden else identity
        try:
            reply = await self._invoke(caller, method, payload, response_timeout)
        except rtc.RpcError:
            if permission.hidden:
                raise rtc.RpcError._built_in(_Code.CONNECTION_TIMEOUT) from None
            raise
        if permission.hidden:  # the server cannot route the answer
            raise rtc.RpcError._built_in(_Code.CONNECTION_TIMEOUT)
        return reply

    async def call_by_server(
        self,
        method: str,
        payload: str | Mapping[str, Any] = "",
        *,
        response_timeout: float = 10.0,
    ) -> str:
        """Call the agent as the server's ``PerformRpc`` does, from outside the room.

        Raises:
            RpcError: As the server's client would receive it.
        """
        return await self._invoke(str(UUID(int=self._calls + 1)), method, payload, response_timeout)

    async def _invoke(
        self, caller: str, method: str, payload: str | Mapping[str, Any], response_timeout: float
    ) -> str:
        self._calls += 1
        text = payload if isinstance(payload, str) else json.dumps(payload)
        if len(text.encode("utf-8", "surrogatepass")) > self._stream_bytes:
            raise rtc.RpcError._built_in(_Code.APPLICATION_ERROR)
        if (
            method not in self.agent.methods
        ):  # the native side's answer; no interceptor sees the call
            raise rtc.RpcError._built_in(_Code.UNSUPPORTED_METHOD)
        invocation = rtc.RpcInvocationData(
            str(UUID(int=self._calls)), caller, text, response_timeout, method=method
        )
        try:
            reply = await self.agent.answer(invocation)
        except rtc.RpcError as error:
            raise rtc.RpcError(
                error.code, _cut(error.message, MESSAGE_BYTES), _cut(error.data or "", DATA_BYTES)
            ) from None
        if len(reply.encode()) > OLD_REPLY_BYTES:
            raise rtc.RpcError._built_in(_Code.RESPONSE_PAYLOAD_TOO_LARGE)
        return reply

    async def _carry(self, call: rtc.RpcCallInfo) -> str:
        """Deliver a call from the agent to its client, with livekit's timeouts."""
        ack_s = call.max_round_trip_latency or ACK_S
        identity, method = call.destination_identity, call.method
        client = self.clients.get(identity)
        if client is None or not self._permissions[identity].can_publish_data:
            await self.clock.sleep(ack_s)
            raise rtc.RpcError._built_in(_Code.CONNECTION_TIMEOUT)
        client.received.append(Received(method, call.payload, self.clock()))
        if not client.expects(method):
            self._unexpected.append(f"{identity} was called with {method}")
        if client.silent:
            await self.clock.sleep(ack_s)
            raise rtc.RpcError._built_in(_Code.CONNECTION_TIMEOUT)
        has = client.answer_to(method)
        if has is None:
            raise rtc.RpcError._built_in(_Code.UNSUPPORTED_METHOD)
        answer, after_s = has
        deadline_s = max((call.response_timeout or RESPONSE_S) - ack_s, LEAST_S)
        await self.clock.sleep(min(after_s, deadline_s))
        if after_s > deadline_s:
            raise rtc.RpcError._built_in(_Code.RESPONSE_TIMEOUT)
        return await spoken(answer, call.payload)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        self._connection_state = rtc.ConnectionState.CONN_DISCONNECTED
        if kind is None and self._unexpected:
            raise RoomError("; ".join(self._unexpected))


def _cut(text: str, limit: int) -> str:
    return text.encode()[:limit].decode(errors="ignore")
