"""Checks that the packages this application imports are its own.

Another distribution or a stray folder may provide ``agents``, ``rpc`` or ``state`` too.
"""

from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path

OURS = ("agents", "rpc", "state")


def foreign_packages(names: Iterable[str] = OURS) -> tuple[str, ...]:
    """List every package that would be imported from elsewhere, with its location."""
    home = Path(__file__).resolve().parent.parent
    found = {name: _place(name) for name in names}
    return tuple(
        f"the package {name} is not this project's own: {place or 'there is none'}"
        for name, place in found.items()
        if place is None or place.parent != home
    )


def _place(name: str) -> Path | None:
    spec = PathFinder.find_spec(name)
    if spec is None:
        return None
    folder = next(iter(spec.submodule_search_locations or ()), None) or spec.origin
    return Path(folder).resolve() if folder else None
