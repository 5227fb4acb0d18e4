"""A quiet tone for a user who waits: no silence is so long that the call seems to be dead.

The tone is played by the audio output of the agents' words, below everything that counts or shows them:
it is no word of an agent, and the two are never heard at once.
"""

import asyncio
import math
from array import array
from collections.abc import Callable, Coroutine
from typing import Any

from livekit import rtc
from livekit.agents.voice.io import AudioOutput

from agents.handoff.call_base import AnyCall
from agents.handoff.speech.audio import OutputWrapper
from agents.handoff.speech.user_speech import UserSpeech
from agents.handoff.user_turns import UserTurns

TONE_AFTER_S = 2.5
"""After how much silence a user who waits hears a tone, in seconds."""

_TONE_S = 0.3
_HERTZ, _LOUDNESS = 440, 2_000
_RATE = 24_000


def quiet_tone(seconds: float, rate: int) -> rtc.AudioFrame:
    """Return a quiet tone.

    >>> quiet_tone(0.1, 24_000).duration
    0.1
    """
    count = round(rate * seconds)
    wave = (round(_LOUDNESS * math.sin(math.tau * _HERTZ * at / rate)) for at in range(count))
    return rtc.AudioFrame(array("h", wave).tobytes(), rate, 1, count)


class ToneOutput(OutputWrapper):
    """An audio output that plays a tone while it has nothing else to play.

    The first frame of a reply ends the tone at once. Listeners of this output get no event of the tone.

    Args:
        output: Plays the audio.
    """

    def __init__(self, output: AudioOutput) -> None:
        super().__init__(output, label="tone")
        self._over: asyncio.Event | None = None
        """Set when the tone under way is over; None without one."""
        self._given = asyncio.Lock()
        """Held while a tone is given to the output."""
        self._paused = False

    async def play_tone(self) -> None:
        """Play a tone, unless there is something to play or the output is paused."""
        if self._over is not None or self._paused or self._pending_playback_count:
            return
        self._over = asyncio.Event()
        try:
            async with self._given:
                await self._output.capture_frame(quiet_tone(_TONE_S, self.sample_rate or _RATE))
                self._output.flush()
        except BaseException:  # it goes on; what waits for the tone must not
            self._tone_over()
            raise

    def stop_tone(self) -> None:
        """Stop the tone, if one is played."""
        if self._over is not None and not self._given.locked():
            self._output.clear_buffer()

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        """Stop the tone and pass a frame on."""
        if (over := self._over) is not None:
            async with self._given:
                pass
            self.stop_tone()
            await over.wait()
        await super().capture_frame(frame)

    def flush(self) -> None:
        """Mark the segment as complete."""
        if self._over is None:
            super().flush()
        else:  # the tone has been flushed
            AudioOutput.flush(self)

    def pause(self) -> None:
        """Pause, and stop the tone."""
        self._paused = True
        self.stop_tone()
        super().pause()

    def resume(self) -> None:
        """Go on."""
        self._paused = False
        super().resume()

    def on_playback_started(self, *, created_at: float) -> None:
        """Report the start of a segment."""
        if self._over is None:
            super().on_playback_started(created_at=created_at)

    def on_playback_progressed(self, *, started_at: float, offset: float, duration: float) -> None:
        """Report a stretch that was played."""
        if self._over is None:
            super().on_playback_progressed(started_at=started_at, offset=offset, duration=duration)

    def on_playback_finished(
        self,
        *,
        playback_position: float,
        interrupted: bool,
        synchronized_transcript: str | None = None,
    ) -> None:
        """Report the end of a segment."""
        if self._over is not None:
            self._tone_over()
            return
        super().on_playback_finished(
            playback_position=playback_position,
            interrupted=interrupted,
            synchronized_transcript=synchronized_transcript,
        )

    def _tone_over(self) -> None:
        over, self._over = self._over, None
        if over is not None:
            over.set()


class WaitingTone:
    """Has a tone played while the user of one call waits and hears nothing.

    Args:
        call: The call.
        turns: The user's turns.
        speech: The user's speech.
        after_s: After how much silence, and how long after the last tone, in seconds.
        spawn: Runs the task that plays a tone; its owner cancels it.
    """

    def __init__(
        self,
        call: AnyCall,
        turns: UserTurns,
        speech: UserSpeech,
        *,
        after_s: float,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._call, self._turns, self._speech = call, turns, speech
        self._after_s, self._spawn = after_s, spawn
        self._commits = False
        self._output: ToneOutput | None = None
        self._timer: asyncio.TimerHandle | None = None

    def wrap(self, output: AudioOutput) -> AudioOutput:
        """Return an audio output that also plays the tones."""
        self._output = ToneOutput(output)
        return self._output

    def user_commits(self, commits: bool) -> None:
        """Note whether a turn that the user has ended is being committed."""
        self._commits = commits
        self.check()

    def check(self, event: object = None) -> None:
        """Look whether the user waits now: something has changed."""
        if not self._waits:
            self.stop()
        elif self._timer is None:
            self._arm()

    def stop(self) -> None:
        """Stop waiting with the user."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._output is not None:
            self._output.stop_tone()

    @property
    def _waits(self) -> bool:
        call, turns = self._call, self._turns
        if not call.can_speak or self._speech.speaking or call.session.agent_state == "speaking":
            return False
        if call.user_holds:
            return self._commits
        return bool(
            turns.speeches
            or turns.queued
            or call.active.handoff_under_way
            or self._speech.final_due
        )

    def _arm(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._after_s, self._due)

    def _due(self) -> None:
        self._timer = None
        if self._waits and self._output is not None:
            self._spawn(self._output.play_tone())
            self._arm()
