"""A guest who speaks lines to a real call, and what came of each."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from livekit.agents.llm import LLM
from pydantic import BaseModel

from agents.handoff import (
    Call,
    Ended,
    Event,
    HandedOver,
    HandoffRefused,
    Heard,
    Said,
    StateChanged,
    ToolUsed,
    YourTurn,
    start_text,
    stop,
)
from agents.testing.scripted import ScriptedLLM

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


async def until(fact: Callable[[], bool]) -> None:
    """Let the event loop run until something is so: what a test does instead of sleeping.

    Raises:
        ConversationError: It is still not so after a great many rounds of the loop.
    """
    for _ in range(100_000):
        if fact():
            return
        await asyncio.sleep(0)
    raise ConversationError("what the test waited for never came about")


class ConversationError(AssertionError):
    """The conversation did not come to the guest's turn."""


@dataclass
class Turn:
    """Everything that happened between two of the guest's turns, in order."""

    number: int
    events: list[Event] = field(default_factory=list)

    @property
    def said(self) -> list[str]:
        """What the agents said."""
        return [event.text for event in self.events if isinstance(event, Said)]

    @property
    def tools(self) -> list[ToolUsed]:
        """The tools that ended, transfers excluded."""
        return [event for event in self.events if isinstance(event, ToolUsed)]

    @property
    def handoffs(self) -> list[tuple[str, str]]:
        """Who handed over to whom."""
        return [
            (event.source, event.target) for event in self.events if isinstance(event, HandedOver)
        ]

    @property
    def refused(self) -> list[HandoffRefused]:
        """The handoffs that were asked for and did not happen."""
        return [event for event in self.events if isinstance(event, HandoffRefused)]

    @property
    def commands(self) -> list[str]:
        """The ops of every change of the state, handoffs included."""
        return [
            op for event in self.events if isinstance(event, StateChanged) for op in event.commands
        ]

    @property
    def heard(self) -> list[str]:
        """What was let in of the guest's words."""
        return [event.text for event in self.events if isinstance(event, Heard)]

    @property
    def your_turns(self) -> list[YourTurn]:
        """The notices that it is the guest's turn; there should be one."""
        return [event for event in self.events if isinstance(event, YourTurn)]

    @property
    def ended(self) -> Ended | None:
        """The end of the call, if it came in this turn."""
        return next((event for event in self.events if isinstance(event, Ended)), None)


class Conversation(Generic[S, C]):
    """A text call under test; a context manager that opens it and closes it.

    Leaving it without an exception checks that a scripted model was played to its last step.

    Args:
        call: The call, fresh.
        model: The language model of its agents.
        patience_s: How long a turn may take before it counts as hanging, in seconds.

    Raises:
        ConversationError: A turn never ended.
        ScriptError: The script had a step too few or too many.
    """

    def __init__(self, call: Call[S, C], model: LLM[Any], *, patience_s: float = 20.0) -> None:
        self.call = call
        self.model = model
        self.turns: list[Turn] = [Turn(0)]
        """Every turn so far; the first is the greeting."""
        self._patience_s = patience_s

    @property
    def state(self) -> S:
        """The present state."""
        return self.call.state

    @property
    def greeting(self) -> Turn:
        """What happened before the guest said anything."""
        return self.turns[0]

    @property
    def events(self) -> Iterable[Event]:
        """Everything that happened so far, in order."""
        return (event for turn in self.turns for event in turn.events)

    async def __aenter__(self) -> Self:
        self._stop_listening = self.call.listen(lambda event: self.turns[-1].events.append(event))
        await self._start()
        try:
            await self._until_guests_turn()
        except (
            BaseException
        ):  # whatever stops the greeting, a cancellation too, must not leave the session
            await stop(self.call)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop_listening()
        await stop(self.call)
        if kind is None and isinstance(self.model, ScriptedLLM):
            self.model.finished()

    async def hears(self, text: str) -> Turn:
        """Say something to the agents and wait until it is the guest's turn again."""
        turn = self.say(text)
        await self._until_guests_turn()
        return turn

    def say(self, text: str) -> Turn:
        """Say something and go on at once: into a reply, or into a handoff."""
        turn = Turn(self.call.turn + 1)
        self.turns.append(turn)
        self.call.hear(text)
        return turn

    async def answered(self) -> None:
        """Wait until it is the guest's turn, or the call has ended."""
        await self._until_guests_turn()

    async def _start(self) -> None:
        await start_text(self.call, self.model)

    async def _until_guests_turn(self) -> None:
        try:
            async with asyncio.timeout(self._patience_s):
                await self.call.answered()
        except TimeoutError:
            raise ConversationError(
                f"turn {self.turns[-1].number} did not end; it came to {self.turns[-1].events}"
            ) from None
