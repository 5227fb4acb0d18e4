"""Checks a whole menu for faults between its parts: names that collide, sizes without a price."""

from collections.abc import Iterable, Mapping, Sequence

from state.documents.faults import did_you_mean
from state.menu.form import KEY, Place
from state.menu.model import EXTRA, LIGHT, NO, ON_THE_SIDE, Combo, Dish, OptionGroup, Section
from state.menu.words import fold


def check(
    sections: Sequence[Section],
    combos: Sequence[Combo],
    sizes: Mapping[str, Sequence[str]],
    options: Mapping[str, OptionGroup],
    place: Place,
) -> None:
    """Record every fault between the parts of a menu."""
    dishes = [dish for section in sections for dish in section.dishes]
    _check_names("dish or combo", [*dishes, *combos], place)
    _check_names("section", sections, place)
    _check_sizes(sizes, place)
    for dish in dishes:
        at = place.reading.places[id(dish)]
        groups = [options[name] for name in dish.options]
        _check_dish_sizes(dish, at, groups)
        _check_said_alike(dish, at, groups)
    for group in options.values():
        users = [dish for dish in dishes if group.name in dish.options]
        _check_group_sizes(group, place.reading.places[id(group)], users)


def _check_names(kind: str, parts: Sequence[Dish | Combo | Section], menu: Place) -> None:
    seen: dict[str, Place] = {}
    for part in parts:
        at, name = menu.reading.places[id(part)], part.name
        if name.casefold() in seen:
            line = seen[name.casefold()].line("name")
            at.fault(f'there is another {kind} "{name}" in line {line}', "name")
        elif name and not fold(name):
            at.fault(f'the name "{name}" has no letter or digit that can be said', "name")
        if name:
            seen.setdefault(name.casefold(), at)


def _check_sizes(sizes: Mapping[str, Sequence[str]], place: Place) -> None:
    meant = {name.casefold(): name for name in sizes}
    for name, aliases in sizes.items():
        for at, alias in enumerate(aliases):
            other = meant.setdefault(alias.casefold(), name)
            if other != name:
                message = f'"{alias}" means both the size "{other}" and "{name}"'
                place.fault(message, "sizes", name, at)


def _check_dish_sizes(dish: Dish, place: Place, groups: Sequence[OptionGroup]) -> None:
    for group in groups:
        for choice in group.choices:
            if missing := _missing(dish.prices, choice.prices):
                message = f'"{choice.name}" of {group.name} has no price for {missing}'
                place.fault(f'{message} of "{dish.name}"', "options")
    for word, prices in dish.extra.items():
        if missing := _missing(dish.prices, prices):
            place.fault(f'extra "{word}" has no price for {missing} of "{dish.name}"', "extra")
        for size in prices:
            if size is not None:
                place.refer(size, f'size of "{dish.name}"', dish.sizes, "extra", word, size)


def _missing(sizes: Iterable[str | None], prices: Mapping[str | None, object]) -> str:
    if None in prices:
        return ""
    missing = [size for size in sizes if size not in prices]
    if missing == [None]:
        return "the one size"
    return " and ".join(f'"{size}"' for size in missing)


def _check_group_sizes(group: OptionGroup, place: Place, users: Sequence[Dish]) -> None:
    """Find prices of choices for sizes that no dish with that choice has."""
    known = {size: None for dish in users for size in dish.sizes}
    for choice in group.choices if known else ():
        for size in choice.prices:
            if size is not None and size not in known:
                hint = did_you_mean(size, known)
                place.fault(
                    f'"{choice.name}" has a price for "{size}", but no dish with {group.name}'
                    f" comes in that size{hint}",
                    *("choices", choice.name, KEY),
                )


def _check_said_alike(dish: Dish, place: Place, groups: Sequence[OptionGroup]) -> None:
    """Find choices whose name also means another choice with an amount, such as light or extra."""
    ways: dict[str, str] = {}
    for content in dish.contains:
        for word in (NO, LIGHT, EXTRA):
            ways[fold(f"{word} {content}")] = content
        ways[fold(f"{content} {ON_THE_SIDE}")] = content
    for group in groups:
        for choice in group.choices if group.amounts else ():
            for word in group.amounts:
                ways[fold(f"{word} {choice.name}")] = choice.name
            ways[fold(f"{choice.name} {ON_THE_SIDE}")] = choice.name
    for group in groups:
        for choice in group.choices:
            other = ways.get(fold(choice.name))
            if other is not None:
                place.fault(
                    f'on "{dish.name}", "{choice.name}" is a choice of its own and also a way to'
                    f' have "{other}": one of them needs another name',
                    "options",
                )
