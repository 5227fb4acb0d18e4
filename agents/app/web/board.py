"""The board of staff: the newest states, and each change of them while a reader is connected."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Generic

from pydantic import JsonValue

from agents.app.app import App
from agents.app.parts import C, ListedState, S
from agents.app.states import StateFaults, list_states
from state.shared import SqlStore

logger = logging.getLogger(__name__)

SHOWN = 200
"""How many of the newest states staff see."""

POLL_S = 0.5
"""How often the database is asked for changes while a reader is connected, in seconds."""

ALIVE_S = 15.0
"""How often a stream without news says that it is alive, in seconds."""

_WAITING = 500
"""How many events may wait for a slow reader before its stream ends; it begins anew then."""

_END = ""


class Board(Generic[S, C]):
    """Follows the newest states for all readers, with one query at a time.

    Changes are found by their versions, never by a clock: whoever wrote them, in whatever process.

    Args:
        app: The application.
        store: Keeps the states.
    """

    def __init__(self, app: App[S, C], store: SqlStore) -> None:
        self._app = app
        self._store = store
        self._seen: dict[str, int] = {}
        """The version of each state that the listeners were sent."""
        self._listeners: set[asyncio.Queue[str]] = set()
        self._changed = asyncio.Event()
        self._starting = asyncio.Lock()
        self._polling: asyncio.Task[None] | None = None

    async def shown(self) -> list[dict[str, JsonValue]]:
        """Return the views of the newest states, newest first.

        Raises:
            StateFaults: The database cannot be used.
        """
        return await self._views(await self._newest())

    def look_now(self) -> None:
        """Look for changes at once: there is one."""
        self._changed.set()

    def tell(self, event: str, data: JsonValue) -> None:
        """Send an event to all readers."""
        self._send(_event(event, data))

    async def events(self, first: Callable[[], Mapping[str, JsonValue]]) -> AsyncIterator[str]:
        """Follow the states, as server-sent events: all of them, then each that changes.

        Args:
            first: Returns what else the first event says.

        Raises:
            StateFaults: The database cannot be used.
        """
        queue: asyncio.Queue[str] = asyncio.Queue(_WAITING)
        self._listeners.add(queue)  # before reading, so that nothing is missed
        try:
            async with self._starting:
                if self._polling is None:
                    self._seen = {one.id: one.version for one in await self._newest()}
                    self._polling = asyncio.create_task(self._poll())
            yield _event("snapshot", {self._app.plural: list(await self.shown()), **first()})
            while True:
                try:
                    async with asyncio.timeout(ALIVE_S):
                        event = await queue.get()
                except TimeoutError:
                    event = ": alive\n\n"
                if event == _END:
                    return
                yield event
        finally:
            self._listeners.discard(queue)
            if not self._listeners:
                await self._stop()

    async def aclose(self) -> None:
        """End all streams."""
        for queue in self._listeners:
            _end(queue)
        self._listeners.clear()
        await self._stop()

    async def _stop(self) -> None:
        task, self._polling = self._polling, None
        self._seen.clear()
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _poll(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await self._changed.wait()
            self._changed.clear()
            try:
                news = [
                    one for one in await self._newest() if self._seen.get(one.id) != one.version
                ]
            except StateFaults as fault:
                logger.warning("states not read, retrying: %s", fault)
                continue
            self._seen |= {one.id: one.version for one in news}
            for view in await self._views(news):
                self.tell(self._app.noun, view)

    async def _newest(self) -> list[ListedState[S]]:
        return await list_states(self._app, self._store, SHOWN)

    async def _views(self, listed: Iterable[ListedState[S]]) -> list[dict[str, JsonValue]]:
        def render() -> list[dict[str, JsonValue]]:
            return [
                self._app.view_of(one.state, one.version, one.agent, one.id)
                for one in listed
                if one.state is not None
            ]

        return await asyncio.to_thread(render)

    def _send(self, event: str) -> None:
        for queue in tuple(self._listeners):
            try:
                queue.put_nowait(event)
            except asyncio.QueueFull:
                self._listeners.discard(queue)
                _end(queue)


def _end(queue: "asyncio.Queue[str]") -> None:
    while not queue.empty():
        queue.get_nowait()
    queue.put_nowait(_END)


def _event(name: str, data: JsonValue) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
