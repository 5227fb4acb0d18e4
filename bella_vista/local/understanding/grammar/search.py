"""The search for what a line means: a beam of readings, all kept alive to the end of the line."""

from collections.abc import Mapping, Sequence
from math import inf
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from bella_vista.local.understanding.grammar.conditions import CONDITIONS
from bella_vista.local.understanding.grammar.doing import Doing
from bella_vista.local.understanding.grammar.edges import NO_EDGE, Lattice
from bella_vista.local.understanding.grammar.grammar import (
    BEAM,
    FIRST,
    LOST_VERB,
    MEANINGS,
    NOTHING,
    STRANGE,
    WINDOW,
    WITH,
    rules,
)
from bella_vista.local.understanding.grammar.states import (
    ACTS,
    COST,
    EARLIER,
    FLAGS,
    HEAD,
    IDLE,
    JOINT,
    NUM,
    PEND,
    PLACE,
    SAID,
    SIG,
    SIZE,
    STEPS,
    VERB,
    Act,
    Reading,
    State,
    Step,
    follows_listed_option,
)
from bella_vista.local.understanding.menu.index import Index

_by_cost = itemgetter(COST)


class Search:
    """Searches for the readings of a line on one menu.

    Args:
        index: The menu's names.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._doing = Doing(index)
        self._rules: dict[str, dict[str, tuple[Any, ...]]] = {}
        for (place, sees), several in rules().items():
            self._rules.setdefault(place, {})[sees] = tuple(
                (
                    CONDITIONS[rule.condition] if rule.condition else None,
                    tuple(getattr(self._doing, f"_{name}") for name in rule.does),
                    rule.then,
                    rule.price,
                    "begin" in rule.does,
                )
                for rule in several
            )

    def readings(
        self,
        words: Lattice,
        *,
        known: bool,
        chosen: Mapping[int, int] = MappingProxyType({}),
        beam: int = BEAM,
        most: int = 8,
    ) -> list[Reading]:
        """Return the best readings, the cheapest first.

        Args:
            words: The lattice of the line.
            known: Whether there is something on the order, or a question open, that may be meant.
            chosen: The dishes on the order that each option was chosen for, by its number.
            beam: How many states are kept at each word.
            most: How many readings are returned.
        """
        size = len(words.tokens)
        self._doing.known, self._doing.chosen = known, chosen
        start: State = [
            0.0,
            "out",
            "",
            "",
            0,
            self._index.all,
            0,
            0,
            (),
            NOTHING,
            False,
            0,
            0,
            self._index.all,
            0,
            None,
            None,
            (),
        ]
        columns = [_Column() for _ in range(size + 1)]
        columns[0].keep(start)
        for place in range(size):
            states = columns[place].best(beam)
            columns[place] = columns[size]  # it is not looked at again
            for state in states:
                self._go_on(state, words, place, columns)
        return self._finished(columns[size].best(beam), size, most)

    def _go_on(self, state: State, words: Lattice, place: int, columns: "list[_Column]") -> None:
        """Take a state over every edge that begins at a place, by every rule."""
        cost, joint, found = state[COST], state[JOINT], self._rules[state[PLACE]]
        fresh = not (
            state[FLAGS] & EARLIER
            or state[HEAD]
            or state[NUM]
            or state[SIZE]
            or state[SAID]
            or state[PEND]
        )
        for edge in words.edges[place]:
            column = columns[edge.end]
            price = cost + edge.cost
            if edge.does in IDLE:
                if price < column.most:
                    made = state.copy()
                    made[COST] = price
                    made[STEPS] = (Step(edge, place, edge.cost), state[STEPS])
                    column.keep(made)
                continue
            for condition, does, then, prices, begins in found.get(edge.does, ()):
                if begins and fresh:
                    whole = price + FIRST
                else:
                    whole = price + (prices if prices.__class__ is float else prices[joint])
                if whole > column.most or (
                    condition is not None and not condition(self._doing, state, edge)
                ):
                    continue
                made = state.copy()
                made[PLACE] = then
                for one in does:
                    more = one(made, edge, place)
                    if more is None:
                        break
                    whole += more
                else:
                    if whole > column.most:
                        continue
                    made[COST] = whole
                    made[STEPS] = (Step(edge, place, whole - cost), state[STEPS])
                    if edge.does not in _JOINING and edge.does not in _VERBS:
                        made[JOINT] = NOTHING
                    column.keep(made)
        passed = words.passed[place]
        if passed.kind in ("stop", "filler"):
            return
        price = cost + passed.cost
        if passed.kind in ("word", "food") and state[HEAD] > 0 and follows_listed_option(state):
            price += STRANGE
        if price > columns[place + 1].most:
            return
        made = state.copy()
        made[COST] = price
        after = state[HEAD] > 0 and joint == WITH
        made[ACTS] = (Act("pass", NO_EDGE, place, passed.cost, (passed.kind, after)), state[ACTS])
        made[SIG] = hash((state[SIG], "pass", place))
        made[STEPS] = (Step(NO_EDGE, place, price - cost), state[STEPS])
        columns[place + 1].keep(made)

    def _finished(self, states: Sequence[State], size: int, most: int) -> list[Reading]:
        done: dict[int, State] = {}
        for state in states:
            made = state.copy()
            made[COST] += self._doing.closing(made, begun=made[PLACE] == "before")
            lost = _ends_with_verb(made)
            if lost:
                made[COST] += LOST_VERB / 2  # "the soup, cancel" takes off the soup
            if made[PEND] or lost:
                self._doing.act(made, "lost", None, size - 1)
            known = done.get(made[SIG])
            if known is None or made[COST] < known[COST]:
                done[made[SIG]] = made
        best = sorted(done.values(), key=_by_cost)[:most]
        return [Reading(state[COST], _chain(state[ACTS]), _chain(state[STEPS])) for state in best]


def _ends_with_verb(state: State) -> bool:
    """Whether a line ends with a verb that takes something off, and nothing that it takes off."""
    steps = state[STEPS] if state[VERB] == "remove" else None
    while steps is not None and steps[0].edge.does in ("filler", "comma", "stop"):
        steps = steps[1]
    return steps is not None and steps[0].edge.does == "remove"


_JOINING = frozenset("only exactly and or but with on for times comma stop the a".split())
_VERBS = frozenset(
    "done keep move off add remove change swap instead-of correct to should instead of".split()
)


class _Column:
    """The states that have come to one place of a line."""

    __slots__ = ("cheapest", "most", "states")

    def __init__(self) -> None:
        self.states: dict[tuple[Any, ...], list[State]] = {}
        self.cheapest = self.most = inf

    def keep(self, made: State) -> None:
        """Keep a state, unless others that mean the same are cheaper."""
        cost = made[COST]
        if cost < self.cheapest:
            self.cheapest, self.most = cost, cost + WINDOW
        key = tuple(made[PLACE:SIG])
        known = self.states.get(key)
        if known is None:
            self.states[key] = [made]
            return
        for at, other in enumerate(known):
            if other[SIG] == made[SIG]:
                if cost < other[COST]:
                    known[at] = made
                return
        if len(known) < MEANINGS:
            known.append(made)
            return
        worst = max(range(len(known)), key=lambda at: known[at][COST])
        if cost < known[worst][COST]:
            known[worst] = made

    def best(self, beam: int) -> list[State]:
        """Return the cheapest states."""
        states = [state for several in self.states.values() for state in several]
        states.sort(key=_by_cost)
        return [state for state in states[:beam] if state[COST] <= self.most]


def _chain(chain: Any) -> tuple[Any, ...]:
    links: list[Any] = []
    while chain is not None:
        link, chain = chain
        links.append(link)
    return tuple(reversed(links))
