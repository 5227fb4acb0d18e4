"""The menu, section by section and page by page."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from rpc.gateway import Request
from rpc.wire.values import Amount, Ask, Shown
from state.text import Words


class GetMenuRequest(Request):
    """Read the menu: the names of its sections, or one of them, page by page."""

    section: Annotated[Words | None, Field(description="The name of a section.")] = None
    cursor: Annotated[Ask | None, Field(description="As the page before gave it.")] = None
    version: Annotated[Ask | None, Field(description="The menu's version known already.")] = None


class MenuSections(Shown):
    """What there is to ask for."""

    menu_version: str
    sections: tuple[str, ...]
    cursor: Annotated[str | None, Field(description="Asks for the rest; null: this is all.")]


class ChoiceView(Shown):
    """Something that can be chosen in a group."""

    name: Annotated[str, Field(description="What to send as a modification.")]
    prices: Annotated[
        Mapping[str, Amount], Field(description="What it adds to one piece, by the dish's size.")
    ]
    allergens: tuple[str, ...]
    diets: tuple[str, ...]
    available: bool


class OptionView(Shown):
    """Choices that go together."""

    name: str
    min: Annotated[int, Field(description="How many have to be chosen.")]
    max: Annotated[int, Field(description="How many may be chosen.")]
    default: Annotated[str | None, Field(description="What is taken when nothing is said.")]
    counted: Annotated[bool, Field(description="Can be had several times: '3 espresso shots'.")]
    halves: Annotated[bool, Field(description="May lie on one half: 'half ham'.")]
    amounts: Annotated[
        Mapping[str, float],
        Field(description="Words for more or less, and what they multiply the price by."),
    ]
    choices: tuple[ChoiceView, ...]


class PartChoice(Shown):
    """One part of a combo: so many of these dishes."""

    choose: int
    dishes: tuple[str, ...]


class ServedView(Shown):
    """When something is served, local time."""

    days: tuple[str, ...]
    hours: tuple[str, ...]


class DishView(Shown):
    """A dish or a combo, with what a page needs to show and order it."""

    name: str
    description: str | None
    sizes: Annotated[
        Mapping[str, Amount],
        Field(description="The price by size. What has only one price has the one size `regular`."),
    ]
    default_size: Annotated[
        str | None, Field(description="The size taken when none is named; null: it has to be.")
    ]
    with_: Annotated[
        tuple[str, ...],
        Field(
            serialization_alias="with",
            description="Can be left off ('no basil'), made light or extra.",
        ),
    ]
    extra: Annotated[
        Mapping[str, Mapping[str, Amount]],
        Field(description="What extra of one of those costs, by size, where it costs anything."),
    ]
    options: tuple[OptionView, ...]
    parts: Annotated[tuple[PartChoice, ...], Field(description="Of a combo; else empty.")]
    allergens: Annotated[
        tuple[str, ...], Field(description="As the menu states them; a combo's: of all its dishes.")
    ]
    diets: tuple[str, ...]
    minimum_age: int | None
    served: Annotated[tuple[ServedView, ...], Field(description="Empty: whenever it is open.")]
    available: Annotated[bool, Field(description="Whether there is any of it today.")]
    continued: Annotated[
        bool, Field(description="The same dish as the one before it: only options go on.")
    ]


class SectionView(Shown):
    """A section of the menu, or a page of it."""

    name: str
    served: tuple[ServedView, ...]
    dishes: tuple[DishView, ...]


class MenuSection(Shown):
    """One page of one section."""

    menu_version: str
    section: SectionView
    cursor: Annotated[str | None, Field(description="Asks for the next page; null: this was all.")]


class MenuUnchanged(Shown):
    """The menu is the one that is known already."""

    menu_version: str
    unchanged: Literal[True] = True
