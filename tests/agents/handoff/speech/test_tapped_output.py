"""What is recorded of an agent's audio is what was played."""

from livekit import rtc

from agents.handoff.speech.audio import TappedOutput
from agents.handoff.speech.waiting_tone import quiet_tone
from agents.testing import Loudspeaker
from tests.virtual_time import in_virtual_time


class Notes:
    """A tap that notes what it is told."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    def user_audio(self, frame: rtc.AudioFrame) -> None:
        self.noted.append("user")

    def agent_speaks(self) -> None:
        self.noted.append("speaks")

    def agent_played(self, frames: list[rtc.AudioFrame], *, ago_s: float) -> None:
        self.noted.append(f"played {sum(frame.duration for frame in frames):.1f} s")

    def agent_stopped(self) -> None:
        self.noted.append("stopped")

    def understood(self, words: str, *, secret: bool) -> None:
        self.noted.append("understood")

    def forget(self) -> None:
        self.noted.append("forget")


@in_virtual_time
async def test_an_output_that_wraps_no_other_is_recorded_to_its_end() -> None:
    notes = Notes()
    output = TappedOutput(Loudspeaker(), notes)

    await output.capture_frame(quiet_tone(0.5, 24_000))
    output.flush()
    finished = await output.wait_for_playout()

    assert (finished.playback_position, finished.interrupted) == (0.5, False)
    assert notes.noted == ["speaks", "played 0.5 s", "stopped"]
