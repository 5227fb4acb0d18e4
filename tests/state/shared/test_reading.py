"""A stored state is read as what was written, or refused with the field and the remedy."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    computed_field,
    model_validator,
)

from state.shared import JournalFault, SharedState, SqlStore, TakenOver, read_state, write_state
from tests.state.shared.board import Board, Paper, Score, stored_from


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Line(Frozen):
    name: str
    quantity: int = 1
    note: str | None = None


class Order(Frozen):
    guest: str | None = None
    lines: tuple[Line, ...] = ()
    sizes: Mapping[str, Line] = {}
    tip: Decimal | None = None
    paid: bool = False
    kg: float = 0.0


class Strict(Order):
    model_config = ConfigDict(extra="forbid")


ORDER = Order(guest="ada", lines=(Line(name="tea"),), sizes={"ann's": Line(name="cake")})


def stored(**changed: Any) -> str:
    """An order as JSON with some fields changed; ``...`` removes one."""
    form = json.loads(write_state(ORDER)) | changed
    return json.dumps({name: value for name, value in form.items() if value is not ...})


def places(kind: type[BaseModel], text: str) -> str:
    with pytest.raises(JournalFault, match=r"it does not fit this program \((.*)\)") as fault:
        read_state(kind, text, "It", schema=4)
    assert f"After a change of {kind.__name__} declare schema=5" in fault.value.message
    assert "migrate={4: " in fault.value.message
    assert "correct what the migrations return" in fault.value.message
    return fault.value.why.partition("(")[2].rstrip(")")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"guest": ..., "caller": "ada"}, "caller: unknown, guest: missing"),  # renamed
        ({"colour": "red"}, "colour: unknown"),  # removed from the model
        ({"guest": ...}, "guest: missing"),  # added to the model with a default
        ({"lines": [{"name": "tea", "quantity": 1}]}, "lines.*.note: missing"),
        (
            {"lines": [{"name": "tea", "amount": 3, "note": None}]},
            "lines.*.amount: unknown, lines.*.quantity: missing",
        ),
        ({"sizes": {"ann's": {"name": "cake", "quantity": 1}}}, "sizes.*.note: missing"),
        ({"lines": [{"name": "tea", "quantity": "3", "note": None}]}, "lines.*.quantity: changed"),
        ({"paid": 1}, "paid: changed"),
        ({"paid": "yes"}, "paid: changed"),
        ({"tip": 1.5}, "tip: changed"),
        ({"kg": "1.5"}, "kg: changed"),
        ({"kg": 2**53 + 1}, "kg: changed"),
        ({"guest": 5}, "guest: not valid"),
        ({"lines": [{"quantity": 1}]}, "lines.*.name: missing"),
        ({"sizes": {"ann's": {"name": 5}}}, "sizes.*.name: not valid"),
    ],
)
def test_a_field_that_reads_back_differently_is_named(changed: dict[str, Any], named: str) -> None:
    assert places(Order, stored(**changed)) == named


def test_a_model_that_forbids_other_fields_names_them_too() -> None:
    assert places(Strict, stored(colour="red")) == "colour: unknown"


def test_every_field_is_named_once_and_not_too_many_are() -> None:
    lines = [{"name": "tea", "quantity": 1}] * 40
    assert places(Order, stored(lines=lines)) == "lines.*.note: missing"
    names = {f"old{number}": number for number in range(9)}
    assert places(Order, stored(**names)).endswith("old4: unknown and 4 more")


def test_a_text_that_is_not_a_json_object_is_refused() -> None:
    assert places(Order, "") == "the whole: not valid"
    assert places(Order, "[1]") == "the whole: not valid"


class Person(Frozen):
    first: str = Field(alias="firstName")
    last: str = Field(validation_alias="lastName", serialization_alias="surname")

    @computed_field(alias="fullName")
    def name(self) -> str:
        return f"{self.first} {self.last}"


class Times(Frozen):
    at: datetime
    on: time
    for_: timedelta
    day: date
    tip: Decimal
    id: UUID


class Colours(Frozen):
    few: frozenset[str]
    pairs: frozenset[tuple[str, int]] = frozenset()
    sets: frozenset[frozenset[str]] = frozenset()


class Open(Frozen):
    model_config = ConfigDict(extra="allow")
    name: str = ""


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


class Drawn(Frozen):
    point: Point
    days: Mapping[date, int] = {}


TIMES = {
    "at": "2026-11-20T19:00:00Z",
    "on": "19:00:00",
    "for_": "PT1H",
    "day": "2026-11-20",
    "tip": "1.5",
    "id": "5f0c1b6e-6f0e-4d39-a8b4-0c2a4ad7a8c1",
}


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (Order, {**json.loads(stored()), "kg": 2}),
        (Person, {"first": "Ada", "last": "Lovelace"}),
        (Person, {"firstName": "Ada", "lastName": "Lovelace"}),
        (Person, {"firstName": "Ada", "lastName": "L.", "name": "as it was", "fullName": "then"}),
        (Times, TIMES),
        (Times, {**TIMES, "at": "2026-11-20T19:00:00.000+00:00", "for_": "PT3600S"}),
        (Times, {**TIMES, "at": "2026-11-20T19:00:00", "tip": "1.50", "on": "19:00"}),
        (Times, {**TIMES, "id": TIMES["id"].upper()}),
        (Colours, {"few": ["red", "blue", "green"], "pairs": [["b", 1], ["a", 2]], "sets": []}),
        (Colours, {"few": [], "pairs": [], "sets": [["red", "blue", "green"], ["a"]]}),
        (Open, {"name": "ada", "more": [1, {"a": None}]}),
        (Drawn, {"point": {"x": 1, "y": 2}, "days": {"2026-11-20": 3}}),
        (RootModel[tuple[Line, ...]], [{"name": "tea", "quantity": 1, "note": None}]),
    ],
)
def test_other_notations_of_the_same_value_are_read(kind: type[BaseModel], form: Any) -> None:
    value = read_state(kind, json.dumps(form), "It")

    assert value == kind.model_validate(form, by_alias=True, by_name=True)


@pytest.mark.parametrize(
    ("kind", "form", "named"),
    [
        (Times, {**TIMES, "at": "2026-11-20"}, "at: changed"),  # a date became a time
        (Times, {**TIMES, "day": "2026-11-20T00:00:00"}, "day: changed"),
        (Times, {**TIMES, "at": 1763665200}, "at: changed"),
        (Times, {**TIMES, "for_": 3600}, "for_: changed"),
        (Colours, {"few": ["red", "red"], "pairs": [], "sets": []}, "few: changed"),
        (Colours, {"few": ["red"], "sets": []}, "pairs: missing"),
        (Drawn, {"point": {"x": 1}, "days": {}}, "point.*: missing"),
        (Drawn, {"point": {"x": 1, "y": 0, "z": 5}, "days": {}}, "point.*: unknown"),
        (Open, {"more": 1}, "name: missing"),
        (RootModel[tuple[Line, ...]], [{"name": "tea", "note": None}], "*.quantity: missing"),
    ],
)
def test_a_difference_is_refused_in_other_models_too(
    kind: type[BaseModel], form: Any, named: str
) -> None:
    assert places(kind, json.dumps(form)) == named


class Tidy(Frozen):
    """Has learned since to change what it is given."""

    names: Annotated[tuple[str, ...], BeforeValidator(sorted)] = ()
    total: int = 0

    @model_validator(mode="before")
    @classmethod
    def _adds_up(cls, given: Any) -> Any:
        return {**given, "total": len(given["names"])} if isinstance(given, dict) else given


def test_a_value_changed_by_a_validator_is_refused() -> None:
    assert places(Tidy, '{"names": ["b", "a"], "total": 2}') == "names.*: changed"
    assert places(Tidy, '{"names": ["a"], "total": 5}') == "total: changed"
    assert places(Tidy, '{"names": ["a"]}') == "total: missing"


async def test_a_renamed_field_is_no_loss_when_a_state_is_opened(tmp_path: Path) -> None:
    class Renamed(Frozen):
        name: str = "Friday"
        scores: Mapping[str, int] = {}

    def store() -> SqlStore:
        return SqlStore(f"sqlite:///{tmp_path}/boards.db", owner="club", schema=1)

    async with store() as before, store() as since:
        board = await SharedState.open(before, "final", Board(title="Final"), None)
        await board.apply(Score(name="ann"), actor="judge")
        kept = await before.read("final")

        with pytest.raises(JournalFault, match=r"\(title: unknown, name: missing\)"):
            await SharedState.open(since, "final", Renamed(), None)
        with pytest.raises(JournalFault, match=r"\(title: unknown, name: missing\)"):
            SharedState.restored(await since.read("final"), Renamed, None)
        (listed,) = await since.list()
        with pytest.raises(JournalFault, match=r"\(title: unknown, name: missing\)"):
            listed.read(Renamed)

        assert (await before.read("final")).entries == kept.entries
        # It was not taken from the program that can read it.
        await board.apply(Score(name="ann"), actor="judge")
    assert board.version == 2


async def test_an_entry_of_another_release_is_not_read_with_defaults() -> None:
    # No subclass of Board: a state whose class has one is read back at each change, in later tests too.
    class Wider(Frozen):
        title: str = "Friday"
        scores: Mapping[str, int] = {}
        umpire: str = "nobody"

    paper = Paper()
    shared = SharedState(Wider(), None, journal=paper)
    paper.somebody_wrote(Board(title="Final"), touched=("title",))

    with pytest.raises(JournalFault, match=r"\(umpire: missing\)"):
        await shared.refresh()
    assert (shared.version, shared.state) == (0, Wider())


async def test_a_state_of_another_form_is_not_taken_by_reading_it(tmp_path: Path) -> None:
    async with SqlStore(f"sqlite:///{tmp_path}/b.db", owner="club", schema=1) as store:
        await store.create("final", lambda ordinal: "{}")
        stored = await store.read("final")

    with pytest.raises(JournalFault, match=r"\(title: missing, scores: missing\)"):
        stored.read(Board)
    assert stored_from(Paper()).read(Board) == Board()


async def test_taking_that_is_refused_leaves_the_state_to_its_holder(tmp_path: Path) -> None:
    def store() -> SqlStore:
        return SqlStore(f"sqlite:///{tmp_path}/boards.db", owner="club", schema=1)

    async with store() as one, store() as other:
        board = await SharedState.open(one, "final", Board(), None)

        def refuse(stored: object) -> None:
            raise LookupError("not this one")

        with pytest.raises(LookupError, match="not this one"):
            await other.take("final", check=refuse)
        await board.apply(Score(name="ann"), actor="judge")
        assert (await other.read("final")).version == 1

        await other.take("final", check=lambda stored: stored.read(Board))
        with pytest.raises(TakenOver):
            await board.apply(Score(name="ann"), actor="judge")
