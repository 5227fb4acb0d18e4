"""A slow tool at the end of a call: its result is delivered once, later if need be, and no effect comes twice."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from agents.handoff import Call, CallPolicy, EndCall, Graph, Said, SlowAction, Tool
from agents.testing import Conversation, ScriptedLLM, Step, calls, says, until
from state.shared import SharedState, SqlStore
from tests.agents.handoff.test_whole_writes import Gated
from tests.agents.hotel import AddNights, Reception, SetGuest, Stay

WAIT = "I am asking the annexe."


class Annexe:
    """A partner hotel that books guests: once per key, however often it is asked."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}
        self.asked: list[str] = []
        self.answers = asyncio.Event()

    async def take(self, nights: int, key: str) -> None:
        self.asked.append(key)
        self.taken.setdefault(key, nights)
        await self.answers.wait()


class AskAnnexe(SlowAction):
    """Book nights in the annexe."""

    op: Literal["ask_annexe"] = "ask_annexe"
    wait: ClassVar[str] = WAIT
    annexe: ClassVar[Annexe]

    async def run(self, call: Call[Any, Any]) -> str:
        await AskAnnexe.annexe.take(2, self.idempotency_key)
        await call.shared.apply(AddNights(nights=2), actor="annexe", key=self.idempotency_key)
        return "Two nights."


class AskOnce(AskAnnexe):
    """Book nights in the annexe; it knows no keys."""

    repeats: ClassVar[bool] = False


@pytest.fixture(autouse=True)
def annexe() -> Annexe:
    AskAnnexe.annexe = Annexe()
    return AskAnnexe.annexe


def graph(tool: type[AskAnnexe]) -> Graph[Stay]:
    class Desk(Reception):
        offers: tuple[Tool, ...] = (tool, EndCall)

    return Graph((Desk,), (), start="reception")


ASK, BYE = calls("ask_annexe"), calls("end_call")
LOST = "It is not known how"


class Process:
    """One process after another that serves the same stay.

    Args:
        folder: Where it is stored.
        tool: What the desk offers.
    """

    def __init__(self, folder: Path, tool: type[AskAnnexe] = AskAnnexe) -> None:
        self._url = f"sqlite:///{folder}/stays.db"
        self._tool = tool
        self.model = ScriptedLLM([])
        self.nights = 0

    async def talk(self, steps: Sequence[Step], *words: str, told: bool = False) -> list[str]:
        """Have a call; return what was said in it.

        Args:
            steps: What the model does.
            words: What the user says.
            told: Whether the annexe answers in the end and the user waits for it.
        """
        self.model = ScriptedLLM(steps)
        async with SqlStore(self._url, owner="hotel", schema=1) as store:
            shared = await SharedState.open(store, "room-12", Stay(), None)
            call = Call(shared, graph(self._tool), CallPolicy())
            async with Conversation(call, self.model) as talk:
                for one in words:
                    await talk.user_says(one)
                if told:
                    AskAnnexe.annexe.answers.set()
                    await talk.results_told()
            self.nights = shared.state.nights
        return [event.text for event in talk.events if isinstance(event, Said)]


async def test_one_that_runs_at_the_goodbye_is_delivered_once_in_the_next_call(
    tmp_path: Path, annexe: Annexe
) -> None:
    process = Process(tmp_path)

    first = await process.talk([says("Hi."), ASK, BYE, says("Goodbye.")], "The annexe?", "Bye")
    second = await process.talk([says("Hello again."), says("Two nights.")], told=True)
    third = await process.talk([says("Hello again.")], told=True)

    assert first == ["Hi.", WAIT, "Goodbye."]
    assert second == ["Hello again.", "Two nights."]
    assert third == ["Hello again."]
    assert len({*annexe.asked}) == 1
    assert [*annexe.taken.values()] == [2]
    assert process.nights == 2


async def test_one_that_must_not_be_asked_again_is_told_as_lost_once(
    tmp_path: Path, annexe: Annexe
) -> None:
    process = Process(tmp_path, AskOnce)

    await process.talk([says("Hi."), ASK, BYE, says("Goodbye.")], "The annexe?", "Bye")
    await process.talk([says("I do not know what they said.")], told=True)
    shown = str(process.model.requests[0].texts)
    await process.talk([says("Hello again.")], told=True)

    assert LOST in shown
    assert LOST not in str(process.model.requests[0].texts)
    assert len(annexe.asked) == 1


async def test_one_that_is_told_with_the_goodbye_is_not_told_again(
    tmp_path: Path, annexe: Annexe
) -> None:
    process = Process(tmp_path)
    annexe.answers.set()

    first = await process.talk(
        [says("Hi."), ASK, calls("end_call", say="Two nights. Goodbye.")],
        "The annexe?",
        told=True,
    )
    second = await process.talk([says("Hello again.")], told=True)

    assert first == ["Hi.", WAIT, "Two nights. Goodbye."]
    assert second == ["Hello again."]
    assert len(annexe.asked) == 1
    assert process.nights == 2


async def test_that_it_was_told_is_stored_although_the_call_ends_before_its_turn_to_be_written(
    annexe: Annexe,
) -> None:
    disk, telling = Gated(), asyncio.Event()
    shared = SharedState(Stay(), None, journal=disk)
    model = ScriptedLLM([says("Hi."), ASK, says("Two nights.", until=telling)])
    annexe.answers.set()

    async def later() -> None:
        await until(lambda: call.ended is not None)
        for _ in range(50):
            await asyncio.sleep(0)
        disk.gate.set()

    call = Call(shared, graph(AskAnnexe), CallPolicy())
    async with Conversation(call, model) as talk:
        await talk.user_says("The annexe?")
        await until(lambda: len(model.requests) == 3)
        disk.gate.clear()
        page = asyncio.create_task(shared.apply(SetGuest(name="Ada"), actor="page"))
        telling.set()
        await talk.answered()
        opening = asyncio.ensure_future(later())
    await asyncio.gather(page, opening)

    assert [row.commands[0]["op"] for row in disk.rows] == [
        *("start_tool", "add_nights", "set_guest", "end_tool")
    ]
    assert shared.unfinished == ()
