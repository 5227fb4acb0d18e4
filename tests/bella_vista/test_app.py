"""The restaurant's declaration: what it imports only when it is called."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from agents.app.importing import loaded
from bella_vista.app import APP


def imported_later(part: Any) -> Iterator[str]:
    for one in fields(part):
        value = getattr(part, one.name)
        for each in value.values() if isinstance(value, Mapping) else (value,):
            if isinstance(each, partial):
                yield each.args[0]
            elif is_dataclass(each):
                yield from imported_later(each)


def test_everything_that_is_imported_later_is_a_function_that_exists() -> None:
    paths = list(imported_later(APP))

    assert len(paths) > 10
    assert all(callable(loaded(path)) for path in paths)
