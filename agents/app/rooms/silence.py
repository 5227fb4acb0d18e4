"""Silence timeouts: remind a silent user, then end the call; end a call that has stalled."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agents.app.background import Timer
from agents.app.parts import Channel


@dataclass(frozen=True)
class SilencePolicy:
    """How long a user may be silent on their turn.

    Args:
        remind_after_s: Silence before each reminder, in seconds.
        reminders: How many reminders there are.
        end_after_s: Silence after the last reminder before the call ends, in seconds.
    """

    remind_after_s: float
    reminders: int
    end_after_s: float


SILENCE_POLICIES: Mapping[Channel, SilencePolicy] = {
    "phone": SilencePolicy(remind_after_s=15.0, reminders=2, end_after_s=15.0),
    "web_voice": SilencePolicy(remind_after_s=30.0, reminders=2, end_after_s=60.0),
    # A user in front of a page may be reading it.
    "web_text": SilencePolicy(remind_after_s=180.0, reminders=1, end_after_s=900.0),
}


class SilenceTimer:
    """Reminds a silent user, then ends the call.

    Args:
        policy: How long silence may last.
        remind: Asks whether the user is there.
    """

    def __init__(
        self, policy: SilencePolicy, remind: Callable[[], None], end: Callable[[], None]
    ) -> None:
        self._policy = policy
        self._remind = remind
        self._end = end
        self._reminded = 0
        self._timer = Timer(self._on_silence)

    @property
    def due_at(self) -> float | None:
        """When the timer fires, in the event loop's seconds; ``None`` while it is stopped."""
        return self._timer.due_at

    def start(self) -> None:
        """Start waiting: it is the user's turn."""
        policy = self._policy
        more = self._reminded < policy.reminders
        self._timer.start(policy.remind_after_s if more else policy.end_after_s)

    def stop(self) -> None:
        """Stop waiting: an agent speaks, or the user is away."""
        self._timer.stop()

    def reset(self) -> None:
        """Start over: the user has said or done something."""
        self._reminded = 0
        if self._timer.due_at is not None:
            self.start()

    def _on_silence(self) -> None:
        if self._reminded < self._policy.reminders:
            self._reminded += 1
            self._remind()
        else:
            self._end()


STALL_S = 60.0
"""How long nothing may happen in an agent's turn, beyond its model's own limit, in seconds."""

LONGEST_SPEECH_S = 600.0
"""How long someone may speak without anything else happening, in seconds."""


class StallTimer:
    """Ends a call in which nothing happens while it is not the user's turn.

    Every wait of an agent has its own timeout. This one covers other waits, such as livekit's wait
    for a connection: without it the user would wait forever.

    Args:
        limit_s: How long nothing may happen, in seconds.
        speaking: Returns whether an agent or the user is speaking.
        give_up: Called when the call has stalled.
    """

    def __init__(
        self, limit_s: float, speaking: Callable[[], bool], give_up: Callable[[], None]
    ) -> None:
        self._limit_s = limit_s
        self._speaking = speaking
        self._give_up = give_up
        self._started_at = 0.0
        self._timer = Timer(self._check)

    def start(self) -> None:
        """Start over: something has happened, and it is not the user's turn."""
        self._started_at = asyncio.get_running_loop().time()
        self._timer.start(self._limit_s)

    def stop(self) -> None:
        """Stop waiting: it is the user's turn, or the call is over."""
        self._timer.stop()

    def _check(self) -> None:
        silent_s = asyncio.get_running_loop().time() - self._started_at
        if self._speaking() and silent_s < LONGEST_SPEECH_S:
            self._timer.start(self._limit_s)
        else:
            self._give_up()
