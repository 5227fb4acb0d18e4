"""A menu whose file is spoilt while the restaurant is open."""

import shutil

import pytest

from bella_vista.menus import OWN
from tests.agents.app.rooms.restaurant_worker import Restaurant
from tests.livekit import new_identity

pytestmark = pytest.mark.timeout(300)


async def test_a_menu_that_is_spoilt_while_a_worker_runs_leaves_no_guest_unanswered(
    restaurant: Restaurant, room_name: str
) -> None:
    menu = restaurant.folder / "menu.yaml"
    shutil.copy(OWN, menu)
    async with restaurant.worker(BELLA_VISTA_MENU=str(menu)) as worker:
        menu.write_text("restaurant: 5\n")

        # The first finds a process that was ready before; none of the next is.
        for number in range(3):
            async with restaurant.called(f"{room_name}-{number}", new_identity()) as guest:
                assert (await guest.hello())["order_id"]

        told = await worker.tells("menu invalid, serving the last valid one")
        assert str(menu) in told["message"]
        worker.running.signal(15)
        assert await worker.ends() == 0
