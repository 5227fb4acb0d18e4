"""Takes out coupons, tips and how the guest will pay."""

import re
from decimal import Decimal
from functools import lru_cache

from rapidfuzz import fuzz

from bella_vista.local.english import numbers
from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.meaning import Draft, OrderSeen, Question
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.statements.heard import Heard, asks_before
from bella_vista.local.understanding.words.tokens import Found, Words, number_at
from state.menu import Menu
from state.menu.words import stem, stems
from state.money import exponent


class Paying:
    """Reads what is said about money, but for prices: those nobody can say."""

    def __init__(self, menu: Menu) -> None:
        self._house = menu.restaurant
        self._codes = {_letters(code): code for code in menu.coupons}
        self._by_digits: dict[str, list[str]] = {}
        for code in self._codes:
            self._by_digits.setdefault(_digits(code), []).append(code)
        self._small = exponent(menu.restaurant.currency)
        named = (one for size, others in menu.sizes.items() for one in (size, *others))
        sizes = (size for dish in menu.dishes for size in dish.sizes)
        measures = {word for one in (*named, *sizes) for word in stems(one)}
        self._currency = {
            word for word in words_of("currency words") if stem(word) not in measures
        }  # where meat comes by the pound, "two pounds" is no price

    def take(self, words: Words, heard: Heard, order: OrderSeen, expects: str | None) -> Words:
        """Take it out of a clause and return what is left of it."""
        words = self._tip(words, heard, order, expects)
        return self._without_prices(self._pay(words, heard, expects))

    def given(self, words: Words, heard: Heard, names: Names, *, settling: bool) -> Words:
        """Take out a tip in percent or money, wherever it stands: "for the tip, let's say twenty percent".

        An amount of money is a tip beside the word "tip" or the staff, and always while the guest pays.
        """
        found: tuple[int, int, Decimal, str] | None = None
        at = 0
        while at < len(words.tokens):
            one = self._amount_at(words, at)
            if one is not None and not self._is_other(words, one, names, settling=settling):
                found = one
            at = one[1] if one is not None else at + 1
        if found is None:
            return words
        last, value = _corrected(words, found[1], found[2])
        if found[3] == "percent":
            heard.wish(words.part(found[0], last), "set_tip", percentage=_plain_number(value))
        else:
            heard.wish(words.part(found[0], last), "set_tip", amount=self._minor(value))
        return words.without(*_with_tip(words, found[0], last))

    def _amount_at(self, words: Words, at: int) -> tuple[int, int, Decimal, str] | None:
        """Read an amount with its unit at a place: "15 %", "five dollars", "a fiver"."""
        if not _may_begin_amount(words.tokens[at].word):
            return None
        read = self._money(words.part(at, min(at + _LONGEST_AMOUNT, len(words.tokens))))
        if read is None or read[0] or read[3] not in ("percent", "money"):
            return None
        return at, at + read[1], read[2], read[3]

    def _is_other(
        self, words: Words, amount: tuple[int, int, Decimal, str], names: Names, *, settling: bool
    ) -> bool:
        """Whether an amount is no tip: of a sentence that asks, of a coupon, "2 percent milk", a price."""
        first, last, _, unit = amount
        begins = max((at + 1 for at in range(first) if words.tokens[at].breaks), default=0)
        ends = next((at for at in range(last, len(words.tokens)) if words.tokens[at].breaks), None)
        sentence = words.part(begins, ends + 1 if ends is not None else len(words.tokens))
        following = {token.word for token in words.tokens[last : last + 2]}
        if following & words_of("no percent of a tip") or sentence.said.endswith("?"):
            return True
        if pattern("asks percent").match(sentence.said):
            return True  # "what's 20 percent"
        if _of_the_bill(sentence) or pattern("coupon").search(sentence.said):
            return True
        if unit == "money":
            priced = {token.word for token in sentence.tokens} & words_of("pays with money")
            if priced or pattern("round up").search(sentence.said) is not None:
                return True
            spoken = any(sentence.find(pattern(name)) for name in ("tip", "for the staff"))
            if not (settling or spoken):
                return True
        turned = (*words.tokens[first:last], *words.tokens[max(0, first - 1) : first])
        whole = names.longest(turned, 0)  # "sugar 25 percent"
        return (whole is not None and whole[0] > last - first) or any(
            (named := names.longest(words.tokens, at)) is not None and at + named[0] > first + 1
            for at in range(max(0, first - 1), first + 1)
        )

    def coupon(self, words: Words, heard: Heard, order: OrderSeen) -> Words:
        """Take out the codes of the house, or ask about one that is none."""
        if words.whole(pattern("no coupon")):
            return words.part(0, 0)
        off = words.find(pattern("coupon off")) is not None
        codes = 0
        while (said := self.code_in(words)) is not None:
            first, last, code = said
            taken = off and code in order.coupons
            heard.wish(
                words.part(first, last), "remove_coupon" if taken else "apply_coupon", code=code
            )
            spoken = words.find(pattern("coupon"))
            if spoken is not None:  # "the code welcome ten", "the welcome ten code"
                first = min(first, spoken.first)
                last = spoken.last if spoken.first == last else last
            if codes and first and words.tokens[first - 1].word in ("and", ","):
                first -= 1
            words = words.without(first, last)
            codes += 1
        if codes:
            return words
        places = list(words.find_all(pattern("coupon")))
        found = next((place for place in places if self._code_after(words, place.last)), None)
        found = found or (places[0] if places else None)
        if found is None:
            return words
        asks = asks_before(words, found.first) or "?" in words.said
        if asks and pattern("uses code").search(words.said) is None:
            return words
        if off and order.coupons:
            heard.wish(words, "remove_coupon", code=order.coupons[-1])
            return words.part(0, 0)
        typed = self._code_after(words, found.last)
        if typed:
            facts = {"code": typed, "why": "unknown"}
            heard.asked(Question("coupon_not_valid", facts))
            return words.part(0, 0)
        if found.last >= len(words.tokens) or words.tokens[found.last].stop:
            if (
                "code" in found.match.group()
                or "coupon" in found.match.group()
                or "voucher" in found.match.group()
            ):
                heard.asked(Question("missing", {"needs": "coupon"}, Draft("apply_coupon", {})))
                return words.without(found.first, found.last)
        return words

    def code_in(self, words: Words) -> tuple[int, int, str] | None:
        """Find a code of the house, written, spelled or with its number said: "welcome ten"."""
        all_said = "".join(_in_code(words, at) for at in range(len(words)))
        if not any(fuzz.partial_ratio(code, all_said) > _PARTLY_NEAR for code in self._codes):
            return None
        shortest, longest = min(map(len, self._codes)) - 1, max(map(len, self._codes)) + 1
        for first in range(len(words.tokens)):
            joined = ""
            for last in range(first, len(words.tokens)):
                if len(joined) >= longest:
                    break
                token = words.tokens[last]
                typed = words.typed(last, last + 1).strip("-.")
                if token.stop and joined and (len(typed) or last - first > 1):
                    continue  # "W-E-L-C-O-M-E"
                if token.stop:
                    break
                joined += _in_code(words, last)
                code = self._code(joined) if len(joined) >= shortest else None
                if code is not None and self._is_offered(words, first, last + 1, code):
                    return first, last + 1, code
        return None

    def _is_offered(self, words: Words, first: int, last: int, code: str) -> bool:
        """Whether a code that is an everyday word is meant as one: "I am a student" offers none."""
        said = words.trimmed(words_of("around"))
        alone = len(said) == last - first or words.typed(first, last).isupper()
        spoken = pattern("coupon").search(words.said) or pattern("uses code").search(words.said)
        return alone or spoken is not None or not code.isalpha()

    def _code(self, said: str) -> str | None:
        """Return the code that some letters and digits are, or that they are spelt nearly like."""
        if said in self._codes:
            return self._codes[said]
        near = [
            self._codes[letters]
            for letters in self._by_digits.get(_digits(said), ())
            if abs(len(letters) - len(said)) < 2 and fuzz.ratio(letters, said) > _VERY_NEAR
        ]
        return near[0] if len(near) == 1 else None

    def _code_after(self, words: Words, index: int) -> str:
        """Return what looks like a code, written in capitals or with digits."""
        if index < len(words.tokens) and words.tokens[index].stop:
            index += 1
        typed = words.typed(index, index + 3).split(" ")[0].strip(".,:!?")
        return typed if len(typed) > 2 and (typed.isupper() or any(map(str.isdigit, typed))) else ""

    def _tip(self, words: Words, heard: Heard, order: OrderSeen, expects: str | None) -> Words:
        given = [draft.fields for _, draft in heard.drafts if draft.op == "set_tip"]
        found = words.find(pattern("no tip"))
        if (
            found
            and "cash" in found.match.group()
            and not pattern("tip").search(found.match.group())
        ):
            # "I'll give the driver cash" says how it is paid, unless that is known or a tip was asked for.
            tips = bool(given) or expects == "amount" or heard.has("choose_payment")
            found = None if not tips or any(any(fields.values()) for fields in given) else found
        if found is not None and not given:
            heard.wish(words.part(found.first, found.last), "set_tip", percentage=0)
        while found is not None:  # "no tip, I'll give the driver cash"
            words, given = words.without(found.first, found.last), [{}]
            found = words.find(pattern("no tip"))
        if given:
            return words
        if expects == "amount" and pattern("skips").fullmatch(
            words.trimmed(words_of("around")).said
        ):
            heard.wish(words, "set_tip", percentage=0)
            return words.part(0, 0)
        offered = self._offered(words) if expects == "amount" else None
        if offered is not None:
            heard.wish(words, "set_tip", percentage=_plain_number(offered))
            return words.part(0, 0)
        tip = words.find(pattern("tip"))
        if tip is not None and (refused := self._refuses(words, tip, heard)) is not None:
            return refused
        rounding = (
            words.find(pattern("round up"))
            if expects == "amount" or tip or "round" in words.said
            else None
        )
        if (
            rounding is not None
            and "round" in rounding.match.group()
            or (rounding is not None and expects == "amount")
        ):
            return self._round_up(
                words, heard, order, rounding.span(words, "sum"), rounding.first, rounding.last
            )
        sure = {*words.said.split()} & words_of("no percent of a tip")
        bare = pattern("bare percent").fullmatch(words.trimmed(words_of("around")).said)
        bare = bare if not sure else None
        # Said with how it is paid, "card and ten percent" names a tip.
        paid = expects == "choice" or words.find(pattern("method alone")) is not None
        beside = paid and pattern("a percentage").search(words.said) is not None
        amount = self._money(words) if words.find(pattern("for the staff")) is not None else None
        # "Two quid for the driver" is a tip at any time; two of something may be for the driver.
        staff = amount is not None and (paid or expects == "amount" or amount[3] != "bare")
        beside = beside or staff or _with_a_number(words, heard)
        beside = beside or (expects == "choice" and not order.tip and _is_number(words))
        if tip is None and expects != "amount" and bare is None and not beside:
            return words
        if tip is not None and (asks_before(words, tip.first) or words.said.endswith("?")):
            return words
        if tip is None and _of_the_bill(words):
            return words
        if words.find(pattern("keep change")) is not None:
            heard.asked(Question("missing", {"needs": "tip"}, Draft("set_tip", {})))
            return words.part(0, 0)
        return self._amount_of_tip(words, heard, sure=expects in ("amount", "choice"))

    def _refuses(self, words: Words, tip: Found, heard: Heard) -> Words | None:
        """Take out a tip that is refused: "the tip I don't give today, so zero"."""
        amount = self._money(words)
        if amount is not None and amount[2]:
            return None
        said = [token.word for token in words.tokens]
        no = [at for at, word in enumerate(said) if word in words_of("no tip words")]
        if not no or {*said} & words_of("unsure of a tip") or words.said.endswith("?"):
            return None
        heard.wish(words, "set_tip", percentage=0)
        return words.without(min(tip.first, *no), max(tip.last, *(at + 1 for at in no)))

    def _offered(self, words: Words) -> Decimal | None:
        """Find which of the tips that were offered is meant: "the middle one"."""
        said = words.trimmed(words_of("around")).said
        suggested = self._house.tip.suggested
        for way, pick in (("least tip", min), ("most tip", max)):
            if suggested and pattern(way).fullmatch(said) is not None:
                return pick(suggested)
        found = pattern("first of").fullmatch(said)
        if found is None:
            return None
        number = numbers.ORDINALS.get(found["ordinal"], 0)
        if found["ordinal"] == "middle":
            number = len(suggested) // 2 + 1
        at = number - 1 if number > 0 else len(suggested) + number
        return suggested[at] if number and 0 <= at < len(suggested) else None

    def _amount_of_tip(self, words: Words, heard: Heard, *, sure: bool) -> Words:
        read = self._money(words)
        if read is None:
            return words
        whole = words
        first, last, value, unit = read
        words = words.part(first, last)
        if unit == "percent":
            heard.wish(words, "set_tip", percentage=_plain_number(value))
        elif unit == "money":
            heard.wish(words, "set_tip", amount=self._minor(value))
        elif unit == "small":
            heard.wish(words, "set_tip", amount=int(value))
        elif sure or value in self._house.tip.suggested:
            heard.wish(words, "set_tip", percentage=_plain_number(value))
        else:
            facts = {"needs": "tip_unit", "amount": str(value)}
            heard.asked(Question("missing", facts, Draft("set_tip", {})))
        words = whole
        tip = words.find(pattern("tip"))
        if tip is not None:
            first, last = min(first, tip.first), max(last, tip.last)
        before = words.part(0, first).find(_GIVE)
        return words.without(before.first if before is not None else first, last)

    def _round_up(
        self,
        words: Words,
        heard: Heard,
        order: OrderSeen,
        span: tuple[int, int],
        first: int,
        last: int,
    ) -> Words:
        read = self._money(words.part(*span))
        following = words.tokens[last].word if last < len(words) else ""
        if read is not None and (read[3] == "percent" or following in words_of("percent")):
            heard.wish(words, "set_tip", percentage=_plain_number(read[2]))
            return words.part(0, 0)
        if read is None or order.total is None:
            heard.asked(Question("missing", {"needs": "tip"}, Draft("set_tip", {})))
            return words.without(first, last)
        amount = self._minor(read[2]) - (order.total - (order.tip or 0))
        if amount < 0 and read[2] <= self._house.tip.maximum and read[3] == "bare":
            heard.wish(words, "set_tip", percentage=_plain_number(read[2]))
        elif amount < 0 and read[3] == "money" and 2 * self._minor(read[2]) < order.total:
            heard.wish(words, "set_tip", amount=self._minor(read[2]))  # "make it 3 dollars"
        elif amount < 0:
            heard.asked(Question("missing", {"needs": "tip"}, Draft("set_tip", {})))
        else:
            heard.wish(words, "set_tip", amount=amount)
        return words.without(first, last)

    def _money(self, words: Words) -> tuple[int, int, Decimal, str] | None:
        """Find an amount: where, how much, and whether it is percent, money, small coin or bare."""
        tokens = words.tokens
        bare: tuple[int, int, Decimal, str] | None = None
        for index, token in enumerate(tokens):
            value, length = _decimal(words, index)
            if value is None and token.word in ("a", "an"):  # "a dollar"
                following = tokens[index + 1].word if index + 1 < len(tokens) else ""
                value, length = Decimal(following in self._currency) or None, 1
            if value is None:
                continue
            if index and tokens[index - 1].word in words_of("below zero"):
                return None
            last = index + length
            following = tokens[last].word if last < len(tokens) else ""
            if following == "per" and last + 1 < len(tokens) and tokens[last + 1].word == "cent":
                return index, last + 2, value, "percent"
            if following in words_of("percent"):
                return index, last + 1, value, "percent"
            if index and tokens[index - 1].word in words_of("currency signs"):
                return index - 1, last, value, "money"
            if following in self._currency or following in words_of("currency signs"):
                return index, last + 1, value, "money"
            if following in words_of("small coin"):
                return index, last + 1, value, "small"
            if token.word == "a" or "." in token.word:
                return index, last, value, "money"
            if bare is None and not (index and tokens[index - 1].word in ("at", "around", "by")):
                bare = index, last, value, "bare"  # "pickup at 7, 10 percent"
        return bare

    def _minor(self, value: Decimal) -> int:
        return int((value * 10**self._small).to_integral_value())

    def _without_prices(self, words: Words) -> Words:
        """Pass over what a guest says something costs: prices come from the menu."""
        for found in reversed([*words.find_all(pattern("stated price"))]):
            said = {token.word for token in words.tokens[found.first : found.last]}
            if self._currency & said or not words_of("currency words") & said:
                words = words.without(found.first, found.last)
        return words

    def _without_methods(self, words: Words, first: int) -> Words:
        """Take out all that was said about ways of paying; what stands around it stays."""
        places = list(words.find_all(pattern("method alone")))
        return words.without(first, max((place.last for place in places), default=first))

    def _left_over(self, text: str) -> list[str]:
        """Name the only way that a guest has not ruled out: "I don't have cash"."""
        out = " ".join(found.group() for found in pattern("unchosen").finditer(text))
        ruled = {"cash" if one["cash"] else "card" for one in pattern("method").finditer(out)}
        return [way for way in self._house.payment if way not in ruled] if len(ruled) == 1 else []

    def _pay(self, words: Words, heard: Heard, expects: str | None) -> Words:
        bare = words.trimmed(words_of("around"))
        if expects == "choice" and bare.whole(pattern("my phone")):
            heard.wish(words, "choose_payment", method="card")
            return words.part(0, 0)
        alone = bare.whole(pattern("pay alone"))
        found = words.find(pattern("pay")) if alone is None else None
        if alone is None and found is None:
            return words
        text = alone.group() if alone else found.match.group() if found else ""
        if "gift" in words.said or "[" in words.line[:1]:
            return words
        if (
            found is not None
            and found.first
            and not _chosen(words.said)
            and words.tokens[found.first - 1].word in ("not", "no")
        ):
            return words
        if pattern("method").search(text) is None:
            return words
        methods = _chosen(words.said) or self._left_over(words.said)
        if len(methods) > 1 and {*words.said.split()} & words_of("corrects itself"):
            said = [one["cash"] for one in pattern("method").finditer(words.said)]
            methods = ["cash" if said[-1] else "card"]  # "card, sorry, cash"
        if len(methods) != 1 or pattern("methods too").search(words.said):
            facts = {"needs": "payment", "possible": list(self._house.payment)}
            heard.asked(Question("missing", facts, Draft("choose_payment", {})))
            return self._without_methods(words, found.first if found is not None else 0)
        at = words if found is None else words.part(found.first, found.last)
        heard.wish(at, "choose_payment", method=methods[0])
        if alone is not None:
            return words.part(0, 0)
        if found is None or len(list(pattern("method").finditer(words.said))) > 1:
            return self._without_methods(words, found.first if found is not None else 0)
        return words.without(found.first, found.last)


def _corrected(words: Words, last: int, value: Decimal) -> tuple[int, Decimal]:
    """Return the amount that a guest goes on to: "ten percent, no, let's do twenty"."""
    corrects = False
    at = last
    while at < len(words.tokens):
        word = words.tokens[at].word
        if words.tokens[at].breaks and not {
            token.word for token in words.tokens[at + 1 : at + 2]
        } & words_of("changes a tip"):
            break
        corrects = corrects or word in words_of("changes a tip")
        read, length = _decimal(words, at)
        ends = at + max(1, length)
        if corrects and read is not None:
            alone = ends == len(words.tokens) or words.tokens[ends].stop
            if alone or words.tokens[ends].word in words_of("around") | words_of("percent"):
                last, value = ends, read
        at = ends
    return last, value


def _with_tip(words: Words, first: int, last: int) -> tuple[int, int]:
    """Return the run of a tip's amount and of the words around it: "and put ... on for a tip, please"."""
    around, tip = words_of("around a tip"), pattern("tip")
    begins, at = first, first - 1
    while at >= 0 and (words.tokens[at].word in around or words.tokens[at].word == ","):
        if not words.tokens[at].stop and (
            "," not in words.part(at, first).said or tip.search(words.part(at, first).said)
        ):
            begins = at
        at -= 1
    at = last
    while at < len(words.tokens) and (
        words.tokens[at].word in around or words.tokens[at].word == ","
    ):
        if not words.tokens[at].stop and (
            "," not in words.part(last, at).said or tip.search(words.tokens[at].word)
        ):
            last = at + 1
        at += 1
    return begins, last


def _chosen(text: str) -> list[str]:
    """Name the ways of paying that are wanted: neither "not cash" nor "cash or card" chooses one."""
    left = pattern("unchosen").sub(" ", text)
    return sorted(
        {"cash" if found["cash"] else "card" for found in pattern("method").finditer(left)}
    )


def _in_code(words: Words, at: int) -> str:
    """Return the letters and digits of a code that a word stands for."""
    word = words.tokens[at].word
    number = numbers.UNITS.get(word)
    if number is not None:
        return str(number)
    return _letters(words.typed(at, at + 1).strip("-.") or word)


@lru_cache(maxsize=8192)
def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


@lru_cache(maxsize=8192)
def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _may_begin_amount(word: str) -> bool:
    begins = word in numbers.BEGINNINGS or word[:1].isdigit() or word in ("a", "an")
    return begins or word in words_of("currency signs")


def _decimal(words: Words, index: int) -> tuple[Decimal | None, int]:
    word = words.tokens[index].word
    if word[:1].isdigit() and _WITH_DECIMALS.fullmatch(word):
        return Decimal(word.replace(",", ".")), 1
    read = number_at(words.tokens, index)
    if read is None:
        return None, 0
    return Decimal(read[0]), read[1]


def _with_a_number(words: Words, heard: Heard) -> bool:
    """Whether nothing but a way of paying and a number is said: "card, 15", "card. 15"."""
    way = words.find(pattern("method alone"))
    if way is None and not heard.has("choose_payment"):
        return False
    rest = words.without(way.first, way.last) if way is not None else words
    rest = rest.trimmed(words_of("around"))
    number = number_at(rest.tokens, 0) if rest.tokens else None
    return number is not None and number[1] == len(rest)


def _is_number(words: Words) -> bool:
    """Whether nothing but a number is said."""
    said = words.trimmed(words_of("around"))
    number = number_at(said.tokens, 0) if said.tokens else None
    return number is not None and number[1] == len(said)


def _of_the_bill(words: Words) -> bool:
    """Whether an amount is what the guest thinks of the bill, and no tip."""
    return any(token.word in words_of("of the bill") for token in words.tokens)


def _plain_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


_WITH_DECIMALS = re.compile(r"\d+[.,]\d{1,2}")
_VERY_NEAR, _PARTLY_NEAR = 94.0, 85.0
_LONGEST_AMOUNT = 6
"""Words of an amount with its unit: "two dollars and fifty cents"."""
_GIVE = re.compile(
    r"(?:(?:and )?(?:i |we )?(?:will |would like to |want to )?(?:add|give|leave|make it|tip|put|with|take|do)(?: you| yourself| yourselves| them| the driver)?(?: a| an)?)$"
)
