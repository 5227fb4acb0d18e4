"""Turn taking as settings: each channel has its own, faults are named, and the models are told."""

from functools import partial
from typing import Any

import pytest
from livekit import rtc
from livekit.agents.inference import TurnDetector

from agents.app.models.speech import SpeechModels
from agents.app.models.turn_taking import turn_taking, turn_taking_faults
from agents.app.rooms.media import Media
from agents.app.settings import AppSettings, SettingsFaults, settings_of
from agents.handoff import sessions, turns_by
from agents.testing import ScriptedLLM, ScriptedSTT, ToneTTS, ToneVAD
from tests.agents.hotel import hotel


def settings(**given: object) -> AppSettings:
    return settings_of("front-desk").read(**given)


class Adjustable(ToneVAD):
    """Notes the options it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.options: dict[str, float] = {}

    def update_options(self, **options: float) -> None:
        self.options = options


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_telephone_waits_a_little_longer_by_default() -> None:
    web, phone = (turn_taking(settings(), channel) for channel in ("web_voice", "phone"))

    assert (web.min_delay_s, phone.min_delay_s) == (0.5, 0.6)
    assert (web.interruption_s, phone.interruption_s) == (0.5, 0.6)
    assert (web.tone_after_s, phone.tone_after_s) == (2.5, 2.5)
    assert not any((web.turn_detector, phone.turn_detector, web.noise_suppression))


def test_a_number_is_for_every_channel_or_one_for_each() -> None:
    chosen = settings(
        turn_min_delay="0.3",
        turn_max_delay="phone=4, web=2",
        interruption_words="2",
        turn_detector="phone",
        noise_suppression="web",
        resume_after="0",
        tone_after="web=0, phone=2",
    )
    web, phone = (turn_taking(chosen, channel) for channel in ("web_voice", "phone"))

    assert (web.min_delay_s, phone.min_delay_s) == (0.3, 0.3)
    assert (web.max_delay_s, phone.max_delay_s) == (2.0, 4.0)
    assert (web.turn_detector, phone.turn_detector) == (False, True)
    assert (web.tone_after_s, phone.tone_after_s) == (0.0, 2.0)
    assert (web.noise_suppression, phone.noise_suppression) == (True, False)
    handling = web.turns(ToneVAD())
    assert handling.get("turn_detection") == "vad"
    assert handling.get("endpointing") == {"mode": "fixed", "min_delay": 0.3, "max_delay": 2.0}
    interruption = handling.get("interruption", {})
    assert interruption.get("min_words") == 2
    assert interruption.get("resume_false_interruption") is False
    assert interruption.get("discard_audio_if_uninterruptible") is False


def test_the_turn_detector_is_the_one_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEKIT_DEV_MODE", "1")
    monkeypatch.setenv("LIVEKIT_API_KEY", "key")
    monkeypatch.setenv("LIVEKIT_API_SECRET", "secret")

    detector = turn_taking(settings(turn_detector="on"), "phone").turns(ToneVAD())

    chosen = detector.get("turn_detection")
    assert isinstance(chosen, TurnDetector)
    assert chosen.model == "turn-detector-v1-mini"


def test_voice_activity_detection_is_told() -> None:
    vad = Adjustable()

    turn_taking(settings(vad_threshold="0.7", vad_silence="web=0.3, phone=0.8"), "phone").tune(vad)
    turn_taking(settings(), "phone").tune(ToneVAD())  # it has no options

    assert vad.options == {
        "activation_threshold": 0.7,
        "deactivation_threshold": pytest.approx(0.55),
        "min_silence_duration": 0.8,
    }


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("turn_min_delay", "soon"),
        ("turn_min_delay", ""),
        ("turn_min_delay", "-1"),
        ("turn_min_delay", "nan"),
        ("turn_min_delay", "web=0.5"),
        ("turn_min_delay", "web=0.5, web=1"),
        ("turn_min_delay", "web=0.5, fax=1"),
        ("turn_max_delay", "31"),
        ("interruption_words", "1.5"),
        ("vad_threshold", "1"),
        ("vad_silence", "0"),
        ("turn_detector", "maybe"),
        ("noise_suppression", "true"),
    ],
)
def test_a_faulty_value_is_named(field: str, text: str) -> None:
    with pytest.raises(SettingsFaults) as found:
        settings(**{field: text})

    (fault,) = found.value.faults
    assert fault.startswith(f"--{field.replace('_', '-')}: ")


def test_settings_that_contradict_each_other_are_named() -> None:
    wrong = settings(
        turn_min_delay="web=0.5, phone=4",
        turn_detector="web",
        vad_silence="0.2",
    )

    assert turn_taking_faults(wrong) == (
        "FRONT_DESK_VAD_SILENCE: the turn detector needs at least 0.25 (web)",
        "FRONT_DESK_TURN_MAX_DELAY: is below FRONT_DESK_TURN_MIN_DELAY (phone)",
    )


async def test_a_call_is_started_with_the_tone_of_its_channel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[float] = []

    async def start_speech(*given: Any, tone_after_s: float, **how: Any) -> None:
        started.append(tone_after_s)

    monkeypatch.setattr(sessions, "start_speech", start_speech)
    vad, tts = ToneVAD(), ToneTTS()
    models = SpeechModels(ScriptedSTT(), tts, vad, {}, turns_by(vad), (tts,))
    media = Media(lambda: models, partial(turn_taking, settings(tone_after="web=2, phone=0")))
    for channel in ("web_voice", "phone"):
        await media.start(hotel(), ScriptedLLM([]), rtc.Room(), "ada", channel)

    assert started == [2.0, 0.0]
