"""A database as the first release left it: its tables, and rows in them, in plain SQL."""

import hashlib
import json
from typing import Any

from tests.state.shared.by_hand import Hand

TABLES = (
    "CREATE TABLE journal_layout (layout INTEGER NOT NULL, PRIMARY KEY (layout))",
    "CREATE TABLE states (state_id TEXT NOT NULL, owner TEXT NOT NULL, ordinal INTEGER NOT NULL,"
    " schema INTEGER NOT NULL, fence BIGINT NOT NULL, opened_at TEXT NOT NULL, state TEXT NOT NULL,"
    " speaker TEXT, checksum TEXT NOT NULL, PRIMARY KEY (state_id), UNIQUE (owner, ordinal))",
    "CREATE TABLE entries (state_id TEXT NOT NULL, version INTEGER NOT NULL, commands TEXT NOT NULL,"
    " touched TEXT NOT NULL, state TEXT NOT NULL, speaker TEXT, actor TEXT NOT NULL, key TEXT,"
    " body TEXT, fence BIGINT NOT NULL, schema INTEGER NOT NULL, owner TEXT NOT NULL,"
    " at TEXT NOT NULL, checksum TEXT NOT NULL, PRIMARY KEY (state_id, version),"
    " FOREIGN KEY (state_id) REFERENCES states (state_id), UNIQUE (state_id, key))",
    "INSERT INTO journal_layout (layout) VALUES (1)",
)
STATES: tuple[dict[str, Any], ...] = (
    {
        "state_id": "a",
        "owner": "club",
        "ordinal": 1,
        "schema": 1,
        "opened_at": "2026-11-20T19:00:00.000000+00:00",
        "state": '{"title":"Friday","scores":{}}',
        "speaker": "ann",
    },
    {
        "state_id": "b",
        "owner": "other club",
        "ordinal": 1,
        "schema": 1,
        "opened_at": "2026-11-20T19:05:00.000000+00:00",
        "state": '{"title":"Žižek","scores":{}}',
        "speaker": None,
    },
)
ENTRIES: tuple[dict[str, Any], ...] = (
    {
        "state_id": "a",
        "version": 1,
        "commands": '[{"op":"score","name":"ann","by":1}]',
        "touched": '["scores/ann"]',
        "state": '{"title":"Friday","scores":{"ann":1}}',
        "speaker": "ann",
        "actor": "page",
        "key": "k",
        "body": "ab" * 32,
        "fence": 1,
        "schema": 1,
        "owner": "club",
        "at": "2026-11-20T19:01:00.000000+00:00",
    },
    {
        "state_id": "a",
        "version": 2,
        "commands": '[{"op":"hand_over","source":"ann","target":"bob"}]',
        "touched": "[]",
        "state": '{"title":"Friday","scores":{"ann":1}}',
        "speaker": "bob",
        "actor": "ann",
        "key": None,
        "body": None,
        "fence": 2,
        "schema": 1,
        "owner": "club",
        "at": "2026-11-20T19:02:00.000000+00:00",
    },
)


def first_release(hand: Hand) -> None:
    """Make such a database of an empty one."""
    for statement in TABLES:
        hand(statement)
    for row in STATES:
        _insert(hand, "states", {**row, "checksum": _checksum(row), "fence": 2})
    for row in ENTRIES:
        _insert(hand, "entries", {**row, "checksum": _checksum(row)})


def _checksum(row: dict[str, Any]) -> str:
    said = json.dumps(list(row.values()), separators=(",", ":"))
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


def _insert(hand: Hand, table: str, row: dict[str, Any]) -> None:
    values = ("NULL" if value is None else f"'{value}'" for value in row.values())
    hand(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(values)})")


SECOND_LAYOUT = (
    "CREATE TABLE moments (state_id TEXT NOT NULL, position INTEGER NOT NULL, at TEXT NOT NULL,"
    " turn INTEGER NOT NULL, kind TEXT NOT NULL, who TEXT NOT NULL, text TEXT NOT NULL,"
    " PRIMARY KEY (state_id, position), FOREIGN KEY (state_id) REFERENCES states (state_id))",
    "CREATE INDEX ix_moments_at ON moments (at)",
    "INSERT INTO moments (state_id, position, at, turn, kind, who, text)"
    " VALUES ('a', 1, '2026-11-20T19:01:00.000000+00:00', 1, 'heard', 'guest', 'Good evening')",
    "UPDATE journal_layout SET layout = 2",
    "CREATE TABLE journal_version (version_num VARCHAR(32) NOT NULL,"
    " CONSTRAINT journal_version_pkc PRIMARY KEY (version_num))",
    "INSERT INTO journal_version (version_num) VALUES ('0002')",
)


def second_layout(hand: Hand) -> None:
    """Make a database of an empty one as it was when what was said was first kept."""
    first_release(hand)
    for statement in SECOND_LAYOUT:
        hand(statement)


FOURTH_LAYOUT = (
    "CREATE TABLE leases (owner TEXT NOT NULL, place TEXT NOT NULL, holder TEXT, since TEXT NOT NULL,"
    " until TEXT NOT NULL, state_id TEXT, guest TEXT, tries INTEGER NOT NULL, PRIMARY KEY (owner, place),"
    " FOREIGN KEY (state_id) REFERENCES states (state_id), UNIQUE (state_id))",
    "ALTER TABLE entries ADD COLUMN turn INTEGER",
    "UPDATE journal_layout SET layout = 4",
    "UPDATE journal_version SET version_num = '0004'",
    "INSERT INTO leases (owner, place, holder, since, until, state_id, guest, tries) VALUES"
    " ('club', 'hall', 'AJ_1', '2026-11-20T19:00:00.000000+00:00', '2026-11-20T19:05:02.000000+00:00',"
    " 'a', 'guest of a', 2),"
    " ('club', 'garden', 'AJ_2', '2026-11-20T19:05:00.000000+00:00', '2026-11-20T19:05:02.000000+00:00',"
    " NULL, NULL, 0),"
    " ('other club', 'hall', NULL, '2026-11-20T18:00:00.000000+00:00', '2026-11-20T18:30:00.000000+00:00',"
    " 'b', NULL, 1)",
)


def fourth_layout(hand: Hand) -> None:
    """Make a database of an empty one as it was when the leases were kept with the states."""
    second_layout(hand)
    for statement in FOURTH_LAYOUT:
        hand(statement)
