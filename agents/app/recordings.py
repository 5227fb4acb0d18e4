"""Recordings of calls: one WAV file for each call, in a folder beside the database.

The left channel is the user, the right one the agents. The user's audio stays in memory until its
transcript is final. It is silenced if a number in it was redacted, or if it was not understood. So a
killed process loses some seconds of audio, and no card number that was recognised is ever written.
"""

import asyncio
import contextlib
import logging
import os
import struct
import time
from array import array
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from livekit import rtc
from platformdirs import user_data_path
from sqlalchemy.engine import make_url

from agents.app.app import AnyApp
from agents.app.states import default_database
from state.privacy.digits import digits_said

logger = logging.getLogger(__name__)

RATE = 24_000
"""The sample rate of a recording, in Hz: that of livekit's audio."""

HELD_S = 120.0
"""How long audio waits in memory for its transcript, in seconds; older audio is silenced."""

MARGIN_S = 0.5
"""How long before the acceptance of words their audio ends at the latest, in seconds: later audio may
belong to the next words."""

_GAP_S = 0.1
"""The largest gap between two frames of continuous audio, in seconds."""

_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
_MAX_SIZE = 0xFFFF_FFFF - _HEADER.size


class Recordings:
    """The recordings of one owner's calls.

    Args:
        folder: The folder of all owners' recordings.
    """

    def __init__(self, folder: Path, owner: str) -> None:
        self._all = folder
        self._folder = folder / quote(owner, safe="")

    def begin(self, state_id: str) -> "CallRecorder | None":
        """Create the recording of a call; logs a failure and returns ``None``. Blocks."""
        at = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        try:
            for folder in (self._all, self._folder):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return CallRecorder(_WavFile(self._folder / f"{state_id}_{at}.wav"))
        except OSError as error:
            logger.error("call not recorded: %s", error.strerror or type(error).__name__)
            return None

    def forget(self, state_id: str) -> int:
        """Delete the recordings of calls about a state; see ``forget_recordings``."""
        return forget_recordings(self._all, state_id)

    def drop(self, before: datetime) -> None:
        """Delete this owner's recordings that ended before a time. Blocks."""
        for file in self._folder.glob("*.wav"):
            with contextlib.suppress(FileNotFoundError):
                if file.stat().st_mtime < before.timestamp():
                    file.unlink()


def recordings_folder(app: AnyApp, database: str | None, folder: Path | None) -> Path:
    """Return the folder of an application's recordings.

    Args:
        app: The application.
        database: The database's URL, the default one without it: the folder is beside its file.
        folder: The folder, if it is set.
    """
    if folder is not None:
        return folder
    url = make_url(database or default_database(app))
    if url.get_backend_name() == "sqlite" and url.database:
        return Path(f"{url.database}.recordings")
    return user_data_path(app.name, appauthor=False) / "recordings"


def files_of(folder: Path, state_id: str) -> list[Path]:
    """List the recordings of calls about a state, of every owner."""
    return sorted(folder.glob(f"*/{state_id}_*.wav"))


def forget_recordings(folder: Path, state_id: str) -> int:
    """Delete the recordings of calls about a state; returns how many there were. Blocks.

    Raises:
        OSError: A recording cannot be deleted.
    """
    files = files_of(folder, state_id)
    for file in files:
        file.unlink(missing_ok=True)
    return len(files)


class _WavFile:
    """A WAV file with two channels of 16 bits; it is complete after every write.

    Args:
        path: The file; it must not exist.

    Raises:
        OSError: It cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = 0
        self._file: int | None = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        try:
            self._write_header()
        except OSError:
            self.delete()
            raise

    def append(self, samples: bytes) -> None:
        """Append samples of both channels; a failure leaves the file as it was.

        Raises:
            OSError: The disk is full, or the file cannot be any longer.
        """
        if self._file is None:
            return
        if self._size + len(samples) > _MAX_SIZE:
            raise OSError("a recording cannot be longer")
        view, at = memoryview(samples), _HEADER.size + self._size
        while view:
            written = os.pwrite(self._file, view, at)
            view, at = view[written:], at + written
        self._size += len(samples)
        self._write_header()

    def close(self) -> None:
        """Close the file: remove an incomplete write, and delete an empty file."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, _HEADER.size + self._size)
        os.close(self._file)
        self._file = None
        if not self._size:
            self.path.unlink(missing_ok=True)

    def delete(self) -> None:
        """Delete it."""
        self._size = 0
        self.close()
        self.path.unlink(missing_ok=True)

    def _write_header(self) -> None:
        if self._file is None:
            return
        size = self._size
        header = _HEADER.pack(
            *(b"RIFF", size + _HEADER.size - 8, b"WAVE", b"fmt ", 16, 1, 2),
            *(RATE, RATE * 4, 4, 16, b"data", size),
        )
        os.pwrite(self._file, header, 0)


class _Channel:
    """The samples of one channel that are not written yet."""

    def __init__(self) -> None:
        self._samples = array("h")
        self._end: int | None = None
        """The end of the last frame, in samples from the first one in memory."""
        self._rate = RATE
        self._resampler: rtc.AudioResampler | None = None

    def place(self, frame: rtc.AudioFrame, at: int) -> None:
        """Add a frame at a sample; if that is close to the end of the last frame, append it."""
        if self._end is not None and abs(at - self._end) <= _GAP_S * RATE:
            at = self._end
        for sound in self._resampled(frame):
            mono = array("h", bytes(sound.data.cast("B")))[:: sound.num_channels]
            mono, at = mono[max(-at, 0) :], max(at, 0)
            missing = at + len(mono) - len(self._samples)
            if missing > 0:
                self._samples.extend(array("h", bytes(2 * missing)))
            self._samples[at : at + len(mono)] = mono
            at += len(mono)
            self._end = at

    def silence(self, start: int, end: int) -> None:
        """Silence a part."""
        start, end = max(start, 0), min(end, len(self._samples))
        if start < end:
            self._samples[start:end] = array("h", bytes(2 * (end - start)))

    def take(self, count: int) -> "array[int]":
        """Remove and return the first samples; missing ones are silence."""
        taken, self._samples = self._samples[:count], self._samples[count:]
        if self._end is not None:
            self._end -= count
        taken.extend(array("h", bytes(2 * (count - len(taken)))))
        return taken

    def _resampled(self, frame: rtc.AudioFrame) -> list[rtc.AudioFrame]:
        if frame.sample_rate == RATE:
            return [frame]
        if self._resampler is None or self._rate != frame.sample_rate:
            self._rate = frame.sample_rate
            self._resampler = rtc.AudioResampler(
                frame.sample_rate, RATE, num_channels=frame.num_channels
            )
        return self._resampler.push(frame)


class CallRecorder:
    """Records one call: an ``AudioTap`` of the session.

    Args:
        clock: Returns the time of a monotonic clock, in seconds.
    """

    def __init__(self, file: _WavFile, clock: Callable[[], float] = time.monotonic) -> None:
        self._file = file
        self._clock = clock
        self._began = clock()
        self._user, self._agent = _Channel(), _Channel()
        self._written = 0
        """How many samples were queued for writing."""
        self._settled = 0
        """The sample up to which the user's audio is either accepted or silenced."""
        self._accepted = 0
        """The sample up to which the user's words were accepted; the last ones may begin a number."""
        self._agent_since: int | None = None
        self._announced = False
        self._stopped = False
        self._pending: list[bytes] = []
        self._writing: asyncio.Task[None] | None = None

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def announced(self) -> None:
        """The user has been told that the call is recorded: record them from here on."""
        self._announced = True

    # -- the tap -----------------------------------------------------------------------------------

    def user_audio(self, frame: rtc.AudioFrame) -> None:
        """Record audio of the user, once the recording was announced."""
        if self._announced and not self._stopped:
            now = self._now()
            self._user.place(frame, now - round(frame.duration * RATE) - self._written)
        if not self._stopped:
            self._limit()

    def agent_speaks(self) -> None:
        """Write no audio from here on, until the agent's audio has been played."""
        self._agent_since = self._now()

    def agent_played(self, frames: list[rtc.AudioFrame], *, ago_s: float) -> None:
        """Record audio of an agent."""
        if self._stopped:
            return
        at = self._now() - round(ago_s * RATE)
        for frame in frames:
            self._agent.place(frame, at - self._written)
            at += round(frame.duration * RATE)

    def agent_stopped(self) -> None:
        """Write the audio that was held back."""
        self._agent_since = None
        self._write()

    def understood(self, words: str, *, secret: bool) -> None:
        """Accept the user's audio so far, or silence the turn if its words were redacted.

        A number may be spoken in several turns, so audio with digits waits for the next words.
        """
        if secret:
            self._silence(self._settled)
            return
        self._accepted = max(self._now() - round(MARGIN_S * RATE), self._accepted)
        if not digits_said(words):
            self._settle(self._accepted)

    def forget(self) -> None:
        """Silence the user's audio since their last words."""
        self._silence(max(self._accepted, self._settled))

    # -- the end -----------------------------------------------------------------------------------

    async def aclose(self) -> None:
        """Write the remaining audio and close the file; the user's audio without words is silenced."""
        if not self._stopped:
            self._silence(max(self._accepted, self._settled))
            self._agent_since = None
            self._write()
        self._stopped = True
        await self._wait_for_write()
        await asyncio.to_thread(self._file.close)

    async def delete(self) -> None:
        """Stop and delete the recording: the user does not want it."""
        self._stopped = True
        self._pending.clear()
        await self._wait_for_write()
        await asyncio.to_thread(self._file.delete)

    # -- writing -----------------------------------------------------------------------------------

    def _now(self) -> int:
        return round((self._clock() - self._began) * RATE)

    def _silence(self, start: int) -> None:
        now = self._now()
        self._user.silence(start - self._written, now - self._written)
        self._accepted = max(self._accepted, now)
        self._settle(now)

    def _settle(self, until: int) -> None:
        self._settled = max(self._settled, until)
        self._write()

    def _limit(self) -> None:
        """Write audio that has waited for too long; the user's is silenced unless it was accepted."""
        oldest = self._now() - round(HELD_S * RATE)
        if self._written < oldest:
            self._user.silence(self._accepted - self._written, oldest - self._written)
            self._settled = max(self._settled, oldest)
            self._write(at_least=oldest)

    def _write(self, *, at_least: int = 0) -> None:
        since = self._agent_since
        end = self._settled if since is None else max(min(self._settled, since), at_least)
        count = end - self._written
        if count <= 0 or self._stopped:
            return
        self._written = end
        both = array("h", bytes(4 * count))
        both[0::2], both[1::2] = self._user.take(count), self._agent.take(count)
        self._pending.append(both.tobytes())
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write_pending())

    async def _write_pending(self) -> None:
        try:
            while self._pending:
                due, self._pending = b"".join(self._pending), []
                await asyncio.to_thread(self._file.append, due)
        except OSError as error:  # the call goes on
            self._stopped = True
            self._pending.clear()
            logger.error("recording ended: %s", error.strerror or error)
        finally:
            self._writing = None

    async def _wait_for_write(self) -> None:
        if self._writing is not None:
            await asyncio.wait((self._writing,))


class RoomRecording:
    """Records a call until it ends, or its user refuses.

    Args:
        recorder: The recorder of the call; ``None`` if it is not recorded.
        kept: The recordings of the application's calls; ``None`` if calls are not recorded.
        refused: Called when the user has refused.
    """

    def __init__(
        self,
        recorder: CallRecorder | None,
        kept: Recordings | None,
        state_id: str,
        refused: Callable[[], None],
    ) -> None:
        self.recorder = recorder
        self._kept = kept
        self._state_id = state_id
        self._refused = refused
        self._deleting: asyncio.Task[None] | None = None

    @property
    def active(self) -> bool:
        """Whether the call is recorded."""
        return self.recorder is not None

    def announced(self) -> None:
        """The user has been told that the call is recorded."""
        if self.recorder is not None:
            self.recorder.announced()

    def refuse(self) -> None:
        """Stop recording, and delete the recordings of calls about this state."""
        recorder, self.recorder = self.recorder, None
        if recorder is not None:
            self._refused()
            self._deleting = asyncio.create_task(self._delete(recorder))

    async def aclose(self) -> None:
        """Write or delete the recording."""
        if self.recorder is not None:
            await self.recorder.aclose()
        if self._deleting is not None:
            await asyncio.wait((self._deleting,))

    async def _delete(self, recorder: CallRecorder) -> None:
        await recorder.delete()
        try:
            if self._kept is not None:
                await asyncio.to_thread(self._kept.forget, self._state_id)
        except OSError as error:
            logger.error("recording not deleted: %s", error.strerror)
