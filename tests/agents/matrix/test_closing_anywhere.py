"""A call is closed, by us or by livekit, or cut off, at every moment; what was written is whole."""

import asyncio
import gc
import re
import weakref
from collections.abc import Awaitable, Callable, Sequence

import pytest

from agents.handoff import stop
from state.shared import Entry
from tests.agents.handoff.raw_model import Part
from tests.agents.hotel import Stay
from tests.agents.matrix.own import Desk
from tests.agents.matrix.plain import Plain
from tests.agents.matrix.rows import BAR, CHEERS, TWO_NIGHTS, made
from tests.agents.matrix.stage import CHANNELS, Channel, Disk, Talk, texts, until
from tests.virtual_time import JumpingLoop

SCENES: dict[str, Sequence[Sequence[Part]]] = {
    "a handoff": [[BAR], [CHEERS]],
    "words and a handoff beside a write": [["One moment.", BAR, TWO_NIGHTS], [CHEERS]],
    "a tool that hangs": [[made("wait_for_ever")], [CHEERS]],
    "a handoff waiting for a tool that hangs": [[made("wait_for_ever"), BAR], [CHEERS]],
    "a model that hangs": [[3600.0, "Never."]],
}
MOMENTS = (0, 2, 5, 8, 10, 12, 14, 16, 19, 23, 30, 45)
SOON_S = 8.0
"""A tool may work for four seconds, and livekit lets what is being said be said."""


async def we_close(talk: Talk) -> None:
    await stop(talk.call)


async def livekit_closes(talk: Talk) -> None:
    await talk.call.session.aclose()


async def livekit_shuts_down(talk: Talk) -> None:
    talk.call.session.shutdown(drain=False)
    await until(lambda: talk.call.ended is not None)


CLOSING: tuple[Callable[[Talk], Awaitable[None]], ...] = (
    we_close,
    livekit_closes,
    livekit_shuts_down,
)


def whole(talk: Talk) -> None:
    """The journal has what the state has, and nothing else."""
    shared, rows = talk.call.shared, talk.disk.rows
    assert [row.version for row in rows] == list(range(1, shared.version + 1))
    if rows:
        assert rows[-1].state == talk.call.state.model_dump_json()
        assert rows[-1].speaker == shared.speaker


@pytest.mark.parametrize("closes", CLOSING, ids=lambda act: act.__name__)
@pytest.mark.parametrize("scene", SCENES)
async def test_a_call_closes_at_any_moment_soon_once_and_whole(
    scene: str, closes: Callable[[Talk], Awaitable[None]]
) -> None:
    loop = asyncio.get_running_loop()
    for channel in CHANNELS:
        for steps in MOMENTS:
            async with Talk(SCENES[scene], channel, agents=[Desk]) as talk:
                talk.disk.takes_s = 0.1
                talk.call.user_said("Good evening")
                for _ in range(steps):
                    await asyncio.sleep(0)
                began = loop.time()
                await closes(talk)

                assert loop.time() - began < SOON_S, (steps, loop.time() - began)
                assert talk.call.ended == "user_left"
                whole(talk)
                after = len(talk.events)
                talk.call.user_said("Hello?")
                assert talk.call.time_limits.hung_up
                assert len(talk.events) == after


@pytest.mark.parametrize("scene", SCENES)
def test_a_process_that_is_stopped_at_any_moment_stops_and_leaves_a_whole_journal(
    scene: str,
) -> None:
    """Every task is cancelled, as ``asyncio.run`` does at its end."""
    talks: list[Talk] = []

    async def until_then(steps: int, channel: Channel) -> None:
        talk = Talk(SCENES[scene], channel, agents=[Desk])
        talks.append(talk)
        await talk.begins()
        await talk.until_turn()
        talk.disk.takes_s = 0.1
        talk.call.user_said("Good evening")
        for _ in range(steps):
            await asyncio.sleep(0)

    for channel in CHANNELS:
        for steps in MOMENTS:
            with asyncio.Runner(loop_factory=JumpingLoop) as runner:
                runner.run(until_then(steps, channel))
            rows, shared = talks[-1].disk.rows, talks[-1].call.shared
            assert [row.version for row in rows][: shared.version] == list(
                range(1, shared.version + 1)
            )


class DeadDisk(Disk):
    """A disk that never answers, from the moment the test says."""

    dead = False

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        if not self.dead:
            return super().append(entry)
        self.asked += 1
        return asyncio.get_running_loop().create_future()


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("reply", [[TWO_NIGHTS], [BAR], [TWO_NIGHTS, BAR]], ids=["0", "1", "2"])
async def test_a_journal_that_never_answers_ends_in_words_that_claim_nothing(
    reply: Sequence[Part], channel: Channel
) -> None:
    async with Talk([reply, ["I am not sure."]], channel, disk=DeadDisk()) as talk:
        talk.disk.dead = True  # type: ignore[attr-defined]
        await talk.user_says("Two nights, or a beer")

        assert "It may or may not have been done. outcome_unknown" in talk.shown()
        assert talk.said == ["I am not sure."]
        assert talk.call.state == Stay()
        assert talk.call.speaker == "reception"
        talk.disk.dead = False  # type: ignore[attr-defined]
        await talk.goes_on()


async def test_a_journal_that_never_answers_does_not_keep_a_call_from_closing() -> None:
    loop = asyncio.get_running_loop()
    async with Talk([[TWO_NIGHTS], ["Never."]], disk=DeadDisk()) as talk:
        talk.disk.dead = True  # type: ignore[attr-defined]
        talk.call.user_said("Two nights")
        await until(lambda: talk.disk.asked > 0)
        began = loop.time()

    assert loop.time() - began < 20.0
    assert talk.call.ended == "user_left"


async def test_closing_waits_for_a_commit_that_is_on_its_way_and_keeps_it() -> None:
    async with Talk([[TWO_NIGHTS], ["Never."]]) as talk:
        talk.disk.takes_s = 4.5
        talk.call.user_said("Two nights")
        await until(lambda: talk.disk.asked > 0)

    assert talk.call.state == Stay(nights=2)
    whole(talk)


async def test_plain_livekit_waits_an_hour_for_a_tool_before_it_closes() -> None:
    loop = asyncio.get_running_loop()
    async with Plain([[made("wait_for_ever")]]) as talk:
        talk.user_says_nowait("Ask them")
        await asyncio.sleep(1.0)
        began = loop.time()
        await talk.session.aclose()

        assert loop.time() - began > 3000


def fifty_handoffs() -> list[Sequence[Part]]:
    back = made("transfer_to_reception")
    return [reply for turn in range(50) for reply in ([back if turn % 2 else BAR], [CHEERS])]


async def test_fifty_handoffs_make_neither_the_prompt_nor_the_call_grow() -> None:
    kept: list[dict[str, int]] = []

    async with Talk(fifty_handoffs()) as talk:
        for _ in range(50):
            await talk.user_says("The other one, please")
            call = talk.call
            owners = (call.active, call.turns, call.replies, call.tools, call.slow_tools)
            kept.append(sizes(call, call.requests, call.handoffs, *owners))
        talk.holds()
        openings = [texts(context.items) for context in talk.model.asked[6::2]]

    # The digest names the version, whose digits are all that may grow.
    assert len({sum(len(re.sub(r"\d+", "0", text)) for text in one) for one in openings}) == 1
    assert talk.handoffs == ["bar", "reception"] * 25
    assert kept[3] == kept[-1]


def sizes(*parts: object) -> dict[str, int]:
    """How much each part of a call holds."""
    return {
        f"{type(part).__name__}.{name}": len(value)
        for part in parts
        for name, value in vars(part).items()
        if isinstance(value, list | set | dict | tuple)
    }


async def test_plain_livekit_keeps_every_voice_of_a_call_in_memory() -> None:
    """As long as it does, so do our calls: each handoff leaves an agent behind until the call is over."""
    agents: list[weakref.ref[object]] = []

    async with Plain(fifty_handoffs()) as talk:
        for _ in range(50):
            agents.append(weakref.ref(talk.session.current_agent))
            await talk.user_says("The other one, please")
        gc.collect()

        assert len([agent for agent in agents if agent() is not None]) == 50
