"""What an agent says is judged while it streams: a quick look first, which must never let a card by."""

from hypothesis import given, settings
from hypothesis import strategies as st

from state.privacy.redaction import _harmless, _runs, _secrets, _without, redact_whole

PIECES = st.sampled_from(
    """4242 42 4 2 123 12/28 7:20 $51.17 four two forty fortytwo seventeen double triple thousand hundred
    oh o cero zwei 四 ４２ cvv cvv2 code security card number is the and - , . later please""".split()
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=24).map(" ".join))
def test_the_quick_check_accepts_only_harmless_texts(text: str) -> None:
    if _harmless(text):
        assert _without(text, _secrets(_runs(text), text, None, least=13)) == text


def test_a_code_that_is_called_one_is_looked_at_however_few_its_digits() -> None:
    assert redact_whole("The code on the back is 123.") == "The code on the back is [card]."
    assert redact_whole("CVV2 is four five six") == "CVV2 is [card]"
