"""What a model is asked, and how often: a guest's whole evening through four agents, and fifty handoffs."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from livekit.agents.llm import ChatContext, Tool, ToolContext

from agents.handoff import DATA_MARK
from tests.benchmarks.applications import HOTEL, RESTAURANT, TWELVE_TURNS, handoff
from tests.benchmarks.played import characters, texts
from tests.benchmarks.report import Table, ms
from tests.benchmarks.sides import Side

MOST_CHARACTERS = 13_500
HANDOFFS = 50


def measure() -> list[Table]:
    """Count requests and their characters on both sides."""
    return [asyncio.run(_evening()), asyncio.run(_handoffs())]


@dataclass
class Asked:
    """What a model was asked in one call.

    Args:
        requests: How often.
        said: Characters of messages and tool traffic.
        instructed: Characters of the agents' instructions.
        unknowing: How many requests did not show the state.
        schemas: Seconds it takes to write the tools down as an OpenAI-compatible plugin does.
    """

    requests: int = 0
    said: int = 0
    instructed: int = 0
    unknowing: int = 0
    schemas: float = 0.0

    def take(self, context: ChatContext, tools: Sequence[Tool]) -> None:
        """Count one request in."""
        shown = list(texts(context))
        instructed = sum(len(text) for role, text in shown if role in ("system", "developer"))
        self.requests += 1
        self.instructed += instructed
        self.said += characters(context) - instructed
        self.unknowing += not any(text.startswith(DATA_MARK) for _, text in shown)
        known = ToolContext([*tools])
        start = time.perf_counter()
        known.parse_function_tools("openai", strict=True)
        self.schemas += time.perf_counter() - start


async def _evening() -> Table:
    steps = RESTAURANT.script(TWELVE_TURNS)
    plain = await _asked(RESTAURANT.by_hand(steps))
    ours = await _asked(RESTAURANT.ours(steps))
    table = Table(
        "A call of twelve turns through four agents",
        ("plain", "ours"),
        note="The restaurant's own agents; the greeting is left out. Both sides have the same instructions."
        " By hand the last six messages travel with a handoff, and no agent is shown the order. A provider's"
        " plugin writes the schemas of the offered tools anew for every request.",
    )
    table.add(
        "model calls",
        f"{plain.requests}",
        f"{ours.requests}",
        measured=ours.requests,
        budget=plain.requests,
    )
    table.add(
        "characters of messages",
        f"{plain.said:,}",
        f"{ours.said:,}",
        measured=ours.said,
        budget=MOST_CHARACTERS,
    )
    table.add(
        "requests that do not show the state",
        f"{plain.unknowing}",
        f"{ours.unknowing}",
        measured=ours.unknowing,
        budget=0,
    )
    table.add("characters of instructions", f"{plain.instructed:,}", f"{ours.instructed:,}")
    table.add("writing the tools' schemas, ms", ms(plain.schemas), ms(ours.schemas))
    return table


async def _asked(side: Side) -> Asked:
    asked = Asked()
    await side.open()
    side.model.watch = asked.take
    for turn in TWELVE_TURNS:
        await side.hears(turn.words)
    await side.close()
    return asked


async def _handoffs() -> Table:
    turns = [
        handoff("And now?", "bar" if at % 2 == 0 else "reception", "Here I am.")
        for at in range(HANDOFFS)
    ]
    side = HOTEL.ours(HOTEL.script(turns))
    openings: list[int] = []
    asked: list[int] = []
    side.model.watch = lambda context, tools: asked.append(characters(context))
    await side.open()
    for turn in turns:
        await side.hears(turn.words)
        openings.append(asked[-1])
    await side.close()
    table = Table("Fifty handoffs in one call of the hotel", ("first time back", "last", "growth"))
    first, last = openings[1], openings[-1]
    table.add(
        "characters of the opening's request",
        f"{first}",
        f"{last}",
        f"{last - first}",
        measured=last - first,
        budget=0,
    )
    return table
