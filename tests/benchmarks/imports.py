"""What it costs to import what a call of the server wires, beside what livekit costs by itself."""

from tests.benchmarks.fresh import measured_code
from tests.benchmarks.measuring import Spread
from tests.benchmarks.report import Table, ms

MOST_MS = 60.0

LIVEKIT = """
import time, json
start = time.perf_counter()
import livekit.agents
from livekit.plugins import cartesia, deepgram, openai, silero
livekit = time.perf_counter()
"""
ALONE = LIVEKIT + 'print(json.dumps({"livekit": livekit - start}))'
WITH_OURS = (
    LIVEKIT
    + """
import bella_vista.app
ours = time.perf_counter()
print(json.dumps({"livekit": livekit - start, "ours": ours - livekit}))
"""
)
UNCOLLECTED = WITH_OURS.replace("import bella_vista", "import gc; gc.disable()\nimport bella_vista")


def measure(rounds: int) -> list[Table]:
    """Import in fresh processes, in turn."""
    alone, ours, uncollected = [], [], []
    for _ in range(rounds):
        alone.append(measured_code(ALONE)["livekit"])
        ours.append(measured_code(WITH_OURS)["ours"])
        uncollected.append(measured_code(UNCOLLECTED)["ours"])
    table = Table(
        "Importing, ms",
        ("median", "quartiles"),
        note="Ours is what comes on top once livekit.agents and its plugins are there. One pass of the"
        " garbage collector over all that livekit has left falls into it by chance; the last line leaves"
        " it out.",
    )
    _add(table, "livekit.agents and its plugins", alone)
    _add(table, "ours on top", ours, budget=MOST_MS)
    _add(table, "ours on top, nothing collected", uncollected)
    return [table]


def _add(table: Table, name: str, taken: list[float], budget: float | None = None) -> None:
    spread = Spread.of(taken)
    table.add(
        name,
        ms(spread.median, 0),
        f"{ms(spread.low, 0)}-{ms(spread.high, 0)}",
        measured=round(spread.median * 1000, 1),
        budget=budget,
    )
