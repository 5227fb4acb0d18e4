"""Finds the reading that makes another order at nearly the same cost: the guest is asked which they mean."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from bella_vista.local.english.sentences import line_words, listed, say
from bella_vista.local.understanding.deciding.held import Held
from bella_vista.local.understanding.grammar.states import Reading
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.meaning import Draft, Question
from bella_vista.local.understanding.menu.index import Index
from bella_vista.local.understanding.readings.said import Said

DOUBT, DOUBT_OF_NEW = 0.3, 0.12
"""How much dearer a reading may be to be asked about; and where there is nothing on the order yet."""
_NOTHING = frozenset(("", "filler", "aside"))
_JOINING = frozenset(("on", "to", "for", "with", "and", "or", "but"))
_AGAIN = ("same", "again")
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


def in_all(
    meant: Sequence[Draft],
    said: Sequence[Said],
    known: Sequence[Item],
    index: Index,
    *,
    restates: bool,
) -> list[Draft]:
    """Return commands by which there are so many in all of what is there and is named again.

    "Two colas", where there is a cola, are two more. But "no ice in the tea, and two colas" speaks of what is
    there, and so do "two colas" where there are three, and "so two colas": either may be meant.

    Args:
        meant: The commands of a reading, which orders so many more.
        said: The reading, item by item.
        known: The lines of the order.
        index: The menu's names.
        restates: Whether the line begins with a word that sums up: "so".
    """
    lines = [item.line for item in known if item.line is not None]
    speaks = restates or any(map(_speaks_of_what_is_there, said))
    touched = {draft.fields.get("line_id") for draft in meant}
    rival: list[Draft] = []
    for draft in meant:
        given = dict(draft.fields)
        there = [line for line in lines if line.name == given.get("name")]
        told = [one for one in said if there and one.mask & index.bit(there[0].name)]
        again = len(there) == 1 and there[0].id not in touched and not given.get("parts")
        copied = any(one.ref in _AGAIN for one in said)  # "the same, but his eggs scrambled"
        if draft.op == "add_item" and again and told and not (copied or any(map(_more, told))):
            line = there[0]
            kept = ("size", line.size), ("modifications", list(line.modifications))
            given = {k: v for k, v in given.items() if v and (k, v) not in kept and k != "name"}
            fewer = list(given) == ["quantity"] and given["quantity"] <= line.quantity
            if not (speaks or fewer):
                rival.append(draft)
                continue
            draft = Draft("change_item", {"line_id": line.id, **given})
            touched.add(line.id)
        rival.append(draft)
    return rival


def _speaks_of_what_is_there(said: Said) -> bool:
    beside = said.verb or said.ref or said.become
    return bool(beside or said.correct or said.exact or said.instead or said.kept)


def _more(said: Said) -> bool:
    """Whether words say that a thing comes beside what is there, or how many there are to be."""
    beside = said.more or said.copies or said.besides or said.ref in _AGAIN
    return bool(beside or said.verb or said.article or said.recounts or said.outdone)


def either(
    meant: Sequence[Draft],
    rival: Sequence[Draft],
    known: Sequence[Item],
    held: Held,
    *,
    together: bool = False,
) -> Question | None:
    """Ask which of two orders is meant; nothing where both come to the same.

    Args:
        meant: The commands of the better reading.
        rival: The commands of the other one.
        known: The lines of the order.
        held: What the lines of an order hold.
        together: Whether lines of the same thing are told as one.
    """
    orders = [
        [line.shown() for line in held.lines(drafts, (), known) if line.quantity > 0]
        for drafts in (meant, rival)
    ]
    if together:
        orders = [_merged(lines) for lines in orders]
    told: list[list[str]] = []
    for own, other in (orders, reversed(orders)):
        words = [line_words(line) for line in own if line not in other]
        ids = [line["id"] for line in own]
        gone = (line for line in other if line["id"] and line["id"] not in ids)
        told.append([*words, *(say("none of", name=line["name"]) for line in gone)])
    if not all(told) or sorted(told[0]) == sorted(told[1]):
        return None
    waits = tuple(
        tuple(draft for draft in own if draft not in other)
        for own, other in ((meant, rival), (rival, meant))
    )
    return Question("either", {"possible": tuple(map(listed, told)), "orders": waits})


def _merged(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put lines of the same thing together."""
    merged: list[dict[str, Any]] = []
    for line in lines:
        same = {**line, "id": "", "quantity": 0}
        alike = (one for one in merged if {**one, "id": "", "quantity": 0} == same)
        if (one := next(alike, None)) is not None:
            one["quantity"] += line["quantity"]
        else:
            merged.append(line)
    return merged
