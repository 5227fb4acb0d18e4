"""Builds priced order lines from a guest's words and the menu at the time the order is for.

All amounts that totals depend on are copied to the line, so that an order can be billed without its menu.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import islice

from state.allergens import held_on
from state.combos import PartWords, combo_parts
from state.errors import (
    ChoiceMissing,
    ChoiceNotPossible,
    NotOnMenu,
    NotServed,
    OrderError,
    SoldOut,
)
from state.menu import Combo, Dish, Menu, Served
from state.order import LinePart, OrderLine, TaxShare

_MOST_NEAR = 3
_MOST_SIZE_WORDS = 3


class Kitchen:
    """A menu, and the time an order is for.

    Args:
        at: Computes that time; called only for items with hours of their own.
    """

    def __init__(self, menu: Menu, at: Callable[[], datetime]) -> None:
        self.menu = menu
        self._at = at

    @cached_property
    def at(self) -> datetime:
        """The time the order is for."""
        return self._at()

    def to_be_had(self, item: Dish | Combo) -> bool:
        """Whether an item is available and served at that time."""
        return item.available and self.served(item)

    def served(self, item: Dish | Combo) -> bool:
        """Whether an item is served at that time."""
        return not windows_of(self.menu, item) or self.menu.served(item, self.at)

    def line(
        self,
        name: str,
        size: str | None = None,
        modifications: Sequence[str] = (),
        parts: Sequence[PartWords] | None = None,
    ) -> OrderLine:
        """Return one piece of the item that the words mean, as a line without an id.

        Raises:
            OrderError: It is not on the menu, not available, or needs a choice.
        """
        item, said_size = self.named(name)
        size = size or said_size
        self.refuse_unavailable(item)
        if isinstance(item, Combo):
            return self._combo(item, size, modifications, parts)
        if parts:
            raise ChoiceNotPossible(
                f"{item.name} is one dish and has no parts.",
                name=item.name,
                words=", ".join(part.name for part in parts),
                possible=[],
            )
        return self._dish(item, size, modifications)

    def named(self, words: str) -> tuple[Dish | Combo, str | None]:
        """Return the item that the words mean, and its size if the words contain it ("large cola").

        Raises:
            NotOnMenu: Nothing matches the words.
            Ambiguous: Several items match.
        """
        try:
            return self.menu.item(words), None
        except NotOnMenu:
            pieces = words.split()
            for length in range(1, min(_MOST_SIZE_WORDS, len(pieces) - 1) + 1):
                for size, rest in (
                    (pieces[:length], pieces[length:]),
                    (pieces[-length:], pieces[:-length]),
                ):
                    found = self._sized(" ".join(rest), " ".join(size))
                    if found is not None:
                        return found
            raise

    def _sized(self, name: str, size: str) -> tuple[Dish, str | None] | None:
        try:
            item = self.menu.item(name)
            return (item, self.menu.size(item, size)) if isinstance(item, Dish) else None
        except OrderError:
            return None

    def again(self, line: OrderLine) -> OrderLine:
        """Rebuild a line from the present menu, with the same id.

        Raises:
            OrderError: It is no longer possible.
        """
        parts = [PartWords(part.name, part.size, part.modifications) for part in line.parts]
        fresh = self.line(line.name, line.size, line.modifications, parts or None)
        return fresh.model_copy(
            update={"id": line.id, "quantity": line.quantity, "note": line.note}
        )

    def size_kept(self, item: Dish | Combo, size: str | None) -> str | None:
        """Return a line's old size if another dish has it too; else ``None``."""
        if size is None or isinstance(item, Combo):
            return None
        try:
            return self.menu.size(item, size)
        except OrderError:
            return None

    def words_kept(self, name: str, size: str | None, words: Sequence[str]) -> tuple[str, ...]:
        """Return the old modifications of a line that another dish or size allows too."""
        kept: list[str] = []
        for word in words:
            try:
                self.line(name, size, [*kept, word])
            except ChoiceMissing:
                pass  # it is possible; another choice is missing
            except OrderError:
                continue
            kept.append(word)
        return tuple(kept)

    def refuse_unavailable(self, item: Dish | Combo) -> None:
        """Refuse an item that is sold out, or not served at that time.

        Raises:
            SoldOut: It is sold out today.
            NotServed: It is not served at the time the order is for.
        """
        self.refuse_sold_out(item)
        self.refuse_unserved(item)

    def refuse_sold_out(self, item: Dish | Combo) -> None:
        """Refuse an item that is sold out.

        Raises:
            SoldOut: It is sold out today; the facts name what is near.
        """
        if not item.available:
            near = self._instead_of(item)
            hint = f" Instead: {', '.join(near)}." if near else ""
            raise SoldOut(f"{item.name} is sold out today.{hint}", name=item.name, near=[*near])

    def items_of(self, line: OrderLine) -> Iterator[Dish | Combo]:
        """Yield what a line is made of, as far as the menu still has it: the item itself, then its parts."""
        for name in line.names:
            item = self.menu.combo(name) or self.menu.dish(name)
            if item is not None:
                yield item

    def refuse_unserved(self, item: Dish | Combo) -> None:
        """Refuse an item that is not served at that time.

        Raises:
            NotServed: It is not served then; the facts hold its hours.
        """
        if not self.served(item):
            raise not_served(self.menu, item, self.at)

    def _dish(self, dish: Dish, size_words: str | None, modifications: Sequence[str]) -> OrderLine:
        size = self.menu.size(dish, size_words)
        chosen = self.menu.choose(dish, size, modifications)
        return OrderLine(
            id="",
            name=dish.name,
            size=size,
            quantity=1,
            chosen=chosen,
            base_price=dish.prices[size],
            taxes=self._taxes([(dish, 1)]),
            minimum_age=dish.minimum_age,
            holds=held_on(self.menu, dish.name, chosen),
        )

    def _combo(
        self,
        combo: Combo,
        size: str | None,
        modifications: Sequence[str],
        wanted: Sequence[PartWords] | None,
    ) -> OrderLine:
        if size:
            raise ChoiceNotPossible(
                f"{combo.name} has one size; the sizes of its parts can be chosen.",
                name=combo.name,
                words=size,
                group="size",
                possible=[],
            )
        parts = [self._with_size(part) for part in wanted or ()]
        taken = combo_parts(self.menu, self.to_be_had, combo, parts, modifications)
        ages = [part.dish.minimum_age for part in taken if part.dish.minimum_age is not None]
        made_of = tuple(
            LinePart(
                name=part.dish.name, size=part.size, chosen=part.chosen, surcharge=part.surcharge
            )
            for part in taken
        )
        return OrderLine(
            id="",
            name=combo.name,
            quantity=1,
            parts=made_of,
            base_price=combo.price,
            taxes=self._taxes([(part.dish, part.menu_price) for part in taken]),
            minimum_age=max(ages, default=None),
            holds=held_on(self.menu, combo.name, (), made_of),
        )

    def _with_size(self, part: PartWords) -> PartWords:
        """Split a size from a part's name ("a large Margherita")."""
        if part.size:
            return part
        try:
            item, size = self.named(part.name)
        except OrderError:
            return part
        return part if size is None else replace(part, name=item.name, size=size)

    def _taxes(self, dishes: Sequence[tuple[Dish, int]]) -> tuple[TaxShare, ...]:
        """Return the tax rates of a line, weighted by each dish's price on the menu."""
        rates = self.menu.restaurant.tax.rates
        if not rates:
            return ()
        weights: dict[str, int] = {}
        for dish, weight in dishes:
            rate = dish.tax if dish.tax is not None else next(iter(rates))
            weights[rate] = weights.get(rate, 0) + weight
        # In the menu's order of rates, so that a tie between remainders does not depend on the parts' order.
        return tuple(_tax_share(rate, weights[rate]) for rate in rates if rate in weights)

    def _instead_of(self, item: Dish | Combo) -> tuple[str, ...]:
        offered: Sequence[Dish | Combo] = self.menu.combos
        if isinstance(item, Dish):
            section = self.menu.section(item.section)
            offered = section.dishes if section is not None else ()
        near = (other.name for other in offered if self.to_be_had(other))
        return tuple(islice(near, _MOST_NEAR))


@lru_cache(maxsize=1024)
def _tax_share(rate: str, weight: int) -> TaxShare:
    """Return the same object for the same share: a state validates only objects that are new to it."""
    return TaxShare(rate=rate, weight=weight)


def windows_of(menu: Menu, item: Dish | Combo) -> tuple[Served, ...]:
    """Return the serving hours of an item and its section; empty means always."""
    section = menu.section(item.section) if isinstance(item, Dish) else None
    return (*item.served, *(section.served if section is not None else ()))


def not_served(menu: Menu, item: Dish | Combo, at: datetime) -> NotServed:
    """Make the refusal of an item that is not served at a time, with its hours."""
    local = at.astimezone(menu.restaurant.zone)
    hours = [_hours(window) for window in windows_of(menu, item)]
    return NotServed(
        f"{item.name} is not served on {local:%A at %H:%M}. It is served: {'; '.join(hours)}.",
        name=item.name,
        when=local.isoformat(),
        served=[*hours],
    )


def _hours(window: Served) -> str:
    spans = ", ".join(f"{span.start:%H:%M}-{span.end:%H:%M}" for span in window.spans)
    return f"{', '.join(window.days)} {spans}"
