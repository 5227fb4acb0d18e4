"""One state, one writer at a time, whole changes, and everybody told."""

import asyncio
import pickle
from collections.abc import Sequence

import pytest
from pydantic import ValidationError

from state.shared import (
    Applied,
    Busy,
    Entry,
    HandOver,
    JournalFault,
    NotStored,
    Refused,
    SharedState,
    Stale,
    StateError,
    TakenOver,
    VersionTaken,
)
from tests.state.shared.board import (
    Board,
    Paper,
    Rename,
    Score,
    Stumble,
    board,
    points,
    stored_from,
)


async def test_a_change_replaces_the_state_and_counts_one_version() -> None:
    shared = board()
    before = shared.state

    applied = await shared.apply(Score(name="ann", by=3), actor="judge")

    assert shared.state == Board(scores={"ann": 3})
    assert (shared.version, before) == (1, Board())
    assert applied == Applied(before, shared.state, 1, None, ("score",), "judge")


async def test_several_commands_are_one_change() -> None:
    paper = Paper()
    shared = board(journal=paper)

    applied = await shared.apply(Score(name="ann"), Rename(title="Final"), actor="judge")

    assert shared.state == Board(title="Final", scores={"ann": 1})
    assert (shared.version, applied.ops) == (1, ("score", "rename"))
    assert paper.entries[0].commands == (
        {"op": "score", "name": "ann", "by": 1},
        {"op": "rename", "title": "Final"},
    )
    assert paper.entries[0].touched == ("scores/ann", "title")


async def test_of_several_commands_all_happen_or_none() -> None:
    paper = Paper()
    shared = board(journal=paper)

    with pytest.raises(Refused):
        await shared.apply(Score(name="ann"), Score(name="bob", by=101), actor="judge")

    assert (shared.state, shared.version, paper.entries) == (Board(), 0, [])


async def test_a_command_that_fails_by_mistake_changes_nothing_and_blocks_nobody() -> None:
    shared = board()

    with pytest.raises(ZeroDivisionError):
        await shared.apply(Score(name="ann"), Stumble(), actor="judge")
    await shared.apply(Score(name="bob"), actor="judge")

    assert (shared.state.scores, shared.version) == ({"bob": 1}, 1)


async def test_asking_for_nothing_is_a_programmers_mistake() -> None:
    with pytest.raises(ValueError, match="needs a command"):
        await board().apply(actor="judge")


async def test_the_state_cannot_be_edited() -> None:
    with pytest.raises(ValidationError):
        board().state.title = "Mine"  # type: ignore[misc]  # that is the point


async def test_a_handover_changes_who_speaks_and_nothing_else() -> None:
    paper = Paper()
    shared = board(journal=paper, speaker="ann")

    await shared.apply(HandOver(source="ann", target="bob"), actor="ann")

    assert (shared.speaker, shared.state, shared.version) == ("bob", Board(), 1)
    assert (paper.entries[0].speaker, paper.entries[0].touched) == ("bob", ())


async def test_writers_take_turns_and_none_is_lost() -> None:
    shared = board(journal=Paper(rounds=3))

    await asyncio.gather(*(shared.apply(Score(name="ann"), actor=str(n)) for n in range(20)))

    assert (shared.version, points(shared)) == (20, 20)


async def test_what_cannot_be_stored_did_not_happen() -> None:
    paper = Paper(trouble=lambda entry: NotStored("the disk is full"))
    shared = board(journal=paper)

    with pytest.raises(NotStored) as refusal:
        await shared.apply(Score(name="ann"), actor="judge", key="k")
    paper.trouble = lambda entry: None
    await shared.apply(Score(name="ann"), actor="judge", key="k")

    assert refusal.value.facts == {"why": "the disk is full"}
    assert (shared.version, points(shared)) == (1, 1)


class TestWaiting:
    async def test_a_wait_for_another_writer_times_out_as_busy(self) -> None:
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        class Stuck(Paper):
            def append(self, entry: Entry) -> "asyncio.Future[None]":
                return never

        shared = board(journal=Stuck(), wait_s=0.01)
        first = asyncio.create_task(shared.apply(Score(name="ann"), actor="first"))
        await asyncio.sleep(0)

        with pytest.raises(Busy) as refusal:
            await shared.apply(Score(name="bob"), actor="second")
        never.set_result(None)
        await first

        assert refusal.value.facts == {"waited_s": 0.01}
        assert shared.state.scores == {"ann": 1}

    async def test_the_limit_holds_in_the_moment_between_two_writers(self) -> None:
        """The lock is free then, and promised to the waiter: a third one must not wait for ever."""
        gates: list[asyncio.Future[None]] = []

        class Gated(Paper):
            def append(self, entry: Entry) -> "asyncio.Future[None]":
                gates.append(asyncio.get_running_loop().create_future())
                return gates[-1]

        shared = board(journal=Gated())
        first = asyncio.create_task(shared.apply(Score(name="ann"), actor="first"))
        await asyncio.sleep(0)
        second = asyncio.create_task(shared.apply(Score(name="ann"), actor="second"))
        await asyncio.sleep(0)
        late: list[asyncio.Task[Applied[Board]]] = []

        def come_late(applied: Applied[Board]) -> None:
            if not late:  # the first one is about to let go, the second has not begun
                shared._wait_s = 0.01  # for the third only: the second waits as long as it takes
                loop = asyncio.get_running_loop()
                late.append(loop.create_task(shared.apply(Score(name="ann"), actor="late")))

        shared.subscribe(come_late)
        gates[0].set_result(None)
        await first

        with pytest.raises(Busy):
            await late[0]
        gates[1].set_result(None)
        await second


class TestSubscribers:
    async def test_are_told_after_the_change_counts(self) -> None:
        shared = board(speaker="ann")
        told: list[tuple[Board, Board, int, tuple[str, ...]]] = []
        shared.subscribe(
            lambda applied: told.append((applied.before, shared.state, shared.version, applied.ops))
        )

        await shared.apply(Score(name="ann"), actor="judge")

        assert told == [(Board(), Board(scores={"ann": 1}), 1, ("score",))]

    async def test_hear_nothing_of_what_was_refused(self) -> None:
        shared = board()
        told: list[Applied[Board]] = []
        shared.subscribe(told.append)

        with pytest.raises(Refused):
            await shared.apply(Score(name="ann", by=101), actor="judge")

        assert told == []

    async def test_one_that_fails_harms_neither_the_writer_nor_the_others(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        shared = board()
        told: list[int] = []

        def fail(applied: Applied[Board]) -> None:
            raise RuntimeError("not today")

        shared.subscribe(fail)
        shared.subscribe(lambda applied: told.append(applied.version))

        await shared.apply(Score(name="ann"), actor="judge")

        assert (shared.version, told) == (1, [1])
        assert "a subscriber failed" in caplog.text

    async def test_can_leave_even_while_they_are_told(self) -> None:
        shared = board()
        told: list[str] = []

        def once(applied: Applied[Board]) -> None:
            told.append("once")
            leave()

        leave = shared.subscribe(once)
        shared.subscribe(lambda applied: told.append("always"))
        await shared.apply(Score(name="ann"), actor="judge")
        await shared.apply(Score(name="ann"), actor="judge")
        leave()

        assert told == ["once", "always", "always"]


class TestOthersWriteToo:
    async def test_what_they_wrote_is_taken_in_and_the_change_made_on_top(self) -> None:
        paper = Paper(trouble=lambda entry: VersionTaken() if entry.version == 1 else None)
        paper.somebody_wrote(Board(title="Final"), touched=("title",))
        shared = board(journal=paper)
        told: list[tuple[int, str, str]] = []
        shared.subscribe(
            lambda applied: told.append((applied.version, applied.actor, applied.before.title))
        )

        await shared.apply(Score(name="ann"), actor="judge")

        assert shared.state == Board(title="Final", scores={"ann": 1})
        assert (shared.version, shared.speaker) == (2, "staff")
        assert told == [(1, "staff", "Friday"), (2, "judge", "Final")]

    async def test_it_is_refused_when_they_changed_what_it_was_decided_on(self) -> None:
        paper = Paper(trouble=lambda entry: VersionTaken() if entry.version == 1 else None)
        paper.somebody_wrote(Board(title="Final"), touched=("title",))
        shared = board(journal=paper)

        with pytest.raises(Stale) as refusal:
            await shared.apply(Rename(title="Mine"), actor="judge", seen=0)

        assert refusal.value.facts == {"seen": 0, "version": 1}
        assert (shared.state.title, shared.version, len(paper.entries)) == ("Final", 1, 1)

    async def test_it_goes_through_when_they_changed_something_else(self) -> None:
        paper = Paper(trouble=lambda entry: VersionTaken() if entry.version == 1 else None)
        paper.somebody_wrote(Board(title="Final"), touched=("title",))
        shared = board(journal=paper)

        await shared.apply(Score(name="ann"), actor="judge", seen=0)

        assert shared.state == Board(title="Final", scores={"ann": 1})

    async def test_repeated_conflicts_end_as_busy(self) -> None:
        shared = board(journal=Paper(trouble=lambda entry: VersionTaken()))

        with pytest.raises(Busy):
            await shared.apply(Score(name="ann"), actor="judge")

        assert (shared.version, points(shared)) == (0, 0)

    @pytest.mark.parametrize("races", [6, 40])
    async def test_races_that_are_lost_are_run_again_as_long_as_others_get_ahead(
        self, races: int
    ) -> None:
        paper = Paper()

        def overtaken(entry: Entry) -> Exception | None:
            if len(paper.entries) == races:
                return None
            paper.somebody_wrote(Board(title=str(len(paper.entries))), touched=("title",))
            return VersionTaken()

        paper.trouble = overtaken
        shared = board(journal=paper)

        await shared.apply(Score(name="ann"), actor="judge")

        assert (shared.version, points(shared)) == (races + 1, 1)

    async def test_a_writer_that_is_overtaken_until_its_time_is_over_is_told_so(self) -> None:
        paper = Paper()

        def overtaken(entry: Entry) -> Exception | None:
            paper.somebody_wrote(Board(title=str(len(paper.entries))), touched=("title",))
            return VersionTaken()

        paper.trouble = overtaken
        shared = board(journal=paper, wait_s=0.02)

        with pytest.raises(Busy):
            await shared.apply(Score(name="ann"), actor="judge")

        assert points(shared) == 0
        assert shared.version > 5

    async def test_a_reader_can_refresh_too(self) -> None:
        paper = Paper()
        shared = board(journal=paper)
        paper.somebody_wrote(Board(title="Final"), touched=("title",))

        assert await shared.refresh() == 1

        assert (shared.state.title, shared.version) == ("Final", 1)
        with pytest.raises(Stale):
            await shared.apply(Rename(title="Mine"), actor="judge", seen=0)

    async def test_it_is_refused_when_what_they_wrote_cannot_be_read(self) -> None:
        class Torn(Paper):
            async def after(self, version: int) -> Sequence[Entry]:
                raise JournalFault("Version 1", "it is damaged")

        shared = board(journal=Torn(trouble=lambda entry: VersionTaken()))

        with pytest.raises(NotStored, match="it is damaged"):
            await shared.apply(Score(name="ann"), actor="judge")

        assert (shared.version, shared.state) == (0, Board())

    async def test_without_a_journal_there_is_nothing_to_take_in(self) -> None:
        assert await board().refresh() == 0

    async def test_what_is_no_state_of_this_kind_is_a_fault_without_its_values(self) -> None:
        paper = Paper()
        shared = board(journal=paper)
        paper.somebody_wrote(Board(), touched=())
        paper.entries[0] = Entry(1, (), '{"scores": {"ann": "4111"}, "title": 7}', None, "staff")

        with pytest.raises(JournalFault) as fault:
            await shared.refresh()

        assert (shared.version, shared.state) == (0, Board())
        assert "title" in fault.value.message
        assert "4111" not in fault.value.message


class TestTakenOver:
    async def test_a_superseded_holder_never_writes_again(self) -> None:
        paper = Paper(trouble=lambda entry: TakenOver())
        shared = board(journal=paper)

        with pytest.raises(TakenOver):
            await shared.apply(Score(name="ann"), actor="judge")
        paper.trouble = lambda entry: None
        with pytest.raises(TakenOver):
            await shared.apply(Score(name="ann"), actor="judge")

        assert shared.taken_over
        assert (shared.version, paper.entries) == (0, [])


class TestGoingOn:
    async def test_a_stored_state_goes_on_where_it_stood(self) -> None:
        paper = Paper()
        shared = board(journal=paper, speaker="ann")
        await shared.apply(Score(name="ann"), actor="judge")
        await shared.apply(HandOver(source="ann", target="bob"), actor="ann")
        stored = stored_from(paper)

        again = SharedState.restored(stored, Board, None)

        assert (again.state, again.version, again.speaker) == (shared.state, 2, "bob")

    async def test_one_to_which_nothing_happened_starts_as_it_began(self) -> None:
        again = SharedState.restored(stored_from(Paper()), Board, None)

        assert (again.state, again.version, again.speaker) == (Board(), 0, "ann")

    async def test_what_each_entry_touched_is_known_again(self) -> None:
        paper = Paper()
        shared = board(journal=paper)
        await shared.apply(Rename(title="Final"), actor="judge")
        await shared.apply(Score(name="ann"), actor="judge")
        again = SharedState.restored(stored_from(paper), Board, None)

        with pytest.raises(Stale):
            await again.apply(Score(name="ann"), actor="judge", seen=1)
        await again.apply(Rename(title="Last"), actor="judge", seen=1)

        assert again.state.title == "Last"

    async def test_what_is_not_known_of_the_past_conflicts_with_everything(self) -> None:
        shared = board(version=4)

        with pytest.raises(Stale):
            await shared.apply(Rename(title="Mine"), actor="judge", seen=3)
        await shared.apply(Rename(title="Mine"), actor="judge", seen=4)

        assert shared.version == 5


@pytest.mark.parametrize(
    "error",
    [
        StateError("no", a=1),
        Stale(1, 2),
        Busy(0.5),
        NotStored("x"),
        TakenOver(),
        JournalFault("it", "why"),
    ],
)
def test_an_error_survives_the_way_between_processes(error: StateError) -> None:
    again = pickle.loads(pickle.dumps(error))

    assert (type(again), again.message, again.facts) == (type(error), error.message, error.facts)
