"""What a shared state writes down before anybody hears that it is done."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar

from pydantic import JsonValue

from state.shared.command import WHOLE
from state.shared.errors import JournalFault, OutcomeUnknown

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a journal: what was asked, by whom, and the state it led to.

    Args:
        version: The version this entry made; the first one is 1.
        commands: The commands as JSON objects, each with its ``op``.
        state: The whole resulting state as JSON text.
        speaker: Who speaks after it.
        actor: Who wrote it.
        key: The writer's idempotency key, if he gave one.
        body: A fingerprint of what came with that key.
        touched: The parts that changed, so that others who read it know what it conflicts with.
        turn: The last turn whose words it acts on, and with it all before; ``None`` when it acts on none.
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


class VersionTaken(Exception):
    """Somebody who need not hold the state wrote this version first: reload and try again."""


class Journal(Protocol):
    """One state's journal, as one process may write it."""

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        """Start writing an entry down; the future ends when it is on disk, or when it never will be.

        The future must end by itself, whoever waits for it or stops waiting.

        Raises (through the future):
            NotStored, JournalFault: It could not be written; the journal is as before.
            OutcomeUnknown: It may have been written, and nobody can say.
            VersionTaken: The version exists, and this process still may write.
            TakenOver: Another process holds the state.
        """
        ...

    async def after(self, version: int) -> Sequence[Entry]:
        """Read the entries above a version, oldest first.

        Raises:
            JournalFault: They cannot be read.
        """
        ...


class Gate:
    """Decides once whether something is written or withdrawn: whoever asks first has it. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun: bool | None = None

    @property
    def begun(self) -> bool:
        """Whether its writing has begun."""
        return self._begun is True

    def begin(self) -> bool:
        """Begin to write; returns whether it was not withdrawn before. May be asked again."""
        return self._decide(begun=True)

    def withdraw(self) -> bool:
        """Withdraw it; returns whether its writing had not begun, so that it never will."""
        return not self._decide(begun=False)

    def _decide(self, *, begun: bool) -> bool:
        with self._lock:
            if self._begun is None:
                self._begun = begun
            return self._begun


@dataclass(frozen=True, slots=True)
class Moment:
    """Something of a call that is kept beside the changes: what was heard or said, or what it cost.

    Args:
        turn: The number of things the guest had said by then.
        kind: What it is; the application's own word.
        who: Whose it is: the guest, or an agent.
        text: What was said.
        at: When it was written down, aware; ``None`` before that.
        gate: Lets it be withdrawn until its writing begins: under the locks of its transaction, so that waiting
            for them is no beginning.
    """

    turn: int
    kind: str
    who: str
    text: str
    at: datetime | None = None
    gate: Gate | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Stored:
    """A state as its journal gives it back: how it began, what became of it, and where to go on.

    Args:
        state_id: Its id.
        ordinal: Its place among its owner's states; the first one is 1.
        opened_at: When it was first stored, aware.
        initial: The state as it began, as JSON text.
        first_speaker: Who spoke then.
        entries: Everything that happened to it, oldest first.
        journal: Where its changes are written.
    """

    state_id: str
    ordinal: int
    opened_at: datetime
    initial: str
    first_speaker: str | None
    entries: tuple[Entry, ...]
    journal: Journal

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
        """Who speaks at present."""
        return self.entries[-1].speaker if self.entries else self.first_speaker


@dataclass(frozen=True, slots=True)
class Listed:
    """One state in a list of them.

    Args:
        state_id: Its id.
        ordinal: Its place among its owner's states.
        owner: Whose it is.
        version: Its present version.
        state: The present state as JSON text; ``None`` when it cannot be read.
        speaker: Who speaks at present.
        fault: Why it cannot be read.
    """

    state_id: str
    ordinal: int
    owner: str
    version: int
    state: str | None
    speaker: str | None
    fault: JournalFault | None = None


ANSWER_S = 20.0
"""How long a journal may take to say what became of a row, in seconds: longer than one with a deadline needs."""

PATIENCE_S = 10.0
"""How long one who was cancelled waits on for that answer, in seconds."""


class UncancellableFuture(asyncio.Future[T]):
    """What becomes of something that cannot be called back: a row that is on its way to the disk.

    A task that is cancelled while it awaits this gets the true outcome instead of the cancellation. What the
    task does next is no longer cancelled, and ``asyncio.timeout`` around it does not raise (CPython 3.11).

    Raises:
        OutcomeUnknown: There was no outcome for some time after a cancellation.
    """

    def cancel(self, msg: object = None) -> bool:
        """Refuse; from now on the outcome is waited for during ``PATIENCE_S`` at most."""
        if not self.done():
            self.get_loop().call_later(PATIENCE_S, self._set_unknown)
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


async def to_the_end(future: "asyncio.Future[T]") -> T:
    """Wait for what is already under way, even when the task that waits is cancelled: see ``UncancellableFuture``.

    Raises:
        OutcomeUnknown: No answer came for a long time, or for some time after a cancellation.
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
    try:
        return await answer
    except asyncio.CancelledError:
        return answer.result()
    finally:
        if limit is not None:
            limit.cancel()
