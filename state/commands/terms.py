"""Commands about fulfilment, payment and tip."""

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from state.commands.base import OrderCommand, ensure, not_found
from state.context import OrderContext
from state.coupons import acceptable, coupon_of, same_code
from state.errors import NotPossible
from state.money import Cents, plain_number
from state.order import OrderState, Tip
from state.privacy.text import Line, Words
from state.ready import arranged
from state.stages import can_order
from state.tips import acceptable_tip


def _as_number(value: object) -> object:
    """Accept only a finite number: no text and no truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError("has to be a number")
    return Decimal(str(value))


Percentage = Annotated[
    Decimal,
    BeforeValidator(_as_number),
    Field(ge=0, le=100, decimal_places=2),
    PlainSerializer(plain_number, when_used="json"),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 100}),
]
Code = Annotated[Words, Field(description="The coupon's code as the guest gives it.")]


class SetFulfilment(OrderCommand):
    """Keep whether the guest picks the food up or has it brought, for when, and to where.

    What is left out stays as it was.
    """

    op: Literal["set_fulfilment"] = "set_fulfilment"
    demands_version: ClassVar[bool] = True
    touched: ClassVar[tuple[str, ...]] = ("fulfilment",)

    kind: Annotated[
        Literal["pickup", "delivery"], Field(description="How the guest gets the food.")
    ]
    when: Annotated[
        Words | None,
        Field(
            description="The time asked for, ISO 8601 in the restaurant's local time such as"
            " 2026-11-20T19:30; 'asap' for as soon as possible."
        ),
    ] = None
    address: Annotated[
        Line | None,
        Field(description="For delivery: street, number, town and postcode in one text."),
    ] = None

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Arrange it with the restaurant."""
        ensure(can_order(order))
        old = order.fulfilment
        when: Any = self.when
        if when is None and "when" not in self.model_fields_set:
            when = old.when if old is not None else None
        address = self.address
        if address is None and "address" not in self.model_fields_set and old is not None:
            address = old.address
        fulfilment = arranged(self.kind, when, address, order, context)
        return order.model_copy(update={"fulfilment": fulfilment})


class ApplyCoupon(OrderCommand):
    """Put a coupon on the order. What it takes off is computed from the menu's rules."""

    op: Literal["apply_coupon"] = "apply_coupon"
    # A coupon that cannot be combined with the present ones is refused.
    touched: ClassVar[tuple[str, ...]] = ()
    code: Code

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Add it to those that are there."""
        ensure(can_order(order))
        coupon = coupon_of(context.menu, self.code)
        if any(there.code == coupon.code for there in order.coupons):
            return order
        ensure(acceptable(coupon, order, context))
        return order.model_copy(update={"coupons": (*order.coupons, coupon)})


class RemoveCoupon(OrderCommand):
    """Take a coupon off the order."""

    op: Literal["remove_coupon"] = "remove_coupon"
    demands_version: ClassVar[bool] = True

    code: Code

    def touches(self, state: OrderState) -> tuple[str, ...]:
        """Return this coupon."""
        return (f"coupons/{_code_there(state, self.code)}",)

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Remove it."""
        ensure(can_order(order))
        code = _code_there(order, self.code)
        return order.model_copy(
            update={"coupons": tuple(there for there in order.coupons if there.code != code)}
        )


class SetTip(OrderCommand):
    """Keep the tip the guest wants to give: a percentage or an amount, one of the two; 0 is a no."""

    op: Literal["set_tip"] = "set_tip"
    demands_version: ClassVar[bool] = True
    touched: ClassVar[tuple[str, ...]] = ("tip",)

    percentage: Annotated[
        Percentage | None, Field(description="Percent, such as 15; 0 for no tip.")
    ] = None
    amount: Annotated[
        int | None,
        Field(
            strict=True,
            ge=0,
            le=10**9,
            description="An amount in the currency's smallest unit: 300 means $3.00.",
        ),
    ] = None

    @model_validator(mode="after")
    def _one_of_both(self) -> "SetTip":
        if (self.percentage is None) == (self.amount is None):
            raise ValueError("give either a percentage or an amount")
        return self

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Replace the tip, within what the restaurant takes."""
        ensure(can_order(order))
        amount = Cents(self.amount) if self.amount is not None else None
        tip = Tip(percentage=self.percentage, amount=amount)
        ensure(acceptable_tip(tip, order, context))
        return order.model_copy(update={"tip": tip})


class ChoosePayment(OrderCommand):
    """Keep how the guest will pay at handover. Never ask for a card number and never take one."""

    op: Literal["choose_payment"] = "choose_payment"
    demands_version: ClassVar[bool] = True
    touched: ClassVar[tuple[str, ...]] = ("payment",)

    method: Annotated[
        Literal["cash", "card"], Field(description="How the guest pays when they get the food.")
    ]

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Replace the method, if the restaurant takes it."""
        ensure(can_order(order))
        offered = context.menu.restaurant.payment
        if self.method not in offered:
            raise NotPossible(
                f"The restaurant does not take {self.method}. Possible: {', '.join(offered)}.",
                what="payment",
                why="not_offered",
                possible=[*offered],
            )
        return order.model_copy(update={"payment_method": self.method})


def _code_there(order: OrderState, words: str) -> str:
    for coupon in order.coupons:
        if same_code(coupon.code, words):
            return coupon.code
    not_found("coupon", words, [coupon.code for coupon in order.coupons])
