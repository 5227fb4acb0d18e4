"""A call without a key in a real room: a WAV file orders, pocketsphinx hears it, espeak-ng answers."""

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.app.join.displays import JsonDisplay
from agents.app.join.room_access import RoomAccess
from agents.app.join.sound import Sound, Utterance, read_utterances
from agents.app.join.visit import NoSpeech, Visit
from agents.app.local_speech.language_models import LanguageModels, language_models
from agents.app.models.speech import SpeechModels, speech_models
from agents.app.rooms.media import Media
from agents.app.settings import AppSettings
from agents.app.terminal.input import InputLines
from bella_vista.app import APP
from bella_vista.settings import Settings
from tests.agents.app.rooms.conftest import Calls, Changed
from tests.livekit import LiveKit, new_identity
from tests.sounds import silence, speech_program, spoken, wav

TRIES = 4
SAID = ("hello, my name is Sarah", "I would like two large Margheritas please")


@pytest.fixture(scope="session")
def heard(tmp_path_factory: pytest.TempPathFactory) -> LanguageModels:
    """Language models of a few sentences, which are heard on a machine that loses sound, too."""
    sentences = [*SAID, "yes please", "no thank you", "that is all", "what is on the menu"]
    return language_models({"open": sentences}, folder=tmp_path_factory.mktemp("heard"))


def local(models: LanguageModels) -> SpeechModels:
    settings = Settings(stt="local", tts="local", tts_model="espeak-ng")
    speech = speech_models(settings, language_models=models)
    assert speech is not None
    return speech


def visit_of(livekit: LiveKit, room: str, sound: Sound, out: io.StringIO) -> Visit:
    settings = AppSettings.model_validate({**livekit.environment, "agent_name": "bella-vista"})
    return Visit(
        APP,
        RoomAccess(settings),
        JsonDisplay(APP, out),
        InputLines(lambda: None),
        typed=False,
        room=room,
        identity=new_identity(),
        sound=sound,
    )


def events(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def until_heard(utterances: Iterable[Utterance], out: io.StringIO) -> Iterator[Utterance]:
    """Say each again while it is asked for again: on a busy machine sound is lost."""
    for number, utterance in enumerate(utterances, start=1):
        for _ in range(TRIES):
            yield utterance
            if len([one for one in events(out) if one["type"] == "heard"]) >= number:
                break


async def test_a_file_orders_and_the_answers_are_recorded(
    calls: Calls,
    changed: Changed,
    livekit: LiveKit,
    room_name: str,
    tmp_path: Path,
    heard: LanguageModels,
) -> None:
    speech_program("espeak-ng")
    said = b"".join(silence(1) + spoken(line) for line in SAID)
    out, recording = io.StringIO(), tmp_path / "agents.wav"
    house = changed(media=Media(lambda: local(heard)))
    async with calls.agent(room_name, house=house) as agent:
        sound = Sound(wav(tmp_path / "guest.wav", said), recording)
        sound.utterances = until_heard(sound.utterances or (), out)
        reason = await visit_of(livekit, room_name, sound, out).run(
            fresh=False, resume_code=None, again="join"
        )
        assert agent.call._conversation is not None
        order = agent.call._conversation.call.state

    assert reason == "input_ended"
    assert [(line.quantity, line.name, line.size) for line in order.order_items] == [
        (2, "Margherita", "large")
    ]
    assert (order.customer_name, order.channel) == ("Sarah", "web_voice")
    shown = events(out)
    told = [one["text"] for one in shown if one["type"] == "heard"]
    assert len(told) == len(SAID)
    assert "my name is sarah" in told[0]
    assert "two large margheritas" in told[1]
    turns = [one["turn"] for one in shown if one["type"] == "your_turn" and one["your_turn"]]
    assert [*dict.fromkeys(turns)] == [0, 1, 2]
    # The greeting and two answers; silence divides their sentences, too.
    assert sum(one.seconds for one in read_utterances(recording)) > 8


async def test_an_agent_without_speech_is_told_of(
    calls: Calls,
    livekit: LiveKit,
    room_name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agents.app.join.visit.ANSWER_S", 1.0)
    file = wav(tmp_path / "guest.wav", spoken("yes please"))
    visit = visit_of(livekit, room_name, Sound(file, tmp_path / "agents.wav"), io.StringIO())
    async with calls.agent(room_name):
        with pytest.raises(NoSpeech):
            await visit.run(fresh=False, resume_code=None, again="join")
