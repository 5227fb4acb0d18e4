"""What a client that only looks is shown: the latest, now and then, and no fault of it matters."""

import asyncio

import pytest

from rpc.gateway.attributes import Attributes
from rpc.testing import FakeRoom
from tests.virtual_time import in_virtual_time, played


class Participant:
    """Takes attributes as livekit does: beside those there are, and an empty text takes one away."""

    def __init__(self, takes: float = 0.0) -> None:
        self.attributes: dict[str, str] = {}
        self.updates: list[tuple[float, dict[str, str]]] = []
        self.takes = takes
        self.fails: Exception | None = None
        self.at_once = self.most_at_once = 0

    async def set_attributes(self, attributes: dict[str, str]) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            self.updates.append((asyncio.get_running_loop().time(), dict(attributes)))
            await asyncio.sleep(self.takes)
            if self.fails is not None:
                raise self.fails
        finally:
            self.at_once -= 1
        self.attributes |= attributes
        self.attributes = {name: text for name, text in self.attributes.items() if text}


@in_virtual_time
async def test_the_first_goes_out_at_once_and_of_the_following_the_latest() -> None:
    participant = Participant()
    attributes = Attributes(participant)

    attributes.show({"agent": "greeter", "version": "0"})
    await asyncio.sleep(0)
    for number in range(1, 101):
        attributes.show({"version": str(number)})
        await asyncio.sleep(0.005)
    attributes.show({"agent": ""})
    await asyncio.sleep(1)

    assert participant.updates[0] == (0.0, {"agent": "greeter", "version": "0"})
    assert participant.attributes == {"version": "100"}
    assert len(participant.updates) <= 7
    await attributes.aclose()


@in_virtual_time
async def test_a_slow_server_is_asked_one_thing_at_a_time() -> None:
    participant = Participant(takes=2.0)
    attributes = Attributes(participant)

    for number in range(50):
        attributes.show({"version": str(number)})
        await asyncio.sleep(0.1)
    await asyncio.sleep(10)

    assert participant.most_at_once == 1
    assert len(participant.updates) == 4
    assert participant.attributes == {"version": "49"}
    await attributes.aclose()


@in_virtual_time
async def test_unchanged_attributes_are_not_sent_again() -> None:
    participant = Participant()
    attributes = Attributes(participant)

    for stage in ("open", "open", "review"):
        attributes.show({"agent": "greeter", "stage": stage})
        await asyncio.sleep(1)

    assert [sent for _, sent in participant.updates] == [
        {"agent": "greeter", "stage": "open"},
        {"stage": "review"},
    ]
    await attributes.aclose()


def test_a_failure_is_logged_once_and_made_good_with_the_next_change(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        participant = Participant()
        participant.fails = RuntimeError("Ada's number is 5551234")
        attributes = Attributes(participant)
        for number in range(3):
            attributes.show({"agent": "greeter", "version": str(number)})
            await asyncio.sleep(1)

        participant.fails = None
        attributes.show({"version": "3"})
        await asyncio.sleep(1)

        assert participant.attributes == {"agent": "greeter", "version": "3"}
        await attributes.aclose()

    played(story())
    assert [record.message for record in caplog.records] == ["attributes could not be set"]
    assert "5551234" not in str(vars(caplog.records[0]))


@in_virtual_time
async def test_after_this_side_was_away_all_of_them_are_shown_once_more() -> None:
    participant = Participant(takes=0.5)
    attributes = Attributes(participant)
    attributes.show({"agent": "greeter"})
    await asyncio.sleep(1)
    attributes.show({"version": "1"})
    await asyncio.sleep(0.2)  # under way, and lost although it does not fail

    attributes.again()
    await asyncio.sleep(5)

    assert [sent for _, sent in participant.updates] == [
        {"agent": "greeter"},
        {"version": "1"},
        {"agent": "greeter", "version": "1"},
    ]
    await attributes.aclose()


@in_virtual_time
async def test_an_update_that_never_ends_is_given_up() -> None:
    participant = Participant(takes=10_000)
    attributes = Attributes(participant)
    attributes.show({"version": "1"})
    await asyncio.sleep(11)

    participant.takes = 0
    attributes.show({"version": "2"})
    await asyncio.sleep(1)

    assert participant.attributes == {"version": "2"}
    await attributes.aclose()


@in_virtual_time
async def test_the_end_breaks_off_what_is_under_way() -> None:
    participant = Participant(takes=5)
    attributes = Attributes(participant)
    attributes.show({"version": "1"})
    await asyncio.sleep(1)

    await attributes.aclose()
    attributes.show({"version": "2"})
    await asyncio.sleep(20)

    assert (participant.at_once, len(participant.updates)) == (0, 1)


async def test_livekits_own_participant_takes_them() -> None:
    async with FakeRoom() as room:
        attributes = Attributes(room.local_participant, sleep=room.clock.sleep)

        attributes.show({"agent": "greeter"})
        await room.clock.advance(1)

        assert room.agent.attributes_set == [{"agent": "greeter"}]
        await attributes.aclose()
