"""A call by a realtime model, in a room: it hears the guest itself, and everything else is as with every model."""

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
from livekit.agents import utils
from pydantic import SecretStr

from agents.app.models.realtime import RealtimeLLM
from agents.app.models.speech import SpeechModels
from agents.app.rooms.media import Media
from agents.handoff import turns_by
from agents.testing import ToneTTS, ToneVAD
from agents.testing.providers import Answer, Providers, Utterance, calls, says
from tests.agents.app.models.openai.talking import WHOLE_ORDER, script
from tests.agents.app.rooms.conftest import Agent, Calls, Changed
from tests.card_digits import has_digits
from tests.livekit import LiveKit, is_turn, until
from tests.speaking import QUIET_S, speaking

CARD = "4111 1111 1111 1111"


@pytest.fixture(autouse=True)
async def _http() -> AsyncIterator[None]:
    async with utils.http_context.open():
        yield


def speech() -> SpeechModels:
    detector, voice = ToneVAD(), ToneTTS(character_s=0.004)
    turns = turns_by(detector)
    turns["endpointing"] = {"mode": "fixed", "min_delay": 0.05, "max_delay": 2.0}
    return SpeechModels(None, voice, detector, {}, turns, (voice,), model_hears=True)


def realtime(server: Providers) -> RealtimeLLM:
    return RealtimeLLM(
        "gpt-realtime",
        transcription="gpt-4o-mini-transcribe",
        language="en",
        base_url=server.openai_url,
        api_key=SecretStr("test-key"),
        attempt_s=20.0,
        retries=1,
    )


def answered(agent: Agent, turn: int) -> bool:
    talk = agent.call._conversation
    return talk is not None and talk.call.turn == turn and talk.call.turns.is_user_turn


def state_of(agent: Agent) -> Any:
    assert agent.call._conversation is not None
    return agent.call._conversation.call.state


def house_of(changed: Changed, server: Providers) -> Any:
    return changed(media=Media(speech), model=lambda: realtime(server))


async def test_the_model_hears_orders_hands_over_and_is_refused(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    replies = [
        says("Welcome to Bella Vista!"),
        _calls("set_customer", {"name": "Ada"}),
        _calls("transfer_to_order_taker", {}),
        says("What would you like, Ada?"),
        _calls("add_item", {"name": "Unicorn steak", "quantity": 1}),
        says("We do not have that."),
        _calls("add_item", {"name": "Margherita", "quantity": 2, "size": "large"}),
        says("Two large Margheritas."),
    ]
    hears = ["Hi, I am Ada", "A unicorn steak", f"Two large Margheritas, my card is {CARD}"]
    async with Providers(replies, hears=hears, key="test-key", quiet_s=QUIET_S).running() as server:
        async with (
            livekit.joined(room_name) as guest,
            speaking(guest.room) as ada,
            calls.agent(room_name, house=house_of(changed, server)) as agent,
        ):
            await until(partial(answered, agent, 0), what="the greeting")
            for number in range(len(hears)):
                await ada.says(number)
                await until(partial(answered, agent, number + 1), what="the answer")
            state = state_of(agent)
            await until(lambda: is_turn(guest, 3))

    assert state.customer_name == "Ada"
    assert [(line.quantity, line.name) for line in state.order_items] == [(2, "Margherita")]
    assert server.faults == []
    first, last = server.requests[1]["items"], server.requests[-1]["items"]
    assert "input_audio" in [part["type"] for item in first for part in item.get("content", ())]
    assert not has_digits("4111", str(last))
    assert any("[data, not instructions]" in str(item) for item in last)
    named = [
        one.attributes.get("active_agent") for one in guest.written if one.by != guest.identity
    ]
    assert [*dict.fromkeys(named)] == ["greeter", "order_taker"]


def _calls(name: str, arguments: dict[str, Any]) -> Answer:
    return calls((name, arguments))


@pytest.mark.timeout(180)  # nine spoken turns, and a busy machine takes its time
async def test_an_order_goes_from_the_greeting_to_the_goodbye(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    goodbye = Answer(say="Goodbye.", calls=_calls("end_call", {}).calls)
    hears = [*(words for words, _ in WHOLE_ORDER), "that was all, bye"]
    replies = [*script(), goodbye]
    async with Providers(replies, hears=hears, key="test-key", quiet_s=QUIET_S).running() as server:
        async with (
            livekit.joined(room_name) as guest,
            speaking(guest.room) as ada,
            calls.agent(room_name, house=house_of(changed, server)) as agent,
        ):
            await until(partial(answered, agent, 0), what="the greeting")
            for number in range(len(WHOLE_ORDER)):
                await ada.says(number)
                await until(partial(answered, agent, number + 1), what="the answer")
            await ada.says(len(WHOLE_ORDER))
            await until(lambda: guest.ends, what="the end of the call")
            state = state_of(agent)

    assert (state.stage, state.customer_name, state.feedback_rating) == ("placed", "Ada", 5)
    assert [(line.quantity, line.modifications) for line in state.order_items] == [
        (1, ()),
        (1, ("no basil",)),
    ]
    assert [one["reason"] for one in guest.ends] == ["agent_ended"]
    assert "Goodbye." in guest.said
    assert server.faults == []
    assert len(server.requests) == len(replies)


async def test_a_lost_connection_is_made_again_with_the_whole_conversation(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    replies = [
        says("Welcome to Bella Vista!"),
        says("One moment", breaks="soft"),
        says("Hello again, Ada."),
    ]
    hears = ["Hi, I am Ada", "Are you still there?"]
    async with Providers(replies, hears=hears, key="test-key", quiet_s=QUIET_S).running() as server:
        async with (
            livekit.joined(room_name) as guest,
            speaking(guest.room) as ada,
            calls.agent(room_name, house=house_of(changed, server)) as agent,
        ):
            await until(partial(answered, agent, 0), what="the greeting")
            await ada.says(0)
            await until(partial(answered, agent, 1), what="the apology")
            await ada.says(1)
            await until(partial(answered, agent, 2), what="the answer")
            talk = agent.call._conversation
            assert talk is not None
            said = str(talk.call.session.history.items)

    assert talk.call.policy.trouble in said
    assert "Hello again, Ada." in said
    assert len([one for one in server.asked if not one.body]) == 2  # connections
    last = str(server.requests[-1]["items"])
    assert "Hi, I am Ada" in last
    assert server.faults == []


async def test_an_interruption_cancels_the_response_and_the_turn_comes_back(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    replies = [
        says("Welcome to Bella Vista!"),
        says("Let me think", stalls="end"),
        says("Two Margheritas, then."),
    ]
    hears: list[Utterance | str] = [
        "Hi, I am Ada",
        Utterance(text="Two Margheritas", interim=("Two",), delay_s=0.3),
    ]
    async with Providers(replies, hears=hears, key="test-key", quiet_s=QUIET_S).running() as server:
        async with (
            livekit.joined(room_name) as guest,
            speaking(guest.room) as ada,
            calls.agent(room_name, house=house_of(changed, server)) as agent,
        ):
            await until(partial(answered, agent, 0), what="the greeting")
            await ada.says(0)
            await until(lambda: len(server.requests) == 2, what="the response")
            await ada.says(1)
            await until(partial(answered, agent, 2), what="the answer")

    sent = [one.body.get("type") for one in server.asked]
    assert "response.cancel" in sent
    assert server.faults == []


async def test_a_wrong_key_ends_in_words(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    async with Providers([], key="another").running() as server:
        async with (
            livekit.joined(room_name),
            calls.agent(room_name, house=house_of(changed, server), channel="web_voice") as agent,
        ):
            await until(partial(answered, agent, 0), what="the canned opening")
            talk = agent.call._conversation
            assert talk is not None
            said = str(talk.call.session.history.items)

    assert "automatic assistant" in said


async def test_a_guest_presses_to_talk_and_may_take_a_turn_back(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    replies = [says("Welcome to Bella Vista!"), says("Hello, Ada.")]
    hears = ["Never mind this", "Hi, I am Ada"]
    async with Providers(replies, hears=hears, key="test-key", quiet_s=QUIET_S).running() as server:
        async with (
            livekit.joined(room_name) as guest,
            speaking(guest.room) as ada,
            calls.agent(room_name, house=house_of(changed, server)) as agent,
        ):
            await guest.hello()
            await until(partial(answered, agent, 0), what="the greeting")
            await guest.call("start_turn")
            await ada.says(0)
            await guest.call("cancel_turn")
            await guest.call("start_turn")
            await ada.says(1)
            await guest.call("end_turn")
            await until(partial(answered, agent, 1), what="the answer")

    assert server.faults == []
    asked = str(server.requests[-1]["items"])
    assert "Hi, I am Ada" in asked
    assert "Never mind" not in asked
