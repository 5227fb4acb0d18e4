"""The base of an order's commands: the consequences of a change, and the limits of an order."""

from abc import abstractmethod
from typing import Annotated, ClassVar, NoReturn

from pydantic import Field

from state.context import OrderContext
from state.errors import NotFound, OrderError, OverLimit
from state.money import shown
from state.order import OrderLine, OrderState, Stage
from state.order_parts import STAGE, changed_parts, note_parts, read_back_again, times_after
from state.pricing import price
from state.privacy.text import Words
from state.shared import WHOLE, Command
from state.view import fits_in_a_reply

Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
"""A number of pieces. The restaurant's own limit is in the menu; exceeding it raises ``OverLimit``."""

LineId = Annotated[Words, Field(description="The line's id as the order shows it, such as L1.")]


class OrderCommand(Command[OrderState, OrderContext]):
    """A change of an order.

    A subclass implements ``change``; the consequences of every change are added here. An order that was read
    back or confirmed is reopened if its lines, coupons or fulfilment have changed, and an order cannot exceed
    the restaurant's limits or the size of a reply to a client.
    """

    within_limits: ClassVar[bool] = True
    """Whether the limits apply; they do not apply to the kitchen's steps."""
    touched: ClassVar[tuple[str, ...]] = (WHOLE,)
    """The parts that it changes or relies on, if that does not depend on the order; none if it never conflicts."""

    @abstractmethod
    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Return the order with this change, without its consequences."""

    def apply(self, state: OrderState, context: OrderContext) -> OrderState:
        """Return the order after this change and its consequences.

        Raises:
            OrderError: The rules do not allow it.
        """
        after = self.change(state, context)
        parts = changed_parts(state, after)
        if not parts:
            return after
        undone = after.stage is state.stage and read_back_again(parts)
        stage = Stage.OPEN if undone and _was_read(after) else after.stage
        times = times_after(state, after, stage, parts, context.now())
        gone = after.gone if after.gone is not state.gone else ()
        if stage is not after.stage:
            parts = (*parts, STAGE)
        after = after.model_copy(update={"stage": stage, "times": times, "gone": gone})
        note_parts(state, after, parts)
        if self.within_limits:
            _refuse_too_much(state, after, context)
        return after

    def touches(self, state: OrderState) -> tuple[str, ...]:
        """Name the parts that it changes or relies on."""
        return self.touched

    def changes(self, before: OrderState, after: OrderState) -> tuple[str, ...]:
        """Name exactly the parts that have changed."""
        return changed_parts(before, after)


class HouseCommand(OrderCommand):
    """A change that depends on what staff set while calls run."""

    async def prepare(self, context: OrderContext) -> None:
        """Read again what staff have set."""
        await context.refresh()


def ensure(refusal: OrderError | None) -> None:
    """Raise the error of a condition that does not hold."""
    if refusal is not None:
        raise refusal


def line_of(order: OrderState, line_id: str) -> OrderLine:
    """Return the line with this id.

    Raises:
        NotFound: The order has no such line, or no longer.
    """
    line = order.line(line_id.strip().upper())
    if line is None:
        not_found("line", line_id, [line.id for line in order.order_items])
    return line


def not_found(kind: str, wanted: str, possible: list[str]) -> NoReturn:
    """Raise ``NotFound`` with the ids that the order has."""
    there = f"There are: {', '.join(possible)}." if possible else "There is none."
    raise NotFound(
        f"The order has no {kind} {wanted!r}. {there}", kind=kind, id=wanted, possible=[*possible]
    )


def _was_read(order: OrderState) -> bool:
    return order.stage in (Stage.REVIEW, Stage.CONFIRMED)


def _may_exceed(order: OrderState, most: int) -> bool:
    """Whether the total may exceed the limit, by a quick upper bound: no tax doubles a price."""
    fee = order.fulfilment.fee if order.fulfilment is not None else 0
    return 2 * sum([line.unit_price * line.quantity for line in order.order_items]) + fee > most


def _refuse_too_much(before: OrderState, after: OrderState, context: OrderContext) -> None:
    most = context.menu.restaurant.limits.total
    grows = before.order_items is not after.order_items or before.coupons is not after.coupons
    if most is not None and grows and _may_exceed(after, most):
        total = price(after).before_tip
        if total > most and total > price(before).before_tip:
            raise OverLimit(
                f"Orders above {shown(most, after.currency)} need a person; this would come to"
                f" {shown(total, after.currency)}.",
                what="total",
                limit=most,
                asked=total,
            )
    if not fits_in_a_reply(after) and fits_in_a_reply(before):
        raise OverLimit(
            "There is no room for more on this order. A person can take the rest.", what="order"
        )
