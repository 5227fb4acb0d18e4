"""What this machine takes for a change of an order when nothing of ours is counted: the driver, and pydantic."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agents.testing import Clock, Ids
from state.context import OrderContext
from state.order import OrderState
from state.shared import SharedState, SqlStore
from tests.agents.restaurant import FRIDAY_AT_SEVEN, bella_vista
from tests.benchmarks.driver import IN_LOOP, Driver
from tests.benchmarks.measuring import Samples, Spread, Watch
from tests.benchmarks.report import Table
from tests.benchmarks.transactions import CHANGES, ten_line_order

COPY, COMMIT = "a copy of the order and one validation", "the bare commit of the same rows"


def limited(tables: Sequence[Table], times: int) -> list[Table]:
    """Put beside every budget of a change what the machine takes for it."""
    limits = asyncio.run(_measured(times))
    copy, commit = (Spread.of(limits[what]) for what in (COPY, COMMIT))
    for table in tables:
        for at, row in enumerate(table.rows):
            seconds, of = (commit.median, COMMIT) if "journal" in row.name else (copy.median, COPY)
            if row.name.endswith("p99"):
                seconds = commit.p99
            table.rows[at] = replace(row, limit=round(seconds * 1000, 3), limit_is=of)
    return list(tables)


async def _measured(times: int) -> Samples:
    taken: Samples = {}
    order = ten_line_order()
    for _ in range(times):
        with Watch(taken, COPY):
            OrderState.model_validate(vars(order.model_copy()))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "journal.db"
        async with SqlStore(f"sqlite:///{file}", owner="bench", schema=1) as store:
            stored = await store.create("order", lambda ordinal: order.model_dump_json())
            menu = bella_vista()
            context = OrderContext(menu=menu, now=Clock(FRIDAY_AT_SEVEN), new_id=Ids())
            shared = SharedState.restored(stored, OrderState, context)
            for number, change in enumerate(CHANGES.values()):
                await shared.apply(change(number), actor="guest")
        driver, commits = Driver(file), Samples()
        for _ in range(times):
            driver.commit("tool", commits)
        driver.close()
    return {**taken, COMMIT: commits[f"tool: {IN_LOOP}"]}
