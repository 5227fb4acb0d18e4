"""Lines of the order that are to be a combo: "the burger and the fries, as a meal"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.words.tokens import Found, Token, Words, number_at, tokenize
from state.menu import Combo
from state.menu.words import fold, stems


@dataclass(frozen=True, slots=True)
class _Mention:
    """Something that is named for a combo: a line of the order, or words for what is new."""

    first: int
    last: int
    line: Item | None


def combined(words: Words, names: Names, kitchen: Kitchen, known: Sequence[Item]) -> Words:
    """Write lines that are to be a combo in the words that the grammar knows.

    "The burger and the fries together are your meal" becomes "make the burger into a meal with the fries".

    Args:
        words: The line.
        names: The menu's names.
        kitchen: What the menu makes of words.
        known: The lines of the order.
    """
    if not known or any(kitchen.combo(item.name) for item in known):
        return words
    for found in reversed([*words.find_all(pattern("becomes a combo"))]):
        named = names.longest(words.tokens, found.last)
        dishes = named[1].dishes if named is not None else []
        combo = kitchen.combo(dishes[0]) if len(dishes) == 1 else None
        if named is None or combo is None:
            continue
        begins = _begins(words, found)
        before = words.part(begins, found.first)
        made = any(token.word in words_of("changes") for token in before.tokens)
        if not (made or found.match["joint"]):
            continue
        said = _made(before, combo, names, kitchen, known)
        if said is not None:
            at = words.tokens[found.last]
            told = [replace(one, start=at.start, end=at.start) for one in tokenize(said)]
            rest = [*_after(words.part(found.last + named[0], len(words)))]
            if rest and rest[0].word == "with" and " with " in said:
                rest[0] = replace(rest[0], word="and", stem="and")
            return Words(words.line, (*words.tokens[:begins], *told, *rest))
    return words


def _begins(words: Words, found: Found) -> int:
    """Return where the sentence begins that a pattern is found in."""
    places = range(found.first - 1, -1, -1)
    return next((at + 1 for at in places if words.tokens[at].breaks), 0)


def _after(rest: Words) -> Sequence[Token]:
    """Take what is added for a part of it, and leave out what only says again that it is one."""
    again, adds = rest.find(pattern("as one")), rest.find(pattern("and adds"))
    if again is not None and not again.first:
        return rest.tokens[again.last :]
    if adds is not None and not adds.first:
        return replace(rest.tokens[0], word="with", stem="with"), *rest.tokens[adds.last :]
    return rest.tokens


def _made(
    before: Words, combo: Combo, names: Names, kitchen: Kitchen, known: Sequence[Item]
) -> str | None:
    """Say which line becomes the combo, and what goes into it."""
    if any(token.word in words_of("makes no combo") for token in before.tokens):
        return None
    able = [item for item in known if kitchen.room_for(combo, [], item.name or "")]
    all_of_them = before.find(pattern("all of these"))
    mentions = [*_mentions(before, combo, names, kitchen, able)]
    lines = [one.line for one in mentions if one.line is not None]
    if not mentions and all_of_them is not None:
        places = range(all_of_them.first, all_of_them.last)
        told = [n[0] for at in places if (n := number_at(before.tokens, at)) is not None]
        number = told[0] if told else 2 if "both" in all_of_them.match.group() else len(able)
        lines = able if len(able) == number else []
    taken: list[str] = []
    for line in lines:
        if (line.quantity or 1) != 1 or not kitchen.room_for(combo, taken, line.name or ""):
            return None
        taken.append(line.name or "")
    if not lines or len({item.name for item in able}) < len(able):
        return None
    parts = [f"the {name}" for name in taken[1:]] if not mentions else []
    for mention, begins, ends in _cut(before, mentions):
        after = before.part(mention.last, ends)
        if mention.line is None:
            parts.append(before.part(begins, ends).trimmed(words_of("around a part")).said)
        elif any(names.longest(after.tokens, at) is not None for at in range(len(after))):
            return None  # what is to be different with it is another matter
        elif mention.line is not lines[0]:
            parts.append(f"the {mention.line.name}")
    into = f" with {' , '.join(parts)}" if parts else ""
    return f"make the {taken[0]} into a {combo.name}{into}"


def _cut(words: Words, mentions: Sequence[_Mention]) -> Iterator[tuple[_Mention, int, int]]:
    """Yield each thing with where what is said of it begins and ends: at the joints between them."""
    begins = max(0, mentions[0].first - 1) if mentions else 0
    for one, following in zip_longest(mentions, mentions[1:]):
        ends = len(words)
        if following is not None:
            places = range(one.last, following.first)
            joints = [at for at in places if words.tokens[at].word in words_of("lists")]
            ends = joints[-1] if joints else one.last
        yield one, begins, ends
        begins = ends


def _mentions(
    before: Words, combo: Combo, names: Names, kitchen: Kitchen, able: Sequence[Item]
) -> Iterator[_Mention]:
    at, left = 0, list(able)
    while at < len(before):
        named = names.longest(before.tokens, at)
        length = named[0] if named is not None else 1
        said = before.part(at, at + length).said
        dishes = {*named[1].dishes} if named is not None else set()
        new = at > 0 and before.tokens[at - 1].word in ("a", "an", "some")
        own = [item for item in left if item.name in dishes and not new]
        own = own or [item for item in left if not new and _is_called(item, said, kitchen)]
        parts = {name for part in combo.parts for name in part.dishes}
        if len(own) == 1 and not before.tokens[at].stop:
            left.remove(own[0])
            yield _Mention(at, at + length, own[0])
        elif dishes & parts and at and before.tokens[at - 1].word in words_of("before what is new"):
            yield _Mention(at, at + length, None)
        at += length


def _is_called(item: Item, said: str, kitchen: Kitchen) -> bool:
    """Whether a word is part of what a line is called, or of how it is made."""
    own = {*stems(said)}
    if len(said) <= _SHORT or not own:
        return False
    told = [{*stems(one)} for one in (item.name or "", *item.changes)]
    made = kitchen.made(item.name, said)
    ends = any(word.endswith(said) for word in fold(item.name or "").split())
    chosen = bool(made) and {*(made or ())} <= {*item.changes}
    return ends or chosen or any(own <= words for words in told)


_SHORT = 2
"""Words of so few letters are no names."""
