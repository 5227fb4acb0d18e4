"""Signal handling during a conversation."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def on_signals(leave: Callable[[], None]) -> Iterator[None]:
    """Handle Ctrl-C, SIGTERM and SIGHUP as the user's leaving."""
    loop = asyncio.get_running_loop()
    caught: list[int] = []
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        # Not every platform has all of them, or allows handlers for them in an event loop.
        with contextlib.suppress(AttributeError, NotImplementedError, RuntimeError):
            loop.add_signal_handler(getattr(signal, name), leave)
            caught.append(getattr(signal, name))
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
