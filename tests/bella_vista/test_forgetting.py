"""Erasing a guest removes their data from orders, transcripts, files and logs, and no other guest's."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from bella_vista.app import APP
from bella_vista.forgetting import GuestReport, forget_guest
from bella_vista.traces import contact_of
from state.commands import AddNote, CancelOrder, SetCustomer
from state.forgetting import FORGOTTEN
from state.order import OrderState, Stage
from state.pricing import price
from state.shared import Moment, SqlStore, TakenOver
from tests.bella_vista.a_guest import (
    DONE,
    EMAIL,
    HERS,
    NAME,
    PHONE,
    another,
    completed,
    hers,
    left_of_her,
    rows,
)
from tests.bella_vista.test_orders import begun
from tests.state.bistro import Bistro
from tests.state.shared.by_hand import by_hand
from tests.stored_orders import list_orders, open_store, resume_order, show_order

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def store(database: str) -> AsyncIterator[SqlStore]:
    async with open_store(database, "blue-door") as store:
        yield store


@pytest.fixture
async def office(database: str) -> AsyncIterator[SqlStore]:
    async with open_store(database, None) as office:
        yield office


async def forgotten(
    office: SqlStore, typed: str = "212 555 0199", logs: Sequence[Path] = ()
) -> GuestReport:
    guest = contact_of(typed, Bistro().menu.restaurant)
    return await forget_guest(APP, office, APP.settings.read(), guest, logs)


def forget_until_the_first_is_rewritten(database: str, folder: Path) -> None:
    process = subprocess.Popen(
        [*(sys.executable, "-m", "bella_vista", "orders", "forget", PHONE), "--database", database],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder)},
        stdout=subprocess.DEVNULL,
    )
    with by_hand(database) as hand:
        rewritten = 'SELECT count(*) FROM entries WHERE commands = \'[{"op":"set_customer"}]\''
        while hand(rewritten) == [(0,)] and process.poll() is None:
            pass
    process.kill()
    process.wait()


async def test_nothing_of_her_is_left_and_the_bill_stays(
    store: SqlStore, office: SqlStore, database: str, tmp_path: Path
) -> None:
    order_id = await completed(store, office)
    before, _ = await show_order(office, order_id)
    assert len(left_of_her(database, tmp_path)) == len(HERS)

    done = await forgotten(office)

    await store.close()
    assert (done.left, done.refused, done.others) == ([], {}, [])
    assert done.erased == [order_id]
    assert {trace in str(done) for trace in ("Zo", "555", "Carmine")} == {False}
    assert done.lines == 2
    assert left_of_her(database, tmp_path) == []
    after, seen = await show_order(office, order_id)
    assert price(after) == price(before)
    assert [(line.name, line.quantity, line.unit_price) for line in after.order_items] == [
        (line.name, line.quantity, line.unit_price) for line in before.order_items
    ]
    assert (after.stage, after.tip, after.payment_method, after.times, after.opened_at) == (
        *(before.stage, before.tip, before.payment_method, before.times, before.opened_at),
    )
    assert after.fulfilment is not None
    assert before.fulfilment is not None
    assert after.fulfilment == before.fulfilment.model_copy(update={"address": None})
    assert (seen["customer_name"], seen["phone"], seen["email"]) == (None, None, None)
    assert [one.fault for one in await list_orders(office, 9)] == [None]


async def test_every_version_is_still_an_order_and_every_command_has_its_name(
    store: SqlStore, office: SqlStore
) -> None:
    order_id = await completed(store, office)
    before = await office.read(order_id)

    await forgotten(office)

    after = await office.read(order_id)
    assert after.version == before.version
    for old, new in zip(before.entries, after.entries, strict=True):
        assert OrderState.model_validate_json(new.state).stage is (
            OrderState.model_validate_json(old.state).stage
        )
        assert new.commands == tuple({"op": command["op"]} for command in old.commands)
        assert new.key is None


async def test_other_guests_are_untouched(store: SqlStore, office: SqlStore, database: str) -> None:
    other = await another(store)
    before = rows(database, other)
    await completed(store, office)

    by_phone = await forgotten(office)
    by_email = await forgotten(office, EMAIL)

    assert rows(database, other) == before
    assert by_phone.others == by_email.others == []
    assert (by_phone.left, by_email.left) == ([], [])


@pytest.mark.parametrize(
    "typed",
    [
        "+12125550199",
        "(212) 555-0199",
        "1 212 555 0199",
        "zoe.OE@Example.COM",
        " zoe.oe@example.com",
    ],
)
async def test_she_is_found_however_it_is_typed(
    typed: str, store: SqlStore, office: SqlStore, database: str, tmp_path: Path
) -> None:
    order_id = await completed(store, office)

    done = await forgotten(office, typed)

    await store.close()
    assert done.erased == [order_id]
    assert left_of_her(database, tmp_path) == []


async def test_a_number_that_was_corrected_since_finds_her_too(
    store: SqlStore, office: SqlStore
) -> None:
    order_id = await completed(store, office)

    assert (await forgotten(office, "212 555 0198")).erased == [order_id]


async def test_a_second_time_there_is_nothing(store: SqlStore, office: SqlStore) -> None:
    await completed(store, office)
    await forgotten(office)

    again = await forgotten(office)

    assert again.nothing_found


async def test_her_orders_in_every_restaurant_are_found(
    store: SqlStore, office: SqlStore, database: str
) -> None:
    bistro = Bistro().menu.restaurant.model_copy(update={"id": "red-door"})
    red = Bistro(Bistro().menu.model_copy(update={"restaurant": bistro}))
    async with open_store(database, "red-door") as red_door:
        there = (
            await begun(red_door, SetCustomer(phone=PHONE), CancelOrder(), bistro=red)
        ).state.order_id
    here = await completed(store, office)

    assert set((await forgotten(office)).erased) == {here, there}


async def test_an_order_with_only_the_other_contact_is_named_and_left(
    store: SqlStore, office: SqlStore
) -> None:
    await completed(store, office)
    other = (await begun(store, SetCustomer(email=EMAIL), CancelOrder())).state.order_id

    done = await forgotten(office)

    assert done.others == [other]
    assert done.left == []
    assert (await show_order(office, other))[0].email == EMAIL


class TestOrdersUnderWay:
    async def test_the_holder_of_an_erased_order_cannot_write(
        self, store: SqlStore, office: SqlStore, database: str, tmp_path: Path
    ) -> None:
        order_id = await hers(store)
        held = await resume_order(store, Bistro().context, order_id)

        done = await forgotten(office)

        assert done.erased == [order_id]
        with pytest.raises(TakenOver):
            await held.apply(SetCustomer(name=NAME), actor="greeter")
        with pytest.raises(TakenOver):
            await store.record(order_id, Moment(2, "heard", "guest", f"I am {NAME}"))
        await store.close()
        assert (await show_order(office, order_id))[0].stage is Stage.CANCELLED
        assert left_of_her(database, tmp_path) == []

    async def test_an_order_in_the_kitchen_is_left_alone_and_named(
        self, store: SqlStore, office: SqlStore, database: str
    ) -> None:
        order_id = await hers(store, *DONE)
        before = rows(database, order_id)

        done = await forgotten(office)

        assert list(done.refused) == [order_id]
        assert "orders advance" in done.refused[order_id]
        assert not done.nothing_found
        assert rows(database, order_id) == before

    async def test_a_mention_in_anothers_order_is_cut_out_and_no_more(
        self, store: SqlStore, office: SqlStore
    ) -> None:
        mentions = AddNote(title="friend", content="call Zoë: 1 (212) 555 0199, she is near")
        other = await another(store, mentions, CancelOrder())

        done = await forgotten(office)

        assert (done.mentions, done.erased, done.left) == ([other], [], [])
        order, _ = await show_order(office, other)
        assert [note.content for note in order.notes] == [
            "zoe.oe@example.com.au",
            f"call Zoë: {FORGOTTEN}, she is near",
        ]
        assert order.phone == "+442125550199"
        assert order.order_items[0].note == "not +44 212 555 0199"

    async def test_transcripts_are_searched_as_well(
        self, store: SqlStore, office: SqlStore
    ) -> None:
        order = await begun(store, SetCustomer(name="Bo"))
        order_id = order.state.order_id
        await store.record(order_id, Moment(1, "heard", "guest", "my number? 212-555-0199"))

        done = await forgotten(office)

        assert done.mentions == [order_id]
        assert await office.said(order_id) == []


class TestTrouble:
    async def test_a_database_in_use_is_named_and_the_next_run_ends_it(
        self, store: SqlStore, office: SqlStore, database: str, tmp_path: Path
    ) -> None:
        """Also what an interruption before the files were rewritten leaves behind."""
        await completed(store, office)
        with by_hand(database) as reader:
            reader("BEGIN")
            reader("SELECT count(*) FROM moments")

            first = await forgotten(office)

            reader("COMMIT")
        assert len(first.left) == 1
        assert first.left[0].startswith("The database ")
        again = await forgotten(office)

        await store.close()
        assert again.nothing_found
        assert left_of_her(database, tmp_path) == []

    async def test_a_damaged_order_is_named_and_hides_no_other(
        self, store: SqlStore, office: SqlStore, database: str
    ) -> None:
        damaged, whole = await completed(store, office), await completed(store, office)
        with by_hand(database) as hand:
            hand(f"UPDATE entries SET actor = 'x' WHERE state_id = '{damaged}' AND version = 3")

        done = await forgotten(office)

        assert done.erased == [whole]
        assert done.left == [f"Version 3 of {damaged} cannot be used: it is damaged."]

    async def test_bytes_that_no_row_holds_are_noticed(self, tmp_path: Path) -> None:
        """The files themselves are read, so that a proof does not rest on what the tables say."""
        async with open_store(f"sqlite:///{tmp_path}/orders.db", "blue-door") as store:
            await completed(store, store)
            (tmp_path / "orders.db-journal").write_bytes(b"\x00\x17guestZOE.OE@example.comX\x00")

            done = await forgotten(store, EMAIL)

        assert done.left == [f"{tmp_path}/orders.db-journal: a trace is left in it"]

    @pytest.mark.processes
    async def test_an_erasure_killed_midway_can_be_repeated(self, tmp_path: Path) -> None:
        database = f"sqlite:///{tmp_path}/orders.db"
        async with open_store(database, "blue-door") as store:
            orders = {await completed(store, store) for _ in range(3)}
        forget_until_the_first_is_rewritten(database, tmp_path)

        async with open_store(database, None) as office:
            again = await forgotten(office)

        assert set(again.erased) < orders
        assert left_of_her(database, tmp_path) == []


class TestLogs:
    async def test_traces_are_written_over_in_place(
        self, store: SqlStore, office: SqlStore, tmp_path: Path
    ) -> None:
        await completed(store, office)
        log = tmp_path / "console.log"
        lines = (
            "WARNING for zoe.OE@example.com at 12 carmine street, 10014\n",
            f"ERROR {NAME} +1 (212) 555-0199 20.00 knusprig bitte\n",
        )
        log.write_text("".join(lines), encoding="utf-8")
        size = log.stat().st_size

        done = await forgotten(office, logs=[log])

        text = log.read_text(encoding="utf-8")
        assert (log.stat().st_size, done.in_logs, done.left) == (size, 4, [])
        assert text.startswith("WARNING for ****************** at ****")
        for piece in ("zoe", "Carmine", "carmine", "555", "Özdemir", "🍕"):
            assert piece not in text
        assert text.endswith(" 20.00 knusprig bitte\n")

    async def test_a_log_finds_her_where_no_order_does(
        self, office: SqlStore, store: SqlStore, tmp_path: Path
    ) -> None:
        await another(store)
        log = tmp_path / "console.log"
        log.write_text("INFO call 2125550199 failed\n")

        done = await forgotten(office, logs=[log])

        assert (done.in_logs, done.nothing_found) == (1, False)
        assert log.read_text() == "INFO call ********** failed\n"


async def test_the_room_she_called_in_goes_with_her(store: SqlStore, office: SqlStore) -> None:
    order_id = await completed(store, office)
    number = PHONE.replace(" ", "")
    rooms = [f"call-{number}", "table-5", f"call-{number}-again", "table-6"]
    for room in rooms:
        await store.leases.take(room, f"job for {room}", seconds=60)
    other = await another(store)
    await store.leases.assign(
        rooms[0], f"job for {rooms[0]}", state_id=order_id, user=f"sip_{number}"
    )
    await store.leases.assign("table-5", "job for table-5", state_id=other, user="page-7")

    done = await forgotten(office)

    assert (done.erased, done.left) == ([order_id], [])
    assert [await store.leases.at(room) is None for room in rooms] == [True, False, True, False]
    assert not any(number.encode() in path.read_bytes() for path in done.searched)


async def test_an_order_that_only_her_telephone_was_tied_to_lets_go_of_it(
    store: SqlStore, office: SqlStore
) -> None:
    order_id = (await begun(store)).state.order_id
    await store.record(order_id, Moment(1, "heard", "guest", "It is me"))
    await store.leases.take("table-5", "job", seconds=60)
    await store.leases.assign("table-5", "job", state_id=order_id, user="sip_+12125550199")

    done = await forgotten(office)

    assert (done.mentions, done.left) == ([order_id], [])
    assert await store.leases.of(order_id) is None
    assert await store.said(order_id) == []
