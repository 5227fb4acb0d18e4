"""The agent's own place in a fake room: livekit's class, with nothing behind it."""

from collections.abc import Awaitable, Callable
from typing import Any

from livekit import rtc
from livekit.rtc._proto import participant_pb2
from livekit.rtc._proto.ffi_pb2 import FfiEvent
from livekit.rtc._proto.rpc_pb2 import RpcMethodInvocationResponseRequest
from livekit.rtc._utils import BroadcastQueue

NO_HANDLE = 0
"""Handles that are 0 are never dropped (livekit 1.1.21)."""


def participant_info(
    identity: str,
    *,
    kind: "rtc.ParticipantKind.ValueType",
    attributes: dict[str, str],
    can_publish_data: bool = True,
) -> participant_pb2.OwnedParticipant:
    """Describe a participant as livekit's native side does."""
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
    """livekit's ``LocalParticipant``: its registry, its chain of interceptors, its deadline; no server.

    Args:
        identity: As the agent joined.
        carry: Takes a call of the agent's to the client it is for.
    """

    def __init__(self, identity: str, carry: Callable[[rtc.RpcCallInfo], Awaitable[str]]) -> None:
        owned = participant_info(
            identity, kind=rtc.ParticipantKind.PARTICIPANT_KIND_AGENT, attributes={}
        )
        super().__init__(BroadcastQueue[FfiEvent](), owned)
        self._carry = carry
        self.attributes_set: list[dict[str, str]] = []
        """What the agent has set of its attributes, oldest first."""

    @property
    def methods(self) -> frozenset[str]:
        """The names that are registered."""
        return frozenset(self._rpc_handlers)

    def register_rpc_method(self, method_name: str, handler: Any = None) -> Any:
        """Keep the handler; there is no server to be told."""

        def register(handler: Any) -> Any:
            self._rpc_handlers[method_name] = handler
            return handler

        return register if handler is None else register(handler)

    def unregister_rpc_method(self, method: str) -> None:
        """Forget the handler."""
        self._rpc_handlers.pop(method, None)

    async def set_attributes(self, attributes: dict[str, str]) -> None:
        """Set them at once, and write down that it was asked."""
        self.attributes_set.append(dict(attributes))
        self._info.attributes.update(attributes)

    async def _perform_rpc_ffi(self, call: rtc.RpcCallInfo) -> str:
        return await self._carry(call)

    async def answer(self, invocation: rtc.RpcInvocationData) -> str:
        """Let livekit's chain answer a call, and return what would reach the caller.

        Raises:
            RpcError: As it would reach the caller.
            TypeError: The reply is no text: livekit could not send it, and its caller would wait in vain.
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
