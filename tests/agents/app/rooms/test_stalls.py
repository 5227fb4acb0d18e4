"""Waits that do not end: the user gets another agent or another call, never silence. An end that is cancelled."""

import asyncio
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest
from livekit import rtc

from agents.app.rooms.process_context import RoomOutcome
from agents.app.transcript import MomentKind
from bella_vista.local.model import LocalLLM
from tests.agents.app.rooms.checked_client import Checked, served
from tests.agents.app.rooms.conftest import Calls, Changed
from tests.livekit import LONG_S, LiveKit, until

M = TypeVar("M", bound=LocalLLM)


async def never(*_: Any, **__: Any) -> Any:
    """Wait for what does not come."""
    await asyncio.Event().wait()


class Unclosable(LocalLLM):
    """A model that cannot be closed."""

    async def aclose(self) -> None:
        await never()


class Noting(LocalLLM):
    """A model that notes that it was closed."""

    closed = False

    async def aclose(self) -> None:
        self.closed = True


def model_of(calls: Calls, kind: type[M]) -> M:
    """The local model with the calls' menu."""
    return kind(calls.house.context.menu, now=lambda: datetime(2026, 10, 2, 19, 0, tzinfo=UTC))


async def test_an_agent_whose_words_do_not_leave_is_replaced(
    calls: Calls, livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.rooms.conversation.STALL_S", 0.5 - 30)  # 30: the model's limit
    monkeypatch.setattr("agents.app.rooms.silence.LONGEST_SPEECH_S", 0.0)
    monkeypatch.setattr(rtc.LocalParticipant, "stream_text", never)

    async with livekit.joined(room_name) as client, calls.agent(room_name) as agent:
        await client.hello()
        async with asyncio.timeout(LONG_S):
            assert await agent.held is RoomOutcome.FAILED
        assert client.said == []


async def test_a_call_that_does_not_open_fails(
    calls: Calls, livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.rooms.room_job.OPEN_S", 0.5)
    monkeypatch.setattr("agents.app.rooms.media.Media.start", never)

    async with livekit.joined(room_name), calls.agent(room_name) as agent:
        await asyncio.wait((agent.held,), timeout=LONG_S)
        assert isinstance(agent.held.exception(), TimeoutError)


async def test_a_model_that_cannot_be_closed_does_not_keep_the_next_call_from_opening(
    calls: Calls,
    changed: Changed,
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agents.app.rooms.conversation.MODELS_LIMIT_S", 0.1)
    model = model_of(calls, Unclosable)

    async with served(calls, livekit, room_name, house=changed(model=lambda: model)) as (ada, _):
        await ada.call("say", {"text": "goodbye"})
        await until(lambda: ada.client.ends, what="the end of the call")
        await ada.call("say", {"text": "one tiramisu"})
        await Checked(ada.client).heard("Tiramisu")
        assert (await ada.order())["item_count"] == 1


async def test_the_end_of_a_call_is_whole_even_if_a_task_of_its_session_is_cancelled(
    calls: Calls,
    changed: Changed,
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = model_of(calls, Noting)

    async with served(calls, livekit, room_name, house=changed(model=lambda: model)) as (_, agent):
        conversation = agent.call._conversation
        assert conversation is not None
        close = conversation.call.session.aclose

        async def cancelled() -> None:
            await close()
            raise asyncio.CancelledError

        monkeypatch.setattr(conversation.call.session, "aclose", cancelled)
        await conversation.finish()

        moments = await calls.house.store.said(conversation.call.shared.state_id)
        assert moments[-1].kind == MomentKind.CALL_ENDED
        assert model.closed


async def test_the_end_of_a_call_is_whole_even_if_it_is_cancelled(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    model = model_of(calls, Noting)

    async with served(calls, livekit, room_name, house=changed(model=lambda: model)) as (_, agent):
        conversation = agent.call._conversation
        assert conversation is not None
        ending = asyncio.create_task(conversation.finish())
        await asyncio.sleep(0)
        ending.cancel()
        await asyncio.wait((ending,))
        await conversation.finish()

        moments = await calls.house.store.said(conversation.call.shared.state_id)
        assert moments[-1].kind == MomentKind.CALL_ENDED
        assert model.closed
