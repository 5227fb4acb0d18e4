"""Takes out how a guest can be reached, and foods that they must not eat."""

import re
from collections.abc import Iterable
from dataclasses import replace

from bella_vista.local.english import vocabulary
from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.meaning import Draft, OrderSeen, Question
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.statements.heard import Heard, asks_before
from bella_vista.local.understanding.words.tokens import Words, tokenize
from state.contact import email_of, phone_of
from state.errors import NotValid
from state.menu import Menu
from state.menu.families import families_of
from state.menu.words import stems
from state.privacy.digits import digits_said


class Contacts:
    """Reads telephone numbers, e-mail addresses and allergies, wherever in a message they stand."""

    def __init__(self, menu: Menu, names: Names) -> None:
        self._menu = menu
        self._house = menu.restaurant
        self._names = names

    def take(self, words: Words, heard: Heard, order: OrderSeen) -> Words:
        """Take them out of a message and return what is left of it."""
        words = self._email(words, heard)
        words = self._phone(words, heard)
        return self._kept_off(self.allergies(words, heard, order), heard)

    def _kept_off(self, words: Words, heard: Heard) -> Words:
        """Name what is to be kept off: "allergic to pecans, keep those away from the waffle"."""
        named = [
            str(draft.fields["name"]) for _, draft in heard.drafts if draft.op == "add_allergy"
        ]
        found = words.find(pattern("keeps it off")) if named else None
        if found is None:
            return words
        first, last = found.span(words, "it" if found.match["it"] else "none")
        at = words.tokens[first].start
        said = named[-1] if found.match["it"] else f"no {named[-1]}"
        told = tuple(replace(one, start=at, end=at) for one in tokenize(said))
        if self._names.longest(told[-1:], 0) is None:
            rest = range(found.last, len(words))
            ends = (at for at in rest if words.tokens[at].stop or words.tokens[at].word == "and")
            return words.without(found.first, next(ends, len(words)))
        return Words(words.line, (*words.tokens[:first], *told, *words.tokens[last:]))

    def _email(self, words: Words, heard: Heard) -> Words:
        for written in _WRITTEN_EMAIL.finditer(words.line) if "@" in words.line else ():
            try:
                email = email_of(written.group().strip(".,"))
            except NotValid as error:
                facts = {**error.facts, "field": "email"}
                heard.asked(Question(error.code, facts))
            else:
                heard.wish(words, "set_customer", email=email)
            words = words.without_typed(written.start(), written.end())
        spoken = _SAID_EMAIL.search(words.line.lower())
        if spoken and "@" not in words.line and " dot " in spoken.group():
            try:
                email = email_of(spoken.group())
            except NotValid:
                return words
            # It was heard and not read: it is said back before it is kept.
            draft = Draft("set_customer", {"email": email})
            heard.asked(Question("missing", {"needs": "email", "email": email}, draft))
            words = words.without_typed(spoken.start(), spoken.end())
        return _without_mention(words)

    def _phone(self, words: Words, heard: Heard) -> Words:
        if words.whole(pattern("no phone")) and not any(map(str.isdigit, words.said)):
            heard.wish(words, "set_customer", phone="")
            return words.part(0, 0)
        for written in _WRITTEN_PHONE.finditer(words.line):
            called = pattern("phone words").search(words.said) is not None
            if not (6 if called else 9) <= sum(map(str.isdigit, written.group())) <= 15:
                continue
            try:
                phone = phone_of(written.group(), self._house)
            except NotValid as error:
                if called:
                    heard.asked(Question(error.code, {**error.facts, "field": "phone"}))
                    words = words.without_typed(written.start(), written.end())
                continue
            rest = Words.read(words.line[written.end() :])
            end = rest.find(pattern("new end of a number"))
            last = written.end()
            if end is not None and not end.first:  # "917 555 0182, no, sorry, 0183"
                digits = digits_said(end.match["end"])
                phone = phone[: len(phone) - len(digits)] + digits
                last += rest.tokens[end.last - 1].end
            heard.wish(words, "set_customer", phone=phone)
            first = self._name_before(words, heard, written.start())
            return words.without_typed(first, last)
        return self._spoken_phone(words, heard)

    def _name_before(self, words: Words, heard: Heard, at: int) -> int:
        """Take down a name that stands before a telephone number: "10003 rosa 646 555 0133"."""
        found = _NAME_BEFORE.search(words.line[:at])
        said = Words.read(found["name"]).tokens if found is not None else ()
        known = (self._names.longest(said, place) for place in range(len(said)))
        if found is None or any(known) or any(vocabulary.is_common(one.word) for one in said):
            return at
        heard.wish(words, "set_customer", name=found["name"].title())
        return found.start("name")

    def _spoken_phone(self, words: Words, heard: Heard) -> Words:
        first = 0
        while first < len(words.tokens):
            last = first
            while last < len(words.tokens) and words.tokens[last].word in words_of("digits said"):
                last += 1
            if last - first >= 7:
                try:
                    phone = phone_of(digits_said(words.typed(first, last)), self._house)
                except NotValid:
                    return words
                ends = words.part(last, len(words)).find(pattern("new end of a number"))
                digits = digits_said(ends.match["end"]) if ends and not ends.first else ""
                if ends is not None and len(digits) > 1:  # "... one six two, sorry, one six three"
                    phone, last = phone[: -len(digits)] + digits, last + ends.last
                heard.wish(words.part(first, last), "set_customer", phone=phone)
                return words.without(first, last)
            first = max(last, first + 1)
        return words

    def allergies(self, words: Words, heard: Heard, order: OrderSeen) -> Words:
        """Note what a person must not have, in the guest's word; a question about it notes nothing."""
        words = self._taken_back(words, heard, order)
        found = words.find(pattern("no i am allergic"))
        if found is not None:
            first, last = found.span(words, "what")
            self._allergic(words.part(first, last), heard)
            # "Hotteok, no peanuts, I'm allergic": where there are any, they are left off, too.
            off = self._is_in(words.part(first, last), words, order)
            return words.without(last if off else found.first, found.last)
        found = words.find(pattern("allergic alone"))
        if found is not None and (asked := _asked_about(words, found.first)) is not None:
            self._allergic(asked, heard)
            return self.allergies(words.without(found.first, found.last), heard, order)
        found = words.find(pattern("makes ill"))
        if found is not None and not asks_before(words, found.first):
            last = found.first - 1
            if last > 1 and words.tokens[last].word in ("it", "that", "they", "this"):
                listed = words.part(_begin_of_list(words, last), last)
                if families_of(listed.said):  # "no cheese, it does not agree with me"
                    self._allergic(listed, heard)
                    return self.allergies(words.without(last, found.last), heard, order)
            first = _begin_of_list(words, found.first)
            if families_of(words.part(first, found.first).said):
                self._allergic(words.part(first, found.first), heard)
                return self.allergies(words.without(first, found.last), heard, order)
        head = words.find(pattern("allergies are"))
        if head is not None and words.tokens[head.last - 1].word == ":":
            last = _end_of_list(words, head.last)
            if self._allergic(words.part(head.last, last), heard):
                return self.allergies(words.without(head.first, last), heard, order)
        for name in ("allergic to", "allergy to", "cannot eat"):
            found = words.find(pattern(name))
            own = name == "allergic to"  # "what can I have if I am allergic to nuts?"
            if found is None or (not own and asks_before(words, found.first)):
                continue
            last = self._before_an_order(words, found.last, _end_of_list(words, found.last))
            listed = words.part(found.last, last)
            if name == "cannot eat" and not any(families_of(one.word) for one in listed.tokens):
                continue
            if self._allergic(listed, heard):
                return self.allergies(words.without(found.first, last), heard, order)
        found = words.find(pattern("an allergy"))
        if found is None or asks_before(words, found.first):
            return self._in_danger(words, heard)
        first = _begin_of_list(words, found.first)
        alone = found.match["celiac"]
        if alone:
            first = found.first
            heard.wish(words.part(first, found.last), "add_allergy", name=alone)
        elif not self._allergic(words.part(first, found.first), heard):
            return self._in_danger(words, heard)
        before = words.part(0, first).find(pattern("has it"))
        if before is not None and before.last == first:
            first = before.first
        return self.allergies(words.without(first, found.last), heard, order)

    def _taken_back(self, words: Words, heard: Heard, order: OrderSeen) -> Words:
        """Take off what was noted: "remove the peanut allergy", "not peanuts, sesame"."""
        found = words.find(pattern("removes an allergy"))
        if found is not None:
            said = found.match["what"]
            named = [one for one in order.allergies if said is None or _is_one(one, said)]
            for name in named:
                heard.wish(words.part(found.first, found.last), "remove_allergy", name=name)
            if not named and said is not None and not all(map(families_of, said.split())):
                return words  # "remove the pesto nut allergy": off the dish, for an allergy
            if not named:
                heard.meant("no allergies")
            return words.without(found.first, found.last)
        if not order.allergies and words.whole(pattern("has no allergies")):
            heard.meant("no allergies")
            return words.part(0, 0)
        found = words.find(pattern("another allergy")) if order.allergies else None
        if found is None:
            return words
        wrong = words.part(*found.span(words, "wrong")).said
        meant = words.part(*found.span(words, "meant"))
        noted = [name for name in order.allergies if _is_one(name, wrong)]
        if not noted or not families_of(meant.said):
            return words
        for name in noted:
            heard.wish(meant, "remove_allergy", name=name)
        self._allergic(meant, heard)
        return words.without(found.first, found.last)

    def _before_an_order(self, words: Words, first: int, last: int) -> int:
        """Let a list of allergens end where a dish is ordered: "allergic to nuts, lasagna please"."""
        for at in range(first + 2, last):
            named = self._names.longest(words.tokens, at) if words.tokens[at - 1].stop else None
            if named is not None and named[1].dishes:
                after = at + named[0]
                if words.part(after, after + 1).said in words_of("after an order"):
                    return at - 1
        return last

    def _in_danger(self, words: Words, heard: Heard) -> Words:
        """Note the food of a sentence that says it would do somebody harm: "peanuts could kill my son".

        However it is said, an allergy is rather noted once too often than passed over.
        """
        danger = words.find(pattern("danger"))
        if danger is None or asks_before(words, len(words)) or words.said.endswith("?"):
            return words
        foods: list[tuple[int, int]] = []
        at = 0
        while at < len(words):
            named = self._names.longest(words.tokens, at)
            length = 2 if _is_narrower(words.part(at, at + 2)) else 1
            if named is not None and named[0] > 1 and named[1].dishes:
                at += named[0]
            elif families_of(words.part(at, at + length).said):
                foods.append((at, at + length))
                at += length
            else:
                at += 1
        if not foods:
            return words
        for first, last in foods:
            self._allergic(words.part(first, last), heard)
        first, last = min(danger.first, foods[0][0]), max(danger.last, foods[-1][1])
        while first and not words.tokens[first - 1].stop:
            first -= 1
        while last < len(words) and not words.tokens[last].stop:
            last += 1
        return words.without(first, last)

    def _is_in(self, what: Words, words: Words, order: OrderSeen) -> bool:
        """Whether a dish that is named, or is on the order, comes with something."""
        named = (self._names.longest(words.tokens, at) for at in range(len(words)))
        dishes = {name for one in named if one is not None for name in one[1].dishes}
        dishes |= {line.name for line in order.items}
        known = (dish for name in dishes if (dish := self._menu.dish(name)) is not None)
        return any(stems(what.said) == stems(one) for dish in known for one in dish.contains)

    def _allergic(self, listed: Words, heard: Heard) -> bool:
        named = False
        for run in _split_list(listed):
            kept = [one.word for one in run.tokens if one.word not in words_of("no allergen")]
            if not kept or len(kept) > 3:
                continue
            last = kept[-1]
            kept[-1] = (
                f"{last}{'es' if last[-1] == 'o' else 's'}" if last in words_of("counted") else last
            )
            heard.wish(run, "add_allergy", name=" ".join(kept))
            named = True
        return named


def _without_mention(words: Words) -> Words:
    """Pass over the words that an address was announced by."""
    found = words.find(pattern("my email"))
    return words.without(found.first, found.last) if found is not None else words


def _asked_about(words: Words, last: int) -> Words | None:
    """Return the food that was asked about before: "does it have nuts? I am allergic"."""
    for at in reversed(range(last)):
        asks = any(token.word in words_of("question words") for token in words.tokens[:at])
        if asks and families_of(words.tokens[at].word):
            two = words.part(max(0, at - 1), at + 1)
            return two if _is_narrower(two) else words.part(at, at + 1)
    return None


def _is_one(noted: str, said: str) -> bool:
    """Whether an allergy that is noted is called like this: "peanut" for "peanuts"."""
    return stems(noted) == stems(said) or noted == said


def _is_narrower(two: Words) -> bool:
    """Whether two words name a narrower allergen than the second alone: "tree nuts"."""
    last = families_of(two.tokens[-1].word)
    return len(two) == 2 and bool(last) and families_of(two.said) not in ((), last)


def _begin_of_list(words: Words, last: int) -> int:
    """Return where what stands before "allergy" begins: "a dairy and tree nut allergy"."""
    first = last
    while first and last - first < _LONGEST_LIST:
        token = words.tokens[first - 1]
        if token.word not in ("and", "or", ",") and (
            token.stop or token.word in words_of("before allergy")
        ):
            break
        first -= 1
    # Of what is no food only the word before it belongs to it: "sunday roast allergy".
    known = [at for at in range(first, last) if families_of(words.part(at, min(at + 2, last)).said)]
    return min(known, default=max(first, last - 1))


def _end_of_list(words: Words, first: int) -> int:
    """Return where a list of things ends: at a stop, or where something else begins."""
    index, ends = first, words_of("no allergen follows")
    while index < len(words.tokens):
        token = words.tokens[index]
        joint = token.word in ("and", ",")
        following = words.tokens[index + 1 : index + 2]
        if not joint and (token.stop or token.word in ends):
            break
        if joint and (not following or following[0].word in ends or following[0].stop):
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


_LONGEST_LIST = 8
_SAID_EMAIL = re.compile(
    r"(?<!\S)[\w.+-]+(?:(?: dot | underscore | dash |\.)[\w-]+)* at [\w-]+(?:(?: dot |\.)[\w-]+)*(?: dot |\.)[a-z]{2,6}(?!\S)"
)
_WRITTEN_EMAIL = re.compile(r"[^\s@,;:<>()]+@[^\s@,;:<>()]+\.[^\s@,;:<>()]+")
_WRITTEN_PHONE = re.compile(r"(?<![\w#])\+?\(?\d[\d\s()./-]{5,22}\d(?![\w])")
_NAME_BEFORE = re.compile(
    r"(?:^|(?P<code>\d{4}[.,]?\s+)|[\d,]\s+)(?P<name>[^\W\d_]{2,}(?(code)(?: [^\W\d_]{2,})?))[\s,:]+"
    r"(?:(?:and )?(?:my|the) (?:phone |cell )?(?:number|phone|cell) is\s+)?$"
)
