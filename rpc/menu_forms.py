"""The forms of ``get_menu``."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from rpc.gateway import Request
from rpc.page.forms import Ask, Shown
from state.privacy.text import Words
from state.view import Amount


class GetMenuRequest(Request):
    """Read the menu: the names of its sections, or one of them, page by page."""

    section: Annotated[Words | None, Field(description="The name of a section.")] = None
    cursor: Annotated[Ask | None, Field(description="From the previous page.")] = None
    version: Annotated[Ask | None, Field(description="The menu version you have.")] = None


class LeadMinutes(Shown):
    """The minutes from an order to its handover; null: not offered."""

    pickup: int | None
    delivery: int | None


class HouseView(Shown):
    """The restaurant as a page shows it above its menu."""

    name: str
    phone: Annotated[str | None, Field(description="The telephone number that guests call.")]
    address: Annotated[str | None, Field(description="Where pickups are handed over.")]
    currency: Annotated[str, Field(description="Its ISO 4217 code.")]
    open_now: bool
    paused: Annotated[bool, Field(description="Whether staff take no orders just now.")]
    opens_at: Annotated[
        str | None,
        Field(description="The next opening of a closed house: ISO 8601 with offset; else null."),
    ]
    hours: Annotated[
        Mapping[str, tuple[str, ...]],
        Field(description="The hours of each weekday in local time, as `17:30-01:00`."),
    ]
    lead_minutes: LeadMinutes
    payment_methods: Annotated[
        tuple[Literal["cash", "card"], ...],
        Field(description="What `choose_payment` accepts: how guests pay at the handover."),
    ]
    tips: Annotated[tuple[float, ...], Field(description="The percentages that are offered.")]
    tip_base: Annotated[
        Literal["subtotal", "total"],
        Field(
            description="What a tip is a percentage of: the subtotal before discounts, or the total"
            " without the tip."
        ),
    ]


class MenuSections(Shown):
    """The names of the menu's sections."""

    menu_version: str
    sections: tuple[str, ...]
    house: HouseView
    cursor: Annotated[str | None, Field(description="For the next page; null: there are no more.")]


class ChoiceView(Shown):
    """One choice in a group of options."""

    name: Annotated[str, Field(description="What to send as a modification.")]
    prices: Annotated[
        Mapping[str, Amount],
        Field(description="What it adds to the price of one, by the dish's size."),
    ]
    allergens: tuple[str, ...]
    diets: tuple[str, ...]
    available: bool


class OptionView(Shown):
    """A group of choices."""

    name: str
    min: Annotated[int, Field(description="The minimum number of choices.")]
    max: Annotated[int, Field(description="The maximum number of choices.")]
    default: Annotated[str | None, Field(description="The choice taken when none is named.")]
    counted: Annotated[
        bool, Field(description="A choice can be taken several times: '3 espresso shots'.")
    ]
    halves: Annotated[bool, Field(description="A choice can be for one half only: 'half ham'.")]
    amounts: Annotated[
        Mapping[str, float],
        Field(description="Words for amounts, with the factor each multiplies the price by."),
    ]
    choices: tuple[ChoiceView, ...]


class PartChoice(Shown):
    """One part of a combo: how many of which dishes."""

    choose: int
    dishes: tuple[str, ...]


class ServedView(Shown):
    """When something is served, in local time."""

    days: tuple[str, ...]
    hours: tuple[str, ...]


class DishView(Shown):
    """A dish or a combo: what a page needs to show and order it."""

    name: str
    description: str | None
    sizes: Annotated[
        Mapping[str, Amount],
        Field(description="The price by size. A dish with a single price has the size `regular`."),
    ]
    default_size: Annotated[
        str | None,
        Field(description="The size taken when none is named; null: a size is required."),
    ]
    with_: Annotated[
        tuple[str, ...],
        Field(
            serialization_alias="with",
            description="Can be left out ('no basil'), light or extra.",
        ),
    ]
    extra: Annotated[
        Mapping[str, Mapping[str, Amount]],
        Field(
            description="The price of an extra portion of each, by size, where it costs anything."
        ),
    ]
    options: tuple[OptionView, ...]
    parts: Annotated[tuple[PartChoice, ...], Field(description="The parts of a combo; else empty.")]
    allergens: Annotated[
        tuple[str, ...], Field(description="As stated on the menu; for a combo, of all its dishes.")
    ]
    diets: tuple[str, ...]
    minimum_age: int | None
    served: Annotated[tuple[ServedView, ...], Field(description="Empty: during all opening hours.")]
    available: Annotated[bool, Field(description="Whether it is available today.")]
    continued: Annotated[bool, Field(description="Continues the dish before it with more options.")]


class SectionView(Shown):
    """A section of the menu, or one page of it."""

    name: str
    served: tuple[ServedView, ...]
    dishes: tuple[DishView, ...]


class WholeMenu(Shown):
    """The whole menu, for a page before its call."""

    menu_version: str
    house: HouseView
    sections: tuple[SectionView, ...]


class MenuSection(Shown):
    """One page of one section."""

    menu_version: str
    section: SectionView
    cursor: Annotated[str | None, Field(description="For the next page; null: there are no more.")]


class MenuUnchanged(Shown):
    """The menu has not changed since the version sent."""

    menu_version: str
    unchanged: Literal[True] = True
