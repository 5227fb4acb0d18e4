"""Measurements that need a process of their own: memory, and what an import costs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def measured(module: str, *arguments: str) -> Any:
    """Run a module in a fresh interpreter and return the JSON it writes.

    Raises:
        RuntimeError: It failed.
    """
    return _result([sys.executable, "-m", module, *arguments])


def measured_code(code: str) -> Any:
    """Run code in a fresh interpreter and return the JSON it writes.

    Raises:
        RuntimeError: It failed.
    """
    return _result([sys.executable, "-c", code])


def _result(command: list[str]) -> Any:
    # Modules are compiled once, as for everybody who starts a program for the second time.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])
