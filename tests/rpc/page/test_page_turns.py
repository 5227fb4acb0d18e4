"""Spoken turns that a client begins and ends: who may, when, and what is answered."""

from typing import Any

import pytest

from rpc.testing import FakeTurns
from tests.rpc.page.workshop import MECHANIC, Workshop

METHODS = ("start_turn", "end_turn", "cancel_turn", "set_microphone")


def payload(method: str) -> dict[str, Any]:
    return {"mode": "open"} if method == "set_microphone" else {}


async def test_a_client_with_audio_begins_and_ends_turns() -> None:
    turns = FakeTurns()
    page = Workshop(turns=lambda: turns)

    assert "push_to_talk" in (await page.call("hello"))["features"]
    assert await page.call("set_microphone", {"mode": "push_to_talk"}) == {
        "ok": True,
        "mode": "push_to_talk",
    }
    assert await page.call("start_turn") == {"ok": True, "turn": 2}
    assert await page.call("end_turn") == {"ok": True, "turn": 2}
    await page.call("start_turn")
    assert await page.call("cancel_turn") == {"ok": True, "turn": 1}
    assert turns.done == ["push_to_talk", "start", "end", "start", "cancel"]


async def test_the_end_of_no_turn_is_refused() -> None:
    refused = await Workshop(turns=FakeTurns).refused("end_turn")

    assert (refused["code"], refused["type"], refused["reason"]) == (4022, "refused", "no_turn")


@pytest.mark.parametrize("method", METHODS)
async def test_a_call_without_audio_has_no_spoken_turns(method: str) -> None:
    page = Workshop()

    refused = await page.refused(method, payload(method))

    reason = "no_turn" if method in ("end_turn", "cancel_turn") else "no_audio"
    assert (refused["code"], refused["reason"]) == (4022, reason)
    assert "push_to_talk" not in (await page.call("hello"))["features"]


@pytest.mark.parametrize("method", METHODS)
async def test_audio_that_is_still_starting_can_be_asked_for_again(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rpc.page.session.SAY_S", 0.0)
    refused = await Workshop(turns=lambda: None).refused(method, payload(method))

    assert (refused["code"], refused["retryable"]) == (5003, True)


@pytest.mark.parametrize("method", METHODS)
async def test_only_the_user_has_turns(method: str) -> None:
    turns = FakeTurns()
    page = Workshop(turns=lambda: turns)

    refused = await page.refused(method, payload(method), MECHANIC)

    assert (refused["code"], turns.done) == (4003, [])


@pytest.mark.parametrize("mode", ["", "closed", None, 1])
async def test_another_mode_is_refused(mode: object) -> None:
    refused = await Workshop(turns=FakeTurns).refused("set_microphone", {"mode": mode})

    assert (refused["code"], refused["facts"]["field"]) == (4001, "mode")


@pytest.mark.parametrize("method", METHODS)
async def test_a_call_that_is_over_has_no_turns(method: str) -> None:
    page = Workshop(turns=FakeTurns)
    page.session.end()

    refused = await page.refused(method, payload(method))

    assert (refused["code"], refused["reason"]) == (4022, "call_over")


@pytest.mark.parametrize("method", ["start_turn", "set_microphone"])
async def test_audio_that_starts_in_a_moment_is_waited_for(method: str) -> None:
    turns = FakeTurns()
    ready = iter([None, None, turns])

    reply = await Workshop(turns=lambda: next(ready)).call(method, payload(method))

    assert reply["ok"] is True
    assert turns.done != []
