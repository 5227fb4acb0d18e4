"""States of earlier releases are migrated when they are read, and stored in the new form when they are written."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from state.shared import (
    Command,
    JournalFault,
    Migration,
    NotStored,
    SharedState,
    SqlStore,
    TakenOver,
    read_state,
    schema_faults,
)
from tests.state.shared.board import Board, Score
from tests.state.shared.by_hand import by_hand


class Table(BaseModel):
    """A board as the third release knows it: another name for the title, and a place that is asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    place: str | None
    scores: Mapping[str, int] = {}


class Win(Command[Table, Any]):
    """Give points: the same request as before."""

    op: Literal["score"] = "score"
    name: str
    by: int = 1

    def apply(self, state: Table, context: Any) -> Table:
        points = state.scores.get(self.name, 0) + self.by
        return state.model_copy(update={"scores": {**state.scores, self.name: points}})


def renamed(state: dict[str, Any]) -> dict[str, Any]:
    state["name"] = state.pop("title")
    return state


def with_place(state: dict[str, Any]) -> dict[str, Any]:
    return {**state, "place": None}


MIGRATE: Mapping[int, Migration] = {1: renamed, 2: with_place}
Opens = Callable[[], SqlStore]


@pytest.fixture
async def first(address: str) -> AsyncIterator[SqlStore]:
    """The first release, with one board of two changes in its hands."""
    async with SqlStore(address, owner="club", schema=1) as store:
        board = await SharedState.open(store, "final", Board(title="Final"), None)
        await board.apply(Score(name="ann"), actor="judge", key="k")
        await board.apply(Score(name="bob"), actor="judge")
        yield store


@pytest.fixture
def third(address: str) -> Opens:
    return lambda: SqlStore(address, owner="club", schema=3, migrate=MIGRATE)


def schemas(address: str) -> list[tuple[int, int]]:
    with by_hand(address) as hand:
        return [
            *hand("SELECT 0, schema FROM states"),
            *hand("SELECT version, schema FROM entries ORDER BY version"),
        ]


async def test_an_old_state_is_opened_continued_and_then_stored_in_the_new_form(
    first: SqlStore, third: Opens, address: str
) -> None:
    before = schemas(address)
    async with third() as store:
        table = await SharedState.open(store, "final", Table(name="new", place=None), None)
        assert table.state == Table(name="Final", place=None, scores={"ann": 1, "bob": 1})
        assert schemas(address) == before == [(0, 1), (1, 1), (2, 1)]

        await table.apply(Win(name="ann"), actor="judge")

    assert schemas(address) == [(0, 1), (1, 1), (2, 1), (3, 3)]
    async with third() as store:
        stored = await store.take("final")
        again = SharedState.restored(stored, Table, None)
    assert (again.version, again.state) == (3, table.state)
    assert [json.loads(entry.state)["name"] for entry in stored.entries] == ["Final"] * 3


async def test_an_old_state_is_listed_read_and_answers_its_keys(
    first: SqlStore, third: Opens
) -> None:
    async with third() as store:
        (listed,) = await store.list()
        assert listed.read(Table) == Table(name="Final", place=None, scores={"ann": 1, "bob": 1})
        stored = await store.read("final")
        assert read_state(Table, stored.initial, "It") == Table(name="Final", place=None)
        office = SharedState.restored(stored, Table, None)
        again = await office.apply(Win(name="ann"), actor="judge", key="k")

    assert (again.version, again.state.scores) == (1, {"ann": 1})
    assert office.version == 2


async def test_the_older_release_refuses_what_the_newer_has_written_and_writes_nothing_over_it(
    first: SqlStore, third: Opens, address: str
) -> None:
    older = SharedState.restored(await first.take("final"), Board, None)
    async with third() as store:
        newer = SharedState.restored(await store.take("final"), Table, None)
        await newer.apply(Win(name="cid"), actor="judge")

        with pytest.raises(TakenOver):
            await older.apply(Score(name="ann"), actor="judge")
        for refused in (first.take, first.read):
            with pytest.raises(JournalFault, match="newer release"):
                await refused("final")
        with pytest.raises(JournalFault, match="newer release"):
            await SharedState.open(first, "final", Board(), None)
        with pytest.raises(JournalFault, match="newer release"):
            await first.eraser.rewrite("final", lambda state, commands: (state, commands))
        (listed,) = await first.list()
        assert (listed.state, listed.fault is not None) == (None, True)

        # It still holds the state: the older one has not taken it.
        await newer.apply(Win(name="cid"), actor="judge")
    assert schemas(address) == [(0, 1), (1, 1), (2, 1), (3, 3), (4, 3)]
    assert newer.state.scores == {"ann": 1, "bob": 1, "cid": 2}


async def test_a_holder_of_the_older_release_writes_no_more_once_the_newer_wrote_beside_it(
    first: SqlStore, third: Opens, address: str
) -> None:
    holder = SharedState.restored(await first.take("final"), Board, None)
    async with third() as store:
        staff = SharedState.restored(await store.read("final"), Table, None)
        await staff.apply(Win(name="cid"), actor="staff")

    for _ in range(2):
        with pytest.raises(NotStored, match="newer release"):
            await holder.apply(Score(name="ann"), actor="judge")
    assert (holder.version, schemas(address)[-1]) == (2, (3, 3))


async def test_a_state_the_newer_release_only_read_goes_on_with_the_older(
    first: SqlStore, third: Opens, address: str
) -> None:
    async with third() as store:
        await store.list()
        await store.take("final")
    older = SharedState.restored(await first.take("final"), Board, None)
    await older.apply(Score(name="ann"), actor="judge")

    assert schemas(address) == [(0, 1), (1, 1), (2, 1), (3, 1)]


async def test_an_erased_state_is_stored_in_the_new_form(
    first: SqlStore, third: Opens, address: str
) -> None:
    def erased(state: str, commands: Any) -> tuple[str, Any]:
        table = read_state(Table, state, "It")
        return table.model_copy(update={"name": "erased"}).model_dump_json(), commands

    async with third() as store:
        await store.eraser.rewrite("final", erased)
        stored = await store.take("final")

    assert schemas(address) == [(0, 3), (1, 3), (2, 3)]
    assert [json.loads(one.state)["name"] for one in stored.entries] == ["erased", "erased"]
    assert json.loads(stored.initial)["name"] == "erased"


# -- migrations that fail -------------------------------------------------------------------------


def raises(state: dict[str, Any]) -> dict[str, Any]:
    if state["title"] == "Final":
        raise ValueError(f"a secret: {state}")
    return state | {"name": state.pop("title")}


def in_a_helper(state: dict[str, Any]) -> dict[str, Any]:
    return raises(state)


def nothing(state: dict[str, Any]) -> Any:
    state["name"] = state.pop("title")


def no_json(state: dict[str, Any]) -> dict[str, Any]:
    return {**state, "place": object()}


def exits(state: dict[str, Any]) -> dict[str, Any]:
    sys.exit(1)


@pytest.mark.parametrize(
    ("migration", "why"),
    [
        (raises, r"migrate\[1\] failed: ValueError in raises, .*test_schema\.py:\d+"),
        (in_a_helper, r"migrate\[1\] failed: ValueError in in_a_helper, .*test_schema\.py:\d+"),
        (nothing, r"migrate\[1\] returned no JSON object but NoneType"),
        (no_json, r"migrate\[1\] returned what JSON cannot represent"),
        (lambda: {}, r"migrate\[1\] failed: TypeError in <lambda>"),
        (exits, r"migrate\[1\] failed: SystemExit in exits, .*test_schema\.py:\d+"),
    ],
)
async def test_a_migration_that_fails_is_named_and_the_state_alone_is_refused(
    first: SqlStore,
    address: str,
    caplog: pytest.LogCaptureFixture,
    migration: Migration,
    why: str,
) -> None:
    holder = SharedState.restored(await first.take("final"), Board, None)
    before = schemas(address)
    async with SqlStore(
        address, owner="club", schema=3, migrate={1: migration, 2: with_place}
    ) as store:
        await store.create("other", lambda ordinal: '{"name":"new","place":null,"scores":{}}')
        for attempt in (
            lambda: store.take("final"),
            lambda: store.read("final"),
            lambda: store.eraser.rewrite("final", lambda state, commands: (state, commands)),
        ):
            with pytest.raises(JournalFault, match=why) as fault:
                await attempt()
            assert "secret" not in fault.value.message
            assert (
                "The beginning of final" in fault.value.message or "Version" in fault.value.message
            )
        by_id = {one.state_id: one for one in await store.list()}
        assert by_id["other"].read(Table) == Table(name="new", place=None)
        with pytest.raises(JournalFault, match=why):
            by_id["final"].read(Table)
        await store.said("final")

    told = [one for one in caplog.messages if "migrate[1]" in one]
    assert len(told) == 1  # and each state that cannot be read names the fault itself
    assert "secret" not in caplog.text
    assert schemas(address) == [before[0], (0, 3), *before[1:]]
    await holder.apply(Score(name="ann"), actor="judge")  # it is still held where it was
    assert holder.version == 3


async def test_a_migration_that_leads_to_another_form_is_refused_as_well(
    first: SqlStore, address: str
) -> None:
    def forgets(state: dict[str, Any]) -> dict[str, Any]:
        return {"name": state["title"], "place": None}

    migrate: Mapping[int, Migration] = {1: forgets}
    async with SqlStore(address, owner="club", schema=2, migrate=migrate) as store:
        with pytest.raises(JournalFault, match=r"\(scores: missing\)\. .* schema=3 with") as fault:
            await SharedState.open(store, "final", Table(name="new", place=None), None)
    assert "migrate={2: " in fault.value.message


# -- the declaration ------------------------------------------------------------------------------


async def later(state: dict[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(0)
    return state


@pytest.mark.parametrize(
    ("schema", "migrate", "faults"),
    [
        (1, {}, []),
        (3, MIGRATE, []),
        (2, {}, ["migrate[1] is missing: nothing leads from schema 1 to 2"]),
        (
            4,
            {2: with_place},
            [
                "migrate[1] is missing: nothing leads from schema 1 to 2",
                "migrate[3] is missing: nothing leads from schema 3 to 4",
            ],
        ),
        (1, {1: renamed}, ["migrate[1] does not lead to schema=1: raise schema, or remove it"]),
        (
            2,
            {0: renamed, 1: later, "2": renamed},
            [
                "migrate[0] does not lead to schema=2: raise schema, or remove it",
                "migrate['2'] does not lead to schema=2: raise schema, or remove it",
                "migrate[1] has to be a plain function of the JSON object",
            ],
        ),
        (2, {1: "renamed"}, ["migrate[1] has to be a plain function of the JSON object"]),
        (0, {}, ["schema=0 is not a version: the first one is 1"]),
        (True, {}, ["schema=True is not a version: the first one is 1"]),
        ("2", {1: renamed}, ["schema='2' is not a version: the first one is 1"]),
    ],
)
def test_a_declaration_with_faults_is_refused_with_all_of_them(
    schema: Any, migrate: Any, faults: list[str]
) -> None:
    assert schema_faults(schema, migrate) == faults
    if not faults:
        SqlStore("sqlite:///never.db", owner="club", schema=schema, migrate=migrate)
        return
    with pytest.raises(ValueError, match="schema|migrate") as error:
        SqlStore("sqlite:///never.db", owner="club", schema=schema, migrate=migrate)
    assert str(error.value) == "; ".join(faults)
