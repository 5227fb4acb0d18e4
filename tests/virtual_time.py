"""An event loop whose clock jumps: a wait of ten seconds takes none, and everything else is as it was."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class _Jumping(selectors.DefaultSelector):
    """Looks for what is ready; when nothing is, moves the loop's clock on instead of waiting."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0 if timeout is not None else None)
        if not ready and timeout:
            self.now += timeout
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    """A loop in which time passes only while everybody waits."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def played(story: Coroutine[Any, Any, T]) -> T:
    """Run something to its end in virtual time; a task that it leaves behind fails it."""

    async def tidy() -> T:
        async with asyncio.timeout(100_000):
            told = await story
        for _ in range(3):
            await asyncio.sleep(0)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"tasks were left behind: {left}"
        return told

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(tidy())


def in_virtual_time(test: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Make an async test one that is played in virtual time."""

    @wraps(test)
    def story(*args: P.args, **kwargs: P.kwargs) -> T:
        return played(test(*args, **kwargs))

    return story
