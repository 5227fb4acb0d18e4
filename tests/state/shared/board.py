"""A score board as a state, and a journal that a test plays: the basis of the tests of shared state."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from state.shared import WHOLE, Command, Entry, NotStored, Refused, SharedState, StoredState


class Board(BaseModel):
    """Who has how many points."""

    model_config = ConfigDict(frozen=True)

    title: str = "Friday"
    scores: Mapping[str, int] = {}


class Score(Command[Board, Any]):
    """Give points to a player."""

    op: Literal["score"] = "score"
    name: str
    by: int = 1

    def apply(self, state: Board, context: Any) -> Board:
        if self.by > 100:
            raise Refused("Nobody scores that much.", by=self.by)
        points = state.scores.get(self.name, 0) + self.by
        return state.model_copy(update={"scores": {**state.scores, self.name: points}})

    def touches(self, state: Board) -> tuple[str, ...]:
        return (f"scores/{self.name}",)


class Rename(Command[Board, Any]):
    """Give the board another title."""

    op: Literal["rename"] = "rename"
    title: str = Field(max_length=80)

    def apply(self, state: Board, context: Any) -> Board:
        return state.model_copy(update={"title": self.title})

    def touches(self, state: Board) -> tuple[str, ...]:
        return ("title",)


class Wipe(Command[Board, Any]):
    """Start over."""

    op: Literal["wipe"] = "wipe"

    def apply(self, state: Board, context: Any) -> Board:
        return state.model_copy(update={"scores": {}})

    def touches(self, state: Board) -> tuple[str, ...]:
        return (WHOLE,)


class Stumble(Command[Board, Any]):
    """Fail in the middle, as a programmer's mistake does."""

    op: Literal["stumble"] = "stumble"

    def apply(self, state: Board, context: Any) -> Board:
        raise ZeroDivisionError


class Paper:
    """A journal in memory that takes as many rounds of the event loop as it is told.

    Args:
        rounds: How long an entry is on its way.
        trouble: Asked for each entry; what it returns is raised instead of writing.
    """

    def __init__(
        self, rounds: int = 0, trouble: Callable[[Entry], Exception | None] = lambda entry: None
    ) -> None:
        self.entries: list[Entry] = []
        self.rounds = rounds
        self.trouble = trouble
        self.reading: asyncio.Future[None] | None = None

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()

        def go_on(left: int) -> None:
            if left:
                loop.call_soon(go_on, left - 1)
            elif entry.gate is not None and not entry.gate.begin():
                written.set_exception(NotStored("withdrawn"))
            elif (why := self.trouble(entry)) is not None:
                written.set_exception(why)
            else:
                self.entries.append(entry)
                written.set_result(None)

        loop.call_soon(go_on, self.rounds)
        return written

    async def after(self, version: int) -> Sequence[Entry]:
        for _ in range(self.rounds):
            await asyncio.sleep(0)
        return [entry for entry in self.entries if entry.version > version]

    def somebody_wrote(
        self, state: Board, *, touched: tuple[str, ...], key: str | None = None
    ) -> None:
        """Put an entry there that did not come from the state under test."""
        self.entries.append(
            Entry(
                version=len(self.entries) + 1,
                commands=({"op": "rename", "title": state.title},),
                state=state.model_dump_json(),
                speaker="staff",
                actor="staff",
                key=key,
                body="theirs" if key else None,
                touched=touched,
            )
        )


def board(**settings: Any) -> SharedState[Board, None]:
    """A shared board, empty."""
    return SharedState(Board(), None, **settings)


def points(shared: SharedState[Board, Any]) -> int:
    """All points on a board."""
    return sum(shared.state.scores.values())


def stored_from(paper: Paper) -> StoredState:
    """What a paper would give back when it is opened later."""
    return StoredState(
        state_id="friday",
        ordinal=1,
        opened_at=datetime(2026, 11, 20, tzinfo=UTC),
        initial=Board().model_dump_json(),
        first_speaker="ann",
        entries=tuple(paper.entries),
        journal=paper,
    )
