"""A hundred calls at once begin a few at a time."""

import asyncio

from rpc.gateway.start_limiter import StartLimiter


async def test_one_at_a_time_waits_for_nothing() -> None:
    limiter = StartLimiter(2)
    for _ in range(5):
        task = asyncio.ensure_future(limiter.wait_to_start("ada"))
        await asyncio.sleep(0)
        assert task.done()
        await asyncio.sleep(0)


async def test_many_begin_in_their_order_and_others_come_between() -> None:
    limiter, begun = StartLimiter(3), list[int]()
    most_between = 0

    async def call(number: int) -> None:
        await limiter.wait_to_start("ada")
        begun.append(number)

    tasks = [asyncio.ensure_future(call(number)) for number in range(50)]
    before = 0
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0)
        most_between = max(most_between, len(begun) - before)
        before = len(begun)
    assert begun == list(range(50))
    assert most_between <= 6


async def test_a_caller_with_one_call_does_not_wait_for_anothers_hundred() -> None:
    limiter, begun = StartLimiter(4), list[str]()

    async def call(identity: str) -> None:
        await limiter.wait_to_start(identity)
        begun.append(identity)

    tasks = [asyncio.ensure_future(call("zoe")) for _ in range(100)]
    tasks += [asyncio.ensure_future(call(one)) for one in ("ada", "bob", "ada")]
    await asyncio.gather(*tasks)

    # Four had begun before anybody waited; then each has a turn before anybody has a second one.
    assert begun[:4] == ["zoe"] * 4
    assert begun[4:9] == ["zoe", "ada", "bob", "zoe", "ada"]
    assert begun[9:] == ["zoe"] * 94


async def test_a_cancelled_call_uses_no_start() -> None:
    limiter = StartLimiter(1)
    await limiter.wait_to_start("ada")
    turns = [asyncio.ensure_future(limiter.wait_to_start("ada")) for _ in range(3)]
    await asyncio.sleep(0)  # one of them has passed by now, the others wait
    _, first, second = turns
    first.cancel()
    await asyncio.wait(turns, timeout=1)
    assert first.cancelled()
    assert second.done()
    assert not second.cancelled()
