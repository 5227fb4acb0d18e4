"""What was heard and said in a call, kept in the database beside the order's changes.

What a client says for the guest is written before it is heard: what is not stored is not heard. What they say
aloud, or write in the room's chat, is heard at once and written then, and the rest of a turn when it is over, by the
journal's own thread: no conversation waits for it, and none is harmed when it fails. What a tool did to the order
stands in the journal already. The times are the machine's own, also where the restaurant's clock was started
elsewhere, so that they can grow old; the order is that in which it was written, whatever they say.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from string import ascii_lowercase

from pydantic import JsonValue

from agents.handoff import Call, Cost, Ended, Event, Heard, Said, Spent, YourTurn
from state.context import OrderContext
from state.order import OrderState
from state.shared import (
    Gate,
    JournalFault,
    Moment,
    NotStored,
    OutcomeUnknown,
    SqlStore,
    StateError,
    TakenOver,
)
from state.text import clean

logger = logging.getLogger(__name__)

GUEST, HOUSE = "guest", "house"
"""Who the guest is in a transcript, and who notes what nobody says."""

_MOST_UNWRITTEN = 1000

_MARK = 16
"""Letters of the mark by which it is found out whether something was stored: 75 bits."""

PROOF_S = 0.5
"""How long it takes until the database is asked again what it has stored, in seconds."""

CLOCK_BELIEVED_AFTER = timedelta(days=1)
"""How old talk has to be by the present clock, so that it tells how old the talk before it is."""


class Kind(StrEnum):
    """What a moment of a call is."""

    BEGAN = "began"
    HEARD = "heard"
    SPOKE = "spoke"
    """That the guest said something, whether or not the words are kept; with a mark by which what was stored before
    it was heard is found again. Of several with one turn the last holds, as it does of their words."""
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


class Saying:
    """Something the guest says by a client: it is stored first, and heard then.

    Args:
        words: What is heard of it.
        key: The client's key as it is kept, if it came with one.
        digest: Of the words, to know them again by.
    """

    def __init__(self, words: str, key: str | None, digest: str) -> None:
        self.words = words
        self.key = key
        self.digest = digest
        self.gate = Gate()
        self.mark = "".join(secrets.choice(ascii_lowercase) for _ in range(_MARK))
        self.number = 0
        """The turn it is stored under."""
        self.turn: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        """Gives its turn when it is stored and has been heard; ``None`` when nobody listens any more."""

    def withdraw(self) -> bool:
        """Withdraw it; returns whether its writing had not begun, so that nobody will hear it."""
        if withdrawn := self.gate.withdraw():
            self.failed(NotStored("the database is busy"))
        return withdrawn

    def failed(self, fault: BaseException) -> None:
        """It is not stored, and nobody hears it."""
        if not self.turn.done():
            self.turn.set_exception(fault)

    def heard(self, turn: int | None) -> None:
        """It is stored, and has been heard."""
        if not self.turn.done():
            self.turn.set_result(turn)


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
        self._to_store: list[Saying] = []
        """What is to be heard when it is stored, in the order in which it came."""
        self._to_tell: list[tuple[Saying, int]] = []
        """What was stored under a turn that others got, and heard in the one beside it: told when that is stored."""
        self._stored = 0
        """The turn whose words are stored before they are heard."""
        self._closing = False
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
        self._leave = call.subscribe(self._tell)

    @property
    def idle(self) -> bool:
        """Whether nothing is being written just now."""
        return self._soon is None and self._under_way is None

    def drop_older_than(self, days: int) -> None:
        """Start deleting what was said so long before the last talk of an earlier day, in all of this restaurant's calls.

        A clock that has jumped forward says that everything is old. It did not jump over the talk of its own time:
        a day of that has to be there before what came before the jump grows old.
        """
        self._dropping = asyncio.create_task(self._drop(timedelta(days=days)))

    def say(self, text: str, key: str | None, digest: str) -> Saying:
        """Begin to store what the guest says, after all that came before; it is heard when it is stored.

        Args:
            text: What they say.
            key: The client's key as it is kept, if it came with one.
            digest: Of the words, to know them again by.
        """
        saying = Saying(self._call.policy.redact_input(text), key, digest)
        if self._given_up:
            saying.failed(TakenOver())
        elif not self._call.listening:
            saying.heard(None)
        else:
            self._to_store.append(saying)
            self._write()
        return saying

    async def aclose(self) -> None:
        """Write what is left, and wait until that is done or has failed."""
        self._leave()
        self._closing = True
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
                self._say(event.turn, kind, event.agent, event.text)
            case Spent():
                cost = {one.name: getattr(event, one.name) for one in fields(Cost)}
                self._note(event.turn, Kind.SPENT, event.agent, json.dumps(cost))
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
        if event.turn != self._stored:
            self._note(event.turn, Kind.SPOKE, GUEST, "")
            self._say(event.turn, Kind.HEARD, GUEST, event.text)

    def _note_answered(self, turn: int) -> None:
        """Note that everything has been answered: by a deed, a refusal or words, to the end of the reply."""
        if turn != self._answered:
            self._answered = turn
            self._note(turn, Kind.ANSWERED, HOUSE, "")

    def _say(self, turn: int, kind: Kind, who: str, text: str) -> None:
        if self._words:
            self._note(turn, kind, who, self._kept(text))

    def _kept(self, text: str) -> str:
        # What a guest says was let in without what must not be kept; a model may know it elsewhere.
        return self._call.policy.redact_output(clean(text, lines=True))

    def _note(self, turn: int, kind: Kind, who: str, text: str) -> None:
        if not self._given_up:
            self._unwritten.append(Moment(turn, kind.value, who, text, self._now()))

    def _moments_of(self, saying: Saying) -> Iterator[Moment]:
        texts = {Kind.SPOKE: saying.mark}
        if self._words:
            texts[Kind.HEARD] = self._kept(saying.words)
        if saying.key is not None:
            texts[Kind.KEYED] = _keyed(saying.key, saying.digest, saying.number)
        for kind, text in texts.items():
            yield Moment(saying.number, kind.value, GUEST, text, self._now(), saying.gate)

    def _write(self) -> None:
        """Write soon, and not at once: what happens at one moment is written in one transaction."""
        self._due = bool(self._unwritten or self._to_store)
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
        sayings = [saying for saying in self._to_store if not saying.turn.done()]
        self._to_store.clear()
        moments = [*self._unwritten]
        for number, saying in enumerate(sayings, self._call.turn + 1):
            saying.number = number
            moments += self._moments_of(saying)
        if not moments:
            return
        writing = _Writing(len(self._unwritten), len(self._to_tell), sayings)
        self._under_way = self._store.record(self._call.state.order_id, *moments)
        self._under_way.add_done_callback(lambda done: self._written(writing, done))

    def _written(self, writing: "_Writing", done: "asyncio.Future[None]") -> None:
        self._under_way = None
        fault = None if done.cancelled() else done.exception()
        if isinstance(fault, OutcomeUnknown) and not writing.looked_for:
            if any(saying.gate.begun for saying in writing.sayings):
                looking = replace(writing, looked_for=True)
                self._under_way = asyncio.ensure_future(self._find_out(writing))
                self._under_way.add_done_callback(lambda done: self._written(looking, done))
                return
        if isinstance(fault, TakenOver):
            # Another process has the order now, or its guest was forgotten: nothing may follow.
            self._given_up = True
            self._unwritten.clear()
            for saying in (*writing.sayings, *self._to_store, *(one for one, _ in self._to_tell)):
                saying.failed(fault)
            self._to_store.clear()
            self._to_tell.clear()
        elif fault is not None:
            for saying in writing.sayings:
                saying.failed(fault)
            del self._unwritten[:-_MOST_UNWRITTEN]
            self._complain(fault)
        else:
            del self._unwritten[: writing.known]
            for saying, turn in self._to_tell[: writing.told]:
                saying.heard(turn)
            del self._to_tell[: writing.told]
            for saying in writing.sayings:
                self._hear_stored(saying)
        self._due = self._due or bool(self._to_store)
        if fault is None or self._to_store:
            self._go_on()

    def _hear_stored(self, saying: Saying) -> None:
        if not saying.gate.begun:
            return
        call, self._stored = self._call, saying.number
        if not call.listening:
            if call.ended == "agent_ended":
                self._note_answered(saying.number)  # the call was over before it was said
                saying.heard(None)
            else:  # another agent goes on with the call and answers it; the same key has its turn there
                saying.failed(OutcomeUnknown())
            return
        turn = call.accept_user_input(saying.words, saying.number)
        if turn == saying.number:
            saying.heard(turn)
        else:  # something else was heard meanwhile and has its number
            if saying.key is not None:
                self._note(turn, Kind.KEYED, GUEST, _keyed(saying.key, saying.digest, turn))
            self._to_tell.append((saying, turn))
            self._write()

    async def _find_out(self, writing: "_Writing") -> None:
        """Find out what became of a writing that the database has not answered.

        Raises:
            NotStored: It was not done.
            OutcomeUnknown: The record is closed before the database answers.
            StateError: The order is not there any more.
        """
        marks = {saying.mark for saying in writing.sayings if saying.gate.begun}
        while True:
            try:
                moments = await self._store.said(self._call.state.order_id)
            except JournalFault:
                if self._closing:
                    raise OutcomeUnknown from None
                await asyncio.sleep(PROOF_S)
                continue
            if marks & {one.text for one in moments if one.kind == Kind.SPOKE}:
                return
            raise NotStored("the database did not answer")

    async def _drop(self, age: timedelta) -> None:
        try:
            last = await self._store.last_said(self._now() - CLOCK_BELIEVED_AFTER)
            if last is not None:
                await self._store.drop_said(last - age)
        except StateError as fault:
            self._complain(fault)

    def _complain(self, fault: BaseException) -> None:
        if not self._complained:
            self._complained = True
            why = fault.message if isinstance(fault, StateError) else type(fault).__name__
            logger.warning("what was said could not be kept: %s", why)


@dataclass(frozen=True)
class _Writing:
    """What is being written at one time.

    Args:
        known: How many moments that had happened before.
        told: How many sayings are told of when it is done.
        sayings: What is heard when it is done.
        looked_for: Whether it was looked for in the database.
    """

    known: int
    told: int
    sayings: Sequence[Saying]
    looked_for: bool = False


def _keyed(key: str, digest: str, turn: int) -> str:
    from rpc.order_session import Spoken

    return json.dumps(asdict(Spoken(key, digest, turn)))


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
