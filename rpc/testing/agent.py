"""The agent's participant in a fake room: livekit's class without its native side."""

from collections.abc import Awaitable, Callable
from typing import Any

from livekit import rtc
from livekit.rtc._proto import participant_pb2
from livekit.rtc._proto.ffi_pb2 import FfiEvent
from livekit.rtc._proto.rpc_pb2 import RpcMethodInvocationResponseRequest
from livekit.rtc._utils import BroadcastQueue

NO_HANDLE = 0
"""livekit 1.1.21 never drops a handle of 0."""


def participant_info(
    identity: str,
    *,
    kind: "rtc.ParticipantKind.ValueType",
    attributes: dict[str, str],
    can_publish_data: bool = True,
) -> participant_pb2.OwnedParticipant:
    """Build a participant's data as livekit's native side does."""
    owned = participant_pb2.OwnedParticipant()
    owned.handle.id = NO_HANDLE
    owned.info.sid = f"PA_{identity}"
    owned.info.identity = owned.info.name = identity
    owned.info.kind = kind
    owned.info.permission.can_publish_data = can_publish_data
    owned.info.permission.can_subscribe = True
    owned.info.attributes.update(attributes)
    return owned


class FakeAgent(rtc.LocalParticipant):
    """livekit's ``LocalParticipant`` without a server: its method registry, interceptor chain and deadlines.

    Args:
        identity: The agent's identity.
        carry: Delivers a call from the agent to its client.
    """

    def __init__(self, identity: str, carry: Callable[[rtc.RpcCallInfo], Awaitable[str]]) -> None:
        owned = participant_info(
            identity, kind=rtc.ParticipantKind.PARTICIPANT_KIND_AGENT, attributes={}
        )
        super().__init__(BroadcastQueue[FfiEvent](), owned)
        self._carry = carry
        self.attributes_set: list[dict[str, str]] = []
        """The attributes set by the agent, oldest first."""

    @property
    def methods(self) -> frozenset[str]:
        """The names of the registered methods."""
        return frozenset(self._rpc_handlers)

    def register_rpc_method(self, method_name: str, handler: Any = None) -> Any:
        """Register a handler locally."""

        def register(handler: Any) -> Any:
            self._rpc_handlers[method_name] = handler
            return handler

        return register if handler is None else register(handler)

    def unregister_rpc_method(self, method: str) -> None:
        """Remove a handler."""
        self._rpc_handlers.pop(method, None)

    async def set_attributes(self, attributes: dict[str, str]) -> None:
        """Set the attributes at once and record the request."""
        self.attributes_set.append(dict(attributes))
        self._info.attributes.update(attributes)

    async def _perform_rpc_ffi(self, call: rtc.RpcCallInfo) -> str:
        return await self._carry(call)

    async def answer(self, invocation: rtc.RpcInvocationData) -> str:
        """Answer a call through livekit's chain; return what would reach the caller.

        Raises:
            RpcError: As the caller would receive it.
            TypeError: The reply is not a text; livekit could not send it, and the caller would time out.
        """
        payload, error = None, None
        try:
            payload = await self._run_incoming_chain(invocation)
        except rtc.RpcError as raised:
            error = raised
        except Exception:  # what livekit makes of it: 1500, with a line in the log
            error = rtc.RpcError._built_in(rtc.RpcError.ErrorCode.APPLICATION_ERROR)
        # As livekit does it: here a reply that is no text, and a lone surrogate, come to light.
        sent = RpcMethodInvocationResponseRequest(
            error=error._to_proto() if error else None, payload=payload
        )
        if sent.HasField("error"):
            raise rtc.RpcError._from_proto(sent.error)
        return sent.payload
