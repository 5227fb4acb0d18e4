"""Renders the menu in pages, with all that a client needs to show and order a dish."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TypeVar

from pydantic import JsonValue

from rpc.menu_forms import (
    ChoiceView,
    DishView,
    GetMenuRequest,
    HouseView,
    LeadMinutes,
    MenuSection,
    MenuSections,
    MenuUnchanged,
    OptionView,
    PartChoice,
    SectionView,
    ServedView,
    WholeMenu,
)
from rpc.page import wrong
from state.commands import AddItem, ChangeItem
from state.context import OrderContext
from state.errors import NotFound
from state.hours import is_open, next_opening
from state.menu import Combo, Dish, Menu, OptionGroup, Served
from state.menu.model import WEEKDAYS, Restaurant, price_of
from state.menu.values import Span
from state.money import Cents
from state.order import OrderState
from state.shared import Command

LARGEST_PAGE = 14_500
"""The largest reply, in bytes."""

ONLY_SIZE = "regular"
"""The name of the size of a dish with a single price; every dish accepts it."""

COMBOS = "Combos"

T = TypeVar("T")

_LARGEST_DISH = 12_000
_ROUND = 900
"""The largest size of a page without its dishes, in bytes."""


@dataclass(frozen=True)
class _Piece:
    """A section as clients see it; the combos are a section too."""

    name: str
    served: tuple[ServedView, ...]
    dishes: tuple[DishView, ...]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The serialized size of each dish, in bytes."""
        return tuple(len(dish.model_dump_json().encode()) + 1 for dish in self.dishes)


class MenuPages:
    """A menu's sections, each rendered when it is first requested."""

    def __init__(self, menu: Menu) -> None:
        self.menu = menu
        self._parts: dict[str, _Piece] = {}
        self._combos = _free_name(COMBOS, menu) if menu.combos else None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all sections in menu order, with the combos last."""
        names = tuple(section.name for section in self.menu.sections)
        return names if self._combos is None else (*names, self._combos)

    def whole(self, now: datetime, *, paused: bool = False) -> WholeMenu:
        """Return the whole menu at once, however long it is.

        Args:
            now: The present time.
            paused: Whether staff take no orders.
        """
        parts = map(self._part, self.names)
        return WholeMenu(
            menu_version=self.menu.version,
            house=house_view(self.menu.restaurant, now, paused=paused),
            sections=tuple(
                SectionView(name=part.name, served=part.served, dishes=part.dishes)
                for part in parts
            ),
        )

    def answer(
        self, request: GetMenuRequest, now: datetime, *, paused: bool = False
    ) -> MenuSections | MenuSection | MenuUnchanged:
        """Return the requested page.

        Args:
            request: The request.
            now: The present time.
            paused: Whether staff take no orders.

        Raises:
            NotFound: There is no such section; the facts list those there are.
            BadParams: The cursor is unknown or belongs to another version of the menu.
        """
        version = self.menu.version
        if request.version == version and request.cursor is None:
            return MenuUnchanged(menu_version=version)
        start = self._start(request.cursor)
        if request.section is None:
            house = house_view(self.menu.restaurant, now, paused=paused)
            sizes = [len(name.encode()) + 3 for name in self.names]
            beside = len(house.model_dump_json().encode())
            names, after = _page(self.names, start, sizes, beside)
            return MenuSections(
                menu_version=version,
                sections=tuple(names),
                house=house,
                cursor=self._cursor(after),
            )
        part = self._part(request.section)
        dishes, after = _page(part.dishes, start, part.sizes)
        return MenuSection(
            menu_version=version,
            section=SectionView(name=part.name, served=part.served, dishes=tuple(dishes)),
            cursor=self._cursor(after),
        )

    def _part(self, wanted: str) -> _Piece:
        section = self.menu.section(wanted)
        name = section.name if section is not None else self._combos
        if name is None or name.casefold() != wanted.casefold():
            raise NotFound(
                f"The menu has no section {wanted!r}. There are: {', '.join(self.names)}.",
                kind="section",
                id=wanted,
                possible=[*self.names],
            )
        part = self._parts.get(name)
        if part is None:
            part = self._parts[name] = (
                _Piece(
                    section.name,
                    _served(section.served),
                    tuple(piece for dish in section.dishes for piece in self._dish(dish)),
                )
                if section is not None
                else _Piece(name, (), tuple(map(self._combo, self.menu.combos)))
            )
        return part

    def _dish(self, dish: Dish) -> Iterator[DishView]:
        """Render a dish; split it into several pieces if its choices exceed a page."""
        shown = DishView(
            name=dish.name,
            description=dish.description,
            sizes=_of_sizes(dish, dish.prices),
            default_size=dish.implied_size if dish.sizes else ONLY_SIZE,
            with_=dish.contains,
            extra={name: _of_sizes(dish, prices) for name, prices in dish.extra.items()},
            options=tuple(_option(group, dish) for group in self.menu.groups(dish)),
            parts=(),
            allergens=dish.allergens,
            diets=dish.diets,
            minimum_age=dish.minimum_age,
            served=_served(dish.served),
            available=dish.available,
            continued=False,
        )
        if len(shown.model_dump_json().encode()) <= _LARGEST_DISH:
            yield shown
            return
        pieces = [piece for option in shown.options for piece in _pieces(option)]
        for place, options in enumerate(_packed(pieces)):
            yield shown.model_copy(update={"options": options, "continued": place > 0})

    def _combo(self, combo: Combo) -> DishView:
        names = dict.fromkeys(name for part in combo.parts for name in part.dishes)
        dishes = [dish for name in names if (dish := self.menu.dish(name)) is not None]
        allergens = dict.fromkeys(
            allergen for dish in dishes for allergen in self.menu.allergens(dish)
        )
        return DishView(
            name=combo.name,
            description=combo.description,
            sizes={ONLY_SIZE: combo.price},
            default_size=ONLY_SIZE,
            with_=(),
            extra={},
            options=(),
            parts=tuple(PartChoice(choose=part.choose, dishes=part.dishes) for part in combo.parts),
            allergens=tuple(allergens),
            diets=(),
            minimum_age=max((dish.minimum_age or 0 for dish in dishes), default=0) or None,
            served=_served(combo.served),
            available=combo.available,
            continued=False,
        )

    def _start(self, cursor: str | None) -> int:
        if cursor is None:
            return 0
        version, _, place = cursor.rpartition(".")
        if version != self.menu.version or not (place.isascii() and place.isdecimal()):
            raise wrong("cursor", "unknown", "Unknown for this menu: start again without a cursor.")
        return int(place)

    def _cursor(self, after: int | None) -> str | None:
        return None if after is None else f"{self.menu.version}.{after}"


def house_view(restaurant: Restaurant, now: datetime, *, paused: bool) -> HouseView:
    """Return the restaurant as a page shows it above its menu."""
    open_now = is_open(restaurant, now)
    opens = None if open_now else next_opening(restaurant, now)
    pickup, delivery = restaurant.pickup, restaurant.delivery
    return HouseView(
        name=restaurant.name,
        phone=restaurant.phone,
        address=restaurant.address,
        currency=restaurant.currency,
        open_now=open_now,
        paused=paused,
        opens_at=opens.isoformat() if opens is not None else None,
        hours={day: _shown(restaurant.hours[day]) for day in WEEKDAYS},
        lead_minutes=LeadMinutes(
            pickup=pickup.lead_minutes if pickup is not None else None,
            delivery=delivery.lead_minutes if delivery is not None else None,
        ),
        payment_methods=restaurant.payment,
        tips=tuple(float(percent) for percent in restaurant.tip.suggested),
        tip_base=restaurant.tip.base,
    )


def whole_menu(context: OrderContext) -> dict[str, JsonValue]:
    """Return the whole menu as JSON."""
    pages = pages_of(context.menu)
    return pages.whole(context.now(), paused=context.house().paused).model_dump(mode="json")


_rendered: list[MenuPages] = []
"""The pages of the present menu, shared by all calls of a process."""


def pages_of(menu: Menu) -> MenuPages:
    """Return the pages of a menu; those of the present one are kept."""
    pages = _rendered[0] if _rendered else None
    if pages is None or pages.menu is not menu:
        pages = MenuPages(menu)
        _rendered[:] = [pages]  # never empty again: other threads read it
    return pages


def meant(
    context: OrderContext, command: Command[OrderState, OrderContext]
) -> Command[OrderState, OrderContext]:
    """Remove the size from a command for a combo; combos have a size only in these pages."""
    if isinstance(command, AddItem | ChangeItem) and command.size == ONLY_SIZE:
        if command.name is not None and context.menu.combo(command.name) is not None:
            return command.model_copy(update={"size": None})
    return command


def _page(
    things: Sequence[T], start: int, sizes: Sequence[int], beside: int = 0
) -> tuple[list[T], int | None]:
    """Return as many items from ``start`` as fit on one page, and the start of the next page."""
    if start and start >= len(things):
        raise wrong("cursor", "unknown", "Unknown for this menu: start again without a cursor.")
    room, end = LARGEST_PAGE - _ROUND - beside, start
    while end < len(things) and (end == start or sizes[end] <= room):
        room -= sizes[end]
        end += 1
    return [*things[start:end]], end if end < len(things) else None


def _option(group: OptionGroup, dish: Dish) -> OptionView:
    return OptionView(
        name=group.name,
        min=group.least,
        max=group.most,
        default=group.default,
        counted=group.counted,
        halves=group.halves,
        amounts={word: float(factor) for word, factor in group.amounts.items()},
        choices=tuple(
            ChoiceView(
                name=choice.name,
                prices={size or ONLY_SIZE: choice.price(size) for size in dish.prices},
                allergens=choice.allergens,
                diets=choice.diets,
                available=choice.available,
            )
            for choice in group.choices
        ),
    )


def _pieces(option: OptionView) -> Iterator[OptionView]:
    """Split a group by its choices, so that it can continue on another page."""
    for choice in option.choices:
        yield option.model_copy(update={"choices": (choice,)})


def _packed(pieces: Sequence[OptionView]) -> Iterator[tuple[OptionView, ...]]:
    """Regroup choices, as many as fit on a page beside the rest of their dish."""
    packed: list[OptionView] = []
    room = _LARGEST_DISH // 2
    for piece in pieces:
        room -= len(piece.model_dump_json().encode())
        if room < 0 and packed:
            yield tuple(packed)
            packed, room = [], _LARGEST_DISH // 2
        if packed and packed[-1].name == piece.name:
            together = (*packed[-1].choices, *piece.choices)
            packed[-1] = piece.model_copy(update={"choices": together})
        else:
            packed.append(piece)
    if packed:
        yield tuple(packed)


def _of_sizes(dish: Dish, prices: Mapping[str | None, Cents]) -> dict[str, int]:
    """Return the price for each size of a dish."""
    return {size or ONLY_SIZE: price_of(prices, size) for size in dish.prices}


def _served(served: Sequence[Served]) -> tuple[ServedView, ...]:
    return tuple(ServedView(days=when.days, hours=_shown(when.spans)) for when in served)


def _shown(spans: Sequence[Span]) -> tuple[str, ...]:
    return tuple(f"{span.start:%H:%M}-{span.end:%H:%M}" for span in spans)


def _free_name(name: str, menu: Menu) -> str:
    """Return a name for the combos that no section has."""
    while menu.section(name) is not None:
        name = f"{name} for one price"
    return name
