"""Takes out how, when and where the guest gets the food."""

import re
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.meaning import Draft, OrderSeen, Question
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.statements.heard import Heard
from bella_vista.local.understanding.statements.times import Clock, Told
from bella_vista.local.understanding.words.tokens import Words, number_at, tokenize
from state.contact import postcode_in
from state.hours import is_open
from state.menu import Menu


class Handover:
    """Reads pickup and delivery, times and addresses."""

    def __init__(self, menu: Menu, names: Names) -> None:
        self._house = menu.restaurant
        self._names = names
        self._clock = Clock(menu.restaurant)

    def take(
        self, words: Words, heard: Heard, order: OrderSeen, expects: str | None, now: datetime
    ) -> Words:
        """Take it out of a clause and return what is left of it."""
        asked_when = expects in ("fulfilment", "time")
        named = (self._names.longest(words.tokens, at) for at in range(len(words)))
        food = any(one is not None and one[1].dishes for one in named)  # "two naan" is no time
        told = self._clock.find(words, now, bare=expects == "time" and not food)
        told = told or self._only_an_hour(words, now, asked=asked_when)
        fetched = told is not None and told.first and words.part(0, told.first)
        if told is not None:
            words = words.without(told.first, told.last)
            day = self._clock.day_span(words, now)
            if day is not None:
                words = words.without(*day)
        whole = words
        if _adds_postcode(words, heard):
            return words.part(0, 0)
        words = self._corrected_address(words) if order.fulfilment == "delivery" else words
        renumbered = self._renumbered(words, heard, order)
        kind, address, words = renumbered or self._kind(words, expects)
        if kind is None and fetched and (gets := fetched.find(pattern("gets it"))) is not None:
            if gets.last == len(fetched):
                kind, words = "pickup", words.without(gets.first, gets.last)
        if kind is None and told is None:
            return words
        if (
            kind is None
            and told is not None
            and told.soon
            and order.fulfilment is None
            and not asked_when
        ):
            return words
        known = next(
            (d.fields.get("kind") for _, d in heard.drafts if d.op == "set_fulfilment"), None
        )
        kind = kind or known or order.fulfilment
        if kind == "eat_in":
            heard.asked(
                Question("not_possible", {"what": "eating here", "possible": self._kinds()})
            )
            return words
        places = [
            at
            for at in (_first_missing(whole, words), told.first if told else None)
            if at is not None
        ]
        self._fulfil(
            whole.part(min(places, default=0), len(whole)), heard, order, kind, address, told
        )
        return words

    def _only_an_hour(self, words: Words, now: datetime, *, asked: bool) -> Told | None:
        """Find an hour that stands alone beside the way, or where that was asked for: "8 is fine"."""
        if not (asked or any(words.find(pattern(way)) for way in ("pickup", "delivery"))):
            return None
        stops = [at for at, token in enumerate(words.tokens) if token.stop]
        for first, last in pairwise((-1, *stops, len(words))):
            run = words.part(first + 1, last)
            if run.whole(pattern("only an hour")) is None:
                continue
            told = self._clock.find(run, now, bare=True)
            if told is not None and told.at is not None and is_open(self._house, told.at):
                return replace(told, first=first + 1, last=last)
        return None

    def address(self, words: Words) -> str | None:
        """Find where a question about delivery would have it: "can you deliver to 12 High Street?"."""
        kind, address, _ = self._kind(words, None)
        numbered = address is not None and any(map(str.isdigit, address))
        return address if kind == "delivery" and numbered else None

    def delivers_to(self, address: str) -> bool:
        """Whether the house delivers to an address, as far as its postcode tells."""
        delivery = self._house.delivery
        if delivery is None:
            return False
        return not delivery.postcodes or postcode_in(address, delivery.postcodes)[0] is not None

    def _has_postcode(self, address: str) -> bool:
        codes = self._house.delivery.postcodes if self._house.delivery is not None else ()
        return postcode_in(address, codes)[0] is not None

    def _kinds(self) -> list[str]:
        kinds = (("pickup", self._house.pickup), ("delivery", self._house.delivery))
        return [name for name, there in kinds if there is not None]

    def _fulfil(
        self,
        words: Words,
        heard: Heard,
        order: OrderSeen,
        kind: Any,
        address: str | None,
        told: Told | None,
    ) -> None:
        fields: dict[str, Any] = {"kind": kind, "address": address}
        if told is not None and told.at is not None:
            fields["when"] = told.at.isoformat()
        if kind == "delivery" and address is None and order.fulfilment == "delivery":
            fields["address"] = order.address
        fields = {name: value for name, value in fields.items() if value is not None}
        if kind is not None:
            for question in [q for q in heard.questions if q.facts.get("needs") == "fulfilment"]:
                heard.questions.remove(question)
                fields = {**(question.draft.fields if question.draft else {}), **fields}
        for index, (at, draft) in enumerate(heard.drafts):
            if draft.op == "set_fulfilment":
                heard.drafts[index] = (at, Draft(draft.op, {**draft.fields, **fields}))
                return
        fields = {name: fields[name] for name in ("kind", "when", "address") if name in fields}
        if kind is None:
            facts = {"needs": "fulfilment", "when": fields.get("when"), "possible": self._kinds()}
            if told is not None and told.day is not None:
                facts["day"] = told.day.isoformat()
            heard.asked(Question("missing", facts, Draft("set_fulfilment", fields)))
        elif told is not None and told.day is not None:
            facts = {"needs": "time", "day": told.day.isoformat()}
            heard.asked(Question("missing", facts, Draft("set_fulfilment", fields)))
        else:
            heard.wish(words, "set_fulfilment", **fields)

    def _renumbered(
        self, words: Words, heard: Heard, order: OrderSeen
    ) -> tuple[str, str, Words] | None:
        """Find another number for the street that was told: "oops, it's 54 Prince Street"."""
        drafts = [draft.fields.get("address") for _, draft in heard.drafts]
        address = str(next(filter(None, drafts), order.address) or "")
        old, street = tokenize(address), words_of("street")
        ends = next((at for at, one in enumerate(old) if at > 1 and one.word in street), 0)
        named = [one.word for one in old[1:ends]]
        for at, token in enumerate(words.tokens if ends and old[0].word[0].isdigit() else ()):
            run = [one.word for one in words.tokens[at + 1 : at + ends + 1]]
            if not token.word[0].isdigit() or run[:-1] != named or run[-1] not in street:
                continue
            if not any(map(str.isdigit, words.typed(at + 1, self._address_end(words, at)))):
                whole = words.typed(at, at + 1) + address[old[0].end :]
                return "delivery", whole, words.without(at, at + ends + 1)
        return None

    def _kind(self, words: Words, expects: str | None) -> tuple[str | None, str | None, Words]:
        """Find how the food gets to the guest, and where to."""
        found = words.find(pattern("deliver to"))
        if found is not None:
            last = self._address_end(words, found.last)
            address = self._address(words, found.last, last)
            if address is not None:
                return "delivery", address, words.without(found.first, last)
        pickup = words.find(pattern("pickup"))
        if pickup is not None and not (
            pickup.first and words.tokens[pickup.first - 1].word in words_of("no wish")
        ):
            left = words.without(pickup.first, pickup.last)
            again = left.find(pattern("pickup"))  # "we are walking over, pickup"
            return "pickup", None, left.without(again.first, again.last) if again else left
        delivery = words.find(pattern("delivery"))
        if delivery is not None and not (
            delivery.first and words.tokens[delivery.first - 1].word in words_of("no wish")
        ):
            rest = words.without(delivery.first, delivery.last)
            after = words.part(delivery.last, len(words))
            if delivery.first and (bare := self._bare_address(after)):
                return "delivery", bare, words.part(0, delivery.first)
            for first in (
                0,
                *(at + 1 for at, token in enumerate(rest.tokens) if token.word == ","),
            ):
                run = rest.part(first, len(rest.tokens))
                if bare := self._bare_address(run) or self._address_first(run):
                    return "delivery", bare, rest.part(0, first)
            return "delivery", None, rest
        bare = self._bare_address(words)
        if bare is not None:
            return "delivery", bare, words.part(0, 0)
        begun = self._address_first(words)
        if begun is not None and self._has_postcode(begun):  # and something else behind it
            return "delivery", begun, words.part(self._address_end(words, 0), len(words))
        for at, token in enumerate(words.tokens):  # "one doner to Weserstraße 12"
            run = words.part(at + 1, len(words))
            if at and token.word == "to" and (bare := self._bare_address(run)):
                return "delivery", bare, words.part(0, at)
        if expects == "address":
            first = next(
                (
                    i
                    for i, token in enumerate(words.tokens)
                    if not token.stop and token.word not in words_of("to a place")
                ),
                0,
            )
            last = self._address_end(words, first)
            address = self._address(words, first, last)
            if address is not None and any(map(str.isdigit, address)):
                return "delivery", address, words.part(last, len(words.tokens))
        eat_in = words.find(pattern("eat in"))
        if eat_in is not None:
            return "eat_in", None, words.without(eat_in.first, eat_in.last)
        return None, None, words

    def _bare_address(self, words: Words) -> str | None:
        """Read an address that says by itself that it is one: a number and a street."""
        run = words.trimmed(words_of("around"))
        if not 2 <= len(run.tokens) <= _LONGEST_ADDRESS:
            return None
        tokens = run.tokens
        said = [at for at in range(len(tokens)) if number_at(tokens, at) is not None]
        numbered = [at for at, token in enumerate(tokens) if token.word[0].isdigit()]
        numbered += [at for at in said if at + 1 in said]  # "two twelve", and no "two rocky roads"
        if min(numbered, default=len(tokens)) >= len(tokens) - 1:
            return None
        first = next(
            (i for i, token in enumerate(tokens) if token.word not in words_of("to a place")), 0
        )
        street = any(
            (i > first and token.word in words_of("street") and not self._begins_dish(run, i))
            or (i > first + 1 and token.word in words_of("flat"))
            or (token.word in words_of("street begins") and i + 1 < len(tokens))
            or (len(token.word) > 6 and token.word.endswith(tuple(words_of("street ends"))))
            for i, token in enumerate(tokens)
        )
        street = street or (len(tokens) > 2 and self._has_postcode(run.typed(first)))
        if not street or self._names_dish_before_to(run):
            return None
        starts = first in numbered or any(
            token.word[0].isdigit() for token in tokens[first + 1 : first + 8]
        )
        last = self._address_end(run, first)
        if not starts or last < len(tokens) - 2:
            return None
        return self._address(run, first, last)

    def _address_first(self, words: Words) -> str | None:
        """Read an address that something else follows after a comma: "9 Park Row, Leeds, at eight"."""
        last = self._address_end(words, 0)
        return self._bare_address(words.part(0, last)) if 1 < last < len(words.tokens) else None

    def _begins_dish(self, words: Words, at: int) -> bool:
        """Whether a dish of several words begins here: "3 large dr peppers" live in no street."""
        found = self._names.longest(words.tokens, at)
        return found is not None and found[0] > 1 and bool(found[1].dishes)

    def _names_dish_before_to(self, words: Words) -> bool:
        """Whether what is to be brought was said with it: "two lasagne to 12 High Street"."""
        to = next((at for at, token in enumerate(words.tokens) if at and token.word == "to"), 0)
        named = (self._names.longest(words.tokens, at) for at in range(to))
        return any(one is not None and one[1].dishes for one in named)

    def _address(self, words: Words, first: int, last: int) -> str | None:
        text = words.typed(first, last)
        for at in range(first + 1, last):
            if length := _before_postcode(words, at):
                text = f"{words.typed(first, at)}, {words.typed(at + length, last)}"
                break
        text = text.strip(" .,;:-")
        plain = words.part(first, last)
        place = [token for token in plain.tokens if not token.stop]
        spoken = number_at(plain.tokens, 0) is not None and any(
            token.word in words_of("street") for token in place[1:]
        )  # "nine forty edgewood avenue"
        told = spoken or any(map(str.isdigit, text)) or any(map(str.isupper, text[:1]))
        enough = len(text) > 3 and told
        if not place or place[0].word in words_of("no place"):
            return None
        return text if enough else None

    def _address_end(self, words: Words, first: int) -> int:
        tokens = words.tokens
        index = first
        while index < len(tokens) and index - first < _LONGEST_ADDRESS:
            token = tokens[index]
            if index > first and (length := _before_postcode(words, index)):
                index += length
                continue
            if token.stop:
                if (
                    token.word == "."
                    and index
                    and tokens[index - 1].word in words_of("abbreviated")
                ):
                    index += 1
                    continue
                if token.breaks or token.word not in (",", "/"):
                    break
                if not self._goes_on(words, index + 1):
                    break
            elif index > first and token.start == tokens[index - 1].end:
                pass  # "6BY"
            elif token.word in words_of("address ends") and index > first:
                street = (
                    token.word == "the" and tokens[index - 1].word[0].isdigit()
                )  # "22 The Headrow"
                corner = token.word == "and" and "between" in words.part(first, index).said.split()
                corner = corner or words.typed(index, index + 1).casefold() == "n"  # "2315 N Clark"
                if not (street or corner):
                    break
            index += 1
        return index

    def _goes_on(self, words: Words, first: int) -> bool:
        """Whether what follows a comma is still the address."""
        tokens = words.tokens[first:]
        run: list[str] = []
        for token in tokens:
            if token.stop:
                break
            run.append(token.word)
        if not run or run[0] in words_of("address ends") or len(run) > 7:
            return False
        if _POSTCODE.fullmatch(run[0]) or _FLOOR.match(" ".join(run)):
            return True  # too many to be a quantity, and "8th floor"
        if run[0] in words_of("after street") or re.fullmatch(
            r"[a-z]?\d{2,6}[a-z]{0,2}|\w{1,4}\d\w{0,2}", run[0]
        ):
            following = self._names.longest(words.tokens, first + 1) if len(run) > 1 else None
            return following is None or not following[1].dishes
        if number_at(words.tokens, first) is not None or run[0] in ("a", "an", "no", "without"):
            return False
        if any(self._names.longest(words.tokens, first + i) is not None for i in range(len(run))):
            last = [token.word for token in tokens[len(run) + 1 : len(run) + 3]]  # ", NY 10003"
            before_postcode = any(_POSTCODE.fullmatch(word) for word in last)
            return words.capital(first) and (
                before_postcode or any(word[0].isdigit() for word in run)
            )
        return words.capital(first) or any(word[0].isdigit() for word in run)

    def _corrected_address(self, words: Words) -> Words:
        """Leave only the address of a correction: "sorry, it is 54 Prince Street, not 45"."""
        begins = words.find(pattern("corrects address"))
        if begins is None or begins.first:
            return words
        rest = words.part(begins.last, len(words))
        named = self._names.longest(rest.tokens, 1)
        if named is not None and named[1].dishes:
            return words  # "no, make it 2 colas"
        wrong = rest.find(pattern("not that number"))
        if wrong is None:
            return rest
        return Words.read(f"{rest.typed(0, wrong.first)} {rest.typed(wrong.last).lstrip(' ,')}")


def _first_missing(before: Words, after: Words) -> int | None:
    """Return the first token that was taken out of a run."""
    left = {token.start for token in after.tokens if not token.stop}
    return next(
        (
            at
            for at, token in enumerate(before.tokens)
            if not token.stop and token.start not in left
        ),
        None,
    )


def _adds_postcode(words: Words, heard: Heard) -> bool:
    """Add a postcode said by itself to the address before it: "12 High Street. The postcode is 10003"."""
    postcode = words.typed(_before_postcode(words, 0)).strip(" .,;:-")
    for at, (place, draft) in enumerate(heard.drafts):
        address = draft.fields.get("address") if draft.op == "set_fulfilment" else None
        if address and _before_postcode(words, 0) and len(postcode.split()) < 3:
            fields = {**draft.fields, "address": f"{address}, {postcode}"}
            heard.drafts[at] = (place, Draft(draft.op, fields))
            return True
    return False


def _before_postcode(words: Words, at: int) -> int:
    """Return how many words here only announce a postcode: ", and the postcode is 10003"."""
    found = pattern("announces postcode").match(words.part(at, len(words)).said)
    length = len(found.group().split()) if found is not None else 0
    following = words.tokens[at + length].word if at + length < len(words) else ""
    return length if any(map(str.isdigit, following)) else 0


_LONGEST_ADDRESS = 24
_POSTCODE = re.compile(r"\d{4,6}")
_FLOOR = re.compile(r"\d+ ?(st|nd|rd|th) \w")
