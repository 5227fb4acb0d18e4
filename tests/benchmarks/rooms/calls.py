"""What a read and a write over RPC cost, beside a bare livekit handler in the same room that answers as much."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from functools import partial
from itertools import count, cycle
from statistics import mean

from tests.benchmarks.driver import IN_LOOP, Driver
from tests.benchmarks.measuring import Samples, Spread, all_of, alternate, processor
from tests.benchmarks.report import Table, ms
from tests.benchmarks.rooms.bare import BARE, IDENTITY, KEEP
from tests.benchmarks.rooms.deployment import Deployment, Guest, Place
from tests.benchmarks.rooms.processes import worked
from tests.benchmarks.transactions import TEN_LINES

READ_MS, WRITE_MS = 1.0, 3.0
EACH = 12
"""How often each thing is asked for in one round."""

STAFF = 6
"""How many members of the staff ask in turn: each may ask for 100 things at once and 20 a second."""

WARM = 100

PACE_S = 0.06
"""How long a guest takes from one change to the next at least; 20 calls a second are allowed."""

READ = "get_order_state"
ALL, UNCHANGED, PATCH = "ten lines, all of it", "ten lines, unchanged", "ten lines, a patch"
SMALL, WRITE = "no line yet", "a quantity, ten lines"
PACED = "a quantity, ten lines, every 0.1 s"

COMMIT = f"tool: {IN_LOOP}"

Ask = Callable[[], tuple[str, str]]
"""Gives the next call: a method and its payload."""


async def measure(deployment: Deployment, rounds: int) -> Table:
    """Read and write on both sides, in turn."""
    table = Table(
        "A call in a room, beside a bare handler, ms",
        ("bare", "processor", "quartiles", "ours", "processor", "quartiles", "p99", "more"),
        note="The bare handler is in the same room, in a process of its own, checks nothing, and answers with a"
        " text of the same size. More is the difference of the two medians; that is what the budgets"
        " are for. The writes go through the journal, and the guest's client is told of each. The processor's"
        " time is that of the process that answers, for each call, with what it does after it has answered.",
        subject="a call in a room",
    )
    async with AsyncExitStack() as stack:
        place = await stack.enter_async_context(deployment.place())
        bare = await stack.enter_async_context(deployment.bare(place.name))
        staff = [
            await stack.enter_async_context(deployment.client(place.name, staff=True))
            for _ in range(STAFF)
        ]
        for one in staff:
            await one.hello()
        driver = stack.enter_context(closing(Driver(deployment.folder / "orders.db")))
        desk = _Desk(place, bare.pid, staff, driver)
        await desk.warm_up()
        await desk.compare(table, {SMALL: _whole}, READ_MS, rounds)
        for command in TEN_LINES:
            await desk.apply(command.written())
        await place.guest.call("order.subscribe", to=place.agent)
        version = desk.version
        reads: dict[str, Ask] = {
            ALL: _whole,
            UNCHANGED: partial(_since, version),
            PATCH: partial(_since, version - 1),
        }
        await desk.compare(table, reads, READ_MS, rounds)
        await desk.compare(table, {WRITE: desk.quantity}, WRITE_MS, rounds)
        await desk.paced(table, rounds * EACH)
    return table


def _whole() -> tuple[str, str]:
    return READ, "{}"


def _since(version: int) -> tuple[str, str]:
    return READ, json.dumps({"since": version})


class _Desk:
    """The two sides of a comparison in one room."""

    def __init__(self, place: Place, bare: int, staff: Sequence[Guest], driver: Driver) -> None:
        self._place = place
        self._bare = bare
        self._agent = place.process
        self._staff = staff
        self._driver = driver
        self._quantities = count()
        self.version = 0

    async def warm_up(self) -> None:
        """Call the bare handler: the first hundred calls of a connection take three times as long."""
        for caller in (self._place.guest, *self._staff):
            for _ in range(WARM):
                await caller.call_text(BARE, "{}", to=IDENTITY)

    async def apply(self, command: Mapping[str, object]) -> None:
        """Change the order, as the guest."""
        payload = {"command": command, "version": self.version}
        reply = await self._place.guest.call("order.apply", payload, to=self._place.agent)
        self.version = reply["version"]

    def quantity(self) -> tuple[str, str]:
        """The next change of a line."""
        quantity = 1 + next(self._quantities) % 5
        command = {"op": "change_item", "line_id": "L7", "quantity": quantity}
        return "order.apply", json.dumps({"command": command, "version": self.version})

    async def compare(
        self, table: Table, asks: Mapping[str, Ask], budget: float, rounds: int
    ) -> None:
        """Ask both sides back to back, as several staff in turn, because one alone would exceed the rate limit."""
        ways = cycle(self._staff), cycle(self._staff)
        replies = {name: await self._reply(self._place.guest, ask) for name, ask in asks.items()}

        async def ask_bare() -> Samples:
            return await self._ask_bare(next(ways[0]), asks, replies)

        async def ask_ours() -> Samples:
            return await self._ask_ours(next(ways[1]), asks)

        results = await alternate(rounds, {"bare": ask_bare, "ours": ask_ours})
        bare, ours = (
            {what: all_of(results, side, what) for what in results[0][side]}
            for side in ("bare", "ours")
        )
        for name in asks:
            _add(table, name, bare, ours, budget)

    async def paced(self, table: Table, times: int) -> None:
        """Change the order as a guest does it who clicks on and on, both sides in turn."""
        guest = self._place.guest
        ask = {PACED: self.quantity}
        reply = await self._reply(guest, self.quantity)
        bare: Samples = {}
        ours: Samples = {}
        for _ in range(times):
            await asyncio.sleep(PACE_S)
            _gather(ours, await self._ask_ours(guest, ask, 1))
            await asyncio.sleep(PACE_S)
            _gather(bare, await self._ask_bare(guest, ask, {PACED: reply}, 1))
        _add(table, PACED, bare, ours, WRITE_MS)

    async def _reply(self, caller: Guest, ask: Ask) -> str:
        method, payload = ask()
        reply = await caller.call_text(method, payload, to=self._place.agent)
        self.version = json.loads(reply)["version"]
        return reply

    async def _ask_ours(self, caller: Guest, asks: Mapping[str, Ask], times: int = EACH) -> Samples:
        taken: Samples = {name: [] for name in asks}
        for name, ask in asks.items():
            before = worked(self._agent)
            for _ in range(times):
                method, payload = ask()
                start = time.perf_counter()
                reply = await caller.call_text(method, payload, to=self._place.agent)
                taken[name].append(time.perf_counter() - start)
                self.version = json.loads(reply)["version"]
            taken[processor(name)] = [(worked(self._agent) - before) / times] * times
        return taken

    async def _ask_bare(
        self,
        caller: Guest,
        asks: Mapping[str, Ask],
        replies: Mapping[str, str],
        times: int = EACH,
    ) -> Samples:
        taken: Samples = {name: [] for name in asks}
        for name, ask in asks.items():
            await caller.call_text(KEEP, replies[name], to=IDENTITY)
            before = worked(self._bare)
            for _ in range(times):
                _, payload = ask()
                start = time.perf_counter()
                await caller.call_text(BARE, payload, to=IDENTITY)
                taken[name].append(time.perf_counter() - start)
                if name in (WRITE, PACED):
                    self._driver.commit("tool", taken)
            taken[processor(name)] = [(worked(self._bare) - before) / times] * times
        return taken


def _gather(into: Samples, taken: Samples) -> None:
    for name, times in taken.items():
        into.setdefault(name, []).extend(times)


def _add(table: Table, name: str, bare: Samples, ours: Samples, budget: float) -> None:
    plain, spread = Spread.of(bare[name]), Spread.of(ours[name])
    more = spread.median - plain.median
    limit, limit_is = None, f"half of the bare calls took {ms(plain.low)}-{ms(plain.high)}"
    if commits := bare.get(COMMIT):
        limit = round(Spread.of(commits).median * 1000, 2)
        limit_is = f"the bare commit of the same rows; {limit_is}"
    table.add(
        name,
        ms(plain.median),
        ms(mean(bare[processor(name)])),
        f"{ms(plain.low)}-{ms(plain.high)}",
        ms(spread.median),
        ms(mean(ours[processor(name)])),
        f"{ms(spread.low)}-{ms(spread.high)}",
        ms(spread.p99),
        ms(more),
        measured=round(more * 1000, 2),
        budget=budget,
        limit=limit,
        limit_is=limit_is,
    )
