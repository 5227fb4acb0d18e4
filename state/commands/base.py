"""What every command of an order has in common: what follows from a change, and how big it may get."""

from abc import abstractmethod
from typing import Annotated, ClassVar, NoReturn

from pydantic import Field

from state.context import OrderContext
from state.errors import NotFound, OrderError, OverLimit
from state.money import shown
from state.order import OrderLine, OrderState, Stage
from state.parts import STAGE, changed_parts, note_parts, read_back_again, times_after
from state.pricing import price
from state.privacy.text import Words
from state.shared import Command
from state.view import fits_in_a_reply

Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
"""A number of pieces. The restaurant's limit is in the menu and is said as ``over_limit``."""

LineId = Annotated[Words, Field(description="The line's id as the order shows it, such as L1.")]


class OrderCommand(Command[OrderState, OrderContext]):
    """A change of an order.

    A subclass says in ``change`` what it does. From that follows here what always follows: an order that
    was read back or confirmed goes back to open when its lines, coupons or fulfilment come out different,
    and nothing grows beyond what the restaurant takes and a client can be sent.
    """

    within_limits: ClassVar[bool] = True
    """Whether it is refused when the order grows beyond the limits; a step of the kitchen never is."""

    @abstractmethod
    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Return the order as the command leaves it."""

    def apply(self, state: OrderState, context: OrderContext) -> OrderState:
        """Return the order after this change and what follows from it.

        Raises:
            OrderError: The rules do not allow it.
        """
        after = self.change(state, context)
        parts = changed_parts(state, after)
        if not parts:
            return after
        undone = after.stage is state.stage and read_back_again(parts)
        stage = Stage.OPEN if undone and _was_read(after) else after.stage
        times = times_after(state, after, parts, context.now())
        gone = after.gone if after.gone is not state.gone else ()
        if stage is not after.stage:
            parts = (*parts, STAGE)
        after = after.model_copy(update={"stage": stage, "times": times, "gone": gone})
        note_parts(state, after, parts)
        if self.within_limits:
            _refuse_too_much(state, after, context)
        return after

    def changes(self, before: OrderState, after: OrderState) -> tuple[str, ...]:
        """Name exactly the parts that came out different."""
        return changed_parts(before, after)


def ensure(refusal: OrderError | None) -> None:
    """Raise what a condition answers, if it answers anything."""
    if refusal is not None:
        raise refusal


def line_of(order: OrderState, line_id: str) -> OrderLine:
    """Return the line of this id.

    Raises:
        NotFound: There is none (any more).
    """
    line = order.line(line_id.strip().upper())
    if line is None:
        not_found("line", line_id, [line.id for line in order.order_items])
    return line


def not_found(kind: str, wanted: str, possible: list[str]) -> NoReturn:
    """Say that the order has no such thing, and which ones it has."""
    there = f"There are: {', '.join(possible)}." if possible else "There is none."
    raise NotFound(
        f"The order has no {kind} {wanted!r}. {there}", kind=kind, id=wanted, possible=[*possible]
    )


def _was_read(order: OrderState) -> bool:
    return order.stage in (Stage.REVIEW, Stage.CONFIRMED)


def _may_exceed(order: OrderState, most: int) -> bool:
    """Whether it is worth reckoning the total: no tax doubles a price."""
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
