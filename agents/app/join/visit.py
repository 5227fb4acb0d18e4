"""One user's conversation in a room: they type or speak at each turn, until the call ends."""

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
    """The agent has no speech."""


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
        display: RoomDisplay,
        lines: InputLines,
        *,
        typed: bool,
        room: str,
        identity: str,
        sound: Sound | None = None,
    ) -> None:
        self.place = JoinedRoom(room, identity, {})
        self.output_error: OSError | None = None
        """Why stdout can no longer be written to."""
        self._app = app
        self._access = access
        self._display = display
        self._lines = lines
        self._typed = typed
        self._sound = sound
        self._client = RoomClient(app.noun, app.prefix, self._on_event)
        self._view: Mapping[str, Any] = {}
        self._ended: EndReason | None = None
        self._turn: Mapping[str, Any] | None = None
        self._said_turn = 0
        self._changed = asyncio.Event()
        self._sync_needed = asyncio.Event()
        self._greeted = False
        self._newest_version = 0
        self._queued_output: list[Callable[[], None]] | None = []
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
            NoAgent: No agent joined.
            NoSpeech: The agent has no speech.
            rtc.RpcError: The agent rejects this user.
        """
        with on_signals(lambda: self._finish("user_left")):
            if fresh:
                await self._access.open(self.place.room)
            await self._access.join(self._client.room, self.place.room, self.place.identity)
            syncing: asyncio.Task[None] | None = None
            try:
                self._client.take_notices()
                if self._sound is not None:  # an agent that joins checks for a microphone
                    await self._sound.open(self._client.room)
                if not self._client.agents:
                    await self._access.dispatch_agent(
                        self.place.room, self.place.identity, resume_code
                    )
                await self._say_hello()
                self._show_opening()
                syncing = asyncio.create_task(self._sync())
                if self._sound is None:
                    await self._converse()
                else:
                    await self._converse_aloud(self._sound)
                await self._fetch_final_state()
            finally:
                if self._sound is not None:
                    await self._sound.aclose()
                if syncing is not None:
                    syncing.cancel()
                    await asyncio.wait([syncing])
                await self._client.leave()
        self._lines.close()
        reason = self._ended or "failed"
        resume_command = self._resume_command(again)
        self._show(lambda: self._display.closes(reason, self.place, self._view, resume_command))
        return reason

    # -- talking --------------------------------------------------------------------------------------

    async def _converse(self) -> None:
        if not await self._until(self._is_users_turn, FIRST_TURN_S) and not self._ended:
            self._show_problem("there was no turn notice: speak anyway")
        while self._ended is None:
            await self._until(self._is_state_current, _SEEN_S)
            self._show(self._display.typing)
            line = await self._lines.following()
            if line is None:
                self._finish("user_left" if self._typed or self._lines.left else "input_ended")
                return
            self._show(partial(self._display.heard, line))
            if not await self._say(line):
                continue
            if await self._until(self._is_users_turn, ANSWER_S) or self._ended:
                continue
            self._show_problem(f"there was no answer within {ANSWER_S:g} seconds")
            if not self._typed:
                self._finish("failed")

    async def _converse_aloud(self, sound: Sound) -> None:
        """Let the user speak: a person, who may also type, or the utterances of a file."""
        if sound.note:
            self._show_problem(sound.note)
        if not await self._until(lambda: sound.hears, ANSWER_S) and not self._ended:
            raise NoSpeech
        if sound.utterances is None:
            if self._typed:
                await self._converse()
            else:
                await self._until(lambda: False, None)
            return
        if not await self._until(self._is_users_turn, ANSWER_S) and not self._ended:
            self._show_problem("there was no turn notice: speak anyway")
        for number, utterance in enumerate(sound.utterances, start=1):
            if self._ended is not None:
                return
            self._turn = None  # the next notice belongs to this utterance
            await sound.say(utterance)
            if not await self._until(self._is_users_turn, ANSWER_S) and not self._ended:
                self._show_problem(
                    f"utterance {number}: there was no answer within {ANSWER_S:g} seconds"
                )
        self._finish("input_ended")

    async def _say(self, text: str) -> bool:
        """Send the user's words exactly once, even if the agent reconnects or is replaced."""
        key = secrets.token_hex(16)
        deadline = time.monotonic() + SAYING_S
        while self._ended is None:
            try:
                reply = await self._client.ask("say", text=text, key=key)
                self._said_turn = int(reply["turn"])
                return True
            except (rtc.RpcError, NoAgent) as error:
                wait_s = _retry_delay(error)
                if wait_s is None or time.monotonic() > deadline:
                    self._show_problem(f"your message was not delivered: {_reason(error)}")
                    if not self._typed:
                        self._finish("failed")
                    return False
                if not isinstance(error, rtc.RpcError) or error.code in (*NOT_YET, _FORBIDDEN):
                    self._say_hello_again()  # the agent may have been replaced
            await self._until(lambda: False, wait_s)
        return False

    def _is_users_turn(self) -> bool:
        turn = self._turn
        if turn is None or turn.get("your_turn") is not True:
            return False
        number = turn.get("turn")
        return isinstance(number, int) and number >= self._said_turn

    def _is_state_current(self) -> bool:
        noticed_version = self._turn.get("version") if self._turn is not None else None
        wanted = max(
            self._newest_version, noticed_version if isinstance(noticed_version, int) else 0
        )
        return self._version >= wanted

    @property
    def _version(self) -> int:
        version = self._view.get("version")
        return version if isinstance(version, int) else 0

    async def _until(self, fact: Callable[[], bool], limit_s: float | None) -> bool:
        """Wait for a condition, the end of the call, or a timeout; returns whether it holds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not fact() and self._ended is None:
                    self._changed.clear()
                    await self._changed.wait()
        return fact()

    # -- the agent and the state -------------------------------------------------------------------------

    async def _say_hello(self) -> None:
        hello = await self._client.meet()
        self.place = JoinedRoom(self.place.room, self.place.identity, hello)
        self._update_view(await self._client.ask(f"{self._app.noun}.subscribe"))
        self._greeted = True

    async def _sync(self) -> None:
        """Call ``hello`` of every new agent and fetch every change of the state, one at a time."""
        while True:
            await self._sync_needed.wait()
            self._sync_needed.clear()
            try:
                if not self._greeted:
                    await self._say_hello()
                    # An agent that took over may have counted fewer turns.
                    turn = self.place.hello.get("turn")
                    self._said_turn = min(self._said_turn, turn if isinstance(turn, int) else 0)
                elif self._version < self._newest_version:
                    self._update_view(await self._client.ask(f"get_{self._app.noun}_state"))
                else:
                    continue
                self._show(partial(self._display.state, self._view))
            except (rtc.RpcError, NoAgent, ValueError, KeyError):
                logger.debug("agent did not answer", exc_info=True)
                self._sync_needed.set()
                await asyncio.sleep(_AGAIN_S)
            self._changed.set()

    def _update_view(self, reply: Mapping[str, Any]) -> None:
        view = reply[self._app.noun]
        if isinstance(view, dict):
            self._view = {**view, "version": reply["version"]}

    async def _fetch_final_state(self) -> None:
        """Fetch the final state, if it can still be read."""
        if self._client.agents and self._client.room.isconnected():
            with suppress(rtc.RpcError, NoAgent, ValueError, KeyError, TimeoutError):
                async with asyncio.timeout(_SEEN_S):
                    self._update_view(await self._client.ask(f"get_{self._app.noun}_state"))

    def _say_hello_again(self) -> None:
        self._greeted = False
        self._sync_needed.set()

    # -- incoming events ---------------------------------------------------------------------------------

    def _on_event(self, event: ClientEvent) -> None:
        match event:
            case SaidText():
                self._show(
                    lambda: self._display.said(event.agent or self._known_agent(), event.text)
                )
            case HeardText():
                if self._sound is not None:
                    self._show(lambda: self._display.heard(event.text))
            case TurnNotice():
                self._turn = event.data
                self._show(lambda: self._display.your_turn(event.data))
            case StateNotice():
                self._newest_version = max(self._newest_version, event.version)
                self._sync_needed.set()
            case EndNotice():
                self._finish(event.reason)
            case AgentJoined():
                if self._greeted:
                    self._say_hello_again()
            case AgentLeft():
                if not event.by_itself:
                    self._show_problem("the agent has left the room, and no other came")
                self._finish("agent_ended" if event.by_itself else "failed")
            case ConnectionChanged(state="reconnecting"):
                self._show_problem("connection lost: reconnecting")
            case ConnectionChanged(state="back"):
                self._show_problem("reconnected")
                if self._greeted:
                    self._say_hello_again()
            case ConnectionChanged():
                if not event.closed:
                    self._show_problem("connection lost")
                self._finish("agent_ended" if event.closed else "failed")
        self._changed.set()

    def _known_agent(self) -> str | None:
        agent = self._view.get("active_agent")
        return agent if isinstance(agent, str) else None

    def _finish(self, reason: "EndReason") -> None:
        if self._ended is None:
            self._ended = reason
        self._lines.leave()
        self._changed.set()

    def _resume_command(self, again: str) -> str:
        code = self.place.resume_code
        if code is None or self._app.summary_of(self._view).phase == "ended":
            return ""
        return f"{again} --resume {code}"

    def _show_problem(self, text: str) -> None:
        self._show(lambda: self._display.problem(text))

    def _show_opening(self) -> None:
        early, self._queued_output = self._queued_output or [], None
        self._show(lambda: self._display.opens(self.place, self._view))
        for show in early:
            self._show(show)

    def _show(self, show: Callable[[], None]) -> None:
        """Show something; if stdout is closed the user has left."""
        if self._queued_output is not None:
            self._queued_output.append(show)
            return
        if self.output_error is not None:
            return
        try:
            show()
        except OSError as error:
            self.output_error = error
            self._finish("user_left")


def _retry_delay(error: Exception) -> float | None:
    """Return how long to wait before a retry, in seconds; ``None`` if a retry is useless."""
    if not isinstance(error, rtc.RpcError) or error.code in (*NOT_YET, _FORBIDDEN):
        return _AGAIN_S
    fields = error_object(error)
    if fields.get("retryable") is not True:
        return None
    wait_ms = fields.get("retry_after_ms")
    return wait_ms / 1000 if isinstance(wait_ms, int | float) else _AGAIN_S


def error_object(error: rtc.RpcError) -> dict[str, Any]:
    """Parse the error object in an RPC error's data."""
    with suppress(ValueError, TypeError):
        fields = json.loads(error.data or "{}")
        if isinstance(fields, dict):
            return fields
    return {}


def _reason(error: Exception) -> str:
    if not isinstance(error, rtc.RpcError) or error.code in LINK_BROKEN:
        return "the agent does not answer"
    return f"{error.code} {error.message}"
