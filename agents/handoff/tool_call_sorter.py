"""Sorts a reply's tool calls as they stream in: run now, run last, drop, or refuse."""

import logging
from collections.abc import Callable, Set
from dataclasses import dataclass

from livekit.agents.llm import ChoiceDelta, FunctionToolCall

from agents.handoff.output_redactor import redact_arguments
from agents.handoff.reply import Replies, Reply, read_arguments

logger = logging.getLogger(__name__)


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
        replies: Replies,
        reply: Reply,
        groups: ToolGroups,
        redact_output: Callable[[str], str],
    ) -> None:
        self.final: list[FunctionToolCall] = []
        self.forwarded = False
        self._replies = replies
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
        made.call_id = self._replies.unique_id(made.call_id)
        self._replies.add(made.call_id, self._reply)
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
        self._replies.forget(made.call_id for made in self.final)
        self.final.clear()
        return self.forwarded
