"""Runs a call in text and records what happens in each turn."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
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
from agents.testing.waiting import ConversationError

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


@dataclass
class Turn:
    """Everything that happened between two of the user's turns, in order."""

    number: int
    events: list[Event] = field(default_factory=list)

    @property
    def said(self) -> list[str]:
        """The agents' words."""
        return [event.text for event in self.events if isinstance(event, Said)]

    @property
    def tools(self) -> list[ToolUsed]:
        """The tools that ended, transfers excluded."""
        return [event for event in self.events if isinstance(event, ToolUsed)]

    @property
    def handoffs(self) -> list[tuple[str, str]]:
        """The handoffs, as source and target."""
        return [
            (event.source, event.target) for event in self.events if isinstance(event, HandedOver)
        ]

    @property
    def refused(self) -> list[HandoffRefused]:
        """The handoffs that were requested and did not happen."""
        return [event for event in self.events if isinstance(event, HandoffRefused)]

    @property
    def commands(self) -> list[str]:
        """The ops of every state change, handoffs included."""
        return [
            op for event in self.events if isinstance(event, StateChanged) for op in event.commands
        ]

    @property
    def heard(self) -> list[str]:
        """The user's words, redacted."""
        return [event.text for event in self.events if isinstance(event, Heard)]

    @property
    def your_turns(self) -> list[YourTurn]:
        """The notices that it is the user's turn; there should be one."""
        return [event for event in self.events if isinstance(event, YourTurn)]

    @property
    def ended(self) -> Ended | None:
        """The end of the call, if it was in this turn."""
        return next((event for event in self.events if isinstance(event, Ended)), None)


class Conversation(Generic[S, C]):
    """A text call under test; a context manager that starts and closes it.

    On a normal exit it checks that scripted models were played to their last step.

    Args:
        call: The call, not started.
        model: The language model of its agents without their own.
        llm_by_agent: As for ``start_text``.
        patience_s: How long a turn may take before the test fails, in seconds.

    Raises:
        ConversationError: A turn did not end.
        ScriptError: The script had a step too few or too many.
    """

    def __init__(
        self,
        call: Call[S, C],
        model: LLM[Any],
        *,
        llm_by_agent: "Mapping[str, LLM[Any] | Callable[[], LLM[Any]]] | None" = None,
        patience_s: float = 20.0,
    ) -> None:
        self.call = call
        self.model = model
        self.llm_by_agent = llm_by_agent or {}
        self.turns: list[Turn] = [Turn(0)]
        """Every turn so far; the first is the greeting."""
        self._patience_s = patience_s

    @property
    def state(self) -> S:
        """The current state."""
        return self.call.state

    @property
    def greeting(self) -> Turn:
        """The events before the user's first message."""
        return self.turns[0]

    @property
    def events(self) -> Iterable[Event]:
        """Everything that happened so far, in order."""
        return (event for turn in self.turns for event in turn.events)

    def what_happened(self) -> str:
        """Return the events of every turn, one a line."""
        return "\n".join(
            f"turn {turn.number}: {event}" for turn in self.turns for event in turn.events
        )

    async def __aenter__(self) -> Self:
        self._unsubscribe = self.call.subscribe(lambda event: self.turns[-1].events.append(event))
        await self._start()
        try:
            await self._until_users_turn()
        except BaseException:  # close the session whatever stops the greeting, also a cancellation
            await stop(self.call)
            raise
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        self._unsubscribe()
        await stop(self.call)
        if kind is None:
            for model in (self.model, *self.llm_by_agent.values()):
                if isinstance(model, ScriptedLLM):
                    model.finished()

    async def user_says(self, text: str) -> Turn:
        """Say something to the agents and wait until it is the user's turn again."""
        turn = self.user_says_nowait(text)
        await self._until_users_turn()
        return turn

    def user_says_nowait(self, text: str) -> Turn:
        """Say something without waiting: into a reply, or into a handoff."""
        turn = Turn(self.call.turn + 1)
        self.turns.append(turn)
        self.call.user_said(text)
        return turn

    async def answered(self) -> None:
        """Wait until it is the user's turn, or the call has ended."""
        await self._until_users_turn()

    async def results_told(self) -> None:
        """Wait until slow actions have ended and their results have been told."""
        try:
            async with asyncio.timeout(self._patience_s):
                await self.call.slow_tools.told()
        except TimeoutError:
            raise ConversationError(
                f"a slow action did not end, or was not told\n{self.what_happened()}"
            ) from None

    async def _start(self) -> None:
        await start_text(self.call, self.model, llm_by_agent=self.llm_by_agent)

    async def _until_users_turn(self) -> None:
        try:
            async with asyncio.timeout(self._patience_s):
                await self.call.answered()
        except TimeoutError:
            raise ConversationError(
                f"turn {self.turns[-1].number} did not end\n{self.what_happened()}"
            ) from None
