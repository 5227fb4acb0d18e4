"""A shared state with many readers and one writer at a time."""

import asyncio
import copy
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from state.shared.basis import Basis
from state.shared.command import (
    FRAMEWORK_COMMANDS,
    WHOLE,
    C,
    Command,
    EndTool,
    HandOver,
    S,
    StartTool,
    overlap,
)
from state.shared.errors import (
    Busy,
    JournalFault,
    KeyReused,
    Misuse,
    NotStored,
    OutcomeUnknown,
    Refused,
    Stale,
    TakenOver,
    UnknownState,
    Unstorable,
)
from state.shared.journal import (
    Entry,
    Gate,
    Journal,
    StoredState,
    VersionTaken,
    present_gate,
    to_the_end,
)
from state.shared.numbers import LARGEST_NUMBER, refuse_long_numbers, refuse_outside_column
from state.shared.reading import read_state
from state.shared.serialization import (
    as_json,
    as_stored,
    fingerprint,
    refuse_no_text,
    validated,
    write_state,
)
from state.shared.shapes import Guard, model_faults, shape_of

if TYPE_CHECKING:
    from state.shared.sql import SqlStore

logger = logging.getLogger(__name__)

# For functions that create a shared state: type checkers do not know S and C there.
N = TypeVar("N", bound=BaseModel)
X = TypeVar("X")

_FRAMEWORK: dict[object, type[Command[Any, Any]]] = {
    kind.model_fields["op"].default: kind for kind in FRAMEWORK_COMMANDS
}

_TEXTS = {str}

TRIES = 5
"""How often the journal may report a taken version without any new entry before the writer gives up."""

LONGEST_KEY = 2_000
"""How many bytes an idempotency key may have."""

WAIT_S = 10.0
"""How long a writer waits for earlier ones by default, in seconds."""


@dataclass(frozen=True, slots=True)
class Applied(Generic[S]):
    """A completed change: its commands, and the state before and after it.

    When a key is answered again after a restart, both states are the one after the change.
    """

    before: S
    state: S
    version: int
    speaker: str | None
    ops: tuple[str, ...]
    actor: str


Condition: TypeAlias = Callable[[S], Refused | None]
"""A condition for a change: returns the refusal, or ``None`` if it holds."""


_CommandsJson: TypeAlias = tuple[dict[str, JsonValue], ...]


@dataclass(frozen=True, slots=True)
class _Change(Generic[S]):
    """A requested change."""

    commands: Sequence[Command[Any, Any]]
    json: _CommandsJson | None
    """The commands as JSON, if needed already."""
    actor: str
    key: str | None
    body: str | None
    seen: int | None
    turn: int | None
    provided: Condition[S] | None
    gate: Gate | None
    basis: Basis | None


Subscriber = Callable[[Applied[S]], None]
"""Called with each completed change in the event loop; it must not block."""


class SharedState(Generic[S, C]):
    """The present state, its version, and the only way to change it.

    Args:
        state: The initial state. Its model and those in it are frozen: it is replaced, never edited.
        context: The context of the rules: prices, a clock, limits. The same for the whole call.
        version: 0 for a new state, the last entry's for a stored one.
        speaker: The active agent.
        journal: Where changes are stored before they count; ``None`` keeps them in memory only.
        past: The entries that led here, oldest first, for their keys and the parts they touched.
        wait_s: How long a writer waits for earlier ones, in seconds.
        state_id: Its id where it is stored.

    Raises:
        TypeError: A model is not frozen.
    """

    def __init__(
        self,
        state: S,
        context: C,
        *,
        state_id: str = "",
        version: int = 0,
        speaker: str | None = None,
        journal: Journal | None = None,
        past: Iterable[Entry] = (),
        wait_s: float = WAIT_S,
    ) -> None:
        _demand_frozen(type(state))
        self._state = state
        self._guard = Guard(state)
        self._version = version
        self._speaker = speaker
        self._schema = 1
        self._taken_over = False
        self._writing = False
        self._outcome_unknown = False
        self._refreshing: set[asyncio.Task[int]] = set()
        self._last_key: str | None = None
        """The key of the row that was last handed to the journal."""
        self._journal = journal
        self._wait_s = wait_s
        self._lock = asyncio.Lock()
        self._waiting = 0
        self._subscribers: list[Subscriber[S]] = []
        past = tuple(past)
        self._handover: HandOver | None = None
        self._unfinished: dict[str, StartTool] = {}
        for entry in past:
            self._note(_framework_commands(entry))
        self._keys: dict[str, tuple[str, Applied[S] | Entry]] = {
            entry.key: (entry.body or "", entry) for entry in past if entry.key is not None
        }
        # The version of each part's last change. Changes before ``past`` are known only for the whole.
        unknown = past[0].version - 1 if past else version
        self._changed: dict[str, int] = {WHOLE: unknown} if unknown else {}
        self._changed.update({part: entry.version for entry in past for part in entry.touched})
        self.context = context
        self.state_id = state_id

    @staticmethod
    def restored(
        stored: StoredState, kind: type[N], context: X, *, wait_s: float = WAIT_S
    ) -> "SharedState[N, X]":
        """Create a shared state from a stored one.

        Args:
            stored: The stored state.
            kind: The model of the state.
            context: The context of the rules.
            wait_s: How long a writer waits for earlier ones, in seconds.

        Raises:
            JournalFault: The stored state does not read back as it was written.
        """
        shared = SharedState(
            stored.read(kind),
            context,
            state_id=stored.state_id,
            version=stored.version,
            speaker=stored.speaker,
            journal=stored.journal,
            past=stored.entries,
            wait_s=wait_s,
        )
        shared._schema = stored.schema
        return shared

    @staticmethod
    async def open(
        store: "SqlStore", state_id: str, new: N, context: X, *, wait_s: float = WAIT_S
    ) -> "SharedState[N, X]":
        """Open the stored state with this id, or store a new one, and hold it.

        Args:
            store: The store.
            state_id: Its id.
            new: The initial state if there is none yet.
            context: The context of the rules.
            wait_s: How long a writer waits for earlier ones, in seconds.

        Raises:
            OtherOwner: The id belongs to another owner.
            JournalFault: The database cannot be used, or what was stored does not read back as it was written. The
                state stays with its holder then.
            Unstorable: The new state does not read back from its JSON.
            TypeError: A model is not frozen; nothing is stored.
        """
        _demand_frozen(type(new))

        def check(stored: StoredState) -> None:
            stored.read(type(new))

        try:
            stored = await store.take(state_id, check=check)
        except UnknownState:
            try:
                stored = await store.create(state_id, lambda ordinal: write_state(new))
            except JournalFault as fault:  # another process may have created it meanwhile
                try:
                    stored = await store.take(state_id, check=check)
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
        """The active agent."""
        return self._speaker

    @property
    def handover(self) -> HandOver | None:
        """The last handoff, if there has been one."""
        return self._handover

    @property
    def unfinished(self) -> Sequence[StartTool]:
        """The tools that have been started and whose result the user has not been told."""
        return tuple(self._unfinished.values())

    @property
    def taken_over(self) -> bool:
        """Whether another process holds this state, so that this one can no longer write."""
        return self._taken_over

    @property
    def writing(self) -> bool:
        """Whether a change is being written to the journal."""
        return self._writing

    def knows(self, key: str) -> bool:
        """Whether a change was made with this key, so that a repeat gets its answer."""
        return key in self._keys

    def in_doubt(self, key: str | None) -> bool:
        """Whether a row with this key is being written, or it is not known whether it was stored."""
        pending = self._writing or self._outcome_unknown
        return pending and key is not None and key == self._last_key

    def subscribe(self, subscriber: Subscriber[S]) -> Callable[[], None]:
        """Call the subscriber with every completed change; return a function that unsubscribes.

        A subscriber is called in the event loop and must not block. Its exceptions are logged.
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
        """Apply all of these commands as one change, or none.

        Once the entry is being written, the change completes even if the caller is cancelled; the caller gets the
        true outcome. Within ``withdrawable_changes`` a cancelled caller is answered at once: the change is withdrawn
        (``NotStored``), or it is being written by then (``OutcomeUnknown``) and counts once it is stored.

        Args:
            commands: At least one.
            actor: The writer: an agent, a client, a member of staff.
            key: The idempotency key: a repeat changes nothing and gets the first answer.
            seen: The version the writer has seen; the change is refused if a touched part has changed since.
                Within a tool the default is the version its reply was shown.
            turn: The last user turn this acts on. It is stored in the same row, so that a process that resumes
                after a crash knows which turns were not acted on. Within a tool the default is its reply's turn.
            provided: A condition, checked under the writer's lock before the commands; a refusal that it
                returns is raised.

        Raises:
            Refused: The rules do not allow it.
            ValidationError: The resulting state does not fit its model.
            Stale: A touched part has changed since ``seen``.
            KeyReused: The key came with other commands before.
            Busy: Other writers did not finish within the time limit.
            NotStored: The journal could not write it or not read earlier entries, or it was withdrawn.
            Unstorable: It can never be stored: its JSON would not read back as it is, a number in a command has
                thousands of digits, or ``turn``, ``seen``, ``actor`` or ``key`` is no number or text that a row can
                hold. The message names the field.
            OutcomeUnknown: The journal stopped answering while writing it, or was still writing it when the caller
                gave up, or it is a repeat of such a change.
            TakenOver: Another process holds the state.
        """
        if not commands:
            raise ValueError("apply needs a command")
        refuse_outside_column("seen", seen, LARGEST_NUMBER)
        refuse_outside_column("turn", turn)
        refuse_no_text("actor", actor)
        if key is not None:
            refuse_no_text("key", key, LONGEST_KEY)
        for command in commands:  # before the rules, whose sentences may repeat a number
            refuse_long_numbers(command, str(command.op))
        commands_json = as_json(commands) if key is not None else None
        body = fingerprint(commands, commands_json) if commands_json is not None else None
        if (basis := Basis.present()) is not None:
            seen = basis.seen if seen is None else seen
            turn = basis.turn if turn is None else turn
        gate = present_gate() if basis is None else None
        change = _Change(
            commands, commands_json, actor, key, body, seen, turn, provided, gate, basis
        )
        with nullcontext() if basis is None else basis.waiting():
            try:
                return await self._apply(change)
            except asyncio.CancelledError:  # while it waited for other writers
                if gate is None:
                    raise
                if self.in_doubt(key):
                    raise OutcomeUnknown from None
                raise NotStored("other writers did not finish in time") from None

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
                    if change.gate is not None:
                        change.gate.reopen()
                    # Other writers may be faster repeatedly; each time the journal has new entries.
                    before = self._version
                    await self._reload()
                    stuck = stuck + 1 if self._version == before else 0
                    if stuck == TRIES or loop.time() >= until:
                        raise Busy(self._wait_s) from None
                except (Refused, Stale):
                    if change.key is None or not await self._reload_finds_key(change.key):
                        raise
        except JournalFault as fault:
            if self.in_doubt(change.key):
                raise OutcomeUnknown from fault
            raise fault.not_stored() from fault
        except OutcomeUnknown:
            self._outcome_unknown = True
            if change.gate is not None:
                self._refresh_later()
            raise
        finally:
            self._lock.release()

    async def refresh(self) -> int:
        """Load what others have written; return the present version.

        Writing does this by itself; call it before reading.

        Raises:
            Busy: A writer did not finish within the time limit.
            JournalFault: It cannot be read; the state is unchanged.
        """
        await self._acquire_lock()
        try:
            await self._reload()
        finally:
            self._lock.release()
        return self._version

    def _refresh_later(self) -> None:
        """Load a row whose writer has not waited for it, once it is stored."""

        def refreshed(task: "asyncio.Task[int]") -> None:
            self._refreshing.discard(task)
            if not task.cancelled():
                task.exception()  # the next writer reads again

        task = asyncio.create_task(self.refresh(), name="load an unanswered change")
        self._refreshing.add(task)
        task.add_done_callback(refreshed)

    async def _acquire_lock(self) -> None:
        # An unlocked lock may already be promised to a waiting writer.
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
        await self._prepare(change.commands)
        if self._taken_over:
            raise TakenOver
        if change.basis is not None:
            change.basis.check()
        return await self._commit(change)

    async def _prepare(self, commands: Sequence[Command[Any, Any]]) -> None:
        waiting = [one for one in commands if type(one).prepare is not Command.prepare]
        if not waiting:
            return
        try:
            async with asyncio.timeout(self._wait_s):
                for command in waiting:
                    await command.prepare(self.context)
        except TimeoutError:
            raise NotStored("its preparation did not finish in time") from None

    async def _commit(self, change: "_Change[S]") -> Applied[S]:
        commands = change.commands
        state, speaker, touched = self._fold(change)
        # The same is refused without a journal: what cannot be stored cannot be sent as JSON either.
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
                gate=change.gate,
            )
            self._writing, self._last_key = True, change.key
            try:
                stored = self._journal.append(entry)
                guard = Guard(state)  # while the row is being written
                await to_the_end(stored, change.gate)
            except TakenOver:  # not one that a command raises: it may know other states
                self._taken_over = True
                raise
            finally:
                self._writing = False
        # No await from here on: journal and state cannot diverge.
        if change.key is not None:
            self._keys[change.key] = (change.body or "", applied)
        if change.basis is not None:
            change.basis.own.add(applied.version)
        self._note(commands)
        self._swap(applied, touched, guard)
        return applied

    def _fold(self, change: "_Change[S]") -> tuple[S, str | None, set[str]]:
        """Return the state after a change, the active agent, and the parts that changed."""
        # Objects of other types, private attributes and fields without a name cannot be guarded.
        state: Any = self._state if self._guard.complete else copy.deepcopy(self._state)
        speaker = self._speaker
        touched: set[str] = set()
        # A command that loses a race is applied again, with the same arguments.
        arguments = _argument_guards(change.commands)
        try:
            if (
                change.provided is not None
                and (missing := change.provided(self._state)) is not None
            ):
                raise missing
            for command in change.commands:
                parts = _parts(command.touches(state), "touches", command)
                if change.seen is not None:
                    self._refuse_stale(parts, change.seen, change.basis)
                before, state = state, command.apply(state, self.context)
                changed = command.changes(before, state)
                touched.update(_parts(changed, "changes", command))
                if isinstance(command, HandOver):
                    speaker = command.target
        finally:
            edited = self._guard.restore()
            spoilt = [guard for guard in arguments if guard.restore()]
        if edited or spoilt:
            ops = ", ".join(str(command.op) for command in change.commands)
            raise Misuse(
                f"{ops}, or code between the changes, edited the state in place: copy what you change"
                if edited
                else f"{ops} edited its own arguments in place: copy what you change"
            )
        if state is not self._state:
            try:
                made = validated(state, self._state)
            finally:
                custom = not shape_of(type(self._state)).faithful
                edits = [one.restore() for one in (self._guard, *arguments)] if custom else ()
            if any(edits):
                raise Misuse("a validator edited what it was given in place: copy what you change")
            state = self._guard.detached(made)
        return state, speaker, touched

    def _note(self, commands: Iterable[Command[Any, Any]]) -> None:
        for command in commands:
            match command:
                case HandOver():
                    self._handover = command
                case StartTool():
                    self._unfinished[command.key] = command
                case EndTool():
                    self._unfinished.pop(command.key, None)

    async def _reload_finds_key(self, key: str) -> bool:
        """Whether a reload finds this key in the journal, so that the first answer can be repeated."""
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
            # The change has happened, so a failing subscriber must not affect the writer.
            except (Exception, asyncio.CancelledError):
                logger.exception("a subscriber failed")

    async def _reload(self) -> None:
        """Load the entries that others wrote; stops at one that cannot be read."""
        if self._journal is None:
            return
        for entry in await self._journal.after(self._version):
            applied = self._restored(entry, before=self._state)
            self._note(_framework_commands(entry))
            if entry.key is not None:
                self._keys[entry.key] = (entry.body or "", applied)
            self._swap(applied, entry.touched)
        self._outcome_unknown = False

    def _restored(self, entry: Entry, before: S | None = None) -> Applied[S]:
        kind, what = type(self._state), f"Version {entry.version}"
        state = read_state(kind, entry.state, what, schema=self._schema)
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


def _argument_guards(commands: Iterable[Command[Any, Any]]) -> list[Guard]:
    try:
        return [Guard(command) for command in commands if shape_of(type(command)).editable]
    except RecursionError:  # one holds itself, or is too deep
        raise Unstorable("the command cannot be written as JSON") from None


def _demand_frozen(kind: type[BaseModel]) -> None:
    if faults := model_faults(kind):
        raise TypeError("; ".join(faults))


def _parts(parts: object, method: str, command: Command[Any, Any]) -> Iterable[str]:
    """Return the parts that a method of a command named.

    Raises:
        Misuse: It returned something else: parts that are no texts could not be compared with others.
    """
    if type(parts) is tuple and {*map(type, parts)} <= _TEXTS:
        return parts
    wrong = type(parts).__name__
    if isinstance(parts, str):  # its letters would pass for parts
        wrong = "a text"
    elif isinstance(parts, Iterable):
        named = tuple(parts)
        kinds = [type(part).__name__ for part in named if not isinstance(part, str)]
        if not kinds:
            return named
        wrong = f"a part that is {kinds[0]}"
    raise Misuse(f"{method} of {command.op} returned {wrong}, not a tuple of texts")


def _framework_commands(entry: Entry) -> Iterator[Command[Any, Any]]:
    """Read the framework's commands in a row; fields that a newer release wrote are ignored."""
    for command in entry.commands:
        kind = _FRAMEWORK.get(command.get("op"))
        if kind is not None:
            known = {name: command[name] for name in kind.model_fields if name in command}
            with suppress(ValidationError):
                yield kind.model_validate(known)
