"""Prometheus histograms of the turns in all of a worker's job processes.

Every call has a process of its own. The multiprocess mode of ``prometheus_client``, which
livekit-agents 1.8.9 offers, would leave a file for each process, and every scrape would read all of
them. So here the processes send their turns to the worker by a socket, and the worker counts them.
"""

import json
import logging
import math
import os
import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path

from prometheus_client import Histogram

from agents.handoff import Latency

logger = logging.getLogger(__name__)

PARTS: Mapping[str, str] = {
    "transcript": "From the end of the user's speech to its transcript",
    "endpointing": "From the transcript to the end of the user's turn",
    "llm": "From the end of the user's turn to the first word of the answer",
    "tts": "From the first word of the answer to its first sound",
    "total": "From the end of the user's speech to the first sound of the answer",
}
"""The histograms, by name, with their descriptions."""

_BUCKETS_S = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)

_ADDRESS = "AGENTS_APP_TURN_METRICS"
"""The environment variable with the path of the worker's socket, for its job processes."""

_LARGEST = 4096


@cache
def _histograms(prefix: str) -> dict[str, Histogram]:
    return {
        part: Histogram(f"{prefix}_turn_{part}_seconds", text, buckets=_BUCKETS_S)
        for part, text in PARTS.items()
    }


@contextmanager
def turns_counted(prefix: str) -> Iterator[None]:
    """Count the turns of this worker's job processes within a context.

    Args:
        prefix: The application's prefix, which begins the names of the histograms.
    """
    histograms = _histograms(prefix)
    with (
        tempfile.TemporaryDirectory(prefix="turns-") as folder,
        closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as receiver,
    ):
        path = str(Path(folder) / "socket")
        receiver.bind(path)
        os.environ[_ADDRESS] = path
        counting = threading.Thread(
            target=_count, args=(receiver, histograms), daemon=True, name="turn metrics"
        )
        counting.start()
        try:
            yield
        finally:
            del os.environ[_ADDRESS]
            with suppress(OSError):
                _send(path, b"")
            counting.join(timeout=1.0)


def _count(receiver: socket.socket, histograms: Mapping[str, Histogram]) -> None:
    with suppress(OSError):  # it was closed
        while data := receiver.recv(_LARGEST):
            try:
                for part, seconds in json.loads(data).items():
                    if math.isfinite(seconds):
                        histograms[part].observe(seconds)
            except (ValueError, KeyError, TypeError, AttributeError):
                logger.warning("invalid turn times ignored")


def report_turn(latency: Latency) -> None:
    """Send the latency of a turn to the worker, if it counts turns. Never blocks."""
    if (path := os.environ.get(_ADDRESS)) is not None:
        with suppress(OSError):  # the worker is shutting down, or its socket buffer is full
            _send(path, json.dumps(latency.parts).encode())


def _send(path: str, data: bytes) -> None:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as sender:
        sender.setblocking(False)
        sender.sendto(data, path)
