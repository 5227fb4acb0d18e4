"""The fields of an order in conversation files: those of its view, each of which may be left out."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field

from agents.app.replay.form import Fields, Part, Texts
from state.order import Stage


class PartFields(Part):
    """Fields of one part of a combo."""

    name: str | None = None
    size: str | None = None
    modifications: Texts = ()


class LineFields(Part):
    """Fields of one line of the order."""

    id: str | None = None
    name: str | None = None
    size: str | None = None
    quantity: int | None = None
    modifications: Texts = ()
    parts: tuple[PartFields, ...] = ()
    unit_price: int | None = None
    line_total: int | None = None
    note: str | None = None
    allergens_met: Texts = ()


class ChargeFields(Part):
    """Fields of a discount or a fee."""

    code: str | None = None
    name: str | None = None
    amount: int | None = None


class FulfilmentFields(Part):
    """Fields of how and when the guest gets the food."""

    kind: Literal["pickup", "delivery"] | None = None
    when: str | None = None
    address: str | None = None
    ready_at: str | None = None


class NoteFields(Part):
    """Fields of a note to the restaurant."""

    id: str | None = None
    title: str | None = None
    content: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


class OrderFields(Fields):
    """Fields of an order as the view shows it; only given fields are compared.

    Money is whole minor units. Lists have to be complete, in any order; of their members only
    given fields are compared. ``null`` means "not known yet".
    """

    order_id: str | None = None
    order_number: str | None = None
    restaurant_id: str | None = None
    version: int | None = None
    stage: Stage | None = None
    active_agent: str | None = None
    channel: Literal["terminal", "phone", "web_voice", "web_text"] | None = None
    currency: str | None = None
    customer_name: str | None = None
    phone: str | None = None
    email: str | None = None
    order_items: tuple[LineFields, ...] = ()
    item_count: int | None = None
    order_summary: str | None = None
    subtotal: int | None = None
    discounts: tuple[ChargeFields, ...] = ()
    fees: tuple[ChargeFields, ...] = ()
    tax: int | None = None
    tip: int | None = None
    total: int | None = None
    tip_percentage: Decimal | None = None
    coupons: Texts = ()
    payment_method: Literal["cash", "card"] | None = None
    fulfilment: FulfilmentFields | None = None
    notes: tuple[NoteFields, ...] = ()
    allergies: Texts = ()
    feedback_rating: int | None = None
    feedback_comment: str | None = None
    person_wanted: bool | None = None
    display: Mapping[str, Any] = Field(default_factory=dict)
