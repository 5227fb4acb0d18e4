"""Voice activity detection for tones, which a real detector would classify as noise."""

import time

from livekit import rtc
from livekit.agents.vad import VAD, VADCapabilities, VADEvent, VADEventType, VADStream

from agents.testing.tones import FRAME_S, QUIET_S, is_loud

_SPEECH_S = 0.05
"""How long a tone must last to count as speech, in seconds."""


class ToneVAD(VAD):
    """Voice activity detection for tests: a tone counts as speech."""

    def __init__(self) -> None:
        super().__init__(capabilities=VADCapabilities(update_interval=FRAME_S))

    @property
    def model(self) -> str:
        """Its name, for logs and metrics."""
        return "tones"

    @property
    def provider(self) -> str:
        """Its provider, for logs and metrics."""
        return "testing"

    def stream(self) -> VADStream:
        """Open a stream."""
        return _VADStream(self)


class _VADStream(VADStream):
    def __init__(self, detector: ToneVAD) -> None:
        self._frames: list[rtc.AudioFrame] = []
        self._loud_s = self._quiet_s = 0.0
        self._speaking = False
        super().__init__(detector)

    async def _main_task(self) -> None:
        async for given in self._input_ch:
            if isinstance(given, rtc.AudioFrame):
                self._process(given)
            else:
                self._reset()

    def _process(self, frame: rtc.AudioFrame) -> None:
        loud = is_loud(frame)
        if not loud and not self._frames:
            return
        self._frames.append(frame)
        self._quiet_s = 0.0 if loud else self._quiet_s + frame.duration
        self._loud_s += frame.duration if loud else 0.0
        if not self._speaking and self._loud_s >= _SPEECH_S:
            self._speaking = True
            self._emit(VADEventType.START_OF_SPEECH)
        self._emit(VADEventType.INFERENCE_DONE)
        if self._quiet_s >= QUIET_S:
            if self._speaking:
                self._speaking = False
                self._emit(VADEventType.END_OF_SPEECH, self._frames)
            self._reset()

    def _reset(self) -> None:
        self._frames, self._loud_s, self._quiet_s, self._speaking = [], 0.0, 0.0, False

    def _emit(self, kind: VADEventType, frames: list[rtc.AudioFrame] | None = None) -> None:
        event = VADEvent(
            type=kind,
            samples_index=0,
            timestamp=time.time(),
            speech_duration=self._loud_s if self._speaking or frames else 0.0,
            silence_duration=self._quiet_s,
            frames=list(frames or ()),
            speaking=self._speaking,
            raw_accumulated_silence=self._quiet_s,
            raw_accumulated_speech=0.0 if self._quiet_s else self._loud_s,
        )
        self._event_ch.send_nowait(event)
