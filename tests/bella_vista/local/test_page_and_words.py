"""A guest who does one thing on his page and says the next: every agent goes on from where the order stands."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from itertools import count

import pytest

from agents.app.models.choice import language_model
from agents.app.rooms.page import Page
from agents.handoff import Call, Event, Said, YourTurn, start_text, stop
from agents.testing import until
from bella_vista.app import APP
from bella_vista.local.dialogue import Dialogue
from bella_vista.local.policy import Move
from bella_vista.local.scene import Scene
from bella_vista.menus import menu_file
from bella_vista.settings import Settings
from rpc.page import Session
from rpc.restaurant import GUEST, ORDER_PAGE, STAFF
from rpc.testing.agent import FakeAgent
from state.commands import (
    AcceptOrder,
    AddAllergy,
    AddItem,
    CancelOrder,
    ChangeItem,
    ChoosePayment,
    ConfirmOrder,
    GiveFeedback,
    MarkReady,
    OrderCommand,
    PlaceOrder,
    ReadBack,
    RefuseOrder,
    RemoveItem,
    ReopenOrder,
    SetCustomer,
    SetFulfilment,
    SetTip,
    StartPreparing,
)
from state.context import OrderContext
from state.menu import load_menu
from state.opening import open_order
from state.order import OrderState, Stage
from state.shared import SharedState

NOW = datetime(2026, 11, 20, 18, tzinfo=UTC)
MENU = load_menu(menu_file(None))

PAY, TIP, PLACE = "How would you like to pay", "add a tip", "Shall I place the order?"
RIGHT, NUMBER = "Is that right?", "number 101"

ADD = AddItem(name="Margherita", size="large", quantity=1)
TIRAMISU = AddItem(name="Tiramisu", quantity=1)
PICKUP, ADA = SetFulfilment(kind="pickup"), SetCustomer(name="Ada")
CARD, NO_TIP = ChoosePayment(method="card"), SetTip(percentage=Decimal(0))
READY: tuple[OrderCommand, ...] = (ADD, PICKUP, ADA)
CONFIRMED: tuple[OrderCommand, ...] = (*READY, ReadBack(), ConfirmOrder())
TO_READING = ("A large Margherita please", "no that's all", "pickup", "Ada")
TO_PAYMENT = (*TO_READING, "yes")
TO_TIP = (*TO_PAYMENT, "card")


@dataclass
class Talk:
    """A guest with a page and an agent."""

    call: Call[OrderState, OrderContext]
    page: Page[OrderState, OrderContext]
    events: list[Event] = field(default_factory=list[Event])

    @property
    def order(self) -> OrderState:
        return self.call.state

    @property
    def expects(self) -> str:
        return [one.expects for one in self.events if isinstance(one, YourTurn)][-1]

    def said(self, since: int = 0) -> str:
        return " ".join(one.text for one in self.events[since:] if isinstance(one, Said))

    async def does(self, *commands: OrderCommand) -> str:
        """Do something on the page, and wait for what is said to it."""
        mark = len(self.events)
        for command in commands:
            await self.call.shared.apply(command, actor=GUEST)
        return await self._answer(mark)

    async def kitchen_does(self, *commands: OrderCommand) -> str:
        """Do something on the board, and wait for what is said to it."""
        mark = len(self.events)
        for command in commands:
            await self.call.shared.apply(command, actor=STAFF)
        return await self._answer(mark)

    async def says(self, *lines: str) -> str:
        """Say one thing after the other; returns the answer to the last."""
        answer = ""
        for line in lines:
            mark = len(self.events)
            self.call.user_said(line)
            answer = await self._answer(mark)
        return answer

    async def reloads(self) -> str:
        """Load the page again."""
        mark = len(self.events)
        self.page.returned(reloaded=True)
        await self.call.come_back()
        return await self._answer(mark)

    async def _answer(self, mark: int) -> str:
        def spoken() -> bool:
            return bool(self.said(mark)) and (
                self.call.turns.is_user_turn or self.call.ended is not None
            )

        await until(spoken)
        return self.said(mark)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.app.rooms.page.QUIET_S", 0)


@asynccontextmanager
async def talking() -> AsyncIterator[Talk]:
    ids = count(1)
    context = OrderContext(menu=MENU, now=lambda: NOW, new_id=lambda: f"id-{next(ids)}")
    state = open_order(MENU, order_id="a", order_number="101", channel="web_text", now=NOW)
    call = APP.call(SharedState(state, context))
    order_session = Session(
        ORDER_PAGE,
        call.shared,
        call,
        state_id="a",
        agent="bella-vista",
        resume_code="a-code",
    )

    async def nowhere(_: object) -> str:
        return "{}"

    page = Page(
        APP, FakeAgent("agent", nowhere), call, order_session.views, user="ada", silent=True
    )
    talk = Talk(call, page)
    call.subscribe(talk.events.append)
    await start_text(call, language_model(APP, context, Settings(model="local")))
    try:
        await call.answered()
        yield talk
    finally:
        await page.aclose()
        await stop(call)


def told(text: str, *needed: str, never: Sequence[str] = ()) -> None:
    assert [one for one in needed if one not in text] == [], text
    assert [one for one in never if one in text] == [], text


@pytest.mark.parametrize("words", ["place the order", "yes", "10 percent"])
async def test_payment_asks_nothing_more_about_an_order_placed_on_the_page(words: str) -> None:
    async with talking() as talk:
        await talk.says(*TO_TIP)
        told(await talk.does(PlaceOrder()), NUMBER, "you can rate this call")
        assert talk.expects == "rating"
        told(await talk.says(words), NUMBER, never=(TIP, PLACE, "cannot"))
        assert talk.expects == "rating"
        told(await talk.says("five stars"), "Thank you for 5 stars.")
        assert talk.order.feedback_rating == 5
        told(await talk.says("thanks, goodbye"), "Goodbye!")
        assert talk.call.ended == "agent_ended"
        assert talk.order.feedback_comment is None


@pytest.mark.parametrize("words", ["five stars", "bye", "when will it be ready?"])
async def test_after_a_placing_on_the_page_what_is_for_feedback_is_taken_up_at_once(
    words: str,
) -> None:
    async with talking() as talk:
        await talk.says(*TO_TIP)
        await talk.does(PlaceOrder())
        told(await talk.says(words), never=(TIP, PLACE))
        assert talk.order.feedback_rating == (5 if words == "five stars" else None)
        assert (talk.call.ended == "agent_ended") == (words == "bye")


async def test_an_agent_repeats_its_note_after_an_order_was_placed_on_the_page() -> None:
    async with talking() as talk:
        await talk.says(*TO_TIP)
        await talk.does(PlaceOrder())
        told(await talk.says("I'm allergic to nuts"), "nuts", never=(TIP, PLACE))
        told(await talk.says("blorp fizzle"), never=(TIP, PLACE, "how many stars"))


async def test_a_step_that_is_taken_again_on_the_page_is_not_told() -> None:
    async with talking() as talk:
        await talk.says(*TO_PAYMENT)
        mark = len(talk.events)
        await talk.call.shared.apply(ConfirmOrder(), actor=GUEST)
        told(await talk.does(TIRAMISU), "I see you added a Tiramisu.")
        told(talk.said(mark), never=("that is confirmed",))


@pytest.mark.parametrize("spoken", [(), ("hello, a Tiramisu please",)])
async def test_an_order_placed_on_the_page_can_be_rated_with_every_agent(
    spoken: tuple[str, ...],
) -> None:
    async with talking() as talk:
        await talk.says(*spoken)
        await talk.does(*CONFIRMED, CARD, PlaceOrder())
        told(await talk.says("add a cola please"), "kitchen", never=(TIP, "What would you like"))
        told(await talk.says("four stars"), "Thank you for 4 stars.", never=("kitchen",))
        assert talk.order.feedback_rating == 4
        told(await talk.says("no"), "Goodbye!")


@pytest.mark.parametrize("spoken", [(), ("A large Margherita please",)])
async def test_after_a_yes_on_the_page_the_voice_goes_on_to_pay(spoken: tuple[str, ...]) -> None:
    async with talking() as talk:
        await talk.says(*spoken)
        steps = CONFIRMED[1:] if spoken else CONFIRMED
        told(await talk.does(*steps), PAY)
        assert talk.expects == "choice"
        told(await talk.says("card"), TIP, never=("Anything else?", "What would you like"))
        assert talk.expects == "amount"
        told(await talk.says("no"), PLACE)
        assert talk.expects == "yes_no"
        assert talk.order.tip is not None
        told(await talk.says("yes"), NUMBER)
        assert talk.order.stage is Stage.PLACED


@pytest.mark.parametrize("spoken", [(), ("A large Margherita please",), TO_PAYMENT])
async def test_a_reading_from_the_page_is_said_yes_to_once(spoken: tuple[str, ...]) -> None:
    async with talking() as talk:
        await talk.says(*spoken)
        steps = READY if not spoken else (TIRAMISU, *READY[1:])
        told(await talk.does(*steps, ReadBack()), RIGHT)
        assert talk.expects == "yes_no"
        told(await talk.says("yes"), PAY, never=(RIGHT,))
        assert talk.expects == "choice"
        assert talk.order.stage is Stage.CONFIRMED


async def test_a_yes_counts_though_something_else_was_settled_since_the_reading() -> None:
    async with talking() as talk:
        await talk.says(*TO_READING)
        told(await talk.does(CARD), "right as I read it to you?")
        told(await talk.says("yes"), TIP, never=(RIGHT, PAY))


async def test_the_question_to_place_it_is_put_at_most_once_more() -> None:
    async with talking() as talk:
        told(await talk.does(*CONFIRMED, CARD, NO_TIP), PLACE)
        await talk.says("yes")
        if talk.order.stage is not Stage.PLACED:
            await talk.says("yes")
        assert talk.order.stage is Stage.PLACED


@pytest.mark.parametrize("spoken", [(), ("A large Margherita please",), TO_PAYMENT])
async def test_an_order_called_off_on_the_page_takes_nothing_more(spoken: tuple[str, ...]) -> None:
    async with talking() as talk:
        await talk.says(*spoken)
        told(await talk.does(*(() if spoken else (ADD,)), CancelOrder()), "called the order off")
        assert talk.expects == "open"
        told(await talk.says("a Tiramisu please"), "closed", never=("kitchen", TIP, PAY))
        told(await talk.reloads(), "Welcome back", "cancelled", never=("So far",))
        told(await talk.says("bye"), "Goodbye!", never=("kept",))


async def test_a_question_answered_on_the_page_is_not_asked() -> None:
    async with talking() as talk:
        await talk.does(ADA)
        await talk.says("A large Margherita please")
        await talk.does(PICKUP, CARD, SetTip(percentage=Decimal(10)))
        told(await talk.says("that's all"), RIGHT, never=("What name", "pick it up, or"))
        told(await talk.says("yes"), NUMBER, never=(PAY, TIP, PLACE))


async def test_the_page_answers_a_question_and_the_next_is_asked() -> None:
    async with talking() as talk:
        await talk.says("A large Margherita please", "that's all")
        told(await talk.does(PICKUP), "What name")
        told(await talk.does(ADA), "shall I read it back to you?", never=("What name",))
        told(await talk.says("ok"), RIGHT)
        assert talk.order.stage is Stage.REVIEW


async def test_a_tip_that_was_asked_for_and_given_on_the_page_is_kept() -> None:
    async with talking() as talk:
        await talk.says(*TO_TIP)
        told(await talk.does(SetTip(percentage=Decimal(10))), PLACE)
        await talk.says("no")
        assert talk.order.tip is not None
        assert talk.order.tip.percentage == 10


@pytest.mark.parametrize("command", [TIRAMISU, ReopenOrder()])
async def test_a_reopened_order_is_read_back_again(command: OrderCommand) -> None:
    async with talking() as talk:
        await talk.says(*TO_PAYMENT)
        told(await talk.does(command), "read it back again", never=(PAY,))
        assert talk.expects == "open"
        told(await talk.says("ok"), RIGHT, never=(PAY, "Anything else?"))
        told(await talk.says("yes"), PAY)


async def test_after_a_reload_the_guest_is_told_once_about_the_order() -> None:
    async with talking() as talk:
        await talk.says("A large Margherita please")
        await talk.call.shared.apply(ChangeItem(line_id="L1", quantity=3), actor=GUEST)
        await talk.call.shared.apply(PICKUP, actor=GUEST)
        told(await talk.reloads(), "three large Margherita", never=("I see you",))
        told(await talk.does(ADA), "your name", never=("pickup",))


@pytest.mark.parametrize("spoken", [(), ("A large Margherita please",)])
async def test_a_voice_that_welcomes_back_asks_what_comes_next(spoken: tuple[str, ...]) -> None:
    async with talking() as talk:
        await talk.says(*spoken)
        wrong = ("What would you like to order", "Anything else?")
        await talk.does(*(READY[1:] if spoken else READY), ReadBack())
        told(await talk.reloads(), "Welcome back", RIGHT, never=wrong)
        await talk.does(ConfirmOrder())
        told(await talk.reloads(), "Welcome back", PAY, never=wrong)
        assert talk.expects == "choice"
        await talk.does(CARD, PlaceOrder())
        told(await talk.reloads(), "Welcome back", "placed", never=(*wrong, TIP))


async def test_a_rating_on_the_page_is_not_asked_for_again() -> None:
    async with talking() as talk:
        await talk.says(*TO_TIP, "no", "yes")
        told(await talk.does(GiveFeedback(rating=5)), "Thank you")
        assert talk.expects == "open"
        told(await talk.says("no"), never=("stars",))


@pytest.mark.parametrize(
    ("spoken", "words", "command", "stage", "then"),
    [
        (TO_READING, "yes", ConfirmOrder(), Stage.CONFIRMED, PAY),
        (TO_PAYMENT, "card", CARD, Stage.CONFIRMED, TIP),
        (TO_TIP, "10 percent", PlaceOrder(), Stage.PLACED, NUMBER),
        ((*TO_TIP, "no"), "yes", PlaceOrder(), Stage.PLACED, NUMBER),
        (TO_READING[:2], "pickup", PICKUP, Stage.OPEN, "What name"),
        (TO_READING[:2], "pickup, my name is Ada", PICKUP, Stage.REVIEW, RIGHT),
        ((TO_READING[0], "a Tiramisu"), "no Tiramisu", RemoveItem(line_id="L2"), Stage.OPEN, "off"),
        ((TO_READING[0], "cancel my order"), "yes", CancelOrder(), Stage.CANCELLED, "else"),
        (TO_READING, "yes", TIRAMISU, Stage.OPEN, "read it back again"),
    ],
)
async def test_a_page_that_is_quicker_is_no_reason_to_refuse(
    monkeypatch: pytest.MonkeyPatch,
    spoken: tuple[str, ...],
    words: str,
    command: OrderCommand,
    stage: Stage,
    then: str,
) -> None:
    quicker: list[asyncio.Task[object]] = []
    decides = Dialogue.move
    async with talking() as talk:
        await talk.says(*spoken)

        def move(self: Dialogue, scene: Scene) -> Move:
            decided = decides(self, scene)
            if decided.calls and not quicker:
                write = talk.call.shared.apply(command, actor=GUEST)
                quicker.append(asyncio.create_task(write))
            return decided

        monkeypatch.setattr(Dialogue, "move", move)
        mark = len(talk.events)
        await talk.says(words)
        assert quicker
        # What was overtaken is said to be done, or is left to the remark.
        await until(lambda: then in talk.said(mark))
        refusals = ("could not write", "cannot", "do not find", "too early")
        told(talk.said(mark), then, never=refusals)
        assert talk.order.stage is stage


async def test_an_allergy_on_the_page_is_told_of_the_spoken_order_and_of_all_that_follows() -> None:
    async with talking() as talk:
        await talk.says("a tiramisu please")
        told(
            await talk.does(AddAllergy(name="eggs")),
            "noted an allergy to eggs",
            "for the Tiramisu the menu lists egg",
        )
        told(await talk.says("and an arancini"), "Careful: the menu lists egg for the Arancini")
        told(
            await talk.says("that's all", "pickup", "Ada"),
            "an allergy to eggs",
            "the menu lists egg for the Tiramisu and the Arancini",
            RIGHT,
        )


async def test_a_dish_on_the_page_meets_the_allergy_that_was_spoken() -> None:
    async with talking() as talk:
        await talk.says("I'm allergic to walnuts")
        told(
            await talk.does(AddItem(name="Gnocchi al pesto")),
            "for the Gnocchi al pesto the menu lists tree nuts",
        )


PLACED = (*TO_TIP, "no tip", "yes")
ACCEPTED = "The kitchen has accepted your order. It will be ready at "


async def test_the_agent_tells_that_the_kitchen_has_accepted_and_what_it_asked_stays_open() -> None:
    async with talking() as talk:
        told(await talk.says(*PLACED), "from one to five stars")
        assert await talk.kitchen_does(AcceptOrder()) == f"{ACCEPTED}6:20 pm."
        assert talk.expects == "rating"
        await talk.says("five")
        assert talk.order.feedback_rating == 5
        assert await talk.kitchen_does(StartPreparing(), MarkReady()) == "Your order is ready."
        told(await talk.says("no thanks, bye"), "Goodbye")


async def test_acceptance_and_start_at_once_are_told_as_one() -> None:
    async with talking() as talk:
        await talk.says(*PLACED)
        told(await talk.kitchen_does(AcceptOrder(), StartPreparing()), ACCEPTED)


@pytest.mark.parametrize(
    ("at", "said"),
    [("13:50", "6:50 pm, later than we promised."), ("13:10", "6:10 pm, earlier than")],
)
async def test_the_agent_tells_that_the_kitchen_promises_another_time(at: str, said: str) -> None:
    async with talking() as talk:
        await talk.says(*PLACED)
        told(await talk.kitchen_does(AcceptOrder(ready_at=f"2026-11-20T{at}")), ACCEPTED + said)


async def test_the_agent_tells_why_the_restaurant_refuses() -> None:
    async with talking() as talk:
        await talk.says(*PLACED)
        said = await talk.kitchen_does(RefuseOrder(reason="No more flour."))
        told(said, "cannot make your order after all.", "The reason: No more flour.")
        told(await talk.says("no, that is all"), "Goodbye")
