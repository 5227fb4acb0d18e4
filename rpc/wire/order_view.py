"""The form of an order's view, as rendered by ``state.view``."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from rpc.page.forms import Iso, Shown
from state.order import Channel, Stage

Amount = Annotated[int, Field(description="Money in the currency's smallest unit.")]


class PartView(Shown):
    """One dish within a combo."""

    name: str
    size: str | None
    modifications: tuple[str, ...]


class LineView(Shown):
    """One line of the order."""

    id: Annotated[str, Field(description="Short and never reused: L1, L2, ...")]
    name: Annotated[str, Field(description="The name of the dish or combo on the menu.")]
    size: str | None
    quantity: int
    modifications: Annotated[tuple[str, ...], Field(description="In the menu's words.")]
    parts: Annotated[tuple[PartView, ...], Field(description="The parts of a combo; else empty.")]
    unit_price: Annotated[Amount, Field(description="With modifications, before discounts.")]
    line_total: Amount
    note: str | None


class ChargeView(Shown):
    """A discount or a fee; the amount is above 0."""

    code: str
    name: str
    amount: Amount


class FulfilmentView(Shown):
    """How and when the guest receives the food."""

    kind: Literal["pickup", "delivery"]
    when: Annotated[Iso | None, Field(description="null: as soon as possible.")]
    address: str | None
    ready_at: Annotated[Iso, Field(description="The estimated time at which it is ready.")]


class NoteView(Shown):
    """A note to the restaurant that belongs to no line."""

    id: str
    title: str
    content: str
    created_at: Iso
    updated_at: Iso


class LineAmounts(Shown):
    """A line's amounts as text."""

    unit_price: str
    line_total: str


class Display(Shown):
    """Every amount as text in the restaurant's currency: ``$28.47``."""

    subtotal: str
    tax: str
    tip: str
    total: str
    order_items: Annotated[Mapping[str, LineAmounts], Field(description="By the line's id.")]
    discounts: Annotated[Mapping[str, str], Field(description="By code.")]
    fees: Annotated[Mapping[str, str], Field(description="By code.")]


class OrderView(Shown):
    """The order as clients see it."""

    order_id: str
    order_number: Annotated[str, Field(description="Short enough to say aloud.")]
    restaurant_id: str
    version: Annotated[int, Field(description="0 at the start; each change adds 1.")]
    stage: Stage
    active_agent: Annotated[str | None, Field(description="The agent that is active.")]
    channel: Channel
    currency: str
    customer_name: str | None
    phone: Annotated[str | None, Field(description="E.164; empty: the guest declined to give one.")]
    email: str | None
    order_items: tuple[LineView, ...]
    item_count: int
    order_summary: str
    subtotal: Amount
    discounts: tuple[ChargeView, ...]
    fees: tuple[ChargeView, ...]
    tax: Amount
    tip: Amount
    total: Amount
    tip_percentage: int | float | None
    coupons: Annotated[tuple[str, ...], Field(description="Their codes.")]
    payment_method: Literal["cash", "card"] | None
    fulfilment: FulfilmentView | None
    notes: tuple[NoteView, ...]
    allergies: tuple[str, ...]
    feedback_rating: int | None
    feedback_comment: str | None
    person_wanted: bool
    display: Display
