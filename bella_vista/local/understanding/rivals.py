"""Finds the reading that makes another order at nearly the same cost: the guest is asked which they mean."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from bella_vista.local.english.sentences import line_words, listed, say
from bella_vista.local.understanding.held import Held
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.meaning import Draft, Question
from bella_vista.local.understanding.states import Reading

DOUBT, DOUBT_OF_NEW = 0.3, 0.12
"""How much dearer a reading may be to be asked about; and where there is nothing on the order yet."""
_NOTHING = frozenset(("", "filler", "aside"))
_JOINING = frozenset(("on", "to", "for", "with", "and", "or", "but"))
_LISTS = ("modifications", "parts")


def leaves_more(one: Reading, other: Reading) -> bool:
    """Whether a reading takes words for nothing, or only to join others, that another one uses."""
    return bool(_left(one, _NOTHING | _JOINING) - _left(other, _NOTHING | _JOINING))


def is_fuller(one: Reading, other: Reading) -> bool:
    """Whether a reading uses words that another one takes for nothing, and all others as well."""
    return _left(one, _NOTHING | {"add"}) < _left(other, _NOTHING | {"add"})


def _left(reading: Reading, kinds: frozenset[str]) -> set[int]:
    return {
        place
        for step in reading.steps
        if step.edge.does in kinds
        for place in range(step.first, max(step.first + 1, step.edge.end))
    }


def says_less(one: Sequence[Draft], other: Sequence[Draft]) -> bool:
    """Whether commands say nothing that others do not say as well."""
    return not _facts(one) - _facts(other)


def _facts(drafts: Sequence[Draft]) -> Counter[tuple[Any, ...]]:
    facts: Counter[tuple[Any, ...]] = Counter()
    for draft in drafts:
        about = draft.op, draft.fields.get("line_id"), draft.fields.get("name")
        facts[about] += 1
        for field, value in draft.fields.items():
            for one in value if field in _LISTS else (value,):
                words = one.split() if field == "modifications" else [str(one)]
                facts.update((*about, field, word) for word in words)
    return facts


def either(
    meant: Sequence[Draft], rival: Sequence[Draft], known: Sequence[Item], held: Held
) -> Question | None:
    """Ask which of two orders is meant; nothing where both come to the same.

    Args:
        meant: The commands of the better reading.
        rival: The commands of the other one.
        known: The lines of the order.
        held: What the lines of an order hold.
    """
    orders = [
        [line.shown() for line in held.lines(drafts, (), known) if line.quantity > 0]
        for drafts in (meant, rival)
    ]
    told: list[str] = []
    for own, other in (orders, reversed(orders)):
        words = [line_words(line) for line in own if line not in other]
        ids = [line["id"] for line in own]
        gone = (line for line in other if line["id"] and line["id"] not in ids)
        told.append(listed([*words, *(say("none of", name=line["name"]) for line in gone)]))
    if not all(told) or told[0] == told[1]:
        return None
    waits = tuple(
        tuple(draft for draft in own if draft not in other)
        for own, other in ((meant, rival), (rival, meant))
    )
    return Question("either", {"possible": tuple(told), "orders": waits})
