"""What was said about an order before, by which another process goes on with the talk.

Of the guest's words that no reply had answered to its end, some had been acted on and some had not. A change
carries in its own row the last turn whose words it acts on, so it is known exactly which: words behind the
last of these turns are acted on now, as if they had just been said. Words up to it are never acted on again,
as part of them, or all, has been done; the guest is asked whether something is missing.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bella_vista.transcript import Kind
from rpc.desk import Spoken
from state.shared import Moment, SqlStore


@dataclass(frozen=True)
class Before:
    """A talk that broke off.

    Args:
        turn: How many things the guest had said.
        spoken: What clients said with keys.
        unanswered: What nobody has answered, and nobody has begun to act on.
        in_doubt: Whether something else may not have been done: only part of it was, or it was not kept.
    """

    turn: int = 0
    spoken: tuple[Spoken, ...] = ()
    unanswered: str = ""
    in_doubt: bool = False


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
    words = {one.turn: one.text for one in waiting if one.kind == Kind.HEARD and one.turn > acted}
    return Before(
        # What was said is forgotten in time, what was done is not.
        turn=max((acted, *(moment.turn for moment in moments))),
        spoken=tuple(_spoken(moments)),
        unanswered=" ".join(words.values()),
        in_doubt=any(one.kind == Kind.SPOKE and one.turn not in words for one in waiting),
    )


def _since_all_was_answered(moments: Sequence[Moment]) -> Sequence[Moment]:
    """Return what came after the last answer; nothing where answers were not kept yet."""
    answers = (at for at, one in enumerate(moments, 1) if one.kind == Kind.ANSWERED)
    return moments[max(answers, default=len(moments)) :]


def _spoken(moments: Sequence[Moment]) -> Iterator[Spoken]:
    yield from (Spoken(**json.loads(one.text)) for one in moments if one.kind == Kind.KEYED)
