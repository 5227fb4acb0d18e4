"""A spoken call in a room that is recorded, and one whose guest does not want that."""

import os
import signal
import wave
from array import array
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.app.recordings import RATE, Recordings, files_of
from agents.app.rooms.media import Media
from agents.app.words import Words
from agents.testing import ToneTTS
from agents.testing.tones import number_of
from state.shared import Moment
from tests.agents.app.rooms.checked_client import Checked
from tests.agents.app.rooms.conftest import Calls, Changed
from tests.agents.app.rooms.held_call import held_in
from tests.agents.app.rooms.test_phone_calls import SIP
from tests.agents.app.rooms.test_speech import answered, speech
from tests.livekit import Client, LiveKit, until
from tests.sounds import wav
from tests.speaking import speaking
from tests.stored_orders import list_orders, new_order, open_store


async def test_both_sides_of_a_call_are_recorded_after_the_notice(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    voice = ToneTTS(character_s=0.004)
    kept = Recordings(tmp_path / "calls", "house")
    house = changed(media=Media(lambda: speech(voice)), recordings=kept)
    async with (
        livekit.joined(room_name) as guest,
        speaking(guest.room) as ada,
        calls.agent(room_name, house=house) as agent,
    ):
        await until(partial(answered, agent, 0), what="the greeting")
        await until(lambda: Words().recorded in " ".join(guest.said), what="the notice")
        talk = agent.call._conversation
        assert talk is not None
        for number in range(2):
            turn = talk.call.turn + 1
            await ada.says(number)
            await until(partial(answered, agent, turn), what="the answer")
        order_id = talk.call.shared.state_id
    (file,) = files_of(tmp_path / "calls", order_id)
    with wave.open(str(file), "rb") as recording:
        both = array("h", recording.readframes(recording.getnframes()))
    for side in (both[0::2], both[1::2]):
        assert sum(abs(one) > 500 for one in side) > 0.1 * RATE


async def test_a_card_number_that_is_spoken_is_silence_in_the_recording(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    lines = ("Hi, I am Ada", "my card is 4111 1111 1111 1111", "a Margherita, please")
    voice = ToneTTS(character_s=0.001)
    kept = Recordings(tmp_path / "calls", "house")
    house = changed(media=Media(lambda: speech(voice, lines)), recordings=kept)
    async with (
        livekit.joined(room_name) as guest,
        speaking(guest.room) as ada,
        calls.agent(room_name, house=house) as agent,
    ):
        await until(partial(answered, agent, 0), what="the greeting")
        talk = agent.call._conversation
        assert talk is not None
        for number in range(len(lines)):
            turn = talk.call.turn + 1
            await ada.says(number)
            await until(partial(answered, agent, turn), what="the answer")
        order_id = talk.call.shared.state_id
    said = await house.store.said(order_id)
    assert "my card is [card]" in [one.text for one in said]
    (file,) = files_of(tmp_path / "calls", order_id)
    assert lines_in(file) == {0, 2}


def lines_in(file: Path) -> set[int | None]:
    """Return the numbers of the tones that a recording has of the user: late sound makes two of one."""
    with wave.open(str(file), "rb") as recording:
        user = array("h", recording.readframes(recording.getnframes()))[0::2]
    tones: list[array[int]] = []
    quiet = size = RATE // 50
    for at in range(0, len(user), size):
        piece = user[at : at + size]
        if max(map(abs, piece)) < 1000:
            quiet += size
            continue
        if quiet >= RATE // 10:
            tones.append(array("h"))
        tones[-1].extend(piece)
        quiet = 0
    return {number_of(tone, RATE) for tone in tones} - {None}


async def test_recordings_are_kept_as_long_as_transcripts(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    now = datetime.now(UTC)
    folder = tmp_path / "calls" / "house"
    folder.mkdir(parents=True)
    old, newer = (wav(folder / f"{name}_1.wav", bytes(4_000)) for name in ("old", "newer"))
    for file, days in ((old, 40), (newer, 20)):
        at = (now - timedelta(days=days)).timestamp()
        os.utime(file, (at, at))
    house = changed(recordings=Recordings(tmp_path / "calls", "house"), transcript_days=30)
    order = await new_order(house.store, house.context, "web_text")
    last = Moment(1, "heard", "guest", "hello", now - timedelta(days=2))
    await house.store.record(order.state.order_id, last)
    async with livekit.joined(room_name) as guest, calls.agent(room_name, house=house):
        await guest.hello()
        await until(lambda: not old.exists(), what="the old recording gone")
    assert newer.exists()


@pytest.mark.processes
@pytest.mark.timeout(120)  # a process is started, and a busy machine takes its time
async def test_of_a_call_whose_process_is_killed_the_recording_can_be_played_and_the_words_be_read(
    livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    folder = tmp_path / "calls"
    held = held_in(livekit, room_name, tmp_path, recordings=str(folder))
    async with (
        livekit.joined(room_name, kind="sip", attributes=SIP) as guest,
        speaking(guest.room) as ada,
    ):
        with held.process(tmp_path) as process:
            await until(lambda: "Bella Vista" in " ".join(guest.said), what="the greeting")
            await until(lambda: ada.heard_s > 0.05 and not ada.hears, what="its end")
            await ada.says(0)
            await until(lambda: is_recorded(folder, 0), what="the guest in the recording")
            await ada.says(1)  # what is not settled is in memory only
            os.kill(process.pid, signal.SIGKILL)
            await process.ends()

    assert is_recorded(folder, 0)
    assert is_recorded(folder, 1)
    async with open_store(held.database, "bella-vista") as store:
        (order,) = [one.state for one in await list_orders(store, 10)]
        assert order is not None
        said = [one.text for one in await store.said(order.order_id)]
    assert "Hi, I am Ada" in said


def is_recorded(folder: Path, side: int) -> bool:
    """Whether a side has sound in the only recording: the user 0, the agents 1."""
    for file in folder.glob("*/*.wav"):
        with wave.open(str(file), "rb") as recording:
            both = array("h", recording.readframes(recording.getnframes()))
        return sum(abs(one) > 500 for one in both[side::2]) > 0.1 * RATE
    return False


def recorded(guest: Client) -> str | None:
    """What the agent's attribute says."""
    return guest.agents()[-1].attributes.get("bella.recorded")


async def test_a_guest_who_refuses_is_not_recorded_and_nothing_is_kept(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    voice = ToneTTS(character_s=0.001)
    kept = Recordings(tmp_path / "calls", "house")
    house = changed(media=Media(lambda: speech(voice)), recordings=kept)
    code: dict[str, Any] = {}
    orders: list[str] = []
    for visit in range(2):
        async with (
            livekit.joined(f"{room_name}-{visit}") as guest,
            speaking(guest.room),
            calls.agent(f"{room_name}-{visit}", house=house, **code) as agent,
        ):
            await until(partial(answered, agent, 3 * visit), what="the greeting")
            talk = agent.call._conversation
            assert talk is not None
            order_id = talk.call.shared.state_id
            if visit == 0:
                orders = [order_id]
                code = {"resume_code": (await guest.call("hello"))["resume_code"]}
                assert len(files_of(tmp_path / "calls", order_id)) == 1
                await until(lambda: recorded(guest) == "true")
                await guest.call("say", {"text": "Is this call being recorded?"})
                await until(lambda: Words().is_recorded in " ".join(guest.said))
                await guest.call("say", {"text": "Please don't record me."})
                await until(lambda: Words().not_recorded in " ".join(guest.said))
                await until(lambda: recorded(guest) == "false")
                await guest.call("say", {"text": "Are you still recording this?"})
                await until(lambda: Words().is_not_recorded in " ".join(guest.said))
            else:
                assert [order_id] == orders
                assert Words().recorded not in " ".join(guest.said)
        assert files_of(tmp_path / "calls", order_id) == []


async def test_a_page_refuses_the_recording_and_nothing_is_kept(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    voice = ToneTTS(character_s=0.001)
    kept = Recordings(tmp_path / "calls", "house")
    house = changed(media=Media(lambda: speech(voice)), recordings=kept)
    async with (
        livekit.joined(room_name, staff=True) as staff,
        livekit.joined(room_name) as guest,
        speaking(guest.room),
        calls.agent(room_name, house=house) as agent,
    ):
        await until(partial(answered, agent, 0), what="the greeting")
        hello = await guest.hello()
        assert "recorded" in hello["features"]
        assert len(files_of(tmp_path / "calls", hello["order_id"])) == 1
        assert (await Checked(staff).refused("refuse_recording"))["code"] == 4003

        for _ in range(2):  # a repeat changes nothing
            assert await Checked(guest).call("refuse_recording") == {"ok": True}
        assert "recorded" not in (await guest.hello())["features"]
        await until(lambda: recorded(guest) == "false")
        await guest.call("say", {"text": "Are you still recording this?"})
        await until(lambda: Words().is_not_recorded in " ".join(guest.said))
        await until(lambda: not files_of(tmp_path / "calls", hello["order_id"]))
        resumed = {"resume_code": hello["resume_code"]}
    async with (
        livekit.joined(f"{room_name}-again") as guest,
        speaking(guest.room),
        calls.agent(f"{room_name}-again", house=house, **resumed),
    ):
        again = await guest.hello()
        assert again["order_id"] == hello["order_id"]
        assert "recorded" not in again["features"]
    assert files_of(tmp_path / "calls", hello["order_id"]) == []
