"""Runs a call in speech without a room: scripted speech-to-text in, tones out."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from livekit.agents.llm import LLM
from livekit.agents.tts import TTS
from livekit.agents.vad import VAD
from livekit.agents.voice.turn import TurnHandlingOptions
from pydantic import BaseModel

from agents.handoff import (
    TONE_AFTER_S,
    Call,
    Event,
    Heard,
    MicrophoneMode,
    start_speech,
    turns_by,
)
from agents.testing.conversation import Conversation, Turn
from agents.testing.loudspeaker import Loudspeaker, Microphone
from agents.testing.scripted_stt import ScriptedSTT
from agents.testing.tone_tts import ToneTTS
from agents.testing.waiting import ConversationError

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


def quick_turns(vad: VAD | None = None) -> TurnHandlingOptions:
    """Return turn handling whose turns end at once, for tests that are not about pauses."""
    usual = turns_by(vad)
    return {
        **usual,
        "endpointing": {"mode": "fixed", "min_delay": 0.0, "max_delay": 0.0},
        "interruption": {**usual.get("interruption", {}), "false_interruption_timeout": 0.05},
    }


class SpokenConversation(Conversation[S, C]):
    """A call in speech under test; a context manager that starts and closes it.

    Args:
        call: The call, not started.
        model: The language model of its agents without their own.
        stt: The scripted speech-to-text model.
        tts: The text-to-speech model.
        vad: Voice activity detection; by default the speech-to-text model reports speech.
        microphone: The audio input.
        loudspeaker: The audio output.
        llm_by_agent: As for ``start_speech``.
        tts_by_agent: Per-agent text-to-speech models, by the agent's name.
        turns: The turn handling options; ``quick_turns()`` by default.
        microphone_mode: The microphone's mode at first.
        tone_after_s: As for ``start_speech``.
        patience_s: How long a turn may take before the test fails, in seconds.

    Raises:
        ConversationError: A turn did not end.
        ScriptError: The script had a step too few or too many.
    """

    def __init__(
        self,
        call: Call[S, C],
        model: LLM[Any],
        *,
        stt: ScriptedSTT | None = None,
        tts: ToneTTS | None = None,
        vad: VAD | None = None,
        microphone: Microphone | None = None,
        loudspeaker: Loudspeaker | None = None,
        llm_by_agent: "Mapping[str, LLM[Any] | Callable[[], LLM[Any]]] | None" = None,
        tts_by_agent: Mapping[str, TTS[Any]] | None = None,
        turns: TurnHandlingOptions | None = None,
        microphone_mode: MicrophoneMode = "open",
        tone_after_s: float = TONE_AFTER_S,
        patience_s: float = 20.0,
    ) -> None:
        super().__init__(call, model, llm_by_agent=llm_by_agent, patience_s=patience_s)
        self.stt = stt or ScriptedSTT()
        self.tts = tts or ToneTTS()
        self.microphone = microphone or Microphone()
        self.loudspeaker = loudspeaker or Loudspeaker()
        self._vad = vad
        self._microphone_mode: MicrophoneMode = microphone_mode
        self._tone_after_s = tone_after_s
        self._tts_by_agent = tts_by_agent
        self._turns = turns or quick_turns(vad)

    async def user_says(self, text: str) -> Turn:
        """Say something aloud and wait until it is the user's turn again."""
        turn = self.user_says_nowait(text)
        await self.counted(turn.number)
        await self._until_users_turn()
        return turn

    def user_says_nowait(self, text: str) -> Turn:
        """Say something aloud without waiting."""
        turn = self.expects_words()
        self.stt.hears(text)
        return turn

    def expects_words(self) -> Turn:
        """Begin a turn whose transcripts the test reports one by one."""
        turn = Turn(self.call.turn + 1)
        self.turns.append(turn)
        return turn

    async def counted(self, number: int) -> None:
        """Wait until the call has accepted so many user messages."""
        counted = asyncio.Event()

        def listener(event: Event) -> None:
            if isinstance(event, Heard) and event.turn >= number:
                counted.set()

        if self.call.turn >= number:
            return
        unsubscribe = self.call.subscribe(listener)
        try:
            async with asyncio.timeout(self._patience_s):
                await counted.wait()
        except TimeoutError:
            raise ConversationError(
                f"user message {number} was never accepted\n{self.what_happened()}"
            ) from None
        finally:
            unsubscribe()

    async def _start(self) -> None:
        await start_speech(
            self.call,
            self.model,
            stt=self.stt,
            tts=self.tts,
            vad=self._vad,
            llm_by_agent=self.llm_by_agent,
            tts_by_agent=self._tts_by_agent,
            turns=self._turns,
            heard_after_s=0.001,
            tone_after_s=self._tone_after_s,
            microphone=self.microphone,
            loudspeaker=self.loudspeaker,
            microphone_mode=self._microphone_mode,
        )
