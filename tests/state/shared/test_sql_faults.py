# ruff: noqa: ASYNC240 - a test may wait for its own disk
"""What a file can have against being a database: one clear line, no damage, and it works again afterwards."""

import asyncio
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from state.shared import JournalFault, NotStored, SharedState, SqlStore, StoredState
from tests.state.shared.board import Board, Rename, Score

EMPTY = Board().model_dump_json()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "boards.db"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a lock only as long as a test can."""
    from state.shared.sql import dialects, thread

    monkeypatch.setattr(dialects, "BUSY_S", 0.02)
    monkeypatch.setattr(thread, "LOCK_S", 0.02)


def boards(file: Path, *, schema: int = 1, create: bool = True) -> SqlStore:
    return SqlStore(f"sqlite:///{file}", owner="club", schema=schema, create=create)


@pytest.fixture
async def store(file: Path, impatient: None) -> AsyncIterator[SqlStore]:
    async with boards(file) as store:
        yield store


def going_on(stored: StoredState) -> SharedState[Board, None]:
    return SharedState.restored(stored, Board, None)


async def begun(store: SqlStore, state_id: str = "a") -> SharedState[Board, None]:
    """A held board with two versions."""
    shared = going_on(await store.create(state_id, lambda ordinal: EMPTY))
    await shared.apply(Score(name="ann"), actor="judge")
    await shared.apply(Score(name="ann"), actor="judge")
    return shared


@contextmanager
def by_hand(file: Path) -> Iterator[sqlite3.Connection]:
    """Do something to the database behind the store's back."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        yield connection


class TestOpening:
    async def test_a_file_that_is_no_database(self, file: Path) -> None:
        file.write_bytes(b"Dear diary, " * 1000)
        before = file.read_bytes()

        async with boards(file) as store:
            with pytest.raises(JournalFault, match="the file is no database") as fault:
                await store.create("a", lambda ordinal: EMPTY)
            for _ in range(2):
                with pytest.raises(JournalFault, match="the file is no database"):
                    await store.list()

        assert str(file) in fault.value.message
        assert file.read_bytes() == before

    async def test_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()

        async with boards(tmp_path / "file" / "boards.db") as store:
            with pytest.raises(JournalFault, match="not a directory"):
                await store.list()

    async def test_a_folder_in_place_of_the_file(self, file: Path) -> None:
        file.mkdir()

        async with boards(file) as store:
            with pytest.raises(JournalFault, match="the database file cannot be opened"):
                await store.list()

    async def test_a_file_that_is_not_there_and_may_not_be_made(self, file: Path) -> None:
        async with boards(file, create=False) as store:
            with pytest.raises(JournalFault, match="there is no such file"):
                await store.list()

        assert not file.exists()

    async def test_a_foreign_database_is_not_written_without_create(self, file: Path) -> None:
        with by_hand(file) as connection:
            connection.execute("CREATE TABLE recipes (name TEXT)")

        async with boards(file, create=False) as store:
            with pytest.raises(JournalFault, match="nothing was ever stored in it"):
                await store.list()

        with by_hand(file) as connection:
            names = connection.execute("SELECT name FROM sqlite_master").fetchall()
        assert names == [("recipes",)]

    @pytest.mark.parametrize(
        "address",
        [
            "boards.db",
            "",
            "mysql://club@host/boards",
            "sqlite://boards.db",
            "sqlite:/x",
            "what://x",
        ],
    )
    async def test_an_address_that_is_none(self, address: str) -> None:
        async with SqlStore(address, owner="club", schema=1) as store:
            with pytest.raises(JournalFault, match="sqlite:///file.db"):
                await store.list()

    @pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
    async def test_a_driver_that_is_not_installed(
        self, scheme: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "psycopg", None)

        async with SqlStore(f"{scheme}://club:sesame@host/boards", owner="club", schema=1) as store:
            with pytest.raises(JournalFault, match="psycopg is not installed") as fault:
                await store.list()

        assert "typed-handoffs[postgres]" in fault.value.message
        assert "sesame" not in fault.value.message


async def test_the_event_loop_goes_on_while_the_database_is_locked(file: Path) -> None:
    async with boards(file) as store:
        shared = await begun(store)
        with by_hand(file) as other:
            other.execute("BEGIN IMMEDIATE")
            under_way = asyncio.create_task(shared.apply(Score(name="ann"), actor="judge"))
            for _ in range(1000):
                await asyncio.sleep(0)
            waited = not under_way.done()
            other.execute("ROLLBACK")

        await under_way

    assert waited
    assert shared.version == 3


async def test_a_database_that_can_only_be_read(store: SqlStore, file: Path) -> None:
    await begun(store)
    await store.close()

    only_read = SqlStore(f"sqlite:///file:{file}?mode=ro&uri=true", owner="club", schema=1)
    async with only_read:
        staff = going_on(await only_read.read("a"))
        with pytest.raises(NotStored, match="the database can only be read"):
            await staff.apply(Score(name="ann"), actor="staff")
        with pytest.raises(JournalFault, match="the database can only be read"):
            await only_read.take("a")
        assert [one.version for one in await only_read.list()] == [2]

    assert (staff.version, staff.state.scores) == (2, {"ann": 2})


async def score_for_ever(shared: SharedState[Board, None]) -> None:
    for number in range(1000):
        await shared.apply(Score(name=f"{number} {'x' * 500}"), actor="judge")


async def test_a_full_disk(file: Path) -> None:
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    def small(connection: sqlite3.Connection, record: Any) -> None:
        connection.execute("PRAGMA max_page_count = 24").close()

    event.listen(Engine, "connect", small)
    try:
        async with boards(file) as store:
            shared = going_on(await store.create("a", lambda ordinal: EMPTY))
            with pytest.raises(NotStored, match="the disk is full"):
                await score_for_ever(shared)
            reached = shared.version
            with pytest.raises(NotStored, match="the disk is full"):
                await shared.apply(Rename(title="y" * 80), actor="judge")
            assert (await store.read("a")).version == reached
    finally:
        event.remove(Engine, "connect", small)

    async with boards(file) as store:
        again = going_on(await store.take("a"))
        await again.apply(Rename(title="Room again"), actor="judge")
    with by_hand(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert reached > 0
    assert (again.version, again.state.scores) == (reached + 1, shared.state.scores)


@pytest.mark.parametrize("damage", ["x'ff00'", "CAST(x'ff4142' AS TEXT)"])
async def test_bytes_in_place_of_a_text_are_named_as_damage(
    store: SqlStore, file: Path, damage: str
) -> None:
    await begun(store)
    with by_hand(file) as connection:
        connection.execute(f"UPDATE entries SET state = {damage} WHERE version = 2")

    for ask in (store.take, store.read):
        with pytest.raises(JournalFault) as fault:
            await ask("a")
        assert fault.value.message == "Version 2 of a cannot be used: it is damaged."


class TestTheFileGoesAway:
    async def test_a_change_is_refused_until_it_is_back(
        self, store: SqlStore, file: Path, tmp_path: Path
    ) -> None:
        shared = await begun(store)
        with by_hand(file) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.move(file, tmp_path / "away.db")

        for _ in range(2):
            with pytest.raises(NotStored, match="the database file is gone"):
                await shared.apply(Score(name="ann"), actor="judge")
        shutil.move(tmp_path / "away.db", file)
        await shared.apply(Score(name="ann"), actor="judge")

        assert (shared.version, (await store.read("a")).version) == (3, 3)

    async def test_an_older_copy_in_its_place_is_not_written_into(
        self, store: SqlStore, file: Path, tmp_path: Path
    ) -> None:
        shared = await begun(store)
        with by_hand(file) as connection, by_hand(tmp_path / "copy.db") as copy:
            connection.backup(copy)
        await shared.apply(Score(name="ann"), actor="judge")
        with by_hand(file) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.move(tmp_path / "copy.db", file)

        with pytest.raises(NotStored, match="has lost what was written before"):
            await shared.apply(Score(name="ann"), actor="judge")

        assert (shared.version, (await store.read("a")).version) == (3, 2)
