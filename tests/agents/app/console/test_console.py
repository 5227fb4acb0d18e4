import asyncio
import io
import json
import signal
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from agents.app.console.command import ConsoleConversation
from agents.app.console.event_lines import EventLines
from agents.app.terminal.input import InputLines
from agents.handoff import Event
from agents.testing import ScriptedLLM, Step, calls, says
from bella_vista.app import APP
from tests.bella_vista.small_restaurant import restaurant

EVENING = (
    says("Good evening, this is the automatic assistant."),
    calls(("set_customer", {"name": "Ada"}), "transfer_to_order_taker"),
    says("What would you like, Ada?"),
    calls(("add_item", {"name": "Tiramisu"})),
    says("One Tiramisu."),
)


async def held(
    script: Sequence[Step], *said: str, typed: bool = False
) -> tuple[list[dict[str, Any]], ConsoleConversation]:
    out = io.StringIO()
    call = restaurant()
    guest = iter(said)
    lines = InputLines(lambda: next(guest, None))
    talk = ConsoleConversation(
        call, ScriptedLLM(script), EventLines(APP, call, out), lines, typed=typed
    )
    await talk.run()
    return [json.loads(line) for line in out.getvalue().splitlines()], talk


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


async def test_the_whole_story_goes_from_ready_to_end() -> None:
    events, _ = await held(EVENING, "Ada here", "", "a tiramisu")

    assert kinds(events) == [
        *("ready", "said", "your_turn"),
        *("heard", "state", "tool", "state", "handoff", "said", "your_turn"),
        *("heard", "state", "tool", "said", "your_turn"),
        "end",
    ]
    assert [event["turn"] for event in events if event["type"] == "your_turn"] == [0, 1, 2]
    assert events[0]["agent"] == "greeter"
    assert events[-1]["reason"] == "input_ended"
    assert events[-1]["order"]["active_agent"] == "order_taker"
    assert events[-1]["order"]["order_summary"] == "1x Tiramisu (Total: $7.08)"


async def test_a_guest_who_hangs_up_has_left() -> None:
    events, _ = await held([says("Good evening.")], typed=True)

    assert events[-1]["reason"] == "user_left"


async def test_after_the_goodbye_nothing_more_is_heard() -> None:
    script = [says("Good evening."), calls("end_call", say="Goodbye.")]

    events, _ = await held(script, "bye", "wait", "are you there?")

    assert kinds(events) == ["ready", "said", "your_turn", "heard", "tool", "said", "end"]
    assert events[-1]["reason"] == "agent_ended"


async def test_a_card_number_is_heard_as_a_mark() -> None:
    events, _ = await held([says("Hi."), says("We take no card.")], "it is 4111 1111 1111 1111")

    assert [event["text"] for event in events if event["type"] == "heard"] == ["it is [card]"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_ctrl_c_while_a_voice_thinks_ends_politely(number: signal.Signals) -> None:
    started = asyncio.Event()
    script = [says("Good evening."), says("This takes long.", until=asyncio.Event())]
    out = io.StringIO()
    call = restaurant()
    call.subscribe(lambda event: started.set() if call.turn == 1 else None)
    lines = InputLines(lambda: "hello")
    talk = asyncio.ensure_future(
        ConsoleConversation(
            call, ScriptedLLM(script), EventLines(APP, call, out), lines, typed=True
        ).run()
    )
    await started.wait()

    signal.raise_signal(number)

    assert await talk == "user_left"
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    assert kinds(events) == ["ready", "said", "your_turn", "heard", "end"]


async def test_ctrl_c_while_the_guest_types_ends_politely() -> None:
    asked, typing = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def read() -> str:
        loop.call_soon_threadsafe(asked.set)
        typing.wait()
        return "too late"

    out = io.StringIO()
    call = restaurant()
    talk = asyncio.ensure_future(
        ConsoleConversation(
            call,
            ScriptedLLM([says("Hi.")]),
            EventLines(APP, call, out),
            InputLines(read),
            typed=True,
        ).run()
    )
    await asked.wait()

    signal.raise_signal(signal.SIGINT)

    assert await talk == "user_left"
    assert '"type": "end"' in out.getvalue()
    typing.set()


class Deaf:
    """A front whose reader goes away."""

    def __init__(self, after: int) -> None:
        self.told = 0
        self.after = after

    def opens(self) -> None:
        pass

    def tell(self, event: Event) -> None:
        self.told += 1
        if self.told > self.after:
            raise BrokenPipeError

    def closes(self, reason: str, lost: str | None) -> None:
        raise AssertionError("nobody is there")


@pytest.mark.parametrize("after", [0, 1, 2, 5])
async def test_a_closed_output_ends_the_call(after: int) -> None:
    front = Deaf(after)
    guest = iter(["Ada here", "a tiramisu"])
    lines = InputLines(lambda: next(guest, None))
    talk = ConsoleConversation(restaurant(), ScriptedLLM(EVENING), front, lines, typed=False)

    assert await talk.run() == "user_left"
    assert isinstance(talk.output_error, BrokenPipeError)
    assert front.told == after + 1
