"""The turns of all job processes are counted by their worker."""

import asyncio
import os
import socket
import sys
from pathlib import Path

from prometheus_client import REGISTRY

from agents.app import turn_metrics
from agents.app.turn_metrics import report_turn, turns_counted
from agents.handoff import Latency
from agents.testing import until

REPORT = """
from agents.app.turn_metrics import report_turn
from agents.handoff import Latency
report_turn(Latency(1, "bar", 0.25, 0.5, 0.1, 0.05, 0.9))
"""

IN_TEXT = Latency(1, "bar", None, None, 0.1, None, 0.1)


def counted(name: str, prefix: str) -> float:
    return REGISTRY.get_sample_value(f"{prefix}_turn_{name}") or 0.0


async def test_a_turn_of_another_process_is_counted() -> None:
    with turns_counted("hotel"):
        reporter = await asyncio.create_subprocess_exec(sys.executable, "-c", REPORT)
        assert await reporter.wait() == 0
        report_turn(IN_TEXT)
        await until(lambda: counted("total_seconds_count", "hotel") == 2, 10)

    assert counted("total_seconds_sum", "hotel") == 1.0
    assert counted("transcript_seconds_count", "hotel") == 1
    assert counted("llm_seconds_count", "hotel") == 2
    assert REGISTRY.get_sample_value("hotel_turn_tts_seconds_bucket", {"le": "0.05"}) == 1
    assert REGISTRY.get_sample_value("hotel_turn_total_seconds_bucket", {"le": "0.75"}) == 1


async def test_what_is_not_a_turn_is_ignored() -> None:
    with turns_counted("inn"):
        path = os.environ[turn_metrics._ADDRESS]
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            for wrong in (b"{", b"[]", b'{"no_such": 1}', b'{"total": "long"}', b'{"total": NaN}'):
                sender.sendto(wrong, path)
        report_turn(IN_TEXT)
        await until(lambda: counted("total_seconds_count", "inn") == 1, 10)


def test_nothing_is_sent_without_a_worker_that_counts() -> None:
    with turns_counted("motel"):
        path = Path(os.environ[turn_metrics._ADDRESS])
    report_turn(IN_TEXT)

    assert not path.exists()
    assert counted("total_seconds_count", "motel") == 0
