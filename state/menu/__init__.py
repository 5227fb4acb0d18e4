"""The menu: read from YAML, and matched with guests' words."""

from state.documents.faults import Fault
from state.menu.loading import MenuFaults, load_menu, menu_schema, read_menu
from state.menu.menu import Menu
from state.menu.model import (
    Choice,
    Chosen,
    Combo,
    ComboPart,
    CouponRule,
    Delivery,
    Dish,
    Hours,
    Limits,
    OptionGroup,
    Pickup,
    Portion,
    Restaurant,
    Section,
    Served,
    Suggestion,
    Tax,
    TipRule,
    Weekday,
)
from state.menu.values import Span

__all__ = [
    "Choice",
    "Chosen",
    "Combo",
    "ComboPart",
    "CouponRule",
    "Delivery",
    "Dish",
    "Fault",
    "Hours",
    "Limits",
    "Menu",
    "MenuFaults",
    "OptionGroup",
    "Pickup",
    "Portion",
    "Restaurant",
    "Section",
    "Served",
    "Span",
    "Suggestion",
    "Tax",
    "TipRule",
    "Weekday",
    "load_menu",
    "menu_schema",
    "read_menu",
]
