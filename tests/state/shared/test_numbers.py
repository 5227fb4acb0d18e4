"""Numbers that no row can hold are refused with the field's name, and nothing else is lost."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from state.shared import (
    Command,
    HandOver,
    Moment,
    SharedState,
    SqlStore,
    Stale,
    StateError,
    Unstorable,
    write_state,
)

LONG = 10**5000
"""A number that Python does not write as a text."""


class Player(BaseModel):
    model_config = ConfigDict(frozen=True)

    points: int = 0


@dataclass(frozen=True)
class Stake:
    amount: int


class Game(BaseModel):
    model_config = ConfigDict(frozen=True)

    title: str = "Friday"
    best: int = 0
    players: tuple[Player, ...] = ()
    scores: Mapping[str, int] = Field(default_factory=dict)
    anything: Any = None


class Play(Command[Game, Any]):
    """Change the title, with a number that the command was given."""

    op: Literal["play"] = "play"
    best: int = 0
    rounds: tuple[dict[str, int], ...] = ()
    stake: Stake | None = None
    put: JsonValue = None

    def apply(self, state: Game, context: Any) -> Game:
        return state.model_copy(update={"title": f"played {self.best}"})


class Put(Command[Game, Any]):
    """Set a field to what the context holds."""

    op: Literal["put"] = "put"
    field: str

    def apply(self, state: Game, context: Any) -> Game:
        return state.model_copy(update={self.field: context[self.field]})


COMMANDS: list[tuple[Command[Game, Any], str]] = [
    (Play(best=LONG), "play.best is"),
    (Play(best=-LONG), "play.best is"),
    (Play(rounds=({"ann": 1}, {"ann": LONG})), "play.rounds"),
    (Play(put={"ann": [LONG]}), "play.put"),
    (Play(stake=Stake(LONG)), "play.stake.* is"),
    (HandOver(target="umpire", arguments={"limit": LONG}), "hand_over.arguments.* is"),
]

STATES: dict[str, object] = {
    "best": LONG,
    "players": (Player(), Player.model_construct(points=LONG)),
    "scores": {"ann": LONG},
    "anything": {"ann": [LONG]},
}


@pytest.mark.parametrize("key", [None, "k1"])
async def test_a_number_too_long_to_write_is_refused_with_its_name(
    address: str, key: str | None
) -> None:
    async with SqlStore(address, owner="club", schema=1) as store:
        shared = await SharedState.open(store, "a", Game(), STATES)
        for command, place in COMMANDS:
            with pytest.raises(Unstorable) as refusal:
                await shared.apply(command, actor="judge", key=key)
            assert place in str(refusal.value), place
            assert "a number that is too long" in str(refusal.value)
            json.dumps(dict(refusal.value.facts))
        for field in STATES:
            with pytest.raises(Unstorable, match=rf"\({field}\b.* is a number that is too long\)"):
                await shared.apply(Put(field=field), actor="judge", key=key)
        assert (shared.version, shared.state) == (0, Game())

        await shared.apply(Play(best=3), actor="judge", key=key)
        assert (await store.read("a")).read(Game).title == "played 3"


async def test_the_same_is_refused_without_a_journal() -> None:
    shared = SharedState(Game(), STATES)
    for command, place in COMMANDS:
        with pytest.raises(Unstorable) as refusal:
            await shared.apply(command, actor="judge")
        assert place in str(refusal.value)
    for field in STATES:
        with pytest.raises(Unstorable, match=field):
            await shared.apply(Put(field=field), actor="judge")
    assert shared.version == 0


@pytest.mark.parametrize("field", STATES)
async def test_a_new_state_with_such_a_number_is_refused_with_its_name(
    address: str, field: str
) -> None:
    spoilt = Game.model_construct(**{**Game().__dict__, field: STATES[field]})
    with pytest.raises(Unstorable, match=rf"\({field}\b"):
        write_state(spoilt)
    async with SqlStore(address, owner="club", schema=1) as store:
        with pytest.raises(Unstorable, match=rf"\({field}\b"):
            await SharedState.open(store, "a", spoilt, None)
        assert await store.list() == []


@pytest.mark.parametrize("name", ["turn", "seen"])
@pytest.mark.parametrize(
    "number",
    [2**31, 2**70, -(2**70), LONG, "3", 1.5],
    ids=["32 bits", "70", "-70", "long", "text", "float"],
)
async def test_a_turn_or_version_that_no_row_holds_is_refused_by_name(
    address: str, name: str, number: Any
) -> None:
    async with SqlStore(address, owner="club", schema=1) as store:
        shared = await SharedState.open(store, "a", Game(), None)
        others = [
            asyncio.create_task(shared.apply(Play(best=best), actor="judge", turn=best))
            for best in (1, 2)
        ]
        stale = name == "seen" and number == 2**31  # a version that is still to come
        numbered: dict[str, Any] = {name: number}
        with pytest.raises(
            Stale if stale else Unstorable,
            match=None if stale else rf"\({name} has to be a whole number",
        ):
            await shared.apply(Play(), actor="judge", **numbered)
        await asyncio.gather(*others)
        entries = (await store.read("a")).entries
        assert [entry.turn for entry in entries] == [1, 2]


async def test_what_was_said_and_settings_hold_no_such_number(address: str) -> None:
    async with SqlStore(address, owner="club", schema=1) as store:
        await SharedState.open(store, "a", Game(), None)
        for number in (2**70, LONG):
            with pytest.raises(StateError, match="turn"):
                await store.record(
                    "a", Moment(1, "heard", "user", "Hello"), Moment(number, "heard", "user", "Yes")
                )
        assert await store.said("a") == []
        with pytest.raises(StateError, match=r"limit\.\* is"):
            await store.set_settings({"open": True, "limit": {"points": LONG}})
        with pytest.raises(StateError, match="limit is"):
            await store.replace_setting("limit", None, LONG)
        assert await store.settings() == {}


async def test_a_number_as_long_as_can_be_read_back_is_stored(address: str) -> None:
    long = 10**4000
    async with SqlStore(address, owner="club", schema=1) as store:
        shared = await SharedState.open(store, "a", Game(), {"best": long})
        await shared.apply(Put(field="best"), Play(best=long), actor="judge", turn=2**31 - 1)
        found = await store.read("a")
        assert (found.read(Game).best, found.entries[0].turn) == (long, 2**31 - 1)
