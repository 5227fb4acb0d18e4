"""A scripted speech-to-text model, driven by tones of a track or by method calls."""

from array import array
from collections.abc import Sequence
from typing import Any

from livekit import rtc
from livekit.agents import (
    DEFAULT_API_CONNECT_OPTIONS,
    APIConnectionError,
    APIConnectOptions,
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

from agents.handoff import UNCLEAR
from agents.testing.tones import FRAME_S, QUIET_S, is_loud, number_of

_IDENTIFY_S = 0.1
"""How much of a tone is needed to identify it, in seconds."""


class ScriptedSTT(STT[Any]):
    """Speech-to-text for tests: it streams, and reports the start and end of speech itself.

    Args:
        sentences: The sentences that the tones of a track encode, by their numbers.
        streams: Whether it streams; if not, it is called once per segment of speech.
        manual_flush: Whether it returns a final transcript whenever it is flushed, as push-to-talk
            needs; an empty one if there is none.
    """

    def __init__(
        self, sentences: Sequence[str] = (), *, streams: bool = True, manual_flush: bool = False
    ) -> None:
        super().__init__(
            capabilities=STTCapabilities(
                streaming=streams, interim_results=streams, manual_flush=manual_flush
            )
        )
        self.sentences = tuple(sentences)
        self.broken = False
        """Whether every request fails."""
        self.unflushed = ""
        """The final transcript of the next flush."""
        self.opened = 0
        """How many streams were opened; a conversation needs one."""
        self._streams: list[_ScriptedStream] = []

    @property
    def model(self) -> str:
        """Its name, for logs and metrics."""
        return "scripted"

    @property
    def provider(self) -> str:
        """Its provider, for logs and metrics."""
        return "testing"

    def stream(
        self, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS, **others: Any
    ) -> RecognizeStream:
        """Open a stream."""
        self.opened += 1
        stream = _ScriptedStream(self, conn_options)
        self._streams.append(stream)
        return stream

    def begins(self, words: str = "") -> None:
        """Report the start of speech, with an interim transcript if there are words."""
        self._emit(SpeechEventType.START_OF_SPEECH)
        self.goes_on(words)

    def goes_on(self, words: str) -> None:
        """Report an interim transcript: all words so far, which may still change."""
        if words:
            self._emit(SpeechEventType.INTERIM_TRANSCRIPT, words)

    def finishes(self, *parts: str) -> None:
        """Report the end of speech, with one final transcript per part."""
        for words in parts:
            self._emit(SpeechEventType.FINAL_TRANSCRIPT, words)
        self._emit(SpeechEventType.END_OF_SPEECH)

    def is_unclear(self, *parts: str) -> None:
        """Report the end of speech whose last part was heard and not understood.

        Args:
            parts: The words that were understood before it.
        """
        for words in parts:
            self._emit(SpeechEventType.FINAL_TRANSCRIPT, words)
        self._emit(SpeechEventType.FINAL_TRANSCRIPT, unclear=True)
        self._emit(SpeechEventType.END_OF_SPEECH)

    def hears(self, words: str) -> None:
        """Report a whole utterance."""
        self.begins(words.partition(" ")[0])
        self.finishes(words)

    def flushed(self) -> str | None:
        """Return the final transcript of a flush; None without ``manual_flush``."""
        if not self.capabilities.manual_flush:
            return None
        words, self.unflushed = self.unflushed, ""
        return words

    def breaks(self) -> None:
        """Fail every stream, now and from now on."""
        self.broken = True
        for stream in self._streams:
            stream.wake()

    async def _recognize_impl(self, buffer: AudioBuffer, **others: Any) -> SpeechEvent:
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
        """Return the sentence a tone encodes."""
        number = number_of(tone, rate)
        if number is None or number >= len(self.sentences):
            return None
        return self.sentences[number]

    def _emit(self, kind: SpeechEventType, words: str = "", *, unclear: bool = False) -> None:
        self._streams = [stream for stream in self._streams if stream.open]
        if not self._streams:
            raise RuntimeError("no open stream: the session has not started")
        for stream in self._streams:
            stream.emit(kind, words, unclear=unclear)


class _ScriptedStream(RecognizeStream):
    def __init__(self, stt: ScriptedSTT, conn_options: APIConnectOptions) -> None:
        super().__init__(stt=stt, conn_options=conn_options)
        self._scripted = stt
        self._tone = array("h")
        self._quiet_s = 0.0
        self._sentence: str | None = None

    @property
    def open(self) -> bool:
        return not self._event_ch.closed

    def emit(self, kind: SpeechEventType, words: str = "", *, unclear: bool = False) -> None:
        self._event_ch.send_nowait(_event(kind, words, unclear=unclear))

    def wake(self) -> None:
        if not self._input_ch.closed:
            self._input_ch.send_nowait(self._FlushSentinel())

    async def _run(self) -> None:
        self._fail_if_broken()
        async for given in self._input_ch:
            self._fail_if_broken()
            if isinstance(given, rtc.AudioFrame):
                self._process(given)
            elif (words := self._scripted.flushed()) is not None:
                self.emit(SpeechEventType.FINAL_TRANSCRIPT, words)

    def _fail_if_broken(self) -> None:
        if self._scripted.broken:
            raise APIConnectionError("the speech-to-text model is broken", retryable=False)

    def _process(self, frame: rtc.AudioFrame) -> None:
        if is_loud(frame):
            self._quiet_s = 0.0
            self._tone.extend(frame.data)
            self._report_start(frame.sample_rate)
        elif self._tone:
            self._quiet_s += max(frame.duration, FRAME_S)
            if self._quiet_s >= QUIET_S:
                self._report_end(frame.sample_rate)

    def _report_start(self, rate: int) -> None:
        if self._sentence is None and len(self._tone) >= rate * _IDENTIFY_S:
            self._sentence = self._scripted.sentence(self._tone, rate)
            if self._sentence is not None:
                self.emit(SpeechEventType.START_OF_SPEECH)
                self.emit(SpeechEventType.INTERIM_TRANSCRIPT, self._sentence.partition(" ")[0])

    def _report_end(self, rate: int) -> None:
        if self._sentence is not None:  # the whole tone identifies it best
            words = self._scripted.sentence(self._tone, rate) or self._sentence
            self.emit(SpeechEventType.FINAL_TRANSCRIPT, words)
            self.emit(SpeechEventType.END_OF_SPEECH)
        self._sentence, self._tone, self._quiet_s = None, array("h"), 0.0


def _event(kind: SpeechEventType, words: str, *, unclear: bool = False) -> SpeechEvent:
    heard = SpeechData(language=LanguageCode("en"), text=words, confidence=1.0)
    if unclear:
        heard.metadata = {UNCLEAR: True}
    said = bool(words) or kind is SpeechEventType.FINAL_TRANSCRIPT
    return SpeechEvent(type=kind, alternatives=[heard] if said else [])
