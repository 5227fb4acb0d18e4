"""What was said around one name, put together: how much of it, where, how many."""

from collections.abc import Sequence
from dataclasses import dataclass

from state.menu.english import Mark
from state.menu.model import NO, Portion


@dataclass(frozen=True, slots=True)
class Marks:
    """What was said around a name.

    Args:
        exact: The group's own word for the amount, when it was said.
        times: What "double" or "triple" means in a group that is counted.
        trailing: Whether some of it followed the name.
        added: Whether it was said in so many words that it is wanted: "add", "with".
    """

    amount: str | None = None
    exact: str = ""
    times: int = 1
    portion: Portion | None = None
    count: int | None = None
    trailing: bool = False
    added: bool = False


def combined(heard: Sequence[tuple[Mark, bool]]) -> Marks | None:
    """Put together what was said around one name; ``None`` where it contradicts itself."""
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
