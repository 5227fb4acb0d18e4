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


def test_a_later_view_does_not_change_an_earlier_one() -> None:
    state = Growing()
    views = Views(state.render)
    before = views.present()[1]
    state.grow(views)

    patch = views.since(0)

    assert patch == '[{"op":"add","path":"/numbers/0","value":0}]'
    assert before["numbers"] == []


def test_a_patch_is_made_once_for_all_readers_and_again_after_a_change(
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


class Fragile(Growing):
    """The same, but at some versions it cannot be rendered, or not be written as JSON."""

    def __init__(self, *, raises: tuple[int, ...] = (), odd: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.raises, self.odd = raises, odd

    def render(self) -> tuple[int, View]:
        version, view = super().render()
        if version in self.raises:
            raise KeyError("sk-canary-12345")
        return version, {**view, "odd": object()} if version in self.odd else view  # type: ignore[dict-item]


@pytest.mark.parametrize("broken", [{"raises": (1,)}, {"odd": (1,)}])
def test_a_view_that_cannot_be_shown_is_an_error_and_never_an_older_view(
    broken: dict[str, tuple[int, ...]], caplog: pytest.LogCaptureFixture
) -> None:
    state = Fragile(**broken)
    views = Views(state.render)
    first = views.text()

    state.grow(views)

    assert "test_history.py:" in caplog.text or "history.py:" in caplog.text
    assert "canary" not in caplog.text
    for read in (views.present, views.text, lambda: views.since(0)):
        with pytest.raises(Exception, match=r"canary|serialize"):
            read()
    state.grow(views)
    assert views.present()[0] == 2
    patch = views.since(0)
    assert patch is not None
    assert patched(json.loads(first), json.loads(patch)) == views.present()[1]
    assert views.since(1) is None


def test_a_view_that_fails_from_the_start_is_shown_once_it_can_be() -> None:
    state = Fragile(raises=(0,))
    views = Views(state.render)
    with pytest.raises(KeyError):
        views.present()

    state.raises = ()

    assert views.present()[0] == 0
    assert json.loads(views.text()) == views.present()[1]
