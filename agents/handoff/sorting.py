"""The tool calls of one reply, sorted as they stream by: done now, done last, dropped, or refused."""

import logging
from collections.abc import Callable, Set
from dataclasses import dataclass

from livekit.agents.llm import ChoiceDelta, FunctionToolCall

from agents.handoff.outgoing import arguments_out
from agents.handoff.reply import Replies, Reply, read_arguments

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sorts:
    """Which tools are which in one reply: offered, withheld, done last, waited for by those."""

    offered: Set[str]
    withheld: Set[str]
    last: Set[str]
    awaited: Set[str]


class CallSorter:
    """Sorts the tool calls of one reply as they stream by; ``last`` holds those that go last."""

    def __init__(
        self, replies: Replies, reply: Reply, sorts: Sorts, redact_output: Callable[[str], str]
    ) -> None:
        self.last: list[FunctionToolCall] = []
        self.passed_on = False
        self._replies = replies
        self._reply = reply
        self._sorts = sorts
        self._redacted = redact_output

    def sort(self, delta: ChoiceDelta) -> None:
        """Hold back what goes last, drop what was withheld, and remember the rest."""
        delta.tool_calls = [made for made in delta.tool_calls or () if self._passes(made)]
        self.passed_on = self.passed_on or bool(delta.tool_calls)

    def _passes(self, made: FunctionToolCall) -> bool:
        if made.name in self._sorts.withheld or not self._sorts.offered:
            logger.info("dropped a call that was not offered", extra={"tool": made.name})
            return False
        made.call_id = self._replies.own_id(made.call_id)
        self._replies.add(made.call_id, self._reply)
        raw = (made.arguments or "").strip()
        raw = "{}" if raw in ("", "null") else raw
        given = read_arguments(raw)
        if given is None:
            self._reply.cut.add(made.call_id)
            raw, given = "{}", {}
        made.arguments = arguments_out(raw, given, self._redacted)
        if made.name in self._sorts.last:
            self.last.append(made)
            return False
        if made.name in self._sorts.awaited:
            self._reply.expects(made.call_id)
        elif made.name not in self._sorts.offered:
            self._reply.failed = f"There is no tool called {made.name}."
        return True

    def broken_off(self) -> bool:
        """The stream broke: what was held back is not done. Returns whether other tools will answer."""
        self._replies.forget(made.call_id for made in self.last)
        self.last.clear()
        return self.passed_on
