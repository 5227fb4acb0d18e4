"""A change that the user makes in a client is spoken to once, for any words of the agents' models."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from agents.app.app import App
from agents.app.parts import Changes, Comment, Rooms
from agents.app.rooms.comments import MAX_TRIES, Comments
from agents.app.rooms.page import Page
from agents.handoff import Agent, Graph, Handoff, Opening, Said
from agents.testing import Conversation, ScriptedLLM, says, until
from rpc.gateway import Views
from rpc.testing.agent import FakeAgent
from state.shared import Command, SharedState


class Trip(BaseModel, frozen=True):
    bags: int = 0
    seat: str = ""


class AddBag(Command[Trip, None]):
    """Add a bag."""

    op: Literal["add_bag"] = "add_bag"

    def apply(self, state: Trip, context: None) -> Trip:
        return state.model_copy(update={"bags": state.bags + 1})


class TakeSeat(Command[Trip, None]):
    """Take a seat."""

    op: Literal["take_seat"] = "take_seat"
    seat: str

    def apply(self, state: Trip, context: None) -> Trip:
        return state.model_copy(update={"seat": self.seat})


class Desk(Agent[Trip, None]):
    name = "desk"
    prompt = "You are a check-in desk."
    opening = Opening(first="Greet.", handed_over="Go on.", come_back="Greet.", canned="Hello.")


def comment(changes: Changes[Trip, None]) -> Comment | None:
    before, after = changes.stretches[0][0], changes.state
    if before.seat != after.seat:
        return Comment("seat", f"You have seat {after.seat} now.")
    return Comment("bags", f"I see {after.bags} bags.") if before.bags != after.bags else None


def faulty(changes: Changes[Trip, None]) -> Comment | None:
    raise RuntimeError("no words")


def staff_comment(changes: Changes[Trip, None]) -> Comment | None:
    return Comment("loaded", f"The crew has loaded {changes.state.bags} bags.")


class Gate(Desk):
    name = "gate"


def app(
    comment: Any = comment, staff_comment: Any = None, graph: Graph[Trip] | None = None
) -> App[Trip, None]:
    return App(
        name="desk",
        noun="trip",
        plural="trips",
        prefix="desk",
        state=Trip,
        context=lambda environment: None,
        new=lambda context, new: Trip(),
        graph=graph or Graph[Trip]((Desk,), (), start="desk"),
        roles={"traveller": (AddBag, TakeSeat), "staff": (AddBag,)},
        rooms=Rooms(comment=comment, staff_comment=staff_comment),
    )


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.app.rooms.page.QUIET_S", 0)


@asynccontextmanager
async def serving(
    model: ScriptedLLM, application: App[Trip, None] | None = None
) -> AsyncIterator[Conversation[Trip, None]]:
    """Have a traveller with a page, and an agent that has greeted them."""
    application = application or app()
    call = application.call(SharedState(Trip(), None))

    async def nowhere(_: object) -> str:
        return "{}"

    page = Page(
        application,
        FakeAgent("agent", nowhere),
        call,
        Views(lambda: (call.shared.version, {})),
        user="ada",
        silent=True,
    )
    try:
        async with Conversation(call, model) as talk:
            yield talk
    finally:
        await page.aclose()


async def test_an_attribute_that_is_no_text_is_left_out_and_named_and_the_others_are_set(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def attributes(trip: Trip) -> dict[str, Any]:
        return {"bags": trip.bags, "seat": "4A"}

    application = replace(app(), rooms=Rooms(attributes=attributes))
    call = application.call(SharedState(Trip(), None))

    async def nowhere(_: object) -> str:
        return "{}"

    agent = FakeAgent("agent", nowhere)
    views = Views(lambda: (call.shared.version, {}))
    page = Page(application, agent, call, views, user="ada", silent=True)
    try:
        await until(lambda: agent.attributes_set)
    finally:
        await page.aclose()

    shown = {"desk.active_agent": "desk", "desk.seat": "4A", "desk.version": "0"}
    assert agent.attributes_set == [shown]
    (told,) = caplog.messages
    place = "rooms.attributes: attributes (tests/agents/app/rooms/test_comments.py:"
    assert told.startswith(f"invalid value ignored: {place}")
    assert told.endswith("returned int for bags, not a text")


async def change(talk: Conversation[Trip, None], command: Any, actor: str = "traveller") -> None:
    await talk.call.shared.apply(command, actor=actor)


async def settled(talk: Conversation[Trip, None]) -> None:
    """Wait until a comment would have been made if there were one to make."""
    for _ in range(50):
        await asyncio.sleep(0)
        await talk.answered()


def comments_of(talk: Conversation[Trip, None]) -> list[tuple[str | None, int | None]]:
    said = [event for event in talk.events if isinstance(event, Said) and event.about]
    return [(event.about, event.version) for event in said if not event.interrupted]


@pytest.mark.parametrize("answer", ["One case it is, all right.", "I see 1 bags.", "At nine."])
async def test_the_wording_of_a_reply_neither_replaces_nor_repeats_a_comment(answer: str) -> None:
    asked = asyncio.Event()
    model = ScriptedLLM([says("Hello."), says(answer, until=asked), says(answer)])

    async with serving(model) as talk:
        talk.user_says_nowait("I have put a bag on it. When do we leave?")
        await until(lambda: len(model.requests) == 2)
        await change(talk, AddBag())
        await change(talk, TakeSeat(seat="4A"))
        asked.set()
        await settled(talk)
        assert [text for turn in talk.turns for text in turn.said] == [
            "Hello.",
            answer,
            "You have seat 4A now.",
        ]
        await talk.user_says("Well?")
        await settled(talk)

    assert comments_of(talk) == [("seat", 2)]


async def test_a_model_that_is_asked_before_the_comment_is_told_to_leave_it() -> None:
    model = ScriptedLLM([says("Hello."), says("At nine.")])

    async with serving(model) as talk:
        await talk.call.shared.apply(AddBag(), actor="traveller")
        talk.user_says_nowait("When do we leave?")
        await settled(talk)

    assert "leave it to that: I see 1 bags." in str(model.requests[-1].texts)
    assert comments_of(talk) == [("bags", 1)]


async def test_a_change_after_a_comment_has_a_comment_of_its_own() -> None:
    async with serving(ScriptedLLM([says("Hello.")])) as talk:
        await change(talk, AddBag())
        await settled(talk)
        await change(talk, AddBag())
        await settled(talk)
        await change(talk, AddBag(), actor="staff")
        await settled(talk)

    assert [event.text for event in talk.events if isinstance(event, Said)] == [
        "Hello.",
        "I see 1 bags.",
        "I see 2 bags.",
    ]
    assert comments_of(talk) == [("bags", 1), ("bags", 2)]


async def test_what_staff_do_is_told_once_in_the_users_turn_after_their_own_changes() -> None:
    asked = asyncio.Event()
    model = ScriptedLLM([says("Hello."), says("At nine.", until=asked)])

    async with serving(model, app(staff_comment=staff_comment)) as talk:
        talk.user_says_nowait("When do we leave?")
        await until(lambda: len(model.requests) == 2)
        await change(talk, AddBag(), actor="staff")
        await change(talk, TakeSeat(seat="4A"))
        await change(talk, AddBag(), actor="desk")
        asked.set()
        await settled(talk)

    assert [text for turn in talk.turns for text in turn.said] == [
        "Hello.",
        "At nine.",
        "You have seat 4A now.",
        "The crew has loaded 2 bags.",
    ]
    assert comments_of(talk) == [("seat", 3), ("loaded", 3)]
    assert len(model.requests) == 2


async def test_a_model_that_is_asked_before_the_comment_on_staff_is_told_to_leave_it() -> None:
    model = ScriptedLLM([says("Hello."), says("At nine.")])

    async with serving(model, app(staff_comment=staff_comment)) as talk:
        await talk.call.shared.apply(AddBag(), actor="staff")
        talk.user_says_nowait("When do we leave?")
        await settled(talk)

    assert "leave it to that: The crew has loaded 1 bags." in str(model.requests[-1].texts)
    assert comments_of(talk) == [("loaded", 1)]


async def test_words_that_fail_cost_the_comment_and_not_the_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = ScriptedLLM([says("Hello."), says("At nine.")])

    async with serving(model, app(comment=faulty)) as talk:
        await change(talk, AddBag())
        await settled(talk)
        turn = await talk.user_says("When do we leave?")

    assert turn.said == ["At nine."]
    assert comments_of(talk) == []
    assert [record.message for record in caplog.records] == ["comment on changes failed"]


async def test_without_words_of_the_application_nothing_is_said() -> None:
    async with serving(ScriptedLLM([says("Hello.")]), app(comment=None)) as talk:
        await change(talk, AddBag())
        await settled(talk)

    assert comments_of(talk) == []


class Followed:
    """The comments on one state without a call."""

    def __init__(self) -> None:
        self.shared: SharedState[Trip, None] = SharedState(Trip(), None)
        self.comments: Comments[Trip, None] = Comments(None, comment)
        self.shared.subscribe(self.comments.add)

    def said(self, made: Comment, **how: Any) -> None:
        how = {"about": made.about, "version": self.shared.version, **how}
        self.comments.agent_said(Said(0, "desk", made.words, **how))


async def test_a_comment_that_is_cut_short_is_said_again_a_few_times() -> None:
    it = Followed()
    await it.shared.apply(AddBag(), actor="traveller")

    for _ in range(MAX_TRIES):
        made = it.comments.next(it.shared.state)
        assert made is not None
        assert made.words == "I see 1 bags."
        it.said(made, interrupted=True)

    assert it.comments.next(it.shared.state) is None
    assert not it.comments.waiting


async def test_only_a_comments_own_topic_and_version_count() -> None:
    it = Followed()
    await it.shared.apply(AddBag(), actor="traveller")
    made = it.comments.next(it.shared.state)
    assert made is not None

    it.said(made, about=None)
    it.said(made, about="theatre")
    it.said(made, version=0)
    assert it.comments.waiting
    await it.shared.apply(TakeSeat(seat="4A"), actor="traveller")
    it.said(made, version=1)
    assert it.comments.next(it.shared.state) == Comment("seat", "You have seat 4A now.")


async def test_a_comment_is_said_by_its_agent_who_takes_over_first() -> None:
    def comment(changes: Changes[Trip, None]) -> Comment:
        bags = changes.state.bags
        return Comment("bags", f"I see {bags} bags.", agent="gate" if bags > 1 else None)

    handoff: Handoff[Trip] = Handoff("desk", "gate", when="When the traveller has checked in.")
    graph = Graph[Trip]((Desk, Gate), (handoff,), start="desk")
    model = ScriptedLLM([says("Hello."), says("At nine.")])
    async with serving(model, app(comment=comment, graph=graph)) as talk:
        await change(talk, AddBag())
        await settled(talk)
        await change(talk, AddBag())
        await settled(talk)
        await talk.user_says("When do we leave?")

    assert [(event.agent, event.text) for event in talk.events if isinstance(event, Said)] == [
        ("desk", "Hello."),
        ("desk", "I see 1 bags."),
        ("gate", "I see 2 bags."),
        ("gate", "At nine."),
    ]
    assert comments_of(talk) == [("bags", 1), ("bags", 2)]


class FollowedLive:
    """The comments on live settings without a call."""

    def __init__(self) -> None:
        self.comments: Comments[Trip, None] = Comments(None, self.comment)

    def comment(self, changes: Changes[Trip, None]) -> Comment:
        assert not changes.applied
        assert changes.live is not None
        before, after = changes.live
        return Comment("gate", f"{before.get('gate')} is now {after['gate']}.")

    def words(self) -> str | None:
        made = self.comments.next(Trip())
        return None if made is None else made.words

    def said(self, *, interrupted: bool = False) -> None:
        self.comments.agent_said(Said(0, "desk", "", interrupted, 0, "gate"))


async def test_changes_of_live_settings_in_a_row_are_one_and_are_told_once() -> None:
    it = FollowedLive()
    it.comments.add_live({"gate": 1}, {"gate": 2})
    it.comments.add_live({"gate": 2}, {"gate": 3})

    assert it.words() == "1 is now 3."
    it.said(interrupted=True)
    assert it.words() == "1 is now 3."
    it.said()
    assert not it.comments.waiting
    assert it.words() is None


async def test_a_live_setting_that_changes_while_the_comment_is_spoken_has_its_own() -> None:
    it = FollowedLive()
    it.comments.add_live({"gate": 1}, {"gate": 2})
    assert it.words() == "1 is now 2."
    it.comments.add_live({"gate": 2}, {"gate": 3})
    it.said()

    assert it.words() == "1 is now 3."
