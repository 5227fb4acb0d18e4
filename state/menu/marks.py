"""Combines the words around one name: amount, half, count."""

from collections.abc import Sequence
from dataclasses import dataclass

from state.menu.english import Mark
from state.menu.model import NO, Portion


@dataclass(frozen=True, slots=True)
class Marks:
    """The meaning of the words around a name.

    Args:
        exact: The group's own name for the amount, if it was used.
        times: The factor of "double" or "triple" in a counted group.
        trailing: Whether some of the words followed the name.
        added: Whether a word asks for it explicitly: "add", "with".
    """

    amount: str | None = None
    exact: str = ""
    times: int = 1
    portion: Portion | None = None
    count: int | None = None
    trailing: bool = False
    added: bool = False


def combined(heard: Sequence[tuple[Mark, bool]]) -> Marks | None:
    """Combine the words around one name; ``None`` if they contradict each other."""
    amounts: list[Mark] = []
    portions: set[Portion] = set()
    count: int | None = None
    taking = off = trailing = added = False
    for mark, after in heard:
        if mark.kind == "filler":
            continue
        if mark.kind == "add":
            added = True
            continue
        trailing = trailing or after
        if mark.kind == "amount":
            amounts.append(mark)
        elif mark.portion is not None:
            portions.add(mark.portion)
        elif mark.kind == "count":
            count = mark.times if count is None else count * mark.times
        elif mark.kind == "take":
            taking = True
        else:
            off = True
    if off:
        amounts = [Mark("amount", NO)]
    elif taking or len(portions) > 1:
        return None
    kinds = {mark.amount for mark in amounts}
    if NO in kinds or count == 0:
        return Marks(amount=NO, portion=next(iter(portions), None), trailing=trailing)
    if len(kinds) > 1:
        return None
    times = 1
    for mark in amounts:
        times *= mark.times
    return Marks(
        amount=next(iter(kinds), None),
        exact=next((mark.exact for mark in amounts if mark.exact), ""),
        times=times,
        portion=next(iter(portions), None),
        count=count,
        trailing=trailing,
        added=added,
    )
