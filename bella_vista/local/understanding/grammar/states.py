"""A state of the search: what a reading has come to at one place of a line, and how it came there."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from bella_vista.local.english.talking import words_of
from bella_vista.local.understanding.grammar.edges import Edge
from state.menu.words import stem

(
    COST,
    PLACE,
    OP,
    VERB,
    HEAD,
    MASK,
    NUM,
    SIZE,
    PEND,
    JOINT,
    NEG,
    SAID,
    FLAGS,
    OWN,
    SIG,
    ACTS,
    STEPS,
    GROUPS,
) = range(18)
State = list[Any]

DEFINITE, CLASHED, EARLIER, OPTIONED, POINTED, PARTED, TURNED = (1 << at for at in range(7))
"""Flags of a state; ``TURNED``: what a thing becomes has begun; ``CLASHED``: a choice was made twice."""
CHANGING = ("change", "swap")
"""The verbs after which a thing becomes something."""
IDLE = frozenset(("filler", "aside"))
"""The classes of words that say nothing."""


class Act(NamedTuple):
    """One step of a reading.

    Args:
        does: What is done.
        edge: The words it rests on.
        first: The place they begin at.
        cost: What the step cost.
        value: What else it says: the verb and joint of an item, the amount of an option.
    """

    does: str
    edge: Edge
    first: int
    cost: float
    value: Any = None


class Step(NamedTuple):
    """The meaning given to some words, and its cost; an empty edge passes over a word."""

    edge: Edge
    first: int
    cost: float


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a whole line."""

    cost: float
    acts: tuple[Act, ...]
    steps: tuple[Step, ...] = ()


def just_named(state: State) -> bool:
    """Whether "the" and a name stand just before: "on the veggie one"."""
    named, before = state[STEPS]
    return named.edge.does == "dish" and before is not None and before[0].edge.does == "the"


def several_named(state: State) -> bool:
    """Whether what was named last was several: "the teas, one without ice"."""
    steps = state[STEPS]
    while steps is not None and steps[0].edge.does in IDLE:
        steps = steps[1]
    word = steps[0].edge.words.split()[-1:] if steps is not None else []
    return any(one.endswith("s") and stem(one) != one for one in word)


def described_just_now(state: State) -> bool:
    """Whether "a" or a number and a choice or a size stand just before: "a strawberry one"."""
    told, before = state[STEPS]
    article = before is not None and before[0].edge.does in ("a", "number")
    return article and told.edge.does in ("option", "size")


def follows(state: State, does: str) -> bool:
    """Whether the words just before are of a class."""
    return state[STEPS] is not None and bool(state[STEPS][0].edge.does == does)


def begins_sentence(state: State) -> bool:
    """Whether "and" begins a sentence just before: "a tea, no ice. And chicken on the salad"."""
    steps = state[STEPS]
    paused = follows(state, "and") and steps[1] is not None
    return paused and bool(steps[1][0].edge.does == "stop")


def follows_listed_option(state: State) -> bool:
    """Whether a pause, an "and" or an article parts the option just before from what comes before it."""
    steps = state[STEPS]
    if steps is None or steps[0].edge.does != "option" or steps[1] is None:
        return False
    return bool(steps[1][0].edge.does in ("comma", "and", "a"))


def follows_option_of_another(state: State) -> bool:
    """Whether an article stands before the option just before: "a salmon nigiri, a spicy tuna [roll]"."""
    steps = state[STEPS]
    if steps is None or steps[0].edge.does != "option":
        return False
    steps = steps[1]
    while steps is not None and not steps[0].edge.does:  # an unknown word
        steps = steps[1]
    return steps is not None and bool(steps[0].edge.does == "a")


def follows_all(state: State) -> bool:
    """Whether "all" or "all the" stands just before."""
    steps = state[STEPS]
    if steps is not None and steps[0].edge.does == "the":
        steps = steps[1]
    return steps is not None and steps[0].edge.does == "all"


def follows_same_of(state: State) -> bool:
    """Whether "same of" or "same of the" stands just before: "same again of the korma"."""
    steps = state[STEPS]
    if steps is not None and steps[0].edge.does == "the":
        steps = steps[1]
    if steps is None or steps[1] is None or steps[0].edge.words not in ("of", "on"):
        return False
    return steps[1][0].edge.does in ("same", "again")


def subject_begins(state: State) -> bool:
    """Whether another sentence began after the last joint: "lose the fries, we are sharing the rings"."""
    steps = state[STEPS]
    while steps is not None and steps[0].edge.does not in ("comma", "and", "or"):
        edge, before = steps[0].edge, steps[1]
        if edge.does == "filler" and words_of("subjects").issuperset(edge.words.split()):
            return True
        steps = before
    return False
