"""Work of the application under a time limit: cancelled however often, it cannot write any more."""

import asyncio

import pytest

from agents.handoff.failures import TimeLimits
from agents.testing import until
from state.shared import Basis, SharedState
from tests.agents.hotel import SetGuest, Stay


async def test_work_that_ignores_two_cancellations_changes_nothing_afterwards() -> None:
    shared = SharedState(Stay(), None)
    begun, cancelled, goes_on = asyncio.Event(), asyncio.Event(), asyncio.Event()
    outcome: list[BaseException] = []

    async def stubborn() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
        await goes_on.wait()
        try:
            await shared.apply(SetGuest(name="Ada"), actor="concierge")
        except Exception as error:
            outcome.append(error)

    work = asyncio.create_task(
        TimeLimits().run_with_timeout(stubborn(), 60.0, Basis(seen=0, turn=0))
    )
    await begun.wait()
    work.cancel()  # the call ends
    await cancelled.wait()
    work.cancel()  # and is closed, while the work is still cleaning up
    with pytest.raises(asyncio.CancelledError):
        await work
    goes_on.set()
    await until(lambda: outcome or shared.version)

    assert [getattr(one, "code", None) for one in outcome] == ["given_up"]
    assert shared.state == Stay()
