"""A patch turns any document into any other."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from rpc.gateway.patches import patch_between, patched
from tests.state.properties.effort import tried

_plain = st.sampled_from([None, True, False, 0, 1, 1.0, 2, "", "a", "b"])
_names = st.sampled_from(["a", "b", "id", "", "/", "~", "a~1b", "0"])
documents = st.recursive(
    _plain, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(_names, inner, max_size=4)
)


def same(one: JsonValue, other: JsonValue) -> bool:
    """Whether both are the same JSON: to Python 1 and true are equal."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@tried(400)
@given(documents, documents)
def test_a_patch_leads_from_one_to_the_other(before: JsonValue, after: JsonValue) -> None:
    was = json.dumps(before)

    assert same(patched(before, patch_between(before, after)), after)
    assert json.dumps(before) == was


@tried(200)
@given(st.lists(documents, max_size=6), st.data())
def test_a_list_whose_parts_moved_is_followed(before: list[JsonValue], data: st.DataObject) -> None:
    after = [*data.draw(st.permutations(before)), data.draw(documents)]

    assert same(patched({"x": before}, patch_between({"x": before}, {"x": after})), {"x": after})


@pytest.mark.parametrize(
    ("document", "patch", "result"),
    [  # RFC 6902, appendix A, as far as these three steps go
        ({"foo": "bar"}, [("add", "/baz", "qux")], {"baz": "qux", "foo": "bar"}),
        ({"foo": ["bar", "baz"]}, [("add", "/foo/1", "qux")], {"foo": ["bar", "qux", "baz"]}),
        ({"baz": "qux", "foo": "bar"}, [("remove", "/baz", None)], {"foo": "bar"}),
        ({"foo": ["bar", "qux", "baz"]}, [("remove", "/foo/1", None)], {"foo": ["bar", "baz"]}),
        ({"baz": "qux"}, [("replace", "/baz", "boo")], {"baz": "boo"}),
        (
            {"foo": "bar"},
            [("add", "/child", {"grand": {}})],
            {"foo": "bar", "child": {"grand": {}}},
        ),
        ({"/": 9, "~1": 10}, [("replace", "/~01", 11)], {"/": 9, "~1": 11}),
        ({"foo": ["bar"]}, [("add", "/foo/-", ["abc"])], {"foo": ["bar", ["abc"]]}),
        ({"foo": 1}, [("replace", "", {"bar": 2})], {"bar": 2}),
        ({"": {"": 1}}, [("remove", "//", None)], {"": {}}),
    ],
)
def test_a_patch_is_applied_as_the_standard_says(
    document: JsonValue, patch: list[tuple[str, str, JsonValue]], result: JsonValue
) -> None:
    steps = [{"op": op, "path": path, "value": value} for op, path, value in patch]

    assert patched(document, steps) == result


@pytest.mark.parametrize(
    "step",
    [
        {"op": "add", "path": "/baz/bat", "value": 1},
        {"op": "remove", "path": "/nothing"},
        {"op": "replace", "path": "/list/3", "value": 1},
        {"op": "add", "path": "/list/9", "value": 1},
        {"op": "add", "path": "foo", "value": 1},
        {"op": "move", "path": "/foo", "from": "/list"},
        {"op": "add", "path": "/foo/x", "value": 1},
    ],
)
def test_a_patch_for_another_document_is_no_patch(step: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="patch|path|step"):
        patched({"foo": "bar", "list": [1]}, [step])


def test_a_line_that_is_taken_out_is_one_step() -> None:
    lines: list[JsonValue] = [{"id": f"L{n}", "n": n} for n in range(40)]
    without = [*lines[:7], *lines[8:]]

    assert patch_between(lines, without) == [{"op": "remove", "path": "/7"}]
