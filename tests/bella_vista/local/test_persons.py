"""Whose line of the order a guest means, and for whom a message orders."""

import pytest

from bella_vista.local.understanding.meaning import LineSeen, OrderSeen
from bella_vista.local.understanding.understander import Understander
from tests.bella_vista.local.test_lines import AFTERNOON, menu, told, understander

MENU = "bella_vista/menu.yaml"
FAMILY = OrderSeen(
    items=(
        LineSeen("L1", 1, "Margherita", "small", person=frozenset({"son", "he"})),
        LineSeen("L2", 1, "Mac and cheese", person=frozenset({"daughter", "she"})),
        LineSeen("L3", 1, "Diavola", "large", person=frozenset({"husband", "he"})),
        LineSeen(
            "L4", 1, "Quattro formaggi", "small", person=frozenset({"joel", "friend", "he or she"})
        ),
    )
)
FRIENDS = OrderSeen(
    items=(
        LineSeen("L1", 1, "Margherita", "small", person=frozenset({"joel", "he or she"})),
        LineSeen("L2", 1, "Diavola", "large", person=frozenset({"chris", "he or she"})),
    )
)


def does(text: str, order: OrderSeen = FAMILY) -> list[str]:
    now = AFTERNOON.replace(tzinfo=menu(MENU).restaurant.zone)
    return [told(one) for one in understander(MENU).understand(text, order=order, now=now).commands]


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("my son wants olives on his", ["change L1: with black olives"]),
        ("my husband would like his without mozzarella", ["change L3: with no mozzarella"]),
        ("ham for joel", ["change L4: with ham"]),
        ("joel's with ham please", ["change L4: with ham"]),
        ("make my husband's pizza small", ["change L3: size small"]),
        ("my daughter would rather have the chicken fingers", ["change L2: name Chicken fingers"]),
        ("my son doesn't want the margherita any more", ["remove L1"]),
        # Nothing of another's is changed where the person's own dish cannot be so.
        ("ham on the daughter's", []),
        ("ham for my daughter", []),
        # Who has a dish already may have more.
        ("a cola for my daughter", ["1 Cola"]),
        ("for joel a cola", ["1 Cola"]),
        ("joel wants a cola too", ["1 Cola"]),
    ],
)
def test_a_person_points_at_their_line(text: str, changes: list[str]) -> None:
    assert does(text) == changes


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("chris wants ham on his", ["change L2: with ham"]),
        ("joel wants ham on his", ["change L1: with ham"]),
    ],
)
def test_a_pronoun_is_of_the_person_named_before_it(text: str, changes: list[str]) -> None:
    assert does(text, FRIENDS) == changes


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("a margherita and a tiramisu for joel", [({"joel", "he or she"}, {"Tiramisu"})]),
        (
            "my wife wants a lasagna, my friend Joel gets a diavola and i'll have a tiramisu",
            [
                ({"wife", "she"}, {"Lasagna"}),
                ({"friend", "joel", "he or she"}, {"Diavola"}),
                ({"i"}, {"Tiramisu"}),
            ],
        ),
        (
            "for me a lasagna, for my son a margherita",
            [({"i"}, {"Lasagna"}), ({"son", "he"}, {"Margherita"})],
        ),
        # What nobody else gets is the guest's order, not theirs among others.
        ("i would like a lasagna", []),
        ("a lasagna for delivery", []),
    ],
)
def test_each_gets_what_a_message_names_beside_them(
    text: str, people: list[tuple[set[str], set[str]]]
) -> None:
    shares = Understander(menu(MENU)).shares(text)

    assert [(set(person), set(dishes)) for person, dishes in shares] == people
