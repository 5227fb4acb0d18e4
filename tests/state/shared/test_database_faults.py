"""A database that has something against a change: the same one line on both kinds, and no damage."""

import asyncio
import traceback
from collections.abc import AsyncIterator

import pytest

from state.shared import (
    JournalFault,
    Moment,
    NotStored,
    SharedState,
    SqlStore,
    StateError,
    StoredState,
    Unstorable,
)
from tests.state.shared.board import Board, Rename, Score
from tests.state.shared.by_hand import Hand, by_hand

EMPTY = Board().model_dump_json()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a lock only as long as a test can."""
    from state.shared.sql import dialects, thread

    monkeypatch.setattr(dialects, "BUSY_S", 0.05)
    monkeypatch.setattr(thread, "LOCK_S", 0.05)


@pytest.fixture
async def store(address: str, impatient: None) -> AsyncIterator[SqlStore]:
    async with SqlStore(address, owner="club", schema=1) as store:
        yield store


def going_on(stored: StoredState) -> SharedState[Board, None]:
    return SharedState.restored(stored, Board, None)


async def begun(store: SqlStore, state_id: str = "a") -> SharedState[Board, None]:
    """A held board with two versions."""
    shared = going_on(await store.create(state_id, lambda ordinal: EMPTY))
    await shared.apply(Score(name="ann"), actor="judge")
    await shared.apply(Score(name="ann"), actor="judge", turn=2)
    return shared


def lock(hand: Hand, address: str) -> None:
    """Hold what every writer needs: the file, or the state's row."""
    hand("BEGIN IMMEDIATE" if address.startswith("sqlite") else "BEGIN")
    hand("UPDATE states SET fence = fence")


class TestLocked:
    async def test_while_locked_writes_are_refused_and_reads_work(
        self, store: SqlStore, address: str
    ) -> None:
        shared = await begun(store)
        with by_hand(address) as other:
            lock(other, address)
            for _ in range(2):
                with pytest.raises(NotStored, match="another program has locked the database"):
                    await shared.apply(Score(name="ann"), actor="judge")
            with pytest.raises(JournalFault, match="another program has locked the database"):
                await store.take("a")
            with pytest.raises(JournalFault, match="another program has locked the database"):
                await store.record("a", Moment(1, "heard", "guest", "Hello"))
            assert (await store.read("a")).version == 2
            assert [one.version for one in await store.list()] == [2]
            other("ROLLBACK")

        await shared.apply(Score(name="ann"), actor="judge")

        assert (shared.version, (await store.read("a")).version) == (3, 3)

    async def test_a_short_lock_is_waited_for(
        self, store: SqlStore, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from state.shared.sql import dialects, thread

        monkeypatch.setattr(dialects, "BUSY_S", 20.0)
        monkeypatch.setattr(thread, "LOCK_S", 20.0)
        shared = await begun(store)
        with by_hand(address) as other:
            lock(other, address)
            writing = asyncio.create_task(shared.apply(Score(name="ann"), actor="judge"))
            for _ in range(1000):
                await asyncio.sleep(0)
            waited = not writing.done()
            other("ROLLBACK")

        await writing

        assert waited
        assert (shared.version, (await store.read("a")).version) == (3, 3)


SLOW = {
    "sqlite": [
        "CREATE TRIGGER slow BEFORE INSERT ON entries BEGIN SELECT count(*) FROM (WITH RECURSIVE n(i)"
        " AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT 100000000000); END"
    ],
    "postgresql": [
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql"
        " AS $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$",
        "CREATE TRIGGER slow BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION slow()",
    ],
}
FAST = {"sqlite": "DROP TRIGGER slow", "postgresql": "DROP TRIGGER slow ON entries"}


async def test_a_change_that_takes_too_long_is_broken_off(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from state.shared.sql import dialects, thread

    kind = address.partition(":")[0]
    async with SqlStore(address, owner="club", schema=1) as store:
        await begun(store)
    # A server keeps the limit by itself, from the next connection on; a file has to be told.
    monkeypatch.setattr(dialects, "STATEMENT_S", 2.0)
    async with SqlStore(address, owner="club", schema=1) as store:
        shared = going_on(await store.take("a"))
        with by_hand(address) as hand, monkeypatch.context() as short:
            for statement in SLOW[kind]:
                hand(statement)
            if kind == "sqlite":
                short.setattr(thread, "ANSWER_S", 0.3)
            for _ in range(2):
                with pytest.raises(NotStored, match="the database took too long"):
                    await shared.apply(Rename(title="Never"), actor="judge")
            hand(FAST[kind])

        await shared.apply(Rename(title="Again"), actor="judge")
        stored = await store.read("a")

    assert (shared.version, stored.version) == (3, 3)
    assert shared.state == Board(title="Again", scores={"ann": 2})


class TestWhatNoDatabaseStores:
    @pytest.mark.parametrize("text", ["lone \ud800", "null \0"], ids=["surrogate", "null"])
    @pytest.mark.parametrize("where", ["actor", "key"])
    async def test_the_change_is_refused_and_the_next_one_is_stored(
        self, store: SqlStore, text: str, where: str
    ) -> None:
        shared = await begun(store)
        version = shared.version

        with pytest.raises(Unstorable, match="characters that cannot be written") as refused:
            await shared.apply(Score(name="ann"), **{"actor": "judge", where: text})  # type: ignore[arg-type]  # texts all
        await shared.apply(Score(name="bob"), actor="judge")

        stored = await store.read("a")
        assert not refused.value.retryable
        assert stored.version == shared.version == version + 1
        assert Board.model_validate_json(stored.state) == shared.state

    async def test_the_error_does_not_tell_what_was_to_be_stored(self, store: SqlStore) -> None:
        await begun(store)

        outcomes = await asyncio.gather(
            *(
                store.record("a", Moment(1, "heard", "canary", f"canary {odd}"))
                for odd in "\0\ud800"
            ),
            return_exceptions=True,
        )

        faults = [outcome for outcome in outcomes if isinstance(outcome, JournalFault)]
        assert faults
        assert not any("canary" in "".join(traceback.format_exception(one)) for one in faults)

    @pytest.mark.parametrize("state_id", ["lone \ud800", "null \0"], ids=["surrogate", "null"])
    async def test_asking_for_an_id_that_cannot_be(self, store: SqlStore, state_id: str) -> None:
        await begun(store)

        with pytest.raises(StateError):
            await store.read(state_id)

        assert (await store.read("a")).version == 2

    async def test_a_null_in_the_state_itself_is_kept(self, store: SqlStore) -> None:
        shared = await begun(store)

        await shared.apply(Rename(title="a\0b"), actor="judge")

        assert Board.model_validate_json((await store.read("a")).state).title == "a\0b"


class TestDamage:
    @pytest.mark.parametrize(
        "damage",
        [
            "state = replace(state, 'ann', 'eve')",
            "state = ''",
            "commands = '[]'",
            "touched = '[]'",
            "speaker = 'eve'",
            "actor = 'eve'",
            "key = 'k'",
            "body = 'b'",
            "fence = 9",
            "owner = 'eve'",
            "at = '2020-01-01T00:00:00.000000+00:00'",
            "turn = 1",
            "turn = NULL",
            "checksum = 'x'",
        ],
    )
    async def test_a_damaged_row_is_named_and_never_handed_out(
        self, store: SqlStore, address: str, damage: str
    ) -> None:
        holder = await begun(store)
        with by_hand(address) as hand:
            hand(f"UPDATE entries SET {damage} WHERE version = 2")

        for ask in (store.take, store.read):
            with pytest.raises(JournalFault) as fault:
                await ask("a")
            assert fault.value.message == "Version 2 of a cannot be used: it is damaged."

        # Who holds it has the truth in memory, and is not overtaken by somebody who could not read it.
        await holder.apply(Score(name="ann"), actor="judge")
        assert holder.state.scores == {"ann": 3}

    async def test_a_damaged_beginning_is_named(self, store: SqlStore, address: str) -> None:
        await begun(store)
        with by_hand(address) as hand:
            hand("UPDATE states SET state = '{}'")

        with pytest.raises(JournalFault, match="The beginning of a cannot be used: it is damaged"):
            await store.take("a")

    async def test_a_missing_row_is_named(self, store: SqlStore, address: str) -> None:
        await begun(store)
        with by_hand(address) as hand:
            hand("DELETE FROM entries WHERE version = 1")

        with pytest.raises(JournalFault, match="Version 1 of a cannot be used: it is missing"):
            await store.take("a")

    async def test_a_damaged_state_hides_no_other_in_the_list(
        self, store: SqlStore, address: str
    ) -> None:
        for state_id in ("a", "b", "c"):
            await begun(store, state_id)
        with by_hand(address) as hand:
            hand("UPDATE entries SET state = '{}' WHERE state_id = 'b' AND version = 2")

        listed = await store.list()

        assert [one.state_id for one in listed] == ["c", "b", "a"]
        assert [one.state is None for one in listed] == [False, True, False]
        assert str(listed[1].fault) == "Version 2 of b cannot be used: it is damaged."

    async def test_a_lost_last_write_stops_its_holder(self, store: SqlStore, address: str) -> None:
        holder = await begun(store)
        with by_hand(address) as hand:
            hand("DELETE FROM entries WHERE version = 2")

        with pytest.raises(NotStored, match="has lost what was written before"):
            await holder.apply(Score(name="ann"), actor="judge")

        assert (holder.version, (await store.read("a")).version) == (2, 1)


class TestNewer:
    async def test_a_database_of_a_newer_layout(self, store: SqlStore, address: str) -> None:
        await begun(store)
        await store.close()
        with by_hand(address) as hand:
            hand("UPDATE journal_version SET version_num = '99'")

        async with SqlStore(address, owner="club", schema=1) as older:
            for _ in range(2):
                with pytest.raises(JournalFault, match="a newer release of this program"):
                    await older.take("a")

    async def test_a_mark_that_no_release_has_made(self, store: SqlStore, address: str) -> None:
        await begun(store)
        await store.close()
        with by_hand(address) as hand:
            hand("UPDATE journal_version SET version_num = '0001x'")

        async with SqlStore(address, owner="club", schema=1) as other:
            for _ in range(2):
                with pytest.raises(JournalFault, match="does not hold what was expected"):
                    await other.take("a")

    async def test_a_state_of_a_newer_schema(self, address: str) -> None:
        async with SqlStore(address, owner="club", schema=2, migrate={1: dict}) as newer:
            await begun(newer)
        async with SqlStore(address, owner="club", schema=1) as older:
            await begun(older, "b")
            for ask in (older.take, older.read):
                with pytest.raises(JournalFault, match="a newer release of this program"):
                    await ask("a")
            listed = await older.list()

        assert [(one.state_id, one.state is None) for one in listed] == [("b", False), ("a", True)]
