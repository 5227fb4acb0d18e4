"""The connections of a store: one thread for the states' database, one for the lease store."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from state.shared.schema import Schema
from state.shared.sql.rows import Row
from state.shared.sql.thread import DatabaseThread

if TYPE_CHECKING:
    from state.shared.sql.database import Database
    from state.shared.sql.leases import Leases
    from state.shared.sql.places import Places

T = TypeVar("T")


class StoreAccess:
    """Runs work of a store in its threads.

    The lease store has a thread and a connection of its own, so that a renewal waits for no change of a state.
    SQLAlchemy is imported in the threads, when they are first needed.

    Args:
        url: The URL of the states' database.
        owner: The owner; ``None`` reads all owners' states.
        schema: The states' own schema.
        create: Whether a missing database is created.
        now: Returns the present time, aware.
    """

    def __init__(
        self,
        url: str,
        *,
        owner: str | None,
        schema: Schema,
        create: bool,
        now: Callable[[], datetime],
    ) -> None:
        self.owner = owner
        self.schema = schema
        self.fences: dict[str, int] = {}
        """The fencing numbers of the states held here."""
        self._now = now
        self._states = DatabaseThread(
            lambda: _open(url, owner=owner, schema=schema, create=create, now=now)
        )
        self._leases = DatabaseThread(lambda: _open_leases(url, owner, now))
        self._migrated = False

    def in_states(
        self, work: "Callable[[Database], T]", *, timed: bool = True
    ) -> "asyncio.Future[T]":
        """Run work on the states' database."""
        return self._states.ask(work, timed=timed)

    def write(self, row: Row) -> "asyncio.Future[None]":
        """Write rows of a state together with others that wait."""
        return self._states.write(row)

    def in_places(self, work: "Callable[[Places], T]") -> "asyncio.Future[T]":
        """Run work on the places, which are stored with the states."""
        return self._states.ask(lambda database: work(_places(database, self.owner, self._now)))

    async def in_leases(self, work: "Callable[[Leases], T]", *, timed: bool = True) -> T:
        """Run work on the lease store."""
        if not self._migrated:
            # This migrates the leases of an older release.
            await self.in_places(lambda places: places.check_connection(writes=False))
            self._migrated = True
        return await self._leases.ask(work, timed=timed)

    def start_in_leases(self, work: "Callable[[Leases], T]") -> "asyncio.Future[T]":
        """Start work on the lease store after ``in_leases`` has been used."""
        return self._leases.ask(work)

    def demand_owner(self, what: str) -> None:
        """Raise ``ValueError`` if the store has no owner."""
        if self.owner is None:
            raise ValueError(f"{what} needs an owner")

    async def close(self) -> None:
        """Finish all requests and close both."""
        await self._states.close()
        await self._leases.close()


def _open(url: str, **settings: Any) -> "Database":
    from state.shared.sql.database import Database

    return Database(url, **settings)


def _open_leases(url: str, owner: str | None, now: Callable[[], datetime]) -> "Leases":
    from state.shared.sql.leases import Leases

    return Leases(url, owner, now)


def _places(database: "Database", owner: str | None, now: Callable[[], datetime]) -> "Places":
    from state.shared.sql.places import Places

    return Places(database.db, owner, now)
