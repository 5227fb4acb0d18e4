"""Timeouts of one call, all of which expire at once when it is hung up."""

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from state.shared import Basis, StateError

T = TypeVar("T")

logger = logging.getLogger(__name__)

CANCEL_GRACE_S = 0.5
"""How long cancelled work may take to clean up, in seconds."""

_POLL_S = 0.05
"""How often a pending change is polled for its end, in seconds."""


class Abandoned(StateError):
    """Work that had been abandoned asked for a change."""

    code = "given_up"

    def __init__(self) -> None:
        super().__init__("This was given up before. Nothing was changed.")


class StillRunning(TimeoutError):
    """Work was abandoned and ignores cancellation: its side effects may still happen."""


class BaseExceptionRaised(Exception):
    """Work raised a ``BaseException`` such as ``SystemExit``, which must not end the process."""


class InvalidData(Exception):
    """Application code gave a pydantic model invalid data. The message has none of its values."""


class IdleTimeout:
    """A timeout that restarts: an async context manager with a single timer.

    One ``asyncio.timeout`` per chunk of a reply would cost more than everything else done with it.

    Args:
        limit: The timeout object to expire; it has no deadline of its own.
        seconds: The timeout.

    Raises:
        TimeoutError: On exit: the timeout has expired, or the call has been hung up.
    """

    def __init__(self, limit: asyncio.Timeout, seconds: float) -> None:
        self._limit = limit
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._since: float | None = None

    async def __aenter__(self) -> Self:
        """Start the timer."""
        await self._limit.__aenter__()
        self.start()
        self._timer = self._loop.call_later(self._seconds, self._check)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the timer."""
        self._timer.cancel()
        await self._limit.__aexit__(kind, error, trace)

    def start(self) -> None:
        """Start counting."""
        self._since = self._loop.time()

    def stop(self) -> None:
        """Stop counting while a chunk is processed."""
        self._since = None

    def _check(self) -> None:
        now = self._loop.time()
        until = (now if self._since is None else self._since) + self._seconds
        if until > now:
            self._timer = self._loop.call_at(until, self._check)
        elif not self._limit.expired():
            self._limit.reschedule(now)


class TimeLimits:
    """The timeouts running in one call."""

    def __init__(self) -> None:
        self.hung_up = False
        self._running: weakref.WeakSet[asyncio.Timeout] = weakref.WeakSet()

    def timeout(self, seconds: float | None) -> asyncio.Timeout:
        """Return an ``asyncio.timeout`` that also expires when the call is hung up.

        Args:
            seconds: How long; ``None`` for no limit but the hang-up.

        Raises:
            TimeoutError: On exit: the timeout has expired, or the call has been hung up.
        """
        limit = asyncio.timeout(0 if self.hung_up else seconds)
        self._running.add(limit)
        return limit

    def idle_timeout(self, seconds: float) -> IdleTimeout:
        """Limit how long a stream may be silent, however long it takes in all."""
        return IdleTimeout(self.timeout(None), seconds)

    async def run_with_timeout(
        self, work: Coroutine[Any, Any, T], seconds: float, basis: Basis | None = None
    ) -> T:
        """Run application code with a timeout; abandon it if it ignores cancellation.

        Time spent waiting for its state changes is not counted. Abandoned work can no longer change
        the state.

        Args:
            work: The coroutine.
            seconds: The timeout.
            basis: The basis of its changes; without one no version is checked.

        Raises:
            TimeoutError: The timeout has expired, or the call has been hung up.
            StillRunning: The same, and the work ignores cancellation.
            BaseExceptionRaised: It raised a ``BaseException`` that is no ``Exception``.
            InvalidData: It raised a ``ValidationError``, which is not the model's fault: its
                arguments have been validated before.
        """
        basis = basis or Basis(None, None)
        with basis:
            task = asyncio.ensure_future(_wrap_exceptions(work))
        try:
            async with self.timeout(None):
                await _wait_within(task, seconds, basis)
        except (TimeoutError, asyncio.CancelledError) as error:
            try:
                await _cancel(task, basis)
            finally:  # also when this is cancelled again
                if not task.done():
                    logger.warning("tool or hook ignores cancellation, abandoned")
                    basis.give_up(Abandoned())
                    task.add_done_callback(_log_late_failure)
            if not task.done() and isinstance(error, TimeoutError):
                raise StillRunning from None
            if not task.done() or task.cancelled():
                raise
        finally:
            if task.done():
                basis.end()
        return task.result()

    def hang_up(self) -> None:
        """Expire every timeout, now and from now on."""
        self.hung_up = True
        for limit in tuple(self._running):
            with contextlib.suppress(RuntimeError):  # it has already ended
                limit.reschedule(0)


async def _wait_within(task: "asyncio.Task[Any]", seconds: float, basis: Basis) -> None:
    """Wait for work; raise ``TimeoutError`` once its time is up and no change is being written."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    while not task.done():
        left = seconds - (loop.time() - began - basis.waited_s)
        if left <= 0 and not basis.writing:
            raise TimeoutError
        await asyncio.wait((task,), timeout=max(left, _POLL_S))


async def _cancel(task: "asyncio.Task[Any]", basis: Basis) -> None:
    """Cancel work, and wait while it cleans up or a change of it is being written."""
    if not task.done():
        task.cancel()
        await asyncio.wait((task,), timeout=CANCEL_GRACE_S)
    while not task.done() and basis.writing:
        await asyncio.wait((task,), timeout=CANCEL_GRACE_S)


async def _wrap_exceptions(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    except ValidationError as error:
        places = ", ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'the whole'} ({fault['type']})"
            for fault in error.errors(include_input=False, include_context=False, include_url=False)
        )
        wrong = InvalidData(f"{error.title}: {places}").with_traceback(error.__traceback__)
        raise wrong from None
    except (Exception, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # ``sys.exit`` in a tool must not end the process
        raise BaseExceptionRaised(type(error).__name__) from error


def _log_late_failure(task: "asyncio.Future[Any]") -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.warning("abandoned tool or hook failed")
