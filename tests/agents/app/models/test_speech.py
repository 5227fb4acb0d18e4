"""What the settings ask for is built, what is wrong with them is said, and providers that fail leave words."""

import asyncio
import logging
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from livekit import rtc
from livekit.agents import APIConnectOptions, APIError, JobExecutorType, JobProcess
from livekit.agents.voice.io import AudioInput

from agents.app import importing
from agents.app.declaration import AppFaults
from agents.app.local_speech import language_models as language_models_module
from agents.app.local_speech import recognizer, voices
from agents.app.local_speech.language_models import LanguageModels
from agents.app.local_speech.local_stt import LocalSTT
from agents.app.models.speech import (
    SpeechModels,
    language_models_of,
    load_recognizer,
    speech_models,
)
from agents.app.models.speech_settings import (
    local_speech_faults,
    missing_for_speech,
    speech_faults,
    uses_local,
    with_local_speech,
    worker_settings,
)
from agents.app.parts import Rooms
from agents.app.rooms import job
from agents.app.settings import SettingsFaults
from agents.handoff import Event, Heard, Said, YourTurn, start_speech, stop
from agents.testing import Loudspeaker, ScriptedLLM, line, says, silence
from agents.testing.providers import Providers
from bella_vista.app import APP
from bella_vista.settings import Settings
from tests.agents.hotel import hotel
from tests.sounds import speech_program

pytestmark = pytest.mark.usefixtures("clean_folder")

KEY = "dg-0123456789-secret"
QUICK = 0.004
"""The length of speech, in seconds for each character."""
AGENTS = ("greeter", "order_taker", "payment", "feedback")


def setting(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Settings:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return Settings.read()


@asynccontextmanager
async def built(settings: Settings, **how: Any) -> AsyncIterator[SpeechModels]:
    async with aiohttp.ClientSession() as http:
        speech = speech_models(settings, agents=AGENTS, http=http, **how)
        assert speech is not None
        try:
            yield speech
        finally:
            await speech.aclose()


def test_without_providers_there_is_no_speech_and_it_is_said_what_is_missing() -> None:
    settings = Settings.read()

    assert speech_models(settings) is None
    assert missing_for_speech(settings) == ("DEEPGRAM_API_KEY", "CARTESIA_API_KEY")


def test_with_speech_to_text_alone_there_is_no_speech(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = setting(monkeypatch, DEEPGRAM_API_KEY=KEY)

    assert speech_models(settings) is None
    assert missing_for_speech(settings) == ("CARTESIA_API_KEY",)


def test_speech_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = setting(
        monkeypatch, DEEPGRAM_API_KEY=KEY, CARTESIA_API_KEY=KEY, BELLA_VISTA_STT="none"
    )

    assert speech_models(settings) is None
    assert missing_for_speech(settings) == ("BELLA_VISTA_STT",)


async def test_two_keys_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = setting(monkeypatch, DEEPGRAM_API_KEY=KEY, CARTESIA_API_KEY=KEY)

    async with built(settings) as speech:
        assert speech.stt is not None
        assert (speech.stt.provider, speech.stt.model) == ("Deepgram", "nova-3")
        assert (speech.tts.provider, speech.tts.model) == ("Cartesia", "sonic-3")
        assert speech.tts_by_agent == {}
        assert speech.turns.get("turn_detection") == "vad"
        assert speech.turns.get("preemptive_generation") == {"enabled": False}


async def test_every_voice_may_have_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = setting(
        monkeypatch,
        DEEPGRAM_API_KEY=KEY,
        CARTESIA_API_KEY=KEY,
        BELLA_VISTA_TTS_VOICE="katie",
        BELLA_VISTA_TTS_VOICES="payment=calm, feedback=warm",
    )

    async with built(settings) as speech:
        voices: dict[str, Any] = {"": speech.tts, **speech.tts_by_agent}
        chosen = {name: tts._opts.voice for name, tts in voices.items()}

    assert chosen == {"": "katie", "payment": "calm", "feedback": "warm"}


async def test_another_provider_is_the_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = setting(
        monkeypatch,
        DEEPGRAM_API_KEY=KEY,
        CARTESIA_API_KEY=KEY,
        OPENAI_API_KEY="sk-second",
        BELLA_VISTA_STT_FALLBACK="openai",
        BELLA_VISTA_TTS_FALLBACK="openai",
        BELLA_VISTA_TTS_FALLBACK_VOICE="coral",
        BELLA_VISTA_TTS_VOICES="payment=calm",
    )

    async with built(settings) as speech:
        stt: Any = speech.stt
        tts_by_agent: list[Any] = [speech.tts, *speech.tts_by_agent.values()]
        heard_by = [one.provider for one in stt._stt_instances]
        spoken_by = [[one.provider for one in tts._tts_instances] for tts in tts_by_agent]

    assert heard_by[0] == "Deepgram"
    assert len(heard_by) == 2
    assert [names[0] for names in spoken_by] == ["Cartesia", "Cartesia"]
    assert tts_by_agent[0]._tts_instances[1] is tts_by_agent[1]._tts_instances[1]


async def test_openais_key_is_sent_to_no_other_server(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = setting(
        monkeypatch,
        OPENAI_API_KEY="sk-mine",
        BELLA_VISTA_STT="openai",
        BELLA_VISTA_TTS="openai",
        BELLA_VISTA_TTS_BASE_URL="http://127.0.0.1:9/v1",
    )

    async with built(settings) as speech:
        models: list[Any] = [speech.stt, speech.tts]
        keys = [model._client.api_key for model in models]

    assert keys == ["sk-mine", "no-key"]


async def test_the_clients_of_every_model_are_closed_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = setting(
        monkeypatch,
        DEEPGRAM_API_KEY=KEY,
        OPENAI_API_KEY="sk-mine",
        BELLA_VISTA_STT_FALLBACK="openai",
        BELLA_VISTA_TTS="openai",
        BELLA_VISTA_TTS_VOICES="payment=coral",
    )

    async with built(settings) as speech:
        stt: Any = speech.stt
        models: list[Any] = [
            stt._stt_instances[1]._stt,
            speech.tts,
            *speech.tts_by_agent.values(),
        ]
        before = [model._client.is_closed() for model in models]

    assert before == [False] * 3
    assert [model._client.is_closed() for model in models] == [True] * 3


def test_everything_that_is_wrong_is_listed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = setting(
        monkeypatch,
        DEEPGRAM_API_KEY="my secret key",
        BELLA_VISTA_TTS="cartesia",
        BELLA_VISTA_STT_FALLBACK="deepgram",
        BELLA_VISTA_TTS_FALLBACK="openai",
        BELLA_VISTA_TTS_VOICES="payment=calm, barista=warm",
    )

    with pytest.raises(SettingsFaults) as caught:
        speech_models(settings, agents=AGENTS)

    assert caught.value.faults == (
        "BELLA_VISTA_STT_FALLBACK: is the first provider already",
        "DEEPGRAM_API_KEY: holds characters that no key has: copy the key again",
        "CARTESIA_API_KEY: is not set, but cartesia is configured",
        "OPENAI_API_KEY: is not set, but openai is configured",
        "BELLA_VISTA_TTS_VOICES: there is no agent barista: there are greeter, order_taker,"
        " payment, feedback",
    )
    assert "secret" not in str(caught.value)


def test_faults_of_rooms_and_of_speech_are_listed_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BELLA_VISTA_STT", "deepgram")

    with pytest.raises(SettingsFaults) as caught:
        worker_settings(Settings, agents=AGENTS)

    assert [fault.partition(":")[0] for fault in caught.value.faults] == [
        "LIVEKIT_URL",
        "LIVEKIT_API_KEY",
        "LIVEKIT_API_SECRET",
        "DEEPGRAM_API_KEY",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BELLA_VISTA_STT", "cartesia"),
        ("BELLA_VISTA_TTS", "espeak"),
        ("BELLA_VISTA_STT_BASE_URL", "ws://user:secret@example"),
        ("BELLA_VISTA_TTS_VOICES", "payment"),
        ("BELLA_VISTA_TTS_VOICES", "pay ment=secret"),
        ("BELLA_VISTA_LANGUAGE", "English"),
    ],
)
def test_a_setting_of_speech_that_cannot_be_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    with pytest.raises(SettingsFaults, match=f"^{name}: ") as caught:
        setting(monkeypatch, **{name: value})

    assert "secret" not in str(caught.value)


def test_no_key_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = setting(monkeypatch, DEEPGRAM_API_KEY=KEY, CARTESIA_API_KEY=f"{KEY}-2")

    assert KEY not in repr(settings)
    assert {KEY, f"{KEY}-2"} <= set(settings.secrets)


@pytest.mark.processes
def test_nothing_of_it_is_imported_before_it_is_needed() -> None:
    program = (
        "import sys, agents.app.models.speech, agents.handoff;"
        "from bella_vista.settings import Settings;"
        "assert agents.app.models.speech.speech_models(Settings()) is None;"
        "print([name for name in sys.modules if 'livekit.plugins' in name or 'onnx' in name])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=sys.path[0] or ".",
        env={"PYTHONPATH": ":".join(sys.path), "HOME": "/nonexistent"},
    )

    assert done.stdout == "[]\n"


class Tones(AudioInput):
    """A microphone into which the sentences of a test are spoken, in real time."""

    def __init__(self) -> None:
        super().__init__(label="tones")
        self._frames: list[rtc.AudioFrame] = []
        self._still = list(silence(0.01, rate=48_000))

    def says(self, number: int) -> None:
        self._frames += [*line(number)]

    async def __anext__(self) -> rtc.AudioFrame:
        await asyncio.sleep(0.002)
        return self._frames.pop(0) if self._frames else self._still[0]


@asynccontextmanager
async def talking(
    monkeypatch: pytest.MonkeyPatch, server: Providers, model: ScriptedLLM
) -> AsyncIterator[tuple[list[Event], Tones]]:
    """The hotel's call through the real plugins and a server on this machine."""
    settings = setting(
        monkeypatch,
        DEEPGRAM_API_KEY=KEY,
        CARTESIA_API_KEY=KEY,
        BELLA_VISTA_STT_BASE_URL=server.url,
        BELLA_VISTA_TTS_BASE_URL=server.url,
    )
    call = hotel(cannot_hear="Please type.", cannot_speak="Please read.")
    events: list[Event] = []
    call.subscribe(events.append)
    tones = Tones()
    async with built(settings, terms=("Margherita",)) as speech:
        assert speech.stt is not None
        await start_speech(
            call,
            model,
            stt=speech.stt,
            tts=speech.tts,
            turns={**speech.turns, "turn_detection": "stt"},  # a detector takes tones for noise
            microphone=tones,
            loudspeaker=Loudspeaker(),
        )
        try:
            await so(lambda: [event for event in events if isinstance(event, YourTurn)])
            yield events, tones
        finally:
            await stop(call)


async def so(fact: Any, seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not fact():  # noqa: ASYNC110  # there is no event to wait for
            await asyncio.sleep(0.005)


def said(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Said)]


async def test_a_guest_is_heard_and_answered_through_both_providers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with (
        Providers(
            hears=["for two nights"], key=KEY, second_per_character=QUICK
        ).running() as server,
        talking(monkeypatch, server, model) as (events, tones),
    ):
        tones.says(0)
        await so(lambda: said(events) == ["Good evening.", "Two nights."])

    assert [event.text for event in events if isinstance(event, Heard)] == ["for two nights"]
    texts = [asked.body["transcript"] for asked in server.asked if "transcript" in asked.body]
    spoken = " ".join(texts).split()
    assert " ".join(spoken) == "Good evening. Two nights."
    assert {asked.key for asked in server.asked} == {KEY}
    assert server.faults == []
    listening = next(asked.query for asked in server.asked if "encoding" in asked.query)
    assert (listening["model"], listening["keyterm"], listening["language"]) == (
        "nova-3",
        "Margherita",
        "en",
    )


async def test_a_wrong_key_leaves_words(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = Providers(key="another-key")
    model = ScriptedLLM([says("Good evening.")])

    async with server.running(), talking(monkeypatch, server, model) as (events, _):
        await so(lambda: {"Please read.", "Please type."} <= set(said(events)))

    assert said(events)[0] == "Good evening."
    assert KEY not in caplog.text
    why = "the key was not accepted (401): check"
    assert explained(caplog) == {
        f"speech-to-text provider failed: deepgram: {why} DEEPGRAM_API_KEY",
        f"text-to-speech provider failed: cartesia: {why} CARTESIA_API_KEY",
    }


def explained(caplog: pytest.LogCaptureFixture) -> set[str]:
    """Return what the log says about providers; each line is there once."""
    ours = [one for one in caplog.records if one.name == "agents.app.models.speech_failures"]
    lines = [one.getMessage() for one in ours]
    assert len(lines) == len(set(lines))
    return set(lines)


NO_SUCH = "there is no such model or address (404): check BELLA_VISTA"
REJECTED = "it rejected the request (400): check BELLA_VISTA"


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"TTS_VOICE": "canary"}, f"text-to-speech provider failed: cartesia: {NO_SUCH}_TTS_VOICE"),
        (
            {"TTS_MODEL": "canary"},
            f"text-to-speech provider failed: cartesia: {REJECTED}_TTS_MODEL",
        ),
        (
            {"STT_MODEL": "canary"},
            "speech-to-text provider failed: deepgram: " + REJECTED + "_STT_MODEL",
        ),
        (
            {"TTS": "openai", "TTS_VOICE": "canary"},
            f"text-to-speech provider failed: openai: {REJECTED}_TTS_VOICE",
        ),
        (
            {"TTS": "openai", "TTS_MODEL": "canary"},
            f"text-to-speech provider failed: openai: {NO_SUCH}_TTS_MODEL",
        ),
        (
            {"STT": "openai", "STT_MODEL": "canary"},
            f"speech-to-text provider failed: openai: {NO_SUCH}_STT_MODEL",
        ),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, dict) else "",
)
async def test_a_voice_or_a_model_that_is_not_there_is_named_in_the_log(
    settings: dict[str, str],
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Providers(hears=["two nights"]).running() as server:
        url = server.openai_url if "openai" in line else server.url
        chosen = setting(
            monkeypatch,
            **dict.fromkeys(("DEEPGRAM_API_KEY", "CARTESIA_API_KEY", "OPENAI_API_KEY"), KEY),
            BELLA_VISTA_STT_BASE_URL=url,
            BELLA_VISTA_TTS_BASE_URL=url,
            **{f"BELLA_VISTA_{name}": value for name, value in settings.items()},
        )
        async with built(chosen) as speech:
            with pytest.raises(APIError):
                await used(speech, hears="speech-to-text" in line)

    assert explained(caplog) == {line}
    assert len(server.faults) == 1


async def test_the_failures_of_both_voices_are_named_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with Providers(key="another-key").running() as server:
        chosen = setting(
            monkeypatch,
            **dict.fromkeys(("DEEPGRAM_API_KEY", "CARTESIA_API_KEY", "OPENAI_API_KEY"), KEY),
            OPENAI_BASE_URL=server.openai_url,
            BELLA_VISTA_TTS_BASE_URL=server.url,
            BELLA_VISTA_TTS_FALLBACK="openai",
        )
        async with built(chosen) as speech:
            with pytest.raises(APIError):
                await used(speech, hears=False)

    assert explained(caplog) >= {  # the adapter tries the second again, while the server ends
        f"text-to-speech provider failed: {name}: the key was not accepted (401): check {key}"
        for name, key in (("cartesia", "CARTESIA_API_KEY"), ("openai", "OPENAI_API_KEY"))
    }
    assert KEY not in caplog.text


async def used(speech: SpeechModels, *, hears: bool) -> None:
    """Have a sentence heard, or spoken, as a call does."""
    stt, tts = speech.stt, speech.tts
    once = APIConnectOptions(max_retry=0, timeout=5.0)
    assert stt is not None
    if hears and stt.capabilities.streaming:
        async with stt.stream(conn_options=once) as heard:
            for frame in line(0):
                heard.push_frame(frame)
            async for _ in heard:
                pass
    elif hears:
        await stt.recognize([*line(0)], conn_options=once)
    elif tts.capabilities.streaming:
        async with tts.stream(conn_options=once) as stream:
            stream.push_text("Good evening.")
            stream.end_input()
            async for _ in stream:
                pass
    else:
        async with tts.synthesize("Good evening.", conn_options=once) as spoken:
            async for _ in spoken:
                pass


async def test_a_server_that_is_not_there_leaves_words(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Providers().running() as gone:
        pass
    model = ScriptedLLM([says("Good evening.")])

    async with talking(monkeypatch, gone, model) as (events, _):
        await so(lambda: {"Please read.", "Please type."} <= set(said(events)))

    assert said(events)[0] == "Good evening."


# -- without a key ------------------------------------------------------------------------------------


LOCAL = {"BELLA_VISTA_STT": "local", "BELLA_VISTA_TTS": "local"}


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of language models of its own."""
    monkeypatch.setattr(language_models_module, "user_cache_path", lambda name: tmp_path / name)
    return tmp_path


@pytest.mark.processes
async def test_a_process_loads_the_recogniser_before_its_call(
    monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    speech_program("espeak-ng")
    setting(monkeypatch, **LOCAL)
    rooms: Rooms[Any, Any] = Rooms(sentences=lambda context: {"open": ["two pizzas"]})
    app = replace(APP, rooms=rooms)
    process = JobProcess(executor_type=JobExecutorType.THREAD, user_arguments=None, http_proxy=None)
    job.prepare_process(app, process)
    (prepared,) = process.userdata.values()
    monkeypatch.setattr(recognizer, "_decoder", None)  # nothing more can be loaded

    speech = job._speech(app, prepared, None)
    assert isinstance(speech.stt, LocalSTT)
    assert await speech.stt.recognizer() is prepared.recognizer
    await speech.aclose()


def test_a_recogniser_that_cannot_be_loaded_is_left_to_its_calls(tmp_path: Path) -> None:
    nowhere = LanguageModels(tmp_path / "words.dict", {"open": tmp_path / "open.arpa"})

    assert load_recognizer(nowhere) is None
    assert load_recognizer(None) is None


@pytest.mark.processes
async def test_speech_on_this_machine_needs_no_key(
    monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    speech_program("espeak-ng")
    settings = setting(
        monkeypatch,
        **LOCAL,
        BELLA_VISTA_TTS_MODEL="espeak-ng",
        BELLA_VISTA_TTS_VOICE="en-gb",
        BELLA_VISTA_TTS_VOICES="payment=en-us+f3",
    )
    rooms: Rooms[Any, Any] = Rooms(
        sentences=lambda context: {"open": ["two pizzas"], "yes_no": ["yes"]},
        meaning=lambda context: len,
    )
    heard = language_models_of(replace(APP, rooms=rooms), None, settings)
    assert heard is not None
    assert heard.meaning is len

    async with built(settings, language_models=heard) as speech:
        models: list[Any] = [speech.tts, speech.tts_by_agent["payment"]]
        assert speech.stt is not None
        assert (speech.stt.provider, speech.stt.model) == ("local", "pocketsphinx")
        assert [(one.provider, one.model, one.voice._voice) for one in models] == [
            ("local", "espeak", "en-gb"),
            ("local", "espeak", "en-us+f3"),
        ]
        assert speech.stt.capabilities.manual_flush
        assert speech.expect is not None
        speech.expect("yes_no")
        assert isinstance(speech.stt, LocalSTT)
        assert speech.stt.expected == "yes_no"
        assert uses_local(settings)


async def test_a_provider_has_no_use_for_what_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = setting(monkeypatch, DEEPGRAM_API_KEY=KEY, CARTESIA_API_KEY=KEY)

    async with built(settings) as speech:
        assert speech.expect is None
        assert not uses_local(settings)


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"BELLA_VISTA_TTS_MODEL": "festival"}, "BELLA_VISTA_TTS_VOICE: there is no program"),
        (
            {"BELLA_VISTA_TTS_MODEL": "espeak-ng", "BELLA_VISTA_TTS_VOICE": "nobody"},
            'BELLA_VISTA_TTS_VOICE: espeak-ng has no voice "nobody"',
        ),
        (
            {"BELLA_VISTA_TTS_MODEL": "flite", "BELLA_VISTA_TTS_VOICES": "payment=nobody"},
            'BELLA_VISTA_TTS_VOICES: flite has no voice "nobody"',
        ),
        ({"BELLA_VISTA_LANGUAGE": "de"}, "BELLA_VISTA_LANGUAGE: local speech-to-text is English"),
    ],
)
@pytest.mark.processes
def test_what_local_speech_cannot_do_is_said_at_the_start(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], told: str
) -> None:
    speech_program("flite")
    speech_program("espeak-ng")
    faults = speech_faults(setting(monkeypatch, **LOCAL, **variables), AGENTS)

    assert len(faults) == 1
    assert faults[0].startswith(told)


def test_without_its_programs_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voices, "has_espeak", lambda: False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(importing, "is_installed", lambda name: name != "pocketsphinx")
    faults = speech_faults(setting(monkeypatch, **LOCAL))

    assert len(faults) == 2
    assert "pip install 'typed-handoffs[local-speech]'" in faults[0]
    assert "apt install espeak-ng" in faults[1]


def test_a_demonstration_without_speech_programs_is_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = setting(monkeypatch)
    monkeypatch.setattr(voices, "has_espeak", lambda: True)
    assert local_speech_faults(settings) == ()
    monkeypatch.setattr(voices, "has_espeak", lambda: False)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/flite")
    assert local_speech_faults(settings) == ()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert local_speech_faults(settings) == (
        f"BELLA_VISTA_TTS_VOICE: neither espeak-ng nor flite is installed: {voices.INSTALL}",
    )


@pytest.mark.parametrize(
    "variables",
    [
        {"DEEPGRAM_API_KEY": KEY},
        {"CARTESIA_API_KEY": KEY},
        {"BELLA_VISTA_STT": "none"},
        {"BELLA_VISTA_MODEL": "openai-realtime", "OPENAI_API_KEY": KEY},
    ],
)
def test_a_demonstration_hears_and_speaks_as_it_is_told(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    assert local_speech_faults(setting(monkeypatch, **variables)) is None


@pytest.mark.parametrize(
    ("variables", "chosen"),
    [
        ({}, LOCAL),
        ({"DEEPGRAM_API_KEY": KEY, "CARTESIA_API_KEY": KEY}, {}),
        ({"DEEPGRAM_API_KEY": KEY}, {"BELLA_VISTA_TTS": "local"}),
        ({"BELLA_VISTA_STT": "openai"}, {"BELLA_VISTA_TTS": "local"}),
        ({"BELLA_VISTA_STT": "none"}, {"BELLA_VISTA_TTS": "local"}),
    ],
)
def test_a_provider_with_a_key_takes_over(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], chosen: dict[str, str]
) -> None:
    assert with_local_speech(setting(monkeypatch, **variables)) == chosen


def test_an_application_that_does_not_tell_what_is_said_is_not_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = setting(monkeypatch, **LOCAL)

    with pytest.raises(SettingsFaults, match="bella-vista declares no sentences of users"):
        language_models_of(replace(APP, rooms=Rooms()), None, settings)
    with pytest.raises(SettingsFaults, match="no language models: no sentences for the kind"):
        language_models_of(replace(APP, rooms=Rooms(sentences=lambda context: {})), None, settings)
    with pytest.raises(AppFaults, match="rooms.sentences: ZeroDivisionError"):
        language_models_of(
            replace(APP, rooms=Rooms(sentences=lambda context: {"open": [str(1 // 0)]})),
            None,
            settings,
        )


def test_without_local_speech_no_language_models_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = setting(monkeypatch, DEEPGRAM_API_KEY=KEY, CARTESIA_API_KEY=KEY)

    assert language_models_of(replace(APP, rooms=Rooms()), None, settings) is None
    assert language_models_of(replace(APP, rooms=Rooms()), None, Settings.read()) is None
