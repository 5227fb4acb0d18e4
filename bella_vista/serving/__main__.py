"""``python -m bella_vista.serving MODULE [FILE]``: a worker for the ``server`` of any module; ``dev`` starts these."""

import os
import sys

from bella_vista.faults import Faulty
from bella_vista.serving.running import run_worker
from bella_vista.terminal.streams import complain

_WRONG = 2


def run() -> int:
    """Run the worker of the module that is named; returns its exit code."""
    module, *ready = sys.argv[1:]
    try:
        return run_worker(module, ready=int(ready[0]) if ready else None)
    except Faulty as error:
        complain(*error.faults)
        return _WRONG


if __name__ == "__main__":
    code = run()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
