"""The schema of stored states: the version of their form, and the migrations that lead to it."""

import json
import logging
import traceback
from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any, TypeAlias

from state.shared.errors import JournalFault

logger = logging.getLogger(__name__)

Migration: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""Takes a state as the JSON object of one schema, which it may edit, and returns that of the next schema."""


def schema_faults(schema: int, migrate: Mapping[int, Migration]) -> list[str]:
    """List what is wrong with a declaration of a schema and its migrations; empty if nothing is.

    Args:
        schema: The version of the states' form, from 1.
        migrate: A migration for each earlier version.
    """
    if type(schema) is not int or schema < 1:
        return [f"schema={schema!r} is not a version: the first one is 1"]
    known = {version for version in migrate if type(version) is int and 1 <= version < schema}
    faults = [
        f"migrate[{version!r}] does not lead to schema={schema}: raise schema, or remove it"
        for version in migrate
        if version not in known
    ]
    faults += [
        f"migrate[{version}] has to be a plain function of the JSON object"
        for version in sorted(known)
        if not callable(migrate[version]) or iscoroutinefunction(migrate[version])
    ]
    faults += [
        f"migrate[{version}] is missing: nothing leads from schema {version} to {version + 1}"
        for version in range(1, schema)
        if version not in known
    ]
    return faults


class Schema:
    """The present version of the states' form, and the migrations from earlier ones.

    Args:
        migrate: The migrations by the version they start from.

    Raises:
        ValueError: ``schema_faults`` finds something.
    """

    def __init__(self, version: int, migrate: Mapping[int, Migration]) -> None:
        if faults := schema_faults(version, migrate):
            raise ValueError("; ".join(faults))
        self.version = version
        self._migrate = dict(migrate)
        self._logged: set[str] = set()

    def migrated(self, state: str, version: int, what: str) -> str:
        """Return a stored state in its present form.

        Args:
            state: The state as JSON text.
            version: The version of its form, at most the present one.
            what: Its name for errors.

        Raises:
            JournalFault: A migration is missing or fails.
        """
        if version == self.version:
            return state
        form = json.loads(state)
        for step in range(version, self.version):
            migration = self._migrate.get(step)
            if migration is None:
                raise JournalFault(what, f"there is no migrate[{step}]")
            try:
                form = _step(migration, form)
                state = json.dumps(form, ensure_ascii=False)
            except _Failed as failure:
                why = f"migrate[{step}] {failure}"
            except (TypeError, ValueError, RecursionError):
                why = f"migrate[{step}] returned what JSON cannot represent"
            else:
                continue
            if why not in self._logged:  # a list reads every state; each fault names its own
                self._logged.add(why)
                logger.error("%s: %s", what, why)
            raise JournalFault(what, why)
        return state


class _Failed(Exception):
    """A migration did not do its work."""


def _step(migration: Migration, form: dict[str, Any]) -> dict[str, Any]:
    try:
        made: object = migration(form)
    except (Exception, SystemExit) as error:
        # Without the message: it may hold a user's words.
        why = f"failed: {type(error).__name__} in {_place(error, migration)}"
        raise _Failed(why) from None
    if not isinstance(made, dict):
        raise _Failed(f"returned no JSON object but {type(made).__name__}")
    return made


def _place(error: BaseException, migration: Migration) -> str:
    """Name the line of the migration that failed."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    if not frames:
        return getattr(migration, "__qualname__", type(migration).__name__)
    return f"{frames[0].name}, {frames[0].filename}:{frames[0].lineno}"
