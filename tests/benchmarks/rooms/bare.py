"""A handler as livekit's own documentation shows one: it answers every call with a text that was given to it.

Run as a module it joins a room, says ``ready`` on stderr, and answers until it is killed. What ``keep`` was called
with last is what ``bare`` answers, so that both sides of a comparison send as much.
"""

import asyncio
import sys

from livekit import rtc

IDENTITY, KEEP, BARE = "bare", "keep", "bare"


async def answer(url: str, token: str) -> None:
    """Join a room and answer."""
    room = rtc.Room()
    kept = ""

    async def keep(call: rtc.RpcInvocationData) -> str:
        nonlocal kept
        kept = call.payload
        return ""

    async def bare(call: rtc.RpcInvocationData) -> str:
        return kept

    await room.connect(url, token)
    room.local_participant.register_rpc_method(KEEP, keep)
    room.local_participant.register_rpc_method(BARE, bare)
    # Without an attribute the server would tell the others of this participant up to three seconds late.
    await room.local_participant.set_attributes({"here": "yes"})
    sys.stderr.write("ready\n")
    sys.stderr.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(answer(*sys.argv[1:]))
