"""What each word of a line can mean: names of the menu, numbers, and phrases that do something."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from bella_vista.local.english import vocabulary
from bella_vista.local.english.talking import pattern, phrases_of, words_of
from bella_vista.local.understanding.grammar import FILLER_ON_NAME, PASSED
from bella_vista.local.understanding.index import NO_ENTITY, Entity, Index
from bella_vista.local.understanding.phrases import phrases, small_words
from bella_vista.local.understanding.tokens import Token, number_at
from state.menu.words import stem

_SMALL = {"exactly": 0.0, "it": 0.05, "filler": 0.02, "add": 0.0, "the": 0.0, "a": 0.0}
_NAMED = ("dish", "option", "size", "group")
_LONGEST_GAP = 3
_NONE: Mapping[str, Entity] = {}
_ITS_OWN = 0.7
"""What it costs more that a choice is said to have a choice of its own."""


@dataclass(slots=True, eq=False)
class Edge:
    """One thing that the words from a place on may mean.

    Args:
        does: The class of word that the grammar knows.
        end: The place after its last word.
        cost: What it costs to think so.
        entity: What it names on the menu.
        value: The number, amount or half it is.
        words: The words.
        whole: Whether a whole name was said.
        plural: Whether the last word is of several.
        weak: Whether it is only part of another name of a dish.
        lines: The lines of the order that it means.
        some: Whether it counts some of what is there: "one of the".
        code: What tells it from edges that do something else.
    """

    does: str
    end: int
    cost: float
    entity: Entity = NO_ENTITY
    value: str | int = ""
    words: str = ""
    whole: bool = True
    plural: bool = False
    weak: bool = False
    lines: tuple[str, ...] = ()
    some: bool = False
    code: int = field(init=False)

    def __post_init__(self) -> None:
        """Number what it does, so that readings are compared fast."""
        self.code = hash((self.does, self.value, self.entity.number, self.lines))


NO_EDGE = Edge("", 0, 0.0)


@dataclass(frozen=True, slots=True)
class Passed:
    """What it costs to pass over a word, and why."""

    cost: float
    kind: str


@dataclass(slots=True)
class Lattice:
    """All edges by the place they begin at."""

    tokens: tuple[Token, ...]
    edges: list[list[Edge]]
    passed: list[Passed]


def lattice(
    tokens: Sequence[Token], index: Index, offered: Mapping[str, Entity] = _NONE
) -> Lattice:
    """Build the lattice of a line.

    Args:
        tokens: The line.
        index: The menu's names.
        offered: Words of what was offered, which mean it now though they name nothing by themselves.
    """
    tokens = tuple(tokens)
    stems = [_stem(token, index) for token in tokens]
    edges: list[list[Edge]] = [[] for _ in tokens]
    for first, token in enumerate(tokens):
        if token.stop:
            edges[first].append(
                Edge("stop" if token.breaks else "comma", first + 1, 0.0, words=token.word)
            )
            continue
        if not (token.word == "can" and _next_word(tokens, first) in words_of("after can")):
            _names(edges[first], tokens, stems, first, index, 0.0, first)
        entity = offered.get(stems[first])
        if entity is not None:
            edges[first].append(Edge("dish", first + 1, 0.6, entity, words=token.word))
        _done(edges[first], tokens, first, index)
    _slips(edges, tokens, stems, index)
    _joined(edges, tokens, stems, index)
    passed: list[Passed] = []
    _all_phrases(edges, tokens, index)
    _all_but(edges)
    _without_article(edges, tokens, stems, index)
    _taken_off(edges)
    _parted_notes(edges, tokens)
    _asides(edges, tokens)
    _persons(edges, tokens)
    _everyone(edges)
    _headings(edges, tokens, index)
    _with_all(edges, tokens)
    _has_its_own(edges, tokens)
    for first, token in enumerate(tokens):
        here = edges[first]
        again = first > 0 and token.word == tokens[first - 1].word and not token.stop
        counted = first > 0 and token.word == "one" and tokens[first - 1].word in ("only", "just")
        kind = "number" if counted else ""
        found = Passed(0.2, "common") if again else _passing(token, here, kind)
        if found.kind == "common" and not again and first and _is_number(edges[first - 1]):
            if index.knows(stems[first]):
                found = Passed(PASSED["small"], "common")  # the inch of "six inch"
        passed.append(found)
    _counted_strange(passed, edges, tokens)
    _measured(passed, edges, tokens)
    return Lattice(tokens, edges, passed)


def _counted_strange(
    passed: list[Passed], edges: Sequence[Sequence[Edge]], tokens: Sequence[Token]
) -> None:
    """Let a number belong to the unknown thing that it counts: "two blorgs and a soup"."""
    for at, here in enumerate(edges):
        ends = {edge.end for edge in here if edge.does == "number"}
        for end in ends:
            last = end
            while last < len(passed) and passed[last].kind in ("word", "food"):
                last += 1
            over = (
                last == len(tokens)
                or tokens[last].stop
                or tokens[last].word in words_of("after a strange thing")
            )
            if last > end and over:
                for place in range(at, end):
                    passed[place] = Passed(0.0, "food")


def _measured(passed: list[Passed], edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
    """Let a number before a measure that the menu does not have count nothing: "a 16 oz coke"."""
    for at, here in enumerate(edges):
        for edge in [one for one in here if one.does == "number" and one.end < len(tokens)]:
            measure = tokens[edge.end]
            sold = any(
                e.does == "size" and e.words in (measure.word, measure.stem)
                for e in edges[edge.end]
            )
            whole = any(one.end > edge.end for one in here if one.does != "number")
            if measure.word in words_of("measures") and not (sold or whole):
                here.remove(edge)
                edges[edge.end] = []
                for place in range(at, edge.end + 1):
                    passed[place] = Passed(0.0, "food")


def _next_word(tokens: Sequence[Token], at: int) -> str:
    return tokens[at + 1].word if at + 1 < len(tokens) else ""


def _done(here: list[Edge], tokens: Sequence[Token], first: int, index: Index) -> None:
    """Find the verb of a choice, before what it is to be done to: "toast it", where one is "toasted"."""
    word = tokens[first].word
    end = first + 2 if first + 1 < len(tokens) and tokens[first + 1].word == "up" else first + 1
    if end >= len(tokens) or tokens[end].word not in words_of("done to") or len(word) < 3:
        return
    for done in (f"{word}ed", f"{word}d", f"{word}{word[-1]}ed"):
        for _, meant in index.at([stem(done)], 0):
            if meant.entity.kind == "option" and meant.whole and stem(done) != stem(word):
                here.append(Edge("done", end, 0.1, meant.entity, words=word))


def _all_phrases(edges: list[list[Edge]], tokens: Sequence[Token], index: Index) -> None:
    said = tuple(token.word for token in tokens)
    for first, token in enumerate(tokens):
        if not token.stop:
            _numbers(edges, tokens, first)
            _phrases(edges, tokens, first, said, index)
            if first and said[first - 1] in words_of("no more"):  # "no more food" is not more of it
                edges[first] = [edge for edge in edges[first] if edge.does != "further"]


def _taken_off(edges: list[list[Edge]]) -> None:
    """Let a group be left off or lie beside as a choice does: "take the whip off"."""
    for here in edges:
        for edge in [one for one in here if one.does == "group"]:
            if edge.end < len(edges) and any(one.does in _BESIDE for one in edges[edge.end]):
                here.append(Edge("option", edge.end, edge.cost, edge.entity, words=edge.words))


def _parted_notes(edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
    """Find a note whose words stand around what it is said of: "cut the sub in half"."""
    said = tuple(token.word for token in tokens)
    for first, word in enumerate(said[:-1]):
        if said[first + 1] not in words_of("done to"):
            continue
        for words, phrase in phrases().get(word, ()):
            rest = words[1:]
            if phrase.does != "note" or len(rest) < 2:
                continue
            for at in range(first + 2, min(first + 8, len(tokens) - len(rest) + 1)):
                if tokens[at].stop:
                    break
                if said[at : at + len(rest)] == rest:
                    edges[at] = [Edge("note", at + len(rest), -0.3, words=phrase.words)]
                    edges[first] = [Edge("add", first + 1, 0.0, words=word)]


def _asides(edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
    """Find what says nothing of the order: "because he will not eat them", "my treat"."""
    first = 0
    for at in range(len(tokens) + 1):
        if at < len(tokens) and not tokens[at].stop:
            continue
        if at > first:
            _segment(edges, tokens, first, at)
        first = at + 1


def _persons(edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
    """Find people by what they want: "Joan takes the soup", "Pat and I each have a small salad"."""
    said = tuple(token.word for token in tokens)
    for at in range(1, len(said)):
        wants = pattern("somebody wants").match(" ".join(said[at : at + _LONGEST_WISH]))
        if wants is None:
            continue
        words = wants.group()
        end, first = at + len(words.split()), at - 1
        each = said[first] in ("each", "both")
        if each:
            first -= 1
        two = first >= 2 and said[first - 1] == "and" and said[first - 2].isalpha()
        if two:
            first -= 2
        begins = (
            first == 0 or tokens[first - 1].stop or said[first - 1] in words_of("before a person")
        )
        if first < 0 or not begins or not _is_person(edges[first], tokens[first]):
            continue
        article = end < len(said) and said[end] in ("a", "an", "the")
        if two and each and article:
            edges[first].append(Edge("number", end + 1, 0.05, value=2, words=words))
        elif not two:
            edges[first].append(Edge("add", end, 0.05, words=words))


def _everyone(edges: list[list[Edge]]) -> None:
    """Let what is for everyone come once for each, where it is said how many they are."""
    people = {edge.value for here in edges for edge in here if edge.does == "filler" and edge.value}
    for here in edges:
        for at, edge in enumerate(here):
            if edge.does == "everyone":
                known = len(people) == 1
                here[at] = (
                    replace(edge, value=[*people][0]) if known else replace(edge, does="filler")
                )


def _headings(edges: list[list[Edge]], tokens: Sequence[Token], index: Index) -> None:
    """Let what stands before a colon only announce what follows: "coffee: two lattes and a mocha"."""
    for at, token in enumerate(tokens[:-1]):
        if token.word != ":":
            continue
        for first in range(max(0, at - 3), at):
            named = [edge for edge in edges[first] if edge.does == "dish" and edge.end == at]
            if named and not any(edge.entity.mask & index.combos for edge in named):
                edges[first].append(Edge("filler", at, 0.0, words="heading"))
                break
    for first in range(len(tokens)):
        _heading(edges, tokens, first)


def _heading(edges: list[list[Edge]], tokens: Sequence[Token], first: int) -> None:
    """Let a kind of dish only announce what follows: "mains two lasagnas", "for dessert a tiramisu"."""
    start = first
    while start and tokens[start - 1].word in words_of("before a heading"):
        start -= 1
    if start and not (tokens[start - 1].stop or tokens[start - 1].word == "and"):
        return
    for kind in [edge for edge in edges[first] if edge.does == "dish"]:
        at = kind.end
        if kind.entity.mask.bit_count() < _KINDS or at >= len(tokens):
            continue
        paused = at
        while at < len(tokens) and (
            tokens[at].word in (",", ":") or at > paused and _hesitates(tokens, at)
        ):
            at += 1
        counts = [edge.end for edge in _edges(edges, at) if edge.does in ("number", "a", "the")]
        counts += [
            edge.end for to in (at, *counts) for edge in _edges(edges, to) if edge.does == "size"
        ]
        for named in (edge for to in (at, *counts) for edge in _edges(edges, to)):
            if named.does == "option" and named.whole and kind.plural and counts:
                inside = bool(named.entity.mask & kind.entity.mask)  # "breads, one peshwari naan"
            elif named.does != "dish" or not named.whole or named.entity is kind.entity:
                continue
            else:
                inside = not named.entity.mask & ~kind.entity.mask
            listed = kind.plural and at > paused
            if inside and (start < first or counts or listed) or kind.plural and counts:
                for heard in edges[start]:
                    heard.cost += 1.0 if heard.does == "number" else 0.0  # "for" is no "four" here
                edges[start].append(Edge("filler", kind.end, -0.05, words="heading"))
                return


def _hesitates(tokens: Sequence[Token], at: int) -> bool:
    return tokens[at].word in words_of("hesitations")


def _edges(edges: list[list[Edge]], at: int) -> Sequence[Edge]:
    return edges[at] if at < len(edges) else ()


def _all_but(edges: list[list[Edge]]) -> None:
    """Read "with everything but" as a "no", not as "with everything" and what comes on it besides.

    Where a dish is named, it is excepted: "no ice in everything but the latte".
    """
    for first, here in enumerate(edges):
        denied = max((edge.end for edge in here if edge.does == "no"), default=0)
        before = [edge for place in edges[first:denied] for edge in place if edge.does == "except"]
        ends = {edge.end for edge in before}
        the = any(edge.does == "the" for edge in _edges(edges, denied))
        there = _edges(edges, denied + the)
        kinds = {edge.does for edge in there}
        made = any(
            edge.does == "option" and _names_dish(_edges(edges, edge.end)) for edge in there
        )  # "the lamb madras"
        named = made or "dish" in kinds and "option" not in kinds
        if ends.isdisjoint((denied, denied - 1)) or not (named or the and _names_dish(there)):
            here[:] = [e for e in here if e.does not in ("plain", "whole") or e.end >= denied]
        elif named:
            here[:] = [e for e in here if e.does != "no" or e.end not in (*ends, denied)]
            for place in edges[max(0, first - 1) : first + 1]:  # "with everything but the latte"
                place[:] = [e for e in place if e.does != "plain" or not first < e.end < denied]


def _without_article(
    edges: list[list[Edge]], tokens: Sequence[Token], stems: Sequence[str], index: Index
) -> None:
    """Take "a large works" for a dish that is called "The Works": alone, the word is no dish."""
    for first, token in enumerate(tokens):
        entity = None if token.stop else index.articled.get(stems[first])
        counted = any(
            edge.end == first and edge.does in ("size", "number", "a")
            for here in edges[max(0, first - 3) : first]
            for edge in here
        )
        if entity is not None and counted:
            edges[first].append(Edge("dish", first + 1, 0.5, entity, words=token.word))


def _with_all(edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
    """Let "with all of them" at the end of a clause mean on all of them."""
    for at, token in enumerate(tokens[:-1]):
        if token.word != "with" or not at or tokens[at - 1].stop:
            continue
        if any(
            edge.does == "all" and (edge.end == len(tokens) or tokens[edge.end].stop)
            for edge in edges[at + 1]
        ):
            edges[at].append(Edge("on", at + 1, 0.05, words="with"))


def _has_its_own(edges: Sequence[Sequence[Edge]], tokens: Sequence[Token]) -> None:
    """Take ", and fries with cheese" rather for a dish than for a choice: it has one of its own."""
    for first in range(2, len(tokens)):
        if tokens[first - 1].word != "and" or not tokens[first - 2].stop:
            continue
        dishes = {edge.end for edge in edges[first] if edge.does == "dish" and edge.whole}
        for edge in edges[first]:
            followed = _next_word(tokens, edge.end - 1) == "with"
            followed = followed and _next_word(tokens, edge.end) not in words_of("it of a dish")
            edge.cost += (
                _ITS_OWN if edge.does == "option" and followed and edge.end in dishes else 0.0
            )


def _is_person(here: Sequence[Edge], token: Token) -> bool:
    """Whether a word may be somebody: it means nothing else."""
    other = any(edge.does not in ("aside", "filler") for edge in here)
    return token.word.isalpha() and token.word not in words_of("persons") and not other


def _segment(edges: list[list[Edge]], tokens: Sequence[Token], first: int, last: int) -> None:
    """Let a run between two pauses, or the end of one, be passed over as a whole."""
    talk = any(token.word in words_of("persons") for token in tokens[first:last])
    talk = talk or tokens[first].word in words_of("first names")
    weight = [
        3.0
        if vocabulary.is_food(token.word) or not vocabulary.is_common(token.word) and not talk
        else 0.0
        for token in tokens[first:last]
    ]
    for at in range(first, last):
        for edge in edges[at]:
            if edge.end > last:
                continue
            told = _TELLING.get(edge.does, 0.0) if edge.whole else 0.8
            if edge.does == "number" and edge.words == "one":
                told = 0.3
            elif edge.does == "number" and at and tokens[at - 1].word in ("am", "are"):
                told = 0.2  # how old a person is, or how many they are
            for inside in range(at, edge.end):
                weight[inside - first] = max(weight[inside - first], told)
    opens = [at for at in range(first, last) if any(edge.does == "because" for edge in edges[at])]
    reason = talk and _is_reason(edges, tokens, first, last)
    if talk and (reason or not any(weight)) and last - first > 2 and first not in opens:
        opens.append(first)
    ends = [last]
    for at in range(first + 1, last):
        wish = " ".join(token.word for token in tokens[at : at + 3])
        if tokens[at].word in ("and", "but") or pattern("begins a wish").match(wish):
            ends.append(at)
    if first not in opens and any(_given_up(tokens, first, end) for end in ends):
        opens.append(first)
    for at in opens:
        for end in ends:
            if end <= at + 1:
                continue
            after = max((one.end for one in edges[at] if one.does == "because"), default=at)
            told = sum(weight[after - first : end - first])
            given_up = _given_up(tokens, at, end)
            cheap = reason or given_up
            cost = 0.03 * (end - at) + (0.1 + _REASON * told if cheap else 0.25 + told)
            if cost < 6:
                edges[at].append(Edge("aside", end, cost, words=GIVEN_UP if given_up else "..."))


def _is_reason(edges: list[list[Edge]], tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether a run only says why what follows is wanted: "my brother only drinks coke, so one coke"."""
    follows = last + 1 < len(tokens) and tokens[last + 1].word in words_of("sums up")
    return follows and not any(
        edge.does in ("add", "remove", "change", "swap")
        for at in range(first, last)
        for edge in edges[at]
    )


def _given_up(tokens: Sequence[Token], first: int, end: int) -> bool:
    """Whether a run says that something is not wanted after all: "I was going to get the soup, but"."""
    said = " ".join(token.word for token in tokens[first:end])
    following = [token.word for token in tokens[end : end + 2] if not token.stop]
    wished = following[:1] == ["but"] and pattern("given up").fullmatch(said)
    return bool(wished or pattern("declined").fullmatch(said))


_KINDS = 3
"""Of so many dishes at least what announces others is a kind of dish."""
GIVEN_UP = "given up"
"""The words of an aside about something that is not wanted after all."""
_WHICH = 0.3
"""How much likelier words say which things are meant than that all are to be so."""
_REASON = 0.05
"""How little the words of a reason count beside those of an order."""

_TELLING = {
    "dish": 2.2,
    "option": 1.6,
    "size": 1.2,
    "group": 0.6,
    "number": 1.2,
    "no": 0.15,
    "remove": 0.2,
    "amount": 0.2,
    "add": 0.08,
    "swap": 0.4,
    "change": 0.2,
    "note": 1.0,
    "should": 0.2,
    "same": 0.6,
    "again": 0.6,
    "more": 0.4,
    "other": 0.4,
    "rest": 0.5,
    "ordinal": 0.4,
    "instead": 0.4,
    "of-them": 0.4,
    "fewer": 0.6,
}


def _stem(token: Token, index: Index) -> str:
    if token.stop:
        return ""
    word = token.word if token.word.isdigit() else token.stem
    if len(word) == 3 and word.endswith("s") and not index.knows(word) and index.knows(word[:-1]):
        return word[:-1]  # "7 ups"
    return word


def _names(
    here: list[Edge],
    tokens: Sequence[Token],
    stems: Sequence[str],
    first: int,
    index: Index,
    more: float,
    covering: int,
) -> None:
    for length, meant in index.at(stems, first):
        if first + length <= covering:
            continue
        kind = "dish" if meant.entity.kind == "head" else meant.entity.kind
        if _is_named(here, first + length, kind, meant.entity, meant.cost + more):
            continue
        # "the lasagna without cheese" is no "pizza without cheese".
        begins_way = tokens[first].word in words_of("begins a way")
        way = 3.0 if meant.entity.kind == "head" and begins_way else 0.0
        here.append(
            Edge(
                kind,
                first + length,
                meant.cost + more + way,
                meant.entity,
                words=" ".join(token.word for token in tokens[first : first + length]),
                whole=meant.whole and not more,
                weak=meant.weak,
                plural=_plural(tokens[first + length - 1].word, meant.entity.words),
            )
        )


def _is_named(here: Sequence[Edge], end: int, does: str, entity: Entity, cost: float = inf) -> bool:
    """Whether some words name the same already, and no dearer: a choice is indexed for each way to say it."""
    return any(
        edge.end == end
        and edge.does == does
        and edge.cost <= cost
        and (edge.entity is entity or edge.entity.means_like(entity))
        for edge in here
    )


def _slips(
    edges: list[list[Edge]], tokens: Sequence[Token], stems: list[str], index: Index
) -> None:
    small = small_words()
    unknown: dict[int, tuple[tuple[str, float], ...]] = {}
    for at, token in enumerate(tokens):
        word = token.raw or token.word
        own = stem(word)
        if token.stop or index.knows(own) or word in small:
            continue
        if not vocabulary.is_common(word):
            unknown[at] = index.spellings(word)
        elif at and tokens[at - 1].word in words_of("before options") and len(own) > 3:
            unknown[at] = index.beginning(own)  # "no whip"
    if not unknown:
        return
    best = list(stems)
    for at, near in unknown.items():
        if near:
            best[at] = near[0][0]
    for at, near in unknown.items():
        for other, cost in near:
            spelt = list(best)
            spelt[at] = other
            for first in range(max(0, at - _LONGEST_GAP), at + 1):
                if tokens[first].stop:
                    continue
                _names(edges[first], tokens, spelt, first, index, cost, at)
            for phrase_words, phrase in phrases().get(_spelling(other), ()):
                if len(phrase_words) == 1:
                    edges[at].append(
                        Edge(
                            phrase.does,
                            at + 1,
                            0.3 + cost,
                            value=_value(phrase.does, phrase.value),
                            words=phrase.words,
                        )
                    )


def _joined(
    edges: list[list[Edge]], tokens: Sequence[Token], stems: Sequence[str], index: Index
) -> None:
    """Find names of which a word was typed in two: "bacon cheese burger"."""
    for at in range(len(tokens) - 1):
        if tokens[at].stop or tokens[at + 1].stop:
            continue
        whole = stem(tokens[at].word + tokens[at + 1].word)
        if len(whole) < 5 or not index.knows(whole):
            continue
        spelt = [*stems[:at], whole, *stems[at + 2 :]]
        for first in range(max(0, at - _LONGEST_GAP), at + 1):
            for length, meant in index.at(spelt, first) if not tokens[first].stop else ():
                end = first + length + 1
                kind = "dish" if meant.entity.kind == "head" else meant.entity.kind
                if first + length <= at or _is_named(edges[first], end, kind, meant.entity):
                    continue
                words = " ".join(token.word for token in tokens[first:end])
                edges[first].append(
                    Edge(
                        kind,
                        end,
                        meant.cost + 0.1,
                        meant.entity,
                        words=words,
                        whole=meant.whole,
                        weak=meant.weak,
                        plural=_plural(tokens[end - 1].word, meant.entity.words),
                    )
                )


def _is_number(here: Sequence[Edge]) -> bool:
    return any(edge.does == "number" for edge in here)


def _spelling(word: str) -> str:
    return {stem(one): one for one in words_of("misspelt")}.get(word, word)


def _numbers(edges: list[list[Edge]], tokens: Sequence[Token], first: int) -> None:
    number = number_at(tokens, first)
    if number is not None and not (number[1] == 1 and tokens[first].word == "zero"):
        here = edges[first]
        words = " ".join(token.word for token in tokens[first : first + number[1]])
        end = first + number[1]
        following = tokens[end].word if end < len(tokens) else ""
        of_people = _of_people(tokens, first, end)
        if of_people:
            here.append(Edge("filler", end, 0.1, value=number[0], words=words))
        after = _after_people(tokens, end)
        if after > end:
            here.append(Edge("filler", after, 0.1, value=number[0], words=words))
        this = words == "one" and first > 0 and tokens[first - 1].word in words_of("this")
        before = [token.word for token in tokens[max(0, first - 3) : first - 1]]
        this = this or (
            words == "one" and before[-1:] == ["the"] and before[0] in words_of("put on")
        )  # "on the chicken one"
        cost = 1.5 if of_people else 1.0 if this else 0.05
        if words == "one" and first and following in words_of("after the one"):
            cost += 2.0 if tokens[first - 1].word == "the" else 0.0  # "the one without onions"
        if words == "one" and first and any(one.does == "ordinal" for one in edges[first - 1]):
            corrects = any(one.does == "correct" for at in edges[:first] for one in at)
            cost += 2.0 if corrects else 0.0  # "no, I meant the second one"
        ends = end == len(tokens) or tokens[end].stop or following in words_of("after people")
        if after > end and (after == len(tokens) or tokens[after].stop):
            cost += 1.0  # "lunch for three of us. A curry set"
        if first and tokens[first - 1].word == "for" and ends:
            edges[first - 1].append(Edge("filler", end, 0.1, value=number[0], words=f"for {words}"))
            cost += 0.5  # "a pot of tea for two"
        some = following == "of" and end + 1 < len(tokens)
        some = some and tokens[end + 1].word in words_of("points at")
        if any(edge.does == "dish" and edge.whole and edge.end > end for edge in here):
            cost += _NUMBER_IN_NAME  # the "20 wings" of the menu
        here.append(Edge("number", end, cost, value=number[0], words=words, some=some))


def _after_people(tokens: Sequence[Token], end: int) -> int:
    """Where the people end that a number counts: "three people", "two of us", "four sleepy kids"."""
    following = [token.word for token in tokens[end : end + 2]]
    if following == ["of", "us"]:
        return end + 2
    for at, word in enumerate(following):
        if word in words_of("people"):
            return end + at + 1
        if not word.isalpha() or number_at(tokens, end + at) is not None:
            break
    return end


def _of_people(tokens: Sequence[Token], first: int, end: int) -> bool:
    """Whether a number is how many came, or how old a person is: "we are 5.", "he is four so ..."."""
    before = [token.word for token in tokens[max(0, first - 2) : first]]
    ends = end == len(tokens) or tokens[end].stop or tokens[end].word in words_of("after people")
    return ends and " ".join(before) in phrases_of("counts people")


def _of_so_many(edges: list[list[Edge]], tokens: Sequence[Token], first: int) -> None:
    """Find "of the three", with or without what they are; "two of the twelve wings" rather has a size."""
    if first + 2 >= len(tokens) or tokens[first + 1].word not in words_of("before so many"):
        return
    number = number_at(tokens, first + 2)
    if number is not None and number[0] > 1:
        end = first + 2 + number[1]
        sized = 0.7 if any(edge.does == "size" for edge in edges[first + 2]) else 0.0
        edges[first].append(Edge("of-them", end, 0.2 + sized, words="of them"))
        edges[first].append(Edge("of", end, 0.1 + sized, words="of the"))


def _phrases(
    edges: list[list[Edge]],
    tokens: Sequence[Token],
    first: int,
    said: tuple[str, ...],
    index: Index,
) -> None:
    here = edges[first]
    if tokens[first].word == "of":
        _of_so_many(edges, tokens, first)
    if tokens[first].word in words_of("every") and first + 1 < len(tokens):
        put = first == 0 or tokens[first - 1].stop or tokens[first - 1].word in words_of("put on")
        put = put or any(edge.does in ("change", "swap") for edge in edges[first - 1])
        if put and _names_dish(edges[first + 1]):
            here.append(Edge("all", first + 1, 0.05, words=tokens[first].word))
    named = any(edge.does in _NAMED and edge.whole for edge in here)
    for words, phrase in phrases().get(tokens[first].word, ()):
        end = first + len(words)
        if said[first:end] != words:
            continue
        following = tokens[end] if end < len(tokens) else None
        of_each = words[-1] in words_of("every") and phrase.does in _EACH and following is not None
        if of_each and (tokens[end].word == "one" or _names_dish(edges[end])):
            continue  # "corn on each burger", "on each one": on all of them
        if phrase.does == "solely" and (
            (following is not None and not following.stop)
            or (first and tokens[first - 1].word in ("half", "side"))
        ):
            continue
        if phrase.words.endswith("my mind") and following is not None:
            if following.word in ("about", "on"):
                continue  # that takes back what follows it
        if (
            phrase.words in phrases_of("leaves")
            and following is not None
            and following.word in ("out", "off")
        ):
            continue
        alone = following is not None and (following.stop or following.word in ("a", "an"))
        if phrase.does == "the" and words[-1] in ("that", "this") and alone:
            continue  # "cancel that, I'll do the eggplant instead", "make that a large cola"
        if phrase.does == "because":
            here.append(Edge("because", end, 0.0, words=phrase.words))
            continue
        cost = _SMALL.get(phrase.does, 0.05) - 0.03 * (len(words) - 1)
        if phrase.does == "heard":
            if following is not None and following.word in words_of("not counted"):
                continue  # "swap it for a korma", "a coke for both"
            ahead = edges[end] if end < len(tokens) else []
            several = any(edge.does == "dish" and edge.plural for edge in ahead)
            cost = 0.0 if several else 1.3
            here.append(Edge("number", end, cost, value=int(phrase.value), words=phrase.words))
            continue
        if phrase.does == "plain" and any(edge.does == "size" for edge in here):
            cost += FILLER_ON_NAME
        if phrase.does in ("note", "whole", "all", "having", "plain") and any(
            edge.does in ("option", "dish") and edge.whole and edge.end <= end
            for inside in edges[first : end if phrase.does == "plain" else first + 1]
            for edge in inside
        ):
            cost += FILLER_ON_NAME
        if phrase.does == "having":
            cost -= _WHICH  # "everything with oat milk, make it soy"
        if phrase.does == "side":
            for edge in edges[end - 1]:
                edge.cost += 1.0 if edge.end == end and edge.does == "dish" else 0.0
        if phrase.words == "either" and _ends_denial(tokens, first):
            here.append(Edge("filler", end, 0.0, words=phrase.words))
            continue
        if phrase.does == "note" and any(edge.does in ("variant", "dish") for edge in here):
            cost += 0.4
        if phrase.does == "more" and words[-1] == "extra" and end < len(tokens):
            named_next = {edge.does for edge in edges[end] if edge.whole}
            if "option" in named_next and "dish" not in named_next:
                cost += 0.8  # "an extra egg on top"
        if phrase.words.endswith(" of") and any(edge.does == "size" for edge in here):
            cost += 3.0 if _size_of_next(here, edges[end] if end < len(tokens) else ()) else 1.0
        if phrase.words == "leave" and words_of("off").isdisjoint(said[end : end + _TO_OFF]):
            cost += 1.5  # "leave the other one like it is"
        if phrase.does == "correct" and phrase.words in phrases_of("corrects alone"):
            if following is None or not (
                following.stop or following.word in words_of("after a correction")
            ):
                cost += 0.3 if following and _counts_a_name(edges, end, following) else 2.0
        if phrase.does == "filler" and phrase.words == "the first one":
            like = first > 0 and tokens[first - 1].word in words_of("compares")
            cost += 1.5 if like else 0.0  # "same as the first one"
        if phrase.does == "filler" and phrase.words == "of":
            cost += 0.35
        if phrase.words == "with that" and following is not None and following.word == "one":
            continue  # "no lettuce with that one"
        if phrase.does == "instead" and following is not None and following.word == "of":
            if end + 2 >= len(tokens) or number_at(tokens, end + 2) is None:
                cost += 2.0  # "instead of the hot dog", but "three shots instead of the one"
        if phrase.does == "a" and phrase.words == "any" and (following is None or following.stop):
            cost += 1.5  # "on any"
        if phrase.words == "make that":
            cost += 0.5
        if words[-1] in words_of("that") and phrase.does in _POINTING and end < len(tokens):
            if any(edge.does == "dish" for edge in edges[end]):
                cost += 0.7  # "make that burger a double"
        if phrase.does in _VERBS and first and tokens[first - 1].word in words_of("before a noun"):
            cost += 1.0  # "the sub should be large"
        if phrase.does == "should" and len(words) == 1:
            cost += 0.25
        if phrase.does == "instead-of" and phrase.words == "not":
            cost += 0.7 if following is not None and not following.stop else 3.0
        if phrase.does == "filler" and (
            named if len(words) == 1 else _sized(edges[first:end], end)
        ):
            cost += FILLER_ON_NAME  # "as a main" may be a size
        elif phrase.does == "filler" and not (following and following.word in ("the", "a", "an")):
            if any(
                edge.does == "dish" and edge.whole and edge.end > end for edge in edges[end - 1]
            ):
                cost += FILLER_ON_NAME  # "one of the kids pizzas"
        if phrase.does == "swap" and len(words) == 1 and index.knows(tokens[first].stem):
            cost += FILLER_ON_NAME  # a "sub" may be a sandwich
        here.append(
            Edge(
                phrase.does, end, cost, value=_value(phrase.does, phrase.value), words=phrase.words
            )
        )


def _ends_denial(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word ends what is said of a thing left off: "and no syrup either", but "on either"."""
    ends = at + 1 == len(tokens) or tokens[at + 1].stop
    return at > 1 and ends and tokens[at - 1].word not in words_of("put on")


def _names_dish(here: Sequence[Edge]) -> bool:
    return any(edge.does == "dish" for edge in here)


def _size_of_next(here: Sequence[Edge], following: Sequence[Edge]) -> bool:
    """Whether a size is one in which the dish that follows comes: "a bowl of tomato soup"."""
    dishes = [edge.entity.mask for edge in following if edge.does == "dish"]
    sizes = [edge.entity.mask for edge in here if edge.does == "size" and edge.whole]
    return any(size & dish for size in sizes for dish in dishes)


def _sized(inside: Sequence[Sequence[Edge]], end: int) -> bool:
    """Whether a size ends with some words."""
    return any(edge.does == "size" and edge.end == end for here in inside for edge in here)


def _counts_a_name(edges: Sequence[Sequence[Edge]], at: int, token: Token) -> bool:
    """Whether "one" counts something here: "no one bacon is enough", but not "no one wants it"."""
    names = edges[at + 1] if at + 1 < len(edges) else ()
    return token.word == "one" and any(edge.does in ("dish", "option", "size") for edge in names)


def _value(does: str, value: str) -> str | int:
    return int(value) if does in ("ordinal", "number", "heard") else value


def _passing(token: Token, here: Sequence[Edge], kind: str) -> Passed:
    if token.stop:
        return Passed(0.0, "stop")
    if kind:
        return Passed(PASSED[kind], kind)
    kinds = {edge.does for edge in here if edge.does not in ("aside", "because")}
    if any(edge.does in _NAMED and edge.whole for edge in here):
        kind = "name"
    elif token.word[:1].isdigit() or (
        "number" in kinds and token.word not in ("one", "ones", "to", "too", "for")
    ):
        kind = "number"
    elif token.word in ("not", "never", "except") or (
        kinds & {"no", "no-extra", "ordinal", "remove", "amount", "half", "correct"}
        and "filler" not in kinds
    ):
        kind = "no"
    elif any(edge.does in _NAMED or edge.does == "variant" for edge in here):
        kind = "part"
    elif "filler" in kinds:
        kind = "filler"
    elif kinds:
        kind = "small"
    elif vocabulary.is_food(token.word):
        kind = "food"
    elif vocabulary.is_common(token.word) and token.word not in vocabulary.VARIANTS:
        kind = "common"
    else:
        kind = "word"
    return Passed(PASSED[kind], kind)


def _plural(word: str, name: str) -> bool:
    return word.endswith("s") and stem(word) != word and not name.casefold().endswith("s")


_LONGEST_WISH, _TO_OFF = 6, 7
_NUMBER_IN_NAME = 2.2
_POINTING = frozenset(("it", "them", "filler"))
_VERBS = frozenset(("swap", "change", "remove", "move", "keep", "add"))
_BESIDE = frozenset(("off", "side"))
_EACH = frozenset(("on", "each", "filler"))
