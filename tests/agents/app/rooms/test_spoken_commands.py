"""``dev --speech`` and ``join --speech`` as people run them: no key, the real menu, a WAV file for a guest."""

from pathlib import Path

import pytest

from agents.app.join.sound import read_utterances
from agents.app.models.speech_settings import LOCAL_SPEECH_NOTE
from tests.agents.app.rooms.restaurant_worker import Restaurant
from tests.agents.app.serving.processes import started
from tests.livekit import LiveKit
from tests.sounds import silence, speech_program, spoken, wav

pytestmark = [pytest.mark.processes, pytest.mark.timeout(400)]

MODELS_S = 240.0
"""How long the language models of the menu may take on a busy machine, in seconds."""

SAID = ("Hello, my name is Sarah.", "I would like two large Margheritas please.")


async def test_a_sound_file_talks_to_the_restaurant_and_the_command_ends_with_0(
    livekit: LiveKit, tmp_path: Path
) -> None:
    speech_program("espeak-ng")
    restaurant = Restaurant(livekit, tmp_path)
    environment = restaurant.environment()
    guest = wav(tmp_path / "guest.wav", b"".join(silence(1) + spoken(line) for line in SAID))
    agents = tmp_path / "agents.wav"
    sound = ("--microphone", str(guest), "--loudspeaker", str(agents))
    with started(("-m", "bella_vista", "dev", "--speech"), environment, tmp_path) as dev:
        await dev.says("worker registered", seconds=MODELS_S)
        join = ("-m", "bella_vista", "join", "--speech", *sound)
        with started(join, environment, tmp_path) as joined:
            code = await joined.ends()

    assert code == 0, joined.text
    assert f"Speech-to-text: local; text-to-speech: local. Note: {LOCAL_SPEECH_NOTE}." in dev.text
    # The greeting and two answers, whatever was heard.
    assert sum(one.seconds for one in read_utterances(agents)) > 6
