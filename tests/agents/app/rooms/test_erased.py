"""A state is erased while its call goes on: the user is told, and nothing of it is written again."""

from pathlib import Path
from typing import Any

import pytest

from agents.app.forgetting import ErasureReport, forget_state
from agents.app.words import Words
from bella_vista.app import APP
from tests.agents.app.rooms.checked_client import Checked, served
from tests.agents.app.rooms.conftest import Calls
from tests.livekit import LiveKit, is_turn, until
from tests.stored_orders import open_store

NAME = "Zerlina Quackenbush"
NAMED: dict[str, Any] = {"op": "add_item", "name": "Tiramisu", "quantity": 1, "note": f"for {NAME}"}
SENTENCE = Words().erased


async def forgotten(folder: Path, order_id: str) -> ErasureReport:
    """Erase a state as the command line does: in a store of its own."""
    async with open_store(f"sqlite:///{folder}/orders.db", None) as office:
        return await forget_state(APP, office, APP.settings.read(), order_id, ())


def bytes_in(folder: Path) -> bytes:
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    return b"".join(file.read_bytes() for file in files)


async def by_itself(ada: Checked) -> None:
    """The agent finds out by its lease."""


async def by_a_write(ada: Checked) -> None:
    """A page writes at once."""
    await ada.refused("order.apply", {"command": NAMED})


@pytest.mark.parametrize("goes_on", [by_itself, by_a_write])
async def test_the_user_is_told_and_the_next_call_starts_a_new_state(
    calls: Calls, livekit: LiveKit, room_name: str, tmp_path: Path, goes_on: Any
) -> None:
    async with served(calls, livekit, room_name) as (ada, agent):
        first = await ada.call("hello")
        await until(lambda: is_turn(ada.client, 0), what="the greeting")
        await ada.call("say", {"text": f"two large margheritas, my name is {NAME}"})
        await until(lambda: is_turn(ada.client, 1), what="the answer")
        await ada.apply(**NAMED)
        assert NAME.encode() in bytes_in(tmp_path)

        report = await forgotten(tmp_path, first["order_id"])
        assert (report.erased, report.left) == ([first["order_id"]], [])
        await goes_on(ada)

        await until(lambda: ada.client.ends, what="the end of the call")
        await until(lambda: SENTENCE in ada.client.said, what="the sentence")
        assert ada.client.ends == [{"reason": "agent_ended"}]
        assert NAME not in str(await ada.call("get_transcript"))
        assert not agent.held.done()

        assert await ada.call("say", {"text": "one tiramisu"}) == {"turn": 1}
        await until(lambda: "iramisu" in ada.client.said[-1], what="the answer in another call")
        order = await ada.order()
        assert order["order_id"] != first["order_id"]
        assert (order["item_count"], order["customer_name"]) == (1, None)
    assert NAME.encode() not in bytes_in(tmp_path)
