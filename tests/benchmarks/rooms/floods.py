"""What everybody else notices while one caller floods the agent: nothing."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from livekit import rtc

from tests.benchmarks.measuring import Spread
from tests.benchmarks.report import Table, ms
from tests.benchmarks.rooms import bare as bare_handler
from tests.benchmarks.rooms import flood
from tests.benchmarks.rooms.bare import BARE
from tests.benchmarks.rooms.deployment import Deployment, Guest, Place
from tests.benchmarks.rooms.processes import Running
from tests.livekit import ROLE, STAFF, new_identity, until

LATE_MS, OTHERS_MS = 50.0, 250.0
QUIET_S = 4.0
ENDED_S = 45.0

CALL_EVERY_S = 0.06
"""How often the others call; they may 20 times a second."""

ASK_EVERY_S = 0.5
"""How often the guest asks something; two writes a second are allowed."""

DROPPED = "a caller whose calls the server drops"

METHOD, PAYLOAD = "get_order_state", "{}"


@dataclass(frozen=True)
class _Target:
    """Who is flooded, and called by the others meanwhile."""

    identity: str
    method: str
    notes: str = ""


@dataclass
class _Seen:
    """What the others have seen during a while, in seconds."""

    calls: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)


async def measure(deployment: Deployment, calls: int, times: int) -> Table:
    """Flood a call again and again: by staff, and by its guest."""
    table = Table(
        f"While one caller makes {calls:,} calls at once, ms",
        ("median", "p99", "most"),
        note="The flooder is a process of their own that waits for no answer. The others are those who do not flood:"
        " the guest, who calls and asks, or a member of the staff, who calls. The bare handler is in the same room,"
        " refuses no call, and is flooded and called in the same way.",
        subject="flood",
    )
    quiet, others, told = (
        _Seen(),
        {STAFF: _Seen(), "guest": _Seen(), BARE: _Seen(), DROPPED: _Seen()},
        [],
    )
    for _ in range(times):
        told.append(await _by_staff(deployment, calls, quiet, others[STAFF]))
        told.append(await _dropped(deployment, calls, others[DROPPED]))
        told.append(await _of_bare(deployment, calls, others[BARE]))
        told.append(await _by_guest(deployment, calls, others["guest"]))
    bare, dropped = others.pop(BARE), others.pop(DROPPED)
    flooded = others.values()
    _add(table, "no flood: a call", quiet.calls)
    _add(table, "no flood: the agent's answer", quiet.answers)
    _add(table, "no flood: the event loop late", quiet.late)
    answer, late = max(dropped.calls), max(dropped.late)
    _add(table, "staff floods: a guest's call", others[STAFF].calls, OTHERS_MS, answer)
    _add(
        table,
        "staff floods: the agent's answer",
        others[STAFF].answers,
        OTHERS_MS,
        max(dropped.answers),
    )
    _add(table, "the guest floods: a call of the staff", others["guest"].calls, OTHERS_MS, answer)
    seen_late = [one for seen in flooded for one in seen.late]
    _add(table, "the event loop late", seen_late, LATE_MS, late)
    _add(table, "all of it is dropped: a guest's call", dropped.calls)
    _add(table, "all of it is dropped: the agent's answer", dropped.answers)
    _add(table, "all of it is dropped: the event loop late", dropped.late)
    _add(table, "the bare handler is flooded: a call", bare.calls)
    _add(table, "the bare handler is flooded: the event loop late", bare.late)
    for name, one in zip(
        ["staff", DROPPED, "staff the bare handler", "the guest"] * times, told, strict=True
    ):
        table.note += f" {_sentence(name, one)}"
    return table


async def _by_staff(
    deployment: Deployment, calls: int, quiet: _Seen, seen: _Seen
) -> dict[str, Any]:
    async with deployment.place() as place:
        identity = new_identity("staff")
        token = deployment.livekit.token(place.name, identity, attributes={ROLE: STAFF})
        agent = _Target(place.agent, METHOD)
        async with _flooder(place, agent, token, calls) as flooder:
            await _watched(place, agent, place.guest, quiet, asyncio.sleep(QUIET_S), asks=True)
            return await _flooded(place, agent, place.guest, flooder, identity, seen, asks=True)


async def _of_bare(deployment: Deployment, calls: int, seen: _Seen) -> dict[str, Any]:
    """Flood a bare handler in the same way, in a room in which no client calls our agent."""
    async with deployment.place() as place, deployment.bare(place.name):
        identity = bare_handler.IDENTITY
        handler = _Target(identity, BARE, notes=identity)
        reply = await place.guest.call_text(METHOD, PAYLOAD, to=place.agent)
        await place.guest.call_text(bare_handler.KEEP, reply, to=identity)
        flooding = new_identity("staff")
        token = deployment.livekit.token(place.name, flooding, attributes={ROLE: STAFF})
        async with _flooder(place, handler, token, calls) as flooder:
            return await _flooded(place, handler, place.guest, flooder, flooding, seen, asks=False)


async def _dropped(deployment: Deployment, calls: int, seen: _Seen) -> dict[str, Any]:
    """Have somebody flood from whom the server takes nothing: all that is left is what the flooder and it take."""
    async with deployment.place() as place:
        identity = new_identity("staff")
        token = deployment.livekit.token(place.name, identity, grants={"can_publish_data": False})
        agent = _Target(place.agent, METHOD)
        async with _flooder(place, agent, token, calls) as flooder:
            return await _flooded(place, agent, place.guest, flooder, identity, seen, asks=True)


async def _by_guest(deployment: Deployment, calls: int, seen: _Seen) -> dict[str, Any]:
    async with deployment.place() as place, deployment.client(place.name, staff=True) as staff:
        await staff.hello()
        # The second page has the same identity, so the first one is disconnected.
        identity = place.guest.identity
        await place.guest.leave()
        token = deployment.livekit.token(place.name, identity)
        agent = _Target(place.agent, METHOD)
        async with _flooder(place, agent, token, calls) as flooder:
            return await _flooded(place, agent, staff, flooder, identity, seen, asks=False)


@asynccontextmanager
async def _flooder(place: Place, target: _Target, token: str, calls: int) -> AsyncIterator[Running]:
    given = (
        place.deployment.livekit.url,
        token,
        target.identity,
        target.method,
        PAYLOAD,
        str(calls),
    )
    with place.deployment.started(flood.__name__, *given) as running:
        await running.says("ready")
        yield running


async def _flooded(
    place: Place,
    target: _Target,
    other: Guest,
    flooder: Running,
    identity: str,
    seen: _Seen,
    *,
    asks: bool,
) -> dict[str, Any]:
    async def ended() -> None:
        go = asyncio.create_task(other.call_text(flood.GO, to=identity, timeout_s=ENDED_S))
        # Its result counts, not its end: livekit's native side may abort while it disconnects after a flood.
        await flooder.says(flood.ANSWERS, ENDED_S)
        with suppress(rtc.RpcError):  # a flooder who is muted by then does not get to answer this
            await go

    await _watched(place, target, other, seen, ended(), asks=asks)
    last = next(line for line in reversed(flooder.lines) if flood.ANSWERS in line)
    told: dict[str, Any] = json.loads(last)
    return told


async def _watched(
    place: Place, target: _Target, other: Guest, seen: _Seen, work: Any, *, asks: bool
) -> None:
    """Call, and ask, for as long as something else lasts."""
    begin = time.monotonic()
    busy = [asyncio.create_task(_calls(target, other, seen.calls))]
    taken = [(seen.calls, len(seen.calls))]
    if asks:
        busy.append(asyncio.create_task(_asks(other, seen.answers)))
        taken.append((seen.answers, len(seen.answers)))
    try:
        await work
        # Where all of it was short, the first of them counts to its end.
        await until(lambda: all(len(times) > before for times, before in taken))
    finally:
        for task in busy:
            task.cancel()
        for task in busy:
            with suppress(asyncio.CancelledError):
                await task
    seen.late += [
        one["late"] for one in place.noted("tick", begin, time.monotonic(), of=target.notes)
    ]


async def _calls(target: _Target, caller: Guest, taken: list[float]) -> None:
    while True:
        start = time.monotonic()
        await caller.call_text(target.method, PAYLOAD, to=target.identity, timeout_s=20)
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


def _add(
    table: Table,
    name: str,
    taken: list[float],
    budget: float | None = None,
    bare: float | None = None,
) -> None:
    spread = Spread.of(taken)
    table.add(
        name,
        ms(spread.median, 1),
        ms(spread.p99, 1),
        ms(spread.most, 1),
        measured=round(spread.most * 1000, 1),
        budget=budget,
        limit=None if bare is None else round(bare * 1000, 1),
        limit_is="a flood that the server drops",
    )
