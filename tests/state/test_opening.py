"""How an order begins."""

from decimal import Decimal

from state.opening import open_order
from state.order import OrderState, Terms
from tests.state.bistro import CARD, FRIDAY_AT_SEVEN, card


def test_a_new_order_is_empty_and_has_the_restaurants_terms() -> None:
    menu = card(
        CARD.replace("mode: added, rounding: per_rate", "mode: included, rounding: per_line")
        .replace("tip: {base: subtotal", "tip: {base: total")
        .replace("currency: USD", "currency: CAD")
    )

    order = open_order(
        menu, order_id="o-1", order_number="17", channel="phone", now=FRIDAY_AT_SEVEN
    )

    assert order == OrderState(
        order_id="o-1",
        order_number="17",
        restaurant_id="blue-door",
        menu_version=menu.version,
        channel="phone",
        currency="CAD",
        terms=Terms(
            tax_mode="included",
            tax_rounding="per_line",
            tax_rates={"food": Decimal("8.875"), "alcohol": Decimal(10)},
            tip_base="total",
        ),
        opened_at=FRIDAY_AT_SEVEN,
    )
