"""The ``replay`` command: runs conversation files and reports expectations that do not hold."""

import asyncio
import logging
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.app.app import AnyApp
from agents.app.conversation_files.reading import (
    ConversationFile,
    conversation_paths,
    load_conversation,
)
from agents.app.conversation_files.writing import OutputFile
from agents.app.declaration import AppFaults
from agents.app.faults import InputError
from agents.app.replay.report import FileResult, Table, junit, sums
from agents.app.replay.running import Failure, Run, check_conversation, model_name, run_conversation
from agents.app.setting_values import OPENAI_MODELS
from agents.app.settings import AppSettings
from agents.app.terminal.logs import log_to_file, log_to_stderr
from agents.app.terminal.signals import on_signals
from agents.app.terminal.stdio import print_error, say, write_line

logger = logging.getLogger(__name__)

FAILED, INTERRUPTED = 1, 130


@dataclass(frozen=True)
class ReplayCommand:
    """A replay of conversations.

    Args:
        settings: Used where a file does not set its own.
        model_wins: Whether the settings' model overrides the models of the files.
        repeat: How often each is run.
        report: The file for the results as JUnit XML.
    """

    app: AnyApp
    settings: AppSettings
    model_wins: bool = False
    repeat: int = 1
    report: Path | None = None

    def run(self, arguments: Sequence[str]) -> int:
        """Run the conversations that arguments name; returns the exit code.

        It is 0 when all pass, 1 when one does not, 130 when it was interrupted.

        Raises:
            InputError: Everything that is wrong with any of the files. Then none is run.
        """
        if sys.stdout.isatty():  # a log line would be printed inside the table
            log_to_file(self.app.name, self.settings.secrets)
        else:
            log_to_stderr(self.settings.secrets)
        target = None if self.report is None else OutputFile(self.report)
        files = self._load(conversation_paths(arguments))
        results = [
            FileResult(file.path, len(file.conversation.turns), self.repeat) for file in files
        ]
        asyncio.run(self._run_all(files, results))
        if target is not None:
            try:
                target.write(junit(self.app.name, results))
            except OSError as error:
                print_error(f"{self.report}: {error.strerror or error}")
                return FAILED
        if any(one.interrupted for one in results):
            return INTERRUPTED
        return 0 if all(one.passed for one in results) else FAILED

    def _load(self, paths: Sequence[Path]) -> list[ConversationFile]:
        files: list[ConversationFile] = []
        faults: list[str] = []
        for path in paths:
            try:
                file = load_conversation(self.app, path)
                check_conversation(self.app, file, self.settings, model_wins=self.model_wins)
            except InputError as error:
                faults += error.faults
            else:
                files.append(file)
        if faults:
            raise InputError(dict.fromkeys(faults))
        return files

    async def _run_all(
        self, files: Sequence[ConversationFile], results: Sequence[FileResult]
    ) -> None:
        on_terminal = sys.stdout.isatty()
        table = Table(
            results,
            calls=any(
                model_name(file, self.settings, model_wins=self.model_wins) in OPENAI_MODELS
                for file in files
            ),
            columns=shutil.get_terminal_size().columns if on_terminal else None,
            colour=on_terminal and not os.environ.get("NO_COLOR"),
        )
        say(table.head())
        running = asyncio.create_task(self._run_each(files, results, table))

        def interrupt() -> None:
            running.cancel()

        with on_signals(interrupt):
            await asyncio.wait((running,))
        if not running.cancelled():
            running.result()
        for result in results:
            if text := result.failure_text:
                say("")
                for line in table.failure(text):
                    say(line)
        say("")
        say(sums(results))

    async def _run_each(
        self, files: Sequence[ConversationFile], results: Sequence[FileResult], table: Table
    ) -> None:
        for file, result in zip(files, results, strict=True):
            try:
                for _ in range(self.repeat):
                    result.runs.append(await self._run(file))
            finally:
                if result.runs:
                    write_line(table.row(result))

    async def _run(self, file: ConversationFile) -> Run:
        began = time.monotonic()
        try:
            return await run_conversation(self.app, file, self.settings, model_wins=self.model_wins)
        except Exception as error:  # of any type: the other conversations have to run
            if isinstance(error, InputError) and not isinstance(error, AppFaults):
                raise
            logger.exception("conversation failed")
            named = isinstance(error, AppFaults)
            why = str(error) if named else f"{type(error).__name__}: {error}"
            failure = Failure(str(file.path), 1, "the run", (f"it broke off: {why}",))
            return Run((failure,), time.monotonic() - began)
