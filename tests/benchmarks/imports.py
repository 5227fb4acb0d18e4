"""What it costs to import the server and what its calls need, beside what livekit costs by itself."""

from tests.benchmarks.fresh import measured_code
from tests.benchmarks.measuring import Spread
from tests.benchmarks.report import Table, ms

MOST_MS = 60.0

LIVEKIT = """
import time, json
from importlib import import_module
def at():
    return time.perf_counter(), time.process_time()
start = at()
import livekit.agents
from livekit.plugins import cartesia, deepgram, openai, silero
livekit = at()
def taken(**steps):
    print(json.dumps({name: [b - a for a, b in zip(*between)] for name, between in steps.items()}))
"""
ALONE = LIVEKIT + "taken(livekit=(start, livekit))"
WITH_OURS = (
    LIVEKIT
    + """
from bella_vista.app import APP
from agents.app.serving.app_worker import PRELOAD, make_app_worker
make_app_worker(APP, APP.settings.read())
server = at()
for name in (*PRELOAD, *APP.worker.preload):
    import_module(name)
calls = at()
taken(server=(livekit, server), calls=(server, calls))
"""
)
UNCOLLECTED = WITH_OURS.replace("from bella_vista", "import gc; gc.disable()\nfrom bella_vista")
OF_OTHERS = LIVEKIT + "import pydantic_settings\ntaken(others=(livekit, at()))"
"""What the server needs of other people's packages beside livekit's."""

SHARED = "import state.shared"
ONLY_SHARED = LIVEKIT + f"{SHARED}\ntaken(shared=(livekit, at()))"


def measure(rounds: int) -> list[Table]:
    """Import in fresh processes, in turn."""
    taken: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for code in (ALONE, ONLY_SHARED, OF_OTHERS, WITH_OURS):
            for name, times in measured_code(code).items():
                taken.setdefault(name, []).append(times)
        taken.setdefault("uncollected", []).append(measured_code(UNCOLLECTED)["calls"])
    table = Table(
        "Importing, ms",
        ("median", "quartiles", "processor"),
        note="The second, third and fourth line come on top of the first, what calls need on top of the server. It is"
        " imported once, by the process that theirs are forked from. One pass of the garbage collector over all that"
        " livekit has left falls into that by chance; the last line leaves it out.",
    )
    others = Spread.of([passed for passed, _ in taken["others"]]).median
    _add(table, "livekit.agents and its plugins", taken["livekit"])
    _add(table, "state.shared: the framework's part", taken["shared"])
    _add(table, "other people's packages that the server needs", taken["others"])
    _add(table, "bella_vista.app: the server", taken["server"], budget=MOST_MS, limit=others)
    _add(table, "what its calls need", taken["calls"])
    _add(table, "what its calls need, nothing collected", taken["uncollected"])
    return [table]


def _add(
    table: Table,
    name: str,
    taken: list[tuple[float, float]],
    budget: float | None = None,
    limit: float = 0.0,
) -> None:
    spread = Spread.of([passed for passed, _ in taken])
    worked = Spread.of([worked for _, worked in taken]).median
    table.add(
        name,
        ms(spread.median, 0),
        f"{ms(spread.low, 0)}-{ms(spread.high, 0)}",
        ms(worked, 0),
        measured=round(spread.median * 1000, 1),
        budget=budget,
        limit=round(limit * 1000, 1),
        limit_is=f"other people's packages; the processor took {ms(worked, 0)} for all of it",
    )
