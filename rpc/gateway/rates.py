"""How often somebody may call, and how much of his may be in work at a time."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

KEPT = 256
"""How many callers are remembered before those who have been quiet are forgotten."""


@dataclass(slots=True)
class _Caller:
    left: float
    at: float
    in_work: int = 0
    refused: int = 0


class Rates:
    """A bucket for each caller: so many calls at once, then so many a second.

    Who has been quiet until his bucket is full again is as good as new, and forgotten when memory counts.
    Leaving and coming back gives nobody a fresh bucket.

    Args:
        at_once: How many calls a full bucket holds, and how many may be in work at a time.
        per_second: How many come back each second.
        clock: The present second; only differences count.
    """

    def __init__(
        self, *, at_once: int, per_second: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._at_once = at_once
        self._per_second = per_second
        self._clock = clock
        self._callers: dict[str, _Caller] = {}
        self._sweep_at = KEPT

    def __len__(self) -> int:
        """Return how many callers are remembered."""
        return len(self._callers)

    def take(self, identity: str) -> int | None:
        """Let a call in, or say in how many milliseconds another may be let in.

        Who is let in has to say ``done`` when it is.
        """
        caller = self._present(identity)
        if caller.in_work >= self._at_once:
            caller.refused += 1
            return math.ceil(1000 / self._per_second)
        if caller.left < 1:
            caller.refused += 1
            return math.ceil((1 - caller.left) / self._per_second * 1000)
        caller.left -= 1
        caller.in_work += 1
        return None

    def done(self, identity: str) -> None:
        """Say that a call which was let in has ended."""
        self._callers[identity].in_work -= 1

    def refused(self, identity: str) -> int:
        """Return how many calls were refused since he was last quiet, or pardoned."""
        caller = self._callers.get(identity)
        return 0 if caller is None else caller.refused

    def pardon(self, identity: str) -> None:
        """Forget what was refused."""
        caller = self._callers.get(identity)
        if caller is not None:
            caller.refused = 0

    def _present(self, identity: str) -> _Caller:
        now = self._clock()
        caller = self._callers.get(identity)
        if caller is None:
            if len(self._callers) >= self._sweep_at:
                self._sweep(now)
            caller = self._callers[identity] = _Caller(self._at_once, now)
        else:
            caller.left = self._filled(caller, now)
            caller.at = now
            if caller.left >= self._at_once and not caller.in_work:
                caller.refused = 0
        return caller

    def _filled(self, caller: _Caller, now: float) -> float:
        return min(self._at_once, caller.left + (now - caller.at) * self._per_second)

    def _sweep(self, now: float) -> None:
        self._callers = {
            identity: caller
            for identity, caller in self._callers.items()
            if caller.in_work or self._filled(caller, now) < self._at_once
        }
        # However many are left, the next look is far enough away to cost nothing per call.
        self._sweep_at = max(KEPT, 2 * len(self._callers))
