"""How long one who was cancelled waits for a journal that was asked to write."""

import asyncio
import gc
from collections.abc import Callable

import pytest

from state.shared import OutcomeUnknown, journal, to_the_end

PATIENCE_S = 0.05


@pytest.fixture(autouse=True)
def _short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "PATIENCE_S", PATIENCE_S)


class Waiting:
    """Somebody who waits for an answer of a journal that the test gives, or never gives."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[int] = loop.create_future()
        self.task = loop.create_task(to_the_end(self.answer))

    async def cancelled(self, times: int = 1) -> float:
        """Cancel the caller so often and wait for its end; returns how long that took, in seconds."""
        await asyncio.sleep(0)
        begin = asyncio.get_running_loop().time()
        for _ in range(times):
            self.task.cancel()
            await asyncio.sleep(0)
        await asyncio.wait((self.task,), timeout=30)
        return asyncio.get_running_loop().time() - begin


@pytest.mark.parametrize("times", [1, 3])
async def test_a_cancelled_caller_waits_no_longer_than_the_journal_may_take(
    times: int,
) -> None:
    waiting = Waiting()

    waited = await waiting.cancelled(times)

    assert waiting.task.done()
    with pytest.raises(OutcomeUnknown):
        await waiting.task
    assert waited >= PATIENCE_S


async def test_an_answer_within_that_time_is_returned() -> None:
    waiting = Waiting()
    asyncio.get_running_loop().call_later(PATIENCE_S / 5, waiting.answer.set_result, 7)

    await waiting.cancelled()

    assert await waiting.task == 7


async def test_an_uncancelled_caller_waits_for_the_answer() -> None:
    waiting = Waiting()

    await asyncio.wait((waiting.task,), timeout=3 * PATIENCE_S)

    assert not waiting.task.done()
    waiting.answer.set_result(7)
    assert await waiting.task == 7


@pytest.mark.parametrize(
    "comes", [lambda answer: answer.set_exception(OSError("late")), asyncio.Future.cancel]
)
async def test_an_answer_that_comes_too_late_disturbs_nobody(
    comes: Callable[["asyncio.Future[int]"], object], caplog: pytest.LogCaptureFixture
) -> None:
    waiting = Waiting()
    await waiting.cancelled()

    comes(waiting.answer)
    await asyncio.sleep(0)
    with pytest.raises(OutcomeUnknown):
        await waiting.task
    del waiting
    gc.collect()

    assert caplog.records == []
