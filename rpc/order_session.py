"""One order as clients read and change it, with idempotency keys."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from rpc.gateway import GUEST, STAFF, Caller, JsonText, VersionDemanded
from rpc.gateway.history import View, Views, compact
from rpc.menu_pages import MenuPages
from state.commands import OrderCommand
from state.context import OrderContext
from state.order import OrderState
from state.privacy.redaction import redact
from state.shared import (
    Applied,
    KeyReused,
    NotStored,
    OutcomeUnknown,
    Refused,
    SharedState,
)
from state.view import view

SAY_S = 2.0
"""How long ``say`` waits for the words to be stored, in seconds."""

MOST_KEYS = 1000
"""How many keys of ``say`` are remembered; the oldest is forgotten first."""


class Conversation(Protocol):
    """The conversation that receives a client's words: ``agents.handoff.Call`` is one."""

    @property
    def turn(self) -> int:
        """The number of user turns so far."""
        ...

    @property
    def speaker(self) -> str:
        """The active agent."""
        ...

    def user_said(self, text: str) -> int:
        """Add what the user says; return its turn number, or the last one if the call is over."""
        ...


class CallOver(Refused):
    """The call has ended: its order can still be read, but not changed through this call."""

    code = "call_over"

    def __init__(self) -> None:
        super().__init__(
            "The call is over. The order can still be read; to change something, begin another call:"
            " say something, or join the room again and call hello."
        )


class Listeners(Protocol):
    """The subscribers to order changes: ``rpc.gateway.push.Subscribers`` implements this."""

    def subscribe(self, identity: str) -> tuple[int, View]:
        """Send this client every change from now on; return the version and view it starts from."""
        ...

    def unsubscribe(self, identity: str) -> None:
        """Stop sending changes to this client."""
        ...


@dataclass(frozen=True, slots=True)
class Spoken:
    """Something the guest said through a client, remembered by its key.

    Args:
        key: The client's key as stored (hashed), if it sent one.
        words: A digest of the words.
        turn: The user turn it started.
    """

    key: str | None
    words: str
    turn: int


class Saying(Protocol):
    """Words from a client that are being stored and then passed to the conversation."""

    @property
    def turn(self) -> "asyncio.Future[int | None]":
        """Resolves to the turn number once stored and heard; ``None`` if the call is over.

        Raises (through the future):
            StateError: The words were not stored and will not be heard.
        """
        ...

    def withdraw(self) -> bool:
        """Withdraw the words; return true if writing had not begun, so that they are never heard."""
        ...


Store = Callable[[str, str | None, str], Saying]
"""Starts storing what the user says: the text, the client's key as stored, and a digest of the words."""


class OrderSession:
    """What the RPC methods work on: one order and the conversation about it.

    Args:
        shared: The order.
        conversation: Receives what the guest says.
        agent: The agent's name as reported to clients.
        resume_code: Continues the order in another room; only the guest receives it.
        spoken: What was said with keys in an earlier process.
        store: Stores what is said before it is heard; without it, nothing said outlives this process.
    """

    def __init__(
        self,
        shared: SharedState[OrderState, OrderContext],
        conversation: Conversation,
        *,
        agent: str,
        resume_code: str | None = None,
        spoken: Iterable[Spoken] = (),
        store: Store | None = None,
    ) -> None:
        self.shared = shared
        self.conversation = conversation
        self.agent = agent
        self.resume_code = resume_code
        self.menu = MenuPages(shared.context.menu)
        self.views = Views(self._present)
        """The order's view at its latest versions; ``Subscribers`` reads the same object."""
        self._spoken: OrderedDict[str, Spoken] = OrderedDict()
        self._pending: dict[str, tuple[str, Saying]] = {}
        self._store = store
        for one in spoken:
            self._remember(one)
        self._over = False
        self._unsubscribe = shared.subscribe(lambda _: self.views.note())

    def end(self) -> None:
        """Make the order read-only because the call has ended; staff may still change it elsewhere."""
        self._over = True

    def close(self) -> None:
        """Stop following the order's changes."""
        self._unsubscribe()

    def view_of(self, applied: Applied[OrderState]) -> JsonText:
        """Return the order as a change left it, whatever has happened since."""
        version, _ = self.views.present()
        if version == applied.version:
            return JsonText(self.views.text())
        speaker = applied.speaker or self.conversation.speaker
        return JsonText(compact(view(applied.state, applied.version, speaker)))

    def has_done(self, caller: Caller, key: str) -> bool:
        """Whether this caller has changed the order with this key."""
        return self.shared.knows(own_key(caller, key))

    def has_said(self, caller: Caller, key: str) -> bool:
        """Whether this caller has said something with this key, stored or still being stored."""
        own = own_key(caller, key)
        return own in self._spoken or own in self._pending

    async def write(
        self, command: OrderCommand, caller: Caller, *, version: int | None, key: str | None
    ) -> Applied[OrderState]:
        """Apply a client's command.

        Args:
            command: The command.
            caller: Who sent it.
            version: The version the caller has seen.
            key: The idempotency key.

        Raises:
            VersionDemanded: The command could undo another writer's work and came without a version.
            CallOver: The call has ended. A change made earlier still gets its first answer.
            StateError: As ``SharedState.apply``.
        """
        own = own_key(caller, key) if key is not None else None
        if self._over and not (own is not None and self.shared.knows(own)):
            raise CallOver
        if command.demands_version and version is None:
            command.touches(
                self.shared.state
            )  # a missing part is reported before a missing version
            raise VersionDemanded(
                "Say which version of the order you have seen: this could undo another writer's work.",
                field="version",
            )
        return await self.shared.apply(
            self.menu.meant(command),
            actor=STAFF if caller.role == STAFF else GUEST,
            key=own,
            seen=version,
        )

    async def say(self, text: str, caller: Caller, key: str | None) -> int:
        """Store the user's words, then pass them to the conversation; return the turn number.

        Raises:
            KeyReused: The key came with other words before.
            CallOver: The call has ended.
            NotStored: The words could not be stored, or writing did not begin in time. They are never heard.
            OutcomeUnknown: Writing has begun but was not confirmed in time. If the words turn out to be
                stored, they are heard then, and the same key gets their turn.
            StateError: Any other error from the database.
        """
        digest = _digest(redact(text))
        own = own_key(caller, key) if key is not None else None
        if own is not None:
            if (known := self._spoken.get(own)) is not None:
                if known.words != digest:
                    raise KeyReused
                return known.turn
            before, pending = self._pending.get(own, (digest, None))
            if pending is not None and not _failed(pending):
                if before != digest:
                    raise KeyReused
                return await self._turn_of(pending)
        if self._store is None:
            before_turn = self.conversation.turn
            turn = self.conversation.user_said(text)
            if turn == before_turn:
                raise CallOver
            self._remember(Spoken(own, digest, turn))
            return turn
        saying = self._store(text, own, digest)
        if own is not None:
            self._pending[own] = digest, saying
        saying.turn.add_done_callback(lambda _: self._stored(saying, own, digest))
        return await self._turn_of(saying)

    async def _turn_of(self, saying: Saying) -> int:
        await asyncio.wait((saying.turn,), timeout=SAY_S)
        if saying.turn.done():
            turn = saying.turn.result()
            if turn is None:
                raise CallOver
            return turn
        if saying.withdraw():
            raise NotStored("the database is busy")
        raise OutcomeUnknown

    def _stored(self, saying: Saying, own: str | None, digest: str) -> None:
        if own is not None and self._pending.get(own, ("", None))[1] is saying:
            del self._pending[own]
        # A later call with the same key gets the result, even if this caller no longer waits.
        if not _failed(saying) and (turn := saying.turn.result()) is not None:
            self._remember(Spoken(own, digest, turn))

    def _remember(self, spoken: Spoken) -> None:
        if spoken.key is not None:
            self._spoken[spoken.key] = spoken
            while len(self._spoken) > MOST_KEYS:
                self._spoken.popitem(last=False)

    def _present(self) -> tuple[int, View]:
        shared = self.shared
        speaker = shared.speaker or self.conversation.speaker
        return shared.version, view(shared.state, shared.version, speaker)


def _failed(saying: Saying) -> bool:
    """Whether the words are known not to be stored."""
    turn = saying.turn
    return turn.done() and (turn.cancelled() or turn.exception() is not None)


def own_key(caller: Caller, key: str) -> str:
    """Return a caller's key as the journal stores it, hashed and unique to that caller.

    All clients of the guest count as one caller, so the key still holds after a new identity; each staff
    member is a separate caller. Whatever a client puts into a key, such as a card number, stays off the disk.
    """
    who = ["staff", caller.identity] if caller.role == STAFF else ["guest"]
    return f"client:{_digest(*who, key)}"


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(map(repr, words)).encode()).hexdigest()
