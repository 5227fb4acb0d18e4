"""Where the time of a turn goes: the parts of an answer, from the user's last sound to the agent's first."""

import pytest

from agents.handoff import Latency, events
from agents.handoff.events import TurnClock
from agents.testing import Conversation, ScriptedLLM, SpokenConversation, calls, says
from tests.agents.hotel import hotel


class Time:
    """The loop's clock in a test's hands."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    clock = Time()
    monkeypatch.setattr(events, "_now", clock)
    return clock


def seconds(found: Latency | None) -> dict[str, float]:
    assert found is not None
    return {name: round(value, 6) for name, value in found.parts.items()}


def test_the_parts_of_a_spoken_turn_add_up(time: Time) -> None:
    clock = TurnClock()

    time.now = 110.0
    clock.speech_ended(0.5)  # reported when the detector was sure
    time.now = 109.8
    clock.transcribed()
    time.now = 110.1
    clock.accepted(spoken=True)
    time.now = 110.5
    clock.word()
    time.now = 110.6
    clock.word()
    clock.sound()
    time.now = 112.0
    clock.sound()

    assert seconds(clock.finished(3, "bar")) == {
        "transcript": 0.3,
        "endpointing": 0.3,
        "llm": 0.4,
        "tts": 0.1,
        "total": 1.1,
    }
    assert clock.finished(3, "bar") is None


def test_a_transcript_that_is_there_before_the_end_took_no_time(time: Time) -> None:
    clock = TurnClock()

    clock.transcribed()
    time.now = 100.2
    clock.speech_ended()
    time.now = 100.5
    clock.accepted(spoken=True)
    clock.word()

    assert seconds(clock.finished(1, "bar")) == {
        "transcript": 0.0,
        "endpointing": 0.3,
        "llm": 0.0,
        "total": 0.3,
    }


def test_what_is_written_has_no_transcript(time: Time) -> None:
    clock = TurnClock()
    clock.speech_ended()

    time.now = 105.0
    clock.accepted(spoken=False)
    time.now = 105.5
    clock.word()
    time.now = 106.0
    clock.sound()

    assert seconds(clock.finished(1, "bar")) == {"llm": 0.5, "tts": 0.5, "total": 1.0}


def test_words_that_answer_nothing_are_not_measured(time: Time) -> None:
    clock = TurnClock()

    clock.word()
    clock.sound()

    assert clock.finished(0, "bar") is None


async def test_a_spoken_answer_is_measured_to_its_first_sound() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("transfer_to_bar", {})),
            says("The bar is open.", delay=0.05),
        ]
    )

    async with SpokenConversation(hotel(), model) as talk:
        greeting = talk.call.turns.latency
        await talk.user_says("I am thirsty")
        took = talk.call.turns.latency

    assert greeting is None  # nobody had asked for it
    assert took is not None
    assert (took.turn, took.agent) == (1, "bar")
    assert [*took.parts] == ["transcript", "endpointing", "llm", "tts", "total"]
    assert took.parts["llm"] >= 0.05
    *parts, total = took.parts.values()
    assert sum(parts) == pytest.approx(total)


async def test_an_answer_in_text_is_measured_to_its_first_word() -> None:
    model = ScriptedLLM([says("Good evening."), says("Yes.", delay=0.05)])

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("is the bar open")
        took = talk.call.turns.latency

    assert took is not None
    assert [*took.parts] == ["llm", "total"]
    assert took.total == took.llm
