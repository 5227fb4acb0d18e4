"""What was said in a call is kept in its order; what must go is gone from rows and files, for good."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from state.shared import (
    JournalFault,
    Moment,
    OtherOwner,
    SharedState,
    SqlStore,
    Stale,
    StoredState,
    TakenOver,
    UnknownState,
)
from tests.state.shared.board import Board, Rename, Score
from tests.state.shared.by_hand import by_hand

EMPTY = Board().model_dump_json()
SEVEN = datetime(2026, 11, 20, 19, 0, tzinfo=UTC)
NAME = "Žofie Nováková"


class Clock:
    """A minute later each time it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> datetime:
        self.asked += 1
        return SEVEN + timedelta(minutes=self.asked)


@pytest.fixture
async def store(address: str) -> AsyncIterator[SqlStore]:
    async with SqlStore(address, owner="club", schema=1, now=Clock()) as store:
        yield store


def going_on(stored: StoredState) -> SharedState[Board, None]:
    return SharedState.restored(stored, Board, None)


def heard(text: str, turn: int = 1) -> Moment:
    return Moment(turn, "heard", "guest", text)


async def with_a_name(store: SqlStore, state_id: str = "a") -> SharedState[Board, None]:
    """A held board with a person's name in every possible place."""
    begin = Board(title=f"Begun by {NAME}").model_dump_json()
    shared = going_on(await store.create(state_id, lambda ordinal: begin))
    await shared.apply(Score(name=NAME), actor="page", key=f"{NAME} 1")
    await shared.apply(Rename(title="Friday"), actor="page")
    await store.record(state_id, heard(f"I am {NAME}"))
    return shared


def without_the_name(
    state: str, commands: tuple[dict[str, Any], ...]
) -> tuple[str, tuple[dict[str, Any], ...]]:
    """What is left of a board when the name must go."""
    board = Board.model_validate_json(state)
    left = {name: points for name, points in board.scores.items() if name != NAME}
    title = "Friday" if NAME in board.title else board.title
    kept = tuple({"op": one["op"]} if one.get("name") == NAME else one for one in commands)
    return Board(title=title, scores=left).model_dump_json(), kept


def rows(address: str) -> str:
    """All content of the database's rows."""
    with by_hand(address) as hand:
        tables = ("states", "entries", "moments", "places")
        return repr([hand(f"SELECT * FROM {table}") for table in tables])


def bytes_beside(address: str) -> bytes:
    """All content of the files of a SQLite database."""
    file = Path(address.removeprefix("sqlite:///"))
    return b"".join(one.read_bytes() for one in sorted(file.parent.glob(f"{file.name}*")))


class TestWhatWasSaid:
    async def test_it_is_kept_in_its_order(self, store: SqlStore) -> None:
        await store.create("a", lambda ordinal: EMPTY)
        written = [
            store.record("a", heard(f"{number} {part}", number), heard(f"{number} end", number))
            for number in range(10)
            for part in "ab"
        ]
        await asyncio.gather(*written)

        said = await store.said("a")

        assert [moment.text for moment in said] == [
            text
            for number in range(10)
            for part in "ab"
            for text in (f"{number} {part}", f"{number} end")
        ]

    async def test_it_comes_back_as_it_was_said(self, store: SqlStore) -> None:
        await store.create("a", lambda ordinal: EMPTY)
        at = SEVEN - timedelta(days=1)
        moment = Moment(3, "said", "greeter", "Guten Abend, Žofie 👋", at)

        await store.record("a")
        await store.record("a", moment, heard("Hello", 4))

        said = await store.said("a")
        assert said[0] == moment
        assert (said[1].text, said[1].turn, said[1].at) == (
            "Hello",
            4,
            SEVEN + timedelta(minutes=2),
        )

    async def test_two_concurrent_erasures_lose_nothing(
        self, store: SqlStore, address: str
    ) -> None:
        await store.create("a", lambda ordinal: EMPTY)
        async with SqlStore(address, owner="club", schema=1) as another:
            for number in range(10):
                await asyncio.gather(
                    store.record("a", heard(f"one {number}")),
                    another.record("a", heard(f"two {number}")),
                )

        said = [moment.text for moment in await store.said("a")]

        assert [text for text in said if "one" in text] == [f"one {number}" for number in range(10)]
        assert [text for text in said if "two" in text] == [f"two {number}" for number in range(10)]

    async def test_of_a_state_that_is_not_there_nothing_is_kept(self, store: SqlStore) -> None:
        with pytest.raises(UnknownState):
            await store.record("nobody", heard("Hello"))
        with pytest.raises(UnknownState):
            await store.said("nobody")

    async def test_it_is_not_handed_to_another_owner(self, store: SqlStore, address: str) -> None:
        await store.create("a", lambda ordinal: EMPTY)
        async with SqlStore(address, owner="others", schema=1) as others:
            with pytest.raises(OtherOwner):
                await others.said("a")

    async def test_old_transcripts_are_deleted_per_owner(
        self, store: SqlStore, address: str
    ) -> None:
        at = [SEVEN, SEVEN + timedelta(hours=1), SEVEN + timedelta(hours=2)]
        async with SqlStore(address, owner="others", schema=1) as others:
            for one, state_id in ((store, "a"), (others, "b")):
                await one.create(state_id, lambda ordinal: EMPTY)
                moments = [
                    Moment(1, "heard", "guest", str(number), at[number]) for number in range(3)
                ]
                await one.record(state_id, *moments)

            assert [await store.eraser.last_said(one) for one in at] == [None, *at[:2]]
            assert await store.eraser.last_said(at[2] + timedelta(days=9)) == at[2]
            dropped = await store.eraser.drop_said(at[1].astimezone(ZoneInfo("America/New_York")))

            assert dropped == 1
            assert [moment.text for moment in await store.said("a")] == ["1", "2"]
            assert [moment.text for moment in await others.said("b")] == ["0", "1", "2"]
            assert (await store.eraser.last_said(at[1]), await others.eraser.last_said(at[1])) == (
                None,
                at[0],
            )
        async with SqlStore(address, owner=None, schema=1) as everybodys:
            assert await everybodys.eraser.drop_said(at[2]) == 1 + 2
            assert await everybodys.eraser.drop_said(at[2]) == 0

    async def test_new_transcript_rows_follow_the_remaining_ones(self, store: SqlStore) -> None:
        await store.create("a", lambda ordinal: EMPTY)
        await store.record("a", heard("old"))
        await store.eraser.drop_said(SEVEN + timedelta(days=1))
        await store.record("a", heard("new"), heard("newer"))

        assert [moment.text for moment in await store.said("a")] == ["new", "newer"]


class TestForgetting:
    async def test_a_rewritten_state_is_complete_and_has_no_erased_data(
        self, store: SqlStore, address: str
    ) -> None:
        shared = await with_a_name(store)
        await with_a_name(store, "b")

        await store.eraser.rewrite("a", without_the_name)

        stored = await store.read("a")
        assert (stored.initial, stored.version) == (EMPTY, shared.version)
        assert [Board.model_validate_json(entry.state) for entry in stored.entries] == [Board()] * 2
        assert [entry.commands[0]["op"] for entry in stored.entries] == ["score", "rename"]
        assert [(entry.key, entry.body) for entry in stored.entries] == [(None, None)] * 2
        assert await store.said("a") == []
        # The other one is unchanged.
        assert len(await store.said("b")) == 1
        assert NAME in (await store.read("b")).initial

    async def test_after_an_erasure_only_a_new_holder_can_write(self, store: SqlStore) -> None:
        shared = await with_a_name(store)

        await store.eraser.rewrite("a", without_the_name)

        with pytest.raises(TakenOver):
            await shared.apply(Rename(title="More"), actor="page")
        again = going_on(await store.take("a"))
        with pytest.raises(Stale):
            await again.apply(Rename(title="More"), actor="page", seen=1)
        await again.apply(Rename(title="More"), actor="page", seen=2)
        assert (await store.read("a")).version == again.version == 3

    async def test_one_that_fails_on_the_way_leaves_it_as_it_was(
        self, store: SqlStore, address: str
    ) -> None:
        shared = await with_a_name(store)
        before = rows(address)

        def fails_at_last(state: str, commands: Any) -> Any:
            if commands and commands[0]["op"] == "rename":
                raise ZeroDivisionError
            return without_the_name(state, commands)

        with pytest.raises(ZeroDivisionError):
            await store.eraser.rewrite("a", fails_at_last)

        assert rows(address) == before
        await shared.apply(Rename(title="More"), actor="page")

    async def test_a_damaged_state_is_not_sealed_anew(self, store: SqlStore, address: str) -> None:
        await with_a_name(store)
        with by_hand(address) as hand:
            hand("UPDATE entries SET actor = 'eve' WHERE version = 1")

        with pytest.raises(JournalFault, match="Version 1 of a cannot be used: it is damaged"):
            await store.eraser.rewrite("a", without_the_name)

    async def test_another_owners_is_not_rewritten(self, store: SqlStore, address: str) -> None:
        await with_a_name(store)
        async with SqlStore(address, owner="others", schema=1) as others:
            with pytest.raises(OtherOwner):
                await others.eraser.rewrite("a", without_the_name)
            with pytest.raises(UnknownState):
                await others.eraser.rewrite("nobody", without_the_name)

        assert NAME in (await store.read("a")).initial

    async def test_no_row_and_no_file_has_anything_of_it(
        self, store: SqlStore, address: str
    ) -> None:
        for number in range(30):
            await with_a_name(store, str(number))
        for number in range(30):
            await store.eraser.rewrite(str(number), without_the_name)
        await store.eraser.wipe()

        # The store is open still, and works.
        assert len(await store.list()) == 30
        traces = ("Nov", "\\u017d")
        assert not any(trace in rows(address) for trace in traces)
        if address.startswith("sqlite"):
            left = bytes_beside(address)
            assert left.startswith(b"SQLite format 3")
            assert not any(trace.encode() in left for trace in ("Nov", "\\u017d", "Žofie"))

    async def test_while_another_program_reads_traces_are_left_and_it_says_so(
        self, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from state.shared.sql import dialects

        monkeypatch.setattr(dialects, "BUSY_S", 0.05)
        async with SqlStore(address, owner="club", schema=1) as store:
            await with_a_name(store)
            await store.eraser.rewrite("a", without_the_name)
            with by_hand(address) as reader:
                reader("BEGIN")
                reader("SELECT * FROM entries")
                with pytest.raises(JournalFault, match="another program"):
                    await store.eraser.wipe()
                reader("ROLLBACK")
            await store.eraser.wipe()

            assert (await store.read("a")).version == 2
