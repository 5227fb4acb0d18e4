"""Speech-to-text without a key: pocketsphinx behind livekit's ``stt.STT``.

It hears what the application's sentences are made of, by the kind of answer that is expected. What
it is not sure of it reports as unclear, so that the user is asked again.
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
from agents.handoff.sound_faults import sound_fault

logger = logging.getLogger(__name__)

_PIECE_S = 0.2
"""How much sound is given to the thread at a time, in seconds."""

_BEFORE_S = 0.7
"""How much sound from before the start of speech is recognised, in seconds."""

_FORGOTTEN_S = 20.0
"""How long after its speech an utterance that was not ended is dropped, in seconds."""

_WINDOWS = 1024
"""How many samples the voice activity detection needs at most to be done with those before."""

_LANGUAGE = LanguageCode("en")

T = TypeVar("T")


class LocalSTT(STT[Any]):
    """Speech-to-text on this machine, for one call.

    It streams: the end of an utterance is the session's to tell, by a flush, which gets a final
    transcript in any case.

    Args:
        models: The language models of what users may say.
        vad: Voice activity detection that reports the sound of every piece, as Silero's does.
        sure: The mean posterior from which the words of an utterance are believed, 0 to 1.
    """

    def __init__(self, models: LanguageModels, vad: VAD, *, sure: float = SURE) -> None:
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
        self._recognizer: Recognizer | None = None
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
        # In the one thread, so that two streams that ask at once load it once.
        if self._recognizer is None:
            self._recognizer = Recognizer(self._models)
        return self._recognizer

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Do what takes a moment in the one thread of this model."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def is_sure(self, found: Recognized) -> bool:
        """Whether the words may be believed; it blocks while the application tells their meaning."""
        sure, meaning = self._sure, self._models.meaning
        return attempt("rooms.meaning", found.is_sure(sure), found.is_sure, sure, meaning)

    def event(self, found: Recognized, begun_s: float, *, sure: bool) -> SpeechEvent:
        """Return the final transcript of an utterance.

        Args:
            found: The recognised words.
            begun_s: When the utterance began, in seconds from the beginning of the stream.
            sure: Whether its words may be believed.
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
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _recognize_impl(self, buffer: AudioBuffer, **others: Any) -> SpeechEvent:
        recognizer, expected = await self.recognizer(), self.expected
        sound = _at_our_rate(merge_frames(buffer))

        def recognize() -> SpeechEvent:
            recognizer.begin(expected)
            recognizer.listen(sound)
            found = recognizer.end()
            return self.event(found, 0.0, sure=self.is_sure(found))

        return await self.in_thread(recognize)


class _LocalStream(RecognizeStream):
    """Takes the sound from the voice activity detection, piece by piece with what that makes of it.

    So a flush, which stands between two pieces, finds everything before it detected and recognised.
    """

    def __init__(self, stt: LocalSTT, conn_options: APIConnectOptions) -> None:
        super().__init__(stt=stt, conn_options=conn_options, sample_rate=RATE)
        self._local = stt
        self._pushed = 0
        """How many samples were given to the detection."""
        self._flushes: deque[int] = deque()
        """After how many of them an utterance ends."""
        self._speaking = False
        self._before: deque[rtc.AudioFrame] = deque()
        """Sound that is recognised if speech begins now."""
        self._before_s = 0.0
        self._piece: list[rtc.AudioFrame] = []
        self._piece_s = 0.0
        self._utterance = bytearray()
        """The sound of the present utterance so far."""
        self._passed_s = 0.0
        """How much sound has passed, in seconds."""
        self._begun_s: float | None = None
        """When the present utterance began; ``None`` between utterances."""
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
            asyncio.create_task(self._follow(detection)),
        ]
        try:
            await asyncio.gather(*tasks)
        except APIError:
            raise
        except Exception as error:  # of whatever kind: livekit would hear nothing more in this call
            raise APIConnectionError(f"voice activity detection failed: {error}") from error
        finally:
            await aio.cancel_and_wait(*tasks)
            await detection.aclose()

    async def _forward(self, detection: VADStream) -> None:
        async for given in self._input_ch:
            if isinstance(given, self._FlushSentinel):
                self._flushes.append(self._pushed)
                given = rtc.AudioFrame.create(RATE, 1, _WINDOWS)  # no sound may follow
            self._pushed += given.samples_per_channel
            detection.push_frame(given)
        detection.end_input()

    async def _follow(self, detection: VADStream) -> None:
        async for event in detection:
            if event.type == VADEventType.START_OF_SPEECH:
                self._speaking = True
            elif event.type == VADEventType.END_OF_SPEECH:
                self._speaking = False
            else:
                for frame in event.frames:
                    await self._take(frame)
                while self._flushes and self._flushes[0] <= event.samples_index:
                    self._flushes.popleft()
                    await self._finish()

    async def _take(self, frame: rtc.AudioFrame) -> None:
        self._passed_s += frame.duration
        if self._speaking:
            self._spoken_at_s = self._passed_s
            if self._begun_s is None:
                await self._begin()
            self._gather(frame)
            if self._piece_s >= _PIECE_S:
                await self._listen()
            return
        self._before.append(frame)
        self._before_s += frame.duration
        while self._before_s > _BEFORE_S:
            self._before_s -= self._before.popleft().duration
        if self._begun_s is not None and self._passed_s - self._spoken_at_s > _FORGOTTEN_S:
            await self._end()

    async def _begin(self) -> None:
        self._begun_s, self._failed = self._passed_s - self._before_s, False
        self._utterance.clear()
        self._spoken_at_s = self._passed_s
        recognizer, expected = await self._local.recognizer(), self._local.expected
        await self._try(lambda: recognizer.begin(expected))

    def _gather(self, frame: rtc.AudioFrame | None = None) -> None:
        """Add the sound from before, and a frame, to what is recognised next."""
        added = [*self._before, *([frame] if frame is not None else ())]
        self._piece += added
        self._piece_s += sum(one.duration for one in added)
        self._before.clear()
        self._before_s = 0.0

    async def _listen(self) -> None:
        sound = b"".join(bytes(frame.data) for frame in self._piece)
        self._piece, self._piece_s = [], 0.0
        self._utterance += sound
        recognizer = await self._local.recognizer()
        await self._try(lambda: recognizer.listen(sound))

    async def _end(self) -> Recognized:
        if self._begun_s is None:
            return Recognized()
        if self._piece:
            await self._listen()
        self._begun_s = None
        recognizer = await self._local.recognizer()
        return await self._try(recognizer.end) or Recognized()

    async def _finish(self) -> None:
        """End the utterance as the session wants it; it gets a transcript, be it an empty one."""
        if self._begun_s is None:  # the session has noticed speech before us
            await self._begin()
        begun_s = self._begun_s or 0.0
        self._gather()
        found = await self._end()
        if found.words and self._is_faulty():
            found, self._failed = Recognized(), True
        sure = bool(await self._try(lambda: self._local.is_sure(found)))
        event = self._local.event(found, self.start_time_offset + begun_s, sure=sure)
        if self._failed:
            event.alternatives[0].metadata = {UNCLEAR: True}
        self._event_ch.send_nowait(event)

    def _is_faulty(self) -> bool:
        """Whether words would be guessed from the sound of the utterance; the log says why."""
        fault = sound_fault(bytes(self._utterance), RATE)
        if fault is not None:
            logger.warning("the user's sound %s", fault)
        return fault is not None

    async def _try(self, work: Callable[[], T]) -> T | None:
        """Have the recogniser do something; if it fails, only this utterance is lost."""
        if self._failed:
            return None
        try:
            return await self._local.in_thread(work)
        except Exception:  # of whatever kind: livekit would end the stream, and hear nothing more
            logger.exception("speech recognition failed: the utterance is lost")
            self._failed = True
            return None


def _at_our_rate(frame: rtc.AudioFrame) -> bytes:
    if frame.sample_rate == RATE:
        return bytes(frame.data)
    resampler = rtc.AudioResampler(frame.sample_rate, RATE)
    return b"".join(bytes(one.data) for one in (*resampler.push(frame), *resampler.flush()))
