"""Whether the packages this application runs on are its own.

``agents``, ``rpc`` and ``state`` are names that another distribution or a stray folder may carry as well.
"""

from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path

OURS = ("agents", "rpc", "state")


def strangers(names: Iterable[str] = OURS) -> tuple[str, ...]:
    """Name every package that would be imported from elsewhere, with where that is."""
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
