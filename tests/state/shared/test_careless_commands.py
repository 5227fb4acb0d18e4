"""Commands that edit their arguments, name odd parts or raise odd errors harm no other change."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field

from state.shared import (
    Command,
    Entry,
    SharedState,
    SqlStore,
    Stale,
    TakenOver,
    Unstorable,
)
from state.shared.journal import VersionTaken
from state.shared.serialization import as_json, fingerprint
from tests.state.shared.board import Board, Paper, Rename, Score, board


class Drain(Command[Board, Any]):
    """Give each player a point, and edit the arguments meanwhile, as one must not."""

    op: Literal["drain"] = "drain"
    names: list[str]
    more: dict[str, int] = Field(default_factory=dict)

    def apply(self, state: Board, context: Any) -> Board:
        scores = dict(state.scores)
        while self.names:
            scores[self.names.pop()] = 1
        self.more["a"] = 1
        return state.model_copy(update={"scores": scores})


async def test_a_command_that_edited_its_arguments_is_refused_and_can_be_applied_again() -> None:
    shared, drain = board(), Drain(names=["ann", "bob"])

    for _ in range(2):
        with pytest.raises(TypeError, match="drain edited its own arguments"):
            await shared.apply(drain, actor="judge")

    assert (drain.names, drain.more) == (["ann", "bob"], {})
    assert (shared.version, shared.state) == (0, Board())


class DrainAnything(Drain):
    """Hold, besides, what no type tells."""

    anything: Any = None

    def apply(self, state: Board, context: Any) -> Board:
        if isinstance(self.anything, dict):
            self.anything["inner"].clear()
            return state
        return super().apply(state, context)


@pytest.mark.parametrize(
    "drain",
    [
        Drain(names=["ann"]),
        DrainAnything(names=["ann"]),
        DrainAnything(names=[], anything={"inner": [1]}),
    ],
    ids=["a list", "a list beside anything", "a list in anything"],
)
@pytest.mark.parametrize("key", [None, "once"])
async def test_a_command_that_loses_a_race_is_not_stored_without_its_arguments(
    drain: Drain, key: str | None
) -> None:
    def taken(entry: Entry) -> Exception | None:
        return VersionTaken() if entry.version <= len(paper.entries) else None

    paper = Paper(trouble=taken)
    shared = board(journal=paper)
    paper.somebody_wrote(Board(title="theirs"), touched=("title",))

    with pytest.raises(TypeError, match="its own arguments"):
        await shared.apply(drain, actor="judge", key=key)

    assert len(paper.entries) == 1


class Careless(Command[Board, Any]):
    """Rename the board, and name other parts than texts."""

    op: Literal["careless"] = "careless"
    touched: Any = Field(default=("title",), exclude=True)
    changed: Any = Field(default=("title",), exclude=True)

    def apply(self, state: Board, context: Any) -> Board:
        return state.model_copy(update={"title": "changed"})

    def touches(self, state: Board) -> Any:
        return self.touched

    def changes(self, before: Board, after: Board) -> Any:
        return self.changed


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ("title", "a text,"),
        (None, "NoneType,"),
        (7, "int,"),
        ((7,), "a part that is int,"),
        ((None,), "a part that is NoneType,"),
        (["title", ("a", "b")], "a part that is tuple,"),
        ({b"title"}, "a part that is bytes,"),
        ((Decimal(1),), "a part that is Decimal,"),
    ],
)
@pytest.mark.parametrize("where", ["touched", "changed"])
@pytest.mark.parametrize("journal", [True, False])
async def test_parts_that_are_no_texts_are_refused_before_they_disturb_others(
    where: str, parts: object, kind: str, journal: bool
) -> None:
    shared = board(journal=Paper() if journal else None)
    method = {"touched": "touches", "changed": "changes"}[where]

    with pytest.raises(TypeError, match=f"{method} of careless returned {kind}"):
        await shared.apply(Careless.model_validate({where: parts}), actor="judge")

    assert shared.version == 0
    await shared.apply(Score(name="ann"), actor="judge", seen=0)


async def test_any_iterable_of_texts_names_parts() -> None:
    shared = board()
    await shared.apply(Careless(touched=["title"], changed=iter(["title"])), actor="judge")

    with pytest.raises(Stale):
        await shared.apply(Rename(title="other"), actor="judge", seen=0)


class Elsewhere(Command[Board, Any]):
    """Need another state, which was taken over."""

    op: Literal["elsewhere"] = "elsewhere"

    async def prepare(self, context: Any) -> None:
        raise TakenOver

    def apply(self, state: Board, context: Any) -> Board:
        return state


async def test_another_state_that_was_taken_over_does_not_end_this_one() -> None:
    shared = board(journal=Paper())

    with pytest.raises(TakenOver):
        await shared.apply(Elsewhere(), actor="judge")

    assert not shared.taken_over
    await shared.apply(Score(name="ann"), actor="judge")


async def test_an_empty_key_is_a_key_in_the_next_process_too(tmp_path: Path) -> None:
    for _ in range(2):
        async with SqlStore(f"sqlite:///{tmp_path}/a.db", owner="club", schema=1) as store:
            shared = await SharedState.open(store, "a", Board(), None)
            beside = SharedState.restored(await store.read("a"), Board, None)
            for writer in (shared, beside):
                await writer.apply(Score(name="ann"), actor="judge", key="")
            assert (shared.version, shared.state.scores) == (1, {"ann": 1})


class Invite(Command[Board, Any]):
    op: Literal["invite"] = "invite"
    names: frozenset[str] = frozenset()
    groups: tuple[set[int], ...] = ()

    def apply(self, state: Board, context: Any) -> Board:
        return state


@pytest.mark.parametrize(
    ("said", "why"),
    [
        *[({"actor": actor}, "actor has to be a text") for actor in (5, 1.5, None, b"x", object())],
        *[({"key": key}, "key has to be a text") for key in (5, 1.5, b"x", ("a", 1))],
        ({"key": "ä" * 1_001}, "key has to be a text of at most 2000 bytes"),
        *[({name: odd}, "characters") for name in ("actor", "key") for odd in ("\ud800", "a\0b")],
    ],
)
@pytest.mark.parametrize("journal", [True, False])
async def test_an_actor_or_a_key_that_no_row_can_hold_is_refused(
    address: str, said: dict[str, Any], why: str, journal: bool
) -> None:
    async with SqlStore(address, owner="club", schema=1) as store:
        shared = await SharedState.open(store, "a", Board(), None) if journal else board()
        with pytest.raises(Unstorable, match=why):
            await shared.apply(Score(name="ann"), **{"actor": "judge", **said})
        await shared.apply(Score(name="bob"), actor="judge", key="ä" * 1_000)

        assert (shared.version, shared.state.scores) == (1, {"bob": 1})
        if journal:
            assert (await store.read("a")).read(Board) == shared.state


class Colliding(str):
    """A text whose place in a set depends on when it was added, as it does on the process otherwise."""

    def __hash__(self) -> int:
        return 1


def test_the_order_of_a_set_makes_no_other_request() -> None:
    names = [Colliding(name) for name in ("ann", "bob", "cid")]
    one, other = (
        Invite.model_construct(op="invite", names=frozenset(said), groups=({1},))
        for said in (names, names[::-1])
    )
    assert as_json([one]) != as_json([other])

    assert fingerprint([one], as_json([one])) == fingerprint([other], as_json([other]))
    listed = [Drain(names=said) for said in (["ann", "bob"], ["bob", "ann"])]
    assert len({fingerprint([drain], as_json([drain])) for drain in listed}) == 2


async def test_a_function_that_raises_stop_iteration_in_the_thread_is_answered(
    tmp_path: Path,
) -> None:
    async with SqlStore(f"sqlite:///{tmp_path}/a.db", owner="club", schema=1) as store:
        shared = await SharedState.open(store, "a", Board(), None)
        async with asyncio.timeout(20):
            with pytest.raises(RuntimeError, match="StopIteration"):
                await store.create("b", lambda ordinal: next(iter(())))
        await shared.apply(Score(name="ann"), actor="judge")
