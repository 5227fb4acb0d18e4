"""Importing without the garbage collector."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Import here what a whole process needs, at its start.

    Of the quarter of a million objects that come with livekit-agents 1.8.9 one in a hundred is garbage. Looking for
    it again and again is a sixth of the time that a console takes to start, and would later stop a conversation for a
    tenth of a second: so nobody looks, then or later.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
