"""A reply that streams by: what leaves is what would have left in one piece, at a cost that stays in bounds."""

import pytest

from agents.handoff.outgoing import Outgoing
from state.redaction import redact_whole, settled

CHAT = "We bake all day, and the terrace is open until late. "
CARD = "4242 4242 4242 4242"


def streamed(text: str, size: int) -> str:
    outgoing = Outgoing(redact_whole, settled)
    left = "".join(outgoing(text[at : at + size]) for at in range(0, len(text), size))
    return left + outgoing.rest()


@pytest.mark.parametrize("size", [1, 4, 7, 63, 64, 500])
@pytest.mark.parametrize("before", [0, 1, 8, 15, 16, 17, 31])
def test_a_card_is_taken_out_wherever_it_stands_in_a_long_reply(size: int, before: int) -> None:
    text = f"{CHAT * before}It is {CARD}, thanks. {CHAT * 12}And again {CARD}"

    assert streamed(text, size) == redact_whole(text)


@pytest.mark.parametrize("size", [1, 4, 64])
def test_a_code_is_taken_out_although_its_name_has_left_already(size: int) -> None:
    text = f"{CHAT * 17}The security code is 123. {CHAT * 3}"

    assert "123" in text
    assert streamed(text, size) == redact_whole(text)


@pytest.mark.parametrize("size", [1, 4, 100])
def test_a_reply_without_a_secret_leaves_whole(size: int) -> None:
    text = CHAT * 40 + "Two large Margheritas at 7:20 pm, $51.17 in all."

    assert streamed(text, size) == text


def test_where_everything_may_leave_nothing_waits() -> None:
    outgoing = Outgoing(str, len)

    assert [outgoing("Good "), outgoing("evening"), outgoing.rest()] == ["Good ", "evening", ""]


def test_a_long_reply_is_not_judged_from_its_beginning_again_and_again() -> None:
    looked_at = 0

    def let_out(text: str) -> str:
        nonlocal looked_at
        looked_at += len(text)
        return text

    text = CHAT * 100
    outgoing = Outgoing(let_out, len)
    for at in range(0, len(text), 4):
        outgoing(text[at : at + 4])
    outgoing.rest()

    assert looked_at < 25 * len(text)
