"""Rewrites what guests say into forms that the grammar knows: "one of the meals gets a cola"."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from bella_vista.local.english.required_words import RequiredWords
from bella_vista.local.english.talking import expanded_pattern, lines_of, pattern, words_of
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.words.tokens import Found, Token, Words, number_at, tokenize
from state.menu.words import stem, stems


def reworded(
    words: Words,
    names: Names,
    known: Sequence[Item],
    waiting: Sequence[Item] = (),
    *,
    combo: bool = False,
) -> Words:
    """Rewrite a line by the rules of the block ``[reworded]``.

    Args:
        words: The line.
        names: The menu's names.
        known: The lines of the order. One of their dishes has to be meant where a rule has ``dish``, and one
            of their sizes where it has ``size``; ``group`` is the heading of one of the menu's groups,
            ``named`` names a dish, ``choice`` one choice, and ``any_size`` a size of the menu's, as
            ``size_begins`` and ``size_ends`` do together. Where it has ``first``, what waits, or the only
            line, has to be two pieces of one dish, with ``third`` three; where it has ``held``, one line has
            all of that. Where it has ``asked``, something has to wait; where ``apart``, no combo may.
        waiting: The things that were asked about.
        combo: Whether one of these is a combo.
    """
    ordered = frozenset(name for item in known for name in item.names)
    sizes = frozenset(item.size for item in known if item.size)
    told = waiting or known[: len(known) == 1]
    of_one = len({item.names for item in told}) == 1
    pieces = sum(item.quantity or 1 for item in told) if of_one else 0
    rules, required = _rules()
    possible = required.possible(words.spoken)
    for at, (rule, usual) in enumerate(rules):
        if at not in possible:
            continue
        for found in reversed([*words.find_all(rule)]):
            if (
                _is_size(words, found, names, sizes)
                and _is_ordered(words, found, names, ordered)
                and _is_of_menu(found, names)
                and all(
                    pieces == count or name not in found.match.groupdict()
                    for name, count in (("first", 2), ("third", 3))
                )
                and _is_held(found, known)
                and (waiting or "asked" not in found.match.groupdict())
                and not (combo and "apart" in found.match.groupdict())
            ):
                inside = tuple(_filled(words, found, usual))
                tokens = words.tokens
                words = Words(words.line, tokens[: found.first] + inside + tokens[found.last :])
                possible = required.possible(words.spoken)
    return _same_choices(_same_nouns(_turned(words, names), names, ordered), names, known)


def _turned(words: Words, names: Names) -> Words:
    """Put the kind before the dish, as the menu has it: "a side of beans, black"."""
    at = 0
    while at + 2 < len(words):
        noun, comma, kind = words.tokens[at : at + 3]
        rest = words.tokens[at + 3 :]
        at += 1
        if comma.word != "," or (rest and not rest[0].stop and rest[0].word != "please"):
            continue
        named = names.longest((kind, noun), 0)
        if named is not None and named[0] == 2 and named[1].own:
            words = Words(words.line, (*words.tokens[: at - 1], kind, noun, *rest))
    return words


def _same_nouns(words: Words, names: Names, ordered: Iterable[str]) -> Words:
    """Write out the noun of a name that was said or ordered before: "two apple juices and one orange"."""
    nouns: dict[str, tuple[Token, Sequence[str]]] = {}
    there = [token for name in ordered for token in tokenize(name)[1:]]
    at = 0
    while at < len(words):
        token, before = words.tokens[at], words.tokens[:at]
        named = names.longest(words.tokens, at)
        length = named[0] if named is not None else 1
        if named is not None and named[1].own and length > 1:
            last = words.tokens[at + length - 1]
            nouns[last.stem] = last, named[1].dishes
        elif length == 1 and _stands_for_noun(words, at, names):
            told = [*there, *(noun for noun, _ in nouns.values())]
            for noun in _nouns_of(before[-1], told, names):
                one = replace(noun, start=token.start, end=token.end)
                words = Words(words.line, (*before, one, *words.tokens[at + 1 :]))
        elif length == 1 and nouns and _lacks_noun(words, at, names):
            told = [
                noun
                for noun, dishes in nouns.values()
                if not any(names.is_choice_of(dish, token.stem) for dish in dishes)
            ]
            for noun in _nouns_of(token, told, names):
                one, length = replace(noun, start=token.end, end=token.end), 2
                words = Words(words.line, (*before, token, one, *words.tokens[at + 1 :]))
        at += length
    return words


def _nouns_of(kind: Token, nouns: Sequence[Token], names: Names) -> Sequence[Token]:
    """Return the last noun with which a word is the name of a dish."""
    wholes = [(noun, names.longest((kind, noun), 0)) for noun in nouns]
    return [noun for noun, whole in wholes if whole and whole[0] > 1 and whole[1].own][-1:]


def _stands_for_noun(words: Words, at: int, names: Names) -> bool:
    """Whether "one" stands behind the first word of a name, which is none by itself: "a whole one"."""
    if words.tokens[at].word != "one" or at < 2:
        return False
    article = words.tokens[at - 2].word in words_of("a or the")
    return article and names.longest(words.tokens[at - 1 : at], 0) is None


def _lacks_noun(words: Words, at: int, names: Names) -> bool:
    """Whether a word that is counted may be the first of a name, and is none by itself."""
    of_the = at > 2 and [one.word for one in words.tokens[at - 2 : at]] == ["of", "the"]
    if not at or not (of_the or number_at(words.tokens, at - 1)):  # "and a cup of the tomato"
        return False
    before = words.tokens[at - 2] if at > 1 else words.tokens[0]
    named = names.longest(words.tokens, at)
    if before.word in words_of("points") or names.longest(words.tokens[at + 1 : at + 2], 0):
        return False
    chosen = named is not None and named[1].choice
    apart = of_the or before.stop or before.word == "and"  # "a shake with two vanilla" has a choice
    return named is None or not (named[1].own or named[1].sizes or (chosen and not apart))


def _same_choices(words: Words, names: Names, known: Sequence[Item]) -> Words:
    """Write out a choice that is to be the same: "a korma, same rice" after one with pilau rice."""
    for found in reversed([*words.find_all(pattern("same"))]):
        named = names.longest(words.tokens, found.last)
        groups = named[1].groups if named is not None and not named[1].dishes else ()
        for group in groups[:1]:
            length = named[0] if named is not None else 0
            choice = _last_choice(words.tokens[: found.first], names.choices(group), known)
            if choice is not None:
                at = words.tokens[found.first].start
                told = [
                    Token(one, stem(one), at, at, stop=False, raw=one) for one in choice.split()
                ]
                rest = words.tokens[found.last + length :]
                words = Words(words.line, (*words.tokens[: found.first], *told, *rest))
    return words


def _last_choice(
    before: Sequence[Token], choices: Mapping[tuple[str, ...], str], known: Sequence[Item]
) -> str | None:
    """Return the choice of a group that was named last, in the line or on the order."""
    longest = max(map(len, choices), default=0)
    for at in reversed(range(len(before))):
        for length in range(min(longest, len(before) - at), 0, -1):
            choice = choices.get(tuple(token.stem for token in before[at : at + length]))
            if choice is not None:
                return choice
    held = (choices.get(stems(change)) for item in reversed(known) for change in item.changes)
    return next((choice for choice in held if choice is not None), None)


@cache
def _rules() -> tuple[Sequence[tuple[re.Pattern[str], Sequence[str]]], RequiredWords]:
    lines = (line.rpartition(" => ") for line in lines_of("reworded"))
    rules = [(expanded_pattern(said), usual.split()) for said, _, usual in lines]
    return rules, RequiredWords([rule for rule, _ in rules])


def _is_size(words: Words, found: Found, names: Names, sizes: frozenset[str]) -> bool:
    if "size" not in found.match.groupdict():
        return True
    first, last = found.span(words, "size")
    named = names.longest(words.tokens, first)
    if named is None or first + named[0] != last:
        return False
    return not (named[1].dishes or sizes.isdisjoint(named[1].sizes))


def _is_of_menu(found: Found, names: Names) -> bool:
    groups = found.match.groupdict()
    if "group" in groups:
        meaning = names.meaning(groups["group"])
        named = meaning is not None and bool(meaning.dishes)
        return not named and names.is_heading(stem(groups["group"]))
    if "named" in groups:
        meaning = names.meaning(groups["named"])
        return meaning is not None and bool(meaning.dishes)
    if "any_size" in groups or "size_begins" in groups:
        size = groups.get("any_size") or f"{groups['size_begins']} {groups['size_ends']}"
        meaning = names.meaning(size)
        return meaning is not None and bool(meaning.sizes)
    choice = names.meaning(groups["choice"]) if "choice" in groups else None
    return "choice" not in groups or (choice is not None and choice.choice and not choice.sizes)


def _is_held(found: Found, known: Sequence[Item]) -> bool:
    held = found.match.groupdict().get("held")
    told = [stems(one) for one in re.split(r" and | with ", held or "")]
    return held is None or any(
        all(any({*one} <= {*stems(change)} for change in item.changes) for one in told if one)
        for item in known
    )


def _is_ordered(words: Words, found: Found, names: Names, ordered: frozenset[str]) -> bool:
    if found.match.groupdict().get("dish") is None:
        return True
    first, last = found.span(words, "dish")
    said = {token.stem for token in words.tokens[first:last]}
    if any(not said.isdisjoint(stems(name)) for name in ordered):
        return True
    named = (names.longest(words.tokens[:last], at) for at in range(first, last))
    return any(name is not None and not ordered.isdisjoint(name[1].dishes) for name in named)


def _filled(words: Words, found: Found, usual: Sequence[str]) -> Iterator[Token]:
    """Yield the usual words, with the guest's own where a group is named in braces."""
    at = words.tokens[found.first].start
    for word in usual:
        if word.startswith("{"):
            first, last = found.span(words, word[1:-1])
            yield from words.tokens[first:last]
            at = words.tokens[last - 1].end if last > first else at
        else:
            yield Token(word, stem(word), at, at, stop=word in {",", ".", "?"}, raw=word)
