"""Makes commands of things ordered, or questions where something is missing or not possible."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from bella_vista.local.english import vocabulary
from bella_vista.local.understanding.items import Item, Split
from bella_vista.local.understanding.meaning import Draft, Question
from bella_vista.local.understanding.menu.kitchen import Kitchen, any_size
from bella_vista.local.understanding.order.matching import USUAL
from state.errors import ChoiceMissing, OrderError
from state.menu import Combo, Dish, Menu
from state.menu.words import stems

_BESIDE = " on the side"
_KNOWN = 2_000
"""So many things are remembered as they were settled: the readings of a line share most of them."""


class Settling:
    """Asks the menu about whole things.

    Args:
        menu: The menu.
        kitchen: What it makes of single words.
    """

    def __init__(self, menu: Menu, kitchen: Kitchen) -> None:
        self._menu = menu
        self._kitchen = kitchen
        self._known: dict[tuple[object, ...], tuple[Draft | None, Question | None]] = {}

    def settle(self, item: Item) -> tuple[list[Draft], list[Question]]:
        """Return the commands that order it, or what has to be asked first."""
        if item.quantity == 0:
            return [], []
        combo = self._kitchen.combo(item.name)
        wanted = (
            self._dealt_combos(item, combo)
            if combo
            else shared_out(self._dealt_out(item), self._kitchen)
        )
        drafts: list[Draft] = []
        questions: list[Question] = []
        for one in wanted:
            draft, question = self._settle_once(one)
            if question is not None:
                questions.append(question)
            elif draft is not None:
                drafts.append(draft)
        return drafts, questions

    def _dealt_combos(self, item: Item, combo: Combo) -> list[Item]:
        """Give each combo its own: "two combos with fries, one with a cola and one with a lemonade"."""
        number = item.quantity or 1
        shares: list[list[Item]] = [[] for _ in range(number)]
        left = list(item.parts)
        for part in combo.parts if number > 1 else ():
            seated = [one for one in left if one.name in part.dishes]
            left = [one for one in left if one not in seated]
            if len(seated) == number * part.choose > part.choose:
                for at, one in enumerate(seated):
                    shares[at // part.choose].append(one)
            else:
                for share in shares:
                    share.extend(seated)
        if left or all(share == shares[0] for share in shares):
            return [item]
        return [replace(item, quantity=1, parts=list(share)) for share in shares]

    def _dealt_out(self, item: Item) -> Item:
        """Give each its own: "three shakes: vanilla, chocolate without cream and strawberry"."""
        dish = self._kitchen.dish(item.name)
        if (
            dish is None
            or item.splits
            or item.yielding
            or item.line is not None
            or (item.quantity or 0) < 2
            or len(item.changes) < (item.quantity or 0)
        ):
            return item
        shares = self._shares(dish, item.changes, listed=item.listed)
        if len(shares) != item.quantity:
            return item
        return replace(item, changes=[], splits=[Split(1, changes=share) for share in shares])

    def _shares(self, dish: Dish, changes: Sequence[str], *, listed: bool) -> list[list[str]]:
        """Cut a list of changes where a choice comes of which the one before has another already."""
        excludes = self._kitchen.excludes_in_a_list if listed else self._kitchen.excludes
        shares: list[list[str]] = [[]]
        for change in changes:
            clashes = any(
                stems(one) != stems(change) and excludes(dish.name, one, change)
                for one in shares[-1]
            )
            if clashes:
                shares.append([])
            shares[-1].append(change)
        return shares

    def _settle_once(self, item: Item) -> tuple[Draft | None, Question | None]:
        """Settle a thing, or take what came of it in another reading of the line."""
        if item.parts:
            return self._settle_one(item)
        key = (
            *(item.words, item.names, item.quantity, item.size, tuple(item.changes), item.line),
            *(tuple(item.unknown), item.near, item.yielding, tuple(item.notes)),
        )
        if key not in self._known:
            if len(self._known) > _KNOWN:
                self._known.clear()
            self._known[key] = self._settle_one(item)
        return self._known[key]

    def _settle_one(self, item: Item) -> tuple[Draft | None, Question | None]:
        if not item.names:
            facts = {"words": item.words, "near": list(item.near)}
            return None, Question("not_on_menu", facts, self._draft(item, words=item.words))
        item = self._narrowed(item)
        if item.name is None:
            facts = {"words": item.words, "possible": list(item.names)}
            waiting = self._draft(item, words=item.words, possible=list(item.names))
            return None, Question("ambiguous", facts, waiting)
        combo = self._kitchen.combo(item.name)
        if combo is not None:
            return self._settle_combo(item, combo)
        dish = self._kitchen.dish(item.name)
        if dish is None:
            facts = {"words": item.words, "near": list(item.near)}
            return None, Question("not_on_menu", facts, self._draft(item, words=item.words))
        return self._settle_dish(item, dish)

    def _narrowed(self, item: Item) -> Item:
        """Keep of several dishes the one that comes as it was said: "a whole chicken"."""
        if len(item.names) < 2 or not (item.size or item.changes):
            return item
        able = [
            name
            for name in item.names
            if (not item.size or self._kitchen.size(name, item.size) is not None)
            and all(self._kitchen.answers(name, change) for change in item.changes)
        ]
        return replace(item, names=tuple(able)) if len(able) == 1 else item

    def _settle_dish(self, item: Item, dish: Dish) -> tuple[Draft | None, Question | None]:
        if not dish.available:
            facts = {"name": dish.name, "near": list(self._instead_of(dish))}
            return None, Question("sold_out", facts, self._draft(item, name=None))
        if item.quantity is None:
            facts = {"name": dish.name, "group": "quantity", "possible": []}
            return None, Question("choice_missing", facts, self._draft(item))
        if item.size in USUAL and item.size not in dish.sizes and item.quantity:
            if self._kitchen.in_pieces(dish.name, item.quantity):
                item = replace(item, size=None)  # "ten regular wings", which come by ten
        item = self._counted_in_pieces(item, dish)
        too_many = self._too_many(item, self._draft(item))
        if too_many is not None:
            return None, too_many
        if not dish.sizes and item.size is not None and item.size in vocabulary.VESSELS:
            item = replace(item, size=None)
        question = self._wrong_size(item, dish)
        if question is not None:
            return None, question
        if item.size is not None:
            item = replace(item, size=self._menu.size(dish, item.size))
        item = replace(item, changes=[*item.changes, *self._said_in_name(item, dish)])
        item = self._told_beside(self._heated(item, dish), dish)
        good, notes, question = self._changes(item, dish)
        item = replace(item, notes=[*item.notes, *(n for n in notes if n not in item.notes)])
        if question is not None:
            return None, question
        item = replace(item, changes=good)
        if item.size is None and dish.size_needed:
            facts = {"name": dish.name, "group": "size", "possible": list(dish.sizes)}
            return None, Question("choice_missing", facts, self._draft(item))
        try:
            chosen = self._menu.choose(dish, item.size or any_size(dish), item.changes)
        except OrderError as error:
            return None, Question(error.code, dict(error.facts), self._draft(item))
        changes = [one.words for one in chosen]
        if item.line is None and not item.copied and item.source is None:
            changes = self._without_what_is_in_it(changes, item.size, dish)
        return self._draft(replace(item, changes=changes)), None

    def _heated(self, item: Item, dish: Dish) -> Item:
        """Take "extra hot" for a choice where the dish comes mild and hot, and for a note elsewhere."""
        hot, wishes = [], list(item.notes)
        for note in item.notes:
            last = note.split()[-1:]
            for group in self._menu.groups(dish) if note.startswith("extra ") else ():
                names = {stems(one) for c in group.choices for one in (c.name, *c.aliases)}
                if ("mild",) in names and stems(last[0]) in names:
                    hot.extend(last)
                    wishes.remove(note)
        return replace(item, changes=[*item.changes, *hot], notes=wishes) if hot else item

    def _told_beside(self, item: Item, dish: Dish) -> Item:
        """Say which choice, made or usual, is to lie beside: "with ranch, dressing on the side"."""
        told, new = [*item.changes], item.changes[item.yielding :]
        for words in [one for one in new if one.endswith(_BESIDE)]:
            said = stems(words.removesuffix(_BESIDE))
            for group in self._menu.groups(dish):
                if all(said != stems(one)[-len(said) :] for one in (group.name, *group.aliases)):
                    continue
                names = {choice.name for choice in group.choices}
                made = [one for one in new if names & {*(self._kitchen.made(dish.name, one) or ())}]
                usual = group.default and self._kitchen.fits(dish.name, group.default + _BESIDE)
                choice = made[0] if len(made) == 1 else group.default if usual and not made else ""
                if choice:
                    told[told.index(words)] = choice + _BESIDE
                    told = [one for one in told if one not in made]
                    break
        return replace(item, changes=told)

    def _without_what_is_in_it(self, changes: list[str], size: str | None, dish: Dish) -> list[str]:
        """Leave out what a dish has anyway, though it can be added as well: "a burger with ketchup"."""
        contents = {stems(content) for content in dish.contains}
        rest = [change for change in changes if stems(change) not in contents]
        return rest if rest == changes or self._complete(dish, size, rest) else changes

    def _too_many(self, item: Item, draft: Draft) -> Question | None:
        limit = self._menu.restaurant.limits.quantity
        if (item.quantity or 0) <= limit:
            return None
        facts = {"what": "quantity", "limit": limit, "asked": item.quantity, "name": item.name}
        return Question("over_limit", facts, draft)

    def _counted_in_pieces(self, item: Item, dish: Dish) -> Item:
        """Take "six nigiri" as one portion where six pieces are a size."""
        if item.size is not None or item.quantity is None or item.portions:
            return item
        found = self._kitchen.in_pieces(dish.name, item.quantity)
        return item if found is None else replace(item, size=found[0], quantity=found[1])

    def _wrong_size(self, item: Item, dish: Dish) -> Question | None:
        if item.size is None:
            return None
        try:
            self._menu.size(dish, item.size)
        except OrderError as error:
            return Question(error.code, dict(error.facts), self._draft(replace(item, size=None)))
        return None

    def _changes(self, item: Item, dish: Dish) -> tuple[list[str], list[str], Question | None]:
        """Keep the changes that are possible; return a question about the first that is not.

        What no menu lists and a kitchen can do becomes a note: "ranch on the side".
        """
        good: list[str] = []
        beside: list[str] = []
        bad: OrderError | None = None
        size = item.size or any_size(dish)
        old = list(item.changes[: item.yielding])
        for words in (*item.changes, *item.unknown):
            if words not in old and self._gives_way(dish, size, good, old, words):
                continue
            try:
                self._menu.choose(dish, size, [*good, words])
            except ChoiceMissing as error:
                if self._other_of_group(dish, words, item.changes):
                    continue
                if error.facts.get("group") and not self._starts_group(dish, words):
                    good.append(words)
                else:
                    bad = bad or error
            except OrderError as error:
                if self._other_of_group(dish, words, item.changes):
                    continue  # "no bun, a lettuce wrap"
                if " half " in f" {words}" and self._contained_half(dish, words):
                    continue  # "half mushrooms, half just cheese"
                bad = bad or error
                plain = words.removesuffix(_BESIDE)
                own = self._own_beside(dish, plain) if plain != words else None
                if own is not None and self._possible(dish, size, [*good, own]):
                    good.append(own)
                    bad = None if bad is error else bad
                elif plain != words and self._starts_group(dish, plain):
                    beside.append(words)
                    bad = None if bad is error else bad
                elif plain != words and self._possible(dish, size, [*good, plain]):
                    good.append(plain)
                    beside.append(words)
                    bad = None if bad is error else bad
            else:
                good.append(words)
        if bad is None:
            return good, beside, None
        facts = dict(bad.facts)
        facts.setdefault("name", dish.name)
        most = self._most(dish, str(facts.get("words") or ""))
        if most is not None:
            facts["most"] = most
        if most == 1:
            named = str(facts["words"]).split(", ")
            facts["possible"] = [*named]
            good = [one for one in good if one not in named]
        return good, beside, Question(bad.code, facts, self._draft(replace(item, changes=good)))

    def _gives_way(
        self, dish: Dish, size: str | None, good: list[str], old: Sequence[str], words: str
    ) -> bool:
        """Take a new choice in the place of an old one where only one of them can be had."""
        if not old or self._possible(dish, size, [*good, words]):
            return False
        for change in [one for one in reversed(good) if one in old]:
            if self._one_of_several(dish, change):
                continue
            rest = [one for one in good if one != change]
            if self._possible(dish, size, [*rest, words]):
                good[:] = [*rest, words]
                return True
        return False

    def _most(self, dish: Dish, words: str) -> int | None:
        """Return how many may be had of a group, when words name more of it than that."""
        named = {stems(one) for one in words.split(", ")}
        for group in self._menu.groups(dish):
            choices = {stems(choice.name) for choice in group.choices}
            if group.most < len(named) and named <= choices:
                return group.most
        return None

    def _one_of_several(self, dish: Dish, change: str) -> bool:
        """Whether something was chosen of a group of which more than one can be had.

        It is not said which of them is to go, so it has to be asked.
        """
        said = stems(change)
        return any(
            stems(name) == said
            for group in self._menu.groups(dish)
            if group.most > 1
            for choice in group.choices
            for name in (choice.name, *choice.aliases)
        )

    def _complete(self, dish: Dish, size: str | None, changes: Sequence[str]) -> bool:
        try:
            self._menu.choose(dish, size or any_size(dish), changes)
        except OrderError:
            return False
        return True

    def _possible(self, dish: Dish, size: str | None, changes: Sequence[str]) -> bool:
        try:
            self._menu.choose(dish, size, changes)
        except ChoiceMissing:
            return True
        except OrderError:
            return False
        return True

    def _said_in_name(self, item: Item, dish: Dish) -> list[str]:
        """Find choices in what a dish was called: the bread of a pastrami on rye."""
        said, name = {one for one in stems(item.words) if not one.isdigit()}, stems(dish.name)
        found = [
            choice.name
            for group in self._menu.groups(dish)
            for choice in group.choices
            if set(words := stems(choice.name)) <= said
            and not set(words) & {*name[:-1]}
            and (
                len(words) > 1 and words[-1] == name[-1]  # an iced black tea
                if set(words) & {*name}
                else (group.least and group.default is None)  # a pastrami on rye
                or {*words, name[-1]} == said  # a sweet tea
            )
        ]
        longest = max(found, key=lambda one: len(stems(one)), default="")
        chosen = any(set(stems(longest)) <= set(stems(change)) for change in item.changes)
        return [longest] if longest and not chosen else []  # "a diet coke" is no coke

    def _starts_group(self, dish: Dish, words: str) -> bool:
        """Whether words only name a group, so that what is missing is of that very group."""
        said = stems(words)
        return any(
            said == stems(heading)
            for group in self._menu.groups(dish)
            for heading in (group.name, *group.aliases)
        )

    def _own_beside(self, dish: Dish, words: str) -> str | None:
        """Return what a dish has and some words mean, to lie beside it: "vinaigrette on the side"."""
        said = stems(words)
        called = [c for c in dish.contains if said and said == stems(c)[-len(said) :]]
        return called[0] + _BESIDE if len(called) == 1 else None

    def _contained_half(self, dish: Dish, words: str) -> bool:
        _, _, rest = words.partition("half ")
        return stems(rest) in {stems(content) for content in dish.contains}

    def _other_of_group(self, dish: Dish, words: str, changes: Sequence[str]) -> bool:
        """Whether words only name, count or leave off a group of which something else is chosen."""
        first, *rest = words.split()
        said = stems(" ".join(rest) if first == "no" or first.isdigit() else words)
        return any(
            self._kitchen.chooses(dish.name, group.name, changes)
            for group in self._menu.groups(dish)
            if said in {stems(one) for one in (group.name, *group.aliases)}
        )

    def _instead_of(self, dish: Dish) -> Iterable[str]:
        section = self._menu.section(dish.section)
        others = section.dishes if section else ()
        return [other.name for other in others if other.available and other is not dish][:3]

    def _settle_combo(self, item: Item, combo: Combo) -> tuple[Draft | None, Question | None]:
        if not combo.available:
            return None, Question("sold_out", {"name": combo.name, "near": []}, None)
        facts: dict[str, Any]
        if item.quantity is None:
            facts = {"name": combo.name, "group": "quantity", "possible": []}
            return None, Question("choice_missing", facts, self._draft(item))
        item = self._with_fixed_parts(self._with_named_parts(item, combo), combo)
        item = self._with_told_part(self._handed_on(item), combo)
        strange = self._strange(item, combo)
        if strange:
            kept = [change for change in item.changes if change not in strange]
            facts = {"name": combo.name, "words": ", ".join(strange), "possible": []}
            waiting = self._draft(replace(item, changes=kept))
            return None, Question("choice_not_possible", facts, waiting)
        parts: list[Item] = []
        for part in item.parts:
            settled, question = self._settle_part(part)
            if question is not None:
                waiting = self._draft(item)
                return None, Question(question.code, question.facts, waiting)
            parts.append(settled)
        item = replace(item, parts=parts)
        names = [part.name or "" for part in parts]
        for at, name in enumerate(names):
            if not self._kitchen.room_for(combo, names[:at], name):
                fewer = replace(item, parts=parts[:at])
                facts = {"name": combo.name, "words": name, "possible": []}
                return None, Question("choice_not_possible", facts, self._draft(fewer))
        open_part = self._kitchen.open_part(combo, [part.name or "" for part in parts])
        if open_part is not None:
            count, possible = open_part
            facts = {"name": combo.name, "group": "parts", "count": count, "possible": possible}
            return None, Question("choice_missing", facts, self._draft(item))
        draft = self._draft(item)
        too_many = self._too_many(item, draft)
        return (None, too_many) if too_many else (draft, None)

    def _with_named_parts(self, item: Item, combo: Combo) -> Item:
        """Take the part that a combo was called by, when none was chosen: the gyro of a gyro meal."""
        said = set(stems(item.words)) | set(stems(combo.name))
        parts = [*item.parts]
        for part in combo.parts:
            taken = [one.name or "" for one in parts]
            named = [
                name
                for name in part.dishes
                if self._called_by(name, said) and self._kitchen.room_for(combo, taken, name)
            ]
            chosen = any(name in part.dishes for name in taken)
            if len(part.dishes) > 1 and not chosen and part.choose == 1 and len(named) == 1:
                parts.append(Item(words=named[0], names=(named[0],)))
        return replace(item, parts=parts)

    def _with_told_part(self, item: Item, combo: Combo) -> Item:
        """Take the part that only its own choices tell: "earl grey, no lemon", where only the tea comes so."""
        taken = [part.name or "" for part in item.parts]
        for part in combo.parts if item.changes and not item.unknown else ():
            still = [name for name in part.dishes if self._kitchen.room_for(combo, taken, name)]
            able = [
                name
                for name in still
                if all(self._kitchen.answers(name, change) for change in item.changes)
            ]
            if len(able) == 1 < len(still):
                changes = [
                    one for one in item.changes if not self._called_by(able[0], set(stems(one)))
                ]
                told = Item(words=able[0], names=(able[0],), changes=changes)
                return replace(item, parts=[*item.parts, told], changes=[])
        return item

    def _with_fixed_parts(self, item: Item, combo: Combo) -> Item:
        """Take what a combo always has, where it has to be chosen how it is, or was said."""
        parts = [*item.parts]
        for part in combo.parts:
            dish = self._kitchen.dish(part.dishes[0]) if len(part.dishes) == 1 else None
            if dish is None or not dish.available:
                continue
            said = any(self._kitchen.answers(dish.name, one) for one in item.changes)
            if not (said or self._kitchen.asks_how(dish.name)):
                continue
            there = sum(one.name == dish.name for one in parts)
            parts.extend(Item(dish.name, (dish.name,)) for _ in range(part.choose - there))
        return replace(item, parts=parts)

    def _called_by(self, name: str, said: set[str]) -> bool:
        dish = self._kitchen.dish(name)
        return dish is not None and any(
            set(stems(one)) <= said for one in (dish.name, *dish.aliases)
        )

    def _strange(self, item: Item, combo: Combo) -> list[str]:
        """Find what was said of a combo that can be said of no part of it that is still to be chosen."""
        taken = [part.name or "" for part in item.parts]
        still = [
            name
            for part in combo.parts
            for name in part.dishes
            if self._kitchen.room_for(combo, taken, name)
        ]
        said = [*item.changes, *item.unknown]
        return [one for one in said if not any(self._kitchen.answers(name, one) for name in still)]

    def _handed_on(self, item: Item) -> Item:
        """Give what was said of a whole combo to the part it can be said of."""
        if not item.changes:
            return item
        parts = [replace(part, changes=[*part.changes]) for part in item.parts]
        left: list[str] = []
        for change in item.changes:
            able = [part for part in parts if self._kitchen.answers(part.name, change)]
            if able:
                able[0].changes.append(change)
            else:
                left.append(change)
        return replace(item, parts=parts, changes=left)

    def _settle_part(self, part: Item) -> tuple[Item, Question | None]:
        dish = self._kitchen.dish(part.name)
        if dish is None:
            return part, Question("ambiguous", {"words": part.words, "possible": list(part.names)})
        size = self._kitchen.size_in_combo(part.name)  # a size need not be said
        draft, question = self._settle_once(replace(part, quantity=1, size=part.size or size))
        if draft is None:
            return part, question
        changes = list(draft.fields.get("modifications", ()))
        # As it was settled: "a can" of what has one size says no size.
        said = draft.fields.get("size") if part.size else None
        return replace(part, size=said, changes=changes), None

    def _draft(self, item: Item, **more: Any) -> Draft:
        fields: dict[str, Any] = {}
        if item.line is not None:
            fields["line_id"] = item.line.id
        if item.name is not None:
            fields["name"] = item.name
        if item.size is not None:
            fields["size"] = item.size
        fields["quantity"] = item.quantity if item.quantity is not None else 1
        if item.changes:
            fields["modifications"] = list(item.changes)
        if item.parts:
            fields["parts"] = [_part_fields(part) for part in item.parts]
        if item.notes:
            fields["note"] = "; ".join(item.notes)
        fields.update(more)
        op = "add_item" if item.line is None else "change_item"
        return Draft(op, {name: value for name, value in fields.items() if value is not None})


def _part_fields(part: Item) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": part.name or part.words}
    if part.size is not None:
        fields["size"] = part.size
    if part.changes:
        fields["modifications"] = list(part.changes)
    return fields


def shared_out(item: Item, kitchen: Kitchen) -> list[Item]:
    """Take apart several of which some are to be different: the usual ones come first."""
    if not item.splits or item.quantity is None:
        return [item]
    special = sum(split.count or 0 for split in item.splits)
    left = item.quantity - special
    open_splits = [split for split in item.splits if split.count is None]
    if left < 0:
        # "A Margherita, two of them large" contradicts itself; the larger number was said on purpose.
        left = 0
    usual = 0 if open_splits else left
    result = [replace(item, quantity=usual, splits=[])] if usual else []
    for split in item.splits:
        count = split.count if split.count is not None else left
        if count <= 0:
            continue
        kept = [
            one  # "four tacos with chicken, two with chorizo"
            for one in item.changes
            if not any(kitchen.excludes(item.name, one, new) for new in split.changes)
        ]
        result.append(
            replace(
                item,
                quantity=count,
                size=split.size or item.size,
                changes=[*kept, *split.changes],
                notes=[*item.notes, *split.notes],
                unknown=list(item.unknown),
                splits=[],
                line=None,
            )
        )
    return result
