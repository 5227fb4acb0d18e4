"""Given words are said by the agent they are for: the user is handed over without a model's request."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from agents.handoff import BACK, Graph, HandedOver, Handoff, HandoffRefused, Said
from agents.testing import Conversation, ScriptedLLM, SpokenConversation, calls, says, until
from state.shared import Refused
from tests.agents.handoff.aloud import Aloud
from tests.agents.handoff.test_ending import Lost
from tests.agents.handoff.test_whole_writes import Gated
from tests.agents.hotel import AddNights, Bar, Concierge, Reception, Stay, hotel, hotel_graph


def spoken(talk: Conversation[Any, Any]) -> list[tuple[str, str, str | None]]:
    return [
        (event.agent, event.text, event.about) for event in talk.events if isinstance(event, Said)
    ]


def handed_over(talk: Conversation[Any, Any]) -> list[tuple[str, str]]:
    return [(event.source, event.target) for event in talk.events if isinstance(event, HandedOver)]


@pytest.mark.parametrize("kind", [Conversation, SpokenConversation])
async def test_the_agent_takes_over_and_says_them_and_no_model_is_asked(
    kind: type[Conversation[Stay, None]],
) -> None:
    model = ScriptedLLM([says("Good evening."), says("A cold one.")])

    async with kind(hotel(), model) as talk:
        talk.call.speak("The bar is open.", about="bar", by="bar")
        await talk.answered()
        assert len(model.requests) == 1
        turn = await talk.user_says("A beer")

    assert spoken(talk)[1:] == [("bar", "The bar is open.", "bar"), ("bar", "A cold one.", None)]
    assert handed_over(talk) == [("reception", "bar")]
    assert (talk.call.shared.speaker, len(turn.your_turns)) == ("bar", 1)
    assert ("assistant", "The bar is open.") in model.requests[-1].texts


async def test_several_handoffs_are_one_and_the_condition_of_the_last_one_counts() -> None:
    disk = Gated()
    async with Conversation(
        hotel(journal=disk, speaker="bar"), ScriptedLLM([says("A beer?")])
    ) as talk:
        talk.call.speak("There is a show.", by="concierge")
        await talk.answered()
        await talk.call.shared.apply(AddNights(nights=1), actor="page")
        talk.call.speak("There is another.", by="concierge")
        await talk.answered()

    assert spoken(talk)[1:] == [
        ("bar", "There is a show.", None),
        ("concierge", "There is another.", None),
    ]
    assert handed_over(talk) == [("bar", "concierge")]
    made = [one for row in disk.rows for one in row.commands if one["op"] == "hand_over"]
    assert [(one["source"], one["target"]) for one in made] == [("bar", "concierge")]


async def test_a_way_back_leads_past_the_agents_that_did_not_take_over_one_by_one() -> None:
    graph = Graph[Stay](
        (Reception, Concierge, Bar),
        (
            Handoff("reception", "bar", when="When the guest is thirsty."),
            Handoff("bar", "concierge", when="When the guest wants to go out."),
            Handoff("concierge", BACK, when="When nothing is left to say."),
        ),
        start="reception",
    )
    model = ScriptedLLM([says("Good evening."), calls("transfer_back"), says("A beer?")])
    async with Conversation(hotel(graph=graph), model) as talk:
        talk.call.speak("There is a show.", by="concierge")
        await talk.answered()
        await talk.user_says("No, thanks")

    assert handed_over(talk) == [("reception", "concierge"), ("concierge", "bar")]


@pytest.mark.parametrize("target", ["reception", "no_agent", "concierge"])
async def test_without_a_handoff_that_leads_there_the_active_agent_says_them(target: str) -> None:
    async with Conversation(hotel(), ScriptedLLM([says("Good evening.")])) as talk:
        talk.call.speak("It rains.", by=target)
        await talk.answered()

    assert spoken(talk)[1:] == [("reception", "It rains.", None)]
    assert handed_over(talk) == []


async def test_a_condition_that_fails_is_logged_and_the_active_agent_says_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fails(stay: Stay) -> Refused | None:
        raise RuntimeError("broken")

    first, *others = hotel_graph().handoffs
    edges = (replace(first, condition=fails), *others)
    graph = Graph[Stay]((Reception, Concierge, Bar), edges, start="reception")
    async with Conversation(hotel(graph=graph), ScriptedLLM([says("Good evening.")])) as talk:
        talk.call.speak("There is a show.", by="concierge")
        await talk.answered()

    assert spoken(talk)[1:] == [("reception", "There is a show.", None)]
    assert "handoff to concierge not made: a condition failed" in caplog.messages


async def test_while_an_agent_is_replying_no_other_takes_over() -> None:
    asked = asyncio.Event()
    model = ScriptedLLM([says("Good evening."), says("It rains.", until=asked)])

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("How is the weather?")
        await until(lambda: len(model.requests) == 2)
        talk.call.speak("The bar is open.", by="bar")
        asked.set()
        await talk.answered()

    assert [agent for agent, _, _ in spoken(talk)] == ["reception"] * 3
    assert handed_over(talk) == []


async def test_what_the_user_says_while_it_is_stored_is_answered_by_the_next_agent() -> None:
    disk = Gated()
    model = ScriptedLLM([says("Good evening."), says("A beer it is.")])

    async with Conversation(hotel(journal=disk), model) as talk:
        disk.gate.clear()
        talk.call.speak("The bar is open.", about="bar", by="bar")
        await until(lambda: disk.asked > 0)
        turn = talk.user_says_nowait("A beer, please")
        for _ in range(100):
            await asyncio.sleep(0)
        disk.gate.set()
        await talk.answered()

    assert spoken(talk)[1:] == [
        ("bar", "A beer it is.", None),
        ("bar", "The bar is open.", "bar"),
    ]
    assert len(model.requests) == 2
    assert len(turn.your_turns) == 1


@pytest.mark.parametrize("says_something", [False, True])
async def test_one_that_is_not_stored_did_not_happen_and_the_active_agent_says_them(
    says_something: bool, caplog: pytest.LogCaptureFixture
) -> None:
    disk = Gated()
    answer = [says("At nine.")] if says_something else []
    model = ScriptedLLM([says("Good evening."), *answer])

    async with Conversation(hotel(journal=disk), model) as talk:
        disk.gate.clear()
        disk.fails = True
        talk.call.speak("The bar is open.", by="bar")
        await until(lambda: disk.asked > 0)
        if says_something:
            talk.user_says_nowait("When is breakfast?")
        disk.gate.set()
        await until(lambda: not talk.call.handing_over)
        disk.fails = False
        await talk.answered()

    words = [text for _, text, _ in spoken(talk)[1:]]
    assert words == [*(["At nine."] if says_something else []), "The bar is open."]
    assert {agent for agent, _, _ in spoken(talk)} == {"reception"}
    assert handed_over(talk) == []
    refused = [event for event in talk.events if isinstance(event, HandoffRefused)]
    assert [(one.source, one.target) for one in refused] == [("reception", "bar")]
    assert talk.call.speaker == talk.call.active.name == "reception"
    assert "handoff not made" in caplog.messages


async def test_a_condition_that_no_longer_holds_when_it_is_stored_refuses_it() -> None:
    class Leave(AddNights):
        """Leave."""

        def apply(self, state: Stay, context: None) -> Stay:
            return state.model_copy(update={"nights": 0})

    disk = Gated()
    call = hotel(Stay(nights=1), journal=disk)
    async with Conversation(call, ScriptedLLM([says("Good evening.")])) as talk:
        disk.gate.clear()
        leaving = asyncio.create_task(call.shared.apply(Leave(nights=1), actor="page"))
        await until(lambda: disk.asked > 0)
        talk.call.speak("There is a show.", by="concierge")
        disk.gate.set()
        await leaving
        await until(lambda: not talk.call.handing_over)
        await talk.answered()

    assert spoken(talk)[1:] == [("reception", "There is a show.", None)]
    assert call.shared.speaker in (None, "reception")


async def test_while_the_user_is_speaking_the_active_agent_says_them() -> None:
    async with Aloud(ScriptedLLM([says("Good evening.")])) as talk:
        talk.call.user_speech.speaking = True
        talk.call.speak("The bar is open.", by="bar")
        talk.call.user_speech.speaking = False
        await talk.hears_out()
        await talk.call.answered()

    assert talk.of(HandedOver) == []


async def test_a_call_that_ends_meanwhile_stays_ended() -> None:
    disk = Gated()
    async with Conversation(hotel(journal=disk), ScriptedLLM([says("Good evening.")])) as talk:
        disk.gate.clear()
        talk.call.speak("The bar is open.", by="bar")
        await until(lambda: disk.asked > 0)
        talk.call.end("user_left")
        talk.call.hang_up()
        disk.gate.set()

    assert spoken(talk) == [("reception", "Good evening.", None)]


async def test_a_state_that_another_process_has_taken_over_hands_no_one_over() -> None:
    journal = Lost()
    async with Conversation(hotel(journal=journal), ScriptedLLM([says("Good evening.")])) as talk:
        journal.lost = True
        talk.call.speak("The bar is open.", by="bar")
        await talk.answered()

    assert handed_over(talk) == []
    assert talk.call.ended == "failed"
