"""All meanings of each word of a line: names of the menu, numbers, and phrases that do something."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from bella_vista.local.english import vocabulary
from bella_vista.local.english.talking import words_of
from bella_vista.local.understanding.grammar.edges import NAMED, Edge, Lattice, PassingCost
from bella_vista.local.understanding.grammar.grammar import PASSED
from bella_vista.local.understanding.lattice.aside_edges import (
    add_asides,
    add_persons,
    count_everyone,
)
from bella_vista.local.understanding.lattice.heading_edges import add_headings
from bella_vista.local.understanding.lattice.phrase_edges import (
    add_parted_notes,
    add_phrases,
    edges_at,
    read_all_but,
    value_of,
)
from bella_vista.local.understanding.menu.index import Entity, Index
from bella_vista.local.understanding.words.phrases import phrases, small_words
from bella_vista.local.understanding.words.tokens import Token
from state.menu.words import stem

_LONGEST_GAP = 3
_NONE: Mapping[str, Entity] = {}
_MOST_DENIED = 4
"""How many words before a food in general a "no" may stand: "no nuts or dairy"."""

_FILLING = 0.3
"""How much likelier "all" fills a box than that it means all things that were named."""
_ITS_OWN = 0.7
"""The extra cost of a choice that has a choice of its own."""


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
    passed: list[PassingCost] = []
    add_phrases(edges, tokens, index)
    read_all_but(edges)
    _without_article(edges, tokens, stems, index)
    _taken_off(edges)
    _served_on(edges, tokens)
    _counted_by_group(edges, tokens)
    _in_portions(edges, tokens)
    _all_of_a_kind(edges, index)
    _general_left_off(edges)
    _named_like_its_group(edges)
    add_parted_notes(edges, tokens)
    add_asides(edges, tokens)
    add_persons(edges, tokens)
    count_everyone(edges, tokens)
    add_headings(edges, tokens, index)
    _with_all(edges, tokens)
    _has_its_own(edges, tokens)
    for first, token in enumerate(tokens):
        here = edges[first]
        again = first > 0 and token.word == tokens[first - 1].word and not token.stop
        counted = first > 0 and token.word == "one" and tokens[first - 1].word in ("only", "just")
        kind = "number" if counted else ""
        found = PassingCost(0.2, "common") if again else _passing(token, here, kind)
        if found.kind == "common" and not again and first and _is_number(edges[first - 1]):
            if index.knows(stems[first]):
                found = PassingCost(PASSED["small"], "common")  # the inch of "six inch"
        passed.append(found)
    _counted_strange(passed, edges, tokens)
    _measured(passed, edges, tokens)
    return Lattice(tokens, edges, passed)


def _counted_strange(
    passed: list[PassingCost], edges: Sequence[Sequence[Edge]], tokens: Sequence[Token]
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
                    passed[place] = PassingCost(0.0, "food")


def _measured(passed: list[PassingCost], edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
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
                    passed[place] = PassingCost(0.0, "food")


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


def _taken_off(edges: list[list[Edge]]) -> None:
    """Let a group be left off or lie beside as a choice does: "take the whip off"."""
    for here in edges:
        for edge in [one for one in here if one.does == "group"]:
            if edge.end < len(edges) and any(one.does in _BESIDE for one in edges[edge.end]):
                here.append(Edge("option", edge.end, edge.cost, edge.entity, words=edge.words))


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


def _served_on(edges: Sequence[Sequence[Edge]], tokens: Sequence[Token]) -> None:
    """Take "an egg sandwich on the croissant" for the bread it needs, rather than for a croissant too."""
    for first in range(2, len(tokens)):
        if [one.word for one in tokens[first - 2 : first]] != ["on", "the"]:
            continue
        dishes = {edge.end for edge in edges[first] if edge.does == "dish"}
        for edge in edges[first]:
            if edge.does == "option" and edge.whole and edge.entity.chosen and edge.end in dishes:
                edge.cost -= 0.2


def _counted_by_group(edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
    """Let a group's name, or a word of a choice's, only count choices: "two scoops of vanilla"."""
    for here in edges:
        for number in [one for one in here if one.does == "number"]:
            for measure in edges_at(edges, number.end):
                of = measure.end < len(tokens) and tokens[measure.end].word == "of"
                part = measure.does == "option" and not measure.whole
                if (measure.does == "group" or part and of) and any(
                    one.does == "option" and one.entity.tallied & measure.entity.mask
                    for one in edges_at(edges, measure.end + of)
                ):
                    here.append(replace(number, end=measure.end + of))


def _general_left_off(edges: list[list[Edge]]) -> None:
    """Keep food in general only where it is left off: "no dairy", and not "somebody is lactose intolerant"."""
    for first, here in enumerate(edges):
        denied = any(
            one.does == "no"
            for before in edges[max(0, first - _MOST_DENIED) : first]
            for one in before
        )
        if not denied:
            here[:] = [one for one in here if not one.entity.general]


def _all_of_a_kind(edges: list[list[Edge]], index: Index) -> None:
    """Let "all" be as many as a box holds that is named before: "a dozen, all glazed"."""
    box, many, last = 0, 0, 0
    for first, here in enumerate(edges):
        for every in [one for one in here if one.does == "all" and one.words == "all"]:
            for kind in edges_at(edges, every.end) if many else ():
                if kind.does == "option" and kind.entity.tallied & box:
                    here.append(replace(kind, cost=kind.cost - _FILLING, value=many))
        for named in [one for one in here if one.does == "dish" and one.whole and first >= last]:
            box, last = named.entity.mask, named.end
            many = index.boxes.get(box, 0)


def _in_portions(edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
    """Let what a thing comes in, behind a number, name nothing: "make it two slices"."""
    for end in {one.end for here in edges for one in here if one.does == "number"}:
        after = _next_word(tokens, end)
        if end < len(tokens) and tokens[end].word in words_of("comes in") and after != "of":
            if not any(edge.does in NAMED for edge in edges[end]):
                edges[end].append(Edge("filler", end + 1, -0.01, words=tokens[end].word))


def _named_like_its_group(edges: list[list[Edge]]) -> None:
    """Take "two sugars" for a choice that is counted, and not for its group that is called so too."""
    counted = {one.end for here in edges for one in here if one.does == "number"}
    for here in [here for first, here in enumerate(edges) if first in counted]:
        told = {one.end for one in here if one.does == "option" and one.entity.tallied}
        here[:] = [one for one in here if one.does != "group" or one.end not in told]


def _with_all(edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
    """Let "with all of them" at the end of a clause, or before "and", mean on all of them."""
    for at, token in enumerate(tokens[:-1]):
        if token.word != "with" or not at or tokens[at - 1].stop:
            continue
        if any(
            edge.does == "all"
            and (_next_word(tokens, edge.end - 1) in ("", "and") or tokens[edge.end].stop)
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
                            value=value_of(phrase.does, phrase.value),
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


def _passing(token: Token, here: Sequence[Edge], kind: str) -> PassingCost:
    if token.stop:
        return PassingCost(0.0, "stop")
    if kind:
        return PassingCost(PASSED[kind], kind)
    kinds = {edge.does for edge in here if edge.does not in ("aside", "because")}
    if any(edge.does in NAMED and edge.whole for edge in here):
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
    elif any(edge.does in NAMED or edge.does == "variant" for edge in here):
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
    return PassingCost(PASSED[kind], kind)


def _plural(word: str, name: str) -> bool:
    return word.endswith("s") and stem(word) != word and not name.casefold().endswith("s")


_BESIDE = frozenset(("off", "side"))
