"""The two sides of every comparison: a call of ours, and one that was written by hand on livekit-agents.

Both hear the same words and are answered by the same played model, without audio, voice detection or turn
detection. A turn is over when the session listens and everything that belongs to it has been said.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from livekit.agents import Agent, AgentSession

from agents.handoff import Call, start_text, stop
from agents.testing import Step
from tests.benchmarks.measuring import Samples, Watch
from tests.benchmarks.played import PlayedLLM

OPENING = "opening"
"""The kind under which the opening of a call is timed."""


@dataclass(frozen=True)
class GuestTurn:
    """One thing the guest says.

    Args:
        kind: What kind of turn it is; turns of the same kind are compared.
        words: What the user says.
        steps: What the model does about it.
    """

    kind: str
    words: str
    steps: tuple[Step, ...]


class Side(Protocol):
    """One conversation, held by one of the two."""

    model: PlayedLLM

    async def open(self) -> None:
        """Start the session and let the first agent greet."""

    async def hears(self, words: str) -> None:
        """Say something and wait until everything has been answered."""

    def said(self) -> list[str]:
        """Return what the agents have said so far."""
        ...

    async def close(self) -> None:
        """Let go of everything."""


class Ours:
    """A call of this framework.

    Args:
        call: Fresh.
        model: Plays its script.
    """

    def __init__(self, call: Call[Any, Any], model: PlayedLLM) -> None:
        self.call = call
        self.model = model

    async def open(self) -> None:
        await start_text(self.call, self.model)
        await self.call.answered()

    async def hears(self, words: str) -> None:
        self.call.user_said(words)
        await self.call.answered()

    def said(self) -> list[str]:
        return _said(self.call.session)

    async def close(self) -> None:
        await stop(self.call)


class ByHand:
    """A session of hand-written agents.

    Args:
        first: The agent that greets.
        userdata: What the agents share.
        model: Plays its script.
    """

    def __init__(self, first: Agent, userdata: object, model: PlayedLLM) -> None:
        self.model = model
        self.userdata = userdata
        self._first = first
        self._session = self.session(
            userdata=userdata,
            llm=model,
            vad=None,
            turn_handling={"turn_detection": None},
            max_tool_steps=8,
            user_away_timeout=None,
        )
        self._spoken = False
        self._answered = asyncio.get_running_loop().create_future()
        self._session.on("conversation_item_added", self._on_item)
        self._session.on("agent_state_changed", self._on_state)

    def session(self, **how: Any) -> AgentSession[Any]:
        """Make the session."""
        return AgentSession(**how)

    def say(self, words: str) -> None:
        """Have the words answered."""
        self._session.generate_reply(user_input=words)

    async def open(self) -> None:
        await self._session.start(self._first, session_host=False, record=False)
        await self._answered

    async def hears(self, words: str) -> None:
        self._spoken, self._answered = False, asyncio.get_running_loop().create_future()
        self.say(words)
        await self._answered

    def said(self) -> list[str]:
        return _said(self._session)

    async def close(self) -> None:
        await self._session.aclose()

    def _on_item(self, event: Any) -> None:
        self._spoken = self._spoken or getattr(event.item, "role", None) == "assistant"

    def _on_state(self, event: Any) -> None:
        if event.new_state == "listening" and self._spoken and not self._answered.done():
            self._answered.set_result(None)


def _said(session: AgentSession[Any]) -> list[str]:
    return [
        (item.text_content or "").strip()
        for item in session.history.items
        if item.type == "message" and item.role == "assistant"
    ]


def script(greeting: Step, turns: Sequence[GuestTurn]) -> list[Step]:
    """Everything the model does in a call."""
    return [greeting, *(step for turn in turns for step in turn.steps)]


async def timed(
    opened: Callable[[], Awaitable[Side]],
    turns: Sequence[GuestTurn],
    after: Callable[[str, Samples], Awaitable[None]] | None = None,
) -> Samples:
    """Hold a call to its end and time its opening and each turn, by kind.

    Args:
        opened: Makes the side: what that takes belongs to the opening, which ends when the greeting was said.
        turns: What is said.
        after: Done after each turn, and no part of its time; told the turn's kind.

    Raises:
        RuntimeError: The model was not asked for all of its script.
    """
    times: Samples = {}
    with Watch(times, OPENING):
        side = await opened()
        await side.open()
    for turn in turns:
        with Watch(times, turn.kind):
            await side.hears(turn.words)
        if after is not None:
            await after(turn.kind, times)
    if not side.model.over():
        raise RuntimeError("the model was not asked for all of its script")
    await side.close()
    return times
