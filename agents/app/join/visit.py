"""One user's conversation in a room: they say something on their turn, until the call ends."""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from livekit import rtc

from agents.app.app import AnyApp
from agents.app.join.client import (
    LINK_BROKEN,
    NOT_YET,
    AgentJoined,
    AgentLeft,
    ClientEvent,
    ConnectionChanged,
    EndNotice,
    HeardText,
    NoAgent,
    RoomClient,
    SaidText,
    StateNotice,
    TurnNotice,
)
from agents.app.join.displays import JoinedRoom, RoomDisplay
from agents.app.join.room_access import RoomAccess
from agents.app.join.sound import Sound
from agents.app.terminal.input import InputLines
from agents.app.terminal.signals import on_signals

if TYPE_CHECKING:
    from agents.handoff import EndReason

logger = logging.getLogger(__name__)

FIRST_TURN_S = 20.0
"""How long to wait for the first turn notice before the user may speak anyway, in seconds."""

ANSWER_S = 60.0
"""How long a reply may take, reconnecting included, in seconds."""

SAYING_S = 30.0
"""How long sending the user's words is retried, in seconds."""

_SEEN_S = 2.0
"""How long to wait for the state's version named by the turn notice, in seconds."""

_AGAIN_S = 0.5
_FORBIDDEN = 4003


class NoSpeech(Exception):
    """The agent neither hears nor speaks."""


class Visit:
    """A user in a room.

    Args:
        access: Joins the room.
        typed: Whether the input is typed interactively; else it comes from a pipe or a file.
        sound: The user's microphone and loudspeaker; without them the user types.
    """

    def __init__(
        self,
        app: AnyApp,
        access: RoomAccess,
        front: RoomDisplay,
        lines: InputLines,
        *,
        typed: bool,
        room: str,
        identity: str,
        sound: Sound | None = None,
    ) -> None:
        self.place = JoinedRoom(room, identity, {})
        self.unheard: OSError | None = None
        """Why stdout can no longer be written to."""
        self._app = app
        self._access = access
        self._front = front
        self._lines = lines
        self._typed = typed
        self._sound = sound
        self._client = RoomClient(app.noun, app.prefix, self._take)
        self._view: Mapping[str, Any] = {}
        self._over: EndReason | None = None
        self._turn: Mapping[str, Any] | None = None
        self._said_turn = 0
        self._happened = asyncio.Event()
        self._to_do = asyncio.Event()
        self._met = False
        self._newest = 0
        self._early: list[Callable[[], None]] | None = []
        """Output that waits until the room and the state have been shown."""

    async def run(self, *, fresh: bool, resume_code: str | None, again: str) -> "EndReason":
        """Join, have the conversation, and leave; returns why it ended.

        Args:
            fresh: Whether the room has to be created.
            resume_code: Resumes a state from another room.
            again: This command as it was called, for the hint how to resume.

        Raises:
            Unreachable: The server cannot be reached.
            KeysRefused: The server rejects the keys.
            NoAgent: No agent came.
            NoSpeech: The agent neither hears nor speaks.
            rtc.RpcError: The agent rejects this user.
        """
        with on_signals(lambda: self._end("user_left")):
            if fresh:
                await self._access.open(self.place.room)
            await self._access.join(self._client.room, self.place.room, self.place.identity)
            tending: asyncio.Task[None] | None = None
            try:
                self._client.take_notices()
                if self._sound is not None:  # an agent looks for a microphone when it comes
                    await self._sound.open(self._client.room)
                if not self._client.agents:
                    await self._access.dispatch_agent(
                        self.place.room, self.place.identity, resume_code
                    )
                await self._meet()
                self._open()
                tending = asyncio.create_task(self._tend())
                if self._sound is None:
                    await self._talk()
                else:
                    await self._talk_aloud(self._sound)
                await self._last_look()
            finally:
                if self._sound is not None:
                    await self._sound.aclose()
                if tending is not None:
                    tending.cancel()
                    await asyncio.wait([tending])
                await self._client.leave()
        self._lines.close()
        reason = self._over or "failed"
        going_on = self._how_to_go_on(again)
        self._show(lambda: self._front.closes(reason, self.place, self._view, going_on))
        return reason

    # -- talking --------------------------------------------------------------------------------------

    async def _talk(self) -> None:
        if not await self._until(self._is_my_turn, FIRST_TURN_S) and not self._over:
            self._tell("there was no turn notice: speak anyway")
        while self._over is None:
            await self._until(self._sees_the_state, _SEEN_S)
            self._show(self._front.typing)
            line = await self._lines.following()
            if line is None:
                self._end("user_left" if self._typed or self._lines.left else "input_ended")
                return
            self._show(partial(self._front.heard, line))
            if not await self._say(line):
                continue
            if await self._until(self._is_my_turn, ANSWER_S) or self._over:
                continue
            self._tell(f"there was no answer within {ANSWER_S:g} seconds")
            if not self._typed:
                self._end("failed")

    async def _talk_aloud(self, sound: Sound) -> None:
        """Let the user speak: a person, who may type as well, or a file, in its turn."""
        if sound.note:
            self._tell(sound.note)
        if not await self._until(lambda: sound.hears, ANSWER_S) and not self._over:
            raise NoSpeech
        if sound.utterances is None:
            if self._typed:
                await self._talk()
            else:
                await self._until(lambda: False, None)
            return
        if not await self._until(self._is_my_turn, ANSWER_S) and not self._over:
            self._tell("there was no turn notice: speak anyway")
        for number, utterance in enumerate(sound.utterances, start=1):
            if self._over is not None:
                return
            self._turn = None  # the next notice belongs to this utterance
            await sound.say(utterance)
            if not await self._until(self._is_my_turn, ANSWER_S) and not self._over:
                self._tell(f"utterance {number}: there was no answer within {ANSWER_S:g} seconds")
        self._end("input_ended")

    async def _say(self, text: str) -> bool:
        """Send the user's words exactly once, across reconnects and replacements of the agent."""
        key = secrets.token_hex(16)
        deadline = time.monotonic() + SAYING_S
        while self._over is None:
            try:
                reply = await self._client.ask("say", text=text, key=key)
                self._said_turn = int(reply["turn"])
                return True
            except (rtc.RpcError, NoAgent) as error:
                wait_s = _worth_another(error)
                if wait_s is None or time.monotonic() > deadline:
                    self._tell(f"your message was not delivered: {_reason(error)}")
                    if not self._typed:
                        self._end("failed")
                    return False
                if not isinstance(error, rtc.RpcError) or error.code in (*NOT_YET, _FORBIDDEN):
                    self._meet_again()  # the agent may have been replaced
            await self._until(lambda: False, wait_s)
        return False

    def _is_my_turn(self) -> bool:
        turn = self._turn
        if turn is None or turn.get("your_turn") is not True:
            return False
        number = turn.get("turn")
        return isinstance(number, int) and number >= self._said_turn

    def _sees_the_state(self) -> bool:
        told = self._turn.get("version") if self._turn is not None else None
        wanted = max(self._newest, told if isinstance(told, int) else 0)
        return self._version >= wanted

    @property
    def _version(self) -> int:
        version = self._view.get("version")
        return version if isinstance(version, int) else 0

    async def _until(self, fact: Callable[[], bool], limit_s: float | None) -> bool:
        """Wait for a condition, the end of the call, or a timeout; returns whether it holds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not fact() and self._over is None:
                    self._happened.clear()
                    await self._happened.wait()
        return fact()

    # -- the agent and the state -------------------------------------------------------------------------

    async def _meet(self) -> None:
        hello = await self._client.meet()
        self.place = JoinedRoom(self.place.room, self.place.identity, hello)
        self._see(await self._client.ask(f"{self._app.noun}.subscribe"))
        self._met = True

    async def _tend(self) -> None:
        """Greet every new agent and fetch every change of the state, one after another."""
        while True:
            await self._to_do.wait()
            self._to_do.clear()
            try:
                if not self._met:
                    await self._meet()
                    # An agent that took over may count fewer turns.
                    turn = self.place.hello.get("turn")
                    self._said_turn = min(self._said_turn, turn if isinstance(turn, int) else 0)
                elif self._version < self._newest:
                    self._see(await self._client.ask(f"get_{self._app.noun}_state"))
                else:
                    continue
                self._show(partial(self._front.state, self._view))
            except (rtc.RpcError, NoAgent, ValueError, KeyError):
                logger.debug("agent did not answer", exc_info=True)
                self._to_do.set()
                await asyncio.sleep(_AGAIN_S)
            self._happened.set()

    def _see(self, reply: Mapping[str, Any]) -> None:
        view = reply[self._app.noun]
        if isinstance(view, dict):
            self._view = {**view, "version": reply["version"]}

    async def _last_look(self) -> None:
        """Fetch the final state, if it can still be read."""
        if self._client.agents and self._client.room.isconnected():
            with suppress(rtc.RpcError, NoAgent, ValueError, KeyError, TimeoutError):
                async with asyncio.timeout(_SEEN_S):
                    self._see(await self._client.ask(f"get_{self._app.noun}_state"))

    def _meet_again(self) -> None:
        self._met = False
        self._to_do.set()

    # -- incoming events ---------------------------------------------------------------------------------

    def _take(self, event: ClientEvent) -> None:
        match event:
            case SaidText():
                self._show(lambda: self._front.said(event.agent or self._known_agent(), event.text))
            case HeardText():
                if self._sound is not None:
                    self._show(lambda: self._front.heard(event.text))
            case TurnNotice():
                self._turn = event.data
                self._show(lambda: self._front.your_turn(event.data))
            case StateNotice():
                self._newest = max(self._newest, event.version)
                self._to_do.set()
            case EndNotice():
                self._end(event.reason)
            case AgentJoined():
                if self._met:
                    self._meet_again()
            case AgentLeft():
                if not event.by_itself:
                    self._tell("the agent has left the room, and no other came")
                self._end("agent_ended" if event.by_itself else "failed")
            case ConnectionChanged(state="reconnecting"):
                self._tell("connection lost: reconnecting")
            case ConnectionChanged(state="back"):
                self._tell("reconnected")
                if self._met:
                    self._meet_again()
            case ConnectionChanged():
                if not event.closed:
                    self._tell("connection lost")
                self._end("agent_ended" if event.closed else "failed")
        self._happened.set()

    def _known_agent(self) -> str | None:
        agent = self._view.get("active_agent")
        return agent if isinstance(agent, str) else None

    def _end(self, reason: "EndReason") -> None:
        if self._over is None:
            self._over = reason
        self._lines.leave()
        self._happened.set()

    def _how_to_go_on(self, again: str) -> str:
        code = self.place.resume_code
        if code is None or self._app.summary_of(self._view).phase == "ended":
            return ""
        return f"{again} --resume {code}"

    def _tell(self, what: str) -> None:
        self._show(lambda: self._front.told(what))

    def _open(self) -> None:
        early, self._early = self._early or [], None
        self._show(lambda: self._front.opens(self.place, self._view))
        for show in early:
            self._show(show)

    def _show(self, show: Callable[[], None]) -> None:
        """Show something; if stdout is closed the user has left."""
        if self._early is not None:
            self._early.append(show)
            return
        if self.unheard is not None:
            return
        try:
            show()
        except OSError as error:
            self.unheard = error
            self._end("user_left")


def _worth_another(error: Exception) -> float | None:
    """Return how long to wait before a retry, in seconds; ``None`` if a retry is useless."""
    if not isinstance(error, rtc.RpcError) or error.code in (*NOT_YET, _FORBIDDEN):
        return _AGAIN_S
    told = error_object(error)
    if told.get("retryable") is not True:
        return None
    wait_ms = told.get("retry_after_ms")
    return wait_ms / 1000 if isinstance(wait_ms, int | float) else _AGAIN_S


def error_object(error: rtc.RpcError) -> dict[str, Any]:
    """Parse the error object in an RPC error's data."""
    with suppress(ValueError, TypeError):
        told = json.loads(error.data or "{}")
        if isinstance(told, dict):
            return told
    return {}


def _reason(error: Exception) -> str:
    if not isinstance(error, rtc.RpcError) or error.code in LINK_BROKEN:
        return "the agent does not answer"
    return f"{error.code} {error.message}"
