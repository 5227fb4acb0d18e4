"""The types of a menu's values, and how each is written in YAML."""

import re
from collections.abc import Callable
from datetime import date, time
from decimal import Decimal
from functools import partial
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticUndefined, core_schema

from state.documents.document import Entries, Items, Text
from state.documents.faults import did_you_mean
from state.menu.form import KEY, Faulty, MenuReading, Steps, refused
from state.money import Cents
from state.privacy.text import clean

_VALUES = str | Items | Entries | None
_LONGEST_NAME = 200
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_RANGE = re.compile(r"([0-9]{1,4})(?:\s*-\s*([0-9]{1,4}))?")
_SPAN = re.compile(r"([0-9]{1,2}):([0-9]{2})\s*[-\u2013]\s*([0-9]{1,2}):([0-9]{2})")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_E164 = re.compile(r"\+[1-9][0-9]{6,14}")
_IN_A_NUMBER = re.compile(r"[ ().-]")
_SIP = re.compile(r"sips?:([^\s@]+@)?[A-Za-z0-9][^\s@]*")


# -- in one text -----------------------------------------------------------------------------------


class FromText:
    """Parses a value from its text in the file; an annotation of the resulting type.

    Args:
        form: A description of the expected form, for faults.
        read: Parses a text; returns ``None`` if it does not have the form, and raises ``ValueError`` for any
            other fault.
        schema: The JSON Schema for editors.
    """

    def __init__(self, form: str, read: Callable[[str, Any], object], **schema: Any) -> None:
        self._form, self._read, self.schema = form, read, schema

    def read(self, value: object, info: ValidationInfo) -> object:
        """Parse a value of a document; any other value is returned unchanged."""
        if not isinstance(info.context, MenuReading) or not isinstance(value, _VALUES):
            return value
        if not isinstance(value, str):
            raise ValueError("is empty" if value is None else f"has to be {self._form}")
        found = self._read(value.strip(), info.context)
        if found is None:
            raise ValueError(f'has to be {self._form}, not "{value}"')
        return found

    def __get_pydantic_core_schema__(self, of: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_before_validator_function(self.read, handler(of))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return dict(self.schema)


def _text(value: str, reading: object) -> str:
    text = clean(value)
    if not text:
        raise ValueError("is empty")
    return text


def _name(value: str, reading: object) -> str:
    text = _text(value, reading)
    if len(text) > _LONGEST_NAME:
        raise ValueError(f"is longer than {_LONGEST_NAME} characters")
    return text


def _currency(code: str, reading: MenuReading) -> str:
    # Babel costs some milliseconds to import, and only reading a menu needs it here.
    from babel.core import get_global
    from babel.numbers import get_currency_precision

    if code not in (known := get_global("all_currencies")):
        raise refused(f'there is no currency "{code}"{did_you_mean(code, known)}')
    reading.currency, reading.decimals = code, get_currency_precision(code)
    return code


def _timezone(name: str, reading: object) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        # Listing all zones reads a directory tree, so it is done only for a fault.
        from zoneinfo import available_timezones

        hint = did_you_mean(name, available_timezones())
        raise refused(f'there is no time zone "{name}"{hint}') from None
    return name


def _transfer_to(value: str, reading: object) -> str | None:
    number = _IN_A_NUMBER.sub("", value)
    if _E164.fullmatch(number):
        return number
    return value if _SIP.fullmatch(value) else None


def _date(value: str, reading: object) -> date | None:
    try:
        return date.fromisoformat(value) if _DATE.fullmatch(value) else None
    except ValueError:
        return None


def _number(value: str, reading: object) -> Decimal | None:
    text = value.removesuffix("%").rstrip()
    number = Decimal(text) if _NUMBER.fullmatch(text) else None
    return None if number is None or number > 100 else number


def _amount(text: str, reading: MenuReading) -> int | None:
    if not _NUMBER.fullmatch(text):
        if text.startswith("-") and _NUMBER.fullmatch(text[1:]):
            raise ValueError(f"cannot be negative: {text}")
        return None
    if reading.decimals is None:  # the currency is unknown, which is a fault of its own
        return 0
    amount = Decimal(text).scaleb(reading.decimals)
    if amount != amount.to_integral_value():
        few = f"{reading.decimals} decimals" if reading.decimals else "no decimals"
        raise ValueError(f'is "{text}", but {reading.currency} has {few}')
    return int(amount)


def _range(text: str, reading: object) -> tuple[int, int] | None:
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    least, most = int(match[1]), int(match[2] or match[1])
    if most < least or most == 0:
        why = "ends below its start" if most < least else "allows no choice at all"
        raise ValueError(f'"{text}" {why}')
    return least, most


_ANY: dict[str, Any] = {"type": ["string", "number", "boolean"], "minLength": 1}
_NUMERIC: dict[str, Any] = {"type": ["string", "number"], "minimum": 0}
_PERCENT = r"^\d+(\.\d+)?\s*%?$"

Phrase = Annotated[str, FromText("a text", _text, **_ANY)]
"""A non-empty text on one line, without invisible characters."""

Name = Annotated[str, FromText("a text", _name, **_ANY)]
"""A text short enough to be spoken."""

Id = Annotated[
    str,
    FromText(
        'a short name of letters, digits, "-", "_" and "."',
        lambda text, _: text if _ID.fullmatch(text) else None,
        type="string",
        pattern=f"^{_ID.pattern}$",
    ),
]
Currency = Annotated[str, FromText("a text", _currency, type="string", pattern="^[A-Z]{3}$")]
Timezone = Annotated[str, FromText("a text", _timezone, type="string", minLength=1)]
TransferTo = Annotated[
    str,
    FromText(
        "a telephone number with its country (+12125550142) or a SIP address (sip:desk@example.com)",
        _transfer_to,
        type="string",
        pattern=r"^(\+[ ().-]*[1-9]([ ().-]*[0-9]){6,14}[ ().-]*|sips?:([^\s@]+@)?[A-Za-z0-9][^\s@]*)$",
    ),
]
Day = Annotated[
    date, FromText("a date like 2026-12-25", _date, type="string", pattern=r"^\d{4}-\d\d-\d\d$")
]
Factor = Annotated[
    Decimal, FromText("a number from 0 to 100", _number, **_NUMERIC, pattern=_PERCENT)
]
Percent = Annotated[
    Decimal, FromText("a number from 0 to 100 percent", _number, **_NUMERIC, pattern=_PERCENT)
]
Range = Annotated[
    tuple[int, int],
    FromText(
        'a number or a range like "0-3"',
        _range,
        type=["string", "integer"],
        pattern=r"^\d+(\s*-\s*\d+)?$",
        minimum=0,
    ),
]
"""The minimum and the maximum."""

_MONEY = FromText(
    'an amount of money like "9.50", digits and a point only',
    _amount,
    description='An amount as people write it: "9.50".',
    **_NUMERIC,
    pattern=r"^\d+(\.\d+)?$",
)
Money = Annotated[Cents, _MONEY]
"""An amount in the restaurant's currency."""


# -- several, and by name --------------------------------------------------------------------------


class OneOrSeveral:
    """Accepts a single value instead of a list of one.

    Args:
        one: The type of the single value.
        none: A word for an empty list.
    """

    def __init__(self, one: type[Text] | type[Entries] = Text, none: str = "") -> None:
        self._one, self._none = one, none

    def _read(self, value: object) -> object:
        if value is None or (self._none and str(value).strip().casefold() == self._none):
            return ()
        if isinstance(value, self._one):
            return Items([value], value.line)
        if isinstance(value, Entries):
            raise ValueError("has to be a text or a list of texts")
        return value

    def __get_pydantic_core_schema__(self, of: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._read, handler(of))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        listed = handler(schema)
        none = [{"const": self._none}] if self._none else []
        return {"anyOf": [*none, listed["items"], listed]}


def _unlike(value: object) -> object:
    """Refuse names or keys that differ only by case."""
    seen: set[str] = set()
    twice: list[tuple[Steps, str]] = []
    for place, one in enumerate(value if isinstance(value, Items | Entries) else ()):
        name = clean(one) if isinstance(one, str) else ""
        if name and name.casefold() in seen:
            steps: Steps = (place,) if isinstance(value, Items) else (str(one), KEY)
            twice.append((steps, f'"{name}" is twice in {{key}}'))
        seen.add(name.casefold())
    if twice:
        raise Faulty(twice)
    return value


def _named(by: str, short: str, value: object) -> object:
    if isinstance(value, Text | Items):
        raise ValueError("has to be a mapping of names to values")
    if not isinstance(value, Entries):
        return value
    parts: dict[str, Any] = {}
    faults: list[tuple[Steps, str]] = []
    for key, part in value.items():
        line = value.lines[key]
        if short and isinstance(part, Text):
            part = Entries({short: part}, line, {short: line})
        if isinstance(part, Entries | None):
            known: dict[str, Any] = {by: clean(key), **(part or {})}
            parts[key] = Entries(known, line, part.lines if part else {})
        else:
            form = f"a {short} or a mapping" if short else "a mapping"
            faults.append(((key,), f"has to be {form} of keys to values"))
    if faults:
        raise Faulty(faults)
    _unlike(value)
    return [*parts.values()] if short else parts


def named(by: str, short: str = "", written: Any = PydanticUndefined) -> BeforeValidator:
    """Read a mapping of parts by name; each part gets its name as a field.

    Args:
        by: The part's field for the name.
        short: The key of a part whose value can be written instead of the part; the result is a list then.
        written: The type of the value in the file.
    """
    return BeforeValidator(partial(_named, by, short), json_schema_input_type=written)


def _by_size(value: object, info: ValidationInfo) -> object:
    if isinstance(value, Entries):
        if not value:
            raise ValueError("names no size")
        return _unlike(value)
    return {None: _MONEY.read(value, info)} if isinstance(value, Text | Items) else value


ANY_CASE = BeforeValidator(
    lambda word: Text(word.strip().casefold(), word.line) if isinstance(word, Text) else word
)
"""Accepts a word in any case."""

BY_NAME = BeforeValidator(_unlike)
"""Refuses duplicate keys."""

ONCE = AfterValidator(lambda values: tuple(dict.fromkeys(values)))
"""Removes duplicates."""

Phrases = Annotated[tuple[Phrase, ...], OneOrSeveral()]
"""One phrase or a list of them."""

Names = Annotated[tuple[Phrase, ...], BeforeValidator(_unlike), OneOrSeveral()]
"""One phrase or a list of them, none of them twice."""

Prices = Annotated[
    dict[Phrase | None, Money],
    BeforeValidator(_by_size),
    WithJsonSchema(
        {
            "anyOf": [
                _MONEY.schema,
                {"type": "object", "minProperties": 1, "additionalProperties": _MONEY.schema},
            ]
        }
    ),
]
"""Amounts by size; the one key is ``None`` where there are no sizes."""


# -- hours -----------------------------------------------------------------------------------------


class Span(BaseModel):
    """Hours in local time; an end that is not after the start is on the next day."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: time
    end: time

    def overlaps(self, other: "Span") -> bool:
        """Whether both start on the same day and overlap."""
        return self._minutes[0] < other._minutes[1] and other._minutes[0] < self._minutes[1]

    @property
    def _minutes(self) -> tuple[int, int]:
        start = self.start.hour * 60 + self.start.minute
        end = self.end.hour * 60 + self.end.minute
        return start, end if end > start else end + 24 * 60


def _span(text: str, reading: object) -> Span | None:
    match = _SPAN.fullmatch(text)
    if match is None:
        return None
    hours = tuple(int(part) for part in match.groups())
    if hours[0] > 23 or hours[1] > 59 or hours[3] > 59 or hours[2:] > (24, 0):
        return None
    return Span(start=time(hours[0], hours[1]), end=time(hours[2] % 24, hours[3]))


def _apart(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    faults: list[tuple[Steps, str]] = []
    for place, span in enumerate(spans):
        if any(span.overlaps(other) for other in spans[:place]):
            hours = f"{span.start:%H:%M}-{span.end:%H:%M}"
            faults.append(((place,), f'"{hours}" overlaps other hours of {{key}}'))
    if faults:
        raise Faulty(faults)
    return tuple(sorted(spans, key=lambda span: span.start))


_ONE = FromText(
    'hours like "11:30-14:30"',
    _span,
    type="string",
    pattern=r"^\d{1,2}:\d\d\s*[-\u2013]\s*\d{1,2}:\d\d$",
)
Spans = Annotated[tuple[Annotated[Span, _ONE], ...], OneOrSeveral(), AfterValidator(_apart)]
"""Hours, one or several, in the order of the day."""

DayHours = Annotated[
    tuple[Annotated[Span, _ONE], ...], OneOrSeveral(none="closed"), AfterValidator(_apart)
]
"""The hours of a day, or ``closed``."""

ALL_DAY = Span(start=time(0), end=time(0))
