"""Tells subscribers what changed: from what each was told last to what holds now, in one patch.

A client holds a version. A push whose ``base_version`` is that version is applied; one whose ``version``
it has already is dropped; any other shows a gap, and the client asks for the present state.
"""

import asyncio
from dataclasses import dataclass, field

from rpc.gateway.courier import LARGEST_PAYLOAD, Courier, Outcome, Peer, Word
from rpc.gateway.errors import RateLimited
from rpc.gateway.history import View, Views

MOST_SUBSCRIBERS = 32
"""How many clients of one call are told changes."""

PAUSE_S = 0.05
"""How long a client is left alone between two changes, in seconds: who changes things as fast as he can would wait for
every reply behind a push."""

_ASK_AGAIN_MS = 10_000


@dataclass
class _Subscriber:
    told: int
    courier: Courier = field(init=False)


class Subscribers:
    """Those who are told every change, each as fast as it can take it.

    Who may subscribe is for the application to decide.

    Args:
        peer: Who calls the clients: the room's ``local_participant``.
        views: What the state looks like from outside.
        method: What is called at the clients.
        response_timeout: The deadline of a push in seconds, 7 of which livekit-agents 1.8.9 keeps for the way.
        most: How many clients there may be; of those who are gone the one that came first makes room.
    """

    def __init__(
        self,
        peer: Peer,
        views: Views,
        method: str = "order_state_changed",
        *,
        response_timeout: float = 10.0,
        most: int = MOST_SUBSCRIBERS,
    ) -> None:
        self._peer = peer
        self._views = views
        self._method = method
        self._response_timeout = response_timeout
        self._most = most
        self._subscribers: dict[str, _Subscriber] = {}
        self._closed = False

    def subscribe(self, identity: str) -> tuple[int, View]:
        """Tell a client every change from now on; returns the version and view that it has to be answered.

        Who subscribes again starts from there.

        Raises:
            RateLimited: There are as many subscribers as there may be.
        """
        version, view = self._views.present()
        subscriber = self._subscribers.get(identity)
        if subscriber is not None:
            subscriber.told = version
            subscriber.courier.back()
        elif not self._closed:
            self._add(identity, version)
        return version, view

    def unsubscribe(self, identity: str) -> None:
        """Tell a client nothing more, if it was told anything."""
        subscriber = self._subscribers.pop(identity, None)
        if subscriber is not None:
            subscriber.courier.stop()

    def left(self, identity: str) -> None:
        """A client has left the room: it is not called until it is back."""
        if identity in self._subscribers:
            self._subscribers[identity].courier.rest()

    def returned(self, identity: str) -> None:
        """A client is in the room again, or this side is: it is told what it missed, if it had subscribed.

        Unsubscribe it instead if it may not be told any more.
        """
        if identity in self._subscribers:
            self._subscribers[identity].courier.joined()

    @property
    def present(self) -> tuple[str, ...]:
        """The clients that are told changes and can be reached, as far as it is known."""
        return tuple(who for who, one in self._subscribers.items() if not one.courier.resting)

    def changed(self) -> None:
        """The views have taken in a change. Costs microseconds, waits for nobody, never raises."""
        for subscriber in self._subscribers.values():
            subscriber.courier.wake()

    async def aclose(self) -> None:
        """Tell nobody anything more, and break off what is under way."""
        self._closed = True
        ending = [one.courier.stop() for one in self._subscribers.values()]
        self._subscribers.clear()
        await asyncio.gather(*ending, return_exceptions=True)

    def _add(self, identity: str, version: int) -> None:
        if len(self._subscribers) >= self._most:
            away = next(
                (who for who, one in self._subscribers.items() if one.courier.resting), None
            )
            if away is None:
                raise RateLimited(
                    "As many clients as possible are told the changes. Unsubscribe one, or ask for the state.",
                    retry_after_ms=_ASK_AGAIN_MS,
                )
            self.unsubscribe(away)
        subscriber = _Subscriber(version)
        subscriber.courier = Courier(
            self._peer,
            identity,
            self._method,
            lambda: self._newest(identity, subscriber),
            self._response_timeout,
            pause_s=PAUSE_S,
        )
        self._subscribers[identity] = subscriber

    def _newest(self, identity: str, subscriber: _Subscriber) -> Word | None:
        version, _ = self._views.present()
        if version <= subscriber.told:
            return None

        def ended(outcome: Outcome) -> None:
            if outcome is Outcome.ARRIVED:
                subscriber.told = max(subscriber.told, version)
            elif outcome is Outcome.DEAF and subscriber.courier.resting:
                self.unsubscribe(identity)

        return self._payload(subscriber.told, version), ended

    def _payload(self, base: int, version: int) -> str:
        """Write the patch, or the whole view as a patch of one step, or, if both are too long, that there is a gap.

        The last is an empty patch from the present version to itself: true, and nobody's who has missed something.
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
