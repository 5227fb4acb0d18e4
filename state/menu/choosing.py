"""Applies a guest's modifications to one dish, and prices them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any

from state.errors import ChoiceMissing, ChoiceNotPossible, SoldOut
from state.menu.model import EXTRA, NO, ON_THE_SIDE, Choice, Chosen, Dish, OptionGroup, Portion
from state.menu.saying import DishVocabulary, Modification, Target
from state.menu.words import stems
from state.money import Cents

_MOST_WORDS = 60
"""The maximum number of modifications; more are refused unread."""
_PORTIONS: tuple[Portion | None, ...] = (None, "half", "other half")


@dataclass
class _Pick:
    """One choice of a group, before it is priced."""

    choice: Choice
    amount: str | None
    portion: Portion | None
    count: int

    @property
    def plain(self) -> bool:
        return self.amount is None and self.portion is None and self.count == 1


@dataclass
class _Selection:
    """The choices made so far."""

    contents: dict[str, str] = field(default_factory=dict)
    picks: dict[str, list[_Pick]] = field(default_factory=dict)
    declined: dict[str, str] = field(default_factory=dict)


class Chooser:
    """The possible modifications of one dish.

    Args:
        groups: Its groups of choices.
        others: Other names for what the dish contains.
    """

    def __init__(
        self, dish: Dish, groups: Sequence[OptionGroup], others: Mapping[str, Sequence[str]]
    ) -> None:
        self.dish = dish
        self.groups = tuple(groups)
        self._defaults = {group.name: _default(group) for group in groups}
        self._places = {
            group.name: {choice.name: at for at, choice in enumerate(group.choices)}
            for group in groups
        }
        self._vocabulary = DishVocabulary(dish, self.groups, others)

    def choose(self, size: str | None, words: Sequence[str]) -> tuple[Chosen, ...]:
        """Return the modifications that the words mean; see ``Menu.choose``."""
        if len(words) > _MOST_WORDS:
            raise self._not_possible(words[_MOST_WORDS], "That is too much for one dish.")
        selection = _Selection()
        for text in words:
            for said in self._vocabulary.understand(text):
                self._take(said, selection)
        chosen = [
            self._changed(content, selection.contents[content], size)
            for content in self.dish.contains
            if content in selection.contents
        ]
        for group in self.groups:
            chosen += self._from_group(group, selection, size)
        return tuple(chosen)

    def _take(self, said: Modification, selection: _Selection) -> None:
        target = said.target
        if target.group is None:
            self._take_content(said, target.name, selection)
        elif target.choice is None:
            self._take_group(said, target.group, selection)
        else:
            self._take_choice(said, target.group, target.choice, selection)

    def _take_content(self, said: Modification, name: str, selection: _Selection) -> None:
        if said.marks.portion is not None:
            raise self._not_possible(said.words, f"{name} is all over it, not on one half.")
        if said.marks.times > 2 or said.marks.count not in (None, 1, 2):
            raise self._not_possible(said.words, f"extra {name} is the most.")
        amount = EXTRA if said.marks.count == 2 else said.marks.amount
        if amount is None:
            selection.contents.pop(name, None)  # the dish contains it by default
        else:
            selection.contents[name] = amount

    def _take_group(self, said: Modification, group: OptionGroup, selection: _Selection) -> None:
        """Apply words that name a whole group: "no dressing", "with a crust"."""
        if said.marks.amount == NO:
            if group.least:
                raise self._not_possible(said.words, f"{group.name} has to be one of these.", group)
            selection.picks.pop(group.name, None)
            if group.default is not None:
                selection.declined[group.name] = group.default
        elif group.default is None or said.marks.amount is not None:
            only = group.choices[0] if len(group.choices) == 1 else self._defaults[group.name]
            if only is None:
                raise self._missing(group)
            self._take_choice(said, group, only, selection)

    def _take_choice(
        self, said: Modification, group: OptionGroup, choice: Choice, selection: _Selection
    ) -> None:
        picks = selection.picks.setdefault(group.name, [])
        if said.marks.amount == NO:
            left_off = said.marks.portion
            selection.picks[group.name] = [
                pick
                for pick in picks
                if pick.choice is not choice or left_off not in (None, pick.portion)
            ]
            if group.default == choice.name and left_off is None:
                selection.declined[group.name] = choice.name
            return
        if not choice.available:
            raise self._sold_out(group, choice)
        pick = self._pick(said, group, choice)
        for other in picks:
            if other.choice is not choice:
                continue
            if group.counted and (other.amount, other.portion) == (pick.amount, pick.portion):
                other.count += pick.count
                return
            # The latest words about a choice count, unless both are about different halves.
            if other.portion == pick.portion or None in (other.portion, pick.portion):
                picks.remove(other)
                break
        picks.append(pick)

    def _pick(self, said: Modification, group: OptionGroup, choice: Choice) -> _Pick:
        amount, count = said.marks.amount, said.marks.count or 1
        if said.marks.portion is not None and not group.halves:
            raise self._not_possible(said.words, f"{choice.name} cannot lie on one half.", group)
        if group.counted and amount == EXTRA and said.marks.exact not in group.amounts:
            # "A double shot" is two; "an extra shot" is one more.
            amount, count = None, count * said.marks.times
        elif not group.counted and count > 1:
            if count != 2 or not group.amounts:
                most = (
                    f"{EXTRA} {choice.name} is the most" if group.amounts else "only one can be had"
                )
                raise self._not_possible(said.words, f"{most}.", group)
            amount, count = EXTRA, 1
        if amount == ON_THE_SIDE:
            if not group.amounts or said.marks.portion is not None:
                raise self._not_possible(
                    said.words, f"{choice.name} cannot be had on the side.", group
                )
        elif amount is not None:
            amount = self._amount(said, group, choice, amount)
        return _Pick(choice, amount, said.marks.portion, count)

    def _amount(
        self, said: Modification, group: OptionGroup, choice: Choice, amount: str
    ) -> str | None:
        """Return the group's own name for an amount."""
        if said.marks.exact in group.amounts:
            return said.marks.exact
        if said.marks.times <= 2:
            kin = self._vocabulary.kin_of(amount)
            known = (word for word in group.amounts if stems(word) in kin)
            found = amount if amount in group.amounts else next(known, None)
            if found is not None:
                return found
        if amount == EXTRA and not group.amounts and said.marks.times == 1:
            return None  # "extra bacon" where bacon can only be added
        raise self._not_possible(said.words, f"{choice.name} cannot be had like that.", group)

    def _from_group(
        self, group: OptionGroup, selection: _Selection, size: str | None
    ) -> list[Chosen]:
        picks = selection.picks.get(group.name, [])
        default = self._defaults[group.name]
        declined = selection.declined.get(group.name)
        if declined is not None and (group.least or picks):
            if not picks:
                raise self._missing(group)
            declined = None
        self._check_number(group, picks, default)
        if not picks and declined is None:
            return []
        if default is not None and [pick.choice for pick in picks if pick.plain] == [default]:
            picks = [] if len(picks) == 1 else picks
        places = self._places[group.name]
        picks = sorted(picks, key=lambda p: (_PORTIONS.index(p.portion), places[p.choice.name]))
        if declined is not None and default is not None:
            called = self._called(group, default)
            return [_chosen(group=group.name, name=default.name, amount=NO, called=called)]
        return [
            _chosen(
                group=group.name,
                name=pick.choice.name,
                amount=pick.amount,
                portion=pick.portion,
                count=pick.count,
                called=self._called(group, pick.choice),
                price=_price(group, pick, size),
            )
            for pick in picks
        ]

    def _check_number(
        self, group: OptionGroup, picks: Sequence[_Pick], default: Choice | None
    ) -> None:
        """Check the number of choices against the group's limits; a choice on one half counts as a half."""
        number = sum(Decimal(pick.count) / (1 if pick.portion is None else 2) for pick in picks)
        if number > group.most:
            most = f"Only {group.most} of {group.name} can be chosen."
            words = ", ".join(
                Chosen(name=pick.choice.name, count=pick.count, portion=pick.portion).words
                for pick in picks
            )
            raise self._not_possible(words, most, group)
        if number < group.least:
            filled = default is not None and all(pick.portion is not None for pick in picks)
            if not filled:
                raise self._missing(group)

    def _changed(self, content: str, amount: str, size: str | None) -> Chosen:
        price = self.dish.extra_price(content, size) if amount == EXTRA else Cents(0)
        return _chosen(name=content, amount=amount, price=price)

    def _called(self, group: OptionGroup, choice: Choice) -> str | None:
        return self._vocabulary.called(Target(choice.name, group, choice))

    def _missing(self, group: OptionGroup) -> ChoiceMissing:
        possible = [choice.name for choice in group.choices if choice.available]
        many = f"{group.least} of " if group.least > 1 else ""
        return ChoiceMissing(
            f"{self.dish.name} needs a choice of {many}{group.name}: {', '.join(possible)}.",
            name=self.dish.name,
            group=group.name,
            possible=list(possible),
        )

    def _not_possible(
        self, words: str, why: str, group: OptionGroup | None = None
    ) -> ChoiceNotPossible:
        return self._vocabulary.not_possible(words, why, group)

    def _sold_out(self, group: OptionGroup, choice: Choice) -> SoldOut:
        near = [other.name for other in group.choices if other.available][:5]
        return SoldOut(f"{choice.name} is sold out.", name=choice.name, near=list(near))


@lru_cache(maxsize=4096)
def _chosen(**fields: Any) -> Chosen:
    """Return the same object for the same choice: a state validates only objects that are new to it."""
    return Chosen(**fields)


def _default(group: OptionGroup) -> Choice | None:
    """Return the group's default, unless it is sold out."""
    for choice in group.choices:
        if choice.name == group.default:
            return choice if choice.available else None
    return None


def taken_of(groups: Iterable[OptionGroup], chosen: Sequence[Chosen]) -> Iterator[Choice]:
    """Return the choices on a dish: the chosen ones, or else each group's default."""
    for group in groups:
        named = [one for one in chosen if one.group == group.name]
        taken = {one.name for one in named if one.amount != NO}
        halves_only = all(one.portion is not None for one in named if one.amount != NO)
        left_off = any(one.amount == NO for one in named)
        if group.default is not None and halves_only and not left_off:
            taken.add(group.default)
        if taken:  # most groups have many choices, and nothing of them is on the dish
            yield from (choice for choice in group.choices if choice.name in taken)


def allergens_of(dish: Dish, taken: Iterable[Choice]) -> tuple[str, ...]:
    """Return the allergens stated for a dish and for the choices on it."""
    found: dict[str, str] = {}
    for stated in (dish.allergens, *[choice.allergens for choice in taken]):
        for name in stated:
            found.setdefault(name.casefold(), name)
    return tuple(found.values())


def _price(group: OptionGroup, pick: _Pick, size: str | None) -> Cents:
    """Return the price of a choice per piece; half a portion is half the price, rounded half up."""
    price = Decimal(pick.choice.price(size)) * pick.count
    if pick.amount is not None and pick.amount != ON_THE_SIDE:
        price *= group.amounts[pick.amount]
    if pick.portion is not None:
        price /= 2
    return Cents(int(price.quantize(Decimal(1), rounding=ROUND_HALF_UP)))
