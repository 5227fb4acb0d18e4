"""Edges: each is one thing that some words of a line may mean."""

from dataclasses import dataclass, field

from bella_vista.local.understanding.menu.index import NO_ENTITY, Entity
from bella_vista.local.understanding.words.tokens import Token


@dataclass(slots=True, eq=False)
class Edge:
    """One thing that the words from a place on may mean.

    Args:
        does: The class of word that the grammar knows.
        end: The place after its last word.
        cost: What it costs to think so.
        entity: What it names on the menu.
        value: The number, amount or half it is.
        words: The words.
        whole: Whether a whole name was said.
        plural: Whether the last word is of several.
        weak: Whether it is only part of another name of a dish.
        lines: The lines of the order that it means.
        some: Whether it counts some of what is there: "one of the".
        code: What tells it from edges that do something else.
    """

    does: str
    end: int
    cost: float
    entity: Entity = NO_ENTITY
    value: str | int = ""
    words: str = ""
    whole: bool = True
    plural: bool = False
    weak: bool = False
    lines: tuple[str, ...] = ()
    some: bool = False
    code: int = field(init=False)

    def __post_init__(self) -> None:
        """Number what it does, so that readings are compared fast."""
        self.code = hash((self.does, self.value, self.entity.number, self.lines))


NO_EDGE = Edge("", 0, 0.0)


@dataclass(frozen=True, slots=True)
class PassingCost:
    """The cost of passing over a word, and the kind of word that it is."""

    cost: float
    kind: str


@dataclass(slots=True)
class Lattice:
    """All edges by the place they begin at."""

    tokens: tuple[Token, ...]
    edges: list[list[Edge]]
    passed: list[PassingCost]


NAMED = ("dish", "option", "size", "group")
