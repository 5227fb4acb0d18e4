"""A database of any release goes on with this one: forwards, with all that was in it, or not at all."""

import asyncio
import signal
import subprocess
import sys
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from state.shared import (
    JournalFault,
    Lease,
    LeaseHeld,
    LeaseLost,
    Moment,
    SharedState,
    SqlStore,
    TakenOver,
)
from tests.state.shared.board import Board, Score
from tests.state.shared.by_hand import by_hand
from tests.state.shared.first_release import first_release, fourth_layout, second_layout

ROOT = Path(__file__).parents[3]
EMPTY = Board().model_dump_json()
KEPT = (
    "SELECT state_id, owner, ordinal, schema, fence, opened_at, state, speaker, checksum FROM states"
    " ORDER BY state_id",
    "SELECT state_id, version, commands, touched, state, speaker, actor, key, body, fence, schema,"
    " owner, at, checksum FROM entries ORDER BY state_id, version",
)
LAYOUT = "SELECT max(layout) FROM journal_layout"
MARK = "SELECT version_num FROM journal_version"
HEAD = "0008"


def store(address: str, *, create: bool = True) -> SqlStore:
    return SqlStore(address, owner="club", schema=1, create=create)


def tables(address: str) -> set[str]:
    everything = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
        "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
    }
    with by_hand(address) as hand:
        return {name for (name,) in hand(everything[address.partition(":")[0]])}


ENDED = (
    "INSERT INTO moments (state_id, position, at, turn, kind, who, text)"
    " VALUES ('a', {position}, '2026-11-20T19:01:00.000000+00:00', 1, '{kind}', 'house', '{text}')"
)


@pytest.fixture
def old(address: str) -> str:
    """The address of a database that the first release has written."""
    with by_hand(address) as hand:
        first_release(hand)
    return address


@pytest.mark.parametrize("create", [True, False])
async def test_all_data_of_the_first_release_is_there(old: str, create: bool) -> None:
    with by_hand(old) as hand:
        before = [hand(everything) for everything in KEPT]

    async with store(old, create=create) as now:
        listed = await now.list()

    with by_hand(old) as hand:
        assert [hand(everything) for everything in KEPT] == before
        assert hand(MARK) == [(HEAD,)]
    assert [(one.state_id, one.version, one.speaker, one.fault) for one in listed] == [
        ("a", 2, "bob", None)
    ]


async def test_a_state_of_the_first_release_goes_on(old: str) -> None:
    async with store(old) as now:
        shared = SharedState.restored(await now.take("a"), Board, None)
        await shared.apply(Score(name="ann"), actor="judge", turn=1)
        await now.record("a", Moment(1, "heard", "guest", "Hello"))
        stored, said = await now.read("a"), await now.said("a")

    assert (stored.version, shared.speaker) == (3, "bob")
    assert [entry.key for entry in stored.entries] == ["k", None, None]
    assert [entry.turn for entry in stored.entries] == [None, None, 1]
    assert Board.model_validate_json(stored.state).scores == {"ann": 2}
    assert [moment.text for moment in said] == ["Hello"]


async def test_the_first_release_refuses_what_was_brought_up_to_date(old: str) -> None:
    async with store(old) as now:
        await now.list()

    with by_hand(old) as hand:
        # It reads this number, and refuses every one but 1.
        assert hand(LAYOUT) == [(int(HEAD),)]


@pytest.mark.parametrize("begins", ["empty", "old"])
async def test_the_tables_are_what_the_program_believes(
    address: str, begins: str, request: pytest.FixtureRequest
) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from sqlalchemy import create_engine

    from state.shared.sql.tables import lease_metadata, metadata, version_table

    expected = [metadata] if address.startswith("sqlite") else [metadata, lease_metadata]
    if begins == "old":
        request.getfixturevalue("old")
    async with store(address) as now:
        await now.list()

    engine = create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        found = MigrationContext.configure(connection, opts={"version_table": version_table.name})
        differences = compare_metadata(found, expected)  # type: ignore[arg-type]  # several will do
    engine.dispose()
    assert differences == []


def test_the_last_script_is_the_one_the_program_waits_for() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    from state.shared.sql.tables import LAYOUT

    config = Config()
    config.set_main_option("script_location", str(ROOT / "state/shared/sql/migrations"))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [LAYOUT]
    assert [script.revision for script in scripts.walk_revisions()] == [
        "0008",
        "0007",
        "0006",
        "0005",
        "0004",
        "0003",
        "0002",
        "0001",
    ]


@pytest.mark.parametrize("begins", ["empty", "old"])
async def test_many_concurrent_stores_migrate_once(
    address: str, begins: str, request: pytest.FixtureRequest, closing: AsyncExitStack
) -> None:
    if begins == "old":
        request.getfixturevalue("old")
    stores = [await closing.enter_async_context(store(address)) for _ in range(4)]

    await asyncio.gather(*(one.list() for one in stores))

    for number, one in enumerate(stores):
        await one.create(f"new {number}", lambda ordinal: EMPTY)
    with by_hand(address) as hand:
        assert (hand(MARK), hand(LAYOUT)) == ([(HEAD,)], [(int(HEAD),)])
        assert len(hand("SELECT 1 FROM states")) == (4 if begins == "empty" else 6)


@pytest.mark.processes
def test_concurrent_processes_migrate_once(old: str) -> None:
    begins = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.state.shared.process", "leave", old, name],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("new 1", "new 2")
    ]
    ends = [one.communicate() for one in begins]

    assert ends == [("left\n", "")] * 2
    with by_hand(old) as hand:
        assert (hand(MARK), hand(LAYOUT)) == ([(HEAD,)], [(int(HEAD),)])


KILLED = """
import asyncio, os, signal, sys
from sqlalchemy import event
from sqlalchemy.engine import Engine
from state.shared import SqlStore

def kill(connection, cursor, statement, *rest):
    if statement.startswith("UPDATE journal_layout"):
        os.kill(os.getpid(), signal.SIGKILL)

event.listen(Engine, "after_cursor_execute", kill)
asyncio.run(SqlStore(sys.argv[1], owner="club", schema=1).list())
"""


@pytest.mark.processes
def test_one_that_is_killed_on_the_way_leaves_the_old_one_whole(old: str) -> None:
    with by_hand(old) as hand:
        before = [hand(everything) for everything in KEPT]

    done = subprocess.run([sys.executable, "-c", KILLED, old], cwd=ROOT, check=False)

    assert done.returncode == -signal.SIGKILL
    assert tables(old) == {"journal_layout", "states", "entries"}
    with by_hand(old) as hand:
        assert [hand(everything) for everything in (*KEPT, LAYOUT)] == [*before, [(1,)]]

    async def version() -> int:
        async with store(old) as now:
            return (await now.read("a")).version

    assert asyncio.run(version()) == 2


async def test_one_that_fails_on_the_way_leaves_the_old_one_whole(
    old: str,
) -> None:
    with by_hand(old) as hand:
        hand("CREATE TABLE moments (mine INTEGER)")

    async with store(old) as now:
        for _ in range(2):
            with pytest.raises(JournalFault, match="does not hold what was expected"):
                await now.read("a")
        with by_hand(old) as hand:
            assert hand(LAYOUT) == [(1,)]
            hand("DROP TABLE moments")
        assert (await now.read("a")).version == 2


async def test_transcripts_of_the_second_layout_are_there_and_leases_can_be_taken(
    address: str,
) -> None:
    with by_hand(address) as hand:
        second_layout(hand)
        before = [hand(everything) for everything in KEPT]

    async with store(address) as now:
        assert await now.leases.lost() == []
        (said,) = await now.said("a")
        await now.leases.take("hall", "ann", seconds=60)
        await now.leases.assign("hall", "ann", state_id="a", user="Ann")

    with by_hand(address) as hand:
        assert [hand(everything) for everything in KEPT] == before
        assert (hand(MARK), hand(LAYOUT)) == ([(HEAD,)], [(int(HEAD),)])
        assert hand("SELECT owner, place, holder, state_id FROM places") == [
            ("club", "hall", "ann", "a")
        ]
    assert said.text == "Good evening"


async def test_the_second_layouts_program_refuses_what_was_brought_up_to_date(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from state.shared.sql import database

    async with store(address) as now:
        await now.list()
    monkeypatch.setattr(database, "LAYOUT", "0002")

    async with store(address) as older:
        with pytest.raises(JournalFault, match="a newer release of this program has written it"):
            await older.list()


@pytest.fixture
def with_leases(address: str) -> str:
    """The address of a database whose leases were still kept with the states."""
    with by_hand(address) as hand:
        fourth_layout(hand)
    return address


def at(minute: int, second: int = 0) -> datetime:
    return datetime(2026, 11, 20, 19, minute, second, tzinfo=UTC)


def while_it_ran(address: str, owner: str | None = "club") -> SqlStore:
    """A store of this release at a time when calls of the one before were under way."""
    return SqlStore(address, owner=owner, schema=1, now=lambda: at(5, 1))


HALL = Lease("hall", "club", "AJ_1", at(0), at(5, 2), "a", "guest of a", 2)
GARDEN = Lease("garden", "club", "AJ_2", at(5), at(5, 2))


class TestLeasesOfTheFourthLayout:
    async def test_they_are_carried_over(self, with_leases: str) -> None:
        async with while_it_ran(with_leases) as now:
            assert await now.leases.at("hall") == await now.leases.of("a") == HALL
            assert await now.leases.at("garden") == GARDEN
            assert await now.leases.lost() == []
        async with while_it_ran(with_leases, "other club") as others:
            (lost,) = await others.leases.lost()
        assert (lost.holder, lost.state_id, lost.user, lost.tries) == (None, "b", None, 1)
        with by_hand(with_leases) as hand:
            assert (hand(MARK), hand(LAYOUT)) == ([(HEAD,)], [(int(HEAD),)])

    @pytest.mark.parametrize("first", ["take", "renew", "settle", "leave"])
    async def test_they_are_there_after_any_first_request(
        self, with_leases: str, first: str
    ) -> None:
        async with while_it_ran(with_leases) as now:
            if first == "take":
                with pytest.raises(LeaseHeld):
                    await now.leases.take("hall", "AJ_3", seconds=2)
                lease = await now.leases.take("hall", "AJ_3", seconds=2, supersedes="AJ_1")
                assert (lease.state_id, lease.user, lease.tries) == ("a", "guest of a", 1)
            elif first == "renew":
                await now.leases.renew("hall", "AJ_1", seconds=2)
                with pytest.raises(LeaseLost):
                    await now.leases.renew("hall", "AJ_2", seconds=2)
            elif first == "settle":
                await now.leases.assign("garden", "AJ_2", state_id="a", user="guest of a")
                with pytest.raises(LeaseLost):
                    await now.leases.renew("hall", "AJ_1", seconds=2)
            else:
                await now.leases.release("hall", "AJ_1", done=True)
                assert await now.leases.at("hall") is None

    async def test_many_concurrent_stores_carry_leases_over_once(
        self, with_leases: str, closing: AsyncExitStack
    ) -> None:
        stores = [await closing.enter_async_context(while_it_ran(with_leases)) for _ in range(4)]

        leases = await asyncio.gather(*(one.leases.at("hall") for one in stores))

        assert leases == [HALL] * 4

    @pytest.mark.processes
    async def test_one_that_is_killed_on_the_way_loses_none(self, with_leases: str) -> None:
        last = KILLED.replace("journal_layout", f"journal_layout SET layout = {int(HEAD)}")
        done = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", last, with_leases], cwd=ROOT
        )
        with by_hand(with_leases) as hand:
            assert (hand(LAYOUT), len(hand("SELECT * FROM leases"))) == ([(4,)], 3)

        async with while_it_ran(with_leases) as now:
            assert done.returncode == -signal.SIGKILL
            assert await now.leases.at("hall") == HALL
            assert await now.leases.at("garden") == GARDEN

    def test_where_they_cannot_be_written_the_states_go_on(self, tmp_path: Path) -> None:
        address = f"sqlite:///{tmp_path}/boards.db"
        with by_hand(address) as hand:
            fourth_layout(hand)
        beside = tmp_path / "boards.db.leases"
        beside.mkdir()

        async def version() -> int:
            async with while_it_ran(address) as now:
                return (await now.read("a")).version

        async def found() -> list[Lease]:
            async with while_it_ran(address) as now:
                return await now.leases.lost()

        assert asyncio.run(version()) == 2
        beside.rmdir()
        (lost,) = asyncio.run(found())
        assert (lost.place, lost.holder, lost.state_id) == ("hall", "AJ_1", "a")


async def test_a_migration_does_not_supersede_the_holder(old: str) -> None:
    async with store(old) as now, store(old) as another:
        holder = SharedState.restored(await now.take("a"), Board, None)
        await another.read("a")

        await holder.apply(Score(name="ann"), actor="judge")
        await another.take("a")
        with pytest.raises(TakenOver):
            await holder.apply(Score(name="ann"), actor="judge")


async def test_the_reasons_of_ended_calls_are_kept_under_their_present_names(address: str) -> None:
    reasons = ["voice_ended", "guest_left", "failed"]
    with by_hand(address) as hand:
        second_layout(hand)
        for position, reason in enumerate(reasons, 2):
            hand(ENDED.format(position=position, kind="ended", text=reason))
        hand(ENDED.format(position=5, kind="said", text="voice_ended"))

    async with store(address) as now:
        said = await now.said("a")

    assert [moment.text for moment in said[1:]] == [
        "agent_ended",
        "user_left",
        "failed",
        "voice_ended",
    ]
