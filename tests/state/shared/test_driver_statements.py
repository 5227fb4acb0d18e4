"""Statements that take the shortest way to the driver do what SQLAlchemy would do with them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from sqlalchemy import Connection, event, insert, select

from state.shared.errors import JournalFault
from state.shared.sql import driver_statements
from state.shared.sql.connection import DatabaseConnection
from state.shared.sql.driver_statements import StateHead
from state.shared.sql.tables import entries, metadata, moments, states
from tests.state.shared.by_hand import by_hand

ODD = 'it\'s "quoted" :owner %(owner)s %s ? \\ Café 🍕'
MANY = 2 * driver_statements.BATCH_ROWS + 1


def state(state_id: str) -> dict[str, Any]:
    return {
        "state_id": state_id,
        "owner": ODD,
        "ordinal": int(state_id),
        "schema": 1,
        "fence": 2**40,
        "opened_at": "2026-11-20T19:00:00+00:00",
        "state": "{}",
        "speaker": None,
        "checksum": "c",
    }


def entry(state_id: str, version: int, key: str | None = None) -> dict[str, Any]:
    return {
        "state_id": state_id,
        "version": version,
        "commands": "[]",
        "touched": "[]",
        "state": '{"name":"Café 🍕"}',
        "speaker": None,
        "actor": ODD,
        "key": key,
        "body": None,
        "fence": 2**40,
        "schema": 1,
        "owner": ODD,
        "at": "2026-11-20T19:00:00+00:00",
        "checksum": "c",
        "turn": None,
    }


def moment(state_id: str, position: int) -> dict[str, Any]:
    return {
        "state_id": state_id,
        "position": position,
        "at": "2026-11-20T19:00:00+00:00",
        "turn": 1,
        "kind": "said",
        "who": "guest",
        "text": ODD,
        "utterance": ODD,
    }


@pytest.fixture
def db(address: str) -> Iterator[DatabaseConnection]:
    def settle(db: DatabaseConnection) -> None:
        db.run(metadata.create_all, writes=True)

    db = DatabaseConnection(address, create=True, on_open=settle)
    db.run(
        lambda connection: connection.execute(
            insert(states), [state(str(number)) for number in range(1, MANY + 1)]
        ),
        writes=True,
    )
    yield db
    db.close()


def driver_of(connection: Connection) -> Any:
    return connection.connection.dbapi_connection


def rows(db: DatabaseConnection) -> list[Mapping[str, Any]]:
    everything = select(entries).order_by(entries.c.state_id, entries.c.version)
    return db.run(
        lambda connection: [dict(row) for row in connection.execute(everything).mappings()],
        writes=False,
    )


def inserted(db: DatabaseConnection, *new: dict[str, Any]) -> bool:
    return db.run(
        lambda connection: driver_statements.insert(driver_of(connection), entries, new),
        writes=True,
    )


@pytest.mark.parametrize("count", [1, 2, MANY])
def test_written_rows_come_back_as_by_sqlalchemy(db: DatabaseConnection, count: int) -> None:
    new = [entry(str(number), 1, key=ODD) for number in range(1, count + 1)]

    assert inserted(db, *new)

    assert sorted(rows(db), key=lambda row: int(row["state_id"])) == new


@pytest.mark.parametrize("waits", [True, False])
def test_states_are_found_with_the_last_of_what_belongs_to_them(
    db: DatabaseConnection, waits: bool
) -> None:
    inserted(db, entry("1", 1), entry("1", 2), entry("2", 1))
    said = [moment("2", 1), moment("2", 2), moment("2", 3)]
    db.run(
        lambda connection: driver_statements.insert(driver_of(connection), moments, said),
        writes=True,
    )
    asked = [str(number) for number in range(1, MANY + 9)] + ["1", "not there", ODD]

    found = db.run(
        lambda connection: driver_statements.lock_heads(driver_of(connection), asked, waits=waits),
        writes=True,
    )

    assert len(found) == MANY
    assert found["1"] == StateHead(ODD, 2**40, 2, 0)
    assert found["2"] == StateHead(ODD, 2**40, 1, 3)
    assert found[str(MANY)] == StateHead(ODD, 2**40, 0, 0)


@pytest.mark.parametrize(
    "in_the_way", [entry("1", 1), entry("1", 2, key="k")], ids=["version", "key"]
)
def test_one_that_is_there_before_is_told_and_overwrites_nothing(
    db: DatabaseConnection, in_the_way: dict[str, Any]
) -> None:
    before = entry("1", 1, key="k")
    inserted(db, before)

    assert not inserted(db, entry("2", 1), in_the_way | {"state": "other"}, entry("3", 1))

    assert before in rows(db)
    assert "other" not in [row["state"] for row in rows(db)]


def test_a_broken_constraint_is_a_fault_without_its_values(
    db: DatabaseConnection,
) -> None:
    bad = entry("2", 1) | {"actor": None, "state": "canary"}

    with pytest.raises(JournalFault, match="does not hold what was expected") as fault:
        inserted(db, entry("1", 1), bad)

    assert "canary" not in str(fault.value)
    assert rows(db) == []


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_a_state_that_is_locked_elsewhere_is_left_out(db: DatabaseConnection, address: str) -> None:
    with by_hand(address) as other:
        other("BEGIN")
        other("UPDATE states SET fence = fence WHERE state_id = '2'")

        found = db.run(
            lambda connection: driver_statements.lock_heads(
                driver_of(connection), ["3", "2", "1"], waits=False
            ),
            writes=True,
        )

    assert sorted(found) == ["1", "3"]


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_a_group_takes_as_many_steps_as_one(db: DatabaseConnection) -> None:
    steps: list[int] = []
    statements: list[str] = []

    def work(connection: Connection, count: int) -> None:
        driver = driver_of(connection)
        driver.set_trace_callback(lambda statement: statements.append(statement))
        event.listen(
            connection,
            "before_cursor_execute",
            lambda connection, cursor, statement, *rest: statements.append(statement),
        )
        ids = [str(number) for number in range(1, count + 1)]
        assert len(driver_statements.lock_heads(driver_of(connection), ids, waits=False)) == count
        assert driver_statements.insert(
            driver_of(connection), entries, [entry(one, len(steps) + 1) for one in ids]
        )
        driver.set_trace_callback(None)
        steps.append(len(statements))
        statements.clear()

    db.run(lambda connection: work(connection, 1), writes=True)
    db.run(lambda connection: work(connection, driver_statements.BATCH_ROWS), writes=True)

    assert steps == [2, 2]
