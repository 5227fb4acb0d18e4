"""Recognises a guest's telephone number or e-mail address in stored orders.

In a text a number or address matches as people write it, and not as a part of a longer one.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from agents.app.faults import InputError
from agents.app.traces import LONG_ENOUGH, Trace, parts_of_number, texts_in
from state.contact import email_of, phone_of
from state.errors import NotValid
from state.forgetting import FORGOTTEN
from state.menu import Restaurant
from state.order import OrderState

_GAP = r"(?:[\s().\-/\u2010-\u2015]{0,3})"
_OTHER_COUNTRY = re.compile(r"(?:\+|\b00)\d{1,3}[\s().\-/]*$")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class NoContact(InputError):
    """The input is neither a telephone number nor an e-mail address."""


@dataclass(frozen=True)
class Contact(Trace):
    """The telephone number (E.164) or the e-mail address of the guest to erase.

    Its ``kind`` is ``phone`` or ``email``.
    """

    def is_of(self, order: OrderState) -> bool:
        """Whether it is the contact of this order."""
        if self.kind == "phone":
            return order.phone == self.text
        return (order.email or "").casefold() == self.text.casefold()

    def stored_in(self, stored: str) -> bool:
        """Whether it occurs in a stored JSON document or text."""
        return self.in_stored(stored) and any(
            self._stands_in(name) or self._stands_in(text) for name, text in texts_in(stored)
        )

    def cut(self, text: str) -> str:
        """Redact it in a text."""
        return self._in_text.sub(
            lambda found: FORGOTTEN if self._is_meant(found) else found[0], text
        )

    def _stands_in(self, text: str) -> bool:
        return any(map(self._is_meant, self._in_text.finditer(text)))

    def _is_meant(self, found: "re.Match[str]") -> bool:
        if self.kind == "email":
            return True
        if _DATE.fullmatch(found[0]):
            return False
        return found[0].lstrip("(").startswith(("+", "00")) or not _OTHER_COUNTRY.search(
            found.string, max(0, found.start() - 12), found.start()
        )

    @cached_property
    def _in_text(self) -> "re.Pattern[str]":
        if self.kind == "email":
            address = re.escape(self.text)
            return re.compile(rf"(?<![\w.+%-]){address}(?![\w-]|\.\w)", re.IGNORECASE)
        code, number = parts_of_number(self.text)
        digits = _GAP.join(number)
        abroad = rf"(?:(?:\+|00|011){_GAP})?{code}{_GAP}(?:\(?0\)?{_GAP})?"
        before = f"(?:{abroad}|[08]{_GAP}|)" if len(number) >= LONG_ENOUGH else abroad
        return re.compile(rf"(?<!\d)\(?{before}{digits}(?!\d)")


def contact_of(typed: str, restaurant: Restaurant) -> Contact:
    """Parse a telephone number or an e-mail address as an order does.

    Args:
        typed: The input.
        restaurant: Its country is that of numbers without a country code.

    Raises:
        NoContact: It is neither.
    """
    try:
        if "@" in typed:
            return Contact("email", email_of(typed.strip()))
        return Contact("phone", phone_of(typed, restaurant))
    except NotValid:
        raise NoContact(
            [f'"{typed}" is neither a telephone number nor an e-mail address.']
        ) from None
