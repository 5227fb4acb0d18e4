"""A pytest plugin that collects conversation files as tests, by a line in pytest's configuration.

::

    app = hotel_app:APP

collects the YAML files of every folder named ``conversations`` and runs them on that application, with
its local model or their own script, as ``replay`` does. With a folder, as in
``hotel_app:APP tests/evenings``, only the files of that folder are collected. Each application has a
line.
"""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from agents.app.app import AnyApp

_FOLDER = "conversations"


@dataclass(frozen=True)
class _Collected:
    """A line of the configuration.

    Args:
        app: Where the application is imported from: ``module:NAME``.
        folder: The only folder; without it every folder named ``conversations``.
    """

    app: str
    folder: Path | None

    def has(self, file: Path) -> bool:
        if self.folder is None:
            return file.parent.name == _FOLDER
        return file.parent == self.folder


_COLLECTED = pytest.StashKey[tuple[_Collected, ...]]()


class ConversationFailed(Exception):
    """An expectation of a conversation does not hold, or its file is faulty."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the line of the configuration."""
    parser.addini(
        "app",
        "The application, as module:APP, whose conversation files are tests, and the folder they "
        "are in (every folder named conversations by default); one a line.",
        type="linelist",
        default=[],
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the configuration."""
    lines: list[str] = config.getini("app")
    collected: tuple[_Collected, ...] = tuple(_collected(lines, config.rootpath))
    config.stash[_COLLECTED] = collected


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a conversation file."""
    # A configured folder takes precedence over the default name.
    collected = parent.config.stash[_COLLECTED]
    lines = sorted(collected, key=lambda one: one.folder is None)
    line = next((one for one in lines if one.has(file_path)), None)
    if line is None:
        return None
    from agents.app.conversation_files.reading import is_conversation_name

    if not is_conversation_name(file_path):
        return None
    collector: ConversationCollector = ConversationCollector.from_parent(parent, path=file_path)
    collector.app = line.app
    return collector


class ConversationCollector(pytest.File):
    """A conversation file."""

    app = ""

    def collect(self) -> Iterator["ConversationItem"]:
        """Yield its only test, with the name of the file."""
        yield ConversationItem.from_parent(self, name=self.path.stem)


class ConversationItem(pytest.Item):
    """The test of a conversation file."""

    parent: ConversationCollector

    def runtest(self) -> None:
        """Run the conversation.

        Raises:
            ConversationFailed: It does not hold, or the file is faulty.
        """
        from agents.app.app import load_app
        from agents.app.faults import InputError

        try:
            text = asyncio.run(_failures(load_app(self.parent.app), self.path))
        except InputError as error:
            text = "\n".join(error.faults)
        except ModuleNotFoundError as error:
            module = self.parent.app.partition(":")[0]
            if error.name not in (module, module.partition(".")[0]):
                raise  # of an import within the application
            text = (
                f"app: there is no module {error.name}: set pythonpath in pytest's configuration "
                "to the folder that has it"
            )
        if text:
            raise ConversationFailed(text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the text that ``replay`` prints, and for any other error the traceback."""
        if isinstance(excinfo.value, ConversationFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the test is."""
        return self.path, 0, self.name


async def _failures(app: "AnyApp", path: Path) -> str:
    from agents.app.conversation_files.reading import load_conversation
    from agents.app.faults import short_path
    from agents.app.replay.running import run_conversation
    from agents.app.setting_values import LOCAL

    # A developer's settings must not change the result of a test.
    settings = app.settings.read(model=LOCAL).model_copy(update={"at": None})
    run = await run_conversation(app, load_conversation(app, short_path(path)), settings)
    return run.text


def _collected(lines: Iterable[str], root: Path) -> Iterator[_Collected]:
    for line in lines:
        app, _, folder = line.strip().partition(" ")
        module, colon, name = app.partition(":")
        if not (colon and module and name):
            raise pytest.UsageError(
                f'app: "{line}" has to be an application as module:APP, with a folder or without one'
            )
        place = root / folder.strip() if folder.strip() else None
        if place is not None and not place.is_dir():
            raise pytest.UsageError(f"app: there is no folder {place}")
        yield _Collected(app, place)
