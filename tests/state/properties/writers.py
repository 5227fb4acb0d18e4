"""The moves of concurrent writers of one order, and the invariants after each move."""

import json
import sqlite3
from asyncio import CancelledError, Task
from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from state.order import OrderState
from state.shared import (
    Applied,
    Busy,
    Command,
    HandOver,
    JournalFault,
    KeyReused,
    NotStored,
    OutcomeUnknown,
    Refused,
    SharedState,
    SqlStore,
    Stale,
    TakenOver,
)
from tests.state.bistro import Bistro
from tests.state.properties.desks import Attempt, Book, Desk, Row, at_once, one_fold
from tests.state.properties.doings import ENDS, GUEST, STAFF, next_step
from tests.state.properties.rounds import HandTurnedLoop

_MOST_ROUNDS = 500
_numbers = count(1)

hand_overs = st.builds(HandOver, target=st.sampled_from(["order_taker", "payment"]))
who = st.sampled_from(["agent", "page", "staff", "old"])
which = st.integers(0, 40)
batches = st.lists(
    st.one_of(GUEST, GUEST, GUEST, STAFF, hand_overs), min_size=1, max_size=3
).filter(one_fold)
behind = st.sampled_from([None, None, 0, 0, 1, 3, -1])
"""How old the writer's picture of the order is, in versions; ``None``: not given."""
keys = st.sampled_from([None, None, "new", "new", "again", "other"])
Write = tuple[str, Sequence[Command[Any, Any]], int | None, str | None, int]
writes: st.SearchStrategy[Write] = st.tuples(who, batches, behind, keys, which)


class InMemory(RuleBasedStateMachine):
    """One order without a journal, and the writers of one process."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = HandTurnedLoop()
        self.bistro = Bistro()
        self.book = Book(self.bistro.order(), "greeter")
        self.attempts: list[Attempt] = []
        self.under_way: list[Attempt] = []
        self.looking: list[Task[int]] = []
        self.cancelled: set[str] = set()
        self.done: list[Applied[OrderState]] = []
        self.main = self.begun()
        self.staff = self.old = self.main

    def begun(self) -> Desk:
        shared = SharedState(self.book.state(0), self.bistro.context, speaker="greeter")
        shared.subscribe(self.done.append)
        return Desk(shared)

    # -- the moves --------------------------------------------------------------------------------

    @rule(
        writes=st.lists(writes, min_size=1, max_size=4),
        rounds=st.sampled_from([None, None, 1, 2, 3, 5]),
        which=which,
    )
    def write(self, writes: list[Write], rounds: int | None, which: int) -> None:
        """Several begin at once; after some rounds one of those at work may be cancelled."""
        for write in writes:
            self.begins(write)
        if rounds is not None:
            self.turns(rounds)
            self.all_is_well()
            self.is_cancelled(which, at_once=False)

    def begins(self, write: Write) -> None:
        who, commands, behind, key, which = write
        keyed = [attempt for attempt in self.attempts if attempt.key]
        if key in ("again", "other") and keyed:
            before = keyed[which % len(keyed)]
            key = before.key
            commands = commands if which % 2 else before.commands
        elif key is not None:
            key = f"key-{len(self.attempts)}"
        version = self.desk(who).shared.version
        seen = None if behind is None else max(0, version - behind)
        self.begin(who, commands, key, seen)

    @rule(who=who, keyed=st.booleans())
    def goes_on(self, who: str, keyed: bool) -> None:
        shared = self.desk(who).shared
        key = f"key-{len(self.attempts)}" if keyed else None
        self.begin(who, [next_step(shared.state)], key, shared.version)
        self.settle()

    @rule(who=who, end=ENDS, really=st.integers(0, 5))
    def ends(self, who: str, end: Command[Any, Any], really: int) -> None:
        if not really:
            self.begin(who, [end], None, None)

    @rule(rounds=st.integers(1, 4))
    def turns(self, rounds: int) -> None:
        for _ in range(rounds):
            self.loop.turn()

    @rule(which=which)
    def asks_again(self, which: int) -> None:
        """A repeated acknowledged write gets the first answer, also from another holder."""
        # What staff wrote beside the holder is known to the holder after a refresh.
        self.looks("agent")
        self.settle()
        self.all_is_well()
        keyed = [row for row in self.book.rows if row.key]
        journal = self.main.journal
        if not keyed or (journal is not None and journal.closed):
            return
        if journal is not None:
            journal.trouble = 0
        row = keyed[which % len(keyed)]
        before = next(attempt for attempt in self.attempts if attempt.actor == row.actor)
        self.begin("agent", before.commands, row.key, None)
        self.settle()
        told = self.attempts[-1].outcome()
        assert isinstance(told, Applied), f"told {told!r}"
        assert self.book.rows[told.version - 1] is row

    @rule(which=which, at_once=st.booleans())
    def is_cancelled(self, which: int, at_once: bool) -> None:
        if not self.under_way:
            return
        attempt = self.under_way[which % len(self.under_way)]
        attempt.task.cancel()
        self.cancelled.add(attempt.actor)
        if at_once:
            self.loop.turn()

    @rule(minutes=st.sampled_from([0, 1, 20, 40]), seconds=st.sampled_from([0, 1, 6, 12]))
    def time_passes(self, minutes: int, seconds: int) -> None:
        self.bistro.wait(minutes=minutes)
        self.loop.clock += seconds

    @rule(who=who)
    def looks(self, who: str) -> None:
        self.looking.append(self.loop.create_task(self.desk(who).shared.refresh()))

    @rule()
    @precondition(lambda self: self.under_way)
    def settles(self) -> None:
        self.settle()

    # -- what has to hold after each move -------------------------------------------------------------

    @invariant()
    def all_is_well(self) -> None:
        for row in self.new_rows():
            self.book.write(row, self.bistro)
        for desk in {self.main, self.staff, self.old}:
            desk.check(self.book)
        for attempt in [*self.under_way]:
            if attempt.task.done():
                self.under_way.remove(attempt)
                self.judge(attempt)

    def judge(self, attempt: Attempt) -> None:
        """Compare what a writer was told with what was written."""
        told = attempt.outcome()
        if isinstance(told, Applied):
            self.book.check_acknowledged(attempt, told)
            return
        if isinstance(told, OutcomeUnknown):
            # The disk was asked and kept silent for too long. Whether it is there, the book knows.
            assert attempt.desk.journal is not None
            return
        self.book.check_refused(attempt, told)
        match told:
            case CancelledError():
                assert attempt.actor in self.cancelled
            case KeyReused():
                assert self.book.other_commands_under(attempt)
            case TakenOver():
                assert attempt.desk.lost_at is not None
            case Stale():
                assert attempt.seen != told.facts["version"]
            case Refused() | Busy() | NotStored():
                pass
            case _:
                raise told

    def teardown(self) -> None:
        self.settle()
        self.all_is_well()
        assert not self.under_way
        for attempt in self.attempts:
            self.judge(attempt)
        told = {attempt.actor: attempt.outcome() for attempt in self.attempts}
        known = {one.version for one in told.values() if isinstance(one, Applied)}
        for version, row in enumerate(self.book.rows, 1):
            assert version in known or isinstance(told[row.actor], OutcomeUnknown)
        self.loop.close()

    # -- how the moves are made -----------------------------------------------------------------------

    def desk(self, who: str) -> Desk:
        return {"staff": self.staff, "old": self.old}.get(who, self.main)

    def begin(
        self, who: str, commands: Sequence[Command[Any, Any]], key: str | None, seen: int | None
    ) -> None:
        desk, actor = self.desk(who), f"{who}#{len(self.attempts)}"
        writing = desk.shared.apply(*commands, actor=actor, key=key, seen=seen)
        task = self.loop.create_task(writing)
        attempt = Attempt(actor, desk, tuple(commands), key, seen, task)
        self.attempts.append(attempt)
        self.under_way.append(attempt)

    def settle(self) -> None:
        """Let everything come to its end, which it has to."""
        for _ in range(_MOST_ROUNDS):
            self.loop.turn()
            while self.loop.kept:
                self.loop.redact_input(0)
            working = [*(attempt.task for attempt in self.attempts), *self.looking]
            if all(task.done() for task in working):
                break
        else:
            raise AssertionError("somebody waits for ever")
        for task in self.looking:
            assert isinstance(task.exception(), Busy | JournalFault | None)
        self.looking.clear()

    def new_rows(self) -> list[Row]:
        by_actor = {attempt.actor: attempt for attempt in self.attempts}
        rows = [
            Row(by_actor[done.actor].written, done.actor, by_actor[done.actor].key, done.state)
            for done in self.done
        ]
        self.done.clear()
        return rows


class OnDisk(InMemory):
    """One order in a database: held by one process, written beside by another, taken anew at any time."""

    file: ClassVar[Path]
    stores: ClassVar[list[SqlStore]]

    def __init__(self) -> None:
        super().__init__()
        self.staff = self.beside(1)

    @classmethod
    def over(cls, file: Path) -> type["OnDisk"]:
        """Play over the orders of this file; two processes have it open."""
        cls.file, cls.stores = file, [_store(file), _store(file)]
        return cls

    def begun(self) -> Desk:
        self.order_id = f"o-{next(_numbers)}"
        text = self.book.state(0).model_dump_json()
        self.reader = sqlite3.connect(self.file)
        store = self.stores[0]
        stored = at_once(store.create(self.order_id, lambda _: text, speaker="greeter"))
        return Desk.opened(stored, store, self.loop, self.bistro)

    @rule(which=which, round_too=st.booleans())
    @precondition(lambda self: self.loop.kept)
    def the_disk_answers(self, which: int, round_too: bool) -> None:
        self.loop.redact_input(which)
        if round_too:
            self.loop.turn()

    @rule(who=who, entries=st.integers(1, 2))
    def the_disk_is_full(self, who: str, entries: int) -> None:
        journal = self.desk(who).journal
        if journal is not None:
            journal.trouble = entries

    @rule(store=st.integers(0, 1), what=st.sampled_from([*"mmmsssr", *"-" * 7]))
    def is_opened_anew(self, store: int, what: str) -> None:
        """Another process goes on with the order, or staff look at it again, or a process starts again.

        A write under way when the order was taken over continues as well.
        """
        if what == "r":
            self.starts_again(store)
        if what in "mr":
            self.old, self.main = self.main, self.taken(store)
        if what in "sr":
            self.staff = self.beside(store)

    def starts_again(self, number: int) -> None:
        """A process finishes what it was asked, lets go of the file, and opens it anew."""
        self.settle()
        store = self.stores[number]
        at_once(store.close())
        for desk in (self.main, self.old, self.staff):
            if desk.journal is not None and desk.store is store:
                desk.journal.closed = True
        self.stores[number] = _store(self.file)

    def taken(self, number: int) -> Desk:
        store = self.stores[number]
        stored = at_once(store.take(self.order_id))
        self.main.lost_at = stored.version
        return Desk.opened(stored, store, self.loop, self.bistro)

    def beside(self, number: int) -> Desk:
        store = self.stores[number]
        stored = at_once(store.read(self.order_id))
        return Desk.opened(stored, store, self.loop, self.bistro)

    def new_rows(self) -> list[Row]:
        found = self.reader.execute(
            "SELECT version, commands, actor, key, state, speaker FROM entries"
            " WHERE state_id = ? AND version > ? ORDER BY version",
            (self.order_id, len(self.book.rows)),
        ).fetchall()
        first = len(self.book.rows) + 1
        assert [version for version, *_ in found] == [*range(first, first + len(found))]
        desks = {attempt.actor: attempt.desk for attempt in self.attempts}
        for version, _, actor, *_ in found:
            lost_at = desks[actor].lost_at
            assert lost_at is None or version <= lost_at
        return [
            Row(json.loads(said), actor, key, OrderState.model_validate_json(state), speaker)
            for _, said, actor, key, state, speaker in found
        ]

    def teardown(self) -> None:
        with closing(self.reader):
            super().teardown()
        self.is_all_there()

    def is_all_there(self) -> None:
        """Who takes the order next finds every entry, and the same order."""
        stored = at_once(self.stores[0].take(self.order_id))
        desk = Desk(SharedState.restored(stored, OrderState, self.bistro.context))
        desk.check(self.book)
        assert desk.shared.version == len(self.book.rows)
        for entry, row in zip(stored.entries, self.book.rows, strict=True):
            assert (entry.actor, entry.key) == (row.actor, row.key)
            assert OrderState.model_validate_json(entry.state) == row.state


def _store(file: Path) -> SqlStore:
    return SqlStore(f"sqlite:///{file}", owner="blue-door", schema=1)
