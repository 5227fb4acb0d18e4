"""The types that checkers infer for a call over another application's state. Checked, never run."""

from collections.abc import Sequence
from typing import assert_type

from livekit.agents import AgentSession

from agents.handoff import (
    Agent,
    Call,
    CallPolicy,
    EndReason,
    Event,
    Graph,
    Handoff,
    HandoffRefused,
    Said,
    Tool,
    ToolUsed,
    YourTurn,
    start_text,
    talk,
)
from agents.testing import Conversation, Request, ScriptedLLM, Step, Turn, calls, says
from state.shared import Applied, Command, SharedState, SqlStore, StoredState
from tests.typing.hotel_stay import BookNights, House, Reception, Stay, Wake, can_sleep


async def the_state(store: SqlStore, stored: StoredState) -> None:
    shared = SharedState(Stay(), House())

    assert_type(shared, SharedState[Stay, House])
    assert_type(shared.state, Stay)
    assert_type(shared.state.nights, int)
    assert_type(shared.context, House)
    assert_type(await shared.apply(BookNights(nights=1), actor="page"), Applied[Stay])
    assert_type((await shared.apply(BookNights(nights=1), actor="page", seen=0)).before, Stay)
    assert_type(SharedState.restored(stored, Stay, House()), SharedState[Stay, House])
    assert_type(await SharedState.open(store, "room-12", Stay(), House()), SharedState[Stay, House])

    def heard(applied: Applied[Stay]) -> None:
        assert_type(applied.before.nights, int)

    shared.subscribe(heard)


def the_graph() -> Graph[Stay]:
    guarded = Handoff(
        "reception", "night", when="At once.", condition=can_sleep, satisfied_by=(BookNights,)
    )

    assert_type(guarded, Handoff[Stay])
    assert_type(Graph((Reception,), (), start="reception"), Graph[Stay])
    return Graph((Reception,), (guarded,), start="reception")


async def the_call(graph: Graph[Stay]) -> None:
    policy = CallPolicy[Stay, House](
        digest=lambda stay, version: f"{stay.nights} at {version}",
        describe_result=lambda applied, command: f"{applied.state.nights} {command.op}",
        expects=lambda stay, agent, refusal: "choice" if refusal and refusal.code else "open",
    )
    call = Call(SharedState(Stay(), House()), graph, policy)
    model = ScriptedLLM([says("Good evening."), calls("wake", ("book_nights", {"nights": 1}))])

    assert_type(call, Call[Stay, House])
    assert_type(call.state, Stay)
    assert_type(call.shared, SharedState[Stay, House])
    assert_type(call.ended, EndReason | None)
    assert_type(call.session, AgentSession[Call[Stay, House]])
    assert_type(call.session.userdata.state.guest, str | None)
    assert_type(call.user_said("two nights"), int)
    assert_type(await start_text(call, model), AgentSession[Call[Stay, House]])
    assert_type(await talk(call, model), EndReason)
    assert_type(model.requests, list[Request])
    assert_type(model.script, tuple[Step, ...])


class Night(Agent[Stay, House]):
    offers: tuple[Tool, ...] = (BookNights,)

    def offers_now(self, state: Stay) -> Sequence[Tool]:
        assert_type(self.state, Stay)
        assert_type(self.call, Call[Stay, House])
        return self.offers if state.nights else ()


class Doorman(Agent[Stay, House]):
    @staticmethod
    def prompt(stay: Stay, house: House, call: Call[Stay, House]) -> str:
        return f"Their nights: {stay.nights} of {house.most_nights}, turn {call.turn}."


class Porter(Night):
    offers = (BookNights, Wake)


def what_happened(event: Event, command: Command[Stay, House], stay: Stay) -> Stay | str:
    match event:
        case Said():
            return assert_type(event.text, str)
        case ToolUsed():
            return assert_type(event.output, str)
    return assert_type(command.apply(stay, House()), Stay)


async def the_conversation(call: Call[Stay, House], model: ScriptedLLM) -> None:
    async with Conversation(call, model) as conversation:
        assert_type(conversation, Conversation[Stay, House])
        assert_type(conversation.state, Stay)
        assert_type(conversation.call, Call[Stay, House])
        assert_type(conversation.greeting, Turn)
        turn = await conversation.user_says("two nights")

    assert_type(turn, Turn)
    assert_type(turn.said, list[str])
    assert_type(turn.handoffs, list[tuple[str, str]])
    assert_type(turn.refused, list[HandoffRefused])
    assert_type(turn.your_turns, list[YourTurn])
