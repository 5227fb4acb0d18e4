"""Whatever a careless command makes of a nested state: it is refused and nothing changed, or it can be resumed.

The models are drawn: models in models, tuples, dicts, lists, unions, aliases, validators, computed fields. The
commands write through ``model_copy``, which checks nothing, set fields past their model, or edit in place what
they were given. They aim at a place that is there, mostly one far down, and put there what nearly fits.
"""

import asyncio
import copy
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import zip_longest
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    RootModel,
    computed_field,
    create_model,
    field_validator,
    model_validator,
)

from state.shared import Command, JournalFault, SharedState, Unstorable, read_state, write_state
from state.shared.journal import StoredState
from state.shared.reading import differences
from tests.state.properties.effort import tried
from tests.state.shared.board import Paper

T = TypeVar("T")

CHICAGO = ZoneInfo("America/Chicago")


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Mixed(Enum):
    ONE = 1
    TEXT = "1"


class Base(BaseModel):
    """Other models inherit from it and add fields."""

    model_config = ConfigDict(frozen=True)
    a: Annotated[int, Field(ge=0)] = 0


class More(Base):
    b: int = 7


class Rounded(BaseModel):
    """Normalises what it is given, and computes from it."""

    model_config = ConfigDict(frozen=True)
    name: str = ""

    @field_validator("name")
    @classmethod
    def _stripped(cls, name: str) -> str:
        return name.strip()

    @computed_field
    def length(self) -> int:
        return len(self.name)


class Labelled(BaseModel):
    """Looks at a model in it once that is as its own validators make it."""

    model_config = ConfigDict(frozen=True)
    inner: Rounded = Rounded()
    label: str = ""

    @model_validator(mode="after")
    def _is_its_name(self) -> "Labelled":
        if self.label != self.inner.name:
            raise ValueError("another name")
        return self


class FrozenRoot(RootModel[T], Generic[T]):
    model_config = ConfigDict(frozen=True)


class Grows(BaseModel):
    """Is another one each time it is validated: such a model can only be refused."""

    model_config = ConfigDict(frozen=True)
    name: Annotated[str, BeforeValidator(lambda text: f"{text}!" if text else text)] = ""


class Item(BaseModel):
    """Plain: what is written of it is what is read, so nothing reads it back."""

    model_config = ConfigDict(frozen=True)
    n: Annotated[int, Field(ge=0)] = 1
    text: str = "a"
    few: tuple[int, ...] = (1,)
    named: Mapping[str, int] = {"p": 1}


class Outside(BaseModel):
    """Has other names outside, and a value that is computed."""

    model_config = ConfigDict(frozen=True)
    f0: Annotated[int, Field(alias="F0")] = 0
    name: str = ""

    @computed_field
    def length(self) -> int:
        return len(self.name)


class Swapped(BaseModel):
    """Has fields of which each is called as the other one outside."""

    model_config = ConfigDict(frozen=True)
    f0: Annotated[int, Field(alias="f1")] = 0
    f1: Annotated[int, Field(alias="f0")] = 0


@dataclass(frozen=True)
class Kind:
    """A type, and values that fit."""

    annotation: Any
    values: st.SearchStrategy[Any]


ITEM = Kind(Item, st.builds(Item, n=st.integers(0, 3)))
PLAIN = [
    Kind(int, st.integers(0, 3)),
    Kind(Annotated[int, Field(ge=0, le=9)], st.integers(0, 9)),
    Kind(str, st.text(max_size=4)),
    Kind(Decimal, st.decimals(allow_nan=False, allow_infinity=False, places=2)),
    Kind(bool, st.booleans()),
    Kind(Colour, st.sampled_from(Colour)),
    Kind(Literal["x", "y"], st.sampled_from(["x", "y"])),
    Kind(frozenset[int], st.frozensets(st.integers(0, 3), max_size=2)),
    Kind(set[str], st.sets(st.sampled_from("xy"))),
    ITEM,
]
"""Of these a state can be stored without being read back."""

LEAVES = [
    *PLAIN,
    Kind(float, st.floats(allow_nan=False, allow_infinity=False)),
    Kind(date, st.dates()),
    Kind(datetime, st.datetimes(timezones=st.just(UTC) | st.none())),
    Kind(AwareDatetime, st.datetimes(timezones=st.just(UTC))),
    Kind(time, st.times()),
    Kind(timedelta, st.timedeltas(timedelta(-9), timedelta(9))),
    Kind(UUID, st.uuids()),
    Kind(Mixed, st.sampled_from(Mixed)),
    Kind(Literal[1, "1"], st.sampled_from([1, "1"])),
    Kind(bytes, st.binary(max_size=3)),
    Kind(Any, st.none() | st.integers() | st.lists(st.integers(), max_size=2)),
    Kind(Annotated[str, AfterValidator(str.strip)], st.just("z")),
    Kind(Annotated[str, PlainSerializer(str.upper)], st.sampled_from(["Z", "z"])),
    Kind(Base, st.builds(Base, a=st.integers(0, 3))),
    Kind(More, st.builds(More)),
    Kind(Rounded, st.builds(Rounded, name=st.sampled_from(["", "ann"]))),
    Kind(Labelled, st.just(Labelled(inner=Rounded(name="ann"), label="ann"))),
    Kind(Grows, st.just(Grows())),
]


ALIASED = Kind(Outside, st.builds(Outside, F0=st.integers(0, 3), name=st.sampled_from(["", "ann"])))
SWAPPED = Kind(Swapped, st.integers(0, 3).map(lambda n: Swapped(f0=n, f1=n)))
RENAMED = [
    ALIASED,
    SWAPPED,
    Kind(
        FrozenRoot[tuple[Outside, ...]],
        st.lists(ALIASED.values, min_size=1, max_size=2).map(
            lambda some: FrozenRoot[tuple[Outside, ...]](tuple(some))
        ),
    ),
]


@st.composite
def kinds(draw: st.DrawFn, plain: bool, depth: int) -> Kind:
    """Draw a type that holds others, so many of them within each other at most."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from(PLAIN if plain else LEAVES))
    how = draw(
        st.sampled_from(
            ["model", "model", "tuple", "list", "dict", "mapping", "none", "union", "root"]
        )
    )
    if how == "model":
        return draw(models(plain, depth - 1))
    # Mostly models: what is wrong in them is seen by nothing but the walk through the state.
    inside = draw(st.sampled_from(["model", "item", "any"]))
    if inside == "any":
        one = draw(kinds(plain, depth - 1))
    else:
        one = draw(models(plain, depth - 1)) if inside == "model" else ITEM
    match how:
        case "tuple":
            return Kind(of(tuple, one.annotation, ...), few(one).map(tuple))
        case "list":
            return Kind(of(list, one.annotation), few(one))
        case "dict":
            return Kind(of(dict, str, one.annotation), named(one))
        case "mapping":
            return Kind(of(Mapping, str, one.annotation), named(one))
        case "root":
            root = cast(Any, create_model("Root", __base__=of(FrozenRoot, one.annotation)))
            return Kind(root, one.values.map(root))
        case "none":
            return Kind(one.annotation | None, one.values | one.values | st.none())
    other = draw(kinds(plain, depth - 1))
    return Kind(of(Union, one.annotation, other.annotation), one.values | other.values)


def of(origin: Any, *arguments: Any) -> Any:
    """Make a container's type of types that are known only now."""
    return origin[arguments[0] if arguments[1:] == () else arguments]


def few(kind: Kind) -> st.SearchStrategy[list[Any]]:
    return st.lists(kind.values, min_size=1, max_size=2)


def named(kind: Kind) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(["p", "q"]), kind.values, min_size=1, max_size=2)


@st.composite
def models(draw: st.DrawFn, plain: bool, depth: int) -> Kind:
    """Draw a model of one or two fields, some of them under another name outside unless it is plain."""
    inner = draw(st.lists(kinds(plain, depth), min_size=1, max_size=2))
    fields: dict[str, Any] = {}
    for number, kind in enumerate(inner):
        fields[f"f{number}"] = (kind.annotation, Field())
        if not plain:
            alias = draw(st.sampled_from([None, None, f"F{number}", f"f{1 - number}"]))
            left_out = draw(st.sampled_from([False] * 9 + [True]))
            fields[f"f{number}"] = (kind.annotation, Field(alias=alias, exclude=left_out))
    config = ConfigDict(frozen=True, arbitrary_types_allowed=True)
    if not plain:
        config["extra"] = draw(st.sampled_from(["ignore", "forbid", "allow"]))
        config["strict"] = draw(st.sampled_from([False, False, True]))
        config["serialize_by_alias"] = draw(st.booleans())
    model = create_model("Drawn", __config__=config, **fields)

    def make(values: tuple[Any, ...]) -> BaseModel:
        given = {f"f{number}": value for number, value in enumerate(values)}
        return model.model_validate(given, by_alias=False, by_name=True)

    return Kind(model, st.tuples(*(kind.values for kind in inner)).map(make))


JUNK: tuple[Any, ...] = (
    *("many", "5", -3, 5, True, None, 1.5, math.inf, math.nan, "\ud800", b"\xff", ()),
    *([], {}, {"a": -1}, object(), Base(a=1), More(b=2), Base.model_construct(a=-1)),
    *(Rounded.model_construct(name=" ann "), Grows(name="x"), Colour.RED, Decimal("1.0")),
    *(datetime(2026, 11, 1, 1, tzinfo=CHICAGO), datetime(1800, 1, 1, tzinfo=CHICAGO)),
    *(
        time(1, tzinfo=CHICAGO),
        datetime(2026, 1, 1, tzinfo=UTC),
        date(2026, 1, 1),
        frozenset({1}),
        10**5000,
        "ann",
    ),
    *(Mixed.ONE, Mixed.TEXT, Item.model_construct(n=-1), Item().model_copy(update={"text": 5})),
)

Edit = Callable[[Any], Any]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Name every place in a value by the steps that lead there."""
    inside: Any = ()
    if isinstance(value, BaseModel):
        inside = value.__dict__.items()
    elif isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list | tuple):
        inside = enumerate(value)
    for step, one in inside:
        yield (*path, step)
        yield from places(one, (*path, step))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value.__dict__[step] if isinstance(value, BaseModel) else value[step]
    return value


def careless_with(value: Any) -> list[Edit]:
    """List what may be done to a value: mostly what nearly fits."""
    if isinstance(value, BaseModel):
        return [
            _broken,
            _equal,
            lambda value: {**value.__dict__},
            lambda value: value.model_copy(),
            lambda value: _with_fields(value, {**value.__dict__, "other": 1}),
            lambda value: _with_fields(value, dict([*value.__dict__.items()][:-1])),
            # The same values in the same order, under names that are turned round.
            lambda value: _with_fields(
                value, dict(zip(reversed(value.__dict__), value.__dict__.values(), strict=True))
            ),
        ]
    if isinstance(value, dict):
        return [
            lambda value: {**value, "r": "many"},
            lambda value: {**value, "r": _broken([*value.values()][-1])},
            lambda value: {**value, "r": _equal([*value.values()][-1])},
            lambda value: {f"{name}\ud800": one for name, one in value.items()},
            lambda value: dict(enumerate(value.values())),
            lambda value: {name: _equal(one) for name, one in value.items()},
            lambda value: value.update(r="many") or value,
            lambda value: value.clear() or value,
        ]
    if isinstance(value, list | tuple):
        return [
            lambda value: type(value)([*value, "many"]),
            lambda value: type(value)([*value, _broken(value[-1])]),
            lambda value: type(value)([_broken(value[0]), *value]),
            lambda value: type(value)([*value, _equal(value[-1])]),
            _equal,
            lambda value: value[:-1],
            lambda value: value.append("many") or value,
            lambda value: [*value],
        ]
    if isinstance(value, set | frozenset):
        return [
            lambda value: type(value)([*value, "\ud800"]),
            lambda value: type(value)([*value, 10**5000]),
            lambda value: type(value)([*value, "5", None]),
        ]
    return [
        lambda value: value,
        lambda value: _equal(value),
        lambda value: 10**5000 if isinstance(value, int) else f"{value}\ud800",
        lambda value: -value if isinstance(value, int) else f"{value} ",
        lambda value: "many",
    ]


def _with_fields(value: BaseModel, fields: dict[str, Any]) -> BaseModel:
    made = value.model_copy()
    object.__setattr__(made, "__dict__", fields)
    return made


def _broken(value: Any) -> Any:
    """Return a copy of a model that does not fit it; of anything else something that seldom fits."""
    if isinstance(value, BaseModel):
        return value.model_copy(update=dict.fromkeys(value.__dict__, -1))
    return "many"


def _equal(value: Any) -> Any:
    """Return something that equals a value and is of another type, if there is anything."""
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: _equal(one) for name, one in value.__dict__.items()})
    if isinstance(value, list | tuple):
        return type(value)(map(_equal, value))
    if isinstance(value, int):
        return {0: False, 1: True}.get(value, Decimal(value))
    return float(value) if isinstance(value, Decimal) else value


@st.composite
def edits(draw: st.DrawFn, state: BaseModel) -> Edit:
    """Draw what a careless command does to this state."""
    found = sorted(places(state), key=len, reverse=True)
    path = draw(st.sampled_from([*found, *(one for one in found if len(one) > 1)]))
    junk = draw(st.sampled_from(JUNK))
    do = draw(st.sampled_from([*careless_with(at(state, path)), lambda _: junk]))
    how = draw(st.sampled_from(["by copies", "by copies", "by force", "in place"]))
    refuses = draw(st.sampled_from([False] * 5 + [True]))

    def edit(state: Any) -> Any:
        made = _edited(state, path, do, how)
        if refuses:
            raise LookupError("changed its mind")
        return made

    return edit


def _edited(value: Any, path: tuple[Any, ...], do: Edit, how: str) -> Any:
    """Do something at a place: in copies of all that holds it, past the models, or by editing what can be."""
    if not path:
        return do(value)
    step, *rest = path
    if isinstance(value, BaseModel):
        made = _edited(value.__dict__[step], tuple(rest), do, how)
        if (
            how == "in place" and made is value.__dict__[step]
        ):  # a list or a dict below it was edited
            return value
        if how == "by force":
            value = value.model_copy()
            object.__setattr__(value, step, made)
            return value
        return value.model_copy(update={step: made})
    made = _edited(value[step], tuple(rest), do, how)
    if how == "in place" and not isinstance(value, tuple):
        value[step] = made
        return value
    if isinstance(value, dict):
        return {**value, step: made}
    return type(value)([*value[:step], made, *value[step + 1 :]])


EDITS: list[Edit] = []
MADE: list[Any] = []


class Careless(Command[Any, Any]):
    op: Literal["careless"] = "careless"

    def apply(self, state: Any, context: Any) -> Any:
        made = EDITS[-1](state)
        MADE.append(exact(made))
        return made


@tried(400)
@given(data=st.data())
def test_a_careless_command_is_refused_and_changes_nothing_or_can_be_resumed(
    data: st.DataObject,
) -> None:
    plain = data.draw(st.sampled_from([True, True, False]))
    kind = data.draw(models(plain, 2))
    state = data.draw(kind.values)
    edit = data.draw(edits(state))

    try:
        initial = write_state(state)
    except Exception:  # such a state cannot even begin
        return
    asyncio.run(_try(kind.annotation, state, initial, edit))


async def _try(kind: type[BaseModel], state: BaseModel, initial: str, edit: Edit) -> None:
    EDITS[:] = [edit]
    outcomes = []
    for paper in (Paper(), None):
        start = copy.deepcopy(state)
        shared = SharedState(start, None, journal=paper)
        before = copy.deepcopy(start)
        MADE.clear()
        failure: Exception | None = None
        try:
            await shared.apply(Careless(), actor="somebody")
        except Exception as error:
            failure = error
        outcomes.append((type(failure), exact(shared.state)))
        if failure is not None:
            assert (shared.version, shared.state) == (0, before), failure
            assert not paper or not paper.entries
            # To put an equal object into a list in place is an edit too.
            in_place = "edited the state" in str(failure)
            assert not MADE or in_place or MADE[0] != exact(before), "what stayed is no fault"
        elif paper is not None:
            stored = StoredState(
                "it", 1, datetime(2026, 1, 1, tzinfo=UTC), initial, None, (*paper.entries,), paper
            )
            again = SharedState.restored(stored, kind, None)
            assert (again.version, exact(again.state)) == (1, exact(shared.state))
            # What can be resumed can be resumed again: the second time nothing may be different.
            assert write_state(again.state)
            assert not [*differences(paper.entries[-1].state, again.state)]
    assert outcomes[0] == outcomes[1], "a journal decides what is refused"


def _rename(form: dict[str, Any], name: str, how: int) -> None:
    swapped = name.translate(str.maketrans("01", "10"))
    form[("other", name.upper(), swapped)[how]] = form.pop(name)


@st.composite
def other_forms(draw: st.DrawFn, form: Any) -> Any:
    """Draw the JSON of another release.

    One field has another name, which may be an alias, is missing, is new, is computed, or has another type.
    """
    form = copy.deepcopy(form)
    path = draw(st.sampled_from([(), *places(form)]))
    *above, last = path or [None]
    value = at(form, path)
    ways: list[Callable[[], Any]] = []
    if isinstance(value, dict):
        names = st.sampled_from([*value])
        ways += [lambda: value.update(new=1)]
        ways += [lambda: _rename(value, draw(names), draw(st.integers(0, 2)))] if value else []
        ways += [lambda: value.update(length=draw(st.integers(0, 9)))] if "name" in value else []
        ways += [lambda: value.pop(draw(names))] if value else []
    elif isinstance(value, list):
        ways += [lambda: value.append(copy.deepcopy(value[0]) if value else 1)]
    elif path:
        others = [str(value), f"x{value}", None, True, 1, 0, 1.5, [value], {"a": value}]
        if isinstance(value, int):
            others += [bool(value), float(value), value + 1]
        ways += [lambda: at(form, tuple(above)).__setitem__(last, draw(st.sampled_from(others)))]
    if ways:
        draw(st.sampled_from(ways))()
    return form


@tried(150)
@given(data=st.data())
def test_a_state_of_another_release_is_read_unchanged_or_refused(data: st.DataObject) -> None:
    kind = data.draw(models(True, 2) | models(False, 2) | st.sampled_from(RENAMED))
    state = data.draw(kind.values)
    try:
        form = json.loads(write_state(state))
    except Unstorable:
        return
    other = data.draw(other_forms(form))

    try:
        value = read_state(kind.annotation, json.dumps(other), "It")
    except JournalFault:
        assert json_of(other, state) != json_of(form, state), "what was written is read"
        return

    assert json_of(json.loads(write_state(value)), value) == json_of(other, value)


def json_of(form: Any, value: Any) -> Any:
    """Return what counts in a state's JSON: neither aliases, computed fields nor the order of a set.

    JSON tells ``True`` from 1, and 1 from nothing that equals it.

    Args:
        form: The JSON.
        value: What was read from it, or nearly it.
    """
    while isinstance(value, RootModel):
        value = value.root
    if isinstance(form, dict):
        held = value.__dict__ if isinstance(value, BaseModel) else value
        inside: dict[Any, Any] = held if isinstance(held, dict) else {}
        kind = type(value) if isinstance(value, BaseModel) else BaseModel
        aliases: dict[Any, Any] = {field.alias: name for name, field in kind.model_fields.items()}
        named = {
            one if one in kind.model_fields else aliases.get(one, one): form[one] for one in form
        }
        return {
            name: json_of(one, inside.get(name))
            for name, one in named.items()
            if name not in kind.model_computed_fields
        }
    if isinstance(form, list):
        parts = value if isinstance(value, list | tuple) else ()
        found = [json_of(one, part) for one, part in zip_longest(form, parts[: len(form)])]
        return sorted(found, key=repr) if isinstance(value, set | frozenset) else found
    if isinstance(form, float) and form.is_integer():
        form = int(form)
    return "number" if type(form) in (int, float) else type(form).__name__, form


def exact(value: Any) -> Any:
    """Return what tells apart also what is equal: ``True`` and 1.0 equal 1."""
    if isinstance(value, BaseModel):
        extra = value.__pydantic_extra__ or {}
        return type(value), exact({**value.__dict__, **extra})
    if isinstance(value, dict):
        return [(exact(name), exact(one)) for name, one in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [exact(one) for one in value]
    if isinstance(value, set | frozenset):
        return type(value), {(type(one), one) for one in value}
    if isinstance(value, datetime | time):
        return type(value), value.isoformat()  # its offset, whichever class it is of
    return type(value), value if isinstance(value, int) else repr(value)
