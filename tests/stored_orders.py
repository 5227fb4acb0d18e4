"""The restaurant's stored orders, as tests start, resume and read them."""

from typing import Any

from pydantic import JsonValue

from agents.app import states
from agents.app.parts import Channel, ListedState
from agents.app.states import StateFaults
from bella_vista.app import APP
from state.context import OrderContext
from state.order import OrderState
from state.shared import SharedState, SqlStore

__all__ = [
    "StateFaults",
    "list_orders",
    "new_order",
    "open_store",
    "resume_order",
    "show_order",
]


def open_store(url: str, restaurant_id: str | None, *, create: bool = True) -> SqlStore:
    """Create a store of orders."""
    return states.open_store(APP, url, restaurant_id, create=create)


async def new_order(
    store: SqlStore, context: OrderContext, channel: Channel
) -> SharedState[OrderState, OrderContext]:
    """Start an order."""
    return await states.new_state(APP, store, context, channel)


async def resume_order(
    store: SqlStore, context: OrderContext, order_id: str
) -> SharedState[OrderState, OrderContext]:
    """Resume an order."""
    return await states.resume_state(APP, store, context, order_id)


async def list_orders(store: SqlStore, limit: int) -> list[ListedState[OrderState]]:
    """List orders."""
    return await states.list_states(APP, store, limit)


async def show_order(store: SqlStore, order_id: str) -> tuple[OrderState, dict[str, Any]]:
    """Read an order and its view."""
    order, view = await states.show_state(APP, store, order_id)
    seen: dict[str, JsonValue] = dict(view)
    return order, seen
