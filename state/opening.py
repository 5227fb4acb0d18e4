"""How an order begins: empty, with the restaurant's terms of money stamped on it."""

from datetime import datetime

from state.menu import Menu, Restaurant
from state.order import Channel, OrderState, Terms


def open_order(
    menu: Menu, *, order_id: str, order_number: str, channel: Channel, now: datetime
) -> OrderState:
    """Open an order for a guest who has just come.

    Args:
        menu: What it will be taken from.
        order_id: Its id for machines; not made of digits alone, lest it be taken for a card.
        order_number: Its number, short enough to say aloud.
        channel: How the guest talks to the restaurant.
        now: The present time, aware.
    """
    house = menu.restaurant
    return OrderState(
        order_id=order_id,
        order_number=order_number,
        restaurant_id=house.id,
        menu_version=menu.version,
        channel=channel,
        currency=house.currency,
        terms=terms_of(house),
        opened_at=now,
    )


def terms_of(house: Restaurant) -> Terms:
    """Copy the restaurant's present rules for prices, tax and tips."""
    return Terms(
        tax_mode=house.tax.mode,
        tax_rounding=house.tax.rounding,
        tax_rates=house.tax.rates,
        tip_base=house.tip.base,
    )
