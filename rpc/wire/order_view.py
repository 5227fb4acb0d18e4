"""The form of an order's view: what ``state.view`` writes, field by field."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from rpc.wire.values import Amount, Iso, Shown
from state.order import Channel, Stage


class PartView(Shown):
    """One dish within a combo."""

    name: str
    size: str | None
    modifications: tuple[str, ...]


class LineView(Shown):
    """One line of the order."""

    id: Annotated[str, Field(description="Short, never given twice: L1, L2, ...")]
    name: Annotated[str, Field(description="The dish or combo as it stands on the menu.")]
    size: str | None
    quantity: int
    modifications: Annotated[tuple[str, ...], Field(description="In the menu's words.")]
    parts: Annotated[tuple[PartView, ...], Field(description="Of a combo, else empty.")]
    unit_price: Annotated[Amount, Field(description="With modifications, before discounts.")]
    line_total: Amount
    note: str | None


class ChargeView(Shown):
    """A discount or a fee; the amount is above 0."""

    code: str
    name: str
    amount: Amount


class FulfilmentView(Shown):
    """How and when the guest gets the food."""

    kind: Literal["pickup", "delivery"]
    when: Annotated[Iso | None, Field(description="null: as soon as possible.")]
    address: str | None
    ready_at: Annotated[Iso, Field(description="When it will be ready, as reckoned by the house.")]


class NoteView(Shown):
    """A word to the house that belongs to no line."""

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
    """Every amount once more, as text in the house's currency: ``$28.47``."""

    subtotal: str
    tax: str
    tip: str
    total: str
    order_items: Annotated[Mapping[str, LineAmounts], Field(description="By the line's id.")]
    discounts: Annotated[Mapping[str, str], Field(description="By code.")]
    fees: Annotated[Mapping[str, str], Field(description="By code.")]


class OrderView(Shown):
    """The order as everybody outside sees it."""

    order_id: str
    order_number: Annotated[str, Field(description="Short enough to say aloud.")]
    restaurant_id: str
    version: Annotated[int, Field(description="0 at the start, one more with each change.")]
    stage: Stage
    active_agent: Annotated[str | None, Field(description="The agent that speaks.")]
    channel: Channel
    currency: str
    customer_name: str | None
    phone: Annotated[str | None, Field(description="E.164; empty: the guest would rather not say.")]
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
