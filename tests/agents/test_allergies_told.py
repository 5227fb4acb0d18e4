"""What any model is told about a guest's allergies: by the tools, the digest and the reading."""

import pytest

from agents.questions import FindOnMenu, Tell
from agents.telling import reading, told
from state.commands import AddAllergy, AddItem, ChangeItem, OrderCommand
from state.context import OrderContext
from state.errors import NotFound
from state.order import OrderState
from state.shared import SharedState
from tests.agents.restaurant import restaurant

PROMISE = "no dish can be promised to be free of it"
CALAMARI = AddItem(name="Fried calamari")
SHRIMP = AddAllergy(name="shrimp")


async def after(*commands: OrderCommand) -> tuple[SharedState[OrderState, OrderContext], str]:
    """Apply commands; return the order and what the model is told of the last one."""
    shared = restaurant().shared
    said = ""
    for command in commands:
        applied = await shared.apply(command, actor="order_taker")
        said = told(shared.context)(applied, command)
    return shared, said


@pytest.mark.parametrize(
    "commands", [(CALAMARI, SHRIMP), (SHRIMP, CALAMARI)], ids=["dish first", "allergy first"]
)
async def test_the_dish_and_the_allergy_meet_in_either_order(
    commands: tuple[OrderCommand, ...],
) -> None:
    _, said = await after(*commands)

    assert "Careful: for the Fried calamari the menu lists shellfish." in said


async def test_an_allergy_is_repeated_in_the_guests_word_and_nothing_is_promised() -> None:
    _, said = await after(SHRIMP)

    assert said.startswith('Noted: "shrimp". Repeat it to the guest.')
    assert "The menu does not list it for this order." in said
    assert PROMISE in said


async def test_an_allergy_the_menu_does_not_know_is_said_and_a_person_offered() -> None:
    shared, said = await after(CALAMARI, AddAllergy(name="nightshades"))

    assert shared.state.allergies == ("nightshades",)
    assert 'does not say anything about "nightshades"; our staff can help' in said
    assert "does not list it" not in said
    assert PROMISE in said


async def test_a_change_of_a_line_warns_too() -> None:
    _, said = await after(
        AddAllergy(name="almonds"),
        AddItem(name="Latte"),
        ChangeItem(line_id="L1", modifications=("almond milk",)),
    )

    assert "Careful: for the Latte the menu lists tree nuts." in said


async def test_the_reading_warns_of_every_line_and_of_what_the_menu_does_not_know() -> None:
    shared, _ = await after(
        CALAMARI, CALAMARI, AddItem(name="Tiramisu"), SHRIMP, AddAllergy(name="kiwi")
    )

    said = reading(shared.state, shared.context)

    assert 'Allergies noted: "shrimp", "kiwi".' in said
    assert said.count("Careful: for the Fried calamari the menu lists shellfish.") == 1
    assert 'does not say anything about "kiwi"' in said
    assert "for the Tiramisu" not in said


async def test_a_search_and_the_contents_warn_before_it_is_ordered() -> None:
    shared, _ = await after(AddAllergy(name="dairy"))

    for read in (FindOnMenu(words="carbonara"), Tell(kind="contents", name="carbonara")):
        said = read.answer(shared.state, shared.context)
        assert "Careful, tell the guest: the menu lists milk for it." in said
    assert "Careful" not in Tell(kind="contents", name="Marinara").answer(
        shared.state, shared.context
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("carbonara", "Spaghetti carbonara: gluten, egg, milk, made with"),
        ("Marinated olives", "Marinated olives: no allergens are listed."),
        ("Family pizza night", "Margherita: gluten, milk, made with tomato sauce, mozzarella"),
        ("prawns", "The menu lists shellfish for Fried calamari, Spaghetti alle vongole."),
        ("soy", "The menu lists soy for some choices, and for no dish as it comes."),
        ("nightshades", "has nothing called nightshades and says nothing about it: offer a person"),
        ("sesame", "has nothing called sesame and says nothing about it: offer a person"),
    ],
)
async def test_a_dish_or_an_allergen_can_be_asked_about(name: str, said: str) -> None:
    shared, _ = await after()

    answer = Tell(kind="allergens", name=name).answer(shared.state, shared.context)

    assert said in answer
    assert answer.endswith(PROMISE + ".")


async def test_without_a_dish_it_is_about_what_was_ordered() -> None:
    empty, _ = await after()
    with pytest.raises(NotFound):
        Tell(kind="allergens").answer(empty.state, empty.context)

    shared, _ = await after(CALAMARI, SHRIMP)
    said = Tell(kind="allergens").answer(shared.state, shared.context)

    assert said.startswith("Fried calamari: gluten, shellfish, made with lemon")
    assert "Careful, tell the guest: the menu lists shellfish for it." in said
