"""The logs of a worker and its jobs: never a user's words, and never a secret.

Messages and exceptions of libraries may contain a user's words, so only parts of them are kept: the
start of a message, up to the first value; the type of an exception and the lines of its traceback;
extra fields that are known to be harmless. The messages of the framework and of the application are
constant texts and are kept whole.
"""

import logging
import re
import sys
import threading
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import JsonValue

from agents.app.importing import FRAMEWORK
from agents.app.terminal.logs import SecretsFormatter, is_native, log_warnings
from agents.app.terminal.stdio import json_line

_HARMLESS = frozenset({"exit_code", "job_id", "max_retry", "pid", "retry_count", "room"})
_ADDED = ("error_kind", "error_places")
_USUAL = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", *_ADDED})
_VALUES = re.compile(r": |\n|(?: (?:at|in|for|of|to|from))? ?[<(`'\"]")
"""The places where values may begin in a library's message, with the preposition before them."""

_PLAIN = str | int | float | bool | None
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')

_UNHANDLED = logging.getLogger(__name__)


class RedactingFilter(logging.Filter):
    """Redacts every record in place, and passes it on.

    Args:
        application: The application's package, if there is one.
    """

    def __init__(self, application: str | None = None) -> None:
        super().__init__()
        self._ours = _ours(application)

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact a record."""
        if is_native(record) and record.levelno > logging.WARNING:
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        ours = any(f"{record.name}.".startswith(f"{name}.") for name in self._ours)
        text = _text(record)
        record.msg, record.args = (text if ours else _VALUES.split(text, maxsplit=1)[0]), ()
        self._redact_exception(record)
        for name, value in list(vars(record).items()):
            if name in _USUAL:
                continue
            if isinstance(value, BaseException):
                setattr(record, name, type(value).__name__)
            elif not (ours or name in _HARMLESS) or not isinstance(value, _PLAIN):
                delattr(record, name)
        return True

    def _redact_exception(self, record: logging.LogRecord) -> None:
        kind, _, trace = record.exc_info or (None, None, None)
        if kind is not None:
            record.error_kind = kind.__name__
            frames = traceback.extract_tb(trace)
            record.error_places = [f"{at.filename}:{at.lineno} {at.name}" for at in frames]
        elif blocked := _FRAME.findall(str(getattr(record, "stack", ""))):
            # livekit-agents 1.8.9 reports a blocked event loop with its stack: keep the innermost frame.
            record.error_places = ["{}:{} {}".format(*blocked[-1])]
        record.exc_info = record.exc_text = record.stack_info = None


class JsonLines(SecretsFormatter):
    """One JSON object per record: ``time``, ``level``, ``logger``, ``message``, and its extra fields."""

    def line(self, record: logging.LogRecord) -> str:
        """Return the object as text."""
        fields: dict[str, JsonValue] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (kind := getattr(record, "error_kind", None)) is not None:
            fields["error"] = kind
        if places := getattr(record, "error_places", []):
            fields["at"] = places
        extra = {name: value for name, value in _data(record).items() if name not in fields}
        return json_line(fields | extra)


class PlainLines(SecretsFormatter):
    """One line per record for a developer to read, without the fields that its message contains."""

    def line(self, record: logging.LogRecord) -> str:
        """Return the line."""
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        message = record.getMessage()
        text = f"{time} {record.levelname.lower():7} {message}"
        data = " ".join(
            f"{name}={value}"
            for name, value in _data(record).items()
            if not (isinstance(value, str) and value in message)
        )
        if data:
            text += f"  [{data}]"
        if (kind := getattr(record, "error_kind", None)) is not None:
            text += f" ({kind})"
        text += "".join(f"\n    {place}" for place in getattr(record, "error_places", []))
        return text


def log_as_worker(
    secrets: Sequence[str], *, application: str | None = None, plain: bool = False
) -> None:
    """Log this process, and its jobs through it, to stderr.

    Args:
        secrets: Texts to redact.
        application: The application's package, if there is one.
        plain: Whether to write lines for a developer; else one JSON object per line.
    """
    handler = logging.StreamHandler()
    handler.addFilter(RedactingFilter(application))
    handler.setFormatter(PlainLines(secrets) if plain else JsonLines(secrets))
    root = logging.getLogger()
    for old in tuple(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    # livekit-agents 1.8.9 gives a job process the levels that are set here.
    for name in _ours(application):
        logging.getLogger(name).setLevel(logging.INFO)
    # The framework's own lines replace livekit's info lines: they name the room and hold no other data.
    logging.getLogger("livekit").setLevel(logging.WARNING)
    _log_unhandled_exceptions()


def _ours(application: str | None) -> frozenset[str]:
    return FRAMEWORK | ({application} if application else set())


def log_as_job(application: str | None = None) -> None:
    """Redact the records of a job process before they are sent to its worker.

    Before it sets a job process up, livekit-agents 1.8.9 adds a root handler that sends records to the
    worker, each formatted with its exception's message.
    """
    for handler in logging.getLogger().handlers:
        handler.addFilter(RedactingFilter(application))
    # A record that cannot be sent would be printed with all its data.
    logging.raiseExceptions = False
    _log_unhandled_exceptions()


def _log_unhandled_exceptions() -> None:
    log_warnings()

    def in_thread(caught: threading.ExceptHookArgs) -> None:
        if caught.exc_value is not None:
            error = (caught.exc_type, caught.exc_value, caught.exc_traceback)
            _UNHANDLED.error("unhandled exception in a thread", exc_info=error)

    def unraisable(caught: "sys.UnraisableHookArgs") -> None:
        if caught.exc_value is not None:
            error = (caught.exc_type, caught.exc_value, caught.exc_traceback)
            _UNHANDLED.error("unraisable exception", exc_info=error)

    threading.excepthook = in_thread
    sys.unraisablehook = unraisable


def _text(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # a library's message does not fit its arguments: logging must not fail
        return str(record.msg)


def _data(record: logging.LogRecord) -> dict[str, JsonValue]:
    return {name: value for name, value in vars(record).items() if name not in _USUAL}
