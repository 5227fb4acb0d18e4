"""Chooses the parts of a combo from a guest's words, and computes what they add to its price."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from pydantic import JsonValue

from state.errors import Ambiguous, ChoiceMissing, ChoiceNotPossible, NotOnMenu, OrderError, SoldOut
from state.menu import Chosen, Combo, ComboPart, Dish, Menu
from state.menu.words import stems
from state.money import Cents


@dataclass(frozen=True, slots=True)
class PartWords:
    """One part of a combo in a guest's words."""

    name: str
    size: str | None = None
    modifications: tuple[str, ...] = ()
    quantity: int = 1


@dataclass(frozen=True, slots=True)
class Taken:
    """One part of a combo in the menu's terms.

    Args:
        surcharge: The amount it adds to the combo's price.
        menu_price: Its price outside the combo; the combo's tax is split in proportion to it.
    """

    dish: Dish
    size: str | None
    chosen: tuple[Chosen, ...]
    surcharge: Cents
    menu_price: Cents


@dataclass(slots=True)
class _Slot:
    """One part of a combo: how many dishes to choose, the possible ones, and those chosen so far."""

    part: ComboPart
    dishes: list[Dish]
    taken: list[tuple[Dish, PartWords]] = field(default_factory=list)

    @property
    def open(self) -> int:
        return self.part.choose - len(self.taken)


def combo_parts(
    menu: Menu,
    to_be_had: Callable[[Dish], bool],
    combo: Combo,
    wanted: Sequence[PartWords],
    modifications: Sequence[str],
) -> tuple[Taken, ...]:
    """Return the parts of a combo, in the menu's order.

    A part with a single available dish is filled in; for any other the guest has to choose.
    A modification of the combo as a whole is applied to the one dish in it that accepts it.

    Args:
        menu: The menu.
        to_be_had: Returns whether a dish is available at the time the order is for.
        combo: The combo.
        wanted: The parts as the guest named them.
        modifications: The modifications of the combo as a whole.

    Raises:
        ChoiceMissing: A part is still to be chosen; the facts list the possible dishes and how many.
        ChoiceNotPossible: A dish or a modification is not possible in this combo.
        SoldOut: No dish is available for a part.
    """
    slots = [_Slot(part, _dishes(menu, to_be_had, part)) for part in combo.parts]
    for words in wanted:
        dish = _meant(menu, combo, slots, words.name)
        for _ in range(words.quantity):
            _take(combo, slots, dish, words)
    for slot in slots:
        if slot.open and not slot.dishes:
            gone = ", ".join(slot.part.dishes)
            raise SoldOut(f"{combo.name} needs {gone}, which is not to be had.", name=gone, near=[])
        if len(slot.dishes) == 1:
            slot.taken += [(slot.dishes[0], PartWords(slot.dishes[0].name))] * slot.open
    if any(slot.open for slot in slots):
        _ask(combo, slots)
    shared = _shared_out(menu, combo, slots, modifications)
    return tuple(
        _taken(menu, dish, words, shared.get(dish.name, ()))
        for slot in slots
        for dish, words in slot.taken
    )


def covered_size(dish: Dish) -> str | None:
    """The size of a dish that a combo's price includes: the default one, or else the cheapest."""
    if dish.default_size is not None:
        return dish.default_size
    return min(dish.prices, key=lambda size: dish.prices[size])


def _dishes(menu: Menu, to_be_had: Callable[[Dish], bool], part: ComboPart) -> list[Dish]:
    dishes = [dish for name in part.dishes if (dish := menu.dish(name)) is not None]
    return [dish for dish in dishes if to_be_had(dish)]


def _meant(menu: Menu, combo: Combo, slots: Sequence[_Slot], words: str) -> Dish:
    """Return the dish of this combo that the words mean; on the whole menu they may be ambiguous."""
    allowed = {dish.name: dish for slot in slots for dish in slot.dishes}
    try:
        item = menu.item(words)
    except Ambiguous as error:
        named = error.facts.get("possible")
        names = [str(name) for name in named] if isinstance(named, list) else []
        possible = [allowed[name] for name in names if name in allowed]
    except NotOnMenu:
        possible = []
    else:
        if item.name in allowed:
            return allowed[item.name]
        possible = []
    possible = _under_heading(menu, words, allowed.values()) or possible
    if len(possible) == 1:
        return possible[0]
    if possible:
        named_here = [dish.name for dish in possible]
        raise Ambiguous(
            f'"{words}" could be {" or ".join(named_here)}.', words=words, possible=[*named_here]
        )
    for slot in slots:
        for name in slot.part.dishes:
            if name not in allowed and stems(name) == stems(words):
                near = [dish.name for dish in slot.dishes]
                raise SoldOut(f"{name} is not to be had now.", name=name, near=[*near])
    listed: list[JsonValue] = [*allowed]
    raise ChoiceNotPossible(
        f'"{words}" is no part of {combo.name}. Possible: {", ".join(allowed)}.',
        name=combo.name,
        words=words,
        group="parts",
        possible=listed,
    )


def _under_heading(menu: Menu, words: str, dishes: Iterable[Dish]) -> list[Dish]:
    said = stems(words)
    headings = {
        section.name
        for section in menu.sections
        if any(stems(name) == said for name in (section.name, *section.aliases))
    }
    return [dish for dish in dishes if dish.section in headings]


def _take(combo: Combo, slots: Sequence[_Slot], dish: Dish, words: PartWords) -> None:
    """Assign a dish to a part, moving others if that makes room."""
    if not _place(slots, dish, words, set()):
        most = sum(slot.part.choose for slot in slots)
        raise ChoiceNotPossible(
            f"{combo.name} has no room for another {dish.name}: it is {' and '.join(map(_slot_card, slots))}.",
            name=combo.name,
            words=dish.name,
            group="parts",
            possible=[_slot_card(slot) for slot in slots],
            most=most,
        )


def _place(slots: Sequence[_Slot], dish: Dish, words: PartWords, tried: set[int]) -> bool:
    fitting = [number for number, slot in enumerate(slots) if dish in slot.dishes]
    for number in fitting:
        if slots[number].open:
            slots[number].taken.append((dish, words))
            return True
    for number in fitting:
        if number in tried:
            continue
        tried.add(number)
        slot = slots[number]
        for place, (other, other_words) in enumerate(slot.taken):
            if other != dish and _place(slots, other, other_words, tried):
                slot.taken[place] = (dish, words)
                return True
    return False


def _ask(combo: Combo, slots: Sequence[_Slot]) -> NoReturn:
    missing = [slot for slot in slots if slot.open]
    asked: list[JsonValue] = [
        {"count": slot.open, "possible": [dish.name for dish in slot.dishes]} for slot in missing
    ]
    first = missing[0]
    names = [dish.name for dish in first.dishes]
    words = "; ".join(f"{slot.open} of {_names(slot)}" for slot in missing)
    raise ChoiceMissing(
        f"{combo.name} still needs: {words}.",
        name=combo.name,
        group="parts",
        count=first.open,
        possible=[*names],
        open=asked,
    )


def _slot_card(slot: _Slot) -> str:
    return f"{slot.part.choose} of {_names(slot)}"


def _names(slot: _Slot) -> str:
    return " / ".join(dish.name for dish in slot.dishes)


def _shared_out(
    menu: Menu, combo: Combo, slots: Sequence[_Slot], modifications: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Assign each modification of the whole combo to one of its dishes."""
    dishes = list({dish.name: dish for slot in slots for dish, _ in slot.taken}.values())
    shared: dict[str, tuple[str, ...]] = {}
    for words in modifications:
        can = [dish for dish in dishes if _can_have(menu, dish, words)]
        if len(can) > 1:
            names = [dish.name for dish in can]
            raise Ambiguous(
                f'"{words}" could be for {" or ".join(names)}. Say it with the part.',
                words=words,
                possible=[*names],
            )
        if not can:
            raise ChoiceNotPossible(
                f'No part of {combo.name} can be had "{words}".',
                name=combo.name,
                words=words,
                possible=[],
            )
        shared[can[0].name] = (*shared.get(can[0].name, ()), words)
    return shared


def _can_have(menu: Menu, dish: Dish, words: str) -> bool:
    try:
        menu.choose(dish, covered_size(dish), (words,))
    except ChoiceMissing:
        return True  # the words fit; another choice is missing
    except OrderError:
        return False
    return True


def _taken(menu: Menu, dish: Dish, words: PartWords, more: Sequence[str]) -> Taken:
    covered = covered_size(dish)
    size = menu.size(dish, words.size) if words.size else covered
    chosen = menu.choose(dish, size, (*words.modifications, *more))
    extras = sum(one.price for one in chosen)
    dearer = max(0, dish.prices[size] - dish.prices[covered])
    return Taken(
        dish=dish,
        size=size,
        chosen=chosen,
        surcharge=Cents(dearer + extras),
        menu_price=Cents(dish.prices[size] + extras),
    )
