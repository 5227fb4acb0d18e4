"""Processes that hold one state, write, are overtaken, stopped, woken and killed, in any order of events.

Whatever the order: only who took it last writes, and staff beside him; versions follow one another; what
was acknowledged is there.
"""

import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from state.shared import JournalFault, SharedState, SqlStore
from tests.state.shared.board import Board, Score
from tests.state.shared.by_hand import by_hand

ROOT = Path(__file__).parents[3]
EMPTY = Board().model_dump_json()


class Actor:
    """A process that does what it is told; one that was killed comes back as another."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self._arguments = [
            sys.executable,
            "-W",
            "error",
            "-m",
            "tests.state.shared.actor",
            name,
            url,
        ]
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._arguments, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def told(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def asked(self, line: str) -> str:
        self.told(line)
        return self.answer()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGSTOP)
        self.stopped()

    def stopped(self) -> None:
        """Wait until it stands still."""
        assert os.WIFSTOPPED(os.waitpid(self._process.pid, os.WUNTRACED)[1])

    def wake(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def killed(self) -> None:
        self.end()
        self._start()


@pytest.fixture
def actors(address: str) -> Iterator[Callable[[str], Sequence[Actor]]]:
    begun: list[Actor] = []

    def begin(names: str) -> Sequence[Actor]:
        begun.extend(Actor(name, address) for name in names)
        return begun

    yield begin
    for actor in begun:
        actor.end()


@pytest.fixture
async def store(address: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqlStore]:
    from state.shared.sql import dialects, thread

    monkeypatch.setattr(dialects, "BUSY_S", 0.1 if address.startswith("sqlite") else 10.0)
    monkeypatch.setattr(thread, "LOCK_S", 0.1)
    async with SqlStore(address, owner="club", schema=1) as store:
        yield store


@dataclass
class Model:
    """What must come of it, for one board: who holds it, and who wrote each version."""

    written: list[str] = field(default_factory=list)
    holder: str | None = None
    asleep: dict[str, list[str]] = field(default_factory=dict)
    """What those who stand still were told meanwhile."""

    def does(self, name: str, line: str) -> str:
        """What an actor answers."""
        if line.startswith("take"):
            self.holder = name
        elif self.holder != name:
            return "taken_over"
        else:
            self.written.append(name)
        return str(len(self.written))


async def play(
    moves: random.Random, store: SqlStore, actors: Sequence[Actor], board: str, kills: int
) -> None:
    """Play a dozen random events on one board, and look at every answer."""
    model = Model()
    await store.create(board, lambda ordinal: EMPTY)
    for actor in actors:
        assert actor.asked(f"take {board}") == model.does(actor.name, "take")
    staff = SharedState.restored(await store.read(board), Board, None)
    names = {actor.name: actor for actor in actors}
    events = ["write"] * 4 + ["take"] * 2 + ["stop", "wake", "staff"]
    drawn = [moves.choice(events) for _ in range(14 - kills)] + ["kill"] * kills
    moves.shuffle(drawn)
    story: list[str] = []
    for event in drawn:
        name = moves.choice(sorted(names))
        actor = names[name]
        story.append(f"{event} {name}")
        if event == "staff":
            applied = await staff.apply(Score(name="staff"), actor="staff")
            model.written.append("staff")
            assert applied.version == len(model.written), story
        elif event == "kill":
            actor.killed()
            model.asleep.pop(name, None)
            assert actor.asked(f"take {board}") == model.does(name, "take"), story
        elif event == "stop" and name not in model.asleep:
            actor.stop()
            model.asleep[name] = []
        elif event in ("write", "take"):
            line = f"take {board}" if event == "take" else event
            if name in model.asleep:
                actor.told(line)
                model.asleep[name].append(line)
            else:
                assert actor.asked(line) == model.does(name, line), story
        elif event == "wake":
            _wake(actor, model, story)
    for name in tuple(model.asleep):
        _wake(names[name], model, [*story, f"at last wake {name}"])
    stored = await store.read(board)
    assert [entry.actor for entry in stored.entries] == model.written, story
    assert [entry.version for entry in stored.entries] == list(range(1, len(model.written) + 1))
    assert Board.model_validate_json(stored.state).scores == {
        name: model.written.count(name) for name in set(model.written)
    }


def _wake(actor: Actor, model: Model, story: list[str]) -> None:
    actor.wake()
    for line in model.asleep.pop(actor.name, []):
        assert actor.answer() == model.does(actor.name, line), story


@pytest.mark.processes
async def test_only_the_last_holder_writes_in_any_order_of_events(
    store: SqlStore, actors: Callable[[str], Sequence[Actor]]
) -> None:
    moves = random.Random(20261120)
    cast = actors("abc")

    for game in range(12):
        await play(moves, store, cast[game % 2 :], f"board-{game}", kills=0)
    await play(moves, store, cast, "board-12", kills=1)


@pytest.mark.processes
async def test_three_competing_holders_lose_and_fork_nothing(
    store: SqlStore, address: str, actors: Callable[[str], Sequence[Actor]]
) -> None:
    cast = actors("abc")
    board = "fight"
    await store.create(board, lambda ordinal: EMPTY)
    acknowledged: dict[int, str] = {}
    refused = 0
    for _ in range(6):
        for actor in cast:
            actor.told(f"take {board}")
            for _ in range(3):
                actor.told("write")
        for actor in cast:
            actor.answer()
            for _ in range(3):
                answer = actor.answer()
                if answer.isdigit():
                    assert int(answer) not in acknowledged
                    acknowledged[int(answer)] = actor.name
                else:
                    assert answer == "taken_over"
                    refused += 1

    stored = await store.read(board)
    with by_hand(address) as hand:
        fences = hand("SELECT fence, actor FROM entries ORDER BY version")
    assert {entry.version: entry.actor for entry in stored.entries} == acknowledged
    assert [fence for fence, _ in fences] == sorted(fence for fence, _ in fences)
    assert len({fence for fence, _ in fences}) == len(set(fences))
    assert len(acknowledged) + refused == 6 * 9


class TestInTheMiddleOfACommit:
    """One is stopped between its write and its commit: it holds the row lock, or the file lock."""

    @pytest.fixture
    async def older(
        self, store: SqlStore, actors: Callable[[str], Sequence[Actor]]
    ) -> AsyncIterator[Actor]:
        await store.create("a", lambda ordinal: EMPTY)
        (older,) = actors("a")
        assert older.asked("take a") == "0"
        assert older.asked("write") == "1"
        older.told("stand still")
        older.told("write")
        older.stopped()
        yield older
        older.wake()

    @pytest.mark.processes
    async def test_the_holder_is_killed(self, store: SqlStore, older: Actor) -> None:
        older.end()
        newer = SharedState.restored(await store.take("a"), Board, None)
        await newer.apply(Score(name="newer"), actor="newer")

        stored = await store.read("a")
        assert [entry.actor for entry in stored.entries] == ["a", "newer"]

    @pytest.mark.processes
    async def test_the_holder_is_resumed(self, store: SqlStore, older: Actor, address: str) -> None:
        if address.startswith("sqlite"):
            # A file stays locked until it resumes or ends.
            with pytest.raises(JournalFault, match="another program has locked the database"):
                await store.take("a")
            older.wake()
            assert older.answer() == "2"
            newer = SharedState.restored(await store.take("a"), Board, None)
        else:
            # A server frees the row.
            newer = SharedState.restored(await store.take("a"), Board, None)
            older.wake()
            assert older.answer() == "unavailable"

        assert older.asked("write") == "taken_over"
        await newer.apply(Score(name="newer"), actor="newer")
        assert older.asked("write") == "taken_over"
        stored = await store.read("a")
        assert [entry.actor for entry in stored.entries] == ["a"] * newer_began(newer) + ["newer"]


def newer_began(newer: SharedState[Board, None]) -> int:
    """How many points the older one had made by then."""
    return newer.state.scores["a"]
