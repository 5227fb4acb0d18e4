"""What was said about an order before, by which another process goes on with the talk."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bella_vista.transcript import Kind
from rpc.desk import Spoken
from state.shared import Entry, HandOver, Moment, SqlStore, StateError

_HAND_OVER = HandOver.model_fields["op"].default


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
    said = (Kind.SAID, Kind.CUT_SHORT)
    answered = max((one.turn for one in moments if one.kind in said), default=0)
    words = [one for one in moments if one.kind == Kind.HEARD and one.turn > answered]
    versions = {
        one.turn: json.loads(one.text or "{}").get("version")
        for one in moments
        if one.kind == Kind.SPOKE
    }
    since = versions.get(words[0].turn) if words else None
    if since is None:
        return ""
    # Who has begun to act on them may have done all of it: the guest is told how the order stands instead.
    done = [one for one in entries if one.version > since and not _is_handover(one)]
    return "" if done else " ".join(one.text for one in words)


def _is_handover(entry: Entry) -> bool:
    return all(command.get("op") == _HAND_OVER for command in entry.commands)
