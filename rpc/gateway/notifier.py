"""Delivers the latest notification to one client in the background, one RPC in flight at a time.

The error code of a failed call (livekit-agents 1.8.9) decides what happens next:

* 1501, 1503 and 1401, 1505: the client is unreachable. Delivery is paused until it is back.
* 1400, 1403, 1404: the client does not support the method. Delivery is paused until it subscribes again.
* 1502 and everything else: delivered. 1502 comes after the client's library has acknowledged the payload and only
  its application did not answer in time; a client's answer is ignored.
"""

import asyncio
import logging
from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol, TypeAlias

from livekit.rtc import RpcError

logger = logging.getLogger(__name__)

LARGEST_PAYLOAD = 15_360
"""Payloads stay below this many bytes; older clients accept no more."""

_GIVE_UP_S = 5.0
"""How long after its own deadline a call is abandoned, in seconds, in case livekit loses it."""

_UNREACHABLE_CODES = frozenset(
    {
        RpcError.ErrorCode.RECIPIENT_NOT_FOUND,
        RpcError.ErrorCode.CONNECTION_TIMEOUT,
        RpcError.ErrorCode.RECIPIENT_DISCONNECTED,
        RpcError.ErrorCode.SEND_FAILED,
    }
)
_UNSUPPORTED_CODES = frozenset(
    {
        RpcError.ErrorCode.UNSUPPORTED_METHOD,
        RpcError.ErrorCode.UNSUPPORTED_SERVER,
        RpcError.ErrorCode.UNSUPPORTED_VERSION,
    }
)


class Peer(Protocol):
    """The participant that performs RPCs: a room's ``local_participant``."""

    async def perform_rpc(
        self,
        *,
        destination_identity: str,
        method: str,
        payload: str,
        response_timeout: float | None = None,
    ) -> str:
        """Call a participant and return its answer; raises ``RpcError``."""
        ...


class DeliveryOutcome(Enum):
    """The outcome of a notification."""

    DELIVERED = auto()
    """The client has received it."""
    UNREACHABLE = auto()
    """The client could not be reached; it may have received the notification all the same."""
    UNSUPPORTED = auto()
    """The client does not support the method."""


Notification: TypeAlias = tuple[str, Callable[[DeliveryOutcome], None]]
"""A payload, and a callback that gets the outcome."""


class Notifier:
    """Sends one client the latest notification, in order, with at most one RPC in flight.

    The payload is created when it can be sent, so that a slow client builds up no backlog. Create a notifier inside
    a running event loop; end it with ``stop``.

    Args:
        peer: Performs the calls.
        newest: Creates the notification to send now; ``None`` if there is nothing to send.
        response_timeout: The timeout of a call in seconds. livekit-agents 1.8.9 reserves 7 of them for the round
            trip, so 10 leave the client's application 3 seconds.
        pause_s: The pause after each call, in seconds.
    """

    def __init__(
        self,
        peer: Peer,
        identity: str,
        method: str,
        newest: Callable[[], Notification | None],
        response_timeout: float,
        *,
        pause_s: float = 0.0,
    ) -> None:
        self._peer = peer
        self._pause_s = pause_s
        self._identity = identity
        self._method = method
        self._newest = newest
        self._response_timeout = response_timeout
        self._changed = asyncio.Event()
        self._resumes = 0
        self._request: asyncio.Future[str] | None = None
        self._sent = False
        self.paused = False
        """Whether delivery is paused."""
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"notify {method}")

    def notify(self) -> None:
        """Schedule delivery of the latest notification. Costs a microsecond and never raises."""
        self._changed.set()

    def pause(self) -> None:
        """Pause delivery until the client is back."""
        self.paused = True

    def resume(self) -> None:
        """Resume delivery, even if a call in flight still fails."""
        self._resumes += 1
        self.paused = False
        self.notify()

    def reconnected(self) -> None:
        """Resume delivery after the client has rejoined; a call in flight went to a closed connection."""
        if self._request is not None and self._sent:
            self._request.cancel()
        self.resume()

    def stop(self) -> asyncio.Task[None]:
        """Stop delivery; return the task, which ends soon."""
        self._task.cancel()
        return self._task

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            while not self.paused and (notification := self._next()) is not None:
                await self._send(*notification)
                if self._pause_s:
                    await asyncio.sleep(self._pause_s)

    def _next(self) -> Notification | None:
        try:
            return self._newest()
        except Exception as error:  # its text may hold a user's words; the next change may succeed
            logger.error(
                "creating a notification failed",
                extra={"method": self._method, "error": type(error).__name__},
            )
            return None

    async def _send(self, payload: str, on_done: Callable[[DeliveryOutcome], None]) -> None:
        resumes = self._resumes
        delivery = await self._call(payload)
        if delivery is not DeliveryOutcome.DELIVERED and resumes == self._resumes:
            self.paused = True
        on_done(delivery)

    async def _call(self, payload: str) -> DeliveryOutcome:
        self._sent = False
        self._request = request = asyncio.ensure_future(self._perform(payload))
        try:
            async with asyncio.timeout(self._response_timeout + _GIVE_UP_S):
                await request
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return DeliveryOutcome.UNREACHABLE
        except RpcError as error:
            logger.debug(
                "notification failed", extra={"method": self._method, "code": int(error.code)}
            )
            return _delivery(error.code)
        except Exception as error:  # a room that is closing raises various exceptions
            logger.warning(
                "notification could not be sent",
                extra={"method": self._method, "error": type(error).__name__},
            )
            return DeliveryOutcome.UNREACHABLE
        finally:
            self._request = None
        return DeliveryOutcome.DELIVERED

    async def _perform(self, payload: str) -> str:
        self._sent = True
        return await self._peer.perform_rpc(
            destination_identity=self._identity,
            method=self._method,
            payload=payload,
            response_timeout=self._response_timeout,
        )


def _delivery(code: int) -> DeliveryOutcome:
    if code in _UNREACHABLE_CODES:
        return DeliveryOutcome.UNREACHABLE
    return DeliveryOutcome.UNSUPPORTED if code in _UNSUPPORTED_CODES else DeliveryOutcome.DELIVERED
