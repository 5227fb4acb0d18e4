"""A call in speech: what a phone or a page with a microphone starts."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from livekit import rtc
from livekit.agents import AgentSession, APIConnectOptions
from livekit.agents.llm import LLM
from livekit.agents.stt import STT, StreamAdapter
from livekit.agents.tts import TTS
from livekit.agents.vad import VAD
from livekit.agents.voice import CloseEvent
from livekit.agents.voice.agent_session import SessionConnectOptions
from livekit.agents.voice.io import AudioInput, AudioOutput
from livekit.agents.voice.turn import TurnHandlingOptions
from pydantic import BaseModel

from agents.handoff.call import Call
from agents.handoff.guards import handler
from agents.handoff.redacting_stt import RedactingSTT
from agents.handoff.session import CallSession
from agents.handoff.text import CONNECT, TOOL_STEPS, room_options

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")

HEARD_AFTER_S = 0.2
"""How much later than it was played out a sentence has been heard, in seconds. livekit-agents 1.8.9 listens
again 22 to 36 ms before the last sound reaches a guest on the same machine, 100 ms when that is busy; a
network and a telephone add theirs."""

CONNECT_SPEECH = SessionConnectOptions(
    stt_conn_options=APIConnectOptions(max_retry=2, retry_interval=0.5, timeout=5.0),
    llm_conn_options=CONNECT.llm_conn_options,
    tts_conn_options=APIConnectOptions(max_retry=1, retry_interval=0.5, timeout=5.0),
    max_unrecoverable_errors=CONNECT.max_unrecoverable_errors,
)
"""How models are asked that do not decide it themselves; the defaults of livekit-agents 1.8.9 would leave a
guest in silence for 44 seconds, and hang up at the fourth failure in a row."""


def turns_by(vad: VAD | None) -> TurnHandlingOptions:
    """Say how the end of what a guest says is found: by silence, as voice activity detection or the speech-to-text model reports it.

    Everything is said, because livekit-agents 1.8.9 has other defaults in development than in production,
    some of which call a gateway in its makers' cloud. Nothing is generated ahead of a turn's end: the words
    may not be all of it yet. Sound is never put aside, not even while a reply cannot be interrupted: it
    may be words.
    """
    return {
        "turn_detection": "vad" if vad is not None else "stt",
        "endpointing": {"mode": "fixed", "min_delay": 0.5, "max_delay": 3.0},
        "interruption": {
            "enabled": True,
            "mode": "vad",
            "discard_audio_if_uninterruptible": False,
            "min_duration": 0.5,
            "min_words": 0,
            "resume_false_interruption": True,
            "false_interruption_timeout": 2.0,
        },
        "preemptive_generation": {"enabled": False},
    }


async def start_speech(
    call: Call[S, C],
    model: LLM[Any],
    *,
    stt: STT[Any],
    tts: TTS[Any],
    vad: VAD | None = None,
    tts_by_agent: Mapping[str, TTS[Any]] | None = None,
    turns: TurnHandlingOptions | None = None,
    echo_s: float = 0.0,
    heard_after_s: float = HEARD_AFTER_S,
    room: rtc.Room | None = None,
    guest: str | None = None,
    microphone: AudioInput | None = None,
    loudspeaker: AudioOutput | None = None,
    lost: Callable[[], None] | None = None,
) -> "AgentSession[Call[S, C]]":
    """Start a session with audio and have its first agent open; returns the running session.

    What the guest says goes the way of what he types: it is let in, counted, told and answered by the call.
    Models that fail are spoken about: a guest who is not heard is told so, words that cannot be spoken are
    shown. Whoever built the models closes them.

    Args:
        call: The call; it becomes the session's ``userdata``.
        model: The language model of every agent.
        stt: The speech-to-text model.
        tts: The text-to-speech model.
        vad: Voice activity detection. Without it the speech-to-text model has to stream and to report when
            speech begins and ends.
        tts_by_agent: Text-to-speech models of agents that have their own, by the agent's name.
        turns: How a turn's end is found, and what interrupts: all of it, as ``turns_by`` says it when
            nothing is given.
        echo_s: For how long the guest is not heard while an agent speaks for the first time, in seconds. A
            device that has to learn to take the agent out of its microphone needs about a second.
        heard_after_s: How much later than played out a sentence has been heard, in seconds: so much later
            it is the guest's turn.
        room: Where the guest is; connected.
        guest: His identity in the room; without one, whoever comes first.
        microphone: Where he is heard when there is no room.
        loudspeaker: Where he hears the agents when there is no room.
        lost: Called when the user cannot be heard or spoken to any more, instead of showing them what cannot be
            said: for a telephone, at which nobody reads.

    Raises:
        ValueError: The speech-to-text model does not stream, and there is no voice activity detection.
    """
    if not stt.capabilities.streaming:
        if vad is None:
            raise ValueError(
                "a speech-to-text model that does not stream needs voice activity detection"
            )
        stt = StreamAdapter(stt=stt, vad=vad)
    listening = RedactingSTT(stt, call.hearing)
    handling = turns_by(vad) if turns is None else turns
    call.tts_by_agent = tts_by_agent or {}
    call.speech_lost = lost or call.speech_lost
    call.turns.lag_s = heard_after_s
    # Past the longest that livekit-agents 1.8.9 waits for more words, three seconds unless it is told.
    call.hearing.patience_s = handling.get("endpointing", {}).get("max_delay", 3.0) + 1.0
    session: AgentSession[Call[S, C]] = CallSession(
        userdata=call,
        stt=listening,
        llm=model,
        tts=tts,
        vad=vad,
        turn_handling=handling,
        conn_options=CONNECT_SPEECH,
        max_tool_steps=TOOL_STEPS,
        aec_warmup_duration=echo_s or None,
        session_close_transcript_timeout=0.0,  # nothing is taken in after the end
        user_away_timeout=None,  # a call's events say when it became the guest's turn
    )
    call.attach(session)
    session.on("user_state_changed", handler(call.hearing.state_changed))
    session.on("error", handler(call.hearing.failed))

    def let_go(_: CloseEvent) -> None:
        call.hearing.close()
        listening.detach()

    session.on("close", handler(let_go))
    if room is None:
        session.input.audio, session.output.audio = microphone, loudspeaker
        await session.start(call.first_agent(), session_host=False, record=False)
    else:
        await session.start(
            call.first_agent(),
            room=room,
            room_options=room_options(guest, audio=True),
            session_host=False,
            record=False,
        )
    return session
