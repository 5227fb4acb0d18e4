"""One order as clients work on it: who may change it how, and under which key."""

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from rpc.gateway import GUEST, STAFF, Caller, JsonText, VersionDemanded
from rpc.gateway.history import View, Views, compact
from rpc.menu_pages import MenuPages
from state.commands import OrderCommand
from state.context import OrderContext
from state.errors import WrongStage
from state.order import OrderState
from state.redaction import redact
from state.shared import Applied, KeyReused, SharedState
from state.view import view

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
        """The voice that speaks."""
        ...

    def hear(self, text: str) -> int:
        """Take in what the guest says; returns the number of this turn, or of the last one after the end."""
        ...


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


Keep = Callable[[Spoken], Awaitable[None]]
"""Returns when what was said would outlive this process, or cannot be kept."""


class OrderDesk:
    """What the methods work on, once there is an order and a conversation about it.

    Args:
        shared: The order.
        conversation: Takes in what the guest says.
        agent: The name of the agent, as clients are told it.
        resume_code: Goes on with the order in another room; for the guest only.
        spoken: What was said with keys before, in another process.
        keep: Keeps what is said; without it nothing of it outlives this process.
    """

    def __init__(
        self,
        shared: SharedState[OrderState, OrderContext],
        conversation: Conversation,
        *,
        agent: str,
        resume_code: str | None = None,
        spoken: Iterable[Spoken] = (),
        keep: Keep | None = None,
    ) -> None:
        self.shared = shared
        self.conversation = conversation
        self.agent = agent
        self.resume_code = resume_code
        self.menu = MenuPages(shared.context.menu)
        self.views = Views(self._present)
        """The order's view at its last versions; ``Subscribers`` are told from the same."""
        self._said: OrderedDict[str, Spoken] = OrderedDict()
        self._keep = keep
        for one in spoken:
            self._remember(one)
        self._unsubscribe = shared.subscribe(lambda _: self.views.note())

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
            StateError: As ``SharedState.apply``.
        """
        if command.demands_version and version is None:
            command.touches(self.shared.state)  # what is gone is said before what is missing
            raise VersionDemanded(
                "Say which version of the order you have seen: this could undo somebody else's work.",
                field="version",
            )
        return await self.shared.apply(
            self.menu.meant(command),
            actor=STAFF if caller.role == STAFF else GUEST,
            key=own_key(caller, key) if key is not None else None,
            seen=version,
        )

    def say(self, text: str, caller: Caller, key: str | None) -> int:
        """Have the guest's words taken in, once for each key; returns the number of the turn.

        Raises:
            KeyReused: The key came with other words before.
            WrongStage: The call is over.
        """
        told = _digest(redact(text))
        own = own_key(caller, key) if key is not None else None
        if own is not None and (known := self._said.get(own)) is not None:
            if known.words != told:
                raise KeyReused
            return known.turn
        before = self.conversation.turn
        turn = self.conversation.hear(text)
        if turn == before:
            raise WrongStage(
                "The call is over: nobody hears this any more. The order can still be read.",
                stage=self.shared.state.stage.value,
                needs=[],
                possible=[],
            )
        self._remember(Spoken(own, told, turn))
        return turn

    async def kept(self, text: str, caller: Caller, key: str | None, turn: int) -> None:
        """Wait until what was said would outlive this process, or cannot be kept."""
        if self._keep is not None:
            own = own_key(caller, key) if key is not None else None
            await self._keep(Spoken(own, _digest(redact(text)), turn))

    def _remember(self, spoken: Spoken) -> None:
        if spoken.key is not None:
            self._said[spoken.key] = spoken
            while len(self._said) > MOST_KEYS:
                self._said.popitem(last=False)

    def _present(self) -> tuple[int, View]:
        shared = self.shared
        speaker = shared.speaker or self.conversation.speaker
        return shared.version, view(shared.state, shared.version, speaker)


def own_key(caller: Caller, key: str) -> str:
    """Return a caller's key as the journal keeps it: nobody else's can be the same.

    The guest is one, also when he comes back under another identity; members of staff are many. What a
    client puts into a key, a card number perhaps, does not reach the disk.
    """
    who = ["staff", caller.identity] if caller.role == STAFF else ["guest"]
    return f"client:{_digest(*who, key)}"


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(map(repr, words)).encode()).hexdigest()
