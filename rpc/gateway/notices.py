"""Tells the guest's client whether it is his turn to speak: the newest truth, in order, awaited by nobody.

A notice holds until it is withdrawn, or until the guest has spoken. A client that is slow is not told what
no longer holds: a notice that was withdrawn before it could leave never leaves, nor does its withdrawal.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from rpc.gateway.courier import Courier, Outcome, Peer, Word
from rpc.gateway.history import compact


@dataclass(frozen=True, slots=True)
class _Truth:
    """Whose turn it is: the guest's, as the payload says, or nobody's any more."""

    number: int
    turn: int
    payload: str | None


class TurnNotices:
    """Whose turn it is, as the bound guest's client is told.

    Args:
        peer: Who calls the client: the room's ``local_participant``.
        method: What is called at the client.
        response_timeout: The deadline of a notice in seconds. livekit-agents 1.8.9 keeps 7 of them for the way,
            so that a client whose program does not answer holds up the next notice for one.
    """

    def __init__(
        self, peer: Peer, method: str = "your_turn_to_speak", *, response_timeout: float = 8.0
    ) -> None:
        self._peer = peer
        self._method = method
        self._response_timeout = response_timeout
        self._identity: str | None = None
        self._courier: Courier | None = None
        self._truth: _Truth | None = None
        self._made = 0
        self._told = 0
        self._standing: int | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False

    # -- what is true ---------------------------------------------------------------------------

    def give(self, payload: Mapping[str, JsonValue]) -> None:
        """It is the guest's turn; the payload holds at least ``turn`` and goes out as it is.

        Raises:
            KeyError: The payload names no turn.
            TypeError: Its turn is no number.
        """
        turn = payload["turn"]
        if not isinstance(turn, int):
            raise TypeError("a turn is a number")
        self._now(turn, compact(dict(payload)))

    def withdraw(self, turn: int) -> None:
        """It is not the guest's turn any more; says nothing about a turn that was given after that one."""
        if self._truth is None or self._truth.turn <= turn:
            self._now(turn, None)

    # -- the client -----------------------------------------------------------------------------

    def bind(self, identity: str, *, silent: bool = False) -> None:
        """Tell this client from now on, and nobody else; first of all whose turn it is at present.

        Args:
            identity: The guest's.
            silent: Whether the client cannot be called at all, as a telephone.
        """
        if self._closed or (identity == self._identity and silent == (self._courier is None)):
            return
        self._let_go()
        self._identity = identity
        if not silent:
            self._courier = Courier(
                self._peer, identity, self._method, self._newest, self._response_timeout
            )
            self._courier.wake()

    def left(self, identity: str) -> None:
        """A client has left the room: it is not called until it is back."""
        if self._courier is not None and identity == self._identity:
            self._courier.rest()

    def returned(self, identity: str) -> None:
        """A client is in the room again, or this side is: it is told once more if it is the guest's turn."""
        if self._courier is not None and identity == self._identity:
            if self._truth is not None:
                self._now(self._truth.turn, self._truth.payload)
            self._courier.joined()

    def may_try_again(self, identity: str) -> None:
        """A client has shown that it listens: it is told what could not be told before, and nothing twice."""
        if self._courier is not None and identity == self._identity:
            self._courier.back()

    async def aclose(self) -> None:
        """Tell nobody anything more, and break off what is under way."""
        self._closed = True
        self._let_go()
        await asyncio.gather(*self._ending, return_exceptions=True)

    # -- telling --------------------------------------------------------------------------------

    def _now(self, turn: int, payload: str | None) -> None:
        self._made += 1
        self._truth = _Truth(self._made, turn, payload)
        if self._courier is not None:
            self._courier.wake()

    def _newest(self) -> Word | None:
        truth, before = self._truth, self._standing
        if truth is None or truth.number == self._told:
            return None
        if truth.payload is None and before is None:
            return None  # it was never told that it may speak

        def ended(outcome: Outcome) -> None:
            if outcome is Outcome.ARRIVED:
                self._told = truth.number
                if truth.payload is None:
                    self._standing = None
            elif outcome is Outcome.DEAF:
                self._standing = before

        if truth.payload is None:
            return compact({"turn": before, "your_turn": False}), ended
        # From here on it may have been told so, whatever becomes of the call.
        self._standing = truth.turn
        return truth.payload, ended

    def _let_go(self) -> None:
        if self._courier is not None:
            task = self._courier.stop()
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
        self._courier, self._standing, self._told = None, None, 0


@dataclass
class _Recipient:
    payload: str
    told: bool = False
    courier: Courier = field(init=False)


class EndNotices:
    """Tells clients that a call has ended: each one once, as soon as it can be reached.

    Args:
        peer: Who calls the clients: the room's ``local_participant``.
        method: What is called at the clients.
        response_timeout: The deadline of a notice in seconds, 7 of which livekit-agents 1.8.9 keeps for the way.
    """

    def __init__(
        self, peer: Peer, method: str = "call_ended", *, response_timeout: float = 8.0
    ) -> None:
        self._peer = peer
        self._method = method
        self._response_timeout = response_timeout
        self._recipients: dict[str, _Recipient] = {}
        self._changed = asyncio.Event()
        self._closed = False

    def tell(self, identity: str, payload: Mapping[str, JsonValue], *, away: bool = False) -> None:
        """Tell a client; a second notice to the same client is ignored.

        Args:
            identity: The client's.
            payload: Goes out as it is.
            away: Whether the client is not in the room: it is told when it is back.
        """
        if self._closed or identity in self._recipients:
            return
        recipient = _Recipient(compact(dict(payload)))
        recipient.courier = Courier(
            self._peer,
            identity,
            self._method,
            lambda: self._untold(recipient),
            self._response_timeout,
        )
        self._recipients[identity] = recipient
        if away:
            recipient.courier.rest()
        recipient.courier.wake()

    def left(self, identity: str) -> None:
        """A client has left the room: it is not called until it is back."""
        if identity in self._recipients:
            self._recipients[identity].courier.rest()

    def returned(self, identity: str) -> None:
        """A client is in the room again, or this side is: it is told what did not arrive before."""
        if identity in self._recipients:
            self._recipients[identity].courier.joined()

    def may_try_again(self, identity: str) -> None:
        """A client has shown that it listens: it is told what did not arrive before."""
        if identity in self._recipients:
            self._recipients[identity].courier.back()

    async def told(self) -> None:
        """Wait until everybody who can be reached has been told."""
        while any(not one.told and not one.courier.resting for one in self._recipients.values()):
            self._changed.clear()
            await self._changed.wait()

    async def aclose(self) -> None:
        """Tell nobody anything more, and break off what is under way."""
        self._closed = True
        ending = [one.courier.stop() for one in self._recipients.values()]
        self._recipients.clear()
        self._changed.set()
        await asyncio.gather(*ending, return_exceptions=True)

    def _untold(self, recipient: _Recipient) -> Word | None:
        if recipient.told:
            return None

        def ended(outcome: Outcome) -> None:
            recipient.told = recipient.told or outcome is Outcome.ARRIVED
            self._changed.set()

        return recipient.payload, ended
