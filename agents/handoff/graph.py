"""Who may hand over to whom, on what condition: declared once, checked before the first call."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from livekit.agents import RunContext
from livekit.agents.llm import ChatItem, RawFunctionTool
from pydantic import BaseModel

from agents.handoff.carry import Carry, digest
from agents.handoff.faults import (
    faults_of_voice,
    faults_of_waiting,
    offered_by,
    shown,
    tools_among,
)
from agents.handoff.tools import Tool, raw_tool
from state.shared import Refused

if TYPE_CHECKING:
    from agents.handoff.call import Call
    from agents.handoff.voice import Voice

S = TypeVar("S", bound=BaseModel)

Condition = Callable[[S], Refused | None]
"""Answers with nothing when it holds, else with what is missing: a code, facts and an English reason."""

_NO_ARGUMENTS: dict[str, Any] = {
    "type": "object",
    "properties": {},
    "required": [],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Handoff(Generic[S]):
    """One edge: a voice may hand the guest to another.

    Args:
        source: The name of the voice that hands over.
        target: The name of the voice that takes over.
        when: For the model, in the imperative: when to do it.
        condition: What has to hold in the state; refused with its reason otherwise.
        satisfied_by: Commands that can bring the condition about; the source must offer one of them.
        carry: What of the conversation travels along.
    """

    source: str
    target: str
    when: str
    condition: Condition[S] | None = None
    satisfied_by: tuple[Tool, ...] = ()
    carry: Carry = field(default_factory=digest)

    @property
    def tool_name(self) -> str:
        """The name of the tool that asks for it."""
        return f"transfer_to_{self.target}"


class GraphError(ValueError):
    """The declaration does not hold together; ``faults`` lists everything that is wrong."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults: tuple[str, ...] = tuple(faults)
        """Everything that is wrong, a sentence each."""


class Graph(Generic[S]):
    """The voices of a call and the handoffs between them.

    Args:
        voices: The classes, each with a name of its own.
        handoffs: The edges.
        start: The name of the voice that opens a call.

    Raises:
        GraphError: A voice or a tool is not finished, or has a name that providers refuse or that another
            tool has; ``needs_answer`` names a command that nobody offers; a handoff names a voice that is
            not there, leads to itself or stands twice; a voice cannot be reached; a condition cannot be
            brought about by a command its source offers.
    """

    def __init__(
        self,
        voices: Sequence["type[Voice[S, Any]]"],
        handoffs: Sequence[Handoff[S]],
        *,
        start: str,
    ) -> None:
        named = [voice for voice in voices if isinstance(getattr(voice, "name", None), str)]
        self.voices: Mapping[str, type[Voice[Any, Any]]] = {voice.name: voice for voice in named}
        self.handoffs = tuple(handoffs)
        self.start = start
        faults = [fault for voice in voices for fault in self._faults_of_voice(voice)]
        faults += [*faults_of_waiting(voices), *_double_names(named), *self._faults()]
        if faults:
            raise GraphError(faults)
        self._transfers: dict[str, tuple[RawFunctionTool[Any, Any], ...]] = {
            name: tuple(_transfer_tool(handoff) for handoff in self.leaving(name))
            for name in self.voices
        }

    def leaving(self, source: str) -> tuple[Handoff[S], ...]:
        """The handoffs a voice can ask for, in the order declared."""
        return tuple(handoff for handoff in self.handoffs if handoff.source == source)

    def offers(self, name: str) -> tuple[Tool, ...]:
        """The commands, reads and actions a voice's model may call."""
        return tuple(offered_by(self.voices[name]))

    def transfers(self, source: str) -> tuple[RawFunctionTool[Any, Any], ...]:
        """The transfer tools of a voice, made once."""
        return self._transfers[source]

    def voice(self, name: str, carried: Sequence[ChatItem] = ()) -> "Voice[Any, Any]":
        """Make a fresh instance of a voice: one that was used before would bring its old words along."""
        return self.voices[name](self, carried)

    def _faults_of_voice(self, voice: "type[Voice[Any, Any]]") -> Iterator[str]:
        leaving = self.leaving(getattr(voice, "name", ""))
        return faults_of_voice(voice, [handoff.tool_name for handoff in leaving])

    def _faults(self) -> list[str]:
        faults = []
        if self.start not in self.voices:
            faults.append(f"the call starts with {self.start!r}, which is no voice")
        seen: set[tuple[str, str]] = set()
        for handoff in self.handoffs:
            edge = f"{handoff.source} -> {handoff.target}"
            missing = [name for name in (handoff.source, handoff.target) if name not in self.voices]
            faults += [f"{edge}: {name!r} is no voice" for name in missing]
            if handoff.source == handoff.target:
                faults.append(f"{edge}: a voice cannot hand over to itself")
            if (handoff.source, handoff.target) in seen:
                faults.append(f"{edge}: declared twice")
            seen.add((handoff.source, handoff.target))
            if not isinstance(handoff.satisfied_by, Sequence):
                faults.append(
                    f"{edge}: what satisfies it is no tuple of tools: {shown(handoff.satisfied_by)}"
                )
            elif handoff.source in self.voices and handoff.satisfied_by:
                offered = tools_among(offered_by(self.voices[handoff.source]))
                if not any(tool in offered for tool in handoff.satisfied_by):
                    ops = ", ".join(shown(tool) for tool in handoff.satisfied_by)
                    faults.append(
                        f"{edge}: {handoff.source} offers none of what would allow it ({ops})"
                    )
            if handoff.condition is not None and not handoff.satisfied_by:
                faults.append(f"{edge}: its condition names no command that can bring it about")
        faults += [
            f"{name} can never be reached" for name in self.voices if name not in self._reached()
        ]
        return faults

    def _reached(self) -> set[str]:
        reached: set[str] = set()
        to_visit = [self.start]
        while to_visit:
            name = to_visit.pop()
            if name not in reached:
                reached.add(name)
                to_visit += [handoff.target for handoff in self.leaving(name)]
        return reached


def _double_names(voices: Sequence["type[Voice[Any, Any]]"]) -> list[str]:
    names = [voice.name for voice in voices]
    return [
        f"two voices are called {name!r}" for name in dict.fromkeys(names) if names.count(name) > 1
    ]


def _transfer_tool(handoff: Handoff[Any]) -> RawFunctionTool[Any, Any]:
    async def transfer(raw_arguments: dict[str, object], context: RunContext[Any]) -> Any:
        call: Call[Any, Any] = context.userdata
        return await call.transfers.decide(handoff, context)

    return raw_tool(handoff.tool_name, handoff.when, _NO_ARGUMENTS, transfer)
