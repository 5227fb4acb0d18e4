"""Takes out of a message all that is not the order: the guest's name, how they get their food and pay."""

from datetime import datetime

from bella_vista.local.english.talking import pattern
from bella_vista.local.understanding.meaning import OrderSeen
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.statements.contacts import Contacts
from bella_vista.local.understanding.statements.feedback import Feedback
from bella_vista.local.understanding.statements.guests import Guests
from bella_vista.local.understanding.statements.handover import Handover
from bella_vista.local.understanding.statements.heard import Heard
from bella_vista.local.understanding.statements.paying import Paying
from bella_vista.local.understanding.words.tokens import Words, number_at
from state.menu import Menu

SETTLING = ("yes_no", "choice", "amount")
"""Questions that are asked once the food is settled."""


class Statements:
    """Reads statements for one house.

    Args:
        menu: The menu and the house.
        names: The menu's names, so that a dish is not taken for a guest.
    """

    def __init__(self, menu: Menu, names: Names) -> None:
        self._names = names
        self._contacts = Contacts(menu, names)
        self._guests = Guests(names)
        self._paying = Paying(menu)
        self._feedback = Feedback()
        self._handover = Handover(menu, names)

    def whole(self, words: Words, heard: Heard, order: OrderSeen, expects: str | None) -> Words:
        """Take out what may go over several clauses, and return what is left of a message."""
        if self._feedback.is_note(words) and words.find(pattern("my contact")) is None:
            return self._contacts.allergies(
                words, heard, order
            )  # a number in it is another person's
        words = self._guests.whole(self._contacts.take(words, heard, order), heard)
        settling = expects in SETTLING
        return self._paying.given(words, heard, self._names, settling=settling)

    def address(self, words: Words) -> str | None:
        """Find the address a question about delivery names."""
        return self._handover.address(words)

    def names_code(self, words: Words) -> bool:
        """Whether a code of the house is named."""
        return self._paying.code_in(words) is not None

    def delivers_to(self, address: str) -> bool:
        """Whether the house delivers to an address."""
        return self._handover.delivers_to(address)

    def rating(self, words: Words, heard: Heard) -> Words:
        """Take out a rating that was asked for, with all that is said beside it."""
        return self._feedback.rating(words, heard, "rating")

    def take(
        self,
        words: Words,
        heard: Heard,
        *,
        order: OrderSeen,
        expects: str | None,
        now: datetime,
    ) -> Words:
        """Take statements out of a clause, and return what is left of it."""
        words = self._feedback.note(words, heard)
        age = words.find(pattern("age"))
        if age is not None:
            heard.meant("age")
            heard.age = _years(words.part(age.first, age.last))
            words = words.without(age.first, age.last)
        words = self._paying.coupon(words, heard, order)
        words = self._guests.others(words, order)
        words = self._guests.take(words, heard, expects)
        words = self._feedback.rating(words, heard, expects)
        if (
            order.fulfilment is None
            and (comes := words.find(pattern("pays on coming"))) is not None
        ):
            heard.wish(words.part(comes.first, comes.last), "set_fulfilment", kind="pickup")
        words = self._paying.take(words, heard, order, expects)
        return self._handover.take(words, heard, order, expects, now)


def _years(words: Words) -> int | None:
    """Return how old the guest says that they are themselves."""
    own = not {"i", "we"}.isdisjoint(token.word for token in words.tokens)
    read = (number_at(words.tokens, at) for at in range(len(words)))
    return next((one[0] for one in read if one is not None), None) if own else None
