"""Logs one line for each RPC request: result, duration and sizes, never the content."""

import asyncio
import hashlib
import logging
import re
import secrets
import sysconfig
import time
import traceback
from collections import deque
from collections.abc import Callable

from pydantic import ValidationError

logger = logging.getLogger(__name__)

RATE_LIMITED = 4029

LATER_S = 0.05
"""How long a log line is delayed, in seconds."""

LINES_AT_ONCE = 4
"""How many lines are written at once, in addition to a tenth of the queued ones."""

_INSTALLED = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
_SALT = secrets.token_bytes(16)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def short_hash(text: str) -> str:
    """Return a keyed hash of a text for the log: stable within a process, and not reversible.

    >>> short_hash("ada") == short_hash("ada"), len(short_hash("ada"))
    (True, 8)
    """
    raw = text.encode(errors="surrogatepass")
    return hashlib.blake2s(raw, digest_size=4, key=_SALT).hexdigest()


def fault_of(error: BaseException) -> dict[str, object]:
    """Return the place of an exception for the log, never its text, which may hold a user's words.

    ``place`` is the last line outside of installed packages; of a ``ValidationError`` the model is named too.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_INSTALLED)] or frames
    place = f"{own[-1].filename}:{own[-1].lineno} in {own[-1].name}" if own else "?"
    kind = type(error).__name__
    of = f" of {error.title}" if isinstance(error, ValidationError) else ""
    return {
        "fault": f"{kind}{of} at {place}",
        "error": kind,
        "place": place,
        "way": [f"{frame.name}:{frame.lineno}" for frame in frames[-6:]],
    }


class RequestLog:
    """Writes log lines with a short delay, so that no reply waits for the log.

    A job of livekit-agents 1.8.9 hands each line to a thread, which takes the GIL from the event loop just when a
    reply is about to be sent: the line costs more than most requests.
    """

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def later(self, write: Callable[[], None]) -> None:
        """Queue a log line. Call it in the event loop."""
        self._waiting.append(write)
        if self._timer is None:
            self._wake()

    def close(self) -> None:
        """Write all queued lines."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._write(len(self._waiting))

    def _wake(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(LATER_S, self._some)

    def _some(self) -> None:
        self._timer = None
        self._write(LINES_AT_ONCE + len(self._waiting) // 10)
        if self._waiting:
            self._wake()

    def _write(self, count: int) -> None:
        for _ in range(min(count, len(self._waiting))):
            self._waiting.popleft()()


class RequestRecord:
    """The data of one request for the log.

    Args:
        log: Queues the log line.
        payload: The payload; only its size is kept.
        request_id: livekit's request id. A client can choose its own, so it may hold anything.
    """

    def __init__(
        self, log: RequestLog, method: str, identity: str, payload: str, request_id: str
    ) -> None:
        self._log = log
        self.identity = identity
        self.bytes_in = len(payload.encode(errors="surrogatepass"))
        """The size of the payload in UTF-8."""
        self._method = method
        self._request_id = request_id
        self._start = time.perf_counter()

    def ended(self, code: int, bytes_out: int = 0) -> None:
        """Log the result.

        Args:
            code: 0 for success, else the error code.
            bytes_out: The size of the reply, or of the error's data.
        """
        # DEBUG for rate-limited requests: a flood would fill the log with identical lines.
        level = logging.DEBUG if code == RATE_LIMITED else logging.INFO
        if logger.isEnabledFor(level):
            ms = round((time.perf_counter() - self._start) * 1000, 2)
            numbers = {"code": int(code), "ms": ms, "bytes_out": bytes_out}
            self._log.later(
                lambda: logger.log(level, "rpc request handled", extra={**self._data(), **numbers})
            )

    def failed(self, what: str, error: BaseException | None = None) -> None:
        """Log an internal error; the line names the method and, of an exception, its type and place."""
        fault = fault_of(error) if error is not None else {}
        logger.error(
            "%s: %s%s",
            self._method,
            what,
            f": {fault['fault']}" if fault else "",
            extra={**self._data(), **fault},
        )

    def _data(self) -> dict[str, object]:
        known = _UUID.fullmatch(self._request_id)
        return {
            "request_id": self._request_id if known else short_hash(self._request_id),
            "method": self._method,
            "caller": short_hash(self.identity),
            "bytes_in": self.bytes_in,
        }
