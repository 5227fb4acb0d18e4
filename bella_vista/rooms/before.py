"""What was said about an order before, by which another process goes on with the talk."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bella_vista.orders import HOUSE
from bella_vista.transcript import Kind
from rpc.desk import Spoken
from rpc.gateway import GUEST, STAFF
from state.shared import Entry, HandOver, Moment, SqlStore, StateError

_HAND_OVER = HandOver.model_fields["op"].default
_NO_VOICES = frozenset({GUEST, STAFF, HOUSE})


@dataclass(frozen=True)
class Before:
    """A talk that broke off.

    Args:
        turn: How many things the guest had said.
        spoken: What clients said with keys.
        unanswered: What nobody has answered, and nobody has acted on.
    """

    turn: int = 0
    spoken: tuple[Spoken, ...] = ()
    unanswered: str = ""


async def talk_before(store: SqlStore, order_id: str) -> Before:
    """Read what was said about an order; of a talk that was not kept nothing is known."""
    try:
        moments = await store.said(order_id)
        entries = (await store.read(order_id)).entries
    except StateError:
        return Before()
    return Before(
        turn=max((moment.turn for moment in moments), default=0),
        spoken=tuple(_spoken(moments)),
        unanswered=_unanswered(moments, entries),
    )


def _spoken(moments: Sequence[Moment]) -> Iterator[Spoken]:
    yield from (Spoken(**json.loads(one.text)) for one in moments if one.kind == Kind.KEYED)


def _unanswered(moments: Sequence[Moment], entries: Sequence[Entry]) -> str:
    answered = max((_answered_by(one) for one in moments), default=0)
    versions = {
        one.turn: json.loads(one.text or "{}").get("version")
        for one in moments
        if one.kind == Kind.SPOKE
    }
    # Who has begun to act on words may have done all of it: the guest is told how the order stands instead.
    acted = max((one.version for one in entries if _is_act_of_voice(one)), default=0)
    return " ".join(
        one.text
        for one in moments
        if one.kind == Kind.HEARD
        and one.turn > answered
        and (since := versions.get(one.turn)) is not None
        and acted <= since
    )


def _answered_by(moment: Moment) -> int:
    """Return the last turn that this was an answer to; what was cut short is none to the words that cut it."""
    if moment.kind == Kind.SAID:
        return moment.turn
    return moment.turn - 1 if moment.kind == Kind.CUT_SHORT else 0


def _is_act_of_voice(entry: Entry) -> bool:
    """Whether a voice did something: not the guest on his page meanwhile, and more than to hand him over."""
    return entry.actor not in _NO_VOICES and any(
        command.get("op") != _HAND_OVER for command in entry.commands
    )
