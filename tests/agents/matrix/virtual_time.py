"""An event loop whose clock jumps: a wait of ten seconds takes none, and everything else is as it was."""

import asyncio
import selectors
from typing import Any


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
