"""A conversation as JSON lines, in the documented format of each event."""

from dataclasses import asdict
from typing import Any, TextIO, assert_never

from pydantic import JsonValue

from agents.app.app import AnyApp
from agents.app.terminal.json_lines import json_line
from agents.app.terminal.words import Lost
from agents.handoff import (
    Call,
    Ended,
    EndReason,
    Event,
    HandedOver,
    HandoffRefused,
    Heard,
    Said,
    Spent,
    StateChanged,
    ToolUsed,
    TurnWithdrawn,
    YourTurn,
)


def event_data(
    app: AnyApp, event: Event, speaker: str, state_id: str = ""
) -> dict[str, Any] | None:
    """Return an event as a JSON object; ``None`` if it is not written.

    Args:
        app: The application.
        event: Any event but the end, which comes with the whole state.
        speaker: The active agent, for the view.
        state_id: The state's id, for the view.
    """
    match event:
        case Heard():
            return {"type": "heard", "turn": event.turn, "text": event.text}
        case Said():
            return {
                "type": "said",
                "turn": event.turn,
                "agent": event.agent,
                "text": event.text,
            }
        case ToolUsed():
            return {
                "type": "tool",
                "turn": event.turn,
                "agent": event.agent,
                "name": event.name,
                "arguments": dict(event.arguments),
                "output": event.output,
                "is_error": event.is_error,
            }
        case HandedOver():
            return {
                "type": "handoff",
                "turn": event.turn,
                "source": event.source,
                "target": event.target,
                **({"arguments": dict(event.arguments)} if event.arguments else {}),
            }
        case HandoffRefused():
            return {
                "type": "handoff_refused",
                "turn": event.turn,
                "source": event.source,
                "target": event.target,
                "reason": event.reason,
            }
        case StateChanged():
            return {
                "type": "state",
                "turn": event.turn,
                "version": event.version,
                "commands": list(event.commands),
                "state": app.view_of(event.state, event.version, speaker, state_id),
            }
        case Spent():
            return {
                "type": "usage",
                "turn": event.turn,
                "agent": event.agent,
                "model_calls": event.model_calls,
                "prompt_tokens": event.prompt_tokens,
                "completion_tokens": event.completion_tokens,
                "cached_tokens": event.cached_tokens,
            }
        case YourTurn():
            return {
                "type": "your_turn",
                "turn": event.turn,
                "agent": event.agent,
                "version": event.version,
                "expects": event.expects,
            }
        case TurnWithdrawn() | Ended():
            return None
        case _:
            assert_never(event)


class EventLines:
    """Writes every event of a call as one JSON line, immediately.

    Args:
        app: The application.
        call: The call.
        out: Receives the lines, and nothing else.
    """

    def __init__(self, app: AnyApp, call: Call[Any, Any], out: TextIO) -> None:
        self._app = app
        self._call = call
        self._out = out

    def opens(self) -> None:
        """Write the ``ready`` event."""
        shared = self._call.shared
        self._write(
            {
                "type": "ready",
                f"{self._app.noun}_id": shared.state_id,
                "version": shared.version,
                "agent": self._call.speaker,
            }
        )

    def tell(self, event: Event) -> None:
        """Write one event."""
        data = event_data(
            self._app,
            event,
            self._call.shared.speaker or self._call.speaker,
            self._call.shared.state_id,
        )
        if data is not None:
            self._write(data)

    def closes(self, reason: EndReason, lost: Lost | None = None) -> None:
        """Write the ``end`` event: the reason, the state, and the cost if the models report it.

        A state that was erased is ``null``.
        """
        shared = self._call.shared
        speaker = shared.speaker or self._call.speaker
        view = self._app.view_of(shared.state, shared.version, speaker, shared.state_id)
        kept = None if lost == "erased" else dict(view)
        end: dict[str, JsonValue] = {"type": "end", "reason": reason, self._app.noun: kept}
        if (cost := self._call.spending.total).model_calls:
            end["usage"] = asdict(cost)
        self._write(end)

    def _write(self, data: JsonValue) -> None:
        self._out.write(json_line(data) + "\n")
        self._out.flush()
