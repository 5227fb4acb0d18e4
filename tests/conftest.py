"""What every test may rely on."""

import asyncio
import gc
import logging
import secrets
import sys
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler import LoadFileScheduling

from tests import children
from tests.postgres import Server, server

if TYPE_CHECKING:
    from tests.livekit import LiveKit


_BROWSER = "tests/clients/"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give out the tests file by file, and those that need a browser all to one process.

    What a file's tests share is started once. Two browsers at once, each with its agents, make both too late.
    """

    def scope(nodeid: str) -> str:
        return _BROWSER if nodeid.startswith(_BROWSER) else nodeid.partition("::")[0]

    scheduler = LoadFileScheduling(config, log)
    scheduler._split_scope = scope  # the place that xdist's own schedulers change
    return scheduler


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server that lives as long as the tests."""
    with server() as running:
        yield running


@pytest.fixture(scope="session")
def livekit() -> "Iterator[LiveKit]":
    """A LiveKit server that lives as long as the tests."""
    from tests.livekit import livekit_server  # what needs no room need not load what joins one

    with livekit_server() as running:
        yield running


@pytest.fixture
def room_name() -> str:
    """A room that no other test has."""
    return f"room-{secrets.token_hex(8)}"


@pytest.fixture
def clean_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory and home, with nothing set in the environment."""
    from bella_vista.settings import Settings

    monkeypatch.chdir(tmp_path)
    for field in Settings.model_fields:
        monkeypatch.delenv(Settings.variable(field), raising=False)
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, once a file and once on a server."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/states.db"
        return
    running: Server = request.getfixturevalue("postgresql")
    with running.empty_database() as lent:
        yield lent


@pytest.fixture
def logs_as_before() -> Iterator[None]:
    """Restore the root logger after a command has configured it."""
    root, livekit = logging.getLogger(), logging.getLogger("livekit")
    before = (root.handlers[:], root.level, livekit.level)
    yield
    for handler in set(root.handlers) - set(before[0]):
        handler.close()
    root.handlers[:], root.level, livekit.level = before
    logging.captureWarnings(False)


def _of_a_test(record: logging.LogRecord) -> bool:
    """Leave out what livekit's native threads log: it may be about a room of an earlier test."""
    return not record.getMessage().startswith("livekit::")


children.install()
logging.getLogger("livekit").addFilter(_of_a_test)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Let the processes of a fixture that several tests share outlive the first of them."""
    if fixturedef.scope == "function":
        return (yield)
    with children.recorded(False):
        return (yield)


_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note that a test has failed, so that what it could not clean up is no failure of its own."""
    report = yield
    item.stash[_FAILED] = item.stash.get(_FAILED, False) or report.failed
    return report


@pytest.fixture(autouse=True)
def _no_process_outlives_its_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """End the processes that a test has left; one that passed fails for it."""
    with children.recorded(True):
        yield
    if (left := children.end()) and not request.node.stash.get(_FAILED, False):
        pytest.fail(f"processes were left behind: {left}")


_SERVERS = {"livekit", "own_server", "postgresql"}
_STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}
"""The events that Python reports when a process is started."""

_alone: str | None = None
"""The running test, while none may start a process."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test that needs a server or a process, and give it time.

    Where a server and several processes take part, a busy machine may need minutes for what takes a second.
    """
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        values = {one for one in parameters.values() if isinstance(one, str)}
        if _SERVERS & {*getattr(item, "fixturenames", ()), *values}:
            item.add_marker(pytest.mark.processes)
        if item.get_closest_marker("processes") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(300))


def pytest_collection_finish() -> None:
    """Leave modules and collected tests out of garbage collection; they stay until the end.

    Each full collection would walk over some 700,000 of their objects.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Where tests that start processes are left out, fail one that starts some and is not marked."""
    global _alone
    _alone = item.nodeid if "not processes" in item.config.option.markexpr else None
    try:
        return (yield)
    finally:
        _alone = None


def _refuse_processes(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _STARTS and _alone is not None:
        raise RuntimeError(f"{_alone} starts a process: mark it with pytest.mark.processes")


sys.addaudithook(_refuse_processes)


@pytest.fixture(autouse=True)
async def _no_task_outlives_its_test(request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """A test that leaves an asyncio task or process behind has found a leak, or is one."""
    before = asyncio.all_tasks()
    yield
    left = await children.end_awaited()
    for _ in range(3):
        await asyncio.sleep(0)
    tasks = asyncio.all_tasks() - before - {asyncio.current_task()}
    left += [f"task {task.get_coro()}" for task in tasks]
    if left and not request.node.stash.get(_FAILED, False):
        pytest.fail(f"these were left behind: {left}")
