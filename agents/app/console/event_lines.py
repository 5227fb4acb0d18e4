"""A conversation as JSON lines, in the documented format of each event."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, TextIO

from pydantic import JsonValue

from agents.app.app import AnyApp
from agents.app.console.wording import Lost, view_of_call
from agents.app.declaration import named_faults
from agents.app.terminal.stdio import json_line
from agents.handoff import (
    Call,
    Cost,
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

WRITTEN: Mapping[type[Event], tuple[str, ...]] = {
    Heard: ("heard", "turn", "text"),
    Said: ("said", "turn", "agent", "text"),
    ToolUsed: ("tool", "turn", "agent", "name", "arguments", "output", "is_error"),
    HandedOver: ("handoff", "turn", "source", "target", "arguments"),
    HandoffRefused: ("handoff_refused", "turn", "source", "target", "reason"),
    StateChanged: ("state", "turn", "version", "commands", "state"),
    Spent: ("usage", "turn", "agent", *(one.name for one in fields(Cost))),
    YourTurn: ("your_turn", "turn", "agent", "version", "expects"),
    TurnWithdrawn: (),
    Ended: (),
}
"""The ``type`` and the fields of each event in a line; an event without them is not written."""


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
    if not (written := WRITTEN[type(event)]):
        return None
    kind, *names = written
    data: dict[str, Any] = {"type": kind, **{name: getattr(event, name) for name in names}}
    if isinstance(event, StateChanged):
        data["commands"] = list(event.commands)
        data["state"] = app.view_of(event.state, event.version, speaker, state_id)
    elif isinstance(event, ToolUsed | HandedOver):
        data["arguments"] = dict(event.arguments)
    if isinstance(event, HandedOver) and not event.arguments:
        del data["arguments"]
    return data


class EventLines:
    """Writes every event of a call as one JSON line, immediately.

    Args:
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
        kept = None if lost == "erased" else dict(view_of_call(self._app, self._call))
        end: dict[str, JsonValue] = {"type": "end", "reason": reason, self._app.noun: kept}
        if (cost := self._call.spending.total).model_calls:
            end["usage"] = asdict(cost)
        self._write(end)

    def _write(self, data: JsonValue) -> None:
        with named_faults("view"):  # only the view can hold values that are no JSON
            line = json_line(data)
        self._out.write(f"{line}\n")
        self._out.flush()
