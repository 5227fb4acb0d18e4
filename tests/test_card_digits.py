"""Digits of a card are found in words and not in ids or times."""

import pytest

from tests.card_digits import has_digits


@pytest.mark.parametrize(
    "text", ["4111111111111111", "a 4111 1111", "4111-1111-1111-1111", "card 4111", "{'a': 4111}"]
)
def test_a_card_number_is_found(text: str) -> None:
    assert has_digits("4111", text)


@pytest.mark.parametrize(
    "text", ["'job': '78da39e0-b642-4111-a436-79eacd7c783a'", "item_4111bc77de", "1764012345.4111"]
)
def test_digits_of_ids_and_times_are_not_a_card_number(text: str) -> None:
    assert not has_digits("4111", text)
