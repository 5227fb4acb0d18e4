"""The whole restaurant on LiveKit's own plugin, against a server on this machine."""

from agents.handoff import Cost, Ended, Spent, YourTurn
from agents.testing.providers import calls, says
from tests.agents.app.models.openai.talking import (
    GREETING,
    KEY,
    USAGE,
    WHOLE_ORDER,
    script,
    talking,
)


async def test_an_order_goes_from_the_greeting_to_placed() -> None:
    async with talking(script()) as (talk, server):
        for words, _ in WHOLE_ORDER:
            turn = await talk.user_says(words)
            assert len(turn.your_turns) == 1
            assert [used.output for used in turn.tools if used.is_error] == []

        handoffs = [handoff for turn in talk.turns for handoff in turn.handoffs]

    assert talk.state.stage == "placed"
    assert talk.state.customer_name == "Ada"
    assert [(line.quantity, line.modifications) for line in talk.state.order_items] == [
        (1, ()),
        (1, ("no basil",)),
    ]
    assert talk.state.feedback_rating == 5
    assert handoffs == [
        ("greeter", "order_taker"),
        ("order_taker", "payment"),
        ("payment", "feedback"),
    ]
    assert len(server.requests) == len(script())
    assert {one.key for one in server.asked} == {KEY}


async def test_each_turn_says_what_it_cost_before_the_guest_may_speak() -> None:
    async with talking(script()) as (talk, server):
        for words, _ in WHOLE_ORDER:
            await talk.user_says(words)

    per_turn = [1, *(len(answers) for _, answers in WHOLE_ORDER)]
    for turn, requests in zip(talk.turns, per_turn, strict=True):
        *_, spent, yours = turn.events
        assert isinstance(yours, YourTurn)
        assert spent == Spent(
            turn.number, yours.agent, requests, *(tokens * requests for tokens in USAGE)
        )
        assert sum(isinstance(event, Spent) for event in turn.events) == 1
    total = len(server.requests)
    assert talk.call.spending.total == Cost(total, *(tokens * total for tokens in USAGE))


async def test_a_server_that_reports_no_cost_costs_nothing() -> None:
    async with talking([says("Good evening.", usage=None)]) as (talk, _):
        pass

    assert not any(isinstance(event, Spent) for event in talk.events)
    assert talk.call.spending.total.model_calls == 0


async def test_the_cost_is_reported_before_the_call_ends() -> None:
    goodbye = calls("end_call", say="Goodbye.")
    async with talking([GREETING, goodbye]) as (talk, _):
        turn = await talk.user_says("bye")

    *_, spent, ended = turn.events
    assert isinstance(spent, Spent)
    assert isinstance(ended, Ended)
    assert (spent.model_calls, spent.prompt_tokens) == (1, USAGE[0])
