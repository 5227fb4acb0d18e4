"""Changes of all but some: "everything large except the chai"."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.meaning import Question
from bella_vista.local.understanding.order.outcome import NOT_THERE, Outcome
from bella_vista.local.understanding.order.targets import sized, targets
from bella_vista.local.understanding.readings.said import Said


def excepted(out: Outcome, following: Sequence[Said]) -> tuple[list[Item], bool]:
    """Return what is excepted from what is said before the rest of a reading, and whether all is there."""
    found: list[Item] = []
    there = True
    for said in following:
        if not said.excepted:
            break
        meant = _meant(out, said)
        if said.number and len(meant) == 1 and said.number < (meant[0].quantity or 1):
            meant = [out.pieces(meant[0], said.number)]  # "all but one of the teas"
        found += meant
        there = there and bool(meant)
    return found, there


def made_otherwise(out: Outcome, said: Said) -> None:
    """Change what was excepted, where it is said how it is to be: "all large except the chai, small"."""
    found = _meant(out, said) if not said.article else []
    if not found:
        out.penalty += NOT_THERE
        out.not_found(said)
    elif len(found) > 1 and not (said.plural or said.number):
        out.questions.append(Question("unclear", {"words": said.words or said.ref}))
    elif said.become is not None or said.described:
        out.change_each(replace(said.become or said, head=None, ref="", count=None), found)
    if found:
        out.spoken = found[-1]


def _meant(out: Outcome, said: Said) -> list[Item]:
    """Return what an exception names; what tells it from others is no wish."""
    if said.head is None and not said.ref and said.ordinal is None and not said.number:
        return []
    as_it_is = replace(said, verb="instead-of", options=[*said.options])
    found = targets(out, as_it_is)
    if said.become is None:
        said.options = as_it_is.options
        if found and said.size and sized(out, found, said.size.words) == found:
            said.size = None
    return found
