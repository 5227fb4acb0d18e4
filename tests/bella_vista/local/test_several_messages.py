"""Several messages at once: each is acted on in its order, and what is not done for one is said by its name."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

import pytest

from agents.app.models.choice import language_model
from agents.handoff import Call, Event, Said, start_text, stop
from bella_vista.app import APP
from bella_vista.local.dialogue import Dialogue
from bella_vista.local.english.sentences import say
from bella_vista.local.policy import Move
from bella_vista.local.scene import Outcome, Scene, Words
from bella_vista.menus import menu_file
from bella_vista.settings import Settings
from state.context import OrderContext
from state.menu import load_menu
from state.opening import open_order
from state.order import OrderState
from state.shared import Entry, Journal, NotStored, SharedState
from tests.agents.handoff.test_taken_up import Paper

NOT_DONE, NOT_UNDERSTOOD, STILL_HERE = map(say, ("not done", "not understood", "still here"))
NOW = datetime(2026, 11, 20, 18, tzinfo=UTC)
MENU = load_menu(menu_file(None))
SALAD = "One Caesar Salad, please"


@dataclass
class Talk:
    """A guest who sends messages as they like."""

    call: Call[OrderState, OrderContext]
    events: list[Event] = field(default_factory=list[Event])

    @property
    def lines(self) -> dict[str, int]:
        return {line.name: line.quantity for line in self.call.state.order_items}

    @property
    def said(self) -> list[str]:
        return [one.text for one in self.events if isinstance(one, Said)]

    async def sends(self, *messages: str, apart: int = 0) -> str:
        """Send messages, so many steps of the event loop apart; returns the last answer."""
        for message in messages:
            self.call.user_said(message)
            for _ in range(apart):
                await asyncio.sleep(0)
        async with asyncio.timeout(20):
            await self.call.answered()
        return self.said[-1]


@asynccontextmanager
async def talking(
    *early: str,
    preamble: str = "",
    meanwhile: Sequence[str] = (),
    apart: int = 0,
    journal: Journal | None = None,
) -> AsyncIterator[Talk]:
    ids = count(1)
    context = OrderContext(menu=MENU, now=lambda: NOW, new_id=lambda: f"id-{next(ids)}")
    state = open_order(MENU, order_id="a", order_number="101", channel="web_text", now=NOW)
    speaker = "order_taker" if preamble else None
    shared = SharedState(state, context, speaker=speaker, journal=journal)
    talk = Talk(APP.call(shared, resumed=bool(preamble), preamble=preamble))
    talk.call.subscribe(talk.events.append)
    for message in early:
        talk.call.user_said(message)
    await start_text(talk.call, language_model(APP, context, Settings(model="local")))
    try:
        for message in meanwhile:
            talk.call.user_said(message)
            for _ in range(apart):
                await asyncio.sleep(0)
        async with asyncio.timeout(20):
            await talk.call.answered()
        yield talk
    finally:
        await stop(talk.call)


@pytest.mark.parametrize("apart", [0, 1, 3, 8, 20, 45])
async def test_three_plain_messages_are_all_acted_on(apart: int) -> None:
    async with talking() as talk:
        await talk.sends("a cola", "a tiramisu", "a large Margherita", apart=apart)

        assert talk.lines == {"Cola": 1, "Tiramisu": 1, "Margherita": 1}
        told = " ".join(talk.said)
        assert [name in told for name in ("Cola", "Tiramisu", "Margherita")] == [True] * 3


@pytest.mark.parametrize("apart", [0, 1, 3, 8, 20, 45])
@pytest.mark.parametrize("first", [(), ("a large Margherita",)])
async def test_five_messages_with_a_removal_are_all_acted_on(
    apart: int, first: Sequence[str]
) -> None:
    async with talking() as talk:
        for one in first:
            await talk.sends(one)
        await talk.sends(
            SALAD, "One Tiramisu", "remove the salad", "a cola", "my name is Ada", apart=apart
        )

        assert talk.lines == {**({"Margherita": 1} if first else {}), "Tiramisu": 1, "Cola": 1}
        assert talk.call.state.customer_name == "Ada"
        told = " ".join(talk.said)
        assert [word in told for word in ("Caesar", "Tiramisu", "Taken off", "Cola", "Ada")] == (
            [True] * 5
        )


@pytest.mark.parametrize("apart", [2, 8, 14, 26])
async def test_messages_that_come_in_groups_while_others_are_acted_on_are_all_acted_on(
    apart: int,
) -> None:
    groups = ("my name is Ada",), (SALAD, "a cola"), ("One Tiramisu", "remove the salad")
    async with talking() as talk:
        for group in groups:
            for message in group:
                talk.call.user_said(message)
            for _ in range(apart):
                await asyncio.sleep(0)
        async with asyncio.timeout(20):
            await talk.call.answered()

        assert talk.lines == {"Cola": 1, "Tiramisu": 1}
        assert talk.call.state.customer_name == "Ada"


async def test_messages_before_the_agent_joined_are_acted_on() -> None:
    async with talking(SALAD, "One Tiramisu", "remove the salad", "a cola") as talk:
        assert talk.lines == {"Tiramisu": 1, "Cola": 1}


STAYS = f'About "goodbye": {STILL_HERE}'


@pytest.mark.parametrize(
    ("messages", "stays", "ends"),
    [
        (["a cola", "goodbye", "a tiramisu"], 1, False),
        (["goodbye", "a cola", "a tiramisu"], 1, False),
        (["a cola", "goodbye", "goodbye", "a tiramisu"], 1, False),
        (["a cola", "goodbye", "qwert yuiop asdf", "a tiramisu"], 1, False),
        (["a cola", "a tiramisu", "goodbye"], 0, True),
        (["a cola", "goodbye", "a tiramisu", "goodbye"], 0, True),
    ],
)
async def test_a_goodbye_that_the_guest_went_on_after_is_named(
    messages: list[str], stays: int, *, ends: bool
) -> None:
    async with talking() as talk:
        told = await talk.sends(*messages)

        assert talk.lines == {"Cola": 1, "Tiramisu": 1}
        assert told.count(STAYS) == stays
        assert ('About "goodbye"' in told) == bool(stays)
        assert (talk.call.ended == "agent_ended") == ends


class Full(Paper):
    """A journal on a disk that is full when these are to be written."""

    def __init__(self, *refused: str) -> None:
        super().__init__()
        self.refused = refused

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        named = {str(one.get("name") or one["op"]) for one in entry.commands}
        if not named & {*self.refused}:
            return super().append(entry)
        written = asyncio.get_running_loop().create_future()
        written.set_exception(NotStored("the disk is full"))
        return written


@pytest.mark.parametrize(
    "refused",
    [
        ["Cola"],
        ["Tiramisu", "Margherita"],
        ["Cola", "Tiramisu", "Margherita"],
        ["hand_over", "Cola", "Tiramisu", "Margherita"],
    ],
)
async def test_each_message_whose_write_fails_is_named(refused: list[str]) -> None:
    messages = {"Cola": "a cola", "Tiramisu": "a tiramisu", "Margherita": "a large Margherita"}
    async with talking(journal=Full(*refused)) as talk:
        told = await talk.sends(*messages.values())

        assert talk.lines == {name: 1 for name in messages if name not in refused}
        for name, message in messages.items():
            named = f'About "{message}": I could not write that down just now'
            assert (named in told) == (name in refused)


async def test_a_message_that_no_agent_understood_is_named_although_the_next_agent_acted() -> None:
    async with talking() as talk:
        for message in ("a tiramisu", "for pickup", "my name is Ada", "that's all", "yes"):
            await talk.sends(message)
        assert talk.call.speaker == "payment"
        told = await talk.sends("qwert yuiop asdf", "a cola")

        assert talk.lines == {"Cola": 1, "Tiramisu": 1}
        assert f'About "qwert yuiop asdf": {NOT_UNDERSTOOD}' in told


SIX = ["a cola", "a tiramisu", "a large Margherita", "an espresso", "a fruit salad", "a mint tea"]


@pytest.mark.parametrize("apart", [*range(12), 20, 33, 45, 60])
@pytest.mark.parametrize("early", [0, 1, 2])
async def test_messages_during_a_resumed_call_are_acted_on(early: int, apart: int) -> None:
    async with talking(
        *SIX[:early], preamble="We were cut off.", meanwhile=SIX[early:], apart=apart
    ) as talk:
        assert len(talk.lines) == len(SIX)
        # A reply that was interrupted may not have been read.
        whole = [one for one in talk.events if isinstance(one, Said) and not one.interrupted]
        assert sum("We were cut off." in one.text for one in whole) == 1


@pytest.mark.parametrize("place", [0, 1, 2, 3])
@pytest.mark.parametrize("what", ["remove the salad", "qwert yuiop asdf"])
async def test_a_message_that_is_not_understood_is_asked_about_by_name(
    place: int, what: str
) -> None:
    messages = ["a cola", "a tiramisu", "a large Margherita"]
    async with talking() as talk:
        await talk.sends(*messages[:place], what, *messages[place:])
        told = " ".join(talk.said)

        assert talk.lines == {"Cola": 1, "Tiramisu": 1, "Margherita": 1}
        if what == "qwert yuiop asdf":
            assert f'About "{what}": {NOT_UNDERSTOOD}' in told
        else:  # a salad that is not on the order
            assert f'About "{what}"' in told


async def test_a_question_that_the_next_message_answers_is_not_asked() -> None:
    async with talking() as talk:
        answer = await talk.sends("a Margherita", "large", "and a cola")

        assert talk.lines == {"Margherita": 1, "Cola": 1}
        assert "Which size" not in answer


async def test_a_question_that_nobody_has_answered_waits_for_its_answer() -> None:
    async with talking() as talk:
        answer = await talk.sends("a Margherita", "a cola", "and a tiramisu")
        assert talk.lines == {"Cola": 1, "Tiramisu": 1}
        assert answer.endswith("Which size would you like for the Margherita: small or large?")
        assert answer.count("Which size") == 1

        await talk.sends("large")
        assert talk.lines == {"Cola": 1, "Tiramisu": 1, "Margherita": 1}


async def test_questions_are_answered_beside_what_is_done() -> None:
    async with talking() as talk:
        answer = await talk.sends("a cola", "what is in the tiramisu?", "and a tiramisu")

        assert talk.lines == {"Cola": 1, "Tiramisu": 1}
        assert "Tiramisu: " in answer or "The Tiramisu comes with" in answer


async def test_a_message_that_is_taken_back_by_the_next_is_not_read_as_one_with_it() -> None:
    async with talking() as talk:
        await talk.sends("two colas", "no, three colas", "no tiramisu please", "bye the way")

        assert set(talk.lines) == {"Cola"}


async def test_more_than_one_reply_can_do_is_named_and_not_forgotten() -> None:
    dishes = [dish.name for dish in MENU.dishes if dish.sizes == () and not MENU.groups(dish)]
    messages = [f"one {name}" for name in dishes[:12]]
    async with talking() as talk:
        await talk.sends(*messages)
        told = " ".join(talk.said)

        done = [name for name in dishes[:12] if name in talk.lines]
        left = [name for name in dishes[:12] if name not in talk.lines]
        assert done
        assert left
        assert all(f'About "one {name}": {NOT_DONE}' in told for name in left)

        await talk.sends(*(f"one {name}" for name in left[:3]))
        assert all(name in talk.lines for name in left[:3])


async def test_a_step_of_the_order_in_the_middle_of_them_is_taken() -> None:
    async with talking() as talk:
        await talk.sends("a large Margherita")
        answer = await talk.sends("that's all", "pickup", "my name is Ada", "no wait, a cola too")

        assert talk.lines == {"Margherita": 1, "Cola": 1}
        assert talk.call.state.customer_name == "Ada"
        assert answer.endswith("Is that right?")


async def test_a_message_that_was_only_begun_is_not_reported_as_not_understood() -> None:
    async with talking() as talk:
        answer = await talk.sends("I would like", "um", "a cola")

        assert talk.lines == {"Cola": 1}
        assert "About" not in answer


def test_a_call_that_was_lost_when_its_reply_was_broken_off_is_made_again_once() -> None:
    mind = Dialogue(MENU, lambda: NOW)
    both, more = Words("item_1", "a cola and a tiramisu", True), Words("item_2", "thanks", True)
    tools = frozenset({"add_item"})
    first = mind.move(Scene("order_taker", {"stage": "open"}, (both,), (), tools))
    assert [one.name for one in first.calls] == ["add_item", "add_item"]
    cola = next(one for one in first.calls if one.arguments["name"] == "Cola")

    def then(*done: Outcome) -> Move:
        answered = {"item_1": done, "item_2": ()}
        dialogue = (both, more)
        return mind.move(Scene("order_taker", {"stage": "open"}, dialogue, (), tools, "", answered))

    again = then(Outcome("add_item", cola.arguments, "Done."))
    assert [(one.arguments["name"], again.about) for one in again.calls] == [("Tiramisu", "item_1")]
    outcomes = [Outcome(one.name, one.arguments, "Done.") for one in first.calls]
    assert then(*outcomes).calls == ()
