"""Finds what on the order a description means, before a line is read: "the large one", "the steak taco".

What is described by its size, its choices and its name, and is one thing on the order, is that thing. The
search gets it as one more meaning of the words, beside all others.
"""

from collections.abc import Collection, Iterator, Sequence

from bella_vista.local.english.talking import words_of
from bella_vista.local.understanding.grammar.edges import Edge, Lattice
from bella_vista.local.understanding.grammar.states import CHANGING
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.menu.index import Entity, Index
from bella_vista.local.understanding.menu.kitchen import Kitchen, pieces_in
from bella_vista.local.understanding.order.matching import USUAL
from bella_vista.local.understanding.words.phrases import ordinals
from bella_vista.local.understanding.words.tokens import number_at
from state.menu.words import fold, stem, stems

_MOST = 3
"""So many names are in one description."""
_COST = 0.25
"""The cost of taking a description for the thing that it fits; more where it fits less well."""
_CALLED, _AS_IT_COMES, _DESCRIBED = 0.1, 0.3, 0.4
_ORDERED = 0.5
"""The extra cost of a kind of dish, some of which are ordered, over a dish of that name."""


def point(words: Lattice, known: Sequence[Item], index: Index, kitchen: Kitchen) -> None:
    """Add to a lattice what its descriptions mean of the order.

    Args:
        words: The lattice of the line; it is changed.
        known: The lines of the order.
        index: The menu's names.
        kitchen: What the menu makes of words.
    """
    if not known:
        return
    _by_place(words, known, index)
    _sizes_in_part(words, known, index)
    for first in range(len(words.tokens)):
        if first and not _points(words, first - 1):
            continue
        runs = [
            *_runs(words, first),
            *_words_of_names(words, first, known),
            *_ones_with(words, first),
        ]
        best: dict[tuple[int, tuple[str, ...]], Edge] = {}
        for run in runs:
            if not first and run[-1].does != "one":
                continue  # only "veggie one no corn" points without a word for it
            edge = _meant(words, first, run, known, index, kitchen)
            if edge is not None:
                key = (edge.end, edge.lines)
                if key not in best or edge.cost < best[key].cost:
                    best[key] = edge
        words.edges[first].extend(best.values())
        words.edges[first].extend(_ones_without(words, first, known, index, kitchen))
        if not first:
            continue
        words.edges[first].extend([*_called_in_combo(words, first, known, index)])
        _prefer_ordered(words, first, known, index)
        combos = [item for item in known if index.bit(item.name or "") & index.combos]
        if _put_on(words, first) or len(combos) > 1:
            words.edges[first].extend([*_combos_with(words, first, known, index)])
            words.edges[first].extend(_combo_by_place(words, first, combos, index))


def _prefer_ordered(words: Lattice, first: int, known: Sequence[Item], index: Index) -> None:
    """Take "the pancakes" rather for some that are on the order than for a dish that is called just so."""
    ordered = 0
    for item in known:
        ordered |= index.bit(item.name or "")
    dishes = [edge for edge in words.edges[first] if edge.does == "dish"]
    for edge in dishes:
        own = [one for one in dishes if one.end == edge.end and one.cost < edge.cost]
        if edge.entity.kind == "head" and edge.entity.mask & ordered:
            if own and not any(one.entity.mask & ordered for one in own):
                edge.cost = min(edge.cost, own[0].cost + _ORDERED)


def _called_in_combo(
    words: Lattice, first: int, known: Sequence[Item], index: Index
) -> Iterator[Edge]:
    """Take "the burger in my meal" for the cheeseburger in it, where another dish is called so."""
    word = words.tokens[first].word
    named = first + 2 + (first + 2 < len(words.tokens) and _points(words, first + 2))
    after = words.tokens[first + 1].word if first + 1 < len(words.tokens) else ""
    if after not in words_of("put on") or word in words_of("points"):
        return
    for combo in _at(words, named):
        inside = [item for item in known if index.bit(item.name or "") & combo.entity.mask]
        parts = [part for item in inside for part in item.parts] if combo.does == "dish" else []
        own = (word, words.tokens[first].stem)
        called = [one for one in parts if fold(one.name or "").endswith(own)]
        meant = [edge for edge in words.edges[first] if edge.does == "dish"]
        if len(called) == 1 and meant and combo.entity.mask & index.combos:
            bit = index.bit(called[0].name or "")
            likely = min(meant, key=lambda edge: edge.cost)
            if not likely.entity.mask & bit:
                entity = index.entity(bit.bit_length())
                yield Edge("dish", first + 1, likely.cost - _CALLED, entity, words=word)
                return


def _points(words: Lattice, place: int) -> bool:
    return words.tokens[place].word in words_of("points")


def _combos_with(words: Lattice, first: int, known: Sequence[Item], index: Index) -> Iterator[Edge]:
    """Find a combo that is told by what is in it: "in the slider one", "in the meal with the slider"."""
    tokens = words.tokens
    parts = {one.name for item in known for one in item.parts}
    whole = {
        edge.end
        for edge in words.edges[first]
        if edge.does == "dish" and edge.whole and parts.intersection(index.names(edge.entity.mask))
    }
    found: dict[str, Edge] = {}
    for called, part, end in (*_part_first(words, first), *_part_last(words, first)):
        if called.does == "dish" and end in whole:
            continue  # "the tofu musubi" is what a part is called
        meant = called.entity.mask if called.does == "dish" else index.combos
        having = [
            item
            for item in known
            if index.bit(item.name or "") & meant
            and any(index.bit(one.name or "") & part.entity.mask for one in item.parts)
        ]
        if len(having) == 1 and having[0].line is not None:
            entity = index.entity(index.bit(having[0].name or "").bit_length())
            said = " ".join(token.word for token in tokens[first:end])
            line = having[0].line.id
            if line not in found or found[line].end < end:  # "with the veggie burger", whole
                found[line] = Edge("dish", end, _COST, entity, words=said, lines=(line,))
    yield from found.values()


def _combo_by_place(
    words: Lattice, first: int, combos: Sequence[Item], index: Index
) -> Iterator[Edge]:
    """Find a combo by its place, behind a part of it: "the coke in the first one"."""
    at = ordinals().get(words.tokens[first].word, 0)
    item = next(iter(combos[at - 1 if at > 0 else at :][:1]), None) if at else None
    if item is None or item.line is None or not _put_on(words, first):
        return
    parts = sum({index.bit(one.name or "") for one in item.parts})
    before = (edge for here in words.edges[max(0, first - 6) : first] for edge in here)
    named = any(
        edge.does == "dish" and edge.end == first - 2 and edge.entity.mask & parts
        for edge in before
    )
    own = index.bit(item.name or "")
    for called in _at(words, first + 1) if named else ():
        if called.words == "one" or (called.does == "dish" and called.entity.mask & own):
            said = " ".join(token.word for token in words.tokens[first : called.end])
            entity = index.entity(own.bit_length())
            yield Edge("dish", called.end, 0.0, entity, words=said, lines=(item.line.id,))


def _part_first(words: Lattice, first: int) -> Iterator[tuple[Edge, Edge, int]]:
    """Yield what a combo may be called, what is in it, and where that ends: "slider meal"."""
    for part in words.edges[first]:
        for called in _at(words, part.end) if part.does == "dish" and not part.lines else ():
            if called.does == "dish" or called.words == "one":
                yield called, part, called.end


def _part_last(words: Lattice, first: int) -> Iterator[tuple[Edge, Edge, int]]:
    """Yield the same of "meal with the slider"."""
    for called in words.edges[first]:
        if called.does != "dish" and called.words != "one":
            continue
        for joint in _at(words, called.end):
            if joint.does != "with" or joint.end >= len(words.tokens):
                continue
            named = joint.end + (words.tokens[joint.end].word in words_of("points"))
            for part in _at(words, named):
                if part.does == "dish" and not part.lines:
                    yield called, part, part.end


def _at(words: Lattice, place: int) -> Sequence[Edge]:
    return words.edges[place] if place < len(words.tokens) else ()


def _by_place(words: Lattice, known: Sequence[Item], index: Index) -> None:
    """Find what is called by its place on the order: "item 2", "the first item"."""
    said = [token.word for token in words.tokens]
    for at, word in enumerate(said):
        if word not in words_of("lines of an order"):
            continue
        first, end, place = at, at + 1, None
        if at and said[at - 1] in ordinals():
            first, place = at - 1, ordinals()[said[at - 1]]
        elif end < len(said):
            end += said[end] in words_of("before a place")
            number = number_at(words.tokens, end)
            if number is not None:
                place, end = number[0], end + number[1]
        if place is None or place == 0 or place > len(known):
            continue
        item = known[place - 1 if place > 0 else place]
        entity = index.entity(index.bit(item.name or "").bit_length())
        lines = (item.line.id,) if item.line is not None else ()
        called = " ".join(said[first:end])
        words.edges[first].append(Edge("dish", end, 0.0, entity, words=called, lines=lines))


def _sizes_in_part(words: Lattice, known: Sequence[Item], index: Index) -> None:
    """Find a size that one thing has, by its first word: "the half", of a half rack."""
    sizes = {item.size for item in known if item.size and " " in item.size}
    for first in range(1, len(words.tokens)):
        token = words.tokens[first]
        ends = first + 1 == len(words.tokens) or words.tokens[first + 1].stop
        ends = ends or any(edge.does == "one" for edge in words.edges[first + 1])
        meant = [size for size in sizes if stem(size.split()[0]) == token.stem]
        meant = [] if token.word.isdigit() else meant
        if _after(words, first, ("instead-of",)):
            number = number_at(words.tokens, first)  # "instead of the twelve do a six piece"
            meant = [size for size in sizes if number and size.split()[0] == str(number[0])]
            ends = True
        points = words.tokens[first - 1].word in words_of("points")
        if not (points and ends and len(meant) == 1):
            continue
        if any(edge.does == "size" for edge in words.edges[first]):
            continue
        said = stems(meant[0])
        for length, one in index.at(said, 0):
            if one.entity.kind == "size" and length == len(said):
                words.edges[first].append(
                    Edge("size", first + 1, 0.5, one.entity, words=token.word)
                )
                break


def _runs(words: Lattice, first: int) -> Iterator[tuple[Edge, ...]]:
    """Return the runs of names that begin at a place, each perhaps with "one" at its end."""
    open_runs: list[tuple[Edge, ...]] = [()]
    while open_runs:
        run = open_runs.pop()
        at = run[-1].end if run else first
        for edge in words.edges[at] if at < len(words.tokens) else ():
            if edge.does == "one" and run and edge.words in ("one", "ones"):
                yield (*run, edge)
            elif edge.does in ("dish", "option", "size") and not edge.lines:
                yield (*run, edge)
                if len(run) + 1 < _MOST:
                    open_runs.append((*run, edge))


def _ones_with(words: Lattice, first: int) -> Iterator[tuple[Edge, ...]]:
    """Return "one" with what stands behind it: "the one on wheat", "no olives on the wrap with ham"."""
    for one in words.edges[first]:
        put_on = one.does == "dish" and one.whole and _put_on(words, first)
        if not put_on and (one.does != "one" or one.words not in ("one", "ones")):
            continue
        for joint in words.edges[one.end] if one.end < len(words.tokens) else ():
            if joint.does not in ("with", "on") or joint.end >= len(words.tokens):
                continue
            for named in _at(words, joint.end + _points(words, joint.end)):
                if named.does == "option" and named.whole:
                    yield one, named


def _ones_without(
    words: Lattice, first: int, known: Sequence[Item], index: Index, kitchen: Kitchen
) -> Iterator[Edge]:
    """Find those of a dish that lack a choice of the others: "the one without mayo", "the ones without sauce"."""
    for one in words.edges[first]:
        put_on = one.does == "dish" and one.whole and _put_on(words, first)
        if not put_on and (one.does != "one" or one.words not in ("one", "ones")):
            continue
        for joint in _at(words, one.end):
            for named in _at(words, joint.end) if joint.does == "no" else ():
                if named.does not in ("option", "group") or not named.whole:
                    continue
                fits = [(_fit_one(item, named, known, index, kitchen), item) for item in known]
                having = {item.names for fit, item in fits if fit in (0.0, _AS_IT_COMES)}
                lacking = [item for fit, item in fits if fit is None and item.names in having]
                if put_on:
                    lacking = [i for i in lacking if index.bit(i.name or "") & one.entity.mask]
                pieces = sum(item.quantity or 1 for item in lacking)
                plural = one.words == "ones" or one.plural
                single = pieces > 1 if plural else len(lacking) == 1
                if single and len({item.names for item in lacking}) == 1:
                    entity = index.entity(index.bit(lacking[0].name or "").bit_length())
                    said = " ".join(token.word for token in words.tokens[first : named.end])
                    lines = tuple(item.line.id for item in lacking if item.line is not None)
                    yield Edge(
                        "dish", named.end, _COST, entity, words=said, plural=plural, lines=lines
                    )


def _words_of_names(
    words: Lattice, first: int, known: Sequence[Item]
) -> Iterator[tuple[Edge, ...]]:
    """Take a word for part of what a thing is called: "the spicy one", "the cheesy one"."""
    word = stem(words.tokens[first].word)
    for called in {name for item in known for name in fold(item.name or "").split()}:
        name = stem(called)
        if len(name) > 3 and word in (name, f"{name}y", f"{name.removesuffix('e')}y"):
            named = Edge("option", first + 1, 0.5, Entity("option", called), words=called)
            for edge in words.edges[first + 1] if first + 1 < len(words.tokens) else ():
                if edge.does == "one":
                    yield named, edge


def _meant(
    words: Lattice,
    first: int,
    run: Sequence[Edge],
    known: Sequence[Item],
    index: Index,
    kitchen: Kitchen,
) -> Edge | None:
    """Return what a run of names means, where it is one thing on the order."""
    one = next((edge for edge in run if edge.does == "one"), None)
    named = [edge for edge in run if edge.does != "one"]
    parts = [part for item in known for part in item.parts]
    if one is None and len(named) == 1:
        pointed_at = _removed(words, first) or _put_on(words, first)
        is_made = pointed_at and _made_of(named[0], known, index, kitchen)
        some_part = _some_of(words, first) and named[0].does == "option"
        is_sized = named[0].does == "size" and _changed(words, first)
        is_told = is_made or is_sized or some_part
        wished = named[0].does == "dish" and named[0].whole and not _changed(words, first)
        things = (known, () if wished else parts)  # "the masala dosa", not the Mysore one
        called = (_named_in_part(words, first, named[0], one, kitchen) for one in things)
        if not (is_told or any(called)):
            return None
    if one is None and len(named) > 1 and "dish" not in (named[0].does, named[-1].does):
        return None
    fits = [(_fit(item, named, known, index, kitchen), item) for item in known]
    best = min((fit for fit, _ in fits if fit is not None), default=None)
    some = _some_of(words, first)
    if best is None and (one is not None or some or len(named) == 1):
        # "The falafel one", a part of a combo.
        fits = [(_fit(part, named, parts, index, kitchen), part) for part in parts]
        best = min((fit for fit, _ in fits if fit is not None), default=None)
    if best is None or (run[0] is one and best):
        return None
    found = [item for fit, item in fits if fit == best]
    several = some or (one is not None and one.words == "ones")
    pieces = sum((item.quantity or 1) * (pieces_in(item.size or "") or 1) for item in found)
    if len(found) > 1 and not several or several and pieces < 2:
        return None
    mask = 0
    for item in found:
        mask |= index.bit(item.name or "")
    if mask & (mask - 1):
        entity = Entity("head", " ".join(edge.words for edge in named), mask, number=-2)
    else:
        entity = index.entity(mask.bit_length())
    end = run[-1].end
    return Edge(
        "dish",
        end,
        _COST + best + 0.3 * sum(max(0.0, edge.cost - 0.5) for edge in named),
        entity,
        words=" ".join(token.word for token in words.tokens[first:end]),
        plural=several,
        lines=tuple(item.line.id for item in found if item.line is not None),
    )


def _named_in_part(
    words: Lattice, first: int, edge: Edge, known: Sequence[Item], kitchen: Kitchen
) -> bool:
    """Whether something is put on what a word names in part, or describes: "oil on the italian"."""
    said = set(stems(edge.words))
    if first < 2 or (edge.does == "dish" and any(said == set(stems(i.words)) for i in known)):
        return False
    called = [item for item in known if said <= set(stems(item.name or ""))]
    if not called and _put_on(words, first):
        called = [item for item in known if _described(item, edge, kitchen)]
    return len(called) == 1 and (edge.does == "dish" or _put_on(words, first))


def _described(item: Item, edge: Edge, kitchen: Kitchen) -> bool:
    """Whether the menu describes a thing with some words: "the pork", of a lechon with roast pork."""
    dish = kitchen.dish(item.name)
    return dish is not None and set(stems(edge.words)) <= set(stems(dish.description or ""))


def _some_of(words: Lattice, first: int) -> bool:
    """Whether some of what is named at a place are meant: "one of the lamb"."""
    if first < 3 or words.tokens[first - 2].word != "of":
        return False
    counts = {edge.does for edge in words.edges[first - 3]}
    return bool(counts & {"number", "one"})


def _put_on(words: Lattice, first: int) -> bool:
    """Whether something is put on what is named at a place: "no onion on the beef"."""
    return first >= 2 and words.tokens[first - 2].word in words_of("put on")


def _removed(words: Lattice, first: int) -> bool:
    """Whether what begins at a place is to be taken off, or excepted."""
    return _after(words, first, ("remove", "except"))


def _changed(words: Lattice, first: int) -> bool:
    """Whether what begins at a place is to become something: "make the double a single"."""
    return _after(words, first, (*CHANGING, "instead-of"))


def _after(words: Lattice, first: int, verbs: Collection[str]) -> bool:
    return any(
        edge.does in verbs and first - 1 <= edge.end <= first
        for here in words.edges[max(0, first - 4) : first]
        for edge in here
    )


def _made_of(edge: Edge, known: Sequence[Item], index: Index, kitchen: Kitchen) -> bool:
    """Whether the only choice of a kind that a thing cannot be without is what it is called: "drop the coke"."""
    having = [
        item
        for item in known
        if edge.entity.chosen & index.bit(item.name or "")
        and set(kitchen.made(item.name, edge.entity.words) or ("",)) <= set(item.changes)
    ]
    if len(having) != 1:
        return False
    item, said = having[0], edge.entity.words
    return not any(kitchen.same_group(item.name, one, said) for one in item.changes)


def _fit(
    item: Item, named: Sequence[Edge], known: Sequence[Item], index: Index, kitchen: Kitchen
) -> float | None:
    """Return how badly names fit a thing; ``None`` where one of them does not fit at all."""
    total = 0.0
    for edge in named:
        fit = _fit_one(item, edge, known, index, kitchen)
        if fit is None:
            return None
        total += fit
    return total


def _is_most(item: Item, known: Sequence[Item], kitchen: Kitchen, end: int) -> bool:
    """Whether a thing is the largest, or the smallest, of several of its name."""
    dish = kitchen.dish(item.name)
    sizes = {one.size for one in known if one.name == item.name}
    ordered = [size for size in (dish.sizes if dish is not None else ()) if size in sizes]
    return len(ordered) > 1 and item.size == ordered[end]


def _stands_out(item: Item, known: Sequence[Item], kitchen: Kitchen, end: int) -> bool:
    """Whether a thing has the largest, or the smallest, of its sizes, and no other thing has."""
    extreme = []
    for one in known:
        dish = kitchen.dish(one.name)
        sizes = dish.sizes if dish is not None else ()
        if len(sizes) > 1 and one.size == sizes[end]:
            extreme.append(one)
    return extreme == [item]


def _fit_one(
    item: Item, edge: Edge, known: Sequence[Item], index: Index, kitchen: Kitchen
) -> float | None:
    said = edge.entity.words
    if edge.does == "dish":
        if index.bit(item.name or "") & edge.entity.mask:
            return 0.0
        if set(stems(edge.words)) <= set(stems(item.name or "")):
            return _CALLED
        return _DESCRIBED if _described(item, edge, kitchen) else None
    if said in USUAL:
        return None  # "the normal one" is told by how the others are
    if edge.does == "size" and (end := _compared(edge.words)) is not None:
        return 0.0 if _is_most(item, known, kitchen, end) else None
    if edge.does == "size" and item.size and kitchen.size(item.name, said) == item.size:
        return 0.0
    if edge.does == "size" and not any(kitchen.size(one.name, said) for one in known):
        # "The big one" is the footlong among six inches.
        end = (
            -1 if edge.words in words_of("big") else 0 if edge.words in words_of("little") else None
        )
        return 0.1 if end is not None and _stands_out(item, known, kitchen, end) else None
    own = set(stems(said))
    for change in item.changes:
        meant = kitchen.made(item.name, said)
        if not change.startswith("no ") and (own <= set(stems(change)) or meant == (change,)):
            return 0.0
        if edge.does == "group" and kitchen.is_kind(item.name, change, said):
            return 0.0
    if set(stems(edge.words)) <= set(stems(item.name or "")):
        return _CALLED
    if edge.does == "size":
        return None
    off = any(change.startswith("no ") and own <= set(stems(change)) for change in item.changes)
    if kitchen.has(item.name, said) and not off:
        return _AS_IT_COMES
    return _DESCRIBED if not off and _described(item, edge, kitchen) else None


def _compared(words: str) -> int | None:
    """Return which of the sizes is the one compared: the last for "bigger", the first for "smaller"."""
    if words in words_of("larger"):
        return -1
    return 0 if words in words_of("smaller") else None
