"""The format of a conversation file."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
)

from agents.app.models.script import ScriptStep
from agents.app.setting_values import parse_time
from state.order import Stage


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Texts = Annotated[
    tuple[str, ...], BeforeValidator(_several, json_schema_input_type=str | list[str])
]
"""One text, or a list of texts."""

Time = Annotated[datetime, BeforeValidator(parse_time, json_schema_input_type=str)]
"""ISO 8601; without an offset it is the restaurant's time."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PartFields(_Part):
    """Fields of one part of a combo."""

    name: str | None = None
    size: str | None = None
    modifications: Texts = ()


class LineFields(_Part):
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


class ChargeFields(_Part):
    """Fields of a discount or a fee."""

    code: str | None = None
    name: str | None = None
    amount: int | None = None


class FulfilmentFields(_Part):
    """Fields of how and when the guest gets the food."""

    kind: Literal["pickup", "delivery"] | None = None
    when: str | None = None
    address: str | None = None
    ready_at: str | None = None


class NoteFields(_Part):
    """Fields of a note to the restaurant."""

    id: str | None = None
    title: str | None = None
    content: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


class OrderFields(_Part):
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

    @property
    def given(self) -> dict[str, Any]:
        """The fields that were given."""
        return self.model_dump(exclude_unset=True)


class Facts(_Part):
    """What must be true after a turn.

    Args:
        state: Fields of the order.
        agent: The agent that speaks at the end of the turn.
        tools: The tools used, by name and in order, transfers left out.
        said: Texts that the agents' words contain, capitals or not.
        not_said: Texts that they do not contain.
        handoff: The targets of the handoffs, in order; an empty list means none.
    """

    state: OrderFields | None = None
    agent: str | None = None
    tools: Texts | None = None
    said: Texts = ()
    not_said: Texts = ()
    handoff: Texts | None = None


class GuestTurn(Facts):
    """One turn of the guest, and what must be true after the reply."""

    user: Annotated[str, Field(min_length=1)]


def _at_least_one(turns: tuple[GuestTurn, ...]) -> tuple[GuestTurn, ...]:
    # A length constraint on the field would count only the valid turns.
    if not turns:
        raise ValueError("a conversation needs at least one turn")
    return turns


class Conversation(_Part):
    """A conversation: its start, the guest's turns, and what must be true.

    Args:
        menu: The menu's file, relative to this one; Bella Vista's own by default.
        model: ``local``, or ``script:FILE``; with a ``script`` the script is played.
        at: When it takes place; a Friday evening by default. The clock does not advance.
        order: Fields of the order to start from.
        script: The replies of the scripted model, one step each.
        greeting: What must be true before the guest's first turn.
        turns: The guest's turns.
        end: Fields of the order after the last turn.
    """

    menu: str | None = None
    model: str | None = None
    at: Time | None = None
    order: OrderFields | None = None
    script: tuple[ScriptStep, ...] = ()
    greeting: Facts = Facts()
    turns: Annotated[
        tuple[GuestTurn, ...],
        AfterValidator(_at_least_one),
        Field(json_schema_extra={"minItems": 1}),
    ]
    end: OrderFields | None = None


def conversation_schema() -> dict[str, Any]:
    """Return the JSON Schema of a conversation file."""
    schema = Conversation.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
