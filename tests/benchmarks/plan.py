"""What is measured, and how often: a full run for figures, a quick one to see that everything runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.benchmarks import (
    aloud,
    commits,
    crowds,
    imports,
    long_calls,
    pages,
    prompts,
    transactions,
    turns,
    understanding,
)
from tests.benchmarks.hearing import measure as hearing
from tests.benchmarks.limits import limited
from tests.benchmarks.pages import Pages
from tests.benchmarks.report import Table
from tests.benchmarks.rooms import measure as rooms
from tests.benchmarks.rooms import spoken, telephone
from tests.benchmarks.rooms.measure import Rooms
from tests.benchmarks.rooms.spoken import SpokenCalls


@dataclass(frozen=True)
class Plan:
    """How often each thing is done.

    Args:
        rounds: Calls on each side, for the cost of a turn.
        changes: Changes of each kind, of a ten-line order.
        imports: Fresh processes on each side.
        marks: At which turns of one long call it is looked at.
        crowds: How many conversations are held at once.
        commits: Rows written at each pace.
        lines: Orders that the local model reads on each menu.
        rooms: What is done in rooms of a LiveKit server.
        pages: What is done on the restaurant's page.
        spoken: Lines that are said aloud, on each kind of line.
        aloud: Spoken calls on each side.
        spoken_calls: What is said in calls that are spoken at once.
        telephone: Calls of a telephone on each side.
    """

    rounds: int
    changes: int
    imports: int
    marks: tuple[int, ...]
    crowds: tuple[int, ...]
    commits: int
    lines: int
    rooms: Rooms
    pages: Pages
    spoken: int
    aloud: int
    spoken_calls: SpokenCalls
    telephone: int


FULL = Plan(
    rounds=40,
    changes=2000,
    imports=7,
    marks=(10, 100, 1000),
    crowds=(1, 50, 200),
    commits=400,
    lines=400,
    rooms=Rooms(rounds=16, turns=40, flood=10_000, floods=2, kills=10, rooms=50),
    pages=Pages(visits=5, edits=60, words=6, lines=30),
    spoken=239,
    aloud=20,
    spoken_calls=SpokenCalls(calls=10, turns=6),
    telephone=12,
)
QUICK = Plan(
    rounds=1,
    changes=20,
    imports=1,
    marks=(2, 4),
    crowds=(1, 2),
    commits=8,
    lines=3,
    rooms=Rooms(rounds=1, turns=2, flood=300, floods=1, kills=1, rooms=2),
    pages=Pages(visits=1, edits=2, words=1, lines=3),
    spoken=2,
    aloud=1,
    spoken_calls=SpokenCalls(calls=2, turns=1),
    telephone=1,
)

GROUPS: Mapping[str, Callable[[Plan], list[Table]]] = {
    "turns": lambda plan: turns.measure(plan.rounds),
    "prompts": lambda plan: prompts.measure(),
    "transactions": lambda plan: limited(transactions.measure(plan.changes), plan.changes),
    "imports": lambda plan: imports.measure(plan.imports),
    "long-calls": lambda plan: long_calls.measure(plan.marks),
    "crowds": lambda plan: crowds.measure(plan.crowds),
    "commits": lambda plan: commits.measure(plan.commits),
    "understanding": lambda plan: understanding.measure(plan.lines),
    "rooms": lambda plan: rooms.measure(plan.rooms),
    "aloud": lambda plan: aloud.measure(plan.aloud),
    "spoken-calls": lambda plan: spoken.measure(plan.spoken_calls),
    "telephone": lambda plan: telephone.measure(plan.telephone),
    "page": lambda plan: pages.measure(plan.pages),
    "speech": lambda plan: hearing.measure(plan.spoken),
}
