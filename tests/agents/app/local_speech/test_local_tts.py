"""Text becomes sound, with the times of its words; a reply that is cut off stops at once."""

import asyncio
import shutil
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from livekit.agents import APIConnectionError, APIConnectOptions
from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT

from agents.app.local_speech import voices
from agents.app.local_speech.local_tts import LocalTTS
from agents.app.local_speech.voices import (
    ESPEAK,
    FLITE,
    Espeak,
    Flite,
    Synthesized,
    VoiceFault,
    find_voice,
    sayable,
)
from tests.sounds import loudest, speech_program

pytestmark = pytest.mark.processes

TEXT = "Noted: two large Margheritas. The total is $28.47. Is that right?"


async def said(tts: LocalTTS, *parts: str) -> tuple[bytes, list[Any]]:
    sound, words = b"", []
    async with tts.stream() as stream:
        for part in parts:
            stream.push_text(part)
        stream.end_input()
        async for event in stream:
            sound += bytes(event.frame.data)
            words += event.frame.userdata.get(USERDATA_TIMED_TRANSCRIPT, [])
    return sound, words


async def test_espeak_tells_when_each_word_is_said() -> None:
    speech_program("espeak-ng")
    tts = LocalTTS(Espeak())
    sound, words = await said(tts, TEXT[:20], TEXT[20:])
    times = [word.start_time for word in words]

    assert "".join(words) == TEXT
    assert times == sorted(times)
    assert 0 < times[-1] < len(sound) / 2 / tts.sample_rate
    assert {"two ", "$28.47.", "right?"} <= {str(word) for word in words}
    assert loudest(sound) > 3000
    assert tts.capabilities.streaming
    assert tts.capabilities.aligned_transcript


async def test_flite_speaks_each_sentence() -> None:
    speech_program("flite")
    tts = LocalTTS(Flite())
    sound, words = await said(tts, TEXT)

    assert [str(word).strip() for word in words] == [
        "Noted: two large Margheritas.",
        "The total is $28.47.",
        "Is that right?",
    ]
    assert loudest(sound) > 3000
    assert len(sound) / 2 / tts.sample_rate > 3


async def test_a_text_of_signs_alone_is_silent() -> None:
    speech_program("espeak-ng")
    sound, _ = await said(LocalTTS(Espeak()), " ... ")

    assert sound
    assert loudest(sound) == 0


async def test_the_thread_is_free_soon_after_a_reply_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    speech_program("espeak-ng")
    voice = Espeak()
    begun, calls = threading.Event(), 0
    library = voices._library()
    usual = library._stopped

    class Stopped(threading.Event):
        """Is set by the cancellation, and counts how often the library asks."""

        def is_set(self) -> bool:
            nonlocal calls
            calls += 1
            begun.set()
            return super().is_set()

    monkeypatch.setattr(threading, "Event", Stopped)
    speaking = asyncio.create_task(voice.speak("and another word " * 20_000))
    await asyncio.to_thread(begun.wait, 20)
    speaking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await speaking
    monkeypatch.setattr(threading, "Event", type(usual))
    after = await voice.speak("yes")

    # A buffer of the library is 50 ms of sound; all of it would have been more than 100,000.
    assert calls < 20_000
    assert after.sound


@pytest.mark.parametrize("voice", [Espeak, Flite])
async def test_control_characters_are_no_end_and_no_fault(voice: type[Espeak | Flite]) -> None:
    speech_program("flite" if voice is Flite else "espeak-ng")
    plain = await voice().speak("One and two and three")
    odd = await voice().speak("One\0 and \x1b\ud800 two\x07 and three")

    assert len(odd.sound) > 0.8 * len(plain.sound)


async def test_what_flite_says_is_on_no_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    speech_program("flite")
    usual, commands = asyncio.create_subprocess_exec, []

    async def start(*command: str, **how: Any) -> asyncio.subprocess.Process:
        commands.append(command)
        (file,) = (Path(one) for one in command if one.endswith("/text"))
        assert file.read_text() == "Ada lives here"
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        return await usual(*command, **how)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    assert (await Flite().speak("Ada lives here")).sound

    (command,) = commands
    assert not [one for one in command if "Ada" in one]
    assert not Path(command[-1]).parent.exists()


async def test_a_program_that_is_cut_off_is_killed() -> None:
    speech_program("flite")
    speaking = asyncio.create_task(Flite().speak("and another word " * 5_000))
    await asyncio.sleep(0)
    speaking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await speaking  # the fixture of the tests fails if a process is left


async def test_a_voice_that_fails_is_an_error_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    speech_program("espeak-ng")
    voice = Espeak()

    async def broken(self: Espeak, text: str) -> Synthesized:
        raise VoiceFault("espeak-ng failed with code 1")

    monkeypatch.setattr(Espeak, "speak", broken)
    once = APIConnectOptions(max_retry=0)
    async with LocalTTS(voice).synthesize("Hello.", conn_options=once) as stream:
        with pytest.raises(APIConnectionError, match="code 1"):
            await stream.collect()


@pytest.mark.parametrize("program", [ESPEAK, FLITE])
def test_a_voice_that_does_not_exist_is_named(program: str) -> None:
    speech_program(program)

    with pytest.raises(VoiceFault, match=f'{program} has no voice "nobody"'):
        find_voice(program, "nobody")


def test_without_a_program_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voices, "has_espeak", lambda: False)
    monkeypatch.setattr(shutil, "which", lambda name: None)

    with pytest.raises(VoiceFault, match="apt install espeak-ng"):
        find_voice()
    with pytest.raises(VoiceFault, match="flite is not installed"):
        find_voice(FLITE)


def test_flite_speaks_where_espeak_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    speech_program("flite")
    monkeypatch.setattr(voices, "has_espeak", lambda: False)

    assert isinstance(find_voice(), Flite)


def test_a_program_that_is_unknown_is_refused() -> None:
    with pytest.raises(VoiceFault, match='there is no program "festival"'):
        find_voice("festival")


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("It is $28.47.", "It is 28 dollars and 47 cents."),
        ("$5 and $5.00", "5 dollars and 5 dollars"),
        ("$1.01, or £1", "1 dollar and 1 cent, or 1 pound"),
        ("€0.50 or $0.00", "50 cents or 0 dollars"),
        ("With $5, or $1,250, please", "With 5 dollars, or 1,250 dollars, please"),
        ("\u20ac1,200.05!", "1,200 euros and 5 cents!"),
        ("15 %", "15 %"),
    ],
)
def test_amounts_are_said_in_words(text: str, spoken: str) -> None:
    assert sayable(text)[0] == spoken


def test_a_place_in_what_is_said_is_found_in_the_text() -> None:
    text = "It is $28.47, thanks"
    said, original = sayable(text)

    assert original(said.index("is")) == text.index("is")
    assert original(said.index("dollars")) == text.index("$")
    assert original(said.index("thanks")) == text.index("thanks")
