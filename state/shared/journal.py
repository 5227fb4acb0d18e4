"""The journal: the rows that a shared state stores before a change counts."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar

from pydantic import JsonValue

from state.shared.command import WHOLE, S
from state.shared.errors import JournalFault, NotStored, OutcomeUnknown
from state.shared.reading import read_state

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """One journal row: the commands, their author, and the resulting state.

    Args:
        version: The version this entry creates; the first one is 1.
        commands: The commands as JSON objects, each with its ``op``.
        state: The whole resulting state as JSON text.
        speaker: The active agent after it.
        actor: The writer.
        key: The writer's idempotency key, if any.
        body: A fingerprint of the request that came with the key.
        touched: The parts that changed, for conflict checks by later readers.
        turn: The last user turn it acts on, including all turns before it; ``None`` if it acts on none.
        gate: Allows withdrawing it until writing begins.
    """

    version: int
    commands: tuple[dict[str, JsonValue], ...]
    state: str
    speaker: str | None
    actor: str
    key: str | None = None
    body: str | None = None
    touched: tuple[str, ...] = (WHOLE,)
    turn: int | None = None
    gate: "Gate | None" = field(default=None, compare=False, repr=False)


class VersionTaken(Exception):
    """Another permitted writer stored this version first: reload and retry."""


class Journal(Protocol):
    """The journal of one state, as one process may write it."""

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        """Start writing an entry; the future completes when the entry is on disk or has failed.

        The future must complete on its own, whether or not it is awaited. An entry with a gate is written only
        after its ``begin`` has returned true.

        Raises (through the future):
            NotStored, JournalFault: The entry was not written; the journal is unchanged.
            OutcomeUnknown: The entry may have been written.
            VersionTaken: The version exists, and this process may still write.
            TakenOver: Another process holds the state.
        """
        ...

    async def after(self, version: int) -> Sequence[Entry]:
        """Read the entries above a version, oldest first.

        Raises:
            JournalFault: They cannot be read.
        """
        ...


WITHDRAWN = "its writer has given up"
"""Why a withdrawn row was not written."""


class Gate:
    """Decides between writing and withdrawing; the first request wins. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun = self._withdrawn = False

    @property
    def begun(self) -> bool:
        """Whether writing has begun."""
        return self._begun

    def begin(self) -> bool:
        """Begin writing; return whether it was not withdrawn before. Can be called again."""
        with self._lock:
            self._begun = self._begun or not self._withdrawn
            return self._begun

    def reopen(self) -> None:
        """Declare that nothing was written since ``begin``; a withdrawal requested meanwhile takes effect."""
        with self._lock:
            self._begun = False

    def withdraw(self) -> bool:
        """Withdraw; return whether writing had not begun, so that it never will."""
        with self._lock:
            self._withdrawn = True
            return not self._begun


class _Waiting:
    """Waits for changes until it is over."""

    over = False


_CALLER: ContextVar[_Waiting | None] = ContextVar("caller", default=None)


@contextmanager
def withdrawable_changes() -> Iterator[None]:
    """Answer a caller who gives up at once: a cancelled ``SharedState.apply`` withdraws its change.

    It holds within and in tasks started there, until the end of the block; not for an agent's tools.
    """
    caller = _Waiting()
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        caller.over = True
        _CALLER.reset(token)


def present_gate() -> Gate | None:
    """Return a gate for a change, if changes can be withdrawn here."""
    caller = _CALLER.get()
    return None if caller is None or caller.over else Gate()


@dataclass(frozen=True, slots=True)
class Moment:
    """Part of a call's transcript, stored beside the changes: what was heard, said or spent.

    Args:
        turn: The number of user turns at that time.
        kind: The kind, defined by the application.
        who: The speaker: the user or an agent.
        text: The text.
        at: When it was stored, aware; ``None`` before that.
        gate: Allows withdrawing it until writing begins. Writing begins once the transaction holds its locks, so
            waiting for them does not count.
        utterance: The name of the utterance that the text is, if it has one.
    """

    turn: int
    kind: str
    who: str
    text: str
    at: datetime | None = None
    gate: Gate | None = field(default=None, compare=False, repr=False)
    utterance: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StoredState:
    """A state as loaded from its journal.

    Args:
        state_id: Its id.
        ordinal: Its number among its owner's states, from 1.
        opened_at: When it was first stored, aware.
        initial: The initial state as JSON text.
        first_speaker: The first active agent.
        entries: All entries, oldest first.
        journal: The journal that its changes are written to.
        schema: The version of the states' form.
    """

    state_id: str
    ordinal: int
    opened_at: datetime
    initial: str
    first_speaker: str | None
    entries: tuple[Entry, ...]
    journal: Journal
    schema: int = 1

    @property
    def version(self) -> int:
        """The present version."""
        return self.entries[-1].version if self.entries else 0

    @property
    def state(self) -> str:
        """The present state as JSON text."""
        return self.entries[-1].state if self.entries else self.initial

    @property
    def speaker(self) -> str | None:
        """The active agent."""
        return self.entries[-1].speaker if self.entries else self.first_speaker

    def read(self, kind: type[S]) -> S:
        """Parse the present state.

        Raises:
            JournalFault: It does not read back as it was written.
        """
        what = f"Version {self.version} of {self.state_id}"
        return read_state(kind, self.state, what, schema=self.schema)


@dataclass(frozen=True, slots=True)
class Listed:
    """One state in a list.

    Args:
        state_id: Its id.
        ordinal: Its number among its owner's states.
        owner: Its owner.
        version: Its present version.
        state: The present state as JSON text; ``None`` if it cannot be read.
        speaker: The active agent.
        fault: Why it cannot be read.
        schema: The version of the states' form.
    """

    state_id: str
    ordinal: int
    owner: str
    version: int
    state: str | None
    speaker: str | None
    fault: JournalFault | None = None
    schema: int = 1

    def read(self, kind: type[S]) -> S:
        """Parse the present state.

        Raises:
            JournalFault: It cannot be read, or does not read back as it was written.
        """
        what = f"Version {self.version} of {self.state_id}"
        if self.state is None:
            raise self.fault or JournalFault(what, "it cannot be read")
        return read_state(kind, self.state, what, schema=self.schema)


ANSWER_S = 20.0
"""The timeout of a journal's answer, in seconds: longer than a journal with its own deadline needs."""

PATIENCE_S = 10.0
"""How long a cancelled task still waits for that answer, in seconds."""

LAST_MOMENT_S = 0.1
"""How long a task that could have withdrawn its row still waits for a row that is being written, in seconds."""


class UncancellableFuture(asyncio.Future[T]):
    """The outcome of an operation that cannot be cancelled: a row that is being written.

    A task that is cancelled while it awaits this future gets the true outcome instead of the cancellation. The task
    is not cancelled afterwards, and ``asyncio.timeout`` around it does not raise (CPython 3.11).

    Raises:
        NotStored: The row was withdrawn by a cancellation.
        OutcomeUnknown: There was no outcome within ``PATIENCE_S`` after a cancellation, or within ``LAST_MOMENT_S``
            for a row with a gate.
    """

    gate: Gate | None = None
    """Withdraws the row when the task is cancelled before it is being written."""

    def cancel(self, msg: object = None) -> bool:
        """Withdraw the row if it has a gate; else ignore the cancellation, and wait not much longer."""
        if self.done():
            return False
        if self.gate is not None and self.gate.withdraw():
            self.set_exception(NotStored(WITHDRAWN))
        else:
            patience_s = PATIENCE_S if self.gate is None else LAST_MOMENT_S
            self.get_loop().call_later(patience_s, self._set_unknown)
        return False

    def _set_unknown(self) -> None:
        if not self.done():
            self.set_exception(OutcomeUnknown())

    def _copy_result(self, future: "asyncio.Future[T]") -> None:
        if future.cancelled():
            super().cancel()
        elif (error := future.exception()) is None:
            if not self.done():
                self.set_result(future.result())
        elif not self.done():
            self.set_exception(error)


async def to_the_end(future: "asyncio.Future[T]", gate: Gate | None = None) -> T:
    """Wait for an operation in progress, even if the waiting task is cancelled: see ``UncancellableFuture``.

    Args:
        future: The operation.
        gate: Withdraws it if the task is cancelled before it has begun.

    Raises:
        NotStored: It was withdrawn.
        OutcomeUnknown: No answer came within ``ANSWER_S``, or soon after a cancellation.
    """
    answer: UncancellableFuture[T]
    limit: asyncio.TimerHandle | None = None
    if isinstance(future, UncancellableFuture):
        answer = future
    else:
        loop = asyncio.get_running_loop()
        answer = UncancellableFuture(loop=loop)
        limit = loop.call_later(ANSWER_S, answer._set_unknown)
        future.add_done_callback(answer._copy_result)
    answer.gate = gate
    try:
        return await answer
    except asyncio.CancelledError:
        return answer.result()
    finally:
        if limit is not None:
            limit.cancel()
