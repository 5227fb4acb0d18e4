"""The order as the framework stores it."""

from state.order import OrderState
from state.shared.shapes import shape_of


def test_an_order_need_not_be_read_back_with_every_change() -> None:
    # A field with a validator or a float in any model of it makes each change several times slower.
    assert shape_of(OrderState).survives
