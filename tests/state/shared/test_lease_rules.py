"""Whoever comes to which place when, dies, is replaced, moves and leaves: the leases are never wrong."""

import tempfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from state.shared import Held, Lost
from state.shared.sql.database import Database
from state.shared.sql.leases import Leases
from tests.state.properties.effort import tried

PLACES, HOLDERS, STATES = ("hall", "garden", "yard"), ("ann", "bob", "carl", "dora"), ("x", "y")
LASTS = 2.0

places, holders, states = map(st.sampled_from, (PLACES, HOLDERS, STATES))
programs = st.integers(0, 2)


@dataclass(frozen=True)
class Row:
    """What should be known of a place."""

    holder: str | None
    until: datetime
    state_id: str | None = None


class Town(RuleBasedStateMachine):
    """Three programs at the same places."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.now = datetime(2026, 11, 20, 19, 0, tzinfo=UTC)
        self.databases = [
            Database(
                f"sqlite:///{Path(self.folder.name)}/boards.db",
                owner="club",
                schema=1,
                create=True,
                now=lambda: self.now,
            )
            for _ in range(3)
        ]
        self.leases = [Leases(one.link, "club", lambda: self.now) for one in self.databases]
        for state_id in STATES:
            self.databases[0].create(state_id, lambda ordinal: "{}", None)
        self.rows: dict[str, Row] = {}
        self.believes: dict[tuple[str, str], datetime] = {}
        """Until when somebody may believe that a place is his, as far as he was told."""

    def teardown(self) -> None:
        for one in self.databases:
            one.close()
        self.folder.cleanup()

    @property
    def ends(self) -> datetime:
        return self.now + timedelta(seconds=LASTS)

    def mine(self, place: str, holder: str) -> Row | None:
        row = self.rows.get(place)
        return row if row is not None and row.holder == holder else None

    @rule(seconds=st.sampled_from([0.4, 1.0, LASTS, 61.0]))
    def time_goes_on(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(by=programs, place=places, holder=holders, dead=st.none() | holders)
    def takes(self, by: int, place: str, holder: str, dead: str | None) -> None:
        before = self.rows.get(place)
        free = before is None or before.holder in (None, holder, dead) or before.until <= self.now
        try:
            lease = self.leases[by].take(place, holder, LASTS, dead)
        except Held:
            assert not free
            return
        assert free
        assert lease.state_id == (before.state_id if before else None)
        self.rows[place] = Row(holder, self.ends, lease.state_id)
        self.believes[place, holder] = self.ends
        if dead is not None and dead != holder:
            self.believes.pop((place, dead), None)

    @rule(by=programs, place=places, holder=holders)
    def renews(self, by: int, place: str, holder: str) -> None:
        row = self.mine(place, holder)
        try:
            self.leases[by].renew(place, holder, LASTS)
        except Lost:
            assert row is None
            self.believes.pop((place, holder), None)
        else:
            assert row is not None
            self.rows[place] = replace(row, until=self.ends)
            self.believes[place, holder] = self.ends

    @rule(by=programs, place=places, holder=holders, state_id=states)
    def settles(self, by: int, place: str, holder: str, state_id: str) -> None:
        row = self.mine(place, holder)
        try:
            self.leases[by].settle(place, holder, state_id, "guest", None)
        except Lost:
            assert row is None
            return
        assert row is not None
        for elsewhere in PLACES:
            there = self.rows.get(elsewhere)
            if elsewhere != place and there is not None and there.state_id == state_id:
                del self.rows[elsewhere]
                # His next renewal tells him, within half a second; that much he may be wrong.
                self.believes.pop((elsewhere, there.holder or ""), None)
        self.rows[place] = replace(row, state_id=state_id)

    @rule(by=programs, place=places, holder=holders, done=st.booleans())
    def leaves(self, by: int, place: str, holder: str, done: bool) -> None:
        row = self.mine(place, holder)
        self.leases[by].leave(place, holder, done=done)
        self.believes.pop((place, holder), None)
        if row is not None and done:
            del self.rows[place]
        elif row is not None:
            self.rows[place] = replace(row, holder=None, until=self.now)

    @invariant()
    def every_program_sees_the_same(self) -> None:
        for leases in self.leases:
            found = {place: lease for place in PLACES if (lease := leases.at(place))}
            seen = {
                place: Row(lease.holder, lease.until, lease.state_id)
                for place, lease in found.items()
            }
            assert seen == self.rows
        lost = {place for place, row in self.rows.items() if row.until <= self.now}
        assert {lease.place for lease in self.leases[0].lost()} == lost

    @invariant()
    def nobody_believes_a_place_to_be_his_that_is_somebody_elses(self) -> None:
        for place in PLACES:
            alive = [
                holder
                for (at, holder), until in self.believes.items()
                if at == place and until > self.now
            ]
            assert len(alive) <= 1

    @invariant()
    def a_state_is_at_one_place(self) -> None:
        for state_id in STATES:
            at = [place for place, row in self.rows.items() if row.state_id == state_id]
            lease = self.leases[0].of(state_id)
            assert [lease.place] == at if lease is not None else not at


Town.TestCase.settings = tried(25, steps=30)
TestTown = Town.TestCase
