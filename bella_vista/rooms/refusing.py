"""A call that cannot be set up: the guest is told so, and is not left with an agent that never answers."""

import asyncio
import contextlib

from livekit.agents import JobContext

from bella_vista.rooms.words import NOT_SET_UP
from rpc.gateway import BadParams, Caller, Gateway, Method, Request

TRANSCRIPTION = "lk.transcription"
"""Where clients read what is said."""

LINGERS_S = 10.0
"""How long it waits for somebody to tell, in seconds."""

HEARD_S = 2.0
"""How long it stays after it has told, in seconds, so that nobody's hello comes to nothing."""


async def refuse_politely(ctx: JobContext) -> None:
    """Join a room, say that the call could not be set up, and leave.

    Args:
        ctx: The job, not connected.
    """
    await ctx.connect()
    gateway = Gateway(
        [Method("hello", Request, _hello, anybody=True)],
        role_of=lambda identity: None,
        is_there=lambda identity: bool(identity),
        version=lambda: None,
    )
    gateway.install(ctx.room.local_participant)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGERS_S):
            await ctx.wait_for_participant()
            await ctx.room.local_participant.send_text(
                NOT_SET_UP,
                topic=TRANSCRIPTION,
                attributes={"lk.transcription_final": "true", "lk.segment_id": ctx.job.id},
            )
            await asyncio.sleep(HEARD_S)
    await gateway.aclose()
    ctx.shutdown("it could not be set up")


async def _hello(request: Request, caller: Caller) -> Request:
    raise BadParams(
        "This call could not be set up: the dispatch's metadata is wrong. The agent's log says what."
    )
