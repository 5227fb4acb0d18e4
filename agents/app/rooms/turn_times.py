"""Reports the latency of each turn, by its parts: in the log, as a span, and for metrics."""

import logging
from collections.abc import Callable
from typing import Any

from opentelemetry.trace import Span

from agents.app.parts import Channel
from agents.handoff import Call, Ended, Event, Heard, Latency, TurnWithdrawn, YourTurn
from agents.handoff.livekit_workarounds import start_span

logger = logging.getLogger(__name__)

Measured = Callable[[Latency], None]
"""Called with the latency of an answer."""


class TurnTimes:
    """Reports the turns of one call.

    A span ``<prefix>.your_turn`` beside livekit's ``user_turn`` and ``agent_turn`` lasts as long as
    it is the user's turn; its attributes hold the latency of the answer before it.

    Args:
        measured: Called with the latency of each answer.
    """

    def __init__(
        self,
        call: Call[Any, Any],
        *,
        prefix: str,
        room: str,
        channel: Channel,
        measured: Measured,
    ) -> None:
        self._call = call
        self._prefix = prefix
        self._room = room
        self._channel: Channel = channel
        self._measured = measured
        self._reported: Latency | None = None
        self._span: Span | None = None
        call.subscribe(self._on_event)

    def _on_event(self, event: Event) -> None:
        match event:
            case YourTurn():
                self._report(event)
            case Heard() | TurnWithdrawn() | Ended():
                self._end_span()

    def _report(self, event: YourTurn) -> None:
        latency = self._call.turns.latency
        parts: dict[str, float] = {}
        if latency is not None and latency is not self._reported:
            self._reported = latency
            parts = latency.parts
            self._measured(latency)
            logger.info(
                "turn answered",
                extra={
                    "room": self._room,
                    "turn": latency.turn,
                    "agent": latency.agent,
                    "channel": self._channel,
                    **{f"{name}_ms": round(seconds * 1000) for name, seconds in parts.items()},
                },
            )
        self._end_span()
        self._span = start_span(
            self._call.session,
            f"{self._prefix}.your_turn",
            {
                f"{self._prefix}.turn": event.turn,
                f"{self._prefix}.active_agent": event.agent,
                f"{self._prefix}.version": event.version,
                f"{self._prefix}.expects": event.expects,
                **{f"{self._prefix}.latency.{name}": seconds for name, seconds in parts.items()},
            },
        )

    def _end_span(self) -> None:
        if self._span is not None:
            self._span.end()
            self._span = None
