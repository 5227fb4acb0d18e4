"""What was heard and said in a call, kept in the database beside the order's changes.

What a guest says is written at once and the rest of a turn when it is over, by the journal's own thread: no
conversation waits for it, and none is harmed when it fails. What a tool did to the order stands in the journal already. The times are
the machine's own, also where the restaurant's clock was started elsewhere, so that they can grow old.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING

from pydantic import JsonValue

from agents.handoff import Call, Cost, Ended, Event, Heard, Said, Spent, YourTurn
from state.context import OrderContext
from state.order import OrderState
from state.shared import Moment, SqlStore, StateError, TakenOver
from state.text import clean

if TYPE_CHECKING:
    from rpc.desk import Spoken

logger = logging.getLogger(__name__)

GUEST, HOUSE = "guest", "house"
"""Who the guest is in a transcript, and who notes what nobody says."""

_MOST_UNWRITTEN = 1000


class Kind(StrEnum):
    """What a moment of a call is."""

    BEGAN = "began"
    HEARD = "heard"
    SPOKE = "spoke"
    """That the guest said something, whether or not his words are kept."""
    ANSWERED = "answered"
    """That nothing of what the guest had said was still to be answered."""
    KEYED = "keyed"
    """With which key a client said it, as JSON."""
    SAID = "said"
    CUT_SHORT = "cut_short"
    """Said until the guest spoke on."""
    SPENT = "spent"
    """What the models of a turn cost, as JSON."""
    ENDED = "ended"


_WORDS = (Kind.HEARD, Kind.SAID, Kind.CUT_SHORT)


class CallRecord:
    """Writes one call down, turn by turn. Close it before its store.

    What could not be written is tried again with the next turn.

    Args:
        call: The call, before anything is said in it.
        store: Where its order is held.
        words: Whether what is said is kept. When a call was, how often the guest spoke and what its models cost
            is kept anyway.
        now: The present time, aware.
    """

    def __init__(
        self,
        call: Call[OrderState, OrderContext],
        store: SqlStore,
        *,
        words: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._call = call
        self._store = store
        self._words = words
        self._now = now
        self._unwritten: list[Moment] = []
        self._due = False
        self._soon: asyncio.Handle | None = None
        self._under_way: asyncio.Future[None] | None = None
        self._dropping: asyncio.Task[None] | None = None
        self._given_up = False
        self._complained = False
        self._answered: int | None = None
        self._note(call.turn, Kind.BEGAN, HOUSE, call.state.channel)
        if call.turn == 0:
            self._note_answered(0)
        self._leave = call.listen(self._tell)

    @property
    def idle(self) -> bool:
        """Whether nothing is being written just now."""
        return self._soon is None and self._under_way is None

    def drop_older_than(self, days: int) -> None:
        """Start deleting what was said so long ago, in all of this restaurant's calls."""
        self._dropping = asyncio.create_task(self._drop(self._now() - timedelta(days=days)))

    async def keep(self, spoken: "Spoken") -> None:
        """Write down what was said by a client; returns when that is done, or has failed."""
        if spoken.key is not None:
            self._note(spoken.turn, Kind.KEYED, GUEST, json.dumps(asdict(spoken)))
            self._write()
        await self._wait_until_idle()

    async def aclose(self) -> None:
        """Write what is left, and wait until that is done or has failed."""
        self._leave()
        self._write()
        await self._wait_until_idle()
        if self._dropping is not None:
            await asyncio.wait((self._dropping,))

    def _tell(self, event: Event) -> None:
        match event:
            case Heard():
                self._hear(event)
                self._write()  # whoever goes on with a call that broke off counts his turns from here
            case Said():
                kind = Kind.CUT_SHORT if event.interrupted else Kind.SAID
                self._say(event.turn, kind, event.voice, event.text)
            case Spent():
                cost = {one.name: getattr(event, one.name) for one in fields(Cost)}
                self._note(event.turn, Kind.SPENT, event.voice, json.dumps(cost))
            case YourTurn():
                self._note_answered(event.turn)
                self._write()
            case Ended():
                if event.reason == "agent_ended":
                    self._note_answered(self._call.turn)
                self._note(self._call.turn, Kind.ENDED, HOUSE, event.reason)
                self._write()
            case _:
                pass

    def _hear(self, event: Heard) -> None:
        self._note(event.turn, Kind.SPOKE, GUEST, "")
        self._say(event.turn, Kind.HEARD, GUEST, event.text)

    def _note_answered(self, turn: int) -> None:
        """Note that everything has been answered: by a deed, a refusal or words, to the end of the reply."""
        if turn != self._answered:
            self._answered = turn
            self._note(turn, Kind.ANSWERED, HOUSE, "")

    def _say(self, turn: int, kind: Kind, who: str, text: str) -> None:
        if self._words:
            # What a guest says was let in without what must not be kept; a model may know it elsewhere.
            self._note(turn, kind, who, self._call.manners.let_out(clean(text, lines=True)))

    def _note(self, turn: int, kind: Kind, who: str, text: str) -> None:
        if not self._given_up:
            self._unwritten.append(Moment(turn, kind.value, who, text, self._now()))

    def _write(self) -> None:
        """Write soon, and not at once: words and the key that they came with are kept both or neither."""
        self._due = bool(self._unwritten)
        if self._due and self._soon is None:
            self._soon = asyncio.get_running_loop().call_soon(self._go_on)

    async def _wait_until_idle(self) -> None:
        while not self.idle:
            if self._under_way is not None:
                await asyncio.wait((self._under_way,))
            else:
                await asyncio.sleep(0)

    def _go_on(self) -> None:
        """Write what is due, one writing after the other: their order is that of the talk."""
        self._soon = None
        if not self._due or self._under_way is not None:
            return
        self._due = False
        count = len(self._unwritten)
        self._under_way = self._store.record(self._call.state.order_id, *self._unwritten)
        self._under_way.add_done_callback(lambda done: self._written(count, done))

    def _written(self, count: int, done: "asyncio.Future[None]") -> None:
        self._under_way = None
        fault = None if done.cancelled() else done.exception()
        if isinstance(fault, TakenOver):
            # Another process has the order now, or its guest was forgotten: nothing may follow.
            self._given_up = True
            self._unwritten.clear()
        elif fault is not None:
            del self._unwritten[:-_MOST_UNWRITTEN]
            self._complain(fault)
        else:
            del self._unwritten[:count]
            self._go_on()

    async def _drop(self, before: datetime) -> None:
        try:
            await self._store.drop_said(before)
        except StateError as fault:
            self._complain(fault)

    def _complain(self, fault: BaseException) -> None:
        if not self._complained:
            self._complained = True
            why = fault.message if isinstance(fault, StateError) else type(fault).__name__
            logger.warning("what was said could not be kept: %s", why)


@dataclass
class KeptCall:
    """One call as it was kept.

    Args:
        words: What was heard and said, in its order.
        spent: What it cost, each with its turn.
        ended: Why it ended, if that was kept.
    """

    words: list[Moment] = field(default_factory=list)
    spent: list[tuple[int, Cost]] = field(default_factory=list)
    ended: str | None = None

    @property
    def cost(self) -> Cost:
        """What all of it cost."""
        return sum((cost for _, cost in self.spent), Cost())


def calls_of(moments: Sequence[Moment]) -> list[KeptCall]:
    """Put together what was kept, call by call: an order may have been worked on in several."""
    calls: list[KeptCall] = []
    for moment in moments:
        if moment.kind == Kind.BEGAN or not calls:
            calls.append(KeptCall())
        if moment.kind in _WORDS:
            calls[-1].words.append(moment)
        elif moment.kind == Kind.SPENT:
            calls[-1].spent.append((moment.turn, _cost(moment.text)))
        elif moment.kind == Kind.ENDED:
            calls[-1].ended = moment.text
    return calls


def transcript_data(calls: Sequence[KeptCall], zone: tzinfo | None) -> dict[str, JsonValue]:
    """Return what was kept as JSON: what was said, and what each call and each turn of it cost.

    Args:
        calls: An order's calls.
        zone: The restaurant's.
    """
    return {
        "transcript": [
            {
                "call": number,
                "turn": moment.turn,
                "at": moment.at.astimezone(zone).isoformat(timespec="seconds")
                if moment.at is not None
                else None,
                "who": moment.who,
                "kind": moment.kind,
                "text": moment.text,
            }
            for number, call in enumerate(calls, 1)
            for moment in call.words
        ],
        "spent": [
            {"call": number, **asdict(call.cost), "turns": list(_turns(call))}
            for number, call in enumerate(calls, 1)
            if call.spent
        ],
    }


def _turns(call: KeptCall) -> Iterator[JsonValue]:
    turns: dict[int, Cost] = {}
    for turn, cost in call.spent:
        turns[turn] = turns.get(turn, Cost()) + cost
    yield from ({"turn": turn, **asdict(cost)} for turn, cost in turns.items())


def _cost(text: str) -> Cost:
    known = json.loads(text)
    return Cost(**{one.name: known.get(one.name, 0) for one in fields(Cost)})
