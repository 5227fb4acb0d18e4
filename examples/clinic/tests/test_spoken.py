"""A visit booked aloud, through the stand-ins of the providers of speech."""

import gc
import wave
from pathlib import Path

import pytest

from agents.app.rooms.phone import RECORDING
from agents.testing.providers import Providers
from examples.clinic.tests.kit import TUESDAY, Front
from examples.clinic.visit import ClinicState

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(300),
    # The plugins leave connections that a server has closed to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SAID = (
    "Hello, I am Mary Shelley, born 1997-08-30",
    "My tooth hurts",
    "It is 312 555 0199",
    "Tuesday at 9:30",
    "yes",
)


async def test_a_visit_is_booked_aloud(tmp_path: Path) -> None:
    with wave.open(str(RECORDING)) as recording:  # whatever it says, the stand-in hears SAID
        rate = recording.getframerate()
        sound = recording.readframes(rate)
    async with Providers(hears=SAID, second_per_character=0.01, quiet_s=0.45).running() as server:
        front = Front(
            tmp_path,
            deepgram_api_key="a-key",
            cartesia_api_key="another-key",
            stt_base_url=server.url,
            tts_base_url=server.url,
        )
        async with front.room(spoken=True) as room:
            for _ in SAID:
                await room.user_speaks(sound, rate)
        async with front.store() as store:
            stored = await store.read(room.hello["visit_id"])
    gc.collect()

    spoken = [one.body["transcript"] for one in server.asked if one.body.get("transcript")]
    assert stored.read(ClinicState).slot == TUESDAY
    assert "Shall I book it?" in " ".join(spoken)
    assert server.faults == []
