"""Settings that apply to all states of an owner and may change while calls run."""

import json
from collections.abc import Mapping

from pydantic import JsonValue
from sqlalchemy import Connection, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from state.shared.sql.connection import DatabaseConnection
from state.shared.sql.tables import encode, settings

_ALL = select(settings.c.name, settings.c.value).where(settings.c.owner == bindparam("of_owner"))
_DROP = delete(settings).where(
    settings.c.owner == bindparam("of_owner"), settings.c.name == bindparam("of_name")
)
_ONE = select(settings.c.value).where(
    settings.c.owner == bindparam("of_owner"), settings.c.name == bindparam("of_name")
)
_ADD = insert(settings)
_REPLACE = (
    update(settings)
    .where(
        settings.c.owner == bindparam("of_owner"),
        settings.c.name == bindparam("of_name"),
        settings.c.value == bindparam("old"),
    )
    .values(value=bindparam("new"))
)


def read_settings(db: DatabaseConnection, owner: str | None) -> dict[str, JsonValue]:
    """Return an owner's settings by name."""
    rows = db.run(
        lambda connection: connection.execute(_ALL, {"of_owner": owner}).all(), writes=False
    )
    return {name: json.loads(value) for name, value in rows}


def write_settings(
    db: DatabaseConnection, owner: str | None, values: Mapping[str, JsonValue]
) -> None:
    """Store settings by name; those that are not named stay as they are."""

    def write(connection: Connection) -> None:
        for name, value in values.items():
            connection.execute(_DROP, {"of_owner": owner, "of_name": name})
            row = {"owner": owner, "name": name, "value": encode(value)}
            connection.execute(_ADD, row)

    db.run(write, writes=True)


def replace_setting(
    db: DatabaseConnection, owner: str | None, name: str, seen: JsonValue, value: JsonValue
) -> bool:
    """Store a setting if it still has the value that was seen, ``None`` if it had none; returns whether it had."""
    key = {"of_owner": owner, "of_name": name}

    def replace(connection: Connection) -> bool:
        old = connection.execute(_ONE, key).scalar_one_or_none()
        if (None if old is None else json.loads(old)) != seen:
            return False
        if old is None:
            connection.execute(_ADD, {"owner": owner, "name": name, "value": encode(value)})
            return True
        # Another connection may have replaced it since it was read here.
        changed = connection.execute(_REPLACE, {**key, "old": old, "new": encode(value)})
        return changed.rowcount == 1

    try:
        return db.run(replace, writes=True)
    except IntegrityError:  # another connection has added it
        return False
