"""The rows of the failure matrix that are one reply, or a few, of a model: what it does and what must hold.

Each row is run in text and with audio output. ``plain`` is what the hand-written hotel of ``plain.py`` makes
of the same replies; a row without it is one that livekit-agents 1.8.9 gets right by itself, or one it has no
like of.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from livekit.agents import APIConnectionError, APIStatusError, APITimeoutError

from tests.agents.handoff.raw_model import Part
from tests.agents.hotel import Stay
from tests.agents.matrix.plain import Data
from tests.agents.matrix.stage import CANNED, FRESH, TROUBLE

Reply = Sequence[Part]


def made(name: str, call_id: str | None = FRESH, /, **arguments: Any) -> Part:
    """One tool call as a model streams it."""
    return (name, json.dumps(arguments), call_id)


BAR = made("transfer_to_bar")
CONCIERGE = made("transfer_to_concierge")
TWO_NIGHTS = made("add_nights", nights=2)
TOO_MANY = made("add_nights", nights=15)
THERE = ("bar",)


@dataclass(frozen=True)
class OnPlain:
    """What plain livekit-agents makes of a row, exactly.

    Args:
        said: Everything the guest hears, after the greeting, within a minute.
        speaker: Who has the guest then.
        data: What is written down then.
        asked: How often the model was asked, the greeting included; ``None`` when that does not matter.
    """

    said: tuple[str, ...]
    speaker: str = "reception"
    data: Data = field(default_factory=Data)
    asked: int | None = None


@dataclass(frozen=True)
class Row:
    """One row.

    Args:
        name: What goes wrong, or what is combined.
        replies: What the model gives, reply by reply, to one thing that the guest says.
        said: Everything the guest hears in answer.
        handoffs: Who takes over.
        refused: The codes of the handoffs that do not happen.
        stay: The state afterwards; ``before`` is where it starts.
        told: What the model was told, each text to be found in what it was shown.
        not_told: What it must never have been told.
        policy: How the call differs from the default.
        plain: What the hand-written hotel makes of it.
    """

    name: str
    replies: tuple[Reply, ...]
    said: tuple[str, ...]
    handoffs: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    stay: Stay = Stay()
    before: Stay = Stay()
    told: tuple[str, ...] = ()
    not_told: tuple[str, ...] = ()
    policy: dict[str, Any] = field(default_factory=dict)
    plain: OnPlain | None = None

    def __str__(self) -> str:
        return self.name


BOOKED = Stay(nights=2)
CHEERS = "Cheers."
SORRY = "That was not possible."

ONE_HANDOFF = (
    Row(
        "P1: a write, then a handoff",
        replies=((TWO_NIGHTS,), (BAR,), (CHEERS,)),
        said=(CHEERS,),
        handoffs=THERE,
        stay=BOOKED,
    ),
    Row(
        "P1 in parallel: a write beside a handoff",
        replies=((TWO_NIGHTS, BAR), (CHEERS,)),
        said=(CHEERS,),
        handoffs=THERE,
        stay=BOOKED,
        # Both agents answer: the model is asked once more, and the guest hears two replies.
        plain=OnPlain(said=(CHEERS, CHEERS), speaker="bar", data=Data(nights=2), asked=4),
    ),
    Row(
        "a handoff beside a write, the other way round",
        replies=((BAR, TWO_NIGHTS), (CHEERS,)),
        said=(CHEERS,),
        handoffs=THERE,
        stay=BOOKED,
        plain=OnPlain(said=(CHEERS, CHEERS), speaker="bar", data=Data(nights=2), asked=4),
    ),
    Row(
        "a handoff whose condition needs the write after it",
        replies=((CONCIERGE, TWO_NIGHTS), ("Where to?",)),
        said=("Where to?",),
        handoffs=("concierge",),
        stay=BOOKED,
        # Refused, because its tool runs before the write.
        plain=OnPlain(said=("Where to?",), data=Data(nights=2), asked=3),
    ),
    Row(
        "P5: two handoffs in one reply",
        replies=((BAR, CONCIERGE), (CHEERS,)),
        said=(CHEERS,),
        handoffs=THERE,
        refused=("already_handing_over",),
        before=BOOKED,
        stay=BOOKED,
        # Neither happens, and no agent speaks.
        plain=OnPlain(said=(), data=Data(nights=2), asked=2),
    ),
    Row(
        "three handoffs in one reply",
        replies=((BAR, CONCIERGE, BAR), (CHEERS,)),
        said=(CHEERS,),
        handoffs=THERE,
        refused=("already_handing_over", "already_handing_over"),
        before=BOOKED,
        stay=BOOKED,
        plain=OnPlain(said=(), data=Data(nights=2), asked=2),
    ),
    Row(
        "the same handoff twice in one reply",
        replies=((BAR, BAR), (CHEERS,)),
        said=(CHEERS,),
        handoffs=THERE,
        refused=("already_handing_over",),
        plain=OnPlain(said=(), asked=2),
    ),
    Row(
        "two handoffs of which the first is refused",
        replies=((CONCIERGE, BAR), (CHEERS,)),
        said=(CHEERS,),
        handoffs=THERE,
        refused=("refused",),
        plain=OnPlain(said=(CHEERS, CHEERS), speaker="bar", asked=4),
    ),
    Row(
        "a handoff that is refused",
        replies=((CONCIERGE,), ("How many nights?",)),
        said=("How many nights?",),
        refused=("refused",),
        told=("The guest has booked no night yet.",),
    ),
    Row(
        "a handoff beside a write that is refused",
        replies=((BAR, TOO_MANY), (SORRY,)),
        said=(SORRY,),
        refused=("sibling_failed",),
        told=("Nothing was changed.", "Not handed over."),
        # Handed over all the same; only the old agent is told what failed, and both speak.
        plain=OnPlain(said=(SORRY, SORRY), speaker="bar", asked=4),
    ),
    Row(
        "a handoff beside a write with arguments of another type",
        replies=((made("add_nights", nights="two"), BAR), (SORRY,)),
        said=(SORRY,),
        refused=("sibling_failed",),
        told=("not_valid: nights",),
        plain=OnPlain(said=(SORRY, SORRY), speaker="bar", asked=4),
    ),
    Row(
        "words before a handoff",
        replies=(("One moment.", BAR), (CHEERS,)),
        said=("One moment.", CHEERS),
        handoffs=THERE,
    ),
    Row(
        "words after a handoff, in the same reply",
        replies=((BAR, "Follow me."), (CHEERS,)),
        said=("Follow me.", CHEERS),
        handoffs=THERE,
    ),
    Row(
        "P6: every agent hands over at once",
        replies=((BAR,), (made("transfer_to_reception"),)),
        said=(CANNED,),
        handoffs=THERE,
    ),
    Row(
        "a handoff that its limit does not allow any more",
        replies=((BAR,),),
        said=(TROUBLE,),
        policy={"handoffs_per_turn": 0},
    ),
    Row(
        "a handoff, the end of the call and a write in one reply",
        replies=((BAR, made("end_call"), TWO_NIGHTS), (CHEERS,)),
        said=(CHEERS,),
        handoffs=THERE,
        stay=BOOKED,
        told=(),
    ),
)

ONE_TOOL = (
    Row(
        "two writes in one reply",
        replies=((made("add_nights", nights=1), made("add_nights", nights=1)), ("Two nights.",)),
        said=("Two nights.",),
        stay=BOOKED,
    ),
    Row(
        "P3: text where a number belongs",
        replies=((made("add_nights", nights="2"),), (SORRY,)),
        said=(SORRY,),
        told=("not_valid: nights",),
        # Taken for the number, without a word.
        plain=OnPlain(said=(SORRY,), data=Data(nights=2), asked=3),
    ),
    Row(
        "a call to a tool that nobody has",
        replies=((made("open_the_safe"),), (SORRY,)),
        said=(SORRY,),
        told=("Unknown function: open_the_safe",),
    ),
    Row(
        "a call to a tool of another agent",
        replies=((made("buy_ticket", show="Aida"),), (SORRY,)),
        said=(SORRY,),
        told=("Unknown function: buy_ticket",),
    ),
    Row(
        "a handoff beside a call to a tool that nobody has",
        replies=((BAR, made("open_the_safe")), (SORRY,)),
        said=(SORRY,),
        refused=("sibling_failed",),
        plain=OnPlain(said=(SORRY, SORRY), speaker="bar", asked=4),
    ),
    Row(
        "the same call id twice in one reply",
        replies=((made("add_nights", "x", nights=1), made("add_nights", "x", nights=1)), ("Two.",)),
        said=("Two.",),
        stay=BOOKED,
        # The second one is taken for the first and fails.
        plain=OnPlain(said=("Two.",), data=Data(nights=1), asked=3),
    ),
    Row(
        "no call id at all",
        replies=((("add_nights", '{"nights": 2}', None),), ("Two.",)),
        said=("Two.",),
        stay=BOOKED,
        plain=OnPlain(said=(), asked=2),
    ),
    Row(
        "silence after a tool",
        replies=((TWO_NIGHTS,), ("",)),
        said=(TROUBLE,),
        stay=BOOKED,
        plain=OnPlain(said=(), data=Data(nights=2), asked=3),
    ),
    Row(
        "tools without end",
        replies=tuple((made("ask_rate"),) for _ in range(10)),
        said=(TROUBLE,),
        # Broken off in the end, and no agent speaks.
        plain=OnPlain(said=(), asked=11),
    ),
)

MODEL = (
    Row("silence", replies=(("",),), said=(TROUBLE,), plain=OnPlain(said=(), asked=2)),
    Row("blanks", replies=(("  \n",),), said=(f"  \n{TROUBLE}",), plain=OnPlain(said=("  \n",))),
    Row(
        "an error inside",
        replies=((RuntimeError("down"),),),
        said=(TROUBLE,),
        plain=OnPlain(said=(), asked=2),
    ),
    Row(
        "a refused request",
        replies=((APIStatusError("no", status_code=400),),),
        said=(TROUBLE,),
        plain=OnPlain(said=(), asked=2),
    ),
    Row(
        "a provider that cannot be reached, retries and all",
        replies=((APIConnectionError("down"),),) * 2,
        said=(TROUBLE,),
        plain=OnPlain(said=(), asked=2),
    ),
    Row(
        "a provider that takes too long, retries and all",
        replies=((APITimeoutError("slow"),),) * 2,
        said=(TROUBLE,),
        plain=OnPlain(said=(), asked=2),
    ),
    Row(
        "silence for longer than is bearable",
        replies=((3600.0, "Too late."),),
        said=(TROUBLE,),
        # Still waiting after a minute.
        plain=OnPlain(said=(), asked=2),
    ),
    Row(
        "breaking off in the middle of a sentence",
        replies=(("It costs", RuntimeError("down")),),
        said=(f"It costs {TROUBLE}",),
        plain=OnPlain(said=("It costs",), asked=2),
    ),
    Row(
        "breaking off beside a handoff",
        replies=((BAR, RuntimeError("down")),),
        said=(TROUBLE,),
        # Handed over on half a reply, and no agent speaks.
        plain=OnPlain(said=(), speaker="bar", asked=3),
    ),
    Row(
        "breaking off after a write",
        replies=((TWO_NIGHTS, RuntimeError("down")), ("Two nights.",)),
        said=("Two nights.",),
        stay=BOOKED,
    ),
    Row(
        "failing in the opening after a handoff",
        replies=((BAR,), (RuntimeError("down"),)),
        said=(CANNED,),
        handoffs=THERE,
        # The bar has the guest and never says a word.
        plain=OnPlain(said=(), speaker="bar", asked=3),
    ),
    Row(
        "silence in the opening after a handoff",
        replies=((BAR,), ("",)),
        said=(CANNED,),
        handoffs=THERE,
        plain=OnPlain(said=(), speaker="bar", asked=3),
    ),
    Row(
        "a tool call in the opening where none is allowed",
        replies=((BAR,), (made("transfer_to_reception"),)),
        said=(CANNED,),
        handoffs=THERE,
        plain=OnPlain(said=(), speaker="bar", asked=3),
    ),
)


def _cut(arguments: str, written: str | None) -> Row:
    return Row(
        f"arguments: {arguments[:24]}",
        replies=((("set_guest", arguments, FRESH),), (SORRY,)),
        said=(SORRY,),
        told=("Nothing was changed.",),
        plain=OnPlain(said=(SORRY,), data=Data(guest=written), asked=3)
        if written is not None
        else None,
    )


ARGUMENTS = (
    _cut('{"name": "Marco', "Marco"),
    _cut('{"name": "Marco"', "Marco"),
    _cut('{"name": "A"}{"name": "B"}', "B"),
    _cut('{"name"', None),
    _cut('{"name": ', ""),
    _cut('{"name": "A", "name": "B"}', "B"),
    _cut("[1]", None),
    _cut('["Marco"]', None),
    _cut('"Marco"', None),
    _cut("the name is Marco", None),
    _cut('{"name": NaN}', None),
    _cut('{"name": null}', None),
    _cut('{"name": 7}', None),
    _cut('{"name": "Marco", "nights": 3}', "Marco"),
    _cut('{"nome": "Marco"}', None),
    _cut('```json\n{"name": "Marco"}\n```', "Marco"),
)

ROWS = (*ONE_HANDOFF, *ONE_TOOL, *MODEL, *ARGUMENTS)
