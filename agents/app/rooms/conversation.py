"""One call in a room: its agents, the updates of its clients, and its transcript."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

from livekit import rtc
from livekit.agents.llm import LLM
from pydantic import JsonValue

from agents.app.declaration import attempt
from agents.app.models.choice import reply_limit_of
from agents.app.parts import C, Channel, S
from agents.app.recordings import CallRecorder, RoomRecording
from agents.app.rooms.page import Page
from agents.app.rooms.process_context import ProcessContext
from agents.app.rooms.silence import STALL_S, SilenceTimer, StallTimer
from agents.app.rooms.state_of_call import Opened, resume_code
from agents.app.rooms.turn_times import TurnTimes
from agents.app.transcript import CallRecord
from agents.app.words import Words
from agents.handoff import (
    Call,
    Ended,
    Event,
    Heard,
    MicrophoneMode,
    PushToTalk,
    Said,
    TurnWithdrawn,
    YourTurn,
    stop,
)
from rpc.page import Lines, Session, SpokenLine

logger = logging.getLogger(__name__)

STOP_LIMIT_S = 5.0
"""How long the end of a call waits for its running work, in seconds."""

MODELS_LIMIT_S = 5.0
"""How long the end of a call waits for its models to close, in seconds."""


class RoomConversation(Generic[S, C]):
    """One call with a user about one state, once both are known.

    Args:
        room: The room, connected.
        present: Returns whether the user is in the room.
        ended: Called when the call has ended.
        lost: Called when the user can no longer be heard or spoken to; without it the call
            continues as text.
        mode_changed: Called when the user's client has changed the microphone's mode.
        last: The commands that recreate the user's last state.
    """

    def __init__(
        self,
        process: ProcessContext[S, C],
        room: rtc.Room,
        opened: Opened[S, C],
        *,
        user: str,
        channel: Channel,
        present: Callable[[], bool],
        ended: Callable[[Ended], None],
        lost: Callable[[], None] | None = None,
        microphone_mode: MicrophoneMode = "open",
        mode_changed: Callable[[MicrophoneMode], None] = lambda mode: None,
        last: Sequence[Mapping[str, JsonValue]] = (),
        recorder: CallRecorder | None = None,
    ) -> None:
        self._process = process
        self._room = room
        self._user = user
        self.channel: Channel = channel
        self._present = present
        self._on_end = ended
        self._lost = lost
        self._microphone_mode: MicrophoneMode = microphone_mode
        self._mode_changed = mode_changed
        self._model: LLM[Any] = process.model()
        self._models = process.models()
        self.call: Call[S, C] = process.app.call(
            opened.shared,
            think_limit_s=reply_limit_of(self._model, *self._models.values()),
            resumed=opened.resumed,
            turn=opened.prior.turn,
            preamble=f"{opened.preamble} {self.words.recorded if recorder else ''}".strip(),
        )
        self.call.answer(opened.prior.unanswered)
        self._record = CallRecord(
            self.call, process.store, channel=channel, words=process.transcript
        )
        kept = process.recordings
        self._record.drop_older_than(
            process.transcript_days, (lambda before: None) if kept is None else kept.drop
        )
        self._recording = RoomRecording(
            recorder, kept, opened.shared.state_id, self._on_recording_refused
        )
        self.call.turns.own_answer = self._answer_about_recording
        self._finishing: asyncio.Task[None] | None = None
        self._on_hold = False
        self._silence = SilenceTimer(process.silence[channel], self._remind, self._end_silent_call)
        self._stall = StallTimer(
            self.call.policy.think_limit_s + STALL_S, self._is_speaking, self._on_stalled
        )
        code = resume_code(opened.shared.state_id, process.secret, process.app.name)
        self.session = Session(
            process.app.page_spec,
            self.call.shared,
            self.call,
            state_id=opened.shared.state_id,
            agent=process.app.name,
            resume_code=code,
            last=last,
            spoken=opened.prior.spoken,
            store=self._record.say,
            turns=self._turns if process.media.is_spoken(channel) else None,
            lines=Lines(opened.prior.lines),
            recording=self._recording,
        )
        self.page = Page(
            process.app,
            room.local_participant,
            self.call,
            self.session.views,
            user=user,
            resume_code=code,
            silent=channel == "phone",
            recording=self._recording if recorder is not None else None,
            on_activity=self._silence.reset,
        )
        self.call.subscribe(self._on_event)
        TurnTimes(
            self.call,
            prefix=process.app.prefix,
            room=room.name,
            channel=channel,
            measured=process.measured,
        )

    @property
    def words(self) -> Words:
        """The application's sentences about calls."""
        return self._process.app.rooms.words

    async def start(self) -> None:
        """Start the session; the first agent greets."""
        self._stall.start()
        await self._process.media.start(
            self.call,
            self._model,
            self._room,
            self._user,
            self.channel,
            self._lost,
            llm_by_agent=self._models,
            microphone_mode=self._microphone_mode,
            recorder=self._recording.recorder,
        )
        if self.call.push_to_talk is not None:
            self.call.push_to_talk.on_mode_changed(self._mode_changed)

    def user_left(self) -> None:
        """The user has left: stop the silence timer, and commit their words so far."""
        self.stop_waiting()
        if self.call.push_to_talk is not None:
            self.call.push_to_talk.user_left()

    def stop_waiting(self) -> None:
        """Stop the silence timer."""
        self._silence.stop()

    def hold(self) -> None:
        """Disable audio input and the silence timer during a transfer."""
        self._on_hold = True
        self._silence.stop()
        if self.call.can_speak:
            self.call.session.input.set_audio_enabled(False)

    def resume(self) -> None:
        """Enable audio input and the silence timer again."""
        if not self._on_hold:
            return
        self._on_hold = False
        if self.call.can_speak:
            self.call.session.input.set_audio_enabled(True)
        if self.call.turns.is_user_turn and self._present():
            self._silence.start()

    async def finish(self) -> None:
        """Stop the session and store the transcript; clients can still read the state.

        Once begun it continues even if the caller is cancelled; later callers wait for it.
        """
        if self._finishing is None:
            self._finishing = asyncio.create_task(self._finish())
        await asyncio.shield(self._finishing)

    async def _finish(self) -> None:
        self._silence.stop()
        self._stall.stop()
        self.call.end("user_left")
        try:
            async with asyncio.timeout(STOP_LIMIT_S):
                await stop(self.call)
        except TimeoutError:
            logger.warning("call did not stop within %g s", STOP_LIMIT_S)
            await self.call.aclose()
        except RuntimeError:  # the session never started
            await self.call.aclose()
        await self._recording.aclose()
        await self._record.aclose()
        try:
            async with asyncio.timeout(MODELS_LIMIT_S):
                await self._process.media.aclose()
                for model in (self._model, *self._models.values()):
                    await model.aclose()
        except TimeoutError:
            logger.warning("models did not close within %g s", MODELS_LIMIT_S)

    async def aclose(self) -> None:
        """Stop everything."""
        await self.page.aclose()
        await self.finish()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Ended) or self.call.turns.is_user_turn:
            self._stall.stop()
        else:
            self._stall.start()
        if isinstance(event, Heard | Said):
            self._add_line(event)
        match event:
            case Heard():
                self._silence.reset()
                self._silence.stop()
            case TurnWithdrawn():
                self._silence.stop()
            case Said() if not self.call.replies.preamble:
                self._recording.announced()
            case YourTurn():
                if self._present() and not self._on_hold:
                    self._silence.start()
            case Ended():
                self._on_end(event)

    def _add_line(self, event: Heard | Said) -> None:
        """Store a line of the conversation for clients that join later."""
        agent, cut = (event.agent, event.interrupted) if isinstance(event, Said) else (None, False)
        text = self._record.kept(event.text)
        self.session.lines.add(SpokenLine(event.turn, agent, text, cut, event.utterance))

    def _is_speaking(self) -> bool:
        call = self.call
        return (
            call.user_holds
            or call.user_speech.speaking
            or (call.can_speak and call.session.agent_state == "speaking")
        )

    def _on_stalled(self) -> None:
        logger.error("agent stopped responding, ending its call")
        self.call.hang_up()
        self.call.end("failed")

    def _answer_about_recording(self, text: str) -> str | None:
        """Answer a question about the recording; delete it if the user refuses it."""
        app = self._process.app
        recording = self._recording
        refuses = app.rooms.refuses_recording
        if not recording.active or not attempt("rooms.refuses_recording", False, refuses, text):
            return app.about_recording(self.call, text, recorded=recording.active)
        recording.refuse()
        return app.say_alone(self.call, text, self.words.not_recorded)

    def _on_recording_refused(self) -> None:
        self._record.recording_refused()
        self.page.show()

    def _turns(self) -> PushToTalk | None:
        return self.call.push_to_talk

    def _remind(self) -> None:
        if self.call.user_holds:
            self._silence.reset()
            self._silence.start()
        else:
            self.call.speak(self.words.still_there)

    def _end_silent_call(self) -> None:
        if self.call.user_holds:
            self._silence.start()
            return
        self.call.close_after_reply("user_left")
        self.call.speak(self.words.user_silent)
