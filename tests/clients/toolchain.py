"""Node, the clients' packages and a browser: what the tests of the clients need."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.missing import missing

CLIENTS = Path(__file__).parents[2] / "clients"
TOOLS = CLIENTS.parent / ".tools"


def node_program() -> str:
    """Return the path of Node, once the clients' packages are installed."""
    fetched = TOOLS / "node" / "bin" / "node"  # `make test` fetches one where there is none
    node = str(fetched) if fetched.exists() else shutil.which("node")
    if node is None:
        missing("there is no Node.js 20.19 or newer here: `make clients` fetches one")
    if not (CLIENTS / "node_modules" / ".package-lock.json").exists():
        missing("the clients' packages are not installed: `make clients` installs them")
    return node


def chromium_program() -> str:
    """Return the path of a Chromium."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if (program := shutil.which(name)) is not None:
            return program
    missing("there is no Chromium here")


def run_node(*arguments: str | Path, env: Mapping[str, str] | None = None) -> str:
    """Run a script of the clients in their folder; returns what it prints.

    Raises:
        AssertionError: It failed.
    """
    done = subprocess.run(
        [node_program(), *map(str, arguments)],
        cwd=CLIENTS,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
