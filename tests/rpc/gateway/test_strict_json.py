"""Strict JSON: what two parsers could read differently is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from rpc.gateway import BadJson, JsonText
from rpc.gateway.strict_json import read, write


class Note(BaseModel):
    text: str
    weight: float = 1.0


@pytest.mark.parametrize("blank", ["", " ", "\n\t \r"])
def test_a_blank_payload_is_an_empty_object(blank: str) -> None:
    assert read(blank) == {}


def test_an_object_is_read_as_it_is() -> None:
    text = ' {"a": [1, -2.5, null, true], "b": {"c": "\\ud83c\\udf55 é"}} '

    assert read(text) == {"a": [1, -2.5, None, True], "b": {"c": "🍕 é"}}


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "[]",
        '"x"',
        "5",
        "true",
        "{",
        '{"a":1',
        '{"a":1,}',
        "{} {}",
        '{"a":1}{"a":1}',
        "\ufeff{}",
        "\u00a0{}",
        "{'a':1}",
        '{"a":1} // why',
        '{"a":NaN}',
        '{"a":Infinity}',
        '{"a":-Infinity}',
        '{"a":1e400}',
        '{"a":-1e400}',
        '{"a":' + "9" * 400 + ".0}",
        '{"a":' + "9" * 5_000 + "}",
        '{"a":01}',
        '{"a":+1}',
        '{"a":"\\ud800"}',
        '{"a":"\\udc00\\ud800"}',
        '{"\\ud800":1}',
        '{"a":"\ud800"}',
        '{"a":"\n"}',
        '{"a":"\x00"}',
        '{"quantity":2,"quantity":0}',
        '{"a":[{"b":1,"b":1}]}',
        '{"a":1,"\\u0061":2}',
    ],
)
def test_a_payload_that_is_not_one_strict_object_is_refused(text: str) -> None:
    with pytest.raises(BadJson) as refused:
        read(text)

    assert refused.value.code == 4000
    assert refused.value.__context__ is None or refused.value.__suppress_context__


@pytest.mark.parametrize(
    "text",
    [
        "[" * 8_000,
        "[" * 10_000_000,
        '{"a":' * 2_000_000,
        '{"a":' + "[" * 201 + "]" * 201 + "}",
        '{"a":' + '"\\"' * 2_000_000,
    ],
)
def test_text_made_to_be_costly_is_refused(text: str) -> None:
    # A parser whose time grows faster than the text would not end within a test's time limit.
    with pytest.raises(BadJson):
        read(text)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON))
def test_serialized_values_are_parsed_again(value: dict[str, object]) -> None:
    assert read(write(value)) == value  # type: ignore[arg-type]


@given(st.text())
def test_any_text_is_an_object_or_bad_json(text: str) -> None:
    try:
        assert read(text) == (json.loads(text) if text.strip() else {})
    except BadJson:
        pass


def test_serialized_json_is_compact_and_readable() -> None:
    assert write(Note(text="Crème 🍕")) == '{"text":"Crème 🍕","weight":1.0}'


@pytest.mark.parametrize(
    "value",
    [
        {"a": float("nan")},
        [float("inf")],
        {"a": "\ud800"},
        {"\udfff": 1},
        Note(text="x", weight=float("nan")),
        Note(text="\ud800"),
    ],
)
def test_values_that_no_parser_accepts_are_never_serialized(value: object) -> None:
    with pytest.raises(ValueError, match="JSON|surrogates"):
        write(value)  # type: ignore[arg-type]


class Page(BaseModel):
    number: int
    order: JsonText


def test_serialized_json_is_embedded_unchanged() -> None:
    page = Page(number=3, order=JsonText(write({"é": [1, None]})))

    assert write(page) == '{"number":3,"order":{"é":[1,null]}}'


def test_a_lone_surrogate_in_serialized_json_is_found_too() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        write(Page(number=3, order=JsonText('"\ud800"')))
