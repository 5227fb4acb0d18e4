"""A state that could be edited in place is copied first, and one that JSON would change is not acknowledged."""

import typing
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from functools import cached_property
from math import inf, nan
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType
from zoneinfo import ZoneInfo

import pytest
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    FutureDate,
    FutureDatetime,
    PastDate,
    PlainSerializer,
    PrivateAttr,
    RootModel,
    SecretStr,
    ValidationError,
    computed_field,
    create_model,
    model_validator,
)
from pydantic_core import TzInfo

from state.shared import (
    Command,
    NotStored,
    Refused,
    SharedState,
    SqlStore,
    Unstorable,
    model_faults,
    read_state,
    write_state,
)
from state.shared.shapes import Shape, shape_of
from tests.state.shared.board import Paper, board

CHICAGO = ZoneInfo("America/Chicago")
ODD = timezone(timedelta(minutes=30, seconds=36))
NAIVE = datetime.fromisoformat("2026-01-02")

Cents = NewType("Cents", int)


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Colour(Enum):
    RED = "red"


class Line(Frozen):
    name: str
    price: Cents
    colour: Colour | None = None


class Order(Frozen):
    lines: tuple[Line, ...] = ()
    times: Mapping[str, date] = {}
    tip: Decimal | None = None
    kind: Literal["pickup", "delivery"] = "pickup"
    next: "Order | None" = None


class Loose(Frozen):
    lines: list[str] = []


class Renamed(Frozen):
    name: str = Field(default="nobody", alias="Name")


class Hidden(Frozen):
    name: str = Field(default="nobody", exclude=True)


class Heavy(Frozen):
    kg: float = 0.0


class Secret(Frozen):
    key: SecretStr | None = None


class Either(Frozen):
    value: date | str = ""


class Shouted(Frozen):
    name: Annotated[str, PlainSerializer(str.upper)] = ""


class Summed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    one: int = 1

    @computed_field
    def two(self) -> int:
        return self.one * 2


class Planned(Frozen):
    at: AwareDatetime | None = None
    born: PastDate | None = None


class Opening(Frozen):
    days: tuple[datetime, ...] = ()
    at: time | None = None


class LaterTime(datetime):
    """A class of times as libraries have them."""


with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)

    class Encoded(BaseModel):
        """Writes decimals as floats, as models for pydantic 1 did."""

        model_config = ConfigDict(frozen=True, json_encoders={Decimal: float})
        price: Decimal = Decimal(0)


class Terse(Frozen):
    tip: int | None = 5

    def model_dump_json(self, **how: Any) -> str:
        return super().model_dump_json(exclude_none=True, **how)


class Anything(Frozen):
    value: Any = None


class Bare(Frozen):
    values: typing.Mapping = {}  # type: ignore[type-arg]


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (Order, Shape(known=True, faithful=False, editable=("times", "next"))),
        (Line, Shape(known=True, faithful=True)),
        (Loose, Shape(known=True, faithful=True, editable=("lines",))),
        (Renamed, Shape(known=True, faithful=False)),
        (Hidden, Shape(known=True, faithful=False)),
        (Heavy, Shape(known=True, faithful=False)),
        (Secret, Shape(known=False, faithful=False)),
        (Either, Shape(known=True, faithful=False)),
        (Shouted, Shape(known=True, faithful=False)),
        (Summed, Shape(known=True, faithful=False)),
        (Planned, Shape(known=True, faithful=True)),
        (Anything, Shape(known=False, faithful=False)),
        (Bare, Shape(known=False, faithful=False)),
    ],
)
def test_the_types_tell(kind: type[BaseModel], shape: Shape) -> None:
    found = shape_of(kind)

    assert (found.known, found.faithful) == (shape.known, shape.faithful)
    assert found.editable == shape.editable or not found.known


class Base(Frozen):
    a: int = 0


class More(Base):
    b: int = 0


class Holder(Frozen):
    base: Base = Base()


class Put(Command[Any, Any]):
    """Put a value where it is told."""

    op: Literal["put"] = "put"
    field: str
    value: Any

    def apply(self, state: Any, context: Any) -> Any:
        return state.model_copy(update={self.field: self.value})


class Update(Command[Any, Any]):
    """Put several values where it is told."""

    op: Literal["update"] = "update"
    values: Any = Field(exclude=True)

    def apply(self, state: Any, context: Any) -> Any:
        return state.model_copy(update=self.values)


class Scribble(Command[Loose, Any]):
    """Edit the state in place, as one must not, and then refuse."""

    op: Literal["scribble"] = "scribble"
    refuse: bool = True

    def apply(self, state: Loose, context: Any) -> Loose:
        state.lines.append("scribbled")
        if self.refuse:
            raise Refused("No.")
        return state


@pytest.mark.parametrize(
    ("state", "field", "value"),
    [
        (Heavy(), "kg", inf),
        (Heavy(), "kg", nan),
        (Hidden(), "name", "ann"),
        (Secret(), "key", SecretStr("s")),
        (Either(), "value", "2026-11-20"),
        (Shouted(), "name", "ann"),
        (Planned(), "at", datetime(1800, 1, 1, tzinfo=CHICAGO)),
        (Planned(), "at", LaterTime(1800, 1, 1, tzinfo=CHICAGO)),
        (Encoded(), "price", Decimal("0.12345678901234567890")),
        (Terse(), "tip", None),
        (Opening(), "days", (datetime(2026, 1, 1, tzinfo=ODD), NAIVE)),
        (Opening(), "at", time(9, tzinfo=ODD)),
        (Anything(), "value", (1, 2)),
        (Anything(), "value", "\ud800"),
        (Anything(), "value", object()),
        (Holder(), "base", More(b=2)),
    ],
)
async def test_a_state_that_would_not_read_back_is_not_acknowledged(
    tmp_path: Path, state: BaseModel, field: str, value: object
) -> None:
    async with SqlStore(f"sqlite:///{tmp_path}/a.db", owner="club", schema=1) as store:
        shared = await SharedState.open(store, "a", state, None)
        with pytest.raises(NotStored, match="would not come back|cannot be written|offset"):
            await shared.apply(Put(field=field, value=value), actor="judge")

        assert shared.version == 0
        assert (await SharedState.open(store, "a", state, None)).state == state


@pytest.mark.parametrize(
    "state",
    [
        Hidden(name="ann"),
        Loose().model_copy(update={"lines": [5]}),
        Order(lines=(Line(name="tea", price=Cents(1)).model_copy(update={"name": 5}),)),
        Opening(days=(datetime(2026, 1, 1, tzinfo=ODD),)),
    ],
)
async def test_a_beginning_that_would_not_come_back_is_not_stored(
    tmp_path: Path, state: BaseModel
) -> None:
    async with SqlStore(f"sqlite:///{tmp_path}/a.db", owner="club", schema=1) as store:
        with pytest.raises(NotStored, match="would not come back|not a valid|offset"):
            await SharedState.open(store, "a", state, None)

        assert await store.list() == []


@pytest.mark.parametrize(
    ("state", "field", "value"),
    [
        (Heavy(), "kg", 1.5),
        (Renamed(), "name", "ann"),
        (Summed(), "one", 2),
        (Either(), "value", "a day"),
        (Planned(), "at", datetime(2026, 11, 2, 1, 30, tzinfo=CHICAGO)),
        (Planned(), "born", date(1815, 12, 10)),
        (Opening(), "days", (datetime(2026, 1, 1, tzinfo=UTC), NAIVE)),
        (Opening(), "days", (datetime(2026, 7, 1, tzinfo=CHICAGO), NAIVE)),
        (Opening(), "at", time(9, tzinfo=CHICAGO)),
        (Opening(), "at", time(9, tzinfo=timezone(timedelta(hours=-6, minutes=-30)))),
        (Anything(), "value", [1, {"a": None}]),
    ],
)
async def test_a_state_that_reads_back_is_stored_whatever_its_types(
    tmp_path: Path, state: BaseModel, field: str, value: object
) -> None:
    async with SqlStore(f"sqlite:///{tmp_path}/a.db", owner="club", schema=1) as store:
        shared = await SharedState.open(store, "a", state, None)
        await shared.apply(Put(field=field, value=value), actor="judge")

        again = (await SharedState.open(store, "a", state, None)).state
        assert (again, getattr(again, field)) == (shared.state, value)


@pytest.mark.parametrize("fold", [0, 1])
@pytest.mark.parametrize("kind", [datetime, LaterTime])
@pytest.mark.parametrize("journal", [True, False])
async def test_a_time_has_the_offset_of_its_zone_and_not_the_zone(
    tmp_path: Path, fold: int, kind: type[datetime], journal: bool
) -> None:
    at = kind(2026, 11, 1, 1, 30, fold=fold, tzinfo=CHICAGO)  # in the hour that comes twice
    offset = timedelta(hours=-5 - fold)
    async with SqlStore(f"sqlite:///{tmp_path}/a.db", owner="club", schema=1) as store:
        shared = SharedState(Planned(), None)
        if journal:
            shared = await SharedState.open(store, "a", Planned(), None)
        await shared.apply(Put(field="at", value=at), actor="judge")

        assert shared.state.at == datetime(2026, 11, 1, 1, 30, tzinfo=timezone(offset))
        assert isinstance(getattr(shared.state.at, "tzinfo", None), timezone | TzInfo)
        if journal:
            again = await SharedState.open(store, "a", Planned(), None)
            assert again.state == shared.state


async def test_a_refused_command_that_edited_the_state_leaves_it_as_it_was() -> None:
    shared = SharedState(Loose(lines=["one"]), None)

    with pytest.raises(Refused):
        await shared.apply(Scribble(), actor="judge")
    with pytest.raises(TypeError, match="edited the state"):
        await shared.apply(Scribble(refuse=False), actor="judge")

    assert (shared.version, shared.state.lines) == (0, ["one"])


async def test_a_field_that_there_is_not_is_no_change() -> None:
    shared = SharedState(Order(), None)

    with pytest.raises(TypeError, match="whose fields are not its own"):
        await shared.apply(Put(field="tipp", value=1), actor="judge")

    assert shared.version == 0


class Cached(Frozen):
    one: int = 1
    parts: tuple[Line, ...] = ()

    @cached_property
    def doubled(self) -> int:
        return self.one * 2


async def test_a_cached_property_is_no_field_and_is_dropped_with_a_change() -> None:
    shared = SharedState(Cached(), None)
    assert shared.state.doubled == 2

    await shared.apply(Put(field="one", value=5), actor="judge")

    assert (shared.state.doubled, shared.version) == (10, 1)


class Named(Loose):
    name: str = "more"


class Swap(Command[Any, Any]):
    """Return something else."""

    op: Literal["swap"] = "swap"
    value: Any

    def apply(self, state: Any, context: Any) -> Any:
        return self.value


@pytest.mark.parametrize("made", [Named(), Order(), None, {"lines": []}, Loose.__new__(Loose)])
@pytest.mark.parametrize("journal", [True, False])
async def test_a_state_of_another_kind_is_no_change(made: object, journal: bool) -> None:
    shared = SharedState(Loose(), None, journal=Paper() if journal else None)

    with pytest.raises(TypeError, match="a command made a"):
        await shared.apply(Swap(value=made), actor="judge")

    assert (shared.version, shared.state) == (0, Loose())


def _in_itself() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["it"] = value
    return value


@pytest.mark.parametrize("value", [_in_itself(), Decimal("sNaN"), "\ud800", [_in_itself()]])
async def test_a_state_that_json_cannot_represent_is_refused_without_a_journal_too(
    value: object,
) -> None:
    shared = SharedState(Anything(), None)

    with pytest.raises(Unstorable) as refusal:
        await shared.apply(Put(field="value", value=value), actor="judge")

    assert not refusal.value.retryable

    assert (shared.version, shared.state) == (0, Anything())


class Note(Frozen):
    text: str = ""
    answer: "Note | None" = None


class Tree(Frozen):
    text: str = ""
    below: "tuple[Tree, ...]" = ()


class Folder(Frozen):
    text: str = ""
    within: "Mapping[str, Folder]" = {}


class Under(Command[Any, Any]):
    """Put the state under a new one."""

    op: Literal["under"] = "under"

    def apply(self, state: Any, context: Any) -> Any:
        match state:
            case Note():
                return Note(text="x", answer=state)
            case Tree():
                return Tree(text="x", below=(state,))
            case _:
                return Folder(text="x", within={"a": state})


@pytest.mark.parametrize("start", [Note(), Tree(), Folder()])
async def test_a_model_in_itself_is_stored_as_deep_as_it_can_be_read(start: BaseModel) -> None:
    depths = []
    for paper in (Paper(), None):
        shared = SharedState(start, None, journal=paper)

        with suppress(Unstorable):
            for _ in range(300):
                await shared.apply(Under(), actor="judge")

        depths.append(shared.version)
        assert 60 < shared.version < 300
        if paper is not None:
            assert len(paper.entries) == shared.version
            read = [read_state(type(start), entry.state, "It") for entry in paper.entries[-2:]]
            assert read[-1] == shared.state
    assert depths[0] == depths[1], "a journal decides how deep it may be"


class Send(Command[Any, Any]):
    op: Literal["send"] = "send"
    note: Note

    def apply(self, state: Any, context: Any) -> Any:
        return state.model_copy(update={"title": "sent"})


async def test_a_command_that_is_too_deep_to_be_written_is_refused() -> None:
    note = Note()
    for _ in range(300):
        note = Note(answer=note)
    shared = board(journal=Paper())

    with pytest.raises(Unstorable, match="the command"):
        await shared.apply(Send.model_construct(op="send", note=note), actor="judge")

    assert shared.version == 0


class Item(Frozen):
    quantity: Annotated[int, Field(ge=0)] = 1


class Basket(Frozen):
    first: Item = Item()
    items: tuple[Item, ...] = (Item(), Item())
    named: Mapping[str, Item] = {"a": Item()}
    inner: "Basket | None" = None


@pytest.mark.parametrize("quantity", ["many", -3, None, 1.5])
@pytest.mark.parametrize("where", ["first", "items", "named", "inner"])
@pytest.mark.parametrize("journal", [True, False])
async def test_an_invalid_part_is_refused_at_any_depth(
    where: str, quantity: object, journal: bool
) -> None:
    paper = Paper()
    before = Basket(inner=Basket())
    shared = SharedState(before, None, journal=paper if journal else None)
    bad = Item().model_copy(update={"quantity": quantity})
    value = {
        "first": bad,
        "items": (before.items[0], bad),
        "named": {"a": bad},
        "inner": Basket().model_copy(update={"items": (bad,)}),
    }[where]

    with pytest.raises(ValidationError):
        await shared.apply(Put(field=where, value=value), actor="judge")

    assert (shared.version, shared.state, paper.entries) == (0, before, [])


class Numbers(Frozen):
    few: tuple[int, ...] = (1,)
    named: Mapping[str, int] = {"a": 1}
    pairs: tuple[tuple[int, ...], ...] = ((1,),)
    inner: "Numbers | None" = None


class PutInside(Put):
    def apply(self, state: Any, context: Any) -> Any:
        inner = state.inner.model_copy(update={self.field: self.value})
        return state.model_copy(update={"inner": inner})


@pytest.mark.parametrize("equal", [Decimal("1.0"), 1.0, True], ids=["decimal", "float", "true"])
@pytest.mark.parametrize("nested", [False, True], ids=["whole", "part"])
@pytest.mark.parametrize("field", ["few", "named", "pairs"])
@pytest.mark.parametrize("journal", [True, False])
async def test_a_value_that_only_equals_a_number_becomes_the_number(
    field: str, nested: bool, equal: object, journal: bool
) -> None:
    paper = Paper()
    before = Numbers(inner=Numbers())
    shared = SharedState(before, None, journal=paper if journal else None)
    value = {"few": (equal,), "named": {"a": equal}, "pairs": ((equal,),)}[field]

    await shared.apply((PutInside if nested else Put)(field=field, value=value), actor="judge")

    # Equal is too little: what is written must be the same when it was read and is written again.
    assert repr(shared.state) == repr(before)
    assert [entry.state for entry in paper.entries] == [write_state(before)] * journal


class Rows(Frozen):
    parts: tuple[list[Numbers], ...] = ([Numbers()],)
    listed: list[list[Numbers]] = [[Numbers()]]
    plain: Mapping[str, int] = {"a": 1}
    a_dict: dict[str, int] = {"a": 1}
    inner: Numbers = Numbers(inner=Numbers())


class Edit(Command[Any, Any]):
    """Edit a mapping of the state in place, as one must not."""

    op: Literal["edit"] = "edit"
    where: str
    value: Any

    def apply(self, state: Any, context: Any) -> Any:
        mapping = {
            "in a list in a tuple": lambda: state.parts[0][0].named,
            "in lists": lambda: state.listed[0][0].named,
            "in the state": lambda: state.plain,
            "a dict": lambda: state.a_dict,
            "in a recursive model": lambda: state.inner.inner.named,
        }[self.where]()
        mapping["a"] = self.value
        return state.model_copy()


@pytest.mark.parametrize("value", [2, True, 1.0, "many"], ids=repr)
@pytest.mark.parametrize(
    "where", ["in a list in a tuple", "in lists", "in the state", "a dict", "in a recursive model"]
)
async def test_a_mapping_that_was_edited_in_place_is_as_it_was(where: str, value: object) -> None:
    shared = SharedState(Rows(), None)

    with pytest.raises(TypeError, match="edited the state"):
        await shared.apply(Edit(where=where, value=value), actor="judge")

    assert (shared.version, repr(shared.state)) == (0, repr(Rows()))


class Holding(Frozen):
    rows: tuple[list[int], ...] = ([1, 2],)
    sequence: Sequence[str] = ("a",)
    chosen: set[int] = {1, 2, 3}
    nested: Mapping[str, tuple[set[str], ...]] = {"a": ({"x"},)}


class Do(Command[Any, Any]):
    """Do something to the state it is given, and return a copy."""

    op: Literal["do"] = "do"
    what: Any = Field(exclude=True)

    def apply(self, state: Any, context: Any) -> Any:
        self.what(state)
        return state.model_copy()


@pytest.mark.parametrize(
    "what",
    [
        lambda state: state.rows[0].append(3),
        lambda state: state.rows[0].reverse(),
        lambda state: state.rows[0].__setitem__(0, True),
        lambda state: state.sequence.append("b"),
        lambda state: state.chosen.add(4),
        lambda state: state.chosen.discard(1),
        lambda state: (state.chosen.discard(1), state.chosen.add(True)),
        lambda state: state.nested["a"][0].clear(),
    ],
)
async def test_a_list_or_a_set_that_was_edited_in_place_is_as_it_was(what: Any) -> None:
    before = Holding(sequence=["a"])
    shared = SharedState(before, None)

    with pytest.raises(TypeError, match="edited the state"):
        await shared.apply(Do(what=what), actor="judge")
    assert (shared.version, repr(shared.state)) == (0, repr(Holding(sequence=["a"])))

    await shared.apply(Put(field="rows", value=([3],)), actor="judge")
    assert shared.state.rows == ([3],)


class Popping(Frozen):
    """Takes apart what it is given."""

    tag: str = ""

    @model_validator(mode="before")
    @classmethod
    def _stripped(cls, given: Any) -> Any:
        tag = given.pop("tag", "")
        return {**given, "tag": tag.strip()}


class Holds(Frozen):
    one: Popping
    other: Popping
    numbers: tuple[Numbers, ...] = ()


@pytest.mark.parametrize("fits", [True, False])
@pytest.mark.parametrize("journal", [True, False])
async def test_a_validator_that_takes_apart_what_it_is_given_leaves_the_state_as_it_was(
    fits: bool, journal: bool
) -> None:
    before = Holds(one=Popping(tag="a"), other=Popping(tag="b"))
    shared = SharedState(before, None, journal=Paper() if journal else None)
    wrong = Numbers().model_copy(update={"few": "many"})
    moved = {"other": before.one, "numbers": () if fits else (wrong,)}

    with nullcontext() if fits else pytest.raises(ValidationError):
        await shared.apply(Update(values=moved), actor="judge")

    assert repr(before) == repr(Holds(one=Popping(tag="a"), other=Popping(tag="b")))
    assert shared.state.other == Popping(tag="a" if fits else "b")


class Adding(Frozen):
    """Edits in place what it is given in a field that tells nothing of it."""

    anything: Any = None
    count: int = 0

    @model_validator(mode="after")
    def _adds(self) -> "Adding":
        if self.count:
            self.anything.append(self.count)
        if self.count > 1:
            raise ValueError("too many")
        return self


@pytest.mark.parametrize(("count", "why"), [(1, TypeError), (2, ValidationError)])
@pytest.mark.parametrize("journal", [True, False])
async def test_a_list_that_a_validator_edits_in_place_is_as_it_was(
    count: int, why: type[Exception], journal: bool
) -> None:
    shared = SharedState(Adding(anything=[5]), None, journal=Paper() if journal else None)

    with pytest.raises(why):
        await shared.apply(Put(field="count", value=count), actor="judge")

    assert (shared.version, shared.state) == (0, Adding(anything=[5]))


@dataclass
class Point:
    x: int = 1


class Pointed(Frozen):
    point: Point = Point()


async def test_an_object_of_another_type_is_edited_in_a_copy_only() -> None:
    shared = SharedState(Pointed(), None)
    before = shared.state

    def to_the_right(state: Pointed) -> None:
        state.point.x += 1

    def then_refuse(state: Pointed) -> None:
        to_the_right(state)
        raise Refused("No.")

    with pytest.raises(Refused):
        await shared.apply(Do(what=then_refuse), actor="judge")
    assert (shared.version, shared.state.point) == (0, Point(1))
    await shared.apply(Do(what=to_the_right), actor="judge")
    assert (before.point, shared.state.point) == (Point(1), Point(2))


class Opened(Frozen):
    at: AwareDatetime = datetime(2026, 11, 20, 19, tzinfo=UTC)
    anything: Any = "text"
    lines: tuple[Line, ...] = (Line(name="tea", price=Cents(1)),)


async def test_a_type_that_is_not_known_costs_no_copy_while_its_value_is_plain() -> None:
    shared = SharedState(Opened(), None)
    lines = shared.state.lines

    await shared.apply(Put(field="anything", value=5), actor="judge")
    assert shared._guard.complete
    assert shared.state.anything == 5

    await shared.apply(Put(field="anything", value=[1]), actor="judge")
    with pytest.raises(TypeError, match="edited the state"):
        await shared.apply(Do(what=lambda state: state.anything.append(2)), actor="judge")
    assert (shared.state.anything, shared.state.lines) == ([1], lines)


class Unfrozen(BaseModel):
    note: str = ""


class HoldsUnfrozen(Frozen):
    notes: Mapping[str, tuple[Unfrozen | None, ...]] = {}
    plain: list[Annotated[Unfrozen, Field()]] = []


class Thawed(Frozen):
    model_config = ConfigDict(frozen=False)


class Bag(RootModel[tuple[str, ...]]):
    pass


class HoldsMany(Frozen):
    one: HoldsUnfrozen | None = None
    two: Thawed | None = None
    bag: Bag | None = None


@pytest.mark.parametrize(
    ("state", "names"),
    [
        (Unfrozen(), ["Unfrozen"]),
        (HoldsUnfrozen(), ["Unfrozen"]),
        (Thawed(), ["Thawed"]),
        (HoldsMany(), ["Bag", "Thawed", "Unfrozen"]),
    ],
)
async def test_a_model_that_is_not_frozen_is_refused_by_name(
    tmp_path: Path, state: BaseModel, names: list[str]
) -> None:
    faults = [
        f"{name} is not frozen: declare model_config = ConfigDict(frozen=True) in it"
        for name in names
    ]
    assert model_faults(type(state)) == tuple(faults)
    with pytest.raises(TypeError) as fault:
        SharedState(state, None)
    assert str(fault.value) == "; ".join(faults)

    async with SqlStore(f"sqlite:///{tmp_path}/a.db", owner="club", schema=1) as store:
        with pytest.raises(TypeError, match="is not frozen"):
            await SharedState.open(store, "a", state, None)
        assert await store.list() == []


class Booking(Frozen):
    at: tuple[FutureDatetime | None, ...] = ()
    day: Mapping[str, Annotated[FutureDate, Field()]] = {}


class Bookings(Frozen):
    bookings: tuple[Booking, ...] = ()


async def test_a_time_that_has_to_be_in_the_future_is_refused_by_name(tmp_path: Path) -> None:
    refused = "Booking.at has to be in the future.*; Booking.day has to be in the future[^;]*$"
    with pytest.raises(TypeError, match=refused):
        SharedState(Bookings(), None)

    async with SqlStore(f"sqlite:///{tmp_path}/a.db", owner="club", schema=1) as store:
        with pytest.raises(TypeError, match=refused):
            await SharedState.open(store, "a", Bookings(), None)


@pytest.mark.parametrize(
    ("state", "field", "value"), [(Hidden(), "name", "a"), (Heavy(), "kg", inf)]
)
async def test_the_field_that_would_not_read_back_is_named(
    state: BaseModel, field: str, value: object
) -> None:
    shared = SharedState(state, None, journal=Paper())

    with pytest.raises(Unstorable, match=f"as it is: {field}\\)"):
        await shared.apply(Put(field=field, value=value), actor="judge")


def test_a_model_frozen_by_its_base_or_a_class_argument_is_frozen() -> None:
    class Argument(BaseModel, frozen=True):
        basket: "Basket | None" = None

    assert model_faults(Argument) == model_faults(Basket) == ()


class Label(Frozen):
    text: Annotated[str, AfterValidator(str.strip)] = "a"


class Labelled(Frozen):
    label: Label = Label()
    text: str = "a"

    @model_validator(mode="after")
    def _says_the_same(self) -> "Labelled":
        if self.text != self.label.text:
            raise ValueError("another text")
        return self


class Shelf(Frozen):
    labelled: Labelled = Labelled()
    number: int = 1


async def test_a_model_is_asked_again_when_a_model_in_it_became_another() -> None:
    shared = SharedState(Shelf(), None)
    label = Label().model_copy(update={"text": " b "})
    value = Labelled().model_copy(update={"label": label, "text": " b "})

    with pytest.raises(ValidationError, match="another text"):
        await shared.apply(Put(field="labelled", value=value), actor="judge")

    assert shared.state == Shelf()


class TextOfNumber(Enum):
    ONE = "1"


async def test_a_text_that_is_taken_for_a_number_becomes_one_or_is_refused() -> None:
    shared = SharedState(Shelf(number=7), None)

    with pytest.raises(ValidationError):
        await shared.apply(Put(field="number", value=Colour.RED), actor="judge")
    assert shared.state == Shelf(number=7)

    await shared.apply(Put(field="number", value=TextOfNumber.ONE), actor="judge")
    assert repr(shared.state) == repr(Shelf(number=1))


class Open(Frozen):
    """Takes more fields than it names."""

    model_config = ConfigDict(extra="allow")
    text: Annotated[str, AfterValidator(str.strip)] = "a"


class Owning(Open):
    """Keeps something for itself besides."""

    _own: int = PrivateAttr(default=0)


class PutOpen(Command[Any, Any]):
    op: Literal["put_open"] = "put_open"

    def apply(self, state: Any, context: Any) -> Any:
        made = state.model_copy(update={"text": " b ", "more": 1})
        if isinstance(made, Owning):
            made._own = 5
        return made


async def test_a_value_changed_by_a_validator_keeps_its_extra_fields() -> None:
    shared = SharedState(Open(), None)

    await shared.apply(PutOpen(), actor="judge")

    assert shared.state == Open.model_validate({"text": "b", "more": 1})


async def test_private_attributes_are_not_lost_silently() -> None:
    shared = SharedState(Owning(), None)

    with pytest.raises(NotStored):  # it would not come back
        await shared.apply(PutOpen(), actor="judge")

    assert shared.state == Owning()


class Rack(Frozen):
    rows: list[list[int]] = []


class Row(NamedTuple):
    """A row of a list that can be edited."""

    name: str
    points: list[int]


def spoil(value: Any) -> None:
    """Edit everything in a value that can be edited."""
    if isinstance(value, Rack):
        spoil(value.rows)
    elif isinstance(value, list | tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            spoil(one)
    if isinstance(value, list | set | dict):
        value.clear()


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        (list[int], lambda: [1, 2]),
        (list[list[int]], lambda: [[1], [2]]),
        (dict[str, int], lambda: {"a": 1}),
        (Mapping[str, list[int]], lambda: {"a": [1]}),
        (set[int], lambda: {1}),
        (tuple[Row, ...], lambda: (Row("a", [1]),)),
        (tuple[Rack, ...], lambda: (Rack().model_copy(update={"rows": [[3]]}),)),
        (dict[str, Rack], lambda: {"a": Rack(rows=[[3]])}),
    ],
)
@pytest.mark.parametrize("stored", [False, True])
async def test_a_value_that_a_command_put_into_the_state_can_be_edited_elsewhere(
    tmp_path: Path, kind: Any, made: Callable[[], Any], stored: bool
) -> None:
    model: Any = create_model(
        "Model", __base__=Frozen, title=(str, ""), value=(kind, type(made())())
    )
    new = model()
    async with SqlStore(f"sqlite:///{tmp_path}/a.db", owner="club", schema=1) as store:
        shared = await SharedState.open(store, "a", new, None) if stored else SharedState(new, None)
        value = made()
        await shared.apply(Put(field="value", value=value), actor="judge")
        spoil(value)

        assert shared.state == model(value=made())
        await shared.apply(Put(field="title", value="other"), actor="judge")
        assert shared.version == 2
        if stored:
            assert (await SharedState.open(store, "a", new, None)).state == shared.state
