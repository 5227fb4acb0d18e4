"""The log says how a call went, and nothing of what was in it."""

import asyncio
import logging
from functools import partial
from typing import Any

import pytest
from livekit import rtc

from rpc.gateway import Caller
from rpc.gateway.request_log import LATER_S, LINES_AT_ONCE, RequestLog, fault_of
from tests.rpc.gateway.shop import Nothing, Text, answering, shop
from tests.virtual_time import in_virtual_time

CANARY = "canary-4111111111111111"


@pytest.fixture(autouse=True)
def _everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [vars(one) for one in caplog.records if one.name == "rpc.gateway.request_log"]


async def test_a_call_leaves_one_line_with_numbers(caplog: pytest.LogCaptureFixture) -> None:
    async def theirs(invocation: rtc.RpcInvocationData) -> str:
        return "{}"

    async with shop() as place:
        place.room.local_participant.register_rpc_method(CANARY, theirs)
        await place.call("ada", "add", '{"by":1}')
        await place.call("ada", "add", "[")
        await place.call("ada", CANARY)

    done, refused, other = lines(caplog)
    assert (done["method"], done["code"], done["bytes_in"], done["bytes_out"]) == ("add", 0, 8, 12)
    assert done["request_id"].startswith("00000000-")
    assert done["ms"] >= 0
    assert (refused["code"], refused["bytes_in"]) == (4000, 1)
    assert refused["bytes_out"] > 50
    assert (other["method"], other["code"]) == ("(not ours)", 0)
    assert done["caller"] == refused["caller"]


async def test_nothing_of_a_call_is_in_its_line(caplog: pytest.LogCaptureFixture) -> None:
    async def do(request: Nothing, caller: Caller) -> Text:
        raise ValueError(CANARY)

    async with shop(answering(do)) as place:
        place.room.join(CANARY)
        await place.call("ada", "do", {"why": CANARY})
        await place.call("ada", "do", {CANARY: 1})
        await place.call("ada", "do")
        await place.call(CANARY, "do")
        with pytest.raises(rtc.RpcError):
            await place.gateway.handle("do", "ada", "{}", 5.0, request_id=CANARY)

    assert len(lines(caplog)) == 7
    assert CANARY not in repr(lines(caplog)) + caplog.text
    assert "ada" not in [line["caller"] for line in lines(caplog)]


async def test_a_failure_is_logged_by_its_type_and_its_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def do(request: Nothing, caller: Caller) -> Text:
        raise KeyError(CANARY)

    async with shop(answering(do)) as place:
        await place.call("ada", "do")

    failed = next(line for line in lines(caplog) if line["levelno"] == logging.ERROR)
    assert failed["error"] == "KeyError"
    assert "test_request_log.py:" in failed["place"]
    assert failed["message"] == f"do: method failed: KeyError at {failed['place']}"


async def test_a_validation_error_is_logged_by_its_model_and_the_place_outside_of_packages(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def do(request: Nothing, caller: Caller) -> Text:
        return Text.model_validate({"text": [CANARY]})

    async with shop(answering(do)) as place:
        error = await place.call("ada", "do")

    failed = next(line for line in lines(caplog) if line["levelno"] == logging.ERROR)
    assert error.code == 5000
    assert failed["message"].startswith("do: method failed: ValidationError of Text at ")
    assert failed["place"].endswith(" in do")
    assert "test_request_log.py:" in failed["place"]
    assert CANARY not in repr(lines(caplog)) + str(error.data)


def test_an_exception_that_was_never_raised_has_no_place() -> None:
    assert fault_of(KeyError(CANARY))["fault"] == "KeyError at ?"


async def test_no_answer_waits_for_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async with shop() as place:
        await place.call("ada", "add", '{"by":1}')
        before = len(lines(caplog))

    assert (before, len(lines(caplog))) == (0, 1)


@in_virtual_time
async def test_lines_are_written_a_few_at_a_time_in_their_order() -> None:
    log, written = RequestLog(), list[int]()
    for number in range(100):
        log.later(partial(written.append, number))
    assert written == []

    await asyncio.sleep(LATER_S * 1.5)
    assert written == [*range(LINES_AT_ONCE + 10)]
    await asyncio.sleep(LATER_S * 30)
    assert written == [*range(100)]

    log.later(partial(written.append, 100))
    await asyncio.sleep(LATER_S * 1.5)
    log.later(partial(written.append, 101))
    assert written == [*range(101)]
    log.close()
    assert written == [*range(102)]


async def test_a_flood_does_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    async with shop() as place:
        for _ in range(300):
            await place.call("ada", "add", '{"by":1}')

    assert len(lines(caplog)) == 100
