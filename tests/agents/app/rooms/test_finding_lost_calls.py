"""Which calls count as lost: those without a holder, not those that only cannot renew."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from agents.app.rooms.lost import find_lost_calls
from agents.app.rooms.room_lease import lease_name
from bella_vista.app import APP
from bella_vista.settings import Settings
from state.menu import load_menu
from state.shared import JournalFault, SqlStore
from tests.bella_vista.small_restaurant import MENU
from tests.stored_orders import open_store


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(database=f"sqlite:///{tmp_path}/orders.db", menu=MENU)


def orders(settings: Settings) -> SqlStore:
    return open_store(settings.database or "", load_menu(MENU).restaurant.id)


async def test_a_holder_that_renews_late_is_not_lost(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = asyncio.Event()

    async def renewed_meanwhile(seconds: float) -> None:
        looked.set()
        await store.leases.renew(lease_name("bella-vista", "hall"), "AJ_alive", seconds=60)

    monkeypatch.setattr("agents.app.rooms.lost.asyncio.sleep", renewed_meanwhile)
    async with orders(settings) as store:
        await store.leases.take(lease_name("bella-vista", "hall"), "AJ_alive", seconds=0)
        await store.leases.take(lease_name("bella-vista", "bar"), "AJ_dead", seconds=0)

        found = await find_lost_calls(APP, settings)

    assert looked.is_set()
    assert [(one.room, one.job_id) for one in found] == [("bar", "AJ_dead")]


async def test_an_agent_that_released_its_lease_is_not_lost(settings: Settings) -> None:
    place = lease_name("bella-vista", "hall")
    async with orders(settings) as store:
        for holder in ("AJ_1", "AJ_2", "AJ_3"):
            await store.leases.take(place, holder, seconds=0)
        dead = await find_lost_calls(APP, settings)
        await store.leases.take(place, "AJ_4", seconds=60)
        await store.leases.release(place, "AJ_4", done=False)
        left = await find_lost_calls(APP, settings)

    assert [(one.job_id, one.tries) for one in dead] == [("AJ_3", 2)]
    assert [(one.job_id, one.tries) for one in left] == [("", 0)]
    assert left[0].silent_s < 5


async def test_no_agent_counts_as_lost_while_the_database_is_locked(
    settings: Settings, tmp_path: Path
) -> None:
    async with orders(settings) as store:
        await store.leases.take(lease_name("bella-vista", "hall"), "AJ_alive", seconds=0)
        other = sqlite3.connect(tmp_path / "orders.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalFault, match="another program has locked the database"):
            await find_lost_calls(APP, settings)
        other.close()


async def test_no_agent_counts_as_lost_while_the_disk_is_full(
    settings: Settings, tmp_path: Path
) -> None:
    async with orders(settings) as store:
        await store.leases.take(lease_name("bella-vista", "hall"), "AJ_alive", seconds=0)
    with sqlite3.connect(tmp_path / "orders.db.leases") as other:
        other.execute(
            "CREATE TRIGGER full BEFORE INSERT ON leases BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    with pytest.raises(JournalFault):
        await find_lost_calls(APP, settings)
