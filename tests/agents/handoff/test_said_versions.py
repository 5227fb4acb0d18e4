"""Said tells which version of the state words were made from, and the topic of unprompted ones."""

import asyncio
from typing import Any

import pytest

from agents.handoff import Said
from agents.testing import Conversation, ScriptedLLM, SpokenConversation, calls, says, until
from tests.agents.handoff.aloud import Aloud
from tests.agents.hotel import AddNights, Stay, hotel

Spoken = tuple[str, int | None, str | None]


def spoken(talk: Conversation[Any, Any]) -> list[Spoken]:
    return [
        (event.text, event.version, event.about) for event in talk.events if isinstance(event, Said)
    ]


@pytest.mark.parametrize("kind", [Conversation, SpokenConversation])
async def test_a_reply_was_made_from_what_its_request_showed(
    kind: type[Conversation[Stay, None]],
) -> None:
    asked = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("add_nights", {"nights": 2}), say="One moment."),
            says("Two nights."),
            says("It rains.", until=asked),
        ]
    )

    async with kind(hotel(), model) as talk:
        await talk.user_says("Two nights")
        talk.user_says_nowait("How is the weather?")
        await until(lambda: len(model.requests) == 4)
        await talk.call.shared.apply(AddNights(nights=1), actor="page")
        asked.set()
        await talk.answered()

    assert spoken(talk) == [
        ("Good evening.", 0, None),
        ("One moment.", 0, None),
        ("Two nights.", 1, None),
        ("It rains.", 1, None),  # the page's change has not been spoken to
    ]


@pytest.mark.parametrize("kind", [Conversation, SpokenConversation])
async def test_unprompted_words_have_their_topic_and_version(
    kind: type[Conversation[Stay, None]],
) -> None:
    model = ScriptedLLM([says("Good evening."), says("Yes?")])

    async with kind(hotel(), model) as talk:
        await talk.call.shared.apply(AddNights(nights=1), actor="page")
        talk.call.speak("I see one night.", about="nights")
        talk.call.speak("The bar is open.", about="bar", version=0)
        talk.call.speak("That is all.")
        await talk.answered()
        await talk.user_says("Hello?")

    assert spoken(talk)[1:] == [
        ("I see one night.", 1, "nights"),
        ("The bar is open.", 0, "bar"),
        ("That is all.", None, None),
        ("Yes?", 1, None),
    ]


async def test_words_that_wait_for_the_next_agent_keep_theirs() -> None:
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar"), says("A beer?")])

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("A drink")
        await until(lambda: talk.call.handing_over)
        talk.call.speak("The lift is broken.", about="lift", version=0)
        await talk.answered()

    assert spoken(talk)[1:] == [("A beer?", 1, None), ("The lift is broken.", 0, "lift")]


async def test_words_that_were_cut_short_say_so_and_what_they_were_about() -> None:
    async with Aloud(ScriptedLLM([says("Good evening."), says("Yes?")])) as talk:
        talk.call.speak("I see that you have booked a night.", about="nights")
        await until(lambda: talk.speaker.playing)
        talk.call.user_said("Hello?")
        await until(lambda: not talk.speaker.playing)
        await talk.hears_out()
        await talk.call.answered()

    cut = [event for event in talk.of(Said) if event.interrupted]
    assert [(event.about, event.version) for event in cut] == [("nights", 0)]


@pytest.mark.parametrize("fails", [says("", error="gone"), says(" ")])
async def test_a_fallback_sentence_is_about_no_version(fails: Any) -> None:
    model = ScriptedLLM([says("Good evening."), fails])

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("Hello?")

    ((text, *basis),) = spoken(talk)[1:]
    assert text.strip() == talk.call.policy.trouble
    assert basis == [None, None]


async def test_nothing_is_kept_of_replies_that_are_over() -> None:
    model = ScriptedLLM([says("Good evening."), *(says("Yes.") for _ in range(5))])

    async with Conversation(hotel(), model) as talk:
        for _ in range(5):
            await talk.user_says("Hello?")
            talk.call.speak("Indeed.", about="x")
            await talk.answered()
        await until(lambda: not talk.call.turns.speeches)
        assert talk.call.replies._basis_of == {}
