"""Takes out how a guest can be reached, and what he must not eat."""

import re
from collections.abc import Iterable

from bella_vista.local.english import statements as said
from bella_vista.local.understanding.heard import Heard, asks_before
from bella_vista.local.understanding.meaning import Question
from bella_vista.local.understanding.tokens import Words
from state.contact import email_of, phone_of
from state.errors import NotValid
from state.menu import Menu
from state.privacy.digits import digits_said


class Contacts:
    """Reads telephone numbers, e-mail addresses and allergies, wherever in a message they stand."""

    def __init__(self, menu: Menu) -> None:
        self._house = menu.restaurant

    def take(self, words: Words, heard: Heard) -> Words:
        """Take them out of a message and return what is left of it."""
        words = self._email(words, heard)
        words = self._phone(words, heard)
        return self._allergies(words, heard)

    def _email(self, words: Words, heard: Heard) -> Words:
        for written in said.WRITTEN_EMAIL.finditer(words.line) if "@" in words.line else ():
            try:
                email = email_of(written.group().strip(".,"))
            except NotValid as error:
                facts = {**error.facts, "field": "email"}
                heard.asked(Question(error.code, facts))
            else:
                heard.wish(words, "set_customer", email=email)
            words = words.without_typed(written.start(), written.end())
        spoken = said.SAID_EMAIL.search(words.said)
        if spoken and "@" not in words.line and " dot " in spoken.group():
            place = words.find(re.compile(re.escape(spoken.group())))
            try:
                email = email_of(spoken.group())
            except NotValid:
                return words
            if place is not None:
                heard.wish(words.part(place.first, place.last), "set_customer", email=email)
                words = words.without(place.first, place.last)
        return words

    def _phone(self, words: Words, heard: Heard) -> Words:
        for written in said.WRITTEN_PHONE.finditer(words.line):
            digits = re.sub(r"\D", "", written.group())
            called = said.PHONE_WORDS.search(words.said) is not None
            if len(digits) < (6 if called else 9) or len(digits) > 15:
                continue
            try:
                phone = phone_of(written.group(), self._house)
            except NotValid as error:
                if called:
                    heard.asked(Question(error.code, {**error.facts, "field": "phone"}))
                    words = words.without_typed(written.start(), written.end())
                continue
            heard.wish(words, "set_customer", phone=phone)
            return words.without_typed(written.start(), written.end())
        return self._spoken_phone(words, heard)

    def _spoken_phone(self, words: Words, heard: Heard) -> Words:
        first = 0
        while first < len(words.tokens):
            last = first
            while last < len(words.tokens) and words.tokens[last].word in _DIGITS_SAID:
                last += 1
            if last - first >= 7:
                try:
                    phone = phone_of(digits_said(words.typed(first, last)), self._house)
                except NotValid:
                    return words
                heard.wish(words.part(first, last), "set_customer", phone=phone)
                return words.without(first, last)
            first = max(last, first + 1)
        return words

    def _allergies(self, words: Words, heard: Heard) -> Words:
        found = words.find(said.NO_I_AM_ALLERGIC)
        if found is not None:
            self._allergic(words.part(*found.span(words, "what")), heard)
            return words.without(found.first, found.last)
        for pattern in (said.ALLERGIC_TO, said.HAS_ALLERGY_TO, said.CANNOT_EAT):
            found = words.find(pattern)
            if found is None or asks_before(words, found.first):
                continue
            last = _end_of_list(words, found.last)
            listed = words.part(found.last, last)
            if pattern is said.CANNOT_EAT and not _knows_allergen(listed):
                continue
            if self._allergic(listed, heard):
                return self._allergies(words.without(found.first, last), heard)
        for pattern in (said.HAS_ALLERGY, said.AN_ALLERGY, said.INTOLERANT):
            found = words.find(pattern)
            if found is None or asks_before(words, found.first):
                continue
            if found.match.groupdict().get("coeliac"):
                heard.wish(words.part(found.first, found.last), "add_allergy", name="gluten")
                return words.without(found.first, found.last)
            if self._allergic(words.part(*found.span(words, "what")), heard):
                return self._allergies(words.without(found.first, found.last), heard)
        return words

    def _allergic(self, listed: Words, heard: Heard) -> bool:
        named = False
        for run in _split_list(listed):
            kept = [token.word for token in run.tokens if token.word not in _NO_ALLERGEN]
            if not kept or len(kept) > 3:
                continue
            name = " ".join(kept)
            heard.wish(run, "add_allergy", name=said.ALLERGENS.get(name, name))
            named = True
        return named


def _end_of_list(words: Words, first: int) -> int:
    """Return where a list of things ends: at a stop, or where somebody says something else."""
    index = first
    while index < len(words.tokens):
        token = words.tokens[index]
        if token.stop and token.word != ",":
            break
        following = words.tokens[index + 1 : index + 2]
        joint = token.stop or token.word in (
            "and",
            "so",
            "but",
            "which",
            "because",
            "what",
            "can",
            "is",
            "that",
        )
        if joint and token.word not in ("and", ","):
            break
        if joint and (
            not following or following[0].word in _NO_ALLERGEN_FOLLOWS or following[0].stop
        ):
            break
        if token.word in _NO_ALLERGEN_FOLLOWS:
            break
        index += 1
    return index


def _split_list(words: Words) -> Iterable[Words]:
    first = 0
    for index, token in enumerate(words.tokens):
        if token.stop or token.word in ("and", "or", "nor"):
            yield words.part(first, index)
            first = index + 1
    yield words.part(first, len(words.tokens))


def _knows_allergen(words: Words) -> bool:
    return any(token.word in said.ALLERGENS for token in words.tokens)


_DIGITS_SAID = frozenset(
    "zero one two three four five six seven eight nine oh double triple".split()
) | frozenset("0123456789")
_NO_ALLERGEN = frozenset(
    "a an any the all kinds kind of sorts some my to too also very and or please products product stuff"
    " things anything with btw fyi tho though actually severely badly seriously really by way containing made from in it are is".split()
)
_NO_ALLERGEN_FOLLOWS = frozenset(
    "i we can could is are what do does please my the he she would may which so but because how a an two"
    " three four one no it that this there you if have has want need by thanks also by".split()
)
