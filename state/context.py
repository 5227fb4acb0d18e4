"""The context of the order's rules: the menu, the clock, a source of ids."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from state.menu import Menu


@dataclass(frozen=True, slots=True)
class OrderContext:
    """The same for a whole call.

    Args:
        menu: The menu the order is taken from.
        now: The present time, aware, in the restaurant's zone.
        new_id: Returns a new UUID as text, for notes.
    """

    menu: Menu
    now: Callable[[], datetime]
    new_id: Callable[[], str]
