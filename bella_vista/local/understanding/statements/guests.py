"""Takes out a guest's name: said in a sentence, alone, or spelled."""

import re
from dataclasses import replace
from itertools import pairwise

from rapidfuzz import fuzz

from bella_vista.local.english import vocabulary
from bella_vista.local.english.talking import pattern, said_words, words_of
from bella_vista.local.understanding.meaning import Draft, OrderSeen
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.statements.heard import Heard
from bella_vista.local.understanding.words.phrases import small_words
from bella_vista.local.understanding.words.tokens import Found, Words, number_at


class Guests:
    """Reads names, and takes no dish for one."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def whole(self, words: Words, heard: Heard) -> Words:
        """Take out a name that stands apart in a message about the handover: "pickup at seven, Nikos".

        A name that is spelled out after it was said is as it was said.
        """
        for spelled in _LETTERS.finditer(words.line):
            letters = "".join(filter(str.isalpha, spelled["letters"])).casefold()
            if letters == spelled["name"].casefold():
                words = words.without_typed(spelled.start("letters"), spelled.end("letters"))
        words = self._first_name(self._titled(self._joined(words), heard), heard)
        words = self._begins_with(words, heard)
        words = self._fetched(self._beside_pickup(self._behind(words, heard), heard), heard)
        if words.find(pattern("pickup")) is None and words.find(pattern("delivery")) is None:
            return words
        first, place = 0, False
        for last in [i for i, token in enumerate(words.tokens) if token.stop] + [len(words)]:
            if first < last < len(words) + 1 and last - first < len(words):
                run = words.part(first, last)
                if not place and self._stands_apart(words, first, last):
                    self._call_it(words, heard, first, last)
                    return words.without(first, last)
                # "9 Park Row, Leeds" names a town.
                place = any(one.word in words_of("street") for one in run.tokens) or (
                    run.find(pattern("deliver to")) is not None
                )
                place = place and _POSTCODE.search(run.typed()) is None
            first = last + 1
        return words

    def _joined(self, words: Words) -> Words:
        """Take a name with a hyphen for one word: "Jae-min", "Mary-Jane"."""
        tokens = [*words.tokens]
        for at in range(len(tokens) - 2, -1, -1):
            one, other = tokens[at : at + 2]
            hyphen = words.line[one.end : other.start] == "-" and words.capital(at)
            if hyphen and one.word.isalpha() and other.word.isalpha():
                if self._is_known(words, at) or self._is_strange(words, at):
                    word = one.word + other.word
                    tokens[at : at + 2] = [replace(one, word=word, stem=word, end=other.end)]
        return Words(words.line, tuple(tokens)) if len(tokens) < len(words) else words

    def _titled(self, words: Words, heard: Heard) -> Words:
        """Take out a name that stands behind a title: "it's Mrs. Baker", and no Dr Pepper."""
        tokens = words.tokens
        for at, token in enumerate(tokens[:-1]):
            first = at + 1 + (tokens[at + 1].word == ".")
            named = self._names.longest(tokens, at)
            if token.word not in words_of("titles") or (named is not None and named[0] > 1):
                continue
            last = first
            while last < len(tokens) and last - first < _APART and self._may_be_name(words, last):
                last += 1
            if first < last and (words.capital(first) or self._is_strange(words, first)):
                return self._taken(words, heard, at, last)
        return words

    def _first_name(self, words: Words, heard: Heard) -> Words:
        """Take out a name that everybody knows, alone at the begin or the end: "Linda and it's to go".

        The name of somebody in the room is passed over: "Chris, do you want one?".
        """
        tokens, last = words.tokens, len(words) - 1
        way = words.find(pattern("pickup")) or words.find(pattern("delivery"))
        beside = last > 0 and (way is not None or tokens[last - 1].word[-4:].isdigit())
        beside = beside and not self._may_be_name(words, last - 1)
        if beside and self._is_known(words, last) and not self._names_food(words):
            return self._taken(words, heard, last, len(words))  # "delivery at 10013 tanya"
        stops = [at for at, token in enumerate(tokens) if token.stop]
        begun = [at for at, token in enumerate(tokens[: _APART + 1]) if token.word == "and"]
        stops = sorted({*begun[:1], *stops})
        runs = [*pairwise((-1, *stops, len(words)))]
        named = [
            (before + 1, last)
            for before, last in runs
            if before + 1 < last <= before + 1 + _APART and self._is_known(words, before + 1)
        ]
        for first, last in reversed(named):
            others = pattern("asks another").match(words.part(last + 1, len(words)).said)
            if others is not None and last == first + 1:
                words = words.without(first, last + 1)
            elif first and last < len(words) and self._gets(words, last + 1):
                continue  # "for Tom a cola, Mary, a latte"
            elif len(named) == 1 and all(self._may_be_name(words, at) for at in range(first, last)):
                return self._taken(words, heard, first, last)
        return words

    def _is_known(self, words: Words, at: int) -> bool:
        """Whether a word is a name that everybody knows, and nothing of the menu."""
        word = words.tokens[at].word
        known = word in words_of("first names")
        known = known or (word in words_of("given names") and words.capital(at))
        return known and self._names.longest(words.tokens, at) is None

    def _taken(self, words: Words, heard: Heard, first: int, last: int) -> Words:
        self._call_it(words, heard, first, last)
        return words.without(first, last)

    def _begins_with(self, words: Words, heard: Heard) -> Words:
        """Take out a name that a message begins with: "hi it's maria for pickup"."""
        found = words.find(pattern("begins with name"))
        if found is None or found.first or found.last >= len(words):
            return words
        last = self._strange_end(words, found.last)
        before = words.tokens[found.last - 1].word
        following = words.tokens[last].word if last < len(words) else ""
        begun = words.part(last, len(words)).said
        fetches = pattern("pickup").match(begun) or pattern("delivery").match(begun)
        known = self._is_known(words, found.last)
        orders = following in words_of("begins to order") or self._gets(words, last)
        orders = orders or fetches is not None
        goes_on = following in words_of("after a name") | words_of("name here")
        goes_on = goes_on or (known and (not following or words.tokens[last].stop))
        if before in words_of("name here") or last == found.last:
            return words
        # "This is ridiculous and late": it takes a greeting, or an order, to be a name.
        alone = found.last == 2 and before == "is" and not (known or words.capital(found.last))
        if not (orders or (goes_on and not alone)):
            return words
        self._call_it(words, heard, found.last, last)
        return words.without(0, last + (following in words_of("name here")))

    def _behind(self, words: Words, heard: Heard) -> Words:
        """Take out a name that nothing but its place tells: "order for jamal 1 lasagna"."""
        named = any(one.op == "set_customer" and "name" in one.fields for _, one in heard.drafts)
        if named:
            return words
        for found in words.find_all(pattern("a name follows")):
            last = self._strange_end(words, found.last)
            if last > found.last:
                last = max(last, self._name_end(words, found.last, sure=False))
                self._call_it(words, heard, found.last, last)
                first = (
                    found.last - 1 if words.tokens[found.last - 1].word == "for" else found.first
                )
                return words.without(first, last)
        for found in words.find_all(pattern("a name may follow")):
            last = self._strange_end(words, found.last)
            if last > found.last and self._ends(words, last):
                self._call_it(words, heard, found.last, last)
                of = words.tokens[found.last - 1].word == "for"
                return words.without(found.last - of, last)
        return words

    def _fetched(self, words: Words, heard: Heard) -> Words:
        """Take out the name of who fetches it: "my husband Carl will pick it up"."""
        found = words.find(pattern("before it is fetched"))
        if found is None or not found.first or heard.has("set_customer"):
            return words
        at = found.first - 1
        if not self._is_strange(words, at):
            return words
        self._call_it(words, heard, at, at + 1)
        return Words(words.line, (*words.tokens[:at], *words.tokens[at + 1 :]))

    def _strange_end(self, words: Words, first: int) -> int:
        """Return where a run of words ends that can be nothing but a name."""
        last = first
        while last < len(words) and last - first < _LONGEST_NAME:
            particle = words.tokens[last].word in words_of("particles") and last + 1 < len(words)
            if not (self._is_strange(words, last) or (particle and words.capital(last + 1))):
                break
            last += 1
        return last

    def _ends(self, words: Words, at: int) -> bool:
        """Whether nothing follows, or a pause does."""
        rest = words.part(at, len(words)).trimmed(words_of("around"))
        return not rest.tokens or words.tokens[at].stop

    def _beside_pickup(self, words: Words, heard: Heard) -> Words:
        """Take out a name that stands before the way: "for priya pickup"."""
        found = words.find(pattern("pickup"))
        if found is None or heard.has("set_customer"):
            return words
        after = found.last + 1
        if after < len(words) and words.tokens[after - 1].word in ("for", "by"):
            last = words.tokens[after + 1].word if after + 1 < len(words) else "at"
            ends = last in words_of("after a name") or last in ("in", "around", "by", ",", ".")
            if ends and self._is_strange(words, after):  # "pickup for sanjay at seven"
                self._call_it(words, heard, after, after + 1)
                return words.without(after - 1, after + 1)
        if not found.first:
            return words
        if not words.tokens[found.first].word.startswith(("pick", "coll", "take")):
            return words
        at = found.first - 1
        if not self._is_strange(words, at) or words.capital(at) or at > _APART + 2:
            return words
        self._call_it(words, heard, at, at + 1)
        before = at and words.tokens[at - 1].word == "for"
        return words.without(at - 1 if before else at, at + 1)

    def _is_strange(self, words: Words, at: int) -> bool:
        """Whether a word is none of the menu's and none that everybody knows, so that it may be a name."""
        word = words.tokens[at].word
        run = Words.read(words.typed(at, at + 1)).tokens
        respelt = bool(run) and run[0].word != word
        if respelt and fuzz.ratio(run[0].word, word) < _VERY_MUCH:
            word = run[0].word  # "Marco" is spelt a little like "mariscos"
        else:
            respelt = False
        never = ("not names", "never names", "no guests", "titles")
        if not word.isalpha() or len(word) < 2 or any(word in words_of(name) for name in never):
            return False
        known = vocabulary.is_common(word) or word in said_words() or word in small_words()
        if word in words_of("first names") and self._names.meaning(word) is None:
            return True
        if known and word not in words_of("given names"):
            return False
        return respelt or not self._names.resolve(words.typed(at, at + 1)).names

    def _stands_apart(self, words: Words, first: int, last: int) -> bool:
        """Whether a run between two commas can be nothing but a name."""
        if last - first > _APART or words.line.isupper():
            return False
        run = self._joined(Words.read(words.typed(first, last))).tokens
        heard = words.tokens[first:last]
        if len(run) != len(heard) or not all(map(words.capital, range(first, last))):
            return False
        if any(self._names.longest(run, at) is not None for at in range(len(run))):
            return False
        # "Chris" is spelt a little like "chips"; "Tiramsu" is spelt very much like a dish.
        spelt = all(
            one.word == other.word or fuzz.ratio(one.word, other.word) < _VERY_MUCH
            for one, other in zip(run, heard, strict=True)
        )
        greets = pattern("greeting").fullmatch(words.part(first, last).said) is not None
        return (spelt and not greets) and not any(
            not token.word.isalpha()
            or token.word in vocabulary.COMMON
            or token.word in vocabulary.FOODS
            or token.word in words_of("not names")
            or token.word in words_of("street")
            or token.word in words_of("never names")
            or token.word in words_of("no guests")
            for token in run
        )

    def others(self, words: Words, order: OrderSeen) -> Words:
        """Pass over the names of those who get a dish: "Priya wants a latte, and for Tom the same".

        Args:
            words: A clause.
            order: The order. If something is on it, or somebody else gets something, "and a cola for Tom"
                names another guest; the names of those who have a line point at it and stay.
        """
        known = frozenset(one for line in order.items for one in line.person)
        tokens, left = words.tokens, [*words.tokens]
        for found in words.find_all(pattern("somebody gets")):
            at = found.first - 1
            # "The one with ranch gets onion rings" names no one.
            alone = at < 1 or tokens[at - 1].word not in _BEFORE_THINGS
            strange = at >= 0 and tokens[at].word not in known and self._is_strange(words, at)
            if alone and strange:
                said = len((found.match["said"] or "").split())
                left = [one for one in left if one not in tokens[at : at + 1 + said]]
        for_whom = [at for at in range(1, len(tokens)) if tokens[at - 1].word == "for"]
        named = [at for at in for_whom if self._is_strange(words, at)]
        shared = (
            bool(order.items) or len(named) > 1 or any(tokens[i].word == "me" for i in for_whom)
        )
        for at in named:
            if tokens[at].word in known:
                continue
            if words.part(0, at).said.endswith(_ORDERING_FOR):
                continue
            alike = at > 1 and tokens[at - 2].word in words_of("alike")
            swaps = words.part(0, at).find(pattern("verb swap")) is not None
            last = (
                shared
                and (self._ends(words, at + 1) or tokens[at + 1].word == "and")
                and self._names_food(words)
                and not swaps
            )
            if alike or last or self._gets(words, at + 1):
                left = [one for one in left if one not in tokens[at - 1 : at + 1]]
        return Words(words.line, tuple(left))

    def _names_food(self, words: Words) -> bool:
        return any(self._names.longest(words.tokens, at) is not None for at in range(len(words)))

    def _gets(self, words: Words, at: int) -> bool:
        """Whether it is said from here on what somebody gets: "(for Tom) a large cola"."""
        tokens = [token for token in words.tokens[at:] if token.word != ","]
        while tokens and tokens[0].word in ("a", "an", "the", "just", "some"):
            tokens.pop(0)
        if not tokens or tokens[0].stop:
            return False
        if tokens[0].word in words_of("alike") or number_at(tokens, 0) is not None:
            return True
        return self._names.longest(tokens, 0) is not None

    def take(self, words: Words, heard: Heard, expects: str | None) -> Words:
        """Take a name out of a clause and return what is left of it."""
        refused = "no name asked" if expects in ("name", _NAME_TOO) else "no name"
        if pattern(refused).fullmatch(words.trimmed(words_of("around")).said):
            heard.wish(words, "set_customer", name="")
            return words.part(0, 0)
        spelled = words.find(pattern("spelled"))
        if (
            spelled is not None
            and spelled.first <= 2
            and (told := _letters(words, spelled.last))[0]
        ):
            heard.wish(words, "set_customer", name=told[0])
            return words.without(spelled.first, told[1])
        if (letters := _spelled_alone(words)) is not None:
            heard.wish(words, "set_customer", name=letters[0])
            return words.part(letters[1], len(words))
        if expects == "name":
            read = self._bare_name(words, heard)
            if read is not None:
                return read
        alone = self._name_alone(words)
        for found in (*words.find_all(pattern("name is")), *((alone,) if alone else ())):
            last = self._name_end(words, found.last, sure=True)
            if last > found.last:
                return self._call(words, heard, found.first, found.last, last)
        for name in ("i am", "for name"):
            for place in words.find_all(pattern(name)):
                start = place.last
                last = self._name_end(words, start, sure=False)
                if last == start or not self._is_name(
                    words, start, last, place.match.group(), expects
                ):
                    continue
                return self._call(words, heard, place.first, start, last)
        if expects == _NAME_TOO and self._among_small_words(words, heard):
            return words.part(0, 0)
        return self._name_first(words, heard)

    def _among_small_words(self, words: Words, heard: Heard) -> bool:
        """Take a name that is all of an answer but small words: "you can put Jonas on it"."""
        around = words_of("around a name")
        letter = words.find(pattern("with a letter"))
        kept = [
            at
            for at, token in enumerate(words.tokens)
            if not (token.stop or token.word in around)
            and not (letter is not None and letter.first <= at < letter.last)
        ]
        if not kept or kept[-1] - kept[0] >= min(len(kept), _LONGEST_NAME):
            return False
        if not all(self._may_be_name(words, at) for at in kept):
            return False
        word = words.tokens[kept[0]].word
        if [token.word for token in words.tokens[kept[-1] + 1 : kept[-1] + 2]] == ["order"]:
            return False  # "party order"
        if vocabulary.is_common(word) and word not in words_of("given names"):
            return False  # "Before I order"
        own = self._names.longest(words.tokens, kept[0]) is None and words.capital(kept[0])
        article = kept[0] > 0 and words.tokens[kept[0] - 1].word in ("a", "an", "the")
        alone = len(kept) == 1 and self._is_strange(words, kept[0]) and not article
        if not (own or alone):
            return False
        self._call_it(words, heard, kept[0], kept[-1] + 1)
        return True

    def _name_alone(self, words: Words) -> Found | None:
        """Find "name Inés", where nothing but "name" stands before it."""
        found = words.find(pattern("name"))
        if found is None:
            return None
        alone = not found.first or words.tokens[found.first - 1].stop
        if not alone and len(words.trimmed(words_of("around"))) > found.last + 1:
            return None  # "delivery to 415 Berendo Street, name Hyun"
        return found if words.capital(found.last) else None

    def _name_first(self, words: Words, heard: Heard) -> Words:
        """Read "Marco here" and "Ada Lovelace speaking"."""
        is_name = words.find(pattern("is my name"))
        for index, token in enumerate(words.tokens):
            here = token.word in words_of("name here") | words_of("picks")
            if here and index == 1 and not words.capital(0) and self._is_strange(words, 0):
                self._call_it(words, heard, 0, 1)
                return words.without(0, index + (token.word in words_of("name here")))
            if not index or not (here or (is_name is not None and is_name.first == index)):
                continue
            first = index
            while (
                first > 0 and self._may_be_name(words, first - 1) and index - first < _LONGEST_NAME
            ):
                first -= 1
            if first < index and all(words.capital(at) for at in range(first, index)):
                self._call_it(words, heard, first, index)
                last = is_name.last if is_name is not None and not here else index + 1
                last -= token.word in words_of("picks")
                return words.without(first, last)
        return words

    def _bare_name(self, words: Words, heard: Heard) -> Words | None:
        letter = words.find(pattern("with a letter"))
        if letter is not None and letter.first:
            words = words.without(letter.first, letter.last)
        kept = [index for index, token in enumerate(words.tokens) if not token.stop]
        while kept and words.tokens[kept[0]].word in words_of("before name"):
            kept.pop(0)
        while kept and words.tokens[kept[-1]].word in words_of("after name"):
            kept.pop()
        if not kept or len(kept) > _LONGEST_NAME or kept[-1] - kept[0] >= len(kept) + 1:
            return None
        if words.find(pattern("name is")) is not None:
            return None
        if not all(_letters_only(words.tokens[index].word) for index in kept):
            return None
        run = words.part(kept[0], kept[-1] + 1)
        single = len(kept) == 1
        odd = [token.word for token in run.tokens if token.word in words_of("not names")]
        common = [token.word for token in run.tokens if token.word in vocabulary.COMMON]
        guessed = (
            single and common and not run.capital(0) and run.said not in words_of("given names")
        )
        given = run.tokens[0].word in words_of("given names")  # "june park"
        if odd or guessed or (common and not (single or given) and len(common) == len(kept)):
            return None
        if single and (
            run.said in words_of("never names")
            or run.whole(pattern("yes"))
            or run.whole(pattern("no"))
            or run.whole(pattern("done"))
            or run.whole(pattern("bye"))
            or run.whole(pattern("greeting"))
        ):
            return None
        self._call_it(words, heard, kept[0], kept[-1] + 1)
        return words.part(0, 0)

    def _name_end(self, words: Words, start: int, *, sure: bool) -> int:
        last = start
        while last < len(words.tokens) and last - start < _LONGEST_NAME:
            token = words.tokens[last]
            if token.stop or not token.word.isalpha():
                break
            if not self._may_be_name(words, last) and not (sure and last == start):
                break
            if last == start and token.word in words_of("not names"):
                break
            if (
                last > start
                and not words.capital(last)
                and not self._lower_line(words, start, last)
                and token.word not in words_of("particles")
            ):
                break
            last += 1
        return last

    def _may_be_name(self, words: Words, index: int) -> bool:
        token = words.tokens[index]
        if token.stop or not token.word.isalpha() or token.word in words_of("not names"):
            return False
        if token.word in words_of("particles"):
            return True
        if token.word in vocabulary.FOODS or self._names.longest(words.tokens, index) is not None:
            # "Walter" is spelt a little like "water".
            typed = Words.read(words.typed(index, index + 1)).tokens
            respelt = bool(typed) and typed[0].word != token.word
            strange = token.word not in vocabulary.FOODS or respelt
            return (words.capital(index) or self._is_strange(words, index)) and strange
        if token.word in vocabulary.COMMON:
            return words.capital(index) and not words.line.isupper()
        return not (token.word.endswith("ing") and not words.capital(index))

    def _lower_line(self, words: Words, start: int, index: int) -> bool:
        """Whether nothing is capitalised, so that a family name need not be either."""
        return not words.capital(start) and words.tokens[index].word not in vocabulary.COMMON

    def _is_name(
        self, words: Words, start: int, last: int, before: str, expects: str | None
    ) -> bool:
        """Whether what follows "I am" or "it is" is a name and not how somebody is."""
        tokens = words.tokens
        following = tokens[last].word if last < len(tokens) else ""
        closed = last >= len(tokens) or tokens[last].stop or following in words_of("after a name")
        capital = words.capital(start)
        if following in words_of("name here"):
            return True
        if not closed:
            return False
        if before.endswith(("for", "under")):
            if expects in ("name", _NAME_TOO) and not capital and self._is_strange(words, start):
                return True
            month = tokens[start].word in words_of("no guests")
            return (
                capital and not month and self._names.resolve(words.typed(start, last)).names == ()
            )
        if before.endswith("i am"):
            return capital or tokens[start].word not in vocabulary.COMMON
        asked = expects == "name" or (expects == _NAME_TOO and self._is_strange(words, start))
        return capital or asked or self._is_known(words, start)

    def _call(self, words: Words, heard: Heard, first: int, start: int, last: int) -> Words:
        self._call_it(words, heard, start, last)
        end = last
        if end < len(words.tokens) and words.tokens[end].word in words_of("name here"):
            end += 1
        letter = words.part(end, len(words.tokens)).find(pattern("with a letter"))
        if letter is not None and not letter.first:
            end += letter.last
        spelled = words.part(end, len(words.tokens)).find(pattern("spelled"))
        if spelled is not None and spelled.first <= 2:
            name, last = _letters(words, end + spelled.last)
            if name:
                heard.drafts[-1] = (heard.drafts[-1][0], Draft("set_customer", {"name": name}))
                end = last
        return words.without(first, end)

    def _call_it(self, words: Words, heard: Heard, first: int, last: int) -> None:
        name = words.typed(first, last).strip(" -'.")
        if name == name.lower() or (name == name.upper() and len(name) > 3):
            name = " ".join(
                part if part in words_of("particles") else _capital(part)
                for part in name.lower().split()
            )
        heard.wish(words.part(first, last), "set_customer", name=name)


def _capital(word: str) -> str:
    """Write a name as names are written: "O'Connor"."""
    whole = word[:1].upper() + word[1:]
    return whole if not whole.startswith("O'") else f"O'{whole[2:].title()}"


def _letters_only(word: str) -> bool:
    """Whether a word may be a name, such as "o'neill" or "soo-jin"."""
    return word.replace("'", "").replace("-", "").isalpha()


def _spelled_alone(words: Words) -> tuple[str, int] | None:
    """Return a name of which nothing but the letters is said: "it's X I O M A R A"."""
    for at, token in enumerate(words.tokens):
        if len((found := _letters(words, at))[0]) > _APART:
            return found
        if not token.stop and token.word not in words_of("around a name"):
            return None
    return None


def _letters(words: Words, first: int) -> tuple[str, int]:
    """Return a name that is spelled letter by letter, and where it ends."""
    run, last = "", first
    for at, token in enumerate(words.tokens[first:], start=first):
        typed = words.typed(at, at + 1).strip("-.,")  # "n" is written out as "and"
        if len(typed) == 1 and typed.isalpha():
            run, last = run + typed, at + 1
        elif run and token.word in words_of("hyphens"):
            run += "-"  # "s o o dash j i n"
        elif not token.stop and token.word != "-":
            break
    name = run.rstrip("-").title()
    return (name, last) if len(name) > 1 else ("", first)


_NAME_TOO = "name too"
"""Expected where a name was asked for among other things."""
_LETTERS = re.compile(r"(?P<name>\b\w+)[\s,:;]+(?P<letters>(?:\w[-. ]){2,}\w\b)")
_ORDERING_FOR = (
    *("order for", "ordering for", "pickup for", "up for", "to go for", "it is for"),
    *("this is for", "that is for", "one is for", "order is for"),
)
_VERY_MUCH = 90.0
_POSTCODE = re.compile(r"(?<!^)\b\d{4,5}$")
"""An address that ends with a postcode goes on with no town."""
_BEFORE_THINGS = frozenset("my the a an with without on no of in".split())
_APART = 2
"""Of how many words a name is that stands apart."""
_LONGEST_NAME = 4
