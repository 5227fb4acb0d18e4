"""A restaurant for the terminal's tests: the small menu, an order in memory, a scripted model."""

from datetime import datetime
from pathlib import Path

from agents.handoff import Call
from agents.testing import Clock, Ids
from bella_vista.app import APP
from state.commands import OrderCommand
from state.context import OrderContext
from state.menu import load_menu
from state.opening import open_order
from state.order import OrderState
from state.shared import SharedState

MENU = Path(__file__).parents[1] / "conversations" / "menus" / "corner-table.yaml"


def restaurant(
    *commands: OrderCommand, speaker: str | None = None
) -> Call[OrderState, OrderContext]:
    """A fresh call over an order that these commands have led to."""
    menu = load_menu(MENU)
    clock = Clock(datetime.fromisoformat("2026-11-20T19:00:00-05:00"))
    context = OrderContext(menu=menu, now=clock, new_id=Ids())
    order = open_order(
        menu, order_id="an-order", order_number="47", channel="terminal", now=clock()
    )
    for command in commands:
        order = command.apply(order, context)
    return APP.call(
        SharedState(order, context, state_id="an-order", version=len(commands), speaker=speaker)
    )
