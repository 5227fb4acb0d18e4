"""One model reply and the tool calls it made: which belong together, and how they went."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from state.shared import Refused


@dataclass(eq=False)
class Reply:
    """What has to be remembered of one model request until all of its tools have answered.

    Args:
        agent: Who made it.
        seen: The version of the state its digest showed.
        turn: The last turn whose words it was shown.
    """

    agent: str
    seen: int
    turn: int
    spoke: bool = False
    cut: set[str] = field(default_factory=set)
    failed: str | None = None
    wrote: set[int] = field(default_factory=set)
    """The versions its tools have made."""
    _running: set[str] = field(default_factory=set)
    _one_answered: asyncio.Event = field(default_factory=asyncio.Event)

    def expects(self, call_id: str) -> None:
        """Remember a call whose tool will answer."""
        self._running.add(call_id)

    def answered(self, call_id: str, failure: str | None = None) -> None:
        """Take note that a call's tool has ended, and how it failed if it did."""
        if failure is not None and call_id in self._running:
            self.failed = failure
        self._running.discard(call_id)
        self._one_answered.set()
        self._one_answered = asyncio.Event()

    def refuse_cut(self, call_id: str) -> None:
        """Refuse a call whose arguments were cut off.

        Raises:
            Refused: They were.
        """
        if call_id in self.cut:
            raise Refused("The arguments did not arrive whole. Make the call again.")

    @property
    def at_work(self) -> bool:
        """Whether a tool of this reply that does not go last has yet to answer."""
        return bool(self._running)

    async def one_answers(self) -> None:
        """Wait until another tool of this reply has answered."""
        await self._one_answered.wait()


def read_arguments(raw: str) -> dict[str, Any] | None:
    """Read a model's arguments, if they arrived whole: one JSON object that gives nothing twice.

    livekit-agents 1.8.9 repairs what was cut off and runs the tool with it; this is asked before, of
    the same parser.

    >>> [read_arguments(raw) for raw in ("{}", '{"by": 12', '[1]', '{"by":1}{"by":2}')]
    [{}, None, None, None]
    >>> read_arguments('{"by": 1, "at": "7:30"}'), read_arguments('{"by": 1, "by": 2}')
    ({'by': 1, 'at': '7:30'}, None)
    """
    try:
        read = from_json(raw, allow_inf_nan=False)
        if not isinstance(read, dict):
            return None
        if raw.count(":") != _names(read):  # one stands in a text, or a name is given twice
            json.loads(raw, object_pairs_hook=_once_each)
    except ValueError:
        return None
    return read


def _names(value: object) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_names, value.values()))
    return sum(map(_names, value)) if isinstance(value, list) else 0


def _once_each(pairs: list[tuple[str, object]]) -> None:
    names = {name for name, _ in pairs}
    if len(names) < len(pairs):
        raise ValueError("a name is given twice")


class Replies:
    """The replies whose tools have not begun, by the ids of their calls."""

    def __init__(self) -> None:
        self._by_call: dict[str, Reply] = {}
        self._used: set[str] = set()

    @property
    def at_work(self) -> int:
        """How many calls are yet to be carried out."""
        return len(self._by_call)

    def own_id(self, call_id: str | None) -> str:
        """Return the id a call gets here: its own, or a new one when that is missing or was used."""
        own, count = call_id or "call_1", 1
        while own in self._used:
            count += 1
            own = f"{call_id or 'call'}_{count}"
        self._used.add(own)
        return own

    def add(self, call_id: str, reply: Reply) -> None:
        """Remember which reply a call belongs to."""
        self._by_call[call_id] = reply

    def take(self, call_id: str) -> Reply | None:
        """Return the reply a call belongs to; it is carried out now and need not be remembered."""
        return self._by_call.pop(call_id, None)

    def forget(self, call_ids: Iterable[str]) -> None:
        """Forget calls that will not be carried out."""
        for call_id in call_ids:
            self._by_call.pop(call_id, None)

    def forget_all(self) -> None:
        """Forget the calls of replies that were broken off before their tools began."""
        self._by_call.clear()
