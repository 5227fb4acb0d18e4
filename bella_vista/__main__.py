"""``python -m bella_vista``."""

import os
import signal


def run() -> None:
    """Run the command line; by default Ctrl-C ends it at once, without output."""
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    # Imported late, so that Ctrl-C is quiet from the start.
    from bella_vista.cli import main

    main()


if __name__ == "__main__":
    run()
