"""Cuts a line into clauses: at the ends of sentences, and where the guest begins another thing."""

from collections.abc import Iterator

from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.words.tokens import Words

_BEFORE_A_NAME = 4
_MOST = 80
"""More clauses than anybody says in one go; what comes after is not looked at."""


def clauses(words: Words, names: Names) -> Iterator[Words]:
    """Cut a line into clauses, at the ends of sentences and where the guest begins another thing."""
    inside = _inside_names(words, names)
    openers = {
        found.first for found in words.find_all(pattern("opener")) if found.first not in inside
    }
    first = count = 0
    for index, token in enumerate(words.tokens):
        last = index + 1 == len(words.tokens)
        if index > first and (
            (index in openers and _cuts(words, first, index))
            or (index not in inside and _orders_more(words, first, index, names))
        ):
            yield words.part(first, index)
            first, count = index, count + 1
        if token.breaks or last:
            yield words.part(first, index + 1)
            first, count = index + 1, count + 1
        if count >= _MOST:
            return


def _orders_more(words: Words, first: int, index: int, names: Names) -> bool:
    """Whether something else is ordered after a change: "make that three, and a glass of red"."""
    tokens = words.tokens
    begins = next((at for at in range(first, index) if not tokens[at].stop), first)
    changes = tokens[begins].word in words_of("changes") or (
        tokens[begins].word in words_of("leads in")
        and tokens[min(begins + 1, index)].word in words_of("changes")
    )
    joint = tokens[index - 1].stop or tokens[index - 1].word in words_of("joints")
    if not changes or not joint or tokens[index].word not in words_of("counting"):
        return False
    for at in range(index + 1, min(index + 1 + _BEFORE_A_NAME, len(tokens))):
        if tokens[at].stop:
            return False
        found = names.longest(tokens, at)
        if found is not None and found[1].dishes:
            # "Make it with ham and a fried egg": what can also lie on a dish begins no other thing.
            return not found[1].choice
    return False


def _inside_names(words: Words, names: Names) -> set[int]:
    inside: set[int] = set()
    index = 0
    while index < len(words.tokens):
        found = names.longest(words.tokens, index)
        if found is not None and found[0] > 1:
            inside.update(range(index + 1, index + found[0]))
            index += found[0]
        else:
            index += 1
    return inside


def _cuts(words: Words, first: int, index: int) -> bool:
    """Whether a clause that could begin at a token really does."""
    before = words.tokens[index - 1]
    if words.tokens[first].word in ("instead", "rather"):
        return False
    named = index > 1 and words.tokens[index - 2].word in words_of("before a noun")  # "the wait"
    if before.stop or (before.word in words_of("joints") and not named):
        return True
    if any(token.word in words_of("asking") for token in words.tokens[first:index]):
        return False
    asks = words.part(first, index).find(pattern("asks would know"))
    if asks is not None and first + asks.last == index:
        return False  # "could you tell me how much it is", "... if you have it"
    found = words.part(index, len(words.tokens)).find(pattern("strong opener"))
    return found is not None and found.first == 0
