"""What a PostgreSQL server can have against it: one clear line, no damage, and it works again afterwards."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from state.shared import (
    JournalFault,
    NotStored,
    OutcomeUnknown,
    SharedState,
    SqlStore,
    StoredState,
    TakenOver,
)
from tests.postgres import PASSWORD, USER, Server
from tests.state.shared.board import Board, Rename, Score
from tests.state.shared.by_hand import WAITING, Hand, by_hand

EMPTY = Board().model_dump_json()


@pytest.fixture
def url(postgresql: Server) -> Iterator[str]:
    with postgresql.empty_database() as lent:
        yield lent


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    async with SqlStore(url, owner="club", schema=1) as store:
        yield store


def going_on(stored: StoredState) -> SharedState[Board, None]:
    return SharedState.restored(stored, Board, None)


async def begun(store: SqlStore) -> SharedState[Board, None]:
    """A held board with two versions."""
    shared = going_on(await store.create("a", lambda ordinal: EMPTY))
    await shared.apply(Score(name="ann"), actor="judge")
    await shared.apply(Score(name="ann"), actor="judge")
    return shared


@contextmanager
def stopped(server: Server, mode: str) -> Iterator[None]:
    server.stop(mode)
    try:
        yield
    finally:
        server.start()


@contextmanager
def a_role(hand: Hand, url: str, rights: str = "") -> Iterator[str]:
    """A database role with few rights; yields its address."""
    role = f"r{secrets.token_hex(6)}"
    hand(f"CREATE ROLE {role} LOGIN PASSWORD 'sesame' {rights}")
    try:
        yield url.replace(f"{USER}:{PASSWORD}", f"{role}:sesame")
    finally:
        hand(f"DROP OWNED BY {role}")
        hand(f"DROP ROLE {role}")


class TestConnecting:
    @pytest.mark.parametrize(
        ("said", "instead", "line"),
        [
            (PASSWORD, "wrong", "the database did not accept the user or the password"),
            (f":{PASSWORD}@", "@", "the database did not accept the user or the password"),
            (f"{USER}:", "nobody_here:", "the database did not accept the user or the password"),
            ("/d", "/no_d", "there is no such database on the server"),
            ("127.0.0.1", "no-such-machine.invalid", "there is no machine of the database server"),
        ],
        ids=["wrong password", "no password", "no such user", "no such database", "no machine"],
    )
    async def test_an_address_that_leads_nowhere(
        self, url: str, said: str, instead: str, line: str
    ) -> None:
        async with SqlStore(url.replace(said, instead), owner="club", schema=1) as store:
            for _ in range(2):
                with pytest.raises(JournalFault, match=line) as fault:
                    await store.list()
                assert PASSWORD not in fault.value.message
                assert "wrong" not in fault.value.message

    async def test_a_port_without_a_server(self, url: str) -> None:
        async with SqlStore(
            "postgresql://club@127.0.0.1:1/boards", owner="club", schema=1
        ) as store:
            with pytest.raises(JournalFault, match="the database does not answer"):
                await store.list()

    async def test_a_server_that_has_no_room(self, url: str) -> None:
        with by_hand(url) as hand, a_role(hand, url, "CONNECTION LIMIT 0") as address:
            async with SqlStore(address, owner="club", schema=1) as store:
                with pytest.raises(JournalFault, match="takes no more connections"):
                    await store.list()

    async def test_a_role_that_may_not_create_tables(self, url: str) -> None:
        with by_hand(url) as hand, a_role(hand, url) as address:
            async with SqlStore(address, owner="club", schema=1) as store:
                with pytest.raises(JournalFault, match="this user may not use the database"):
                    await store.create("a", lambda ordinal: EMPTY)

    async def test_a_read_only_role_can_read(self, store: SqlStore, url: str) -> None:
        holder = await begun(store)
        with by_hand(url) as hand, a_role(hand, url) as address:
            role = address.partition("://")[2].partition(":")[0]
            hand(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
            async with SqlStore(address, owner="club", schema=1) as reader:
                staff = going_on(await reader.read("a"))
                with pytest.raises(NotStored, match="this user may not use the database"):
                    await staff.apply(Score(name="ann"), actor="staff")
                with pytest.raises(JournalFault, match="this user may not use the database"):
                    await reader.take("a")
                assert [one.version for one in await reader.list()] == [2]

        await holder.apply(Score(name="ann"), actor="judge")

        assert (holder.version, staff.version) == (3, 2)


async def test_a_database_that_can_only_be_read_for_a_while(store: SqlStore, url: str) -> None:
    shared = await begun(store)
    with by_hand(url) as hand:
        (name,) = hand("SELECT current_database()")[0]
        hand(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        hand.cut()
        for _ in range(2):
            with pytest.raises(NotStored, match="the database can only be read"):
                await shared.apply(Score(name="ann"), actor="judge")
        assert (await store.read("a")).version == 2
        hand("SET default_transaction_read_only = off")
        hand(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
        hand.cut()

    await shared.apply(Score(name="ann"), actor="judge")

    assert (shared.version, (await store.read("a")).version) == (3, 3)


@pytest.mark.parametrize("at", ["writing", "committing"])
@pytest.mark.parametrize(
    ("happens", "line"),
    [
        ("RAISE EXCEPTION 'no' USING ERRCODE = '53100'", "the disk is full"),
        ("RAISE EXCEPTION 'no' USING ERRCODE = '58030'", "the disk does not answer"),
        ("RAISE EXCEPTION 'no' USING ERRCODE = '40P01'", "another program has locked the database"),
        ("RAISE EXCEPTION 'no' USING ERRCODE = 'XX001'", "the database is damaged"),
        ("PERFORM pg_terminate_backend(pg_backend_pid())", "the connection to the database broke"),
    ],
    ids=["full", "disk", "deadlock", "damaged", "cut"],
)
async def test_trouble_inside_the_server(
    store: SqlStore, url: str, at: str, happens: str, line: str
) -> None:
    shared = await begun(store)
    with by_hand(url) as hand:
        hand(
            "CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql"
            f" AS $$ BEGIN {happens}; RETURN NEW; END $$"
        )
        when = {
            "writing": "CREATE TRIGGER trouble BEFORE INSERT ON entries",
            "committing": "CREATE CONSTRAINT TRIGGER trouble AFTER INSERT ON entries"
            " DEFERRABLE INITIALLY DEFERRED",
        }
        hand(f"{when[at]} FOR EACH ROW EXECUTE FUNCTION trouble()")
        for _ in range(2):
            with pytest.raises(NotStored, match=line):
                await shared.apply(Rename(title="Never"), actor="judge")
        assert (await store.read("a")).version == shared.version == 2
        hand("DROP TRIGGER trouble ON entries")

    await shared.apply(Rename(title="Again"), actor="judge")

    assert (shared.version, (await store.read("a")).version) == (3, 3)
    assert shared.state == Board(title="Again", scores={"ann": 2})


class TestTheServerLetsGo:
    async def test_a_cut_idle_connection_is_made_again(self, store: SqlStore, url: str) -> None:
        shared = await begun(store)
        with by_hand(url) as hand:
            hand.cut()
            await shared.apply(Score(name="ann"), actor="judge")
            hand.cut()
            assert (await store.read("a")).version == shared.version == 3

    @pytest.mark.usefixtures("patient")
    async def test_a_connection_cut_in_the_middle_of_a_change(
        self, store: SqlStore, url: str
    ) -> None:
        shared = await begun(store)
        with by_hand(url) as other, by_hand(url) as looking:
            other("BEGIN")
            other("UPDATE states SET fence = fence")
            writing = asyncio.create_task(shared.apply(Score(name="ann"), actor="judge"))
            await looking.until(WAITING)
            looking(f"SELECT pg_terminate_backend(pid, 10000) FROM ({WAITING}) AS waiting")
            other("ROLLBACK")

        await writing

        stored = await store.read("a")
        assert (shared.version, stored.version) == (3, 3)
        assert Board.model_validate_json(stored.state).scores == {"ann": 3}

    async def test_a_frozen_process_blocks_no_other(
        self, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from state.shared.sql import dialects

        commit = dialects.commit
        monkeypatch.setattr(dialects, "STATEMENT_S", 0.5)
        loop = asyncio.get_running_loop()
        async with (
            SqlStore(url, owner="club", schema=1) as store,
            SqlStore(url, owner="club", schema=1) as others,
        ):
            older = going_on(await store.create("a", lambda ordinal: EMPTY))
            taken: list[asyncio.Future[StoredState]] = []

            def stand_still(driver: object) -> None:
                # In the first one's thread, before its commit: it has the row's lock.
                if not taken:
                    taking = asyncio.run_coroutine_threadsafe(others.take("a"), loop)
                    taken.append(asyncio.wrap_future(taking, loop=loop))
                    taking.result(20)
                commit(driver)

            monkeypatch.setattr(dialects, "commit", stand_still)
            with pytest.raises(NotStored, match="the connection to the database broke"):
                await older.apply(Score(name="older"), actor="older")
            newer = going_on(await taken[0])
            await newer.apply(Score(name="newer"), actor="newer")
            with pytest.raises(TakenOver):
                await older.apply(Score(name="older"), actor="older")
            stored = await others.read("a")

        assert [entry.actor for entry in stored.entries] == ["newer"]

    @pytest.mark.parametrize("mode", ["fast", "immediate"])
    async def test_a_server_that_was_stopped_and_started(
        self, store: SqlStore, postgresql: Server, mode: str
    ) -> None:
        shared = await begun(store)

        with stopped(postgresql, mode):
            for _ in range(2):
                with pytest.raises(NotStored, match="does not answer|connection .* broke"):
                    await shared.apply(Score(name="ann"), actor="judge")
            with pytest.raises(JournalFault, match="the database does not answer"):
                await store.read("a")
            with pytest.raises(JournalFault, match="the database does not answer"):
                await store.create("b", lambda ordinal: EMPTY)
        await shared.apply(Score(name="ann"), actor="judge")

        stored = await store.read("a")
        assert (shared.version, stored.version) == (3, 3)
        assert Board.model_validate_json(stored.state) == shared.state == Board(scores={"ann": 3})
        assert (await store.create("b", lambda ordinal: EMPTY)).ordinal == 2

    async def test_a_suspended_server(
        self, store: SqlStore, postgresql: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from state.shared.sql import thread

        shared = await begun(store)

        with monkeypatch.context() as short:
            short.setattr(thread, "ANSWER_S", 0.2)
            short.setattr(thread, "GIVE_UP_S", 0.2)
            with postgresql.paused():
                with pytest.raises(OutcomeUnknown):
                    await shared.apply(Score(name="ann"), actor="judge", key="k")
                for _ in range(2):
                    with pytest.raises(NotStored, match="the database does not answer"):
                        await shared.apply(Score(name="bob"), actor="judge")
                assert (shared.version, shared.state.scores) == (2, {"ann": 2})
        again = await self.when_it_answers(shared)
        await shared.apply(Score(name="bob"), actor="judge")

        stored = await store.read("a")
        assert (again, shared.version, stored.version) == (3, 4, 4)
        assert Board.model_validate_json(stored.state).scores == {"ann": 3, "bob": 1}

    async def when_it_answers(self, shared: SharedState[Board, None]) -> int:
        for _ in range(1_000_000):
            try:
                return (await shared.apply(Score(name="ann"), actor="judge", key="k")).version
            except NotStored:
                await asyncio.sleep(0)
        raise AssertionError("it never answered again")
