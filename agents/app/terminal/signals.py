"""Signal handling during a conversation, and while a worker serves."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator

LEAVE_WHEN_OVER = signal.SIGTERM
"""The signal to a job whose worker is shutting down: its agent leaves when the call is over."""

_JOB_CONTROL = (signal.SIGTTOU, signal.SIGTSTP)


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


@contextlib.contextmanager
def ctrl_c_alone() -> Iterator[None]:
    """Deliver Ctrl-C to this process but not to its parent: ``make`` would report a failure.

    This does nothing without a terminal, or if this process leads the terminal's foreground group.
    Ctrl-Z is ignored within the context: it would stop this process but not its parent, for which the
    shell waits.
    """
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        yield
        return
    try:
        before = os.tcgetpgrp(terminal)
        if before != os.getpgrp() or before == os.getpid():
            yield
            return
        handlers = {one: signal.signal(one, signal.SIG_IGN) for one in _JOB_CONTROL}
        os.setpgid(0, 0)
        os.tcsetpgrp(terminal, os.getpid())
        try:
            yield
        finally:
            os.tcsetpgrp(terminal, before)
            for one, handler in handlers.items():
                signal.signal(one, handler)
    finally:
        os.close(terminal)
