"""An event loop that a test turns by hand, and a journal whose answers come when the test lets them in.

Nothing waits for a clock or for luck here. A round is one turn of the loop, so that a writer can be
cancelled at each await. What the database's thread answers is kept until it is let in: the same
moves lead to the same outcome, and a failure can be shrunk.
"""

import asyncio
import queue
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextvars import Context
from typing import TypeVarTuple

from state.shared import Entry, Journal, NotStored

Values = TypeVarTuple("Values")
_PATIENCE_S = 30.0
"""How long the database's thread may take before the test gives it up: a hang, not a wait."""


class HandTurnedLoop(asyncio.SelectorEventLoop):
    """A loop with a clock of its own that only runs when it is turned."""

    def __init__(self) -> None:
        self.clock = 0.0
        super().__init__()
        self._answers: queue.SimpleQueue[tuple[int, Callable[[], object]]] = queue.SimpleQueue()
        self._kept: defaultdict[int, deque[Callable[[], object]]] = defaultdict(deque)
        self._asked = 0

    def time(self) -> float:
        return self.clock

    def call_soon_threadsafe(
        self,
        callback: Callable[[*Values], object],
        *args: *Values,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """Keep what a thread answers; nothing else calls this."""
        self._answers.put((threading.get_ident(), lambda: callback(*args)))
        return asyncio.Handle(callback, args, self, context)

    def turn(self) -> None:
        """Run everything that can go on now, once; the answers to what was asked then are there."""
        self.call_soon(self.stop)
        self.run_forever()
        self.collect()

    def asked(self) -> None:
        """A thread has been asked something, or is about to be within this round."""
        self._asked += 1

    def collect(self) -> None:
        """Wait until every question has its answer, and keep the answers."""
        while self._asked:
            thread, answer = self._answers.get(timeout=_PATIENCE_S)
            self._kept[thread].append(answer)
            self._asked -= 1

    @property
    def kept(self) -> int:
        """How many answers wait to be let in."""
        return sum(len(answers) for answers in self._kept.values())

    def redact_input(self, which: int) -> None:
        """Let one answer in; those of one thread come in their order."""
        waiting = [answers for answers in self._kept.values() if answers]
        if waiting:
            self.call_soon(waiting[which % len(waiting)].popleft())


class HeldJournal:
    """A journal in front of another one: writes at once, answers when it is let in.

    Args:
        journal: The real one.
        loop: Keeps its answers.
    """

    def __init__(self, journal: Journal, loop: HandTurnedLoop) -> None:
        self._journal = journal
        self._loop = loop
        self.trouble = 0
        """How many of the next entries cannot be written."""
        self.closed = False
        """Whether the thread behind it has ended, so that nothing is answered any more."""

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        """Write now, and keep the answer."""
        if self.trouble:
            self.trouble -= 1
            return self._refused()
        # What others asked for before is done first, so that two threads never race.
        self._loop.collect()
        written = self._journal.append(entry)
        if not self.closed:
            self._loop.asked()
            self._loop.collect()
        return written

    async def after(self, version: int) -> Sequence[Entry]:
        """Read now; the answer is kept."""
        self._loop.collect()
        if not self.closed:
            self._loop.asked()
        return await self._journal.after(version)

    def _refused(self) -> "asyncio.Future[None]":
        written: asyncio.Future[None] = self._loop.create_future()
        self._loop.asked()
        self._loop.call_soon_threadsafe(written.set_exception, NotStored("the disk is full"))
        self._loop.collect()
        return written
