"""Choices said of one thing and put on another: 'ham on the diavola', 'onions left off', halves."""

from collections.abc import Sequence
from itertools import zip_longest

from bella_vista.local.understanding.grammar.states import Reading
from bella_vista.local.understanding.readings.said import Option, Said


def put_on_next(reading: Reading, place: int, *, every: bool, beside: bool = False) -> set[int]:
    """Return the places of choices that are put on what is named next: "... and ham on the diavola".

    Args:
        reading: The reading.
        place: Where it is named.
        every: Whether all things are named.
        beside: Whether "with" may put them there: "ham with the other".
    """
    told: set[int] = set()
    put: list[set[int]] = []
    denied = False
    steps = [one for one in reading.steps if one.first < place]
    begins = {act.first for act in reading.acts if act.does == "begin"}
    joints = ("on", "with") if beside else ("on",)
    while steps and (does := steps.pop().edge.does) not in joints:
        if does in ("comma", "stop"):
            return set()  # "no pork for my wife, a galbi"
    for step, before in zip_longest(reversed(steps), reversed(steps[:-1])):
        does = step.edge.does
        if does == "option":
            wanted = before is None or before.edge.does != "no"
            if denied and wanted:
                break  # "with chicken, no avocado on either"
            told.add(step.first)
            denied = not wanted
        elif does in _APART or (every and does == "with"):
            put.append({*told})
        elif does == "add":
            return {*told}  # "no onion, and put cheese on the last one"
        elif does not in _HOW or step.first in begins:
            break
    else:
        return {*told}
    return put[0 if does == "with" else -1] if put else set()


def pass_on(said: Sequence[Said], places: set[int]) -> None:
    """Put choices that were said after one thing on the next."""
    now, before = said[-1], said[-2] if len(said) > 1 else Said()
    had = before.become or before
    moved = [one for one in had.options if one.place in places]
    if moved and (before.head or before.ref or before.count):
        had.options = [one for one in had.options if one not in moved]
        now.on, now.become = True, Said(options=moved, place=now.place)
        if before.on and not (before.head or before.ref):  # "two hot, cheese on one of them"
            before.on, before.become, before.options = False, None, had.options


def put_on(now: Said) -> None:
    """Take what was said so far for what is to be on the thing that is named next."""
    now.on = True
    now.become = Said(options=now.options, replaced=now.replaced, place=now.place)
    now.options, now.replaced = [], []
    if now.verb == "remove":
        now.verb = ""
        for option in now.become.options:
            option.no = True


def leave_off(options: list[Option], said: Said) -> None:
    """Take the last things named for things to leave off: "onions and tomatoes left out".

    But not what was put on before: "add ham to the melt and take the tomato off".
    """
    for option in reversed(options):
        if option.no or option.amount or option.half or option.side:
            return
        put_on = said.on and option.place < said.named[0]
        if option is not options[-1] and (put_on or not option.entity.own & said.mask):
            return
        option.no = True


def halve(options: list[Option], half: str) -> None:
    """Put the last option on a half, and those before it where another half is told already.

    "Pepperoni on one half, mushrooms and onions on the other"; but "onions, and ham on one half".
    """
    taken = half == "half" and any(one.half == "half" for one in options)
    joined = False
    for at, option in reversed(list(enumerate(options))):
        told = any(one.half for one in options[:at])
        with_it = joined and not option.amount
        last = option is options[-1]
        if option.half or (option.no or not (told or with_it)) and not last:
            return
        joined = option.joined
        option.half = "other half" if taken else half


_APART = frozenset(("and", "but", "comma", "stop", "no"))


_HOW = frozenset(("amount", "number", "a", "half", "filler", "aside"))
