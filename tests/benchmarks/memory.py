"""How much memory this process takes."""

import gc

import psutil  # type: ignore[import-untyped]  # comes with livekit-agents, without types

KIB, GIB = 2**10, 2**30


def resident() -> int:
    """What of this process lies in memory, in bytes, after garbage was collected."""
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def installed() -> int:
    """What the machine has, in bytes."""
    return int(psutil.virtual_memory().total)
