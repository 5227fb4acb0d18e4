"""The menu changed while an order was away: it is brought up to date when it is taken up again."""

from typing import ClassVar, Literal

from state.allergens import held_on
from state.commands.base import OrderCommand
from state.context import OrderContext
from state.coupons import acceptable, coupon_of
from state.errors import OrderError
from state.kitchen import Kitchen
from state.menu import Menu
from state.opening import terms_of
from state.order import Fulfilment, OrderLine, OrderState, Stage, Tip
from state.pricing import price
from state.ready import arranged, order_time


class Reprice(OrderCommand):
    """Bring an order's prices, taxes, coupons and fees up to the present menu.

    What cannot be had any more drops out. An order that was confirmed keeps what was confirmed.
    """

    op: Literal["reprice"] = "reprice"
    within_limits: ClassVar[bool] = False

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Stamp everything anew; of the same menu only what an earlier release did not stamp."""
        menu = context.menu
        if order.stage not in (Stage.OPEN, Stage.REVIEW):
            return order
        if order.menu_version == menu.version:
            return _with_what_is_held(order, menu)
        house, told = menu.restaurant, price(order).total
        fulfilment = _fulfilment(order, context)
        order = order.model_copy(
            update={
                "menu_version": menu.version,
                "currency": house.currency,
                "terms": terms_of(house),
                "fulfilment": fulfilment,
                "tip": _tip(order, context),
                "payment_method": order.payment_method
                if order.payment_method in house.payment
                else None,
            }
        )
        moved = order
        kitchen = Kitchen(menu, lambda: order_time(moved, context))
        lines = tuple(
            line for old in order.order_items if (line := _line(old, kitchen)) is not None
        )
        kept = {line.id for line in lines}
        gone = tuple(line.name for line in order.order_items if line.id not in kept)
        order = _with_coupons(
            order.model_copy(update={"order_items": lines, "gone": gone}), context
        )
        # A new tax alone changes no line, but it does change what the guest was told.
        stage = order.stage if price(order).total == told else Stage.OPEN
        return order.model_copy(update={"stage": stage})


def is_stale(order: OrderState, menu: Menu) -> bool:
    """Whether something on an order was not stamped from this menu, and may still be."""
    if order.stage not in (Stage.OPEN, Stage.REVIEW):
        return False
    return order.menu_version != menu.version or any(
        line.holds is None for line in order.order_items
    )


def _with_what_is_held(order: OrderState, menu: Menu) -> OrderState:
    if not is_stale(order, menu):
        return order
    lines = tuple(
        line
        if line.holds is not None
        else line.model_copy(update={"holds": held_on(menu, line.name, line.chosen, line.parts)})
        for line in order.order_items
    )
    return order.model_copy(update={"order_items": lines})


def _line(old: OrderLine, kitchen: Kitchen) -> OrderLine | None:
    most = kitchen.menu.restaurant.limits.quantity
    try:
        fresh = kitchen.again(old)
    except OrderError:
        return None
    return fresh.model_copy(update={"quantity": min(fresh.quantity, most)})


def _fulfilment(order: OrderState, context: OrderContext) -> Fulfilment | None:
    old = order.fulfilment
    if old is None:
        return None
    bare = order.model_copy(update={"order_items": ()})
    try:
        return arranged(old.kind, old.when, old.address, bare, context)
    except OrderError:
        return None


def _tip(order: OrderState, context: OrderContext) -> Tip | None:
    tip, house = order.tip, context.menu.restaurant
    if tip is None:
        return None
    if tip.percentage is not None:
        return tip if tip.percentage <= house.tip.maximum else None
    return tip if order.currency == house.currency else None


def _with_coupons(order: OrderState, context: OrderContext) -> OrderState:
    given = order.coupons
    order = order.model_copy(update={"coupons": ()})
    for old in given:
        try:
            coupon = coupon_of(context.menu, old.code)
        except OrderError:
            continue
        if acceptable(coupon, order, context) is None:
            order = order.model_copy(update={"coupons": (*order.coupons, coupon)})
    return order
