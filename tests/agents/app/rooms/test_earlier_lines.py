"""What was said before a client was in the room: a page that is loaded again, or another agent."""

from typing import Any

import pytest

from agents.app.rooms.process_context import ProcessContext
from state.context import OrderContext
from state.order import OrderState
from tests.agents.app.rooms.checked_client import Checked
from tests.agents.app.rooms.conftest import Calls, Changed
from tests.livekit import LiveKit, new_identity, until

WORDS = "two large margheritas please"
CARD = "my card is 4242 4242 4242 4242"

House = ProcessContext[OrderState, OrderContext]


async def lines(ada: Checked) -> list[tuple[str, str]]:
    """Read all lines: each speaker, and what they said."""
    return [(line["agent"] or line["speaker"], line["text"]) for line in await whole(ada)]


async def whole(ada: Checked) -> list[dict[str, Any]]:
    """Read all lines as they are told."""
    read: list[dict[str, Any]] = []
    asked: dict[str, int] = {}
    while True:
        page = await ada.call("get_transcript", asked)
        read = [*page["lines"], *read]
        if not page["earlier"]:
            return read
        asked = {"before": read[0]["number"]}


async def test_a_page_that_is_loaded_again_reads_what_was_said(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    identity = new_identity()
    async with calls.agent(room_name):
        async with livekit.joined(room_name, identity) as client:
            await client.hello()
            ada = Checked(client)
            await ada.turn()
            await ada.say(WORDS)
            await ada.say(CARD)
            before = await lines(ada)
            # Word for word what was written in the room, the guest's own words apart.
            told = " ".join(text for who, text in before if who != "user")
            assert told.split() == " ".join(client.said).split()
            # Each of the agents' lines names the utterance that its words named in the room.
            live = {one.attributes["utterance"]: one.text for one in client.written}
            kept = (await ada.call("get_transcript"))["lines"]
            assert {line["utterance"]: line["text"] for line in kept if line["agent"]} == live
            assert [line["utterance"] for line in kept if not line["agent"]] == [None, None]

        async with livekit.joined(room_name, identity) as client:
            await client.hello()
            assert (await lines(Checked(client)))[: len(before)] == before

    assert before[0][0] == "greeter"
    assert ("user", WORDS) in before
    assert "order_taker" in {who for who, _ in before}
    assert "4242 4242" not in str(before)


@pytest.mark.parametrize("stored", [True, False])
async def test_another_agent_tells_what_was_said_to_the_first_if_it_was_stored(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str, stored: bool
) -> None:
    house: House = changed(transcript=stored)
    async with livekit.joined(room_name) as client:
        ada = Checked(client)
        async with calls.agent(room_name, house=house):
            await client.hello()
            await ada.turn()
            await ada.say(WORDS)
            before, told = await lines(ada), await whole(ada)
        async with calls.agent(room_name, house=house):
            await until(lambda: client.agents(), what="the other agent")
            await client.hello()
            after, told_again = await lines(ada), await whole(ada)
    assert ("user", WORDS) in before
    assert after[: len(before)] == before if stored else ("user", WORDS) not in after
    if stored:  # each line names the same utterance, by which a client knows it again
        assert told_again[: len(told)] == told
        assert all(line["utterance"] for line in told if line["agent"])
