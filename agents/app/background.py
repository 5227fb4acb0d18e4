"""Background tasks with an owner, the first of several awaitables, and timers that can be restarted."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")


async def first(*awaited: Awaitable[T]) -> T:
    """Return the result of the first awaitable that is done, or raise its exception; cancel the others."""
    tasks = [asyncio.ensure_future(one) for one in awaited]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return [one.result() for one in tasks if one in done][0]
    finally:
        for one in tasks:
            one.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Timer:
    """Calls a function once, unless it is stopped or started again before."""

    def __init__(self, call: Callable[..., object]) -> None:
        self._call = call
        self._handle: asyncio.TimerHandle | None = None

    @property
    def due_at(self) -> float | None:
        """The event loop's time at which the timer fires; ``None`` while it is stopped."""
        return self._handle.when() if self._handle is not None else None

    def start(self, seconds: float, *arguments: Any) -> None:
        """Start or restart the timer; the function is called with the arguments."""
        self.stop()
        self._handle = asyncio.get_running_loop().call_later(seconds, self._fire, *arguments)

    def stop(self) -> None:
        """Stop the timer, if it runs."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self, *arguments: Any) -> None:
        self._handle = None
        self._call(*arguments)


class BackgroundTasks:
    """Background tasks with an owner. An exception ends its own task and is logged.

    The event loop keeps only weak references to tasks.

    Args:
        failed: The log message; the type of the exception is added.
    """

    def __init__(self, failed: str) -> None:
        self._failed = failed
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Start a task."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def aclose(self) -> None:
        """Cancel all tasks and wait for them."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.warning("%s: %s", self._failed, type(error).__name__)
