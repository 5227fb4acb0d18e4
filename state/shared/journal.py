"""What a shared state writes down before anybody hears that it is done."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import JsonValue

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a journal: what was asked, by whom, and the state it led to.

    Args:
        version: The version this entry made; the first one is 1.
        commands: The commands as JSON objects, each with its ``op``.
        state: The whole resulting state as JSON text.
        speaker: Who speaks after it.
        actor: Who wrote it.
        key: The writer's idempotency key, if he gave one.
        body: A fingerprint of what came with that key.
    """

    version: int
    commands: tuple[dict[str, JsonValue], ...]
    state: str
    speaker: str | None
    actor: str
    key: str | None = None
    body: str | None = None


class VersionTaken(Exception):
    """Somebody who need not hold the state wrote this version first: reload and try again."""


class Journal(Protocol):
    """One state's journal, held by this process."""

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        """Start writing an entry down; the future ends when it is on disk, or when it never will be.

        The future must end by itself, whoever waits for it or stops waiting.

        Raises (through the future):
            NotStored: It could not be written; the journal is as before.
            VersionTaken: The version exists under this holder's own fence.
            TakenOver: Another process holds the state.
        """
        ...

    async def after(self, version: int) -> Sequence[Entry]:
        """Read the entries above a version, oldest first."""
        ...


async def to_the_end(future: "asyncio.Future[T]") -> T:
    """Wait for what is already under way, even when the one who waits is cancelled.

    A row that is on its way to the disk cannot be called back. Who is cancelled meanwhile gets the
    true outcome instead of the cancellation (asyncio.timeout then does not raise: CPython 3.11).
    """
    while not future.done():
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError:
            if future.cancelled():
                raise
        except Exception:  # noqa: BLE001 - the same exception is raised by result() below
            break
    return future.result()
