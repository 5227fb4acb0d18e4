"""Bella Vista's call on a Friday evening at seven, with a fixed clock and ids."""

from datetime import datetime
from functools import cache
from pathlib import Path

from agents.handoff import Call
from agents.testing import Clock, Ids
from bella_vista.app import APP
from state.context import OrderContext
from state.menu import Menu, load_menu
from state.opening import open_order
from state.order import OrderState
from state.shared import Journal, SharedState

FRIDAY_AT_SEVEN = datetime.fromisoformat("2026-11-20T19:00:00-05:00")


@cache
def bella_vista() -> Menu:
    return load_menu(Path(__file__).parents[2] / "bella_vista" / "menu.yaml")


def restaurant(
    *, menu: Menu | None = None, at: datetime = FRIDAY_AT_SEVEN, journal: Journal | None = None
) -> Call[OrderState, OrderContext]:
    """A fresh call."""
    card = menu or bella_vista()
    clock = Clock(at.astimezone(card.restaurant.zone))
    order = open_order(card, order_id="test", order_number="101", channel="terminal", now=clock())
    context = OrderContext(menu=card, now=clock, new_id=Ids())
    return APP.call(SharedState(order, context, state_id=order.order_id, journal=journal))
