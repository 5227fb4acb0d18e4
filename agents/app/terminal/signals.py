"""Signal handling during a conversation, and while a worker serves."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator

LEAVE_WHEN_OVER = signal.SIGTERM
"""The signal that tells a job that its worker is shutting down, so that its agent leaves when the
call is over."""


@contextlib.contextmanager
def on_signals(call: Callable[[], None], *names: str) -> Iterator[None]:
    """Call a function on signals.

    Args:
        call: The function; it runs in the event loop.
        names: The signals; by default those by which a user leaves: Ctrl-C, SIGTERM and SIGHUP.
    """
    loop = asyncio.get_running_loop()
    caught: list[int] = []
    for name in names or ("SIGINT", "SIGTERM", "SIGHUP"):
        # Not every platform has all of them, or allows handlers for them in an event loop.
        with contextlib.suppress(AttributeError, NotImplementedError, RuntimeError):
            loop.add_signal_handler(getattr(signal, name), call)
            caught.append(getattr(signal, name))
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
