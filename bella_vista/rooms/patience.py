"""A guest who says nothing: he is asked once or twice whether he is there, then the call ends."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from state.order import Channel


@dataclass(frozen=True)
class Patience:
    """How long a guest may be silent when it is his turn.

    Args:
        asks_after_s: After how long he is asked whether he is there, each time, in seconds.
        asks: How often he is asked.
        ends_after_s: After how long the call ends, counted from the last question, in seconds.
    """

    asks_after_s: float
    asks: int
    ends_after_s: float


PATIENCE: Mapping[Channel, Patience] = {
    "phone": Patience(asks_after_s=15.0, asks=2, ends_after_s=15.0),
    "web_voice": Patience(asks_after_s=30.0, asks=2, ends_after_s=60.0),
    # Somebody in front of a page may be reading it.
    "web_text": Patience(asks_after_s=180.0, asks=1, ends_after_s=900.0),
}


class Silence:
    """Watches one guest's silence.

    Args:
        patience: How long it may last.
        ask: Asks whether he is there.
        end: Ends the call.
    """

    def __init__(
        self, patience: Patience, ask: Callable[[], None], end: Callable[[], None]
    ) -> None:
        self._patience = patience
        self._ask = ask
        self._end = end
        self._asked = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def due_at(self) -> float | None:
        """When something is done about it, in the event loop's seconds; ``None`` while nobody waits for him."""
        return self._timer.when() if self._timer is not None else None

    def begins(self) -> None:
        """It is the guest's turn."""
        self.stops()
        loop = asyncio.get_running_loop()
        if self._asked < self._patience.asks:
            self._timer = loop.call_later(self._patience.asks_after_s, self._still_there)
        else:
            self._timer = loop.call_later(self._patience.ends_after_s, self._end)

    def stops(self) -> None:
        """An agent speaks, or the guest is away: nobody waits for him to speak."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def broken(self) -> None:
        """The guest has said or done something."""
        self._asked = 0
        if self._timer is not None:
            self.begins()

    def _still_there(self) -> None:
        self._timer = None
        self._asked += 1
        self._ask()
