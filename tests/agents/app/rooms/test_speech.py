"""A call that is spoken, by the way of a job: the channel is seen, the media built, the order and the page told."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from livekit.agents.inference import TurnDetector

from agents.app.models.speech import SpeechModels
from agents.app.models.turn_taking import turn_taking
from agents.app.rooms.media import Media
from agents.app.settings import settings_of
from agents.handoff import turns_by
from agents.testing import ScriptedSTT, ToneTTS, ToneVAD
from tests.agents.app.rooms.conftest import Agent, Calls, Changed
from tests.livekit import LiveKit, is_turn, until
from tests.speaking import speaking

LINES = ("Hi, I am Ada", "Two large Margheritas, please")


def speech(voice: ToneTTS, lines: Sequence[str] = LINES) -> SpeechModels:
    """Speech models that need no key, and hear these lines."""
    stt, detector = ScriptedSTT(lines), ToneVAD()
    turns = turns_by(detector)
    turns["endpointing"] = {"mode": "fixed", "min_delay": 0.05, "max_delay": 0.5}
    return SpeechModels(stt, voice, detector, {}, turns, (stt, voice))


def answered(agent: Agent, turn: int) -> bool:
    """Whether the guest has said at least so much and it is their turn again.

    On a busy machine sound comes with gaps, and what is said at once is heard as two turns.
    """
    talk = agent.call._conversation
    return talk is not None and talk.call.turn >= turn and talk.call.turns.is_user_turn


@pytest.mark.parametrize(
    ("kind", "attributes", "channel"),
    [
        ("standard", {}, "web_voice"),
        ("sip", {"sip.phoneNumber": "+12125550123"}, "phone"),
    ],
)
async def test_a_guest_with_a_microphone_is_heard_and_spoken_to(
    calls: Calls,
    changed: Changed,
    livekit: LiveKit,
    room_name: str,
    kind: Any,
    attributes: dict[str, str],
    channel: str,
) -> None:
    voice = ToneTTS(character_s=0.004)
    house = changed(media=Media(lambda: speech(voice)))
    async with (
        livekit.joined(room_name, kind=kind, attributes=attributes) as guest,
        speaking(guest.room) as ada,
        calls.agent(room_name, house=house) as agent,
    ):
        await until(partial(answered, agent, 0), what="the greeting")
        assert ada.heard_s > 0.2
        for number in range(len(LINES)):
            await ada.says(number)
            await until(partial(answered, agent, number + 1), what="the answer")
        assert agent.call._conversation is not None
        state = agent.call._conversation.call.state
        if channel == "web_voice":
            await until(lambda: is_turn(guest, 2))
            kept = (await guest.call("get_transcript"))["lines"]
            live = [
                [one.text for one in guest.written if one.attributes["utterance"] == utterance]
                for utterance in (line["utterance"] for line in kept)
            ]
            assert [texts[-1] for texts in live] == [line["text"] for line in kept]
            for line, texts in zip(kept, live, strict=True):  # the user's words are guessed before
                assert line["speaker"] == "user" or len(texts) == 1

    assert state.channel == channel
    assert state.customer_name == "Ada"
    assert [(line.quantity, line.name) for line in state.order_items] == [(2, "Margherita")]
    assert state.phone == (attributes.get("sip.phoneNumber") or None)
    named = [
        one.attributes.get("active_agent") for one in guest.written if one.by != guest.identity
    ]
    assert [*dict.fromkeys(named)] == ["greeter", "order_taker"]
    if channel == "phone":
        assert guest.calls == []


async def test_words_shown_instead_of_spoken_name_their_own_utterance(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    voice = ToneTTS()
    voice.broken = True  # a moment of silence is played, and the words follow it
    house = changed(media=Media(lambda: speech(voice)))
    async with (
        livekit.joined(room_name) as guest,
        speaking(guest.room),
        calls.agent(room_name, house=house) as agent,
    ):
        await until(partial(answered, agent, 0), what="the greeting")
        assert agent.call._conversation is not None
        call = agent.call._conversation.call
        for text in ("Yes.", "Yes.", "It is.") * 3:
            call.speak(text)
        await until(lambda: guest.said[-1:] == ["It is."] and len(guest.said) > 9)
        await until(partial(answered, agent, 0))
        kept = (await guest.call("get_transcript"))["lines"]

    live = [(one.attributes["utterance"], one.text) for one in guest.written]
    assert [(line["utterance"], line["text"]) for line in kept] == live
    assert len({utterance for utterance, _ in live}) == len(kept)


async def test_a_reply_that_is_cut_short_is_kept_as_the_utterance_that_was_heard(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    house = changed(media=Media(lambda: speech(ToneTTS(character_s=0.05))))
    words = "We have " + ", ".join(f"pizza {number}" for number in range(40))
    async with (
        livekit.joined(room_name) as guest,
        speaking(guest.room) as ada,
        calls.agent(room_name, house=house) as agent,
    ):
        await until(partial(answered, agent, 0), what="the greeting")
        assert agent.call._conversation is not None
        heard_s = ada.heard_s
        agent.call._conversation.call.speak(words)
        await until(lambda: ada.heard_s > heard_s + 1)
        await guest.call("say", {"text": "stop"})
        await until(partial(answered, agent, 1), what="the answer")
        kept = (await guest.call("get_transcript"))["lines"]

    (cut,) = (line for line in kept if line["interrupted"])
    (live,) = (one for one in guest.written if one.attributes["utterance"] == cut["utterance"])
    assert 0 < len(cut["text"]) < len(words) / 2
    assert words.startswith(cut["text"])
    assert words.startswith(live.text)


async def test_the_turn_detector_judges_turns_without_a_key(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    chosen = settings_of("bella-vista").read(turn_detector="web", turn_max_delay="1")
    voice = ToneTTS(character_s=0.004)
    house = changed(media=Media(lambda: speech(voice), partial(turn_taking, chosen)))
    async with (
        livekit.joined(room_name) as guest,
        speaking(guest.room) as ada,
        calls.agent(room_name, house=house) as agent,
    ):
        await until(partial(answered, agent, 0), what="the greeting")
        await ada.says(0)
        await until(partial(answered, agent, 1), what="the answer")
        assert agent.call._conversation is not None
        detection = agent.call._conversation.call.session.turn_detection
        assert agent.call._conversation.call.state.customer_name == "Ada"

    assert isinstance(detection, TurnDetector)


async def test_a_guest_without_a_microphone_is_written_to(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    voice = ToneTTS()
    house = changed(media=Media(lambda: speech(voice)))
    async with livekit.joined(room_name) as guest, calls.agent(room_name, house=house):
        await guest.hello()
        await until(lambda: guest.said)
        assert (await guest.call("get_order_state"))["order"]["channel"] == "web_text"
    assert voice.spoken == []
