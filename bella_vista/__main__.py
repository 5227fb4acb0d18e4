"""``python -m bella_vista``."""

import os
import signal
import sys
from contextlib import suppress


def run() -> None:
    """Run the command line; by default Ctrl-C ends it at once, without output."""
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    # Imported late, so that Ctrl-C is quiet from the start.
    from bella_vista.cli import main

    try:
        main()
    except SystemExit as stop:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        # Without cleanup: livekit 1.1.21 has threads that can abort a process that ends slowly.
        os._exit(stop.code if isinstance(stop.code, int) else 0)


if __name__ == "__main__":
    run()
