"""Erases personal data from all that a store keeps, and searches for what is left."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from state.shared.sql.access import StoreAccess

if TYPE_CHECKING:
    from state.shared.sql.erasure import Edit


class Eraser:
    """Erases from the states of one owner, or of all: ``SqlStore.eraser``.

    Args:
        access: Runs work on the states and the leases.
    """

    def __init__(self, access: StoreAccess) -> None:
        self._access = access

    async def search(self, matches: Callable[[str], bool]) -> "list[str]":
        """List the ids of the states with any stored text that matches.

        Args:
            matches: Called in the thread with every stored text: states and commands as JSON, keys, transcripts,
                places and users.

        Raises:
            JournalFault: The database cannot be used.
        """
        places = await self._access.in_leases(lambda leases: leases.matching(matches))
        return await self._access.in_states(
            lambda database: _erasure().search(database, self._access.owner, matches, places),
            timed=False,
        )

    async def files(self) -> "list[Path]":
        """Close the connection and list the database's files; a server's are not listed.

        Raises:
            JournalFault: The thread is stuck.
        """
        beside = await self._access.in_leases(lambda leases: leases.files())
        return [
            *await self._access.in_states(lambda database: _erasure().files(database), timed=False),
            *beside,
        ]

    async def rewrite(self, state_id: str, edit: "Edit", *, migrated: bool = True) -> None:
        """Rewrite everything stored of a state, and delete its transcript and its place.

        The present holder's next write raises ``TakenOver``, and it loses its lease. Deleted data can still be read
        in the database's files until ``wipe``.

        Args:
            state_id: Its id.
            edit: Takes a state as JSON text and the commands that led to it; returns both without what must be
                erased. Called in the thread.
            migrated: Whether it is brought into its present form first; otherwise all versions keep
                the form of the first.

        Raises:
            UnknownState: There is no state with this id.
            OtherOwner: It belongs to another owner.
            JournalFault: The database cannot be used, or a row of it is damaged.
        """
        there = await self._access.in_states(
            lambda database: _erasure().rewrite(database, state_id, edit, migrated), timed=False
        )
        if there:
            await self._access.in_leases(lambda leases: leases.end(there))

    async def last_said(self, before: datetime) -> datetime | None:
        """Return the time of the last transcript row before a time, aware; ``None`` if there is none.

        Raises:
            JournalFault: The database cannot be used.
        """
        return await self._access.in_states(
            lambda database: _erasure().last_said(database, self._access.owner, before)
        )

    async def drop_said(self, before: datetime) -> int:
        """Delete transcript rows older than a time, aware; return how many.

        Places whose lease expired before that time are deleted too.

        Raises:
            JournalFault: The database cannot be used.
        """
        left = await self._access.in_leases(lambda leases: leases.drop(before))
        await self._access.in_places(lambda places: places.drop(before, left))
        return await self._access.in_states(
            lambda database: _erasure().drop_said(database, self._access.owner, before)
        )

    async def drop_leases(self, matches: Callable[[str], bool]) -> int:
        """End the matching leases of places that no state was assigned to yet; return how many.

        Places with a state are deleted by ``rewrite``.

        Args:
            matches: Called in the thread with the names of the place and its holder.

        Raises:
            JournalFault: The database cannot be used.
        """
        found = await self._access.in_leases(lambda leases: leases.matching(matches))
        settled = {
            (one.owner, one.place)
            for one in await self._access.in_places(lambda places: places.all())
        }
        ended = [one for one in found if one not in settled]
        await self._access.in_leases(lambda leases: leases.end(ended))
        return len(ended)

    async def wipe(self) -> None:
        """Remove deleted data from the database files.

        A PostgreSQL server's WAL, replicas and backups are up to its administrator.

        Raises:
            JournalFault: The database cannot be used, or another program is reading it.
        """
        await self._access.in_states(lambda database: _erasure().wipe(database), timed=False)
        await self._access.in_leases(lambda leases: leases.wipe(), timed=False)


def _erasure() -> ModuleType:
    # Imports SQLAlchemy, so it is called in the thread.
    from state.shared.sql import erasure

    return erasure
