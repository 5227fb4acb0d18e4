"""DTMF digits: keys pressed one after another become one message of the caller."""

import asyncio
from collections.abc import Callable

PAUSE_S = 1.5
"""How long after a digit the next one still belongs to the same number, in seconds."""

MAX_DIGITS = 20
"""How many digits one message keeps; a telephone number has at most fifteen (ITU-T E.164)."""

_DONE, _PERSON = "#", "0"


class DtmfDigits:
    """Collects DTMF digits and passes them on as the caller's words.

    ``#`` ends a number at once. ``0`` alone asks for a person. A lone star or hash is ignored.

    Args:
        say: Receives the words.
        a_person: The caller's words for ``0``.
        pause_s: How long after a digit the next one still belongs to the same number, in seconds.
    """

    def __init__(
        self, say: Callable[[str], None], *, a_person: str, pause_s: float = PAUSE_S
    ) -> None:
        self._say = say
        self._a_person = a_person
        self._pause_s = pause_s
        self._pressed = ""
        self._timer: asyncio.TimerHandle | None = None

    def press(self, key: str) -> None:
        """Process one key press."""
        self.cancel()
        if key == _DONE:
            self._finish()
        elif key.isascii() and key.isdigit() and len(key) == 1:
            self._pressed = (self._pressed + key)[-MAX_DIGITS:]
            self._wait()
        elif self._pressed:
            self._wait()

    def cancel(self) -> None:
        """Cancel the timer; digits pressed so far are kept."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._pause_s, self._finish)

    def _finish(self) -> None:
        self._timer = None
        pressed, self._pressed = self._pressed, ""
        if pressed:
            self._say(self._a_person if pressed == _PERSON else pressed)
