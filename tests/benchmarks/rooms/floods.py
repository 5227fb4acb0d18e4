"""What everybody else notices while one caller floods the agent: nothing."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.benchmarks.measuring import Spread
from tests.benchmarks.report import Table, ms
from tests.benchmarks.rooms import flood
from tests.benchmarks.rooms.house import Guest, House, Place
from tests.benchmarks.rooms.processes import Running
from tests.livekit import ROLE, STAFF, new_identity

LATE_MS, OTHERS_MS = 50.0, 250.0
QUIET_S = 4.0
ENDED_S = 45.0

CALL_EVERY_S = 0.06
"""How often the others call; they may 20 times a second."""

ASK_EVERY_S = 0.5
"""How often the guest asks something; he may write twice a second."""

METHOD, PAYLOAD = "get_order_state", "{}"


@dataclass
class _Seen:
    """What the others have seen during a while, in seconds."""

    calls: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)


async def measure(house: House, calls: int, times: int) -> Table:
    """Flood a call again and again: by staff, and by its guest."""
    table = Table(
        f"While one caller makes {calls:,} calls at once, ms",
        ("median", "p99", "most"),
        note="The flooder is a process of his own that waits for no answer. The others are who is not the flooder:"
        " the guest, who calls and asks, or a member of the staff, who calls.",
    )
    quiet, others, told = _Seen(), {STAFF: _Seen(), "guest": _Seen()}, []
    for _ in range(times):
        told.append(await _by_staff(house, calls, quiet, others[STAFF]))
        told.append(await _by_guest(house, calls, others["guest"]))
    flooded = others.values()
    _add(table, "nobody floods: a call", quiet.calls)
    _add(table, "nobody floods: the voice's answer", quiet.answers)
    _add(table, "nobody floods: the event loop late", quiet.late)
    _add(table, "staff floods: a guest's call", others[STAFF].calls, OTHERS_MS)
    _add(table, "staff floods: the voice's answer", others[STAFF].answers, OTHERS_MS)
    _add(table, "the guest floods: a call of the staff", others["guest"].calls, OTHERS_MS)
    _add(table, "the event loop late", [one for seen in flooded for one in seen.late], LATE_MS)
    for name, one in zip(["staff", "the guest"] * times, told, strict=True):
        table.note += f" {_sentence(name, one)}"
    return table


async def _by_staff(house: House, calls: int, quiet: _Seen, seen: _Seen) -> dict[str, Any]:
    async with house.place() as place:
        identity = new_identity("staff")
        token = house.livekit.token(place.name, identity, attributes={ROLE: STAFF})
        async with _flooder(place, token, calls) as flooder:
            await _watched(place, place.guest, quiet, asyncio.sleep(QUIET_S), asks=True)
            return await _flooded(place, place.guest, flooder, identity, seen, asks=True)


async def _by_guest(house: House, calls: int, seen: _Seen) -> dict[str, Any]:
    async with house.place() as place, house.client(place.name, staff=True) as staff:
        await staff.hello()
        # His second page has his name, so the first one goes.
        identity = place.guest.identity
        await place.guest.leave()
        token = house.livekit.token(place.name, identity)
        async with _flooder(place, token, calls) as flooder:
            return await _flooded(place, staff, flooder, identity, seen, asks=False)


@asynccontextmanager
async def _flooder(place: Place, token: str, calls: int) -> AsyncIterator[Running]:
    given = (place.house.livekit.url, token, place.agent, METHOD, PAYLOAD, str(calls))
    with place.house.started(flood.__name__, *given) as running:
        await running.says("ready")
        yield running


async def _flooded(
    place: Place, other: Guest, flooder: Running, identity: str, seen: _Seen, *, asks: bool
) -> dict[str, Any]:
    async def ended() -> None:
        await other.call_text(flood.GO, to=identity)
        await flooder.ends(ENDED_S)

    await _watched(place, other, seen, ended(), asks=asks)
    told: dict[str, Any] = json.loads(flooder.lines[-1])
    return told


async def _watched(place: Place, other: Guest, seen: _Seen, work: Any, *, asks: bool) -> None:
    """Call, and ask, for as long as something else lasts."""
    begin = time.monotonic()
    busy = [asyncio.create_task(_calls(place, other, seen.calls))]
    if asks:
        busy.append(asyncio.create_task(_asks(other, seen.answers)))
    try:
        await work
    finally:
        for task in busy:
            task.cancel()
        for task in busy:
            with suppress(asyncio.CancelledError):
                await task
    seen.late += [one["late"] for one in place.noted("tick", begin, time.monotonic())]


async def _calls(place: Place, caller: Guest, taken: list[float]) -> None:
    while True:
        start = time.monotonic()
        await caller.call_text(METHOD, PAYLOAD, to=place.agent, timeout_s=20)
        taken.append(time.monotonic() - start)
        await asyncio.sleep(max(0.0, start + CALL_EVERY_S - time.monotonic()))


async def _asks(guest: Guest, taken: list[float]) -> None:
    while True:
        start = time.monotonic()
        taken.append(await guest.asks("When are you open?"))
        await asyncio.sleep(max(0.0, start + ASK_EVERY_S - time.monotonic()))


def _sentence(name: str, told: dict[str, Any]) -> str:
    """Say how a flood went."""
    answers = {int(code): number for code, number in told["answers"].items()}
    count = sum(answers.values())
    by_agent = sum(answers[code] for code in answers if code not in flood.NOBODY)
    return (
        f"When {name} flooded, {count:,} calls were handed over in {told['handed_s']:.2f} s"
        f" ({count / told['handed_s']:,.0f} a second); the agent answered {by_agent:,} of them within"
        f" {told['answering_s']:.2f} s, the rest the server dropped."
    )


def _add(table: Table, name: str, taken: list[float], budget: float | None = None) -> None:
    spread = Spread.of(taken)
    table.add(
        name,
        ms(spread.median, 1),
        ms(spread.p99, 1),
        ms(spread.most, 1),
        measured=round(spread.most * 1000, 1),
        budget=budget,
    )
