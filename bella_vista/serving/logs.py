"""What a worker and its jobs write into the log: never a guest's words, and never a secret.

What a library puts into its messages and exceptions may be what a guest has said. So of a foreign message only
its beginning is kept, up to where values start; of an exception its kind and the places it came through; of the
data beside a foreign message what is known to be harmless. Our own messages are fixed texts, and are kept whole.
"""

import json
import logging
import re
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from types import TracebackType

from pydantic import JsonValue

from bella_vista.terminal.json_lines import json_line

_OURS = frozenset({"agents", "bella_vista", "rpc", "state"})
_HARMLESS = frozenset({"exit_code", "job_id", "max_retry", "pid", "retry_count", "room"})
_ADDED = ("error_kind", "error_places")
_USUAL = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", *_ADDED})
_VALUES = re.compile(r": |\n| ?[<(`'\"]")
"""Where, in a library's message, values may begin."""

_NOBODY = logging.getLogger(__name__)


class Harmless(logging.Filter):
    """Takes out of every record what nobody may read, in place, and lets it pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Take it out."""
        ours = record.name.partition(".")[0] in _OURS
        text = _text(record)
        record.msg, record.args = (text if ours else _VALUES.split(text, maxsplit=1)[0]), ()
        self._take_exception(record)
        for name, value in list(vars(record).items()):
            if name in _USUAL:
                continue
            if isinstance(value, BaseException):
                setattr(record, name, type(value).__name__)
            elif not (ours or name in _HARMLESS) or not _plain(value):
                delattr(record, name)
        return True

    def _take_exception(self, record: logging.LogRecord) -> None:
        kind, _, trace = record.exc_info or (None, None, None)
        if kind is not None:
            record.error_kind = kind.__name__
            record.error_places = list(_places(trace))
        record.exc_info = record.exc_text = record.stack_info = None


class _Lines(logging.Formatter):
    """Writes a record without these secrets."""

    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__()
        # A JSON text holds a secret as JSON writes it.
        written = (json.dumps(secret, ensure_ascii=False)[1:-1] for secret in secrets)
        self._secrets = tuple({*secrets, *written})

    def format(self, record: logging.LogRecord) -> str:
        text = self._line(record)
        for secret in self._secrets:
            text = text.replace(secret, "[secret]")
        return text

    def _line(self, record: logging.LogRecord) -> str:
        raise NotImplementedError


class JsonLines(_Lines):
    """A JSON object for a record: ``time``, ``level``, ``logger``, ``message``, and what stands beside it."""

    def _line(self, record: logging.LogRecord) -> str:
        said: dict[str, JsonValue] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (kind := getattr(record, "error_kind", None)) is not None:
            said |= {"error": kind, "at": getattr(record, "error_places", [])}
        beside = {name: value for name, value in _data(record).items() if name not in said}
        return json_line(said | beside)


class PlainLines(_Lines):
    """A line that a person reads who is working on the program."""

    def _line(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        text = f"{time} {record.levelname.lower():7} {record.getMessage()}"
        data = " ".join(f"{name}={value}" for name, value in _data(record).items())
        if data:
            text += f"  [{data}]"
        if (kind := getattr(record, "error_kind", None)) is not None:
            text += f" ({kind})"
            text += "".join(f"\n    {place}" for place in getattr(record, "error_places", []))
        return text


def log_as_worker(secrets: Sequence[str], *, plain: bool = False) -> None:
    """Write what this process, and its jobs through it, have to tell to stderr.

    Args:
        secrets: What is never written.
        plain: Whether a person reads it; else it is JSON, a line each.
    """
    handler = logging.StreamHandler()
    handler.addFilter(Harmless())
    handler.setFormatter(PlainLines(secrets) if plain else JsonLines(secrets))
    root = logging.getLogger()
    for old in tuple(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    # livekit-agents 1.8.9 gives a job process the levels that are set here.
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.INFO)
    # What it tells beside is told by us, with the room and without the rest.
    logging.getLogger("livekit").setLevel(logging.WARNING)
    _log_what_nobody_caught()


def log_as_job() -> None:
    """Let nothing out of a job process that its worker may not write.

    livekit-agents 1.8.9 puts a handler on the root that sends records to the worker, each formatted with its
    exception's message, before it sets a job process up.
    """
    for handler in logging.getLogger().handlers:
        handler.addFilter(Harmless())
    # A record that cannot be sent would be printed, with all that is in it.
    logging.raiseExceptions = False
    _log_what_nobody_caught()


def _log_what_nobody_caught() -> None:
    logging.captureWarnings(True)

    def in_thread(caught: threading.ExceptHookArgs) -> None:
        if caught.exc_value is not None:
            error = (caught.exc_type, caught.exc_value, caught.exc_traceback)
            _NOBODY.error("a thread ended by an exception", exc_info=error)

    def unraisable(caught: "sys.UnraisableHookArgs") -> None:
        if caught.exc_value is not None:
            error = (caught.exc_type, caught.exc_value, caught.exc_traceback)
            _NOBODY.error("an exception that nobody could catch", exc_info=error)

    threading.excepthook = in_thread
    sys.unraisablehook = unraisable


def _text(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # a library's message that does not fit its values must not end the log
        return str(record.msg)


def _plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _places(trace: TracebackType | None) -> Iterator[str]:
    for frame in traceback.extract_tb(trace):
        yield f"{frame.filename}:{frame.lineno} {frame.name}"


def _data(record: logging.LogRecord) -> dict[str, JsonValue]:
    return {name: value for name, value in vars(record).items() if name not in _USUAL}
