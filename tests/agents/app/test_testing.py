"""What a test of an application has from one line: clock, database, conversations, rooms."""

from datetime import datetime
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel

from agents.app.app import App, Environment
from agents.app.testing import AppUnderTest, fixture_of
from agents.handoff import Agent, EndCall, Graph, Opening
from agents.testing import Clock, ScriptedLLM, calls, says
from state.shared import Command, TakenOver


class Guestbook(BaseModel, frozen=True):
    book_id: str
    signed: tuple[str, ...] = ()


class Place(BaseModel, frozen=True, arbitrary_types_allowed=True):
    now: object
    partner: str = "the real one"


class Sign(Command[Guestbook, Place]):
    """Sign the book."""

    op: Literal["sign"] = "sign"
    name: str

    def apply(self, state: Guestbook, context: Place) -> Guestbook:
        return state.model_copy(update={"signed": (*state.signed, self.name)})


class Porter(Agent[Guestbook, Place]):
    name = "porter"
    prompt = "You are the porter."
    offers = (Sign, EndCall)
    opening = Opening(first="Greet.", handed_over="Go on.", come_back="Greet.", canned="Hello.")


def place(environment: Environment) -> Place:
    return Place(now=environment.clock(ZoneInfo("America/Chicago")))


APP: App[Guestbook, Place] = App(
    name="guestbook",
    noun="book",
    plural="books",
    prefix="book",
    state=Guestbook,
    context=place,
    new=lambda context, new: Guestbook(book_id=new.id),
    graph=Graph((Porter,), (), start="porter"),
    model=lambda context, settings: ScriptedLLM([says("Hello."), says("Well?")]),
)

book = fixture_of(
    APP,
    at="2026-11-22T10:00",
    context=lambda place: place.model_copy(update={"partner": "a double"}),
    settings=lambda folder: {"transcript_days": 3},
)
Book = AppUnderTest[Guestbook, Place]

SIGNS = (says("Hello."), calls(("sign", {"name": "Ada"})), says("Thank you."))


async def test_a_conversation_over_the_declaration(book: Book) -> None:
    async with book.conversation(*SIGNS) as talk:
        turn = await talk.user_says("Ada, 4242 4242 4242 4242")

    assert talk.state == Guestbook(book_id="book-1", signed=("Ada",))
    assert turn.heard == ["Ada, [card]"]


async def test_the_applications_own_model_answers_without_a_script(book: Book) -> None:
    async with book.conversation() as talk:
        turn = await talk.user_says("Hello")

    assert (talk.greeting.said, turn.said) == (["Hello."], ["Well?"])


def test_the_clock_stands_still_in_the_applications_zone_until_it_is_moved(book: Book) -> None:
    assert isinstance(book.context.now, Clock)
    assert book.context.now() == datetime.fromisoformat("2026-11-22T10:00-06:00")

    book.clock.advance(minutes=5)

    assert book.another_context().now() == datetime.fromisoformat("2026-11-22T10:05-06:00")  # type: ignore[operator]


def test_doubles_and_settings_are_the_tests_own(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUESTBOOK_DATABASE", "sqlite:///elsewhere.db")
    monkeypatch.setenv("GUESTBOOK_MODEL", "openai")

    again = AppUnderTest(APP, tmp_path)

    assert (book.context.partner, again.context.partner) == ("a double", "the real one")
    assert (book.settings.transcript_days, again.settings.model) == (3, "local")
    assert again.settings.database == f"sqlite:///{tmp_path}/books.db"


async def test_two_stores_are_like_two_processes(book: Book) -> None:
    async with book.store() as here, book.store() as there:
        first = await book.stored(here)
        async with book.conversation(*SIGNS, state=first) as talk:
            await talk.user_says("Ada")
        second = await book.stored(there, first.state_id)
        with pytest.raises(TakenOver):
            await first.apply(Sign(name="Bo"), actor="porter")

    assert second.state.signed == ("Ada",)


@pytest.mark.processes
@pytest.mark.timeout(300)
async def test_a_room_in_one_line(book: Book) -> None:
    async with book.room(*SIGNS) as room:
        await room.user_says("Ada")
        await room.agent_says("Thank you.")
        reply = await room.call("get_book_state")

    assert room.hello["agent"] == "guestbook"
    assert reply["book"]["signed"] == ["Ada"]
    assert reply["version"] == 1
