"""A whole order aloud in a real room: the restaurant's voices, the local model, tones on real tracks."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from livekit.agents.vad import VAD

from agents.handoff import (
    Call,
    Event,
    HandedOver,
    Heard,
    Said,
    YourTurn,
    start_speech,
    stop,
    turns_by,
)
from agents.testing import ScriptedSTT, ToneTTS, ToneVAD
from bella_vista.local.model import LocalLLM
from tests.agents.restaurant import FRIDAY_AT_SEVEN, bella_vista, restaurant
from tests.livekit import Client, LiveKit, until
from tests.speaking import Speaking, speaking

LINES = (
    "Hi, I am Ada",
    "Two large Margheritas and a glass of house red, please",
    "that is all, I will pick it up",
    "yes",
    "by card, with fifteen percent",
    "yes please",
    "five stars",
    "No wait, make that three Margheritas",
)
NAME, WINE, *_, STARS, WAIT = range(len(LINES))


WHOLE = (
    "Noted: two large Margheritas and a glass of House red. Would you like Garlic knots"
    " with that, or anything else? And may I have your name?"
)


LATE_S = 0.4
"""So much later than usual a sound may be heard on a machine that is busy."""


class Evening:
    """A call in a room, and when everything happened in it."""

    def __init__(self, call: Call[Any, Any], guest: Speaking, client: Client) -> None:
        self.call, self.guest, self.client = call, guest, client
        self.events: list[tuple[float, Event]] = []
        call.subscribe(lambda event: self.events.append((time.monotonic(), event)))

    def of(self, kind: type) -> list[Any]:
        return [event for _, event in self.events if isinstance(event, kind)]

    async def says(self, number: int) -> None:
        """Say a line and wait until it has been answered."""
        turn = self.call.turn + 1
        await self.guest.says(number)
        await until(lambda: self.call.turn >= turn, what=f"turn {turn}")
        await self.is_asked()

    async def is_asked(self) -> None:
        await until(lambda: self.call.turns.is_user_turn or self.call.ended, 30, "the guest's turn")

    def too_early(self) -> list[float]:
        """How long a voice was still heard after it had become the guest's turn, each time it was."""
        late = []
        for at, event in self.events:
            if isinstance(event, YourTurn):
                late += [end - at for begin, end in self.guest.sounds if begin < at < end - LATE_S]
        return late


@asynccontextmanager
async def evening(
    livekit: LiveKit, room: str, voice: ToneTTS, vad: VAD | None, stt: ScriptedSTT
) -> AsyncIterator[Evening]:
    """Bella Vista's call with a guest who speaks; the agent is in this process."""
    call = restaurant()
    model = LocalLLM(bella_vista(), now=lambda: FRIDAY_AT_SEVEN)
    turns = turns_by(vad)
    turns["endpointing"] = {"mode": "fixed", "min_delay": 0.05, "max_delay": 0.5}
    async with (
        livekit.joined(room, kind="agent", offers=()) as agent,
        livekit.joined(room) as client,
        speaking(client.room) as guest,
    ):
        talk = Evening(call, guest, client)
        await start_speech(
            call,
            model,
            stt=stt,
            tts=voice,
            vad=vad,
            turns=turns,
            room=agent.room,
            user_identity=client.identity,
        )
        try:
            await talk.is_asked()
            yield talk
        finally:
            await stop(call)


WAYS = pytest.mark.parametrize(
    ("detector", "streams"),
    [(None, True), (ToneVAD, True), (ToneVAD, False)],
    ids=["by speech-to-text", "by a detector", "in pieces"],
)


@WAYS
async def test_an_order_is_spoken_heard_and_right(
    livekit: LiveKit, room_name: str, detector: type[ToneVAD] | None, streams: bool
) -> None:
    voice, vad = ToneTTS(character_s=0.004), detector() if detector else None
    stt = ScriptedSTT(LINES, streams=streams)
    async with evening(livekit, room_name, voice, vad, stt) as talk:
        greeted_s = talk.guest.heard_s
        for number in range(WAIT):
            await talk.says(number)
        order = talk.call.state
        written = talk.client.written

    assert [(line.quantity, line.name) for line in order.order_items] == [
        (2, "Margherita"),
        (1, "House red"),
    ]
    assert (order.stage, order.payment_method, order.feedback_rating) == ("placed", "card", 5)
    assert [event.text for event in talk.of(Heard)] == list(LINES[:WAIT])
    assert [event.target for event in talk.of(HandedOver)] == ["order_taker", "payment", "feedback"]
    assert [event.turn for event in talk.of(YourTurn)] == list(range(WAIT + 1))
    spoken_s = sum(len(text) for text in voice.spoken) * voice.character_s
    assert greeted_s > 0.2
    assert talk.guest.heard_s == pytest.approx(spoken_s, rel=0.15)
    assert talk.too_early() == []
    assert {one.text for one in written if one.by == talk.client.identity} >= {LINES[WINE]}


@WAYS
async def test_a_guest_cuts_the_voice_short_and_is_answered(
    livekit: LiveKit, room_name: str, detector: type[ToneVAD] | None, streams: bool
) -> None:
    voice, vad = ToneTTS(character_s=0.004), detector() if detector else None
    stt = ScriptedSTT(LINES, streams=streams)
    async with evening(livekit, room_name, voice, vad, stt) as talk:
        voice.character_s = 0.03
        await talk.guest.says(WINE)
        await until(lambda: talk.call.turn == 1)
        await until(lambda: talk.guest.hears, 20, "an answer")
        answered = talk.guest.sounds[-1][0]
        voice.character_s = 0.004
        await talk.says(WAIT)
        order = talk.call.state

    cut = [event for event in talk.of(Said) if event.interrupted]
    assert [event.turn for event in cut] == [1]
    sound = next(end - begin for begin, end in talk.guest.sounds if begin == answered)
    assert 0 < len(cut[0].text) < len(WHOLE)
    assert WHOLE.startswith(cut[0].text.strip())
    assert sound < len(WHOLE) * 0.03 - 0.5
    assert [event.text for event in talk.of(Heard)] == [LINES[WINE], LINES[WAIT]]
    assert [(line.quantity, line.name) for line in order.order_items][0] == (3, "Margherita")
    assert talk.call.turns.is_user_turn
