"""A reply that streams by: what leaves is what would have left in one piece, at a cost that stays in bounds."""

import random

import pytest

from agents.handoff.model_output import BATCH_CHARS, RETRY_CHARS, OutputRedactor
from state.privacy.redaction import redact_whole, safe_length

CHAT = "We bake all day, and the terrace is open until late. "
CARD = "4242 4242 4242 4242"


def streamed(text: str, size: int) -> str:
    redactor = OutputRedactor(redact_whole, safe_length)
    left = "".join(redactor.feed(text[at : at + size]) for at in range(0, len(text), size))
    return left + redactor.flush()


@pytest.mark.parametrize("size", [1, 4, 7, 63, 64, 500])
@pytest.mark.parametrize("before", [0, 1, 8, 15, 16, 17, 31])
def test_a_card_number_is_redacted_anywhere_in_a_long_reply(size: int, before: int) -> None:
    text = f"{CHAT * before}It is {CARD}, thanks. {CHAT * 12}And again {CARD}"

    assert streamed(text, size) == redact_whole(text)


FOURS = [CARD[at : at + 4] for at in range(0, len(CARD), 5)]
SAID = "four two " * 8
TOLD = (
    CARD,
    CARD.replace(" ", ""),
    " dash ".join(FOURS),
    " hyphen ".join(FOURS),
    ", then ".join(FOURS),
    f"the first four digits {FOURS[0]}, then {FOURS[1]}, then {FOURS[2]}, and the last {FOURS[3]}",
    SAID,
    SAID.replace(" ", ", "),
    "forty-two hundred and forty-two " * 4,
    "four two double four " * 6,
    "three o five six nine three oh nine o two five nine o four",
    "٤٢٤٢ ٤٢٤٢ ٤٢٤٢ ٤٢٤٢",
    "④②④② ④②④② ④②④② ④②④②",
    "四二四二四二四二四二四二四二四二",
    "The security code is 123",
    "123 is the security code",
    "321 is my verification code",
    "123 is the CVV",
)
"""Card numbers and codes as they are told."""


@pytest.mark.parametrize("size", [1, 4, 7])
@pytest.mark.parametrize("told", TOLD)
def test_no_part_of_a_number_leaves_before_all_of_it_has_come(told: str, size: int) -> None:
    for before in range(0, BATCH_CHARS, 3):
        text = f"{CHAT}{'x' * before} {told}. {CHAT}"

        assert "[card]" in redact_whole(text)
        assert streamed(text, size) == redact_whole(text)


def test_a_streamed_reply_is_redacted_as_in_one_piece() -> None:
    chance = random.Random(7)
    harmless = (
        CHAT,
        "At 7:20 pm, $51.17 in all. ",
        "Call 212 555 0142. ",
        "one ",
        "60607, 60608, 60612. ",
        "C\u2019est tr\u00e8s bien \u2014 voil\u00e0. ",
    )
    for _ in range(400):
        said: list[str] = chance.choices(harmless, k=5)
        said.insert(chance.randrange(6), f"{chance.choice(TOLD)}. ")
        text = "".join(said)

        assert streamed(text, chance.choice((1, 3, 4, 7, 24))) == redact_whole(text), text


@pytest.mark.parametrize("size", [1, 4, 7])
def test_words_leave_after_a_few_characters(size: int) -> None:
    text = CHAT * 10
    redactor = OutputRedactor(redact_whole, safe_length)
    left = 0
    for at in range(0, len(text), size):
        left += len(redactor.feed(text[at : at + size]))

        assert min(at + size, len(text)) - left < BATCH_CHARS


def test_words_after_a_number_leave_soon_after_it() -> None:
    redactor = OutputRedactor(redact_whole, safe_length)
    number = "four two " * 6
    left = "".join(redactor.feed(letter) for letter in f"It is {number}")
    assert left == "It is "

    after = "percent of the guests "
    left += "".join(redactor.feed(letter) for letter in after[: len("percent ") + RETRY_CHARS])

    assert left.startswith(f"It is {number}percent ")


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
    redactor = OutputRedactor(str, len)

    assert [redactor.feed("Good "), redactor.feed("evening"), redactor.flush()] == [
        "Good ",
        "evening",
        "",
    ]


def test_a_long_reply_is_not_judged_from_its_beginning_again_and_again() -> None:
    looked_at = 0

    def redact_output(text: str) -> str:
        nonlocal looked_at
        looked_at += len(text)
        return text

    text = CHAT * 100
    redactor = OutputRedactor(redact_output, len)
    for at in range(0, len(text), 4):
        redactor.feed(text[at : at + 4])
    redactor.flush()

    assert looked_at < 25 * len(text)


def test_a_number_that_goes_on_and_on_is_not_looked_at_again_at_every_piece() -> None:
    looked_at = 0

    def where(text: str) -> int:
        nonlocal looked_at
        looked_at += 1
        return safe_length(text)

    text = "four two " * 200
    redactor = OutputRedactor(redact_whole, where)
    left = "".join(redactor.feed(letter) for letter in text) + redactor.flush()

    assert looked_at <= len(text) / RETRY_CHARS
    assert "four two four two four two four two four" not in left
