"""One model reply and the tool calls it made: which belong together, and how they went."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(eq=False)
class Reply:
    """What has to be remembered of one model request until all of its tools have answered.

    Args:
        voice: Who made it.
        seen: The version of the state its digest showed.
    """

    voice: str
    seen: int
    spoke: bool = False
    cut: set[str] = field(default_factory=set)
    failed: str | None = None
    _running: set[str] = field(default_factory=set)
    _quiet: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._quiet.set()

    def expects(self, call_id: str) -> None:
        """Remember a call whose tool will answer."""
        self._running.add(call_id)
        self._quiet.clear()

    def answered(self, call_id: str, failure: str | None = None) -> None:
        """Take note that a call's tool has ended, and how it failed if it did."""
        if failure is not None:
            self.failed = failure
        self._running.discard(call_id)
        if not self._running:
            self._quiet.set()

    async def siblings(self) -> None:
        """Wait until every tool of this reply that is no transfer has answered."""
        await self._quiet.wait()


def whole_arguments(raw: str | None) -> bool:
    """Whether a model's arguments arrived whole: nothing at all, or one JSON object.

    livekit-agents 1.8.9 repairs what was cut off and runs the tool with it; this is asked before.

    >>> [whole_arguments(raw) for raw in ("", "{}", '{"by": 12', '[1]', '{"by":1}{"by":2}')]
    [True, True, False, False, False]
    """
    if raw is None or not raw.strip():
        return True
    try:
        return isinstance(json.loads(raw, parse_constant=_no_constant), dict)
    except ValueError:
        return False


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


class Replies:
    """The replies whose tools are still at work, by the ids of their calls."""

    def __init__(self) -> None:
        self._by_call: dict[str, Reply] = {}
        self._calls = 0

    def own_id(self, call_id: str | None) -> str:
        """Return the id a call gets here: its own, or a new one when that is missing or in use."""
        self._calls += 1
        if not call_id or call_id in self._by_call:
            return f"{call_id or 'call'}_{self._calls}"
        return call_id

    def add(self, call_id: str, reply: Reply) -> None:
        """Remember which reply a call belongs to."""
        self._by_call[call_id] = reply

    def of(self, call_id: str) -> Reply | None:
        """Return the reply a call belongs to."""
        return self._by_call.get(call_id)

    def forget(self, call_ids: Iterable[str]) -> None:
        """Forget calls that have been answered."""
        for call_id in call_ids:
            self._by_call.pop(call_id, None)
