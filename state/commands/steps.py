"""Commands that move an order on: the guest's, until it is placed, then the kitchen's."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from state.commands.base import HouseCommand, OrderCommand, ensure
from state.context import OrderContext
from state.errors import NotValid
from state.order import OrderState, Stage
from state.order_parts import PERSON
from state.privacy.text import Line, Words
from state.ready import moment_of, placed_in_time, read_in_time, refuse_paused, refuse_sold_out
from state.stages import (
    can_cancel,
    can_confirm,
    can_place,
    can_read_back,
    can_reopen,
    may_follow,
)
from state.tips import acceptable_tip


class ReadBack(HouseCommand):
    """Read the whole order back: call this when the guest is done, and say what it answers.

    Say every line, the total, and when it will be ready; then ask whether all of it is right.
    """

    op: Literal["read_back"] = "read_back"
    within_limits: ClassVar[bool] = False
    touched: ClassVar[tuple[str, ...]] = ("lines", "fulfilment", "coupons")

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Set the promised time and the stage ``review``."""
        ensure(can_read_back(order))
        # The tip may have been within the limit of an earlier subtotal.
        ensure(acceptable_tip(order.tip, order, context))
        fulfilment = read_in_time(order, context)
        return order.model_copy(update={"stage": Stage.REVIEW, "fulfilment": fulfilment})


class ConfirmOrder(OrderCommand):
    """Keep the guest's yes to the order as it was just read back. Never call it without that yes."""

    op: Literal["confirm_order"] = "confirm_order"
    demands_version: ClassVar[bool] = True
    within_limits: ClassVar[bool] = False
    touched: ClassVar[tuple[str, ...]] = ("lines", "fulfilment", "coupons", "stage")

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Set the stage ``confirmed``."""
        ensure(can_confirm(order))
        return order.model_copy(update={"stage": Stage.CONFIRMED})


class PlaceOrder(HouseCommand):
    """Send the confirmed order to the kitchen, once it is known how the guest pays.

    Say the number of the order and when it will be ready.
    """

    op: Literal["place_order"] = "place_order"
    demands_version: ClassVar[bool] = True
    within_limits: ClassVar[bool] = False
    # All parts of the total: the writer has to have seen them.
    touched: ClassVar[tuple[str, ...]] = ("lines", "fulfilment", "coupons", "tip")

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Set the promised time and the stage ``placed``; a repeat changes nothing."""
        ensure(can_place(order))
        if order.stage is Stage.PLACED:
            return order
        refuse_paused(context)
        refuse_sold_out(order, context)
        fulfilment = placed_in_time(order, context)
        return order.model_copy(update={"stage": Stage.PLACED, "fulfilment": fulfilment})


class ReopenOrder(OrderCommand):
    """Take the order up again after it was read back or confirmed, because the guest wants a change."""

    op: Literal["reopen_order"] = "reopen_order"
    demands_version: ClassVar[bool] = True
    within_limits: ClassVar[bool] = False
    touched: ClassVar[tuple[str, ...]] = ("stage",)

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Set the stage ``open``."""
        ensure(can_reopen(order))
        return order.model_copy(update={"stage": Stage.OPEN})


class CancelOrder(OrderCommand):
    """Call the whole order off, because the guest wants nothing any more. Ask before you do."""

    op: Literal["cancel_order"] = "cancel_order"
    demands_version: ClassVar[bool] = True
    within_limits: ClassVar[bool] = False
    touched: ClassVar[tuple[str, ...]] = ("lines", "fulfilment", "stage")

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Set the stage ``cancelled``; the lines are kept."""
        ensure(can_cancel(order))
        return order.model_copy(update={"stage": Stage.CANCELLED})


class _StaffStep(OrderCommand):
    """A step that the restaurant takes."""

    within_limits: ClassVar[bool] = False
    touched: ClassVar[tuple[str, ...]] = ("stage",)
    to: ClassVar[Stage]

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Set the next stage."""
        ensure(may_follow(order, self.to))
        return order.model_copy(update={"stage": self.to})


class AcceptOrder(_StaffStep):
    """The kitchen takes the order, and may say when it will be ready."""

    op: Literal["accept_order"] = "accept_order"
    to: ClassVar[Stage] = Stage.ACCEPTED

    ready_at: Annotated[
        Words | None,
        Field(
            description="When it will be ready, ISO 8601 in the restaurant's local time, if it differs"
            " from what was promised."
        ),
    ] = None

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Accept it, with the kitchen's own time if there is one."""
        order = super().change(order, context)
        if self.ready_at is None or order.fulfilment is None:
            return order
        ready_at = moment_of(self.ready_at, context.menu.restaurant, "ready_at")
        if ready_at is None or ready_at < context.now():
            raise NotValid("Say a time that is still to come.", field="ready_at", why="past")
        fulfilment = order.fulfilment.model_copy(update={"ready_at": ready_at})
        return order.model_copy(update={"fulfilment": fulfilment})


class StartPreparing(_StaffStep):
    """The kitchen begins."""

    op: Literal["start_preparing"] = "start_preparing"
    to: ClassVar[Stage] = Stage.PREPARING


class MarkReady(_StaffStep):
    """The food is ready to be fetched or brought."""

    op: Literal["mark_ready"] = "mark_ready"
    to: ClassVar[Stage] = Stage.READY


class CompleteOrder(_StaffStep):
    """The guest has the food."""

    op: Literal["complete_order"] = "complete_order"
    to: ClassVar[Stage] = Stage.COMPLETED


class MarkAnswered(OrderCommand):
    """Staff have answered a guest who wanted a person."""

    op: Literal["mark_answered"] = "mark_answered"
    within_limits: ClassVar[bool] = False
    touched: ClassVar[tuple[str, ...]] = (PERSON,)

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Clear the flag that staff see; a repeat changes nothing."""
        return order.model_copy(update={"person_wanted": False, "person_reason": None})


class RefuseOrder(_StaffStep):
    """The restaurant cannot make the order after all."""

    op: Literal["refuse_order"] = "refuse_order"
    to: ClassVar[Stage] = Stage.FAILED

    reason: Annotated[Line, Field(description="Why, as the guest may be told.", min_length=1)]

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Set the stage ``failed``, and store the reason."""
        order = super().change(order, context)
        return order.model_copy(update={"ended_reason": self.reason})
