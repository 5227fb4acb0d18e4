"""Statements that take the shortest way to the driver do what SQLAlchemy would do with them."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, event, insert, select
from sqlalchemy.exc import IntegrityError

from state.shared.sql.connection import Link
from state.shared.sql.quick import Quick
from state.shared.sql.tables import metadata, moments, states

STATE = {
    "state_id": "s-1",
    "owner": 'it\'s "quoted" :owner %(owner)s ?',
    "ordinal": 1,
    "schema": 1,
    "fence": 2**40,
    "opened_at": "2026-11-20T19:00:00+00:00",
    "state": '{"name":"Café 🍕"}',
    "speaker": None,
    "checksum": "c",
}
BEGIN = Quick(insert(states))
ONE = Quick(select(states).where(states.c.state_id == STATE["state_id"]))


@pytest.fixture
def link(address: str) -> Iterator[Link]:
    def settle(link: Link) -> None:
        link.run(metadata.create_all, writes=True)

    link = Link(address, create=True, settle=settle)
    yield link
    link.close()


def test_what_is_written_comes_back_as_by_sqlalchemy(link: Link) -> None:
    def work(connection: Connection) -> tuple[object, ...]:
        assert BEGIN.run(connection, STATE) is None
        found = ONE.run(connection, {"state_id_1": STATE["state_id"]})
        assert found is not None
        assert tuple(found) == tuple(connection.execute(select(states)).one())
        return tuple(found)

    assert link.run(work, writes=True) == tuple(STATE.values())


def test_nothing_found_is_no_row(link: Link) -> None:
    found = link.run(lambda one: ONE.run(one, {"state_id_1": "another"}), writes=False)

    assert found is None


def test_a_broken_constraint_is_raised_as_sqlalchemy_does_and_undoes_the_rest(link: Link) -> None:
    def work(connection: Connection) -> None:
        BEGIN.run(connection, STATE)
        BEGIN.run(connection, STATE)

    with pytest.raises(IntegrityError) as raised:
        link.run(work, writes=True)

    assert "Café" not in str(raised.value)
    assert link.run(lambda one: one.execute(select(states)).first(), writes=False) is None


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_sqlalchemy_is_not_asked_on_the_way_to_sqlite(link: Link) -> None:
    seen: list[str] = []

    def work(connection: Connection) -> None:
        event.listen(
            connection,
            "before_cursor_execute",
            lambda connection, cursor, statement, *rest: seen.append(statement),
        )
        BEGIN.run(connection, STATE)
        assert seen == []
        connection.execute(select(moments))
        assert len(seen) == 1

    link.run(work, writes=True)
