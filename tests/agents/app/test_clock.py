import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from agents.app.clock import running_clock

NEW_YORK = ZoneInfo("America/New_York")


def test_a_clock_that_starts_elsewhere_runs_on_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: passed)
    clock = running_clock(NEW_YORK, datetime.fromisoformat("2026-11-20T19:00"))

    assert clock().isoformat() == "2026-11-20T19:00:00-05:00"

    passed += 90
    assert clock().isoformat() == "2026-11-20T19:01:30-05:00"


def test_a_clock_runs_through_the_end_of_summer_time(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: passed)
    clock = running_clock(NEW_YORK, datetime.fromisoformat("2026-11-01T01:30:00-04:00"))

    passed += 3600

    assert clock().isoformat() == "2026-11-01T01:30:00-05:00"


def test_a_clock_without_a_start_shows_the_present() -> None:
    before = datetime.now(tz=UTC)

    now = running_clock(NEW_YORK)()

    assert before <= now <= datetime.now(tz=UTC)
    assert now.tzinfo is NEW_YORK
