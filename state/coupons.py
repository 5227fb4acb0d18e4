"""Which coupons the restaurant honours, and on which orders."""

import re

from state.context import OrderContext
from state.errors import CouponNotValid
from state.menu import Menu
from state.order import Coupon, OrderState

_BETWEEN = re.compile(r"[\s\-_.]+")


def coupon_of(menu: Menu, words: str) -> Coupon:
    """Return the coupon of this code, however it was spaced or cased.

    Raises:
        CouponNotValid: The restaurant knows none of that code.
    """
    for coupon in menu.coupons.values():
        if same_code(coupon.code, words):
            return Coupon(**{name: getattr(coupon, name) for name in Coupon.model_fields})
    raise CouponNotValid(f'There is no coupon "{words}".', code=words, why="unknown")


def acceptable(coupon: Coupon, order: OrderState, context: OrderContext) -> CouponNotValid | None:
    """Whether a coupon may join an order: it still runs, and those already there agree to it.

    One whose minimum is not reached may: it takes nothing off until it is.
    """
    today = context.now().astimezone(context.menu.restaurant.zone).date()
    if coupon.until is not None and today > coupon.until:
        return CouponNotValid(
            f"{coupon.code} ran out on {coupon.until:%d %B %Y}.",
            code=coupon.code,
            why="expired",
            until=coupon.until.isoformat(),
        )
    others = [there for there in order.coupons if there.code != coupon.code]
    apart = [there.code for there in others if not (there.combinable and coupon.combinable)]
    if apart:
        return CouponNotValid(
            f"{coupon.code} does not go together with {', '.join(apart)}.",
            code=coupon.code,
            why="not_combinable",
            there=[*apart],
        )
    return None


def same_code(one: str, other: str) -> bool:
    """Whether two codes are one, however they were spaced or cased."""
    return _plain(one) == _plain(other)


def _plain(words: str) -> str:
    return _BETWEEN.sub("", words).casefold()
