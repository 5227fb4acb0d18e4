"""Finds the numbers of a line, and the phrases that do something in an order."""

from collections.abc import Sequence

from bella_vista.local.english.numbers import UNITS
from bella_vista.local.english.talking import phrases_of, words_of
from bella_vista.local.understanding.grammar.edges import NAMED, Edge
from bella_vista.local.understanding.grammar.grammar import FILLER_ON_NAME
from bella_vista.local.understanding.menu.index import Index
from bella_vista.local.understanding.words.phrases import phrases
from bella_vista.local.understanding.words.tokens import Token, number_at

_IN_WORDS = {str(number): word for word, number in UNITS.items()}


def add_phrases(edges: list[list[Edge]], tokens: Sequence[Token], index: Index) -> None:
    """Add an edge for each number and each phrase of a line."""
    said = tuple(token.word for token in tokens)
    spelt = tuple(_IN_WORDS.get(word, word) for word in said)  # "all 3 of them"
    for first, token in enumerate(tokens):
        if not token.stop:
            _numbers(edges, tokens, first)
            _phrases(edges, tokens, first, said, spelt, index)
            if first and said[first - 1] in words_of("no more"):  # "no more food" is not more of it
                edges[first] = [edge for edge in edges[first] if edge.does != "further"]


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
        if _is_dish(edges_at(edges, after - 1)):
            after = end  # "two mates", where that is a drink
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
        if first and tokens[first - 1].word == "for" and ends and not _is_size(edges, first, end):
            edges[first - 1].append(Edge("filler", end, 0.1, value=number[0], words=f"for {words}"))
            cost += 0.5  # "a pot of tea for two"
        some = following == "of" and end + 1 < len(tokens)
        some = some and tokens[end + 1].word in words_of("points at")
        if any(edge.does == "dish" and edge.whole and edge.end > end for edge in here):
            cost += _NUMBER_IN_NAME  # the "20 wings" of the menu
        several = number_at(tokens[: end - 1], first)
        dozens = several is not None and several == (number[0] // 12, number[1] - 1)
        if several is not None and dozens and _is_box(edges, end - 1):
            here.append(Edge("number", end - 1, cost, value=several[0], words=words))
            cost += _NUMBER_IN_NAME  # "two dozen", where the menu has a dozen
        here.append(Edge("number", end, cost, value=number[0], words=words, some=some))


def _is_dish(here: Sequence[Edge]) -> bool:
    return any(edge.does == "dish" and edge.whole for edge in here)


def _is_box(edges: list[list[Edge]], at: int) -> bool:
    """Whether a word names a dish, and not how many there are of the dish that follows it."""
    box = next((edge for edge in edges[at] if edge.does == "dish" and edge.whole), None)
    following = edges_at(edges, at + 1) if box is not None else ()
    fits = [box is not None and edge.entity.mask & box.entity.mask for edge in following]
    return box is not None and (any(fits) or not _is_dish(following))


def _is_size(edges: Sequence[Sequence[Edge]], first: int, end: int) -> bool:
    """Whether "for" and a number are a size of the dish before them: "a platter for four"."""
    sizes = [edge for edge in edges[first - 1] if edge.does == "size" and edge.end == end]
    dishes = [
        edge for here in edges for edge in here if edge.does == "dish" and edge.end == first - 1
    ]
    return any(size.entity.mask & dish.entity.mask for size in sizes for dish in dishes)


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
    """Whether a number counts the guests or is an age: "we are 5.", "he is four so ..."."""
    before = [token.word for token in tokens[max(0, first - 2) : first]]
    ends = end == len(tokens) or tokens[end].stop or tokens[end].word in words_of("after people")
    return ends and " ".join(before) in phrases_of("counts people")


def _after_and(tokens: Sequence[Token], first: int) -> bool:
    """Whether "and" and a pause stand before a place."""
    return first > 1 and tokens[first - 1].stop and tokens[first - 2].word == "and"


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
    spelt: tuple[str, ...],
    index: Index,
) -> None:
    here = edges[first]
    if tokens[first].word == "of":
        _of_so_many(edges, tokens, first)
    if tokens[first].word in words_of("every") and first + 1 < len(tokens):
        put = first == 0 or tokens[first - 1].stop or tokens[first - 1].word in words_of("put on")
        put = put or any(edge.does in ("change", "swap") for edge in edges[first - 1])
        if put and names_dish(edges[first + 1]):
            here.append(Edge("all", first + 1, 0.05, words=tokens[first].word))
    named = any(edge.does in NAMED and edge.whole for edge in here)
    for words, phrase in phrases().get(tokens[first].word, ()):
        end = first + len(words)
        if words not in (said[first:end], spelt[first:end] if phrase.does != "note" else ()):
            continue
        following = tokens[end] if end < len(tokens) else None
        of_each = words[-1] in words_of("every") and phrase.does in _EACH and following is not None
        if of_each and (tokens[end].word == "one" or names_dish(edges[end])):
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
        if phrase.words in phrases_of("thinks aloud") and _after_and(tokens, first):
            here.append(Edge("filler", end, 0.0, words=phrase.words))
            continue  # "a burger and, hang on, a soup": both
        apart = first and tokens[first - 1].stop and following is not None and following.stop
        apart = apart and not all(token.stop for token in tokens[end:])
        if phrase.words in ("never mind", "forget it") and apart:
            here.append(
                Edge("correct", end, 0.1, words=phrase.words)
            )  # "a tea, never mind, a coffee"
        if phrase.does == "correct" and words == ("no",) and first:
            if tokens[first - 1].word == "with" and following is not None and not following.stop:
                continue  # "a cola with no lemon"
        alone = following is not None and (following.stop or following.word in ("a", "an"))
        if phrase.does == "the" and words[-1] in ("that", "this") and alone:
            continue  # "cancel that, I'll do the eggplant instead", "make that a large cola"
        if phrase.words == "his" and (following is None or following.stop):
            here.append(Edge("it", end, 0.1, words="his"))  # "a latte for Tom, two sugars in his"
        if phrase.does == "because":
            here.append(Edge("because", end, 0.0, words=phrase.words))
            continue
        cost = _SMALL.get(phrase.does, 0.05) - 0.03 * (len(words) - 1)
        if phrase.does == "remove" and (last := _closes(tokens, end)):
            here.append(Edge("dismiss", last, cost + 0.05, words=phrase.words))
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
        if phrase.does == "note" and words[-1] == "side":
            inside = (edge.does for some in edges[first : end - 3] for edge in some)
            if not {"option", "group"}.isdisjoint(inside):
                continue  # "the dressing on the side", of a dressing that there is
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
        if phrase.does == "correct" and len(words) > 1 and words[-1] == "no" and first == 0:
            left_off = any(edge.does in ("option", "group") for edge in edges_at(edges, end))
            cost += 1.2 if left_off else 0.0  # "wait no walnuts"
        if phrase.does == "correct" and phrase.words in phrases_of("corrects alone"):
            if following is None or not (
                following.stop or following.word in words_of("after a correction")
            ):
                sized = _sizes_only(edges, end)  # "a small one, no, large"
                counts = following is not None and _counts_a_name(edges, end, following)
                cost += 0.3 if sized or counts else 2.0
        if phrase.does == "ordinal" and _numbers_a_list(tokens, first, following):
            here.append(Edge("filler", end, 0.0, words=phrase.words))
        if phrase.does == "filler" and phrase.words == "the first one":
            like = first > 0 and tokens[first - 1].word in words_of("compares")
            cost += 1.5 if like else 0.0  # "same as the first one"
        if phrase.does == "filler" and phrase.words == "of":
            cost += 0.35
        if phrase.words == "with that" and following is not None and following.word == "one":
            continue  # "no lettuce with that one"
        if phrase.words == "rather" and following is not None and following.word == "than":
            continue  # "oat milk rather than whole milk"
        if phrase.does == "instead" and following is not None and following.word == "of":
            if end + 2 >= len(tokens) or number_at(tokens, end + 2) is None:
                cost += 2.0  # "instead of the hot dog", but "three shots instead of the one"
        if phrase.does == "a" and phrase.words == "any" and (following is None or following.stop):
            cost += 1.5  # "on any"
        if phrase.does == "them" and words[-1:] == ("two",) and "ones" in said[end + 1 : end + 3]:
            cost += 2.0  # "the two plain ones"
        if phrase.words == "as" and said[end + 1 : end + 2] in (("come",), ("comes",)):
            cost += 1.0  # "two as they come"
        if phrase.words == "make that":
            cost += 0.5
        if (
            phrase.words.split()[-1] in words_of("that")
            and phrase.does in _POINTING
            and end < len(tokens)
        ):
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
        elif phrase.does == "filler" and any(
            edge.does == "option" and edge.whole and edge.end == end for edge in edges[end - 1]
        ):
            cost += FILLER_ON_NAME  # "nice and hot" may be the hot sauce
        elif phrase.does == "filler" and not (following and following.word in ("the", "a", "an")):
            if any(
                edge.does == "dish" and edge.whole and edge.end > end for edge in edges[end - 1]
            ):
                cost += FILLER_ON_NAME  # "one of the kids pizzas"
        if phrase.does == "swap" and len(words) == 1 and index.knows(tokens[first].stem):
            cost += FILLER_ON_NAME  # a "sub" may be a sandwich
        here.append(
            Edge(
                phrase.does,
                end,
                cost,
                value=value_of(phrase.does, phrase.value),
                words=phrase.words,
            )
        )


def _numbers_a_list(tokens: Sequence[Token], first: int, following: Token | None) -> bool:
    """Whether an ordinal only says where the guest is in their list: "second, a latte", "third a soup"."""
    begins = first == 0 or tokens[first - 1].stop
    return begins and following is not None and following.word in ("a", "an", ",")


def _closes(tokens: Sequence[Token], end: int) -> int:
    """Return where a clause ends that a verb closes, after "it" and "please", or 0: "the soup cancel it"."""
    while end < len(tokens) and tokens[end].word in words_of("after a closing verb"):
        end += 1
    return end if end == len(tokens) or tokens[end].stop else 0


def _ends_denial(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word ends what is said of a thing left off: "and no syrup either", but "on either"."""
    ends = at + 1 == len(tokens) or tokens[at + 1].stop
    return at > 1 and ends and tokens[at - 1].word not in words_of("put on")


def names_dish(here: Sequence[Edge]) -> bool:
    """Whether a dish may be named at a place."""
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


def _sizes_only(edges: list[list[Edge]], at: int) -> bool:
    """Whether a word is a size and nothing else of the menu, and not the size of a dish that follows."""
    named = [edge for edge in edges_at(edges, at) if edge.whole and edge.does in NAMED]
    return {edge.does for edge in named} == {"size"} and not any(
        names_dish(edges_at(edges, edge.end)) for edge in named
    )


def value_of(does: str, value: str) -> str | int:
    """Return the value of a phrase, as a number where the grammar counts with it."""
    return int(value) if does in ("ordinal", "number", "heard") else value


def add_parted_notes(edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
    """Find a note whose words stand around what it is said of: "cut the sub in half".

    What is said of a part of a dish stays in it: "cut the noodles short".
    """
    said = tuple(token.word for token in tokens)
    for first, word in enumerate(said[:-1]):
        if said[first + 1] not in words_of("done to"):
            continue
        for words, phrase in phrases().get(word, ()):
            rest = words[1:]
            if phrase.does != "note" or not rest:
                continue
            at = _goes_on_with(rest, said, tokens, first + 2)
            if at is None:
                continue
            inside = [
                min(here, key=lambda edge: edge.cost) for here in edges[first + 2 : at] if here
            ]
            kinds = {edge.does for edge in inside}
            of_part = bool(kinds & {"option", "group"}) and "dish" not in kinds
            if of_part and said[first + 1] != "one":
                whole = " ".join(said[first : at + len(rest)])
                edges[first] = [Edge("note", at + len(rest), -0.3, words=whole)]
                break
            if len(rest) > 1:
                edges[at] = [Edge("note", at + len(rest), -0.3, words=phrase.words)]
                edges[first] = [Edge("add", first + 1, 0.0, words=word)]


def _goes_on_with(
    rest: Sequence[str], said: Sequence[str], tokens: Sequence[Token], first: int
) -> int | None:
    """Return the place of some words in the same clause and at most a few words ahead."""
    for at in range(first, min(first + 6, len(tokens) - len(rest) + 1)):
        if tokens[at].stop:
            return None
        if said[at : at + len(rest)] == tuple(rest):
            return at
    return None


def read_all_but(edges: list[list[Edge]]) -> None:
    """Read "with everything but" as a "no", not as "with everything" and what comes on it besides.

    Where a dish is named, it is excepted: "no ice in everything but the latte".
    """
    for first, here in enumerate(edges):
        denied = max((edge.end for edge in here if edge.does == "no"), default=0)
        before = [edge for place in edges[first:denied] for edge in place if edge.does == "except"]
        ends = {edge.end for edge in before}
        the = any(edge.does == "the" for edge in edges_at(edges, denied))
        there = edges_at(edges, denied + the)
        kinds = {edge.does for edge in there}
        made = any(
            edge.does == "option" and names_dish(edges_at(edges, edge.end)) for edge in there
        )  # "the lamb madras"
        named = made or "dish" in kinds and "option" not in kinds
        if ends.isdisjoint((denied, denied - 1)) or not (named or the and names_dish(there)):
            here[:] = [e for e in here if e.does not in ("plain", "whole") or e.end >= denied]
        elif named:
            here[:] = [e for e in here if e.does != "no" or e.end not in (*ends, denied)]
            for place in edges[max(0, first - 1) : first + 1]:  # "with everything but the latte"
                place[:] = [e for e in place if e.does != "plain" or not first < e.end < denied]


def edges_at(edges: list[list[Edge]], at: int) -> Sequence[Edge]:
    """Return the edges that begin at a place, none behind the end of the line."""
    return edges[at] if at < len(edges) else ()


_SMALL = {"exactly": 0.0, "it": 0.05, "filler": 0.02, "add": 0.0, "the": 0.0, "a": 0.0}


_TO_OFF = 7


_NUMBER_IN_NAME = 2.2


_POINTING = frozenset(("it", "them", "filler"))


_VERBS = frozenset(("swap", "change", "remove", "move", "keep", "add"))


_EACH = frozenset(("on", "each", "filler"))


_WHICH = 0.3
"""How much likelier words say which things are meant than that all are to be so."""
