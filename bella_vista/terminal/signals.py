"""Being told to stop, from a keyboard or by another program."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def on_signals(leave: Callable[[], None]) -> Iterator[None]:
    """Take Ctrl-C, and being told to stop, for the guest's leaving."""
    loop = asyncio.get_running_loop()
    caught: list[int] = []
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        # Not every platform has all of them, nor lets an event loop have them.
        with contextlib.suppress(AttributeError, NotImplementedError, RuntimeError):
            loop.add_signal_handler(getattr(signal, name), leave)
            caught.append(getattr(signal, name))
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
