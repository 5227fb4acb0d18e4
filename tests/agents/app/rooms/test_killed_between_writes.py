"""A process is killed between a guest's words and what was to come of them; the next one goes on with the talk."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from agents.app.words import may_be_missing
from tests.agents.app.rooms.killed_process import Plan, Talking, opened, orders_of, written

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[4]
LONG_S = 50


class Restaurant:
    """Where the talks are kept, and the talk that was killed."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.order_id = ""

    async def killed(self, plan: Plan) -> list[str]:
        """Have a talk killed; returns what it had acknowledged of what was said meanwhile."""
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-m",
                "tests.agents.app.rooms.killed_process",
                self._address,
                written(plan),
            ),
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(LONG_S):
                told, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        assert process.returncode == -signal.SIGKILL
        self.order_id, *kept = told.decode().split()
        return kept

    async def next_one(self) -> tuple[dict[str, int], list[str]]:
        """Go on with the talk until it is the guest's turn; returns the dishes and what was said."""
        store, context = orders_of(self._address)
        async with store:
            talking = Talking(store, await opened(store, context, self.order_id))
            await talking.start()
            async with asyncio.timeout(LONG_S):
                await talking.call.answered()
            lines = {line.name: line.quantity for line in talking.call.state.order_items}
            await talking.aclose()
        return lines, talking.said


@pytest.fixture
def restaurant(tmp_path: Path) -> Restaurant:
    return Restaurant(f"sqlite:///{tmp_path}/orders.db")


@pytest.mark.parametrize("note", [False, True])
async def test_a_message_acknowledged_during_another_write_is_acted_on_once(
    restaurant: Restaurant, note: bool
) -> None:
    plan = Plan("One Cola, please.", meanwhile="One Tiramisu, please.", note=note, dies="Tiramisu")
    assert await restaurant.killed(plan) == ["kept"]

    lines, _ = await restaurant.next_one()
    assert lines == {"Cola": 1, "Tiramisu": 1}

    lines, said = await restaurant.next_one()
    assert lines == {"Cola": 1, "Tiramisu": 1}
    assert "cut off" not in " ".join(said)


async def test_a_partly_done_message_is_not_done_twice_and_the_guest_is_asked(
    restaurant: Restaurant,
) -> None:
    words = "One Cola, one Tiramisu and one Lasagna."
    await restaurant.killed(Plan(words, dies="Lasagna"))

    lines, said = await restaurant.next_one()

    assert lines == {"Cola": 1, "Tiramisu": 1}
    assert said[0].startswith(may_be_missing([words]))
    assert "Cola" in said[0]
    assert "Tiramisu" in said[0]


async def test_a_message_that_was_done_and_not_answered_is_not_done_twice(
    restaurant: Restaurant,
) -> None:
    await restaurant.killed(Plan("One Cola, please.", after="Cola"))

    lines, said = await restaurant.next_one()

    assert lines == {"Cola": 1}
    assert said[0].startswith(may_be_missing(["One Cola, please."]))
