"""The search for what a line means: a beam of readings, all kept alive to the end of the line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from bella_vista.local.understanding.grammar import (
    ALREADY,
    BEAM,
    CHOSEN_TWICE,
    FIRST,
    FRAGMENT,
    HEADLESS,
    JOINTS,
    KEPT_REMOVING,
    LOST_VERB,
    MEANINGS,
    MISFIT,
    NOT_IN_IT,
    PAUSED,
    PUT_ON,
    RATHER_OPTION,
    STOPPED,
    STOPPED_REMOVING,
    UNFOUND,
    UNHALVED,
    UNSIZED,
    WINDOW,
    rules,
)
from bella_vista.local.understanding.index import Entity, Index
from bella_vista.local.understanding.lattice import NO_EDGE, Edge, Lattice
from state.menu.words import stem, stems

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

_by_cost = itemgetter(COST)
_JOINT = {name: at for at, name in enumerate(JOINTS)}
_NOTHING, _AND, _WITH, _THE, _VERB, _COMMA, _STOP = (
    _JOINT[name] for name in ("nothing", "and", "with", "the", "verb", "comma", "stop")
)
_CORRECT, _TIMES, _OR, _ON = (_JOINT[name] for name in ("correct", "times", "or", "on"))
DEFINITE, CLASHED, EARLIER, OPTIONED, POINTED, PARTED, TURNED = (1 << at for at in range(7))
"""Flags of a state; ``TURNED``: what a thing becomes has begun; ``CLASHED``: a choice was made twice."""
_CHANGING = ("change", "swap")


@dataclass(frozen=True, slots=True)
class Act:
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
    """What some words were taken for, and what that cost; an empty edge passes over a word."""

    edge: Edge
    first: int
    cost: float


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a whole line."""

    cost: float
    acts: tuple[Act, ...]
    steps: tuple[Step, ...] = ()


class Search:
    """Searches for the readings of a line on one menu.

    Args:
        index: The menu's names.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._rules: dict[str, dict[str, tuple[Any, ...]]] = {}
        for (place, sees), several in rules().items():
            self._rules.setdefault(place, {})[sees] = tuple(
                (
                    _CONDITIONS[rule.condition] if rule.condition else None,
                    tuple(getattr(self, f"_{name}") for name in rule.does),
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
        self._known, self._chosen = known, chosen
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
            _NOTHING,
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
            if edge.does in _IDLE:
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
                    condition is not None and not condition(self, state, edge)
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
                        made[JOINT] = _NOTHING
                    column.keep(made)
        passed = words.passed[place]
        if passed.kind in ("stop", "filler") or cost + passed.cost > columns[place + 1].most:
            return
        made = state.copy()
        made[COST] = cost + passed.cost
        after = state[HEAD] > 0 and joint == _WITH
        made[ACTS] = (Act("pass", NO_EDGE, place, passed.cost, (passed.kind, after)), state[ACTS])
        made[SIG] = hash((state[SIG], "pass", place))
        made[STEPS] = (Step(NO_EDGE, place, passed.cost), state[STEPS])
        columns[place + 1].keep(made)

    def _finished(self, states: Sequence[State], size: int, most: int) -> list[Reading]:
        done: dict[int, State] = {}
        for state in states:
            made = state.copy()
            made[COST] += self._closing(made)
            if made[PEND]:
                self._act(made, "lost", None, size - 1)
            known = done.get(made[SIG])
            if known is None or made[COST] < known[COST]:
                done[made[SIG]] = made
        best = sorted(done.values(), key=_by_cost)[:most]
        return [Reading(state[COST], _chain(state[ACTS]), _chain(state[STEPS])) for state in best]

    def _act(
        self, state: State, does: str, edge: Edge | None, place: int, value: Any = None
    ) -> None:
        edge = edge if edge is not None else NO_EDGE
        state[SIG] = hash((state[SIG], does, edge.code, value))
        state[ACTS] = (Act(does, edge, place, 0.0, value), state[ACTS])

    # -- what rules do -----------------------------------------------------------------------------------------

    def _closing(self, state: State) -> float:
        """Return what it costs to end the item that is open."""
        cost = UNFOUND if state[PEND] else 0.0
        if state[PLACE] == "before":
            alone = not (self._known or state[FLAGS] & EARLIER)
            cost += HEADLESS if alone else FRAGMENT
            if state[SAID] == 0 and not state[NUM] and not state[SIZE]:
                cost += 2.0
        return cost

    def _begin(self, state: State, edge: Edge, place: int) -> float | None:
        began = state[FLAGS] & EARLIER
        cost = 0.0
        if self._open(state):
            cost = self._closing_of(state)
            if state[PEND]:
                self._act(state, "lost", None, max(0, place - 1))
        verb = state[VERB]
        if (
            not verb
            and state[OP] in _CHANGING
            and edge.does in _POINTING
            and state[JOINT] in (_AND, _COMMA)
        ):
            verb = "change"
        if not verb and state[OP] == "remove" and self._open(state):
            if state[JOINT] in (_AND, _COMMA, _OR, _NOTHING) and edge.does not in (
                "a",
                "number",
                "more",
            ):
                verb, cost = "remove", cost + KEPT_REMOVING
            elif state[JOINT] in (_AND, _COMMA):
                cost += 0.2 if edge.does in ("a", "number") else STOPPED_REMOVING
        if edge.does in ("the", "dish") and state[HEAD] and _put_just_now(state):
            cost += PUT_ON
        correct = state[JOINT] == _CORRECT
        if correct and edge.does == "dish" and state[HEAD] > 0 and state[FLAGS] & OPTIONED:
            cost += RATHER_OPTION
        joint = _NOTHING if state[JOINT] == _VERB else state[JOINT]  # they mean the same here
        self._act(state, "begin", edge, place, (verb, correct, joint))
        state[OP], state[VERB], state[HEAD], state[MASK] = verb, "", 0, self._index.all
        state[NUM] = state[SIZE] = state[SAID] = 0
        state[PEND], state[NEG], state[OWN], state[GROUPS] = (), False, self._index.all, ()
        state[FLAGS] = EARLIER if began or self._was_open else 0
        return cost

    def _open(self, state: State) -> bool:
        self._was_open = bool(
            state[HEAD]
            or state[NUM]
            or state[SIZE]
            or state[SAID]
            or state[PEND]
            or state[FLAGS] & DEFINITE
        )
        return self._was_open

    def _closing_of(self, state: State) -> float:
        cost = UNFOUND if state[PEND] else 0.0
        if not state[HEAD]:
            alone = not (self._known or state[FLAGS] & EARLIER)
            cost += HEADLESS if alone else FRAGMENT
            if state[SAID] == 0 and not state[NUM] and not state[SIZE]:
                cost += 2.0
        return cost

    def _count(self, state: State, edge: Edge, place: int) -> float:
        state[NUM] = edge.value
        self._act(state, "count", edge, place)
        return 0.0

    def _few(self, state: State, edge: Edge, place: int) -> float:
        state[NUM] = -2
        self._act(state, "few", edge, place)
        return 0.0

    def _one_of(self, state: State, edge: Edge, place: int) -> float:
        state[NUM] = -1
        self._act(state, "one", edge, place)
        return 0.0

    def _article(self, state: State, edge: Edge, place: int) -> float:
        return (
            2.0 if state[NUM] > 1 and state[JOINT] == _STOP else 0.0
        )  # "we are five. a whole chicken"

    def _tally(self, state: State, edge: Edge, place: int) -> float | None:
        if state[PEND] or (isinstance(edge.value, int) and edge.value > 20):
            return None
        state[PEND] = (("count", edge.value),)
        return 0.0

    def _definite(self, state: State, edge: Edge, place: int) -> float:
        if not state[FLAGS] & DEFINITE:
            state[FLAGS] |= DEFINITE
            self._act(state, "the", None, place)
        return 0.0

    def _half_of(self, state: State, edge: Edge, place: int) -> float:
        state[HEAD] = -1
        state[NUM] = 1
        self._act(state, "half_of", edge, place)
        return 0.0

    def _fewer(self, state: State, edge: Edge, place: int) -> float:
        state[OP] = "remove"
        state[NUM] = 1
        self._act(state, "fewer", edge, place)
        return 0.0

    def _named(self, state: State, edge: Edge, place: int) -> float | None:
        state[HEAD] = -1
        state[SAID] += 1
        self._act(state, "option", edge, place, ())
        return 0.0

    def _affirm(self, state: State, edge: Edge, place: int) -> float:
        state[NEG] = False
        return 0.0

    def _ordinal(self, state: State, edge: Edge, place: int) -> float:
        state[FLAGS] |= POINTED | DEFINITE
        self._act(state, "ordinal", edge, place)
        state[SAID] += 1
        return 0.0

    def _more(self, state: State, edge: Edge, place: int) -> float:
        state[NUM] = state[NUM] or -1
        state[FLAGS] |= POINTED
        self._act(state, "more", None, place)
        return 0.0

    def _of(self, state: State, edge: Edge, place: int) -> float:
        state[FLAGS] |= DEFINITE
        self._act(state, "of", None, place)
        return 0.0

    def _ref(self, state: State, edge: Edge, place: int) -> float | None:
        if state[OP] == "remove" and state[SAID] and state[JOINT] == _VERB and not state[VERB]:
            return None  # "forget the wrap, put it on a bun"
        if edge.does == "one" and _follows(state, "the"):
            self._definite(state, edge, place)
        state[HEAD] = -2 if edge.does in ("it", "one", "again") else -1
        self._act(state, "ref", edge, place, edge.does)
        if edge.does == "of-them":
            state[FLAGS] |= POINTED
        return 0.0 if not state[PEND] else UNFOUND

    def _turned(self, state: State, edge: Edge, place: int) -> float:
        """Take "can that be" for the thing that was spoken of last, and what it should be."""
        state[HEAD] = -2
        self._act(state, "ref", edge, place, "it")
        return self._should(state, edge, place)

    def _head(self, state: State, edge: Edge, place: int) -> float:
        entity = edge.entity
        state[HEAD] = entity.number
        mask = state[MASK] & entity.mask
        cost = LOST_VERB if state[VERB] else 0.0
        if not mask:
            mask, cost = entity.mask, cost + MISFIT
        if state[NUM] < 2 and (state[SIZE] or state[SAID]):
            cost += PAUSED if state[JOINT] == _COMMA else STOPPED if state[JOINT] == _STOP else 0.0
        if state[NUM] > 0 and state[JOINT] == _WITH:
            cost += PAUSED  # "two combos, one with a cola": one of the combos
        if state[JOINT] != _ON and state[OWN] != self._index.all:
            # "No spaghetti carbonara" leaves nothing off a carbonara.
            cost += NOT_IN_IT if mask & state[OWN] else NOT_IN_IT + MISFIT
        if state[SIZE]:
            sized = mask & self._index.entity(state[SIZE]).mask
            mask, cost = (sized, cost) if sized else (mask, cost + UNSIZED)
        state[MASK] = mask
        if state[PEND]:
            cost += self._amount_of_head(state, place)
        self._act(state, "head", edge, place)
        return cost

    def _amount_of_head(self, state: State, place: int) -> float:
        """Take "extra" before a dish as one more of it, and half of it as it stands."""
        pend, state[PEND] = state[PEND], ()
        if pend[:1] == (("no", ""),):
            doubled = state[OP] == "remove"
            state[OP] = "remove"
            self._act(state, "deny", None, place)
            return 3.0 if state[NUM] > 0 or doubled else 0.3
        if pend and pend[0][0] == "amount" and pend[0][1] == "extra":
            self._act(state, "more", None, place)
            return 1.0
        if pend == (("amount", "double"),) and self._known:
            state[OP] = "change"
            self._act(state, "twice", None, place)
            return 0.5
        self._act(state, "lost", None, max(0, place - 1))
        return UNFOUND

    def _narrow(self, state: State, edge: Edge, place: int) -> float:
        state[MASK] &= edge.entity.mask
        state[HEAD] = edge.entity.number if state[HEAD] < 0 else state[HEAD]
        self._act(state, "narrow", edge, place)
        return 0.0

    def _part(self, state: State, edge: Edge, place: int) -> float:
        state[FLAGS] |= PARTED
        state[GROUPS] = ()
        state[SIZE] = 0
        if state[PEND] and state[PEND][0][0] == "count":
            self._act(state, "parts", None, place, state[PEND][0][1])
            state[PEND] = ()
        self._act(state, "part", edge, place)
        return UNFOUND if state[PEND] else 0.0

    def _combo(self, state: State, edge: Edge, place: int) -> float:
        several = self._index.parts.items()
        having = sum(
            bit for bit, parts in several if bit & edge.entity.mask and parts & state[MASK]
        )
        state[MASK] = having
        state[HEAD] = edge.entity.number
        points = state[FLAGS] & DEFINITE or state[OP] in _WITHIN
        within = bool(self._known and _follows(state, "the") and points)
        self._act(state, "combo", edge, place, (within, having))
        return 0.0

    def _size(self, state: State, edge: Edge, place: int) -> float:
        entity = edge.entity
        cost = 0.0
        state[SIZE] = entity.number
        if state[HEAD] > 0:
            if state[MASK] & entity.mask:
                state[MASK] &= entity.mask
            else:
                cost = UNSIZED if not state[FLAGS] & PARTED else 0.3
        self._act(state, "size", edge, place)
        return cost

    def _option(self, state: State, edge: Edge, place: int) -> float | None:
        entity = edge.entity
        if state[VERB] in ("instead-of", "keep"):
            return None
        if state[VERB] == "remove":
            return None  # "add ham and take off the olives"
        if state[OP] == "remove" and state[SAID] and state[JOINT] == _VERB and not state[VERB]:
            return None  # "remove the olives and put ham on it"
        pend = state[PEND]
        denied = state[NEG] or pend[:1] == (("no", ""),)
        own = entity.own | self._chosen.get(entity.number, 0)
        cost = 0.0
        if state[JOINT] == _ON and state[HEAD] and _follows(state, "the"):
            cost = 0.3  # "no tomato on the burger": rather a thing than a burger sauce
        if denied and not pend and state[JOINT] not in (_OR, _AND, _COMMA, _NOTHING, _THE):
            return 9.0
        fits = state[MASK] & entity.mask
        if denied:
            if state[HEAD] > 0 and not state[MASK] & own:
                cost = NOT_IN_IT if fits else MISFIT
                if not pend:
                    cost += 0.6
            elif state[HEAD] == 0 and pend:
                state[OWN] &= own
            elif not pend:
                cost = 0.05 if state[JOINT] == _OR else 0.15
                if state[MASK] & entity.chosen:
                    cost += 1.0
        elif not fits:
            cost = MISFIT if state[HEAD] >= 0 or not self._known else 0.6
        else:
            if state[HEAD] > 0 and not pend and not fits & ~entity.own:
                cost = ALREADY
            if not denied and (state[HEAD] == 0 or fits != state[MASK]):
                state[MASK] = fits
            cost += self._chosen_twice(state, entity)
        if (
            pend
            and pend[0][0] == "half"
            and entity.kind == "option"
            and entity.halved != entity.mask
        ):
            if not fits & entity.halved:
                cost += UNFOUND  # "a half, cold": a size of the sandwich
        tally = [value for kind, value in pend if kind == "count"]
        if tally and not fits & entity.tallied:
            cost += (
                0.7 if tally[0] == 1 else 1.0 if tally[0] == 2 and fits & entity.counted else 3.0
            )
        state[SAID] += 1
        state[FLAGS] |= OPTIONED
        self._act(
            state,
            "option",
            edge,
            place,
            (*pend, ("carried", "")) if state[NEG] and not pend else pend,
        )
        state[NEG] = denied
        state[PEND] = ()
        return cost

    def _chosen_twice(self, state: State, entity: Entity) -> float:
        """Return what it costs that a choice of the same kind was made of the same thing."""
        before, state[GROUPS] = state[GROUPS], (*state[GROUPS], entity.groups)
        several = state[NUM] > 1 or state[JOINT] in (_CORRECT, _OR) or state[OP] in _CHANGING
        mask = state[MASK]
        if not before or several or state[HEAD] <= 0 or mask & (entity.loose | self._index.combos):
            return 0.0
        here = self._index.groups[mask & -mask]
        if (entity.groups & here).bit_count() != 1 or entity.groups & here not in [
            other & here for other in before
        ]:
            return 0.0
        state[FLAGS] |= CLASHED
        return CHOSEN_TWICE

    def _done(self, state: State, edge: Edge, place: int) -> float | None:
        cost = self._option(state, edge, place)
        state[JOINT] = _ON
        self._act(state, "on", None, place)
        return cost

    def _replaced(self, state: State, edge: Edge, place: int) -> float:
        state[VERB] = ""
        self._act(state, "replaced", edge, place, ())
        return 0.0

    def _outdone(self, state: State, edge: Edge, place: int) -> float:
        """Pass over the size or number that gave way: "a large instead of a small"."""
        state[VERB] = ""
        self._act(state, "outdone", edge, place)
        return 0.0

    def _drop(self, state: State, edge: Edge, place: int) -> float | None:
        state[PEND] = (("no", ""),)
        state[VERB] = ""
        return self._option(state, edge, place)

    def _pend(self, state: State, edge: Edge, place: int) -> float | None:
        kind = {"halves": "half", "other-halves": "other half", "other-half": "other half"}.get(
            edge.does, edge.does
        )
        if any(one[0] in ("amount", "no") for one in state[PEND]) and kind == "amount":
            return None
        if state[OP] == "remove" and state[SAID] and state[JOINT] == _VERB and not state[VERB]:
            return None  # "remove the pineapple and put extra ham"
        state[PEND] = (*state[PEND], ("amount", edge.value) if kind == "amount" else ("half", kind))
        state[NEG] = False
        return 0.0

    def _much(self, state: State, edge: Edge, place: int) -> float:
        self._act(state, "much", edge, place)
        return 0.0

    def _deny(self, state: State, edge: Edge, place: int) -> float | None:
        if state[PEND]:
            return None
        extra = edge.does == "no-extra"
        state[PEND] = (("no", ""), ("amount", "extra")) if extra else (("no", ""),)
        return 0.0

    def _halved(self, state: State, edge: Edge, place: int) -> float:
        last = state[ACTS][0] if state[ACTS] is not None else None
        whole = last is not None and last.does == "option" and not last.edge.entity.halved
        self._act(
            state, "half", None, place, "other half" if edge.does == "other-halves" else "half"
        )
        return UNHALVED if whole else 0.0  # "cocoa on the other": the other cup

    def _beside(self, state: State, edge: Edge, place: int) -> float:
        state[NEG] = False
        self._act(state, "side", None, place)
        return 0.0

    def _only(self, state: State, edge: Edge, place: int) -> float:
        self._act(state, "only", None, place)
        state[JOINT] = _WITH
        return 0.0

    def _plain(self, state: State, edge: Edge, place: int) -> float:
        state[SAID] += 1
        self._act(state, "plain", edge, place)
        return 0.0

    def _bare(self, state: State, edge: Edge, place: int) -> float:
        self._act(state, "bare", edge, place)
        return 0.0

    def _note(self, state: State, edge: Edge, place: int) -> float:
        state[SAID] += 1
        self._act(state, "note", edge, place)
        return 0.0

    def _each(self, state: State, edge: Edge, place: int) -> float:
        self._act(state, "each", None, place)
        return 0.0

    def _kept(self, state: State, edge: Edge, place: int) -> float:
        self._act(state, "kept", None, place)
        return 0.0

    def _off(self, state: State, edge: Edge, place: int) -> float:
        if state[PLACE] == "before":
            state[JOINT] = _ON
        self._act(state, "off", None, place)
        return 0.0

    def _back(self, state: State, edge: Edge, place: int) -> float:
        self._act(state, "back", None, place)
        return 0.0

    def _besides(self, state: State, edge: Edge, place: int) -> float:
        self._act(state, "besides", None, place)
        return 0.0

    def _spare(self, state: State, edge: Edge, place: int) -> float:
        state[OP] = "remove"
        self._act(state, "spare", None, place)
        return 0.0

    def _copied(self, state: State, edge: Edge, place: int) -> float:
        self._act(state, "copied", None, place)
        return 0.0

    def _free(self, state: State, edge: Edge, place: int) -> float:
        self._act(state, "free", None, place)
        return 0.0

    def _verb(self, state: State, edge: Edge, place: int) -> float:
        cost = 3.0 if state[VERB] and edge.does == "add" else 0.0
        state[VERB] = "" if edge.does == "add" else edge.does
        if state[JOINT] != _CORRECT or edge.does != "add":
            state[JOINT] = _VERB
        state[NEG] = False
        if edge.does == "add" and edge.words == "add":
            state[VERB] = "add"
        return cost

    def _exactly(self, state: State, edge: Edge, place: int) -> float:
        state[NEG] = False  # "no ham on it, just the pineapple"
        if state[OP] == "remove":
            state[OP] = ""  # "drop the tiramisu, just the cannoli"
        self._act(state, "exactly", None, place)
        return 0.0

    def _instead(self, state: State, edge: Edge, place: int) -> float:
        self._act(state, "instead", None, place)
        # "Remove the sausage, ham instead": one of the two comes.
        return 3.0 if state[OP] == "remove" and state[SAID] > 1 and state[PLACE] != "out" else 0.0

    def _correct(self, state: State, edge: Edge, place: int) -> float:
        clashed = state[FLAGS] & CLASHED
        state[FLAGS] &= ~CLASHED
        state[JOINT] = _CORRECT
        state[NEG] = False
        self._act(state, "correct", edge, place)
        return -CHOSEN_TWICE if clashed else 0.0  # "steak and shrimp, no, just shrimp"

    def _should(self, state: State, edge: Edge, place: int) -> float:
        state[OP] = "change"
        if state[PLACE] == "after" and not state[HEAD]:
            state[HEAD] = -1
        self._act(state, "should", None, place)
        return self._become(state, edge, place)

    def _become(self, state: State, edge: Edge, place: int) -> float:
        cost = 0.0
        if edge.does == "number" and state[SAID] > 0:
            # "The small one should be large and the large one small", "half caf and two splenda".
            cost = 0.6 if edge.words == "one" else 0.3
        if edge.does == "dish" and _follows(state, "all"):
            cost = 1.0  # "make both coffees large"
        if state[OP] == "swap" and edge.does == "dish" and not state[FLAGS] & TURNED:
            cost = NOT_IN_IT  # it is swapped "for" something
        if not state[FLAGS] & TURNED:
            self._act(state, "become", None, place)
            state[FLAGS] |= TURNED
            state[NUM] = state[SIZE] = 0
            if state[HEAD] < 0:
                state[MASK] = self._index.all
        if edge.does == "dish":
            state[MASK] = self._index.all
        return cost

    def _total(self, state: State, edge: Edge, place: int) -> float:
        self._act(state, "total", None, place)
        return 0.0

    def _put(self, state: State, edge: Edge, place: int) -> float:
        """Take "naan with the large one" for naan that is put on it."""
        state[JOINT] = _ON
        self._act(state, "on", None, place)
        return 0.0

    def _joint(self, state: State, edge: Edge, place: int) -> float:
        joint, old = _JOINT.get(edge.does, _WITH), state[JOINT]
        if edge.does == "the" and old != _NOTHING:
            joint = old
        elif edge.does == "comma" and old in (_WITH, _VERB, _CORRECT, _AND):
            joint = old
        state[JOINT] = joint
        if edge.does in ("with", "but", "stop"):
            state[NEG] = False
        if state[PEND] and edge.does != "the":
            self._act(state, "joint", edge, place)
            return 0.05 if state[PEND][0][0] == "half" else 1.5
        if edge.does == "on":
            self._act(state, "on", None, place)
        return 0.0


# -- conditions ------------------------------------------------------------------------------------------------


def _becoming(search: Search, state: State, edge: Edge) -> bool:
    """Whether a thing was named that is to change, so that what follows is what it becomes."""
    if state[OP] == "instead-of" and state[FLAGS] & EARLIER:
        return False
    return state[HEAD] != 0 and state[OP] in (*_CHANGING, "instead-of")


def _refines(search: Search, state: State, edge: Edge) -> bool:
    if state[FLAGS] & TURNED or (state[OP] in _CHANGING and state[HEAD] > 0):
        return False
    return state[HEAD] not in (0, -2) and bool(state[MASK] & edge.entity.mask)


def _kindred(search: Search, state: State, edge: Edge) -> bool:
    """Whether words only say of what kind a thing is that was named: "nashville chicken sandwich"."""
    if state[HEAD] <= 0 or state[PEND] or state[FLAGS] & (TURNED | PARTED):
        return False
    mask, last = state[MASK], stem(edge.words.split()[-1])
    if mask & (mask - 1) or mask & edge.entity.mask:
        return False
    acts = state[ACTS]
    while acts is not None and acts[0].does != "head":
        acts = acts[1]
    said = stems(acts[0].edge.words) if acts is not None else ()
    return last not in said and last in search._index.kinds[mask]


def _part_of(search: Search, state: State, edge: Edge) -> bool:
    mask = state[MASK]
    if state[HEAD] <= 0 or not mask & search._index.combos or mask & edge.entity.mask:
        return False
    return any(
        mask & bit and parts & edge.entity.mask for bit, parts in search._index.parts.items()
    )


def _combo_of(search: Search, state: State, edge: Edge) -> bool:
    combos = edge.entity.mask & search._index.combos
    if not combos or edge.entity.mask != combos or state[MASK] & combos:
        return False
    return any(combos & bit and parts & state[MASK] for bit, parts in search._index.parts.items())


def _put_just_now(state: State) -> bool:
    """Whether a choice, and what it is to be put on, stand just before: "and ham on the"."""
    steps = state[STEPS]
    while steps is not None and steps[0].edge.does in ("the", *_IDLE):
        steps = steps[1]
    if steps is None or steps[0].edge.does != "on" or steps[1] is None:
        return False
    return bool(steps[1][0].edge.does == "option")


def _just_named(state: State) -> bool:
    """Whether "the" and a name stand just before: "on the veggie one"."""
    named, before = state[STEPS]
    return named.edge.does == "dish" and before is not None and before[0].edge.does == "the"


def _follows(state: State, does: str) -> bool:
    """Whether the words just before are of a class."""
    return state[STEPS] is not None and bool(state[STEPS][0].edge.does == does)


_CONDITIONS: dict[str, Callable[[Search, State, Edge], bool]] = {
    "uncounted": lambda _, s, e: (
        s[NUM] <= 0 and s[JOINT] != _WITH and not (s[SAID] and s[JOINT] == _AND)
    ),
    "carried": lambda _, s, e: s[JOINT] == _WITH,
    "counted": lambda _, s, e: s[NUM] > 0,
    "corrected": lambda _, s, e: s[JOINT] == _CORRECT,
    "times": lambda _, s, e: s[JOINT] == _TIMES,
    "optioned": lambda _, s, e: bool(s[FLAGS] & OPTIONED),
    "joined": lambda _, s, e: s[JOINT] in (_WITH, _VERB, _ON),
    "listed": lambda _, s, e: s[JOINT] in (_AND, _COMMA) and not (s[NUM] > 0 and s[HEAD] == 0),
    "denying": lambda _, s, e: s[NEG] and not s[PEND],
    "swapped": lambda _, s, e: (
        (s[OP] == "swap" or (s[OP] == "instead-of" and not s[FLAGS] & EARLIER))
        and not s[HEAD]
        and s[VERB] == ""
    ),
    "replacing": lambda _, s, e: s[VERB] == "instead-of",
    "combined": lambda search, s, e: s[HEAD] > 0 and bool(s[MASK] & search._index.combos),
    "combos": lambda search, s, e: (
        s[NUM] > 1 and s[HEAD] > 0 and bool(s[MASK] & search._index.combos)
    ),
    "swapping": lambda _, s, e: (
        s[VERB] == "swap" or (s[VERB] == "instead-of" and not s[HEAD] and not s[FLAGS] & EARLIER)
    ),
    "pointed": lambda _, s, e: bool(s[FLAGS] & POINTED),
    "unsized": lambda _, s, e: s[SIZE] == 0,
    "trailing": lambda _, s, e: not s[PEND] and not s[NEG] and _follows(s, "option"),
    "pending": lambda _, s, e: bool(s[PEND]),
    "headed": lambda _, s, e: s[NUM] <= 0 and s[HEAD] > 0 and s[JOINT] not in (_WITH, _AND),
    "known": lambda search, s, e: search._known,
    "unsaid": lambda _, s, e: s[SAID] == 0 and s[SIZE] == 0,
    "beside": lambda _, s, e: bool(e.lines and s[SAID]) and s[JOINT] == _WITH,
    "put": lambda _, s, e: s[JOINT] == _ON,
    "alternative": lambda _, s, e: s[JOINT] == _OR,
    "unlisted": lambda _, s, e: s[JOINT] not in (_AND, _COMMA),
    "unalternative": lambda _, s, e: s[JOINT] != _OR,
    "adjoining": lambda _, s, e: (
        s[JOINT] == _NOTHING
        and s[HEAD] > 0
        and (
            _just_named(s)
            or not (s[SAID] or s[SIZE])
            and (s[NUM] == -1 or (s[NUM] == 0 and bool(s[FLAGS] & DEFINITE)))
        )
    ),
    "ordered": lambda search, s, e: s[HEAD] > 0 and search._known,
    "recounted": lambda search, s, e: s[NUM] > 0 and s[HEAD] > 0 and search._known,
    "headful": lambda _, s, e: s[HEAD] > 0,
    "single": lambda _, s, e: (
        (s[NUM] <= 1 or e.words == "ones")
        and not (s[NUM] == 1 and s[SAID])
        and bool(s[NUM] or s[SIZE] or s[SAID] or s[FLAGS] & (DEFINITE | POINTED))
    ),
    "told": lambda _, s, e: bool(s[NUM] or s[SIZE] or s[SAID] or s[FLAGS] & (DEFINITE | POINTED)),
    "lowering": lambda _, s, e: s[OP] == "remove" and s[HEAD] > 0 and e.words == "to",
    "emptying": lambda _, s, e: s[HEAD] == -1,
    "dropping": lambda _, s, e: s[VERB] == "remove",
    "changing": lambda _, s, e: (
        s[OP] in _CHANGING and not (s[FLAGS] & TURNED and s[FLAGS] & OPTIONED and e.words == "to")
    ),
    "becoming": _becoming,
    "refines": _refines,
    "kindred": _kindred,
    "part": _part_of,
    "combo_of": _combo_of,
}
_POINTING = frozenset(("other", "it", "them", "one", "ordinal", "the", "rest"))
_WITHIN = (*_CHANGING, "remove")
_IDLE = frozenset(("filler", "aside"))
_JOINING = frozenset(
    (
        "only",
        "exactly",
        "and",
        "or",
        "but",
        "with",
        "on",
        "for",
        "times",
        "comma",
        "stop",
        "the",
        "a",
    )
)
_VERBS = frozenset(
    (
        "done",
        "keep",
        "stays",
        "move",
        "off",
        "add",
        "remove",
        "change",
        "swap",
        "instead-of",
        "correct",
        "to",
        "should",
        "instead",
        "of",
    )
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
