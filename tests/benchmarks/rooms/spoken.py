"""Many spoken calls at once, each in a process of one machine's worker: gaps in what guests hear, processor, memory.

Run as a module it is the stand-in of the providers, in a process of its own.
"""

import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from livekit import rtc

from agents.app.livekit_server import HOW_TO_GET, find_program
from agents.testing.providers import Answer, Providers, Speech, says
from tests.agents.app.serving.processes import descendants
from tests.benchmarks.measuring import Spread
from tests.benchmarks.memory import KIB, proportional
from tests.benchmarks.report import Table
from tests.benchmarks.rooms.deployment import AS_IT_IS, Deployment, Place, deployed
from tests.benchmarks.rooms.processes import Running, started, worked_by
from tests.sounds import RATE, pieces, silence, spoken

MOST_GAP_S = 0.06

ASKED = "Two nights please"
ANSWER = "We have a table for you by the window this evening. Would you like to see the menu first?"
TEXT_S = 3.0
"""How long the sound of each text is that text-to-speech is given: a reply is a multiple of it."""

_PIECE_S, _BLOCK_S = 0.1, 0.01
_LOUD = 1000
_AT_A_TIME = 2
_READY = "ready on port "


@dataclass(frozen=True)
class SpokenCalls:
    """How many calls are spoken at once.

    Args:
        calls: How many.
        turns: What each guest says, in messages.
    """

    calls: int
    turns: int


class Guest:
    """A guest who speaks, and keeps how loud each hundredth of a second was that they heard.

    Args:
        place: Their room.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.heard: list[float] = []
        """The amplitude of each hundredth of a second, by the clock of the sound: what came late came all the same."""
        self._source = rtc.AudioSource(RATE, 1, queue_size_ms=200)
        self._says: asyncio.Queue[bytes] = asyncio.Queue()

    @asynccontextmanager
    async def on_air(self) -> AsyncIterator[None]:
        """Switch the microphone and the loudspeaker on for a while."""
        room = self.place.guest.room
        track = rtc.LocalAudioTrack.create_audio_track("microphone", self._source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        await room.local_participant.publish_track(track, options)
        agent = room.remote_participants[self.place.agent]
        work = [asyncio.create_task(one) for one in (self._speak(), self._listen(agent))]
        try:
            yield
        finally:
            for one in work:
                one.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            await self._source.aclose()

    async def asks(self, turn: int) -> Sequence[float]:
        """Say something and hear all of the answer; returns how loud each hundredth of a second of it was."""
        before = len(self.heard)
        self._says.put_nowait(spoken(ASKED) + silence(0.8))
        await self.place.guest.is_given(turn)
        await asyncio.sleep(0.5)  # what the loudspeaker still has to play
        return self.heard[before:]

    async def _speak(self) -> None:
        while True:
            sound = silence(_PIECE_S) if self._says.empty() else self._says.get_nowait()
            for piece in pieces(sound, _PIECE_S):
                await self._source.capture_frame(rtc.AudioFrame(piece, RATE, 1, len(piece) // 2))

    async def _listen(self, agent: rtc.RemoteParticipant) -> None:
        stream = rtc.AudioStream.from_participant(
            participant=agent,
            track_source=rtc.TrackSource.SOURCE_MICROPHONE,
            sample_rate=RATE,
            num_channels=1,
            frame_size_ms=round(_PIECE_S * 1000),
        )
        try:
            async for event in stream:
                samples = np.abs(np.frombuffer(event.frame.data, np.int16).astype(np.int32))
                self.heard += samples.reshape(-1, int(RATE * _BLOCK_S)).max(axis=1).tolist()
        finally:
            await stream.aclose()


def gaps(heard: Sequence[float]) -> tuple[float, float]:
    """Return a reply's longest silence, and how much longer it took than its sound is, in seconds.

    What is lost or late is concealed with the sound before it for a while: that is no silence, and makes the
    reply longer.

    >>> gaps([0, 0] + [9000] * 150 + [0] * 7 + [9000] * 152 + [0])
    (0.07, 0.09)
    """
    loud = np.flatnonzero(np.array(heard) > _LOUD)
    if not len(loud):
        raise RuntimeError("a reply without a sound")
    length = (loud[-1] + 1 - loud[0]) * _BLOCK_S
    texts = max(1, round(length / TEXT_S))
    longest = max(np.diff(loud) - 1, default=0) * _BLOCK_S
    return round(float(longest), 3), round(float(length - texts * TEXT_S), 3)


def measure(plan: SpokenCalls) -> list[Table]:
    """Hold so many spoken calls at once, if there is all that it takes."""
    program = find_program()
    if program is None or shutil.which("flite") is None:
        missing = "no flite" if program else f"no LiveKit server ({HOW_TO_GET})"
        return [Table(f"Spoken calls were left out: there is {missing} here", ())]
    many = str(plan.calls)
    with (
        stand_ins(plan.calls * (plan.turns + 1)) as (ours, settings),
        deployed(
            program, AS_IT_IS, **settings, BELLA_VISTA_CALLS=many, BELLA_VISTA_IDLE=many
        ) as deployment,
    ):
        return [asyncio.run(_measured(deployment, ours, plan))]


@contextmanager
def stand_ins(replies: int) -> Iterator[tuple[Running, dict[str, str]]]:
    """Run the providers' stand-ins for so many replies; gives their process, and a worker's settings for them."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "providers.log"
        with started(("-m", __name__, str(replies)), os.environ, log) as running:
            asyncio.run(running.says(_READY))
            url = "http://127.0.0.1:" + running.lines[-1].removeprefix(_READY)
            keys = ("OPENAI_API_KEY", "DEEPGRAM_API_KEY", "CARTESIA_API_KEY")
            yield (
                running,
                {
                    "OPENAI_BASE_URL": f"{url}/v1",
                    "BELLA_VISTA_STT_BASE_URL": url,
                    "BELLA_VISTA_TTS_BASE_URL": url,
                    "BELLA_VISTA_MODEL": "openai",
                    **dict.fromkeys(keys, "any"),
                },
            )


async def _measured(deployment: Deployment, providers: Running, plan: SpokenCalls) -> Table:
    """Hold the calls, and look at them in their last moment."""
    async with AsyncExitStack() as stack:
        gate = asyncio.Semaphore(_AT_A_TIME)

        async def joined() -> Guest:
            async with gate:
                place = await stack.enter_async_context(deployment.place(channel="web_voice"))
                guest = Guest(place)
                await stack.enter_async_context(guest.on_air())
                return guest

        guests = await asyncio.gather(*(joined() for _ in range(plan.calls)))
        calls = {guest.place.process for guest in guests}
        tree = {deployment.worker.pid, *descendants(deployment.worker.pid)}
        others = descendants(os.getpid()) - tree - {providers.pid}
        busy = {
            "a call's process": calls,
            "the worker, for all calls": tree - calls,
            "the LiveKit server, for all calls": others,
            "the providers' stand-ins": {providers.pid},
            "the guests": {os.getpid()},
        }
        before, begun = {name: worked_by(of) for name, of in busy.items()}, time.monotonic()
        replies = await asyncio.gather(*(_talk(guest, plan.turns) for guest in guests))
        lasted = time.monotonic() - begun
        took = {name: worked_by(of) - before[name] for name, of in busy.items()}
        memory = Spread.of([proportional(pid) / KIB**2 for pid in calls])
    table = Table(
        f"{plan.calls} spoken calls at once",
        ("median", "p99", "most"),
        note=f"Each call has a process of its own on one machine's worker. Each guest says {plan.turns} times the same"
        f" sentence, spoken by flite, as soon as the answer to the last is over; all begin in the same moment. Each answer is"
        f" two texts of {TEXT_S:g} s of sound. The real plugins, voice detection and all of the framework are at work;"
        " the providers' stand-ins answer at once. A silence is in what the guest's jitter buffer gives, later than"
        " its sound is how much longer an answer lasted than its sound, what was concealed included. Processor is in"
        " seconds for each second; the guests and the stand-ins, on the same cores, are no part of a deployment.",
        subject="Spoken calls",
    )
    answers = [one for each in replies for one in each]
    missing = plan.calls * plan.turns - len(answers)
    table.add("turns without an answer", str(missing), "", "", measured=missing, budget=0)
    if not answers:
        return table
    silent, late = zip(*map(gaps, answers), strict=True)
    _add(table, "the longest silence in an answer, ms", silent, MOST_GAP_S)
    _add(table, "an answer later than its sound, ms", late, None)
    for name, seconds in took.items():
        each = seconds / lasted / (len(calls) if name == "a call's process" else 1)
        table.add(f"processor of {name}", f"{each:.3f}", "", "")
    table.add("memory of a call's process (PSS), MiB", *_cells(memory, 0))
    return table


async def _talk(guest: Guest, turns: int) -> list[Sequence[float]]:
    """Return the answers up to the first that did not come."""
    answers: list[Sequence[float]] = []
    with suppress(TimeoutError):
        for turn in range(1, turns + 1):
            answers.append(await guest.asks(turn))
    return answers


def _add(table: Table, name: str, taken: Sequence[float], most_s: float | None) -> None:
    spread = Spread.of([one * 1000 for one in taken])
    budget = None if most_s is None else most_s * 1000
    measured = None if most_s is None else round(spread.most)
    table.add(name, *_cells(spread, 0), measured=measured, budget=budget)


def _cells(spread: Spread, places: int) -> tuple[str, ...]:
    return tuple(f"{one:.{places}f}" for one in (spread.median, spread.p99, spread.most))


async def _stand_in(replies: int) -> None:
    """Stand in for the providers of so many replies until killed."""
    hears, speaks = [ASKED] * replies, [Speech(seconds=TEXT_S)] * (replies * 4)
    async with Providers(_answer, hears=hears, speaks=speaks).running() as server:
        sys.stderr.write(f"{_READY}{server.port}\n")
        sys.stderr.flush()
        await asyncio.Event().wait()


def _answer(request: dict[str, Any]) -> Answer:
    return says(ANSWER)


if __name__ == "__main__":
    asyncio.run(_stand_in(int(sys.argv[1])))
