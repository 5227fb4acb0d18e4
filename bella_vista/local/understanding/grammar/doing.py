"""Actions of the grammar's rules on a state of the search, and their cost beside the rule's price."""

from collections.abc import Callable, Mapping
from typing import Any

from bella_vista.local.understanding.grammar.edges import NO_EDGE, Edge
from bella_vista.local.understanding.grammar.grammar import (
    AFTER_VERB,
    ALREADY,
    AND,
    CHOSEN_AFTER_NO,
    CHOSEN_TWICE,
    COMMA,
    CORRECT,
    COUNTED,
    FRAGMENT,
    HEADLESS,
    JOINTS,
    KEPT_REMOVING,
    LISTED,
    LOST_VERB,
    MISFIT,
    NOT_IN_IT,
    NOTHING,
    ON,
    OR,
    OUT_OF_COMBO,
    PAUSED,
    RATHER_OPTION,
    STOP,
    STOPPED,
    STOPPED_REMOVING,
    STRANGE,
    THE,
    UNFOUND,
    UNHALVED,
    UNSIZED,
    WITH,
    WITHIN,
)
from bella_vista.local.understanding.grammar.states import (
    ACTS,
    CHANGING,
    CLASHED,
    DEFINITE,
    EARLIER,
    FLAGS,
    GROUPS,
    HEAD,
    JOINT,
    MASK,
    NEG,
    NUM,
    OP,
    OPTIONED,
    OWN,
    PARTED,
    PEND,
    PLACE,
    POINTED,
    SAID,
    SIG,
    SIZE,
    STEPS,
    TURNED,
    VERB,
    Act,
    State,
    begins_sentence,
    follows,
    follows_all,
    follows_option_of_another,
    follows_same_of,
    subject_begins,
)
from bella_vista.local.understanding.menu.index import Entity, Index
from bella_vista.local.understanding.words.tokens import number_at, tokenize

_POINTING = frozenset(("other", "it", "them", "one", "ordinal", "the", "rest"))
_COUNTING, _NAMING = ("number", "dish"), ("number", "dish", "size")
_WITHIN = (*CHANGING, "remove", "instead-of")


def _noting(does: str, *, words: bool = False) -> Callable[["Doing", State, Edge, int], float]:
    """Return what notes in a state that something is done, perhaps with its words."""

    def note(doing: "Doing", state: State, edge: Edge, place: int) -> float:
        doing.act(state, does, edge if words else None, place)
        return 0.0

    return note


_DENIED = (("no", ""),)


def _named_after_joint(state: State) -> bool:
    """Whether what was named last follows "and": "drop the soup, and the salad should be large"."""
    steps = state[STEPS]
    while steps is not None and steps[0].edge.does not in ("and", "remove", "off"):
        steps = steps[1]
    return steps is not None and steps[0].edge.does == "and"


class Doing:
    """Carries out what rules do: a method for each word in their column "does".

    Args:
        index: The menu's names.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self.known = False
        """Whether there is something on the order, or a question open, that may be meant."""
        self.chosen: Mapping[int, int] = {}
        """The dishes on the order that each option was chosen for, by its number."""

    def act(
        self, state: State, does: str, edge: Edge | None, place: int, value: Any = None
    ) -> None:
        """Note in a state what is done, on which words."""
        edge = edge if edge is not None else NO_EDGE
        state[SIG] = hash((state[SIG], does, edge.code, value))
        state[ACTS] = (Act(does, edge, place, 0.0, value), state[ACTS])

    _much = _noting("much", words=True)
    _bare = _noting("bare", words=True)
    _each = _noting("each")
    _kept = _noting("kept")
    _back = _noting("back")
    _besides = _noting("besides")
    _copied = _noting("copied")
    _free = _noting("free")
    _total = _noting("total")

    def closing(self, state: State, *, begun: bool) -> float:
        """Return what it costs to end the item that is open, which may have only begun."""
        cost = UNFOUND if state[PEND] else 0.0
        if begun and not self._is_sized(state):
            alone = not (self.known or state[FLAGS] & EARLIER or self._is_told(state))
            cost += HEADLESS if alone else FRAGMENT
            if state[SAID] == 0 and not state[NUM] and not state[SIZE]:
                cost += 2.0
        return cost

    def _is_sized(self, state: State) -> bool:
        """Whether a size tells the only dish that comes so: "an eight piece"."""
        mask = self.index.entity(state[SIZE]).mask if state[SIZE] else 0
        return bool(mask) and not mask & (mask - 1)

    def _is_told(self, state: State) -> bool:
        """Whether a choice by its whole name tells the only dish that cannot be without it: "salmon nigiri"."""
        mask, acts = state[MASK], state[ACTS]
        while acts is not None and acts[0].does not in ("begin", "option"):
            acts = acts[1]
        edge = acts[0].edge if acts is not None else NO_EDGE
        only = bool(mask) and not mask & (mask - 1) and edge.entity.tallied & mask
        return bool(only and edge.entity.chosen & mask and edge.whole)

    def _begin(self, state: State, edge: Edge, place: int) -> float | None:
        whole = edge.does in ("dish", "the") and follows_all(state)
        if follows(state, "of") or whole or follows_same_of(state):
            return None  # "two of those cookies", "both the pizzas", "same again of the korma"
        began = state[FLAGS] & EARLIER
        cost = 0.0
        if self._open(state):
            cost = self.closing(state, begun=state[HEAD] == 0)
            if state[PEND]:
                self.act(state, "lost", None, max(0, place - 1))
        verb = state[VERB]
        if (
            not verb
            and state[OP] in CHANGING
            and edge.does in _POINTING
            and state[JOINT] in (AND, COMMA)
        ):
            verb = "change"
        if not verb and state[OP] == "remove" and self._open(state):
            if (
                state[JOINT] in (AND, COMMA, OR, NOTHING)
                and (edge.some or edge.does not in ("a", "number", "more"))
                and not subject_begins(state)
            ):
                verb, cost = "remove", cost + KEPT_REMOVING
            elif state[JOINT] in (AND, COMMA):
                cost += 0.2 if edge.does in ("a", "number") else STOPPED_REMOVING
        if edge.does == "a" and state[HEAD] > 0 and state[MASK] & self.index.combos:
            cost += OUT_OF_COMBO
        if edge.does == "option" and state[JOINT] == NOTHING and state[HEAD] > 0 and self.known:
            # "Make the americano iced", which it cannot be, makes nothing else iced.
            cost += STRANGE if state[FLAGS] & DEFINITE else 0.0
        if edge.does == "dish" and state[JOINT] == NOTHING and follows_option_of_another(state):
            cost += STRANGE
        correct = state[JOINT] == CORRECT
        if correct and edge.does == "dish" and state[HEAD] > 0 and state[FLAGS] & OPTIONED:
            cost += RATHER_OPTION
        joint = NOTHING if state[JOINT] == AFTER_VERB else state[JOINT]  # they mean the same here
        self.act(state, "begin", edge, place, (verb, correct, joint))
        state[OP], state[VERB], state[HEAD], state[MASK] = verb, "", 0, self.index.all
        state[NUM] = state[SIZE] = state[SAID] = 0
        state[PEND], state[NEG], state[OWN], state[GROUPS] = (), False, self.index.all, ()
        state[FLAGS] = EARLIER if began or self._was_open else 0
        if follows(state, "the") and edge.does in _NAMING:
            self._definite(state, edge, place)
        return cost

    def _removed(self, state: State) -> bool:
        """Whether what is to come off was named, and what follows is another thing."""
        if not state[SAID] or state[VERB]:
            return False
        verb = state[OP] == "remove" and state[JOINT] == AFTER_VERB
        return verb or bool(state[OP] == "removed")

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

    def _count(self, state: State, edge: Edge, place: int) -> float:
        again = state[NUM] > 0 and state[JOINT] in (COMMA, STOP, AND)
        state[NUM] = edge.value
        self.act(state, "count", edge, place)
        if again:
            return STRANGE  # "make it five lattes, two with oat milk" are no two in all
        if edge.words == "one" and state[FLAGS] & DEFINITE and follows(state, "plain"):
            return STRANGE  # "the plain one" counts nothing
        if edge.words == "one" and self.known and follows(state, "ordinal"):
            return COUNTED  # nor rather does "the second one", of the order
        return LOST_VERB if state[VERB] else 0.0

    def _uncount(self, state: State, edge: Edge, place: int) -> float:
        state[NUM] = 0
        self.act(state, "uncount", None, place)
        return 0.0

    def _few(self, state: State, edge: Edge, place: int) -> float:
        state[NUM] = -2
        self.act(state, "few", edge, place)
        return 0.0

    def _one_of(self, state: State, edge: Edge, place: int) -> float:
        state[NUM] = -1
        self.act(state, "one", edge, place)
        return 0.0

    def _article(self, state: State, edge: Edge, place: int) -> float:
        return (
            2.0 if state[NUM] > 1 and state[JOINT] in (STOP, COMMA, AND) else 0.0
        )  # "we are five. a whole chicken"

    def _tally(self, state: State, edge: Edge, place: int) -> float | None:
        if state[PEND] or (isinstance(edge.value, int) and edge.value > 20):
            return None
        state[PEND] = (("count", edge.value),)
        return 0.0

    def _both(self, state: State, edge: Edge, place: int) -> float | None:
        """Take "both" for the number of a combo's parts: "the two slice special, both pepperoni"."""
        if edge.words != "both" or state[PEND] or state[NUM] > 1 or state[FLAGS] & PARTED:
            return None
        state[PEND] = (("count", 2),)
        return 0.0

    def _definite(self, state: State, edge: Edge, place: int) -> float:
        if not state[FLAGS] & DEFINITE:
            state[FLAGS] |= DEFINITE
            self.act(state, "the", None, place)
        return 0.0

    def _half_of(self, state: State, edge: Edge, place: int) -> float:
        state[HEAD] = -1
        state[NUM] = 1
        self.act(state, "half_of", edge, place)
        return 0.0

    def _fewer(self, state: State, edge: Edge, place: int) -> float:
        state[OP] = "remove"
        state[NUM] = 1
        self.act(state, "fewer", edge, place)
        return 0.0

    def _named(self, state: State, edge: Edge, place: int) -> float | None:
        state[HEAD] = -1
        state[SAID] += 1
        self.act(state, "option", edge, place, ())
        return 0.0

    def _affirm(self, state: State, edge: Edge, place: int) -> float:
        state[NEG] = False
        return 0.0

    def _ordinal(self, state: State, edge: Edge, place: int) -> float:
        state[FLAGS] |= POINTED | DEFINITE
        self.act(state, "ordinal", edge, place)
        state[SAID] += 1
        return LOST_VERB if state[VERB] else 0.0

    def _more(self, state: State, edge: Edge, place: int) -> float:
        state[NUM] = state[NUM] or -1
        state[FLAGS] |= POINTED
        self.act(state, "more", None, place)
        return 0.0

    def _of(self, state: State, edge: Edge, place: int) -> float | None:
        if state[PEND] and state[PEND][0][0] == "count":
            return None  # "two hot, cheese on one of the hot ones": the one is no number of choices
        state[FLAGS] |= DEFINITE
        self.act(state, "of", None, place)
        return 0.0

    def _ref(self, state: State, edge: Edge, place: int) -> float | None:
        if self._removed(state):
            return None  # "forget the wrap, put it on a bun"
        if edge.does == "one" and follows(state, "the"):
            self._definite(state, edge, place)
        state[HEAD] = -2 if edge.does in ("it", "one", "again") else -1
        self.act(state, "ref", edge, place, edge.does)
        if edge.does == "other" and self._half_said(state):
            return None  # "ham on one half, no basil on the other": the other half
        if edge.does == "of-them":
            state[FLAGS] |= POINTED
            state[MASK] &= self._counted_before(state)
        return 0.0 if not state[PEND] else UNFOUND

    def _half_said(self, state: State) -> bool:
        """Whether something of the item that is open was said to lie on one half."""
        acts = state[ACTS]
        while acts is not None and acts[0].does not in ("begin", "half"):
            acts = acts[1]
        return acts is not None and bool(acts[0].does == "half")

    def _counted_before(self, state: State) -> int:
        """Return the dishes that "one of them" can be of: those that were named last in the line."""
        acts = state[ACTS]
        while acts is not None:
            act, acts = acts
            if act.does in ("head", "ref") and act.edge.does != "of-them":
                return act.edge.entity.mask if act.does == "head" else self.index.all
        return self.index.all

    def _turned(self, state: State, edge: Edge, place: int) -> float:
        """Take "can that be" for the thing that was spoken of last, and what it should be."""
        state[HEAD] = -2
        self.act(state, "ref", edge, place, "it")
        return self._should(state, edge, place)

    def _head(self, state: State, edge: Edge, place: int) -> float:
        entity = edge.entity
        state[HEAD] = entity.number
        mask = state[MASK] & entity.mask
        cost = LOST_VERB if state[VERB] else 0.0
        if not mask:
            # "A tuna roll", where no roll has tuna, is an unknown dish.
            several = entity.mask & (entity.mask - 1)
            unknown = several and follows(state, "option")
            mask, cost = entity.mask, cost + (MISFIT / 2 if unknown else MISFIT)
        if state[NUM] < 2 and (state[SIZE] or state[SAID]):
            cost += PAUSED if state[JOINT] == COMMA else STOPPED if state[JOINT] == STOP else 0.0
        begun = follows(state, "a") or edge.words[:2] == "a "
        begun = begun or (state[OP] == "instead-of" and follows(state, "the"))
        if state[SAID] and state[JOINT] == AND and begun:
            cost += 2 * PAUSED  # "one sugar and a hot tea" says nothing of the tea
        if state[NUM] > 0 and state[JOINT] == AND:
            cost += 2 * PAUSED  # "one of those, and french toast" counts no french toast
        if state[NUM] > 1 and state[JOINT] in (STOP, COMMA, AND) and edge.words[:2] == "a ":
            cost += 2 * PAUSED  # "sorry three, and a root beer"
        if state[NUM] > 0 and state[JOINT] == WITH:
            # "Two combos, one with a cola": one of the combos.
            cost += PAUSED if state[NUM] > 1 else 2 * PAUSED
        if state[JOINT] != ON and state[OWN] != self.index.all:
            # "No spaghetti carbonara" leaves nothing off a carbonara.
            cost += NOT_IN_IT if mask & state[OWN] else NOT_IN_IT + MISFIT
        if state[SIZE]:
            sized = mask & self.index.entity(state[SIZE]).mask
            mask, cost = (sized, cost) if sized else (mask, cost + UNSIZED)
        state[MASK] = mask
        if state[PEND]:
            cost += self._amount_of_head(state, place)
        self.act(state, "head", edge, place)
        return cost

    def _amount_of_head(self, state: State, place: int) -> float:
        """Take "extra" before a dish as one more of it, and half of it as it stands."""
        pend, state[PEND] = state[PEND], ()
        if pend[1:] == _DENIED:
            return MISFIT  # "half no cheese"
        if pend[:1] == _DENIED:
            doubled = state[OP] == "remove"
            state[OP] = "remove"
            self.act(state, "deny", None, place)
            return 3.0 if state[NUM] > 0 or doubled or state[FLAGS] & TURNED else 0.3
        if pend and pend[0][0] == "amount" and pend[0][1] == "extra":
            self.act(state, "more", None, place)
            return 1.0
        if pend == (("amount", "double"),) and self.known:
            state[OP] = "change"
            self.act(state, "twice", None, place)
            return 0.5
        self.act(state, "lost", None, max(0, place - 1))
        return UNFOUND

    def _heading(self, state: State, edge: Edge, place: int) -> float:
        apart = state[HEAD] > 0 and not state[MASK] & edge.entity.mask
        return UNFOUND if follows(state, "number") else UNSIZED if apart else 0.0

    def _narrow(self, state: State, edge: Edge, place: int) -> float:
        state[MASK] &= edge.entity.mask
        state[HEAD] = edge.entity.number if state[HEAD] < 0 else state[HEAD]
        self.act(state, "narrow", edge, place)
        return 0.0

    def _part(self, state: State, edge: Edge, place: int) -> float:
        state[FLAGS] |= PARTED
        state[GROUPS] = ()
        state[SIZE] = 0
        if state[PEND] and state[PEND][0][0] == "count":
            self.act(state, "parts", None, place, state[PEND][0][1])
            state[PEND] = ()
        state[MASK] = self._having(state[MASK], edge.entity.mask)
        self.act(state, "part", edge, place, state[MASK])
        lost = LOST_VERB if state[VERB] == "instead-of" else 0.0
        return lost + UNFOUND if state[PEND] else lost

    def _having(self, combos: int, mask: int) -> int:
        """Return the bits of the combos of which one of some dishes is a part."""
        several = self.index.parts.items()
        return sum(bit for bit, parts in several if bit & combos and parts & mask)

    def _combo(self, state: State, edge: Edge, place: int) -> float:
        having = self._having(edge.entity.mask, state[MASK])
        state[MASK] = having
        state[HEAD] = edge.entity.number
        points = state[FLAGS] & DEFINITE or state[OP] in _WITHIN
        within = bool(edge.lines) or bool(self.known and follows(state, "the") and points)
        self.act(state, "combo", edge, place, (within, having))
        return -WITHIN if within else 0.0

    def _size(self, state: State, edge: Edge, place: int) -> float:
        entity = edge.entity
        # "A latte instead of the mocha. small": the latte.
        cost = UNSIZED if state[OP] == "instead-of" and state[JOINT] == STOP else 0.0
        state[SIZE] = entity.number
        if state[HEAD] > 0:
            if state[MASK] & entity.mask:
                state[MASK] &= entity.mask
            else:
                cost += UNSIZED if not state[FLAGS] & PARTED else 0.3
        self.act(state, "size", edge, place)
        return cost

    def _option(self, state: State, edge: Edge, place: int) -> float | None:
        entity = edge.entity
        if state[VERB] in ("instead-of", "keep"):
            return None
        if state[VERB] == "remove":
            return None  # "add ham and take off the olives"
        if self._removed(state):
            return None  # "remove the olives and put ham on it"
        pend = state[PEND]
        if edge.value:  # "all glazed", of a dozen
            if pend:
                return None
            pend = (("count", edge.value),)
        resized = state[OP] in CHANGING and state[SIZE] and state[HEAD] < 0 and not pend
        denied = state[NEG] or bool(pend and pend[0][0] == "no")
        own = entity.own | self.chosen.get(entity.number, 0)
        cost = 0.3 if resized else 0.0  # "make the small one medium": rather of another size
        if state[OP] == "instead-of" and state[JOINT] == STOP:
            cost = UNSIZED + NOT_IN_IT  # "not all over. Ham on the other half": of the pizza
        if state[PLACE] == "before" and state[SAID] and begins_sentence(state):
            cost += STOPPED
        if state[JOINT] == ON and state[HEAD] and follows(state, "the"):
            cost = 0.3  # "no tomato on the burger": rather a thing than a burger sauce
        if denied and not pend and state[JOINT] not in (OR, AND, COMMA, NOTHING, THE):
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
                cost = 0.05 if state[JOINT] == OR else 0.15
                if state[MASK] & entity.chosen:
                    cost += 1.0
        elif not fits:
            cost = MISFIT if state[HEAD] >= 0 or not self.known else 0.6
        else:
            if state[HEAD] > 0 and not pend and not fits & ~entity.own:
                cost = ALREADY
            if not denied and (state[HEAD] == 0 or fits != state[MASK]):
                state[MASK] = fits
            cost += self._chosen_twice(state, entity)
        if denied and not pend and state[JOINT] == NOTHING and entity.chosen:
            cost += CHOSEN_AFTER_NO
        if (
            pend
            and pend[0][0] == "half"
            and entity.kind == "option"
            and entity.halved != entity.mask
        ):
            if not fits & entity.halved:
                # "A half, cold": a size of the sandwich. "Half cherry half lemon" are both.
                several = state[HEAD] > 0 and not fits & ~(entity.loose & entity.chosen)
                cost += UNHALVED / 2 if several else UNFOUND
        if fits & entity.tallied and state[FLAGS] & TURNED and follows(state, "number"):
            cost += 0.0 if pend else COUNTED  # "make it two sugars": rather sugars than coffees
        if state[FLAGS] & TURNED and not pend and follows(state, "a"):
            cost += COUNTED  # "make it a funghi": rather the pizza than mushrooms on it
        tally = [value for kind, value in pend if kind == "count"]
        if tally and not fits & entity.tallied:
            cost += (
                0.7 if tally[0] == 1 else 1.0 if tally[0] == 2 and fits & entity.counted else 3.0
            )
        state[SAID] += 1
        state[FLAGS] |= OPTIONED
        self.act(
            state,
            "option",
            edge,
            place,
            (*pend, ("carried", "")) if state[NEG] and not pend else pend,
        )
        state[NEG] = denied
        state[PEND] = ()
        if state[VERB] == "add":
            state[VERB] = ""  # "swap the ranch for balsamic and add chicken to the salad"
        return cost

    def _chosen_twice(self, state: State, entity: Entity) -> float:
        """Return what it costs that a choice of the same kind was made of the same thing."""
        before, state[GROUPS] = state[GROUPS], (*state[GROUPS], entity.groups)
        several = state[NUM] > 1 or state[JOINT] in (CORRECT, OR) or state[OP] in CHANGING
        mask = state[MASK]
        if state[HEAD] == 0 and before and not several and not entity.loose & entity.mask:
            return CHOSEN_TWICE if any(entity.groups & other for other in before) else 0.0
        if not before or several or state[HEAD] <= 0 or mask & (entity.loose | self.index.combos):
            return 0.0
        here = self.index.groups[mask & -mask]
        if (entity.groups & here).bit_count() != 1 or entity.groups & here not in [
            other & here for other in before
        ]:
            return 0.0
        state[FLAGS] |= CLASHED
        return CHOSEN_TWICE

    def _done(self, state: State, edge: Edge, place: int) -> float | None:
        cost = self._option(state, edge, place)
        state[JOINT] = ON
        self.act(state, "on", None, place)
        return cost

    def _replaced(self, state: State, edge: Edge, place: int) -> float:
        amount = tuple(one for one in state[PEND] if one[0] == "amount")
        state[VERB], state[PEND] = "", state[PEND][len(amount) :]
        self.act(state, "replaced", edge, place, amount)
        return 0.0

    def _outdone(self, state: State, edge: Edge, place: int) -> float:
        """Pass over the size or number that gave way: "a large instead of a small"."""
        state[VERB] = ""
        self.act(state, "outdone", edge, place)
        return 0.0

    def _drop(self, state: State, edge: Edge, place: int) -> float | None:
        state[PEND] = (("no", "dropped"),)
        state[VERB] = ""
        return self._option(state, edge, place)

    def _pend(self, state: State, edge: Edge, place: int) -> float | None:
        kind = {"halves": "half", "other-halves": "other half", "other-half": "other half"}.get(
            edge.does, edge.does
        )
        if any(one[0] in ("amount", "no") for one in state[PEND]) and kind == "amount":
            return None
        if self._removed(state):
            return None  # "remove the pineapple and put extra ham"
        state[PEND] = (*state[PEND], ("amount", edge.value) if kind == "amount" else ("half", kind))
        state[NEG] = False
        return 0.0

    def _deny(self, state: State, edge: Edge, place: int) -> float | None:
        if any(kind != "half" for kind, _ in state[PEND]):
            return None
        extra = edge.does == "no-extra"
        denied = (("no", ""), ("amount", "extra")) if extra else (("no", ""),)
        state[PEND] = (*state[PEND], *denied)  # "half no basil"
        return 0.0

    def _halved(self, state: State, edge: Edge, place: int) -> float:
        last = state[ACTS][0] if state[ACTS] is not None else None
        whole = last is not None and last.does == "option" and not last.edge.entity.halved
        if last is not None and last.value == _DENIED:
            whole = False  # that it cannot be left off one half is told
        self.act(state, "half", None, place, "other half" if "other" in edge.does else "half")
        return UNHALVED if whole else 0.0  # "cocoa on the other": the other cup

    def _beside(self, state: State, edge: Edge, place: int) -> float:
        state[NEG] = False
        self.act(state, "side", None, place)
        return 0.0

    def _only(self, state: State, edge: Edge, place: int) -> float:
        self.act(state, "only", None, place)
        state[JOINT] = WITH
        # "One with vanilla and one with just lemon": the number counts no scoops of lemon.
        return UNFOUND if state[PEND][:1] and state[PEND][0][0] == "count" else 0.0

    def _plain(self, state: State, edge: Edge, place: int) -> float:
        state[SAID] += 1
        self.act(state, "plain", edge, place)
        return 0.0

    def _note(self, state: State, edge: Edge, place: int) -> float:
        state[SAID] += 1
        self.act(state, "note", edge, place)
        return LOST_VERB if state[VERB] == "instead-of" else 0.0  # "instead of crispy"

    def _off(self, state: State, edge: Edge, place: int) -> float:
        if state[PLACE] == "before":
            state[JOINT] = ON
        self.act(state, "off", None, place)
        return 0.0

    def _except(self, state: State, edge: Edge, place: int) -> float:
        state[OP] = ""
        self.act(state, "except", None, place)
        return 0.0

    def _verb(self, state: State, edge: Edge, place: int) -> float:
        cost = 3.0 if state[VERB] and edge.does == "add" else 0.0
        cost += LOST_VERB if follows(state, "except") else 0.0  # "all large, but add a cola"
        state[VERB] = "" if edge.does == "add" else edge.does
        if state[JOINT] != CORRECT or edge.does != "add":
            state[JOINT] = AFTER_VERB
        state[NEG] = False
        if edge.does == "add" and edge.words == "add":
            state[VERB] = "add"
        return cost

    def _exactly(self, state: State, edge: Edge, place: int) -> float:
        state[NEG] = False  # "no ham on it, just the pineapple"
        if state[OP] == "remove":
            state[OP] = "removed"  # "drop the tiramisu, just the cannoli"
        self.act(state, "exactly", None, place)
        return 0.0

    def _instead(self, state: State, edge: Edge, place: int) -> float:
        self.act(state, "instead", None, place)
        # "Remove the sausage, ham instead": one of the two comes.
        return 3.0 if state[OP] == "remove" and state[SAID] > 1 and state[PLACE] != "out" else 0.0

    def _correct(self, state: State, edge: Edge, place: int) -> float:
        clashed = state[FLAGS] & CLASHED
        state[FLAGS] &= ~CLASHED
        state[JOINT] = CORRECT
        state[NEG] = False
        self.act(state, "correct", edge, place)
        denied = UNFOUND if state[PEND] else 0.0  # "no sorry" denies nothing of what follows
        return denied - CHOSEN_TWICE if clashed else denied  # "steak and shrimp, no, just shrimp"

    def _should(self, state: State, edge: Edge, place: int) -> float:
        denied = state[OP] == "remove" and edge.does != "to" and not _named_after_joint(state)
        state[OP] = "change"
        alone = not (state[HEAD] or self.known or state[FLAGS] & EARLIER)
        if state[PLACE] == "after" and not state[HEAD]:
            state[HEAD] = -1
        self.act(state, "should", None, place)
        cost = (LOST_VERB if denied else 0.0) + (HEADLESS if alone else 0.0)
        return self._become(state, edge, place) + cost

    def _become(self, state: State, edge: Edge, place: int) -> float:
        cost = 0.0
        if edge.does == "number" and state[SAID] > 0:
            # "The small one should be large and the large one small", "half caf and two splenda".
            cost = 0.6 if edge.words == "one" else 0.3
        if edge.does == "option" and state[SIZE] and not state[FLAGS] & TURNED:
            cost = 0.3  # "make the small one medium": rather of another size
        bare = state[JOINT] == NOTHING and follows(state, "dish")
        if edge.does == "dish" and bare and not state[MASK] & self.index.combos:
            cost = 0.45  # "make one of the mochi green tea": rather its choice than "a green tea"
        if edge.does == "dish" and follows(state, "all"):
            cost = 1.0  # "make both coffees large"
        if state[OP] == "swap" and edge.does == "dish" and not state[FLAGS] & TURNED:
            cost = NOT_IN_IT  # it is swapped "for" something
        if state[JOINT] == AND:
            pieces = state[NUM] > 0 and number_at(tokenize(edge.words), 0) is not None
            sized = edge.does == "size" and (state[SIZE] or pieces)  # "a six mild and a six hot"
            listed = edge.does in _COUNTING or sized or not state[FLAGS] & TURNED
            cost += LISTED if listed else LISTED / 3 if edge.does == "a" else 0.0
        if not state[FLAGS] & TURNED:
            self.act(state, "become", None, place)
            state[FLAGS] |= TURNED
            state[NUM] = state[SIZE] = 0
            if state[HEAD] < 0:
                state[MASK] = self.index.all
        if edge.does == "size" and not state[MASK] & edge.entity.mask:
            cost += UNSIZED / 2  # "change the salsa to a large guacamole"
            state[MASK] = self.index.all
        if edge.does == "dish":
            cost += MISFIT if _has_become(state) else 0.0  # "make one beer a sprite"
            state[MASK] = self.index.all
        return cost

    def _put(self, state: State, edge: Edge, place: int) -> float:
        """Take "naan with the large one" for naan that is put on it."""
        state[JOINT] = ON
        self.act(state, "on", None, place)
        return 0.0

    def _joint(self, state: State, edge: Edge, place: int) -> float:
        joint, old = JOINTS.index(edge.does) if edge.does in JOINTS else WITH, state[JOINT]
        if edge.does == "the" and old != NOTHING:
            joint = old
        elif edge.does == "comma" and old in (WITH, AFTER_VERB, CORRECT, AND):
            joint = old
        state[JOINT] = joint
        if edge.does in ("with", "but", "stop"):
            state[NEG] = False
        passed = state[STEPS] is not None and state[STEPS][0].edge is NO_EDGE
        if passed and edge.does in ("comma", "and") and state[PEND][:1] == _DENIED:
            state[PEND] = ()  # "no bacon, small": it is told that there is no bacon
        if state[PEND] and edge.does != "the":
            self.act(state, "joint", edge, place)
            return 0.05 if state[PEND][0][0] == "half" else 1.5
        if edge.does == "on":
            self.act(state, "on", None, place)
        return 0.0


def _has_become(state: State) -> bool:
    """Whether the dish that a thing becomes was named already."""
    acts, named = state[ACTS], False
    while acts is not None and acts[0].does not in ("begin", "become"):
        named = named or acts[0].does == "head"
        acts = acts[1]
    return named and acts is not None and acts[0].does == "become"
