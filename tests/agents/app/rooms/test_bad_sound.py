"""Sound without words that are understood, in a real room with local speech: it orders nothing, and typing works beside it."""

from functools import partial
from pathlib import Path

import numpy as np

from agents.app.local_speech.language_models import language_models
from agents.app.local_speech.local_stt import LocalSTT
from agents.app.models.speech import SpeechModels, load_vad
from agents.app.rooms.media import Media
from agents.handoff import Event, Heard, Said, turns_by
from agents.testing import ToneTTS
from tests.agents.app.rooms.conftest import Calls, Changed
from tests.agents.app.rooms.test_speech import answered
from tests.livekit import LiveKit, until
from tests.sounds import RATE, silence, spoken_in
from tests.speaking import speaking

TYPED = "Two large Margheritas, please"
SENTENCES = [TYPED, "yes please", "no thank you", "that is all", "hello, my name is Sarah"]
SECONDS = np.arange(2 * RATE) / RATE


def noise() -> bytes:
    return bytes(np.random.default_rng(1).normal(0, 8_000, 2 * RATE).astype(np.int16).data)


def music() -> bytes:
    chord = np.sin(2 * np.pi * np.outer((262, 330, 392), SECONDS)).sum(axis=0)
    return bytes((6_000 * chord).astype(np.int16).data)


def heard(events: list[Event]) -> list[str]:
    return [one.text for one in events if isinstance(one, Heard)]


async def test_bad_sound_orders_nothing_and_typing_works_beside_it(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    models = language_models({"open": SENTENCES}, folder=tmp_path)

    def speech() -> SpeechModels:
        vad = load_vad()
        stt, tts = LocalSTT(models, vad), ToneTTS(character_s=0.004)
        return SpeechModels(stt, tts, vad, {}, turns_by(vad), (stt, tts))

    events: list[Event] = []
    async with (
        livekit.joined(room_name) as guest,
        speaking(guest.room) as ada,
        calls.agent(room_name, house=changed(media=Media(speech))) as agent,
    ):
        await until(partial(answered, agent, 0), what="the greeting")
        assert agent.call._conversation is not None
        call = agent.call._conversation.call
        call.subscribe(events.append)
        for sound in (silence(1), noise(), music()):
            await ada.plays(sound, RATE)
        await ada.plays(spoken_in("de", "Guten Abend, ich hätte gern zwei Bier und Wein"), RATE)
        again = call.policy.say_again
        await until(lambda: again in [one.text for one in events if isinstance(one, Said)])
        await guest.call("say", {"text": TYPED})
        # On a busy machine the sound has gaps, and the rest of a word may pass for one of the few known ones.
        await until(
            lambda: TYPED in heard(events) and call.state.order_items and call.turns.is_user_turn,
            what="the answer to what was typed",
        )
        order = call.state

    assert [(line.quantity, line.name) for line in order.order_items] == [(2, "Margherita")]
