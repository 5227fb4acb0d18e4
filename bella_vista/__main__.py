"""``python -m bella_vista``."""

import os
import signal
import sys

_WRONG = 2


def run() -> None:
    """Run the command line; by default Ctrl-C ends it at once, without output."""
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    # Imported late, so that Ctrl-C is quiet from the start.
    from bella_vista.own_packages import foreign_packages

    if wrong := foreign_packages():
        sys.stderr.write("\n".join([*wrong, ""]))
        sys.exit(_WRONG)
    from bella_vista.app import APP

    APP.cli()


if __name__ == "__main__":
    run()
