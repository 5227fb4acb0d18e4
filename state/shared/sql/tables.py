"""The journal's present tables, and the checksums of their rows.

To change a table, add a script to ``migrations/versions`` and raise ``LAYOUT``; a test compares the two.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
)

LAYOUT = "0008"
"""The latest migration; a database with a later one is not used."""

metadata = MetaData()

states = Table(
    "states",
    metadata,
    Column("state_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("schema", Integer, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("opened_at", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("speaker", Text),
    Column("checksum", Text, nullable=False),
    UniqueConstraint("owner", "ordinal"),
)
"""How each state began, and its present fence."""

entries = Table(
    "entries",
    metadata,
    Column("state_id", Text, ForeignKey("states.state_id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("commands", Text, nullable=False),
    Column("touched", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("speaker", Text),
    Column("actor", Text, nullable=False),
    Column("key", Text),
    Column("body", Text),
    Column("fence", BigInteger, nullable=False),
    Column("schema", Integer, nullable=False),
    Column("owner", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("checksum", Text, nullable=False),
    Column("turn", Integer),
    UniqueConstraint("state_id", "key"),
)
"""The changes of each state. The primary key makes a second writer fail instead of forking the state."""

moments = Table(
    "moments",
    metadata,
    Column("state_id", Text, ForeignKey("states.state_id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("at", Text, nullable=False, index=True),
    Column("turn", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("utterance", Text),
)
"""The transcript. No checksum: nothing is computed from it, and it is deleted after a time."""

places = Table(
    "places",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("place", Text, primary_key=True),
    Column("state_id", Text, ForeignKey("states.state_id"), nullable=False, unique=True),
    Column("guest", Text, key="user"),
    Column("holder", Text, nullable=False),
    Column("at", Text, nullable=False),
)
"""The state of each place, its user, the holder that assigned it, and the time. No checksum: a row is deleted
when its call has ended."""

last_states = Table(
    "last_states",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("guest", Text, key="user", primary_key=True),
    Column("state_id", Text, ForeignKey("states.state_id"), nullable=False),
    Column("at", Text, nullable=False),
)
"""The last state of each user, also after its call has ended. No checksum: nothing is computed from it."""

settings = Table(
    "owner_settings",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""The settings that apply to all states of an owner and may change while calls run, as JSON."""

lease_metadata = MetaData()
"""The tables of the lease store: on a server beside the others, with SQLite in a file of their own.

Each is a single B-tree there, so that a process killed while writing leaves no inconsistent index."""

leases = Table(
    "leases",
    lease_metadata,
    Column("owner", Text, primary_key=True),
    Column("place", Text, primary_key=True),
    Column("holder", Text),
    Column("since", Text, nullable=False),
    Column("until", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("lasts", Float, nullable=False),
    sqlite_with_rowid=False,
)
"""Each place's holder and expiry; ``lasts`` is the duration of the last renewal in seconds."""

withdrawn = Table(
    "withdrawn",
    lease_metadata,
    Column("owner", Text, primary_key=True),
    Column("holder", Text, primary_key=True),
    Column("at", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""Digests of holders whose leases others ended, so that they do not recreate them."""

first_layout = Table("journal_layout", metadata, Column("layout", Integer, primary_key=True))
"""The first release's layout mark. It stays, so that the first release knows it is too old."""

version_table = Table("journal_version", MetaData(), Column("version_num", Text, primary_key=True))
"""Alembic's version table, under a name of its own: the database may hold other programs' tables."""

_SEALED_STATE = ("state_id", "owner", "ordinal", "schema", "opened_at", "state", "speaker")
_SEALED_ENTRY = tuple(
    column.name for column in entries.columns if column.name not in ("checksum", "turn")
)

encode = json.JSONEncoder(default=repr, separators=(",", ":")).encode
"""Serializes JSON for storage: compact, ASCII."""


def written(time: datetime) -> str:
    """Format a time for storage; texts sort like the times."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def seal_of_state(row: Mapping[str, Any]) -> str:
    """Return the checksum of a state's first row."""
    return _seal(row, _SEALED_STATE)


def seal_of_entry(row: Mapping[str, Any]) -> str:
    """Return the checksum of an entry; without a turn it is the same as before turns were stored."""
    return _seal(row, _SEALED_ENTRY if row["turn"] is None else (*_SEALED_ENTRY, "turn"))


def _seal(row: Mapping[str, Any], fields: Sequence[str]) -> str:
    said = encode([row[field] for field in fields])
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


def layout_of(connection: Connection) -> str | None:
    """Return a database's layout; ``None`` if nothing was ever stored in it."""
    found = inspect(connection)
    if found.has_table(version_table.name):
        return connection.scalar(select(version_table.c.version_num))
    return "0001" if found.has_table(first_layout.name) else None
