"""The pages that are written from the code, below what people have written on them."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tests.reference.errors import errors_page
from tests.reference.names import ROOT, modules_page, package_page
from tests.reference.restaurant import commands_page, events_page, settings_page, tools_page
from tests.reference.rpc import rpc_page

MARK = "<!-- From here on written by `make docs`; change the code instead. -->"

APP: Mapping[str, tuple[str, ...]] = {
    "agents.app.app": ("App", "Environment", "NewState"),
    "agents.app.declaration": ("AppFaults",),
    "agents.app.parts": (
        "Changes",
        "CommandLine",
        "CallSummary",
        "Comment",
        "Fields",
        "Forgetting",
        "ListedState",
        "Phone",
        "Replay",
        "Rooms",
        "Stored",
        "Terminal",
        "Web",
        "WorkerProcesses",
    ),
    "agents.app.rooms.job": ("serve_room",),
    "agents.app.terminal.summary": ("Row", "Summary"),
    "agents.app.testing": ("AppUnderTest", "RoomUnderTest", "fixture_of"),
    "agents.app.words": ("Words",),
}
"""What an application imports of ``agents.app``, whose packages export nothing."""

PAGES: Mapping[str, Callable[[], str]] = {
    "docs/framework/state.shared.md": partial(package_page, "state.shared"),
    "docs/framework/agents.handoff.md": partial(package_page, "agents.handoff"),
    "docs/framework/agents.app.md": partial(modules_page, APP),
    "docs/framework/agents.testing.md": partial(package_page, "agents.testing"),
    "docs/framework/agents.testing.providers.md": partial(package_page, "agents.testing.providers"),
    "docs/framework/rpc.gateway.md": partial(package_page, "rpc.gateway"),
    "docs/framework/rpc.page.md": partial(package_page, "rpc.page"),
    "docs/framework/rpc.testing.md": partial(package_page, "rpc.testing"),
    "docs/reference/commands.md": commands_page,
    "docs/reference/tools.md": tools_page,
    "docs/reference/settings.md": settings_page,
    "docs/reference/events.md": events_page,
    "docs/reference/errors.md": errors_page,
    "docs/reference/rpc.md": rpc_page,
}


def as_it_is(page: str) -> str:
    """Read a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def as_it_should_be(page: str) -> str:
    """Write a page anew: its own words stay, what follows them comes from the code."""
    own, mark, _ = as_it_is(page).partition(MARK)
    if not mark:
        raise LookupError(f"{page} has no line {MARK}")
    return f"{own}{MARK}\n\n{PAGES[page]().strip()}\n"


def write_all() -> tuple[Path, ...]:
    """Write every page that differs; returns which."""
    changed: list[Path] = []
    for page in PAGES:
        text = as_it_should_be(page)
        if text != as_it_is(page):
            (ROOT / page).write_text(text, encoding="utf-8")
            changed.append(ROOT / page)
    return tuple(changed)
