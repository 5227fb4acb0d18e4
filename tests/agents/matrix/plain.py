"""The same hotel, written by hand on livekit-agents alone: typed tools, a dataclass as ``userdata``, no guard.

It is what the documentation of livekit-agents 1.8.9 shows, and as careful as that: the row's failure is
livekit's, not this application's. When a test against it fails after an upgrade, a guard of ours may go.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from livekit.agents import Agent, AgentSession, RunContext, ToolError, function_tool

from tests.agents.handoff.raw_model import Part, RawModel
from tests.agents.matrix.stage import GREETING, Aloud, Channel, Loudspeaker, numbered

QUIET_S = 60.0
"""How long is listened after the guest has spoken."""


@dataclass
class Data:
    """What the hand-written hotel knows of a guest's stay."""

    guest: str | None = None
    nights: int = 0
    tickets: list[str] = field(default_factory=list)


class PlainAgent(Aloud, Agent):
    """What the hand-written agents share."""

    def __init__(self, **more: Any) -> None:
        super().__init__(instructions="You work in a hotel.", **more)

    async def on_enter(self) -> None:
        self.session.generate_reply(instructions="Greet the guest.", tool_choice="none")

    def carried(self) -> Any:
        return self.chat_ctx.copy(
            exclude_instructions=True,
            exclude_handoff=True,
            exclude_config_update=True,
            exclude_function_call=True,
        )

    @function_tool
    async def set_guest(self, ctx: RunContext[Data], name: str) -> str:
        """Write down the guest's name."""
        ctx.userdata.guest = name
        return "Done."

    @function_tool
    async def transfer_to_reception(self, ctx: RunContext[Data]) -> Agent:
        """When the guest wants a room."""
        return PlainReception(chat_ctx=self.carried())


class PlainReception(PlainAgent):
    """The reception by hand."""

    @function_tool
    async def add_nights(self, ctx: RunContext[Data], nights: int) -> str:
        """Book more nights."""
        if ctx.userdata.nights + nights > 14:
            raise ToolError("Two weeks at most.")
        ctx.userdata.nights += nights
        return "Done."

    @function_tool
    async def add_nights_slowly(self, ctx: RunContext[Data], nights: int) -> str:
        """Book more nights, asking the house's computer meanwhile."""
        before = ctx.userdata.nights
        await asyncio.sleep(1.0)
        ctx.userdata.nights = before + nights
        return "Done."

    @function_tool
    async def book_and_fail(self, ctx: RunContext[Data]) -> str:
        """Book a night; the key machine fails after it."""
        ctx.userdata.nights += 1
        raise RuntimeError("the key machine is broken")

    @function_tool
    async def wait_for_ever(self, ctx: RunContext[Data]) -> str:
        """Ask a house that never answers."""
        await asyncio.sleep(3600)
        return "They answered."

    @function_tool
    async def transfer_to_bar(self, ctx: RunContext[Data]) -> Agent:
        """When the guest is thirsty."""
        return PlainBar(chat_ctx=self.carried())

    @function_tool
    async def transfer_to_concierge(self, ctx: RunContext[Data]) -> Agent:
        """When the guest wants to go out."""
        if not ctx.userdata.nights:
            raise ToolError("The guest has booked no night yet.")
        return PlainConcierge(chat_ctx=self.carried())


class PlainBar(PlainAgent):
    """The bar by hand."""


class PlainConcierge(PlainAgent):
    """The concierge by hand."""


class BusyReception(Aloud, Agent):
    """A reception that may hand over at once, as may the next agent."""

    def __init__(self, **more: Any) -> None:
        super().__init__(instructions="You work in a hotel.", **more)

    async def on_enter(self) -> None:
        self.session.generate_reply()

    @function_tool
    async def transfer_to_bar(self, ctx: RunContext[Data]) -> Agent:
        """When the guest is thirsty."""
        return BusyBar(chat_ctx=self.chat_ctx)


class BusyBar(Aloud, Agent):
    """A bar that does the same."""

    def __init__(self, **more: Any) -> None:
        super().__init__(instructions="You work in a bar.", **more)

    async def on_enter(self) -> None:
        self.session.generate_reply()

    @function_tool
    async def transfer_to_reception(self, ctx: RunContext[Data]) -> Agent:
        """When the guest wants a room."""
        return BusyReception(chat_ctx=self.chat_ctx)


class Plain:
    """One call of the hand-written hotel, with what was heard of it."""

    def __init__(
        self,
        replies: Sequence[Sequence[Part]],
        channel: Channel = "text",
        *,
        data: Data | None = None,
        first: Agent | None = None,
        greeting: Sequence[Part] = (GREETING,),
    ) -> None:
        self.model = RawModel(greeting, *numbered(replies))
        self.data = data or Data()
        self.heard: list[str] = []
        self.closed = False
        self._first = first or PlainReception()
        self.session: AgentSession[Data] = AgentSession(
            userdata=self.data,
            llm=self.model,
            vad=None,
            turn_handling={"turn_detection": None},
            user_away_timeout=None,
            max_tool_steps=8,
        )
        if channel == "aloud":
            self.session.output.audio = Loudspeaker()

    async def __aenter__(self) -> Self:
        self.session.on("conversation_item_added", self._note)
        self.session.on("close", lambda event: setattr(self, "closed", True))
        await self.session.start(self._first, session_host=False, record=False)
        await asyncio.sleep(5.0)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.aclose()

    def _note(self, event: Any) -> None:
        item = event.item
        if item.type == "message" and item.role == "assistant" and not item.interrupted:
            self.heard.append(item.text_content or "")

    async def user_says(self, words: str, *, listen_s: float = QUIET_S) -> None:
        """Say something as livekit's own text input does, and listen for a minute."""
        self.user_says_nowait(words)
        await asyncio.sleep(listen_s)

    def user_says_nowait(self, words: str) -> None:
        """Say something as livekit's own text input does."""
        self.session.interrupt()
        self.session.generate_reply(user_input=words)

    @property
    def said(self) -> list[str]:
        """What was heard to its end, after the greeting."""
        return self.heard[1:]

    @property
    def speaker(self) -> str:
        return type(self.session.current_agent).__name__.removeprefix("Plain").lower()
