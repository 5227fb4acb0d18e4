"""The items of a reading: the acts of a search put together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bella_vista.local.english.talking import phrases_of, words_of
from bella_vista.local.understanding.grammar.edges import Edge
from bella_vista.local.understanding.grammar.grammar import ON, WITH
from bella_vista.local.understanding.grammar.states import Act, Reading
from bella_vista.local.understanding.menu.index import Entity
from bella_vista.local.understanding.readings.put_on import (
    halve,
    leave_off,
    pass_on,
    put_on,
    put_on_next,
)
from bella_vista.local.understanding.readings.regrouping import regroup
from bella_vista.local.understanding.readings.said import EVERY, Option, Said
from bella_vista.local.understanding.words.tokens import Token, number_at, tokenize


@dataclass(frozen=True, slots=True)
class Passed:
    """A word that a reading passes over."""

    place: int
    kind: str


def items(reading: Reading) -> tuple[list[Said], list[Passed]]:
    """Put a reading's acts together: its items in order, and the words it passes over."""
    assembly = _Assembly(reading)
    following = [*(act.does for act in reading.acts[1:]), ""]
    for act, ahead in zip(reading.acts, following, strict=False):
        assembly.take(act, ahead)
    said = assembly.said
    tail = [act.does for act in reading.acts if act.does not in ("pass", "lost")]
    if tail and tail[-1] == "correct" and said:
        said[-1].after_all = True
        said[-1].correct = said[-1].correct or (len(said) == 1 and assembly.corrects)
    return regroup(said, reading), assembly.passed


class _Assembly:
    """The items of a reading as far as its acts have been taken.

    Args:
        reading: The reading.
    """

    def __init__(self, reading: Reading) -> None:
        self.said: list[Said] = []
        """The items so far."""
        self.passed: list[Passed] = []
        """The words passed over so far."""
        self.corrects = False
        """Whether the next item or choice takes the place of the last one."""
        self._reading = reading
        self._now = self._to = self._before_all = Said()
        # ``now`` is the item that is read; ``to`` is the part of it that is described.
        self._named: Edge | None = None
        self._ends = -1  # the place after the last name
        self._meant = self._exactly = self._rather = self._sole_next = False
        self._taken_back = self._resized = False
        steps = reading.steps
        self._halved = any(step.edge.does == "other-half" for step in steps)
        self._joins = {step.first + 1 for step in steps if step.edge.does in ("and", "with")}
        self._ands = {step.edge.end for step in steps if step.edge.does == "and"}
        self._pauses = {step.first for step in steps if step.edge.does in ("and", "comma", "stop")}
        self._everywhere = {step.first for step in steps if _is_everywhere(step.edge)}

    def take(self, act: Act, ahead: str) -> None:
        """Take the next act; ``ahead`` is what the one after it does."""
        now = self._now
        match act.does:
            case "pass":
                self._pass(act, ahead)
            case "lost":
                self.passed.append(Passed(act.first, "part"))
            case "exactly":
                self._exactly, self._sole_next = True, ahead in ("option", "become", "begin")
                points = now.ref not in ("", "rest", "other")
                if now.head is None and not points and now is not self._before_all:
                    now.exact = True
            case "begin":
                self._begin(act)
            case "correct":
                self._taken_back, self._resized = True, False
                words = act.edge.words
                self._meant = bool(words_of("meant").intersection(words.split()))
                mildly = words in phrases_of("corrects mildly")
                self.corrects = not mildly or ahead == "exactly"
            case "become" | "should":
                if act.does == "should":
                    now.verb = "change"
                if now.become is None:
                    now.become = self._to = Said(place=act.first)
            case "instead" if not self.said:
                self._rather = True
            case "instead":
                now.instead = True
                gone = self.said[-2] if len(self.said) > 1 else Said()
                if now.verb == "remove" and now.head and (gone.verb == "remove" or gone.denied):
                    now.verb = ""  # "no fries, tater tots instead"
            case _:
                self._describe(act, ahead)

    def _pass(self, act: Act, ahead: str) -> None:
        """Pass over a word, or take it for a strange word of what is described."""
        kind, after = act.value
        named, now, to = self._named, self._now, self._to
        whole = named is None or named.whole
        most = 0 if whole or act.first in self._joins else 1
        headless = now.head is None and not now.ref
        beside = 0 <= act.first - self._ends <= most and kind in _STRANGE
        goes_on = named is not None and (
            not named.whole or kind in _TELLING or (headless and named.does == "option")
        )
        counted = now.number and now.only_counts and now is not self._before_all
        if beside and named is not None and goes_on:
            to.unknown.append(act.first)
            to.strange = to.strange or (named.does == "dish" and not named.whole)
            self._ends = act.first + 1
        elif counted and kind in _TELLING and ahead in ("begin", ""):
            now.unknown.append(act.first)  # "two coffees", where there are none
        elif after and kind in ("food", "word") and now.head is not None:
            to.unknown.append(act.first)
            self._ends = act.first + 1
        else:
            self.passed.append(Passed(act.first, kind))
            self._exactly = False  # "Priya just emailed, make hers a large": not just hers

    def _begin(self, act: Act) -> None:
        """Begin an item."""
        verb, correct, joint = act.value
        firmly = correct and self.corrects
        self.corrects = False
        self._now = self._to = Said(
            verb, act.first, correct, firmly, correct and self._meant, joint
        )
        self._now.exact, self._exactly = self._exactly, False
        self._now.kept = verb == "keep"
        self._now.instead, self._rather = self._rather, False
        self.said.append(self._now)

    def _describe(self, act: Act, ahead: str) -> None:
        """Say something of the item: its number, size, name, choices, parts."""
        edge, now, to = act.edge, self._now, self._to
        if act.does == "option" and self.corrects:
            if to.options:
                _correct_option(to, act, only=self._exactly, again=self._resized)
                to.correct = to.correct or not (to.head or to.ref)
            self.corrects = False
        sole, self._sole_next = self._sole_next, False
        if act.does == "size" and ahead in ("part", "parts"):
            self._size_of_part(act)
            return
        if self._taken_back and act.does in ("size", "count"):
            self._resized = True
            if act.does == "size" and to.size is None and _numbered(edge.entity):
                to.count = None  # "the five, no, the three piece"
        every = act.value in EVERY
        told = act.value == "one" and (now.ordinal is not None or now.partial)
        # "And put ham on the last one", "ham on one of the hot ones".
        other = act.value == "other" and ahead in ("", "begin")  # "and ham on the other"
        named = act.does == "head" or every or act.value == "of-them" or told or other
        joins = (ON, WITH) if other else (ON,)
        if named and now.joint in joins and not now.become:
            pass_on(self.said, put_on_next(self._reading, act.first, every=every, beside=other))
        listed = act.does == "option" and to.ends == act.first - 1 and bool(to.options)
        all_over = not self._everywhere.isdisjoint((edge.end, edge.end + 1))  # "on the whole pizza"
        half = to.options[-1].half if listed and not all_over else ""
        goes_on = act.first in self._joins or (self._halved and half == "other half")
        before = (to.count, to.size, None if act.does == "combo" else to.head)
        _apply(act, now, to, ahead)
        if listed:
            to.options[-1].joined = act.first in self._ands
        if half and goes_on and edge.entity.halved and not to.options[-1].half:
            to.options[-1].half = half  # "half ham and olives"
        if sole and act.does == "option" and to.options:
            to.options[-1].sole = True
        after = (to.count, to.size, to.head)
        if not self._taken_back and any(
            old is not None and new not in (None, old)
            for old, new in zip(before, after, strict=True)
        ):
            to.written_over.append(act.first)
        self._taken_back = self._taken_back and act.does in ("the", "one")
        if act.does in _NAMING:
            self._named, self._ends = edge, edge.end
            named = to if act.does != "part" else now.parts[-1]
            _take_up(named, act, self.passed, self._reading)
        self._go_on_with(act)

    def _size_of_part(self, act: Act) -> None:
        """Give a size to the last part of a combo, or keep it for the next.

        "Nuggets, the four piece, with apple slices", "wings large, and slaw" have the size before the pause.
        """
        now, size = self._now, act.edge.entity
        last = now.parts[-1] if now.parts else None
        # "Nuggets, the four piece, with apple slices", "the fries large and a cola".
        told = act.edge.end in self._pauses or _definite(self._reading, act.first)
        if last and told and not last.size and size.mask & last.mask:
            last.size = size
        else:
            now.ahead = size

    def _go_on_with(self, act: Act) -> None:
        """Choose the part of the item that is described from here on."""
        now = self._now
        put_on_it = now.become if now.on else None
        if act.does in ("head", "ref") and put_on_it is not None:
            self._to = now if act.value == "having" else put_on_it
        if act.does == "part":
            self._to = now.parts[-1]
        elif act.does == "combo":
            self._to = put_on_it if act.value[0] and put_on_it is not None else now


def _definite(reading: Reading, place: int) -> bool:
    """Whether "the" stands before a place."""
    return any(step.first == place - 1 and step.edge.does == "the" for step in reading.steps)


def _take_up(to: Said, act: Act, passed: list[Passed], reading: Reading) -> None:
    """Take a word that was passed over before a name for a part of what it is called."""
    edge, last = act.edge, passed[-1] if passed else None
    if last is None or not last.place < act.first <= last.place + 2:
        return
    if last.place + 1 < act.first:
        between = {one.does for one in reading.acts if last.place < one.first < act.first}
        if not between or not between <= {"begin", "one", "the"}:
            return
    if last.kind == "number":
        to.few = True
        passed.pop()
    elif (
        last.kind in _TELLING
        or (not edge.whole and last.kind in _STRANGE)
        or (last.kind == "word" and _general(act))
    ):
        to.unknown.append(last.place)
        to.strange = to.strange or (act.does == "head" and (not edge.whole or _general(act)))
        if act.does == "option" and not edge.whole and to.options:
            to.options.pop()
            to.unknown.extend(range(act.first, edge.end))
        passed.pop()


def _general(act: Act) -> bool:
    """Whether a head says only of which kind a dish is."""
    mask = act.edge.entity.mask
    return act.does == "head" and mask & (mask - 1) != 0


_NAMING = frozenset(("head", "narrow", "part", "option"))
_STRANGE = frozenset(("food", "word", "common", "part", "name"))
_TELLING = frozenset(("food", "part", "name"))


def _apply(act: Act, now: Said, to: Said, ahead: str) -> None:
    edge = act.edge
    match act.does:
        case "count":
            to.count, to.article = int(edge.value), False
        case "one":
            to.article = True
        case "few":
            to.few = True
        case "the":
            to.definite = True
        case "fewer":
            to.count, now.verb = 1, "remove"
        case "half_of":
            now.ref, now.partial, now.half = "of-them", True, True
        case "of":
            now.partial = True
        case "ordinal":
            to.ordinal = int(edge.value)
        case "more":
            to.more = True
        case "head" | "narrow":
            if act.does == "narrow" and now.ref and now.head is None:
                to = now
            if act.does == "narrow" and to.head is not None:
                to.mask &= edge.entity.mask
                to.words = f"{to.words} {edge.words}"
            else:
                to.head, to.mask, to.words = edge.entity, edge.entity.mask, edge.words
                to.named = (act.first, edge.end)
                to.lines, to.definite = edge.lines, to.definite or bool(edge.lines)
            to.plural, to.weak = edge.plural, edge.weak
        case "total":
            now.recounts = True
        case "combo" if act.value[0]:
            now.within, now.lines_within = edge.entity.mask, edge.lines
        case "combo":
            part = Said(head=now.head, mask=now.mask, words=now.words, size=None)
            now.parts.append(part)
            _, having = act.value
            now.head, now.mask, now.words = edge.entity, having, f"{now.words} {edge.words}"
            now.combo = edge.entity
        case "parts":
            now.parts.append(Said(count=int(act.value)))
        case "part":
            combo = now.become if now.become is not None and now.become.head else now
            combo.mask &= act.value  # "wings with fries" is a combo of wings
            last = now.parts[-1] if now.parts else None
            if last is not None and last.head is None:
                last.head, last.mask, last.words = edge.entity, edge.entity.mask, edge.words
            else:
                last = Said(head=edge.entity, mask=edge.entity.mask, words=edge.words)
                now.parts.append(last)
            last.named, last.plural = (act.first, edge.end), edge.plural
            before = to if to is not last else now
            if now.ahead is not None:
                last.size, now.ahead = now.ahead, None
            if before.options and before.ends == act.first:
                last.options.append(before.options.pop())
        case "uncount":
            to.count = None
        case "ref":
            to.ref, to.pointed = str(act.value), act.first
            to.plural = to.plural or edge.words == "ones"
            to.both = edge.words.startswith("both") or not words_of("both").isdisjoint(
                edge.words.split()
            )
            if to.ref == "of-them":
                now.partial = True
        case "size":
            to.resized, to.size, to.ends, to.sized = to.size, edge.entity, edge.end, edge.end
            to.compared = edge.words in words_of("larger") | words_of("smaller")
        case "option":
            option = _option(edge.entity, act.value)
            option.place = act.first
            if option.half == "half" and any(one.half == "half" for one in to.options):
                option.half = "other half"
            to.options.append(option)
            to.told.extend(range(act.first, edge.end))
            to.ends = edge.end
        case "much":
            if to.options:
                to.options[-1].amount = str(edge.value)
        case "replaced":
            to.replaced.append(_option(edge.entity, act.value))
        case "half":
            halve(to.options, str(act.value))
        case "side":
            if to.options:
                beside = to.options[-1]
                beside.side = True
                beside.no = beside.no and not beside.carried  # "no egg, mayo on the side"
        case "plain":
            to.plain = True
            to.usual = edge.words
        case "bare":
            to.bare = True
        case "only" if not (now.on and now.named[1] == act.first):
            to.only = True  # "egg whites on the Greek one only" says where alone they are
        case "each":
            to.each = True
        case "note":
            to.notes.append(edge.words)
        case "on" if now.verb == "swap":
            named = now.head or now.become
            now.inside = now.inside or (bool(now.options) and not named)
        case "on" if now.verb != "change":
            if now.head is None and not now.ref and now.become is None and now.options:
                put_on(now)
        case "free":
            if to.options:
                to.options[-1].no = True
        case "outdone":
            now.outdone = edge
        case "copied":
            now.copies = True
        case "twice":
            now.twice, now.verb = True, "change"
        case "except":
            now.excepted, now.verb = True, ""
        case "back":
            now.back = True
        case "kept":
            now.kept = True
            if now.verb == "remove":
                now.verb = ""  # "drop the diavola, the margherita stays"
        case "besides":
            now.besides = True
        case "off":
            if now.head is None and not now.ref and now.become is None and now.options:
                for option in now.options:
                    option.no = True
                now.verb = ""
                if ahead in ("head", "the", "ref", "ordinal"):
                    put_on(now)
            elif to.options and not to.options[-1].no:
                leave_off(to.options, now)
            else:
                to.off = True
        case "deny":
            now.denied = True


def _numbered(size: Entity) -> bool:
    """Whether a size is a number of pieces: "five pieces"."""
    return number_at(tokenize(size.words), 0) is not None


def _correct_option(to: Said, act: Act, *, only: bool, again: bool) -> None:
    """Take back the option that a correction replaces; with "just", all that were said.

    Args:
        to: The item.
        act: The option that was said after the correction.
        only: Whether "just" was said.
        again: Whether the correction was of the size or the number, so that an option may be said again.
    """
    fresh = _option(act.edge.entity, act.value)
    same = [one for one in to.options if one.entity is fresh.entity]
    if only and not fresh.no:
        to.options.clear()
    elif same and fresh.dropped and not same[-1].no:
        return  # "extra cheese? No, never mind the cheese" takes back what was said
    elif same:
        to.options.remove(same[-1])
        if replace(same[-1], place=fresh.place) == fresh and not again:
            to.written_over.append(act.first)
    elif to.options[-1].no == fresh.no:
        to.options.pop()


def _is_everywhere(edge: Edge) -> bool:
    """Whether words say that something is on the whole of a dish: "all over", "on the whole pizza"."""
    return edge.does == "all" or "whole" in edge.words.split()


def _option(entity: Entity, pend: Sequence[tuple[str, str | int]]) -> Option:
    option = Option(entity)
    for kind, value in pend:
        if kind in ("no", "carried"):
            option.no, option.carried = True, kind == "carried"
            option.dropped = value == "dropped"
        elif kind == "amount":
            option.amount = str(value)
        elif kind == "half":
            option.half = str(value)
        elif kind == "count":
            option.count = int(value)
    return option


def told_of(said: Said, following: Sequence[Said], tokens: Sequence[Token]) -> str:
    """Return the guest's words for a whole item."""
    last = following[0].place if following else len(tokens)
    run = [token.word for token in tokens[said.place : max(last, said.place + 1)] if not token.stop]
    while len(run) > 1 and run[-1] in ("and", "with", "the", "a", "also", "then", "please"):
        run.pop()
    return " ".join(run)


def shown(said: Sequence[Said]) -> Iterator[str]:
    """Say what each item of a reading is, for whoever tunes a menu."""
    for one in said:
        words = [one.verb or "order", *([str(one.count)] if one.count else [])]
        words += [one.size.words] if one.size else []
        words += [one.head.words if one.head else one.ref]
        words += [option.words for option in one.options]
        if one.become is not None:
            words += ["->", *shown([one.become])]
        yield " ".join(word for word in words if word)
