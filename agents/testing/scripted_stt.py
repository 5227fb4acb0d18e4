"""A speech-to-text model that hears the sentences of a script, in the tones of a track or as a test says them."""

from array import array
from collections.abc import Sequence
from typing import Any

from livekit import rtc
from livekit.agents import (
    DEFAULT_API_CONNECT_OPTIONS,
    NOT_GIVEN,
    APIConnectionError,
    APIConnectOptions,
    NotGivenOr,
)
from livekit.agents.language import LanguageCode
from livekit.agents.stt import (
    STT,
    RecognizeStream,
    SpeechData,
    SpeechEvent,
    SpeechEventType,
    STTCapabilities,
)
from livekit.agents.utils import AudioBuffer

from agents.testing.tones import FRAME_S, QUIET_S, is_loud, number_of

_SURE_S = 0.1
"""So much of a tone tells which it is, in seconds."""


class ScriptedSTT(STT[Any]):
    """Speech-to-text for tests: it streams, and says itself when somebody begins and stops to speak.

    Args:
        sentences: What the tones of a track stand for, by their numbers.
        streams: Whether it streams; if not, it is asked about each stretch of sound by itself.
    """

    def __init__(self, sentences: Sequence[str] = (), *, streams: bool = True) -> None:
        super().__init__(capabilities=STTCapabilities(streaming=streams, interim_results=streams))
        self.sentences = tuple(sentences)
        self.broken = False
        """Whether it fails, now and whenever it is asked."""
        self.opened = 0
        """How many streams were opened; a conversation needs one."""
        self._streams: list[_Stream] = []

    @property
    def model(self) -> str:
        """Its name, for logs and metrics."""
        return "scripted"

    @property
    def provider(self) -> str:
        """Who runs it."""
        return "bella-vista"

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> RecognizeStream:
        """Begin to hear."""
        self.opened += 1
        stream = _Stream(self, conn_options)
        self._streams.append(stream)
        return stream

    def begins(self, words: str = "") -> None:
        """Have somebody begin to speak, and be understood as far as that."""
        self._tell(SpeechEventType.START_OF_SPEECH)
        self.goes_on(words)

    def goes_on(self, words: str) -> None:
        """Have more understood of what is being said; from the beginning, and it may yet change."""
        if words:
            self._tell(SpeechEventType.INTERIM_TRANSCRIPT, words)

    def finishes(self, *parts: str) -> None:
        """Have somebody stop speaking, and be understood: the parts were said with short pauses."""
        for words in parts:
            self._tell(SpeechEventType.FINAL_TRANSCRIPT, words)
        self._tell(SpeechEventType.END_OF_SPEECH)

    def hears(self, words: str) -> None:
        """Have somebody say something, from beginning to end."""
        self.begins(words.partition(" ")[0])
        self.finishes(words)

    def breaks(self) -> None:
        """Fail, in the middle of whatever it is, and from now on."""
        self.broken = True
        for stream in self._streams:
            stream.wake()

    async def _recognize_impl(
        self,
        buffer: AudioBuffer,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions,
    ) -> SpeechEvent:
        if self.broken:
            raise APIConnectionError("the speech-to-text model is broken", retryable=False)
        frames = buffer if isinstance(buffer, list) else [buffer]
        heard = array("h")
        for frame in frames:
            if is_loud(frame):
                heard.extend(frame.data)
        words = self.sentence(heard, frames[0].sample_rate) or ""
        return _event(SpeechEventType.FINAL_TRANSCRIPT, words)

    def sentence(self, tone: "array[int]", rate: int) -> str | None:
        """Return what a tone stands for."""
        number = number_of(tone, rate)
        if number is None or number >= len(self.sentences):
            return None
        return self.sentences[number]

    def _tell(self, kind: SpeechEventType, words: str = "") -> None:
        self._streams = [stream for stream in self._streams if stream.open]
        if not self._streams:
            raise RuntimeError("nobody listens yet: the session has not started")
        for stream in self._streams:
            stream.tell(kind, words)


class _Stream(RecognizeStream):
    def __init__(self, stt: ScriptedSTT, conn_options: APIConnectOptions) -> None:
        super().__init__(stt=stt, conn_options=conn_options)
        self._scripted = stt
        self._tone = array("h")
        self._quiet_s = 0.0
        self._known: str | None = None

    @property
    def open(self) -> bool:
        return not self._event_ch.closed

    def tell(self, kind: SpeechEventType, words: str = "") -> None:
        self._event_ch.send_nowait(_event(kind, words))

    def wake(self) -> None:
        if not self._input_ch.closed:
            self._input_ch.send_nowait(self._FlushSentinel())

    async def _run(self) -> None:
        self._fail_if_broken()
        async for given in self._input_ch:
            self._fail_if_broken()
            if isinstance(given, rtc.AudioFrame):
                self._hear(given)

    def _fail_if_broken(self) -> None:
        if self._scripted.broken:
            raise APIConnectionError("the speech-to-text model is broken", retryable=False)

    def _hear(self, frame: rtc.AudioFrame) -> None:
        if is_loud(frame):
            self._quiet_s = 0.0
            self._tone.extend(frame.data)
            self._begin(frame.sample_rate)
        elif self._tone:
            self._quiet_s += max(frame.duration, FRAME_S)
            if self._quiet_s >= QUIET_S:
                self._finish(frame.sample_rate)

    def _begin(self, rate: int) -> None:
        if self._known is None and len(self._tone) >= rate * _SURE_S:
            self._known = self._scripted.sentence(self._tone, rate)
            if self._known is not None:
                self.tell(SpeechEventType.START_OF_SPEECH)
                self.tell(SpeechEventType.INTERIM_TRANSCRIPT, self._known.partition(" ")[0])

    def _finish(self, rate: int) -> None:
        if self._known is not None:  # all of the tone tells it best
            words = self._scripted.sentence(self._tone, rate) or self._known
            self.tell(SpeechEventType.FINAL_TRANSCRIPT, words)
            self.tell(SpeechEventType.END_OF_SPEECH)
        self._known, self._tone, self._quiet_s = None, array("h"), 0.0


def _event(kind: SpeechEventType, words: str) -> SpeechEvent:
    said = [SpeechData(language=LanguageCode("en"), text=words, confidence=1.0)]
    return SpeechEvent(type=kind, alternatives=said if words else [])
