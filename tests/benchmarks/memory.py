"""How much memory processes take."""

import gc
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # comes with livekit-agents, without types

KIB, GIB = 2**10, 2**30


def resident() -> int:
    """What of this process lies in memory, in bytes, after garbage was collected."""
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def installed() -> int:
    """What the machine has, in bytes."""
    return int(psutil.virtual_memory().total)


def proportional(pid: int) -> int:
    """What a process takes, in bytes, with its share of what it shares with others (PSS). Linux only."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # gone meanwhile, or another system
        return 0
    return next((int(line.split()[1]) * KIB for line in lines if line.startswith("Pss:")), 0)
