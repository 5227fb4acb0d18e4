"""Finds the size that a guest means."""

from collections.abc import Mapping

from state.errors import ChoiceMissing, ChoiceNotPossible
from state.menu.english import EMPTY, SIZE_WORDS, USUAL_SIZE
from state.menu.matching import alike
from state.menu.model import Dish
from state.menu.words import stems

_SIZE = frozenset(stems("size sized"))
_BESIDE = EMPTY | _SIZE


def size_of(sizes: Mapping[str, tuple[str, ...]], dish: Dish, words: str | None) -> str | None:
    """Return the size of a dish that the words mean; see ``Menu.size``."""
    if words is not None and words in dish.prices:  # exactly as on the menu
        return words
    said = _core(words or "")
    if not said:
        return _unsaid(dish)
    ways = {size: _ways(size, sizes) for size in dish.sizes}
    for size, names in ways.items():
        if said == names[0]:
            return size
    for size, names in ways.items():
        if said in names:
            return size
    for standard, others in SIZE_WORDS.items():
        if standard in dish.sizes and " ".join(said) in others:
            return standard
    if " ".join(said) in USUAL_SIZE and not dish.size_needed:
        return _unsaid(dish)
    # A part of a size's name ("12" for "12 inch"), then a misspelling, if only one matches.
    for fits in (_contained, _misspelt):
        found = [size for size, names in ways.items() if any(fits(said, name) for name in names)]
        if len(found) == 1:
            return found[0]
    raise ChoiceNotPossible(
        f'{dish.name} does not come in "{words}". {_possible(dish)}',
        name=dish.name,
        words=words,
        group="size",
        possible=list(dish.sizes),
    )


def _unsaid(dish: Dish) -> str | None:
    if dish.size_needed:
        raise ChoiceMissing(
            f"{dish.name} comes in several sizes. {_possible(dish)}",
            name=dish.name,
            group="size",
            possible=list(dish.sizes),
        )
    return dish.implied_size


def _ways(size: str, sizes: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    others = next(
        (aliases for name, aliases in sizes.items() if name.casefold() == size.casefold()), ()
    )
    return [_core(name) for name in (size, *others)]


def _core(words: str) -> tuple[str, ...]:
    said = stems(words)
    kept = tuple(word for word in said if word not in _BESIDE)
    return kept or tuple(word for word in said if word not in _SIZE)


def _contained(said: tuple[str, ...], name: tuple[str, ...]) -> bool:
    return set(said) < set(name)


def _misspelt(said: tuple[str, ...], name: tuple[str, ...]) -> bool:
    numbers = [[word for word in words if word.isdigit()] for words in (said, name)]
    return numbers[0] == numbers[1] and alike("".join(said), "".join(name)) > 0


def _possible(dish: Dish) -> str:
    if not dish.sizes:
        return "It has only one size."
    return f"Possible: {', '.join(dish.sizes)}."
