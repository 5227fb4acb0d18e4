"""A handler as livekit's own documentation shows one: it answers every call with a text that was given to it.

Run as a module it joins a room, says ``ready`` on stderr, and answers until it is killed. What ``keep`` was called
with last is what ``bare`` answers, so that both sides of a comparison send as much. How late its event loop is, it
writes into a file.
"""

import asyncio
import sys
from pathlib import Path
from typing import TextIO

from livekit import rtc

from tests.benchmarks.rooms.lateness import ticks

IDENTITY, KEEP, BARE = "bare", "keep", "bare"
HELLO = "hello"
"""What a flooder calls until it is answered."""


async def answer(url: str, token: str, file: TextIO) -> None:
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
    room.local_participant.register_rpc_method(HELLO, bare)
    # Without an attribute the server would tell the others of this participant up to three seconds late.
    await room.local_participant.set_attributes({"here": "yes"})
    sys.stderr.write("ready\n")
    sys.stderr.flush()
    await ticks(file)


if __name__ == "__main__":
    url, token, watch = sys.argv[1:]
    with Path(watch).open("a", buffering=1) as file:
        asyncio.run(answer(url, token, file))
