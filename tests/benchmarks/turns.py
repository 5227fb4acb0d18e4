"""What a turn costs beside hand-written livekit agents that keep nothing: medians, side by side.

Run by ``make bench``. Both sides answer the same words with the same played model, without voice
detection; rounds alternate, so that a machine that slows down slows both.
"""

import asyncio
import logging
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from livekit.agents import Agent, AgentSession, RunContext, function_tool

from agents.handoff import start_text, stop
from agents.testing import ScriptedLLM, Step, calls, says
from tests.agents.hotel import hotel

KINDS = ("text", "tool", "handoff")
BUDGETS = {"text": 1.10, "tool": 0.90, "handoff": 0.95}
EACH = 6
WORDS = "What about it?"

Times = dict[str, list[float]]


@dataclass
class Data:
    """What the hand-written agents keep: nothing that outlives them."""

    guest: str | None = None
    nights: int = 0


class PlainVoice(Agent):
    """What both hand-written agents do."""

    def __init__(self, **more: Any) -> None:
        super().__init__(instructions="You work in a hotel.", **more)

    async def on_enter(self) -> None:
        self.session.generate_reply(instructions="Take over.", tool_choice="none")

    def carried(self) -> Any:
        context = self.chat_ctx.copy(
            exclude_instructions=True,
            exclude_handoff=True,
            exclude_config_update=True,
            exclude_function_call=True,
        )
        return context.truncate(max_items=6)

    @function_tool
    async def set_guest(self, ctx: RunContext[Data], name: str) -> str:
        """Write down the guest's name."""
        ctx.userdata.guest = name
        return "Done."

    @function_tool
    async def end_call(self, ctx: RunContext[Data]) -> str:
        """End the call, when the guest says goodbye. Then say goodbye in one sentence."""
        return "Goodbye."


class PlainReception(PlainVoice):
    """The reception by hand."""

    @function_tool
    async def add_nights(self, ctx: RunContext[Data], nights: int) -> str:
        """Book more nights."""
        ctx.userdata.nights += nights
        return "Done."

    @function_tool
    async def ask_rate(self, ctx: RunContext[Data]) -> str:
        """What a night costs."""
        return "A night is 120 euros."

    @function_tool
    async def transfer_to_bar(self, ctx: RunContext[Data]) -> Agent:
        """When the guest is thirsty."""
        return PlainBar(chat_ctx=self.carried())

    @function_tool
    async def transfer_to_concierge(self, ctx: RunContext[Data]) -> Agent:
        """When the guest wants to go out."""
        return PlainBar(chat_ctx=self.carried())


class PlainBar(PlainVoice):
    """The bar by hand."""

    @function_tool
    async def transfer_to_reception(self, ctx: RunContext[Data]) -> Agent:
        """When the guest wants a room."""
        return PlainReception(chat_ctx=self.carried())


def script() -> list[Step]:
    """The same call for both sides: talk, tools, handoffs."""
    steps = [says("Good evening.")]
    steps += [says("It is sunny.") for _ in range(EACH)]
    for _ in range(EACH):
        steps += [calls(("set_guest", {"name": "Ada"})), says("Noted.")]
    for turn in range(EACH):
        target = "bar" if turn % 2 == 0 else "reception"
        steps += [calls(f"transfer_to_{target}"), says("Here I am.")]
    return steps


async def ours(times: Times) -> None:
    """Hold the call with this framework."""
    call, model = hotel(), ScriptedLLM(script())
    await start_text(call, model)
    await call.answered()
    for kind in KINDS:
        for _ in range(EACH):
            start = time.perf_counter()
            call.hear(WORDS)
            await call.answered()
            times[kind].append(time.perf_counter() - start)
    model.finished()
    await stop(call)


async def plain(times: Times) -> None:
    """Hold the same call with livekit-agents alone."""
    model = ScriptedLLM(script())
    session: AgentSession[Data] = AgentSession(
        userdata=Data(),
        llm=model,
        vad=None,
        turn_handling={"turn_detection": None},
        user_away_timeout=None,
    )
    spoke, due = 0, 1
    done = asyncio.get_running_loop().create_future()

    def on_item(event: Any) -> None:
        nonlocal spoke
        if getattr(event.item, "role", None) == "assistant":
            spoke += 1

    def on_state(event: Any) -> None:
        if event.new_state == "listening" and spoke >= due and not done.done():
            done.set_result(None)

    session.on("conversation_item_added", on_item)
    session.on("agent_state_changed", on_state)
    await session.start(PlainReception(), session_host=False, record=False)
    await done
    for kind in KINDS:
        for _ in range(EACH):
            due, done = spoke + 1, asyncio.get_running_loop().create_future()
            start = time.perf_counter()
            session.generate_reply(user_input=WORDS)
            await done
            times[kind].append(time.perf_counter() - start)
    model.finished()
    await session.aclose()


async def main(rounds: int) -> None:
    """Alternate the two sides and print a table."""
    sides: dict[str, Callable[[Times], Awaitable[None]]] = {"ours": ours, "plain": plain}
    results: dict[str, Times] = {name: {kind: [] for kind in KINDS} for name in sides}
    for side in sides.values():
        await side({kind: [] for kind in KINDS})
    for turn in range(rounds):
        for name in sides if turn % 2 == 0 else reversed(sides):
            await sides[name](results[name])
    met = 0
    write = sys.stdout.write
    write(f"{'turn':<10}{'ours ms':>10}{'plain ms':>10}{'ratio':>8}{'budget':>8}\n")
    for kind in KINDS:
        one, other = (statistics.median(results[name][kind]) * 1000 for name in ("ours", "plain"))
        ratio = one / other
        met += ratio <= BUDGETS[kind]
        missed = "" if ratio <= BUDGETS[kind] else "  missed"
        write(f"{kind:<10}{one:>10.2f}{other:>10.2f}{ratio:>8.2f}{BUDGETS[kind]:>8.2f}{missed}\n")
    write(f"budgets met: {met} of {len(KINDS)}\n")


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 30))
