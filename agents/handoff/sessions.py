"""Starts the session of a call, and stops it: in text, with audio, or in lines of a terminal."""

import asyncio
import contextlib
import io
import logging
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TextIO

from livekit import rtc
from livekit.agents import NOT_GIVEN, AgentSession, APIConnectOptions
from livekit.agents.llm import LLM
from livekit.agents.stt import STT, StreamAdapter
from livekit.agents.tts import TTS
from livekit.agents.vad import VAD
from livekit.agents.voice import CloseEvent
from livekit.agents.voice.agent_session import SessionConnectOptions
from livekit.agents.voice.io import AudioInput, AudioOutput
from livekit.agents.voice.room_io import AudioInputOptions, RoomOptions
from livekit.agents.voice.turn import TurnHandlingOptions

from agents.handoff.call import Call
from agents.handoff.events import EndReason, Event, HandedOver, Heard, Said, ToolUsed
from agents.handoff.handoffs import Models
from agents.handoff.livekit_workarounds import CallSession, event_handler
from agents.handoff.policy import C, S
from agents.handoff.speech.audio import AudioTap, GatedInput, NoiseSuppressor, TappedOutput
from agents.handoff.speech.push_to_talk import MicrophoneMode, PushToTalk
from agents.handoff.speech.redacting_stt import RedactingSTT
from agents.handoff.speech.waiting_tone import TONE_AFTER_S, WaitingTone
from state.privacy import clean

logger = logging.getLogger(__name__)

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

HEARD_AFTER_S = 0.2
"""How long after playout the user has heard the end of a reply, in seconds. livekit-agents 1.8.9
goes back to ``listening`` 22 to 36 ms before the last sound reaches a user on the same machine,
100 ms under load; a network and a telephone add their own delay."""

CONNECT_SPEECH = SessionConnectOptions(
    stt_conn_options=APIConnectOptions(max_retry=2, retry_interval=0.5, timeout=5.0),
    llm_conn_options=CONNECT.llm_conn_options,
    tts_conn_options=APIConnectOptions(max_retry=1, retry_interval=0.5, timeout=5.0),
    max_unrecoverable_errors=CONNECT.max_unrecoverable_errors,
)
"""Connection options for models without their own; the defaults of livekit-agents 1.8.9 would leave
a user in silence for 44 seconds, and close the session at the fourth failure in a row."""

_STATS_S = 1.0
"""How long counting a client's packets may take, in seconds."""


async def start_text(
    call: Call[S, C],
    model: LLM[Any],
    *,
    llm_by_agent: Models | None = None,
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
            the user's written messages to ``Call.user_said``.
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
    call.handoffs.use_models(llm_by_agent or {})
    await _start(call, room, user_identity, audio=False)
    return session


def turns_by(vad: VAD | None) -> TurnHandlingOptions:
    """Return turn handling by silence, detected by the VAD, or else by the speech-to-text model.

    Every option is set, because livekit-agents 1.8.9 has different defaults in development and in
    production, some of which call LiveKit's cloud gateway. No preemptive generation: the transcript
    may be incomplete. Audio is never discarded, not even while a reply cannot be interrupted: it
    may be speech.
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
    llm_by_agent: Models | None = None,
    tts_by_agent: Mapping[str, TTS[Any]] | None = None,
    turns: TurnHandlingOptions | None = None,
    echo_s: float = 0.0,
    heard_after_s: float = HEARD_AFTER_S,
    tone_after_s: float = TONE_AFTER_S,
    room: rtc.Room | None = None,
    user_identity: str | None = None,
    microphone: AudioInput | None = None,
    loudspeaker: AudioOutput | None = None,
    microphone_mode: MicrophoneMode = "open",
    noise_suppression: bool = False,
    lost: Callable[[], None] | None = None,
    tap: AudioTap | None = None,
) -> "AgentSession[Call[S, C]]":
    """Start a session with audio and let the first agent open; returns the running session.

    Spoken turns take the same path as typed ones: the call redacts, counts, reports and answers
    them. A failing speech-to-text model is announced to the user; text that cannot be spoken is
    shown. The models are not closed here.

    Args:
        call: The call; it becomes the session's ``userdata``.
        model: The language model of every agent without its own.
        stt: The speech-to-text model.
        tts: The text-to-speech model.
        vad: Voice activity detection. Without it the speech-to-text model has to stream and to
            report the start and end of speech.
        llm_by_agent: Language models of agents, or functions that make them when they are needed,
            by the agent's name.
        tts_by_agent: Per-agent text-to-speech models, by the agent's name.
        turns: The complete turn handling options; ``turns_by(vad)`` by default.
        echo_s: How long the user's audio is ignored when an agent first speaks, in seconds. A
            device whose echo cancellation has to adapt needs about a second.
        heard_after_s: How long after playout the user has heard the end of a reply, in seconds: the
            user's turn is announced so much later.
        tone_after_s: After how much silence a user whose answer is being worked on hears a quiet
            tone, again and again until an agent speaks, in seconds; 0 for none.
        room: The user's room; connected.
        user_identity: The user's participant identity; without one, the first participant to join.
        microphone: The audio input where there is no room.
        loudspeaker: The audio output where there is no room.
        microphone_mode: ``push_to_talk`` if the user says from the beginning when their turns begin
            and end; ``Call.push_to_talk`` changes it.
        noise_suppression: Whether noise in the room's audio is suppressed.
        lost: Called when speech input or output has failed, instead of showing what cannot be said:
            for a telephone, whose user cannot read.
        tap: Receives the audio of both sides, to record it.

    Raises:
        ValueError: The speech-to-text model does not stream, and there is no voice activity
            detection. Or ``llm_by_agent`` names an agent that does not exist.
    """
    if not stt.capabilities.streaming:
        if vad is None:
            raise ValueError(
                "a speech-to-text model that does not stream needs voice activity detection"
            )
        stt = StreamAdapter(stt=stt, vad=vad)
    redacting_stt = RedactingSTT(stt, call.user_speech)
    handling = turns_by(vad) if turns is None else turns
    if lost is not None:
        call.speech_output.on_lost(lost)
    call.handoffs.use_tts(tts_by_agent or {})
    call.turns.use_playout_lag(heard_after_s)
    # Longer than the endpointing delay of livekit-agents 1.8.9, at most 3 seconds by default.
    call.user_speech.use_turn_end_timeout(handling.get("endpointing", {}).get("max_delay", 3.0) + 1)
    call.user_speech.use_interruption_words(handling.get("interruption", {}).get("min_words", 0))
    session: CallSession[Call[S, C]] = CallSession(
        userdata=call,
        stt=redacting_stt,
        llm=model,
        tts=tts,
        vad=vad,
        turn_handling=handling,
        conn_options=CONNECT_SPEECH,
        max_tool_steps=TOOL_STEPS,
        aec_warmup_duration=echo_s or None,
        session_close_transcript_timeout=0.0,  # input after the end is ignored
        user_away_timeout=None,  # a call's events say when the user's turn began
    )
    session.on_playback_finished = call.speech_output.playback_finished
    waiting = WaitingTone(
        call, call.turns, call.user_speech, after_s=tone_after_s, spawn=call.spawn
    )
    if tone_after_s:
        session.wrap_tail = waiting.wrap
    if tap is not None:
        call.user_speech.tap = tap
        session.tap_output = partial(TappedOutput, tap=tap)
    call.attach(session)
    call.handoffs.use_models(llm_by_agent or {})
    session.on("user_state_changed", event_handler(call.user_speech.state_changed))
    session.on("error", event_handler(call.user_speech.stt_failed))
    if tone_after_s:
        session.on("speech_created", event_handler(waiting.check))
        session.on("agent_state_changed", event_handler(waiting.check))
        session.on("user_state_changed", event_handler(waiting.check))
        call.subscribe(waiting.check)

    def release(_: CloseEvent) -> None:
        waiting.stop()
        call.user_speech.close()
        redacting_stt.detach()

    session.on("close", event_handler(release))
    if room is None:
        session.input.audio, session.output.audio = microphone, loudspeaker
    if microphone_mode == "push_to_talk":  # until the gate is there
        session.input.set_audio_enabled(False)
    audio: AudioInputOptions | bool = True
    if noise_suppression:
        audio = AudioInputOptions(noise_cancellation=NoiseSuppressor(), auto_gain_control=True)
    await _start(call, room, user_identity, audio=audio)
    if session.input.audio is not None:
        is_open = microphone_mode == "open"
        gate = GatedInput(
            session.input.audio,
            call.spawn,
            is_open=is_open,
            tap=(lambda frame: None) if tap is None else tap.user_audio,
        )
        session.input.audio = gate
        session.input.set_audio_enabled(True)
        call.push_to_talk = PushToTalk(
            call,
            call.user_speech,
            call.turns,
            call.replies,
            gate,
            open_turns=handling,
            manual_flush=redacting_stt.capabilities.manual_flush,
            packets=None if room is None else partial(_packets_from, room, session),
            on_commit=waiting.user_commits if tone_after_s else lambda commits: None,
            mode=microphone_mode,
            resumed=call.resumed,
        )
    return session


async def _packets_from(room: rtc.Room, session: AgentSession[Any]) -> int | None:
    """Count the audio packets that have arrived from the user; None if they send no audio.

    Frames come also while nothing arrives: WebRTC fills the gaps.
    """
    user = session.room_io.linked_participant
    for publication in user.track_publications.values() if user is not None else ():
        if publication.source == rtc.TrackSource.SOURCE_MICROPHONE and publication.track:
            try:
                async with asyncio.timeout(_STATS_S):
                    stats = await publication.track.get_stats()
            except Exception as error:  # of whatever kind: the track is going
                logger.debug("no packet count: %s", type(error).__name__)
                continue
            for one in stats:
                if one.HasField("inbound_rtp"):
                    return one.inbound_rtp.received.packets_received
    return None


async def stop(call: Call[Any, Any]) -> None:
    """Close a call's session and cancel its background tasks.

    livekit-agents 1.8.9 awaits tasks of its own while it closes; one that was cancelled meanwhile
    looks as if the caller were cancelled. So it closes in a task, and its cancellation is logged.
    """
    call.hang_up()
    if call.push_to_talk is not None:
        call.push_to_talk.close()
    closing = asyncio.ensure_future(call.session.aclose())
    try:
        await asyncio.wait((closing,))
    finally:
        closing.cancel()
    if closing.cancelled():
        logger.warning("a task of the session was cancelled while it closed")
    else:
        closing.result()
    await call.aclose()


async def _start(
    call: Call[Any, Any],
    room: rtc.Room | None,
    user_identity: str | None,
    *,
    audio: AudioInputOptions | bool,
) -> None:
    """Start the session a call is attached to.

    Text input stays off: livekit-agents 1.8.9 would answer ``lk.chat`` without the call and lose
    messages sent during a handoff. A user who leaves may come back, so the session is not closed.
    """
    options = RoomOptions(
        text_input=False,
        audio_input=audio,
        audio_output=audio is not False,
        participant_identity=NOT_GIVEN if user_identity is None else user_identity,
        close_on_disconnect=False,
    )
    where: dict[str, Any] = {} if room is None else {"room": room, "room_options": options}
    await call.session.start(call.first_agent(), session_host=False, record=False, **where)


async def talk(
    call: Call[Any, Any],
    model: LLM[Any],
    *,
    llm_by_agent: Models | None = None,
    lines: Iterable[str] | None = None,
    out: TextIO | None = None,
) -> EndReason:
    """Run a text call, to try out agents, until the input or the call ends; returns why it ended.

    Each line is one user message; the next one is read when it is the user's turn. Blank lines are
    skipped. Handoffs and failed tools are shown in brackets.

    Args:
        call: The call, not started.
        model: The language model of its agents without their own.
        llm_by_agent: As for ``start_text``.
        lines: The user's messages; standard input by default.
        out: Where everything is written; standard output by default.
    """
    shown = out or sys.stdout
    typed = lines is None and sys.stdin.isatty()

    def show(event: Event) -> None:
        text = _format(event)
        if text is not None and not (typed and isinstance(event, Heard)):
            shown.write(f"{clean(text, lines=True)}\n")  # without what a terminal would execute
            shown.flush()

    unsubscribe = call.subscribe(show)
    stdin = io.FileIO(sys.stdin.fileno(), closefd=False) if lines is None else None
    given = iter(lines or ())

    async def next_line() -> str | None:
        return await _read_line(stdin) if stdin is not None else next(given, None)

    try:
        await start_text(call, model, llm_by_agent=llm_by_agent)
        await call.answered()
        while call.ended is None and (line := await next_line()) is not None:
            if words := line.strip():
                call.user_said(words)
                await call.answered()
        await call.slow_tools.told()
        call.end("input_ended")
    finally:
        unsubscribe()
        await stop(call)
    return call.ended or "input_ended"


def _format(event: Event) -> str | None:
    match event:
        case Heard():
            return f"you: {event.text}"
        case Said():
            return f"{event.agent}: {event.text}"
        case HandedOver():
            return f"[{event.source} hands over to {event.target}]"
        case ToolUsed() if event.is_error:
            return f"[{event.name}: {event.output}]"
    return None


async def _read_line(source: io.FileIO) -> str | None:
    """Read a line in a daemon thread: the event loop runs on, and the process can exit.

    The source is unbuffered: a thread that holds a buffer's lock at interpreter exit would abort the
    process.
    """
    loop = asyncio.get_running_loop()
    line_read: asyncio.Future[bytes] = loop.create_future()

    def deliver(line: bytes) -> None:
        if not line_read.done():
            line_read.set_result(line)

    def read() -> None:
        line = b""
        with contextlib.suppress(OSError):  # the terminal is gone: end of input
            line = source.readline()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(deliver, line)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    return (await line_read).decode(errors="replace") or None
