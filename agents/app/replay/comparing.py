"""Compares the expected fields of a state with the actual ones."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

_TIMES = frozenset({"when", "ready_at", "created_at", "updated_at"})


def differences(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> Iterator[str]:
    """Yield every difference between the expected fields and the actual ones.

    Only expected fields are compared. Lists have to be complete, in any order.

    >>> list(differences({"total": 900, "tip": 0}, {"total": 1350, "tip": 0, "stage": "open"}))
    ['total is 1350, not 900']
    """
    yield from _differences(expected, actual, "")


def _differences(
    expected: Mapping[str, Any], actual: Mapping[str, Any], where: str
) -> Iterator[str]:
    for name, wanted in expected.items():
        place = f"{where}{name}"
        if name not in actual:
            yield f"{place} does not exist"
            continue
        found = actual[name]
        if isinstance(wanted, Mapping) and isinstance(found, Mapping):
            yield from _differences(wanted, found, f"{place}.")
        elif isinstance(wanted, list | tuple) and isinstance(found, list):
            yield from _unmatched(wanted, found, place)
        elif not _same(wanted, found, name):
            yield f"{place} is {_shown(found)}, not {_shown(wanted)}"


def _unmatched(wanted: Sequence[Any], found: Sequence[Any], place: str) -> Iterator[str]:
    """Yield expected list members without a match, and members left over."""
    partner: dict[int, int] = {}
    alone = [one for one in range(len(wanted)) if not _pair(one, wanted, found, partner, set())]
    for one in alone:
        yield f"{place} has no {_shown(wanted[one])}"
    for place_there, member in enumerate(found):
        if place_there not in partner:
            yield f"{place} has {_shown(member)}, which was not expected"


def _pair(
    one: int, wanted: Sequence[Any], found: Sequence[Any], partner: dict[int, int], tried: set[int]
) -> bool:
    """Match an expected member with an actual one, reassigning others where needed."""
    for there, member in enumerate(found):
        if there in tried or not _fits(wanted[one], member):
            continue
        tried.add(there)
        if there not in partner or _pair(partner[there], wanted, found, partner, tried):
            partner[there] = one
            return True
    return False


def _fits(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return not any(_differences(wanted, found, ""))
    return _same(wanted, found, "")


def _same(wanted: Any, found: Any, name: str) -> bool:
    if isinstance(wanted, Decimal) and isinstance(found, int | float):
        return wanted == Decimal(str(found))
    if name in _TIMES and isinstance(wanted, str) and isinstance(found, str):
        return wanted == found or _same_time(wanted, found)
    return bool(wanted == found)


def _same_time(wanted: str, found: str) -> bool:
    try:
        asked, there = datetime.fromisoformat(wanted), datetime.fromisoformat(found)
    except ValueError:
        return False
    return asked == (there if asked.tzinfo else there.replace(tzinfo=None))


def _shown(value: Any) -> str:
    """Format a value as in a file, shortened.

    >>> _shown({"name": "Margherita", "note": None, "modifications": []})
    '{"name": "Margherita"}'
    """
    if isinstance(value, Mapping):
        value = {key: inner for key, inner in value.items() if inner not in (None, [], (), {})}
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 300 else f"{text[:300]} …"
