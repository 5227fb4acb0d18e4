"""The one line that the log keeps of a call: how it went and how big it was, never what was in it."""

import asyncio
import hashlib
import logging
import re
import secrets
import time
import traceback
from collections import deque
from collections.abc import Callable

logger = logging.getLogger(__name__)

RATE_LIMITED = 4029

LATER_S = 0.05
"""How long a line waits, in seconds."""

AT_A_TIME = 4
"""So many lines, and a tenth of those that wait, are written without a pause."""

_SALT = secrets.token_bytes(16)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def short_hash(text: str) -> str:
    """Stand for a text in the log: the same within a process, and nobody can tell what it was.

    >>> short_hash("ada") == short_hash("ada"), len(short_hash("ada"))
    (True, 8)
    """
    raw = text.encode(errors="surrogatepass")
    return hashlib.blake2s(raw, digest_size=4, key=_SALT).hexdigest()


class CallLog:
    """Writes lines down a moment later: nobody's answer waits for the log.

    A job of livekit-agents 1.8.9 hands each line to a thread, which takes the interpreter away from the event loop
    just when an answer is about to leave: the line costs more than most calls.
    """

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def later(self, write: Callable[[], None]) -> None:
        """Have a line written when there is time; called in the event loop."""
        self._waiting.append(write)
        if self._timer is None:
            self._wake()

    def close(self) -> None:
        """Write all that waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._write(len(self._waiting))

    def _wake(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(LATER_S, self._some)

    def _some(self) -> None:
        self._timer = None
        self._write(AT_A_TIME + len(self._waiting) // 10)
        if self._waiting:
            self._wake()

    def _write(self, count: int) -> None:
        for _ in range(min(count, len(self._waiting))):
            self._waiting.popleft()()


class CallRecord:
    """A call from its arrival to its end.

    Args:
        log: Writes its line.
        method: What was called.
        identity: Who called.
        payload: What was sent; only its size is kept.
        request_id: livekit's id of the call. A client can choose its own, so it may hold anything.
    """

    def __init__(
        self, log: CallLog, method: str, identity: str, payload: str, request_id: str
    ) -> None:
        self._log = log
        self.identity = identity
        self.bytes_in = len(payload.encode(errors="surrogatepass"))
        """The size of the payload in UTF-8."""
        self._method = method
        self._request_id = request_id
        self._start = time.perf_counter()

    def ended(self, code: int, bytes_out: int = 0) -> None:
        """Have the log say how it ended.

        Args:
            code: 0 for success, else the error's.
            bytes_out: The size of the reply, or of the error's data.
        """
        # A flood would fill the log with lines that say the same.
        level = logging.DEBUG if code == RATE_LIMITED else logging.INFO
        if logger.isEnabledFor(level):
            ms = round((time.perf_counter() - self._start) * 1000, 2)
            numbers = {"code": int(code), "ms": ms, "bytes_out": bytes_out}
            self._log.later(
                lambda: logger.log(level, "call answered", extra={**self._data(), **numbers})
            )

    def failed(self, what: str, error: BaseException | None = None) -> None:
        """Log that something is wrong here: of an exception its type and its place, since its text may hold a payload."""
        extra = self._data()
        if error is not None:
            frames = traceback.extract_tb(error.__traceback__)
            extra["error"] = type(error).__name__
            extra["place"] = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "?"
            extra["way"] = [f"{frame.name}:{frame.lineno}" for frame in frames[-6:]]
        logger.error(what, extra=extra)

    def _data(self) -> dict[str, object]:
        known = _UUID.fullmatch(self._request_id)
        return {
            "request_id": self._request_id if known else short_hash(self._request_id),
            "method": self._method,
            "caller": short_hash(self.identity),
            "bytes_in": self.bytes_in,
        }
