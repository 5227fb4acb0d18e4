"""The hotel's call as a guest meets it, in text or aloud, and all that must hold of it after any row."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from livekit import rtc
from livekit.agents import AgentSession, ModelSettings
from livekit.agents.voice import io

from agents.handoff import (
    Agent,
    Call,
    CallPolicy,
    Ended,
    Event,
    Graph,
    HandedOver,
    HandoffRefused,
    Said,
    ToolUsed,
    TurnWithdrawn,
    YourTurn,
    start_text,
    stop,
)
from agents.handoff.agent_base import AgentBase
from agents.handoff.sessions import CONNECT
from agents.testing.waiting import ConversationError, report
from state.shared import Entry, NotStored, SharedState
from state.shared.journal import VersionTaken
from tests.agents.handoff.raw_model import Part, RawModel
from tests.agents.hotel import Stay, hotel_graph

Channel = Literal["text", "aloud"]
CHANNELS: tuple[Channel, ...] = ("text", "aloud")

GREETING = "Good evening."
TROUBLE = "I am sorry, I lost the thread for a moment. Could you say that again?"
CANNED = "Good evening, one moment please."
SENTENCE_S = 2.0
"""How long a sentence takes to be heard."""
PATIENCE_S = 120.0
"""How long a turn may take, of the loop's clock, before it counts as silence."""
QUIET_S = 40.0
"""How long is listened after a turn whether anything else is said."""


async def until(fact: Callable[[], bool]) -> None:
    """Wait for a fact, step by step; when the steps are over, the clock has to be able to move."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for _ in range(100):
                    if fact():
                        return
                    await asyncio.sleep(0)
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise ConversationError(report(fact, f"{PATIENCE_S:g} s of the loop's clock")) from None


class Loudspeaker(io.AudioOutput):
    """Plays each sentence for two seconds, unless the guest interrupts."""

    def __init__(self) -> None:
        super().__init__(
            label="test", capabilities=io.AudioOutputCapabilities(pause=False), sample_rate=24000
        )
        self._end: asyncio.TimerHandle | None = None
        self._playing = False

    @property
    def playing(self) -> bool:
        """Whether a sentence is being heard."""
        return self._playing

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        if not self._playing:
            self._playing = True
            self.on_playback_started(created_at=0.0)

    def flush(self) -> None:
        super().flush()
        if self._playing and self._end is None:
            self._end = asyncio.get_running_loop().call_later(SENTENCE_S, self._finish, False)

    def clear_buffer(self) -> None:
        if self._playing:
            self._finish(True)

    def _finish(self, interrupted: bool) -> None:
        if self._end is not None:
            self._end.cancel()
        self._playing, self._end = False, None
        self.on_playback_finished(
            playback_position=0.01, interrupted=interrupted, synchronized_transcript=None
        )


class Aloud:
    """What gives an agent a sound, if the session wants one."""

    async def tts_node(
        self, text: AsyncIterable[str], model_settings: ModelSettings
    ) -> AsyncIterator[rtc.AudioFrame]:
        async for _ in text:
            yield rtc.AudioFrame(
                data=b"\x00\x00" * 240,
                sample_rate=24000,
                num_channels=1,
                samples_per_channel=240,
            )


def aloud(agent: type[AgentBase[Any, Any]]) -> type[AgentBase[Any, Any]]:
    """The same agent, which can be heard."""
    return type(agent.__name__, (Aloud, agent), {})


class Disk:
    """A journal in memory: slow, out of order or dead for as long as the test says."""

    def __init__(self) -> None:
        self.rows: list[Entry] = []
        self.asked = 0
        self.takes_s = 0.0
        self.fails = False

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        self.asked += 1
        return asyncio.ensure_future(self._write(entry))

    async def _write(self, entry: Entry) -> None:
        await asyncio.sleep(self.takes_s)
        if self.fails:
            raise NotStored("the disk is full")
        if any(row.version == entry.version for row in self.rows):
            raise VersionTaken
        self.rows.append(entry)

    def others_write(self, state: str, *, touched: tuple[str, ...]) -> None:
        """Put the next version there, as staff do beside a call."""
        last = self.rows[-1] if self.rows else None
        version = last.version + 1 if last else 1
        speaker = last.speaker if last else None
        self.rows.append(Entry(version, (), state, speaker, "staff", touched=touched))

    async def after(self, version: int) -> list[Entry]:
        return [row for row in self.rows if row.version > version]


FRESH = "*"
"""Stands for a call id of its own, in a reply that is given to a stage."""


def numbered(replies: Sequence[Sequence[Part]]) -> list[tuple[Part, ...]]:
    """The same replies, each call with an id of its own where it says so."""
    return [
        tuple(
            (part[0], part[1], f"call_{reply}_{place}")
            if isinstance(part, tuple) and part[2] == FRESH
            else part
            for place, part in enumerate(parts)
        )
        for reply, parts in enumerate(replies)
    ]


@dataclass(frozen=True)
class Application:
    """An application whose calls are put through the matrix.

    Args:
        name: Its name.
        shared: Makes a call's state over a journal.
        graph: Its agents and handoffs.
        policy: Its decisions about a call over a state.
        write: A tool call that every one of its agents may make.
        written: Whether the write is in the state.
    """

    name: str
    shared: Callable[[Disk], SharedState[Any, Any]]
    graph: Callable[[], Graph[Any]]
    policy: Callable[[SharedState[Any, Any]], CallPolicy[Any, Any]]
    write: Part
    written: Callable[[Any], bool]

    def __str__(self) -> str:
        return self.name


HOTEL = Application(
    name="hotel",
    shared=lambda disk: SharedState(Stay(), None, journal=disk),
    graph=hotel_graph,
    policy=lambda shared: CallPolicy(),
    write=("set_guest", '{"name": "Grace"}', None),
    written=lambda stay: stay.guest == "Grace",
)


class Talk:
    """One call, of the hotel unless said otherwise, with everything that happened in it.

    Args:
        replies: What the model gives, reply by reply, after the greeting. One more or one less than is
            asked for fails the test.
        channel: In text, or with a loudspeaker.
        stay: What is known at the start.
        agents: Those that take the place of the hotel's.
        application: Whose call it is.
        policy: As the hotel's call takes them.
    """

    def __init__(
        self,
        replies: Sequence[Sequence[Part]],
        channel: Channel = "text",
        *,
        stay: Stay | None = None,
        agents: Sequence[type[Agent[Any, Any]]] = (),
        graph: Graph[Stay] | None = None,
        greeting: Sequence[Part] = (GREETING,),
        disk: Disk | None = None,
        application: Application = HOTEL,
        **policy: Any,
    ) -> None:
        plan = graph or application.graph()
        mine = {**application.graph().agents, **{agent.name: agent for agent in agents}}
        self.disk = disk or Disk()
        self.model = RawModel(greeting, *numbered(replies))
        self.planned = 1 + len(replies)
        self.asks = CONNECT
        """How the session asks its models, where it is aloud."""
        self.channel = channel
        self.speaks_up = False
        """Whether an agent may speak up again unasked."""
        self.speaker = Loudspeaker()
        self.events: list[Event] = []
        self.application = application
        shared: SharedState[Any, Any] = (
            application.shared(self.disk)
            if stay is None
            else SharedState(stay, None, journal=self.disk)
        )
        self.call: Call[Any, Any] = Call(
            shared,
            Graph([aloud(agent) for agent in mine.values()], plan.handoffs, start=plan.start),
            CallPolicy(**policy) if policy else application.policy(shared),
        )

    async def __aenter__(self) -> Self:
        await self.begins()
        await self.until_turn()
        return self

    async def begins(self) -> None:
        """Start the session and do not wait for the greeting."""
        self.call.subscribe(self.events.append)
        if self.channel == "text":
            await start_text(self.call, self.model)
            return
        session: AgentSession[Any] = AgentSession(
            userdata=self.call,
            llm=self.model,
            vad=None,
            turn_handling={"turn_detection": None},
            user_away_timeout=None,
            max_tool_steps=8,
            conn_options=self.asks,
        )
        session.output.audio = self.speaker
        self.call.attach(session)
        await session.start(self.call.first_agent(), session_host=False, record=False)

    async def __aexit__(self, kind: object, *_: object) -> None:
        await stop(self.call)

    async def user_says(self, words: str) -> list[Event]:
        """Say something, and wait until it is the guest's turn again."""
        began = len(self.events)
        self.call.user_said(words)
        await self.until_turn()
        return self.events[began:]

    def what_happened(self) -> str:
        """Return every event, and how often the model was asked."""
        asked = f"the model was asked {len(self.model.asked)} times, {self.planned} were planned"
        return "\n".join([*map(str, self.events), asked])

    async def until_turn(self) -> None:
        """Wait until it is the guest's turn, or the call has ended."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self.call.answered()
        except TimeoutError:
            raise ConversationError(f"silence\n{self.what_happened()}") from None

    async def quiet(self) -> list[Event]:
        """Listen on for a while; returns what happens although nothing should."""
        before = len(self.events)
        await asyncio.sleep(QUIET_S)
        return self.events[before:]

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def said(self) -> list[str]:
        """What was heard to its end, after the greeting."""
        return [event.text for event in self.of(Said) if not event.interrupted][1:]

    @property
    def handoffs(self) -> list[str]:
        return [event.target for event in self.of(HandedOver)]

    @property
    def refused(self) -> list[str]:
        return [event.reason for event in self.of(HandoffRefused)]

    @property
    def outputs(self) -> list[str]:
        """What the tools answered, transfers excluded."""
        return [event.output for event in self.of(ToolUsed)]

    def shown(self) -> str:
        """Everything that any request showed to the model."""
        return "\n".join(text for asked in self.model.asked for text in texts(asked.items))

    def holds(self) -> None:
        """What must be true after whatever happened, once it is the guest's turn."""
        call, disk = self.call, self.disk
        assert call.shared.speaker in (None, call.speaker)
        assert [row.version for row in disk.rows] == list(range(1, call.shared.version + 1))
        if disk.rows:
            assert disk.rows[-1].state == call.state.model_dump_json()
            assert disk.rows[-1].speaker == call.shared.speaker
        assert not call.handing_over
        assert not call.turns.speeches
        assert not call.turns.queued
        assert not len(call.replies.pending_calls)
        assert not call.tools.final_tools_lock.locked()
        self.turns_hold()

    def turns_hold(self) -> None:
        """One notice for the last turn and at most one for each before it, in order and at the end.

        An agent that speaks up again unasked, because a slow tool has answered at last, gives a second.
        """
        if self.call.ended is None:
            assert isinstance(self.events[-1], YourTurn), self.events
            assert self.events[-1].agent == self.call.speaker
            assert self.events[-1].turn == self.call.turn
        else:
            assert isinstance(self.events[-1], Ended), self.events
        turns = [event.turn for event in self.of(YourTurn)]
        withdrawn = [event.turn for event in self.of(TurnWithdrawn)]
        assert turns == sorted([*set(turns), *withdrawn]), turns
        assert not withdrawn or self.speaks_up

    async def goes_on(self) -> None:
        """The next turn works like any other: a write, one sentence, one notice."""
        given = self.model.replies[: self.planned]
        given += [given[-1]] * (self.planned - len(given))
        self.model.replies = [
            *given,
            (self.application.write,),
            ("Noted, Grace.",),
        ]
        assert len(self.model.asked) == self.planned, (len(self.model.asked), self.events)
        happened = await self.user_says("I am Grace")
        assert self.application.written(self.call.state)
        assert [event.text for event in happened if isinstance(event, Said)] == ["Noted, Grace."]
        assert len([event for event in happened if isinstance(event, YourTurn)]) == 1
        assert len(self.model.asked) == self.planned + 2
        assert await self.quiet() == []
        self.holds()


def texts(items: Sequence[Any]) -> list[str]:
    """What a model was shown, item by item, as text."""
    shown = []
    for item in items:
        if item.type == "message":
            shown.append(f"{item.role}: {item.text_content}")
        elif item.type == "function_call":
            shown.append(f"call: {item.name} {item.arguments}")
        elif item.type == "function_call_output":
            shown.append(f"output: {item.output}")
    return shown
