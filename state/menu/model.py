"""The parts of a menu: dishes, sizes, options, combos, and the restaurant.

The same classes define the menu file, its JSON Schema, and the values in the program. All are
frozen. Money is whole minor units. Sizes are named as in the file; ``None`` is the size of a dish
that has only one price.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, Self, get_args
from zoneinfo import ZoneInfo

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from state.documents.document import Entries, Text
from state.menu.form import KEY, Faulty, MenuPart, MenuReading, Needed, NotWritten, Place
from state.menu.values import (
    ALL_DAY,
    ANY_CASE,
    BY_NAME,
    ONCE,
    Currency,
    Day,
    DayHours,
    Factor,
    Id,
    Money,
    Name,
    Names,
    OneOrSeveral,
    Percent,
    Phrase,
    Prices,
    Range,
    Span,
    Spans,
    Timezone,
    TransferTo,
    named,
)
from state.menu.words import plural
from state.money import Cents
from state.privacy.text import clean

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
Portion = Literal["half", "other half"]
Payment = Literal["cash", "card"]

NO = "no"
LIGHT = "light"
EXTRA = "extra"
ON_THE_SIDE = "on the side"

WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)
"""The days of a week in the order of ``date.weekday``."""

_MOST_COUNTED = 20
_RESERVED = frozenset({NO, "half", "other half", "other", ON_THE_SIDE})
"""Words that cannot name an amount."""


Aliases = Annotated[Names, Field(description="What people also say for it.")]
Allergens = Annotated[Names, Field(description="The allergens in it.")]
Diets = Annotated[Names, Field(description="The diets it fits: vegetarian, vegan, gluten free.")]
Available = Annotated[bool, Field(description="false when it is sold out.")]
HoursOfDay = Annotated[
    DayHours,
    Field(description='Its hours, or "closed". An end not after the start is on the next day.'),
]


class Served(MenuPart):
    """Days and hours."""

    days: Annotated[tuple[Annotated[Weekday, ANY_CASE], ...], OneOrSeveral(), ONCE] = Field(
        default=WEEKDAYS, description="The days; every day if nothing is said."
    )
    spans: Spans = Field(
        default=(ALL_DAY,),
        validation_alias="hours",
        description="The hours; all day if nothing is said.",
    )

    def _checked(self, place: Place) -> Self:
        return self.model_copy(
            update={"days": self.days or WEEKDAYS, "spans": self.spans or (ALL_DAY,)}
        )


ServedWhen = Annotated[
    tuple[Served, ...],
    OneOrSeveral(Entries),
    Field(description="When it is served; while the restaurant is open, if nothing is set."),
]


class Hours(MenuPart):
    """Opening hours by day; a day that is not named is closed."""

    monday: HoursOfDay = ()
    tuesday: HoursOfDay = ()
    wednesday: HoursOfDay = ()
    thursday: HoursOfDay = ()
    friday: HoursOfDay = ()
    saturday: HoursOfDay = ()
    sunday: HoursOfDay = ()

    def __getitem__(self, day: Weekday) -> tuple[Span, ...]:
        """Return the hours that begin on this day."""
        hours: tuple[Span, ...] = getattr(self, day)
        return hours

    def _checked(self, place: Place) -> Self:
        for day, following in zip(WEEKDAYS, (*WEEKDAYS[1:], WEEKDAYS[0]), strict=True):
            last, first = self[day][-1:], self[following][:1]
            if last and first and first[0].start < last[0].end <= last[0].start:
                opens, closes = first[0].start, last[0].end
                place.fault(
                    f"{following} opens at {opens:%H:%M}, but {day} only closes at {closes:%H:%M}",
                    following,
                )
        if place.sound and not any(self[day] for day in WEEKDAYS):
            place.fault("hours never opens the restaurant")
        return self


class Pickup(MenuPart):
    """How guests fetch their food."""

    lead_minutes: int = Field(
        default=20, ge=0, le=1440, description="Minutes from order to handover."
    )


class Delivery(MenuPart):
    """How food is brought to guests; no postcodes means anywhere."""

    lead_minutes: int = Field(
        default=45, ge=0, le=1440, description="Minutes from order to the guest's door."
    )
    fee: Money = Field(default=Cents(0), description="What bringing it costs.")
    minimum: Money = Field(default=Cents(0), description="The least an order must come to.")
    postcodes: Names = Field(
        default=(), description="Where it is brought; everywhere if nothing is said."
    )


class Service(MenuPart):
    """How guests get their food."""

    pickup: Pickup | None = Field(default=None, description="Guests fetch it.")
    delivery: Delivery | None = Field(default=None, description="It is brought to them.")

    @classmethod
    def _written(cls, value: object, reading: MenuReading) -> Entries:
        entries = super()._written(value, reading)
        named = {
            key: Entries({}, entries.lines[key], {}) if one is None else one
            for key, one in entries.items()
        }
        return Entries(named, entries.line, entries.lines)

    def _checked(self, place: Place) -> Self:
        if not place.has("pickup") and not place.has("delivery"):
            place.fault("service has to name pickup, delivery or both")
        return self


class Tax(MenuPart):
    """How tax is computed; rates are percent, the first one is the default."""

    mode: Annotated[Literal["added", "included"], ANY_CASE] = Field(
        default="added", description="Whether prices include it."
    )
    rounding: Annotated[Literal["per_rate", "per_line"], ANY_CASE] = Field(
        default="per_rate", description="Where it is rounded."
    )
    rates: Annotated[dict[Phrase, Percent], BY_NAME] = Field(
        default={}, description="Percent by name; the first is the default."
    )


class TipRule(MenuPart):
    """How a tip is computed: what it is a percentage of, what is suggested, and the most the restaurant takes."""

    called = "tip"

    base: Annotated[Literal["subtotal", "total"], ANY_CASE] = Field(
        default="subtotal", description="What a percentage is taken of."
    )
    maximum: Percent = Field(
        default=Decimal(30), description="The highest percentage taken; 30 if nothing is said."
    )
    suggested: tuple[Percent, ...] = Field(default=(), description="Percentages that are offered.")

    @field_validator("suggested")
    @classmethod
    def _within(cls, suggested: tuple[Decimal, ...], info: ValidationInfo) -> tuple[Decimal, ...]:
        most = info.data.get("maximum", 100)
        above = [
            ((at,), f"{{key}}: {percent} is above the maximum, {most}")
            for at, percent in enumerate(suggested)
            if percent > most
        ]
        if above:
            raise Faulty(above)
        return suggested


class Limits(MenuPart):
    """Limits of an order; above them a member of staff has to help."""

    quantity: int = Field(default=50, ge=1, le=10_000, description="The most of one line.")
    lines: int = Field(default=40, ge=1, le=1_000, description="The most lines.")
    total: Money | None = Field(default=None, description="The highest total.")

    def _checked(self, place: Place) -> Self:
        if self.total == 0 and place.reading.decimals is not None:
            place.fault("a total of 0 would allow no order at all", "total")
        return self


class Restaurant(MenuPart):
    """The restaurant: its name, hours, services, and rules for tax and tips."""

    id: Needed[Id] = Field(
        default="", description="A short name for programs; part of every order."
    )
    name: Needed[Name] = Field(default="", description="The name as guests know it.")
    currency: Needed[Currency] = Field(default="", description="Its ISO 4217 code: USD, EUR, JPY.")
    timezone: Needed[Timezone] = Field(default="", description="Its IANA name: America/New_York.")
    phone: Phrase | None = Field(default=None, description="The telephone number guests call.")
    transfer_to: TransferTo | None = Field(
        default=None,
        description="Where a caller is put through to a person in the opening hours, and transferred when there"
        " is no speech for them: a telephone number with its country (+12125550142), or a SIP address"
        " (sip:desk@example.com).",
    )
    address: Phrase | None = Field(default=None, description="The address.")
    hours: Needed[Hours] = Field(default=Hours(), description="The opening hours.")
    closed_on: Annotated[tuple[Day, ...], OneOrSeveral(), ONCE] = Field(
        default=(), description="Days on which it stays closed."
    )
    facts: Annotated[dict[Phrase, Phrase], BY_NAME] = Field(
        default={}, description="What guests ask, and the answer."
    )
    service: Service = Field(
        default=Service(pickup=Pickup()),
        description="How guests get their food; pickup if nothing is said.",
    )
    payment: Annotated[
        tuple[Annotated[Payment, ANY_CASE], ...], Field(min_length=1), OneOrSeveral(), ONCE
    ] = Field(default=("cash", "card"), description="What guests can pay with at handover.")
    tax: Tax = Field(default=Tax(), description="How tax is computed.")
    tip: TipRule = Field(default=TipRule(), description="How a tip is computed.")
    limits: Limits = Field(default=Limits(), description="The most that is taken without a person.")

    @property
    def zone(self) -> ZoneInfo:
        """The restaurant's time zone."""
        return ZoneInfo(self.timezone)

    @property
    def pickup(self) -> Pickup | None:
        """The pickup service, if there is one."""
        return self.service.pickup

    @property
    def delivery(self) -> Delivery | None:
        """The delivery service, if there is one."""
        return self.service.delivery

    def _checked(self, place: Place) -> Self:
        place.reading.rates = tuple(self.tax.rates)
        return self


class CouponRule(MenuPart):
    """The reduction by a coupon: a percentage or an amount."""

    called = "a coupon"

    code: NotWritten[str] = ""
    percent: Percent | None = Field(default=None, description="Percent of the subtotal.")
    amount: Money | None = Field(default=None, description="An amount.")
    minimum: Money = Field(default=Cents(0), description="The least the order must come to.")
    until: Day | None = Field(default=None, description="The last day it is good for.")
    combinable: bool = Field(
        default=False,
        description="Whether it goes with others that say the same; false if nothing is said.",
    )

    def _checked(self, place: Place) -> Self:
        if place.has("percent") == place.has("amount"):
            place.fault(f'{place.what} needs either "percent" or "amount"')
        if self.percent == 0:
            place.fault("percent has to be a number above 0 up to 100 percent", "percent")
        if self.amount == 0 and place.reading.decimals is not None:
            place.fault(f"{place.what} takes nothing off", "amount")
        return self


class Choice(MenuPart):
    """A choice and more about it; its price may depend on the dish's size."""

    called = "a choice"

    name: NotWritten[str] = ""
    aliases: Aliases = ()
    prices: Prices = Field(
        default={None: Cents(0)},
        validation_alias="price",
        description="What it costs; nothing if nothing is said.",
    )
    allergens: Allergens = ()
    diets: Diets = ()
    available: Available = True

    def price(self, size: str | None) -> Cents:
        """Return the price of a whole, plain portion on a dish of this size."""
        return price_of(self.prices, size)


def price_of(prices: Mapping[str | None, Cents], size: str | None) -> Cents:
    """Return the price for a size; a price without a size applies to all."""
    return prices[size] if size in prices else prices[None]


class Chosen(BaseModel):
    """One modification of a line, in the menu's words, with its price per piece.

    Args:
        group: The option group's name; ``None`` for something the dish contains.
        name: The choice, or what the dish contains.
        amount: ``no``, ``on the side``, or one of the group's amounts ("light", "extra").
        portion: The half it is on; ``None`` means the whole.
        count: How many of it, in a counted group.
        called: Its unambiguous name on this dish, if its own name is ambiguous.
        price: The total it adds to the price of one piece.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    group: str | None = None
    name: str
    amount: str | None = None
    portion: Portion | None = None
    count: int = 1
    called: str | None = None
    price: Cents = Cents(0)

    @property
    def words(self) -> str:
        """The modification as text, which is also valid input.

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


Choices = Annotated[
    tuple[Choice, ...],
    Field(min_length=1),
    named(
        "name",
        short="price",
        written=Annotated[dict[Phrase, Money | Choice | None], Field(min_length=1)],
    ),
]


class OptionGroup(MenuPart):
    """Choices that go together: a crust, toppings, shots."""

    called = "a group"

    name: NotWritten[str] = ""
    aliases: Aliases = ()
    choose: Range | None = Field(
        default=None, description='How many: 1, "0-3". As many as there are, if nothing is said.'
    )
    default: Phrase | None = Field(
        default=None, description="The choice taken when nothing is said; the price includes it."
    )
    counted: bool = Field(
        default=False, description='Whether a choice can be had several times ("three shots").'
    )
    portions: Annotated[tuple[Annotated[Literal["half"], ANY_CASE], ...], OneOrSeveral()] = Field(
        default=(), description="[half] lets a choice lie on one half, for half its price."
    )
    amounts: Annotated[dict[Phrase, Factor], BY_NAME] = Field(
        default={}, description="Amounts and what they multiply the price by."
    )
    choices: Needed[Choices] = Field(default=(), description="The choices and their prices.")

    @property
    def least(self) -> int:
        """How many have to be chosen."""
        return self._bounds[0]

    @property
    def most(self) -> int:
        """How many may be chosen."""
        return self._bounds[1]

    @property
    def halves(self) -> bool:
        """Whether a choice may lie on one half, for half its price."""
        return bool(self.portions)

    @property
    def _bounds(self) -> tuple[int, int]:
        if self.choose is not None:
            return self.choose
        if self.default is not None:
            return 1, 1
        return 0, _MOST_COUNTED if self.counted else max(len(self.choices), 1)

    def _checked(self, place: Place) -> Self:
        choices = len(self.choices)
        if self.choose is not None and not self.counted and self.least > choices > 0:
            place.fault(f"choose asks for {self.least} of only {choices} choices", "choose")
        for word in _RESERVED.intersection(map(str.casefold, self.amounts)):
            message = f'"{word}" cannot be an amount: it has a meaning of its own'
            place.fault(message, "amounts", word)
        named = {choice.name.casefold(): choice.name for choice in self.choices}
        for choice in self.choices:
            for alias in choice.aliases:
                other = named.setdefault(alias.casefold(), choice.name)
                if other != choice.name:
                    means = f'"{alias}" means both "{other}" and "{choice.name}"'
                    place.fault(f"in {self.name}, {means}", "choices", choice.name, KEY)
        place.reading.groups.append(self.name)
        names = [choice.name for choice in self.choices]
        default = place.refer(self.default, f"choice of {self.name}", names, "default")
        amounts = {word.casefold(): factor for word, factor in self.amounts.items()}
        return self.model_copy(update={"default": default, "amounts": amounts})


class Dish(MenuPart):
    """Something that can be ordered by itself.

    Args:
        prices: Price by size; the one key is ``None`` where there are no sizes.
        default_size: The size taken when none is said; without it, and with several, it is asked for.
        contains: The ingredients that can be left off, made light, extra or served on the side.
        extra: The price of extra of one of those, by size; nothing where it is not named.
    """

    called = "a dish"

    name: Needed[Name] = Field(
        default="", description="The name on the card; no two dishes share one."
    )
    section: NotWritten[str] = ""
    aliases: Aliases = ()
    description: Phrase | None = Field(default=None, description="A sentence for the guest.")
    prices: Needed[Prices] = Field(
        default={None: Cents(0)},
        validation_alias="price",
        description="What it costs, or what each size costs.",
    )
    default_size: Phrase | None = Field(
        default=None, description="The size taken when none is said; without it guests are asked."
    )
    contains: Names = Field(
        default=(),
        validation_alias="with",
        description="The ingredients that can be left off, made light or extra.",
    )
    extra: Annotated[dict[Phrase, Prices], BY_NAME] = Field(
        default={}, description="The price of extra of an ingredient."
    )
    options: Names = Field(default=(), description="Its groups of choices, in order.")
    diets: Diets = ()
    allergens: Allergens = ()
    tax: Phrase | None = Field(
        default=None, description="Its tax rate; the first if nothing is said."
    )
    minimum_age: int | None = Field(
        default=None, ge=1, le=120, description="How old a guest has to be."
    )
    available: Available = True
    served: ServedWhen = ()

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

    def extra_price(self, name: str, size: str | None) -> Cents:
        """Return the price of an extra portion of something in it."""
        return price_of(self.extra[name], size) if name in self.extra else Cents(0)

    @classmethod
    def _written(cls, value: object, reading: MenuReading) -> Entries:
        entries = super()._written(value, reading)
        known: dict[str, Any] = {"section": reading.section, **entries}
        return Entries(known, entries.line, entries.lines)

    def _checked(self, place: Place) -> Self:
        name, card = f'"{self.name}"', place.reading
        options = (
            place.refer(group, "option group", card.groups, "options", at)
            for at, group in enumerate(self.options)
        )
        extra = {
            place.refer(word, f'word in "with" of {name}', self.contains, "extra", word, KEY): cost
            for word, cost in self.extra.items()
        }
        return self.model_copy(
            update={
                "default_size": place.refer(
                    self.default_size, f"size of {name}", self.sizes, "default_size"
                ),
                "extra": {word: cost for word, cost in extra.items() if word is not None},
                "options": tuple(group for group in options if group is not None),
                "tax": place.refer(self.tax, "tax rate", card.rates, "tax"),
            }
        )


class Section(MenuPart):
    """A heading of the card with its dishes."""

    called = "a section"

    name: Needed[Name] = Field(default="", description="The heading.")
    aliases: Aliases = ()
    dishes: Needed[Annotated[tuple[Dish, ...], Field(min_length=1)]] = Field(
        default=(), description="The dishes, in order."
    )
    served: ServedWhen = ()

    @classmethod
    def _written(cls, value: object, reading: MenuReading) -> Entries:
        entries = super()._written(value, reading)
        name = entries.get("name")
        reading.section = clean(name) if isinstance(name, Text) else ""
        return entries

    def _checked(self, place: Place) -> Self:
        place.reading.sections[self.name] = tuple(dish.name for dish in self.dishes)
        return self


class ComboPart(MenuPart):
    """One part of a combo: so many of these dishes."""

    called = "a part of a combo"

    choose: int = Field(default=1, ge=1, le=50, description="How many; 1 if nothing is said.")
    dishes: Needed[Names] = Field(
        default=(), validation_alias="from", description="Dishes, or sections: all their dishes."
    )

    def _checked(self, place: Place) -> Self:
        sections = place.reading.sections
        meant = {name.casefold(): dishes for name, dishes in sections.items()}
        meant |= {dish.casefold(): (dish,) for dishes in sections.values() for dish in dishes}
        known = place.reading.dishes + [*sections]
        found: list[str] = []
        for at, name in enumerate(self.dishes):
            if place.refer(name, "dish or section", known, "from", at) is not None:
                found += meant[name.casefold()]
        if place.has("from") and not self.dishes and place.sound:
            place.fault("from names no dish", "from")
        return self.model_copy(update={"dishes": tuple(dict.fromkeys(found))})


class Combo(MenuPart):
    """Several dishes for one price."""

    called = "a combo"

    name: Needed[Name] = Field(default="", description="The name on the card.")
    aliases: Aliases = ()
    description: Phrase | None = Field(default=None, description="A sentence for the guest.")
    price: Needed[Money] = Field(default=Cents(0), description="The price of all parts together.")
    parts: Needed[Annotated[tuple[ComboPart, ...], Field(min_length=1)]] = Field(
        default=(), description="What it consists of."
    )
    available: Available = True
    served: ServedWhen = ()

    def _checked(self, place: Place) -> Self:
        place.reading.combos.append(self.name)
        return self


class Suggestion(MenuPart):
    """An offer that is made once, after something else was ordered."""

    called = "a suggestion"

    after: Needed[Phrase] = Field(default="", description="A section, a dish or a combo.")
    offer: Needed[Phrase] = Field(default="", description="A dish or a combo.")

    def _checked(self, place: Place) -> Self:
        offered = place.reading.dishes + place.reading.combos
        ordered = offered + [*place.reading.sections]
        return self.model_copy(
            update={
                "after": place.refer(self.after, "section, dish or combo", ordered, "after"),
                "offer": place.refer(self.offer, "dish or combo", offered, "offer"),
            }
        )
