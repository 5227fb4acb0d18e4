"""``PutThrough`` is offered on a telephone while a person can be reached, and runs last in its reply."""

import pytest

from agents.handoff import EndCall, Graph, PutThrough
from agents.testing import Conversation, ScriptedLLM, calls, says
from tests.agents.handoff.test_consent import desk
from tests.agents.hotel import AddNights, Stay, hotel

ASKED = ("put_through", {"reason": "A complaint."})


class Line:
    """A telephone line that notes what it is asked."""

    def __init__(self, *, reaches_person: bool = True) -> None:
        self.reaches_person = reaches_person
        self.reasons: list[str] = []

    def put_through(self, reason: str) -> None:
        self.reasons.append(reason)


def graph() -> Graph[Stay]:
    return desk((AddNights, PutThrough, EndCall), {})


def offered(model: ScriptedLLM) -> list[bool]:
    """Whether each request offered it."""
    return ["put_through" in one.tools for one in model.requests]


async def test_the_user_is_put_through_with_the_reason() -> None:
    model = ScriptedLLM([says("Hi."), calls(ASKED, say="Please hold the line.")])
    call = hotel(graph=graph())
    call.line = line = Line()
    async with Conversation(call, model) as talk:
        await talk.user_says("a person please")
    assert line.reasons == ["A complaint."]
    assert offered(model) == [False, True]  # not in the greeting


async def test_what_else_is_asked_in_the_reply_is_done_first_or_stops_it() -> None:
    model = ScriptedLLM(
        [says("Hi."), calls(("add_nights", {"nights": 99}), ASKED), says("Two weeks at most.")]
    )
    call = hotel(graph=graph())
    call.line = line = Line()
    async with Conversation(call, model) as talk:
        await talk.user_says("99 nights, and a person please")
    assert line.reasons == []


@pytest.mark.parametrize("line", [None, Line(reaches_person=False)], ids=["text", "closed"])
async def test_it_is_not_offered_where_nobody_is_reached(line: Line | None) -> None:
    model = ScriptedLLM([says("Hi."), calls(ASKED, say="I cannot.")])
    call = hotel(graph=graph())
    call.line = line
    async with Conversation(call, model) as talk:
        await talk.user_says("a person please")
    assert line is None or line.reasons == []
    assert offered(model) == [False, False]
