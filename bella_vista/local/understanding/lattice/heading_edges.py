"""Finds names that only announce others: 'for dessert a tiramisu', 'coffee: two lattes'."""

from collections.abc import Sequence

from bella_vista.local.english.talking import words_of
from bella_vista.local.understanding.grammar.edges import Edge
from bella_vista.local.understanding.lattice.phrase_edges import edges_at
from bella_vista.local.understanding.menu.index import Index
from bella_vista.local.understanding.words.tokens import Token


def add_headings(edges: list[list[Edge]], tokens: Sequence[Token], index: Index) -> None:
    """Let what stands before a colon only announce what follows: "coffee: two lattes and a mocha"."""
    for colon, token in enumerate(tokens[:-1]):
        if token.word != ":":
            continue
        ends = {colon}
        counted = any(edge.does == "number" for edge in edges[colon + 1])
        for at in reversed(range(colon)):  # "coffees for the office please: two lattes"
            if any(edge.does == "filler" and edge.end in ends for edge in edges[at]):
                ends.add(at)
        for first in range(colon):
            begins = not first or tokens[first - 1].stop
            named = [
                edge
                for edge in edges[first]
                if edge.does == "dish" and edge.end in ends
                if (begins and counted and edge.plural)
                or (edge.end == colon and first >= colon - _LONGEST)
            ]
            if named and not any(edge.entity.mask & index.combos for edge in named):
                edges[first].append(Edge("filler", named[0].end, 0.0, words="heading"))
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
        counts = [edge.end for edge in edges_at(edges, at) if edge.does in ("number", "a", "the")]
        counts += [
            edge.end for to in (at, *counts) for edge in edges_at(edges, to) if edge.does == "size"
        ]
        for named in (edge for to in (at, *counts) for edge in edges_at(edges, to)):
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


_LONGEST = 3
"""So many words a name has at most that only announces others."""
_KINDS = 3
"""Of so many dishes at least what announces others is a kind of dish."""
