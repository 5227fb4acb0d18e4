"""The context of the order's rules: the menu, the clock, a source of ids, and what staff have set."""

from collections.abc import Callable
from datetime import datetime

from state.house import AS_USUAL, House
from state.menu import Menu


class OrderContext:
    """The same for a whole call, but for what staff set meanwhile: the rules read that when they are applied.

    Args:
        menu: The menu the order is taken from.
        now: The present time, aware, in the restaurant's zone.
        new_id: Returns a new UUID as text, for notes.
        house: Returns what staff have set.
    """

    __slots__ = ("_card", "_menu", "_sold_out", "house", "new_id", "now")

    def __init__(
        self,
        *,
        menu: Menu,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        house: Callable[[], House] = lambda: AS_USUAL,
    ) -> None:
        self._card = self._menu = menu
        self._sold_out: tuple[str, ...] = ()
        self.now = now
        self.new_id = new_id
        self.house = house

    @property
    def menu(self) -> Menu:
        """The menu, without what is sold out now."""
        sold_out = self.house().sold_out
        if sold_out != self._sold_out:
            self._menu = self._card.without(sold_out)
            self._sold_out = sold_out
        return self._menu
