from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.app.conversation_files.reading import parse_conversation
from agents.app.conversation_files.writing import block, flow
from tests.agents.app.test_declaration import LIBRARY
from tests.state.properties.effort import tried

TEXTS = st.one_of(
    st.text(),
    st.text(alphabet="abc é,:;#-'\"{}[]!?&*|>%@`\t\n\x00\x7f\x85\u2028\ufeff\uffff0123456789.e+"),
    st.sampled_from(
        ["yes", "No", "null", "~", "1e5", "17:30", "- a", "a: b", "a #b", "true ", "on"]
    ),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30) + 1, 10**30 - 1) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXTS.filter(bool), inner, max_size=3)
    ),
    max_leaves=8,
)


@tried(60)
@given(TEXTS.filter(bool), st.dictionaries(TEXTS.filter(lambda key: key not in ("", "<<")), VALUES))
def test_written_yaml_reads_back_the_same(words: str, end: dict[str, Any]) -> None:
    text = f"turns:\n  - {block({'user': words}, '    ')[4:]}end: {flow(end)}\n"

    said = parse_conversation(LIBRARY, text, Path("c.yaml")).conversation

    assert said.turns[0].user == words
    assert said.end is not None
    assert said.end.given == end


@pytest.mark.parametrize(
    "words", ["two colas, please!", "I'd like it (hot)", "no basil; thanks", "Olé, it's $5?"]
)
def test_plain_words_need_no_quotes(words: str) -> None:
    assert block({"user": words}) == f"user: {words}\n"
