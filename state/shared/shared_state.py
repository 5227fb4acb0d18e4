"""One state that many read and one at a time may change."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, JsonValue

from state.shared.basis import Basis
from state.shared.command import WHOLE, C, Command, HandOver, S, overlap
from state.shared.errors import (
    Busy,
    JournalFault,
    KeyReused,
    NotStored,
    OutcomeUnknown,
    Refused,
    Stale,
    TakenOver,
    UnknownState,
)
from state.shared.forms import as_json, as_stored, fingerprint, read, validated, written
from state.shared.journal import Entry, Journal, Stored, VersionTaken, to_the_end
from state.shared.shapes import Guard, separate, shape_of

if TYPE_CHECKING:
    from state.shared.sql import SqlStore

logger = logging.getLogger(__name__)

# What a function that makes a shared state is given: type checkers know nothing of S and C there.
N = TypeVar("N", bound=BaseModel)
X = TypeVar("X")

TRIES = 5
"""How often the journal may say that a version is taken, and have nothing new to read, before it is given up."""

WAIT_S = 10.0
"""How long a writer waits for those before it, in seconds, unless it is told otherwise."""


@dataclass(frozen=True, slots=True)
class Applied(Generic[S]):
    """A change that happened: what was asked, and the state before and after it.

    One that is answered again after a restart has its own state on both sides: nothing changed now.
    """

    before: S
    state: S
    version: int
    speaker: str | None
    ops: tuple[str, ...]
    actor: str


Condition: TypeAlias = Callable[[S], Refused | None]
"""What has to hold before a change: returns what to refuse it with, or nothing."""


_CommandsJson: TypeAlias = tuple[dict[str, JsonValue], ...]


@dataclass(frozen=True, slots=True)
class _Change(Generic[S]):
    """A change that is asked for."""

    commands: Sequence[Command[Any, Any]]
    json: _CommandsJson | None
    """The commands as JSON, where they were needed already."""
    actor: str
    key: str | None
    body: str | None
    seen: int | None
    turn: int | None
    provided: Condition[S] | None
    basis: Basis | None = None


Subscriber = Callable[[Applied[S]], None]
"""Is told of each change after it counts, inside the event loop; it must not wait."""


class SharedState(Generic[S, C]):
    """The present state, its version, and the one way to change it.

    Args:
        state: Where it starts. Frozen; it is replaced, never edited.
        context: What the rules may look at: a menu, a clock, limits. The same for the whole call.
        version: 0 for a new state, the last entry's for one that goes on.
        speaker: Who speaks at the start.
        journal: Where changes are written before they count; ``None`` keeps them in memory only.
        past: The entries that led here, oldest first, so that their keys are still known, and what
            each of them touched.
        wait_s: How long a writer waits for the one before him, in seconds.
    """

    def __init__(
        self,
        state: S,
        context: C,
        *,
        version: int = 0,
        speaker: str | None = None,
        journal: Journal | None = None,
        past: Iterable[Entry] = (),
        wait_s: float = WAIT_S,
    ) -> None:
        self._state = state
        self._guard = Guard(state)
        self._version = version
        self._speaker = speaker
        self._taken_over = False
        self._writing = False
        self._outcome_unknown = False
        self._journal = journal
        self._wait_s = wait_s
        self._lock = asyncio.Lock()
        self._waiting = 0
        self._subscribers: list[Subscriber[S]] = []
        past = tuple(past)
        self._keys: dict[str, tuple[str, Applied[S] | Entry]] = {
            entry.key: (entry.body or "", entry) for entry in past if entry.key
        }
        # When each part last changed. What happened before the known past is known only as a whole.
        unknown = past[0].version - 1 if past else version
        self._changed: dict[str, int] = {WHOLE: unknown} if unknown else {}
        self._changed.update({part: entry.version for entry in past for part in entry.touched})
        self.context = context

    @staticmethod
    def restored(
        stored: Stored, kind: type[N], context: X, *, wait_s: float = WAIT_S
    ) -> "SharedState[N, X]":
        """Go on with a state as a journal gave it back.

        Args:
            stored: What the journal gave.
            kind: The model of the state.
            context: What the rules may look at.
            wait_s: How long a writer waits for the one before him, in seconds.

        Raises:
            JournalFault: What was stored is no such state.
        """
        return SharedState(
            read(kind, stored.state, f"Version {stored.version} of {stored.state_id}"),
            context,
            version=stored.version,
            speaker=stored.speaker,
            journal=stored.journal,
            past=stored.entries,
            wait_s=wait_s,
        )

    @staticmethod
    async def kept(
        store: "SqlStore", state_id: str, new: N, context: X, *, wait_s: float = WAIT_S
    ) -> "SharedState[N, X]":
        """Hold the state of this id: the one that is stored, or a new one when there is none yet.

        Args:
            store: Where it is kept.
            state_id: Its id.
            new: How it begins.
            context: What the rules may look at.
            wait_s: How long a writer waits for the one before him, in seconds.

        Raises:
            OtherOwner: The id is somebody else's.
            JournalFault: The database cannot be used, or what was stored is no such state.
            NotStored: The new state does not survive its own JSON.
        """
        try:
            stored = await store.take(state_id)
        except UnknownState:
            try:
                stored = await store.create(state_id, lambda ordinal: written(new))
            except JournalFault as fault:  # somebody else may have begun it meanwhile
                try:
                    stored = await store.take(state_id)
                except UnknownState:
                    raise fault from None
        return SharedState.restored(stored, type(new), context, wait_s=wait_s)

    @property
    def state(self) -> S:
        """The present state."""
        return self._state

    @property
    def version(self) -> int:
        """The number of changes that led to the present state."""
        return self._version

    @property
    def speaker(self) -> str | None:
        """Who speaks at present."""
        return self._speaker

    @property
    def taken_over(self) -> bool:
        """Whether another process holds this state, so that nothing can be written here any more."""
        return self._taken_over

    @property
    def writing(self) -> bool:
        """Whether a change is on its way to the journal just now."""
        return self._writing

    def knows(self, key: str) -> bool:
        """Whether a change was made with this key, so that asking again gets its answer."""
        return key in self._keys

    def subscribe(self, subscriber: Subscriber[S]) -> Callable[[], None]:
        """Tell somebody of every change, after it counts; returns what ends that.

        A subscriber is called in the event loop and must not wait. What it raises is logged.
        """
        self._subscribers.append(subscriber)

        def unsubscribe() -> None:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

        return unsubscribe

    async def apply(
        self,
        *commands: Command[S, C],
        actor: str,
        key: str | None = None,
        seen: int | None = None,
        turn: int | None = None,
        provided: Condition[S] | None = None,
    ) -> Applied[S]:
        """Carry out all of these commands, as one change, or none of them.

        Once the entry is on its way to the journal the change finishes, even when the caller is
        cancelled; its true outcome is what the caller gets.

        Args:
            commands: At least one.
            actor: Who writes: an agent, a client, a member of staff.
            key: Makes it safe to ask twice: the second time nothing happens and the answer is the first.
            seen: The version the writer has seen. Refused when what is touched changed after it. Within a
                tool the version that its reply was shown is the default.
            turn: The last turn whose words this acts on; it is written in the same row, so that whoever goes
                on after a dead process knows which words nobody had begun to act on. Within a tool the turn
                of its reply is the default.
            provided: Asked of the state under the writer's lock, before the commands; what it returns is
                raised.

        Raises:
            Refused: The rules say no.
            ValidationError: What a command made of the state does not fit the state's model.
            Stale: What is touched has changed after ``seen``.
            KeyReused: The key came with other commands before.
            Busy: Other writers did not finish within the limit.
            NotStored: The journal could not write it, or not read what others wrote first.
            OutcomeUnknown: The journal was writing it and does not answer any more.
            TakenOver: Another process holds the state.
        """
        if not commands:
            raise ValueError("apply needs a command")
        commands_json = as_json(commands) if key is not None else None
        body = fingerprint(commands_json) if commands_json is not None else None
        basis = Basis.present()
        if basis is None:
            return await self._apply(
                _Change(commands, commands_json, actor, key, body, seen, turn, provided)
            )
        change = _Change(
            commands,
            commands_json,
            actor,
            key,
            body,
            basis.seen if seen is None else seen,
            basis.turn if turn is None else turn,
            provided,
            basis,
        )
        with basis.waiting():
            return await self._apply(change)

    async def _apply(self, change: "_Change[S]") -> Applied[S]:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._wait_s
        await self._acquire_lock()
        stuck = 0
        try:
            if self._outcome_unknown:
                await self._reload()
            while True:
                try:
                    return await self._apply_once(change)
                except VersionTaken:
                    # Others may be quicker again and again; each time the journal has moved on.
                    before = self._version
                    await self._reload()
                    stuck = stuck + 1 if self._version == before else 0
                    if stuck == TRIES or loop.time() >= until:
                        raise Busy(self._wait_s) from None
                except (Refused, Stale):
                    if change.key is None or not await self._reload_finds_key(change.key):
                        raise
        except JournalFault as fault:
            raise NotStored(fault.why) from fault
        except TakenOver:
            self._taken_over = True
            raise
        except OutcomeUnknown:
            self._outcome_unknown = True
            raise
        finally:
            self._lock.release()

    async def refresh(self) -> int:
        """Take in what others have written under our own hold; returns the present version.

        Writing does it by itself. This is for readers.

        Raises:
            Busy: A writer did not finish within the limit.
            JournalFault: It cannot be read; the state is as it was.
        """
        await self._acquire_lock()
        try:
            await self._reload()
        finally:
            self._lock.release()
        return self._version

    async def _acquire_lock(self) -> None:
        # A lock that is free for a moment may be promised to those who wait for it.
        if not self._waiting and not self._lock.locked():
            await self._lock.acquire()
            return
        self._waiting += 1
        try:
            async with asyncio.timeout(self._wait_s):
                await self._lock.acquire()
        except TimeoutError:
            raise Busy(self._wait_s) from None
        finally:
            self._waiting -= 1

    async def _apply_once(self, change: "_Change[S]") -> Applied[S]:
        key = change.key
        if key is not None and (known := self._keys.get(key)) is not None:
            if known[0] != change.body:
                raise KeyReused
            return self._replay_result(key, known[1])
        if self._taken_over:
            raise TakenOver
        if change.basis is not None:
            change.basis.check()
        return await self._commit(change)

    async def _commit(self, change: "_Change[S]") -> Applied[S]:
        commands = change.commands
        state, speaker, touched = self._fold(change)
        # Without a journal the same is refused: what cannot be stored cannot be shown as JSON either.
        text = ""
        guard: Guard | None = None
        commands_json = change.json or ()
        if self._journal is not None or not shape_of(type(state)).survives:
            state, text = as_stored(state)
        if change.json is None and (
            self._journal is not None
            or not all(shape_of(type(command)).survives for command in commands)
        ):
            commands_json = as_json(commands)
        applied = Applied(
            before=self._state,
            state=state,
            version=self._version + 1,
            speaker=speaker,
            ops=tuple(command.op for command in commands),
            actor=change.actor,
        )
        if self._journal is not None:
            entry = Entry(
                version=applied.version,
                commands=commands_json,
                state=text,
                speaker=speaker,
                actor=change.actor,
                key=change.key,
                body=change.body,
                touched=tuple(sorted(touched)),
                turn=change.turn,
            )
            self._writing = True
            try:
                stored = self._journal.append(entry)
                guard = Guard(state)  # while the row is on its way
                await to_the_end(stored)
            finally:
                self._writing = False
        # From here to the end nothing waits: journal and state cannot come apart.
        if change.key is not None:
            self._keys[change.key] = (change.body or "", applied)
        if change.basis is not None:
            change.basis.own.add(applied.version)
        self._swap(applied, touched, guard)
        return applied

    def _fold(self, change: "_Change[S]") -> tuple[S, str | None, set[str]]:
        """Return the state after a change, the agent that is active then, and the parts that changed."""
        state: Any = separate(self._state)
        speaker = self._speaker
        touched: set[str] = set()
        try:
            if (
                change.provided is not None
                and (missing := change.provided(self._state)) is not None
            ):
                raise missing
            for command in change.commands:
                parts = command.touches(state)
                if change.seen is not None:
                    self._refuse_stale(parts, change.seen, change.basis)
                before, state = state, command.apply(state, self.context)
                touched.update(command.changes(before, state))
                if isinstance(command, HandOver):
                    speaker = command.target
        finally:
            edited = self._guard.restore()
        if edited:
            raise TypeError("a command edited the state it was given")
        if state is not self._state:
            state = validated(state, self._state)
        return state, speaker, touched

    async def _reload_finds_key(self, key: str) -> bool:
        """Whether the journal knows a key that was not known here: then its answer is the first one's."""
        known = key in self._keys
        with suppress(JournalFault):
            await self._reload()
        return not known and key in self._keys

    def _refuse_stale(self, parts: Iterable[str], seen: int, basis: Basis | None) -> None:
        if seen == self._version:
            return
        if seen > self._version:
            raise Stale(seen, self._version)
        expected = basis.own if basis is not None else ()
        for part in parts:
            for changed, version in self._changed.items():
                if version > seen and version not in expected and overlap(part, changed):
                    raise Stale(seen, self._version)

    def _swap(
        self, applied: Applied[S], touched: Iterable[str], guard: Guard | None = None
    ) -> None:
        if applied.state is not self._state:
            self._guard = guard or Guard(applied.state)
        self._state, self._version, self._speaker = applied.state, applied.version, applied.speaker
        for part in touched:
            self._changed[part] = applied.version
        for subscriber in tuple(self._subscribers):
            try:
                subscriber(applied)
            except (
                Exception,
                asyncio.CancelledError,
            ):  # a listener's fault is not the writer's: the change has happened
                logger.exception("a subscriber failed")

    async def _reload(self) -> None:
        """Take in what others wrote; one that cannot be read ends it there."""
        if self._journal is None:
            return
        for entry in await self._journal.after(self._version):
            applied = self._restored(entry, before=self._state)
            if entry.key:
                self._keys[entry.key] = (entry.body or "", applied)
            self._swap(applied, entry.touched)
        self._outcome_unknown = False

    def _restored(self, entry: Entry, before: S | None = None) -> Applied[S]:
        state = read(type(self._state), entry.state, f"Version {entry.version}")
        return Applied(
            before=state if before is None else before,
            state=state,
            version=entry.version,
            speaker=entry.speaker,
            ops=tuple(str(command.get("op")) for command in entry.commands),
            actor=entry.actor,
        )

    def _replay_result(self, key: str, answer: Applied[S] | Entry) -> Applied[S]:
        if isinstance(answer, Entry):
            answer = self._restored(answer)
            self._keys[key] = (self._keys[key][0], answer)
        return answer
