"""A tool may outlast its reply: the user is told to wait, and the result comes in a reply of its own."""

import asyncio
import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from pydantic import BaseModel

from agents.handoff import (
    Call,
    CallPolicy,
    EndCall,
    Graph,
    GraphError,
    Handoff,
    Said,
    SlowAction,
    Tool,
    YourTurn,
    talk,
)
from agents.testing import (
    Conversation,
    ConversationError,
    ScriptedLLM,
    SpokenConversation,
    calls,
    says,
    until,
)
from state.shared import EndTool, Refused, SharedState, SqlStore, StartTool
from tests.agents.handoff.aloud import Aloud, LoudReception
from tests.agents.handoff.test_whole_writes import Gated
from tests.agents.hotel import AddNights, Bar, HotelAgent, Reception, SetGuest, Stay, hotel
from tests.virtual_time import in_virtual_time

WAIT = "I am asking the theatre."


class Line:
    """The other system: each request waits for its answer."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.answers: dict[str, asyncio.Future[str]] = {}
        self.cancelled: list[str] = []

    async def ask(self, show: str, key: str) -> str:
        self.asked.append((show, key))
        answer = self.answers.setdefault(show, asyncio.get_running_loop().create_future())
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            self.cancelled.append(show)
            raise

    def says(self, show: str, text: str) -> None:
        self.answers[show].set_result(text)

    def fails(self, show: str, error: Exception) -> None:
        self.answers[show].set_exception(error)


class AskTheatre(SlowAction):
    """Ask the theatre for seats."""

    op: Literal["ask_theatre"] = "ask_theatre"
    show: str
    wait: ClassVar[str] = WAIT
    limit_s: ClassVar[float] = 20.0
    line: ClassVar[Line]

    async def run(self, call: Call[Any, Any]) -> str:
        return await AskTheatre.line.ask(self.show, self.idempotency_key)


class AskOnce(AskTheatre):
    """Ask, and never again."""

    repeats: ClassVar[bool] = False


@pytest.fixture(autouse=True)
def line() -> Line:
    AskTheatre.line = Line()
    return AskTheatre.line


class Desk(Reception):
    offers: tuple[Tool, ...] = (SetGuest, AddNights, AskTheatre, EndCall)


class Careful(Desk):
    needs_answer: ClassVar = {"add_nights": ("ask_theatre",)}


def graph(desk: type[HotelAgent] = Desk, bar: type[HotelAgent] = Bar) -> Graph[Stay]:
    return Graph(
        (desk, bar),
        (
            Handoff("reception", "bar", when="When thirsty."),
            Handoff("bar", "reception", when="When tired."),
        ),
        start="reception",
    )


TOSCA, HAMLET = ("ask_theatre", {"show": "Tosca"}), ("ask_theatre", {"show": "Hamlet"})
FOUND = ("assistant", "(ask_theatre: Two seats.)")
PENDING = (
    "assistant",
    "(ask_theatre: Started before, and not answered yet. The result will follow.)",
)
ARRIVED = "The result of ask_theatre has arrived. Tell the user."


def said(it: Any) -> list[tuple[str, str]]:
    return [(event.agent, event.text) for event in it.events if isinstance(event, Said)]


def turns(it: Any) -> list[int]:
    return [event.turn for event in it.events if isinstance(event, YourTurn)]


@pytest.mark.parametrize("kind", [Conversation, SpokenConversation])
async def test_talk_goes_on_and_the_result_comes_in_a_reply_of_its_own(
    kind: type[Conversation[Stay, None]], line: Line
) -> None:
    model = ScriptedLLM([says("Hi."), calls(TOSCA), says("Breakfast is at 8."), says("Two seats!")])

    async with kind(hotel(graph=graph()), model) as it:
        first = await it.user_says("Seats for Tosca?")
        await it.user_says("When is breakfast?")
        line.says("Tosca", "Two seats.")
        await it.results_told()

    assert [text for _, text in said(it)] == ["Hi.", WAIT, "Breakfast is at 8.", "Two seats!"]
    assert first.said == [WAIT]
    assert turns(it) == [0, 1, 2, 2]
    assert FOUND in model.requests[3].texts
    assert model.requests[3].texts[-1] == ("system", ARRIVED)
    assert FOUND not in model.requests[2].texts
    (tool,) = [tool for turn in it.turns for tool in turn.tools]
    assert (tool.name, tool.output, tool.is_error, tool.turn) == (
        "ask_theatre",
        "Two seats.",
        False,
        2,
    )


async def test_the_result_stays_in_the_history_and_is_announced_once(line: Line) -> None:
    model = ScriptedLLM([says("Hi."), calls(TOSCA), says("Two seats!"), says("Row 3.")])

    async with Conversation(hotel(graph=graph()), model) as it:
        await it.user_says("Seats for Tosca?")
        line.says("Tosca", "Two seats.")
        await it.results_told()
        await it.user_says("Which row?")

    last = model.requests[3].texts
    assert last.count(FOUND) == 1
    assert not any(ARRIVED in text for _, text in last)


async def test_beside_another_tool_both_are_answered_for(line: Line) -> None:
    model = ScriptedLLM(
        [says("Hi."), calls(TOSCA, ("set_guest", {"name": "Ada"})), says("Ada."), says("Two!")]
    )

    async with Conversation(hotel(graph=graph()), model) as it:
        await it.user_says("Ada here, seats for Tosca?")
        line.says("Tosca", "Two seats.")
        await it.results_told()

    assert sorted(text for _, text in said(it)) == sorted(["Hi.", "Ada.", WAIT, "Two!"])
    assert said(it)[-1] == ("reception", "Two!")
    assert any("Started; the result will follow." in text for _, text in model.requests[2].texts)


async def test_two_at_once_are_told_each_and_the_user_waits_once(line: Line) -> None:
    model = ScriptedLLM(
        [says("Hi."), calls(TOSCA, HAMLET), says("Tosca: two."), says("Hamlet: no.")]
    )

    async with Conversation(hotel(graph=graph()), model) as it:
        await it.user_says("Seats for Tosca or Hamlet?")
        line.says("Tosca", "Two seats.")
        await until(lambda: len(model.requests) == 3)
        line.says("Hamlet", "None left.")
        await it.results_told()

    assert [text for _, text in said(it)] == ["Hi.", WAIT, "Tosca: two.", "Hamlet: no."]
    assert len({key for _, key in line.asked}) == 2


async def test_two_results_at_the_same_moment_share_a_reply(line: Line) -> None:
    model = ScriptedLLM([says("Hi."), calls(TOSCA, HAMLET), says("Tosca: two; Hamlet: no.")])

    async with Conversation(hotel(graph=graph()), model) as it:
        await it.user_says("Seats for Tosca or Hamlet?")
        line.says("Tosca", "Two seats.")
        line.says("Hamlet", "None left.")
        await it.results_told()

    texts = model.requests[2].texts
    assert FOUND in texts
    assert ("assistant", "(ask_theatre: None left.)") in texts


async def test_after_a_handoff_the_active_agent_tells_it(line: Line) -> None:
    model = ScriptedLLM([says("Hi."), calls(TOSCA), calls("transfer_to_bar"), says("A beer?")])
    model = ScriptedLLM([*model.script, says("Two seats, by the way.")])

    async with Conversation(hotel(graph=graph()), model) as it:
        await it.user_says("Seats for Tosca?")
        await it.user_says("And a drink")
        line.says("Tosca", "Two seats.")
        await it.results_told()

    assert said(it)[-1] == ("bar", "Two seats, by the way.")
    assert FOUND in model.requests[4].texts
    # The bar knows from the start that the theatre has been asked; the reception knew anyway.
    assert [request.texts.count(PENDING) for request in model.requests] == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("kind", [Conversation, SpokenConversation])
async def test_a_handoff_in_the_same_reply_waits_for_nothing_and_loses_nothing(
    kind: type[Conversation[Stay, None]], line: Line
) -> None:
    model = ScriptedLLM(
        [says("Hi."), calls(TOSCA, "transfer_to_bar"), says("A beer?"), says("Two seats.")]
    )

    async with kind(hotel(graph=graph()), model) as it:
        turn = await it.user_says("Seats for Tosca, and a drink")
        line.says("Tosca", "Two seats.")
        await it.results_told()

    assert turn.handoffs == [("reception", "bar")]
    assert sorted(text for _, text in said(it)) == sorted(["Hi.", WAIT, "A beer?", "Two seats."])
    assert said(it)[-1] == ("bar", "Two seats.")
    assert FOUND in model.requests[3].texts
    assert turns(it) == [0, 1, 1]


async def test_a_result_that_comes_into_a_handoff_is_told_by_the_next_agent_as_it_opens(
    line: Line,
) -> None:
    model = ScriptedLLM(
        [says("Hi."), calls(TOSCA), calls("transfer_to_bar"), says("Two seats; and a beer?")]
    )
    disk = Gated()

    async with Conversation(hotel(graph=graph(), journal=disk), model) as it:
        await it.user_says("Seats for Tosca?")
        disk.gate.clear()
        it.user_says_nowait("And a drink")
        await until(lambda: disk.asked == 2)
        line.says("Tosca", "Two seats.")
        await until(lambda: it.call.slow_tools._results != [])
        disk.gate.set()
        await it.results_told()

    assert said(it)[2:] == [("bar", "Two seats; and a beer?")]
    assert FOUND in model.requests[3].texts
    assert any(ARRIVED in text for _, text in model.requests[3].texts)


async def test_one_that_comes_while_an_agent_speaks_waits_for_the_end(line: Line) -> None:
    gate = asyncio.Event()
    model = ScriptedLLM(
        [says("Hi."), calls(TOSCA), says("A long story.", until=gate), says("Two!")]
    )

    async with Conversation(hotel(graph=graph()), model) as it:
        await it.user_says("Seats for Tosca?")
        it.user_says_nowait("Tell me a story")
        await until(lambda: len(model.requests) == 3)
        line.says("Tosca", "Two seats.")
        await until(lambda: it.call.slow_tools._results != [])
        gate.set()
        await it.results_told()

    assert [text for _, text in said(it)][-2:] == ["A long story.", "Two!"]


async def test_one_that_comes_while_the_user_speaks_waits_for_their_words(line: Line) -> None:
    model = ScriptedLLM([says("Hi."), calls(TOSCA), says("At 8; and two seats.")])

    async with SpokenConversation(hotel(graph=graph()), model) as it:
        await it.user_says("Seats for Tosca?")
        it.expects_words()
        it.stt.begins("When")
        await until(lambda: it.call.user_speech.awaiting_transcript)
        line.says("Tosca", "Two seats.")
        await until(lambda: it.call.slow_tools._results != [])
        for _ in range(100):
            await asyncio.sleep(0)
        before = len(model.requests)
        it.stt.finishes("When is breakfast?")
        await it.counted(2)
        await it.results_told()

    assert before == 2  # no agent interrupted the user
    assert ("user", "When is breakfast?") in model.requests[2].texts
    assert FOUND in model.requests[2].texts
    assert any(ARRIVED in text for _, text in model.requests[2].texts)


async def test_one_that_comes_while_the_user_agrees_to_it_unheard_is_in_the_refusal_and_told_once(
    line: Line,
) -> None:
    gate = asyncio.Event()
    night = ("add_nights", {"nights": 1})
    script = [says("Hi."), calls(TOSCA), calls(night, until=gate), says("Two seats. And?")]
    model = ScriptedLLM([*script, calls(night), says("Done.")])

    async with Conversation(hotel(graph=graph(Careful)), model) as it:
        await it.user_says("Seats for Tosca?")
        it.user_says_nowait("Yes, do it")
        await until(lambda: len(model.requests) == 3)
        line.says("Tosca", "Two seats.")
        await until(lambda: it.call.slow_tools._results != [])
        gate.set()
        await it.answered()
        await it.results_told()
        refused, nights = model.requests[3].texts[-1], it.state.nights
        await it.user_says("Yes")

    assert refused[0] == "output"
    assert 'Tell them the result, which has just come: "Two seats.", and wait' in refused[1]
    assert [text for _, text in said(it)] == ["Hi.", WAIT, "Two seats. And?", "Done."]
    assert (nights, it.state.nights) == (0, 1)


async def test_a_reply_that_the_user_interrupts_has_not_told_it(line: Line) -> None:
    gate = asyncio.Event()
    model = ScriptedLLM(
        [says("Hi."), calls(TOSCA), says("Never.", until=gate), says("At 8. And two seats.")]
    )

    async with Conversation(hotel(graph=graph()), model) as it:
        await it.user_says("Seats for Tosca?")
        line.says("Tosca", "Two seats.")
        await until(lambda: len(model.requests) == 3)
        it.user_says_nowait("When is breakfast?")
        await it.results_told()

    assert any(ARRIVED in text for _, text in model.requests[3].texts)
    assert model.requests[3].texts.count(FOUND) == 1
    assert [text for _, text in said(it)] == ["Hi.", WAIT, "At 8. And two seats."]


class LoudDesk(LoudReception):
    offers: tuple[Tool, ...] = Desk.offers


async def test_one_cut_short_by_a_sound_without_words_is_told_again(line: Line) -> None:
    it = Aloud(ScriptedLLM([says("Hi."), calls(TOSCA), says("Two seats."), says("Two seats!")]))
    loud = Graph((LoudDesk,), (), start="reception")
    it.call = Call(SharedState(Stay(), None), loud, CallPolicy())

    async with it:
        it.call.user_said("Seats for Tosca?")
        await it.hears_out()
        await it.call.answered()
        line.says("Tosca", "Two seats.")
        await until(lambda: it.speaker.playing)
        it.call.session.interrupt()
        await until(lambda: not it.speaker.playing)
        await it.hears_out()
        await it.call.slow_tools.told()

    assert [event.text for event in it.of(Said)][-1] == "Two seats!"


async def test_a_model_that_fails_on_it_tells_it_with_the_next_reply(line: Line) -> None:
    model = ScriptedLLM(
        [says("Hi."), calls(TOSCA), says("", error="gone"), says("Two seats, and at 8.")]
    )

    async with Conversation(hotel(graph=graph()), model) as it:
        await it.user_says("Seats for Tosca?")
        line.says("Tosca", "Two seats.")
        await until(lambda: len(said(it)) == 3)
        await it.answered()
        await it.user_says("What?")
        await it.results_told()

    assert [text.strip() for _, text in said(it)[2:]] == [
        it.call.policy.trouble,
        "Two seats, and at 8.",
    ]
    assert any(ARRIVED in text for _, text in model.requests[3].texts)


FAILURES: list[tuple[Exception, str]] = [
    (Refused("They are closed.", until="noon"), 'refused: They are closed. {"until": "noon"}'),
    (RuntimeError("secret"), "internal: Something went wrong inside."),
]


@pytest.mark.parametrize(("error", "text"), FAILURES)
async def test_a_later_failure_is_told_as_well(error: Exception, text: str, line: Line) -> None:
    model = ScriptedLLM([says("Hi."), calls(TOSCA), says("They are closed.")])

    async with Conversation(hotel(graph=graph()), model) as it:
        await it.user_says("Seats for Tosca?")
        line.fails("Tosca", error)
        await it.results_told()

    assert ("assistant", f"(ask_theatre: Nothing was changed. {text})") in model.requests[2].texts
    assert [tool.is_error for turn in it.turns for tool in turn.tools] == [True]


async def test_it_has_a_time_limit_of_its_own(monkeypatch: pytest.MonkeyPatch, line: Line) -> None:
    monkeypatch.setattr(AskTheatre, "limit_s", 0.01)
    model = ScriptedLLM([says("Hi."), calls(TOSCA), says("They do not answer.")])

    async with Conversation(hotel(graph=graph()), model) as it:
        await it.user_says("Seats for Tosca?")
        await it.results_told()
        assert line.cancelled == ["Tosca"]

    (text,) = [text for _, text in model.requests[2].texts if text.startswith("(ask_theatre")]
    assert "timeout: It took too long and was given up." in text


@in_virtual_time
async def test_it_outlasts_the_time_limit_of_a_tool(line: Line) -> None:
    model = ScriptedLLM([says("Hi."), calls(TOSCA), says("Two!")])
    async with Conversation(hotel(graph=graph(), tool_limit_s=1.0), model) as it:
        await it.user_says("Seats for Tosca?")
        await asyncio.sleep(10.0)  # the loop jumps
        line.says("Tosca", "Two seats.")
        await it.results_told()

    assert said(it)[-1] == ("reception", "Two!")


async def test_it_is_cancelled_when_the_call_ends(line: Line) -> None:
    model = ScriptedLLM([says("Hi."), calls(TOSCA), calls("end_call"), says("Goodbye.")])

    async with Conversation(hotel(graph=graph()), model) as it:
        await it.user_says("Seats for Tosca?")
        turn = await it.user_says("Never mind, bye")
        await until(lambda: line.cancelled == ["Tosca"])

    assert turn.ended is not None
    assert [text for _, text in said(it)] == ["Hi.", WAIT, "Goodbye."]
    assert len(model.requests) == 4


async def test_one_that_cannot_be_stored_has_not_been_started(line: Line) -> None:
    disk = Gated()
    disk.fails = True
    model = ScriptedLLM([says("Hi."), calls(TOSCA), says("I cannot ask just now.")])

    async with Conversation(hotel(graph=graph(), journal=disk), model) as it:
        turn = await it.user_says("Seats for Tosca?")

    assert line.asked == []
    assert turn.said == ["I cannot ask just now."]
    assert "could not be stored" in turn.tools[0].output


async def test_invalid_arguments_start_nothing(line: Line) -> None:
    model = ScriptedLLM([says("Hi."), calls(("ask_theatre", {})), says("Which show?")])

    async with Conversation(hotel(graph=graph()), model) as it:
        turn = await it.user_says("Seats?")

    assert (line.asked, turn.said) == ([], ["Which show?"])


async def test_one_that_needs_a_yes_waits_for_it_before_it_starts(line: Line) -> None:
    class Asking(Desk):
        needs_answer: ClassVar = {"ask_theatre": ("ask_theatre",)}

    model = ScriptedLLM([says("Hi."), calls(TOSCA), says("Shall I?"), calls(TOSCA), says("Two!")])

    async with Conversation(hotel(graph=graph(Asking)), model) as it:
        asked = await it.user_says("Seats for Tosca?")
        before = list(line.asked)
        await it.user_says("Yes")
        line.says("Tosca", "Two seats.")
        await it.results_told()

    assert (asked.said, before) == (["Shall I?"], [])


async def test_a_journal_row_says_that_it_began_and_that_it_was_told(line: Line) -> None:
    disk = Gated()
    model = ScriptedLLM([says("Hi."), calls(TOSCA), says("Two!")])

    async with Conversation(hotel(graph=graph(), journal=disk), model) as it:
        await it.user_says("Seats for Tosca?")
        started = disk.rows[-1]
        line.says("Tosca", "Two seats.")
        await it.results_told()
        await until(lambda: len(disk.rows) == 2)

    ((_, key),) = line.asked
    assert started.turn == 1
    assert [row.commands[0] for row in disk.rows] == [
        StartTool(key=key, tool="ask_theatre", arguments={"show": "Tosca"}).written(),
        EndTool(key=key).written(),
    ]
    assert it.call.shared.unfinished == ()
    assert it.call.tools.changes == 0


async def resumed(
    path: Path, agents: Graph[Stay], model: ScriptedLLM, line: Line, *, answer: str = ""
) -> list[tuple[str, str]]:
    """One process: it opens the stored state, talks, and is gone."""
    async with SqlStore(f"sqlite:///{path}/stays.db", owner="hotel", schema=1) as store:
        shared = await SharedState.open(store, "room-12", Stay(), None)
        async with Conversation(Call(shared, agents, CallPolicy()), model) as it:
            if not answer:
                await it.user_says("Seats for Tosca?")
            else:
                if answer != "-":
                    await until(lambda: line.asked[-1][0] in line.answers)
                    line.says("Tosca", answer)
                await it.results_told()
            return said(it)


async def test_a_call_that_is_resumed_asks_again_with_the_same_key(
    tmp_path: Path, line: Line
) -> None:
    await resumed(tmp_path, graph(), ScriptedLLM([says("Hi."), calls(TOSCA)]), line)
    line.answers.clear()
    model = ScriptedLLM([says("Welcome back."), says("Two seats.")])
    heard = await resumed(tmp_path, graph(), model, line, answer="Two seats.")
    third = ScriptedLLM([says("Welcome back.")])
    again = await resumed(tmp_path, graph(), third, line, answer="-")

    (first, second) = line.asked
    assert first == second
    assert heard == [("reception", "Welcome back."), ("reception", "Two seats.")]
    assert FOUND in model.requests[1].texts
    assert model.requests[0].texts.count(PENDING) == 1
    assert again == [("reception", "Welcome back.")]  # told once, asked no third time


@pytest.mark.parametrize("how", ["once", "gone", "changed"])
async def test_one_that_cannot_be_asked_again_is_told_as_lost(
    tmp_path: Path, line: Line, how: str
) -> None:
    class Changed(AskTheatre):
        """Ask."""

        row: int

    offered: dict[str, tuple[Tool, ...]] = {
        "once": (AskOnce,),
        "gone": (EndCall,),
        "changed": (Changed,),
    }

    class Later(Reception):
        offers: tuple[Tool, ...] = offered[how]

    await resumed(tmp_path, graph(), ScriptedLLM([says("Hi."), calls(TOSCA)]), line)
    model = ScriptedLLM([says("I do not know what they said.")])
    heard = await resumed(tmp_path, graph(Later), model, line, answer="-")

    assert len(line.asked) == 1
    assert heard == [("reception", "I do not know what they said.")]  # the opening tells it
    assert any(ARRIVED in text for _, text in model.requests[0].texts)
    (text,) = [text for _, text in model.requests[0].texts if text.startswith("(ask_theatre")]
    assert "It is not known how" in text


class Unsaid(AskTheatre):
    """Ask."""

    wait: ClassVar[str] = " "
    limit_s: ClassVar[float] = 0.0
    goes_last: ClassVar[bool] = True


def test_a_slow_action_that_could_not_work_is_a_fault() -> None:
    class Wrong(Reception):
        offers: tuple[Tool, ...] = (Unsaid,)

    with pytest.raises(GraphError) as caught:
        graph(Wrong)

    assert caught.value.faults == (
        "Wrong: ask_theatre is slow and has no wait, which the user is told at once",
        "Wrong: ask_theatre: limit_s has to be above 0",
        "Wrong: ask_theatre is slow and cannot go last",
    )


@pytest.mark.parametrize("command", [StartTool, EndTool])
def test_the_rows_of_slow_tools_are_no_tools(command: type[BaseModel]) -> None:
    wrong: Any = (command,)
    agent = type("Wrong", (Reception,), {"offers": wrong})

    with pytest.raises(GraphError, match="is reserved for the framework"):
        graph(agent)


async def test_the_terminal_waits_for_the_result_when_its_input_ends(line: Line) -> None:
    model = ScriptedLLM([says("Hi."), calls(TOSCA), says("Two seats.")])
    out = io.StringIO()
    call = hotel(graph=graph())
    ends = asyncio.create_task(talk(call, model, lines=["Seats for Tosca?"], out=out))

    await until(lambda: "Tosca" in line.answers and WAIT in out.getvalue())
    line.says("Tosca", "Two seats.")

    assert await ends == "input_ended"
    assert out.getvalue().endswith("reception: Two seats.\n")


async def test_a_test_that_waits_for_a_result_that_never_comes_says_so(line: Line) -> None:
    model = ScriptedLLM([says("Hi."), calls(TOSCA)])

    async with Conversation(hotel(graph=graph()), model, patience_s=0.5) as conversation:
        await conversation.user_says("Seats for Tosca?")
        with pytest.raises(ConversationError, match="a slow action did not end"):
            await conversation.results_told()


async def dies_while_it_asks(url: str) -> None:
    """A process that is killed as soon as the other system has been asked."""

    class Fatal(Line):
        async def ask(self, show: str, key: str) -> str:
            sys.stdout.write(f"{key}\n")
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)
            return ""

    AskTheatre.line = Fatal()
    async with SqlStore(url, owner="hotel", schema=1) as store:
        shared = await SharedState.open(store, "room-12", Stay(), None)
        model = ScriptedLLM([says("Hi."), calls(TOSCA)])
        async with Conversation(Call(shared, graph(), CallPolicy()), model) as it:
            await it.user_says("Seats for Tosca?")


@pytest.mark.processes
async def test_a_killed_process_has_asked_and_the_next_one_asks_with_the_same_key(
    tmp_path: Path, line: Line
) -> None:
    url = f"sqlite:///{tmp_path}/stays.db"
    program = (
        "import asyncio; from tests.agents.handoff.test_slow_tools import dies_while_it_asks;"
        f" asyncio.run(dies_while_it_asks({url!r}))"
    )
    root = Path(__file__).parents[3]
    killed = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program], cwd=root, capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    model = ScriptedLLM([says("Welcome back."), says("Two seats.")])
    heard = await resumed(tmp_path, graph(), model, line, answer="Two seats.")

    assert line.asked == [("Tosca", killed.stdout.strip())]
    assert heard == [("reception", "Welcome back."), ("reception", "Two seats.")]
