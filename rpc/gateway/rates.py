"""Limits each caller's rate of calls and how many of them run concurrently."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

KEPT = 256
"""How many callers are kept before idle ones are removed."""

REFUSAL_EVERY_S = 0.0025
"""The minimum time between two refusals that are sent to the same caller, in seconds. Livekit takes some 0.3 ms of
processor time to send one, beside 0.45 ms to receive a call, and other callers' messages wait meanwhile."""

REFUSAL_WITHIN_S = 5.0
"""The longest delay of a refusal, in seconds; clients of livekit wait ten or fifteen for an answer."""


@dataclass(slots=True)
class _Caller:
    tokens: float
    updated_at: float
    in_flight: int = 0
    refused: int = 0
    next_refusal_at: float = 0.0


class Rates:
    """A token bucket for each caller.

    A caller whose bucket is full again counts as new, and is removed when there are many. Leaving and rejoining
    the room does not refill the bucket.

    Args:
        at_once: The size of a bucket, and how many calls may run concurrently.
        per_second: How many tokens are refilled each second.
        clock: The present time in seconds; only differences count.
    """

    def __init__(
        self, *, at_once: int, per_second: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._at_once = at_once
        self._per_second = per_second
        self._clock = clock
        self._callers: dict[str, _Caller] = {}
        self._sweep_size = KEPT

    def __len__(self) -> int:
        """Return how many callers are kept."""
        return len(self._callers)

    def take(self, identity: str) -> int | None:
        """Admit a call and return ``None``, or return after how many milliseconds to retry.

        Call ``done`` when an admitted call has ended.
        """
        caller = self._present(identity)
        if caller.in_flight >= self._at_once:
            caller.refused += 1
            return math.ceil(1000 / self._per_second)
        if caller.tokens < 1:
            caller.refused += 1
            return math.ceil((1 - caller.tokens) / self._per_second * 1000)
        caller.tokens -= 1
        caller.in_flight += 1
        return None

    def done(self, identity: str) -> None:
        """End an admitted call."""
        self._callers[identity].in_flight -= 1

    def refusal_delay(self, identity: str) -> float:
        """Return how long to wait before a refused call is answered, in seconds; each call takes its own time slot.

        Args:
            identity: The caller, whose call was just refused by ``take``.
        """
        caller, now = self._callers[identity], self._clock()
        send_at = min(max(now, caller.next_refusal_at), now + REFUSAL_WITHIN_S)
        caller.next_refusal_at = send_at + REFUSAL_EVERY_S
        return send_at - now

    def refused(self, identity: str) -> int:
        """Return how many calls were refused since the bucket was last full, or ``reset_refusals``."""
        caller = self._callers.get(identity)
        return 0 if caller is None else caller.refused

    def reset_refusals(self, identity: str) -> None:
        """Reset the count of refused calls."""
        caller = self._callers.get(identity)
        if caller is not None:
            caller.refused = 0

    def _present(self, identity: str) -> _Caller:
        now = self._clock()
        caller = self._callers.get(identity)
        if caller is None:
            if len(self._callers) >= self._sweep_size:
                self._sweep(now)
            caller = self._callers[identity] = _Caller(self._at_once, now)
        else:
            caller.tokens = self._refilled(caller, now)
            caller.updated_at = now
            if caller.tokens >= self._at_once and not caller.in_flight:
                caller.refused = 0
        return caller

    def _refilled(self, caller: _Caller, now: float) -> float:
        return min(self._at_once, caller.tokens + (now - caller.updated_at) * self._per_second)

    def _sweep(self, now: float) -> None:
        self._callers = {
            identity: caller
            for identity, caller in self._callers.items()
            if caller.in_flight or self._refilled(caller, now) < self._at_once
        }
        # Double, so that sweeping costs next to nothing per call however many callers are left.
        self._sweep_size = max(KEPT, 2 * len(self._callers))
