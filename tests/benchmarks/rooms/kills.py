"""How long a guest is alone whose call's process was killed."""

import asyncio
import os
import signal
import time
from contextlib import suppress

from livekit import rtc

from tests.benchmarks.measuring import Spread
from tests.benchmarks.report import Table, ms
from tests.benchmarks.rooms.deployment import JOIN_S, Deployment, Place

MOST_MS = 3000.0

_LOOK_EVERY_S = 0.01


async def measure(deployment: Deployment, kills: int) -> Table:
    """Kill so many calls' processes, each in a room of its own, one after the other."""
    table = Table(
        "From a killed process to the next agent's answer, ms",
        ("median", "quartiles", "most"),
        note="The process of a call is killed (SIGKILL) when the guest has ordered something; it is over when `hello`"
        " is answered by the agent that goes on with the order.",
    )
    spread = Spread.of([await _alone(deployment) for _ in range(kills)])
    table.add(
        "until hello is answered",
        ms(spread.median, 0),
        f"{ms(spread.low, 0)}-{ms(spread.high, 0)}",
        ms(spread.most, 0),
        measured=round(spread.most * 1000),
        budget=MOST_MS,
    )
    return table


async def _alone(deployment: Deployment) -> float:
    async with deployment.place() as place:
        await place.guest.asks("one tiramisu")
        before = await place.guest.call("hello", to=place.agent)
        os.kill(place.process, signal.SIGKILL)
        start = time.monotonic()
        after = await _hello_of_next(place)
        taken = time.monotonic() - start
    if after["order_id"] != before["order_id"] or after["version"] < before["version"]:
        raise RuntimeError("another order was gone on with")
    return taken


async def _hello_of_next(place: Place) -> dict[str, object]:
    guest = place.guest
    async with asyncio.timeout(JOIN_S):
        while True:
            for agent in guest.agents():
                if agent.identity != place.agent:
                    with suppress(rtc.RpcError):
                        answer: dict[str, object] = await guest.call("hello", to=agent.identity)
                        return answer
            await asyncio.sleep(_LOOK_EVERY_S)
