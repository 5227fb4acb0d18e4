"""Speech-to-text without a key: pocketsphinx behind livekit's ``stt.STT``.

It recognises the words of the application's sentences, by the expected kind of answer. It marks an
unsure transcript as unclear, so that the user is asked again.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from livekit import rtc
from livekit.agents import (
    DEFAULT_API_CONNECT_OPTIONS,
    APIConnectionError,
    APIConnectOptions,
    APIError,
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
from livekit.agents.types import TimedString
from livekit.agents.utils import AudioBuffer, aio, merge_frames
from livekit.agents.vad import VAD, VADEventType, VADStream

from agents.app.declaration import attempt
from agents.app.local_speech.language_models import OPEN, LanguageModels
from agents.app.local_speech.recognizer import RATE, SURE, Recognized, Recognizer
from agents.handoff import UNCLEAR
from agents.handoff.speech.sound_faults import sound_fault

logger = logging.getLogger(__name__)

_PIECE_S = 0.2
"""How much audio is given to the thread at a time, in seconds."""

_PRE_SPEECH_S = 0.7
"""How much audio from before the start of speech is recognised, in seconds."""

_DROP_AFTER_S = 20.0
"""How long after its speech an utterance without a flush is dropped, in seconds."""

_FLUSH_SAMPLES = 1024
"""How many samples make voice activity detection process all earlier ones."""

_LANGUAGE = LanguageCode("en")

T = TypeVar("T")


class LocalSTT(STT[Any]):
    """Speech-to-text on this machine, for one call.

    It streams: the session ends an utterance with a flush, and always gets a final transcript.

    Args:
        models: The language models of users' sentences.
        vad: Voice activity detection that returns the frames of each event, as Silero's does.
        sure: The least confidence at which the words of an utterance are accepted, 0 to 1.
        recognizer: The recogniser, if it is loaded already; no other call may use it. Loading it
            later stops the event loop again and again while the call begins.
    """

    def __init__(
        self,
        models: LanguageModels,
        vad: VAD,
        *,
        sure: float = SURE,
        recognizer: Recognizer | None = None,
    ) -> None:
        super().__init__(
            capabilities=STTCapabilities(
                streaming=True,
                interim_results=False,
                aligned_transcript="word",
                manual_flush=True,
            )
        )
        self.vad = vad
        self.expected = OPEN
        """The kind of answer that is expected."""
        self._models = models
        self._sure = sure
        self._recognizer = recognizer
        self._thread = ThreadPoolExecutor(1, "local-stt")

    @property
    def model(self) -> str:
        """Its name, for logs and metrics."""
        return "pocketsphinx"

    @property
    def provider(self) -> str:
        """Its provider, for logs and metrics."""
        return "local"

    def expect(self, kind: str) -> None:
        """Use the language model of a kind of answer, from the next utterance on."""
        self.expected = kind

    def stream(
        self, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS, **others: Any
    ) -> RecognizeStream:
        """Open a stream."""
        return _LocalStream(self, conn_options)

    async def recognizer(self) -> Recognizer:
        """Return the recogniser, loaded once.

        Raises:
            APIConnectionError: It cannot be loaded.
        """
        if self._recognizer is not None:
            return self._recognizer
        try:
            return await self.in_thread(self._load)
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            raise APIConnectionError(f"pocketsphinx cannot be loaded: {error}") from error

    def _load(self) -> Recognizer:
        # In the model's only thread, so that concurrent streams load it once.
        if self._recognizer is None:
            self._recognizer = Recognizer(self._models)
        return self._recognizer

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run a blocking function in this model's only thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def is_sure(self, found: Recognized) -> bool:
        """Whether the words are accepted; blocks while the application returns their meaning."""
        sure, meaning = self._sure, self._models.meaning
        return attempt("rooms.meaning", found.is_sure(sure), found.is_sure, sure, meaning)

    def event(self, found: Recognized, begun_s: float, *, sure: bool) -> SpeechEvent:
        """Return the final transcript of an utterance.

        Args:
            found: The recognised words.
            begun_s: When the utterance began, in seconds from the beginning of the stream.
            sure: Whether its words are accepted.
        """
        words = found.words if sure else ()
        heard = SpeechData(
            language=_LANGUAGE,
            text=attempt("rooms.written", found.text, self._models.written, found.text)
            if sure
            else "",
            start_time=begun_s + (found.words[0].start_s if found.words else 0.0),
            end_time=begun_s + (found.words[-1].end_s if found.words else 0.0),
            confidence=found.confidence,
            words=[
                TimedString(
                    word.text,
                    start_time=begun_s + word.start_s,
                    end_time=begun_s + word.end_s,
                    confidence=word.posterior,
                )
                for word in words
            ],
            metadata=None if sure else {UNCLEAR: True},
        )
        return SpeechEvent(SpeechEventType.FINAL_TRANSCRIPT, alternatives=[heard])

    async def aclose(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _recognize_impl(self, buffer: AudioBuffer, **others: Any) -> SpeechEvent:
        recognizer, expected = await self.recognizer(), self.expected
        sound = _resampled(merge_frames(buffer))

        def recognize() -> SpeechEvent:
            recognizer.begin(expected)
            recognizer.listen(sound)
            found = recognizer.end()
            return self.event(found, 0.0, sure=self.is_sure(found))

        return await self.in_thread(recognize)


class _LocalStream(RecognizeStream):
    """Reads the audio from the events of voice activity detection, in order.

    So all audio before a flush has been detected and recognised when the flush is processed.
    """

    def __init__(self, stt: LocalSTT, conn_options: APIConnectOptions) -> None:
        super().__init__(stt=stt, conn_options=conn_options, sample_rate=RATE)
        self._local = stt
        self._pushed = 0
        """How many samples were pushed to the detection."""
        self._flushes: deque[int] = deque()
        """The sample counts at which flushes end utterances."""
        self._speaking = False
        self._pre_speech: deque[rtc.AudioFrame] = deque()
        """The audio before the start of speech."""
        self._pre_speech_s = 0.0
        self._piece: list[rtc.AudioFrame] = []
        self._piece_s = 0.0
        self._utterance = bytearray()
        """The audio of the current utterance so far."""
        self._elapsed_s = 0.0
        """How much audio was processed, in seconds."""
        self._began_at_s: float | None = None
        """When the current utterance began; ``None`` between utterances."""
        self._spoken_at_s = 0.0
        """When speech was last heard."""
        self._failed = False

    async def _run(self) -> None:
        await self._local.recognizer()
        detection = self._local.vad.stream()
        self._pushed, self._speaking = 0, False
        self._flushes.clear()
        tasks = [
            asyncio.create_task(self._forward(detection)),
            asyncio.create_task(self._process_events(detection)),
        ]
        try:
            await asyncio.gather(*tasks)
        except APIError:
            raise
        except Exception as error:  # of any type: livekit would not restart the stream
            raise APIConnectionError(f"voice activity detection failed: {error}") from error
        finally:
            await aio.cancel_and_wait(*tasks)
            await detection.aclose()

    async def _forward(self, detection: VADStream) -> None:
        async for given in self._input_ch:
            if isinstance(given, self._FlushSentinel):
                self._flushes.append(self._pushed)
                given = rtc.AudioFrame.create(
                    RATE, 1, _FLUSH_SAMPLES
                )  # silence: no audio may follow
            self._pushed += given.samples_per_channel
            detection.push_frame(given)
        detection.end_input()

    async def _process_events(self, detection: VADStream) -> None:
        async for event in detection:
            if event.type == VADEventType.START_OF_SPEECH:
                self._speaking = True
            elif event.type == VADEventType.END_OF_SPEECH:
                self._speaking = False
            else:
                for frame in event.frames:
                    await self._on_frame(frame)
                while self._flushes and self._flushes[0] <= event.samples_index:
                    self._flushes.popleft()
                    await self._finish()

    async def _on_frame(self, frame: rtc.AudioFrame) -> None:
        self._elapsed_s += frame.duration
        if self._speaking:
            self._spoken_at_s = self._elapsed_s
            if self._began_at_s is None:
                await self._begin()
            self._add_to_piece(frame)
            if self._piece_s >= _PIECE_S:
                await self._listen()
            return
        self._pre_speech.append(frame)
        self._pre_speech_s += frame.duration
        while self._pre_speech_s > _PRE_SPEECH_S:
            self._pre_speech_s -= self._pre_speech.popleft().duration
        if self._began_at_s is not None and self._elapsed_s - self._spoken_at_s > _DROP_AFTER_S:
            await self._end()

    async def _begin(self) -> None:
        self._began_at_s, self._failed = self._elapsed_s - self._pre_speech_s, False
        self._utterance.clear()
        self._spoken_at_s = self._elapsed_s
        recognizer, expected = await self._local.recognizer(), self._local.expected
        await self._run_recognizer(lambda: recognizer.begin(expected))

    def _add_to_piece(self, frame: rtc.AudioFrame | None = None) -> None:
        """Add the audio before the speech, and a frame, to the next recognition."""
        added = [*self._pre_speech, *([frame] if frame is not None else ())]
        self._piece += added
        self._piece_s += sum(one.duration for one in added)
        self._pre_speech.clear()
        self._pre_speech_s = 0.0

    async def _listen(self) -> None:
        sound = b"".join(bytes(frame.data) for frame in self._piece)
        self._piece, self._piece_s = [], 0.0
        self._utterance += sound
        recognizer = await self._local.recognizer()
        await self._run_recognizer(lambda: recognizer.listen(sound))

    async def _end(self) -> Recognized:
        if self._began_at_s is None:
            return Recognized()
        if self._piece:
            await self._listen()
        self._began_at_s = None
        recognizer = await self._local.recognizer()
        return await self._run_recognizer(recognizer.end) or Recognized()

    async def _finish(self) -> None:
        """End the utterance at the session's flush with a transcript, even an empty one."""
        if self._began_at_s is None:  # the session's own detection was faster
            await self._begin()
        begun_s = self._began_at_s or 0.0
        self._add_to_piece()
        found = await self._end()
        if found.words and self._is_faulty():
            found, self._failed = Recognized(), True
        sure = bool(await self._run_recognizer(lambda: self._local.is_sure(found)))
        event = self._local.event(found, self.start_time_offset + begun_s, sure=sure)
        if self._failed:
            event.alternatives[0].metadata = {UNCLEAR: True}
        self._event_ch.send_nowait(event)

    def _is_faulty(self) -> bool:
        """Whether the audio of the utterance is faulty, so that words would be guessed; logs the fault."""
        fault = sound_fault(bytes(self._utterance), RATE)
        if fault is not None:
            logger.warning("the user's sound %s", fault)
        return fault is not None

    async def _run_recognizer(self, work: Callable[[], T]) -> T | None:
        """Run a function of the recogniser; if it fails, only this utterance is dropped."""
        if self._failed:
            return None
        try:
            return await self._local.in_thread(work)
        except Exception:  # of any type: livekit would end the stream for the whole call
            logger.exception("speech recognition failed, utterance dropped")
            self._failed = True
            return None


def _resampled(frame: rtc.AudioFrame) -> bytes:
    if frame.sample_rate == RATE:
        return bytes(frame.data)
    resampler = rtc.AudioResampler(frame.sample_rate, RATE)
    return b"".join(bytes(one.data) for one in (*resampler.push(frame), *resampler.flush()))
