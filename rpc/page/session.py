"""One state as clients read and change it, with idempotency keys."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel, JsonValue

from rpc.gateway import Caller, JsonText, NotYet, VersionDemanded, View, Views
from rpc.gateway.history import compact
from rpc.page.forms import PUSH_TO_TALK, RECORDED, MicrophoneMode
from rpc.page.lines import Lines
from state.privacy import redact
from state.shared import (
    Applied,
    Command,
    KeyReused,
    NotStored,
    OutcomeUnknown,
    Refused,
    SharedState,
)

SAY_S = 2.0
"""How long ``say`` waits for the words to be stored, in seconds."""

MOST_KEYS = 1000
"""How many keys of ``say`` are remembered; the oldest is forgotten first."""


S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


class SessionSpec(Protocol[S, C]):
    """The part of a page's declaration that a session needs: ``PageSpec`` has it."""

    @property
    def noun(self) -> str:
        """The application's name for a state."""
        ...

    @property
    def user(self) -> str:
        """The role of the user."""
        ...

    @property
    def view(self) -> Callable[[S, int, str], View]:
        """Returns the state as clients see it."""
        ...

    @property
    def resolve(self) -> Callable[[C, Command[S, C]], Command[S, C]]:
        """Returns a client's command as it is applied."""
        ...


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
        """Add the user's words; return their turn number, or the last one if the call is over."""
        ...


class Turns(Protocol):
    """The turns that the user begins and ends: ``agents.handoff.PushToTalk`` implements this."""

    def start(self) -> int:
        """Begin a turn; return its number."""
        ...

    def end(self) -> int:
        """End the turn; return its number. Refused without a turn."""
        ...

    def cancel(self) -> int:
        """Forget the turn; return the number of the last one. Refused without a turn."""
        ...

    def set_mode(self, mode: MicrophoneMode) -> None:
        """Open the microphone, or switch it to push-to-talk."""
        ...


class Recording(Protocol):
    """The recording of a call."""

    @property
    def active(self) -> bool:
        """Whether the call is recorded."""
        ...

    def refuse(self) -> None:
        """Record no longer, and delete what was recorded; nothing if the call is not recorded."""
        ...


class NoAudio(Refused):
    """The call has no audio."""

    code = "no_audio"

    def __init__(self) -> None:
        super().__init__("This call has no audio: use say.")


class CallOver(Refused):
    """The call has ended: its state can still be read, but not changed through this call."""

    code = "call_over"

    def __init__(self, noun: str) -> None:
        super().__init__(
            f"The call is over. The {noun} can still be read; to change something, begin another call:"
            " say something, or join the room again and call hello."
        )


class Listeners(Protocol):
    """The subscribers to changes of the state: ``rpc.gateway.Subscribers`` implements this."""

    def subscribe(self, identity: str) -> tuple[int, View]:
        """Send this client every change from now on; return the version and view it starts from."""
        ...

    def unsubscribe(self, identity: str) -> None:
        """Stop sending changes to this client."""
        ...


@dataclass(frozen=True, slots=True)
class Spoken:
    """Something the user said through a client, remembered by its key.

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
"""Starts storing the user's words: the text, the client's key as stored, and a digest of the words."""


class Session(Generic[S, C]):
    """One state and the conversation about it, as used by the RPC methods.

    Args:
        spec: The application's page.
        shared: The state.
        conversation: Receives the user's words.
        state_id: The state's id as reported to clients.
        agent: The application's name as reported to clients.
        resume_code: Continues with this state in another room; only the user receives it.
        last: The commands that repeat the user's last state; only the user receives them.
        spoken: Messages with keys from an earlier process.
        store: Stores the user's words before they are heard; without it, they do not outlive this process.
        turns: Returns the control of spoken turns, ``None`` until it is ready; without it the call has no
            audio.
        lines: The lines of the conversation, for clients that were not there.
        recording: The recording of the call, where calls are recorded.
    """

    def __init__(
        self,
        spec: SessionSpec[S, C],
        shared: SharedState[S, C],
        conversation: Conversation,
        *,
        state_id: str,
        agent: str,
        resume_code: str | None = None,
        last: Sequence[Mapping[str, JsonValue]] = (),
        spoken: Iterable[Spoken] = (),
        store: Store | None = None,
        turns: Callable[[], Turns | None] | None = None,
        lines: Lines | None = None,
        recording: Recording | None = None,
    ) -> None:
        self.spec = spec
        self.shared = shared
        self.conversation = conversation
        self.state_id = state_id
        self._id_key = f"{spec.noun}_id"
        self.agent = agent
        self.resume_code = resume_code
        self.last = last
        self.views = Views(self._present)
        """The state's view at its latest versions; ``Subscribers`` reads the same object."""
        self._spoken: OrderedDict[str, Spoken] = OrderedDict()
        self._pending: dict[str, tuple[str, Saying]] = {}
        self._store = store
        self._turns = turns
        self.recording = recording
        self.lines = Lines() if lines is None else lines
        for one in spoken:
            self._remember(one)
        self._over = False
        self._unsubscribe = shared.subscribe(lambda _: self.views.note())

    def end(self) -> None:
        """Make the state read-only because the call has ended; others may still change it elsewhere."""
        self._over = True

    @property
    def features(self) -> tuple[str, ...]:
        """The features of this call that depend on it."""
        recorded = self.recording is not None and self.recording.active
        return (
            *((RECORDED,) if recorded else ()),
            *(() if self._turns is None else (PUSH_TO_TALK,)),
        )

    def turns(self) -> Turns:
        """Return the control of spoken turns.

        Raises:
            CallOver: The call has ended.
            NoAudio: The call has no audio.
            NotYet: The audio is still starting.
        """
        if self._over:
            raise CallOver(self.spec.noun)
        if self._turns is None:
            raise NoAudio
        if (turns := self._turns()) is None:
            raise NotYet("The audio is still starting. Try again in a moment.")
        return turns

    def started_turns(self) -> Turns:
        """Return the control of spoken turns in order to end one.

        Raises:
            CallOver: The call has ended.
            Refused: The call has no audio, so that no turn was started.
            NotYet: The audio is still starting.
        """
        try:
            return self.turns()
        except NoAudio:
            raise Refused("This call has no audio: use say.", reason="no_turn") from None

    def close(self) -> None:
        """Stop following the state's changes."""
        self._unsubscribe()

    def view_of(self, applied: Applied[S]) -> JsonText:
        """Return the view as a change left it, whatever has happened since."""
        version, _ = self.views.present()
        if version == applied.version:
            return JsonText(self.views.text())
        speaker = applied.speaker or self.conversation.speaker
        return JsonText(compact(self._view(applied.state, applied.version, speaker)))

    def has_done(self, caller: Caller, key: str) -> bool:
        """Whether this caller has changed the state with this key."""
        return self.shared.knows(self.own_key(caller, key))

    def is_settled(self, caller: Caller, key: str | None) -> bool:
        """Whether a change by this caller can have no other outcome, whatever it asks for: it is a repeat, or too late."""
        return self._over or (key is not None and self.has_done(caller, key))

    def check_open(self, caller: Caller, key: str | None) -> None:
        """Check that a caller may still change something.

        Raises:
            CallOver: The call has ended, and no change with this key was made before.
        """
        if self._over and not (key is not None and self.has_done(caller, key)):
            raise CallOver(self.spec.noun)

    def has_said(self, caller: Caller, key: str) -> bool:
        """Whether this caller has said something with this key, stored or still being stored."""
        own = self.own_key(caller, key)
        return own in self._spoken or own in self._pending

    async def write(
        self, command: Command[S, C], caller: Caller, *, version: int | None, key: str | None
    ) -> Applied[S]:
        """Apply a client's command.

        Args:
            command: The command.
            caller: The sender.
            version: The version the caller has seen.
            key: The idempotency key.

        Raises:
            VersionDemanded: The command could undo another writer's work and came without a version.
            CallOver: The call has ended. A change made earlier still gets its first answer.
            StateError: As ``SharedState.apply``.
        """
        self.check_open(caller, key)
        if command.demands_version and version is None:
            command.touches(
                self.shared.state
            )  # a missing part is reported before a missing version
            raise VersionDemanded(
                f"Say which version of the {self.spec.noun} you have seen: this could undo another writer's"
                " work.",
                field="version",
            )
        own = self.own_key(caller, key) if key is not None else None
        return await self.shared.apply(
            self.spec.resolve(self.shared.context, command),
            actor=caller.role or self.spec.user,
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
        own = self.own_key(caller, key) if key is not None else None
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
        if self._over:
            raise CallOver(self.spec.noun)
        if self._store is None:
            before_turn = self.conversation.turn
            turn = self.conversation.user_said(text)
            if turn == before_turn:
                raise CallOver(self.spec.noun)
            self._remember(Spoken(own, digest, turn))
            return turn
        saying = self._store(text, own, digest)
        if own is not None:
            self._pending[own] = digest, saying
        saying.turn.add_done_callback(lambda _: self._stored(saying, own, digest))
        return await self._turn_of(saying)

    async def _turn_of(self, saying: Saying) -> int:
        with suppress(asyncio.CancelledError):  # the caller has even less time
            await asyncio.wait((saying.turn,), timeout=SAY_S)
        if saying.turn.done():
            turn = saying.turn.result()
            if turn is None:
                raise CallOver(self.spec.noun)
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
        return shared.version, self._view(shared.state, shared.version, speaker)

    def _view(self, state: S, version: int, speaker: str) -> View:
        """Return the application's view of a state; its id is added if the view has none."""
        view = self.spec.view(state, version, speaker)
        return view if self._id_key in view else {self._id_key: self.state_id, **view}

    def own_key(self, caller: Caller, key: str) -> str:
        """Return a caller's key as the journal stores it, hashed and unique to that caller.

        All clients of the user count as one caller, so the key still holds after a new identity; each other
        participant is a separate caller. No text of a key reaches the disk, not even a card number.
        """
        role = caller.role or self.spec.user
        who = [role] if role == self.spec.user else [role, caller.identity]
        return f"client:{_digest(*who, key)}"


def _failed(saying: Saying) -> bool:
    """Whether the words are known not to be stored."""
    turn = saying.turn
    return turn.done() and (turn.cancelled() or turn.exception() is not None)


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(map(repr, words)).encode()).hexdigest()
