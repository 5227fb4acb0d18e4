"""An event loop whose clock jumps to the next thing that is due, so that seconds cost nothing."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Jumping(selectors.SelectSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("everybody waits, and nothing will ever happen")
            self.now += max(timeout, 0)
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Jumping()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


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

    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(tidy())
