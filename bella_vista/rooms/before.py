"""What was said about an order before, by which another process goes on with the talk.

Of the guest's words that no reply had answered to its end, some had been acted on and some had not. A change
carries in its own row the last turn whose words it acts on, so it is known exactly which: words behind the
last of these turns are acted on now, as if they had just been said. Words up to it are never acted on again,
as part of them, or all, has been done; the guest is asked by name whether something of them is missing.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bella_vista.transcript import Kind
from rpc.order_session import Spoken
from state.shared import Moment, SqlStore


@dataclass(frozen=True)
class Before:
    """A talk that broke off.

    Args:
        turn: How many things the guest had said.
        spoken: What clients said with keys.
        unanswered: The messages that nobody has answered, and nobody has begun to act on, in order.
        in_doubt: Those of which something may not have been done: only part of it was; or, as an empty text,
            the words were not kept.
    """

    turn: int = 0
    spoken: tuple[Spoken, ...] = ()
    unanswered: tuple[str, ...] = ()
    in_doubt: tuple[str, ...] = ()


async def talk_before(store: SqlStore, order_id: str) -> Before:
    """Read what was said about an order; of a talk that was not kept nothing is known.

    Args:
        store: Keeps the orders.
        order_id: One that nobody else can write to any more.

    Raises:
        JournalFault: The database cannot be used.
    """
    moments = await store.said(order_id)
    entries = (await store.read(order_id)).entries
    acted = max((entry.turn or 0 for entry in entries), default=0)
    waiting = _since_all_was_answered(moments)
    words = {one.turn: one.text for one in waiting if one.kind == Kind.HEARD}
    turns = dict.fromkeys(one.turn for one in waiting if one.kind == Kind.SPOKE)
    still_to_do = [turn for turn in turns if turn > acted and turn in words]
    return Before(
        # What was said is forgotten in time, what was done is not.
        turn=max((acted, *(moment.turn for moment in moments))),
        spoken=tuple(_spoken(moments)),
        unanswered=tuple(words[turn] for turn in still_to_do),
        in_doubt=tuple(words.get(turn, "") for turn in turns if turn not in still_to_do),
    )


def _since_all_was_answered(moments: Sequence[Moment]) -> Sequence[Moment]:
    """Return what no answer was for; nothing where answers were not kept yet.

    What was stored before it was heard may stand before an answer to what came before it.
    """
    at = max((at for at, one in enumerate(moments) if one.kind == Kind.ANSWERED), default=None)
    if at is None:
        return ()
    began = max((i for i, one in enumerate(moments[:at]) if one.kind == Kind.BEGAN), default=0)
    overtaken = (one for one in moments[began:at] if one.turn > moments[at].turn)
    return [*overtaken, *moments[at + 1 :]]


def _spoken(moments: Sequence[Moment]) -> Iterator[Spoken]:
    yield from (Spoken(**json.loads(one.text)) for one in moments if one.kind == Kind.KEYED)
