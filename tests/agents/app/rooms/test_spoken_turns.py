"""Ways a spoken turn can go wrong: real audio in a real room, the real plugins and voice detection, providers' stand-ins."""

import asyncio
import gc
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import aiohttp
import numpy as np
import pytest
from livekit import rtc
from livekit.agents.llm import LLM, ChatContext, ChatMessage

from agents.app.models.openai import openai_model
from agents.app.models.speech import speech_models
from agents.app.rooms.media import Media
from agents.app.rooms.silence import SilencePolicy
from agents.app.words import Words
from agents.handoff import (
    Call,
    Event,
    Heard,
    MicrophoneMode,
    Said,
    TurnWithdrawn,
    YourTurn,
    start_speech,
    stop,
)
from agents.testing import ScriptedLLM, Step, calls, says
from agents.testing.providers import Answer, Providers, Speech, Utterance
from agents.testing.providers.script import Provider
from agents.testing.scripted import PlayedLLM
from bella_vista.settings import Settings
from tests.agents.app.rooms.conftest import Calls
from tests.agents.hotel import Stay, Telephone, hotel
from tests.livekit import LiveKit, until
from tests.sounds import RATE, silence, spoken
from tests.speaking import QUIET_S, Speaking, speaking

pytestmark = [
    pytest.mark.usefixtures("clean_folder"),
    # The plugins leave connections that a server has closed to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

KEY = "a-key-of-the-tests"
GREETING = says("Good evening.")
BOOKS = (calls(("add_nights", {"nights": 2})), says("Two nights."))
LONG = "Apples and bread and cheese and dates and eggs and figs and grapes and honey and lemons."
LONG_S = 6.0
LONGEST_SILENCE_S = 3.0
HELD_TURN_S = 1.0
"""How long the words of a held turn may take at most, in seconds; less than is waited for late ones."""

NIGHTS, COST = "two nights please", "what does it cost"


@dataclass
class Spoken:
    """A call that is spoken, its guest, and everything that was told about it."""

    call: Call[Stay, None]
    ada: Speaking
    server: Providers
    livekit: LiveKit
    room_name: str
    events: list[Event] = field(default_factory=list)

    async def says(self, text: str = NIGHTS) -> None:
        """Say something; the stand-in hears what its scenario has next."""
        await self.ada.plays(spoken(text), RATE)

    async def hears(self, seconds: float = 1.0) -> None:
        """Wait until so much more of the agent's voice is heard, in seconds of sound."""
        enough = self.ada.heard_s + seconds
        await until(lambda: self.ada.heard_s > enough, what="an agent's voice")

    async def is_turn(self, turn: int) -> None:
        """Wait until so many messages are answered, and the turn notice has come back."""

        def back() -> bool:
            notices = [one.turn for one in self.events if isinstance(one, YourTurn)]
            return notices[-1:] == [turn] and self.call.turns.is_user_turn

        await until(back, what=f"the guest's turn {turn}")

    @property
    def heard(self) -> list[str]:
        return [one.text for one in self.events if isinstance(one, Heard)]

    @property
    def said(self) -> list[str]:
        return [one.text for one in self.events if isinstance(one, Said)]

    @property
    def cut_short(self) -> list[str]:
        """The words before each interruption."""
        return [one.text for one in self.events if isinstance(one, Said) and one.interrupted]

    @property
    def history(self) -> str:
        """The agents' words as their models are shown them."""
        items = self.call.session.current_agent.chat_ctx.items
        return "\n".join(
            one.text_content or ""
            for one in items
            if isinstance(one, ChatMessage) and one.role == "assistant"
        )


@dataclass(frozen=True)
class Cell:
    """One way a turn can go.

    Args:
        script: The model's replies.
        hears: What the provider makes of each utterance.
        plays: What happens.
        turns: How many messages are answered at the end.
        speaks: How the provider speaks each text.
        heard: The messages that are accepted; those of ``hears`` by default.
        nights: The nights booked at the end.
        agent: The agent that is active at the end.
        unheard: A word that was never heard, and is in no history.
        second_per_character: How fast the provider speaks.
        quiet_s: How much silence ends an utterance, in seconds.
    """

    script: Sequence[Step]
    hears: Sequence[Utterance | str]
    plays: Callable[[Spoken], Awaitable[None]]
    turns: int
    speaks: Sequence[Speech] = ()
    heard: Sequence[str] | None = None
    nights: int = 2
    agent: str = "reception"
    unheard: str = ""
    second_per_character: float = 0.02
    quiet_s: float = QUIET_S


async def one_turn(there: Spoken) -> None:
    await there.is_turn(0)
    await there.says()


async def one_turn_aloud(there: Spoken) -> None:
    await one_turn(there)
    await there.is_turn(1)
    assert there.call.policy.cannot_speak not in there.said


async def asked_again(there: Spoken) -> None:
    await one_turn(there)
    again = there.call.policy.say_again
    await until(lambda: again in there.said, what="the agent asking again")
    await there.is_turn(0)
    await there.says()


async def in_a_word(there: Spoken) -> None:
    await one_turn(there)
    await there.hears()
    await there.says(COST)


async def in_a_later_word(there: Spoken) -> None:
    await one_turn(there)
    await there.hears(2.0)
    await there.says(COST)


async def in_the_opening(there: Spoken) -> None:
    await there.hears()
    await there.says()


async def before_a_word(there: Spoken) -> None:
    await one_turn(there)
    texts = there.server.asked
    await until(lambda: any("Two" in one.body.get("transcript", "") for one in texts))
    await there.says(COST)


async def in_a_tool(there: Spoken) -> None:
    Telephone.gate = asyncio.Event()
    try:
        await one_turn(there)
        await until(lambda: there.call.turn == 1, what="the first message")
        await there.says(COST)
        Telephone.gate.set()
        await until(lambda: there.call.turn == 2, what="the second message")
    finally:
        Telephone.gate = None


async def after_the_last_word(there: Spoken) -> None:
    await one_turn(there)
    await there.hears(0.1)
    await until(lambda: not there.ada.hears, what="the end of the answer")
    await there.ada.plays(words_of(COST), RATE)


async def over_the_answer(there: Spoken, sound: bytes) -> None:
    await one_turn(there)
    await there.hears()
    await there.ada.plays(sound, RATE)


async def a_short_sound(there: Spoken) -> None:
    await over_the_answer(there, spoken("mm"))


async def a_longer_sound(there: Spoken) -> None:
    await over_the_answer(there, spoken("oh well then"))


async def somebody_else_speaks(there: Spoken) -> None:
    await there.is_turn(0)
    async with there.livekit.joined(there.room_name) as other, speaking(other.room) as eve:
        await eve.plays(spoken(COST), RATE)
        await there.says()


async def deaf_in_the_opening(there: Spoken) -> None:
    await there.hears(0.2)
    await there.server.break_off("deepgram")
    await one_turn(there)


async def deaf_in_an_answer(there: Spoken) -> None:
    await one_turn(there)
    await there.hears(0.2)
    await there.server.break_off("deepgram")
    await there.is_turn(1)
    await there.says(COST)


async def deaf_in_a_handoff(there: Spoken) -> None:
    await one_turn(there)
    await until(lambda: there.call.turn == 1, what="the first message")
    await there.server.break_off("deepgram")
    await there.is_turn(1)
    await there.says(COST)


async def mute_between_answers(there: Spoken) -> None:
    await there.is_turn(0)
    await there.server.break_off("cartesia")
    await there.says()


def has_said(there: Spoken, texts: Sequence[str]) -> bool:
    """Whether the agents have said this since the greeting, and no more."""
    return there.said[1:] == [*texts]


async def deaf_by_both(there: Spoken) -> None:
    await there.is_turn(0)
    there.server.refuses.update({"deepgram": 500, "openai": 500})
    await there.server.break_off("deepgram")
    told = [there.call.policy.say_again, there.call.policy.cannot_hear]
    for count in (1, 2):
        await there.says()
        await until(partial(has_said, there, told[:count]), what=told[count - 1])
        await there.is_turn(0)
    await there.says()
    await until(lambda: not there.call.user_speech.awaiting_transcript, what="the end of the wait")
    there.call.user_said(NIGHTS)
    await there.is_turn(1)
    assert there.said[1:] == [*told, "Two nights."]
    there.server.refuses.clear()
    await there.says(COST)


async def mute_by_both(there: Spoken) -> None:
    await there.is_turn(0)
    there.server.refuses.update({"cartesia": 500, "openai": 500})
    await there.server.break_off("cartesia")
    await there.says()
    await there.is_turn(1)
    assert there.said.count(there.call.policy.cannot_speak) == 1
    await there.says(COST)


async def mute_in_a_tool(there: Spoken, refused: Mapping[Provider, int]) -> None:
    Telephone.gate = asyncio.Event()
    try:
        await there.is_turn(0)
        await there.says()
        await until(lambda: there.call.turn == 1, what="the first message")
        there.server.refuses.update(refused)
        await there.server.break_off("cartesia")
        Telephone.gate.set()
        await there.is_turn(1)
    finally:
        Telephone.gate = None
    assert there.said.count(there.call.policy.cannot_speak) == bool(refused)


async def microphone_off_and_on(there: Spoken) -> None:
    await there.is_turn(0)
    (mine,) = there.ada.room.local_participant.track_publications.values()
    assert isinstance(mine.track, rtc.LocalAudioTrack)
    mine.track.mute()
    await there.says(COST)
    mine.track.unmute()
    await there.says()


async def typed_over_speech(there: Spoken) -> None:
    await there.is_turn(0)
    talking = asyncio.create_task(there.ada.plays(spoken(LONG) * 4, RATE))
    await until(lambda: there.call.user_speech.speaking, what="the guest's speech")
    there.call.user_said(NIGHTS)
    await until(lambda: "Two nights." in there.said, what="the answer")
    assert not talking.done()
    await talking


CELLS = {
    "interrupted in a word": Cell(
        (GREETING, BOOKS[0], says(LONG), says("A lot.")),
        (NIGHTS, COST),
        in_a_word,
        2,
        speaks=(Speech(), Speech(seconds=LONG_S)),
        unheard="lemons",
    ),
    "interrupted in a word of a slow voice whose audio is not complete": Cell(
        (GREETING, BOOKS[0], says(LONG), says("A lot.")),
        (NIGHTS, COST),
        in_a_later_word,
        2,
        speaks=(Speech(), Speech(ends="nothing")),
        second_per_character=0.2,
        unheard="dates",
    ),
    "interrupted in the opening": Cell(
        (says(LONG), *BOOKS),
        (NIGHTS,),
        in_the_opening,
        1,
        speaks=(Speech(seconds=LONG_S),),
        unheard="lemons",
    ),
    "interrupted before a word": Cell(
        (GREETING, *BOOKS, says("A lot.")),
        (NIGHTS, COST),
        before_a_word,
        2,
        speaks=(Speech(), Speech(delay_s=4.0, seconds=1.0)),
        unheard="Two nights",
    ),
    "interrupted in a handoff": Cell(
        (GREETING, calls("transfer_to_bar"), says(LONG), says("Water.")),
        (NIGHTS, COST),
        in_a_word,
        2,
        speaks=(Speech(), Speech(seconds=LONG_S)),
        nights=0,
        agent="bar",
        unheard="lemons",
    ),
    "speech in a tool": Cell(
        (
            GREETING,
            BOOKS[0],
            calls("transfer_to_concierge"),
            calls("telephone"),
            says("There are seats."),
            says("A lot."),
        ),
        (NIGHTS, COST),
        in_a_tool,
        2,
        agent="concierge",
    ),
    "speech-to-text fails in an utterance": Cell(
        (GREETING, *BOOKS),
        # The fallback hears the second sentence, and Deepgram's stream that tests its recovery.
        (Utterance(text="lost", closes=1011), NIGHTS, NIGHTS),
        asked_again,
        1,
        heard=(NIGHTS,),
    ),
    "no final transcript of an utterance": Cell(
        (GREETING, *BOOKS),
        (Utterance(text="lost", interim=("two",), finals=0), NIGHTS),
        asked_again,
        1,
        heard=(NIGHTS,),
    ),
    "the microphone is off and on": Cell((GREETING, *BOOKS), (NIGHTS,), microphone_off_and_on, 1),
    "a very long and late transcript with interim words that are taken back": Cell(
        (GREETING, *BOOKS),
        (Utterance(text="two nights " * 200, interim=("no night", "two"), delay_s=1.0),),
        one_turn,
        1,
        heard=(("two nights " * 200).strip(),),
    ),
    "typed while the microphone hears speech": Cell(
        (GREETING, *BOOKS),
        [Utterance(text="lost", finals=0)] * 10,
        typed_over_speech,
        1,
        heard=(NIGHTS,),
    ),
    "the voice dies before a word": Cell(
        (GREETING, *BOOKS),
        (NIGHTS,),
        one_turn_aloud,
        1,
        speaks=(Speech(), Speech(seconds=0.0, ends="error")),
    ),
    "speech right after the last word": Cell(
        (GREETING, *BOOKS, says("A lot.")), (NIGHTS, COST), after_the_last_word, 2
    ),
    "mhm in an answer": Cell(
        (GREETING, BOOKS[0], says(LONG)),
        (NIGHTS, Utterance(text="Mhm.", interim=("mhm",))),
        a_short_sound,
        1,
        speaks=(Speech(), Speech(seconds=LONG_S)),
        heard=(NIGHTS,),
    ),
    "no in an answer": Cell(
        (GREETING, BOOKS[0], says(LONG), says("Figs, too.")),
        (NIGHTS, "no"),
        a_short_sound,
        2,
        speaks=(Speech(), Speech(seconds=LONG_S)),
        unheard="lemons",
    ),
    "a short sound in an answer": Cell(
        (GREETING, BOOKS[0], says(LONG)),
        (NIGHTS, Utterance(text="lost", finals=0)),
        a_short_sound,
        1,
        speaks=(Speech(), Speech(seconds=3.0)),
        heard=(NIGHTS,),
    ),
    "a longer sound without words in an answer": Cell(
        (GREETING, BOOKS[0], says(LONG)),
        (NIGHTS, Utterance(text="lost", finals=0)),
        a_longer_sound,
        1,
        speaks=(Speech(), Speech(seconds=3.0)),
        heard=(NIGHTS,),
    ),
    "somebody else in the room speaks": Cell(
        (GREETING, *BOOKS), (NIGHTS,), somebody_else_speaks, 1
    ),
    "speech-to-text fails in the opening": Cell(
        (says(LONG), *BOOKS),
        (NIGHTS, NIGHTS),
        deaf_in_the_opening,
        1,
        speaks=(Speech(seconds=1.0),),
        heard=(NIGHTS,),
    ),
    "speech-to-text fails in an answer": Cell(
        (GREETING, BOOKS[0], says(LONG), says("A lot.")),
        (NIGHTS, COST, COST),
        deaf_in_an_answer,
        2,
        speaks=(Speech(), Speech(seconds=1.0)),
        heard=(NIGHTS, COST),
    ),
    "speech-to-text fails in a handoff": Cell(
        (GREETING, calls("transfer_to_bar", delay=1.0), says("Red or white?"), says("Ten.")),
        (NIGHTS, COST, COST),
        deaf_in_a_handoff,
        2,
        heard=(NIGHTS, COST),
        nights=0,
        agent="bar",
    ),
    "the voice dies in a handoff": Cell(
        (GREETING, calls("transfer_to_bar"), says("Red or white?")),
        (NIGHTS,),
        one_turn_aloud,
        1,
        speaks=(Speech(), Speech(seconds=0.0, ends="closed")),
        nights=0,
        agent="bar",
    ),
    "the voice's connection is lost between answers": Cell(
        (GREETING, *BOOKS), (NIGHTS,), mute_between_answers, 1
    ),
    "speech-to-text and its fallback refuse": Cell(
        (GREETING, *BOOKS, says("A lot.")),
        (COST,) * 2,
        deaf_by_both,
        2,
        heard=(NIGHTS, COST),
    ),
    "the voice and its fallback refuse": Cell(
        (GREETING, *BOOKS, says("A lot.")), (NIGHTS, COST), mute_by_both, 2
    ),
    "the voice dies in a tool": Cell(
        (
            GREETING,
            BOOKS[0],
            calls("transfer_to_concierge"),
            calls("telephone", say="One moment."),
            says("There are seats."),
        ),
        (NIGHTS,),
        partial(mute_in_a_tool, refused={}),
        1,
        agent="concierge",
    ),
    "the voice and its fallback refuse in a tool": Cell(
        (
            GREETING,
            BOOKS[0],
            calls("transfer_to_concierge"),
            calls("telephone", say="One moment."),
            says("There are seats."),
        ),
        (NIGHTS,),
        partial(mute_in_a_tool, refused={"cartesia": 500, "openai": 500}),
        1,
        agent="concierge",
    ),
    "the voice dies in a reply with a tool": Cell(
        (GREETING, calls(("add_nights", {"nights": 2}), say=LONG), says("Two nights.")),
        (NIGHTS,),
        one_turn_aloud,
        1,
        speaks=(Speech(), Speech(seconds=1.0, ends="closed")),
    ),
}


def settings_with(
    server: Providers,
    monkeypatch: pytest.MonkeyPatch,
    others: Mapping[str, str | None] = MappingProxyType({}),
) -> Settings:
    """Return the settings of speech by these providers, with a fallback each."""
    for name in ("DEEPGRAM_API_KEY", "CARTESIA_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    usual = {
        "stt_base_url": server.url,
        "tts_base_url": server.url,
        "stt_fallback": "openai",
        "tts_fallback": "openai",
    }
    return Settings.read(**{**usual, **others})


@asynccontextmanager
async def call_of(
    cell: Cell,
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
    model: LLM[Any] | None = None,
    *,
    microphone_mode: MicrophoneMode = "open",
    others: Mapping[str, str | None] | None = None,
) -> AsyncIterator[Spoken]:
    """Have the hotel's call in a room, spoken through the providers with a fallback each.

    Args:
        cell: What is said.
        livekit: The server.
        room_name: The room.
        monkeypatch: Sets the keys.
        model: The language model; the cell's script without it.
        microphone_mode: The microphone's mode at first.
        others: Other settings of speech.
    """
    async with AsyncExitStack() as stack:
        stack.callback(gc.collect)  # the mark of this module is for its own tests only
        server = await stack.enter_async_context(
            Providers(
                hears=cell.hears,
                speaks=cell.speaks,
                key=KEY,
                second_per_character=cell.second_per_character,
                quiet_s=cell.quiet_s,
            ).running()
        )
        settings = settings_with(server, monkeypatch, others or {})
        http = await stack.enter_async_context(aiohttp.ClientSession())
        speech = speech_models(settings, http=http)
        assert speech is not None
        assert speech.stt is not None
        stack.push_async_callback(speech.aclose)
        guest = await stack.enter_async_context(livekit.joined(room_name))
        ada = await stack.enter_async_context(speaking(guest.room))
        room = rtc.Room()
        await room.connect(livekit.url, livekit.token(room_name, "agent", kind="agent"))
        stack.push_async_callback(room.disconnect)
        there = Spoken(hotel(), ada, server, livekit, room_name)
        there.call.subscribe(there.events.append)
        await start_speech(
            there.call,
            model or ScriptedLLM(list(cell.script)),
            stt=speech.stt,
            tts=speech.tts,
            vad=speech.vad,
            turns=speech.turns,
            room=room,
            user_identity=guest.identity,
            microphone_mode=microphone_mode,
        )
        stack.push_async_callback(stop, there.call)
        yield there


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
async def test_a_spoken_turn_keeps_the_promises(
    cell: Cell, livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with call_of(cell, livekit, room_name, monkeypatch) as there:
        await cell.plays(there)
        await there.is_turn(cell.turns)
        # On a busy machine sound comes after the notice.
        await until(lambda: there.ada.heard_s > 0.2, what="an agent's voice")
        state, notice, history = there.call.state, there.events[-1], there.history

    texts = [one if isinstance(one, str) else one.text for one in cell.hears]
    assert there.heard == list(texts if cell.heard is None else cell.heard)
    assert isinstance(notice, YourTurn)
    assert (state.nights, notice.agent) == (cell.nights, cell.agent)
    assert bool(there.cut_short) is bool(cell.unheard and cell.plays is not before_a_word)
    if cell.unheard:
        assert not re.search(rf"\b{cell.unheard}\b", history), history
        assert cell.unheard not in "".join(there.cut_short)
    elif cell.plays is not in_a_tool:  # there one reply may answer both messages
        assert [one.say for one in cell.script if one.say not in (None, *there.said)] == []
    assert not given_twice(there.events)
    assert there.server.faults == []


def given_twice(events: Sequence[Event]) -> bool:
    """Whether the guest was given the same turn twice without a withdrawal between."""
    told = [one for one in events if isinstance(one, YourTurn | TurnWithdrawn)]
    pairs = zip(told, told[1:], strict=False)
    return any(
        isinstance(one, YourTurn) and isinstance(two, YourTurn) and one.turn == two.turn
        for one, two in pairs
    )


class Books(PlayedLLM):
    """Books two nights when they are asked for, and has one answer to everything else."""

    @property
    def model(self) -> str:
        return "books"

    def step(
        self, chat_ctx: ChatContext, offered: Sequence[str], settings: Mapping[str, object]
    ) -> tuple[str, Step]:
        named = any(NIGHTS in (one.text_content or "") for one in chat_ctx.messages())
        booked = any(one.type == "function_call" for one in chat_ctx.items)
        return uuid4().hex, BOOKS[0] if named and not booked else says("A lot.")


@pytest.mark.parametrize("pause_s", [0.3, 0.7])
async def test_two_sentences_are_answered_whether_or_not_the_pause_ends_a_turn(
    livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch, pause_s: float
) -> None:
    sound = words_of(NIGHTS) + silence(pause_s) + words_of(COST)
    cell = Cell((), (NIGHTS, COST), one_turn, 1, quiet_s=0.2)
    async with call_of(cell, livekit, room_name, monkeypatch, Books()) as there:
        await there.is_turn(0)
        await there.ada.plays(sound, RATE)
        await until(lambda: " ".join(there.heard) == f"{NIGHTS} {COST}", what="both sentences")
        await there.is_turn(len(there.heard))
        state = there.call.state

    assert state.nights == 2
    assert there.said[-1] == "A lot."
    if pause_s < 0.5:
        assert len(there.heard) == 1
    assert not given_twice(there.events)
    assert there.server.faults == []


def words_of(text: str) -> bytes:
    """Return what a voice says, without the silence around it."""
    samples = np.frombuffer(spoken(text), np.int16)
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > 500)
    return samples[loud[0] : loud[-1]].tobytes()


@pytest.mark.parametrize(
    ("provider", "fallback"), [("deepgram", "openai"), ("deepgram", None), ("openai", None)]
)
async def test_a_held_turn_is_answered_at_once_and_nothing_else_is_heard(
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    fallback: str | None,
) -> None:
    others: dict[str, str | None] = {"stt": provider, "stt_fallback": fallback}
    if provider == "openai":
        others["stt_base_url"] = None
    # The end of a held turn sends 0.8 s of silence at once; no gap of a busy machine is as long.
    cell = Cell((GREETING, *BOOKS), (NIGHTS,), one_turn, 1, quiet_s=0.7)
    accepted: list[float] = []
    async with call_of(
        cell, livekit, room_name, monkeypatch, microphone_mode="push_to_talk", others=others
    ) as there:
        there.call.subscribe(
            lambda event: accepted.append(time.monotonic()) if isinstance(event, Heard) else None
        )
        button = there.call.push_to_talk
        assert button is not None
        await there.is_turn(0)
        # The room delays sound on a busy machine: what was said before is not to arrive after the start.
        await there.ada.plays(words_of(COST), RATE, pause_s=1.0)
        button.start()
        await there.ada.plays(words_of(NIGHTS), RATE, pause_s=0.0)
        ended = time.monotonic()
        button.end()
        await there.ada.plays(words_of(COST), RATE, pause_s=0.0)
        await there.is_turn(1)

    assert there.heard == [NIGHTS]
    assert accepted[0] - ended < HELD_TURN_S, accepted[0] - ended
    assert there.server.faults == []


async def test_the_rest_of_an_answer_whose_voice_dies_in_a_word_is_spoken_by_the_fallback(
    livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    speaks = (Speech(), Speech(seconds=1.0, ends="closed"), Speech(seconds=1.5))
    cell = Cell((GREETING, BOOKS[0], says(LONG)), (NIGHTS,), one_turn, 1, speaks=speaks)
    async with call_of(cell, livekit, room_name, monkeypatch) as there:
        await there.is_turn(0)
        greeted_s = there.ada.heard_s
        await there.says()
        await there.is_turn(1)
        await until(lambda: there.ada.heard_s > greeted_s + 2.2, what="the whole answer")

    (rest,) = [one.body["input"] for one in there.server.asked if one.path.endswith("/speech")]
    assert LONG.endswith(rest)
    assert len(rest) < len(LONG)
    assert there.said == ["Good evening.", LONG]
    assert there.server.faults == []


async def test_a_guest_who_waits_hears_a_tone_until_the_answer_begins(
    livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = Cell((GREETING, says("Two nights.", delay=6.0)), (NIGHTS,), one_turn, 1)
    async with call_of(cell, livekit, room_name, monkeypatch) as there:
        await there.is_turn(0)
        before = len(there.ada.sounds)
        await there.says()
        said = time.monotonic()
        await there.is_turn(1)
        sounds = there.ada.sounds[before:]

    silences = [
        begun - over
        for (begun, _), over in zip(sounds, [said, *(end for _, end in sounds[:-1])], strict=True)
    ]
    assert len(sounds) > 2, there.ada.what_happened()
    assert max(silences) < LONGEST_SILENCE_S, there.ada.what_happened()
    assert there.said == ["Good evening.", "Two nights."]
    assert there.server.faults == []


async def test_a_user_of_a_language_model_that_refuses_is_told_so_aloud_until_it_is_back(
    livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = (Answer(say="Good evening."), Answer(say="A lot."))
    cell = Cell((), (NIGHTS, COST), one_turn, 2)
    async with Providers(replies, key=KEY).running() as provider:
        settings = Settings.read(
            model="openai", openai_api_key=KEY, openai_base_url=provider.openai_url
        )
        model = openai_model(settings, None)
        async with aclosing(model), call_of(cell, livekit, room_name, monkeypatch, model) as there:
            await there.is_turn(0)
            provider.refuses["openai"] = 500
            heard_s = there.ada.heard_s
            await there.says()
            await there.is_turn(1)
            await until(lambda: there.ada.heard_s > heard_s + 0.5, what="an agent's voice")
            provider.refuses.clear()
            await there.says(COST)
            await there.is_turn(2)

    assert there.said == ["Good evening.", there.call.policy.trouble, "A lot."]
    assert there.heard == [NIGHTS, COST]
    assert there.server.faults == provider.faults == []


@pytest.fixture
def rooms(calls: Calls) -> Calls:  # ``calls`` is a step of a script here
    """The restaurant's calls."""
    return calls


async def test_a_silent_guest_is_asked_aloud(
    rooms: Calls, livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        Providers(key=KEY, second_per_character=0.005).running() as server,
        aiohttp.ClientSession() as http,
    ):
        made = speech_models(settings_with(server, monkeypatch), http=http)
        assert made is not None
        house = replace(
            rooms.house,
            media=Media(lambda: made),
            silence={"web_voice": SilencePolicy(0.5, reminders=1, end_after_s=60.0)},
        )
        async with (
            livekit.joined(room_name) as guest,
            speaking(guest.room) as ada,
            rooms.agent(room_name, house=house),
        ):
            await until(lambda: guest.turns, what="the guest's turn")
            greeted_s = ada.heard_s
            await until(lambda: Words().still_there in guest.said, what="the question")
            await until(lambda: ada.heard_s > greeted_s, what="an agent's voice")
    gc.collect()
    assert server.faults == []


async def test_what_is_wrong_with_the_sound_is_told_in_the_log_once(
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    fine = np.frombuffer(spoken(NIGHTS), np.int16).astype(np.int32)
    clipped = np.clip(40 * fine, -32_768, 32_767).astype(np.int16).tobytes()
    cell = Cell((GREETING, *[says("Yes.")] * 3), (NIGHTS,) * 3, one_turn, 3)
    async with call_of(cell, livekit, room_name, monkeypatch) as there:
        for turn, sound in enumerate((spoken(NIGHTS), clipped, clipped)):
            await there.is_turn(turn)
            assert ("clipped" in caplog.text) is (turn > 1)
            await there.ada.plays(sound, RATE)
        await there.is_turn(3)

    told = [one.getMessage() for one in caplog.records if "user's sound" in one.getMessage()]
    assert told == [
        "the user's sound is clipped: turn the microphone down, or speak from farther away"
    ]
