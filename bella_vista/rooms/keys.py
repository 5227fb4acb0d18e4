"""The keys of a telephone: digits that are pressed one after the other are one thing the guest says."""

import asyncio
from collections.abc import Callable

from bella_vista.rooms.words import A_PERSON

PAUSE_S = 1.5
"""How long after a digit the next one still belongs to it, in seconds."""

MOST = 20
"""How many digits are taken in at once; a telephone number has at most fifteen (ITU-T E.164)."""

_DONE, _PERSON = "#", "0"


class Keys:
    """Collects what is pressed and says it for the guest.

    ``#`` ends a number at once. ``0`` by itself asks for a person. A star or hash by itself is nothing.

    Args:
        say: Takes what the guest has said by it.
        pause_s: How long after a digit the next one still belongs to it, in seconds.
    """

    def __init__(self, say: Callable[[str], None], *, pause_s: float = PAUSE_S) -> None:
        self._say = say
        self._pause_s = pause_s
        self._pressed = ""
        self._timer: asyncio.TimerHandle | None = None

    def press(self, key: str) -> None:
        """Take in one key."""
        self.cancel()
        if key == _DONE:
            self._finish()
        elif key.isascii() and key.isdigit() and len(key) == 1:
            self._pressed = (self._pressed + key)[-MOST:]
            self._wait()
        elif self._pressed:
            self._wait()

    def cancel(self) -> None:
        """Stop waiting for more; what was pressed stays."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._pause_s, self._finish)

    def _finish(self) -> None:
        self._timer = None
        pressed, self._pressed = self._pressed, ""
        if pressed:
            self._say(A_PERSON if pressed == _PERSON else pressed)
