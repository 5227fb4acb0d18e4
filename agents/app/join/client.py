"""A user's client in a room: finds the agent, calls its methods, and reports events."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from livekit import rtc

from agents.app.background import Timer

if TYPE_CHECKING:
    from agents.handoff import EndReason

ACTIVE_AGENT = "active_agent"
"""The attribute that names an agent: on a transcription the speaker; on the agent's participant, with
the application's prefix, the active agent."""

_FINAL_ATTRIBUTE = "lk.transcription_final"
"""The attribute of a transcription that will not change."""

LINK_BROKEN = (1401, 1501, 1502, 1503, 1505)
"""The RPC errors of livekit 1.1.21 for a call that did not reach the agent, or whose reply was lost."""

NOT_YET = (1400, *LINK_BROKEN)
"""The RPC errors of a call while the agent is still joining."""

_BEGINNING = (5003, 5004)
"""The errors of a hello while a call is still starting."""

_END_REASONS: "Mapping[str, EndReason]" = {
    "agent_ended": "agent_ended",
    "user_left": "user_left",
    "moved": "agent_ended",  # the call continues elsewhere, so here it has ended normally
    "failed": "failed",
}

_ACKNOWLEDGE_S = 2.0
"""How long an agent may take to acknowledge a call, in seconds: a dead agent remains a participant for
a while."""

_READ_LIMIT_S = 1.0
"""How long a notice or a transcription waits for the transcriptions sent before it, in seconds."""

_REPLY_S = 10.0
_RETRY_S = 0.25

AGENT_LIMIT_S = 20.0
"""How long an agent may take to join the room, or rejoin it, in seconds."""

_LEFT_LIMIT_S = 3.0
"""How long a successor may take after the last agent left by itself, in seconds."""


@dataclass(frozen=True, slots=True)
class SaidText:
    """An agent said this text, which is complete; the agent is ``None`` if unknown."""

    agent: str | None
    text: str


@dataclass(frozen=True, slots=True)
class HeardText:
    """The user said this text, as the agent heard it; it is complete."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnNotice:
    """A turn notice; its payload says whether it is the user's turn."""

    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StateNotice:
    """The state has changed; this is its new version."""

    version: int


@dataclass(frozen=True, slots=True)
class ConnectionChanged:
    """The connection to the room changed.

    Args:
        state: ``reconnecting``, ``back``, or ``lost`` for good.
        closed: Whether the room was closed, or the user removed from it.
    """

    state: str
    closed: bool = False


@dataclass(frozen=True, slots=True)
class AgentJoined:
    """An agent joined the room."""


@dataclass(frozen=True, slots=True)
class AgentLeft:
    """The last agent has left and no other joined in time; ``by_itself`` if it was not removed."""

    by_itself: bool


@dataclass(frozen=True, slots=True)
class EndNotice:
    """The agent reports that the call is over, and why."""

    reason: "EndReason"


ClientEvent = (
    SaidText
    | HeardText
    | TurnNotice
    | StateNotice
    | ConnectionChanged
    | AgentJoined
    | AgentLeft
    | EndNotice
)


class NoAgent(Exception):
    """No agent answered in time."""


class RoomClient:
    """One user in one room.

    Args:
        tell: Called with each event in the event loop; it must not block.
    """

    def __init__(self, noun: str, prefix: str, tell: Callable[[ClientEvent], None]) -> None:
        self._noun = noun
        self._active_agent = f"{prefix}.{ACTIVE_AGENT}"
        self.room = rtc.Room()
        self._on_event = tell
        self._agent: str | None = None
        self._readers: set[asyncio.Task[None]] = set()
        self._newest_reader: asyncio.Task[None] | None = None
        self._in_order = asyncio.Lock()
        self._leaving = False
        self._agent_timer = Timer(lambda by_itself: tell(AgentLeft(by_itself)))
        room = self.room
        room.register_text_stream_handler("lk.transcription", self._on_stream)
        room.on("reconnecting", lambda: tell(ConnectionChanged("reconnecting")))
        room.on("reconnected", lambda: tell(ConnectionChanged("back")))
        room.on("disconnected", self._on_disconnected)
        room.on("participant_connected", self._on_participant_connected)
        room.on("participant_disconnected", self._on_participant_disconnected)

    def take_notices(self) -> None:
        """Register the RPC methods that the agent calls, once the room is joined."""
        own = self.room.local_participant
        own.register_rpc_method("your_turn_to_speak", self._on_turn_notice)
        own.register_rpc_method(f"{self._noun}_state_changed", self._on_state_notice)
        own.register_rpc_method("call_ended", self._on_end_notice)

    @property
    def agents(self) -> list[str]:
        """The identities of the agents in the room, newest first."""
        kind = rtc.ParticipantKind.PARTICIPANT_KIND_AGENT
        found = [one for one in self.room.remote_participants.values() if one.kind == kind]
        found.sort(key=lambda one: one.joined_at.timestamp() if one.joined_at else 0, reverse=True)
        return [one.identity for one in found]

    async def meet(self) -> dict[str, Any]:
        """Call ``hello`` until an agent answers; later calls go to that agent.

        Raises:
            NoAgent: No agent answered in time.
            rtc.RpcError: The agent rejects this user.
        """
        deadline = time.monotonic() + AGENT_LIMIT_S
        while True:
            for identity in self.agents:
                try:
                    reply = await self._call(identity, "hello", "")
                    hello = json.loads(reply)
                except rtc.RpcError as error:
                    if error.code not in (*NOT_YET, *_BEGINNING):
                        raise
                except ValueError:
                    pass  # another application's agent
                else:
                    self._agent = identity
                    return dict(hello)
            if time.monotonic() > deadline:
                raise NoAgent
            await asyncio.sleep(_RETRY_S)

    async def call(self, method: str, payload: str) -> str:
        """Call the agent that answered; returns the raw reply.

        Raises:
            NoAgent: No agent answered before, and none is in the room.
            rtc.RpcError: The call failed.
        """
        identity = self._agent or next(iter(self.agents), None)
        if identity is None:
            raise NoAgent
        return await self._call(identity, method, payload)

    async def ask(self, method: str, **fields: object) -> dict[str, Any]:
        """Call the agent that answered with a JSON object; returns a JSON object.

        Raises:
            rtc.RpcError: The call failed.
        """
        return dict(json.loads(await self.call(method, json.dumps(fields))))

    async def leave(self) -> None:
        """Leave the room, and wait for messages that are still arriving; call it once."""
        self._leaving = True
        self._agent_timer.stop()
        await self.room.disconnect()
        # If the server has closed the room, ``disconnect`` returns while livekit's own task still
        # runs.
        listening: asyncio.Task[None] | None = getattr(self.room, "_task", None)
        if listening is not None:
            await asyncio.wait([listening], timeout=_READ_LIMIT_S)
        while self._readers:
            await asyncio.gather(*self._readers, return_exceptions=True)

    async def _call(self, identity: str, method: str, payload: str) -> str:
        return await self.room.local_participant.perform_rpc(
            destination_identity=identity,
            method=method,
            payload=payload,
            response_timeout=_REPLY_S,
            max_round_trip_latency=_ACKNOWLEDGE_S,
        )

    # -- incoming ----------------------------------------------------------------------------------------

    async def _on_turn_notice(self, data: rtc.RpcInvocationData) -> str:
        await self._wait_for_readers()
        self._handle_notice(data, lambda notice: self._on_event(TurnNotice(notice)))
        return ""

    async def _on_end_notice(self, data: rtc.RpcInvocationData) -> str:
        await self._wait_for_readers()
        self._handle_notice(
            data, lambda notice: self._on_event(EndNotice(_END_REASONS[notice["reason"]]))
        )
        return ""

    async def _wait_for_readers(self) -> None:
        """Wait for the transcriptions sent before a notice, which are read in tasks of their own."""
        async with self._in_order:
            if self._readers:
                await asyncio.wait(self._readers, timeout=_READ_LIMIT_S)

    async def _on_state_notice(self, data: rtc.RpcInvocationData) -> str:
        self._handle_notice(
            data, lambda notice: self._on_event(StateNotice(int(notice["version"])))
        )
        return ""

    def _handle_notice(
        self, data: rtc.RpcInvocationData, take: Callable[[dict[str, Any]], None]
    ) -> None:
        # Any participant may call this; only agents are trusted, since the server sets their kind.
        if data.caller_identity not in self.agents:
            return
        try:
            take(dict(json.loads(data.payload)))
        except (ValueError, TypeError, KeyError):
            return

    def _on_stream(self, reader: rtc.TextStreamReader, identity: str) -> None:
        attributes = reader.info.attributes or {}
        heard = identity not in self.agents
        if heard:
            own = identity == self.room.local_participant.identity
            if not own or attributes.get(_FINAL_ATTRIBUTE) != "true":
                return
        task = asyncio.create_task(self._read(reader, identity, self._newest_reader, heard=heard))
        self._newest_reader = task
        self._readers.add(task)
        task.add_done_callback(self._readers.discard)

    async def _read(
        self,
        reader: rtc.TextStreamReader,
        identity: str,
        before: asyncio.Task[None] | None,
        *,
        heard: bool,
    ) -> None:
        try:
            text = await reader.read_all()
        except Exception:  # livekit 1.1.21 raises several types when a stream breaks off
            return
        agent = (reader.info.attributes or {}).get(ACTIVE_AGENT)
        if agent is None and (speaker := self.room.remote_participants.get(identity)) is not None:
            agent = speaker.attributes.get(self._active_agent)
        if before is not None:  # on a busy machine a later text may be complete first
            await asyncio.wait([before], timeout=_READ_LIMIT_S)
        if text.strip():
            self._on_event(HeardText(text) if heard else SaidText(agent, text))

    def _on_participant_connected(self, participant: rtc.RemoteParticipant) -> None:
        if participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT:
            self._agent_timer.stop()
            self._on_event(AgentJoined())

    def _on_participant_disconnected(self, participant: rtc.RemoteParticipant) -> None:
        if participant.kind != rtc.ParticipantKind.PARTICIPANT_KIND_AGENT:
            return
        if participant.identity == self._agent:
            self._agent = None
        if self.agents or self._leaving:
            return
        by_itself = participant.disconnect_reason == rtc.DisconnectReason.CLIENT_INITIATED
        self._agent_timer.start(_LEFT_LIMIT_S if by_itself else AGENT_LIMIT_S, by_itself)

    def _on_disconnected(self, reason: object) -> None:
        self._agent_timer.stop()
        if not self._leaving:
            closed = (
                rtc.DisconnectReason.ROOM_DELETED,
                rtc.DisconnectReason.ROOM_CLOSED,
                rtc.DisconnectReason.PARTICIPANT_REMOVED,
            )
            self._on_event(ConnectionChanged("lost", closed=reason in closed))
