"""Card numbers are redacted in every form, and other digits stay."""

import time

import pytest

from agents.questions import FindOnMenu, Tell
from state.commands import (
    AddAllergy,
    AddItem,
    AddNote,
    ApplyCoupon,
    CallPerson,
    ChangeItem,
    GiveFeedback,
    OrderCommand,
    RefuseOrder,
    SetCustomer,
    SetFulfilment,
)
from state.privacy.redaction import Redactor, redact_whole, safe_length
from state.privacy.text import COMMENT, clean
from tests.security.cards import FRAMES, NUMBERS, WORDS, forms, found, grouped

NAMES = [name for name, _ in forms(NUMBERS[0])]


def told_as(name: str) -> list[tuple[str, str]]:
    """Each number, and how it is told in this form."""
    return [(number, dict(forms(number))[name]) for number in NUMBERS]


def redact_input(text: str, redactor: Redactor | None = None) -> str:
    """As a call lets it in."""
    return (redactor or Redactor(lambda: "US"))(clean(text, lines=True))


@pytest.mark.parametrize("name", NAMES)
def test_no_form_gets_in(name: str) -> None:
    for number, told in told_as(name):
        for frame in FRAMES:
            kept = redact_input(frame.format(told))

            assert "[card]" in kept
            assert not found(number, kept, told)


@pytest.mark.parametrize("name", NAMES)
def test_an_agents_words_hold_no_whole_card_number(name: str) -> None:
    for number, told in told_as(name):
        kept = redact_whole(clean(f"I have {told} down."))

        assert not found(number, kept, told)


def kept_by(text: str) -> list[OrderCommand]:
    """Every command that takes a text, with this one in all of its places."""
    few, more = text[:80], text[:280]
    return [
        SetCustomer(name=few, phone=few, email=few),
        AddItem(name=few, size=few, modifications=(few,), note=more),
        ChangeItem(line_id=few, name=few, size=few, modifications=(few,), note=more),
        AddNote(title=few, content=more),
        AddAllergy(name=few),
        SetFulfilment(kind="delivery", address=more, when=few),
        ApplyCoupon(code=few),
        CallPerson(reason=more),
        GiveFeedback(comment=text[:COMMENT]),
        RefuseOrder(reason=more),
    ]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("between", ["", " ", "-", "."])
def test_no_field_of_a_command_keeps_one(number: str, between: str) -> None:
    told = between.join(grouped(number))

    for command in kept_by(told):
        assert not found(number, command.model_dump_json())


@pytest.mark.parametrize("text", NUMBERS)
def test_searched_words_keep_no_card_number(text: str) -> None:
    assert not found(text, FindOnMenu(words=text).model_dump_json())
    assert not found(text, Tell(kind="facts", name=text).model_dump_json())


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("size", [1, 2, 4, 5, 6, 8])
@pytest.mark.parametrize("said", [False, True])
def test_a_number_told_over_many_turns_leaves_only_its_beginning(
    number: str, size: int, said: bool
) -> None:
    redactor = Redactor(lambda: "US")
    turns = [number[at : at + size] for at in range(0, len(number), size)]
    if said:
        turns = [" ".join(WORDS[int(digit)] for digit in turn) for turn in turns]

    kept = " / ".join(redact_input(turn, redactor) for turn in turns)

    assert not found(number, kept, " / ".join(turns))


BESIDE = (
    "{}, my phone is 212 555 0142",
    "{}, call 212 555 0142",
    "call me on 212 555 0142, {}",
    "my house number is 12, and then {}",
    "house 12, {}",
    "{} my zip is 10012",
    "{}, and I live at 350 Fifth Avenue",
    "12 Carmine Street, flat 3, then {}",
)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    ("beside", "size"),
    [
        (beside, size)
        for beside in BESIDE
        for size in (3, 4, 5, 6)
        if (beside, size) != ("house 12, {}", 5)  # five digits that end an address are its postcode
    ],
)
@pytest.mark.parametrize("always", [True, False])
def test_a_number_told_beside_others_leaves_only_its_beginning(
    number: str, size: int, beside: str, always: bool
) -> None:
    redactor = Redactor(lambda: "US")
    pieces = [number[at : at + size] for at in range(0, len(number), size)]
    turns = [
        beside.format(piece) if always or place == 1 else piece
        for place, piece in enumerate(pieces)
    ]

    kept = [redact_input(turn, redactor) for turn in turns]

    # One or two digits at the end are let in, as they are without a number beside them.
    left = {
        place
        for place, (piece, turn) in enumerate(zip(pieces, kept, strict=True))
        if len(piece) > 2 and piece in turn.replace("212 555 0142", "")
    }
    assert left <= {*range(7 // size)}, kept


@pytest.mark.parametrize(
    "turns",
    [
        ["1204", "call me on 212 555 0142", "10012"],
        ["350 Fifth Avenue", "flat 1204, and my phone is 212 555 0142", "15"],
        ["212 555 0142", "house number 1204, zip 10012", "20"],
        ["12 Carmine Street, flat 1204, 10012", "2 Margheritas, call 212 555 0142", "15"],
        ["10012", "sorry, 10013", "my cell is 212 555", "0142"],
        ["10012", "can you deliver to 221 Mott Street, apt 4B, 10012?"],
        ["30301", "12 Main Street, 30301, call 212 555 0142", "flat 12, 30302"],
        ["order 4242 please, it is for 5", "my address is 4242 Main Street"],
        ["10012", "my house number is 350, the phone is 212 555 0142", "at 7:30"],
        ["my zip is 10012, and the tip 300", "12.50 in cash, call 212 555 0142"],
    ],
)
def test_addresses_and_telephones_in_a_row_are_no_card(turns: list[str]) -> None:
    redactor = Redactor(lambda: "US")

    assert [redact_input(turn, redactor) for turn in turns] == turns


@pytest.mark.parametrize(
    "turns",
    [
        ["2", "1", "3", "yes", "2", "15", "yes", "5"],
        ["12", "15", "20", "10"],
        ["40", "no, 4", "18", "yes"],
        ["two", "four", "seven thirty", "fifteen", "five"],
        ["4", "5", "Main Street 12", "10012"],
        ["3", "large", "2", "small", "yes", "20", "5"],
    ],
)
def test_short_answers_in_a_row_are_no_card(turns: list[str]) -> None:
    redactor = Redactor(lambda: "US")

    assert [redact_input(turn, redactor) for turn in turns] == turns


@pytest.mark.parametrize("region", ["US", "GB", "DE", None])
@pytest.mark.parametrize(
    "text",
    [
        *("98765 43210", "138 0013 8000", "7700 900123", "612 345 678", "(11) 91234-5678"),
        *("+34 612 34 56 78", "+91 98765 43210", "0176 12345678", "06 12 34 56 78"),
        *("call me on 612 34 56 78", "my mobile is 5551 23 45 67"),
        *("1234 5678 Main Street", "order number 12345678", "ticket 4242 4242"),
        *("12 Carmine Street, flat 1204, New York 10012", "40213 Düsseldorf, Königsallee 92"),
        *("two hundred grams", "one hundred twenty guests at 7:30", "table 12, 8 people"),
        *("12.50, 28.47, 14.00 and 15.00", "$12.50 and $28.47", "19.00 + 19.00 + 9.00 = 47.00"),
        *("2 Margheritas, 3 Diavolas, 4 Funghi, 5 colas, 6 waters", "half past seven, 4 of us"),
        *(
            "for two, at eight, on the second",
            "uno, due, tre",
            "quattro formaggi and quattro stagioni",
        ),
        *("2026-11-20 19:30", "20.11.2026", "11/20/26", "from 17:30 to 23:00"),
        *("SW1A 1AA", "10012-1234", "80331", "L1 L2 L3", "kuc5-w8u7-uw64"),
    ],
)
def test_digits_that_only_resemble_a_card_number_stay(text: str, region: str | None) -> None:
    assert Redactor(lambda: region)(text) == text


def test_a_long_text_is_read_at_once() -> None:
    texts = [
        "a." * 10_000,
        "1 " * 4_000,
        "one " * 2_000,
        "a1" * 4_000,
        "$1" * 4_000,
        "4242 x " * 1_000,
    ]

    for text in texts:
        began = time.process_time()
        Redactor(lambda: "US")(text)
        assert time.process_time() - began < 0.5


@pytest.mark.parametrize("number", NUMBERS)
def test_a_growing_text_is_let_out_up_to_where_a_number_may_begin(number: str) -> None:
    for _, told in forms(number):
        text = f"Your card is {told}"
        begins = len("Your card is first " if told.startswith("first") else "Your card is ")

        assert all(safe_length(text[:end]) <= begins for end in range(begins + 1, len(text)))
