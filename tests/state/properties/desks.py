"""Who writes to one order, what they tried, and what came of it, as two state machines look at it."""

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from state.commands import ORDER_COMMANDS, OrderCommand
from state.context import OrderContext
from state.order import OrderState
from state.shared import Applied, Command, HandOver, SharedState, SqlStore, StoredState
from tests.state.bistro import Bistro
from tests.state.properties.laws import Law, check_against_the_card, relied_on
from tests.state.properties.rounds import HandTurnedLoop, HeldJournal

T = TypeVar("T")
Order = SharedState[OrderState, OrderContext]


@dataclass(eq=False)
class Desk:
    """Somebody's hold on the order: a process that has it, or one that writes beside it.

    Args:
        shared: The order as it is seen there.
        journal: Where it is written.
        store: Which process's connection that is.
        lost_at: The version at which another one took it.
        told: The versions that a subscriber heard of.
    """

    shared: Order
    journal: HeldJournal | None = None
    store: SqlStore | None = None
    lost_at: int | None = None
    told: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._begun = self._last = self.shared.version
        self.shared.subscribe(lambda applied: self.told.append(applied.version))

    @classmethod
    def opened(
        cls, stored: StoredState, store: SqlStore, loop: HandTurnedLoop, bistro: Bistro
    ) -> "Desk":
        """Go on with a stored order, with the disk's answers kept until they are let in."""
        held = HeldJournal(stored.journal, loop)
        stored = replace(stored, journal=held)
        return cls(SharedState.restored(stored, OrderState, bistro.context), held, store)

    def check(self, book: "Book") -> None:
        """Versions only rise, one by one, each told once; memory is what was written down."""
        version = self.shared.version
        assert version >= self._last
        self._last = version
        assert self.told == [*range(self._begun + 1, version + 1)]
        assert self.shared.state == book.state(version)
        assert self.shared.speaker == book.speaker(version)


@dataclass(frozen=True, eq=False)
class Attempt:
    """A write that was begun.

    Args:
        actor: A name of its own, by which its entry is known.
        desk: Where it was begun.
    """

    actor: str
    desk: Desk
    commands: tuple[Command[Any, Any], ...]
    key: str | None
    seen: int | None
    task: "asyncio.Task[Applied[OrderState]]"

    @property
    def written(self) -> list[dict[str, Any]]:
        return [command.written() for command in self.commands]

    def outcome(self) -> Applied[OrderState] | BaseException:
        """What the writer was told."""
        try:
            return self.task.result()
        except BaseException as error:
            return error


@dataclass(frozen=True)
class Row:
    """One entry: as stored on the disk, or as reported to subscribers without a disk."""

    commands: list[dict[str, Any]]
    actor: str
    key: str | None
    state: OrderState
    speaker: str | None = None


class Book:
    """All that was written down, checked as it is written."""

    def __init__(self, first: OrderState, speaker: str) -> None:
        self.rows: list[Row] = []
        self._first, self._first_speaker = first, speaker
        self._law = Law()

    def state(self, version: int) -> OrderState:
        """The order at a version."""
        return self.rows[version - 1].state if version else self._first

    def speaker(self, version: int) -> str | None:
        """Who speaks at a version."""
        return self.rows[version - 1].speaker if version else self._first_speaker

    def write(self, row: Row, bistro: Bistro) -> None:
        """Take in an entry: it is its commands folded over the entry before, and keeps every law."""
        version = len(self.rows)
        assert row.key is None or row.key not in [known.key for known in self.rows]
        assert row.actor not in [known.actor for known in self.rows]
        state, speaker = self.state(version), self.speaker(version)
        context = OrderContext(
            menu=bistro.menu, now=bistro.context.now, new_id=_ids(state, row.state).__next__
        )
        for written in row.commands:
            if written["op"] == "hand_over":
                speaker = HandOver.model_validate(written).target
                continue
            command: OrderCommand = ORDER_COMMANDS.validate_python(written)
            before, state = state, command.apply(state, context)
            self._law.follow(before, state, command.op)
        assert state == row.state
        assert row.speaker in (None, speaker)
        check_against_the_card(row.state)
        self.rows.append(replace(row, speaker=speaker))

    def check_acknowledged(self, attempt: Attempt, told: Applied[OrderState]) -> None:
        """A writer's result equals the stored one, decided on the version it had seen."""
        assert 1 <= told.version <= len(self.rows)
        row = self.rows[told.version - 1]
        assert (row.commands, row.key) == (attempt.written, attempt.key)
        assert (row.state, row.speaker) == (told.state, told.speaker)
        if row.actor != attempt.actor:
            assert attempt.key is not None  # asked a second time, answered with the first
        elif attempt.seen is not None:
            assert attempt.seen < told.version
            seen, found = self.state(attempt.seen), self.state(told.version - 1)
            first = attempt.commands[0]
            if isinstance(first, OrderCommand):
                assert relied_on(seen, first) == relied_on(found, first)

    def check_refused(self, attempt: Attempt, told: BaseException) -> None:
        """Nothing of it is stored."""
        assert attempt.actor not in [row.actor for row in self.rows], f"told {told!r}"

    def other_commands_under(self, attempt: Attempt) -> bool:
        """Whether the key of an attempt is stored with other commands."""
        return any(row.key == attempt.key and row.commands != attempt.written for row in self.rows)


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Carry out what is not part of the play: opening, taking, closing."""
    return asyncio.run(work)


def one_fold(commands: Sequence[Command[Any, Any]]) -> bool:
    """Whether these can be folded a second time without knowing the ids that notes were given."""
    ops = {command.op for command in commands}
    return "add_note" not in ops or not ops & {"change_note", "remove_note"}


def _ids(before: OrderState, after: OrderState) -> Iterator[str]:
    known = {note.id for note in before.notes}
    yield from (note.id for note in after.notes if note.id not in known)
