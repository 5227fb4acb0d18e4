"""Carries the newest word to one client, one call at a time, while nobody waits for it.

What became of a call follows from its error's code (livekit-agents 1.8.9):

* 1501, 1503 and 1401, 1505: the client is not to be reached. It is left alone until it is back.
* 1400, 1403, 1404: it has no such method. It is left alone until it asks for more.
* 1502 and everything else: it has the words. 1502 comes after the client's library has said that it
  received them, when only its program did not answer in time; what a client answers is ignored.
"""

import asyncio
import logging
from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol, TypeAlias

from livekit.rtc import RpcError

logger = logging.getLogger(__name__)

LARGEST_PAYLOAD = 15_360
"""What is sent stays below this many bytes; older clients take no more."""

_LATEST_S = 5.0
"""How long after a call's own deadline it is given up, should livekit lose it, in seconds."""

_GONE = frozenset(
    {
        RpcError.ErrorCode.RECIPIENT_NOT_FOUND,
        RpcError.ErrorCode.CONNECTION_TIMEOUT,
        RpcError.ErrorCode.RECIPIENT_DISCONNECTED,
        RpcError.ErrorCode.SEND_FAILED,
    }
)
_DEAF = frozenset(
    {
        RpcError.ErrorCode.UNSUPPORTED_METHOD,
        RpcError.ErrorCode.UNSUPPORTED_SERVER,
        RpcError.ErrorCode.UNSUPPORTED_VERSION,
    }
)


class Peer(Protocol):
    """Who calls clients: a room's ``local_participant``."""

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


class Outcome(Enum):
    """What became of a call."""

    ARRIVED = auto()
    """The client has the words."""
    GONE = auto()
    """The client could not be reached; the words may have arrived all the same."""
    DEAF = auto()
    """The client has no such method."""


Word: TypeAlias = tuple[str, Callable[[Outcome], None]]
"""A payload, and what is called when it is known what became of it."""


class Courier:
    """Tells one client the newest, in order, with at most one call under way.

    A word is made when it can leave, so that a slow client never gets a backlog. Has to be made inside a
    running event loop, and ends with ``stop``.

    Args:
        peer: Who calls.
        identity: Who is called.
        method: What is called.
        newest: Makes the word that has to be told now; ``None`` when there is nothing to tell.
        response_timeout: The deadline of a call in seconds. livekit-agents 1.8.9 keeps 7 of them for the
            way: 10 leave the client's program 3 seconds.
        pause_s: How long it is left alone after each call, in seconds.
    """

    def __init__(
        self,
        peer: Peer,
        identity: str,
        method: str,
        newest: Callable[[], Word | None],
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
        self._news = asyncio.Event()
        self._comings = 0
        self._calling: asyncio.Future[str] | None = None
        self._sent = False
        self.resting = False
        """Whether the client is left alone for now."""
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"telling {method}")

    def wake(self) -> None:
        """Something is new. Costs a microsecond and never raises."""
        self._news.set()

    def rest(self) -> None:
        """Leave the client alone until it is back."""
        self.resting = True

    def back(self) -> None:
        """The client can be reached again, also if a call that is under way still fails."""
        self._comings += 1
        self.resting = False
        self.wake()

    def joined(self) -> None:
        """The client is in the room anew: what is under way went to a connection that is gone."""
        if self._calling is not None and self._sent:
            self._calling.cancel()
        self.back()

    def stop(self) -> asyncio.Task[None]:
        """Tell nothing more; returns what ends soon."""
        self._task.cancel()
        return self._task

    async def _run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            while not self.resting and (word := self._next()) is not None:
                await self._tell(*word)
                if self._pause_s:
                    await asyncio.sleep(self._pause_s)

    def _next(self) -> Word | None:
        try:
            return self._newest()
        except Exception as error:  # the next change may go well; its text may hold a guest's words
            logger.error(
                "there is nothing to send",
                extra={"method": self._method, "error": type(error).__name__},
            )
            return None

    async def _tell(self, payload: str, ended: Callable[[Outcome], None]) -> None:
        comings = self._comings
        outcome = await self._call(payload)
        if outcome is not Outcome.ARRIVED and comings == self._comings:
            self.resting = True
        ended(outcome)

    async def _call(self, payload: str) -> Outcome:
        self._sent = False
        self._calling = calling = asyncio.ensure_future(self._perform(payload))
        try:
            async with asyncio.timeout(self._response_timeout + _LATEST_S):
                await calling
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return Outcome.GONE
        except RpcError as error:
            logger.debug("not answered", extra={"method": self._method, "code": int(error.code)})
            return _outcome(error.code)
        except Exception as error:  # a room that is closing has many ways to say so
            logger.warning(
                "a client was not reached",
                extra={"method": self._method, "error": type(error).__name__},
            )
            return Outcome.GONE
        finally:
            self._calling = None
        return Outcome.ARRIVED

    async def _perform(self, payload: str) -> str:
        self._sent = True
        return await self._peer.perform_rpc(
            destination_identity=self._identity,
            method=self._method,
            payload=payload,
            response_timeout=self._response_timeout,
        )


def _outcome(code: int) -> Outcome:
    if code in _GONE:
        return Outcome.GONE
    return Outcome.DEAF if code in _DEAF else Outcome.ARRIVED
