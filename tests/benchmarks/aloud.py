"""From a committed spoken turn to the first sound of the answer, beside plain livekit-agents in the same rounds.

Speech-to-text, model and text-to-speech answer at once, without a room: the time is livekit's and ours. Voice
detection and endpointing come before the commit and are no part of it.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence
from typing import Any

from livekit import rtc
from livekit.agents import AgentSession

from agents.handoff import start_speech
from agents.testing import Loudspeaker, Microphone, ScriptedSTT, Step, ToneTTS, quick_turns, says
from tests.agents.hotel import hotel
from tests.benchmarks.applications import handoff, text, tool
from tests.benchmarks.by_hand import hotel as hotel_by_hand
from tests.benchmarks.measuring import Samples, all_of, alternate, processor, ratio
from tests.benchmarks.played import PlayedLLM
from tests.benchmarks.report import Table, ms
from tests.benchmarks.sides import ByHand, GuestTurn, Ours, script

MOST_S = 0.35
"""Budget: what an answer may take from the committed turn to its first sound, in seconds, p95."""

MOST_RATIO = 1.05
PLAIN, OURS = "plain", "ours"
PUSH_TO_TALK = "push-to-talk"
KINDS = ("text", "tool", "handoff", PUSH_TO_TALK)
EACH = 4
_WARM = 1
"""How many of the first turns of a kind count for nothing."""

GREETING = says("Good evening.")


def _turns() -> tuple[GuestTurn, ...]:
    """Return the turns of one call, each kind in turn."""
    turns: list[GuestTurn] = []
    for at in range(EACH + _WARM):
        turns += [
            text("What do you have?", "We have a room for you, with a view."),
            tool("Two nights", "set_guest", "It is yours.", name="Ada"),
            handoff("And now?", "reception" if at % 2 else "bar", "Here I am."),
        ]
    return tuple(turns)


class Ear(Loudspeaker):
    """Plays at once, and knows when it was first given a sound since ``listens``."""

    def __init__(self) -> None:
        super().__init__()
        self.first: float | None = None

    def listens(self) -> float:
        """Wait for the next sound from now on; returns the time."""
        self.first = None
        return time.perf_counter()

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        if self.first is None:
            self.first = time.perf_counter()
        await super().capture_frame(frame)


class Devices:
    """What both sides hear and speak with."""

    def __init__(self) -> None:
        self.stt, self.tts = ScriptedSTT(), ToneTTS(character_s=0.002)
        self.microphone, self.ear = Microphone(), Ear()


class OursAloud(Ours):
    """A spoken call of this framework."""

    def __init__(self, steps: Sequence[Step], devices: Devices) -> None:
        super().__init__(hotel(), PlayedLLM(steps))
        self._devices = devices

    async def open(self) -> None:
        on = self._devices
        await start_speech(
            self.call,
            self.model,
            stt=on.stt,
            tts=on.tts,
            turns=quick_turns(),
            heard_after_s=0.001,
            microphone=on.microphone,
            loudspeaker=on.ear,
        )
        await self.call.answered()

    async def hears(self, words: str) -> None:
        number = self.call.turn + 1
        self._devices.stt.hears(words)
        await self.replied(number)

    async def pressed(self, words: str) -> float:
        """Say something by push-to-talk; returns when the turn was ended."""
        button, number = self.call.push_to_talk, self.call.turn + 1
        assert button is not None
        button.start()
        self._devices.stt.hears(words)
        start = self._devices.ear.listens()
        button.end()
        await self.replied(number)
        return start

    async def replied(self, number: int) -> None:
        """Wait until so many messages are answered."""
        while self.call.turn < number:  # noqa: ASYNC110  # livekit commits within some ticks
            await asyncio.sleep(0.001)
        await self.call.answered()


class ByHandAloud(ByHand):
    """A spoken session of hand-written agents, with the same turn handling."""

    def __init__(self, steps: Sequence[Step], devices: Devices) -> None:
        self._devices = devices
        super().__init__(hotel_by_hand.Reception(), hotel_by_hand.Stay(), PlayedLLM(steps))

    def session(self, **how: Any) -> AgentSession[Any]:
        on = self._devices
        session = super().session(**{**how, "turn_handling": quick_turns()}, stt=on.stt, tts=on.tts)
        session.input.audio, session.output.audio = on.microphone, on.ear
        return session

    def say(self, words: str) -> None:
        self._devices.stt.hears(words)


def measure(rounds: int) -> list[Table]:
    """Have the same spoken call on both sides, in turn."""
    results = asyncio.run(alternate(rounds, {PLAIN: _plain, OURS: _ours}))
    table = Table(
        "From a committed spoken turn to the first sound, ms",
        ("plain p50", "p95", "processor", "ours p50", "p95", "processor", "word", "sound", "ratio"),
        note="The hotel of the tests, its models answer at once, without a room. Before the commit come voice"
        " detection and endpointing; with push-to-talk nothing does, and 0.15 s of it are waited for sound on its way."
        " Word and sound: the median of its parts until the first word of the answer, and from there. Processor: what"
        " the whole turn took of it.",
        subject="First sound",
    )
    for kind in KINDS:
        _add(table, results, kind)
    return [table]


def _add(table: Table, results: list[dict[str, Samples]], kind: str) -> None:
    ours = all_of(results, OURS, kind)
    parts = [statistics.median(all_of(results, OURS, f"{kind}: {part}")) for part in _PARTS]
    plain: list[float] = []
    beside = None
    if kind != PUSH_TO_TALK:
        plain = all_of(results, PLAIN, kind)
        beside = round(ratio(results, OURS, PLAIN, kind).overall, 2)
    both = [_cells(taken, results, side, kind) for side, taken in ((PLAIN, plain), (OURS, ours))]
    table.add(
        f"{kind}, p95",
        *both[0],
        *both[1],
        *(ms(part, 1) for part in parts),
        "" if beside is None else f"{beside:.2f}",
        measured=round(_p95(ours) * 1000, 1),
        budget=MOST_S * 1000,
    )
    if beside is not None:
        table.add(
            f"{kind}, of plain", *[""] * 8, f"{beside:.2f}", measured=beside, budget=MOST_RATIO
        )


def _cells(
    taken: list[float], results: list[dict[str, Samples]], side: str, kind: str
) -> tuple[str, ...]:
    if not taken:
        return "", "", ""
    worked = statistics.median(all_of(results, side, processor(kind)))
    return ms(statistics.median(taken), 1), ms(_p95(taken), 1), ms(worked, 1)


def _p95(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=20, method="inclusive")[-1] if taken[1:] else taken[0]


_PARTS = ("word", "sound")


async def _plain() -> Samples:
    turns, devices = _turns(), Devices()
    side = ByHandAloud(script(GREETING, turns), devices)
    await side.open()
    times: Samples = {}
    for at, turn in enumerate(turns):
        start, worked = devices.ear.listens(), time.process_time()
        await side.hears(turn.words)
        _note(times, turn.kind, at, start, devices.ear, worked)
    _check(side.model)
    await side.close()
    return times


async def _ours() -> Samples:
    turns, devices = _turns(), Devices()
    pressed = tuple(
        GuestTurn(PUSH_TO_TALK, one.words, one.steps) for one in turns if one.kind == "text"
    )
    side = OursAloud(script(GREETING, (*turns, *pressed)), devices)
    await side.open()
    times: Samples = {}
    for at, turn in enumerate((*turns, *pressed)):
        start, worked = devices.ear.listens(), time.process_time()
        if turn.kind == PUSH_TO_TALK:
            start = await side.pressed(turn.words)
            at -= len(turns)
        else:
            await side.hears(turn.words)
        if _note(times, turn.kind, at, start, devices.ear, worked):
            latency = side.call.turns.latency
            assert latency is not None
            times.setdefault(f"{turn.kind}: word", []).append(latency.llm or 0.0)
            times.setdefault(f"{turn.kind}: sound", []).append(latency.tts or 0.0)
    _check(side.model)
    await side.close()
    return times


def _note(times: Samples, kind: str, at: int, start: float, ear: Ear, worked: float) -> bool:
    """Note a turn, unless it is one of the first of a call; returns whether it was noted.

    Raises:
        RuntimeError: It had no sound.
    """
    if ear.first is None:
        raise RuntimeError(f"a turn without a sound: {kind}")
    if at < _WARM * (1 if kind == PUSH_TO_TALK else 3):
        return False
    times.setdefault(kind, []).append(ear.first - start)
    times.setdefault(processor(kind), []).append(time.process_time() - worked)
    return True


def _check(model: PlayedLLM) -> None:
    if not model.over():
        raise RuntimeError("the model was not asked for all of its script")
