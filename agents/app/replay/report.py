"""The report of a replay: a table as the files are run, the failures after it, and JUnit XML."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap
from xml.etree import ElementTree

from agents.app.replay.running import Run
from agents.app.terminal.stdio import printable

_NARROWEST = 20
"""The least width of the column with the files' names."""

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass
class FileResult:
    """The result of one conversation.

    Args:
        turns: How many turns it has.
        wanted: How often it is to be run.
        runs: The completed runs.
    """

    path: Path
    turns: int
    wanted: int
    runs: list[Run] = field(default_factory=list)

    @property
    def passed_runs(self) -> int:
        """How many runs passed."""
        return sum(not run.failures for run in self.runs)

    @property
    def passed(self) -> bool:
        """Whether all runs passed."""
        return self.passed_runs == self.wanted

    @property
    def interrupted(self) -> bool:
        """Whether runs are missing."""
        return len(self.runs) < self.wanted

    @property
    def seconds(self) -> float:
        """How long all runs took, in seconds."""
        return sum(run.seconds for run in self.runs)

    @property
    def failure_text(self) -> str:
        """The failures, without duplicates of several runs; empty if all runs passed."""
        numbers: dict[str, list[str]] = {}
        for number, run in enumerate(self.runs, 1):
            if run.failures:
                numbers.setdefault(run.text, []).append(str(number))
        if self.wanted == 1:
            return "\n".join(numbers)
        return "\n".join(
            f"{'run' if len(these) == 1 else 'runs'} {', '.join(these)} of {self.wanted}:\n{text}"
            for text, these in numbers.items()
        )


class Table:
    """A table with a row for each conversation, which can be written row by row.

    Args:
        results: All conversations, before they are run.
        calls: Whether to show how many requests to models there were.
        columns: How wide the terminal is; ``None`` where there is none and nothing is shortened.
        colour: Whether results are coloured.
    """

    def __init__(
        self, results: Sequence[FileResult], *, calls: bool, columns: int | None, colour: bool
    ) -> None:
        self._calls = calls
        self._repeated = any(one.wanted > 1 for one in results)
        self._colour = colour
        self._columns = columns
        self._names = {one.path: printable(str(one.path)) for one in results}
        if columns is not None:
            room = max(_NARROWEST, columns - len(self._right_columns("", "", "", "", "")) - 1)
            self._names = _fitting(self._names, room)
        self._width = max(_NARROWEST, *map(len, self._names.values()), 0)

    def head(self) -> str:
        """Return the head."""
        names = ("turns", "calls", "seconds", "passed", "result")
        return f"{'conversation':<{self._width}}{self._right_columns(*names)}".rstrip()

    def row(self, result: FileResult) -> str:
        """Return the row of a conversation that was run."""
        name = self._names[result.path]
        calls = sum(run.model_calls for run in result.runs)
        right = self._right_columns(
            str(result.turns),
            str(calls),
            f"{result.seconds:.2f}",
            f"{result.passed_runs}/{result.wanted}",
            self._outcome(result),
        )
        return f"{name:<{self._width}}{right}".rstrip()

    def failure(self, text: str) -> Iterator[str]:
        """Yield the lines of a failure, as wide as the terminal."""
        for line in text.splitlines():
            rest = line.lstrip(" ")
            indent = " " * (len(line) - len(rest))
            if self._columns is None:
                yield line
            else:
                yield from wrap(
                    rest,
                    max(_NARROWEST, self._columns - 1),
                    initial_indent=indent,
                    subsequent_indent=f"{indent}    ",
                    break_long_words=False,
                    break_on_hyphens=False,
                ) or [""]

    def _right_columns(
        self, turns: str, calls: str, seconds: str, passed: str, outcome: str
    ) -> str:
        columns = [f"{turns:>7}"]
        if self._calls:
            columns.append(f"{calls:>7}")
        columns.append(f"{seconds:>9}")
        if self._repeated:
            columns.append(f"{passed:>9}")
        return f"{''.join(columns)}  {outcome:<11}"

    def _outcome(self, result: FileResult) -> str:
        if result.passed:
            return self._coloured("passed", 32)
        if result.passed_runs == len(result.runs):
            return self._coloured("interrupted", 33)
        return self._coloured("FAILED", 31)

    def _coloured(self, text: str, code: int) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text


def _fitting(names: Mapping[Path, str], room: int) -> dict[Path, str]:
    """Shorten names that do not fit: first remove their common folder, then cut their start."""
    if max(map(len, names.values()), default=0) > room:
        common = os.path.commonpath([path.absolute().parent for path in names])
        names = {path: printable(os.path.relpath(path.absolute(), common)) for path in names}
    return {
        path: name if len(name) <= room else f"…{name[1 - room :]}" for path, name in names.items()
    }


def sums(results: Sequence[FileResult]) -> str:
    """Return the last line of the report: how many conversations passed, and how many were not run."""
    run = [one for one in results if not one.interrupted or one.passed_runs < len(one.runs)]
    passed = sum(one.passed for one in results)
    missing = len(results) - len(run)
    seconds = sum(one.seconds for one in results)
    text = f"{passed} of {len(results)} conversation{'' if len(results) == 1 else 's'} passed"
    if (wanted := max((one.wanted for one in results), default=1)) > 1:
        of_all = sum(one.passed_runs for one in results), sum(len(one.runs) for one in results)
        text += f" all {wanted} runs"
        if run:
            text += f" (pass^{wanted} {passed / len(run):.0%})"
        text += f", {of_all[0]} of {of_all[1]} runs passed"
    if missing:
        text += f", {missing} not run to the end"
    return f"{text}, {seconds:.1f} s"


def junit(name: str, results: Sequence[FileResult]) -> bytes:
    """Return the results as JUnit XML."""
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(results)),
        failures=str(sum(bool(one.failure_text) for one in results)),
        errors="0",
        skipped=str(sum(one.interrupted and not one.failure_text for one in results)),
        time=f"{sum(one.seconds for one in results):.3f}",
    )
    for one in results:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=_xml(one.path.parent.as_posix()),
            name=_xml(one.path.stem),
            file=_xml(one.path.as_posix()),
            time=f"{one.seconds:.3f}",
        )
        if text := _xml(one.failure_text):
            first = next(run.failures[0] for run in one.runs if run.failures)
            message = _xml(f"{first.place}: {first.faults[0]}")
            ElementTree.SubElement(case, "failure", message=message).text = text
        elif one.interrupted:
            ElementTree.SubElement(case, "skipped", message="interrupted")
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    document: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _xml(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
