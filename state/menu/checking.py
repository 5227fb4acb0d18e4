"""What can only be checked when a whole menu is read: names that collide, sizes that do not fit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from state.menu.faults import did_you_mean
from state.menu.form import Form, Reading
from state.menu.model import EXTRA, LIGHT, NO, ON_THE_SIDE, Combo, Dish, OptionGroup, Section
from state.menu.words import fold

_RESERVED = frozenset({NO, "half", "other half", "other", ON_THE_SIDE})


@dataclass
class Card:
    """The parts of a menu under the names by which others refer to them, and where each stood."""

    reading: Reading
    sizes: list[tuple[str, list[tuple[str, int]], int]] = field(default_factory=list)
    groups: dict[str, tuple[OptionGroup, Form]] = field(default_factory=dict)
    sections: list[tuple[Section, Form]] = field(default_factory=list)
    dishes: list[tuple[Dish, Form]] = field(default_factory=list)
    combos: list[tuple[Combo, Form]] = field(default_factory=list)

    def refer(self, name: str, line: int, kind: str, known: Iterable[str]) -> str | None:
        """Return the name as it stands where it is defined; a name of nothing is a fault."""
        names = {candidate.casefold(): candidate for candidate in known}
        if name.casefold() in names:
            return names[name.casefold()]
        self.reading.fault(line, f'there is no {kind} "{name}"{did_you_mean(name, names.values())}')
        return None


def check(card: Card) -> None:
    """Note every fault between the parts of a menu."""
    _check_names(card)
    _check_sizes(card)
    for group, form in card.groups.values():
        _check_group(group, form)
    for dish, form in card.dishes:
        groups = [card.groups[name][0] for name in dish.options]
        _check_dish_sizes(dish, form, groups)
        _check_said_alike(dish, form, groups)
    _check_group_sizes(card)


def _check_names(card: Card) -> None:
    seen: dict[str, int] = {}
    everything: list[tuple[str, Form]] = [(dish.name, form) for dish, form in card.dishes]
    everything += [(combo.name, form) for combo, form in card.combos]
    for name, form in everything:
        _check_name(name, form, seen, "dish or combo")
    seen = {}
    for section, form in card.sections:
        _check_name(section.name, form, seen, "section")


def _check_name(name: str, form: Form, seen: dict[str, int], kind: str) -> None:
    if not name:
        return
    line = form.line_of("name")
    if name.casefold() in seen:
        form.fault(line, f'there is another {kind} "{name}" in line {seen[name.casefold()]}')
    elif not fold(name):
        form.fault(line, f'the name "{name}" has no letter or digit that can be said')
    seen.setdefault(name.casefold(), line)


def _check_sizes(card: Card) -> None:
    meant = {name.casefold(): name for name, _, _ in card.sizes}
    for name, aliases, _ in card.sizes:
        for alias, line in aliases:
            other = meant.setdefault(alias.casefold(), name)
            if other != name:
                card.reading.fault(line, f'"{alias}" means both the size "{other}" and "{name}"')


def _check_group(group: OptionGroup, form: Form) -> None:
    words = form.value("amounts")
    line = words.line if words is not None else form.line
    for word in group.amounts:
        if word in _RESERVED:
            form.fault(line, f'"{word}" cannot be an amount: it has a meaning of its own')
    lines = {name: line for name, _, line in form.entries("choices")}
    named = {choice.name.casefold(): choice.name for choice in group.choices}
    for choice in group.choices:
        for alias in choice.aliases:
            other = named.setdefault(alias.casefold(), choice.name)
            if other != choice.name:
                form.fault(
                    lines[choice.name],
                    f'in {group.name}, "{alias}" means both "{other}" and "{choice.name}"',
                )


def _check_dish_sizes(dish: Dish, form: Form, groups: Sequence[OptionGroup]) -> None:
    sizes = tuple(dish.prices)
    for group in groups:
        for choice in group.choices:
            missing = _missing(sizes, choice.prices)
            if missing:
                form.fault(
                    form.line_of("options"),
                    f'"{choice.name}" of {group.name} has no price for {missing} of "{dish.name}"',
                )
    for word, prices in dish.extra.items():
        line = form.line_of("extra")
        missing = _missing(sizes, prices)
        if missing:
            form.fault(line, f'extra "{word}" has no price for {missing} of "{dish.name}"')
        for size in prices:
            if size is not None and size not in dish.prices:
                hint = did_you_mean(size, dish.sizes)
                form.fault(line, f'"{dish.name}" has no size "{size}"{hint}')


def _missing(sizes: Iterable[str | None], prices: Mapping[str | None, object]) -> str:
    if None in prices:
        return ""
    missing = [size for size in sizes if size not in prices]
    if missing == [None]:
        return "the one size"
    return " and ".join(f'"{size}"' for size in missing)


def _check_group_sizes(card: Card) -> None:
    """Find sizes that a choice has a price for and no dish with that choice comes in."""
    for group, form in card.groups.values():
        users = [dish for dish, _ in card.dishes if group.name in dish.options]
        known = {size: None for dish in users for size in dish.sizes}
        if not known:
            continue
        lines = {name: line for name, _, line in form.entries("choices")}
        for choice in group.choices:
            for size in choice.prices:
                if size is not None and size not in known:
                    hint = did_you_mean(size, known)
                    form.fault(
                        lines[choice.name],
                        f'"{choice.name}" has a price for "{size}", but no dish with'
                        f" {group.name} comes in that size{hint}",
                    )


def _check_said_alike(dish: Dish, form: Form, groups: Sequence[OptionGroup]) -> None:
    """Find a choice whose name is also what another one is called when it is light, extra or left off."""
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
                form.fault(
                    form.line_of("options"),
                    f'on "{dish.name}", "{choice.name}" is a choice of its own and also a way to'
                    f' have "{other}": one of them needs another name',
                )
