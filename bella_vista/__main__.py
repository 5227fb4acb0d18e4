"""``python -m bella_vista``."""

import os
import signal


def run() -> None:
    """Run the command line; Ctrl-C ends it at once and in silence wherever nothing better is arranged."""
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    # Imported only now, so that Ctrl-C is quiet from the start.
    from bella_vista.cli import main

    main()


if __name__ == "__main__":
    run()
