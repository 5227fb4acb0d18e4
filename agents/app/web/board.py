"""The staff board: the newest states and those that wait for staff, and every change to them."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Generic

from prometheus_client import Gauge
from pydantic import JsonValue

from agents.app.app import App, View
from agents.app.parts import C, S
from agents.app.states import as_state_faults
from state.shared import Listed, SqlStore

logger = logging.getLogger(__name__)

MAX_SHOWN = 200
"""How many of the newest states staff see."""

MAX_SEARCHED = 5_000
"""How many of the newest states are searched for those that wait for staff, when a reader connects."""

POLL_S = 0.5
"""How often the database is polled for changes while a reader is connected, in seconds."""

KEEPALIVE_S = 15.0
"""How often a keep-alive is sent on an idle stream, in seconds."""

_QUEUE_SIZE = 500
"""How many events may wait for a slow reader before its stream ends; the client then opens another."""

_STREAM_END = ""
_KEEPALIVE = ": alive\n\n"


class Board(Generic[S, C]):
    """Watches the states for all readers, with one query at a time.

    It compares versions and needs no clock, so it finds the changes of every process. A state that cannot be
    shown is logged once and left out.

    Args:
        settings: Reads the settings that staff change while calls run.
    """

    def __init__(
        self,
        app: App[S, C],
        store: SqlStore,
        settings: Callable[[], Awaitable[Mapping[str, JsonValue]]],
        boards: Gauge,
    ) -> None:
        self._app = app
        self._store = store
        self._settings = settings
        self._open_boards = boards
        self._sent_settings: dict[str, JsonValue] = {}
        """The settings that the listeners were sent."""
        self._sent_versions: dict[str, tuple[int, int]] = {}
        """The version of each state that the listeners were sent, and its text's hash."""
        self._waiting: set[str] = set()
        """The states that wait for staff, however old, while there are listeners."""
        self._faulty: dict[str, int] = {}
        """The version of each state that was logged because it cannot be shown."""
        self._listeners: set[asyncio.Queue[str]] = set()
        self._poll_requested = asyncio.Event()
        self._starting = asyncio.Lock()
        self._polling: asyncio.Task[None] | None = None

    async def shown(self) -> list[View]:
        """Return the views of the newest states and of those that wait for staff, newest first.

        Raises:
            StateFaults: The database cannot be used.
        """
        return await self._views(await self._read_states())

    def poll_now(self) -> None:
        """Poll the database now: a state has just been changed."""
        self._poll_requested.set()

    def send(self, event: str, data: JsonValue) -> None:
        """Send an event to all readers."""
        self._broadcast(_format_event(event, data))

    def send_setting(self, name: str, value: JsonValue) -> None:
        """Send a setting to all readers."""
        self._sent_settings[name] = value
        self.send(name, value)

    def check_readers(self) -> None:
        """End the streams of readers who may no longer read."""
        self._broadcast(_KEEPALIVE)

    async def events(
        self, first: Callable[[], Mapping[str, JsonValue]], may_read: Callable[[], bool]
    ) -> AsyncIterator[str]:
        """Yield server-sent events: first all states, then each changed one.

        Args:
            first: Returns further fields of the first event.
            may_read: Whether the reader may still read; asked before each event.

        Raises:
            StateFaults: The database cannot be used.
        """
        queue: asyncio.Queue[str] = asyncio.Queue(_QUEUE_SIZE)
        self._listeners.add(queue)  # before reading, so that nothing is missed
        self._open_boards.inc()
        try:
            async with self._starting:
                if self._polling is None:
                    listed = await self._read_states()
                    await self._views(listed)
                    self._sent_versions = _versions(listed)
                    self._sent_settings = {**await self._settings()}
                    self._polling = asyncio.create_task(self._poll())
            yield _format_event("snapshot", {self._app.plural: list(await self.shown()), **first()})
            while True:
                try:
                    async with asyncio.timeout(KEEPALIVE_S):
                        event = await queue.get()
                except TimeoutError:
                    event = _KEEPALIVE
                if event == _STREAM_END or not may_read():
                    return
                yield event
        finally:
            self._open_boards.dec()
            self._listeners.discard(queue)
            if not self._listeners:
                await self._stop()

    async def aclose(self) -> None:
        """End all streams."""
        for queue in self._listeners:
            _end_stream(queue)
        self._listeners.clear()
        await self._stop()

    async def _stop(self) -> None:
        task, self._polling = self._polling, None
        self._sent_versions.clear()
        self._waiting.clear()
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _poll(self) -> None:
        failed = False
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await self._poll_requested.wait()
            self._poll_requested.clear()
            try:
                await self._send_changes()
            except Exception as error:  # after any error, readers still wait for later changes
                if not failed:
                    logger.warning("staff board not updated, retrying", exc_info=error)
                failed = True
            else:
                failed = False

    async def _send_changes(self) -> None:
        listed = await self._read_states()
        before, self._sent_versions = self._sent_versions, _versions(listed)
        none = (-1, 0)
        news = [one for one in listed if before.get(one.state_id, none)[0] != one.version]
        for view in await self._views(news):
            self.send(self._app.noun, view)
        for state_id, (version, text) in before.items():
            now_version, now_text = self._sent_versions.get(state_id, none)
            if now_version == version and now_text != text:  # rewritten: its user was erased
                self.send("removed", {f"{self._app.noun}_id": state_id})
        for name, value in (await self._settings()).items():
            if self._sent_settings.get(name) != value:
                self.send_setting(name, value)

    async def _read_states(self) -> list[Listed]:
        with as_state_faults(self._app.noun):
            if self._polling is None:
                found = await self._store.list(MAX_SEARCHED)
                return found[:MAX_SHOWN] + await asyncio.to_thread(
                    self._waiting_for_staff, found[MAX_SHOWN:]
                )
            newest = await self._store.list(MAX_SHOWN)
            older = self._waiting.difference(one.state_id for one in newest)
            return newest + (await self._store.list_of(older) if older else [])

    def _waiting_for_staff(self, listed: Sequence[Listed]) -> list[Listed]:
        found = []
        for one in listed:
            # A state that cannot be read does not wait for staff, so its age hides it.
            with suppress(Exception):
                if self._app.web.waits_for_staff(one.read(self._app.state_type)):
                    found.append(one)
        return found

    async def _views(self, listed: Sequence[Listed]) -> list[View]:
        views = []
        for one, view in zip(listed, await asyncio.to_thread(self._render, listed), strict=True):
            if isinstance(view, Exception):
                if self._faulty.get(one.state_id) != one.version:
                    self._faulty[one.state_id] = one.version
                    which = {"state_id": one.state_id, "version": one.version}
                    logger.warning("state not shown to staff", extra=which, exc_info=view)
                continue
            waits, shown = view
            (self._waiting.add if waits else self._waiting.discard)(one.state_id)
            views.append(shown)
        return views

    def _render(self, listed: Sequence[Listed]) -> list[tuple[bool, View] | Exception]:
        rendered: list[tuple[bool, View] | Exception] = []
        for one in listed:
            try:
                state = one.read(self._app.state_type)
                view = self._app.view_for_staff(state, one.version, one.speaker, one.state_id)
                rendered.append((self._app.web.waits_for_staff(state), view))
            except Exception as error:  # any type: the application's own functions are called here
                rendered.append(error)
        return rendered

    def _broadcast(self, event: str) -> None:
        for queue in tuple(self._listeners):
            try:
                queue.put_nowait(event)
            except asyncio.QueueFull:
                self._listeners.discard(queue)
                _end_stream(queue)


def _versions(listed: Sequence[Listed]) -> dict[str, tuple[int, int]]:
    return {one.state_id: (one.version, hash(one.state)) for one in listed}


def _end_stream(queue: "asyncio.Queue[str]") -> None:
    while not queue.empty():
        queue.get_nowait()
    queue.put_nowait(_STREAM_END)


def _format_event(name: str, data: JsonValue) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
