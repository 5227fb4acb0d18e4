"""The journal's tables as they are now, and what seals a row of them.

Whoever changes a table writes a script in ``migrations/versions`` with it, and raises ``LAYOUT``; a test
compares the two.
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

LAYOUT = "0006"
"""The last migration; a database that is past it is left alone."""

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
"""How each state began, and who holds it."""

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
"""What was done to each state. The primary key is what makes a second writer fail instead of forking it."""

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
)
"""What was said while it was done. Not sealed: nothing is computed from it, and it is deleted in time."""

places = Table(
    "places",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("place", Text, primary_key=True),
    Column("state_id", Text, ForeignKey("states.state_id"), nullable=False, unique=True),
    Column("guest", Text),
    Column("holder", Text, nullable=False),
    Column("at", Text, nullable=False),
)
"""Which state is worked on at which place, for whom, and which holder settled it when. Not sealed: a row
goes when its call has ended."""

lease_metadata = MetaData()
"""The tables of the lease store: beside the others on a server, in a file of their own with SQLite.

There each is one tree: a process that is killed while it writes leaves no index behind that does not fit."""

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
"""Who holds which place until when; ``lasts`` is the time in seconds that the last renewal gave."""

withdrawn = Table(
    "withdrawn",
    lease_metadata,
    Column("owner", Text, primary_key=True),
    Column("holder", Text, primary_key=True),
    Column("at", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""The holders, as digests of their names, whose leases others ended: they do not begin them anew."""

first_layout = Table("journal_layout", metadata, Column("layout", Integer, primary_key=True))
"""How the first release told its layout. It stays, so that the first release knows it is too old."""

version_table = Table("journal_version", MetaData(), Column("version_num", Text, primary_key=True))
"""Where alembic marks the last migration; a database may hold other programs' tables, and their mark."""

_SEALED_STATE = ("state_id", "owner", "ordinal", "schema", "opened_at", "state", "speaker")
_SEALED_ENTRY = tuple(
    column.name for column in entries.columns if column.name not in ("checksum", "turn")
)

encode = json.JSONEncoder(default=repr, separators=(",", ":")).encode
"""Writes JSON as it is stored: compact, ASCII."""


def written(time: datetime) -> str:
    """Return a time as it is stored: texts of times are in the order of the times."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def seal_of_state(row: Mapping[str, Any]) -> str:
    """Return the checksum of how a state began."""
    return _seal(row, _SEALED_STATE)


def seal_of_entry(row: Mapping[str, Any]) -> str:
    """Return the checksum of an entry; one without a turn is sealed as before there were any."""
    return _seal(row, _SEALED_ENTRY if row["turn"] is None else (*_SEALED_ENTRY, "turn"))


def _seal(row: Mapping[str, Any], fields: Sequence[str]) -> str:
    said = encode([row[field] for field in fields])
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


def layout_of(connection: Connection) -> str | None:
    """Say which layout a database has; ``None`` when nothing was ever stored in it."""
    found = inspect(connection)
    if found.has_table(version_table.name):
        return connection.scalar(select(version_table.c.version_num))
    return "0001" if found.has_table(first_layout.name) else None
