"""Writes into a thing what was said of it: its size, its choices and its notes."""

from collections.abc import Sequence

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.order.matching import Matcher
from bella_vista.local.understanding.readings.said import Option, Said
from state.menu.words import stems


class ItemWriter:
    """Writes into things what was said of them.

    Args:
        kitchen: What the menu makes of things.
        matcher: Compares things with descriptions.
    """

    def __init__(self, kitchen: Kitchen, matcher: Matcher) -> None:
        self._kitchen = kitchen
        self._matcher = matcher

    def give(self, item: Item, said: Said) -> bool:
        """Give a thing the size, changes and notes that were said; returns whether what gives way was there."""
        if said.size is not None:
            item.size = said.size.words
        halves = [one for one in said.options if one.half]
        if len(halves) > 1 and not any(
            one.entity.halved & self._matcher.mask(item) for one in halves
        ):
            for one in halves:  # "half lemon pepper, half buffalo", of wings
                one.half = ""
        alone = self._alone(item, said.options)
        if alone and any(
            one.no and self._kitchen.has(item.name, one.entity.words) for one in said.options
        ):  # "no ham, just the pineapple": only what is named comes off
            said.options = [one for one in said.options if not one.sole]
            alone = False
        only = said.only and not all(one.no for one in said.options)
        if said.options and (only or alone):
            self._only(item, said.options)
            kept = {stem for option in said.options for stem in stems(option.entity.words)}
            contents = self._kitchen.contents(item.name)
            comes = any(self._kitchen.has(item.name, one.entity.words) for one in said.options)
            if not (comes or said.bare):
                contents = self._kitchen.alternatives(
                    item.name, [one.entity.words for one in said.options]
                )  # "just cream" leaves the ice in a coffee
            item.changes += [f"no {one}" for one in contents if not kept & set(stems(one))]
        self._only(item, [one for one in said.options if one.sole and not (one.no or one.amount)])
        for option in said.options:
            afresh = said.exact or said.correct or said.instead or said.outdone is not None
            tallied = not option.no and option.entity.tallied & self._matcher.mask(item)
            if afresh and item.yielding and tallied:
                self._gives_way(item, option.entity.words, ())  # "only one pump of vanilla"
            option.half = self._free_half(item, option)
            self._put(item, option)
        there = self.give_way(item, said.replaced)
        if said.bare and not only:
            item.changes += [f"no {one}" for one in self._kitchen.contents(item.name)]
        for note in said.notes:
            if not self._undone(item, note) and note not in item.notes:
                item.notes.append(note)
        return there

    def half_with(self, item: Item, words: str) -> str:
        """Return the half of a thing that something is on."""
        return next(
            (_half_of(c) for c in item.changes if self._matcher.is_called(item, c, words)), ""
        )

    def _free_half(self, item: Item, option: Option) -> str:
        """Return the half that something goes on: the other one, where that alone is still empty."""
        if option.no:
            return option.half  # it is told of the half that was said
        off = [one.removeprefix("no ") for one in item.changes if one.startswith("no ")]
        off.append(option.entity.words)
        before = item.changes[: item.yielding] if item.line is not None else []
        others = [
            one for one in before if not any(self._matcher.is_called(item, one, o) for o in off)
        ]
        taken = {half for one in others if (half := _half_of(one))}
        return "other half" if option.half and taken == {"half"} else option.half

    def clash(self, item: Item, said: Said) -> bool:
        """Whether a thing has a choice already that what is said excludes."""
        return any(
            self._kitchen.excludes(item.name, change, option.words)
            for change in item.changes
            for option in said.options
        )

    def _alone(self, item: Item, options: Sequence[Option]) -> bool:
        """Whether "just" stands before what comes anyway: "a hot dog, just mustard"."""
        return any(
            one.sole
            and not (one.no or one.amount)
            and self._kitchen.has(item.name, one.entity.words)
            for one in options
        )

    def _only(self, item: Item, options: Sequence[Option]) -> None:
        """Take off what was chosen of a group before: "with just ketchup"."""
        for change in item.changes[: item.yielding]:
            if any(
                self._kitchen.same_group(item.name, change, one.entity.words) for one in options
            ):
                item.changes.remove(change)
                item.yielding -= 1

    def _undone(self, item: Item, note: str) -> bool:
        """Take a choice back that is not to be: "not toasted"."""
        there = [one for one in item.changes if self._matcher.is_called(item, one, note[4:])]
        if not note.startswith("not ") or not there:
            return False
        item.changes.remove(there[0])
        item.yielding = min(item.yielding, len(item.changes))
        return True

    def _put(self, item: Item, option: Option) -> None:
        """Give a thing an option; what says the opposite goes: "put the basil back on"."""
        words = option.entity.words
        if option.no and option.amount and self.take_back(item, option):
            return
        chosen = self._chosen(item, option)
        if chosen is not None:
            choice = self._kitchen.choice(item.name, item.changes.pop(chosen))
            item.yielding -= 1
            if not option.no:
                item.changes.append(option.of(choice))
            return
        if item.copied:
            self._give_way_to_variant(item, option)
        opposite = [
            change
            for change in item.changes[: item.yielding]
            if change.startswith("no ") != option.no
            and self._matcher.is_called(item, change, words)
        ]
        for change in opposite:
            item.changes.remove(change)
            item.yielding -= 1
        told = option.side or option.amount or option.half
        if not opposite or told or self._kitchen.has(item.name, words) == option.no:
            item.changes.append(option.words)  # otherwise it is as it comes

    def _give_way_to_variant(self, item: Item, option: Option) -> None:
        """Take off the vanilla of a copy where sugar free vanilla comes."""
        made = self._kitchen.made(item.name, option.words) or ()
        fresh = set(stems(self._kitchen.choice(item.name, made[0]))) if len(made) == 1 else set()
        for change in item.changes[: item.yielding] if not option.no else ():
            old = set(stems(self._kitchen.choice(item.name, change)))
            kin = old < fresh or fresh < old
            if kin and old and self._kitchen.same_group(item.name, change, option.words):
                item.changes.remove(change)
                item.yielding -= 1

    def take_back(self, item: Item, option: Option) -> bool:
        """Take back how much there was to be: "no extra jalapenos"."""
        much = [
            at
            for at, one in enumerate(item.changes)
            if option.amount in one.split()
            and self._matcher.is_called(item, one, option.entity.words)
        ]
        for at in reversed(much):
            del item.changes[at]
            item.yielding -= at < item.yielding
        return bool(much)

    def _chosen(self, item: Item, option: Option) -> int | None:
        """Find the choice that is there already and is meant: the ranch, by "easy on the dressing"."""
        words, there = option.entity.words, item.changes[: item.yielding]
        if not (option.no or option.amount or option.side) or option.half:
            return None
        if self._kitchen.made(item.name, words):
            if any(self._matcher.is_called(item, one, words) for one in there):
                return None
        if option.no and self._kitchen.has(item.name, words):
            return None
        found = [at for at, one in enumerate(there) if self._kitchen.is_kind(item.name, one, words)]
        return found[0] if len(found) == 1 else None

    def give_way(self, item: Item, options: Sequence[Option], for_: Sequence[str] = ()) -> bool:
        """Take off what is to give way: "ranch instead of blue cheese"; returns whether all was there."""
        for one in options:
            if one.amount:
                self.take_back(item, one)  # "double patty, not double bacon"
        options = [one for one in options if not one.amount]
        there = [self._gives_way(item, one.entity.words, for_) for one in options]
        return all(there)

    def share(self, item: Item, old: str, option: Option, count: int | None) -> bool:
        """Let so many of a counted choice, or all, be another: "swap two of the glazed for jelly"."""
        both = (old, option.entity.words)
        called = [
            [one for one in item.changes if self._matcher.is_called(item, one, words)]
            for words in both
        ]
        had, there = [[_number_of(one) for one in several] for several in called]
        tallied = option.entity.tallied & self._matcher.mask(item)
        if not tallied or option.count > 1 or len(had) != 1 or not 1 < had[0] >= (count or 1):
            return False
        moved = count or had[0]
        choices = [self._kitchen.choice(item.name, one) for one in (called[0][0], option.words)]
        item.changes = [one for one in item.changes if one not in (*called[0], *called[1])]
        left = (had[0] - moved, sum(there) + moved)
        item.changes += [f"{n} {one}" for n, one in zip(left, choices, strict=True) if n]
        item.yielding = len(item.changes)
        return True

    def _gives_way(self, item: Item, words: str, for_: Sequence[str]) -> bool:
        gone = [
            at
            for at, one in enumerate(item.changes)
            if not one.startswith("no ") and self._matcher.is_called(item, one, words)
        ]
        half = self.half_with(item, words) if item.line is not None else ""
        counts = [first for at in gone if (first := item.changes[at].split()[0]).isdigit()]
        for at in reversed(gone):
            del item.changes[at]
            item.yielding -= at < item.yielding
        if half:  # "ham instead of the bacon", which lay on one half
            new = item.changes[item.yielding :]
            whole = [one.startswith("no ") or bool(_half_of(one)) for one in new]
            item.changes[item.yielding :] = [
                one if keeps else f"{half} {one}" for one, keeps in zip(new, whole, strict=True)
            ]
        new = item.changes[item.yielding :]
        if counts and len(new) == 1 and self._kitchen.fits(item.name, f"{counts[0]} {new[0]}"):
            item.changes[-1] = f"{counts[0]} {new[0]}"  # as many come in the place of several
        if gone:
            return True
        comes = self._kitchen.made(item.name, words) == ()
        new = item.changes if comes else item.changes[item.yielding :]
        others = [one for one in (*new, *for_) if not one.startswith("no ")]
        if any(self._kitchen.excludes(item.name, words, one) for one in others):
            return True  # the other choice takes its place by itself
        if self._kitchen.has(item.name, words):
            item.changes.append(f"no {words}")
            return True
        having = (part for part in item.parts if self._matcher.has(part, words))
        return any(self._gives_way(part, words, for_) for part in having)

    def count_anew(self, item: Item, options: Sequence[Option]) -> None:
        """Let a choice that is counted be as many as is said, not as many more: "three sugars"."""
        mask = self._matcher.mask(item)
        for option in options:
            if option.no or option.amount not in ("", "double") or not option.entity.tallied & mask:
                continue
            old = item.changes[: item.yielding]
            for change in [
                one for one in old if self._matcher.is_called(item, one, option.entity.words)
            ]:
                item.changes.remove(change)
                item.yielding -= 1

    def of_same_group(self, item: Item, options: Sequence[Option]) -> None:
        """Take off the one choice of a group whose place another takes: "with lox instead"."""
        old = item.changes[: item.yielding]
        for option in options:
            words = option.entity.words
            mates = [one for one in old if self._kitchen.same_group(item.name, one, words)]
            if len(mates) == 1 and not option.no and not option.amount:
                item.changes.remove(mates[0])
                old.remove(mates[0])
                item.yielding -= 1

    def keep_choices(self, item: Item, fresh: Item) -> None:
        """Give a thing the size and the choices of the one before it, as far as it can have them.

        What was left off does not carry over to a dish of another section: no bacon on a sandwich says
        nothing of a salad.
        """
        alike = self._matcher.section(item) == self._matcher.section(fresh)
        fresh.changes[:0] = [
            one
            for one in item.changes
            if self._kitchen.fits(fresh.name, one)
            and (alike or not one.startswith("no "))
            and not (one.startswith("no ") and self._takes_back(fresh, one, item.changes))
            and not any(
                self._matcher.is_called(fresh, new, one)
                or self._matcher.is_called(fresh, one, new)  # "with one sugar", of one with two
                or self._kitchen.excludes(fresh.name, new, one)
                for new in fresh.changes
            )
        ]
        if item.size and not fresh.size and self._kitchen.size(fresh.name, item.size):
            fresh.size = item.size

    def _takes_back(self, fresh: Item, left_off: str, others: Sequence[str]) -> bool:
        """Whether "no onion" would be no onion rings of another dish, which has no onion."""
        words = left_off.removeprefix("no ")
        return any(
            self._matcher.is_called(fresh, other, words) and self._kitchen.fits(fresh.name, other)
            for other in others
            if not other.startswith("no ")
        ) and not self._kitchen.has(fresh.name, words)

    def keep_told_size(self, part: Item, fresh: Item) -> None:
        """Give a part of a combo the size of the one before it that is not the usual one of that.

        A combo comes in its own sizes: where none was told, the fresh part has its own usual one.
        """
        if part.size != self._kitchen.size_in_combo(part.name) and part.size and not fresh.size:
            fresh.size = self._kitchen.size(fresh.name, part.size)


def _number_of(change: str) -> int:
    """Return how many of a choice a change asks for."""
    first = change.split()[0]
    return int(first) if first.isdigit() else 0 if first == "no" else 1


def _half_of(change: str) -> str:
    """Return the half that a change is on."""
    return next((one for one in ("other half", "half") if change.startswith(f"{one} ")), "")
