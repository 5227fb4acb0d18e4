"""Persons for whom a guest orders: found where a line is ordered, and pointed by later: "hers large as well"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bella_vista.local.english import vocabulary
from bella_vista.local.english.talking import pattern, phrases_of, table, words_of
from bella_vista.local.understanding.grammar.edges import Edge, Lattice
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.meaning import NO_PERSON
from bella_vista.local.understanding.menu.index import Index
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.words.tokens import Found, Token, Words

_HERS, _HIS, _MINE = "she", "he", "i"
"""The words that later point at somebody's line."""
_EITHER = "he or she"
"""Stands for both where it is not known which; no word of a message is like it."""


@dataclass(frozen=True)
class Share:
    """The words of a message that one person gets.

    Args:
        person: The words that point at this person later: ``wife``, ``joel``, ``she``.
        words: What they get.
    """

    person: frozenset[str]
    words: Words


@dataclass(frozen=True)
class _Mention:
    first: int
    last: int
    person: frozenset[str]
    before: bool
    """Whether it stands before what the person gets: "Ann wants", and not "for Ann"."""


def shares(words: Words, names: Names) -> Sequence[Share]:
    """Return what each person named in a message gets: "my wife wants the soup, and a cola for Joel".

    What the guest says that they want themselves is theirs only beside what others get.
    """
    mentions = sorted(_mentions(words, names), key=lambda one: one.first)
    begins = [
        one.first if one.before else _begin(words, mentions, at) for at, one in enumerate(mentions)
    ]
    found: list[Share] = []
    for at, one in enumerate(mentions):
        if one.before:
            stop = next(
                (n for n in range(one.last, len(words)) if words.tokens[n].breaks), len(words)
            )
            run = words.part(one.last, min(stop, *begins[at + 1 : at + 2], len(words)))
        else:
            run = words.part(begins[at], one.first)
        if one.person and len(run):
            found.append(Share(one.person, run))
    told = {_MINE} if any(not one.before and _MINE in one.person for one in mentions) else set()
    return found if any(one.person - {_MINE} or one.person & told for one in found) else []


def _begin(words: Words, mentions: Sequence[_Mention], at: int) -> int:
    """Return where what is "for Ann" begins."""
    least = mentions[at - 1].last if at else 0
    first = mentions[at].first
    while first > least and not (
        words.tokens[first - 1].stop or words.tokens[first - 1].word == "and"
    ):
        first -= 1
    return first


def _mentions(words: Words, names: Names) -> Iterator[_Mention]:
    taken: set[int] = set()
    for block in ("a person wants", "first for a person", "for a person"):
        for found in words.find_all(pattern(block)):
            person = _person(found, names)
            at = set(range(found.first, found.last))
            if person is not None and taken.isdisjoint(at):
                taken |= at
                yield _Mention(found.first, found.last, person, block != "for a person")


def _person(found: Found, names: Names) -> frozenset[str] | None:
    """Return the words that later point at a person: an empty set for several people, ``None`` if there is none."""
    kin, name = found.match["kin"], found.match["name"]
    if other := found.match.groupdict().get("other"):  # "my coach wants a latte"
        return frozenset((other, _EITHER)) if names.meaning(other) is None else None
    if kin:
        hers, his = (kin in phrases_of(block) for block in ("kin of hers", "kin of his"))
        called = found.match.groupdict().get("called") or kin  # "my friend Joel gets a cola"
        return frozenset((kin, called, _HERS if hers else _HIS if his else _EITHER))
    for person, forms in table("persons behind for").items():
        if name == person or name in forms or name in words_of(person):  # "his is the soup"
            return frozenset((person,))
    if name in words_of("several people"):
        return NO_PERSON
    meant = names.meaning(name)
    # "Josh wants the same" names a person, although a dish may be called Rogan Josh.
    on_menu = meant is not None and (meant.own or "for" in found.match[0].split())
    if on_menu or vocabulary.is_common(name) or vocabulary.is_food(name):
        return None
    return frozenset((name, _EITHER))


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
    """Let "hers", "my wife's", "Joel's burger" and "for him" mean what was ordered for that person.

    Args:
        words: The lattice of the line; it is changed.
        known: The lines of the order.
        index: The menu's names.
    """
    owned = [item for item in known if item.person]
    if not owned:
        return
    called = frozenset(one for item in owned for one in item.person)
    for first, token in enumerate(words.tokens):
        for last, own, alone in _pointed(words, first, owned):
            words.edges[first].extend(_edges(words, first, last, own, index, alone=alone))
        if token.word in called:
            if first and words.tokens[first - 1].word == "for":
                words.edges[first - 1].append(Edge("filler", first + 1, _SAID, words=token.word))
            else:
                words.edges[first].append(Edge("filler", first + 1, _TALK, words=token.word))


def another_is_named(words: Lattice, known: Sequence[Item], item: Item) -> bool:
    """Whether a line belongs to somebody, and only others are named: "ham for Joel" changes nothing of Ann's."""
    called = {one for other in known for one in other.person}
    named = {token.word for token in words.tokens} & (called - {*_PRONOUNS, _EITHER})
    return bool(item.person and named) and named.isdisjoint(item.person)


def _pointed(
    words: Lattice, first: int, owned: Sequence[Item]
) -> Iterator[tuple[int, Sequence[Item], bool]]:
    """Yield where a mention of somebody ends, what is theirs, and whether it points without a dish."""
    said = [token.word for token in words.tokens]
    word, last = said[first], first + 1
    put_on = first > 0 and said[first - 1] in words_of("put on")
    if first > 1 and any(
        edge.does in ("one", "number", "a", "more") for edge in words.edges[first - 2]
    ):
        put_on = False  # "one for him" is one more
    for person in _PRONOUNS:
        own = _owned_by(person, owned)
        if word in words_of(person) or (put_on and word in table("persons behind for")[person]):
            yield last, own, True
        elif word in table("persons before theirs")[person]:
            yield last, own, False
    at = first + (word in ("my", "our", "the"))
    if at >= len(said):
        return
    one = next(
        (one for one in (said[at], said[at].removesuffix("s")) if _owned_by(one, owned)), None
    )
    wants = pattern("somebody wants").match(" ".join(said[at + 1 : at + 1 + _LONGEST_WISH]))
    if one is not None and wants is not None and one != _MINE:
        yield at + 1 + len(wants.group().split()), _owned_by(one, owned), True
    elif one is not None and one not in _PRONOUNS:
        told = any(edge.does in ("no", "with", "remove") for edge in [*words.edges, []][at + 1])
        token = words.tokens[at]
        owner = one != said[at] or token.end - token.start > len(token.word)
        yield at + 1, _owned_by(one, owned), put_on or told or owner


def _owned_by_name(word: str, owned: Sequence[Item]) -> Sequence[Item]:
    """Return what belongs to somebody who is called so."""
    return [item for item in owned if word in item.person]


def _owned_by(word: str, owned: Sequence[Item]) -> Sequence[Item]:
    """Return what belongs to somebody; "his" is a friend's where no other he is known."""
    own = _owned_by_name(word, owned)
    if own or word not in (_HERS, _HIS):
        return own
    others = [item for item in owned if _EITHER in item.person]
    return others if len({item.person for item in others}) == 1 else []


def _edges(
    words: Lattice, first: int, last: int, own: Sequence[Item], index: Index, *, alone: bool
) -> Iterator[Edge]:
    following = words.edges[last] if last < len(words.tokens) else []
    said = words.tokens[last].word if last < len(words.tokens) else ""
    told = " ".join(token.word for token in words.tokens[first:last])
    possessive = any(told in forms for forms in table("persons before theirs").values())
    owns = possessive and any(one.does in _OWNED for one in following)
    given = first > 0 and words.tokens[first - 1].word == "for"
    for item in own:
        bit = index.bit(item.name or "")
        if item.line is None or not bit:
            continue
        entity, lines = index.entity(bit.bit_length()), (item.line.id,)
        if said == "one" or said in words_of("portions"):
            yield Edge("dish", last + 1, _ALONE, entity, words=f"{told} {said}", lines=lines)
        elif alone and not owns:
            yield Edge("dish", last, _FOR if given else _ALONE, entity, words=told, lines=lines)
        for dish in following:
            if dish.does == "dish" and dish.entity.mask & bit:
                yield Edge("dish", dish.end, dish.cost, entity, words=dish.words, lines=lines)


_PRONOUNS = (_HERS, _HIS, _MINE)
_TALK, _SAID = 0.5, -0.01
"""The cost of a word for somebody that points at nothing: "Priya just texted", "a cola for Joel"."""
_LONGEST_WISH = 6
"""Words of "also would like" and its like."""
_OWNED = frozenset(("dish", "option", "group"))
"""Classes of words that a possessive may stand before: in "his rice" it names no line by itself."""
_ALONE, _FOR = 0.2, -0.15
"""The cost of taking a possessive alone, or "for him", for the line of that person."""
