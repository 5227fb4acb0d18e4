"""How late an event loop is, noted from within."""

import asyncio
import json
import time
from typing import TextIO

TICK_S = 0.005


def note(file: TextIO, what: str, **more: object) -> None:
    """Write down that something was seen."""
    file.write(json.dumps({"what": what, "at": time.monotonic(), **more}) + "\n")


async def ticks(file: TextIO) -> None:
    """Ask to be woken again and again, and note how late it comes."""
    while True:
        due = time.monotonic() + TICK_S
        await asyncio.sleep(TICK_S)
        note(file, "tick", late=time.monotonic() - due)
