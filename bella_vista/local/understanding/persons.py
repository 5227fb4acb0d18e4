"""Persons for whom a guest orders: found where a line is ordered, and pointed by later: "hers large as well"."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.english import vocabulary
from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.edges import Edge, Lattice
from bella_vista.local.understanding.index import Index
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.names import Names
from bella_vista.local.understanding.tokens import Token, Words

_HERS, _HIS, _MINE = "she", "he", "i"


def person_in(words: Words, names: Names) -> str:
    """Return the key of the only person for whom a message orders, or an empty text.

    The key is ``she``, ``he`` or ``i`` after the words that later point at the line, or a first name.
    """
    found: set[str] = set()
    for who, named in ((_HERS, "for her"), (_HIS, "for him"), (_MINE, "for me")):
        if words.find(pattern(named)) is not None:
            found.add(who)
    for match in words.find_all(pattern("for a name")):
        name = match.match["name"] or match.match["name2"]
        meant = names.meaning(name)
        # "Josh wants the same" names a person, although a dish may be called Rogan Josh.
        on_menu = meant is not None and (meant.own or match.match["name"] is None)
        if not (on_menu or vocabulary.is_common(name) or vocabulary.is_food(name)):
            found.add(name)
    return found.pop() if len(found) == 1 else ""


def without_names(words: Words, names: Names) -> Words:
    """Leave out the names before what each gets: "Ann: a latte. Me: same as Ann" are two lattes."""
    told: dict[str, tuple[Token, ...]] = {}
    known = words_of("first names") | words_of("given names")
    several = [*words.find_all(pattern("gets what follows"))]
    named = [
        found
        for found in several
        if len(several) > 1
        and found.match["name"] in known
        and names.meaning(found.match["name"]) is None
    ]
    if not named:
        return words
    kept = [*words.tokens[: named[0].first]]
    ends = (*(found.first for found in named[1:]), len(words))
    for found, last in zip(named, ends, strict=True):
        own = words.tokens[found.last : last]
        end = next((at for at, one in enumerate(own) if one.breaks), len(own))
        told[found.match["name"]] = own[:end]
        at = 0
        while at < len(own):
            same = [one.word for one in own[at : at + 2]] == ["same", "as"] and at + 2 < len(own)
            as_one = told.get(own[at + 2].word, ()) if same else ()
            kept += [replace(one, start=own[at].start, end=own[at].end) for one in as_one]
            kept += () if as_one else own[at : at + 1]
            at += 3 if as_one else 1
    return Words(words.line, tuple(kept))


def point_by_person(words: Lattice, known: Sequence[Item], index: Index) -> None:
    """Let "hers", "his", "mine" and a first name mean the only line that was ordered for that person.

    Args:
        words: The lattice of the line; it is changed.
        known: The lines of the order.
        index: The menu's names.
    """
    lines: dict[str, list[Item]] = {}
    for item in known:
        if item.line is not None and item.line.person:
            lines.setdefault(item.line.person, []).append(item)
    for first, token in enumerate(words.tokens):
        for who, own in lines.items():
            alone = token.word == who if who not in _POSSESSIVES else token.word in words_of(who)
            if len(own) != 1 or not (alone or token.word in _POSSESSIVES.get(who, (who,))):
                continue
            line = own[0].line
            bit = index.bit(own[0].name or "")
            if line is None or not bit:
                continue
            following = words.edges[first + 1] if first + 1 < len(words.edges) else []
            owns = who in _POSSESSIVES and token.word in _POSSESSIVES[who]
            if alone and not (owns and any(one.does in _OWNED for one in following)):
                entity = index.entity(bit.bit_length())
                words.edges[first].append(
                    Edge("dish", first + 1, _ALONE, entity, words=token.word, lines=(line.id,))
                )
            for dish in [one for one in following if one.does == "dish" and one.entity.mask & bit]:
                entity = index.entity(bit.bit_length())
                words.edges[first].append(
                    Edge("dish", dish.end, dish.cost, entity, words=dish.words, lines=(line.id,))
                )


_POSSESSIVES = {_HERS: ("her",), _HIS: ("his",), _MINE: ("my",)}
_OWNED = frozenset(("dish", "option", "group"))
"""Classes of words that a possessive may stand before: in "his rice" it names no line by itself."""
_ALONE = 0.2
"""The cost of taking a possessive alone for the line of that person."""
