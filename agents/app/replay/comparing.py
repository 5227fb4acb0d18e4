"""Compares the expected fields of a state with the actual ones."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from operator import eq
from typing import Any, get_args

from pydantic import AwareDatetime, BaseModel, FutureDatetime, NaiveDatetime, PastDatetime

from agents.app.conversation_files.writing import flow
from state.shared.shapes import shape_of

_TIMES: tuple[Any, ...] = (datetime, AwareDatetime, NaiveDatetime, PastDatetime, FutureDatetime)

_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that is not as expected. The values are written as in a file.

    Args:
        field: Its place, as ``items[Tea].size``.
        expected: The expected value; ``None`` if no field was expected.
        actual: The actual value; ``None`` if there is no such field.
    """

    field: str
    expected: str | None
    actual: str | None

    def __str__(self) -> str:
        if self.actual is None:
            return f"{self.field}: expected {self.expected}, there is none"
        if self.expected is None:
            return f"{self.field}: not expected: {self.actual}"
        return f"{self.field}: expected {self.expected}, got {self.actual}"


def time_fields(state: type[BaseModel]) -> frozenset[str]:
    """Return the names of the fields of a state, and of the models in it, that hold times."""
    return frozenset(
        name
        for model in shape_of(state).models
        for name, field in model.model_fields.items()
        if _holds_time(field.annotation)
    )


def _holds_time(annotation: Any) -> bool:
    return annotation in _TIMES or any(map(_holds_time, get_args(annotation)))


def differences(
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    times: Collection[str] = (),
    same: Callable[[str, str], bool] = eq,
) -> Iterator[Difference]:
    """Yield every difference between the expected fields and the actual ones.

    Only expected fields are compared. Lists must be complete; their order does not count. An expected
    list member without a match is compared with the one that has the same first field, such as a name.

    Args:
        expected: The fields of a file.
        actual: The fields of the state's view.
        times: The names of the fields that hold times. Texts of the same time are equal; one without
            a UTC offset is a local time in the other's zone.
        same: Whether an expected text and an actual one mean the same.

    >>> [str(one) for one in differences({"total": 900, "tip": 0}, {"total": 1350, "tip": 0})]
    ['total: expected 900, got 1350']
    >>> lines = [{"name": "Cola", "size": "can"}], [{"name": "Cola", "size": "bottle"}]
    >>> [str(one) for one in differences({"lines": lines[0]}, {"lines": lines[1]})]
    ['lines[Cola].size: expected can, got bottle']
    """
    yield from _Comparison(frozenset(times), same).of_mappings(expected, actual, "")


@dataclass(frozen=True, slots=True)
class _Comparison:
    times: frozenset[str]
    same: Callable[[str, str], bool]

    def of_mappings(
        self,
        expected: Mapping[str, Any],
        actual: Mapping[str, Any],
        where: str,
        *,
        of_times: bool = False,
    ) -> Iterator[Difference]:
        for name, wanted in expected.items():
            place, is_time = f"{where}{name}", of_times or name in self.times
            if name not in actual:
                yield Difference(place, _shown(wanted), None)
                continue
            found = actual[name]
            if isinstance(wanted, Mapping) and isinstance(found, Mapping):
                yield from self.of_mappings(wanted, found, f"{place}.", of_times=is_time)
            elif isinstance(wanted, list | tuple) and isinstance(found, list):
                yield from self._unmatched(wanted, found, place, is_time)
            elif not self._same(wanted, found, is_time):
                yield Difference(place, _shown(wanted), _shown(found))

    def _unmatched(
        self, wanted: Sequence[Any], found: Sequence[Any], place: str, is_time: bool
    ) -> Iterator[Difference]:
        """Yield the differences of list members without a match, expected ones and those left over."""
        partner: dict[int, int] = {}
        alone = [
            one
            for one in range(len(wanted))
            if not self._pair(one, wanted, found, partner, set(), is_time)
        ]
        left = [there for there in range(len(found)) if there not in partner]
        for one in alone:
            alike = {there: list(self._alike(wanted[one], found[there], place)) for there in left}
            near = min(
                (there for there in left if alike[there]),
                key=lambda there: len(alike[there]),
                default=None,
            )
            if near is None:
                yield Difference(place, _shown(wanted[one]), None)
            else:
                left.remove(near)
                yield from alike[near]
        for there in left:
            yield Difference(place, None, _shown(found[there]))

    def _alike(self, wanted: Any, found: Any, place: str) -> Iterator[Difference]:
        """Yield the differences of two list members that have their first field in common."""
        if not (isinstance(wanted, Mapping) and isinstance(found, Mapping)) or not wanted:
            return
        first, name = next(iter(wanted.items()))
        if first in found and self._same(name, found[first], first in self.times):
            yield from self.of_mappings(wanted, found, f"{place}[{_shown(name)}].")

    def _pair(
        self,
        one: int,
        wanted: Sequence[Any],
        found: Sequence[Any],
        partner: dict[int, int],
        tried: set[int],
        is_time: bool,
    ) -> bool:
        """Match an expected member with an actual one, reassigning others where needed."""
        for there, member in enumerate(found):
            if there in tried or not self._fits(wanted[one], member, is_time):
                continue
            tried.add(there)
            if there not in partner or self._pair(
                partner[there], wanted, found, partner, tried, is_time
            ):
                partner[there] = one
                return True
        return False

    def _fits(self, wanted: Any, found: Any, is_time: bool) -> bool:
        if isinstance(wanted, Mapping) and isinstance(found, Mapping):
            return not any(self.of_mappings(wanted, found, ""))
        return self._same(wanted, found, is_time)

    def _same(self, wanted: Any, found: Any, is_time: bool) -> bool:
        if isinstance(wanted, Decimal) and isinstance(found, int | float):
            return wanted == Decimal(str(found))
        if not (isinstance(wanted, str) and isinstance(found, str)):
            return bool(wanted == found)
        return self.same(wanted, found) or (is_time and _same_time(wanted, found))


def _same_time(wanted: str, found: str) -> bool:
    try:
        asked, there = datetime.fromisoformat(wanted), datetime.fromisoformat(found)
    except ValueError:
        return False
    return asked == (there if asked.tzinfo else there.replace(tzinfo=None))


def _shown(value: Any) -> str:
    """Format a value as in a file, shortened.

    >>> _shown({"name": "Margherita", "note": None, "modifications": []})
    '{name: Margherita}'
    """
    if isinstance(value, Mapping):
        value = {key: inner for key, inner in value.items() if inner not in (None, [], (), {})}
    text = flow(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
