"""Logging during a conversation in a terminal: outside the conversation, and without a user's words.

Exceptions of libraries may contain a user's words, so only the type of an exception is logged and, in a
file, the lines of its traceback.
"""

import json
import logging
import traceback
import warnings
from collections.abc import Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path

from platformdirs import user_log_path

from agents.app.faults import place_of

_MEBIBYTE = 1024 * 1024
_BACKUPS = 1


def is_native(record: logging.LogRecord) -> bool:
    """Whether a record is from LiveKit's native library (livekit 1.1.21).

    The library logs as errors also faults that it returns to its caller, and faults from which it
    recovers: a lost connection, a participant who leaves while data is sent to them.
    """
    return record.name == "livekit" and record.msg == "%s:%s:%s - %s"


class SecretsFormatter(logging.Formatter):
    """Formats a record by ``line``, and redacts secrets."""

    def __init__(self, secrets: Sequence[str], form: str | None = None) -> None:
        super().__init__(form)
        # Within JSON a secret appears escaped.
        escaped = (json.dumps(secret, ensure_ascii=False)[1:-1] for secret in secrets)
        self._secrets = tuple({*secrets, *escaped})

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        text = self.line(record)
        for secret in self._secrets:
            text = text.replace(secret, "[secret]")
        return text

    def line(self, record: logging.LogRecord) -> str:
        """Return the text of a record."""
        raise NotImplementedError


class _Formatter(SecretsFormatter):
    """Formats a record with the type of its exception.

    Args:
        form: The format, as ``logging.Formatter`` takes it.
        places: Whether to add the lines of the exception's traceback.
        secrets: Texts to redact: a server's reply may contain a key.
    """

    def __init__(self, form: str, *, places: bool, secrets: Sequence[str]) -> None:
        super().__init__(secrets, form)
        self._places = places

    def line(self, record: logging.LogRecord) -> str:
        kind, _, trace = record.exc_info or (None, None, None)
        text = self.formatMessage(self._with_message(record))
        if kind is None:
            return text
        if self._places:
            frames = traceback.extract_tb(trace)
            places = "".join(f"\n    {at.filename}:{at.lineno} {at.name}" for at in frames)
            return f"{text} ({kind.__name__}){places}"
        # One line has room for one place: the last line of application code, if there is one.
        place = f" at {place_of(trace)}" if trace is not None else ""
        return f"{text} ({kind.__name__}{place})"

    def _with_message(self, record: logging.LogRecord) -> logging.LogRecord:
        record.message = record.getMessage()
        record.asctime = self.formatTime(record, self.datefmt)
        return record


def log_to_stderr(secrets: Sequence[str] = ()) -> None:
    """Log warnings to stderr, one line each, with these secrets redacted."""
    handler = logging.StreamHandler()
    handler.setFormatter(
        _Formatter("%(levelname)s %(name)s: %(message)s", places=False, secrets=secrets)
    )
    _install(handler)


def log_to_file(application: str, secrets: Sequence[str] = ()) -> Path | None:
    """Log warnings to a file in the user's log directory; returns it, if it can be created.

    Args:
        application: The application's name.
        secrets: Texts to redact.
    """
    path = _log_file(application)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = RotatingFileHandler(
            path, maxBytes=_MEBIBYTE, backupCount=_BACKUPS, encoding="utf-8", errors="replace"
        )
    except OSError:
        _install(logging.NullHandler())
        return None
    handler.setFormatter(
        _Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s", places=True, secrets=secrets)
    )
    _install(handler)
    return path


def log_files(application: str) -> list[Path]:
    """Return an application's existing log files, newest first."""
    file = _log_file(application)
    files = [file, *(file.with_name(f"{file.name}.{number + 1}") for number in range(_BACKUPS))]
    return [path for path in files if path.is_file()]


def log_warnings() -> None:
    """Log Python's warnings, except those of a short secret: the settings check the secret."""
    logging.captureWarnings(True)
    warnings.filterwarnings("ignore", message="The HMAC key is")  # pyjwt 2.15


def _log_file(application: str) -> Path:
    return user_log_path(application, appauthor=False) / "console.log"


def _install(handler: logging.Handler) -> None:
    handler.addFilter(lambda record: not is_native(record))
    root = logging.getLogger()
    for old in tuple(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    log_warnings()
    # livekit-agents 1.8.9 warns of cloud keys that a conversation in a terminal does not need.
    logging.getLogger("livekit").setLevel(logging.ERROR)
