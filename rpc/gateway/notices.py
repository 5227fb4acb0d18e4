"""Tells the user's client whether it is their turn to speak, in order and in the background.

A notice holds until it is withdrawn or the user has spoken. A slow client never receives an outdated notice: one
that is withdrawn before it was sent is not sent, and neither is its withdrawal.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from rpc.gateway.history import compact
from rpc.gateway.notifier import DeliveryOutcome, Notification, Notifier, Peer

_TIMEOUT_S = 8.0
"""The timeout of a notice in seconds. livekit-agents 1.8.9 reserves 7 of them for the round trip, so a client whose
application does not answer delays the next notice by one second."""


@dataclass(frozen=True, slots=True)
class _Notice:
    """The latest notice: the payload if it is the user's turn, ``None`` if it was withdrawn."""

    number: int
    turn: int
    payload: str | None


class TurnNotices:
    """Sends turn notices to the bound user's client.

    Args:
        peer: Performs the calls: the room's ``local_participant``.
    """

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._identity: str | None = None
        self._notifier: Notifier | None = None
        self._latest: _Notice | None = None
        self._last_number = 0
        self._delivered = 0
        self._announced_turn: int | None = None
        self._stopping: set[asyncio.Task[None]] = set()
        self._closed = False

    # -- the present notice ---------------------------------------------------------------------

    def give(self, payload: Mapping[str, JsonValue]) -> None:
        """Announce that it is the user's turn. The payload must contain ``turn`` and is sent as it is.

        Raises:
            KeyError: The payload has no ``turn``.
            TypeError: Its ``turn`` is not a number.
        """
        turn = payload["turn"]
        if not isinstance(turn, int):
            raise TypeError("a turn is a number")
        self._set(turn, compact(dict(payload)))

    def withdraw(self, turn: int) -> None:
        """Withdraw the notice of this turn or an earlier one; a later turn's notice stays."""
        if self._latest is None or self._latest.turn <= turn:
            self._set(turn, None)

    # -- the client -----------------------------------------------------------------------------

    def bind(self, identity: str, *, silent: bool = False) -> None:
        """Send notices to this client only, starting with the present one.

        Args:
            identity: The user's identity.
            silent: Whether the client cannot receive calls, such as a telephone.
        """
        if self._closed or (identity == self._identity and silent == (self._notifier is None)):
            return
        self._unbind()
        self._identity = identity
        if not silent:
            self._notifier = Notifier(
                self._peer, identity, "your_turn_to_speak", self._next_notification, _TIMEOUT_S
            )
            self._notifier.notify()

    def left(self, identity: str) -> None:
        """Pause delivery: the client has left the room."""
        if self._notifier is not None and identity == self._identity:
            self._notifier.pause()

    def returned(self, identity: str) -> None:
        """Resume delivery after the client or the agent has rejoined; the present notice is sent again."""
        if self._notifier is not None and identity == self._identity:
            if self._latest is not None:
                self._set(self._latest.turn, self._latest.payload)
            self._notifier.reconnected()

    def may_try_again(self, identity: str) -> None:
        """Retry what could not be delivered, because the client has shown that it listens; nothing is sent twice."""
        if self._notifier is not None and identity == self._identity:
            self._notifier.resume()

    async def aclose(self) -> None:
        """Stop delivery and cancel calls in flight."""
        self._closed = True
        self._unbind()
        await asyncio.gather(*self._stopping, return_exceptions=True)

    # -- delivery -------------------------------------------------------------------------------

    def _set(self, turn: int, payload: str | None) -> None:
        self._last_number += 1
        self._latest = _Notice(self._last_number, turn, payload)
        if self._notifier is not None:
            self._notifier.notify()

    def _next_notification(self) -> Notification | None:
        notice, before = self._latest, self._announced_turn
        if notice is None or notice.number == self._delivered:
            return None
        if notice.payload is None and before is None:
            return None  # its turn was never announced

        def on_done(delivery: DeliveryOutcome) -> None:
            if delivery is DeliveryOutcome.DELIVERED:
                self._delivered = notice.number
                if notice.payload is None:
                    self._announced_turn = None
            elif delivery is DeliveryOutcome.UNSUPPORTED:
                self._announced_turn = before

        if notice.payload is None:
            return compact({"turn": before, "your_turn": False}), on_done
        # From here on the client may have received it, whatever the outcome of the call.
        self._announced_turn = notice.turn
        return notice.payload, on_done

    def _unbind(self) -> None:
        if self._notifier is not None:
            task = self._notifier.stop()
            self._stopping.add(task)
            task.add_done_callback(self._stopping.discard)
        self._notifier, self._announced_turn, self._delivered = None, None, 0


@dataclass
class _Recipient:
    payload: str
    delivered: bool = False
    notifier: Notifier = field(init=False)


class EndNotices:
    """Tells clients that a call has ended: once each, as soon as the client can be reached.

    Args:
        peer: Performs the calls: the room's ``local_participant``.
    """

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._recipients: dict[str, _Recipient] = {}
        self._changed = asyncio.Event()
        self._closed = False

    def tell(self, identity: str, payload: Mapping[str, JsonValue], *, away: bool = False) -> None:
        """Notify a client; a second notice to the same client is ignored.

        Args:
            identity: The client.
            payload: Sent as it is.
            away: Whether the client is not in the room; it is notified when it is back.
        """
        if self._closed or identity in self._recipients:
            return
        recipient = _Recipient(compact(dict(payload)))
        recipient.notifier = Notifier(
            self._peer, identity, "call_ended", lambda: self._pending(recipient), _TIMEOUT_S
        )
        self._recipients[identity] = recipient
        if away:
            recipient.notifier.pause()
        recipient.notifier.notify()

    def left(self, identity: str) -> None:
        """Pause delivery: the client has left the room."""
        if identity in self._recipients:
            self._recipients[identity].notifier.pause()

    def returned(self, identity: str) -> None:
        """Resume delivery after the client or the agent has rejoined."""
        if identity in self._recipients:
            self._recipients[identity].notifier.reconnected()

    def may_try_again(self, identity: str) -> None:
        """Retry a notice that could not be delivered, because the client has shown that it listens."""
        if identity in self._recipients:
            self._recipients[identity].notifier.resume()

    async def delivered(self) -> None:
        """Wait until every reachable client has been notified."""
        while any(
            not one.delivered and not one.notifier.paused for one in self._recipients.values()
        ):
            self._changed.clear()
            await self._changed.wait()

    async def aclose(self) -> None:
        """Stop delivery and cancel calls in flight."""
        self._closed = True
        ending = [one.notifier.stop() for one in self._recipients.values()]
        self._recipients.clear()
        self._changed.set()
        await asyncio.gather(*ending, return_exceptions=True)

    def _pending(self, recipient: _Recipient) -> Notification | None:
        if recipient.delivered:
            return None

        def on_done(delivery: DeliveryOutcome) -> None:
            recipient.delivered = recipient.delivered or delivery is DeliveryOutcome.DELIVERED
            self._changed.set()

        return recipient.payload, on_done
