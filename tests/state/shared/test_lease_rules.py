"""In every order of takes, deaths, replacements, moves and releases the leases are right."""

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from state.shared import LeaseHeld, LeaseLost, SqlStore
from tests.state.properties.effort import tried

PLACES, HOLDERS, STATES = ("hall", "garden", "yard"), ("ann", "bob", "carl", "dora"), ("x", "y")
LASTS = 2.0

T = TypeVar("T")

places, holders, states = map(st.sampled_from, (PLACES, HOLDERS, STATES))


@dataclass(frozen=True)
class Row:
    """What should be known of a place."""

    holder: str | None
    until: datetime
    state_id: str | None = None


class Town(RuleBasedStateMachine):
    """Three programs at the same places, each with holders of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.now = datetime(2026, 11, 20, 19, 0, tzinfo=UTC)
        self.passed = 0.0
        """How much time has really gone by, in seconds, however the clock was set."""
        self.stores = [
            SqlStore(
                f"sqlite:///{Path(self.folder.name)}/boards.db",
                owner="club",
                schema=1,
                now=lambda: self.now,
            )
            for _ in range(3)
        ]
        for state_id in STATES:
            self.run(self.stores[0].create(state_id, lambda ordinal: "{}"))
        self.rows: dict[str, Row] = {}
        self.settled_by: dict[str, str] = {}
        self.believes: dict[tuple[str, str], float] = {}
        """Until when somebody may believe that a place is theirs, as far as they were told."""

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        for one in self.stores:
            self.run(one.close())
        self.runner.close()
        self.folder.cleanup()

    def program(self, holder: str) -> SqlStore:
        return self.stores[HOLDERS.index(holder) % len(self.stores)]

    @property
    def ends(self) -> datetime:
        return self.now + timedelta(seconds=LASTS)

    def mine(self, place: str, holder: str) -> Row | None:
        row = self.rows.get(place)
        return row if row is not None and row.holder == holder else None

    @rule(seconds=st.sampled_from([0.4, 1.0, LASTS, 61.0]))
    def time_goes_on(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.passed += seconds

    @rule(seconds=st.sampled_from([0.3, 3.0, 7200.0]))
    def the_clock_is_set_back(self, seconds: float) -> None:
        self.now -= timedelta(seconds=seconds)
        for place, row in self.rows.items():
            latest = self.ends if row.holder is not None else self.now
            self.rows[place] = replace(row, until=min(row.until, latest))

    @rule(place=places, holder=holders, dead=st.none() | holders)
    def takes(self, place: str, holder: str, dead: str | None) -> None:
        before = self.rows.get(place)
        free = before is None or before.holder in (None, holder, dead) or before.until <= self.now
        try:
            lease = self.run(
                self.program(holder).leases.take(place, holder, seconds=LASTS, supersedes=dead)
            )
        except LeaseHeld:
            assert not free
            return
        assert free
        assert lease.state_id == (before.state_id if before else None)
        self.rows[place] = Row(holder, self.ends, lease.state_id)
        self.believes[place, holder] = self.passed + LASTS
        if dead is not None and dead != holder:
            self.believes.pop((place, dead), None)

    @rule(place=places, holder=holders)
    def renews(self, place: str, holder: str) -> None:
        row = self.mine(place, holder)
        try:
            self.run(self.program(holder).leases.renew(place, holder, seconds=LASTS))
        except LeaseLost:
            assert row is None
            self.believes.pop((place, holder), None)
        else:
            assert row is not None
            self.rows[place] = replace(row, until=self.ends)
            self.believes[place, holder] = self.passed + LASTS

    @rule(place=places, holder=holders, state_id=states)
    def settles(self, place: str, holder: str, state_id: str) -> None:
        row = self.mine(place, holder)
        try:
            self.run(
                self.program(holder).leases.assign(place, holder, state_id=state_id, user="guest")
            )
        except LeaseLost:
            assert row is None
            return
        assert row is not None
        for elsewhere in PLACES:
            there = self.rows.get(elsewhere)
            if elsewhere != place and there is not None and there.state_id == state_id:
                self.moved(elsewhere, there)
        self.rows[place] = replace(row, state_id=state_id)
        self.settled_by[place] = holder

    def moved(self, place: str, there: Row) -> None:
        """A holder whose state moved elsewhere leaves; a later one may stay without it."""
        if there.holder in (None, self.settled_by[place]):
            del self.rows[place]
            # The next renewal tells it, within half a second; that much it may be wrong.
            self.believes.pop((place, there.holder or ""), None)
        else:
            self.rows[place] = replace(there, state_id=None)

    @rule(place=places, holder=holders)
    def finishes(self, place: str, holder: str) -> None:
        row = self.mine(place, holder)
        try:
            self.run(self.program(holder).leases.finish(place, holder))
        except LeaseLost:
            assert row is None
        else:
            assert row is not None
            self.rows[place] = replace(row, state_id=None)

    @rule(place=places, holder=holders, done=st.booleans())
    def leaves(self, place: str, holder: str, done: bool) -> None:
        row = self.mine(place, holder)
        self.run(self.program(holder).leases.release(place, holder, done=done))
        self.believes.pop((place, holder), None)
        if row is not None and done:
            del self.rows[place]
        elif row is not None:
            self.rows[place] = replace(row, holder=None, until=self.now)

    @invariant()
    def every_program_sees_the_same(self) -> None:
        lost = {place for place, row in self.rows.items() if row.until <= self.now}
        for store in self.stores:
            assert {lease.place for lease in self.run(store.leases.lost())} == lost
            found = {
                place: lease for place in PLACES if (lease := self.run(store.leases.at(place)))
            }
            seen = {
                place: Row(lease.holder, lease.until, lease.state_id)
                for place, lease in found.items()
            }
            assert seen == self.rows

    @invariant()
    def nobody_believes_a_place_to_be_theirs_that_is_somebody_elses(self) -> None:
        for place in PLACES:
            alive = [
                holder
                for (at, holder), until in self.believes.items()
                if at == place and until > self.passed
            ]
            assert len(alive) <= 1

    @invariant()
    def a_state_is_at_one_place(self) -> None:
        for state_id in STATES:
            at = [place for place, row in self.rows.items() if row.state_id == state_id]
            lease = self.run(self.stores[0].leases.of(state_id))
            assert [lease.place] == at if lease is not None else not at


Town.TestCase.settings = tried(25, steps=30)
TestTown = Town.TestCase
