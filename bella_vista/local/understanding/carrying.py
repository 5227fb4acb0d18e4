"""Carries a reading out on a copy of the order, and says how well it fits there.

Each item of a reading is carried out in the first way that fits the order. What does not fit costs the
reading a penalty, so that another reading of the same words may come out cheaper.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bella_vista.local.understanding.asides import bare
from bella_vista.local.understanding.combos import change_part, change_parts, put_together
from bella_vista.local.understanding.corrections import (
    bring_back,
    only,
    put_in_place,
    says_whole_order,
    take_back,
)
from bella_vista.local.understanding.grammar import JOINTS
from bella_vista.local.understanding.items import Item, Split
from bella_vista.local.understanding.meaning import Question
from bella_vista.local.understanding.outcome import (
    LOOSE,
    NEW_THOUGH_THERE,
    NO_EFFECT,
    NOT_THERE,
    Outcome,
    Which,
)
from bella_vista.local.understanding.reading import Option, Said
from bella_vista.local.understanding.targets import several, sized, targets
from bella_vista.local.understanding.waiting import (
    fill,
    left,
    meant_line,
    names_one,
    take_back_question,
    without_verb,
)
from state.menu.words import stems

_FEW = 8
_NEW_BY_THE = 0.5
"""What it costs that "the burger" is none of those that are on the order."""
_LIKE_A_DISH = 1.2
"""What it costs to take the name of a dish that is on the order for an option."""
_APART = frozenset(JOINTS.index(name) for name in ("nothing", "comma", "stop", "verb"))
_DEALT = 1.0
"""How much likelier a split is that deals out exactly as many as were ordered."""
_STOPS = (JOINTS.index("comma"), JOINTS.index("stop"))
_THESE = ("all", "them", "it")
_SUCH = ("of-them", "same", "again")
"""What "another one" may be of."""
_AND, _OR, _ON, _THE, _COMMA, _BUT = (
    JOINTS.index(name) for name in ("and", "or", "on", "the", "comma", "but")
)


@dataclass(frozen=True, slots=True)
class Situation:
    """What a line is said upon, beside the order.

    Args:
        topic: A dish that was spoken of before.
        which: What waits until it is known with which line.
        before: The lines before what was changed last, where that is known.
        reviewed: Whether the order has been read back and waits for a yes.
    """

    topic: str | None = None
    which: Which | None = None
    before: Sequence[Item] | None = None
    reviewed: bool = False


class Carrying:
    """Carries one reading out.

    Args:
        order: A copy of the order; it is changed.
        situation: What the line is said upon.
        talk: The places of the line where the guest only talks.
    """

    def __init__(self, order: Outcome, situation: Situation, talk: Collection[int] = ()) -> None:
        self._out = order
        self._out.which = situation.which
        self._situation = situation
        self._talk = talk
        self._gives_way: Item | None = None
        self._announced: list[Item] = []
        self._emptied = False

    def carry(self, reading: Sequence[Said]) -> Outcome:
        """Carry out all items of a reading, one after the other."""
        reading = self._dealt_sizes(reading)
        self._share(reading)
        lines, whole = self._out.lines, says_whole_order(self._out, reading)
        if whole:
            self._out.lines = []
        for at, said in enumerate(reading):
            if said.place in self._talk and bare(said) and not said.empty:
                self._out.penalty += LOOSE if said.verb or said.count is not None else 0.8
            elif not said.empty or said.become is not None:
                self._out.place = said.place
                self._out.leaving = _leaving(reading[at + 1 :])
                self._carry(said, reading[at + 1 :])
            elif said.verb in ("remove", "swap") or said.spared:
                self._out.penalty += NO_EFFECT
        for item in self._out.items:
            if len(item.splits) > 1 and not left(item):
                self._out.penalty -= _DEALT  # "four mochi, two green tea and two mango"
        put_together(self._out)
        if whole:
            put_in_place(self._out, lines)
        return self._out

    def _share(self, reading: Sequence[Said]) -> None:
        """Say of both what is said of one: "bacon on the burger and the hot dog"."""
        for before, said in pairwise(reading):
            if not before.on or before.become is None:
                continue
            if said.verb == "remove" and self._lacks(said, before.become):
                said.verb = ""  # "remove the egg from the stew and the roll"
            if self._only_named(said):
                said.become, said.on, said.verb = before.become, True, before.verb
        for said, after in reversed([*pairwise(reading)]):
            tells = after.described or after.become is not None
            named = self._only_named(said, first=True) and self._on(after) and tells
            if named and after.joint in (_AND, _COMMA) and not after.on:
                said.become = after.become or replace(after, head=None, ref="")
                said.verb = after.verb or "change"

    def _lacks(self, said: Said, become: Said) -> bool:
        """Whether what is to be left off is in all that is named."""
        found = self._out.named(said.mask, self._out.lines) if said.head is not None else []
        left_off = bool(become.options) and all(one.no for one in become.options)
        return left_off and bool(found) and all(self._out.able(one, become) for one in found)

    def _only_named(self, said: Said, *, first: bool = False) -> bool:
        """Whether something on the order is named, and nothing is said of it."""
        joint = first or said.joint in (_AND, _COMMA)
        told = said.described or said.become is not None or said.parts or said.more
        doubts = said.correct or said.instead or said.denied or said.kept or said.exact
        verb = said.verb in ("", "change")
        return joint and verb and not told and not doubts and self._on(said)

    def _on(self, said: Said) -> bool:
        """Whether "the" with a name means something on the order."""
        definite = said.definite or said.joint == _THE
        if said.head is None or not definite or said.number is not None:
            return False
        out = self._out
        parts = [part for item in out.lines for part in item.parts]
        return bool(out.named(said.mask, [*out.lines, *parts]))

    def _dealt_sizes(self, reading: Sequence[Said]) -> Sequence[Said]:
        """Give a size that is told first to what is named next: "two footlongs, a tuna and a ham"."""
        for at, said in enumerate(reading):
            general = said.head is None or (said.head.kind == "head" and said.plural)
            if not (said.size and (said.count or 0) > 1 and general) or said.verb or said.ref:
                continue
            named: list[Said] = []
            for one in reading[at + 1 :]:
                if one.head is None or one.size or one.verb or one.become or one.correct:
                    break
                named.append(one)
                if sum(each.number or 1 for each in named) >= (said.count or 0):
                    break
            total = sum(each.number or 1 for each in named)
            if said.options or len(named) < 2 or total != said.count:
                continue
            if any(not one.mask & said.size.mask for one in named):
                continue
            for one in named:
                one.size = said.size
            self._out.penalty -= 0.6
            return [*reading[:at], *self._dealt_sizes(reading[at + 1 :])]
        return reading

    def _carry(self, said: Said, following: Sequence[Said]) -> None:
        points = said.joint == _ON and said.number is None  # "in that meal"
        said.definite = said.definite or said.joint == _THE or points
        told = [id(option.entity) for option in said.options]
        self._out.penalty += 1.0 * (len(told) - len(set(told)))
        self._out.penalty += _LIKE_A_DISH * self._dishes_as_options(said)
        if said.exact and said.verb == "remove" and said.count is None and self._out.removed:
            said.verb = ""  # "cancel the nachos, just the burrito"
        self._count_option(said)
        if said.off and said.verb in ("", "add", "change"):
            said.verb = "remove"
        if said.verb == "instead-of" and said.become is not None:
            said.verb = "swap"
        if said.kept and not said.become and self._keeps(said):
            return
        if said.verb == "keep":
            said.verb = ""
        if said.verb == "move":
            self._move(said)
            return
        if self._says_which(said):
            return
        if said.become is not None and self._of_waiting(said, said.become):
            return
        if said.ref in ("undo", "put-back"):
            take_back(self._out, self._situation.before, added=said.ref == "undo")
            self._out.penalty += NOT_THERE if said.described else 0.0
        elif said.verb == "instead-of":
            if not self._means_another(said, following):
                self._instead_of(said)
        elif said.spared:
            self._spare(said, following)
        elif said.verb == "remove" or said.denied:
            self._remove(said, following)
        elif said.verb in ("change", "swap") or said.become is not None:
            self._change(said, following)
        elif said.more and said.ref in _SUCH:
            self._again(said)
        elif said.partial and not said.more and (said.head or said.ref) and self._some_of(said):
            pass
        elif said.head is not None:
            self._named(said, following)
        elif said.ref:
            self._pointed(said)
        else:
            self._fragment(said)

    def _dishes_as_options(self, said: Said) -> int:
        """Return how many options are called like a dish on the order: "ham on the pepperoni"."""
        names = [stems(item.name or "") for item in self._out.there]
        options = [*said.options, *(said.become.options if said.become is not None else ())]
        return sum(stems(option.entity.words) in names for option in options if not option.no)

    # -- a dish is named -------------------------------------------------------------------------------------

    def _count_option(self, said: Said) -> None:
        """Take "two shots" for two of a choice that is counted, not for two of a thing."""
        option = said.options[0] if said.options else None
        alone = said.head is None and not said.ref and said.become is None and not said.partial
        if option is None or said.count is None or not alone or option.no or option.count != 1:
            return
        words = self._out.told(range(said.place, min(said.told, default=said.place)))
        last = self._out.last
        if last is not None and option.entity.tallied & self._out.mask(last):
            if "with" not in words.split():
                option.count, said.count = said.count, None

    def _named(self, said: Said, following: Sequence[Said]) -> None:
        out = self._out
        if said.instead and out.waiting and not out.settled:
            out.waiting[0].quantity = 0  # it is given up for what is named now
            out.settle(out.waiting[0])
            said.instead = False
        if names_one(out, said):
            return
        if following and following[0].verb == "instead-of" and following[0].head is not None:
            said.instead = False  # what gives way is named
        there = out.named(said.mask, out.there)
        if said.kept and there and not said.described and said.count is None:
            out.spoken = there[-1]
            return
        if said.ref == "all" and said.described:  # "both pizzas without onions"
            if found := out.named(said.mask, out.things):
                self._both(said, found)
                self._become(replace(said, head=None, count=None), found)
                return
            out.penalty += NOT_THERE
        definite = said.described and said.definite and said.count is None
        if definite and not out.named(said.mask, out.things):
            if change_part(out, said, replace(said, head=None)):
                return
        said.copies = said.copies or said.ref == "same"
        if said.replaced and said.number is None and (old := out.made_with(there, said.replaced)):
            if said.more or said.copies:
                out.repeat(old[-1], said)  # "another balti with paneer instead of vegetables"
            else:
                out.change(old[-1], said)  # "the kimbap with beef instead of tofu"
            return
        if said.back and not there and bring_back(out, said, self._situation.before):
            return
        if said.definite and said.parts and there and said.number is None and said.verb != "add":
            if change_parts(out, there[-1], said):  # "tots with the meal instead of the fries"
                return
        if said.recounts and len(there) == 1 and not said.described:
            out.change(there[0], said)
            return
        if said.within and self._within(said):
            return
        if said.lines and (said.described or said.more) and self._of_lines(said):
            return
        if only(out, said, there) or self._speaks_of(said, following):
            return
        if there and said.number and any(one.kept and one.ref for one in following[:2]):
            said.partial = True  # "one toast with egg, the other one stays the same"
            if self._some_of(said):
                return
        next_one = following[0] if following else Said()
        apart = next_one.ref in _THESE or (next_one.ref == "one" and next_one.article)
        told = said.described or (apart and next_one.described and not next_one.head)
        if there and (said.copies or (said.more and not told and not said.parts)):
            if len({item.names for item in there}) > 1 and not said.copies:
                out.add(out.make(self._of_those(said, there)))  # which of them is asked
            else:
                out.repeat(there[-1], said)
        elif there and said.more and not said.parts and not said.size and not out.items:
            self._another(said, there)
        elif there and not said.more and said.verb != "add" and self._set_right(said, there):
            pass
        elif said.instead or self._gives_way is not None:
            self._in_place_of_another(said)
        elif said.correct and out.items:
            self._correct_last(said)
        elif self._one_of_last(said, following):
            pass
        elif said.correct and said.meant and out.there and not there:
            out.replace(out.there[-1], said)
        elif self._situation.reviewed and said.correct and not there and self._replaces(said):
            pass
        elif not self._announced_before(said):
            out.penalty += NOT_THERE if said.copies else 0.0
            out.penalty += NEW_THOUGH_THERE if said.more and out.there and not there else 0.0
            if said.definite and not said.article and said.count is None and out.there:
                out.penalty += _NEW_BY_THE
            item = out.add(out.make(said))
            if said.count is not None and said.count > 1:
                self._announce(item, said, following)

    def _within(self, said: Said) -> bool:
        """Put a dish into a combo on the order: "i want the spicy one in my combo"."""
        out = self._out
        combos = out.named(said.within, out.things)
        if not combos:
            out.penalty += NOT_THERE
        if not combos or change_part(out, said, replace(said, head=None)):
            return bool(combos)
        return any(out.takes_part(item, out.make(said)) for item in reversed(combos))

    def _of_lines(self, said: Said) -> bool:
        """Change what is described, or order more of it."""
        out = self._out
        found = out.of_lines(said)
        if not found:
            return False
        if said.more:
            out.repeat(found[-1], said)
            return True
        count = said.number if said.partial else None
        self._become(replace(said, head=None, count=None, lines=()), found, count)
        return True

    def _speaks_of(self, said: Said, following: Sequence[Said]) -> bool:
        """Take "of the three teas" for what is on the order, where it is said next how they are to be."""
        if not said.definite or said.described or said.article or said.more or said.correct:
            return False
        found = [
            item
            for item in self._out.named(said.mask, self._out.things)
            if said.count in (None, item.quantity)
        ]
        if said.count is None and not said.verb:
            if any(self._out.named(said.mask, item.parts) for item in self._out.items):
                return True  # "no ice in the sprite" of a combo
        waits = self._out.named(said.mask, self._out.waiting)
        if waits and said.count is None:
            self._out.spoken = waits[0]
            self._out.penalty += NEW_THOUGH_THERE
            return True
        if not found or said.instead or self._gives_way is not None:
            return False
        within = said.joint == _ON and self._out.kitchen.combo(found[-1].name) is not None
        if found[-1].line is not None and not (following and (within or not following[0].head)):
            return False
        self._out.spoken = found[-1]
        return True

    def _another(self, said: Said, there: Sequence[Item]) -> None:
        """Order one more of a dish, otherwise made: "another gyoza, steamed this time"."""
        out = self._out
        if len({item.names for item in there}) == 1 and out.says_but(said):
            out.repeat(there[-1], said)
            return
        item = out.make(self._of_those(said, there))
        sizes = {one.size for one in there if one.names == item.names}
        if item.size is None and len(sizes) == 1:
            item.size = sizes.pop()
        out.add(item)

    def _of_those(self, said: Said, there: Sequence[Item]) -> Said:
        """Take what may be of many dishes for one of those that are on the order."""
        mask = 0
        for item in there:
            mask |= self._out.mask(item)
        return replace(said, mask=said.mask & mask)

    def _set_right(self, said: Said, there: Sequence[Item]) -> bool:
        """Make a line what was meant: "the large one", "no, I wanted two tiramisus"."""
        definite = said.definite and said.count is None
        if definite and said.described and not said.article:
            self._change(said)
            return True
        if (old := self._outdone(said, there)) is not None:
            self._out.change(old, said)
            return True
        fewer = said.exact and said.count is not None and said.count < (there[-1].quantity or 1)
        taken_back = said.correct or said.after_all or fewer
        resized = said.after_all and said.size is not None
        right = said.meant or said.definite or said.count is not None or resized
        if taken_back and right and len(there) == 1:
            self._out.change(there[0], said)
            return True
        if definite and not said.correct:
            self._out.penalty += NEW_THOUGH_THERE
        return False

    def _outdone(self, said: Said, there: Sequence[Item]) -> Item | None:
        """Return the thing that is as it is not to be: "three colas instead of two"."""
        if said.outdone is None:
            return None
        if said.outdone.does == "size":
            found = sized(self._out, there, said.outdone.entity.words)
        else:
            value = said.outdone.value
            found = [
                item
                for item in there
                if item.quantity == value or stems(item.size or "")[:1] == (str(value),)
            ]
        return found[0] if len(found) == 1 else None

    def _replaces(self, said: Said) -> bool:
        """Take what is named when the order is read back for what another of its kind should be."""
        out = self._out
        if said.besides or said.verb or said.more:
            return False
        kind = out.section(out.make(said))
        same = [item for item in out.there if kind and out.section(item) == kind]
        if len(same) == 1:
            out.replace(same[0], said)
            return True
        return len(same) > 1 and out.ask_which(replace(said, become=said, head=None), same)

    def _one_of_last(self, said: Said, following: Sequence[Said]) -> bool:
        """Take "two trays, one tray without raita" for one of the two."""
        last = self._out.items[-1] if self._out.items else None
        if last is None or not self._out.mask(last) & said.mask or said.more:
            return False
        if said.plain and not said.options and last.changes:
            return False  # "two hot dogs with ketchup, one hot dog plain"
        bare = not (last.counted or last.changes or last.size)
        same = last.names == self._out.index.names(said.mask) and last.quantity == 1
        if bare and same and said.count is not None:
            self._out.items.pop()  # "lemonades: we need four lemonades"
            return False
        if said.joint not in _APART or (last.quantity or 1) < 2 or not said.described or said.parts:
            return False
        if said.number is None or said.number > left(last) or (said.size and last.size):
            return False
        if said.size and not said.options and not last.splits:
            alike = [one for one in (said, *following) if one.head and one.mask == said.mask]
            if sum(one.number or 1 for one in alike) != last.quantity:
                return False  # "two cheeseburgers, one double cheeseburger"
        self._out.split(last, said, said.number)
        return True

    def _correct_last(self, said: Said) -> None:
        """Take back what was said last in this line: "a cola, sorry, a cappuccino"."""
        out, last = self._out, self._out.items[-1]
        item = out.make(said)
        if said.count is None and not said.article:
            item.quantity = last.quantity
            if item.size is None and last.size and out.kitchen.size(item.name, last.size):
                item.size = last.size
        if item.names == last.names and not said.described:
            last.quantity = item.quantity
            out.spoken = last
        else:
            out.items.pop()
            out.add(item)

    # -- several of a kind, named one by one -----------------------------------------------------------------

    def _announce(self, item: Item, said: Said, following: Sequence[Said]) -> None:
        """Remember "three large pizzas" when what follows says which."""
        total = 0
        for one in following:
            narrower = one.head is not None and one.mask & said.mask and not one.mask & ~said.mask
            called = one.head is not None and self._called_like(said, one)
            narrower = narrower or called
            described = one.head is None and one.described and (one.plain or len(item.names) > 1)
            if one.verb not in ("", "add") or one.correct or not (narrower or described):
                return
            total += one.number or 1
            if total == said.count:
                self._announced = [item]
                self._out.penalty -= 0.6
                return

    def _called_like(self, said: Said, one: Said) -> bool:
        """Whether a thing has the name of another in its own: garlic naan is a naan."""
        words = set(stems(said.words))
        return bool(words) and all(
            words < set(stems(name)) for name in self._out.index.names(one.mask)
        )

    def _announced_before(self, said: Said) -> bool:
        """Put what is named in the place of what was only announced."""
        base = self._announced[0] if self._announced else None
        named = Said(words=base.words) if base is not None else said
        called = base is not None and self._called_like(named, said)
        if base is None or not (called or self._out.mask(base) & said.mask):
            self._announced = []
            return False
        item = self._out.make(said)
        item.size = item.size or base.size
        item.changes[:0] = [one for one in base.changes if one not in item.changes]
        self._put_announced(base, item)
        return True

    def _put_announced(self, base: Item, item: Item) -> None:
        if base in self._out.items:
            self._out.items.remove(base)
        self._out.add(item)
        self._announced.append(item)
        if sum(one.quantity or 1 for one in self._announced[1:]) >= (base.quantity or 1):
            self._announced = []

    # -- one instead of another ------------------------------------------------------------------------------

    def _means_another(self, said: Said, following: Sequence[Said]) -> bool:
        """Whether it is only said which line is not meant: "the tofu one, not the pork one"."""
        if not said.lines:
            return False
        after = following[0] if following else Said()
        meant = [*self._out.of_lines(after), *self._out.touched]
        return bool(meant) and not any(item in meant for item in self._out.of_lines(said))

    def _instead_of(self, said: Said) -> None:
        """Note what is to go: "a caprese instead of the margherita"."""
        out = self._out
        if said.count is not None and said.head is None and not said.ref and not said.described:
            return  # "two, not three"
        if said.head is None and not said.ref and said.options:
            item = out.last
            if item is not None:
                if item in out.items and not item.counted:
                    same = out.made_with(out.named(out.mask(item), out.there), said.options)
                    if same:  # "kimbap beef, not tofu"
                        out.items.remove(item)
                        same[-1].size = item.size or same[-1].size
                        same[-1].changes += item.changes
                        item = same[-1]
                if not out.give_way(item, said.options):  # "ranch instead of blue cheese"
                    out.penalty += NOT_THERE
                out.touch(item)
                return
        spoken = out.spoken
        if said.ref == "one" and said.head is None and spoken in out.touched and spoken is not None:
            if said.options and out.made_with([spoken], said.options):
                out.give_way(spoken, said.options)  # "gorgonzola on it, not the lemon one"
                return
        found = targets(out, said) if said.head is not None or said.ref else []
        if found:
            old, fresh = found[-1], [item for item in out.items if item is not found[-1]]
            if out.kitchen.combo(old.name) is not None:
                out.penalty += NEW_THOUGH_THERE  # rather a part of it gives way
            if fresh and fresh[-1].spoken < said.place:
                out.items.remove(fresh[-1])
                out.give_place(old, fresh[-1])
            else:
                self._gives_way = old
            return
        if said.head is not None and out.items:
            new = out.items[-1]
            become = Said(head=said.head, mask=out.mask(new), words=new.words)
            if change_part(out, said, become, new):
                out.items.remove(new)
                return
            if not out.there:
                out.penalty += 1.0  # it was never ordered: nothing is to go
                return
        if said.head is not None and out.gave_way(said.mask):
            return
        out.penalty += NOT_THERE
        if said.head is not None:
            out.not_found(said)

    def _in_place_of_another(self, said: Said) -> None:
        """Put what is named in the place of what was said to give way, or of the last of its kind."""
        out = self._out
        item = out.make(said)
        old = self._gives_way or out.removed
        self._gives_way = out.removed = None
        if old is None and said.instead:
            same = [one for one in out.there if out.section(one) == out.section(item) != ""]
            if not same and self._in_place_of_a_part(item):
                return
            old = next(iter((same or out.there or out.items)[-1:]), None)
        named = said.described and out.named(out.mask(item) or said.mask, [old] if old else [])
        if old is not None and named:
            out.change(old, said)  # "a shake with peanut butter instead"
        elif old is None or (old.line is None and old not in out.items):
            out.add(item)
        else:
            old.gone = 0
            out.give_place(old, item)

    def _in_place_of_a_part(self, item: Item) -> bool:
        """Put what comes instead in the place of what is like it in a combo: "a latte instead"."""
        out = self._out
        for combo in reversed(out.there):
            alike = [part for part in combo.parts if out.section(part) == out.section(item)]
            if alike and out.takes_part(combo, item):
                return True
        return False

    # -- taking off ------------------------------------------------------------------------------------------

    def _remove(self, said: Said, following: Sequence[Said] = ()) -> None:
        out = self._out
        if said.ref == "one" and not (said.definite or said.described or said.ordinal):
            out.penalty += 1.0  # "take off one", and of what comes next
        if said.head is None and not said.ref and said.options:
            self._leave_off(said)
            return
        if said.ref == "it" and self._asked_about() is not None:
            return  # "then I don't want that": it was only asked about
        if said.ref in ("whole", "all") and said.head is None and not said.options and out.things:
            if following and (following[0].joint == _BUT or following[0].denied):
                out.penalty += NOT_THERE  # "everything but the soup"
            self._emptied = True
            found = out.things
        else:
            found = targets(out, said)
        if not found or (said.ref and said.options):
            self._nothing_to_remove(said)
            return
        out.penalty += NOT_THERE if said.options else 0.0
        count = 1 if said.count is None and (said.article or said.partial) else said.count
        pieces = sum(item.quantity or 1 for item in found)
        some = count is not None and len(found) > 1 and count < pieces
        if (count is None and several(said, found)) or some:
            out.ask_which(said, found, drop=True, count=count)
            return
        for item in found:
            out.take_off(item, count)

    def _spare(self, said: Said, following: Sequence[Said]) -> None:
        """Take off all but what is named: "remove everything except the soup and the tea"."""
        if said.verb != "remove" and not self._emptied:
            self._out.penalty += LOOSE
            return
        for line in self._out.lines:
            line.gone = 0
        spared = targets(self._out, said) if said.head is not None or said.ref else []
        missing = not spared
        for one in following:
            if one.verb == "remove" and one.joint in (_AND, _COMMA) and (one.head or one.ref):
                found = targets(self._out, one)
                missing = missing or not found
                spared += found
                one.kept = True
        if missing:
            self._nothing_to_remove(said)
            return
        for item in self._out.things:
            if item not in spared:
                self._out.take_off(item, None)
            elif said.partial and len(spared) == 1:
                self._out.take_off(item, max(0, (item.quantity or 1) - (said.count or 1)))

    def _nothing_to_remove(self, said: Said) -> None:
        out = self._out
        combo = next((i for i in out.things if out.named(said.mask, i.parts)), None)
        if combo is not None and said.head is not None:
            facts = {"words": said.words, "combo": combo.name}
            out.questions.append(Question("not_found", facts))
        elif said.denied and said.verb != "remove":
            out.penalty += NOT_THERE / 2  # "no tiramisu": there is none
        else:
            out.penalty += NOT_THERE
            out.not_found(said)

    def _leave_off(self, said: Said) -> None:
        """Take something off the dishes that have it: "remove the onions"."""
        out = self._out
        done = False
        for option in said.options:
            option.no = True
            candidates = [*reversed(out.items), *reversed(out.there)]
            item = next((i for i in candidates if out.has(i, option.entity.words)), None)
            if item is not None and option.amount and out.take_back(item, option):
                out.touch(item)  # "never mind the extra corn"
                done = True
            elif item is not None:
                item.changes.append(option.words)
                out.touch(item)
                done = True
            elif len(said.options) > 1:
                out.penalty += NOT_THERE
        if not done and out.waiting:
            out.settle(out.waiting[0])  # it could not be had anyway
        elif not done:
            out.penalty += NOT_THERE
            out.not_found(said)

    # -- changing --------------------------------------------------------------------------------------------

    def _change(self, said: Said, following: Sequence[Said] = ()) -> None:
        out = self._out
        become = said.become if said.become is not None else said
        if become is not said and become.empty:
            out.penalty += NO_EFFECT
            return
        become.more = become.more or said.more  # "one more shot in it"
        if become is not said and become.lines:
            out.penalty += NOT_THERE  # nothing becomes what is there already
        if become is not said and said.parts:
            become = replace(become, parts=said.parts)  # "make it a combo with fries"
        swaps = said.verb == "swap" and become is not said and (become.options or become.head)
        if swaps and said.head is None and said.options:
            self._swap_option(said, become)
            return
        if said.on and said.head is None and not said.ref:
            if all(option.no for option in become.options):
                self._leave_off(become)
            else:
                self._fragment(become)
            return
        if become is said and said.ref == "one" and self._the_one(said):
            return
        if become is not said and said.ref == "one" and become.head is None:
            both = replace(become, ref="one", definite=said.definite, size=said.size)
            if become.size is None and self._of_split(both):
                return  # "one small, one large, make the large one gluten free"
        if said.verb == "swap" and become is not said and become.head is None:
            become.instead = True  # "change the wings to honey barbecue"
        if said.on and said.ref == "it" and said.size is not None and become.size is None:
            become.size, said.size = said.size, None  # "large, and no banana in it"
        points = become.head is not None and said.ref == "it" and become is not said
        there = out.named(become.mask, out.things) if points else []  # "make it three tiramisus"
        found = targets(out, said)
        if said.ref == "it" and become is not said and out.removed is not None and become.count:
            made = out.made_with(out.there, become.options) if become.options else []
            if len(made) == 1 and made[0].names == out.removed.names:
                found, become = made, replace(become, options=[])  # "and make it 3 chicken"
                out.removed.gone = out.removed.quantity or 1
        if points:
            found = found if not there or any(item in there for item in found) else there[-1:]
            if following and following[0].verb == "instead-of" and following[0].head is not None:
                found = out.named(following[0].mask, out.things)[-1:] or found
        if not found:
            if said.head is None or not change_part(out, said, become):
                self._nothing_to_change(said, become)
            return
        if said.twice and len(found) == 1:
            found[0].quantity = 2 * (found[0].quantity or 1)
            out.touch(found[0])
            return
        if become is said and not said.described and said.count is None:
            out.penalty += NO_EFFECT
            return
        if (
            become is not said and said.options
        ):  # nothing is as it was described: that is wanted, too
            out.penalty += NOT_THERE
            become = replace(become, options=[*said.options, *become.options])
        if said.on and said.count is None and said.article:
            out.penalty += 0.3
        if said.on and said.count is not None and not said.partial:
            self._counted(said, become, found)
        turns = become is not said and become.head is not None and become.number is None
        if turns and out.named(become.mask, out.there):
            out.penalty += NEW_THOUGH_THERE  # "make the fries large and the shake chocolate"
        self._both(said, found)
        if become is said and several(said, found):
            for told in range(len(said.options) - 1, 0, -1):  # "the mango one be matcha instead"
                made = out.made_with(found, said.options[:told])
                if len(made) == 1:
                    found, become = made, replace(said, head=None, options=said.options[told:])
                    break
        self._change_these(said, become, found)

    def _counted(self, said: Said, become: Said, found: Sequence[Item]) -> None:
        """Take "two sugars in the coffee" for two sugars, not for two coffees."""
        option = become.options[0] if become.options else None
        mask = self._out.mask(found[0])
        if option is not None and option.count == 1 and option.entity.tallied & mask:
            option.count, said.count = said.count or 1, None
            become.instead = become.instead or said.instead

    def _both(self, said: Said, found: Sequence[Item]) -> None:
        """Note that "both" was said where there is only one."""
        if said.both and said.head is not None and sum(item.quantity or 1 for item in found) < 2:
            self._out.penalty += NOT_THERE + NEW_THOUGH_THERE

    def _of_waiting(self, said: Said, become: Said) -> bool:
        """Give something to one of the things that wait, where it is named: "tahini in the falafel"."""
        out = self._out
        found = out.named(said.mask, out.waiting) if said.head is not None else []
        if len(found) != 1 or become.head is not None or not out.able(found[0], become):
            return False
        out.give(found[0], become)
        out.settle(found[0])
        return True

    def _change_these(self, said: Said, become: Said, found: list[Item]) -> None:
        """Change what was meant: all of it, or so many pieces."""
        count = said.count if become is not said or said.partial else None
        if become is said and said.verb == "change" and said.count and said.described:
            if all((item.quantity or 1) > said.count for item in found):
                count, become = said.count, replace(said, count=None, head=None)
        if become is not said and said.partial and become.count is not None:
            self._out.penalty += LOOSE  # "make two of them with ham and two with egg"
        if become is not said and not said.definite and said.ordinal is None:
            if said.article or (said.ref == "one" and said.count is None):
                count = 1
        if said.ref in ("all", "whole") and said.head is None:
            found = [item for item in found if self._out.able(item, become)] or found
        which = count is None or said.ref == "of-them"
        if several(said, found) and which and self._out.ask_which(said, found):
            return
        if count is not None and len(found) > 1:
            found = [i for i in found if (i.quantity or 1) >= count][-1:] or found[-1:]
        self._become(become, found, count)

    def _become(self, become: Said, found: Sequence[Item], count: int | None = None) -> None:
        out = self._out
        for item in found:
            target = out.pieces(item, count)
            other = become.head is not None and not out.named(become.mask, [target])
            if other and not become.on:
                out.replace(target, become)
            else:
                out.change(target, become)

    def _nothing_to_change(self, said: Said, become: Said) -> None:
        """Take a change of what is not there for an order, or say that it is not there."""
        out = self._out
        if said.head is not None and (said.on or (said.verb == "change" and not said.definite)):
            # "Make one latte decaf", where there is none: it is ordered.
            out.penalty += 1.0 if not said.on else NEW_THOUGH_THERE if out.things else 0.0
            words = set(stems(said.words))
            if said.definite and any(words <= set(stems(one.name or "")) for one in out.there):
                out.penalty += NEW_THOUGH_THERE  # the one that is there is meant
            item = out.add(out.make(replace(said, become=None, on=False)))
            if become is not said:
                out.give(item, become)
        elif become.head is not None and not out.things:
            out.penalty += NEW_THOUGH_THERE
            out.add(out.make(become))
        elif become.head is not None or not out.waiting or not fill(out, become):
            out.penalty += NOT_THERE
            out.not_found(said)

    def _swap_option(self, said: Said, become: Said) -> None:
        """Put one thing on a dish in the place of another: "swap the ham for mushrooms"."""
        out, old = self._out, said.options[0].entity
        things = [*reversed(out.items), *reversed(out.there)]
        for item in things if become.options and old.kind != "group" else ():
            if out.has(item, become.options[0].entity.words) and not out.has(item, old.words):
                said, become = become, said  # "sub ranch for the mayo"
                old = said.options[0].entity
                break
        if become.head is not None:  # "change the bun to brioche on the cheeseburger"
            things = out.named(become.mask, things)
            become = replace(become, head=None)
        if said.size is not None:
            things = sized(out, things, said.size.words) or things
        having = [i for i in things if old.kind != "group" and out.has(i, old.words)]
        having = [i for i in having if out.able(i, become)] or having
        having = having or [i for i in things if out.able(i, become)]
        if not having or not become.options:
            out.penalty += NOT_THERE
            out.not_found(said)
            return
        item = having[0]
        if old.kind == "group":
            out.of_same_group(item, become.options)  # "change the side to rice"
        out.give_way(item, [Option(old)], [option.words for option in become.options])
        out.give(item, become)
        out.touch(item)

    def _keeps(self, said: Said) -> bool:
        """Leave a thing as it is: "the other one stays", "keep the shake"."""
        out = self._out
        if said.head is not None:
            found = out.named(said.mask, out.things)
        elif said.ref:
            found = out.things
        else:
            found = out.made_with(out.things, said.options) if said.options else []
        if said.described:
            found = out.made_with(found, said.options)
        if found:
            out.spoken = found[-1]
        return bool(found)

    def _move(self, said: Said) -> None:
        """Take something off the one thing that has it, and put it on another."""
        out = self._out
        about = said.become
        if about is None or not about.options:
            out.penalty += NOT_THERE
            out.not_found(said)
            return
        goal = targets(out, replace(said, verb="change"))
        old = [item for item in out.made_with(out.things, about.options) if item not in goal]
        if len(old) != 1 or len(goal) != 1:
            out.penalty += NOT_THERE
            out.not_found(said)
            return
        out.give_way(old[0], about.options)
        out.touch(old[0])
        self._become(about, goal)

    # -- pointing --------------------------------------------------------------------------------------------

    def _says_which(self, said: Said) -> bool:
        """Take what was said for the answer to which line is meant."""
        out = self._out
        refines = not said.verb or (said.verb == "remove" and said.ref == "one" and said.definite)
        which = out.which
        if (
            said.head is not None and said.number is not None
        ):  # one more thing, if it was asked just now
            refines = refines and not any(one.code == "which_line" for one in out.questions)
        found = meant_line(out, which, said) if which is not None and refines else []
        if which is None or not found:
            return False
        out.which = None
        if not take_back_question(out):
            out.settled.extend(found)
        if which.drop:
            for item in found:
                out.take_off(item, which.count)
        else:
            self._become(without_verb(which), found, which.count)
        return True

    def _pointed(self, said: Said) -> None:
        """Carry out what points at something and has no verb: "the second one with ham"."""
        out = self._out
        last = out.items[-1] if out.items else None
        source = last.source if last is not None else None
        if said.ref in ("same", "again"):
            self._again(said)
        elif said.ref == "one" and said.joint == _ON and said.definite and len(said.options) == 1:
            out.penalty += LOOSE  # "no ketchup on the bacon one"
        elif said.ref == "one" and last is not None and self._tells_size(said, last):
            out.change(last, replace(said, ref="", count=None, article=False))
        elif said.ref == "one":
            pointed = said.described and not out.waiting
            if not pointed or not (self._this(said) if said.ordinal else self._the_one(said)):
                self._fragment(said)
        elif said.ref in ("rest", "other") and source is not None and said.described:
            if said.exact:  # "the others just without onions"
                source.changes, source.yielding = [], 0
            self._become(replace(said, head=None), [source])
        elif said.ref in ("rest", "other") and last is not None and last.splits:
            out.split(last, said, None)
        elif said.ref == "other" and last is not None and said.described:
            out.split(last, said, None)
        elif said.ref == "all" and said.described and out.items:
            able = [item for item in out.items if out.able(item, said)]
            for item in able or out.items:
                out.change(item, said)
        elif said.ref == "all" and said.described and out.waiting:
            for item in out.waiting:
                out.give(item, said)
                out.settled.append(item)
        elif not said.described and said.count is None and said.ref != "rest":
            out.penalty += LOOSE if said.more or not out.things else 0.8
        elif not (out.waiting and fill(out, said)):
            self._change_pointed(said)

    def _tells_size(self, said: Said, last: Item) -> bool:
        """Whether the size of what was ordered just before is told: "a house salad, the large one"."""
        if said.size is None or said.more or said.besides or said.count not in (None, 1):
            return False
        sized = bool(self._out.mask(last) & said.size.mask)
        return sized and last.size is None and last.quantity in (None, 1) and said.joint != _AND

    def _change_pointed(self, said: Said) -> None:
        out = self._out
        found = targets(out, said)
        if not found:
            out.penalty += LOOSE
            return
        if said.ref in ("it", "them", "all") and said.count is None:
            found = [item for item in found if out.able(item, said)] or found
        self._become(replace(said, head=None), found, said.count if said.partial else None)

    def _of_split(self, said: Said) -> bool:
        """Give something to one of several that are told apart by their size already."""
        out = self._out
        last = out.items[-1] if out.items else None
        if last is None or said.size is None or not said.definite:
            return False
        for split in last.splits:  # "one small one large, the large one with chicken"
            size = out.kitchen.size(last.name, said.size.words)
            if split.size and size == out.kitchen.size(last.name, split.size):
                probe = Item(words=last.words, names=last.names)
                out.give(probe, replace(said, size=None))
                split.changes += probe.changes
                return True
        return False

    def _the_one(self, said: Said) -> bool:
        """Carry out "the hot one large with feta": what comes first says which, the rest is to be."""
        out = self._out
        if not said.definite or said.article or said.count or not said.options:
            return False
        if self._of_split(said):
            return True
        found = out.described(out.things, said.options[:1])
        rest = replace(said, ref="", options=said.options[1:])
        if said.size is not None and not found:  # "the small one on gluten free crust"
            found = sized(out, out.things, said.size.words)
            rest = replace(said, ref="", size=None)
        if len(found) != 1 or not rest.described:
            return False
        self._become(rest, found)
        return True

    def _this(self, said: Said) -> bool:
        """Carry out "the second one with ham"."""
        out = self._out
        found = targets(out, said)
        if not found:
            return False
        if all(out.able(item, said) for item in found):
            self._become(
                replace(said, ref="", count=None), found, said.count if said.partial else None
            )
            return True
        return out.ask_which(said, out.there)

    def _some_of(self, said: Said) -> bool:
        """Carry out "one of them without basil" on what is there."""
        out = self._out
        if not said.described:
            last = out.items[-1] if out.items else None
            plain = last is not None and not (last.counted or last.changes)
            topic = self._asked_about() if said.count and not out.items else None
            if topic is not None:
                out.order(said, topic, (topic,))  # "two of those", which were asked about
            elif said.ref == "of-them" and said.count and last is not None and plain:
                last.quantity, last.counted = said.count, True  # "garlic knots, six of them"
            elif not self._another_kind_of(said):
                out.penalty += NO_EFFECT
            return True
        many = [item for item in out.things if (item.quantity or 1) > 1]
        if said.half:
            if not many:
                return False
            said.count = (many[-1].quantity or 2) // 2
        if said.head is not None:
            found = targets(out, said)
        else:
            found = [i for i in out.items if (i.quantity or 1) > 1 or i.splits]
            found = found or targets(out, said)
        new = [item for item in found if item in out.items]
        if new:
            if not self._of_pieces(new[-1], said):
                out.split(new[-1], said, said.count)
            return True
        fitting = [item for item in found if (item.quantity or 1) >= (said.count or 1)]
        if not found or (len(found) > 1 and said.head is not None and not fitting):
            return False
        change = replace(said, head=None, count=None)
        if said.ref == "of-them" and len(found) > 1 and out.ask_which(change, found):
            return True
        self._become(change, (fitting or found)[-1:], said.count or 1)
        return True

    def _of_pieces(self, item: Item, said: Said) -> bool:
        """Give one thing what some of its pieces are to have: "20 wings, 10 of them buffalo"."""
        pieces = max((int(one) for one in stems(item.name or "") if one.isdigit()), default=0)
        if item.quantity != 1 or said.size or not 1 < (said.count or 0) < pieces:
            return False
        if not said.options or not self._out.able(item, said):
            return False
        self._out.give(item, said)
        return True

    def _another_kind_of(self, said: Said) -> bool:
        """Let some of what was ordered last be another dish of its kind: "3 naans, one of them garlic"."""
        out = self._out
        last = out.items[-1] if out.items else None
        if said.head is None or last is None or out.named(said.mask, out.things):
            return False
        fresh = out.make(said)
        fresh.quantity = said.count or 1
        if out.section(fresh) != out.section(last) or fresh.quantity >= (last.quantity or 1):
            return False
        last.quantity = (last.quantity or 1) - fresh.quantity
        out.add(fresh)
        return True

    def _again(self, said: Said) -> None:
        out = self._out
        recounted = [one for one in out.touched if one.line and one.quantity != one.line.quantity]
        if said.ref == "same" and not said.more and not said.described and recounted:
            return  # "make that two, my husband wants the same"
        if said.both and out.there and not out.items:
            for item in out.there:
                out.repeat(item, said)  # "another of each"
            return
        if out.last is not None:
            all_of_them = said.ref == "same" and not said.more
            count = said.count or (out.last.quantity if all_of_them else None)
            out.repeat(out.last, replace(said, count=count))
        elif (topic := self._situation.topic) is not None:
            out.order(said, topic, (topic,))
        else:
            out.penalty += LOOSE

    # -- what belongs to something ---------------------------------------------------------------------------

    def _fragment(self, said: Said) -> None:
        """Give a size, a number or changes to what they belong to."""
        out, topic = self._out, self._asked_about()
        item = out.items[-1] if out.items else None
        if said.more:
            self._again(said)
            return
        if said.number and said.unknown and not (said.options or said.ref):
            words = out.told(said.unknown)  # "a dr pepper": another thing, and unknown
            out.questions.append(Question("not_on_menu", {"words": words, "near": []}))
            return
        one_more = said.ref == "one" and not out.waiting and (said.article or not said.definite)
        if topic and not said.correct and (one_more or (said.count and not said.described)):
            out.order(said, topic, (topic,))
            return
        if self._announced and (said.options or said.plain):
            base = self._announced[0]
            fresh = base.copy(said.count or 1)
            fresh.spoken = said.place
            names = out.index.names(out.narrowed(out.mask(base), said))
            called, said = out.called_by_option(base.names, said)
            fresh.names = called if len(called) < len(base.names) else names
            out.give(fresh, said)
            self._put_announced(base, fresh)
            return
        piece = item is not None and item.source is not None and item.source.line is not None
        if (
            (piece and (said.count is not None or said.ref == "one") and self._on_order(said))
            or (item is not None and self._belongs(item, said))
            or (out.waiting and fill(out, said))
            or (item is None and self._on_order(said))
            or ((item is None or said.options) and self._headless(said))
        ):
            return
        out.penalty += LOOSE
        if (said.options or said.unknown) and not said.correct:
            words = out.told({*said.told, *said.unknown})
            out.questions.append(Question("not_on_menu", {"words": words, "near": []}))

    def _asked_about(self) -> str | None:
        """Return the dish that was asked about before and is not on the order."""
        topic = self._situation.topic
        bit = self._out.index.bit(topic or "")
        return topic if bit and not self._out.named(bit, self._out.things) else None

    def _belongs(self, item: Item, said: Said) -> bool:
        """Give something to the thing that was ordered just before in the same line."""
        out = self._out
        if self._of_pieces(item, said):
            return True
        out.make_plain(item, said)
        if not said.described:
            if said.count is None:
                out.penalty += 0.8 if said.ref == "one" else 0.0
                return True
            if said.count == item.quantity or not item.counted or said.correct or said.ref != "one":
                item.quantity = said.count
                return True
            return False
        if item.copied and said.joint == _BUT and said.count is None:
            self._out.change(item, said)  # "another lemonade but the large"
            return True
        several = (item.quantity or 1) > 1
        number = said.count
        this_one = said.definite and not several  # "this one without salad"
        if number is None and (
            (said.ref == "one" and not this_one and not said.plural) or said.article
        ):
            number = 1
        if said.exact and number == item.quantity:
            number = None  # "just one, and without olives"
        if said.correct and said.size is not None and said.ref != "of-them":
            if several and said.firmly and said.count is not None:
                item.quantity, item.size, number = said.count, None, None  # "no wait, one large"
            elif number in (None, 1) and not several:
                item.size, number = None, None  # "a large latte, no, a medium, with oat milk"
        clash = said.size if item.size is not None else None
        if clash and said.joint == _OR:
            item.unknown.append(f"{item.size} or {clash.words}")
            item.size = None
            return True
        if clash and number is None and several and not item.splits:
            item.splits = [Split(1, size=item.size), Split(None, size=clash.words)]
            item.size = None
            return True
        if number is None and item.splits and said.options and left(item) > 0:
            number = 1
        clash_of_choices = any(
            out.kitchen.excludes(item.name, change, option.words)
            for change in item.changes
            for option in said.options
        )
        one_more = (clash or clash_of_choices) and said.joint == _AND and not item.splits
        if (
            number is not None
            and (several or item.splits)
            and number <= left(item)
            and not one_more
        ):
            if out.able(item, said):
                out.split(item, said, number)
            return out.able(item, said)
        if not out.able(item, said):
            earlier = [one for one in out.items[:-1] if out.able(one, said)]
            if earlier and said.ref != "one" and number is None:
                out.change(earlier[-1], said)
                return True
            return False
        if (
            clash
            or (number is not None and clash_of_choices)
            or (number is not None and (said.count or said.ref or item.size or item.changes))
        ):
            if clash and said.options and number is None and not said.ref:
                out.penalty += NEW_THOUGH_THERE  # "a large Margherita, small cheese"
            out.order(said, item.words, item.names, number or 1)
        else:
            out.change(item, said)
        return True

    def _on_order(self, said: Said) -> bool:
        """Give something to a line of the order."""
        out, there = self._out, self._out.there
        if not there:
            return False
        if not said.described:
            if said.count is None:
                return False
            item = out.last or there[-1]
            out.count(item, said.count)
            out.touch(item)
            return True
        number = 1 if said.count is None and said.ref == "one" else said.count
        source = out.spoken.source if out.spoken is not None else None
        able = [item for item in there if out.able(item, said)]
        if number is not None and source in able and source is not None:
            able = [source]
        if not able:
            if source is None or out.spoken is None or not out.able(out.spoken, said):
                return False
            out.change(out.spoken, said)
            return True
        item = out.spoken if out.spoken is not None and out.spoken in able else able[-1]
        counted = any(option.entity.tallied & out.mask(item) for option in said.options)
        if said.exact and counted and number == 1 and said.ref in ("", "one"):
            number = None  # "only one pump of vanilla"
        if number is not None and (said.correct or said.exact) and (item.quantity or 1) <= number:
            return False
        one_more = said.ref == "one" and number is not None and (item.quantity or 1) <= number
        other_size = said.size and said.article and not said.options and item.size
        if one_more or other_size:
            out.penalty += NEW_THOUGH_THERE if said.definite else 0.0
            out.order(said, item.words, item.names, number or 1)
            return True
        self._become(replace(said, head=None, count=None), [item], number)
        return True

    def _headless(self, said: Said) -> bool:
        """Find the dish that only one can be: "a gluten free one with ham"."""
        out = self._out
        wanted = [option for option in said.options if not option.no]
        begins = said.number is not None or said.size or said.ref or said.verb or said.correct
        if out.items and not begins and said.joint not in (_AND, *_STOPS):
            return False  # "a medium cold brew black"
        mask = out.index.all & ~out.index.combos
        for entity in [option.entity for option in wanted] + ([said.size] if said.size else []):
            mask &= entity.mask
        usual = mask & out.index.usual
        single = not said.size and any(option.entity.chosen & usual for option in wanted)
        if usual and not usual & (usual - 1) and not single:
            mask = usual  # "a large pepperoni", where one dish is just called pizza
        names = out.index.names(mask)
        if not wanted or not names or len(names) > _FEW:
            return False
        words = " ".join(option.entity.words for option in wanted)
        out.order(said, words, () if said.unknown else names)
        out.penalty += 0.5 if len(names) == 1 else 1.0
        return True


def _leaving(following: Sequence[Said]) -> int:
    """Return the bits of the dishes that are taken off as a whole: "make it three and drop the tea"."""
    mask = 0
    for said in following:
        if said.verb == "remove" and said.head is not None and not said.described:
            mask |= said.mask
    return mask
