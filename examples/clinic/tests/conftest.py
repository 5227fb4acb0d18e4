"""What every test of the clinic may rely on."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from examples.clinic.tests.kit import Front


@pytest.fixture
async def front(tmp_path: Path) -> Front:
    """A clinic on a Sunday morning."""
    return Front(tmp_path)


@pytest.fixture(autouse=True)
async def _no_task_outlives_its_test() -> AsyncIterator[None]:
    before = asyncio.all_tasks()
    yield
    for _ in range(3):
        await asyncio.sleep(0)
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    if left:
        pytest.fail(f"tasks were left behind: {[str(task.get_coro()) for task in left]}")
