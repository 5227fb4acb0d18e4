"""A room without a server: who is in it, what they call, and what they are called with."""

import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from livekit import api, rtc

from rpc.testing.agent import FakeAgent, participant_info
from rpc.testing.client import FakeClient, Received, spoken
from rpc.testing.clock import FakeClock
from rpc.testing.service import FakeService

ACK_S, RESPONSE_S, LEAST_S = 7.0, 15.0, 1.0
"""How long livekit 1.1.21 waits for a sign of arrival, by itself for an answer, and for one at least."""

OLD_REPLY_BYTES = 15_360
"""What a reply may have for a client of the first RPC version."""

MESSAGE_BYTES, DATA_BYTES = 256, 15_360
"""Where livekit cuts an error's message and data."""

_Code = rtc.RpcError.ErrorCode


class RoomError(AssertionError):
    """The room saw something that its test did not expect."""


class FakeRoom(rtc.Room):
    """A room under test; a context manager that fails when the agent called what nobody expected.

    It is livekit's own ``Room`` and ``LocalParticipant``, without the native side: calls go through
    livekit's chain of interceptors, its registry and its deadline. Make it inside a running event loop.

    Args:
        name: The room's name.
        stream_bytes: Where incoming streams are capped; a longer payload never reaches the agent.
        clock: The time of the far ends; deadlines of calls to the agent are livekit's and real.
    """

    def __init__(
        self,
        name: str = "a-room",
        *,
        stream_bytes: int = 65_536,
        clock: FakeClock | None = None,
    ) -> None:
        super().__init__()
        self.clock = clock or FakeClock()
        self.agent = FakeAgent("agent-1", self._carry)
        """The agent's own participant; ``local_participant`` is the same."""
        self._permissions: dict[str, api.ParticipantPermission] = {}
        self.service = FakeService(self._permissions.get)
        """What ``LiveKitAPI().room`` is elsewhere."""
        self.clients: dict[str, FakeClient] = {}
        """Everybody who is in the room, hidden ones too, by identity."""
        self._info.name = name
        self._local_participant = self.agent
        self._connection_state = rtc.ConnectionState.CONN_CONNECTED
        self._stream_bytes = stream_bytes
        self._joined: dict[str, rtc.RemoteParticipant] = {}
        self._unexpected: list[str] = []
        self._calls = 0

    def isconnected(self) -> bool:
        """Whether the test is still in the room."""
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
        """Let somebody in.

        Args:
            identity: His identity.
            kind: A person, a phone, another agent.
            attributes: What his token says of him.
            hidden: Whether nobody sees him; his calls come without an identity.
            seen: Whether the agent is told of him already; a server takes up to three seconds.
            can_publish_data: Whether he may call, and answer.
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
        """Let the agent be told of somebody who has joined."""
        self._remote_participants[identity] = self._joined[identity]
        self.emit("participant_connected", self._joined[identity])

    def leave(self, identity: str) -> None:
        """Let somebody go; the agent is told of it."""
        del self.clients[identity], self._permissions[identity]
        self._joined.pop(identity, None)
        gone = self._remote_participants.pop(identity, None)
        if gone is not None:
            self.emit("participant_disconnected", gone)

    def permission_of(self, identity: str) -> api.ParticipantPermission:
        """Return what somebody may do, to be looked at or changed in place, as the server has it."""
        return self._permissions[identity]

    async def call(
        self,
        identity: str,
        method: str,
        payload: str | Mapping[str, Any] = "",
        *,
        response_timeout: float = RESPONSE_S,
    ) -> str:
        """Call the agent, as somebody in the room; return its reply.

        Args:
            identity: Who calls.
            method: What he calls.
            payload: The text, or what becomes JSON.
            response_timeout: The handler's deadline, in real seconds.

        Raises:
            RpcError: As it would reach him; 1501 for one whose calls or whose answers get lost.
            RoomError: There is nobody of that identity.
        """
        if identity not in self.clients:
            raise RoomError(f"nobody in the room is called {identity}")
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
        if permission.hidden:  # the answer is for nobody that the server knows
            raise rtc.RpcError._built_in(_Code.CONNECTION_TIMEOUT)
        return reply

    async def call_by_server(
        self,
        method: str,
        payload: str | Mapping[str, Any] = "",
        *,
        response_timeout: float = 10.0,
    ) -> str:
        """Call the agent as the server's ``PerformRpc`` does: by nobody who is in the room.

        Raises:
            RpcError: As it would reach the one who asked the server.
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
        """Take a call of the agent's to its client, with livekit's times."""
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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._connection_state = rtc.ConnectionState.CONN_DISCONNECTED
        if error is None and self._unexpected:
            raise RoomError("; ".join(self._unexpected))


def _cut(text: str, limit: int) -> str:
    return text.encode()[:limit].decode(errors="ignore")
