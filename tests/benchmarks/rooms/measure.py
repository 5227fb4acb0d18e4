"""Everything that is measured in rooms of a real LiveKit server, which has to be on this machine."""

import asyncio
import resource
from dataclasses import dataclass

from agents.app.livekit_server import HOW_TO_GET, find_program
from tests.benchmarks.report import Table
from tests.benchmarks.rooms import calls, crowd, floods, kills, notices
from tests.benchmarks.rooms.deployment import AS_IT_IS, WATCHED, Deployment, deployed


@dataclass(frozen=True)
class Rooms:
    """How often each thing is done in rooms.

    Args:
        rounds: How often both sides of a call are compared.
        turns: Of how many turns the notices are looked at.
        flood: How many calls a flooder makes.
        floods: How often the staff floods, and how often the guest.
        kills: How many calls' processes are killed.
        rooms: How many rooms are served at once.
    """

    rounds: int
    turns: int
    flood: int
    floods: int
    kills: int
    rooms: int


def measure(plan: Rooms) -> list[Table]:
    """Measure in rooms, if there is a server."""
    program = find_program()
    if program is None:
        left_out = f"Rooms were left out: there is no LiveKit server here ({HOW_TO_GET})"
        return [Table(left_out, ())]
    _allow_open_files()
    with deployed(program, WATCHED, BELLA_VISTA_IDLE="1") as watched:
        tables = asyncio.run(_watched(watched, plan))
    # The calls of the kills are still there when the crowd comes: their agents wait for guests who may return.
    room_for = str(plan.rooms + 2 * plan.kills)
    with deployed(program, AS_IT_IS, BELLA_VISTA_CALLS=room_for) as plain:
        tables += asyncio.run(_as_it_is(plain, plan))
    return tables


async def _watched(deployment: Deployment, plan: Rooms) -> list[Table]:
    return [
        await calls.measure(deployment, plan.rounds),
        await notices.measure(deployment, plan.turns),
        await floods.measure(deployment, plan.flood, plan.floods),
    ]


async def _as_it_is(deployment: Deployment, plan: Rooms) -> list[Table]:
    return [
        await kills.measure(deployment, plan.kills),
        await crowd.measure(deployment, plan.rooms),
    ]


def _allow_open_files() -> None:
    """Allow as many open files as many clients in one process take."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
