"""A handoff may lead back to the agent that handed the user over."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agents.handoff import (
    BACK,
    Call,
    CallPolicy,
    Graph,
    GraphError,
    Handoff,
    YourTurn,
    dot,
    mermaid,
    outline,
)
from agents.testing import Conversation, ScriptedLLM, SpokenConversation, calls, says, until
from state.shared import Entry, HandOver, SharedState, SqlStore
from tests.agents.handoff.aloud import LoudBar, LoudConcierge, LoudReception
from tests.agents.handoff.test_handoffs_taken_back import WrittenDown
from tests.agents.handoff.test_taken_up import Paper
from tests.agents.handoff.test_whole_writes import Gated
from tests.agents.hotel import (
    AddNights,
    Bar,
    Concierge,
    HotelAgent,
    Reception,
    Stay,
    can_go_out,
    hotel,
)


class Found(BaseModel):
    """What the bar found out."""

    drinks: bool


HANDOFFS: tuple[Handoff[Stay], ...] = (
    Handoff("reception", "concierge", when="To go out."),
    Handoff("reception", "bar", when="When thirsty."),
    Handoff("concierge", "bar", when="When thirsty."),
    Handoff("concierge", BACK, when="When done."),
    Handoff("bar", BACK, when="When done.", arguments=Found),
)


def graph(*agents: type[HotelAgent]) -> Graph[Stay]:
    return Graph(agents or (Reception, Concierge, Bar), HANDOFFS, start="reception")


DONE = ("transfer_back", {"drinks": True})


def script(*made: Any) -> ScriptedLLM:
    """A greeting, then for each handoff the call and the next agent's words."""
    steps = [says("Good evening.")]
    for one in made:
        steps += [calls(one), says("Yes?")]
    return ScriptedLLM(steps)


async def handoffs(call: Call[Stay, None], model: ScriptedLLM, turns: int) -> list[tuple[str, str]]:
    async with Conversation(call, model) as talk:
        for _ in range(turns):
            await talk.user_says("Go on")
        return [handed for turn in talk.turns for handed in turn.handoffs]


@pytest.mark.parametrize("kind", [Conversation, SpokenConversation])
async def test_it_leads_to_the_agent_that_handed_over(kind: type[Conversation[Stay, None]]) -> None:
    model = script("transfer_to_bar", DONE, "transfer_to_concierge", "transfer_to_bar", DONE)

    async with kind(hotel(graph=graph()), model) as talk:
        for _ in range(5):
            await talk.user_says("Go on")
        made = [handed for turn in talk.turns for handed in turn.handoffs]
        your_turns = [e.turn for e in talk.events if isinstance(e, YourTurn)]

    assert made == [
        ("reception", "bar"),
        ("bar", "reception"),
        ("reception", "concierge"),
        ("concierge", "bar"),
        ("bar", "concierge"),
    ]
    assert your_turns == list(range(6))
    # The agent returned to is told what was found out, and welcomes the user back.
    assert ("assistant", '(handed_over: {"drinks": true})') in model.requests[4].texts
    assert any("Welcome the guest back." in text for _, text in model.requests[4].texts)


async def test_each_way_back_undoes_one_handoff_and_counts_as_none_itself() -> None:
    model = script("transfer_to_concierge", "transfer_to_bar", DONE, "transfer_back")

    assert (await handoffs(hotel(graph=graph()), model, 4))[2:] == [
        ("bar", "concierge"),
        ("concierge", "reception"),
    ]


async def test_before_anybody_has_handed_over_it_is_not_offered() -> None:
    model = ScriptedLLM([says("A beer?"), says("Nobody sent you here.")])

    async with Conversation(hotel(graph=graph(), speaker="bar"), model) as talk:
        await talk.user_says("Back, please")

    assert "transfer_back" not in model.requests[1].tools


async def test_called_all_the_same_it_is_refused_with_a_reason() -> None:
    call = hotel(graph=graph(), speaker="bar")
    (handoff,) = graph().leaving("bar")

    with pytest.raises(Exception, match="No agent has handed the user over to you") as caught:
        call.handoffs._destination(handoff)

    assert getattr(caught.value, "code", "") == "no_way_back"


async def test_it_is_offered_again_after_a_handoff_and_gone_after_the_way_back() -> None:
    both = (
        *HANDOFFS,
        Handoff[Stay]("reception", BACK, when="When done."),
        Handoff[Stay]("bar", "reception", when="For a room."),
    )
    looped = Graph((Reception, Concierge, Bar), both, start="reception")
    model = script("transfer_to_bar", "transfer_to_reception", "transfer_back", DONE)
    model = ScriptedLLM([*model.script, says("Yes?")])

    assert await handoffs(hotel(graph=looped), model, 5) == [
        ("reception", "bar"),
        ("bar", "reception"),
        ("reception", "bar"),
        ("bar", "reception"),
    ]
    offered = ["transfer_back" in request.tools for request in model.requests]
    assert offered == [False, False, False, True, False, True, False, True, False, False]


async def test_invalid_arguments_of_a_way_back_are_refused_by_the_name_it_leads_to() -> None:
    model = ScriptedLLM(
        [says("Hi."), calls("transfer_to_bar"), says("Yes?"), calls("transfer_back"), says("Hm.")]
    )

    async with Conversation(hotel(graph=graph()), model) as talk:
        await talk.user_says("A drink")
        turn = await talk.user_says("Back")

    assert [(one.target, one.reason) for one in turn.refused] == [("reception", "not_valid")]


async def test_a_way_back_has_a_condition_of_its_own() -> None:
    guarded = Graph(
        (Reception, Concierge),
        (
            Handoff("concierge", "reception", when="For a room."),
            Handoff(
                "reception",
                BACK,
                when="When it is booked.",
                condition=can_go_out,
                satisfied_by=(AddNights,),
            ),
        ),
        start="concierge",
    )
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_reception"),
            says("A room?"),
            calls("transfer_back"),
            says("First a night."),
            calls(("add_nights", {"nights": 1}), "transfer_back"),
            says("Tosca?"),
        ]
    )

    async with Conversation(hotel(graph=guarded), model) as talk:
        await talk.user_says("A room")
        refused = await talk.user_says("Back")
        back = await talk.user_says("One night, and back")

    assert [(one.target, one.reason) for one in refused.refused] == [("concierge", "refused")]
    assert (back.handoffs, back.said) == ([("reception", "concierge")], ["Tosca?"])


async def test_of_two_transfers_in_one_reply_the_first_wins_whichever_it_is() -> None:
    model = ScriptedLLM(
        [
            says("Hi."),
            calls("transfer_to_concierge"),
            says("Yes?"),
            calls("transfer_back", "transfer_to_bar"),
            says("Back."),
        ]
    )

    async with Conversation(hotel(graph=graph()), model) as talk:
        await talk.user_says("Out")
        turn = await talk.user_says("Back, or a drink")

    assert turn.handoffs == [("concierge", "reception")]
    assert [(one.target, one.reason) for one in turn.refused] == [("bar", "already_handing_over")]


async def test_a_handoff_taken_back_is_no_part_of_the_way() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_concierge"),
            says("Yes?"),
            calls("transfer_to_bar", say="One moment."),
            calls("transfer_back"),
            says("Here again."),
        ]
    )
    disk = Gated()
    talk = WrittenDown(model, disk)
    talk.call = Call(talk.call.shared, graph(LoudReception, LoudConcierge, LoudBar), CallPolicy())

    async with talk:
        talk.call.user_said("Out")
        await talk.hears_out()
        await talk.call.answered()
        talk.call.user_said("A drink")
        await talk.force_the_handoff_away()
        disk.gate.set()
        await talk.call.answered()
        taken_back = disk.rows[-1].commands[0]
        talk.call.user_said("Back")
        await talk.hears_out()
        await talk.call.answered()

    assert (taken_back["target"], taken_back["trail"]) == ("concierge", ["reception"])
    assert talk.call.speaker == "reception"


async def test_a_message_during_a_way_back_is_answered_there() -> None:
    paper = Paper()
    model = script("transfer_to_bar", DONE)

    async with Conversation(hotel(graph=graph(), journal=paper), model) as talk:
        await talk.user_says("A drink")
        rows = len(paper.rows)

        def append(entry: Entry) -> "asyncio.Future[None]":
            if len(paper.rows) == rows:
                talk.call.user_said("Hello?")
            return Paper.append(paper, entry)

        paper.append = append  # type: ignore[method-assign]
        talk.user_says_nowait("Back")
        await until(lambda: talk.call.turn == 3)
        await talk.answered()

    assert talk.call.speaker == "reception"
    assert ("user", "Hello?") in model.requests[4].texts


async def test_a_process_that_goes_on_knows_the_way_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/stays.db"

    async def goes_on(model: ScriptedLLM, agents: Graph[Stay]) -> list[tuple[str, str]]:
        async with SqlStore(url, owner="hotel", schema=1) as store:
            shared = await SharedState.open(store, "room-12", Stay(), None)
            return await handoffs(Call(shared, agents, CallPolicy()), model, 1)

    one = await goes_on(script("transfer_to_concierge"), graph())
    two = await goes_on(script("transfer_to_bar"), graph())
    three = await goes_on(script(DONE), graph())
    four = await goes_on(script("transfer_back"), graph())

    assert [*one, *two, *three, *four] == [
        ("reception", "concierge"),
        ("concierge", "bar"),
        ("bar", "concierge"),
        ("concierge", "reception"),
    ]


async def test_agents_that_have_left_the_graph_are_left_out_of_the_way() -> None:
    last = HandOver(source="sauna", target="bar", trail=("reception", "sauna"))
    row = Entry(
        version=1,
        commands=(last.written(),),
        state=Stay().model_dump_json(),
        speaker="bar",
        actor="sauna",
    )
    shared = SharedState(Stay(), None, version=1, speaker="bar", past=(row,))

    made = await handoffs(Call(shared, graph(), CallPolicy()), script(DONE), 1)

    assert made == [("bar", "reception")]


async def test_the_way_is_not_written_where_nothing_leads_back() -> None:
    paper = Paper()
    model = script("transfer_to_bar")

    await handoffs(hotel(journal=paper), model, 1)

    assert paper.rows[0].commands == ({"op": "hand_over", "source": "reception", "target": "bar"},)


async def test_a_row_of_a_later_release_with_more_in_it_is_read() -> None:
    written = HandOver(source="reception", target="bar", trail=("reception",)).written()
    row = Entry(
        version=1,
        commands=({**written, "why": "later"},),
        state=Stay().model_dump_json(),
        speaker="bar",
        actor="reception",
    )
    shared = SharedState(Stay(), None, version=1, speaker="bar", past=(row,))

    assert shared.handover == HandOver(source="reception", target="bar", trail=("reception",))


def test_pictures_show_where_it_may_lead() -> None:
    assert '    bar -.->|"back"| reception' in mermaid(graph())
    assert '    bar -.->|"back"| concierge' in mermaid(graph())
    assert '  bar -> concierge [label="back", style=dashed];' in dot(graph())
    assert "  -> back to Reception or Concierge" in outline(graph())


def faults(*handoffs: Handoff[Stay], agents: Any = (Reception, Bar)) -> tuple[str, ...]:
    with pytest.raises(GraphError) as caught:
        Graph(agents, handoffs, start="reception")
    return caught.value.faults


def test_a_way_back_that_can_never_be_taken_is_a_fault() -> None:
    to_bar: Handoff[Stay] = Handoff("reception", "bar", when="When thirsty.")
    back: Handoff[Stay] = Handoff("reception", BACK, when="When done.")
    guarded: Handoff[Stay] = Handoff("bar", BACK, when="At once.", condition=can_go_out)

    assert faults(to_bar, back) == ("reception -> back: no handoff leads to reception",)
    assert faults(
        to_bar, Handoff("bar", BACK, when="At once."), Handoff("bar", BACK, when="At once.")
    ) == ("bar -> back: declared twice",)
    assert faults(to_bar, guarded) == ("bar -> back: it has a condition and no satisfied_by",)


def test_a_way_back_makes_no_agent_reachable() -> None:
    unreachable: Handoff[Stay] = Handoff("bar", "reception", when="For a room.")

    assert faults(unreachable, Handoff("reception", BACK, when="At once.")) == (
        "bar is unreachable",
    )


def test_no_agent_is_called_back() -> None:
    named = type("Back", (Bar,), {"name": "back"})

    assert faults(agents=(Reception, named))[0] == (
        "Back is called 'back', which is where a way back leads"
    )
