"""Taking things off the order, and choices off things."""

from collections.abc import Sequence

from bella_vista.local.understanding.grammar.grammar import BUT
from bella_vista.local.understanding.meaning import Question
from bella_vista.local.understanding.order.outcome import NOT_THERE, Outcome
from bella_vista.local.understanding.order.targets import several, targets
from bella_vista.local.understanding.readings.said import Said


def remove(out: Outcome, said: Said, following: Sequence[Said] = ()) -> None:
    """Take off what is meant."""
    if said.ref == "one" and not (said.definite or said.described or said.ordinal):
        out.penalty += 1.0  # "take off one", and of what comes next
    if said.head is None and not said.ref and said.options:
        leave_off(out, said)
        return
    if said.ref == "it" and out.asked_about() is not None:
        return  # "then I don't want that": it was only asked about
    if said.ref in ("whole", "all") and said.head is None and not said.options and out.things:
        if following and (following[0].joint == BUT or following[0].denied):
            out.penalty += NOT_THERE  # "everything but the soup"
        found = out.things
    else:
        found = targets(out, said)
    waits = out.matcher.named(said.mask, out.waiting) if said.head is not None and not found else []
    if waits or (said.ref == "it" and out.waiting and out.spoken is None):
        given_up = (waits or out.waiting)[0]  # "then leave out the water", which is not there yet
        given_up.quantity = 0
        out.settle(given_up)
        return
    if not found or (said.ref and said.options):
        if following and following[0].instead and following[0].head:
            out.part_gives_way = said  # "no slaw, a biscuit instead", of a combo
        else:
            _nothing_to_remove(out, said)
        return
    out.penalty += NOT_THERE if said.options else 0.0
    count = 1 if said.count is None and (said.article or said.partial) else said.count
    pieces = sum(item.quantity or 1 for item in found)
    some = count is not None and len(found) > 1 and count < pieces
    if (count is None and several(said, found)) or some:
        out.ask_which(said, found, drop=True, count=count)
        return
    for item in found:
        out.take_off(item, count)


def _nothing_to_remove(out: Outcome, said: Said) -> None:
    combo = next((i for i in out.things if out.matcher.named(said.mask, i.parts)), None)
    if combo is not None and said.head is not None:
        out.part_gives_way = said  # "not these drinks, three colas and a water"
        facts = {"words": said.words, "combo": combo.name}
        out.questions.append(Question("not_found", facts))
    elif said.denied and said.verb != "remove" and _notes_described(out, said):
        pass
    elif said.denied and said.verb != "remove":
        out.penalty += NOT_THERE / 2  # "no tiramisu": there is none
    else:
        out.penalty += NOT_THERE
        out.not_found(said)


def _notes_described(out: Outcome, said: Said) -> bool:
    """Note what is not wanted of a dish that only its description names: "eggplant parm, no cheese"."""
    item, words = out.items[-1] if out.items else None, out.told(range(*said.named))
    if item is None or not out.kitchen.describes(item.name, words):
        return False
    item.notes.append(f"no {words}")
    return True


def leave_off(out: Outcome, said: Said) -> None:
    """Take something off the dishes that have it: "remove the onions"."""
    done = False
    for option in said.options:
        option.no = True
        spoken = [out.spoken] if out.spoken in out.there else []
        candidates = [*reversed(out.items), *filter(None, spoken), *reversed(out.there)]
        item = next((i for i in candidates if out.matcher.has(i, option.entity.words)), None)
        if item is not None and option.amount and out.writer.take_back(item, option):
            out.touch(item)  # "never mind the extra corn"
            done = True
        elif item is not None:
            item.changes.append(option.words)
            out.touch(item)
            done = True
        elif len(said.options) > 1:
            out.penalty += NOT_THERE
    if not done and out.waiting:
        out.settle(out.waiting[0])  # it could not be had anyway
    elif not done:
        out.penalty += NOT_THERE
        out.not_found(said)
