"""A WAV file as a microphone: read whatever its format, divided where it is silent, refused in plain words."""

import math
import struct
from array import array
from pathlib import Path

import pytest

from agents.app.faults import InputError
from agents.app.join.sound import RATE, Sound, read_utterances
from tests.sounds import wav


def tone(seconds: float, *, rate: int = 16_000, loudness: int = 8_000) -> bytes:
    steps = range(int(rate * seconds))
    return array("h", (int(loudness * math.sin(0.1 * at)) for at in steps)).tobytes()


def quiet(seconds: float, *, rate: int = 16_000) -> bytes:
    return bytes(2 * int(rate * seconds))


def test_an_utterance_ends_where_it_is_silent_and_keeps_its_pauses(tmp_path: Path) -> None:
    parts = (quiet(1), tone(1), quiet(0.5), tone(0.5), quiet(1.5), tone(0.3))
    file = wav(tmp_path / "guest.wav", b"".join(parts))

    assert [round(one.seconds, 1) for one in read_utterances(file)] == [2.4, 0.5]


def test_noise_under_the_voice_is_silence_too(tmp_path: Path) -> None:
    hum = tone(1.5, loudness=300)
    file = wav(tmp_path / "guest.wav", tone(1) + hum + tone(1))

    assert len(read_utterances(file)) == 2


@pytest.mark.parametrize("rate", [8_000, 22_050, 48_000])
@pytest.mark.parametrize(("channels", "width"), [(1, 2), (2, 2), (1, 3), (1, 4), (1, 1), (6, 2)])
def test_every_pcm_format_is_read(tmp_path: Path, rate: int, channels: int, width: int) -> None:
    plain = array("h", tone(0.5, rate=rate))
    if width == 1:
        data = bytes((sample >> 8) + 128 for sample in plain)
    else:
        data = b"".join(bytes(width - 2) + struct.pack("<h", one) * channels for one in plain)
    (only,) = read_utterances(
        wav(tmp_path / "a.wav", data, rate=rate, channels=channels, width=width)
    )
    loudest = max(array("h", only.samples))

    assert 0.45 < only.seconds < 0.55
    assert len(only.samples) == pytest.approx(2 * RATE * 0.5, rel=0.1)
    assert loudest == pytest.approx(8_000, rel=0.05)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is no WAV file of uncompressed samples"),
        (b"ID3\x04 this is music", "is no WAV file of uncompressed samples"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", "is no WAV file of uncompressed samples"),
    ],
)
def test_another_format_is_refused(tmp_path: Path, data: bytes, told: str) -> None:
    file = tmp_path / "guest.wav"
    file.write_bytes(data)

    with pytest.raises(InputError, match=told):
        read_utterances(file)


def test_a_file_of_floating_point_numbers_is_refused(tmp_path: Path) -> None:
    file = wav(tmp_path / "guest.wav", tone(0.1))
    file.write_bytes(file.read_bytes()[:20] + b"\x03\x00" + file.read_bytes()[22:])

    with pytest.raises(InputError, match="unknown format: 3"):
        read_utterances(file)


def test_what_holds_nothing_to_say_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is silent"):
        read_utterances(wav(tmp_path / "silent.wav", quiet(2)))
    with pytest.raises(InputError, match="holds no audio"):
        read_utterances(wav(tmp_path / "empty.wav", b""))
    with pytest.raises(InputError, match=r"nowhere\.wav: cannot be read: No such file"):
        read_utterances(tmp_path / "nowhere.wav")
    with pytest.raises(InputError, match="1000 samples per second"):
        read_utterances(wav(tmp_path / "slow.wav", tone(1), rate=1_000))


def test_a_shout_that_clips_is_one_utterance(tmp_path: Path) -> None:
    file = wav(tmp_path / "guest.wav", tone(1, loudness=32_767))

    assert len(read_utterances(file)) == 1


def test_a_recording_that_cannot_be_written_is_refused_before_the_call(tmp_path: Path) -> None:
    file = wav(tmp_path / "guest.wav", tone(1))

    with pytest.raises(InputError, match=r"no/where\.wav: cannot be written"):
        Sound(file, tmp_path / "no" / "where.wav")


def test_without_a_device_it_is_said_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sounddevice", None)

    with pytest.raises(InputError, match=r"sounddevice is not installed .* --microphone FILE\.wav"):
        Sound(None, None)
    assert "--loudspeaker FILE.wav" in Sound(wav(tmp_path / "a.wav", tone(1)), None).note
