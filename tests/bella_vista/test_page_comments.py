"""What an agent says to what was done on the page."""

from datetime import UTC, datetime
from itertools import count

import pytest

from agents.app.parts import Changes, JsonObject
from agents.app.rooms.comments import Comments
from agents.handoff import Said
from bella_vista.menus import menu_file
from bella_vista.page_comments import MAX_LISTED, comment, staff_comment
from state.commands import (
    AddAllergy,
    AddItem,
    AddNote,
    ApplyCoupon,
    ChangeItem,
    ChoosePayment,
    ConfirmOrder,
    OrderCommand,
    PlaceOrder,
    ReadBack,
    RemoveAllergy,
    RemoveItem,
    SetCustomer,
    SetFulfilment,
    SetTip,
)
from state.context import OrderContext
from state.menu import load_menu
from state.opening import open_order
from state.order import OrderState
from state.shared import SharedState

NOW = datetime(2026, 11, 20, 18, tzinfo=UTC)
IDS = count(1)
CONTEXT = OrderContext(
    menu=load_menu(menu_file(None)), now=lambda: NOW, new_id=lambda: f"id-{next(IDS)}"
)


def new_order() -> SharedState[OrderState, OrderContext]:
    state = open_order(CONTEXT.menu, order_id="a", order_number="101", channel="web_text", now=NOW)
    return SharedState(state, CONTEXT)


def comments_on(
    shared: SharedState[OrderState, OrderContext],
) -> Comments[OrderState, OrderContext]:
    """Follow the guest's changes of an order, as a room does."""
    comments = Comments(CONTEXT, comment)
    shared.subscribe(lambda applied: comments.add(applied) if applied.actor == "guest" else None)
    return comments


def words_of(
    comments: Comments[OrderState, OrderContext], shared: SharedState[OrderState, OrderContext]
) -> str:
    """Say what there is to say, to its end."""
    made = comments.next(shared.state)
    if made is None:
        return ""
    comments.agent_said(Said(0, "greeter", made.words, version=shared.version, about=made.about))
    return made.words


async def done(*commands: OrderCommand, first: tuple[OrderCommand, ...] = ()) -> str:
    """Do something by agent, then something on the page; returns what is said to it."""
    shared = new_order()
    for command in first:
        await shared.apply(command, actor="order_taker")
    comments = comments_on(shared)
    for command in commands:
        await shared.apply(command, actor="guest")
    assert comments.waiting
    words = words_of(comments, shared)
    assert not comments.waiting
    assert comments.next(shared.state) is None
    return words


ARANCINI = AddItem(name="Arancini")
TIRAMISU = AddItem(name="Tiramisu", quantity=1)
WATER = AddItem(name="Margherita", size="large", quantity=2)
PICKUP = SetFulfilment(kind="pickup")


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        ([TIRAMISU], "I see you added a Tiramisu. That makes "),
        ([ARANCINI], "I see you added an Arancini. That makes "),
        ([WATER], "I see you added 2 large Margherita. "),
        ([TIRAMISU, WATER], "I see you added a Tiramisu and added 2 large Margherita. "),
        ([SetCustomer(name="Ada")], "I see you gave me your name."),
        ([AddNote(title="Bell", content="broken")], "I see you left a note."),
        ([PICKUP], "I see you chose pickup, ready at "),
        ([TIRAMISU, RemoveItem(line_id="L1")], ""),
    ],
)
async def test_changes_in_a_row_are_spoken_to_as_one(
    commands: list[OrderCommand], said: str
) -> None:
    words = await done(*commands)
    assert words.startswith(said)
    assert bool(words) == bool(said)


async def test_a_changed_line_is_told_by_its_present_form() -> None:
    more = await done(ChangeItem(line_id="L1", quantity=3), first=(TIRAMISU,))
    assert more.startswith("I see you added 2 Tiramisu.")
    fewer = await done(ChangeItem(line_id="L1", quantity=1), first=(WATER,))
    assert fewer.startswith("I see you took off a large Margherita.")
    other = await done(ChangeItem(line_id="L1", size="small"), first=(WATER,))
    assert "changed it to 2 small Margherita" in other
    gone = await done(RemoveItem(line_id="L1"), first=(WATER,))
    assert gone.startswith("I see you took off the Margherita.")


async def test_steps_of_the_order_are_answered_as_a_voice_would() -> None:
    ready = (WATER, PICKUP)
    reading = await done(ReadBack(), first=ready)
    assert reading.startswith("This is what I have: 2x large Margherita.")
    assert reading.endswith("Is that right?")
    confirmed = await done(ConfirmOrder(), first=(*ready, ReadBack()))
    assert "How would you like to pay" in confirmed
    paid = await done(ChoosePayment(method="cash"), first=(*ready, ReadBack(), ConfirmOrder()))
    assert paid == "I see you chose to pay by cash. Would you like to add a tip?"
    placed = await done(
        PlaceOrder(),
        first=(*ready, ReadBack(), ConfirmOrder(), ChoosePayment(method="cash"), SetTip(amount=0)),
    )
    assert placed.startswith("Your order is placed, number 101. It will be ready ")


async def test_a_change_after_the_reading_says_that_it_will_be_read_again() -> None:
    words = await done(TIRAMISU, first=(WATER, PICKUP, ReadBack()))
    assert words.endswith("I will read it back again before we place it.")


async def test_a_question_that_is_still_open_is_not_asked_again() -> None:
    before = (WATER, PICKUP, ReadBack(), ConfirmOrder())
    assert (
        await done(AddNote(title="Bell", content="broken"), first=before)
        == "I see you left a note."
    )


async def test_a_concurrent_change_by_an_agent_is_not_told_as_the_guests() -> None:
    shared = new_order()
    await shared.apply(TIRAMISU, actor="guest")
    comments = comments_on(shared)
    await shared.apply(SetCustomer(name="Ada"), actor="guest")
    await shared.apply(WATER, actor="order_taker")
    await shared.apply(AddNote(title="Bell", content="broken"), actor="guest")
    words = words_of(comments, shared)
    assert words == "I see you gave me your name and left a note."


async def test_a_long_list_is_summed_up() -> None:
    shared = new_order()
    comments = comments_on(shared)
    for _ in range(MAX_LISTED + 1):
        await shared.apply(TIRAMISU, actor="guest")
        await shared.apply(WATER, actor="staff")
    words = words_of(comments, shared)
    assert words == "I see you changed several things."


async def test_a_coupon_is_named() -> None:
    code = next(iter(CONTEXT.menu.coupons))
    words = await done(ApplyCoupon(code=code), first=(WATER, WATER, WATER))
    assert f"used {code}" in words


CALAMARI, SHRIMP = AddItem(name="Fried calamari"), AddAllergy(name="shrimp")
WARNING = "Careful: for the Fried calamari the menu lists shellfish."


async def test_an_allergy_on_the_page_is_held_against_what_was_ordered() -> None:
    words = await done(SHRIMP, first=(CALAMARI, TIRAMISU))

    assert words.startswith(f"I see you noted an allergy to shrimp. {WARNING} The kitchen handles")
    assert "Tiramisu" not in words


async def test_a_line_added_on_the_page_is_checked_against_the_allergies() -> None:
    words = await done(CALAMARI, first=(SHRIMP,))

    assert words.startswith(f"I see you added a Fried calamari. {WARNING} That makes ")


async def test_a_warning_that_was_given_is_not_repeated_at_the_next_change() -> None:
    assert "Careful" not in await done(TIRAMISU, first=(SHRIMP, CALAMARI))


async def test_an_allergy_the_menu_does_not_know_is_said_to_be_so_on_the_page() -> None:
    words = await done(AddAllergy(name="nightshades"), first=(CALAMARI,))

    assert 'does not say anything about "nightshades"; our staff can help with that.' in words


async def test_an_allergy_taken_off_on_the_page_is_told_without_a_warning() -> None:
    words = await done(RemoveAllergy(name="shrimp"), first=(SHRIMP, CALAMARI))

    assert words == "I see you took the allergy to shrimp off."


async def test_the_reading_that_the_page_asks_for_warns() -> None:
    words = await done(ReadBack(), first=(SHRIMP, CALAMARI, PICKUP))

    assert WARNING in words


async def said_of(before: JsonObject, after: JsonObject, *done: OrderCommand) -> str:
    """Return what is said when staff change the house of an order."""
    shared = new_order()
    for command in done:
        await shared.apply(command, actor="order_taker")
    live = ({"house": dict(before)}, {"house": dict(after)})
    made = staff_comment(Changes((), shared.state, CONTEXT, live))
    return made.words if made is not None else ""


TWO = (AddItem(name="Tiramisu"), AddItem(name="Cannoli"))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            {"sold_out": ["Cannoli"]},
            {"sold_out": ["Cannoli", "Lasagna", "Tiramisu"]},
            "I am sorry, the Tiramisu has just been sold out. What would you like instead?",
        ),
        (
            {},
            {"sold_out": ["Tiramisu", "Cannoli"]},
            "I am sorry, the Tiramisu and the Cannoli have just been sold out. What would you like instead?",
        ),
        ({"sold_out": ["Tiramisu"]}, {"sold_out": []}, ""),
        ({}, {"paused": True}, "I am sorry, the restaurant has just paused orders."),
        ({"paused": True}, {}, "The restaurant takes orders again."),
        (
            {},
            {"paused": True, "sold_out": ["Tiramisu"]},
            "I am sorry, the restaurant has just paused orders. I am sorry, the Tiramisu has just been sold out."
            " What would you like instead?",
        ),
    ],
)
async def test_what_staff_do_to_the_house_is_told_as_far_as_the_order_has_it(
    before: JsonObject, after: JsonObject, words: str
) -> None:
    assert await said_of(before, after, *TWO) == words


async def test_of_an_empty_or_a_placed_order_no_change_of_the_house_is_told() -> None:
    after: JsonObject = {"paused": True, "sold_out": ["Tiramisu"]}
    placing = (
        SetFulfilment(kind="pickup"),
        SetCustomer(name="Ada"),
        ReadBack(),
        ConfirmOrder(),
        ChoosePayment(method="cash"),
        PlaceOrder(),
    )
    assert await said_of({}, after) == ""
    assert await said_of({}, after, *TWO, *placing) == ""
    assert await said_of({}, after, *TWO, *placing[:-1]) != ""
