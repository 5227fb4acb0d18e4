"""Ways a spoken turn can go wrong: real audio in a real room, the real plugins and voice detection, providers' stand-ins."""

import asyncio
import gc
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import numpy as np
import pytest
from livekit import rtc
from livekit.agents.llm import ChatMessage

from agents.app.models.speech import speech_models
from agents.handoff import Call, Event, Heard, Said, YourTurn, start_speech, stop
from agents.testing import ScriptedLLM, Step, calls, says
from agents.testing.providers import Providers, Speech, Utterance
from bella_vista.settings import Settings
from tests.agents.hotel import Stay, Telephone, hotel
from tests.livekit import LiveKit, until
from tests.sounds import RATE, spoken
from tests.speaking import Speaking, speaking

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


async def one_turn(there: Spoken) -> None:
    await there.is_turn(0)
    await there.says()


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


async def microphone_off_and_on(there: Spoken) -> None:
    await there.is_turn(0)
    (mine,) = there.ada.room.local_participant.track_publications.values()
    assert isinstance(mine.track, rtc.LocalAudioTrack)
    mine.track.mute()
    await there.says(COST)
    mine.track.unmute()
    await there.says()


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
    "the microphone is off and on": Cell((GREETING, *BOOKS), (NIGHTS,), microphone_off_and_on, 1),
    "a very long and late transcript with interim words that are taken back": Cell(
        (GREETING, *BOOKS),
        (Utterance(text="two nights " * 200, interim=("no night", "two"), delay_s=1.0),),
        one_turn,
        1,
        heard=(("two nights " * 200).strip(),),
    ),
    "the voice dies before a word": Cell(
        (GREETING, *BOOKS),
        (NIGHTS,),
        one_turn,
        1,
        speaks=(Speech(), Speech(seconds=0.0, ends="error")),
    ),
}


@asynccontextmanager
async def call_of(
    cell: Cell, livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Spoken]:
    """Have the hotel's call in a room, spoken through the providers with a fallback each."""
    async with AsyncExitStack() as stack:
        stack.callback(gc.collect)  # the mark of this module is for its own tests only
        server = await stack.enter_async_context(
            Providers(
                hears=cell.hears,
                speaks=cell.speaks,
                key=KEY,
                second_per_character=cell.second_per_character,
            ).running()
        )
        for name in ("DEEPGRAM_API_KEY", "CARTESIA_API_KEY", "OPENAI_API_KEY"):
            monkeypatch.setenv(name, KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        settings = Settings.read(
            stt_base_url=server.url,
            tts_base_url=server.url,
            stt_fallback="openai",
            tts_fallback="openai",
        )
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
            ScriptedLLM(list(cell.script)),
            stt=speech.stt,
            tts=speech.tts,
            vad=speech.vad,
            turns=speech.turns,
            room=room,
            user_identity=guest.identity,
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
        state, notice, history = there.call.state, there.events[-1], there.history

    texts = [one if isinstance(one, str) else one.text for one in cell.hears]
    assert there.heard == list(texts if cell.heard is None else cell.heard)
    assert isinstance(notice, YourTurn)
    assert (state.nights, notice.agent) == (cell.nights, cell.agent)
    assert bool(there.cut_short) is bool(cell.unheard and cell.plays is not before_a_word)
    if cell.unheard:
        assert not re.search(rf"\b{cell.unheard}\b", history), history
        assert cell.unheard not in "".join(there.cut_short)
    assert there.server.faults == []
    assert there.ada.heard_s > 0.2


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
