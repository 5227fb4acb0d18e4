"""Reads the transcript of a call that broke off, so that another process can continue the call.

Of the user's messages without a complete reply, some had been acted on and some had not. Each
change is stored with the last turn it acts on, so it is known exactly which. Messages after the
last such turn are acted on now, as if they had just been said. Earlier ones are never acted on
again, since part or all of them has been done; the user is asked, quoting them, whether anything
is missing.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.app.transcript import MomentKind, group_by_call, is_users
from rpc.page import Spoken, SpokenLine
from state.shared import Moment, SqlStore


@dataclass(frozen=True)
class PriorCall:
    """A call that broke off.

    Args:
        turn: The number of the user's last message.
        spoken: The messages that clients sent with keys.
        unanswered: The messages without a reply that nothing has acted on yet, in order.
        in_doubt: The messages that may have been acted on only in part; an empty text where the
            words were not stored.
        recording_refused: Whether the user does not want to be recorded.
        lines: What was said, in order.
    """

    turn: int = 0
    spoken: tuple[Spoken, ...] = ()
    unanswered: tuple[str, ...] = ()
    in_doubt: tuple[str, ...] = ()
    recording_refused: bool = False
    lines: tuple[SpokenLine, ...] = ()


async def read_prior_call(store: SqlStore, order_id: str) -> PriorCall:
    """Read what was said about a state; without a stored transcript the result is empty.

    Args:
        store: Keeps the states.
        order_id: A state that no other process can write to any more.

    Raises:
        JournalFault: The database cannot be used.
    """
    moments = await store.said(order_id)
    entries = (await store.read(order_id)).entries
    acted = max((entry.turn or 0 for entry in entries), default=0)
    waiting = _since_last_reply(moments)
    words = {one.turn: one.text for one in waiting if one.kind == MomentKind.USER_WORDS}
    turns = dict.fromkeys(one.turn for one in waiting if one.kind == MomentKind.USER_SPOKE)
    still_to_do = [turn for turn in turns if turn > acted and turn in words]
    return PriorCall(
        # The transcript is deleted after some time, the journal is not.
        turn=max((acted, *(moment.turn for moment in moments))),
        spoken=tuple(_spoken(moments)),
        unanswered=tuple(words[turn] for turn in still_to_do),
        in_doubt=tuple(words.get(turn, "") for turn in turns if turn not in still_to_do),
        recording_refused=any(one.kind == MomentKind.NOT_RECORDED for one in moments),
        lines=tuple(_lines(moments)),
    )


def _since_last_reply(moments: Sequence[Moment]) -> Sequence[Moment]:
    """Return the moments that no complete reply covers; nothing if replies were not recorded yet.

    A message stored before it was heard may precede the reply to an earlier one.
    """
    at = max(
        (at for at, one in enumerate(moments) if one.kind == MomentKind.ALL_ANSWERED), default=None
    )
    if at is None:
        return ()
    began = max(
        (i for i, one in enumerate(moments[:at]) if one.kind == MomentKind.CALL_STARTED), default=0
    )
    overtaken = (one for one in moments[began:at] if one.turn > moments[at].turn)
    return [*overtaken, *moments[at + 1 :]]


def _lines(moments: Sequence[Moment]) -> Iterator[SpokenLine]:
    for call in group_by_call(moments):
        for one in call.words:
            agent = None if is_users(one) else one.who
            yield SpokenLine(one.turn, agent, one.text, one.kind == MomentKind.INTERRUPTED)


def _spoken(moments: Sequence[Moment]) -> Iterator[Spoken]:
    yield from (
        Spoken(**json.loads(one.text)) for one in moments if one.kind == MomentKind.CLIENT_KEY
    )
