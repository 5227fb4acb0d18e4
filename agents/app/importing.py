"""How modules are imported: with the garbage collector paused, and which ones are the framework's."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

FRAMEWORK = frozenset(
    name.partition(".")[0] for name in ("agents.app", "agents.handoff", "rpc.page", "state.shared")
)
"""The top-level packages of the framework; in the wheel it is one."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Import within this context what a process needs from its start to its end.

    Of the quarter of a million objects that livekit-agents 1.8.9 imports one in a hundred is
    garbage. Collecting during the import would be a sixth of a console's start-up time, and
    scanning these objects later would pause a conversation for a tenth of a second. So they are
    frozen: the collector never looks at them.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
