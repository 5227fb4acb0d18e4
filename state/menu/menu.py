"""The whole menu as one value, and what can be asked of it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Annotated, Self

from pydantic import Field

from state.menu.checking import check
from state.menu.choosing import Chooser, allergens_of
from state.menu.finding import Finder
from state.menu.form import Needed, NotWritten, Part, Place
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


class Menu(Part):
    """A restaurant's card: what can be had, in which sizes and ways, at what price.

    Args:
        version: A short hash of the content: another one means that something else is offered.
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
        default=(), description="What is offered once, after something else."
    )

    def _checked(self, place: Place) -> Self:
        check(self, place)
        return self

    @cached_property
    def dishes(self) -> tuple[Dish, ...]:
        """All dishes, as listed."""
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
        """Return the dish of this name on the menu, in any case."""
        return self._dishes_by_name.get(name.casefold())

    def combo(self, name: str) -> Combo | None:
        """Return the combo of this name on the menu, in any case."""
        return self._combos_by_name.get(name.casefold())

    def section(self, name: str) -> Section | None:
        """Return the section of this name on the menu, in any case."""
        return self._sections_by_name.get(name.casefold())

    def item(self, words: str) -> Dish | Combo:
        """Return the dish or combo that a guest means by its name or an alias.

        Case, accents, punctuation, number and small slips do not matter. A name goes before an alias; the
        words of a section that are also a dish's alias mean that dish.

        Raises:
            NotOnMenu: Nothing answers to these words; facts say what comes near.
            Ambiguous: Several do; facts say which.
        """
        return self._finder.item(words)

    def find(self, words: str, limit: int = 5) -> tuple[Dish | Combo | Section, ...]:
        """Search names, sections, diets, what is in a dish and its description, the closest first."""
        return self._finder.search(words, limit)

    def groups(self, dish: Dish) -> tuple[OptionGroup, ...]:
        """Return the dish's groups of choices, in the order they are asked."""
        return tuple(self.options[name] for name in dish.options)

    def size(self, dish: Dish, words: str | None) -> str | None:
        """Return the size that a guest means, or the one meant when nothing is said.

        ``None`` only for a dish that has no sizes.

        Raises:
            ChoiceMissing: It comes in several, and none was named.
            ChoiceNotPossible: It does not come in that size.
        """
        return size_of(self.sizes, dish, words)

    def choose(self, dish: Dish, size: str | None, words: Sequence[str]) -> tuple[Chosen, ...]:
        """Return what a guest's modifications mean on this dish, priced, in the menu's order.

        What is in the dish comes first, then the groups as listed; what is as usual is left out. The words
        of the result mean the same when they are put in again.

        Raises:
            ChoiceMissing: Something has to be chosen and was not, and nothing is the default.
            ChoiceNotPossible: The dish cannot be had that way; facts say what is possible.
            Ambiguous: The words fit several choices.
            SoldOut: The choice is not to be had today.
        """
        chooser = self._choosers.get(dish.name)
        if chooser is None:
            chooser = self._choosers[dish.name] = Chooser(dish, self.groups(dish))
        return chooser.choose(self.size(dish, size), words)

    def allergens(self, dish: Dish, chosen: Sequence[Chosen] = ()) -> tuple[str, ...]:
        """Name the allergens that the menu states for a dish as chosen.

        Leaving something off takes none away: the menu does not say where an allergen comes from.
        """
        return allergens_of(dish, self.groups(dish), chosen)

    def served(self, item: Dish | Combo, at: datetime) -> bool:
        """Whether the card offers it at this time; the restaurant's own hours are another question."""
        zone = self.restaurant.zone
        if isinstance(item, Combo):
            return within(item.served, at, zone)
        section = self.section(item.section)
        return within(item.served, at, zone) and (
            section is None or within(section.served, at, zone)
        )
