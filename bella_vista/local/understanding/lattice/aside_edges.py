"""Finds the runs of a line that only talk, and the persons whose wishes it tells."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.english import vocabulary
from bella_vista.local.english.required_words import may_match, with_digit
from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.grammar.edges import Edge
from bella_vista.local.understanding.words.tokens import Token


def add_asides(edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
    """Find words that say nothing of the order: "because he will not eat them", "my treat"."""
    first = 0
    for at in range(len(tokens) + 1):
        if at < len(tokens) and not tokens[at].stop:
            continue
        if at > first:
            _segment(edges, tokens, first, at)
        first = at + 1


def _segment(edges: list[list[Edge]], tokens: Sequence[Token], first: int, last: int) -> None:
    """Let a run between two pauses, or the end of one, be passed over as a whole."""
    talk = _speaks_of_people(tokens, first, last)
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
    ends = [last]
    wishes = may_match(
        pattern("begins a wish"), with_digit(token.word for token in tokens[first:last])
    )
    for at in range(first + 1, last):
        wish = " ".join(token.word for token in tokens[at : at + 3]) if wishes else ""
        joint = tokens[at].word in ("and", "but") or tokens[at].word in words_of("sums up")
        if joint or (wishes and pattern("begins a wish").match(wish)):
            ends.append(at)
    reasons = [
        end
        for end in ends
        if _speaks_of_people(tokens, first, end) and _is_reason(edges, tokens, first, end)
    ]
    if talk and not any(weight) and last - first > 2 and first not in opens:
        opens.append(first)
    if first not in opens and any(_given_up(tokens, first, end) for end in ends):
        opens.append(first)
    spans = [(at, end) for at in opens for end in ends]
    spans += [(first, end) for end in reasons if first not in opens]
    for at, end in spans:
        if end > at + 1:
            after = max((one.end for one in edges[at] if one.does == "because"), default=at)
            told = sum(weight[after - first : end - first])
            given_up = _given_up(tokens, at, end)
            cheap = end in reasons or given_up
            cost = 0.03 * (end - at) + (0.1 + _REASON * told if cheap else 0.25 + told)
            if cost < 6:
                edges[at].append(Edge("aside", end, cost, words=GIVEN_UP if given_up else "..."))


def _speaks_of_people(tokens: Sequence[Token], first: int, last: int) -> bool:
    people = any(token.word in words_of("persons") for token in tokens[first:last])
    return people or tokens[first].word in words_of("first names")


def _is_reason(edges: list[list[Edge]], tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether a run only says why what follows is wanted: "my brother only drinks coke, so one coke".

    Without a pause it names no dish: "the soup is for two so make it large" speaks of the soup.
    """
    paused = last < len(tokens) and tokens[last].stop
    follows = [token.word for token in tokens[last + paused : last + paused + 1]]
    acts = ("add", "remove", "change", "swap", *(() if paused else ("dish",)))
    return not words_of("sums up").isdisjoint(follows) and not any(
        edge.does in acts
        for at in range(first, last)
        for edge in edges[at]
        if not _beside_not(tokens, at, edge.end)
    )


def _beside_not(tokens: Sequence[Token], first: int, end: int) -> bool:
    """Whether "not" stands before a verb or behind it: "can not do", "do not"."""
    around = [*tokens[max(0, first - 1) : first], *tokens[end : end + 1]]
    return any(token.word == "not" for token in around)


def _given_up(tokens: Sequence[Token], first: int, end: int) -> bool:
    """Whether a run says that something is not wanted after all: "I was going to get the soup, but"."""
    said = " ".join(token.word for token in tokens[first:end])
    following = [token.word for token in tokens[end : end + 2] if not token.stop]
    wished = following[:1] == ["but"] and pattern("given up").fullmatch(said)
    return bool(wished or pattern("declined").fullmatch(said))


GIVEN_UP = "given up"
"""The words of an aside about something that is not wanted after all."""


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


def add_persons(edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
    """Find people by what they want: "Joan takes the soup", "Pat and I each have a small salad"."""
    said = tuple(token.word for token in tokens)
    if not may_match(pattern("somebody wants"), with_digit(said)):
        return
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


def _is_person(here: Sequence[Edge], token: Token) -> bool:
    """Whether a word may be somebody: it means nothing else."""
    other = any(edge.does not in ("aside", "filler") for edge in here)
    return token.word.isalpha() and token.word not in words_of("persons") and not other


def count_everyone(edges: list[list[Edge]], tokens: Sequence[Token]) -> None:
    """Let what is for everyone come once for each, where it is said how many they are."""
    people = {edge.value for here in edges for edge in here if edge.does == "filler" and edge.value}
    many = [*people][0] if len(people) == 1 else 0
    for here in edges:
        for at, edge in enumerate(here):
            if edge.does == "everyone":
                here[at] = replace(edge, value=many) if many else replace(edge, does="filler")
            elif edge.does == "everyone-gets":
                _count_each(edges, tokens, edge.end, many)


def _count_each(
    edges: list[list[Edge]], tokens: Sequence[Token], first: int, many: str | int
) -> None:
    """Let "a" be one for each from some place on: "everybody gets a slice and a cola"."""
    for at in range(first, len(tokens)):
        if tokens[at].breaks or any(edge.does == "add" for edge in edges[at]):
            return  # "and I want a cola"
        word = tokens[at].word
        if any(edge.does == "a" for edge in edges[at]) and word in ("a", "an"):
            ends = next((n for n in range(at, len(tokens)) if tokens[n].stop), len(tokens))
            if not words_of("shared").isdisjoint(token.word for token in tokens[at:ends]):
                return  # "and a large salad to share"
            each = Edge("number", at + 1, 0.1, value=many, words=word)
            edges[at] = [each if many else Edge("few", at + 1, 0.1, words=word)]


_LONGEST_WISH = 6
