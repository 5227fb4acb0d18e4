"""Starts a text call, for terminals, tests and text-only rooms."""

from collections.abc import Callable, Mapping
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
"""How many rounds of tool calls a model may make in one reply before it has to speak."""

CONNECT = SessionConnectOptions(
    llm_conn_options=APIConnectOptions(max_retry=1, retry_interval=1.0, timeout=5.0),
    # An agent says a fallback sentence when a model fails: do not close after several failures.
    max_unrecoverable_errors=1_000_000,
)
"""Connection options: an agent retries a request so often while nothing of its answer has arrived,
unless the model has ``retries``. livekit-agents 1.8.9 would try four times with ten seconds
each, 44 seconds of silence, and close the session at the fourth failure in a row."""


async def start_text(
    call: Call[S, C],
    model: LLM[Any],
    *,
    llm_by_agent: "Mapping[str, LLM[Any] | Callable[[], LLM[Any]]] | None" = None,
    room: rtc.Room | None = None,
    user_identity: str | None = None,
) -> "AgentSession[Call[S, C]]":
    """Start a session without audio and let the first agent open; returns the running session.

    The defaults of livekit-agents 1.8.9 would load a voice activity detector and a turn detector
    (0.8 s and 247 MiB) even for text.

    Args:
        call: The call; it becomes the session's ``userdata``.
        model: The language model of every agent without its own.
        llm_by_agent: Language models of agents, or functions that make them when they are needed,
            by the agent's name. None of them is closed here.
        room: The user's room, if any; connected. Replies are shown there; the application passes
            what the user writes to ``Call.user_said``.
        user_identity: The user's participant identity; without one, the first participant to join.

    Raises:
        ValueError: ``llm_by_agent`` names an agent that does not exist.
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
    call.use_models(llm_by_agent or {})
    if room is None:
        await session.start(call.first_agent(), session_host=False, record=False)
    else:
        await session.start(
            call.first_agent(),
            room=room,
            room_options=room_options(user_identity, audio=False),
            session_host=False,
            record=False,
        )
    return session


def room_options(user_identity: str | None, *, audio: bool) -> RoomOptions:
    """Return the room options of a session.

    Text input stays off: livekit-agents 1.8.9 would answer ``lk.chat`` without the call and lose
    what is written during a handoff. A user who leaves may come back, so the session is not closed.
    """
    return RoomOptions(
        text_input=False,
        audio_input=audio,
        audio_output=audio,
        participant_identity=user_identity if user_identity is not None else NOT_GIVEN,
        close_on_disconnect=False,
    )


async def stop(call: Call[Any, Any]) -> None:
    """Close a call's session and cancel its background tasks."""
    call.hang_up()
    await call.session.aclose()
    await call.aclose()
