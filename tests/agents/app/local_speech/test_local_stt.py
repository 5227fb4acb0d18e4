"""What is said is heard, what is unclear is asked again, and no failure makes a call deaf."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from livekit import rtc
from livekit.agents import APIConnectionError, APIConnectOptions
from livekit.agents.stt import RecognizeStream, SpeechEvent, SpeechEventType
from livekit.agents.vad import VAD, VADCapabilities, VADEvent, VADStream

from agents.app.local_speech.language_models import LanguageModels, language_models
from agents.app.local_speech.local_stt import LocalSTT
from agents.app.local_speech.recognizer import PIECE_S, RATE, HeardWord, Recognized, Recognizer
from agents.app.models.speech import load_vad
from agents.handoff import UNCLEAR
from tests.sounds import pieces, silence, spoken, spoken_in

pytestmark = pytest.mark.processes

SAID = {
    "open": [
        *("two large pizzas please", "one small pizza", "a glass of red wine please"),
        *("can i get two pizzas and a glass of wine", "that is all", "yes please", "no thank you"),
        *("what is on the menu", "when do you close", "my name is sarah"),
    ],
    "yes_no": ["yes", "yes please", "no", "no thank you"],
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> LanguageModels:
    return language_models(SAID, folder=tmp_path_factory.mktemp("models"))


@pytest.fixture
def stt(models: LanguageModels) -> Iterator[LocalSTT]:
    made = LocalSTT(models, load_vad())
    yield made
    made._thread.shutdown()


def frames(samples: bytes, seconds: float = 0.01) -> Iterator[rtc.AudioFrame]:
    for piece in pieces(samples, seconds):
        yield rtc.AudioFrame(piece, RATE, 1, len(piece) // 2)


class Listening:
    """A stream, and what comes out of it."""

    def __init__(self, stream: RecognizeStream) -> None:
        self.stream = stream
        self.events: asyncio.Queue[SpeechEvent] = asyncio.Queue()

    async def follow(self) -> None:
        async for event in self.stream:
            self.events.put_nowait(event)

    def hears(self, *sounds: bytes) -> None:
        for sound in sounds:
            for frame in frames(sound):
                self.stream.push_frame(frame)

    async def flushed(self) -> SpeechEvent:
        """Flush, and return the transcript that this gets."""
        self.stream.flush()
        async with asyncio.timeout(30):
            return await self.events.get()


@asynccontextmanager
async def listening(stt: LocalSTT) -> AsyncIterator[Listening]:
    async with stt.stream() as stream:
        ear = Listening(stream)
        following = asyncio.create_task(ear.follow())
        try:
            yield ear
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)


def heard(event: SpeechEvent) -> str:
    assert event.type is SpeechEventType.FINAL_TRANSCRIPT
    return event.alternatives[0].text


async def test_each_flush_ends_an_utterance(stt: LocalSTT) -> None:
    async with listening(stt) as ear:
        ear.hears(silence(0.5), spoken("two large pizzas please"), silence(0.6))
        first = await ear.flushed()
        ear.hears(silence(2), spoken("that is all"), silence(0.6))
        second = await ear.flushed()

    assert [heard(first), heard(second)] == ["two large pizzas please", "that is all"]
    words = first.alternatives[0].words or []
    assert [str(word) for word in words] == ["two", "large", "pizzas", "please"]
    assert 0.3 < first.alternatives[0].start_time < 1.0
    assert first.alternatives[0].end_time < second.alternatives[0].start_time
    assert first.alternatives[0].confidence > 0.8


async def test_a_flush_without_speech_gets_an_empty_transcript_at_once(stt: LocalSTT) -> None:
    async with listening(stt) as ear:
        assert heard(await ear.flushed()) == ""
        ear.hears(silence(1))
        silent = await ear.flushed()

    assert heard(silent) == ""
    assert silent.alternatives[0].metadata is None


async def test_a_flush_in_the_middle_of_speech_has_what_was_said(stt: LocalSTT) -> None:
    """A push-to-talk button is released with the last word."""
    async with listening(stt) as ear:
        ear.hears(spoken("yes please"))
        assert heard(await ear.flushed()) == "yes please"


async def test_a_pause_is_no_end(stt: LocalSTT) -> None:
    async with listening(stt) as ear:
        ear.hears(silence(0.3), spoken("two large pizzas"), silence(2), spoken("please"))
        ear.hears(silence(0.6))

        assert heard(await ear.flushed()) == "two large pizzas, please"


async def test_the_language_model_is_that_of_the_expected_answer(stt: LocalSTT) -> None:
    async with listening(stt) as ear:
        stt.expect("yes_no")
        ear.hears(silence(0.3), spoken("two large pizzas please"), silence(0.6))
        answer = await ear.flushed()
        stt.expect("something without a model")
        ear.hears(silence(0.3), spoken("two large pizzas please"), silence(0.6))
        anything = await ear.flushed()

    assert "pizzas" not in heard(answer)
    assert heard(anything) == "two large pizzas please"


async def test_words_that_are_not_believed_are_unclear_and_not_guessed(
    models: LanguageModels,
) -> None:
    strict = LocalSTT(models, load_vad(), sure=1.01)
    async with listening(strict) as ear:
        ear.hears(silence(0.3), spoken("yes please"), silence(0.6))
        event = await ear.flushed()
    await strict.aclose()

    assert heard(event) == ""
    assert event.alternatives[0].metadata == {UNCLEAR: True}
    assert event.alternatives[0].words == []


def changed(samples: bytes, change: Callable[[npt.NDArray[np.float64]], Any]) -> bytes:
    """Change the samples of a sound; what is too loud is clipped."""
    made = np.asarray(change(np.frombuffer(samples, np.int16).astype(float)))
    return bytes(np.clip(made, -32_768, 32_767).astype(np.int16).data)


def every_second(samples: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Lose every second packet of 20 ms."""
    return np.where(np.arange(len(samples)) // (RATE // 50) % 2, 0.0, samples)


NOISE = np.random.default_rng(1).normal(0, 8_000, 3 * RATE)
CHORD = np.sin(np.outer((262, 330, 392), np.arange(3 * RATE)) * 2 * np.pi / RATE).sum(axis=0)
LINE = "two large pizzas please"
BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "silence": (lambda: silence(2), ""),
    "noise": (lambda: changed(silence(3), lambda _: NOISE), ""),
    "music": (lambda: changed(silence(3), lambda _: 6_000 * CHORD), ""),
    "clipped": (lambda: changed(spoken(LINE), lambda one: 8 * one), ""),
    "a shout": (lambda: changed(spoken(LINE), lambda one: 4 * one), ""),
    "quiet": (lambda: changed(spoken(LINE), lambda one: one / 100), "is very quiet"),
    "every second packet": (lambda: changed(spoken(LINE), every_second), "has holes"),
    "backwards": (lambda: changed(spoken(LINE), lambda one: one[::-1]), ""),
}


@pytest.mark.parametrize("kind", BAD)
async def test_of_bad_sound_no_words_are_guessed_and_the_next_line_is_heard(
    stt: LocalSTT, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    make, told = BAD[kind]
    async with listening(stt) as ear:
        ear.hears(silence(0.5), make(), silence(0.6))
        bad = await ear.flushed()
        ear.hears(silence(0.3), spoken("yes please"), silence(0.6))
        good = await ear.flushed()

    assert heard(bad) == ""
    assert bad.alternatives[0].words == []
    assert told in caplog.text
    assert heard(good) == "yes please"


async def test_another_language_is_unclear(stt: LocalSTT) -> None:
    async with listening(stt) as ear:
        ear.hears(silence(0.5), spoken_in("de", "Guten Abend, ich hätte gern zwei Bier und Wein"))
        event = await ear.flushed()

    assert heard(event) == ""
    assert event.alternatives[0].metadata == {UNCLEAR: True}


@pytest.mark.parametrize("moment", ["begin", "listen", "end"])
async def test_a_failing_utterance_is_asked_for_again_and_the_next_is_heard(
    stt: LocalSTT, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    usual = getattr(Recognizer, moment)

    def broken(*given: Any) -> Recognized:
        monkeypatch.setattr(Recognizer, moment, usual)
        raise RuntimeError("the decoder is confused")

    async with listening(stt) as ear:
        monkeypatch.setattr(Recognizer, moment, broken)
        ear.hears(silence(0.3), spoken("yes please"), silence(0.6))
        lost = await ear.flushed()
        ear.hears(silence(0.3), spoken("yes please"), silence(0.6))
        following = await ear.flushed()

    assert (heard(lost), lost.alternatives[0].metadata) == ("", {UNCLEAR: True})
    assert heard(following) == "yes please"


async def test_detection_that_fails_is_an_error_that_livekit_reports_and_tries_again(
    models: LanguageModels,
) -> None:
    class Broken(VAD):
        """Fails with the first sound."""

        def stream(self) -> VADStream:
            return BrokenStream(self)

    class BrokenStream(VADStream):
        async def _main_task(self) -> None:
            await anext(aiter(self._input_ch))
            raise RuntimeError("no memory")

        async def __anext__(self) -> VADEvent:
            await self._task
            raise StopAsyncIteration

    stt = LocalSTT(models, Broken(capabilities=VADCapabilities(update_interval=0.1)))
    stream = stt.stream(conn_options=APIConnectOptions(max_retry=0))
    stream.push_frame(next(frames(silence(0.1))))
    with pytest.raises(APIConnectionError, match="voice activity detection failed: no memory"):
        await anext(stream)
    await stream.aclose()
    await stt.aclose()


async def test_an_utterance_that_nobody_ends_is_forgotten(stt: LocalSTT) -> None:
    async with listening(stt) as ear:
        ear.hears(silence(0.3), spoken("no thank you"), silence(21))
        ear.hears(spoken("that is all"), silence(0.6))

        assert heard(await ear.flushed()) == "that is all"


async def test_it_recognises_a_whole_segment_too_at_any_rate(stt: LocalSTT) -> None:
    said = spoken("two large pizzas please")
    resampler = rtc.AudioResampler(RATE, 48_000)
    frame = rtc.AudioFrame(said, RATE, 1, len(said) // 2)
    event = await stt.recognize([*resampler.push(frame), *resampler.flush()])

    assert heard(event) == "two large pizzas please"


async def test_two_streams_at_once_load_the_recogniser_once(
    stt: LocalSTT, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[LanguageModels] = []

    def load(models: LanguageModels) -> Recognizer:
        loaded.append(models)
        return Recognizer(models)

    monkeypatch.setattr("agents.app.local_speech.local_stt.Recognizer", load)
    one, other = await asyncio.gather(stt.recognizer(), stt.recognizer())

    assert one is other
    assert len(loaded) == 1


def test_the_decoder_is_never_given_much_sound_at_once(
    models: LanguageModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds the interpreter's lock meanwhile, and the event loop waits."""
    taken: list[int] = []

    class Decoder:
        """Takes sound."""

        def process_raw(self, sound: bytes, **_: object) -> None:
            taken.append(len(sound))

    recognizer = Recognizer(models)
    recognizer.begin()
    monkeypatch.setattr(recognizer, "_decoders", [Decoder(), Decoder()])
    recognizer.listen(silence(1.01))

    assert sum(taken) == 2 * len(silence(1.01))
    assert max(taken) == len(silence(PIECE_S))


async def test_models_that_are_gone_are_an_error_that_livekit_reports(tmp_path: Path) -> None:
    nowhere = LanguageModels(tmp_path / "words.dict", {"open": tmp_path / "open.arpa"})
    stt = LocalSTT(nowhere, load_vad())
    with pytest.raises(APIConnectionError, match="pocketsphinx cannot be loaded"):
        await stt.recognizer()
    await stt.aclose()


def test_an_empty_piece_does_no_harm(models: LanguageModels) -> None:
    recognizer = Recognizer(models)
    recognizer.listen(b"\0\0")  # before the beginning
    recognizer.begin()
    recognizer.listen(b"")

    assert recognizer.end() == Recognized()
    assert recognizer.end() == Recognized()


def words(text: str, posterior: float = 1.0, pause_s: float = 0.0) -> tuple[HeardWord, ...]:
    return tuple(
        HeardWord(word, at * (1 + pause_s), at * (1 + pause_s) + 1, posterior)
        for at, word in enumerate(text.split())
    )


@pytest.mark.parametrize(
    ("one", "other", "sure"),
    [
        ("", "", True),
        ("two pizzas", "two pizzas", True),
        ("two pizzas", "two pizzas please", True),
        ("two pizzas", "three pizzas", False),
        ("two pizzas", "", False),
    ],
)
def test_words_are_believed_that_mean_the_same_both_times(one: str, other: str, sure: bool) -> None:
    def meaning(text: str) -> str:
        return text.removesuffix(" please")

    assert Recognized(words(one), words(other)).is_sure(meaning=meaning) is sure


@pytest.mark.parametrize(("posterior", "sure"), [(0.1, False), (0.9, True)])
def test_improbable_words_are_not_believed_even_if_they_are_the_same_both_times(
    posterior: float, sure: bool
) -> None:
    found = Recognized(words("two pizzas", posterior), words("two pizzas", posterior))

    assert found.confidence == pytest.approx(posterior)
    assert found.is_sure() is sure
    assert Recognized().confidence == 0.0


def test_without_a_meaning_the_words_have_to_be_the_same_but_not_their_pauses() -> None:
    assert Recognized(words("no thanks", pause_s=0.2), words("no thanks")).is_sure()
    assert not Recognized(words("no thanks"), words("no thank")).is_sure()


def test_a_pause_is_written_as_a_comma() -> None:
    assert Recognized(words("no nothing else", pause_s=0.2)).text == "no, nothing, else"
    assert Recognized(words("no nothing else", pause_s=0.05)).text == "no nothing else"


async def test_a_meaning_that_fails_is_the_words(
    models: LanguageModels, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(text: str) -> object:
        raise RuntimeError("no menu")

    stt = LocalSTT(replace(models, meaning=broken), load_vad())
    async with listening(stt) as ear:
        ear.hears(silence(0.3), spoken("yes please"), silence(0.6))
        assert heard(await ear.flushed()) == "yes please"
    await stt.aclose()

    assert "using the default: rooms.meaning" in caplog.text
