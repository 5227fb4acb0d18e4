# ruff: noqa: ASYNC240 - a test may wait for its own disk
"""States in a database: begun, held, read beside, listed, and never in the event loop's way."""

import asyncio
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from state.shared import (
    Entry,
    HandOver,
    JournalFault,
    KeyReused,
    Moment,
    NotStored,
    OtherOwner,
    SharedState,
    SqlStore,
    Stale,
    StoredState,
    TakenOver,
    UnknownState,
    VersionTaken,
)
from tests.state.shared.at_commit import before_commit
from tests.state.shared.board import Board, Rename, Score, points

EMPTY = Board().model_dump_json()


def file_in(folder: Path) -> str:
    return f"sqlite:///{folder}/boards.db"


@pytest.fixture
async def store(address: str) -> AsyncIterator[SqlStore]:
    async with SqlStore(address, owner="club", schema=1) as store:
        yield store


def going_on(stored: StoredState) -> SharedState[Board, None]:
    return SharedState.restored(stored, Board, None)


class TestBeginning:
    async def test_an_owners_states_are_counted_from_one(
        self, store: SqlStore, address: str
    ) -> None:
        first = await store.create("a", lambda ordinal: EMPTY)
        second = await store.create("b", lambda ordinal: EMPTY)
        async with SqlStore(address, owner="other club", schema=1) as others:
            theirs = await others.create("c", lambda ordinal: EMPTY)

        assert (first.ordinal, second.ordinal, theirs.ordinal) == (1, 2, 1)

    async def test_the_state_is_made_for_its_ordinal(self, store: SqlStore) -> None:
        def make(ordinal: int) -> str:
            return Board(title=f"Evening {ordinal}").model_dump_json()

        titles = [
            Board.model_validate_json((await store.create(name, make)).state).title
            for name in ("a", "b")
        ]

        assert titles == ["Evening 1", "Evening 2"]

    async def test_many_at_once_get_an_ordinal_each(self, store: SqlStore, address: str) -> None:
        stores = [store, *(SqlStore(address, owner="club", schema=1) for _ in range(5))]

        begun = await asyncio.gather(
            *(
                stores[number % len(stores)].create(str(number), lambda ordinal: EMPTY)
                for number in range(60)
            )
        )

        for other in stores:
            await other.close()
        assert sorted(stored.ordinal for stored in begun) == list(range(1, 61))

    async def test_one_that_cannot_be_made_leaves_no_trace(self, store: SqlStore) -> None:
        def fail(ordinal: int) -> str:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await store.create("a", fail)

        assert (await store.create("a", lambda ordinal: EMPTY)).ordinal == 1

    async def test_an_id_is_used_once(self, store: SqlStore) -> None:
        await store.create("a", lambda ordinal: EMPTY)

        with pytest.raises(JournalFault, match="it exists already"):
            await store.create("a", lambda ordinal: EMPTY)

    async def test_the_creator_holds_it(self, store: SqlStore) -> None:
        shared = going_on(await store.create("a", lambda ordinal: EMPTY, speaker="ann"))

        await shared.apply(Score(name="ann"), actor="judge")

        assert shared.speaker == "ann"
        assert (await store.read("a")).version == 1

    async def test_a_store_without_an_owner_creates_no_state(self, address: str) -> None:
        async with SqlStore(address, owner=None, schema=1) as store:
            with pytest.raises(ValueError, match="needs an owner"):
                await store.create("a", lambda ordinal: EMPTY)


class TestReading:
    async def test_a_state_comes_back_with_all_that_happened(self, address: str) -> None:
        moment = datetime(2026, 11, 20, 19, 0, tzinfo=UTC)
        async with SqlStore(address, owner="club", schema=1, now=lambda: moment) as store:
            shared = going_on(await store.create("a", lambda ordinal: EMPTY, speaker="ann"))
            await shared.apply(
                Score(name="ann", by=2), Rename(title="Žižek"), actor="page", key="k"
            )
            await shared.apply(HandOver(source="ann", target="bob"), actor="ann")

        async with SqlStore(address, owner="club", schema=1) as store:
            stored = await store.take("a")

        assert (stored.state_id, stored.ordinal, stored.opened_at) == ("a", 1, moment)
        assert (stored.initial, stored.first_speaker) == (EMPTY, "ann")
        assert (stored.version, stored.speaker) == (2, "bob")
        assert stored.state == shared.state.model_dump_json()
        assert stored.entries[0] == Entry(
            version=1,
            commands=(
                {"op": "score", "name": "ann", "by": 2},
                {"op": "rename", "title": "Žižek"},
            ),
            state=shared.state.model_dump_json(),
            speaker="ann",
            actor="page",
            key="k",
            body=stored.entries[0].body,
            touched=("scores/ann", "title"),
        )
        assert stored.entries[1].touched == ()

    async def test_the_turn_that_a_change_acts_on_is_loaded_with_it(self, store: SqlStore) -> None:
        shared = going_on(await store.create("a", lambda ordinal: EMPTY))
        await shared.apply(Score(name="ann"), actor="page")
        await shared.apply(Score(name="ann"), actor="ann", turn=3)

        assert [entry.turn for entry in (await store.read("a")).entries] == [None, 3]

    async def test_a_state_that_is_not_there_is_unknown(self, store: SqlStore) -> None:
        for ask in (store.take, store.read):
            with pytest.raises(UnknownState) as refusal:
                await ask("nobody")
            assert refusal.value.facts == {"id": "nobody"}

    async def test_another_owners_state_is_unknown(self, store: SqlStore, address: str) -> None:
        mine = going_on(await store.create("a", lambda ordinal: EMPTY))
        async with SqlStore(address, owner="other club", schema=1) as others:
            for ask in (others.take, others.read):
                with pytest.raises(OtherOwner):
                    await ask("a")

        await mine.apply(Score(name="ann"), actor="judge")

        assert mine.version == 1

    async def test_the_list_shows_the_newest_first_in_their_present_version(
        self, store: SqlStore, address: str
    ) -> None:
        for name in ("a", "b", "c"):
            await store.create(name, lambda ordinal: EMPTY, speaker="ann")
        shared = going_on(await store.take("b"))
        await shared.apply(Score(name="ann"), actor="judge")
        await shared.apply(HandOver(target="bob"), actor="ann")
        async with SqlStore(address, owner="other club", schema=1) as others:
            await others.create("d", lambda ordinal: EMPTY)

        listed = await store.list()
        async with SqlStore(address, owner=None, schema=1) as everybodys:
            everything = await everybodys.list(2)

        assert [one.state_id for one in listed] == ["c", "b", "a"]
        assert [one.ordinal for one in listed] == [3, 2, 1]
        assert (listed[1].version, listed[1].speaker) == (2, "bob")
        assert listed[1].state == shared.state.model_dump_json()
        assert (listed[2].version, listed[2].speaker, listed[2].state) == (0, "ann", EMPTY)
        assert [(one.state_id, one.owner) for one in everything] == [
            ("d", "other club"),
            ("c", "club"),
        ]


class TestHolding:
    async def test_taking_a_state_stops_the_older_holder(self, store: SqlStore) -> None:
        older = going_on(await store.create("a", lambda ordinal: EMPTY))
        newer = going_on(await store.take("a"))

        with pytest.raises(TakenOver):
            await older.apply(Score(name="older"), actor="older")
        await newer.apply(Score(name="newer"), actor="newer")
        with pytest.raises(TakenOver):
            await older.apply(Score(name="older"), actor="older")

        assert older.taken_over
        assert not newer.taken_over
        stored = await store.read("a")
        assert [entry.actor for entry in stored.entries] == ["newer"]

    async def test_reading_takes_nothing(self, store: SqlStore) -> None:
        holder = going_on(await store.create("a", lambda ordinal: EMPTY))
        await store.read("a")

        await holder.apply(Score(name="ann"), actor="judge")

        assert holder.version == 1

    async def test_the_holder_takes_in_what_staff_wrote_beside_it(self, store: SqlStore) -> None:
        holder = going_on(await store.create("a", lambda ordinal: EMPTY))
        staff = going_on(await store.read("a"))
        await staff.apply(Rename(title="Final"), actor="staff")

        await holder.apply(Score(name="ann"), actor="judge", seen=0)

        assert holder.state == Board(title="Final", scores={"ann": 1})
        assert holder.version == 2

    async def test_the_holder_is_refused_when_staff_changed_what_it_had_seen(
        self, store: SqlStore
    ) -> None:
        holder = going_on(await store.create("a", lambda ordinal: EMPTY))
        staff = going_on(await store.read("a"))
        await staff.apply(Rename(title="Final"), actor="staff")

        with pytest.raises(Stale):
            await holder.apply(Rename(title="Mine"), actor="judge", seen=0)
        await holder.apply(Rename(title="Mine"), actor="judge", seen=1)

        assert (holder.state.title, holder.version) == ("Mine", 2)

    async def test_staff_take_in_what_the_holder_wrote_meanwhile(self, store: SqlStore) -> None:
        holder = going_on(await store.create("a", lambda ordinal: EMPTY))
        staff = going_on(await store.read("a"))
        await holder.apply(Score(name="ann"), actor="judge")

        await staff.apply(Score(name="bob"), actor="staff")

        assert staff.state == Board(scores={"ann": 1, "bob": 1})

    async def test_staff_still_write_after_the_state_was_taken(self, store: SqlStore) -> None:
        await store.create("a", lambda ordinal: EMPTY)
        staff = going_on(await store.read("a"))
        holder = going_on(await store.take("a"))
        await staff.apply(Score(name="bob"), actor="staff")

        await holder.apply(Score(name="ann"), actor="judge")

        assert holder.state == Board(scores={"ann": 1, "bob": 1})

    async def test_everybody_writes_at_once_and_nothing_is_lost(
        self, store: SqlStore, address: str
    ) -> None:
        async with SqlStore(address, owner=None, schema=1) as kitchen:
            holder = going_on(await store.create("a", lambda ordinal: EMPTY))
            staff = going_on(await kitchen.read("a"))
            done = 0
            for _ in range(30):
                outcomes = await asyncio.gather(
                    holder.apply(Score(name="ann"), actor="judge"),
                    staff.apply(Score(name="bob"), actor="staff"),
                )
                done += len(outcomes)

        stored = await store.read("a")
        assert stored.version == done == 60
        assert Board.model_validate_json(stored.state).scores == {"ann": 30, "bob": 30}

    async def test_a_key_acts_once_across_writers(self, store: SqlStore) -> None:
        holder = going_on(await store.create("a", lambda ordinal: EMPTY))
        staff = going_on(await store.read("a"))
        await staff.apply(Score(name="ann"), actor="staff", key="k")

        again = await holder.apply(Score(name="ann"), actor="judge", key="k")
        with pytest.raises(KeyReused):
            await holder.apply(Rename(title="Mine"), actor="judge", key="k")

        assert (again.version, holder.version, points(holder)) == (1, 1, 1)

    async def test_a_key_is_answered_before_what_has_changed_since_is_refused(
        self, store: SqlStore
    ) -> None:
        holder = going_on(await store.create("a", lambda ordinal: EMPTY))
        await holder.apply(Rename(title="Semifinal"), actor="judge")
        beside = going_on(await store.read("a"))
        await beside.apply(Rename(title="Final"), actor="page", key="k", seen=1)

        again = await holder.apply(Rename(title="Final"), actor="page", key="k", seen=0)
        with pytest.raises(Stale):
            await holder.apply(Rename(title="Final"), actor="page", key="m", seen=0)

        assert (again.version, holder.version, holder.state.title) == (2, 2, "Final")

    async def test_the_database_itself_lets_no_version_be_written_twice(
        self, store: SqlStore
    ) -> None:
        stored = await store.create("a", lambda ordinal: EMPTY)
        entry = Entry(1, ({"op": "wipe"},), EMPTY, None, "judge")
        await stored.journal.append(entry)

        with pytest.raises(VersionTaken):
            await stored.journal.append(entry)

    async def test_no_version_is_left_out(self, store: SqlStore) -> None:
        stored = await store.create("a", lambda ordinal: EMPTY)

        with pytest.raises(NotStored):
            await stored.journal.append(Entry(2, ({"op": "wipe"},), EMPTY, None, "judge"))


class TestFiles:
    async def test_its_files_are_readable_by_their_owner_only(self, tmp_path: Path) -> None:
        folder = tmp_path / "data" / "boards"
        async with SqlStore(file_in(folder), owner="club", schema=1) as store:
            await store.create("a", lambda ordinal: EMPTY)
            files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}

        assert files == dict.fromkeys(["boards.db", "boards.db-shm", "boards.db-wal"], 0o600)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700

    async def test_every_commit_is_forced_to_the_disk(self, tmp_path: Path) -> None:
        from sqlalchemy import Connection, event
        from sqlalchemy.engine import Engine

        found: list[tuple[object, ...]] = []

        def look(driver: object) -> None:
            assert isinstance(driver, sqlite3.Connection)
            found.append(
                tuple(
                    driver.execute(f"PRAGMA {name}").fetchone()[0]
                    for name in ("journal_mode", "synchronous")
                )
            )

        def of_sqlalchemy(connection: Connection) -> None:
            look(connection.connection.driver_connection)

        event.listen(Engine, "commit", of_sqlalchemy)
        try:
            with before_commit(look):
                store = SqlStore(file_in(tmp_path), owner="club", schema=1)
                stored = await store.create("a", lambda ordinal: EMPTY)
                begun = len(found)
                await stored.journal.append(Entry(1, (), EMPTY, None, "judge"))
                await store.record("a", Moment(1, "heard", "guest", "Hello"))
                await store.close()
        finally:
            event.remove(Engine, "commit", of_sqlalchemy)

        assert set(found) == {("wal", 2)}
        assert len(found) == begun + 2

    async def test_a_relative_path_lies_where_the_process_does(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        async with SqlStore("sqlite:///here.db", owner="club", schema=1) as store:
            await store.create("a", lambda ordinal: EMPTY)

        assert (tmp_path / "here.db").is_file()

    async def test_nothing_is_opened_before_it_is_needed(self, tmp_path: Path) -> None:
        async with SqlStore(file_in(tmp_path), owner="club", schema=1):
            assert list(tmp_path.iterdir()) == []

    async def test_one_in_memory_lasts_as_long_as_its_store(self) -> None:
        async with SqlStore("sqlite://", owner="club", schema=1) as store:
            shared = going_on(await store.create("a", lambda ordinal: EMPTY))
            await shared.apply(Score(name="ann"), actor="judge")

            assert (await store.read("a")).version == 1


class TestTheThread:
    async def test_closing_finishes_what_was_asked_for(self, address: str) -> None:
        store = SqlStore(address, owner="club", schema=1)
        stored = await store.create("a", lambda ordinal: EMPTY)
        under_way = [
            stored.journal.append(Entry(version, (), EMPTY, None, "judge"))
            for version in range(1, 21)
        ]

        await store.close()

        assert all(one.done() and one.exception() is None for one in under_way)
        async with SqlStore(address, owner="club", schema=1) as again:
            assert (await again.read("a")).version == 20

    async def test_closing_ends_the_thread_and_may_be_done_twice(self, address: str) -> None:
        store = SqlStore(address, owner="club", schema=1)
        await store.create("a", lambda ordinal: EMPTY)

        await store.close()
        await store.close()

        assert "journal" not in {thread.name for thread in threading.enumerate()}

    async def test_nothing_can_be_asked_after_it_was_closed(self, address: str) -> None:
        store = SqlStore(address, owner="club", schema=1)
        shared = going_on(await store.create("a", lambda ordinal: EMPTY))
        await store.close()

        with pytest.raises(JournalFault, match="closed"):
            await store.read("a")
        with pytest.raises(NotStored, match="closed"):
            await shared.apply(Score(name="ann"), actor="judge")

        assert shared.version == 0

    async def test_one_that_was_never_used_closes_too(self, address: str) -> None:
        await SqlStore(address, owner="club", schema=1).close()

    async def test_a_cancelled_wait_affects_no_other(self, store: SqlStore) -> None:
        complaints: list[object] = []
        asyncio.get_running_loop().set_exception_handler(
            lambda loop, context: complaints.append(context)
        )
        asked = asyncio.create_task(store.create("a", lambda ordinal: EMPTY))
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

        assert (await store.read("a")).version == 0
        assert complaints == []


def test_the_event_loop_may_be_gone_before_the_answer_comes(address: str) -> None:
    store = SqlStore(address, owner="club", schema=1)
    may_go_on = threading.Event()

    def make(ordinal: int) -> str:
        may_go_on.wait(20)
        return EMPTY

    async def ask_and_leave() -> None:
        asked = asyncio.create_task(store.create("a", make))
        await asyncio.sleep(0)
        asked.cancel()

    asyncio.run(ask_and_leave())
    may_go_on.set()

    async def look() -> int:
        async with store:
            return (await store.read("a")).version

    assert asyncio.run(look()) == 0
