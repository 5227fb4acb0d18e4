"""No card number gets in, in digits or in words, whole or in part; everything else does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.privacy import redaction
from state.privacy.digits import digits_said
from state.privacy.redaction import Redactor, is_card, redact, redact_whole

SECRETS = [
    "4242 4242 4242 4242",
    "4242-4242-4242-4242",
    "4242.4242.4242.4242",
    "4242_4242_4242_4242",
    "4242/4242/4242/4242",
    "4242, 4242, 4242, 4242",
    "4242:4242:4242:4242",
    "4242\n4242\n4242\n4242",
    "4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 2",
    "42 42 42 42 42 42 42 42",
    "4242424242424242",
    "card4242424242424242",
    "４２４２４２４２４２４２４２４２",
    "378282246310005",
    "4222222222222",
    "6011 1111 1111 1117",
    "4242 4242 4242 4241",
    "+4242424242424242",
    "four two four two four two four two four two four two four two four two",
    "four two four two, um, four two four two",
    "forty two forty two forty two forty two forty two forty two forty two forty two",
    "Forty-Two forty-two, forty-two and forty-two forty-two forty-two forty-two forty-two",
    "double four double two 4242 4242 4242",
    "four triple one one one one one one one one one one one one one",
    "triple four two oh oh oh five five five five one two three",
    "4242 4242 4242 4242 12/27 123",
    "4242 4242",
    "4111 1111 and then 1111 1111",
    "1111 1111 1117",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("frame", ["{}", "my card is {}, thanks", "it's {}."])
@pytest.mark.parametrize("region", ["US", "DE", None])
def test_a_card_number_is_taken_out(secret: str, frame: str, region: str | None) -> None:
    cut = redact(frame.format(secret), region)

    assert "[card]" in cut
    assert not digits_said(cut)


@pytest.mark.parametrize("secret", [one for one in SECRETS if len(digits_said(one)) >= 13])
def test_a_whole_card_number_is_never_a_telephone_number(secret: str) -> None:
    assert not digits_said(redact(f"call me, {secret}", "US"))


@pytest.mark.parametrize(
    "text",
    [
        "card number 4242 4242 42",
        "my Visa ends in 42424242",
        "my number is 4242 4242 4242 4242",
        "my card's number is 555 123 4567",
        "my phone is on the card 424 242 4242",
        "phone 4242 4242 42, by card",
        "card 4242424242, phone it through",
        "paying by card 4242 4242 42",
        "I pay by card, 4242424242",
        "card at the door: 424242424242",
    ],
)
def test_part_of_a_card_is_taken_out_where_a_card_is_spoken_of(text: str) -> None:
    assert "[card]" in redact(text, "US")


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("cvv 123", "cvv [card]"),
        ("the security code is one two three", "the security code is [card]"),
        ("security code: 1234", "security code: [card]"),
        ("123 is the cvv", "[card] is the cvv"),
        ("the three digits on the back are 987.", "the three digits on the back are [card]."),
    ],
)
def test_a_security_code_is_taken_out(text: str, cut: str) -> None:
    assert redact(text) == cut


@pytest.mark.parametrize("region", ["US", "GB", "DE", None])
@pytest.mark.parametrize(
    "text",
    [
        "at 7:30 for 10 people",
        "table for 4 at 19:00, 20 November 2026",
        "2026-11-20T19:30:00-05:00",
        "2026-11-20 19:30:00.123456+00:00",
        "20261120T193000Z",
        "11/20/2026",
        "20.11.2026 at 19:30",
        "20 11 2026",
        "550e8400-e29b-41d4-a716-446655440000",
        "12345678-1234-1234-1234-123456789012",
        "two large Margheritas, one of them without basil",
        "I want 2 large and 3 small, 4 colas",
        "one, two, three pizzas",
        "12 Carmine Street, New York 10012",
        "12 Carmine Street, New York 10012-1234",
        "533 Carmine Street, apartment 204, 10012",
        "533 Carmine Street apt. #1204 10012",
        "5 Bleecker St, 10012, +1 212 555 0142",
        "it is 10012 and 212-555-0142",
        "(212) 555-0142",
        "212.555.0142",
        "+1 212 555 0142",
        "+49 1512 3456789",
        "0049 1512 3456789",
        "020 7946 0958",
        "my mobile is 07700 900123",
        "my phone number is 555 123 4567",
        "my number is five five five one two three four five six seven",
        "phone 2125550142",
        "my phone is 212 555 0142 and I pay with my card",
        "the phone number is (212) 555-0142. I will pay by card",
        "charge my card, call me at 212 555 0142",
        "$1,234.50 and 28.47 and 12.50",
        "john.19850412@gmail.com",
        "a tip of 15 percent, so 12 dollars 50",
        "order 01JD3X8K2M4N6P7Q9R",
        "99 bottles, 12345 steps",
        "ends in 4242",
        "L1 L2 L3",
        "double espresso, triple chocolate",
        "",
    ],
)
def test_digits_that_are_not_a_card_number_stay(text: str, region: str | None) -> None:
    assert redact(text, region) == text


@pytest.mark.parametrize(
    "text",
    [
        "I am Ada, 212 555 0142, paying by card at the door",
        "my number is 212 555 0142, I'll pay by card",
        "paying with a debit card, 212-555-0142",
        "card on delivery please and it's (212) 555-0142",
    ],
)
def test_a_telephone_number_stays_beside_a_way_to_pay(text: str) -> None:
    assert redact(text, "US") == text


@pytest.mark.parametrize(
    "text", ["2125550142", "two one two five five five oh one four two", "Jin, 5551234567"]
)
def test_a_bare_number_that_is_a_telephone_there_stays(text: str) -> None:
    assert redact(text, "US") == text


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("5551234567", None),
        ("5551234567", "ES"),
        ("5555551234", "US"),
        ("5551 234567", "US"),
        ("my card is 5551234567", "US"),
    ],
)
def test_an_example_of_a_telephone_number_is_one_only_where_it_is_no_card(
    text: str, region: str | None
) -> None:
    assert "[card]" in redact(text, region)


@pytest.mark.parametrize(
    ("turns", "kept"),
    [
        (
            ["4242", "4242", "4242", "4242", "12 27", "123", "cash then, two Margheritas"],
            ["4242", *["[card]"] * 5, "cash then, two Margheritas"],
        ),
        (["my card is 4242 4242 42", "42 4242"], ["my card is [card]", "[card]"]),
        (["four two four two", "four two four two"], ["four two four two", "[card]"]),
        (
            ["4242 4242 4242", "cash please, my zip is 10012"],
            ["[card]", "cash please, my zip is 10012"],
        ),
        (["212", "555", "0142"], ["212", "555", "0142"]),
        (["10012", "212 555 0142"], ["10012", "212 555 0142"]),
        (
            ["at 7:30", "2 large", "12 Carmine Street 10012"],
            ["at 7:30", "2 large", "12 Carmine Street 10012"],
        ),
        (["2", "10", "5"], ["2", "10", "5"]),
        (
            ["my card number is 4242", "the next number is 4242"],
            ["my card number is 4242", "the next number is [card]"],
        ),
        (
            ["the first four are 4242", "then 4242, are you with me?", "the last four are 4242"],
            [
                "the first four are 4242",
                "then [card], are you with me?",
                "the last four are [card]",
            ],
        ),
        (["4242", "hold on", "4242 you got that?"], ["4242", "hold on", "[card] you got that?"]),
        (["3782", "822463", "10005"], ["3782", "[card]", "[card]"]),
        (["six two nine five", "eighteen twenty"], ["six two nine five", "[card]"]),
        (["4242 4242 42", "042 4242 4242"], ["[card]", "[card]"]),
        (["4242 4242 4242 4242", "212 555 0142"], ["[card]", "212 555 0142"]),
        (["4242", "no wait", "4242"], ["4242", "no wait", "4242"]),
        (
            ["table 4242 for two people please", "4242"],
            ["table 4242 for two people please", "4242"],
        ),
    ],
)
def test_a_number_told_over_several_turns_is_noticed(turns: list[str], kept: list[str]) -> None:
    redactor = Redactor(lambda: "US")

    heard = [redactor(turn) for turn in turns]

    assert heard == kept


@pytest.mark.parametrize(
    "turns",
    [
        ["212 555 0142", "15"],
        ["212 555 0142", "18 percent", "at 19 30"],
        ["07700 900123", "15"],
        ["12 Carmine Street", "10012", "212 555 0142", "20 percent"],
        ["10012", "2125550142", "15"],
        ["10012", "1204"],
        ["555 0142", "area code 212"],
        ["10 margheritas", "12 colas", "and 10 waters", "make it 20 tiramisus"],
        ["350 Fifth Avenue", "1204"],
    ],
)
def test_a_guest_s_tip_and_quantities_are_not_taken_for_the_end_of_a_card(turns: list[str]) -> None:
    redactor = Redactor(lambda: "US")

    assert [redactor(turn) for turn in turns] == turns


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("4242 4242 4242 4242", True),
        ("212 555 0142", False),
        ("+49 1512 3456789", False),
        ("ada@example.com", False),
    ],
)
def test_a_whole_card_given_as_a_telephone_number_is_none(text: str, card: bool) -> None:
    assert is_card(text) is card


def with_check_digit(digits: str) -> str:
    for last in "0123456789":
        whole = digits + last
        total = sum(
            int(d) if place % 2 == 0 else (2 * int(d) - 9 if int(d) > 4 else 2 * int(d))
            for place, d in enumerate(reversed(whole))
        )
        if total % 10 == 0:
            return whole
    raise AssertionError


WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@settings(max_examples=80, deadline=None)
@given(
    digits=st.text("0123456789", min_size=11, max_size=17),
    first=st.sampled_from("3456"),
    between=st.sampled_from(["", " ", "-", ".", " - "]),
    every=st.integers(1, 5),
    spoken=st.booleans(),
)
def test_any_card_however_grouped_is_taken_out(
    digits: str, first: str, between: str, every: int, spoken: bool
) -> None:
    number = with_check_digit(first + digits)
    groups = [number[place : place + every] for place in range(0, len(number), every)]
    told = between.join(groups)
    if spoken:
        told = " ".join(WORDS[int(digit)] for digit in number)

    assert redact(f"here it is: {told} ok", "US") == "here it is: [card] ok"


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60))
def test_nothing_makes_it_stumble(text: str) -> None:
    once = redact(text)

    assert redact(once) == once
    Redactor(lambda: "US")(text)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            (
                *(
                    "4242",
                    "42",
                    "424242424242",
                    "7:20",
                    "$51.17",
                    "60607,",
                    "212",
                    "L1",
                    "④",
                    "四",
                    "٤",
                ),
                *(
                    "four",
                    "two",
                    "o",
                    "oh",
                    "double",
                    "hundred",
                    "and",
                    "then",
                    "dash",
                    "the",
                    "is",
                ),
                *(
                    "code",
                    "CVV",
                    "security",
                    "Margherita",
                    "at",
                    "for",
                    ".",
                    "!",
                    ",",
                    "-",
                    "’s",
                    "ß",
                ),
            )
        ),
        max_size=40,
    )
)
def test_a_text_that_is_found_harmless_quickly_is(said: list[str]) -> None:
    text = " ".join(said)
    quickly = redact_whole(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redaction, "_harmless", lambda _: False)

        assert quickly == redact_whole(text)
