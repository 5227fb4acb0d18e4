"""Stores the transcript of a call in the database, beside the state's journal.

A message that a client sends with ``say`` is stored before the call hears it; if it cannot be stored,
it is not heard. Speech and chat messages are heard at once and stored afterwards. The rest of a turn
is stored when the turn is over. The journal's thread writes: no conversation waits for it or fails
with it. A tool's changes are in the journal. Timestamps are those of the machine's clock, even if the
application's clock was set, so that entries can expire. Entries are in the order of their writing,
whatever their timestamps.
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
from typing import Any

from pydantic import JsonValue

from agents.app.parts import Channel
from agents.handoff import Call, Cost, Ended, Event, Heard, Said, Spent, YourTurn
from state.privacy.text import clean
from state.shared import (
    Gate,
    JournalFault,
    Moment,
    NotStored,
    OutcomeUnknown,
    Refused,
    SqlStore,
    StateError,
    TakenOver,
)

logger = logging.getLogger(__name__)

USER, SYSTEM = "user", "system"
"""The author of the user's entries, and of entries that are not words; the values are stored."""

_USER_BEFORE = "guest"
"""The author of the user's entries in earlier releases."""

_MOST_UNWRITTEN = 1000

_MARK_LENGTH = 16
"""Letters of the random mark by which a stored message is found again: 75 bits."""

RECHECK_S = 0.5
"""How long to wait before the next query whether a write was stored, in seconds."""

CLOCK_TRUSTED_AFTER = timedelta(days=1)
"""How old a transcript must be for the ages of others to be measured from it, so that a clock that
has jumped forward deletes none."""


class MomentKind(StrEnum):
    """The kind of a transcript entry; the values are stored."""

    CALL_STARTED = "began"
    USER_WORDS = "heard"
    USER_SPOKE = "spoke"
    """The user said something, whether or not the words are stored. The text is the mark of a message
    that was stored before it was heard. The last of several entries of one turn counts."""
    ALL_ANSWERED = "answered"
    """Every message of the user so far has its reply."""
    CLIENT_KEY = "keyed"
    """The idempotency key of a client's message, as JSON."""
    AGENT_WORDS = "said"
    INTERRUPTED = "cut_short"
    """Words of an agent up to the user's interruption."""
    COST = "spent"
    """The cost of a turn's models, as JSON."""
    CALL_ENDED = "ended"
    NOT_RECORDED = "not_recorded"
    """The user does not want their calls about this state to be recorded."""


_WORDS = (MomentKind.USER_WORDS, MomentKind.AGENT_WORDS, MomentKind.INTERRUPTED)


class ClientMessage:
    """A message that a client sends for the user: stored first, then heard by the call.

    Args:
        words: The text as the call hears it.
        key: The client's idempotency key as it is stored, if there is one.
        digest: The digest of the text, to recognize it by.
    """

    def __init__(self, words: str, key: str | None, digest: str) -> None:
        self.words = words
        self.key = key
        self.digest = digest
        self.gate = Gate()
        self.mark = "".join(secrets.choice(ascii_lowercase) for _ in range(_MARK_LENGTH))
        self.number = 0
        """The turn it is stored under."""
        self.turn: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        """Resolves to its turn once it is stored and heard; to ``None`` if the call takes no more
        input."""

    def withdraw(self) -> bool:
        """Withdraw the message if its write has not begun; returns whether it was withdrawn."""
        if withdrawn := self.gate.withdraw():
            self.failed(NotStored("the database is busy"))
        return withdrawn

    def failed(self, fault: BaseException) -> None:
        """Fail ``turn``: the message is not stored and will not be heard."""
        if not self.turn.done():
            self.turn.set_exception(fault)

    def heard(self, turn: int | None) -> None:
        """Resolve ``turn``: the message is stored and has been heard."""
        if not self.turn.done():
            self.turn.set_result(turn)


class CallRecord:
    """Stores the transcript of one call, turn by turn. Close it before its store.

    A failed write is retried with the next turn.

    Args:
        call: The call, before anything is said in it.
        words: Whether the words of user and agents are stored. The time of the call, the number of
            the user's turns and the cost of the models are stored in any case.
        now: Returns the present time, aware.
        lost: Called when another process has the state, or its user was erased: nothing more is
            stored.
    """

    def __init__(
        self,
        call: Call[Any, Any],
        store: SqlStore,
        *,
        channel: Channel,
        words: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._call = call
        self._store = store
        self._words = words
        self._now = now
        self._lost = lost
        self._unwritten: list[Moment] = []
        self._to_store: list[ClientMessage] = []
        """Messages to be stored and then heard, in the order of arrival."""
        self._unconfirmed: list[tuple[ClientMessage, int]] = []
        """Messages that were heard in another turn than they were stored with, and that turn; they are
        confirmed once the turn is stored."""
        self._stored = 0
        """The turn of the last message that was stored before it was heard."""
        self._closing = False
        self._write_due = False
        self._scheduled: asyncio.Handle | None = None
        self._writing: asyncio.Future[None] | None = None
        self._dropping: asyncio.Task[None] | None = None
        self._given_up = False
        self._warned = False
        self._answered: int | None = None
        self._note(call.turn, MomentKind.CALL_STARTED, SYSTEM, channel)
        if call.turn == 0:
            self._note_answered(0)
        self._unsubscribe = call.subscribe(self._on_event)

    @property
    def idle(self) -> bool:
        """Whether no write is pending or under way."""
        return self._scheduled is None and self._writing is None

    def drop_older_than(
        self, days: int, also: Callable[[datetime], object] = lambda before: None
    ) -> None:
        """Start deleting this owner's old transcripts.

        Their age counts from the newest transcript that is at least a day old. A clock that has
        jumped forward makes every transcript look old: none is deleted until a day has passed at
        the new time.

        Args:
            days: How old they are.
            also: Deletes other data from before a time that is kept as long; called in a thread.
        """
        self._dropping = asyncio.create_task(self._drop(timedelta(days=days), also))

    def recording_refused(self) -> None:
        """Store that the user does not want to be recorded."""
        self._note(self._call.turn, MomentKind.NOT_RECORDED, USER, "")
        self._write()

    def say(self, text: str, key: str | None, digest: str) -> ClientMessage:
        """Start storing a client's message after all earlier ones; it is heard once it is stored.

        Args:
            text: The text.
            key: The client's idempotency key as it is stored, if there is one.
            digest: The digest of the text, to recognize it by.
        """
        try:
            words = self._call.redact_input(text)
        except Refused as refusal:
            message = ClientMessage("", key, digest)
            message.failed(refusal)
            return message
        message = ClientMessage(words, key, digest)
        if self._given_up:
            message.failed(TakenOver())
        elif not self._call.listening:
            message.heard(None)
        else:
            self._to_store.append(message)
            self._write()
        return message

    async def aclose(self) -> None:
        """Write the pending entries, and wait until that has succeeded or failed."""
        self._unsubscribe()
        self._closing = True
        self._write()
        await self._wait_until_idle()
        if self._dropping is not None:
            await asyncio.wait((self._dropping,))

    def _on_event(self, event: Event) -> None:
        match event:
            case Heard():
                self._hear(event)
                self._write()  # a job that continues an interrupted call counts turns from here
            case Said():
                kind = MomentKind.INTERRUPTED if event.interrupted else MomentKind.AGENT_WORDS
                self._say(event.turn, kind, event.agent, event.text, event.utterance)
            case Spent():
                cost = {one.name: getattr(event, one.name) for one in fields(Cost)}
                self._note(event.turn, MomentKind.COST, event.agent, json.dumps(cost))
            case YourTurn():
                self._note_answered(event.turn)
                self._write()
            case Ended():
                if event.reason == "agent_ended":
                    self._note_answered(self._call.turn)
                self._note(self._call.turn, MomentKind.CALL_ENDED, SYSTEM, event.reason)
                self._write()

    def _hear(self, event: Heard) -> None:
        if event.turn != self._stored:
            self._note(event.turn, MomentKind.USER_SPOKE, USER, "")
            self._say(event.turn, MomentKind.USER_WORDS, USER, event.text, event.utterance)

    def _note_answered(self, turn: int) -> None:
        """Record that every message has its complete reply: an action, a refusal or words."""
        if turn != self._answered:
            self._answered = turn
            self._note(turn, MomentKind.ALL_ANSWERED, SYSTEM, "")

    def _say(self, turn: int, kind: MomentKind, who: str, text: str, utterance: str | None) -> None:
        if self._words:
            self._note(turn, kind, who, self.kept(text), utterance)

    def kept(self, text: str) -> str:
        """Return words as they are stored."""
        # The user's words were redacted before. An agent's words may repeat sensitive text that its
        # model has from another source.
        return self._call.policy.redact_output(clean(text, lines=True))

    def _note(
        self, turn: int, kind: MomentKind, who: str, text: str, utterance: str | None = None
    ) -> None:
        if not self._given_up:
            self._unwritten.append(
                Moment(turn, kind.value, who, text, self._now(), utterance=utterance)
            )

    def _moments_of(self, message: ClientMessage) -> Iterator[Moment]:
        texts = {MomentKind.USER_SPOKE: message.mark}
        if self._words:
            texts[MomentKind.USER_WORDS] = self.kept(message.words)
        if message.key is not None:
            texts[MomentKind.CLIENT_KEY] = _client_key_json(
                message.key, message.digest, message.number
            )
        for kind, text in texts.items():
            yield Moment(message.number, kind.value, USER, text, self._now(), message.gate)

    def _write(self) -> None:
        """Schedule a write for the next tick of the event loop, to batch the entries of one tick."""
        self._write_due = bool(self._unwritten or self._to_store)
        if self._write_due and self._scheduled is None:
            self._scheduled = asyncio.get_running_loop().call_soon(self._write_batch)

    async def _wait_until_idle(self) -> None:
        while not self.idle:
            if self._writing is not None:
                await asyncio.wait((self._writing,))
            else:
                await asyncio.sleep(0)

    def _write_batch(self) -> None:
        """Write the pending entries; one transaction at a time keeps their order."""
        self._scheduled = None
        if not self._write_due or self._writing is not None:
            return
        self._write_due = False
        messages = [message for message in self._to_store if not message.turn.done()]
        self._to_store.clear()
        moments = [*self._unwritten]
        for number, message in enumerate(messages, self._call.turn + 1):
            message.number = number
            moments += self._moments_of(message)
        if not moments:
            return
        writing = _Writing(len(self._unwritten), len(self._unconfirmed), messages)
        self._writing = self._store.record(self._call.shared.state_id, *moments)
        self._writing.add_done_callback(lambda done: self._written(writing, done))

    def _written(self, writing: "_Writing", done: "asyncio.Future[None]") -> None:
        self._writing = None
        fault = None if done.cancelled() else done.exception()
        if isinstance(fault, OutcomeUnknown) and not writing.searched:
            if any(message.gate.begun for message in writing.messages):
                searching = replace(writing, searched=True)
                self._writing = asyncio.ensure_future(self._find_write(writing))
                self._writing.add_done_callback(lambda done: self._written(searching, done))
                return
        if isinstance(fault, TakenOver):
            self._given_up = True
            self._lost()
            self._unwritten.clear()
            for message in (
                *writing.messages,
                *self._to_store,
                *(one for one, _ in self._unconfirmed),
            ):
                message.failed(fault)
            self._to_store.clear()
            self._unconfirmed.clear()
        elif fault is not None:
            for message in writing.messages:
                message.failed(fault)
            del self._unwritten[:-_MOST_UNWRITTEN]
            self._warn_once(fault)
        else:
            del self._unwritten[: writing.known]
            for message, turn in self._unconfirmed[: writing.confirmed]:
                message.heard(turn)
            del self._unconfirmed[: writing.confirmed]
            for message in writing.messages:
                self._hear_stored(message)
        self._write_due = self._write_due or bool(self._to_store)
        if fault is None or self._to_store:
            self._write_batch()

    def _hear_stored(self, message: ClientMessage) -> None:
        if not message.gate.begun:
            return
        call, self._stored = self._call, message.number
        if not call.listening:
            if call.ended == "agent_ended":
                self._note_answered(message.number)  # no reply follows after the end
                message.heard(None)
            else:  # another agent continues the call and answers; a retry with the key finds the turn
                message.failed(OutcomeUnknown())
            return
        turn = call.accept_user_input(message.words, message.number)
        if turn == message.number:
            message.heard(turn)
        else:  # another message was heard meanwhile, and took its number
            if message.key is not None:
                self._note(
                    turn,
                    MomentKind.CLIENT_KEY,
                    USER,
                    _client_key_json(message.key, message.digest, turn),
                )
            self._unconfirmed.append((message, turn))
            self._write()

    async def _find_write(self, writing: "_Writing") -> None:
        """Find out whether a write that the database has not confirmed was stored.

        Raises:
            NotStored: It was not stored.
            OutcomeUnknown: The record was closed before the database answered.
            StateError: The state no longer exists.
        """
        marks = {message.mark for message in writing.messages if message.gate.begun}
        while True:
            try:
                moments = await self._store.said(self._call.shared.state_id)
            except JournalFault:
                if self._closing:
                    raise OutcomeUnknown from None
                await asyncio.sleep(RECHECK_S)
                continue
            if marks & {one.text for one in moments if one.kind == MomentKind.USER_SPOKE}:
                return
            raise NotStored("the database did not answer")

    async def _drop(self, age: timedelta, also: Callable[[datetime], object]) -> None:
        try:
            last = await self._store.eraser.last_said(self._now() - CLOCK_TRUSTED_AFTER)
            if last is not None:
                await self._store.eraser.drop_said(last - age)
                await asyncio.to_thread(also, last - age)
        except StateError as fault:
            self._warn_once(fault)
        except OSError as fault:
            logger.warning("old recordings not deleted: %s", fault.strerror)

    def _warn_once(self, fault: BaseException) -> None:
        if not self._warned:
            self._warned = True
            why = fault.message if isinstance(fault, StateError) else type(fault).__name__
            logger.warning("transcript not stored: %s", why)


@dataclass(frozen=True)
class _Writing:
    """One write under way.

    Args:
        known: How many of the pending entries it holds.
        confirmed: How many messages are confirmed when it is done.
        messages: The messages that are heard when it is done.
        searched: Whether the database was searched for it.
    """

    known: int
    confirmed: int
    messages: Sequence[ClientMessage]
    searched: bool = False


def _client_key_json(key: str, digest: str, turn: int) -> str:
    from rpc.page import Spoken

    return json.dumps(asdict(Spoken(key, digest, turn)))


@dataclass
class StoredCall:
    """The transcript of one call.

    Args:
        words: The words of the user and the agents, in order.
        spent: The costs, each with its turn.
        ended: Why the call ended, if stored.
    """

    words: list[Moment] = field(default_factory=list)
    spent: list[tuple[int, Cost]] = field(default_factory=list)
    ended: str | None = None

    @property
    def cost(self) -> Cost:
        """The cost of the whole call."""
        return sum((cost for _, cost in self.spent), Cost())


def group_by_call(moments: Sequence[Moment]) -> list[StoredCall]:
    """Group transcript entries by call: a state may have been served in several."""
    calls: list[StoredCall] = []
    for moment in moments:
        if moment.kind == MomentKind.CALL_STARTED or not calls:
            calls.append(StoredCall())
        if moment.kind in _WORDS:
            calls[-1].words.append(moment)
        elif moment.kind == MomentKind.COST:
            calls[-1].spent.append((moment.turn, _cost(moment.text)))
        elif moment.kind == MomentKind.CALL_ENDED:
            calls[-1].ended = moment.text
    return calls


def author_of(moment: Moment, user: str) -> str:
    """Return the author of an entry: an agent, or the user by the application's name for them.

    Args:
        moment: The entry.
        user: The role of the user.
    """
    return user if is_users(moment) else moment.who


def is_users(moment: Moment) -> bool:
    """Whether the user is the author of an entry."""
    return moment.who in (USER, _USER_BEFORE)


def transcript_data(
    calls: Sequence[StoredCall], zone: tzinfo | None, user: str
) -> dict[str, JsonValue]:
    """Return transcripts as JSON: the words, and the cost of each call and turn.

    Args:
        calls: A state's calls.
        zone: The time zone they are shown in.
        user: The role of the user.
    """
    return {
        "transcript": [
            {
                "call": number,
                "turn": moment.turn,
                "at": moment.at.astimezone(zone).isoformat(timespec="seconds")
                if moment.at is not None
                else None,
                "who": author_of(moment, user),
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


def _turns(call: StoredCall) -> Iterator[JsonValue]:
    turns: dict[int, Cost] = {}
    for turn, cost in call.spent:
        turns[turn] = turns.get(turn, Cost()) + cost
    yield from ({"turn": turn, **asdict(cost)} for turn, cost in turns.items())


def _cost(text: str) -> Cost:
    known = json.loads(text)
    return Cost(**{one.name: known.get(one.name, 0) for one in fields(Cost)})
