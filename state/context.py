"""The context of the order's rules: the menu, the clock, a source of ids, and the settings of staff."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from state.house import AS_USUAL, House
from state.menu import Menu


async def _nothing_to_read() -> None:
    """Do nothing: staff have no settings here."""


class OrderContext:
    """The context of a whole call. Only the settings of staff may change: rules read the present ones.

    Args:
        menu: The menu the order is taken from.
        now: The present time, aware, in the restaurant's zone.
        new_id: Returns a new UUID as text, for notes.
        house: Returns the settings of staff.
        refresh: Reads the settings of staff again.
    """

    __slots__ = ("_card", "_served", "house", "new_id", "now", "refresh")

    def __init__(
        self,
        *,
        menu: Menu,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        house: Callable[[], House] = lambda: AS_USUAL,
        refresh: Callable[[], Awaitable[None]] = _nothing_to_read,
    ) -> None:
        self._card = menu
        self._served: tuple[tuple[str, ...], Menu] = ((), menu)
        self.now = now
        self.new_id = new_id
        self.house = house
        self.refresh = refresh

    @property
    def menu(self) -> Menu:
        """The menu, without what is sold out now; may be read in several threads."""
        sold_out = self.house().sold_out
        known, menu = self._served
        if sold_out != known:
            menu = self._card.without(sold_out)
            self._served = (sold_out, menu)  # one assignment: other threads read both or neither
        return menu
