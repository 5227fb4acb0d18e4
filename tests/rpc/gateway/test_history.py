"""What a state looked like at its last versions."""

import json

import pytest
from pydantic import JsonValue

from rpc.gateway import history
from rpc.gateway.history import View, Views
from rpc.gateway.patches import patched


class Growing:
    """A state that is a list of numbers; its version is their number."""

    def __init__(self) -> None:
        self.numbers: list[JsonValue] = []

    def render(self) -> tuple[int, View]:
        return len(self.numbers), {"numbers": [*self.numbers], "title": "some numbers" * 90}

    def grow(self, views: Views) -> None:
        self.numbers.append(len(self.numbers))
        views.note()


def test_every_known_version_leads_to_the_present_one() -> None:
    state = Growing()
    views = Views(state.render, keep=10)
    seen = {0: views.present()[1]}
    for _ in range(9):
        state.grow(views)
        seen[views.present()[0]] = views.present()[1]

    for version, view in seen.items():
        patch = views.since(version)
        assert patch is not None
        assert patched(view, json.loads(patch)) == views.present()[1]
    assert views.since(9) == "[]"
    assert json.loads(views.text()) == views.present()[1]


def test_a_version_that_is_too_old_or_still_to_come_is_not_known() -> None:
    state = Growing()
    views = Views(state.render, keep=3)
    for _ in range(9):
        state.grow(views)

    assert [version for version in range(12) if views.since(version) is not None] == [7, 8, 9]


def test_what_was_shown_before_cannot_be_edited_by_what_is_shown_now() -> None:
    state = Growing()
    views = Views(state.render)
    before = views.present()[1]
    state.grow(views)

    patch = views.since(0)

    assert patch == '[{"op":"add","path":"/numbers/0","value":0}]'
    assert before["numbers"] == []


def test_a_patch_is_made_once_for_all_who_ask_and_anew_after_a_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[JsonValue] = []

    def patch_between(before: JsonValue, after: JsonValue) -> list[View]:
        made.append(before)
        return [{"op": "test", "made": len(made)}]

    monkeypatch.setattr(history, "patch_between", patch_between)
    state = Growing()
    views = Views(state.render)
    state.grow(views)

    first, again = views.since(0), views.since(0)
    state.grow(views)
    anew = views.since(0)

    assert first == again == '[{"op":"test","made":1}]'
    assert anew == '[{"op":"test","made":2}]'


def test_a_number_that_json_cannot_write_is_none() -> None:
    assert history.compact({"tip": float("nan"), "café": [1, True, None]}) == (
        '{"tip":null,"café":[1,true,null]}'
    )


def test_a_patch_that_would_be_longer_than_the_view_is_none() -> None:
    shown: list[View] = [
        dict.fromkeys("abcdefgh", 1),
        dict.fromkeys("abcdefgh", 2),
    ]
    version = 0
    views = Views(lambda: (version, shown[version]))
    version = 1
    views.note()

    assert views.since(0) is None
