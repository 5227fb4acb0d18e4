"""Creates orders: empty, with a copy of the restaurant's rules for prices."""

from datetime import datetime

from state.menu import Menu, Restaurant
from state.order import Channel, OrderState, Terms


def open_order(
    menu: Menu, *, order_id: str, order_number: str, channel: Channel, now: datetime
) -> OrderState:
    """Create the order of a new guest.

    Args:
        menu: The menu.
        order_id: Its id; not only digits, or it could be redacted as a card number.
        order_number: Its number, short enough to be spoken.
        channel: How the guest talks to the restaurant.
        now: The present time, aware.
    """
    restaurant = menu.restaurant
    return OrderState(
        order_id=order_id,
        order_number=order_number,
        restaurant_id=restaurant.id,
        menu_version=menu.version,
        channel=channel,
        currency=restaurant.currency,
        terms=terms_of(restaurant),
        opened_at=now,
    )


def terms_of(restaurant: Restaurant) -> Terms:
    """Copy the restaurant's present rules for prices, tax and tips."""
    return Terms(
        tax_mode=restaurant.tax.mode,
        tax_rounding=restaurant.tax.rounding,
        tax_rates=restaurant.tax.rates,
        tip_base=restaurant.tip.base,
    )
