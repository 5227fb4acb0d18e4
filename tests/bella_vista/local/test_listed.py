"""What a guest points at in a list that was told just before."""

import pytest

from bella_vista.local import listed

_NAMES = ("Cheese fries", "Cola", "Diet cola", "Fries", "Milkshake")
_SAID = "Drinks: Diet cola ($2.25), Cola ($2.25) and Milkshake (from $4.50)."


def test_names_are_told_in_the_order_of_the_list() -> None:
    assert listed.told(_SAID, _NAMES) == ["Diet cola", "Cola", "Milkshake"]
    assert listed.told("Sides: Cheese fries and Onion rings.", _NAMES) == ["Cheese fries"]


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("I'll take the second one, large", "I'll take Cola , large"),
        ("the 1st one and the last too please", "Diet cola and Milkshake too please"),
        ("the first", "Diet cola"),
        ("two of the second one", "two of Cola"),
        # What is on the order, and what only begins so, is left alone.
        ("put bacon on the second one", "put bacon on the second one"),
        ("make the first one large", "make the first one large"),
        ("take the ice off the second one", "take the ice off the second one"),
        ("that's for the first time", "that's for the first time"),
        ("the fourth one", "the fourth one"),
    ],
)
def test_a_place_in_a_list_is_a_dish(text: str, means: str) -> None:
    assert listed.named(text, ["Diet cola", "Cola", "Milkshake"]) == means
