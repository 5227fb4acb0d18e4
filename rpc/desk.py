"""One order as clients work on it: who may change it how, and under which key."""

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
from state.redaction import redact
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
"""How long a client waits for its words to be stored, in seconds."""

MOST_KEYS = 1000
"""How many keys of what was said are remembered; of more the oldest is forgotten."""


class Conversation(Protocol):
    """What a client's words reach: ``agents.handoff.Call`` is one."""

    @property
    def turn(self) -> int:
        """The number of things the guest has said."""
        ...

    @property
    def speaker(self) -> str:
        """The agent that speaks."""
        ...

    def user_said(self, text: str) -> int:
        """Take in what the guest says; returns the number of this turn, or of the last one after the end."""
        ...


class CallOver(Refused):
    """The call has ended: its order can be read, and not changed by it any more."""

    code = "call_over"

    def __init__(self) -> None:
        super().__init__(
            "The call is over. The order can still be read; to change something, begin another call:"
            " say something, or join the room again and call hello."
        )


class Listeners(Protocol):
    """Those who are told every change: ``rpc.gateway.push.Subscribers`` are."""

    def subscribe(self, identity: str) -> tuple[int, View]:
        """Tell a client every change from now on; returns the version and view it starts from."""
        ...

    def unsubscribe(self, identity: str) -> None:
        """Tell a client nothing more."""
        ...


@dataclass(frozen=True, slots=True)
class Spoken:
    """Something the guest said by a client, as it is remembered.

    Args:
        key: The client's key as it is kept, if it came with one.
        words: A digest of the words.
        turn: The turn it began.
    """

    key: str | None
    words: str
    turn: int


class Saying(Protocol):
    """Something the user says by a client, on its way to the database and then to the agents."""

    @property
    def turn(self) -> "asyncio.Future[int | None]":
        """Gives its turn when it is stored and has been heard; ``None`` when nobody listens any more.

        Raises (through the future):
            StateError: It is not stored, and nobody hears it.
        """
        ...

    def withdraw(self) -> bool:
        """Withdraw it; returns whether its writing had not begun, so that nobody will hear it."""
        ...


Store = Callable[[str, str | None, str], Saying]
"""Begins to store what the user says: the text, the client's key as it is kept, and a digest of the words."""


class OrderDesk:
    """What the methods work on, once there is an order and a conversation about it.

    Args:
        shared: The order.
        conversation: Takes in what the guest says.
        agent: The name of the agent, as clients are told it.
        resume_code: Goes on with the order in another room; for the guest only.
        spoken: What was said with keys before, in another process.
        store: Stores what is said before it is heard; without it nothing of it outlives this process.
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
        """The order's view at its last versions; ``Subscribers`` are told from the same."""
        self._said: OrderedDict[str, Spoken] = OrderedDict()
        self._on_the_way: dict[str, tuple[str, Saying]] = {}
        self._store = store
        for one in spoken:
            self._remember(one)
        self._over = False
        self._unsubscribe = shared.subscribe(lambda _: self.views.note())

    def end(self) -> None:
        """Let the order be read only, since the call has ended; staff may still change it elsewhere."""
        self._over = True

    def close(self) -> None:
        """Follow the order no further."""
        self._unsubscribe()

    def view_of(self, applied: Applied[OrderState]) -> JsonText:
        """Return the order as a change left it, whatever has happened since."""
        version, _ = self.views.present()
        if version == applied.version:
            return JsonText(self.views.text())
        speaker = applied.speaker or self.conversation.speaker
        return JsonText(compact(view(applied.state, applied.version, speaker)))

    def has_done(self, caller: Caller, key: str) -> bool:
        """Whether a caller has changed the order with this key."""
        return self.shared.knows(own_key(caller, key))

    def has_said(self, caller: Caller, key: str) -> bool:
        """Whether a caller has said something with this key, or it is on its way."""
        own = own_key(caller, key)
        return own in self._said or own in self._on_the_way

    async def write(
        self, command: OrderCommand, caller: Caller, *, version: int | None, key: str | None
    ) -> Applied[OrderState]:
        """Carry out a client's command.

        Args:
            command: What is to be done.
            caller: Who asks.
            version: The version he has seen.
            key: Makes it safe to ask twice.

        Raises:
            VersionDemanded: It could undo somebody else's work, and no version came with it.
            CallOver: The call has ended. A change made before is still answered as it was.
            StateError: As ``SharedState.apply``.
        """
        own = own_key(caller, key) if key is not None else None
        if self._over and not (own is not None and self.shared.knows(own)):
            raise CallOver
        if command.demands_version and version is None:
            command.touches(self.shared.state)  # what is gone is said before what is missing
            raise VersionDemanded(
                "Say which version of the order you have seen: this could undo somebody else's work.",
                field="version",
            )
        return await self.shared.apply(
            self.menu.meant(command),
            actor=STAFF if caller.role == STAFF else GUEST,
            key=own,
            seen=version,
        )

    async def say(self, text: str, caller: Caller, key: str | None) -> int:
        """Have the user's words stored and then heard, once for each key; returns the number of the turn.

        Raises:
            KeyReused: The key came with other words before.
            CallOver: The call has ended.
            NotStored: They could not be stored, or their writing did not begin in time: nobody hears them.
            OutcomeUnknown: Their writing has begun and is not answered in time. If it proves stored, they are
                heard then, and the same key gets their turn.
            StateError: As the database answers.
        """
        told = _digest(redact(text))
        own = own_key(caller, key) if key is not None else None
        if own is not None:
            if (known := self._said.get(own)) is not None:
                if known.words != told:
                    raise KeyReused
                return known.turn
            before, under_way = self._on_the_way.get(own, (told, None))
            if under_way is not None and not _failed(under_way):
                if before != told:
                    raise KeyReused
                return await self._turn_of(under_way)
        if self._store is None:
            so_far = self.conversation.turn
            turn = self.conversation.user_said(text)
            if turn == so_far:
                raise CallOver
            self._remember(Spoken(own, told, turn))
            return turn
        saying = self._store(text, own, told)
        if own is not None:
            self._on_the_way[own] = told, saying
        saying.turn.add_done_callback(lambda _: self._stored(saying, own, told))
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

    def _stored(self, saying: Saying, own: str | None, told: str) -> None:
        if own is not None and self._on_the_way.get(own, ("", None))[1] is saying:
            del self._on_the_way[own]
        # What came of it is told to whoever asks with its key, perhaps to nobody.
        if not _failed(saying) and (turn := saying.turn.result()) is not None:
            self._remember(Spoken(own, told, turn))

    def _remember(self, spoken: Spoken) -> None:
        if spoken.key is not None:
            self._said[spoken.key] = spoken
            while len(self._said) > MOST_KEYS:
                self._said.popitem(last=False)

    def _present(self) -> tuple[int, View]:
        shared = self.shared
        speaker = shared.speaker or self.conversation.speaker
        return shared.version, view(shared.state, shared.version, speaker)


def _failed(saying: Saying) -> bool:
    """Whether it is known not to be stored."""
    turn = saying.turn
    return turn.done() and (turn.cancelled() or turn.exception() is not None)


def own_key(caller: Caller, key: str) -> str:
    """Return a caller's key as the journal keeps it: nobody else's can be the same.

    The guest is one, also when he comes back under another identity; members of staff are many. What a
    client puts into a key, a card number perhaps, does not reach the disk.
    """
    who = ["staff", caller.identity] if caller.role == STAFF else ["guest"]
    return f"client:{_digest(*who, key)}"


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(map(repr, words)).encode()).hexdigest()
