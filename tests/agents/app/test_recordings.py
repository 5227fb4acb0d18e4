"""The file of a recorded call: what it keeps, and what becomes silence."""

import os
import stat
import wave
from array import array
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from livekit import rtc

from agents.app.recordings import RATE, CallRecorder, Recordings, files_of, forget_recordings

SECOND = rtc.AudioFrame(array("h", [1000] * RATE).tobytes(), RATE, 1, RATE)


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Recorded:
    """A call that is being recorded."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        begun = Recordings(folder, "house").begin("abcd-efgh-jkmn")
        assert begun is not None
        self.call = CallRecorder(begun._file, self.clock)

    def speaks(self, seconds: int = 1) -> None:
        for _ in range(seconds):
            self.clock.now += 1.0
            self.call.user_audio(SECOND)

    def pauses(self) -> None:
        self.clock.now += 1.0

    def loud_seconds(self) -> tuple[list[int], list[int]]:
        """In which seconds the guest and the agents are heard."""
        with wave.open(str(self.call.path), "rb") as file:
            assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, RATE)
            both = array("h", file.readframes(file.getnframes()))
        sides = both[0::2], both[1::2]
        guest, agents = (
            [at for at in range(len(one) // RATE + 1) if any(one[at * RATE : (at + 1) * RATE])]
            for one in sides
        )
        return guest, agents


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


async def test_both_sides_are_kept_once_the_guest_knows(recorded: Recorded) -> None:
    recorded.speaks()
    recorded.call.agent_speaks()
    recorded.pauses()
    recorded.call.agent_played([SECOND], ago_s=1.0)
    recorded.call.agent_stopped()
    recorded.call.announced()
    recorded.speaks()
    recorded.pauses()
    recorded.call.understood("a pizza, please", secret=False)
    await recorded.call.aclose()
    assert recorded.loud_seconds() == ([2], [1])
    assert stat.S_IMODE(recorded.call.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("what", ["redacted", "not understood", "never transcribed"])
async def test_other_audio_of_the_guest_is_silent(recorded: Recorded, what: str) -> None:
    recorded.call.announced()
    recorded.speaks()
    recorded.pauses()
    recorded.call.understood("hello", secret=False)
    recorded.pauses()
    recorded.speaks()
    if what == "redacted":
        recorded.call.understood("[card number]", secret=True)
    elif what == "not understood":
        recorded.call.forget()
    await recorded.call.aclose()
    assert recorded.loud_seconds()[0] == [0]


async def test_a_number_told_in_two_turns_is_silent_in_both(recorded: Recorded) -> None:
    recorded.call.announced()
    recorded.speaks()
    recorded.pauses()
    recorded.call.understood("four one one one", secret=False)
    recorded.speaks()
    recorded.call.understood("[card number]", secret=True)
    recorded.pauses()
    recorded.speaks()
    recorded.pauses()
    recorded.call.understood("thank you", secret=False)
    await recorded.call.aclose()
    assert recorded.loud_seconds()[0] == [4]


async def test_a_full_disk_ends_the_recording_and_leaves_a_readable_file(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    recorded.call.announced()
    recorded.speaks()
    recorded.pauses()
    recorded.call.understood("hello", secret=False)
    await recorded.call._wait_for_write()

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "pwrite", full)
        recorded.speaks()
        recorded.pauses()
        recorded.call.understood("hello again", secret=False)
        await recorded.call._wait_for_write()
        recorded.speaks()
        await recorded.call.aclose()
    assert recorded.loud_seconds()[0] == [0]
    assert "recording ended: No space left on device" in caplog.text


async def test_an_interrupted_process_leaves_what_was_written(recorded: Recorded) -> None:
    recorded.call.announced()
    recorded.speaks()
    recorded.pauses()
    recorded.call.understood("hello", secret=False)
    recorded.speaks()
    await recorded.call._wait_for_write()
    assert recorded.loud_seconds()[0] == [0]
    await recorded.call.delete()


async def test_a_recording_is_deleted_with_its_order_or_with_age(
    recorded: Recorded, tmp_path: Path
) -> None:
    recorded.call.announced()
    recorded.speaks()
    recorded.pauses()
    recorded.call.understood("hello", secret=False)
    await recorded.call.aclose()
    kept = Recordings(tmp_path, "house")
    kept.drop(datetime.now(UTC) - timedelta(days=1))
    Recordings(tmp_path, "another house").drop(datetime.now(UTC) + timedelta(days=1))
    assert files_of(tmp_path, "abcd-efgh-jkmn") == [recorded.call.path]
    assert forget_recordings(tmp_path, "abcd-efgh-jkmn") == 1
    again = kept.begin("abcd-efgh-jkmn")
    assert again is not None
    kept.drop(datetime.now(UTC) + timedelta(days=1))
    assert files_of(tmp_path, "abcd-efgh-jkmn") == []
    await again.delete()


def test_a_folder_that_cannot_be_made_means_no_recording(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    assert Recordings(tmp_path / "file", "house").begin("abcd-efgh-jkmn") is None
    assert "call not recorded" in caplog.text
