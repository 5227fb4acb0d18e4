"""The code that goes on with an order elsewhere."""

import pytest

from agents.app.rooms.state_of_call import resume_code, state_of

ORDER, SECRET = "abcd-efgh-jkmn", "a secret"
CODE = resume_code(ORDER, SECRET, "bella-vista")


def test_a_code_names_its_order_however_it_is_typed() -> None:
    assert state_of(f" {CODE.upper()}\n", SECRET, "bella-vista") == ORDER


@pytest.mark.parametrize(
    "code",
    [
        "",
        ".",
        ORDER,
        f"{ORDER}.",
        CODE[:-1],
        f"{CODE}a",
        CODE.replace("abcd", "abce"),
        f"{ORDER}.{'é' * 26}",
        "\x00",
    ],
)
def test_anything_else_is_no_code(code: str) -> None:
    assert state_of(code, SECRET, "bella-vista") is None


def test_a_code_of_another_server_is_none() -> None:
    assert state_of(resume_code(ORDER, "another", "bella-vista"), SECRET, "bella-vista") is None


def test_a_code_does_not_tell_its_secret_and_is_long_enough() -> None:
    proof = CODE.removeprefix(f"{ORDER}.")
    assert len(proof) * 5 >= 128
    assert SECRET not in CODE
