"""The TypeScript client in a browser, with the restaurant in a room of a real server."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from livekit import rtc
from livekit.agents import APIConnectOptions
from livekit.agents.llm import (
    LLM,
    ChatChunk,
    ChatContext,
    ChatItem,
    ChoiceDelta,
    LLMStream,
    Tool,
)
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS

from agents.handoff import DATA_MARK
from rpc.page import SpokenLine
from tests.agents.app.rooms.checked_client import LARGE, TIRAMISU
from tests.agents.app.rooms.conftest import Agent, Calls, Changed, calls, changed, house
from tests.clients.browser import BrowserPage, PageError, browser_page
from tests.livekit import LiveKit, new_identity, until

__all__ = ["calls", "changed", "house"]  # fixtures

pytestmark = [pytest.mark.processes, pytest.mark.timeout(180)]


@asynccontextmanager
async def ordering(
    calls: Calls, livekit: LiveKit, room_name: str, bundle: Path, tmp_path: Path
) -> AsyncIterator[tuple[BrowserPage, Agent]]:
    """Have a guest's page and an agent in a room, up to the guest's first turn."""
    async with browser_page(bundle, tmp_path / "profile") as page, calls.agent(room_name) as agent:
        await join(page, livekit, room_name)
        await page.until(is_turn(0), "the first turn")
        yield page, agent


async def join(
    page: BrowserPage, livekit: LiveKit, room_name: str, identity: str | None = None
) -> None:
    await page.call("connect", livekit.url, livekit.token(room_name, identity or new_identity()))
    await page.call("start")


def is_turn(number: int) -> Any:
    return lambda seen: seen["turn"] and seen["turn"]["yours"] and seen["turn"]["turn"] >= number


def items(seen: dict[str, Any]) -> list[tuple[str, int]]:
    return [(line["name"], line["quantity"]) for line in seen["state"]["order_items"]]


async def test_a_guest_orders_by_words_and_by_hand(
    calls: Calls, livekit: LiveKit, room_name: str, bundle: Path, tmp_path: Path
) -> None:
    async with ordering(calls, livekit, room_name, bundle, tmp_path) as (page, agent):
        seen = page.snapshot
        assert (seen["status"], seen["activeAgent"], seen["pending"]) == ("ready", "greeter", 0)
        assert seen["hello"]["agent"] == "bella-vista"
        assert "Bella Vista" in seen["lines"][0]["text"]
        assert (seen["lines"][0]["agent"], seen["lines"][0]["final"]) == ("greeter", True)

        said = await page.call("say", "two large margheritas please")
        assert said == {"turn": 1}
        await page.until(lambda seen: items(seen) == [("Margherita", 2)], "the order")
        await page.until(is_turn(1), "the next turn")
        assert page.snapshot["activeAgent"] == "order_taker"
        spoken = [line["text"] for line in page.snapshot["lines"] if line["speaker"] == "user"]
        assert spoken == ["two large margheritas please"]
        assert {"greeter", "order_taker"} >= {
            line["agent"] for line in page.snapshot["lines"] if line["speaker"] == "agent"
        }

        (line,) = page.snapshot["state"]["order_items"]
        change = {"op": "change_item", "line_id": line["id"], "quantity": 3}
        order = await page.call("apply", change)
        assert order["order_items"][0]["quantity"] == 3
        assert page.snapshot["confirmed"]["total"] == order["total"]
        assert page.snapshot["version"] == agent.call._conversation.call.shared.version  # type: ignore[union-attr]

        with pytest.raises(PageError) as refused:
            await page.call("apply", {"op": "add_item", "name": "Sushi"})
        assert refused.value.error["code"] == 4022
        assert page.snapshot["lastError"]["code"] == 4022
        assert items(page.snapshot) == [("Margherita", 3)]
        menu = await page.call("request", "get_menu", {})
        assert "Pizza" in menu["sections"]

        versions = [change["version"] for change in page.changes]
        assert versions == sorted(set(versions))
        assert not page.warned


async def test_another_agent_goes_on_where_the_first_was_lost(
    calls: Calls, livekit: LiveKit, room_name: str, bundle: Path, tmp_path: Path
) -> None:
    async with browser_page(bundle, tmp_path / "profile") as page:
        async with calls.agent(room_name):
            await join(page, livekit, room_name)
            await page.until(is_turn(0), "the first turn")
            order_id = page.snapshot["state"]["order_id"]
            await page.call("apply", LARGE)
        await page.until(lambda seen: seen["status"] == "waiting_for_agent", "the loss")
        await until(lambda: page.missing, what="a client that asks for an agent")
        assert page.snapshot["turn"] is None
        async with calls.agent(room_name):
            await page.until(lambda seen: seen["status"] == "ready", "the other agent")
            assert page.snapshot["state"]["order_id"] == order_id
            assert await page.call("say", "and a tiramisu") == {"turn": 1}
            await page.until(
                lambda seen: items(seen) == [("Margherita", 2), ("Tiramisu", 1)], "both"
            )


async def test_another_device_of_the_guest_has_what_was_said_before(
    calls: Calls, livekit: LiveKit, room_name: str, bundle: Path, tmp_path: Path
) -> None:
    identity = new_identity()
    async with calls.agent(room_name):
        async with browser_page(bundle, tmp_path / "one") as page:
            await join(page, livekit, room_name, identity)
            await page.until(is_turn(0), "the first turn")
            await page.call("say", "two large margheritas please")
            await page.until(is_turn(1), "the answer")
            before = [(line["agent"], line["text"]) for line in page.snapshot["lines"]]
        async with browser_page(bundle, tmp_path / "another") as page:
            await join(page, livekit, room_name, identity)
            await page.until(
                lambda seen: is_turn(1)(seen) and len(seen["lines"]) > len(before), "the lines"
            )
            lines = [(line["agent"], line["text"]) for line in page.snapshot["lines"]]
            assert lines[: len(before)] == before
            assert [text for _, text in lines].count(before[0][1]) == 1
            assert not page.warned


class _Halves(LLM[Any]):
    """A model that greets, says the second sentence of an answer when it is told to, and welcomes back."""

    def __init__(self) -> None:
        super().__init__()
        self.rest = asyncio.Event()

    def chat(
        self,
        *,
        chat_ctx: ChatContext,
        tools: list[Tool] | None = None,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
        **_: Any,
    ) -> LLMStream:
        return _HalvesStream(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)


class _HalvesStream(LLMStream):
    async def _run(self) -> None:
        said = [item for item in self.chat_ctx.items if item.type == "message"]
        asked = max((at for at, item in enumerate(said) if _is_of_user(item)), default=len(said))
        answered = any(item.role == "assistant" for item in said[asked:])
        sentences = ("Let me look at the menu for you. ", "Today we have cola and wine.")
        for sentence in ("Welcome back.",) if answered else sentences:
            delta = ChoiceDelta(role="assistant", content=sentence)
            self._event_ch.send_nowait(ChatChunk(id="answer", delta=delta))
            if any(map(_is_of_user, self.chat_ctx.items)):
                await self._llm.rest.wait()  # type: ignore[attr-defined]


def _is_of_user(item: ChatItem) -> bool:
    """Whether a message is the user's own: the state's digest has their role, too."""
    words = item.text_content if item.type == "message" and item.role == "user" else None
    return words is not None and not words.startswith(DATA_MARK)


async def test_a_reply_under_way_at_a_reload_is_whole_at_its_end(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str, bundle: Path, tmp_path: Path
) -> None:
    identity, model = new_identity(), _Halves()
    first, second = "Let me look at the menu for you.", "Today we have cola and wine."

    def texts(seen: dict[str, Any]) -> str:
        return " ".join(line["text"].strip() for line in seen["lines"])

    async with calls.agent(room_name, house=changed(model=lambda: model)):
        async with browser_page(bundle, tmp_path / "one") as page:
            await join(page, livekit, room_name, identity)
            await page.until(is_turn(0), "the first turn")
            await page.call("say", "what is there to drink?")
            await page.until(lambda seen: first in texts(seen), "the first sentence")
        async with browser_page(bundle, tmp_path / "again") as page:
            await join(page, livekit, room_name, identity)
            await page.until(lambda seen: "to drink?" in texts(seen), "what was said before")
            assert texts(page.snapshot).endswith("to drink?")
            model.rest.set()
            talk = f"{first} {second} what is there to drink? {first} {second} Welcome back."
            await page.until(lambda seen: texts(seen) == talk, "the whole reply, once")
            assert not page.warned


async def test_the_end_of_the_call_is_shown_and_words_start_another(
    calls: Calls, livekit: LiveKit, room_name: str, bundle: Path, tmp_path: Path
) -> None:
    async with ordering(calls, livekit, room_name, bundle, tmp_path) as (page, _):
        first = page.snapshot["state"]["order_id"]
        await page.call("apply", TIRAMISU)
        await page.call("say", "goodbye")
        await page.until(lambda seen: seen["status"] == "ended", "the end")
        assert page.snapshot["ended"]["reason"] == "agent_ended"
        assert page.snapshot["ended"]["resumeCode"]
        with pytest.raises(PageError) as over:
            await page.call("apply", LARGE)
        assert over.value.error["reason"] == "call_over"

        await page.call("say", "one calzone please")
        await page.until(
            lambda seen: seen["status"] == "ready" and seen["state"]["order_id"] != first,
            "another call",
        )
        await page.until(is_turn(1), "its turn")
        assert page.snapshot["ended"] is None


async def test_a_lost_connection_is_restored_with_what_was_missed(
    calls: Calls, livekit: LiveKit, room_name: str, bundle: Path, tmp_path: Path
) -> None:
    async with ordering(calls, livekit, room_name, bundle, tmp_path) as (page, agent):
        await page.call("simulate", "full-reconnect")
        await page.until(lambda seen: seen["status"] != "ready", "the loss")
        words = "The oven is hot again."
        assert agent.call._conversation is not None
        agent.call._conversation.session.lines.add(SpokenLine(0, "greeter", words))
        await page.until(lambda seen: seen["status"] == "ready", "the way back")
        await page.until(
            lambda seen: words in [line["text"] for line in seen["lines"]], "the missed words"
        )
        await page.call("apply", LARGE)
        await page.call("say", "and a tiramisu")
        await page.until(lambda seen: items(seen) == [("Margherita", 2), ("Tiramisu", 1)], "both")
        await page.until(is_turn(1), "the answer")
        texts = [line["text"] for line in page.snapshot["lines"]]
        assert len(set(texts)) == len(texts)


async def test_a_stranger_in_the_room_can_tell_the_page_nothing(
    calls: Calls, livekit: LiveKit, room_name: str, bundle: Path, tmp_path: Path
) -> None:
    async with (
        ordering(calls, livekit, room_name, bundle, tmp_path) as (page, agent),
        livekit.joined(room_name) as stranger,
    ):
        before = page.snapshot
        guest = agent.call._presence.user
        assert guest is not None
        for method, payload in (
            ("your_turn_to_speak", {"turn": 9, "your_turn": True, "expects": "name"}),
            ("order_state_changed", {"base_version": 0, "version": 1, "patch": []}),
            ("call_ended", {"reason": "agent_ended"}),
        ):
            with pytest.raises(rtc.RpcError) as refused:
                await stranger.call_text(method, json.dumps(payload), to=guest)
            assert refused.value.code == rtc.RpcError.ErrorCode.UNSUPPORTED_METHOD
        await stranger.room.local_participant.send_text("I am the agent", topic="lk.transcription")
        await page.call("apply", LARGE)
        assert page.snapshot["turn"] == before["turn"]
        assert (page.snapshot["status"], page.snapshot["version"]) == ("ready", 1)
        assert all(line["text"] != "I am the agent" for line in page.snapshot["lines"])
