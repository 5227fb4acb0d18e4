"""Whatever a careless command makes of a nested state: it is refused and nothing changed, or it can be resumed.

The models are drawn: models in models, tuples, dicts, lists, unions, aliases, validators, computed fields. The
commands write through ``model_copy``, which checks nothing, or edit in place what they were given.
"""

import asyncio
import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Union
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    computed_field,
    create_model,
    field_validator,
)

from state.shared import Command, SharedState
from state.shared.forms import written
from state.shared.journal import Stored
from tests.state.properties.effort import tried
from tests.state.shared.board import Paper


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


class Grows(BaseModel):
    """Is another one each time it is validated: such a model can only be refused."""

    name: Annotated[str, BeforeValidator(lambda text: f"{text}!" if text else text)] = ""


@dataclass(frozen=True)
class Kind:
    """A type, and values that fit."""

    annotation: Any
    values: st.SearchStrategy[Any]


LEAVES = [
    Kind(int, st.integers()),
    Kind(Annotated[int, Field(ge=0, le=9)], st.integers(0, 9)),
    Kind(bool, st.booleans()),
    Kind(str, st.text(max_size=4)),
    Kind(Decimal, st.decimals(allow_nan=False, allow_infinity=False, places=2)),
    Kind(float, st.floats(allow_nan=False, allow_infinity=False)),
    Kind(date, st.dates()),
    Kind(datetime, st.datetimes(timezones=st.just(UTC) | st.none())),
    Kind(timedelta, st.timedeltas(timedelta(-9), timedelta(9))),
    Kind(UUID, st.uuids()),
    Kind(Colour, st.sampled_from(Colour)),
    Kind(Mixed, st.sampled_from(Mixed)),
    Kind(Literal["x", "y"], st.sampled_from(["x", "y"])),
    Kind(Literal[1, "1"], st.sampled_from([1, "1"])),
    Kind(bytes, st.binary(max_size=3)),
    Kind(Any, st.none() | st.integers() | st.lists(st.integers(), max_size=2)),
    Kind(Annotated[str, AfterValidator(str.strip)], st.just("z")),
    Kind(Annotated[str, PlainSerializer(str.upper)], st.sampled_from(["Z", "z"])),
    Kind(Base, st.builds(Base, a=st.integers(0, 3))),
    Kind(More, st.builds(More)),
    Kind(Rounded, st.builds(Rounded, name=st.sampled_from(["", "ann"]))),
    Kind(Grows, st.just(Grows())),
]


def grown(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    """Draw kinds that hold others."""
    return st.one_of(
        inner.map(lambda one: Kind(of(tuple, one.annotation, ...), few(one).map(tuple))),
        inner.map(lambda one: Kind(of(list, one.annotation), few(one))),
        inner.map(lambda one: Kind(of(dict, str, one.annotation), named(one))),
        inner.map(lambda one: Kind(of(Mapping, str, one.annotation), named(one))),
        inner.map(lambda one: Kind(one.annotation | None, st.none() | one.values)),
        st.tuples(inner, inner).map(
            lambda two: Kind(
                of(Union, two[0].annotation, two[1].annotation),
                two[0].values | two[1].values,
            )
        ),
        models(inner),
    )


def of(origin: Any, *arguments: Any) -> Any:
    """Make a container's type of types that are known only now."""
    return origin[arguments[0] if arguments[1:] == () else arguments]


def few(kind: Kind) -> st.SearchStrategy[list[Any]]:
    return st.lists(kind.values, max_size=2)


def named(kind: Kind) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(["p", "q"]), kind.values, max_size=2)


@st.composite
def models(draw: st.DrawFn, inner: st.SearchStrategy[Kind]) -> Kind:
    """Draw a model of one to three fields, some of them under another name outside."""
    kinds = draw(st.lists(inner, min_size=1, max_size=3))
    fields: dict[str, Any] = {}
    for number, kind in enumerate(kinds):
        alias = draw(st.sampled_from([None, None, f"F{number}", f"f{1 - number}"]))
        left_out = draw(st.sampled_from([False] * 9 + [True]))
        fields[f"f{number}"] = (kind.annotation, Field(alias=alias, exclude=left_out))
    config = ConfigDict(
        frozen=draw(st.booleans()),
        extra=draw(st.sampled_from(["ignore", "forbid", "allow"])),
        strict=draw(st.sampled_from([False, False, True])),
        serialize_by_alias=draw(st.booleans()),
        arbitrary_types_allowed=True,
    )
    model = create_model("Drawn", __config__=config, **fields)

    def make(values: tuple[Any, ...]) -> BaseModel:
        given = {f"f{number}": value for number, value in enumerate(values)}
        return model.model_validate(given, by_alias=False, by_name=True)

    return Kind(model, st.tuples(*(kind.values for kind in kinds)).map(make))


JUNK = st.sampled_from(
    [
        *("many", "5", -3, 5, True, None, 1.5, math.inf, math.nan, "\ud800", b"\xff", ()),
        *([], {}, {"a": -1}, object(), Base(a=1), More(b=2), Base.model_construct(a=-1)),
        *(Rounded.model_construct(name=" ann "), Grows(name="x"), Colour.RED, Decimal("1.0")),
        *(datetime(2026, 1, 1, tzinfo=UTC), date(2026, 1, 1), frozenset({1}), 10**5000, "ann"),
    ]
)


@st.composite
def edits(draw: st.DrawFn) -> Callable[[Any], Any]:
    """Draw what a careless command does to what it is given."""
    steps = draw(st.lists(st.integers(0, 3), max_size=4))
    junk = draw(st.sampled_from(["value", "iterator"]))
    value = draw(JUNK)
    in_place = draw(st.booleans())
    refuses = draw(st.sampled_from([False, False, True]))

    def edit(state: Any) -> Any:
        made = _put(state, steps, iter([value]) if junk == "iterator" else value, in_place)
        if refuses:
            raise LookupError("changed its mind")
        return made

    return edit


def _put(value: Any, steps: list[int], junk: Any, in_place: bool) -> Any:
    """Put junk somewhere into a value: by copies, or by editing what can be edited."""
    if not steps:
        return junk
    step, *rest = steps
    if isinstance(value, BaseModel):
        names = [*type(value).model_fields]
        name = names[step % len(names)]
        made = _put(getattr(value, name), rest, junk, in_place)
        if in_place and not value.model_config.get("frozen"):
            setattr(value, name, made)
            return value
        return value.model_copy(update={name: made})
    if isinstance(value, dict):
        name = ["p", "q"][step % 2]
        made = _put(value.get(name), rest, junk, in_place)
        if in_place:
            value[name] = made
            return value
        return {**value, name: made}
    if isinstance(value, list | tuple) and value:
        at = step % len(value)
        made = _put(value[at], rest, junk, in_place)
        if in_place and isinstance(value, list):
            value[at] = made
            return value
        return type(value)([*value[:at], made, *value[at + 1 :]])
    return junk


EDITS: list[Callable[[Any], Any]] = []


class Careless(Command[Any, Any]):
    op: Literal["careless"] = "careless"

    def apply(self, state: Any, context: Any) -> Any:
        return EDITS[-1](state)


KINDS = st.recursive(st.sampled_from(LEAVES), grown, max_leaves=5)


@tried(400)
@given(data=st.data())
def test_a_careless_command_is_refused_and_changes_nothing_or_can_be_resumed(
    data: st.DataObject,
) -> None:
    kind = data.draw(models(KINDS))
    state = data.draw(kind.values)
    edit = data.draw(edits())

    try:
        initial = written(state)
    except Exception:  # such a state cannot even begin
        return
    asyncio.run(_try(kind.annotation, state, initial, edit))


async def _try(
    kind: type[BaseModel], state: BaseModel, initial: str, edit: Callable[[Any], Any]
) -> None:
    EDITS.append(edit)
    outcomes = []
    for paper in (Paper(), None):
        start = copy.deepcopy(state)
        shared = SharedState(start, None, journal=paper)
        before = copy.deepcopy(start)
        failure: Exception | None = None
        try:
            await shared.apply(Careless(), actor="somebody")
        except Exception as error:
            failure = error
        outcomes.append((type(failure), shared.state))
        if failure is not None:
            assert (shared.version, shared.state) == (0, before), failure
            assert not paper or not paper.entries
        elif paper is not None:
            stored = Stored(
                "it", 1, datetime(2026, 1, 1, tzinfo=UTC), initial, None, (*paper.entries,), paper
            )
            again = SharedState.restored(stored, kind, None)
            assert (again.version, again.state) == (1, shared.state)
            # What can be resumed can be resumed again: the second time nothing may be different.
            assert written(again.state) == paper.entries[-1].state
    assert outcomes[0] == outcomes[1], "a journal decides what is refused"
