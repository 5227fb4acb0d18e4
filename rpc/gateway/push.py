"""Pushes state changes to subscribers: one patch from the version a client has to the present one.

A client keeps its version. It applies a push whose ``base_version`` equals that version and drops one whose
``version`` it already has; any other push shows a gap, and the client asks for the present state.
"""

import asyncio
from dataclasses import dataclass, field

from rpc.gateway.errors import RateLimited
from rpc.gateway.history import View, Views
from rpc.gateway.notifier import LARGEST_PAYLOAD, DeliveryOutcome, Notification, Notifier, Peer

_TIMEOUT_S = 10.0
"""The timeout of a push in seconds; livekit-agents 1.8.9 reserves 7 of them for the round trip."""

MOST_SUBSCRIBERS = 32
"""How many clients of one call may subscribe."""

PAUSE_S = 0.05
"""The pause between two pushes to a client, in seconds: a client that makes many changes quickly would otherwise
wait for a push before every reply."""

_ASK_AGAIN_MS = 10_000


@dataclass
class _Subscriber:
    version: int
    notifier: Notifier = field(init=False)


class Subscribers:
    """Clients that receive every state change, each at its own speed.

    The application decides who may subscribe.

    Args:
        peer: Performs the calls: the room's ``local_participant``.
        views: The views of the state.
        method: The clients' method.
        most: The maximum number of clients. If it is reached, the oldest unreachable client is unsubscribed.
    """

    def __init__(
        self,
        peer: Peer,
        views: Views,
        method: str,
        *,
        most: int = MOST_SUBSCRIBERS,
    ) -> None:
        self._peer = peer
        self._views = views
        self._method = method
        self._most = most
        self._subscribers: dict[str, _Subscriber] = {}
        self._closed = False

    def subscribe(self, identity: str) -> tuple[int, View]:
        """Push every change to this client from now on; return the present version and view for the reply.

        Subscribing again starts from there.

        Raises:
            RateLimited: The maximum number of subscribers is reached.
        """
        version, view = self._views.present()
        subscriber = self._subscribers.get(identity)
        if subscriber is not None:
            subscriber.version = version
            subscriber.notifier.resume()
        elif not self._closed:
            self._add(identity, version)
        return version, view

    def unsubscribe(self, identity: str) -> None:
        """Stop pushing to a client; a no-op if it is not subscribed."""
        subscriber = self._subscribers.pop(identity, None)
        if subscriber is not None:
            subscriber.notifier.stop()

    def left(self, identity: str) -> None:
        """Pause pushes: the client has left the room."""
        if identity in self._subscribers:
            self._subscribers[identity].notifier.pause()

    def returned(self, identity: str) -> None:
        """Resume pushes after a subscribed client or the agent has rejoined; the client gets what it missed.

        Unsubscribe the client instead if it may no longer see the state.
        """
        if identity in self._subscribers:
            self._subscribers[identity].notifier.reconnected()

    @property
    def present(self) -> tuple[str, ...]:
        """The subscribed clients that are reachable, as far as known."""
        return tuple(who for who, one in self._subscribers.items() if not one.notifier.paused)

    def changed(self) -> None:
        """Schedule pushes after ``Views.note``. Costs microseconds, returns at once, never raises."""
        for subscriber in self._subscribers.values():
            subscriber.notifier.notify()

    async def aclose(self) -> None:
        """Stop all pushes and cancel calls in flight."""
        self._closed = True
        ending = [one.notifier.stop() for one in self._subscribers.values()]
        self._subscribers.clear()
        await asyncio.gather(*ending, return_exceptions=True)

    def _add(self, identity: str, version: int) -> None:
        if len(self._subscribers) >= self._most:
            away = next(
                (who for who, one in self._subscribers.items() if one.notifier.paused), None
            )
            if away is None:
                raise RateLimited(
                    "As many clients as possible are told the changes. Unsubscribe one, or ask for the state.",
                    retry_after_ms=_ASK_AGAIN_MS,
                )
            self.unsubscribe(away)
        subscriber = _Subscriber(version)
        subscriber.notifier = Notifier(
            self._peer,
            identity,
            self._method,
            lambda: self._next_notification(identity, subscriber),
            _TIMEOUT_S,
            pause_s=PAUSE_S,
        )
        self._subscribers[identity] = subscriber

    def _next_notification(self, identity: str, subscriber: _Subscriber) -> Notification | None:
        version, _ = self._views.present()
        if version <= subscriber.version:
            return None

        def on_done(delivery: DeliveryOutcome) -> None:
            if delivery is DeliveryOutcome.DELIVERED:
                subscriber.version = max(subscriber.version, version)
            elif delivery is DeliveryOutcome.UNSUPPORTED and subscriber.notifier.paused:
                self.unsubscribe(identity)

        return self._payload(subscriber.version, version), on_done

    def _payload(self, base: int, version: int) -> str:
        """Return the patch; if it is too long, a patch that replaces the whole view; if that is, a gap.

        A gap is an empty patch from the present version to itself: a client with an older version asks again.
        """
        patch = self._views.since(base)
        if patch is not None and _fits(payload := _change(base, version, patch)):
            return payload
        whole = f'[{{"op":"replace","path":"","value":{self._views.text()}}}]'
        if _fits(payload := _change(base, version, whole)):
            return payload
        return _change(version, version, "[]")


def _change(base: int, version: int, patch: str) -> str:
    return f'{{"base_version":{base},"version":{version},"patch":{patch}}}'


def _fits(payload: str) -> bool:
    return len(payload.encode()) < LARGEST_PAYLOAD
