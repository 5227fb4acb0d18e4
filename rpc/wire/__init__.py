"""The wire forms of the menu; those that every application has are in ``rpc.page``."""

from rpc.wire.menu import (
    ChoiceView,
    DishView,
    GetMenuRequest,
    MenuSection,
    MenuSections,
    MenuUnchanged,
    OptionView,
    PartChoice,
    SectionView,
    ServedView,
)
from state.view import (
    ChargeView,
    Display,
    FulfilmentView,
    LineAmounts,
    LineView,
    NoteView,
    OrderView,
    PartView,
)

__all__ = [
    "ChargeView",
    "ChoiceView",
    "DishView",
    "Display",
    "FulfilmentView",
    "GetMenuRequest",
    "LineAmounts",
    "LineView",
    "MenuSection",
    "MenuSections",
    "MenuUnchanged",
    "NoteView",
    "OptionView",
    "OrderView",
    "PartChoice",
    "PartView",
    "SectionView",
    "ServedView",
]
