"""Without working speech a phone caller hears a recorded sentence and is transferred or hung up."""

import asyncio
import wave
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from livekit import api

from agents.app.models.speech import SpeechModels
from agents.app.rooms import phone
from agents.app.rooms.media import Media
from agents.app.rooms.phone import RECORDING, end_line
from agents.app.rooms.process_context import ProcessContext, RoomOutcome
from agents.testing import ToneTTS
from bella_vista.menus import menu_file
from state.context import OrderContext
from state.order import OrderState
from tests.agents.app.rooms.conftest import Agent, Calls, Changed
from tests.agents.app.rooms.restaurant_worker import Restaurant
from tests.agents.app.rooms.test_speech import speech
from tests.livekit import LONG_S, LiveKit, until
from tests.speaking import Speaking, speaking

SIP = {"sip.phoneNumber": "+12125550142"}


def test_the_recording_is_small_and_made_for_telephones() -> None:
    assert RECORDING.stat().st_size <= 200_000
    with wave.open(str(RECORDING), "rb") as recording:
        assert (recording.getnchannels(), recording.getsampwidth()) == (1, 2)
        assert recording.getframerate() in (8_000, 16_000)
        seconds = recording.getnframes() / recording.getframerate()
    assert 3.0 < seconds < phone.PLAYED_S / 2
    # It ships beside the code, wherever that is installed.
    assert RECORDING.parent == Path(phone.__file__).parent


@pytest.fixture
def short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Play the first second and a half only."""
    with wave.open(str(RECORDING), "rb") as whole:
        form, data = whole.getparams(), whole.readframes(int(1.5 * whole.getframerate()))
    with wave.open(str(tmp_path / "short.wav"), "wb") as part:
        part.setparams(form)
        part.writeframes(data)
    monkeypatch.setattr("agents.app.rooms.phone.RECORDING", tmp_path / "short.wav")


@asynccontextmanager
async def called(
    calls: Calls,
    livekit: LiveKit,
    room_name: str,
    house: ProcessContext[OrderState, OrderContext],
    kind: Any = "sip",
) -> AsyncIterator[tuple[Speaking, Agent]]:
    """Make a phone call with an agent."""
    async with (
        livekit.joined(room_name, kind=kind, attributes=SIP if kind == "sip" else {}) as client,
        speaking(client.room) as caller,
        calls.agent(room_name, house=house) as agent,
    ):
        yield caller, agent


def built(model: SpeechModels) -> Media:
    return Media(lambda: model)


def cannot_be_built() -> SpeechModels:
    raise RuntimeError("no such model")


def dead_tts() -> SpeechModels:
    voice = ToneTTS()
    voice.broken = True
    return speech(voice)


def mute_tts() -> SpeechModels:
    voice = ToneTTS()
    voice.mute = True
    return speech(voice)


def dead_stt() -> SpeechModels:
    model = speech(ToneTTS(character_s=0.001))
    cast(Any, model.stt).broken = True
    return model


@pytest.mark.parametrize(
    "media",
    [
        Media(None),
        Media(cannot_be_built),
        Media(dead_tts),
        Media(mute_tts),
        Media(dead_stt),
    ],
    ids=["none", "not built", "dead tts", "mute tts", "dead stt"],
)
@pytest.mark.usefixtures("short")
async def test_without_speech_models_a_caller_hears_the_recording(
    calls: Calls,
    changed: Changed,
    livekit: LiveKit,
    room_name: str,
    media: Media,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agents.handoff.speech.speech_output.AUDIO_TIMEOUT_S", 0.5)
    async with called(calls, livekit, room_name, changed(media=media)) as (caller, agent):
        outcome = await asyncio.wait_for(asyncio.shield(agent.held), LONG_S)
        assert outcome is RoomOutcome.NO_SPEECH
        await until(lambda: caller.heard_s > 0.6, what="the recorded sentence")
    assert await calls.house.store.leases.at(agent.call._room_lease.name) is None


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("broken", ["tts", "stt"])
async def test_speech_that_dies_in_the_middle_of_a_call_ends_it_with_the_sentence(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str, broken: str
) -> None:
    voice = ToneTTS(character_s=0.001)
    model = speech(voice)
    house = changed(media=built(model))
    async with (
        livekit.joined(room_name, staff=True) as cook,
        called(calls, livekit, room_name, house) as (caller, agent),
    ):
        await cook.hello()
        await cook.call("order.subscribe")
        await until(lambda: _his_turn(agent), what="the greeting")
        heard_s = caller.heard_s
        if broken == "tts":
            voice.broken = True
        else:
            cast(Any, model.stt).broken = True
        await caller.says(0)
        outcome = await asyncio.wait_for(asyncio.shield(agent.held), LONG_S)
        assert outcome is RoomOutcome.NO_SPEECH
        await until(lambda: caller.heard_s > heard_s + 0.6, what="the recorded sentence")
        assert cook.ends == [{"reason": "failed"}]


def _his_turn(agent: Agent) -> bool:
    talk = agent.call._conversation
    return talk is not None and talk.call.turns.is_user_turn


async def test_one_reply_that_is_not_heard_is_not_the_end_of_a_call_by_phone(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    voice = ToneTTS(character_s=0.001)
    house = changed(media=built(speech(voice)))
    async with called(calls, livekit, room_name, house) as (caller, agent):
        await until(lambda: _his_turn(agent), what="the greeting")
        talk = agent.call._conversation
        assert talk is not None
        voice.broken = True
        told: list[str] = []
        replies = talk.call.replies
        speak = replies.speak

        def works_again(words: str, **how: Any) -> None:
            told.append(words)
            voice.broken = False
            speak(words, **how)

        replies.speak = works_again  # type: ignore[method-assign]
        await caller.says(0)
        await until(lambda: told and _his_turn(agent))
        assert not agent.held.done()
        await caller.says(1)
        await until(lambda: talk.call.turn == 2 and _his_turn(agent))


@pytest.mark.parametrize("media", [Media(dead_tts), Media(dead_stt)], ids=["tts", "stt"])
async def test_on_a_page_the_words_are_shown(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str, media: Media
) -> None:
    house = changed(media=media)
    async with called(calls, livekit, room_name, house, kind="standard") as (_, agent):
        await until(lambda: _his_turn(agent), what="the greeting")
        assert not agent.held.done()


async def test_a_job_that_is_shut_down_in_a_call_leaves_the_line_open(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    house = changed(media=built(speech(ToneTTS(character_s=0.001))))
    async with called(calls, livekit, room_name, house) as (_, agent):
        await until(lambda: _his_turn(agent), what="the greeting")
        conversation = agent.call._conversation
        assert conversation is not None

        await conversation.call.session.aclose()  # as livekit does at a job's shutdown

        outcome = await asyncio.wait_for(asyncio.shield(agent.held), LONG_S)
        # ``_Job._hang_up`` removes a caller for COMPLETED and NO_SPEECH.
        assert outcome is RoomOutcome.STOPPED


class Server:
    """A LiveKit server's API, as far as a line is ended by it."""

    def __init__(self, transfer: Callable[[], Any]) -> None:
        self.room = self.sip = self
        self.asked: list[Any] = []
        self._transfer = transfer

    async def transfer_sip_participant(self, request: api.TransferSIPParticipantRequest) -> Any:
        self.asked.append(request)
        return api.TransferSIPParticipantResponse(status=await _awaited(self._transfer()))

    async def remove_participant(self, request: api.RoomParticipantIdentity) -> None:
        self.asked.append("removed")


async def _awaited(value: Any) -> Any:
    return await value if asyncio.iscoroutine(value) else value


def fails() -> Any:
    raise RuntimeError("no response from servers")


STATUS = api.SIPTransferStatus


@pytest.mark.parametrize(
    ("transfer", "to", "removed"),
    [
        (lambda: STATUS.STS_TRANSFER_SUCCESSFUL, "+12125550101", False),
        (lambda: STATUS.STS_TRANSFER_SUCCESSFUL, "sip:desk@example.com", False),
        (lambda: STATUS.STS_TRANSFER_FAILED, "+12125550101", True),
        (lambda: STATUS.STS_TRANSFER_ONGOING, "+12125550101", True),
        (fails, "+12125550101", True),
        (lambda: asyncio.Event().wait(), "+12125550101", True),
        (fails, None, True),
    ],
)
async def test_a_line_is_transferred_or_ended(
    monkeypatch: pytest.MonkeyPatch, transfer: Callable[[], Any], to: str | None, removed: bool
) -> None:
    monkeypatch.setattr("agents.app.rooms.phone.TRANSFER_S", 0.05)
    monkeypatch.setattr("agents.app.rooms.phone.MOVED_S", 0.0)
    server = Server(transfer)

    await end_line(cast(Any, server), "table-7", "phone-1", transfer_to=to)

    assert ("removed" in server.asked) is removed
    if to is not None:
        asked = server.asked[0]
        assert (asked.room_name, asked.participant_identity) == ("table-7", "phone-1")
        assert asked.transfer_to == ("tel:+12125550101" if to.startswith("+") else to)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("metadata", [{}, "{no JSON"], ids=["served", "not served"])
async def test_a_worker_without_speech_plays_the_sentence_and_ends_the_line(
    livekit: LiveKit, tmp_path: Path, room_name: str, metadata: Any
) -> None:
    menu = tmp_path / "menu.yaml"
    text = menu_file(None).read_text(encoding="utf-8")
    menu.write_text(
        text.replace("\n  currency:", '\n  transfer_to: "+1 212 555 0101"\n  currency:', 1),
        encoding="utf-8",
    )
    restaurant = Restaurant(livekit, tmp_path)
    async with (
        restaurant.worker(BELLA_VISTA_MENU=str(menu)) as worker,
        livekit.joined(room_name, kind="sip", attributes=SIP) as client,
        speaking(client.room) as caller,
    ):
        await restaurant.send(room_name, metadata)
        await until(lambda: "disconnected" in client.connection, what="the end of the line")
        assert caller.heard_s > 3.0  # all of it
        # No SIP server is there: the transfer was tried, and came to nothing.
        await worker.tells("phone transfer failed", room_name)
