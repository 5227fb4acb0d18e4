"""The conditions of the grammar's rules: whether they hold in a state of the search."""

from collections.abc import Callable

from bella_vista.local.understanding.grammar.doing import Doing
from bella_vista.local.understanding.grammar.edges import Edge
from bella_vista.local.understanding.grammar.grammar import (
    AFTER_VERB,
    AND,
    COMMA,
    CORRECT,
    NOTHING,
    ON,
    OR,
    STOP,
    THE,
    TIMES,
    WITH,
)
from bella_vista.local.understanding.grammar.states import (
    ACTS,
    CHANGING,
    DEFINITE,
    EARLIER,
    FLAGS,
    HEAD,
    JOINT,
    MASK,
    NEG,
    NUM,
    OP,
    OPTIONED,
    PARTED,
    PEND,
    POINTED,
    SAID,
    SIZE,
    STEPS,
    TURNED,
    VERB,
    State,
    described_just_now,
    follows,
    just_named,
    several_named,
)
from state.menu.words import stems


def _becoming(doing: Doing, state: State, edge: Edge) -> bool:
    """Whether a thing was named that is to change, so that what follows is what it becomes."""
    if state[VERB] == "instead-of" or (state[OP] == "instead-of" and state[FLAGS] & EARLIER):
        return False
    if state[JOINT] == AFTER_VERB and edge.does == "dish" and state[SAID]:
        return False  # "make the chicken medium and can we do rice"
    if state[OP] == "instead-of" and edge.does == "size" and follows(state, "them"):
        return False  # "instead of the two cans"
    if state[OP] == "swap" and edge.does == "option" and _goes_on_after_swap(state):
        return False  # "sub coconut milk, light whip"
    return state[HEAD] != 0 and state[OP] in (*CHANGING, "instead-of")


def _goes_on_after_swap(state: State) -> bool:
    """Whether a pause, and no "for", stands between what is swapped and what is said now."""
    steps, paused = state[STEPS], False
    while steps is not None and steps[0].edge.does != "swap":
        does = steps[0].edge.does
        if does in _SWAPPED_FOR:
            return False
        paused = paused or does in ("comma", "stop")
        steps = steps[1]
    return paused


_SWAPPED_FOR = frozenset(("for", "to", "on", "with", "instead", "should"))


def _refines(doing: Doing, state: State, edge: Edge) -> bool:
    if state[FLAGS] & TURNED or (state[OP] in CHANGING and state[HEAD] > 0):
        return False
    return state[HEAD] not in (0, -2) and bool(state[MASK] & edge.entity.mask)


def _kindred(doing: Doing, state: State, edge: Edge) -> bool:
    """Whether words only say of what kind a thing is that was named: "nashville chicken sandwich"."""
    if state[HEAD] <= 0 or state[PEND] or state[FLAGS] & (TURNED | PARTED):
        return False
    mask, told = state[MASK], stems(edge.words)
    if mask & (mask - 1) or mask & edge.entity.mask or _part_of(doing, state, edge):
        return False
    kinds, other = doing.index.kinds[mask], edge.entity.mask
    if edge.whole and not other & (other - 1) and not kinds.issuperset(told):
        return False  # "har gow crystal dumplings": these are dumplings of another name
    acts = state[ACTS]
    while acts is not None and acts[0].does != "head":
        acts = acts[1]
    said = stems(acts[0].edge.words) if acts is not None else ()
    return bool(told) and told[-1] not in said and told[-1] in kinds


def _own(doing: Doing, state: State, edge: Edge) -> bool:
    """Whether a part of a name is said again of what has it: "steak and eggs with the eggs over easy"."""
    if state[HEAD] <= 0 or state[PEND] or state[JOINT] not in (WITH, THE):
        return False
    if edge.entity.kind != "head":
        return False
    acts = state[ACTS]
    while acts is not None and acts[0].does != "head":
        acts = acts[1]
    said = stems(acts[0].edge.words) if acts is not None else ()
    return len(said) > 1 and set(stems(edge.words)) < set(said)


def _part_of(doing: Doing, state: State, edge: Edge) -> bool:
    mask = state[MASK]
    if state[HEAD] <= 0 or not mask & doing.index.combos or mask & edge.entity.mask:
        return False
    return any(mask & bit and parts & edge.entity.mask for bit, parts in doing.index.parts.items())


def _combo_of(doing: Doing, state: State, edge: Edge) -> bool:
    combos = edge.entity.mask & doing.index.combos
    if not combos or edge.entity.mask != combos or state[MASK] & combos:
        return False
    begun = edge.words[:2] == "a " or follows(state, "a") or follows(state, "to")
    if state[OP] in CHANGING and begun:
        return False  # "make the burger a meal": it becomes one
    return any(combos & bit and parts & state[MASK] for bit, parts in doing.index.parts.items())


def _anything(state: State) -> bool:
    """Whether an item has something that comes before its head."""
    return bool(state[NUM] or state[SIZE] or state[SAID] or state[FLAGS] & (DEFINITE | POINTED))


def _points_anew(state: State) -> bool:
    """Whether "it" begins a change of what was said: "a large sprite, no, make it a medium"."""
    changes = state[JOINT] == AFTER_VERB and bool(
        state[VERB] in CHANGING or state[FLAGS] & OPTIONED
    )
    return changes or state[JOINT] in (CORRECT, STOP, COMMA)


def _of_all(state: State) -> bool:
    """Whether the item that is open speaks of all things, or of several: "all the teas", "the teas"."""
    acts = state[ACTS]
    while acts is not None and acts[0].does != "begin":
        act, acts = acts
        if act.does == "ref" and act.value in _ALL:
            return True
        if act.does in ("head", "narrow") and act.edge.plural and state[FLAGS] & DEFINITE:
            return True
    return False


_ALL = frozenset(("all", "whole", "having", "rest", "them", "other"))


CONDITIONS: dict[str, Callable[[Doing, State, Edge], bool]] = {
    "uncounted": lambda _, s, e: (
        s[NUM] <= 0
        and s[JOINT] != WITH
        and not (s[SAID] and s[JOINT] == AND)
        and not ((s[NUM] or s[FLAGS] & OPTIONED) and s[JOINT] == COMMA)  # "guac, four tacos"
    ),
    "carried": lambda _, s, e: s[JOINT] == WITH,
    "numbered": lambda _, s, e: follows(s, "number") and s[NUM] > 0,  # "two flavors" are one thing
    "counted": lambda _, s, e: s[NUM] > 0,
    "counted_only": lambda _, s, e: s[NUM] > 0 and s[SAID] < 2,
    "shared": lambda _, s, e: s[NUM] > 0 and not follows(s, "size"),  # not "one glass of"
    "corrected": lambda _, s, e: s[JOINT] == CORRECT,
    "times": lambda _, s, e: s[JOINT] == TIMES,
    "optioned_on": lambda _, s, e: bool(s[FLAGS] & OPTIONED) and s[JOINT] != COMMA,
    "optioned": lambda _, s, e: bool(s[FLAGS] & OPTIONED),
    "joined": lambda _, s, e: (
        s[JOINT] in (WITH, ON) or (s[JOINT] == AFTER_VERB and s[OP] != "instead-of")
    ),
    "listed": lambda _, s, e: (
        (s[JOINT] == AND or (s[JOINT] == COMMA and s[NUM] <= 1))
        and not (s[NUM] > 0 and s[HEAD] == 0)
    ),
    # "Two teas, a mango and a plain one": one of each.
    "dealt": lambda _, s, e: s[NUM] > 1 and s[JOINT] == COMMA,
    "undealt": lambda _, s, e: not (s[NUM] > 1 and s[JOINT] == COMMA),
    "denying": lambda _, s, e: s[NEG] and not s[PEND],
    "swapped": lambda _, s, e: (
        (s[OP] == "swap" or (s[OP] == "instead-of" and not s[FLAGS] & EARLIER))
        and not s[HEAD]
        and s[VERB] == ""
    ),
    "replacing": lambda _, s, e: s[VERB] == "instead-of",
    "combined": lambda doing, s, e: s[HEAD] > 0 and bool(s[MASK] & doing.index.combos),
    "several": lambda doing, s, e: (
        doing.known and bool(s[FLAGS] & DEFINITE) and several_named(s) and follows(s, "dish")
    ),  # "the lattes both large"
    "combos": lambda doing, s, e: s[NUM] > 1 and s[HEAD] > 0 and bool(s[MASK] & doing.index.combos),
    "swapping": lambda _, s, e: (
        s[VERB] == "swap" or (s[VERB] == "instead-of" and not s[HEAD] and not s[FLAGS] & EARLIER)
    ),
    "pointed": lambda _, s, e: bool(s[FLAGS] & POINTED),
    "unsized": lambda _, s, e: s[SIZE] == 0,
    "trailing": lambda _, s, e: not s[PEND] and not s[NEG] and follows(s, "option"),
    "pending": lambda _, s, e: bool(s[PEND]),
    "headed": lambda _, s, e: s[NUM] <= 0 and s[HEAD] > 0 and s[JOINT] not in (WITH, AND),
    "unnumbered": lambda _, s, e: s[NUM] == 0 and s[HEAD] > 0,
    "known": lambda doing, s, e: doing.known,
    # "One vanilla, the second the same": another thing.
    "unpaused": lambda _, s, e: not (s[SAID] and s[JOINT] in (AND, COMMA, STOP)),
    "unsaid": lambda _, s, e: s[SAID] == 0 and s[SIZE] == 0,
    "beside": lambda _, s, e: bool(e.lines and s[SAID]) and s[JOINT] == WITH,
    "put": lambda _, s, e: s[JOINT] == ON,
    "put_on_counted": lambda _, s, e: s[JOINT] == ON and s[NUM] > 0 and s[SAID] > 1,
    "put_on_all": lambda _, s, e: s[JOINT] == ON and not (s[NUM] > 0 and s[SAID] > 1),
    "put_there": lambda doing, s, e: doing.known and s[JOINT] == ON and not s[NUM],
    "alternative": lambda _, s, e: s[JOINT] == OR,
    "unlisted": lambda _, s, e: (
        s[JOINT] not in (AND, COMMA) and not (s[OP] == "instead-of" and s[NUM] > 0)
    ),
    "unalternative": lambda _, s, e: s[JOINT] != OR,
    "adjoining": lambda _, s, e: (
        s[JOINT] == NOTHING
        and s[HEAD] > 0
        and not several_named(s)
        and (
            just_named(s)
            or not (s[SAID] or s[SIZE])
            and (s[NUM] == -1 or (s[NUM] == 0 and bool(s[FLAGS] & DEFINITE)))
        )
    ),
    "sized_just_now": lambda _, s, e: (
        s[JOINT] == NOTHING
        and s[HEAD] > 0
        and (s[NUM] <= 1 and s[OP] not in CHANGING)
        and follows(s, "size")
    ),
    "named": lambda _, s, e: s[HEAD] > 0 and follows(s, "dish"),
    "taken": lambda _, s, e: bool(s[FLAGS] & OPTIONED) and follows(s, "off"),  # "off one half"
    "turned": lambda _, s, e: bool(s[FLAGS] & TURNED) and described_just_now(s),
    "ordered": lambda doing, s, e: s[HEAD] > 0 and doing.known,
    "on_order": lambda doing, s, e: s[NUM] == 0 and s[HEAD] > 0 and doing.known,
    "said_of_it": lambda doing, s, e: s[HEAD] != 0 and doing.known,
    "recounted": lambda doing, s, e: s[NUM] > 0 and s[HEAD] > 0 and doing.known,
    "headful": lambda _, s, e: s[HEAD] > 0,
    "single": lambda _, s, e: (
        (s[NUM] <= 1 or e.words == "ones")
        and not (s[NUM] == 1 and (s[SAID] or s[JOINT] == AND) and e.words != "ones")
        and s[JOINT] != WITH  # "large, with one sugar"
        and not (s[JOINT] == COMMA and s[SIZE])  # "two baskets, the large, one with slaw"
        and bool(s[NUM] or s[SIZE] or s[SAID] or s[FLAGS] & (DEFINITE | POINTED))
    ),
    "told": lambda _, s, e: _anything(s) and not _points_anew(s),
    "verbless": lambda _, s, e: _anything(s) and not (s[VERB] or s[SAID]),
    "said_before": lambda _, s, e: _anything(s) and _points_anew(s),
    "lowering": lambda _, s, e: s[OP] == "remove" and s[HEAD] > 0 and e.words == "to",
    "speaking_of": lambda doing, s, e: (
        not (s[OP] or s[VERB] or follows(s, "off"))
        and (s[HEAD] > 0 and doing.known)
        # "The curry to mild", "curry down to mild"
        and (e.words.endswith(" to") or (bool(s[FLAGS] & DEFINITE) and e.words == "to"))
    ),
    "otherwise": lambda doing, s, e: (
        doing.known
        and s[JOINT] in (AND, COMMA, STOP)
        and (
            (s[SIZE] > 0 and not doing.index.entity(s[SIZE]).mask & e.entity.mask)
            or (s[SAID] > 0 and not (s[NEG] or s[MASK] & e.entity.mask))
        )
    ),
    "widening": lambda _, s, e: bool(s[HEAD]) and _of_all(s),
    "ahead": lambda doing, s, e: (
        doing.known and e.words not in ("but", "not") and not s[FLAGS] & EARLIER
    ),
    "beside_all": lambda doing, s, e: doing.known and s[JOINT] == WITH and s[SAID] > 0,
    "dropping": lambda _, s, e: s[VERB] == "remove",
    "changing": lambda _, s, e: (
        s[OP] in CHANGING
        and not s[PEND]
        and not (s[FLAGS] & TURNED and s[FLAGS] & OPTIONED and e.words == "to")
    ),
    "becoming": _becoming,
    "refines": _refines,
    "kindred": _kindred,
    "own": _own,
    "part": _part_of,
    "combo_of": _combo_of,
}
