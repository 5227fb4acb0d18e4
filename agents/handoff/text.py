"""A call in text: what a terminal, a test and a text-only room start."""

from typing import Any, TypeVar

from livekit import rtc
from livekit.agents import NOT_GIVEN, AgentSession, APIConnectOptions
from livekit.agents.llm import LLM
from livekit.agents.voice.agent_session import SessionConnectOptions
from livekit.agents.voice.room_io import RoomOptions
from pydantic import BaseModel

from agents.handoff.call import Call
from agents.handoff.session import CallSession

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")

TOOL_STEPS = 8
"""How often a model may call tools before it has to speak, in one reply."""

CONNECT = SessionConnectOptions(
    llm_conn_options=APIConnectOptions(max_retry=1, retry_interval=1.0, timeout=5.0),
    # An agent speaks for a model that fails, so failures in a row are no reason to hang up.
    max_unrecoverable_errors=1_000_000,
)
"""How models are asked: an agent repeats a request so often while nothing of its answer has arrived, unless the
model says how often by ``retries``. livekit-agents 1.8.9 would try four times with ten seconds each, 44 seconds
of silence, and close the session at the fourth failure in a row."""


async def start_text(
    call: Call[S, C],
    model: LLM[Any],
    *,
    room: rtc.Room | None = None,
    guest: str | None = None,
) -> "AgentSession[Call[S, C]]":
    """Start a session without audio and have its first agent open; returns the running session.

    The defaults of livekit-agents 1.8.9 would load a voice activity detector and a turn detector (0.8 s
    and 247 MiB) even for text.

    Args:
        call: The call; it becomes the session's ``userdata``.
        model: The language model of every agent.
        room: Where the guest is, when he is in a room; connected. He reads what is said there, and what
            he writes is the application's to give to ``Call.hear``.
        guest: His identity in the room; without one, whoever comes first.
    """
    session: AgentSession[Call[S, C]] = CallSession(
        userdata=call,
        llm=model,
        vad=None,
        turn_handling={"turn_detection": None},
        conn_options=CONNECT,
        max_tool_steps=TOOL_STEPS,
        user_away_timeout=None,
    )
    call.attach(session)
    if room is None:
        await session.start(call.first_agent(), session_host=False, record=False)
    else:
        await session.start(
            call.first_agent(),
            room=room,
            room_options=room_options(guest, audio=False),
            session_host=False,
            record=False,
        )
    return session


def room_options(guest: str | None, *, audio: bool) -> RoomOptions:
    """Say what a session takes from a room and gives to it.

    Text input stays off: livekit-agents 1.8.9 would answer ``lk.chat`` past the call and lose what is
    written during a handoff. A guest who leaves may come back, so the session outlives his leaving.
    """
    return RoomOptions(
        text_input=False,
        audio_input=audio,
        audio_output=audio,
        participant_identity=guest if guest is not None else NOT_GIVEN,
        close_on_disconnect=False,
    )


async def stop(call: Call[Any, Any]) -> None:
    """End a call's session and everything that runs beside it."""
    call.hang_up()
    await call.session.aclose()
    await call.aclose()
