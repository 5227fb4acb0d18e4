"""What it costs to import the server and what its calls need, beside what livekit costs by itself."""

from tests.benchmarks.fresh import measured_code
from tests.benchmarks.measuring import Spread
from tests.benchmarks.report import Table, ms

MOST_MS = 60.0

LIVEKIT = """
import time, json
from importlib import import_module
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
server = time.perf_counter()
for name in bella_vista.app.PRELOAD:
    import_module(name)
calls = time.perf_counter()
print(json.dumps({"livekit": livekit - start, "server": server - livekit, "calls": calls - server}))
"""
)
UNCOLLECTED = WITH_OURS.replace("import bella_vista", "import gc; gc.disable()\nimport bella_vista")


def measure(rounds: int) -> list[Table]:
    """Import in fresh processes, in turn."""
    alone, server, calls, uncollected = [], [], [], []
    for _ in range(rounds):
        alone.append(measured_code(ALONE)["livekit"])
        ours = measured_code(WITH_OURS)
        server.append(ours["server"])
        calls.append(ours["calls"])
        uncollected.append(measured_code(UNCOLLECTED)["calls"])
    table = Table(
        "Importing, ms",
        ("median", "quartiles"),
        note="Each comes on top of the lines before it. What calls need is imported once, by the process that"
        " theirs are forked from. One pass of the garbage collector over all that livekit has left falls into"
        " that by chance; the last line leaves it out.",
    )
    _add(table, "livekit.agents and its plugins", alone)
    _add(table, "bella_vista.app: the server", server, budget=MOST_MS)
    _add(table, "what its calls need", calls)
    _add(table, "what its calls need, nothing collected", uncollected)
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
