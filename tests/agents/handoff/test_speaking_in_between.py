"""Nothing the guest says is lost, whenever it is said."""

import asyncio
from typing import Any, Literal

import pytest
from livekit.agents.llm import LLMStream
from livekit.agents.voice import UserStateChangedEvent

from agents.handoff import (
    Action,
    Call,
    Event,
    Graph,
    Heard,
    Said,
    Tool,
    YourTurn,
    start_text,
    stop,
)
from agents.testing import (
    Conversation,
    ScriptedLLM,
    SpokenConversation,
    calls,
    says,
    until,
)
from state.shared import NotStored, SharedState
from tests.agents.handoff.raw_model import RawModel
from tests.agents.handoff.test_whole_writes import Gated
from tests.agents.hotel import HotelAgent, Stay, Telephone, hotel, hotel_graph


async def test_two_things_said_at_once_are_both_answered() -> None:
    model = ScriptedLLM([says("Good evening."), says("Broken off."), says("Both, yes.")])

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("A room")
        turn = talk.user_says_nowait("and a beer")
        await talk.answered()

    heard = " ".join(text for role, text in model.requests[-1].texts if role == "user")
    assert "A room" in heard
    assert "and a beer" in heard
    assert turn.said == ["Both, yes."]
    assert [notice.turn for notice in turn.your_turns] == [2]


async def test_ten_things_said_while_the_model_thinks_are_all_answered_together() -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([says("Good evening."), says("Too late.", until=gate), says("All of it.")])

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("word 0")
        await until(lambda: len(model.requests) == 2)
        for number in range(1, 9):
            talk.user_says_nowait(f"word {number}")
        turn = talk.user_says_nowait("word 9")
        await talk.answered()

    heard = " ".join(text for role, text in model.requests[-1].texts if role == "user")
    assert [f"word {number}" in heard for number in range(10)] == [True] * 10
    assert turn.said == ["All of it."]
    assert len(turn.your_turns) == 1


async def test_words_during_the_opening_break_it_off_and_are_answered_with_every_tool() -> None:
    gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_bar"),
            says("Never heard.", until=gate),
            says("A room? Let me bring you back."),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("I am thirsty")
        await until(lambda: len(model.requests) == 3)
        turn = talk.user_says_nowait("No, a room")
        await talk.answered()

    assert talk.call.speaker == "bar"
    assert turn.said == ["A room? Let me bring you back."]
    assert "transfer_to_reception" in model.requests[3].tools
    assert len(turn.your_turns) == 1


async def test_words_during_the_greeting_are_answered() -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([says("Never heard.", until=gate), says("A room, gladly.")])
    call = hotel()
    events: list[Event] = []
    call.subscribe(events.append)
    await start_text(call, model)
    await until(lambda: len(model.requests) == 1)
    call.user_said("A room")
    await call.answered()
    await stop(call)

    assert ("user", "A room") in model.requests[1].texts
    assert [event.turn for event in events if isinstance(event, YourTurn)] == [1]


async def test_words_before_the_first_voice_has_entered_are_answered_once_it_has_greeted() -> None:
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar"), says("A cold one.")])
    call = hotel()
    events: list[Event] = []
    call.subscribe(events.append)
    call.user_said("A beer")
    await start_text(call, model)
    await call.answered()
    await stop(call)

    assert ("user", "A beer") not in model.requests[0].texts
    assert ("user", "A beer") in model.requests[1].texts
    assert [event.text for event in events if isinstance(event, Said)] == [
        "Good evening.",
        "A cold one.",
    ]
    assert [event.turn for event in events if isinstance(event, YourTurn)] == [1]
    model.finished()


async def test_words_while_a_tool_works_are_answered_after_it() -> None:
    Telephone.gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_concierge"),
            says("Yes?"),
            calls("telephone"),
            says("Seats, and a taxi."),
        ]
    )

    async with Conversation(hotel(Stay(nights=1)), model) as talk:
        await talk.user_says("I want to go out")
        talk.user_says_nowait("Ask the theatre")
        await until(lambda: len(model.requests) == 4)
        for _ in range(20):
            await asyncio.sleep(0)
        turn = talk.user_says_nowait("And a taxi")
        Telephone.gate.set()
        await talk.answered()
    Telephone.gate = None

    assert ("output", "The theatre has seats.") in model.requests[-1].texts
    assert turn.said == ["Seats, and a taxi."]
    assert len(turn.your_turns) == 1


async def test_words_while_a_handoff_is_written_down_go_to_the_next_voice() -> None:
    journal = Gated()
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar"), says("A cold one.")])

    async with Conversation(hotel(journal=journal), model) as talk:
        journal.gate.clear()
        talk.user_says_nowait("I am thirsty")
        await until(lambda: bool(journal.asked))
        turn = talk.user_says_nowait("A cold beer")
        for _ in range(20):
            await asyncio.sleep(0)
        journal.gate.set()
        await talk.answered()

    assert talk.call.speaker == "bar"
    assert ("user", "A cold beer") in model.requests[2].texts
    assert turn.said == ["A cold one."]
    assert len(turn.your_turns) == 1


async def test_words_while_a_handoff_fails_to_be_written_down_are_answered_by_the_old_voice() -> (
    None
):
    journal = Gated()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_bar"),
            says("Please stay here."),
            says("I will get you one."),
            calls("transfer_to_bar"),
            says("Now it is me."),
        ]
    )

    async with Conversation(hotel(journal=journal), model) as talk:
        journal.gate.clear()
        talk.user_says_nowait("I am thirsty")
        await until(lambda: bool(journal.asked))
        journal.fails = True
        turn = talk.user_says_nowait("A cold beer")
        for _ in range(20):
            await asyncio.sleep(0)
        journal.gate.set()
        await talk.answered()
        speaker = talk.call.speaker
        journal.fails = False
        again = await talk.user_says("To the bar")

    assert NotStored("").code in str(turn.refused)
    assert speaker == "reception"
    assert turn.said == ["Please stay here.", "I will get you one."]
    assert ("user", "A cold beer") in model.requests[3].texts
    assert len(turn.your_turns) == 1
    assert again.handoffs == [("reception", "bar")]


async def test_a_listener_may_speak_for_the_guest_and_all_hear_the_events_in_one_order() -> None:
    model = ScriptedLLM([says("Good evening."), says("It is 120.")])
    call = hotel()
    said_it: list[int] = []

    def speak(event: Event) -> None:
        if isinstance(event, YourTurn) and event.turn == 0:
            said_it.append(call.user_said("What is it?"))

    call.subscribe(speak)
    seen: list[Event] = []
    call.subscribe(seen.append)
    await start_text(call, model)
    await until(lambda: len(model.requests) == 2)
    await call.answered()
    await stop(call)

    told = [event for event in seen if isinstance(event, Heard | YourTurn)]
    assert [type(event) for event in told] == [YourTurn, Heard, YourTurn]
    assert [event.turn for event in told] == [0, 1, 1]
    assert said_it == [1]


async def test_waiters_for_the_turn_keep_waiting_when_a_listener_speaks_at_once() -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([says("Good evening.", until=gate), says("It is 120.")])
    call = hotel()

    def speak(event: Event) -> None:
        if isinstance(event, YourTurn) and event.turn == 0:
            call.user_said("What is it?")

    call.subscribe(speak)
    await start_text(call, model)
    waiting = asyncio.create_task(call.answered())
    await until(lambda: len(model.requests) == 1)
    gate.set()
    await waiting
    turn = call.turn
    given = call.turns.is_user_turn
    await stop(call)

    assert (turn, given) == (1, True)


async def test_all_waiters_for_the_turn_are_notified() -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([says("Good evening."), says("It is 120.", until=gate)])

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("What is it?")
        gone = asyncio.create_task(talk.call.answered())
        waiting = [asyncio.create_task(talk.call.answered()) for _ in range(3)]
        await asyncio.sleep(0)
        gone.cancel()
        gate.set()
        await asyncio.gather(*waiting)

    assert gone.cancelled()


async def test_what_is_said_unasked_during_a_handoff_is_said_by_the_next_voice() -> None:
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar"), says("A beer?")])

    async with Conversation(hotel(), model) as talk:
        turn = talk.user_says_nowait("I am thirsty")
        await until(lambda: talk.call.handing_over)
        talk.call.speak("The kitchen closes in ten minutes.")
        talk.call.user_said("Quickly")
        await talk.answered()
        await talk.answered()

    assert sorted(turn.said) == ["A beer?", "The kitchen closes in ten minutes."]
    assert {event.agent for event in turn.events if isinstance(event, Said)} == {"bar"}
    assert len(model.requests) == 3


async def test_words_whose_reply_was_broken_off_by_no_new_words_are_answered_all_the_same() -> None:
    model = ScriptedLLM(
        [says("Good evening."), says("Broken off.", until=asyncio.Event()), says("It is 120.")]
    )

    async with Conversation(hotel(), model) as talk:
        turn = talk.user_says_nowait("What does a night cost?")
        await until(lambda: len(model.requests) == 2)
        await talk.call.session.interrupt()
        await talk.answered()

    assert turn.said == ["It is 120."]
    assert [notice.turn for notice in turn.your_turns] == [1]


async def test_a_turn_that_ends_without_new_words_has_those_before_it_answered() -> None:
    model = ScriptedLLM(
        [says("Good evening."), says("Broken off.", until=asyncio.Event()), says("It is 120.")]
    )

    async with Conversation(hotel(), model) as talk:
        turn, speech = talk.user_says_nowait("What does a night cost?"), talk.call.user_speech
        await until(lambda: len(model.requests) == 2)
        speech.interim_transcript("Hm")
        speech.state_changed(UserStateChangedEvent(old_state="listening", new_state="speaking"))
        await talk.call.session.interrupt()
        speech.state_changed(UserStateChangedEvent(old_state="speaking", new_state="listening"))
        speech.turn_ended("")
        await talk.answered()

    assert turn.said == ["It is 120."]
    assert [notice.turn for notice in turn.your_turns] == [1]


async def test_first_words_that_were_cut_short_lead_the_next_answer() -> None:
    first = "The line was cut."
    call = Call(SharedState(Stay(), None), hotel_graph(), preamble=first)
    model = Hasty(call)

    async with Conversation(call, model) as talk:
        await talk.answered()
        call.user_said("And for two?")
        await talk.answered()

    assert [
        event.text for turn in talk.turns for event in turn.events if isinstance(event, Said)
    ] == [
        f"{first} It is 120.",
        "It is 120.",
    ]


class Hasty(RawModel):
    """A model at whose first request the guest speaks on."""

    def __init__(self, call: Call[Stay, None]) -> None:
        super().__init__(["Where were we?"])
        self._call = call

    def chat(self, **asked: Any) -> LLMStream:
        if self._call.turn == 0:
            self._call.user_said("What does it cost?")
        else:
            self.replies = [("It is 120.",)]
        return super().chat(**asked)


class Announce(Action):
    """Announce something to the guest."""

    op: Literal["announce"] = "announce"

    async def run(self, call: Call[Any, Any]) -> str:
        spoken = asyncio.Event()
        sentence = "The bar closes in five minutes."
        leave = call.subscribe(
            lambda event: (
                spoken.set() if isinstance(event, Said) and event.text == sentence else None
            )
        )
        call.speak(sentence)
        await spoken.wait()  # still at work when the sentence is spoken
        leave()
        return "Announced."


class Announcer(HotelAgent):
    name = "bar"
    offers: tuple[Tool, ...] = (Announce,)


@pytest.mark.parametrize("kind", [Conversation, SpokenConversation])
@pytest.mark.parametrize("together", [True, False])
async def test_what_a_tool_has_an_agent_say_is_said_verbatim_and_costs_no_request(
    kind: type[Conversation[Stay, None]], *, together: bool
) -> None:
    graph = Graph((Announcer,), (), start="bar")
    made = ["announce", "announce"] if together else ["announce"]
    model = ScriptedLLM([says("Good evening."), calls(*made), says("Anything else?")])

    async with kind(hotel(graph=graph), model) as talk:
        await talk.user_says("When do you close?")
        said = [event.text for event in talk.events if isinstance(event, Said)]

    assert sorted(said[1:]) == sorted(
        ["Anything else?", *(["The bar closes in five minutes."] * len(made))]
    )
