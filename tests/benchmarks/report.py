"""What was measured, as tables: for a terminal, and for the page in the docs."""

import os
import platform
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from tests.benchmarks.memory import GIB, installed

BEGIN, END = "<!-- figures -->", "<!-- /figures -->"
"""Between these a page holds the figures of the last run."""

LIMIT = "the machine's own limit, where a budget was missed"

PACKAGES = ("livekit-agents", "pydantic", "sqlalchemy")


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Args:
        name: What was measured.
        cells: What it came to, as text.
        measured: The figure that has a budget.
        budget: The most it may be.
        limit: What this machine allows at best, in the unit of the budget and measured in the same run; nothing
            where the machine sets no limit.
        limit_is: What that limit is made of, or what else the same run says about the machine.
    """

    name: str
    cells: tuple[str, ...]
    measured: float | None = None
    budget: float | None = None
    limit: float | None = None
    limit_is: str = ""

    @property
    def met(self) -> bool | None:
        """Whether it keeps its budget; ``None`` without one."""
        if self.measured is None or self.budget is None:
            return None
        return self.measured <= self.budget

    @property
    def verdict(self) -> tuple[str, str]:
        """The budget and what became of it, as text."""
        if self.budget is None:
            return "", ""
        return f"{self.budget:,g}", "met" if self.met else "missed"

    @property
    def excuse(self) -> str:
        """For a budget that was missed, the machine's own limit, and whether it left room to keep it."""
        if self.met or self.budget is None:
            return ""
        if self.limit is None:
            return self.limit_is
        room = "no room" if self.limit > self.budget else "room"
        return f"{self.limit:,.3g} ({self.limit_is}): {room}"


@dataclass
class Table:
    """A table of figures.

    Args:
        title: Its title.
        columns: The heading of each cell of a row.
        rows: The lines.
        note: An explanation for the reader.
        subject: The prefix of a line's name in lists of several tables' lines; by default the title.
    """

    title: str
    columns: Sequence[str]
    rows: list[Row] = field(default_factory=list)
    note: str = ""
    subject: str = ""

    def add(
        self,
        name: str,
        *cells: str,
        measured: float | None = None,
        budget: float | None = None,
        limit: float | None = None,
        limit_is: str = "",
    ) -> None:
        """Add a line."""
        self.rows.append(Row(name, cells, measured, budget, limit, limit_is))

    def lines(self) -> list[tuple[str, ...]]:
        """Heading and rows as cells, with the budgets where there are any."""
        budgets = any(row.budget is not None for row in self.rows)
        heading = ("", *self.columns, *(("budget", "") if budgets else ()))
        body = [(row.name, *row.cells, *(row.verdict if budgets else ())) for row in self.rows]
        return [heading, *body]


def budgets(tables: Sequence[Table]) -> Table:
    """Put everything that has a budget into one table."""
    summary = Table(
        "Budgets",
        ("measured", "budget", "", LIMIT),
        note="A limit is what the same run took without the part that has the budget: the machine's share, and for a"
        " turn with a journal our own turn in memory with it. With no room, that alone was more than the budget.",
    )
    for table in tables:
        for row in table.rows:
            if row.met is not None:
                budget, verdict = row.verdict
                name = f"{table.subject or table.title.removesuffix(', ms')}: {row.name}"
                summary.add(name, f"{row.measured:,g}", budget, verdict, row.excuse)
    return summary


def as_text(table: Table) -> str:
    """Set a table for a terminal."""
    lines = table.lines()
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    said = [table.title, "-" * len(table.title)]
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [
            cell.ljust(width) if heading == LIMIT else cell.rjust(width)
            for cell, width, heading in zip(line[1:], widths[1:], lines[0][1:], strict=True)
        ]
        said.append("  ".join(cells).rstrip())
    return "\n".join([*said, *([table.note] if table.note else []), ""])


def as_markdown(table: Table) -> str:
    """Set a table for a page."""
    heading, *body = table.lines()
    rule = ("---", *("---:" for _ in heading[1:]))
    said = [f"### {table.title}", ""]
    said += [f"| {' | '.join(line)} |" for line in (heading, rule, *body)]
    return "\n".join([*said, *(["", table.note] if table.note else []), ""])


def write_page(file: Path, tables: Sequence[Table]) -> None:
    """Write the tables as Markdown: between the marks of a page that has them, else as the whole file."""
    shown = [budgets(tables), *tables]
    said = [f"{machine()}.", "", *map(as_markdown, shown), f"`{tally(tables)}`"]
    figures = "\n".join([BEGIN, *said, END])
    page = file.read_text(encoding="utf-8") if file.exists() else ""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    text = f"{before}{figures}{after}" if begin and end else f"{figures}\n"
    file.write_text(text, encoding="utf-8")


def tally(tables: Sequence[Table]) -> str:
    """Count the budgets that were met."""
    met = [row.met for table in tables for row in table.rows if row.met is not None]
    return f"budgets met: {sum(met)} of {len(met)}"


def machine() -> str:
    """Say what this ran on."""
    memory = installed() / GIB
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.release()} on"
        f" {platform.machine()}; Python {platform.python_version()}, SQLite {sqlite3.sqlite_version},"
        f" {versions}"
    )


def ms(seconds: float, places: int = 2) -> str:
    """Say a time in milliseconds."""
    return f"{seconds * 1000:.{places}f}"
