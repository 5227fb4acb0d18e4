"""What one change of a ten-line order costs: checked, computed, told to listeners and stored."""

import asyncio
import tempfile
import time
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from itertools import count
from pathlib import Path

from agents.testing import Clock, Ids
from state.commands import AddItem, ChangeItem, RemoveItem, SetCustomer, SetTip
from state.context import OrderContext
from state.opening import open_order
from state.order import OrderState
from state.shared import Command, SharedState, SqlStore
from tests.agents.restaurant import FRIDAY_AT_SEVEN, bella_vista
from tests.benchmarks.measuring import Spread
from tests.benchmarks.report import Table, ms

Shared = SharedState[OrderState, OrderContext]
Change = Callable[[int], Command[OrderState, OrderContext]]

TEN_LINES = (
    AddItem(name="Margherita", size="large", quantity=2, modifications=("no basil",)),
    AddItem(name="Margherita", size="large", quantity=1),
    AddItem(name="Diavola", size="small", quantity=1, modifications=("extra mozzarella",)),
    AddItem(name="Diavola", size="large", quantity=1, modifications=("half ham", "pan")),
    AddItem(name="Garlic knots", quantity=2),
    AddItem(name="Bruschetta", quantity=1),
    AddItem(name="Arancini", quantity=3),
    AddItem(name="Tiramisu", quantity=2),
    AddItem(name="House red", size="glass", quantity=2),
    AddItem(name="Cola", quantity=4),
)
CHANGES: dict[str, Change] = {
    "a name": lambda at: SetCustomer(name=f"Ada {at}"),
    "the tip": lambda at: SetTip(percentage=Decimal(10 + at % 10)),
    "a quantity": lambda at: ChangeItem(line_id="L7", quantity=1 + at % 5),
    "modifications": lambda at: ChangeItem(
        line_id="L3",
        modifications=("extra mozzarella", "no spicy salami") if at % 2 else ("extra mozzarella",),
    ),
    "a line added, or taken off": lambda at: (
        RemoveItem(line_id=f"L{11 + at // 2}") if at % 2 else AddItem(name="Still water")
    ),
}
IN_MEMORY_MS, JOURNAL_MS, JOURNAL_P99_MS = 0.10, 1.0, 3.0


def measure(times: int) -> list[Table]:
    """Change an order again and again."""
    return [asyncio.run(_all(times))]


async def _all(times: int) -> Table:
    table = Table(
        "One change of a ten-line order, ms",
        ("median", "quartiles", "p99"),
        note="Back to back. With the journal the change is on the disk when it is done.",
    )
    for name, change in CHANGES.items():
        spread = Spread.of(await _times(_in_memory(), change, times))
        _add(table, f"{name}, in memory", spread, spread.median, IN_MEMORY_MS)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'journal.db'}"
        async with SqlStore(url, owner="bench", schema=1) as store:
            journalled = [
                value
                for number, change in enumerate(CHANGES.values())
                for value in await _times(await _stored(store, number), change, times // 5)
            ]
    spread = Spread.of(journalled)
    _add(table, "all of them, journal", spread, spread.median, JOURNAL_MS)
    _add(table, "all of them, journal, p99", spread, spread.p99, JOURNAL_P99_MS)
    return table


def _add(table: Table, name: str, spread: Spread, measured: float, budget: float) -> None:
    table.add(
        name,
        ms(spread.median, 3),
        f"{ms(spread.low, 3)}-{ms(spread.high, 3)}",
        ms(spread.p99, 3),
        measured=round(measured * 1000, 3),
        budget=budget,
    )


async def _times(shared: Shared, change: Change, times: int) -> list[float]:
    numbers = count()
    for _ in range(20):
        await shared.apply(change(next(numbers)), actor="guest")
    taken = []
    for _ in range(times):
        command = change(next(numbers))
        start = time.perf_counter()
        await shared.apply(command, actor="guest")
        taken.append(time.perf_counter() - start)
    return taken


@cache
def ten_line_order() -> OrderState:
    """An order of ten lines, some of them with modifications."""
    order = _empty()
    for command in TEN_LINES:
        order = command.apply(order, _context())
    return order


def _in_memory() -> Shared:
    return _followed(SharedState(ten_line_order(), _context()))


async def _stored(store: SqlStore, number: int) -> Shared:
    stored = await store.create(
        f"order-{number}", lambda ordinal: ten_line_order().model_dump_json()
    )
    return _followed(SharedState.restored(stored, OrderState, _context()))


def _followed(shared: Shared) -> Shared:
    shared.subscribe(lambda applied: None)
    return shared


def _empty() -> OrderState:
    return open_order(
        bella_vista(),
        order_id="bench",
        order_number="101",
        channel="terminal",
        now=FRIDAY_AT_SEVEN,
    )


def _context() -> OrderContext:
    return OrderContext(menu=bella_vista(), now=Clock(FRIDAY_AT_SEVEN), new_id=Ids())
