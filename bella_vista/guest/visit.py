"""One visit of a guest to a room: he says something when it is his turn, until somebody ends it."""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from livekit import rtc

from bella_vista.guest.client import (
    LINK_BROKEN,
    NOT_YET,
    AgentCame,
    AgentGone,
    CallEnded,
    Link,
    News,
    NoAgent,
    OrderMoved,
    RoomClient,
    Said,
    TurnTold,
)
from bella_vista.guest.entrance import Entrance
from bella_vista.guest.fronts import Front, Place, Reason
from bella_vista.terminal.lines import Lines
from bella_vista.terminal.signals import on_signals
from state.stages import ENDED

logger = logging.getLogger(__name__)

FIRST_TURN_S = 20.0
"""How long the guest waits to be told that it is his turn before he speaks all the same, in seconds."""

ANSWER_S = 60.0
"""How long an answer may take, in seconds, reconnecting included."""

SAYING_S = 30.0
"""How long it is tried to get a guest's words through, in seconds."""

_SEEN_S = 2.0
"""How long the order may take to be seen as it was when it became his turn, in seconds."""

_AGAIN_S = 0.5
_FORBIDDEN = 4003


class Visit:
    """A guest in a room.

    Args:
        entrance: The way in.
        front: Shows it.
        lines: What the guest says.
        typed: Whether he types it as it goes; else it comes from a pipe or a file.
        room: The room's name.
        identity: Who he is there.
    """

    def __init__(
        self,
        entrance: Entrance,
        front: Front,
        lines: Lines,
        *,
        typed: bool,
        room: str,
        identity: str,
    ) -> None:
        self.place = Place(room, identity, {})
        self.unheard: OSError | None = None
        """Why nobody can read what is said any more."""
        self._entrance = entrance
        self._front = front
        self._lines = lines
        self._typed = typed
        self._client = RoomClient(self._take)
        self._view: Mapping[str, Any] = {}
        self._over: Reason | None = None
        self._turn: Mapping[str, Any] | None = None
        self._said_turn = 0
        self._happened = asyncio.Event()
        self._to_do = asyncio.Event()
        self._met = False
        self._newest = 0
        self._early: list[Callable[[], None]] | None = []
        """What is to be shown once it has been shown where the guest has come to."""

    async def hold(self, *, fresh: bool, resume_code: str | None, again: str) -> Reason:
        """Go in, talk until somebody ends it, and leave; returns why it ended.

        Args:
            fresh: Whether the room is to be made.
            resume_code: Continues an order from another room.
            again: How this command is called, for telling how to go on.

        Raises:
            Unreachable: The server is not there.
            KeysRefused: It does not know the keys.
            NoAgent: No agent came.
            rtc.RpcError: The agent does not talk to this guest.
        """
        with on_signals(lambda: self._end("user_left")):
            if fresh:
                await self._entrance.open(self.place.room)
            await self._entrance.join(self._client.room, self.place.room, self.place.identity)
            tending: asyncio.Task[None] | None = None
            try:
                self._client.take_notices()
                if not self._client.agents:
                    await self._entrance.send_for_agent(
                        self.place.room, self.place.identity, resume_code
                    )
                await self._meet()
                self._open()
                tending = asyncio.create_task(self._tend())
                await self._talk()
                await self._last_look()
            finally:
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
            self._tell("nobody has said that it is your turn: speak all the same")
        while self._over is None:
            await self._until(self._sees_the_order, _SEEN_S)
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

    async def _say(self, text: str) -> bool:
        """Get the guest's words through, once, over whatever happens to the connection meanwhile."""
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
                    self._tell(f"your words did not get through: {_reason(error)}")
                    if not self._typed:
                        self._end("failed")
                    return False
                if not isinstance(error, rtc.RpcError) or error.code in (*NOT_YET, _FORBIDDEN):
                    self._meet_anew()  # who answered before may not be who is there now
            await self._until(lambda: False, wait_s)
        return False

    def _is_my_turn(self) -> bool:
        turn = self._turn
        if turn is None or turn.get("your_turn") is not True:
            return False
        number = turn.get("turn")
        return isinstance(number, int) and number >= self._said_turn

    def _sees_the_order(self) -> bool:
        told = self._turn.get("version") if self._turn is not None else None
        wanted = max(self._newest, told if isinstance(told, int) else 0)
        return self._version >= wanted

    @property
    def _version(self) -> int:
        version = self._view.get("version")
        return version if isinstance(version, int) else 0

    async def _until(self, fact: Callable[[], bool], limit_s: float) -> bool:
        """Wait until something is so, the visit is over, or the time is; returns whether it is so."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not fact() and self._over is None:
                    self._happened.clear()
                    await self._happened.wait()
        return fact()

    # -- knowing the agent and the order ---------------------------------------------------------------

    async def _meet(self) -> None:
        hello = await self._client.meet()
        self.place = Place(self.place.room, self.place.identity, hello)
        self._see(await self._client.ask("order.subscribe"))
        self._met = True

    async def _tend(self) -> None:
        """Get to know every new agent, and see every change of the order, one after the other."""
        while True:
            await self._to_do.wait()
            self._to_do.clear()
            try:
                if not self._met:
                    await self._meet()
                    # One that has taken over counts from where it knows of.
                    turn = self.place.hello.get("turn")
                    self._said_turn = min(self._said_turn, turn if isinstance(turn, int) else 0)
                elif self._version < self._newest:
                    self._see(await self._client.ask("get_order_state"))
                else:
                    continue
                self._show(partial(self._front.order, self._view))
            except (rtc.RpcError, NoAgent, ValueError, KeyError):
                logger.debug("the agent did not answer", exc_info=True)
                self._to_do.set()
                await asyncio.sleep(_AGAIN_S)
            self._happened.set()

    def _see(self, reply: Mapping[str, Any]) -> None:
        view = reply["order"]
        if isinstance(view, dict):
            self._view = {**view, "version": reply["version"]}

    async def _last_look(self) -> None:
        """See the order as it is left, if that can still be seen."""
        if self._client.agents and self._client.room.isconnected():
            with suppress(rtc.RpcError, NoAgent, ValueError, KeyError, TimeoutError):
                async with asyncio.timeout(_SEEN_S):
                    self._see(await self._client.ask("get_order_state"))

    def _meet_anew(self) -> None:
        self._met = False
        self._to_do.set()

    # -- what happens ---------------------------------------------------------------------------------

    def _take(self, news: News) -> None:
        match news:
            case Said():
                self._show(lambda: self._front.said(news.agent or self._known_agent(), news.text))
            case TurnTold():
                self._turn = news.data
                self._show(lambda: self._front.your_turn(news.data))
            case OrderMoved():
                self._newest = max(self._newest, news.version)
                self._to_do.set()
            case CallEnded():
                self._end(news.reason)
            case AgentCame():
                if self._met:
                    self._meet_anew()
            case AgentGone():
                if not news.by_itself:
                    self._tell("the house is gone from the room, and nobody else came")
                self._end("agent_ended" if news.by_itself else "failed")
            case Link(state="reconnecting"):
                self._tell("the connection is broken: reconnecting")
            case Link(state="back"):
                self._tell("connected again")
                if self._met:
                    self._meet_anew()
            case Link():
                if not news.closed:
                    self._tell("the connection is lost")
                self._end("agent_ended" if news.closed else "failed")
        self._happened.set()

    def _known_agent(self) -> str | None:
        agent = self._view.get("active_agent")
        return agent if isinstance(agent, str) else None

    def _end(self, reason: Reason) -> None:
        if self._over is None:
            self._over = reason
        self._lines.leave()
        self._happened.set()

    def _how_to_go_on(self, again: str) -> str:
        code = self.place.resume_code
        if code is None or self._view.get("stage") in ENDED:
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
        """Show something, unless nobody reads any more: then the guest has left."""
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
    """How long to wait before the same is asked once more, in seconds; ``None`` when it is no use."""
    if not isinstance(error, rtc.RpcError) or error.code in (*NOT_YET, _FORBIDDEN):
        return _AGAIN_S
    told = error_object(error)
    if told.get("retryable") is not True:
        return None
    wait_ms = told.get("retry_after_ms")
    return wait_ms / 1000 if isinstance(wait_ms, int | float) else _AGAIN_S


def error_object(error: rtc.RpcError) -> dict[str, Any]:
    """Read what an agent says of an error beside its code and its message."""
    with suppress(ValueError, TypeError):
        told = json.loads(error.data or "{}")
        if isinstance(told, dict):
            return told
    return {}


def _reason(error: Exception) -> str:
    if not isinstance(error, rtc.RpcError) or error.code in LINK_BROKEN:
        return "nobody answers"
    return f"{error.code} {error.message}"
