"""What a menu says, once it is read: dishes, sizes, options, combos, and the house they belong to.

Everything is frozen. Money is whole minor units. Sizes are named as in the file; ``None`` is the size
of a dish that has only one price.
"""

from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict

from state.menu.words import plural
from state.money import Cents

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
Portion = Literal["half", "other half"]
Payment = Literal["cash", "card"]

NO = "no"
LIGHT = "light"
EXTRA = "extra"
ON_THE_SIDE = "on the side"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Span(_Part):
    """Hours within a day, local time; an end not after the start lies on the next day."""

    start: time
    end: time


class Served(_Part):
    """When something is served: these spans on these days."""

    days: tuple[Weekday, ...]
    spans: tuple[Span, ...]


class Pickup(_Part):
    """How guests fetch their food."""

    lead_minutes: int


class Delivery(_Part):
    """How food is brought to guests; no postcodes means anywhere."""

    lead_minutes: int
    fee: Cents = Cents(0)
    minimum: Cents = Cents(0)
    postcodes: tuple[str, ...] = ()


class Tax(_Part):
    """How tax is reckoned; rates are percent, the first one is the default."""

    mode: Literal["added", "included"] = "added"
    rounding: Literal["per_rate", "per_line"] = "per_rate"
    rates: Mapping[str, Decimal] = {}


class TipRule(_Part):
    """What a tip is a percentage of, what is suggested, and the most the house takes."""

    base: Literal["subtotal", "total"] = "subtotal"
    suggested: tuple[Decimal, ...] = ()
    maximum: Decimal = Decimal(30)


class Limits(_Part):
    """Beyond these a person is called."""

    quantity: int = 50
    lines: int = 40
    total: Cents | None = None


class Restaurant(_Part):
    """The house: its name, hours, services and rules of money."""

    id: str
    name: str
    currency: str
    timezone: str
    phone: str | None = None
    transfer_to: str | None = None
    """Where a caller is transferred whom the agents cannot speak with: E.164, or a ``sip:`` address."""
    address: str | None = None
    hours: Mapping[Weekday, tuple[Span, ...]]
    closed_on: tuple[date, ...] = ()
    facts: Mapping[str, str] = {}
    pickup: Pickup | None = None
    delivery: Delivery | None = None
    payment: tuple[Payment, ...] = ("cash", "card")
    tax: Tax = Tax()
    tip: TipRule = TipRule()
    limits: Limits = Limits()

    @property
    def zone(self) -> ZoneInfo:
        """The restaurant's time zone."""
        return ZoneInfo(self.timezone)


class CouponRule(_Part):
    """What a coupon takes off: a percentage or an amount, and on what conditions."""

    code: str
    percent: Decimal | None = None
    amount: Cents | None = None
    minimum: Cents = Cents(0)
    until: date | None = None
    combinable: bool = False


class Choice(_Part):
    """One thing that can be chosen in a group; its price may depend on the dish's size."""

    name: str
    aliases: tuple[str, ...] = ()
    prices: Mapping[str | None, Cents]
    allergens: tuple[str, ...] = ()
    diets: tuple[str, ...] = ()
    available: bool = True

    def price(self, size: str | None) -> Cents:
        """Return what one whole, plain portion of it costs on a dish of this size."""
        return self.prices[size] if size in self.prices else self.prices[None]


class Chosen(_Part):
    """One modification of a line, in the menu's words, with what it costs per piece.

    Args:
        group: The option group's name; ``None`` for something the dish contains.
        name: The choice, or what the dish contains.
        amount: ``no``, ``on the side``, or one of the group's amounts ("light", "extra").
        portion: Which half it lies on; ``None`` means all over.
        count: How many of it, in a counted group.
        called: What it is called on this dish, where its name alone could mean another choice.
        price: What it adds to one piece, all of that considered.
    """

    group: str | None = None
    name: str
    amount: str | None = None
    portion: Portion | None = None
    count: int = 1
    called: str | None = None
    price: Cents = Cents(0)

    @property
    def words(self) -> str:
        """The modification as everybody reads it; it can be put in again.

        >>> Chosen(name="espresso shot", count=3).words
        '3 espresso shots'
        >>> Chosen(name="ham", amount="extra", portion="half").words
        'half extra ham'
        >>> Chosen(name="onions", amount="on the side").words
        'onions on the side'
        """
        text = self.called or self.name
        if self.count > 1:
            text = f"{self.count} {plural(text)}"
        if self.amount == ON_THE_SIDE:
            text = f"{text} {ON_THE_SIDE}"
        elif self.amount is not None:
            text = f"{self.amount} {text}"
        return text if self.portion is None else f"{self.portion} {text}"


class OptionGroup(_Part):
    """Choices that go together: a crust, toppings, shots.

    Args:
        least: How many have to be chosen.
        most: How many may be chosen.
        default: What is taken when nothing is said.
        counted: Whether a choice can be had several times ("three shots").
        halves: Whether a choice may lie on one half, for half its price.
        amounts: Words like "extra" and what they multiply the price by.
    """

    name: str
    aliases: tuple[str, ...] = ()
    least: int = 0
    most: int
    default: str | None = None
    counted: bool = False
    halves: bool = False
    amounts: Mapping[str, Decimal] = {}
    choices: tuple[Choice, ...]


class Dish(_Part):
    """Something that can be ordered by itself.

    Args:
        prices: Price by size; the one key is ``None`` where there are no sizes.
        default_size: The size taken when none is said; without it, and with several, it is asked for.
        contains: What is in it and can be left off, made light, extra or served on the side.
        extra: What extra of one of those costs, by size; nothing where it is not named.
        options: The names of its groups, in order.
        tax: The name of its tax rate.
        served: When it is served; empty means whenever the house is open.
    """

    name: str
    section: str
    aliases: tuple[str, ...] = ()
    description: str | None = None
    prices: Mapping[str | None, Cents]
    default_size: str | None = None
    contains: tuple[str, ...] = ()
    extra: Mapping[str, Mapping[str | None, Cents]] = {}
    options: tuple[str, ...] = ()
    diets: tuple[str, ...] = ()
    allergens: tuple[str, ...] = ()
    tax: str | None = None
    minimum_age: int | None = None
    available: bool = True
    served: tuple[Served, ...] = ()

    @property
    def sizes(self) -> tuple[str, ...]:
        """The sizes it comes in, as listed; empty when it has only one price."""
        return tuple(size for size in self.prices if size is not None)

    @property
    def implied_size(self) -> str | None:
        """The size meant when none is said: the default, or the only one."""
        if self.default_size is not None:
            return self.default_size
        return self.sizes[0] if len(self.sizes) == 1 else None

    @property
    def size_needed(self) -> bool:
        """Whether a guest has to be asked for the size."""
        return len(self.sizes) > 1 and self.default_size is None


class ComboPart(_Part):
    """One part of a combo: so many of these dishes."""

    choose: int = 1
    dishes: tuple[str, ...]


class Combo(_Part):
    """Several dishes for one price."""

    name: str
    aliases: tuple[str, ...] = ()
    description: str | None = None
    price: Cents
    parts: tuple[ComboPart, ...]
    available: bool = True
    served: tuple[Served, ...] = ()


class Section(_Part):
    """A heading of the menu with its dishes."""

    name: str
    aliases: tuple[str, ...] = ()
    dishes: tuple[Dish, ...]
    served: tuple[Served, ...] = ()


class Suggestion(_Part):
    """What is offered once, after a dish or something of a section was ordered."""

    after: str
    offer: str
