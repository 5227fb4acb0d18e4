"""``python -m agents.app.serving TARGET [FILE]``: a worker process, as ``dev`` starts it."""

import os
import sys

from agents.app.faults import InputError
from agents.app.serving.worker_process import run_worker_of
from agents.app.terminal.stdio import print_error

_WRONG = 2


def run() -> int:
    """Run the worker of the named module; returns its exit code."""
    module, *ready = sys.argv[1:]
    try:
        return run_worker_of(module, ready=int(ready[0]) if ready else None)
    except InputError as error:
        print_error(*error.faults)
        return _WRONG


if __name__ == "__main__":
    code = run()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
