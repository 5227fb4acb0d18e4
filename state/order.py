"""The order: read by agents, pages and the kitchen, changed only by commands.

All models are frozen. Totals are not stored: ``pricing`` computes them, and ``view`` renders the order. Prices,
tax rates and coupon rules are copied from the menu when a command adds them, so that an order can be billed
without its menu.
"""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

from state.menu.model import Chosen
from state.money import Cents

Channel = Literal["terminal", "phone", "web_voice", "web_text"]
"""How the guest talks to the restaurant."""


class Stage(StrEnum):
    """The stage of an order; ``stages`` has the allowed transitions."""

    OPEN = "open"
    REVIEW = "review"
    CONFIRMED = "confirmed"
    PLACED = "placed"
    ACCEPTED = "accepted"
    PREPARING = "preparing"
    READY = "ready"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TaxShare(_Part):
    """The part of a line that is taxed at one rate; weights are relative."""

    rate: str
    weight: int


class LinePart(_Part):
    """One dish within a combo, with its surcharge on the combo's price."""

    name: str
    size: str | None = None
    chosen: tuple[Chosen, ...] = ()
    surcharge: Cents = Cents(0)

    @property
    def modifications(self) -> tuple[str, ...]:
        """The modifications of this part, in the menu's words."""
        return tuple(chosen.words for chosen in self.chosen)


class OrderLine(_Part):
    """One dish or combo on the order, ``quantity`` times.

    Args:
        holds: Its contents and allergens, in the menu's words; ``None`` on lines of earlier releases.
    """

    id: str
    name: str
    size: str | None = None
    quantity: int
    chosen: tuple[Chosen, ...] = ()
    parts: tuple[LinePart, ...] = ()
    note: str | None = None
    base_price: Cents
    taxes: tuple[TaxShare, ...] = ()
    minimum_age: int | None = None
    holds: tuple[str, ...] | None = None

    @property
    def modifications(self) -> tuple[str, ...]:
        """Its modifications, in the menu's words."""
        return tuple(chosen.words for chosen in self.chosen)

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, and those of its parts."""
        return (self.name, *(part.name for part in self.parts))

    @property
    def unit_price(self) -> Cents:
        """The price of one piece with modifications and surcharges, before discounts."""
        price: int = self.base_price
        for chosen in self.chosen:
            price += chosen.price
        for part in self.parts:
            price += part.surcharge
        return Cents(price)

    @property
    def line_total(self) -> Cents:
        """The price of all pieces, before discounts."""
        return Cents(self.unit_price * self.quantity)

    def same_thing(self, other: "OrderLine") -> bool:
        """Whether two lines are equal except for id and quantity."""
        return (
            self.name == other.name
            and self.size == other.size
            and self._made_of() == other._made_of()
        )

    def _made_of(self) -> tuple[object, ...]:
        # The order of a combo's parts does not matter.
        parts = sorted(
            self.parts, key=lambda part: (part.name, part.size or "", part.modifications)
        )
        return (
            *(self.chosen, parts, self.note),
            *(self.base_price, self.taxes, self.minimum_age),
        )


class Fulfilment(_Part):
    """How and when the guest gets the food.

    Args:
        when: The time asked for, aware; ``None`` means as soon as possible.
        ready_at: The promised time, updated when it is arranged, read back and placed.
        minimum: The minimum subtotal of a delivery.
    """

    kind: Literal["pickup", "delivery"]
    when: datetime | None = None
    address: str | None = None
    ready_at: datetime
    fee: Cents = Cents(0)
    minimum: Cents = Cents(0)


class Coupon(_Part):
    """A coupon on the order, with the menu's rule at the time it was added: a percentage or an amount."""

    code: str
    percent: Decimal | None = None
    amount: Cents | None = None
    minimum: Cents = Cents(0)
    until: date | None = None
    combinable: bool = False


class Tip(_Part):
    """A tip as a percentage or an amount; 0 means that the guest declined."""

    percentage: Decimal | None = None
    amount: Cents | None = None


class Note(_Part):
    """A note to the restaurant that belongs to no line."""

    id: str
    title: str
    content: str
    created_at: datetime
    updated_at: datetime


class Times(_Part):
    """When a part of the order was first set, and when it last changed."""

    created_at: datetime
    updated_at: datetime


class Terms(_Part):
    """The restaurant's rules for prices, tax and tips when the order was opened or last re-priced."""

    tax_mode: Literal["added", "included"] = "added"
    tax_rounding: Literal["per_rate", "per_line"] = "per_rate"
    tax_rates: Mapping[str, Decimal] = {}
    tip_base: Literal["subtotal", "total"] = "subtotal"


class OrderState(_Part):
    """The order of a call. ``None`` means "not asked yet"; 0 and "" are answers.

    Args:
        lines_given: The number of line ids assigned so far; ids are never reused.
        times: When each part was set and last changed, by the names that commands touch.
    """

    order_id: str
    order_number: str
    restaurant_id: str
    menu_version: str
    channel: Channel = "terminal"
    currency: str
    terms: Terms
    opened_at: datetime
    stage: Stage = Stage.OPEN

    customer_name: str | None = None
    phone: str | None = None
    email: str | None = None

    order_items: tuple[OrderLine, ...] = ()
    lines_given: int = 0
    fulfilment: Fulfilment | None = None
    coupons: tuple[Coupon, ...] = ()
    tip: Tip | None = None
    payment_method: Literal["cash", "card"] | None = None
    notes: tuple[Note, ...] = ()
    allergies: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    """The names of lines that a changed menu has removed, until the next change of the order."""

    feedback_rating: int | None = None
    feedback_comment: str | None = None
    person_wanted: bool = False
    person_reason: str | None = None
    ended_reason: str | None = None
    times: Mapping[str, Times] = {}

    @property
    def item_count(self) -> int:
        """The number of pieces on all lines."""
        return sum(line.quantity for line in self.order_items)

    def line(self, line_id: str) -> OrderLine | None:
        """Return the line of this id, if it is on the order."""
        for line in self.order_items:
            if line.id == line_id:
                return line
        return None
