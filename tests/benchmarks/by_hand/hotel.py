"""The hotel as a livekit developer writes it by hand: typed function tools over a dataclass."""

from dataclasses import dataclass, field
from typing import Any

from livekit.agents import Agent, RunContext, ToolError, function_tool

from tests.benchmarks.by_hand.carrying import carried

TWO_WEEKS = 14


@dataclass
class Stay:
    """What the agents keep: nothing that outlives them, and nothing that is checked."""

    guest: str | None = None
    nights: int = 0
    tickets: list[str] = field(default_factory=list)


class HotelAgent(Agent):
    """What all of them do."""

    def __init__(self, **more: Any) -> None:
        super().__init__(instructions="You work in a hotel.", **more)

    async def on_enter(self) -> None:
        self.session.generate_reply(instructions="Take over.", tool_choice="none")

    @function_tool
    async def set_guest(self, ctx: RunContext[Stay], name: str) -> str:
        """Write down the guest's name."""
        ctx.userdata.guest = name
        return "Done."

    @function_tool
    async def end_call(self, ctx: RunContext[Stay]) -> str:
        """End the call, when the guest says goodbye. Then say goodbye in one sentence."""
        return "Goodbye."


class Reception(HotelAgent):
    """The reception."""

    @function_tool
    async def add_nights(self, ctx: RunContext[Stay], nights: int) -> str:
        """Book more nights."""
        if ctx.userdata.nights + nights > TWO_WEEKS:
            raise ToolError("Two weeks at most.")
        ctx.userdata.nights += nights
        return "Done."

    @function_tool
    async def ask_rate(self, ctx: RunContext[Stay]) -> str:
        """What a night costs."""
        return "A night is 120 euros."

    @function_tool
    async def transfer_to_concierge(self, ctx: RunContext[Stay]) -> Agent:
        """When the guest wants to go out."""
        if not ctx.userdata.nights:
            raise ToolError("The guest has booked no night yet.")
        return Concierge(chat_ctx=carried(self))

    @function_tool
    async def transfer_to_bar(self, ctx: RunContext[Stay]) -> Agent:
        """When the guest is thirsty."""
        return Bar(chat_ctx=carried(self))


class Concierge(HotelAgent):
    """The concierge."""

    @function_tool
    async def buy_ticket(self, ctx: RunContext[Stay], show: str) -> str:
        """Buy a ticket for tonight."""
        ctx.userdata.tickets.append(show)
        return "Done."

    @function_tool
    async def transfer_to_reception(self, ctx: RunContext[Stay]) -> Agent:
        """When the guest wants more nights."""
        return Reception(chat_ctx=carried(self))


class Bar(HotelAgent):
    """The bar."""

    @function_tool
    async def transfer_to_reception(self, ctx: RunContext[Stay]) -> Agent:
        """When the guest wants a room."""
        return Reception(chat_ctx=carried(self))
