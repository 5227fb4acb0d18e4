"""The whole menu as one value, and the queries on it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from hashlib import blake2b
from typing import Annotated, Self

from pydantic import Field

from state.menu.checking import check
from state.menu.choosing import Chooser, allergens_of, taken_of
from state.menu.finding import Finder
from state.menu.form import MenuPart, Needed, NotWritten, Place
from state.menu.model import (
    Chosen,
    Combo,
    CouponRule,
    Dish,
    OptionGroup,
    Restaurant,
    Section,
    Suggestion,
)
from state.menu.serving import within
from state.menu.sizes import size_of
from state.menu.values import BY_NAME, Phrase, Phrases, named
from state.menu.words import stems


class Menu(MenuPart):
    """A restaurant's card: what can be had, in which sizes and ways, at what price.

    Args:
        version: A short hash of the content; it changes with every change of the menu.
    """

    called = "the menu"

    version: NotWritten[str] = ""
    restaurant: Needed[Restaurant] = Field(default=Restaurant(), description="The restaurant.")
    sizes: Annotated[dict[Phrase, Phrases], BY_NAME] = Field(
        default={}, description="Other words for the sizes."
    )
    coupons: Annotated[dict[str, CouponRule], named("code")] = Field(
        default={}, description="What coupons take off."
    )
    options: Annotated[dict[str, OptionGroup], named("name")] = Field(
        default={}, description="Groups of choices, shared by dishes."
    )
    sections: Needed[Annotated[tuple[Section, ...], Field(min_length=1)]] = Field(
        default=(), description="The headings of the card, in order."
    )
    combos: tuple[Combo, ...] = Field(default=(), description="Several dishes for one price.")
    suggestions: tuple[Suggestion, ...] = Field(
        default=(), description="The offers that are made once, after something else."
    )

    def _checked(self, place: Place) -> Self:
        check(self.sections, self.combos, self.sizes, self.options, place)
        return self

    def without(self, sold_out: Collection[str]) -> "Menu":
        """Return this menu with some of its dishes and combos sold out, under a version of its own.

        Args:
            sold_out: Their names as on the menu; others are left out.
        """
        if not sold_out:
            return self
        names = frozenset(sold_out)
        gone = {"available": False}
        sections = tuple(
            section.model_copy(
                update={
                    "dishes": tuple(
                        dish.model_copy(update=gone) if dish.name in names else dish
                        for dish in section.dishes
                    )
                }
            )
            for section in self.sections
        )
        combos = tuple(
            combo.model_copy(update=gone) if combo.name in names else combo for combo in self.combos
        )
        said = "\0".join((self.version, *sorted(names)))
        version = blake2b(said.encode(), digest_size=6).hexdigest()
        # A copy would keep what was computed from the other dishes.
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        fields |= {"version": version, "sections": sections, "combos": combos}
        return type(self).model_construct(**fields)

    @cached_property
    def dishes(self) -> tuple[Dish, ...]:
        """All dishes, in the menu's order."""
        return tuple(dish for section in self.sections for dish in section.dishes)

    @cached_property
    def _dishes_by_name(self) -> Mapping[str, Dish]:
        return {dish.name.casefold(): dish for dish in self.dishes}

    @cached_property
    def _combos_by_name(self) -> Mapping[str, Combo]:
        return {combo.name.casefold(): combo for combo in self.combos}

    @cached_property
    def _sections_by_name(self) -> Mapping[str, Section]:
        return {section.name.casefold(): section for section in self.sections}

    @cached_property
    def _finder(self) -> Finder:
        return Finder(self.sections, self.combos)

    @cached_property
    def _choosers(self) -> dict[str, Chooser]:
        return {}

    def dish(self, name: str) -> Dish | None:
        """Return the dish with this name; case does not matter."""
        return self._dishes_by_name.get(name.casefold())

    def combo(self, name: str) -> Combo | None:
        """Return the combo with this name; case does not matter."""
        return self._combos_by_name.get(name.casefold())

    def section(self, name: str) -> Section | None:
        """Return the section with this name; case does not matter."""
        return self._sections_by_name.get(name.casefold())

    def item(self, words: str) -> Dish | Combo:
        """Return the dish or combo that a guest means by its name or an alias.

        Case, accents, punctuation, number and small misspellings do not matter. Names take
        precedence over aliases, and a dish's aliases over section names.

        Raises:
            NotOnMenu: Nothing matches; the facts list similar names.
            Ambiguous: Several items match; the facts list them.
        """
        return self._finder.item(words)

    def find(self, words: str, limit: int = 5) -> tuple[Dish | Combo | Section, ...]:
        """Search names, sections, diets, contents and descriptions; best matches first."""
        return self._finder.search(words, limit)

    @cached_property
    def _choices_called(self) -> Mapping[tuple[str, ...], tuple[str, ...]]:
        called: dict[tuple[str, ...], tuple[str, ...]] = {}
        for group in self.options.values():
            for choice in group.choices:
                key = stems(choice.name)
                kind = (group.name, *group.aliases) if len(group.choices) == 1 else ()
                called[key] = (*called.get(key, ()), *choice.aliases, *kind)
        return called

    def also_called(self, dish: Dish) -> Mapping[str, tuple[str, ...]]:
        """Return other names for a dish's contents: those of a choice that is called the same.

        A group of one choice names it, too: "whip" is the whipped cream.
        """
        return {name: self._choices_called.get(stems(name), ()) for name in dish.contains}

    def groups(self, dish: Dish) -> tuple[OptionGroup, ...]:
        """Return the dish's groups of choices, in the order in which they are asked for."""
        return tuple(self.options[name] for name in dish.options)

    def size(self, dish: Dish, words: str | None) -> str | None:
        """Return the size that a guest means, or the default one.

        ``None`` only for a dish without sizes.

        Raises:
            ChoiceMissing: The dish has several sizes without a default, and none was named.
            ChoiceNotPossible: The dish does not have that size.
        """
        return size_of(self.sizes, dish, words)

    def choose(self, dish: Dish, size: str | None, words: Sequence[str]) -> tuple[Chosen, ...]:
        """Return the modifications of this dish that a guest's words mean, priced, in the menu's order.

        Contents of the dish come first, then the groups as listed; defaults are left out. The
        ``words`` of the result are valid input with the same meaning.

        Raises:
            ChoiceMissing: A required choice is missing and has no default.
            ChoiceNotPossible: The dish does not allow it; the facts list the possible choices.
            Ambiguous: The words match several choices.
            SoldOut: The choice is sold out today.
        """
        chooser = self._choosers.get(dish.name)
        if chooser is None:
            chooser = self._choosers[dish.name] = Chooser(
                dish, self.groups(dish), self.also_called(dish)
            )
        return chooser.choose(self.size(dish, size), words)

    def allergens(self, dish: Dish, chosen: Sequence[Chosen] = ()) -> tuple[str, ...]:
        """Return the allergens that the menu states for a dish with these choices.

        Leaving a content off removes none: the menu does not say where an allergen comes from.
        """
        return allergens_of(dish, taken_of(self.groups(dish), chosen))

    def served(self, item: Dish | Combo, at: datetime) -> bool:
        """Whether an item is served at this time by its own hours; the opening hours are not checked."""
        zone = self.restaurant.zone
        if isinstance(item, Combo):
            return within(item.served, at, zone)
        section = self.section(item.section)
        return within(item.served, at, zone) and (
            section is None or within(section.served, at, zone)
        )
