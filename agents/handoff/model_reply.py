"""One reply of a model: its tool calls, sorted as they stream in, and their outcomes."""

import asyncio
import itertools
import json
import logging
from collections.abc import Callable, Collection, Iterable, Set
from dataclasses import dataclass, field
from typing import Any

from livekit.agents.llm import ChoiceDelta, FunctionToolCall
from pydantic_core import from_json

from agents.handoff.output_redactor import redact_arguments
from state.shared import Refused

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Reply:
    """The state of one model reply until all of its tools have ended.

    Args:
        agent: The agent that made it.
        seen: The version of the state its digest showed.
        turn: The last turn whose messages it was shown.
    """

    agent: str
    seen: int
    turn: int
    spoke: bool = False
    truncated: set[str] = field(default_factory=set)
    failed: str | None = None
    wrote: set[int] = field(default_factory=set)
    """The versions its tools have committed."""
    announced: set[str] = field(default_factory=set)
    """What the user has been told to wait for."""
    _running: dict[str, str] = field(default_factory=dict)
    _tool_ended: asyncio.Event = field(default_factory=asyncio.Event)

    def tool_started(self, call_id: str, name: str) -> None:
        """Register a tool call that will run."""
        self._running[call_id] = name

    def tool_ended(self, call_id: str, failure: str | None = None) -> None:
        """Record that a tool has ended, and how it failed if it did."""
        if failure is not None and call_id in self._running:
            self.failed = failure
        self._running.pop(call_id, None)
        self._tool_ended.set()
        self._tool_ended = asyncio.Event()

    def refuse_truncated(self, call_id: str) -> None:
        """Refuse a call whose arguments were truncated.

        Raises:
            Refused: They were.
        """
        if call_id in self.truncated:
            raise Refused("The arguments did not arrive whole. Make the call again.")

    @property
    def tools_running(self) -> bool:
        """Whether a tool of this reply is still running, final tools not counted."""
        return bool(self._running)

    def runs_before(self, call_id: str, names: Collection[str]) -> bool:
        """Whether a call of one of these tools, made before this one, is still running."""
        calls = itertools.takewhile(lambda one: one != call_id, self._running)
        return any(self._running[one] in names for one in calls)

    async def next_tool_ended(self) -> None:
        """Wait until another tool of this reply has ended."""
        await self._tool_ended.wait()


def read_arguments(raw: str) -> dict[str, Any] | None:
    """Parse a model's arguments if they are complete: one JSON object without duplicate names.

    livekit-agents 1.8.9 repairs truncated arguments and runs the tool with them; this checks them
    first, with the same parser.

    >>> [read_arguments(raw) for raw in ("{}", '{"by": 12', '[1]', '{"by":1}{"by":2}')]
    [{}, None, None, None]
    >>> read_arguments('{"by": 1, "at": "7:30"}'), read_arguments('{"by": 1, "by": 2}')
    ({'by': 1, 'at': '7:30'}, None)
    """
    try:
        read = from_json(raw, allow_inf_nan=False)
        if not isinstance(read, dict):
            return None
        if raw.count(":") != _count_names(read):  # a colon in a string, or a duplicate name
            json.loads(raw, object_pairs_hook=_reject_duplicates)
    except ValueError:
        return None
    return read


def _count_names(value: object) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_count_names, value.values()))
    return sum(map(_count_names, value)) if isinstance(value, list) else 0


def _reject_duplicates(pairs: list[tuple[str, object]]) -> None:
    names = {name for name, _ in pairs}
    if len(names) < len(pairs):
        raise ValueError("a name is given twice")


class PendingCalls:
    """The replies whose tools have not started, by the ids of their calls."""

    def __init__(self) -> None:
        self._by_call: dict[str, Reply] = {}
        self._used: set[str] = set()

    def __len__(self) -> int:
        return len(self._by_call)

    def unique_id(self, call_id: str | None) -> str:
        """Return a unique id for a call: its own, or a new one if that is missing or taken."""
        own, count = call_id or "call_1", 1
        while own in self._used:
            count += 1
            own = f"{call_id or 'call'}_{count}"
        self._used.add(own)
        return own

    def add(self, call_id: str, reply: Reply) -> None:
        """Register the reply of a call."""
        self._by_call[call_id] = reply

    def take(self, call_id: str) -> Reply | None:
        """Return the reply of a call, which starts now, and forget the call."""
        return self._by_call.pop(call_id, None)

    def forget(self, call_ids: Iterable[str]) -> None:
        """Forget calls that will not run."""
        for call_id in call_ids:
            self._by_call.pop(call_id, None)

    def forget_all(self) -> None:
        """Forget the calls of replies that ended before their tools started."""
        self._by_call.clear()


@dataclass(frozen=True)
class ToolGroups:
    """The tools of one reply by group.

    ``final`` ones run last, after all ``awaited`` ones have ended.
    """

    offered: Set[str]
    withheld: Set[str]
    final: Set[str]
    awaited: Set[str]


class ToolCallSorter:
    """Sorts the tool calls of one reply as they stream in; ``final`` holds those to be run last."""

    def __init__(
        self,
        calls: PendingCalls,
        reply: Reply,
        groups: ToolGroups,
        redact_output: Callable[[str], str],
    ) -> None:
        self.final: list[FunctionToolCall] = []
        self.forwarded = False
        self._calls = calls
        self._reply = reply
        self._groups = groups
        self._redact = redact_output

    def sort(self, delta: ChoiceDelta) -> None:
        """Hold back final calls, drop withheld ones, and register the rest."""
        delta.tool_calls = [made for made in delta.tool_calls or () if self._forwards(made)]
        self.forwarded = self.forwarded or bool(delta.tool_calls)

    def _forwards(self, made: FunctionToolCall) -> bool:
        if made.name in self._groups.withheld or not self._groups.offered:
            logger.info("dropped a tool call that was not offered", extra={"tool": made.name})
            return False
        made.call_id = self._calls.unique_id(made.call_id)
        self._calls.add(made.call_id, self._reply)
        raw = (made.arguments or "").strip()
        raw = "{}" if raw in ("", "null") else raw
        given = read_arguments(raw)
        if given is None:
            self._reply.truncated.add(made.call_id)
            raw, given = "{}", {}
        made.arguments = redact_arguments(raw, given, self._redact)
        if made.name in self._groups.final:
            self.final.append(made)
            return False
        if made.name in self._groups.awaited:
            self._reply.tool_started(made.call_id, made.name)
        elif made.name not in self._groups.offered:
            self._reply.failed = f"There is no tool called {made.name}."
        return True

    def stream_failed(self) -> bool:
        """Discard the calls held back; returns whether other tools will run."""
        self._calls.forget(made.call_id for made in self.final)
        self.final.clear()
        return self.forwarded
