"""Workarounds for livekit-agents 1.8.9 and livekit rtc 1.1.21: history, events, cancellation, interruptions, retries."""

import asyncio
import inspect
import logging
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from livekit.agents import NOT_GIVEN, AgentEvent, AgentSession, APIConnectOptions, RunContext
from livekit.agents.llm import LLM, ChatContext, ChatMessage, FallbackAdapter, LLMStream, Tool
from livekit.agents.metrics import AgentSessionUsage
from livekit.agents.telemetry import gen_ai, tracer
from livekit.agents.utils import shortuuid
from livekit.agents.voice import SpeechHandle
from livekit.agents.voice.agent_activity import _SpeechHandleContextVar
from livekit.agents.voice.events import EventTypes
from livekit.agents.voice.io import AudioOutput, PlaybackFinishedEvent
from livekit.agents.voice.transcription._speaking_rate import (
    SpeakingRateDetector,
    SpeakingRateStream,
)
from livekit.rtc import EventEmitter, Room
from opentelemetry.trace import Span

logger = logging.getLogger(__name__)

SPEAKING_AGENT = "active_agent"
"""The attribute of a transcription in a room that names the agent whose words it holds."""

UTTERANCE = "utterance"
"""The attribute of a transcription in a room that names the utterance its words are part of: what is
kept of it has the same name."""

E = TypeVar("E")
U = TypeVar("U")

_ONE_EVENT = inspect.Signature(
    [inspect.Parameter("event", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
)


def event_handler(handle: Callable[[E], None]) -> Callable[[E], None]:
    """Wrap a handler of livekit events so that it never raises.

    livekit passes a handler's TypeError on into its own code, and inspects a handler's signature
    for every event: a precomputed signature reduces the cost to a quarter.
    """

    def event_handler(event: E) -> None:
        try:
            handle(event)
        except Exception:  # the conversation goes on without this event
            logger.exception("event handler failed")

    event_handler.__signature__ = _ONE_EVENT  # type: ignore[attr-defined]  # functions take any attribute
    return event_handler


def is_cancelled(error: BaseException) -> bool:
    """Whether the current task is being cancelled, and not only an operation that it awaited."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


async def connect(room: Room, url: str, token: str) -> None:
    """Connect to a room; when cancelled, leave it before the cancellation goes on.

    livekit's native side waits 15 s for the end of a ``Room.connect`` that was cancelled, and then has
    the process terminated (livekit/python-sdks issue 784, SIGTERM). So the connection is completed first.

    Raises:
        ConnectError: The connection failed.
    """
    connecting = asyncio.ensure_future(room.connect(url, token))
    try:
        await asyncio.shield(connecting)
    except asyncio.CancelledError:
        await asyncio.wait((connecting,))
        if not connecting.cancelled() and connecting.exception() is None:
            await room.disconnect()
        raise


def keep_raw_replies_out_of_traces() -> None:
    """Keep unredacted model output out of traces.

    livekit-agents 1.8.9 fills the span of a model request with the raw reply, before an agent sees
    any of it. The agent's own spans hold the redacted text.
    """
    gen_ai.set_capture_content(False)


def allow_interruptions(context: RunContext[Any], *, allow: bool) -> None:
    """Allow or disallow interruptions of the reply a tool belongs to."""
    try:
        if allow:
            context.speech_handle.allow_interruptions = True
        else:
            context.disallow_interruptions()
    except RuntimeError:  # already interrupted: the transfer is decided all the same
        logger.debug("reply interrupted before its transfer was decided")


def current_speech() -> SpeechHandle | None:
    """Return the reply whose task this is; an event about an item does not name its reply."""
    return _SpeechHandleContextVar.get(None)


def on_failed_start(session: AgentSession[Any], callback: Callable[[], None]) -> None:
    """Call a function if the session cannot start the agent it is changing to.

    livekit-agents 1.8.9 only logs that, and no agent answers any more.
    """

    def done(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            callback()

    if (changing := session._update_activity_atask) is not None:
        changing.add_done_callback(done)


def utterance_name() -> str:
    """Return a name for a new utterance."""
    return shortuuid("U_")


async def mark_transcriptions(session: AgentSession[Any], agent: str, utterance: str) -> None:
    """Send an agent's name and an utterance with the transcriptions of its words from now on in a room.

    Returns once the words of the reply before have been sent: the last of them may follow its sound.

    livekit-agents 1.8.9 has no option for attributes of its ``lk.transcription`` streams. The
    participant's attributes are sent separately, and may arrive before or after the words.
    """
    room = session._room_io
    if room is None:
        return
    if room._tr_synchronizer is not None:
        await room._tr_synchronizer.barrier()
    _mark(room._agent_tr_output, {SPEAKING_AGENT: agent, UTTERANCE: utterance})


def mark_user_transcriptions(session: AgentSession[Any], utterance: str) -> None:
    """Send an utterance with the transcriptions of the user's words from now on in a room."""
    if session._room_io is not None:
        _mark(session._room_io._user_tr_output, {UTTERANCE: utterance})


def _mark(output: object, attributes: dict[str, str]) -> None:
    for stream in vars(output or object).get("_ParticipantTranscriptionOutput__outputs", ()):
        if hasattr(stream, "_additional_attributes"):
            stream._additional_attributes = attributes


def start_span(
    session: AgentSession[Any], name: str, attributes: Mapping[str, str | int | float]
) -> Span:
    """Start a span beside livekit's spans of a session; it is recorded if a tracer provider is set."""
    return tracer.start_span(name, context=session._root_span_context, attributes=attributes)


def is_closing(session: AgentSession[Any]) -> bool:
    """Whether a session has begun to close; livekit emits an event only after it has closed."""
    return session._is_closing()


def request_once(
    model: LLM[Any],
    context: ChatContext,
    tools: list[Tool],
    options: APIConnectOptions,
    should_retry: Callable[[Exception], bool],
    settings: Mapping[str, Any],
) -> LLMStream:
    """Send one model request that is not retried inside the stream once a part of it has arrived.

    livekit-agents 1.8.9 retries a request inside its stream and forwards the chunks of both
    answers: tools are called twice, text is spoken twice. Only the caller knows whether a chunk has
    been used.

    Args:
        model: The model. One with retries of its own, or a fallback adapter, may retry as long as
            nothing has arrived.
        context: The chat context.
        tools: The tools it is offered.
        options: The connection options; their number of retries is ignored.
        should_retry: Whether the caller retries after a failure; livekit closes a session after
            several failures that are final.
        settings: The model's own settings for this request.
    """
    _disable_retry_on_chunk_sent(model)
    stream = model.chat(
        chat_ctx=context,
        tools=tools,
        conn_options=_once(options),
        extra_kwargs=dict(settings) if settings else NOT_GIVEN,
    )
    stream._retry_on_chunk_sent = False
    emit_error = type(stream)._emit_error
    weak_stream = weakref.proxy(stream)  # avoids a reference cycle

    def emit_with_retry(api_error: Exception, recoverable: bool) -> None:
        emit_error(weak_stream, api_error, recoverable=recoverable or should_retry(api_error))

    stream._emit_error = emit_with_retry  # type: ignore[method-assign]  # its task has not started yet
    return stream


@cache
def _once(options: APIConnectOptions) -> APIConnectOptions:
    return replace(options, max_retry=0)


def _disable_retry_on_chunk_sent(model: LLM[Any]) -> None:
    if isinstance(model, FallbackAdapter):
        model._retry_on_chunk_sent = False
        for one in model._llm_instances:
            _disable_retry_on_chunk_sent(one)


def add_user_message(session: AgentSession[Any], text: str) -> None:
    """Add a user message to the histories of a session and its agent, and emit the event for it."""
    message = ChatMessage(role="user", content=[text])
    session.current_agent._chat_ctx.insert(message)
    session._conversation_item_added(message)


class SteadyRateDetector(SpeakingRateDetector):
    """Assumes a steady speaking rate wherever there is sound.

    livekit-agents 1.8.9 estimates how fast each tenth of a second is spoken, to show the words in
    time. For six seconds of audio that takes 0.18 s of processor time, in one piece if the provider
    is fast: the event loop is late, and the reply has a gap just after its beginning.
    """

    def stream(self) -> SpeakingRateStream:
        """Return a stream for one reply."""
        return self.steady(super().stream())

    @staticmethod
    def steady(stream: SpeakingRateStream) -> SpeakingRateStream:
        """Change a stream so that it only tells sound from silence; returns it."""
        stream._spectral_flux = lambda audio, sample_rate: 1.0  # type: ignore[method-assign]  # its own slot
        return stream


def show_words_steadily(output: AudioOutput) -> None:
    """Use ``SteadyRateDetector`` for an audio output whose words are shown in time."""
    if (synchronizer := getattr(output, "_synchronizer", None)) is not None:
        synchronizer._opts.speaking_rate_detector = SteadyRateDetector()
        SteadyRateDetector.steady(synchronizer._impl._audio_data.sr_stream)  # of the first reply


class History(ChatContext):
    """A chat context that appends every item.

    livekit-agents 1.8.9 orders items by ``created_at``, wall clock time: after the clock is set
    back, the newest message would be placed before older replies and count as answered.
    """

    def copy(self, **how: Any) -> "History":
        """Copy it; arguments as ``ChatContext.copy``."""
        return History(super().copy(**how).items if how else self.items.copy())

    def find_insertion_index(self, *, created_at: float) -> int:
        """Return the index of the end."""
        return len(self.items)

    def merge(self, other_chat_ctx: ChatContext, **how: Any) -> "History":
        """Add the items that only another history has, each after its predecessor there.

        Args:
            other_chat_ctx: The other history.
            how: Arguments as ``ChatContext.merge``.
        """
        items, count = self.items, len(self.items)
        super().merge(other_chat_ctx, **how)  # appended
        added = {item.id: item for item in items[count:]}
        if added:
            del items[count:]
            at = 0
            for item in other_chat_ctx.items:
                if (new := added.get(item.id)) is not None:
                    items.insert(at, new)
                    at += 1
                elif (known := self.index_by_id(item.id)) is not None:
                    at = known + 1
        return self


class CallSession(AgentSession[U]):
    """An AgentSession that does not retain its event history and keeps items in order.

    livekit-agents 1.8.9 keeps every event of a session, the user's words included, for a report at
    the end of the job: 12 KiB a turn, half of a text conversation's memory. A call emits its own
    events and is recorded by its journal; the report is not used.
    """

    tap_output: Callable[[AudioOutput], AudioOutput] | None = None
    """Wraps the audio output, which livekit sets while the session starts."""
    wrap_tail: Callable[[AudioOutput], AudioOutput] | None = None
    """Wraps the output at the end of the chain of audio outputs."""
    on_playback_finished: Callable[[PlaybackFinishedEvent], None] | None = None
    """Called when a reply was played or interrupted, before livekit reads the event."""
    _tail: AudioOutput | None = None

    def _on_audio_output_changed(self) -> None:
        output = self.output.audio
        if output is not None:
            show_words_steadily(output)
        if self.wrap_tail is not None and output is not None:
            output = self._with_tail(output, self.wrap_tail)
        if self.tap_output is not None and output is not None:
            self.output._audio_sink = output = self.tap_output(output)
        if self.on_playback_finished is not None and output is not None:
            output.on("playback_finished", event_handler(self.on_playback_finished))
        super()._on_audio_output_changed()

    def _with_tail(
        self, output: AudioOutput, wrap: Callable[[AudioOutput], AudioOutput]
    ) -> AudioOutput:
        tail = output
        while tail.next_in_chain is not None:
            tail = tail.next_in_chain
        if tail is self._tail:  # wrapped already
            return output
        self._tail = tail
        if tail is output:
            self.output._audio_sink = output = wrap(tail)
        else:
            self.output.replace_audio_tail(wrap(tail))
        return output

    @property
    def usage(self) -> AgentSessionUsage:
        """The usage so far by model; livekit-agents 1.8.9 makes deep copies for every request."""
        collected = vars(self._usage_collector).values()
        return AgentSessionUsage([one.model_copy() for kind in collected for one in kind.values()])

    @property
    def _chat_ctx(self) -> ChatContext:
        return self._items

    @_chat_ctx.setter
    def _chat_ctx(self, given: ChatContext) -> None:
        self._items = History(given.items)

    def emit(self, event: EventTypes, arg: AgentEvent) -> None:
        """Emit an event without retaining it."""
        handlers = tuple(self._events.get(event, ()))
        if all(getattr(handler, "__signature__", None) is _ONE_EVENT for handler in handlers):
            for handler in handlers:  # their signature is known
                handler(arg)
        else:
            EventEmitter.emit(self, event, arg)
